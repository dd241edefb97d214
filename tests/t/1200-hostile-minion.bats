#!/usr/bin/env bats
# 1200-hostile-minion.bats - peers that lie, babble or break the protocol towards a master: what they send is refused and
# counted, and the fleet works on.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir "$FLEET/pillar"
    printf "base:\n  '*': [one]\n" >"$FLEET/pillar/top.sls"
    echo 'whose: {{ opts.id }}' >"$FLEET/pillar/one.sls"
    start_master "pillar_roots: {base: [$FLEET/pillar], __env__: [$FLEET/pillar/__env__]}"
    start_minion m1
    start_minion m2
    accept m1 m2
    wait_connected m1 m2
    export SERVER=$FLEET/master/etc/salt/pki/master/master.pub
    # An accepted minion that is turned: its key, without its program.
    start_minion evil
    accept evil
    wait_connected evil
    stop evil
    wait_gone evil
    export EVIL=$FLEET/evil/etc/salt/pki/minion
}

teardown_file() {
    fleet_down
}

setup() {
    BEFORE=$(counter refused)
}

# After each attack: the master is the same process and its minions answer.
teardown() {
    ask '{"op":"status"}' | grep -q "\"pid\":$(pid_of master),"
    is_connected m1
    is_connected m2
    [ "$(salt -L m1,m2 test.ping --out=txt | sort | tr '\n' ' ')" = 'm1: True m2: True ' ]
}

