#!/bin/bash
# samples.sh - conf/master and conf/minion are what the option table prints. `make samples` writes them.
set -u
cd "$(dirname "$0")/../.." || exit 2
print=${BUILD:-build}/tests/lint/conf_sample
[ -x "$print" ] || { echo "$print is not built: make lint"; exit 2; }
rc=0
for side in master minion; do
    "$print" "$side" | diff -u "conf/$side" - >/dev/null || { echo "conf/$side: not what include/salt/options.def says (make samples)"; rc=1; }
done
exit $rc
