#!/bin/bash
# test.sh SUITE... - the packages in a booted Debian of each suite, by the files INSTALLED: `make test-installed` calls it, with
# BUILD too.
# Where none can be booted or got, that is said, and is not a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=tests/installed/root.sh
skipped() { echo "test-installed: skipped: $*"; }

why=$("$root" can) || { skipped "$why" && exit 0; }
tests/lib/deps.sh build package installed || { skipped "what it needs can't be installed here" && exit 0; }
suites=()
for suite; do
    why=$("$root" can "$suite") && suites+=("$suite") || skipped "$suite: $why"
done
[ ${#suites[@]} -gt 0 ] || exit 0
goals=deb
[ "${INSTALLED:?which files}" = tests/installed/walk.bats ] || goals='deb rpm all'
[ "$goals" = deb ] || tests/lib/deps.sh rpm
make --no-print-directory $goals
build=$(realpath -m "${BUILD:-build}")
export HALITE_SUITE HALITE_DEBS=$build/deb HALITE_RPMS=$build/rpm SECONDS_MAX=3600
rc=0
for HALITE_SUITE in "${suites[@]}"; do
    echo "test-installed: $HALITE_SUITE"
    BUILD=$build tests/lib/run.sh bats $INSTALLED || rc=1
done
exit $rc
