#!/usr/bin/env bats
# 4210-master-options.bats - what the master's configuration says about state runs holds on its minions: of each option,
# in jobs, in salt-call, after SIGHUP, and while the master is away.

bats_require_minimum_version 1.5.0
load lib

# Of each option that a master tells, a value that is not the default.
OPTIONS=("state_top: mytop.sls" "state_top_saltenv: base" "failhard: True" "state_auto_order: False" "state_events: True"
    "state_aggregate: [pkg]" "jinja_env: {variable_start_string: '<<', variable_end_string: '>>'}"
    "jinja_sls_env: {variable_start_string: '((', variable_end_string: '))'}" "jinja_trim_blocks: True"
    "jinja_lstrip_blocks: True" "env_order: [base]" "default_top: dev" "top_file_merging_strategy: same" "renderer: jinja|yaml"
    "nodegroups: {front: L@web1, all: N@front or G@id:web1}")

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree OUT=$BATS_FILE_TMPDIR/out
    mkdir -p "$TREE" "$OUT"
    echo "base: {'*': [wrong]}" >"$TREE/top.sls"
    echo "base: {front: [{match: nodegroup}, grouped], 'N@all and web1': [compound], 'not N@all': [wrong]}" >"$TREE/mytop.sls"
    printf 'first:\n  test.fail_without_changes: []\nsecond:\n  test.nop: []\n' >"$TREE/fails.sls"
    printf 'z:\n  test.nop: []\na:\n  test.nop: []\n' | tee "$TREE/grouped.sls" >"$TREE/order.sls"
    : >"$TREE/compound.sls"
    cat >"$TREE/blocks.sls" <<SLS
$OUT/blocks:
  file.managed:
    - source: salt://blocks
    - template: jinja
(( 'named' )):
  test.nop: []
SLS
    printf '  {%% if true %%}\n<< grains.id >>\n  {%% endif %%}\n' >"$TREE/blocks"
    MASTER_LINES=("file_roots: {base: [$TREE], dev: [$TREE/dev]}" "${OPTIONS[@]}")
    fleet_up web1
}

teardown_file() {
    fleet_down
}

# with_options LINE...: the master has these, and has read them.
with_options() {
    master_conf "file_roots: {base: [$TREE]}" "auto_accept: True" "$@"
    : >"$FLEET/log/master"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: [0-9]+ options? changed$'
}
# A command's answer as JSON without white space in `output`, its exit code in `status`.
asked() {
    run --separate-stderr "$@" --out=json
    output=$(tr -d '\n ' <<<"$output")
}

@test "the top file's name, its nodegroups and compound targets with them" {
    asked salt web1 state.show_top
    [ "$output" = '{"web1":{"base":["grouped","compound"]}}' ]
    asked salt_call web1 state.show_top
    [ "$output" = '{"local":{"base":["grouped","compound"]}}' ]
}

@test "failhard ends the run" {
    asked salt web1 state.apply fails
    [[ $output == *'"__id__":"first"'* && $output != *'"__id__":"second"'* ]]
}

@test "state_auto_order: False runs by name; state_events tells of each state" {
    asked salt web1 state.apply order
    [ "$(grep -oE '"__run_num__":[0-9]+|"__id__":"[az]"' <<<"$output" | paste -sd' ')" = \
        '"__run_num__":0 "__id__":"a" "__run_num__":1 "__id__":"z"' ] ||
        [ "$(grep -oE '"__id__":"[az]"|"__run_num__":[0-9]+' <<<"$output" | paste -sd' ')" = \
            '"__id__":"a" "__run_num__":0 "__id__":"z" "__run_num__":1' ]
    until_true 10 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"salt/job/*/prog/web1/*\"]}" | grep -q "\"len\":2"'
}

@test "Jinja's settings: of SLS files, and of files" {
    asked salt web1 state.apply blocks
    [[ $output == *'"__id__":"named"'* ]]
    [ "$(cat "$OUT/blocks")" = web1 ]
}

@test "every option is what the master says, within the run only; SIGHUP changes the next one" {
    local line name wanted
    for line in "${OPTIONS[@]}"; do
        name=${line%%:*}
        printf '%s:\n  test.configurable_test_state:\n    - comment: (( opts.%s|json|json ))\n' "$name" "$name"
    done >"$TREE/told.sls"
    asked salt web1 state.apply told
    for line in "${OPTIONS[@]}"; do
        name=${line%%:*}
        wanted=$(python3 -c 'import sys, json, yaml
print(json.dumps(json.dumps(yaml.safe_load(sys.argv[1])[sys.argv[2]], sort_keys=True).replace(" ", "")))' "$line" "$name")
        [[ $output == *"\"comment\":$wanted"* ]] || { echo "$name: $wanted; $output" && false; }
    done
    asked salt web1 config.get failhard
    [ "$output" = '{"web1":false}' ]
    with_options "renderer: yaml" "failhard: False"
    printf '"a{%% if true %%}b{%% endif %%}":\n  test.nop: []\n' >"$TREE/plain.sls"
    asked salt web1 state.apply plain
    [[ $output == *'"__id__":"a{%iftrue%}b{%endif%}"'* ]]
    asked salt web1 state.apply fails
    [[ $output == *'"__id__":"second"'* ]]
    with_options "${OPTIONS[@]}"
}

@test "a minion's own options give way, but for state_aggregate" {
    printf '(( opts.failhard )) (( opts.state_aggregate|json )):\n  test.nop: []\n' >"$TREE/own.sls"
    printf '%s\n' "failhard: False" "state_aggregate: [cmd]" >"$FLEET/etc/web1/own.conf"
    asked salt_call web1 state.apply own
    [[ $output == *'"__id__":"True[\"pkg\"]"'* ]]
    mkdir "$FLEET/etc/web1/minion.d"
    mv "$FLEET/etc/web1/own.conf" "$FLEET/etc/web1/minion.d"
    asked salt_call web1 state.apply own
    [[ $output == *'"__id__":"True[\"cmd\"]"'* ]]
    rm -r "$FLEET/etc/web1/minion.d"
}

@test "--local has its own options only" {
    asked salt_call web1 --local --file-root="$TREE" state.show_top
    [ "$output" = '{"local":{"base":["wrong"]}}' ]
}
