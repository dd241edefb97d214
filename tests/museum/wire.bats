#!/usr/bin/env bats
# wire.bats - published attacks on Salt's ports, and on who may say what: README.md says which and what they were.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() { museum_up; }
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# Salt's requests of these names, a line each: what unknown clients called in the clear.
clear_requests() {
    local mark=$FLEET/harm
    cat <<JSON
{"enc": "clear", "load": {"cmd": "_prep_auth_info"}}
{"enc": "clear", "load": {"cmd": "_send_pub", "fun": "cmd.run", "arg": ["touch $mark"], "tgt": "*", "tgt_type": "glob", "ret": "", "user": "root", "jid": "20200430000000000001"}}
{"enc": "clear", "load": {"cmd": "publish", "fun": "cmd.run", "arg": ["touch $mark"], "tgt": "*", "tgt_type": "glob", "ret": "", "user": "root", "key": ""}}
{"enc": "clear", "load": {"cmd": "runner", "fun": "salt.cmd", "kwarg": {"fun": "cmd.run", "cmd": "touch $mark"}, "key": ""}}
{"enc": "clear", "load": {"cmd": "wheel", "fun": "file_roots.write", "data": "x", "path": "../harm", "saltenv": "base", "key": ""}}
{"enc": "clear", "load": {"cmd": "wheel", "fun": "file_roots.read", "path": "../../../../etc/passwd", "saltenv": "base", "key": ""}}
{"enc": "clear", "load": {"cmd": "wheel", "fun": "key.accept", "match": "evil2", "key": ""}}
{"enc": "clear", "load": {"cmd": "mk_token", "eauth": "pam", "username": "root", "password": ""}}
{"enc": "clear", "load": {"cmd": "get_token", "token": "../../../etc/passwd"}}
{"enc": "clear", "load": {"cmd": "_auth", "id": "m1", "token": "x", "pub": "not a key", "version": 1}}
{"enc": "aes", "load": "0123456789abcdef"}
JSON
}

@test "CVE-2020-11651: the names of ClearFuncs, in the clear on each port: nothing runs" {
    clear_requests >"$BATS_TEST_TMPDIR/requests"
    before=$(begun)
    listen all
    for port in "$PORT" $((PORT + 1)) $((PORT + 2)); do
        wire salt "$port" "$BATS_TEST_TMPDIR/requests"
    done
    [ "$(begun)" -eq "$before" ]
    [ "$(heard all 'salt/(job|run|wheel|key)')" -eq 0 ]
    unlisten all
}

