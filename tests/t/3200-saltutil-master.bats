#!/usr/bin/env bats
# 3200-saltutil-master.bats - a minion on the master's host asks the master: saltutil.cmd, runner, wheel.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_up here there
    # The minion finds its master's configuration beside its own, as on a host with both.
    cp "$MASTER_CONF" "$FLEET/etc/here/master"
}

teardown_file() {
    fleet_down
}

@test "saltutil.cmd: other minions' returns" {
    run -0 salt here saltutil.cmd '*' test.echo arg='[hi]' --out=json --static
    [[ $output == *'"there": {'* && $output == *'"ret": "hi"'* && $output == *'"retcode": 0'* ]]
}

# 2^29 s: in milliseconds an int would have none.
@test "saltutil.cmd: a timeout that is longer than numbers reach" {
    run -0 salt here saltutil.cmd there test.sleep arg='[2]' timeout=536870912 --out=json --static
    [[ $output == *'"ret": true'* ]]
}

@test "saltutil.cmd: nobody matched" {
    run -0 salt here saltutil.cmd 'nobody*' test.ping --out=json --static --out-indent=-1
    [ "$output" = '{"here": {}}' ]
}

@test "saltutil.runner: the return, or the whole outcome" {
    run -0 salt here saltutil.runner test.arg arg='[1]' kwarg='{k: v}' --out=json --static --out-indent=-1
    [ "$output" = '{"here": {"args": [1], "kwargs": {"k": "v"}}}' ]
    run -0 salt here saltutil.runner test.arg full_return=True --out=json --static
    [[ $output == *'"success": true'* && $output == *'"tag": "salt/run/'* ]]
}

@test "saltutil.wheel: keys" {
    run -0 salt here saltutil.wheel key.list_all --out=json --static
    [[ $output == *'"minions": ['* && $output == *'"there"'* ]]
}

@test "sys.list_runners and the like: those of the master beside" {
    run -0 salt here sys.list_runners 'm*' --out=json --static --out-indent=-1
    [[ $output == '{"here": ["manage"'* ]]
    run -0 salt here sys.list_runner_functions 'manage.d*' --out=json --static --out-indent=-1
    [[ $output == *'"manage.down"'* ]]
    run -0 salt here sys.runner_argspec test.arg --out=json --static --out-indent=-1
    [ "$output" = '{"here": {"test.arg": {"args": null, "defaults": null, "varargs": true, "kwargs": true}}}' ]
    run -0 salt here sys.runner_doc manage.up --out=json --static --out-indent=-1
    [[ $output == '{"here": {"manage.up": "'* ]]
    run -0 salt-run salt.cmd sys.list_runners 'm*' --out=json --out-indent=-1
    [[ $output == *'"manage"'* ]]
    run -0 salt there sys.list_runners --out=json --static --out-indent=-1
    [ "$output" = '{"there": []}' ]
}

@test "a minion elsewhere is told that this is for the master's host" {
    run salt there saltutil.runner test.arg
    [ "$status" -eq 1 ]
    [[ $output == *'only be executed on a minion that is located on the master'* ]]
}
