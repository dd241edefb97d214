#!/bin/bash
# format.sh - every C file as clang-format (Debian 12: 14) writes it. `make format` mends it. It leaves comments as they are, so the
# stars of a comment's further lines are looked at here.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v clang-format >/dev/null || { echo "clang-format is not installed: make deps"; exit 1; }
bad=$(git ls-files -co --exclude-standard '*.c' '*.h' | xargs -P 2 -n 20 clang-format --dry-run -Werror 2>&1 | grep -E '^[^ ]+:[0-9]+' | cut -d: -f1 | sort -u)
[ -z "$bad" ] || { echo "$bad" | sed 's/$/: not formatted (make format)/'; exit 1; }
stars=$(git ls-files -co --exclude-standard 'src/*.[ch]' 'include/*.h' | xargs awk '
    FNR == 1 { open = 0 }
    open && match($0, /^ *\*/) && RLENGTH != at + 2 { print FILENAME ":" FNR ": the star does not stand below the one of the comment" }
    /\*\// { open = 0; next }
    match($0, /^ *\/\*/) { open = 1; at = RLENGTH - 2 }')
[ -z "$stars" ] || { echo "$stars"; exit 1; }
