#!/usr/bin/env bats
# 1280-versions.bats - older and newer peers and stores: each side says which of both is to be upgraded.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    mkdir "$FLEET/fake"
    OWN=$("$HALITE_BIN/salt" --version | sed -nE 's/^salt [0-9.]+ \(Halite ([0-9A-Za-z.+-]+)\)$/\1/p')
    [ -n "$OWN" ]
    PROTO=$(sed -nE 's/^#define WIRE_PROTO +([0-9]+).*/\1/p' "$HALITE_SRC/src/common/net/wire.h")
    [ "$PROTO" -ge 1 ]
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
    fake send "$(welcome 4 7.0.0)" expect '"m":"hello"' send "$(welcome 0 0.9.0)" expect '"m":"hello"' send "$(welcome 1 "$OWN")" \
        send '{"m":"job","jid":"20260101000000000001","fun":"test.ping","arg":[],"tgt":"*","tgt_type":"glob","ret":"","user":"root"}' \
        expect '"m":"ret"'
    said m1 "the minion speaks protocol 1 (Halite $OWN) and the master protocol 4 (Halite 7.0.0): upgrade the minion"
    said m1 "the minion speaks protocol 1 (Halite $OWN) and the master protocol 0 (Halite 0.9.0): upgrade the master"
}

# works_with PROTOCOL: the minion that starts goes on with a master of the protocol, and does a job.
works_with() {
    "$HALITE_TOOLS/fakepeer" master $((PORT + 1)) $((PORT + 2)) "$FLEET/fake" master expect '"m":"hello","id":"m1"' \
        send "{\"m\":\"welcome\",\"state\":\"accepted\",\"publish_port\":1,\"proto\":$1,\"halite\":\"7.0.0\"}" \
        send '{"m":"job","jid":"2026010100000000000'"$1"'","fun":"test.ping","arg":[],"tgt":"*","tgt_type":"glob","ret":"","user":"root"}' \
        expect '"m":"ret"'
}

@test "a minion goes on with masters that are one and two protocols ahead" {
    start_minion m1
    for ahead in 1 2; do works_with $((PROTO + ahead)); done
}

# The hello of a protocol's first release, byte for byte as it was sent: a protocol that is raised needs one more, and the master
# must serve those that are left.
@test "recorded minions of this protocol and the two before it are served" {
    local proto oldest=$((PROTO > 2 ? PROTO - 2 : 1)) server=$FLEET/master/etc/salt/pki/master/master.pub
    start_master "auto_accept: True"
    for ((proto = oldest; proto <= PROTO; proto++)); do
        "$HALITE_TOOLS/fakepeer" key "$FLEET/fake" "old$proto"
        "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$server" "$FLEET/fake" "old$proto" \
            file "$BATS_TEST_DIRNAME/hello/$proto.json" expect '"state":"accepted"' expect '"m":"job".*"fun":"test.ping"' \
            >"$FLEET/old$proto" 3>&- &
        served=$!
        wait_connected "old$proto"
        salt "old$proto" test.ping --async
        wait "$served" || { cat "$FLEET/old$proto" && false; } >&2
    done
    # One that is older is told what to do, and its key is not taken.
    "$HALITE_TOOLS/fakepeer" key "$FLEET/fake" older
    sed "s/\"old$oldest\"/\"older\"/; s/\"proto\":$oldest,/\"proto\":$((oldest - 1)),/" "$BATS_TEST_DIRNAME/hello/$oldest.json" >"$FLEET/older"
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$server" "$FLEET/fake" older \
        file "$FLEET/older" expect "\"state\":\"protocol\".*the minion speaks protocol $((oldest - 1)) .*: upgrade the minion"
    [ ! -e "$(master_pki minions/older)" ]
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
