#!/bin/bash
# museum.sh - the tables of attacks and the tests name each other.
cd "$(dirname "$0")/../museum" || exit 1
bad=0
# Both tables: numbers of CVE, and names of our own.
while IFS='|' read -r _ cve _ where _; do
    cve=${cve// /}
    for file in $(grep -oE '[a-z]+\.bats' <<<"$where"); do
        case $where in *" none:"*) continue ;; esac
        grep -qE "^@test \"[^\"]*$cve" "$file" 2>/dev/null || { echo "museum: $cve has no test in $file"; bad=1; }
    done
    grep -qE 'none: |\.bats' <<<"$where" || { echo "museum: $cve has neither a test nor a reason"; bad=1; }
done < <(grep -E '^\| (CVE|CLAIM|H)-' README.md)
for cve in $(grep -hoE '^@test "[^"]*' ./*.bats | grep -oE 'CVE-[0-9]+-[0-9]+|CLAIM-[a-z]+|H-[A-Z]+' | sort -u); do
    grep -q "^| $cve " README.md || { echo "museum: $cve is tested and not in the table"; bad=1; }
done
exit $bad
