#!/usr/bin/env bats
# 1300-hostile-master.bats - a master that lies, babbles or breaks the protocol: the minion refuses, says so and lives.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    mkdir "$FLEET/fake"
    start_minion m1
}

teardown() {
    fleet_down
}

# fake STEP...: a master with a key of its own runs these steps after it has welcomed the minion.
fake() {
    "$HALITE_TOOLS/fakepeer" master $((PORT + 1)) $((PORT + 2)) "$FLEET/fake" master expect '"m":"hello","id":"m1"' \
        send "$WELCOME" "$@"
}
WELCOME='{"m":"welcome","state":"accepted","publish_port":1,"proto":1}'
JID=20260101000000000001
job() { echo "{\"m\":\"job\",\"jid\":\"$1\",\"fun\":\"$2\",\"arg\":${3:-[]},\"tgt\":\"*\",\"tgt_type\":\"glob\",\"ret\":\"\",\"user\":\"root\"}"; }
# A connection's end may overtake what was sent last: one more job, whose return shows that all before it was heard.
HEARD=(send "$(job 20260101000000000009 test.ping)" expect '"m":"ret","jid":"20260101000000000009"')
said() { until_log "$FLEET/log/m1" "$1"; }

@test "a job runs, says so when it takes a while, and its return comes" {
    wait_for="until test -e $FLEET/go; do sleep 0.02; done; echo hi"
    fake send "$(job $JID cmd.run "[\"$wait_for\"]")" expect "\"m\":\"started\",\"jid\":\"$JID\",\"pid\":[1-9]" \
        send "$(job 20260101000000000002 cmd.run "[\"touch $FLEET/go\"]")" \
        expect "\"m\":\"ret\",\"jid\":\"$JID\".*\"return\":\"hi\"" send "{\"m\":\"ack\",\"jids\":[\"$JID\"]}" "${HEARD[@]}"
    until_true 5 test ! -e "$FLEET/m1/var/cache/salt/minion/spool/$JID.ret"
}

@test "a job that comes three times runs once" {
    fake send "$(job $JID cmd.run "[\"echo ran >>$FLEET/ran\"]")" expect '"m":"ret"' \
        send "$(job $JID cmd.run "[\"echo ran >>$FLEET/ran\"]")" send "$(job $JID cmd.run "[\"echo ran >>$FLEET/ran\"]")" \
        send "$(job 20260101000000000002 test.ping)" expect '"m":"ret","jid":"20260101000000000002"'
    [ "$(wc -l <"$FLEET/ran")" -eq 1 ]
}

@test "the same after the minion's restart, while its return waits for an acknowledgement" {
    fake send "$(job $JID cmd.run "[\"echo ran >>$FLEET/ran\"]")" expect '"m":"ret"'
    stop m1
    start_minion m1
    fake expect '"m":"ret".*'$JID send "$(job $JID cmd.run "[\"echo ran >>$FLEET/ran\"]")" \
        send "$(job 20260101000000000002 test.ping)" expect '"m":"ret","jid":"20260101000000000002"'
    [ "$(wc -l <"$FLEET/ran")" -eq 1 ]
}

@test "messages that are not" {
    deep=$(printf '[%.0s' {1..2000})
    fake send x send '[]' send '{}' send '{"m":"nosuch"}' send '{"m":"ret","jid":"1"}' send '{"m":"job"' \
        send "{\"m\":\"job\",\"jid\":\"$JID\",\"fun\":\"test.echo\",\"arg\":$deep" send $'\xff\xfe' \
        send '{"m":"ack","jids":1,"events":{}}' send '{"m":"ack","jids":[1,null,{}],"events":["x",null]}' \
        send '{"m":"welcome"}' send "$WELCOME" send "$(job $JID test.ping)" expect '"m":"ret"'
    said 'refused: unknown message'
    pid_alive "$(pid_of m1)"
}

@test "jobs whose fields are of the wrong kind" {
    steps=()
    for field in 1 '""' null true '[]' '{}' '[1]' '["test.ping",2]' '"x.y.z"' '"../x"'; do
        steps+=(send "{\"m\":\"job\",\"jid\":\"2026010100000000$((1000 + ${#steps[@]}))\",\"fun\":$field,\"arg\":$field,\"tgt\":$field,\"tgt_type\":$field,\"ret\":$field,\"user\":$field,\"metadata\":$field}")
    done
    for field in 1 '""' null '"../../../x"' '"2026"' '"20260101000000000001/../../x"'; do
        steps+=(send "{\"m\":\"job\",\"jid\":$field,\"fun\":\"test.ping\",\"arg\":[]}")
    done
    fake "${steps[@]}" send "$(job $JID test.ping)" expect "\"m\":\"ret\",\"jid\":\"$JID\""
    said 'a job without a jid or a function is ignored'
    [ -z "$(find "$FLEET" -name 'x*')" ]
    pid_alive "$(pid_of m1)"
}

