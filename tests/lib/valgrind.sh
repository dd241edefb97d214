#!/usr/bin/env bash
# valgrind.sh - the tests below valgrind's memcheck: unit tests, corpora, and whole-program tests whose programs are
# started through it. Fails when a test fails, or when memcheck has found anything: the logs stay in $BUILD/valgrind.
#
#   BUILD=dir tests/lib/valgrind.sh FILE.bats...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
build=$(realpath "${BUILD:?}")
dir=$build/valgrind logs=$dir/logs
rm -rf "$dir"
mkdir -p "$dir/bin" "$dir/tests/unit"
mkdir -m 1777 "$logs" # also for processes that have become another user
# A pid file is held against the program that runs, which is memcheck.
not_here=test_startup
command -v valgrind >/dev/null || { echo "valgrind.sh: valgrind is not installed (apt-get install valgrind)" && exit 2; }

# wrap PROGRAM SCRIPT: a script that runs the program below memcheck; its forks are looked at as well.
wrap() {
    printf '#!/bin/sh\nexport LD_PRELOAD=%q${LD_PRELOAD:+:$LD_PRELOAD}\n' "$build/tests/preload/memcheck.so" >"$2"
    printf 'exec valgrind -q --vgdb=no --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --num-callers=25 --fair-sched=yes \\\n' >>"$2"
    printf '    --suppressions=%q --log-file=%q %q "$@"\n' "$PWD/tests/lib/valgrind.supp" "$logs/%p.log" "$1" >>"$2"
    chmod +x "$2"
}
for program in "$build"/bin/*; do wrap "$program" "$dir/bin/${program##*/}"; done
units=()
while read -r program; do
    [[ " $not_here " = *" ${program##*/} "* ]] && continue
    script=$dir/tests/unit/${program#"$build/tests/unit/"}
    mkdir -p "${script%/*}"
    wrap "$program" "$script"
    units+=("$script")
done < <(find "$build/tests/unit" -name 'test_*' -perm -u+x -type f | sort)
ln -s "$build/tests/lib" "$dir/tests/lib"
ln -s "$build/tests/preload" "$dir/tests/preload"

# Everything takes as long as below a sanitizer, and a limit of memory would be valgrind's own.
SAN=valgrind SECONDS_MAX=${SECONDS_MAX:-3600} BUILD=$dir tests/lib/run.sh unit "${units[@]}" -- bats "$@"
rc=$?
found=$(grep -rlE '^==[0-9]+== [^ W]' "$logs" | wc -l) # but not its warnings, of which what goes on is indented: ioctls that it does not know
[ "$found" -eq 0 ] || { echo "memcheck: $found processes with findings, see $logs" && rc=1; }
exit $rc
