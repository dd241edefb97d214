#!/usr/bin/env bats
# 4310-states-random.bats - every state over random inputs, in machines of their own: test=True says what the run does, and a
# second run changes nothing. The table is tests/property; make check-states tries more.

bats_require_minimum_version 1.5.0
load lib

property() { /usr/bin/python3 -B "$HALITE_SRC/tests/property/run.py" "$(dirname "$HALITE_BIN")" "$@"; }

@test "each state function has a row in a world, or a reason why it has none" {
    run -0 property --check
    [ -z "$output" ]
}

@test "test=True tells what a state does with random arguments, and a second run changes nothing" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    why=$(property --can 2>&1) || skip "no machine of its own can be made: ${why##*$'\n'}"
    run -0 property --inputs "${INPUTS:-1}" --seed "${SEED:-1}"
    [[ ${lines[-1]} == *" functions foretold exactly" ]]
    skipped=$(grep '^skipped: ' <<<"$output" || true)
    [ -z "$skipped" ] || echo "# $skipped" >&3
}
