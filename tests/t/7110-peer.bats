#!/usr/bin/env bats
# 7110-peer.bats - minions that have functions called on others, and runners run, as peer and peer_run allow.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    MASTER_LINES=(
        'peer: {m1: [test.ping$, "test.e.*", test.arg$, test.sleep$, test.cross_test, {m2: [{grains.item: {args: [id]}}]}], "m[13]$": [test.version$]}'
        'peer_run: {m1: [manage.up$, test.sleep$]}'
        'publisher_acl_blacklist: {modules: [test.exception]}')
    fleet_up m1 m2 m3
}

teardown_file() {
    fleet_down
}

# What publish.FUN returns on a minion.
from() { salt "$1" "publish.$2" "${@:3}" --out=json --static --out-indent=-1; }

@test "returns by minion; full_data has them under ret" {
    same_as "$(from m1 publish '*' test.ping)" <<<'{"m1": {"m1": true, "m2": true, "m3": true}}'
    same_as "$(from m1 full_data m2 test.ping)" <<<'{"m1": {"m2": {"ret": true}}}'
    same_as "$(from m1 publish 'm2,m3' test.echo hello tgt_type=list)" \
        <<<'{"m1": {"m2": "hello", "m3": "hello"}}'
    run -0 from m1 publish m2 test.arg arg="[1, 'two', 'k=[3]']"
    grep -qF '"args": [1, "two"]' <<<"$output"
    grep -qF '"k": [3]' <<<"$output"
    same_as "$(from m1 publish m2 'test.ping,test.echo' arg='["", "x"]')" \
        <<<'{"m1": {"m2": {"test.ping": true, "test.echo": "x"}}}'
    same_as "$(from m3 publish nobody test.version)" <<<'{"m3": {}}'
}

@test "from salt-call; the job is a minion's" {
    same_as "$(salt_call m1 publish.publish m2 test.ping --out=json --out-indent=-1)" <<<'{"local": {"m2": true}}'
    salt-run jobs.list_jobs search_function=test.ping --out=json | grep -q '"User": "minion:m1"'
}

@test "a minion without a rule gets nothing, and the reason is in the logs" {
    same_as "$(from m2 publish '*' test.ping)" <<<'{"m2": {}}'
    same_as "$(from m3 publish '*' test.ping)" <<<'{"m3": {}}'
    same_as "$(from m2 runner manage.up)" <<<'{"m2": {}}'
    grep -q 'minion:m2 may not publish .test.ping. on .\*.: no rule of peer allows it' "$FLEET/log/master"
    grep -q "minion m2 may not run the runner 'manage.up'" "$FLEET/log/master"
}

@test "targets and arguments of a rule, the black list, publishing that is published" {
    same_as "$(from m1 publish m2 grains.item id)" <<<'{"m1": {"m2": {"id": "m2"}}}'
    same_as "$(from m1 publish m2 grains.item os)" <<<'{"m1": {}}'
    same_as "$(from m1 publish '*' grains.item id)" <<<'{"m1": {}}'
    same_as "$(salt_call m1 publish.publish m2 test.exception hello --out=json --out-indent=-1)" <<<'{"local": {}}'
    same_as "$(from m1 publish m2 publish.publish)" <<<'{"m1": {}}'
    same_as "$(from m1 publish m2 test.cross_test arg='["publish.publish", "*", "test.ping"]')" <<<'{"m1": {}}'
    same_as "$(from m1 publish m2 test.cross_test arg='["cmd.run", "cmd=id"]')" <<<'{"m1": {}}'
    same_as "$(from m1 publish m2 test.cross_test test.ping)" <<<'{"m1": {"m2": true}}'
}

@test "runners" {
    same_as "$(from m1 runner manage.up)" <<<'{"m1": ["m1", "m2", "m3"]}'
    same_as "$(from m1 runner manage.down)" <<<'{"m1": {}}'
    same_as "$(from m3 runner manage.up)" <<<'{"m3": {}}'
}

@test "a target that takes too long, and one that is dead" {
    same_as "$(from m1 publish m2 test.sleep 30 timeout=1)" <<<'{"m1": {}}'
    stop m3
    wait_gone m3
    same_as "$(from m1 publish '*' test.ping timeout=300)" <<<'{"m1": {"m1": true, "m2": true}}'
}