peer() { "$HALITE_TOOLS/fakepeer" "$@"; }
# evil STEP...: on a connection with the turned minion's key. stranger NAME STEP...: with a new key.
evil() { peer dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$EVIL" minion "$@"; }
stranger() {
    local name=$1
    shift
    mkdir -p "$BATS_TEST_TMPDIR/keys"
    peer dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$BATS_TEST_TMPDIR/keys" "$name" "$@"
}
hello() { echo "{\"m\":\"hello\",\"id\":\"$1\",\"role\":\"minion\",\"boot\":\"b$RANDOM\",\"proto\":1,\"version\":\"3006.0\",\"pending\":[]}"; }
WELCOME='"m":"welcome","state":"accepted"'
# An accepted connection answers a hello even after it was refused something: that tells when the master has read all.
refused_more() { [ "$(counter refused)" -gt "$BEFORE" ]; }

@test "random bytes on all three ports" {
    for port in "$PORT" $((PORT + 1)) $((PORT + 2)); do
        run peer garbage 127.0.0.1 "$port" 100000
        [ "$status" -eq 0 ]
    done
}

@test "connections that say nothing and go" {
    for n in {1..50}; do
        exec {fd}<>"/dev/tcp/127.0.0.1/$((PORT + 1))"
        exec {fd}>&-
    done
}

@test "a peer without CURVE is turned away on both ports" {
    failed=$(counter handshakes_failed)
    peer null 127.0.0.1 $((PORT + 1))
    peer null 127.0.0.1 "$PORT"
    until_true 5 eval '[ "$(counter handshakes_failed)" -gt '"$failed"' ]'
}

@test "a peer that encrypts for another master key gets nowhere" {
    mkdir "$BATS_TEST_TMPDIR/other"
    peer key "$BATS_TEST_TMPDIR/other" master
    SERVER=$BATS_TEST_TMPDIR/other/master.pub stranger x closed
}

@test "nothing before hello" {
    stranger s1 send '{"m":"grains","grains":{"role":"web"}}' send '{"m":"ret","jid":"20260101000000000001","fun":"test.ping","return":true}' \
        send '{"m":"event","n":1,"tag":"salt/key","data":{}}' send '{"m":"started","jid":"20260101000000000001","pid":1}' \
        send "$(hello stranger1)" expect '"state":"pending"'
    refused_more
    [ "$(counter refused)" -ge $((BEFORE + 4)) ]
    salt-key -y -d stranger1
}

@test "nothing but hello and bye while the key waits for acceptance" {
    listen all
    stranger s2 send "$(hello stranger2)" expect '"state":"pending"' \
        send '{"m":"event","n":1,"tag":"evil/tag","data":{}}' send '{"m":"grains","grains":{"role":"web"}}' \
        send '{"m":"ret","jid":"20260101000000000001","fun":"test.ping","return":true,"retcode":0,"success":true}' \
        send "$(hello stranger2)" expect '"state":"pending"'
    [ "$(counter refused)" -ge $((BEFORE + 3)) ]
    [ "$(heard all evil/tag)" -eq 0 ]
    [ "$(heard all ret/stranger2)" -eq 0 ]
    unlisten all
    salt-key -y -d stranger2
}

@test "messages that are not: not JSON, another name, another direction, not an object, duplicate keys, too deep" {
    deep=$(printf '[%.0s' {1..2000})
    evil send "$(hello evil)" expect "$WELCOME" \
        send x send '' send '[]' send '{}' send '{"m":"nosuch"}' send '{"m":"job","jid":"1"}' send '{"m":"welcome","state":"accepted"}' \
        send '{"m":"grains"' send '{"m":"grains","grains":{},"grains":{}}' send '{"x":1,"m":"bye"}' \
        send "{\"m\":\"grains\",\"grains\":{\"d\":$deep" send '{"m":"hello"}garbage' send $'\xff\xfe\x01' \
        send "$(hello evil)" expect "$WELCOME"
    [ "$(counter refused)" -ge $((BEFORE + 12)) ]
}

@test "fields of the wrong kind in every message" {
    for field in 1 '"x"' null true '[]' '{}' -1 1e400 9223372036854775808; do
        for name in hello grains started ret event; do
            echo "{\"m\":\"$name\",\"id\":$field,\"jid\":$field,\"fun\":$field,\"grains\":$field,\"pid\":$field,\"n\":$field,\"tag\":$field,\"data\":$field,\"return\":$field,\"pending\":$field,\"boot\":$field,\"role\":$field}"
        done
    done >"$BATS_TEST_TMPDIR/lines"
    steps=()
    while IFS= read -r line; do steps+=(send "$line"); done <"$BATS_TEST_TMPDIR/lines"
    evil send "$(hello evil)" expect "$WELCOME" "${steps[@]}" send "$(hello evil)" expect "$WELCOME"
    refused_more
}

@test "a message of two frames" {
    evil send "$(hello evil)" expect "$WELCOME" parts '{"m":"bye"}' more send "$(hello evil)" expect "$WELCOME"
    refused_more
}

@test "a hello that is too large for its row" {
    evil big 100000 '{"m":"hello","id":"' send "$(hello evil)" expect "$WELCOME"
    refused_more
}

@test "grains in a hello that are none, or too many, or named like paths: the key waits, and nothing is read" {
    many=$(python3 -c 'import json; print(json.dumps({"g%d" % i: "x" for i in range(1500)}))')
    for claim in 5 null '"x"' '[1]' '{"token":{"a":[]}}' '{"../../master/master.pem":"x","token/..":"x","":"x"}' "$many" \
        "{\"token\":\"$(printf 'x%.0s' {1..5000})\"}"; do
        with=$(hello "claims$((n += 1))")
        stranger "claims$n" send "${with%\}},\"autosign_grains\":$claim}" expect '"state":"pending"'
    done
    salt-key -y -d 'claims*' >/dev/null
}

@test "a frame that is larger than any may be ends its connection" {
    evil send "$(hello evil)" expect "$WELCOME" big 17000000 '{"m":"grains","grains":"' closed
}

@test "a frame of 16 MiB that is not JSON costs a refusal" {
    evil send "$(hello evil)" expect "$WELCOME" big 16000000 '{"m":"ret","jid":"' send "$(hello evil)" expect "$WELCOME"
    refused_more
}

@test "hello with another's id: denied, counted, the owner stays connected" {
    listen auth 'salt/auth'
    stranger s3 send "$(hello m1)" expect '"state":"denied"'
    wait_event auth '"act":"denied","id":"m1"'
    unlisten auth
    refused_more
    salt-key -l denied | grep -q m1
    cmp "$FLEET/m1/etc/salt/pki/minion/minion.pub" "$FLEET/master/etc/salt/pki/master/minions/m1"
}

@test "an accepted key with another's id: denied" {
    evil send "$(hello m1)" expect '"state":"denied"'
    refused_more
    cmp "$FLEET/m1/etc/salt/pki/minion/minion.pub" "$FLEET/master/etc/salt/pki/master/minions/m1"
}

@test "ids that could leave their folder: denied, no file" {
    for id in ../../x .hidden a/b '' ' ' "$(printf 'x%.0s' {1..300})"; do
        stranger "s$RANDOM" send "{\"m\":\"hello\",\"id\":\"$id\",\"boot\":\"b\"}" expect '"state":"denied"'
    done
    refused_more
    [ -z "$(find "$FLEET/master" -name 'x*' -newer "$SERVER")" ]
    [ "$(salt-key -l pre --out=json --out-indent=-1)" = '{"minions_pre": []}' ]
}

@test "a return in another's name stays its sender's" {
    jid=$(salt m1 test.ping -v | grep -oE '[0-9]{20}' | head -n 1)
    listen rets "salt/job/$jid/*"
    evil send "$(hello evil)" expect "$WELCOME" \
        send "{\"m\":\"ret\",\"id\":\"m1\",\"jid\":\"$jid\",\"fun\":\"test.ping\",\"fun_args\":[],\"return\":\"forged\",\"retcode\":0,\"success\":true}" \
        send "$(hello evil)" expect "$WELCOME"
    [ "$(heard rets 'ret/m1')" -eq 0 ]
    unlisten rets
    # The stored return of m1 is m1's.
    salt-run jobs.lookup_jid "$jid" --out=json | grep -q '"m1": true'
}

@test "a return for a jid that is not one" {
    evil send "$(hello evil)" expect "$WELCOME" \
        send '{"m":"ret","jid":"../../x","fun":"test.ping","return":1,"retcode":0,"success":true}' \
        send '{"m":"ret","jid":"","fun":"test.ping","return":1}' send '{"m":"ret"}' \
        send "$(hello evil)" expect "$WELCOME"
    [ "$(counter refused)" -ge $((BEFORE + 3)) ]
}

@test "events carry their sender's id whatever they say; tags without bound or name are not taken" {
    listen all
    evil send "$(hello evil)" expect "$WELCOME" \
        send '{"m":"event","n":1,"tag":"my/tag","data":{"id":"m1","x":1}}' expect '"events":\[1\]' \
        send "{\"m\":\"event\",\"n\":2,\"tag\":\"$(printf 'x%.0s' {1..2000})\",\"data\":{}}" \
        send '{"m":"event","n":3,"tag":"","data":{}}' send "$(hello evil)" expect "$WELCOME"
    wait_event all '"tag":"my/tag","data":\{"id":"evil"'
    [ "$(heard all xxxxxxxx)" -eq 0 ]
    unlisten all
}

@test "a job for others is not seen, on neither connection" {
    (evil send "$(hello evil)" expect "$WELCOME" wait "$BATS_TEST_TMPDIR/go" drain) >"$BATS_TEST_TMPDIR/dealer" 2>&1 3>&- &
    one=$!
    (peer sub 127.0.0.1 "$PORT" "$SERVER" "$EVIL" minion wait "$BATS_TEST_TMPDIR/go" drain) >"$BATS_TEST_TMPDIR/sub" 2>&1 3>&- &
    two=$!
    until_true 10 grep -q 'done: expect' "$BATS_TEST_TMPDIR/dealer"
    until_true 10 is_subscribed evil
    salt m1 test.echo secret-of-m1 >/dev/null
    salt -L m1,m2 test.echo secret-of-both >/dev/null
    # And one for everybody, so that silence means something.
    salt '*' test.echo for-all --async >/dev/null
    touch "$BATS_TEST_TMPDIR/go"
    wait $one
    wait $two
    cat "$BATS_TEST_TMPDIR/dealer" "$BATS_TEST_TMPDIR/sub" >"$BATS_TEST_TMPDIR/all"
    grep -q 'for-all' "$BATS_TEST_TMPDIR/all"
    not grep -q secret "$BATS_TEST_TMPDIR/all"
}

@test "subscriptions need an accepted key" {
    mkdir "$BATS_TEST_TMPDIR/keys"
    peer sub 127.0.0.1 "$PORT" "$SERVER" "$BATS_TEST_TMPDIR/keys" nobody closed
}

@test "a hundred unknown keys: the fleet works, and they can be deleted" {
    mkdir "$BATS_TEST_TMPDIR/keys"
    for n in {1..100}; do
        stranger "k$n" send "$(hello "crowd$n")" expect '"state":"pending"' >/dev/null
    done
    [ "$(salt-key -l pre | grep -c crowd)" -eq 100 ]
    salt-key -y -d 'crowd*' >/dev/null
    not grep -q crowd <<<"$(salt-key -l pre)"
}

@test "the hello port still answers after garbage" {
    run peer garbage 127.0.0.1 $((PORT + 2)) 1000000
    start_minion late
    accept late
    wait_connected late
    stop late
    salt-key -y -d late
}

@test "pillar: whose it is, the key says; an external source of its own is refused" {
    local open close
    open=$(printf '{"$py":["set",[%.0s' {1..150}) close=$(printf ']]}%.0s' {1..150})
    evil send "$(hello evil)" expect "$WELCOME" \
        send '{"m":"pillar_ask","n":1,"id":"m1","grains":{"id":"m1"}}' expect '"n":1,"pillar":\{[^}]*"whose":"evil"' \
        send "{\"m\":\"pillar_ask\",\"n\":2,\"ext\":{\"cmd_yaml\":\"touch $FLEET/harm\"}}" expect '"n":2,"pillar"' \
        send '{"m":"pillar_ask","n":3,"pillarenv":"../../etc"}' expect '"n":3,"pillar":\{\}' \
        send '{"m":"pillar_ask","n":4,"pillar":{"$py":["dict",[[[],1]]]}}' expect '"n":4,"pillar"' \
        send '{"m":"pillar_ask","n":5,"pillar":[1,2],"saltenv":7,"pillarenv":[],"ext":"x","grains":[],"keep":5}' expect '"n":5,"pillar"' \
        send "{\"m\":\"pillar_ask\",\"n\":6,\"pillar\":$open[]$close}" expect '"n":6,'
    [ ! -e "$FLEET/harm" ]
    refused_more
}

@test "pillar: what a minion lays over its pillar is nothing that targets see" {
    evil send "$(hello evil)" expect "$WELCOME" \
        send '{"m":"pillar_ask","n":1,"keep":true,"pillar":{"role":"treasurer"}}' expect '"n":1,"pillar":\{[^}]*"role":"treasurer"' \
        send '{"m":"pillar_ask","n":2,"keep":true,"clean":true,"pillar":{"role":"treasurer"}}' expect '"n":2,"pillar"'
    not grep -q treasurer <<<"$(salt-run cache.pillar evil --out=json)"
    run ! salt -I 'role:treasurer' test.ping
    evil send "$(hello evil)" expect "$WELCOME" send '{"m":"pillar_ask","n":1,"keep":true}' expect '"n":1,"pillar":\{[^}]*"whose":"evil"'
    grep -q '"whose": "evil"' <<<"$(salt-run cache.pillar evil --out=json)"
}

@test "the log: what a peer names begins no line of its own, and floods nothing" {
    local n steps=()
    evil send "$(hello evil)" expect "$WELCOME" \
        send '{"m":"pillar_ask","n":1,"ext":{"x\n[INFO    ] forged: keys: accept by root: 1":1}}' expect '"n":1,"pillar"'
    # After the attacks of before it is told when its turn comes, unless the next one takes its place.
    until_log "$FLEET/log/master" '    \[INFO    \] forged: keys: accept by root: 1 is not allowed'
    evil send "$(hello evil)" expect "$WELCOME" \
        send "{\"m\":\"pillar_ask\",\"n\":2,\"ext\":{\"$(printf 'y%.0s' {1..5000})\":1}}" expect '"n":2,"pillar"'
    not grep -q '^\[INFO    \] forged' "$FLEET/log/master"
    not grep -q yyyyyy "$FLEET/log/master"
    for n in {1..200}; do steps+=(send "{\"m\":\"pillar_ask\",\"n\":$n,\"ext\":{\"flood\":1}}" expect "\"n\":$n,"); done
    evil send "$(hello evil)" expect "$WELCOME" "${steps[@]}" >/dev/null
    [ "$(counter refused)" -ge $((BEFORE + 202)) ]
    [ "$(grep -c 'ext_pillar flood' "$FLEET/log/master")" -lt 100 ]
}

@test "pillar: a question without a number, and more of them than anybody needs" {
    local steps=()
    for n in {1..200}; do steps+=(send "{\"m\":\"pillar_ask\",\"n\":$n}"); done
    evil send "$(hello evil)" expect "$WELCOME" send '{"m":"pillar_ask"}' "${steps[@]}" expect '"n":200,.*(pillar|again)'
}

@test "mine: a question whose target, names or values would keep the master at work is refused, and so are many of them" {
    local ask='"m":"mine_ask","op":"get","fun":"x"' over='"n":[0-9]+,"error":".*it takes more work than one question may'
    printf '%s' "{\"m\":\"grains\",\"grains\":{\"x\":[\"$(printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaab%.0s","' {1..8000})\"]}}" >"$BATS_TEST_TMPDIR/grains"
    printf '%s' "{$ask,\"n\":2,\"tgt_type\":\"compound\",\"tgt\":\"$(printf 'P@x:(a{1,999}){1,30} or %.0s' {1..30000})x\"}" >"$BATS_TEST_TMPDIR/terms"
    printf '%s' "{\"m\":\"mine_ask\",\"op\":\"get\",\"n\":3,\"tgt\":\"*\",\"fun\":[$(printf '"x",%.0s' {1..100000})\"x\"]}" >"$BATS_TEST_TMPDIR/names"
    DEADLINE=60 run evil send "$(hello evil)" expect "$WELCOME" file "$BATS_TEST_TMPDIR/grains" \
        send "{$ask,\"n\":1,\"tgt_type\":\"grain_pcre\",\"tgt\":\"x:(a+)+\$\"}" expect "$over" \
        file "$BATS_TEST_TMPDIR/terms" expect "$over" \
        file "$BATS_TEST_TMPDIR/names" expect '"n":3,"error":"it asks for 100001 names: at most 1000 at once' \
        send '{"m":"mine_ask","n":4,"op":"send","data":{"v":{"__saltmine_acl__":1,"__data__":1,"allow_tgt":"x:(a+)+$","allow_tgt_type":"grain_pcre"}}}' \
        expect '"n":4,"value":true' send '{"m":"mine_ask","n":5,"op":"get","tgt":"evil","fun":"v"}' expect '"n":5,"value":\{\}' \
        many 60 "{$ask,\"n\":#,\"tgt_type\":\"grain_pcre\",\"tgt\":\"x:(a+)+\$\"}" expect 'the master has worked for [0-9]* ms on this minion'
    cut -c1-200 <<<"$output"
    [ "$status" -eq 0 ]
    # What others may ask is as it was.
    salt m1 mine.send v mine_function=test.echo text=here
    [ "$(salt m2 mine.get m1 v --out=json --out-indent=-1)" = '{"m2": {"m1": "here"}}' ]
}
