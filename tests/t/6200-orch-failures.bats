#!/usr/bin/env bats
# 6200-orch-failures.bats - forty ways in which a step fails, for each kind of step: told as such, with its cause.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree
    mkdir -p "$TREE"
    MASTER_LINES=("file_roots: {base: [$TREE]}")
    fleet_up web1 dead1
    stop dead1
    wait_gone dead1
}

teardown_file() {
    fleet_down
}

@test "forty kinds of failures for each kind of step" {
    run env SLOW="$SLOW" /usr/bin/python3 -B "$HALITE_SRC/tests/oracle/orch_failures.py" "$HALITE_BIN/salt-run" "$TREE"
    echo "$output" >&2
    [ "$status" -eq 0 ]
    [[ $output == *"200 of 200 failures are told as such (40 ways)" ]]
}
