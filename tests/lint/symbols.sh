#!/bin/bash
# symbols.sh - no symbol is defined twice: which of two a program gets would depend on the order of the archives.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
archives=("$build"/lib{halite,master,minion,runners,cli}.a)
for a in "${archives[@]}"; do
    [ -e "$a" ] || { echo "$a is not built: make"; exit 2; }
done
# Defined and global: upper-case letters, without U (undefined), V and W (weak). "archive.a:object.o: address T name"
nm -A --defined-only "${archives[@]}" | awk '
NF >= 3 && $(NF - 1) ~ /^[A-TX-Z]$/ {
    place = $1
    sub(/^.*\//, "", place)
    sub(/:[0-9a-f]*$/, "", place)
    where[$NF] = where[$NF] " " place
    n[$NF]++
}
END {
    for (name in n)
        if (n[name] > 1) { print name ": defined in" where[name]; bad = 1 }
    exit bad
}'
