#!/usr/bin/env bats
# 1280-versions.bats - older and newer peers and stores: each side says which of both is to be upgraded.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    mkdir "$FLEET/fake"
    OWN=$("$HALITE_BIN/salt" --version | sed -nE 's/^salt [0-9.]+ \(Halite ([0-9A-Za-z.+-]+)\)$/\1/p')
    [ -n "$OWN" ]
}

teardown() {
    fleet_down
}

said() { until_true 10 grep -qF -- "$2" "$FLEET/log/$1" || { tail -n 20 "$FLEET/log/$1" >&2; return 1; }; }

@test "--version: the Salt that it speaks as is the second word, behind it its own" {
    for program in salt salt-run salt-key salt-call salt-cp salt-master salt-minion; do
        [ "$("$HALITE_BIN/$program" --version)" = "$program 3006.0 (Halite $OWN)" ]
        grep -qxF "        Halite: $OWN" <<<"$("$HALITE_BIN/$program" --versions-report)"
    done
}

@test "a minion says its version by functions and grain, and the master knows it" {
    start_master
    start_minion m1
    accept m1
    wait_grains m1
    [ "$(salt m1 test.version --out=txt)" = "m1: 3006.0" ]
    [ "$(salt m1 test.halite_version --out=txt)" = "m1: $OWN" ]
    [ "$(salt m1 grains.item saltversion halite_version --out=json --out-indent=-1)" = \
        "{\"m1\": {\"saltversion\": \"3006.0\", \"halite_version\": \"$OWN\"}}" ]
    [ "$(ask '{"op":"minions"}' | field halite)" = "$OWN" ]
    ask '{"op":"status"}' | grep -qF "\"version\":\"3006.0\",\"halite\":\"$OWN\""
}

@test "minions of other protocols at this master" {
    start_master "auto_accept: True"
    server=$FLEET/master/etc/salt/pki/master/master.pub
    hello() { echo "{\"m\":\"hello\",\"id\":\"m9\",\"proto\":$1,\"halite\":\"$2\",\"boot\":\"b1\",\"pending\":[]}"; }
    as() { "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$server" "$FLEET/fake" m9 "$@"; }
    older='the minion speaks protocol 0 (Halite 0.9.0) and the master protocol 1: upgrade the minion'
    newer='the minion speaks protocol 2 (Halite 7.0.0) and the master protocol 1: upgrade the master'
    "$HALITE_TOOLS/fakepeer" key "$FLEET/fake" m9
    as send "$(hello 0 0.9.0)" expect '"state":"protocol".*the minion speaks protocol 0 .*: upgrade the minion'
    said master "minion m9: $older"
    as send "$(hello 2 7.0.0)" expect '"state":"protocol".*the minion speaks protocol 2 .*: upgrade the master'
    said master "minion m9: $newer"
    [ ! -e "$(master_pki minions/m9)" ]
    as send "$(hello 1 1.0.0)" expect '"state":"accepted"'
    [ -e "$(master_pki minions/m9)" ]
}

@test "a master of another protocol and this minion, which goes on once they match" {
    start_minion m1 "acceptance_wait_time: 1"
    fake() { "$HALITE_TOOLS/fakepeer" master $((PORT + 1)) $((PORT + 2)) "$FLEET/fake" master expect '"m":"hello","id":"m1"' "$@"; }
    welcome() { echo "{\"m\":\"welcome\",\"state\":\"accepted\",\"publish_port\":1,\"proto\":$1,\"halite\":\"$2\"}"; }
    fake send "$(welcome 2 7.0.0)" expect '"m":"hello"' send "$(welcome 0 0.9.0)" expect '"m":"hello"' send "$(welcome 1 "$OWN")" \
        send '{"m":"job","jid":"20260101000000000001","fun":"test.ping","arg":[],"tgt":"*","tgt_type":"glob","ret":"","user":"root"}' \
        expect '"m":"ret"'
    said m1 "the minion speaks protocol 1 (Halite $OWN) and the master protocol 2 (Halite 7.0.0): upgrade the minion"
    said m1 "the minion speaks protocol 1 (Halite $OWN) and the master protocol 0 (Halite 0.9.0): upgrade the master"
}

@test "a store of a later master is refused and left as it is" {
    start_master
    stop master
    STORE=$FLEET/master/var/cache/salt/master/jobs.db
    change() { /usr/bin/python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).executescript(sys.argv[2])' "$STORE" "$1"; }
    change "PRAGMA user_version = 99; UPDATE meta SET value = '9.1.0' WHERE key = 'halite_version'"
    run -1 "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    grep -qF "jobs.db: a store of format 99, written by Halite 9.1.0; this master, Halite $OWN, knows formats up to 2: install that master again" <<<"$output"
    change "PRAGMA user_version = 2"
    start_master
}