@test "CVE-2020-11651: the same through CURVE, from an unknown, a waiting and an accepted key: refused" {
    mkdir "$BATS_TEST_TMPDIR/packed"
    clear_requests >"$BATS_TEST_TMPDIR/requests"
    wire pack "$BATS_TEST_TMPDIR/requests" "$BATS_TEST_TMPDIR/packed"
    steps=()
    for file in "$BATS_TEST_TMPDIR"/packed/*; do steps+=(file "$file"); done
    while IFS= read -r line; do
        steps+=(send "$line" send "$(sed -E 's/.*"load": \{"cmd": /{"m":/; s/\}$//' <<<"$line")")
    done <"$BATS_TEST_TMPDIR/requests"
    before=$(counter refused)
    ran=$(begun)
    as unknown "${steps[@]}" send "$(hello waits)" expect '"state":"pending"' "${steps[@]}" send "$(hello waits)" expect '"state":"pending"'
    evil_says "${steps[@]}"
    [ $(($(counter refused) - before)) -eq $((${#steps[@]} / 2 * 3)) ]
    [ "$(begun)" -eq "$ran" ]
    salt-key -y -d waits
}

@test "CVE-2013-4439, CVE-2024-38822: an accepted minion speaks for itself, whatever it says" {
    listen all
    jid=$(salt m1 test.echo mine -v | grep -oE '[0-9]{20}' | head -n 1)
    evil_says send "{\"m\":\"ret\",\"id\":\"m1\",\"tok\":\"x\",\"jid\":\"$jid\",\"fun\":\"test.echo\",\"fun_args\":[],\"return\":\"forged\",\"retcode\":0,\"success\":true}" \
        send "{\"m\":\"event\",\"n\":1,\"id\":\"m1\",\"tag\":\"museum\",\"data\":{\"id\":\"m1\"}}" expect '"events":\[1\]' \
        send '{"m":"grains","id":"m1","grains":{"id":"m1","role":"forged"}}' \
        send '{"m":"mine_ask","n":2,"id":"m1","op":"send","data":{"museum":"forged"},"clear":false}' expect '"n":2' \
        send '{"m":"pillar_ask","n":3,"id":"m1","grains":{"id":"m1"}}' expect '"n":3,"pillar":\{[^}]*"whose":"evil"'
    wait_event all '"tag":"museum","data":\{"id":"evil"'
    [ "$(heard all "ret/m1.*forged")" -eq 0 ]
    unlisten all
    [ "$(salt-run jobs.lookup_jid "$jid" --out=json --out-indent=-1)" = '{"m1": "mine"}' ]
    [ "$(salt-run mine.get '*' museum --out=json --out-indent=-1)" = '{"evil": "forged"}' ]
    [ "$(salt -G role:forged test.ping --out=txt 2>&1 | grep -c '^m1')" -eq 0 ]
    evil_says send '{"m":"mine_ask","n":4,"op":"flush"}' expect '"n":4'
}

@test "CVE-2017-7893: a minion is not a master: its jobs reach nobody, its key is nobody's server" {
    before=$(counter refused)
    evil_says send "{\"m\":\"job\",\"jid\":\"20170101000000000001\",\"fun\":\"cmd.run\",\"arg\":[\"touch $FLEET/harm\"],\"tgt\":\"m1\",\"tgt_type\":\"glob\"}" \
        send '{"m":"welcome","state":"accepted"}' send '{"m":"ack","jids":["20170101000000000001"],"events":[]}'
    [ $(($(counter refused) - before)) -eq 3 ]
    # A minion that is led to it has the master's key.
    mkdir -p "$FLEET/led/etc/salt/pki/minion"
    cp "$SERVER" "$FLEET/led/etc/salt/pki/minion/minion_master.pub"
    fleet=$PORT
    fleet_ports
    (peer master $((PORT + 1)) $((PORT + 2)) "$FLEET/keys" evil wait "$BATS_TEST_TMPDIR/go" drain) >"$BATS_TEST_TMPDIR/fake" 2>&1 3>&- &
    fake=$!
    start_minion led
    export PORT=$fleet
    until_log "$FLEET/log/led" 'the master.s key has changed' 20
    touch "$BATS_TEST_TMPDIR/go"
    wait "$fake"
    not grep -qE '"m":"(hello|ret|grains)"' "$BATS_TEST_TMPDIR/fake"
    stop led
}

@test "CVE-2016-9639: a deleted key has nothing of the minion that has its id now" {
    as old send "$(hello heir)" expect '"state":"pending"'
    salt-key -y -a heir >/dev/null
    as old send "$(hello heir)" expect "$WELCOME"
    salt-key -y -d heir >/dev/null
    as new send "$(hello heir)" expect '"state":"pending"'
    salt-key -y -a heir >/dev/null
    (RECORD=$BATS_TEST_TMPDIR/record as old send "$(hello heir)" expect '"state":"denied"' send '{"m":"pillar_ask","n":1}' \
        send '{"m":"ret","jid":"20160101000000000001","fun":"test.ping","return":"forged","retcode":0,"success":true}' \
        wait "$BATS_TEST_TMPDIR/go" drain) >"$BATS_TEST_TMPDIR/old" 2>&1 3>&- &
    old=$!
    until_true 10 grep -q 'done: expect' "$BATS_TEST_TMPDIR/old"
    salt heir test.echo for-the-heir --async >/dev/null
    touch "$BATS_TEST_TMPDIR/go"
    wait "$old"
    not grep -qE 'for-the-heir|pillar-of' "$BATS_TEST_TMPDIR/record"
    peer sub 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" old closed
    [ "$(salt-run jobs.lookup_jid 20160101000000000001 --out=json --out-indent=-1)" = '{}' ]
    salt-key -y -d heir >/dev/null
}

@test "CVE-2017-12791, CVE-2017-14695, CVE-2025-22238, CVE-2025-22241: ids that are paths" {
    find "$FLEET/master" -type f | sort >"$BATS_TEST_TMPDIR/before"
    for id in ../harm ../../harm ../minions/harm /tmp/harm 'harm/../../harm' .. . 'harm/' '\\..\\harm' 'harm\n' '%2e%2e%2fharm'; do
        as "key$RANDOM" send "{\"m\":\"hello\",\"id\":\"$id\",\"role\":\"minion\",\"boot\":\"b\",\"proto\":1,\"pending\":[]}" expect '"state":"(denied|pending)"'
    done
    salt-key -y -d '*harm*' >/dev/null || :
    evil_says send '{"m":"pillar_ask","n":1,"id":"../harm","grains":{"id":"../../harm"},"ext":{"virtkey":"../../harm"},"pillarenv":"../harm"}' expect '"n":1' \
        send '{"m":"mine_ask","n":2,"op":"send","id":"../harm","data":{"../../harm":1},"clear":true}' expect '"n":2' \
        send '{"m":"grains","grains":{"id":"../../harm"}}'
    evil_says send '{"m":"mine_ask","n":3,"op":"flush"}' expect '"n":3'
    find "$FLEET/master" -type f | sort >"$BATS_TEST_TMPDIR/after"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "CVE-2017-14696, CVE-2023-20897: greetings and returns that are none, by the hundred" {
    steps=()
    for field in id boot proto pending role version; do
        for value in null true 1 1e400 -1 '[]' '{}' '[[]]' '"\ud800"' '"\u0000"' 18446744073709551616; do
            steps+=(send "$(hello crafted | sed -E "s/\"$field\":(\"[^\"]*\"|[0-9]+|\[\])/\"$field\":$value/")")
        done
    done
    as crafted "${steps[@]}" send "$(hello crafted)" expect '"state":"(pending|denied)"'
    evil_says many 300 '{"m":"ret","jid":#,"fun":null,"return":' many 300 '{"m":"ret","jid":"x#","fun":[],"return":{}}'
    salt-key -y -d crafted >/dev/null || :
}

@test "CVE-2022-22936, CVE-2024-38823: what was recorded on the wire is worth nothing when it is sent again" {
    mkdir "$BATS_TEST_TMPDIR/in"
    "${WIRE[@]}" proxy $((PORT + 1)) "$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/port" 3>&- &
    proxy=$!
    until_true 10 test -s "$BATS_TEST_TMPDIR/port"
    peer dealer 127.0.0.1 "$(cat "$BATS_TEST_TMPDIR/port")" "$SERVER" "$FLEET/keys" evil send "$(hello evil)" expect "$WELCOME" \
        send '{"m":"event","n":1,"tag":"recorded","data":{}}' expect '"events":\[1\]'
    kill "$proxy"
    wait "$proxy" || :
    listen all
    before=$(counter handshakes_failed)
    wire replay $((PORT + 1)) "$BATS_TEST_TMPDIR/in/1"
    wire flip $((PORT + 1)) "$BATS_TEST_TMPDIR/in/1" 41
    until_true 5 eval '[ "$(counter handshakes_failed)" -gt '"$before"' ]'
    [ "$(heard all 'recorded|salt/auth')" -eq 0 ]
    unlisten all
}

@test "CVE-2022-22936: a return counts once, however often it comes" {
    listen all
    salt evil test.ping --async >/dev/null
    own=$(salt-run jobs.list_jobs --out=json | grep -oE '"[0-9]{20}"' | sort | tail -n 1 | tr -d '"')
    ret="{\"m\":\"ret\",\"jid\":\"$own\",\"fun\":\"test.ping\",\"fun_args\":[],\"return\":\"first\",\"retcode\":0,\"success\":true}"
    evil send "$(hello evil)" expect "$WELCOME" send "$ret" expect '"jids"' send "${ret/first/second}" expect '"jids"' \
        send "{\"m\":\"started\",\"jid\":\"$own\",\"pid\":1}" send "${ret/first/third}" expect '"jids"'
    wait_event all "$own/ret/evil"
    [ "$(heard all "$own/ret/evil")" -eq 1 ]
    unlisten all
    salt-run jobs.lookup_jid "$own" --out=json | grep -q '"evil": "first"'
}

@test "CVE-2025-62349: older or absent numbers of the protocol open no other way in" {
    for proto in '"proto":0,' '"proto":-1,' '"proto":99,' '"proto":"0",' ''; do
        as "old$RANDOM" send "{\"m\":\"hello\",\"id\":\"m1\",$proto\"boot\":\"b\",\"pending\":[]}" expect '"state":"(denied|protocol)"'
    done
    cmp "$FLEET/m1/etc/salt/pki/minion/minion.pub" "$MINIONS/m1"
}

@test "CVE-2025-22236, CVE-2025-22239: events of a minion that look like the master's work" {
    listen all
    before=$(counter refused)
    ran=$(begun)
    steps=()
    n=0
    for tag in salt/key salt/auth salt/wheel/20250101000000000001/new salt/run/20250101000000000001/new salt/job/20250101000000000001/new \
        20250101000000000001 salt/job/20250101000000000001/ret/m1 salt/minion/m1/start minion/refresh/m1 salt/beacon/m1/x salt/presence/change \
        salt/gate/refused salt/reactor/x; do
        steps+=(send "{\"m\":\"event\",\"n\":$((n += 1)),\"tag\":\"$tag\",\"data\":{\"forged\":1,\"act\":\"accept\",\"id\":\"m1\",\"result\":true}}" expect "\"events\":\[$n\]")
    done
    evil_says "${steps[@]}" \
        send "{\"m\":\"event\",\"n\":20,\"tag\":\"publish\",\"data\":{\"cmd\":\"publish\",\"fun\":\"cmd.run\",\"arg\":[\"touch $FLEET/harm\"],\"tgt\":\"*\"},\"more\":{\"cmd\":\"publish\",\"id\":\"m1\",\"tag\":\"salt/key\",\"_stamp\":\"x\"}}" \
        expect '"events":\[20\]'
    [ $(($(counter refused) - before)) -eq "$n" ]
    wait_event all '"tag":"publish","data":\{"id":"evil","tag":"publish"'
    [ "$(heard all '"forged"')" -eq 0 ]
    [ "$(begun)" -eq "$ran" ]
    unlisten all
}

@test "CVE-2025-22242: a jid that is a path is not a jid" {
    before=$(counter refused)
    evil_says send '{"m":"ret","jid":"../../../../proc/self/fd/0","fun":"test.ping","return":1}' \
        send '{"m":"ret","jid":"/dev/zero","fun":"test.ping","return":1}' send '{"m":"ret","jid":"2025010100000000000\u0000","fun":"test.ping","return":1}'
    [ $(($(counter refused) - before)) -eq 3 ]
}

@test "CVE-2019-1010259: names with SQL in them are names" {
    evil_says send "{\"m\":\"event\",\"n\":1,\"tag\":\"x'); DROP TABLE events; --\",\"data\":{\"a\":\"'\"}}" expect '"events":\[1\]' \
        send "{\"m\":\"mine_ask\",\"n\":2,\"op\":\"send\",\"data\":{\"x'); DELETE FROM minions; --\":\"'\"},\"clear\":true}" expect '"n":2' \
        send "{\"m\":\"ret\",\"jid\":\"20190101000000000001\",\"fun\":\"'; DROP TABLE jobs; --\",\"fun_args\":[\"'\"],\"return\":\"'\",\"retcode\":0,\"success\":true}" expect '"jids"'
    salt m1 test.echo "'; DROP TABLE returns; --" >/dev/null
    [ "$(salt-run jobs.list_jobs search_function="x' OR 1=1 --" --out=json --out-indent=-1)" = '{}' ]
    salt-run jobs.lookup_jid 20190101000000000001 --out=json | grep -q evil
    salt-run jobs.lookup_jid "x' OR '1'='1" --out=json --out-indent=-1 >/dev/null || :
    salt-run cache.mine evil --out=json | grep -q 'DELETE FROM'
    evil_says send '{"m":"mine_ask","n":3,"op":"flush"}' expect '"n":3'
}
