#!/bin/bash
# named.sh - the tests that a header names exist.
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
exit $bad
