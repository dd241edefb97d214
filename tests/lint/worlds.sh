#!/bin/bash
# worlds.sh - each file of tests/cases/world is named by a case file: what no case shares any more is removed.
set -u
cd "$(dirname "$0")/../.." || exit 2
rc=0
for file in tests/cases/world/*.json; do
    name=$(basename "$file" .json)
    grep -qrE "\"world\": \[[^]]*\"$name\"" tests/cases/exec tests/cases/state || { echo "$file: no case file names it"; rc=1; }
done
exit $rc
