#!/usr/bin/env bash
# run.sh - run tests of several kinds, LANES at one time (as many as there are processors), and count them:
#   run.sh unit PROGRAM... -- python FILE... -- cases FOLDER... -- fuzz PROGRAM... -- bats FILE...
# Prints what fails in full, one line for each program or file that passes, and closes with "N passed, N failed".
# Exit 1 when something failed or nothing ran. SECONDS_MAX bounds one program (default 300; under a sanitizer 1200).
#   run.sh one KIND NAME TALLY: a lane's part; adds a line "passed failed" to the file TALLY.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
log=$(mktemp "${TMPDIR:-/tmp}/halite-run.XXXXXX")
trap 'rm -f "$log" "$log.said"' EXIT
passed=0 failed=0
[ -z "${SAN:-}" ] || : "${SECONDS_MAX:=1200}"
# A test may fork where it has threads: its child starts its own.
export TSAN_OPTIONS="suppressions=$here/lib/tsan.supp:second_deadlock_stack=1:die_after_fork=0"

# count NAME RC: the TAP in $log. A program that ends badly after its last result has failed once more.
count() {
    local ok bad skip
    # cmocka says "not ok N # SKIP NAME", bats "ok N NAME # skip why".
    sed -i -E 's/^not ok ([0-9]+) # SKIP (.*)/ok \1 \2 # skip/' "$log"
    ok=$(grep -cE '^ok' "$log")
    bad=$(grep -cE '^not ok' "$log")
    skip=$(grep -cE '^ok.*# skip' "$log")
    [ "$2" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ $((ok + bad)) -gt 0 ] || bad=1
    passed=$((ok - skip)) failed=$bad
    if [ "$bad" -gt 0 ]; then
        echo "FAILED $1 (exit code $2)"
        grep -vE '^ok' "$log" | sed 's/^/    /'
    else
        echo "passed $1: $((ok - skip))$([ "$skip" -eq 0 ] || echo ", $skip skipped")"
        [ "$skip" -eq 0 ] || sed -nE 's/^ok [0-9]* (.*) # skip/    skipped: \1:/p' "$log"
    fi
}

# Those of all cases run thousands of programs, one after the other.
run_unit() {
    timeout -k 5 "${SECONDS_MAX:-900}" "$1" </dev/null >"$log" 2>&1
    count "${1##*/tests/}" $?
}

# A file of unittest, with the package salt of the build.
run_python() {
    PYTHONPATH=$BUILD/python timeout -k 5 "${SECONDS_MAX:-300}" python3 -B "$here/lib/tap.py" "$1" </dev/null >"$log" 2>&1
    count "${1#*tests/}" $?
}

run_fuzz() {
    local name=${1##*/replay_}
    timeout -k 5 "${SECONDS_MAX:-300}" "$1" "$here/fuzz/corpus/$name" </dev/null >"$log" 2>&1
    count "fuzz/$name" $?
}

run_cases() {
    local rc line
    timeout -k 5 "${SECONDS_MAX:-300}" "$BUILD/tests/cases" "$1" </dev/null >"$log" 2>&1
    rc=$? line=$(tail -n 1 "$log")
    if [ $rc -eq 0 ]; then
        echo "passed $1: ${line%% *}"
        passed=${line%% *}
        return
    fi
    echo "FAILED $1 (exit code $rc)"
    sed 's/^/    /' "$log"
    [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || line='0 passed, 1 failed'
    passed=${line%% *} line=${line#*, }
    failed=$((${line%% *} > 0 ? ${line%% *} : 1))
}

# What a file has started ends with it: the mark in their environment tells whose they are.
leftovers() { grep -lzs "^HALITE_RUN=$log\$" /proc/[0-9]*/environ | cut -d/ -f3 || :; }

run_bats() {
    local rc pid left
    HALITE_RUN=$log bats --jobs 1 --formatter tap "$1" </dev/null >"$log" 2>&1
    rc=$?
    # Who was killed takes a moment to be gone.
    for _ in {1..50}; do
        left=$(leftovers)
        [ -n "$left" ] || break
        sleep 0.1
    done
    for pid in $left; do
        echo "not ok left: process $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")" >>"$log"
        kill -9 "$pid" || :
    done 2>/dev/null
    count "${1#"$here/"}" "$rc"
}

if [ "${1-}" = one ]; then
    # A file of bats takes it from its own library: tests of installed packages need the caller's way to the archive.
    [ "$2" = bats ] || . "$here/lib/environment.sh"
    "run_$2" "$3" >"$log.said" 2>&1
    # What two lanes say does not mix.
    exec 9>>"$4"
    flock 9
    cat "$log.said"
    echo "$passed $failed" >&9
    exit
fi

kind='' work=()
for word; do
    case $word in
    unit | python | cases | fuzz | bats) [ -n "$kind" ] || { kind=$word && continue; } ;;
    --) kind='' && continue ;;
    esac
    work+=("${kind:?run.sh: unit, python, cases, fuzz or bats comes first}" "$word" "$log")
done
[ ${#work[@]} -eq 0 ] || printf '%s\0' "${work[@]}" | xargs -0 -n 3 -P "${LANES:-$(nproc)}" "$0" one
# Of a lane that was killed there is no line.
lost=$((${#work[@]} / 3))
while read -r ok bad; do
    passed=$((passed + ok)) failed=$((failed + bad)) lost=$((lost - 1))
done <"$log"
[ "$lost" -eq 0 ] || failed=$((failed + lost))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
