#!/usr/bin/env bats
# 4500-chaos.bats - some rounds of tests/chaos with a fixed seed: processes die, disks fill up, networks break, and the audit
# finds every verdict true, every return and event once, and nothing left behind. Hundreds of rounds: make chaos.

bats_require_minimum_version 1.5.0
load lib

setup() {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
}

chaos() { python3 -B "$HALITE_SRC/tests/chaos/chaos.py" "$BUILD" "$@"; }

@test "some rounds of chaos: nothing lost, nothing twice, nothing left behind" {
    [ "$(id -u)" -eq 0 ] || skip "needs root: /proc hides what undumpable processes have open, by which faults are timed"
    run -0 chaos --rounds 6 --seed 1 --quick
    [[ $output == *"0 wrong after 6 rounds, seed 1" ]]
}

@test "the audit sees what is wrong: returns lost, jobs run twice, events changed or not stored, processes left" {
    run -0 chaos --lies --seed 1
    [[ $output == *"19 lies"*"0 wrong after 1 rounds, seed 1" ]]
}
