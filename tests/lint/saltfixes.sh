#!/bin/bash
# saltfixes.sh - each row of tests/saltfixes.tsv names a test that is there: its file holds the word. A row whose file is
# !PATTERN says why nothing is to be tested yet: no file of that pattern is there, and when one comes, a test is due.
set -u
cd "$(dirname "$0")/../.." || exit 2
rc=0
while IFS=$'\t' read -r number file word more; do
    case $number in '#'*) continue ;; esac
    [ -n "${word:-}" ] && [ -z "${more:-}" ] || { echo "tests/saltfixes.tsv: $number: a row is a number, a file and a word"; rc=1; continue; }
    case $file in
    '!'*)
        found=$(compgen -G "${file#!}") && { echo "tests/saltfixes.tsv: $number: there is $found: name a test"; rc=1; } ;;
    *)
        grep -qF -- "$word" "$file" 2>/dev/null || { echo "tests/saltfixes.tsv: $number: $file does not hold '$word'"; rc=1; } ;;
    esac
done <tests/saltfixes.tsv
exit $rc
