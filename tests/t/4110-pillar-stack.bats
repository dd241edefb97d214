#!/usr/bin/env bats
# 4110-pillar-stack.bats - the external pillar `stack` of a master: files by id and grain, and minions whose grains are paths.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/stack/roles" "$FLEET/stack/ids" "$FLEET/pillar"
    echo 'base: {}' >"$FLEET/pillar/top.sls"
    cat >"$FLEET/stack/stack.cfg" <<'CFG'
core.yml
ids/{{ minion_id }}.yml
roles/{{ __grains__['role'] }}.yml
CFG
    echo 'color: blue' >"$FLEET/stack/core.yml"
    echo 'secret: of-m001' >"$FLEET/stack/ids/m001.yml"
    echo 'site: {{ __grains__["role"] }}' >"$FLEET/stack/roles/web.yml"
    start_master "pillar_roots: {base: [$FLEET/pillar]}" "ext_pillar: [{stack: $FLEET/stack/stack.cfg}]"
    start_minion m001 'grains: {role: web}'
    start_minion m002 'grains: {role: ../ids/m001}'
    start_minion m003 'grains: {role: "*"}'
    accept m001 m002 m003
    wait_connected m001 m002 m003
    wait_grains m001 m002 m003
    until_true 10 knows m001 color
}

teardown_file() {
    fleet_down
}

knows() { salt "$1" pillar.items --out=json --static --out-indent=-1 | grep -q "\"$2\""; }

@test "a minion gets the files of its id and of its grain" {
    run -0 salt m001 pillar.items --out=json --static --out-indent=-1
    [ "$output" = '{"m001": {"color": "blue", "secret": "of-m001", "site": "web"}}' ]
}

@test "a grain that is a path or a pattern opens no other's file" {
    until_true 10 refused '../ids/m001'
    until_true 10 refused '*'
    for id in m002 m003; do
        run -0 salt "$id" pillar.items --out=json --static --out-indent=-1
        [[ "$output" != *of-m001* ]]
        [[ "$output" != *site* ]]
    done
}

refused() { grep -qF "'$1', which the minion said of itself" "$FLEET/log/master"; }
