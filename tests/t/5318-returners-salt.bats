#!/usr/bin/env bats
# 5318-returners-salt.bats - databases between Halite and Salt's own returners: each writes jobs, both read them, through the returners'
# functions and through the runner jobs.

bats_require_minimum_version 1.5.0
load lib

@test "what Halite and Salt keep of the same jobs in PostgreSQL, MariaDB and Redis, both tell alike" {
    [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no folder with Salt's package"
    fleet_new
    fleet_open
    run python3 -B "$BATS_TEST_DIRNAME/../oracle/returners.py"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"returners, "*" answers alike, 0 differences"* ]]
}
