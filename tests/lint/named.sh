#!/bin/bash
# named.sh - the tests that a header names exist, and the layer that it names is its folder or one above.
cd "$(dirname "$0")/../.." || exit 1
bad=0
while IFS=: read -r file line; do
    for name in $line; do
        name=${name%[.,;)]}
        compgen -G "$name" >/dev/null || { echo "$file: names $name, which is not there"; bad=1; }
    done
done < <(git ls-files -co --exclude-standard '*.h' 2>/dev/null | while IFS= read -r f; do
    [ -e "$f" ] && printf '%s:%s\n' "$f" "$(sed '/\*\//q' "$f" | grep -oE 'tests/[A-Za-z0-9_./*-]+' | tr '\n' ' ')"
done)
while IFS= read -r file; do
    layer=$(sed -nE 's/^ \* (.* )?Layer +([a-z0-9/]+).*/\2/p' "$file" | head -n 1)
    folder=$(dirname "${file#src/}")
    case $layer in '' | wiring) continue ;; esac
    case $folder/ in "$layer"/*) ;; *) echo "$file: its layer is not $layer but $folder"; bad=1 ;; esac
done < <(git ls-files -co --exclude-standard 'src/*.h' 2>/dev/null)
exit $bad
