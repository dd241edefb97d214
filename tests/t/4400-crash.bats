#!/usr/bin/env bats
# 4400-crash.bats - every step of writing a file fails once: a library between the programs and the system sees to it.

bats_require_minimum_version 1.5.0
load lib

setup() {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
}

@test "whatever step of replacing a file fails, the old file or the new one is there, whole" {
    run -0 /usr/bin/python3 -B "$HALITE_SRC/tests/oracle/crash_points.py" "$HALITE_BIN/salt-call" "$BUILD/tests/preload/fault.so"
    [[ $output == "0 wrong after any step of "* ]]
}
