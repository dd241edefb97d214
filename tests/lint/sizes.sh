#!/bin/bash
# sizes.sh - files, headers and functions within their targets. Warnings for what is large, exit 1 for what is too large.
#   function  warn above 80 lines, error above 120 unless the line above it holds "lint: long" and a reason
#   file      error above 1500 lines; header error above 200, the table of limits above 400
set -u
cd "$(dirname "$0")/../.." || exit 2
git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' 'include/*.h' | while read -r f; do
    n=$(wc -l <"$f")
    case $f in
    include/salt/limits.h) [ "$n" -le 400 ] || echo "error: $f: $n lines, this table has at most 400" ;;
    *.h) [ "$n" -le 200 ] || echo "error: $f: $n lines, a header has at most 200: split it by what its users need" ;;
    *) [ "$n" -le 1500 ] || echo "error: $f: $n lines, a file has at most 1500: split it by what it does" ;;
    esac
done >"${TMPDIR:-/tmp}/halite-sizes.$$"
# A definition starts with a name and '(' in column 0 (the type stands on the line above) and ends with '}' in column 0.
git ls-files -co --exclude-standard 'src/*.c' | xargs awk '
FNR == 1 { infn = 0; before = "" }
/^[a-z_][a-zA-Z0-9_]*\(/ && !infn { name = $1; sub(/\(.*/, "", name); start = FNR; pending = 1; why = before ~ /lint: long/ || prev2 ~ /lint: long/ }
pending && /^\{/ { infn = 1; pending = 0 }
pending && /;[ \t]*$/ { pending = 0 }
infn && /^\}/ {
    len = FNR - start + 1
    if (len > 120 && !why) print "error: " FILENAME ":" start ": " name " has " len " lines, at most 120"
    else if (len > 80 && !why) print "warning: " FILENAME ":" start ": " name " has " len " lines, aim at 80"
    infn = 0
}
{ prev2 = before; before = $0 }' >>"${TMPDIR:-/tmp}/halite-sizes.$$"
cat "${TMPDIR:-/tmp}/halite-sizes.$$"
grep -q '^error' "${TMPDIR:-/tmp}/halite-sizes.$$"
rc=$?
rm -f "${TMPDIR:-/tmp}/halite-sizes.$$"
[ $rc -ne 0 ]
