#!/usr/bin/env bats
# 4130-blackout.bats - minion_blackout in pillar or grains: which jobs run, and the way out.

bats_require_minimum_version 1.5.0
load lib

BLACKOUT="Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to resume operations. Only saltutil.refresh_pillar allowed in blackout mode."

setup_file() {
    fleet_new
    mkdir -p "$FLEET/pillar" "$FLEET/own"
    echo 'base: {m1: [rest]}' >"$FLEET/pillar/top.sls"
    echo 'minion_blackout: False' >"$FLEET/pillar/rest.sls"
    start_master "pillar_roots: {base: [$FLEET/pillar]}"
    start_minion m1
    start_minion m2 'grains: {minion_blackout: True, minion_blackout_whitelist: [test.echo]}'
    accept m1 m2
    wait_connected m1 m2
    wait_grains m1 m2
}
teardown_file() { fleet_down; }

refused() { # ID FUN WORD...
    run --separate-stderr salt "$@" --out=json --static
    [ "$status" -ne 0 ]
    [ "$(json 'd[sys.argv[1]]' "$1" <<<"$output")" = "ERROR executing '$2': $BLACKOUT" ]
}
json() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv.pop(1)))' "$@"; }
pillar() { # LINE...: m1's from now on
    printf '%s\n' "$@" >"$FLEET/pillar/rest.sls"
    [ "$(salt m1 saltutil.refresh_pillar wait=True --out=txt)" = 'm1: True' ]
}

@test "by the pillar: nothing but saltutil.refresh_pillar, until that brings another" {
    pillar 'minion_blackout: True'
    refused m1 test.ping
    refused m1 state.single test.nop name=x
    refused m1 saltutil.refresh_grains
    # Of several functions each is looked at.
    run --separate-stderr salt m1 test.ping,saltutil.refresh_pillar , --out=json --static
    [ "$(json 'd["m1"]["test.ping"]' <<<"$output")" = "ERROR executing 'test.ping': $BLACKOUT" ]
    [ "$(json 'd["m1"]["saltutil.refresh_pillar"]' <<<"$output")" = True ]
    # A function that is not there is told as ever.
    run salt m1 nosuch.function --out=txt
    [[ $output == *"'nosuch.function' is not available."* ]]
    pillar 'minion_blackout: False'
    [ "$(salt m1 test.ping --out=txt)" = 'm1: True' ]
}

@test "the list beside it, also in a pillar whose keys are not all text" {
    pillar '7: seven' 'minion_blackout: True' 'minion_blackout_whitelist: [test.ping, state.single]'
    [ "$(salt m1 test.ping --out=txt)" = 'm1: True' ]
    # What an allowed function calls is its own affair.
    salt m1 state.single module.run name=test.echo text=x >/dev/null
    refused m1 test.echo x
    pillar 'minion_blackout: False'
}

@test "by the grains, with their own list" {
    refused m2 test.ping
    [ "$(salt m2 test.echo heard --out=txt)" = 'm2: heard' ]
    [ "$(salt m2 saltutil.refresh_pillar --out=txt)" = 'm2: True' ]
}

@test "by a pillar that the minion compiles itself" {
    echo 'base: {"*": [rest]}' >"$FLEET/own/top.sls"
    echo 'minion_blackout: True' >"$FLEET/own/rest.sls"
    start_minion m3 'file_client: local' "pillar_roots: {base: [$FLEET/own]}"
    accept m3
    wait_connected m3
    refused m3 test.ping
    echo 'minion_blackout: False' >"$FLEET/own/rest.sls"
    [ "$(salt m3 test.ping --out=txt)" = 'm3: True' ]
}

@test "salt-call is not a minion" {
    [ "$("$HALITE_BIN/salt-call" -c "$FLEET/etc/m2" test.ping --out=txt)" = 'local: True' ]
}