@test "an acknowledgement cannot name a file outside the spool" {
    mkdir -p "$FLEET/m1"
    touch "$FLEET/m1/victim.ret"
    fake send '{"m":"ack","jids":["../../../../victim"]}' send "$(job $JID test.ping)" expect '"m":"ret"'
    [ -e "$FLEET/m1/victim.ret" ]
}

@test "a return without an acknowledgement is sent again on the next connection" {
    fake send "$(job $JID test.echo '["kept"]')" expect '"m":"ret".*kept'
    [ -e "$FLEET/m1/var/cache/salt/minion/spool/$JID.ret" ]
    fake expect '"m":"ret".*kept' send "{\"m\":\"ack\",\"jids\":[\"$JID\"]}" "${HEARD[@]}"
    until_true 5 test ! -e "$FLEET/m1/var/cache/salt/minion/spool/$JID.ret"
}

@test "pillar: answers of the wrong kind, too late or to no question; the master that asks for patience is asked again" {
    local n answers=()
    for n in {1..9}; do answers+=(send "{\"m\":\"pillar\",\"n\":$n,\"pillar\":{\"fine\":\"yes\"}}"); done
    fake expect '"m":"pillar_ask","keep":true,"n":1' send '{"m":"pillar"}' send '{"m":"pillar","n":"x","pillar":{}}' \
        send '{"m":"pillar","n":77,"pillar":{"late":1}}' send '{"m":"pillar","n":-1,"error":5}' \
        send '{"m":"pillar","n":1,"pillar":[1,2],"again":-5}' send '{"m":"pillar","n":1,"pillar":{"late":1}}' \
        send "$(job $JID pillar.items)" expect '^\{"m":"pillar_ask","n":[2-9],"jid":"[0-9]{20}"\}$' \
        send '{"m":"pillar","n":2,"again":20}' send '{"m":"pillar","n":3,"again":20}' \
        expect '^\{"m":"pillar_ask","n":[2-9],"jid":"[0-9]{20}"\}$' "${answers[@]}" expect '"m":"ret".*"fine":"yes"' \
        send "$(job 20260101000000000002 pillar.items)" expect '"m":"pillar_ask"' send '{"m":"pillar","n":4,"error":"no way"}' \
        send '{"m":"pillar","n":3,"error":"no way"}' send '{"m":"pillar","n":5,"error":"no way"}' expect '"m":"ret".*ERROR: no way'
    said 'the pillar of before stays: the master sent no pillar'
    pid_alive "$(pid_of m1)"
}

@test "a pillar that the master never sends is one line, and the minion goes on" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    stop m1
    LD_PRELOAD=$BUILD/tests/preload/hurry.so start_minion m1
    fake send "$(job $JID pillar.items)" expect '"m":"ret".*"return":"[^"]*the master did not send a pillar in time"' \
        send "$(job 20260101000000000002 test.ping)" expect '"m":"ret","jid":"20260101000000000002"'
}

@test "a frame that is larger than any may be: the connection ends, the next one works" {
    fake big 17000000 '{"m":"job","jid":"' closed
    fake send "$(job $JID test.ping)" expect '"m":"ret"'
}

@test "a refused minion waits and asks again" {
    "$HALITE_TOOLS/fakepeer" master $((PORT + 1)) $((PORT + 2)) "$FLEET/fake" master expect '"m":"hello"' \
        send '{"m":"welcome","state":"full","reason":"no room today"}' expect '"m":"hello"' send "$WELCOME" \
        send "$(job $JID test.ping)" expect '"m":"ret"'
    said 'no room today'
}

@test "another key than the known one: nothing is sent to it" {
    fake send "$(job $JID test.ping)" expect '"m":"ret"'
    mkdir "$FLEET/fake2"
    daemon listen-other "$HALITE_TOOLS/fakepeer" master $((PORT + 1)) $((PORT + 2)) "$FLEET/fake2" master \
        wait "$FLEET/known" drain
    said "the master's key has changed"
    touch "$FLEET/known"
    until_true 10 test -e "$FLEET/pids/listen-other.rc"
    grep -q 'hello answered' "$FLEET/log/listen-other"
    not grep -q '"m":' "$FLEET/log/listen-other"
    # The old one is still believed.
    fake expect '"m":"ret"'
}

@test "a listener on the master's port that is not a master" {
    stop m1
    daemon listen-http python3 -m http.server --bind 127.0.0.1 $((PORT + 1))
    daemon listen-http2 python3 -m http.server --bind 127.0.0.1 $((PORT + 2))
    start_minion m1
    # The hello port does not answer either: the minion keeps asking, and lives.
    until_log "$FLEET/log/m1" 'fingerprint'
    stop listen-http
    stop listen-http2
    fake send "$(job $JID test.ping)" expect '"m":"ret"'
}
