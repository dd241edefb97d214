#!/bin/bash
# options.sh - every OPTION, CHOICE, SHAPES and RULES of include/salt/options.def is read somewhere in src/: as "name", or as "prefix_%s" and "rest"
# in one file. What Salt knows and we do not heed is a MISSED or a NEEDLESS row; a FORBIDDEN one acts by being refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
used=$(mktemp) || exit 2
trap 'rm -f "$used"' EXIT
git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' 'src/*.def' | xargs awk '
function words(s,    w) {
    while (match(s, /"[a-z0-9_%]+"/)) {
        w = substr(s, RSTART + 1, RLENGTH - 2)
        print w
        if (w ~ /^[a-z_]+_%s$/) prefix[substr(w, 1, length(w) - 2)]
        else word[w]
        s = substr(s, RSTART + RLENGTH)
    }
}
function join(    p, w) {
    for (p in prefix) for (w in word) print p w
    delete prefix; delete word
}
FNR == 1 { join() }
{ words($0) }
END { join() }' | sort -u >"$used"
rc=0
for o in $(sed -nE '/FORBIDDEN/!s/^(OPTION|CHOICE|SHAPES|RULES)\((\w+),.*/\2/p' include/salt/options.def | sort -u); do
    grep -qx "$o" "$used" || { echo "include/salt/options.def: nothing in src/ reads '$o' (MISSED or NEEDLESS, if it has no effect)"; rc=1; }
done
exit $rc
