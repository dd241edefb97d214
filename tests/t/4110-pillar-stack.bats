#!/usr/bin/env bats
# 4110-pillar-stack.bats - the external pillar `stack` of a master: files by id and grain, and minions whose grains are paths.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET"/stack/{roles,ids,envs,of-prod} "$FLEET"/{pillar,elsewhere}
    echo 'base: {}' >"$FLEET/pillar/top.sls"
    cat >"$FLEET/stack/stack.cfg" <<'CFG'
core.yml
ids/{{ minion_id }}.yml
roles/{{ __grains__['role'] }}.yml
{% if minion_id == 'm001' %}envs/{{ pillarenv }}.yml{% endif %}
CFG
    echo "{{ __opts__['pillarenv'] }}.yml" >"$FLEET/stack/opts.cfg"
    echo 'color: blue' >"$FLEET/stack/core.yml"
    echo 'secret: of-m001' >"$FLEET/stack/ids/m001.yml"
    echo 'other: of-m002' >"$FLEET/stack/ids/m002.yml"
    echo 'site: {{ __grains__["role"] }}' >"$FLEET/stack/roles/web.yml"
    echo 'place: prod' >"$FLEET/stack/envs/prod.yml"
    echo 'chosen.yml' | tee "$FLEET/stack/of-prod/env.cfg" >"$FLEET/elsewhere/env.cfg"
    echo 'chosen: by-env' | tee "$FLEET/stack/of-prod/chosen.yml" >"$FLEET/elsewhere/chosen.yml"
    start_master "pillar_roots: {base: [$FLEET/pillar]}" \
        "ext_pillar: [{stack: $FLEET/stack/stack.cfg}, {stack: $FLEET/stack/opts.cfg}, {stack: {'opts:user': {$(id -un): $FLEET/stack/of-__env__/env.cfg}}}]"
    start_minion m001 'grains: {role: web}'
    start_minion m002 'grains: {role: ../ids/m001}'
    start_minion m003 'grains: {role: "*"}'
    start_minion m004 'grains: {role: none}'
    accept m001 m002 m003 m004
    wait_connected m001 m002 m003 m004
    wait_grains m001 m002 m003 m004
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

@test "an environment that a minion asks for is a part of a name, and no path" {
    mkdir "$FLEET/stack/of-"
    run -0 salt m001 pillar.items pillarenv=prod --out=json --static --out-indent=-1
    [[ "$output" == *'"place": "prod"'* && "$output" == *'"chosen": "by-env"'* ]]
    for env in ../ids/m002 ids/m002; do
        run -0 salt m001 pillar.items pillarenv="$env" --out=json --static --out-indent=-1
        [[ "$output" != *of-m002* ]]
        refused "$env"
    done
    run -0 salt m004 pillar.items pillarenv=ids/m002 --out=json --static --out-indent=-1
    [[ "$output" == *blue* && "$output" != *of-m002* ]]
    run -0 salt m001 pillar.items pillarenv=/../../elsewhere --out=json --static --out-indent=-1
    [[ "$output" != *by-env* ]]
    grep -qF "the pillar's environment '/../../elsewhere'" "$FLEET/log/master"
}

refused() { grep -qF "'$1', which the minion said of itself" "$FLEET/log/master"; }
