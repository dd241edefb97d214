#!/usr/bin/env bats
# 7100-mine.bats - the mine: values that minions give to the master for each other.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    MINION_LINES=('mine_functions: {test.echo: [hello], where: [{mine_function: test.arg}, here], secret: {mine_function: test.ping, allow_tgt: m2}}')
    MASTER_LINES=('pillar_roots: {base: ['"$BATS_FILE_TMPDIR/pillar"']}')
    mkdir -p "$BATS_FILE_TMPDIR/pillar"
    printf "base:\n  'm1':\n    - one\n" >"$BATS_FILE_TMPDIR/pillar/top.sls"
    printf 'colour: blue\n' >"$BATS_FILE_TMPDIR/pillar/one.sls"
    fleet_up m1 m2
}

teardown_file() {
    fleet_down
}

# What a command returns as JSON on one line.
json() { "$@" --out=json --out-indent=-1; }
from() { salt "$1" mine.get "${@:2}" --out=json --static --out-indent=-1; }

@test "mine_functions are called at the start" {
    until_true 10 eval '[ "$(json salt-run mine.get "*" test.echo)" = "{\"m1\": \"hello\", \"m2\": \"hello\"}" ]'
}

@test "update, and get on a minion: of one name, of several" {
    run -0 json salt-run mine.update '*'
    same_as "$output" <<<'{"m1": true, "m2": true}'
    same_as "$(from m1 m2 test.echo)" <<<'{"m1": {"m2": "hello"}}'
    same_as "$(from m2 m1 'test.echo,where')" \
        <<<'{"m2": {"test.echo": {"m1": "hello"}, "where": {"m1": {"args": ["here"], "kwargs": {}}}}}'
    same_as "$(from m1 'm*' test.echo exclude_minion=True)" <<<'{"m1": {"m2": "hello"}}'
    same_as "$(from m1 'm*' nosuch)" <<<'{"m1": {}}'
}

@test "a name that is empty is nobody's" {
    local fun
    for fun in '""' '","' '[]' '[""]' 'null' '5'; do
        [ "$(ask '{"op":"mine","tgt":"*","tgt_type":"glob","fun":'"$fun"'}' | grep -o '"mine":[^,}]*}')" = '"mine":{}' ]
    done
}

@test "allow_tgt: a value is for those whom it names" {
    same_as "$(from m2 '*' secret)" <<<'{"m2": {"m1": true, "m2": true}}'
    same_as "$(from m1 '*' secret)" <<<'{"m1": {}}'
    same_as "$(json salt-run mine.get '*' secret)" <<<'{"m1": true, "m2": true}'
    json salt-run cache.mine m1 | grep -q '"__saltmine_acl__": 1'
}

@test "a pillar can't be found out by patterns" {
    salt m1 saltutil.refresh_pillar wait=True
    same_as "$(from m2 'colour:blue' test.echo tgt_type=pillar)" <<<'{"m2": {"m1": "hello"}}'
    same_as "$(from m2 'colour:b*' test.echo tgt_type=pillar)" <<<'{"m2": {}}'
    same_as "$(from m2 'I@colour:b*' test.echo tgt_type=compound)" <<<'{"m2": {}}'
    same_as "$(from m2 'colour:bl.*' test.echo tgt_type=pillar_pcre)" <<<'{"m2": {}}'
}

@test "send, delete, flush, valid, get_docker" {
    run -0 salt m1 mine.send mine mine_function=test.echo text=sent
    same_as "$(from m2 m1 mine)" <<<'{"m2": {"m1": "sent"}}'
    salt m1 mine.delete mine
    same_as "$(from m2 m1 mine)" <<<'{"m2": {}}'
    salt m1 mine.flush
    same_as "$(from m2 '*' test.echo)" <<<'{"m2": {"m2": "hello"}}'
    salt m1 mine.valid --out=json | grep -q '"test.arg"'
    local container='c1: {Image: nginx, Ports: [{IP: 0.0.0.0, PrivatePort: 80, PublicPort: 8080}]}'
    salt m1 mine.send docker.ps mine_function=test.echo \
        text="{$container, host: {interfaces: {eth0: {inet: [{address: 10.0.0.5}]}}}}"
    same_as "$(json salt m2 mine.get_docker)" <<<'{"m2": {"nginx": {"ipv4": {"80": ["10.0.0.5:8080"]}}}}'
    salt m1 mine.delete docker.ps
    salt m1 mine.update
}

@test "salt-call, too" {
    same_as "$(json salt_call m1 mine.get m2 test.echo)" <<<'{"local": {"m2": "hello"}}'
    salt_call m1 mine.send called mine_function=test.echo text=by-hand
    same_as "$(from m2 m1 called)" <<<'{"m2": {"m1": "by-hand"}}'
    run salt_call m1 --local mine.send called mine_function=test.echo text=x
    [ "$status" -ne 0 ]
}

@test "the mine outlives the master, and is forgotten on demand" {
    stop master
    start_master
    wait_connected m1 m2
    same_as "$(from m2 m1 test.echo)" <<<'{"m2": {"m1": "hello"}}'
    run -0 json salt-run cache.clear_mine_func m1 clear_mine_func_flag=where
    same_as "$(from m2 m1 'test.echo,where')" <<<'{"m2": {"test.echo": {"m1": "hello"}}}'
    json salt-run cache.clear_mine m1
    same_as "$(from m2 m1 test.echo)" <<<'{"m2": {}}'
    same_as "$(json salt-run cache.mine m1)" <<<'{}'
}

@test "mine_get: who may ask for what" {
    stop master
    master_conf "pillar_roots: {base: [$BATS_FILE_TMPDIR/pillar]}" "mine_get: {m2: [test.*]}"
    start_master
    wait_connected m1 m2
    json salt-run mine.update '*'
    same_as "$(from m2 m2 'test.echo,where')" <<<'{"m2": {"test.echo": {"m2": "hello"}}}'
    same_as "$(from m1 m2 test.echo)" <<<'{"m1": {}}'
}
