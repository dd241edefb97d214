#!/bin/bash
# shell.sh - every shell script and bats file at least parses, is executable when it begins with #!, and has no tab.
set -u
cd "$(dirname "$0")/../.." || exit 2
rc=0
for f in $(git ls-files -co --exclude-standard 'tests/lint/*.sh' 'tests/lib/*.sh' 'tests/installed/*.sh' 'conf/package/*.sh' .ci/run 'tests/t/lib.bash' 'tests/museum/*.bash'); do
    bash -n "$f" || rc=1
    [ -x "$f" ] || [ "$(head -c 2 "$f")" != '#!' ] || { echo "$f: not executable"; rc=1; }
done
out=$(git ls-files -co --exclude-standard 'tests/t/*' 'tests/museum/*' 'tests/lib/*.sh' 'tests/lint/*.sh' 'tests/installed/*' 'conf/package/*.sh' .ci/run | xargs grep -nE $'\t|[[:blank:]]+$' /dev/null)
[ -z "$out" ] || { echo "$out" | sed 's/$/   <- tab or trailing blank/'; rc=1; }
# A fixed wait is a race that was not understood: wait for what is meant (until_true, wait_event).
out=$(git ls-files -co --exclude-standard 'tests/t/*.bats' 'tests/museum/*.bats' 'tests/installed/*.bats' 'tests/t/lib.bash' | xargs grep -nE '^[^#]*(^|[;&|(] *|do |then )sleep [0-9]' /dev/null | grep -v '"[^"]*sleep [0-9.]*[^"]*"')
[ -z "$out" ] || { echo "$out" | sed 's/$/   <- tests wait for events, not for seconds/'; rc=1; }
# `! command` in the middle of a test is not looked at by bats.
out=$(git ls-files -co --exclude-standard 'tests/t/*.bats' 'tests/museum/*.bats' 'tests/installed/*.bats' | xargs grep -nE '^ +! ' /dev/null)
[ -z "$out" ] || { echo "$out" | sed 's/$/   <- bats ignores it: not COMMAND/'; rc=1; }
# until_true begins processes: after it $! is another one.
out=$(git ls-files -co --exclude-standard 'tests/t/*.bats' 'tests/museum/*.bats' 'tests/installed/*.bats' | xargs grep -nE 'wait "?[$]!' /dev/null)
[ -z "$out" ] || { echo "$out" | sed 's/$/   <- keep $! in a variable before something else runs/'; rc=1; }
exit $rc
