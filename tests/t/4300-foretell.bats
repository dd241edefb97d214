#!/usr/bin/env bats
# 4300-foretell.bats - test=True says what the same run without it then does: random state trees, always the same ones.

bats_require_minimum_version 1.5.0
load lib

@test "random trees do what test=True foretells, and test=True does nothing" {
    run -0 /usr/bin/python3 -B "$HALITE_SRC/tests/oracle/states_predict.py" "$HALITE_BIN/salt-call" 60 1
    [[ $output == "60 of 60 trees foretold exactly" ]]
}
