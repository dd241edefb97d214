#!/usr/bin/env bats
# peer.bats - what an accepted minion that was turned asks to have called on others: no more than its rules say.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() {
    museum_up 'peer: {m1: [cmd.run], "evil$": ["test.ping$", "test.sleep$", "test.cross_test$", "test.try$"], ".*": ["x509.sign_remote_certificate$"]}' \
        'peer_run: {m1: [salt.execute]}'
    printf 'x509_signing_policies: {www: {minions: m2, O: Halite}}\n' >>"$FLEET/pillar/one.sls"
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
}
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# asks NUMBER REST: the message; publishes NUMBER FUN ARG [REST]: of a job on m1.
asks() { echo "{\"m\":\"peer_ask\",\"n\":$1,$2}"; }
publishes() { asks "$1" "\"op\":\"publish\",\"tgt\":\"m1\",\"tgt_type\":\"glob\",\"timeout\":5,\"fun\":$2,\"arg\":$3${4:+,$4}"; }
REFUSED='"refused":"minion:evil may not publish'

@test "H-PEER: a rule for one function gives no other, however it is asked for" {
    local harm="touch $FLEET/harm" before
    before=$(begun)
    evil_says \
        send "$(publishes 1 '"cmd.run"' "[\"$harm\"]")" expect "\"n\":1,$REFUSED" \
        send "$(publishes 2 '["test.ping","cmd.run"]' "[[],[\"$harm\"]]")" expect "\"n\":2,$REFUSED" \
        send "$(publishes 3 '"test.ping,cmd.run"' "[[],[\"$harm\"]]")" expect "\"n\":3,$REFUSED" \
        send "$(publishes 4 '"test.cross_test"' "[\"cmd.run\",\"cmd=$harm\"]")" expect "\"n\":4,$REFUSED" \
        send "$(publishes 5 '"test.cross_test"' "[{\"__kwarg__\":true,\"cmd\":\"$harm\",\"func\":\"cmd.run\"}]")" expect "\"n\":5,$REFUSED" \
        send "$(publishes 6 '"test.cross_test"' "[\"cmd=$harm\",\"func=cmd.run\"]")" expect "\"n\":6,$REFUSED" \
        send "$(publishes 7 '"test.try"' "[\"cmd.run\",\"$harm\"]")" expect "\"n\":7,$REFUSED" \
        send "$(publishes 8 '"test.cross_test"' '["publish.publish","*","cmd.run"]')" expect "\"n\":8,$REFUSED" \
        send "$(publishes 9 '"publish.publish"' '["*","test.ping"]')" expect "\"n\":9,$REFUSED" \
        send "$(publishes 10 '"cmd.run"' "[\"$harm\"]" '"id":"m1","user":"root","peer":false,"as":{"user":"root"},"note":{"kind":"react","ref":"1","part":"1"}')" expect "\"n\":10,$REFUSED" \
        send "$(publishes 11 '"test.ping2"' '[]')" expect "\"n\":11,$REFUSED" \
        send "$(asks 12 '"op":"runner","fun":"salt.execute","arg":["m1","cmd.run",["'"$harm"'"]],"id":"m1"')" expect '"n":12,"refused":"minion evil may not run the runner'
    [ "$(begun)" -eq "$before" ]
}

@test "H-PEER: the job is its asker's, whatever it says, and its jid the master's" {
    evil_says send "$(publishes 1 '"test.ping"' '[]' '"user":"root","jid":"20200101000000000001","metadata":{"a":1}')" expect '"n":1,"value":."m1":true'
    [[ $(salt-run jobs.list_jobs search_function=test.ping --out=json) == *'"User": "minion:evil"'* ]]
    [[ $(salt-run jobs.list_job 20200101000000000001 --out=json) != *test.ping* ]]
}

@test "H-PEER: a certificate's signer knows who asks, and not by what is asked" {
    local n=0 more steps=()
    for more in '{"__kwarg__":true,"__pub_id":"m2"}' '"__pub_id=m2"' '{"__kwarg__":true,"__pub_id":"m2","__pub_user":"minion:m2","get_signing_policy_only":true}' 'true'; do
        n=$((n + 1))
        steps+=(send "$(publishes $n '"x509.sign_remote_certificate"' "[\"www\",{},$more]" '"user":"minion:m2"')"
            expect "\"n\":$n,\"value\":.\"m1\":.\"data\":null,\"errors\":.\"minion not permitted to use specified signing policy")
    done
    evil_says "${steps[@]}"
    [[ $(salt m2 publish.publish m1 x509.sign_remote_certificate "arg=['www', {}, true]" --out=json --static) == *'"O": "Halite"'* ]]
    # Not a minion's question: nobody is meant.
    [[ $(salt m1 x509.sign_remote_certificate www '{}' true __pub_id=m2 --out=json --static) == *'could not be identified'* ]]
}

@test "H-PEER: wrong shapes" {
    evil_says send "$(publishes 1 5 '[]')" expect '"n":1,"' send "$(publishes 2 '"test.ping"' '{}')" expect '"n":2,"error"' \
        send "$(asks 3 '"op":"publish","fun":"test.ping"')" expect '"n":3,"' \
        send "$(asks 4 '"op":"publish","fun":"test.ping","tgt":{},"tgt_type":"pcre","arg":[]')" expect '"n":4,"' \
        send "$(asks 5 '"op":"publish","fun":"test.ping","tgt":"(","tgt_type":"pcre","arg":[]')" expect '"n":5,"error"' \
        send "$(asks 6 '"op":"runner"')" expect '"n":6,"refused"' send "$(asks 7 '"op":5')" expect '"n":7,"' \
        send '{"m":"peer_ask"}' send '{"m":"peer_ask","n":-1,"op":"runner"}' send '{"m":"peer_ask","n":"1"}' \
        send "$(publishes 8 '"test.ping"' '[]' '"timeout":-5')" send "$(publishes 9 '"test.ping"' '[]' '"timeout":9223372036854775807')"
}

@test "H-PEER: so many at one time, and no more" {
    local steps=() i
    for i in $(seq 1 16); do steps+=(send "$(publishes "$i" '"test.sleep"' '[20]')"); done
    evil_says "${steps[@]}" send "$(publishes 17 '"test.ping"' '[]')" expect '"n":17,"error":"16 jobs that this minion asked for are under way'
    # What it waited for is forgotten with its connection.
    evil_says send "$(publishes 18 '"test.ping"' '[]')" expect '"n":18,"value":."m1":true'
}
