#!/bin/bash
# saltfixes.sh - each row of tests/saltfixes.tsv names a test that is there: its file holds the word.
set -u
cd "$(dirname "$0")/../.." || exit 2
rc=0
while IFS=$'\t' read -r number file word more; do
    case $number in '#'*) continue ;; esac
    [ -n "${word:-}" ] && [ -z "${more:-}" ] || { echo "tests/saltfixes.tsv: $number: a row is a number, a file and a word"; rc=1; continue; }
    grep -qF -- "$word" "$file" 2>/dev/null || { echo "tests/saltfixes.tsv: $number: $file does not hold '$word'"; rc=1; }
done <tests/saltfixes.tsv
exit $rc
