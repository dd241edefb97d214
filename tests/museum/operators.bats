#!/usr/bin/env bats
# operators.bats - published ways past Salt's permissions of users, against the local socket: README.md says which.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() {
    museum_up "publisher_acl: {nobody: [{'m1': [test.ping, test.arg]}, {'m2': ['test\\..*', 'jinja\\..*', 'event\\..*', saltcheck.run_test]}, {'nosuch*': [cmd.run]}, {'m1': ['saltutil.cmd']}, {'m1 or m2': [test.echo]}, test.version]}"
    fleet_open
    chmod o+r "$MASTER_CONF"
}
teardown_file() { fleet_down; }
setup() { needs_root; }
teardown() { museum_whole; }

# nobody JSON...: requests of the user nobody, whom publisher_acl lets have test.ping and test.arg on m1.
nobody() { $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" "$@"; }
# Refused, and not for a mistake in how the test writes the request.
refused() {
    run nobody "$1"
    [ "$status" -ne 0 ]
    [[ $output != *'comes twice'* ]]
}
# publish TARGET TYPE FUN [FURTHER_KEYS [ARG]]
publish() { echo "{\"op\":\"publish\",\"tgt\":$1,\"tgt_type\":\"$2\",\"fun\":$3,\"arg\":${5:-[]}${4:-}}"; }

@test "CVE-2013-4435: functions that are allowed carry none that are not" {
    nobody "$(publish '"m1"' glob '["test.ping","test.arg"]')" | grep -q '"ok":true'
    for fun in '["test.ping","cmd.run"]' '["cmd.run","test.ping"]' '"cmd.run"' '["test.ping",{"cmd.run":1}]' '["test.ping",["cmd.run"]]' \
        '{"test.ping":"cmd.run"}' '" cmd.run"' '"cmd.run\u0000test.ping"' '[]' null; do
        refused "$(publish '"m1"' glob "$fun" '' "[[\"touch $FLEET/harm\"]]")"
    done
    # This is one name, which a rule's pattern lets through as Salt's do, and which no minion has.
    jid=$(nobody "$(publish '"m1"' glob '"test.ping,cmd.run"' '' "[[\"touch $FLEET/harm\"]]")" | sed -nE 's/.*"jid":"([0-9]+)".*/\1/p')
    until_true 20 eval "salt-run jobs.lookup_jid $jid | grep -q 'is not available'"
    # What rides along in the request is not run either.
    nobody "$(publish '"m1"' glob '"test.arg"' ",\"module_executors\":[\"sudo\"],\"user\":\"root\",\"kwargs\":{\"cmd\":\"touch $FLEET/harm\"},\"metadata\":{\"fun\":\"cmd.run\"}")" |
        grep -q '"ok":true'
    # An option of a returner may be a file that root may write.
    refused "$(publish '"m1"' glob '"test.arg"' ',"ret":"rawfile_json","ret_kwargs":{"filename":"/etc/passwd"}')"
    nobody "$(publish '"m1"' glob '"test.arg"' ',"ret":"local_cache,cmd.run"' "[[\"touch $FLEET/harm\"]]")" | grep -q '"ok":true'
    until_log "$FLEET/log/m1" "'cmd.run.returner' is not available"
}

@test "H-INNER: a function that is allowed calls none that is not, whatever its arguments name" {
    nobody "$(publish '"m2"' glob '"test.cross_test"' '' '["test.ping"]')" | grep -q '"ok":true'
    for arg in '["cmd.run",["touch $FLEET/harm"]]' '["func=cmd.run"]' '[{"__kwarg__":true,"func":"cmd.run"}]' '["test.cross_test",["cmd.run",["id"]]]'; do
        refused "$(publish '"m2"' glob '"test.cross_test"' '' "$arg")"
        refused "$(publish '"m2"' glob '["test.ping","test.cross_test"]' '' "[[],$arg]")"
    done
    refused "$(publish '"m2"' glob '"test.try"' '' '["module=cmd.run","cmd=id"]')"
    # In whatever order words and objects stand, and in a key.
    nobody "$(publish '"m2"' glob '"test.try"' '' '["module=test.ping",{"__kwarg__":true,"return_try_exception":true}]')" | grep -q '"ok":true'
    for arg in '["module=test.ping",{"__kwarg__":true,"module":"cmd.run","cmd":"id"}]' '[{"__kwarg__":true,"module":"cmd.run"},"module=test.ping"]' \
        '[{"__kwarg__":true,"module":"test.ping"},{"__kwarg__":true,"module":"cmd.run"}]' '["module=\"cmd\\x2erun\""]'; do
        refused "$(publish '"m2"' glob '"test.try"' '' "$arg")"
    done
    for arg in '["mine_functions={x: [{mine_function: cmd.run}, id]}"]' '[{"__kwarg__":true,"mine_functions":{"cmd.run":["id"]}}]' '[false,{"cmd.run":["id"]}]'; do
        refused "$(publish '"m2"' glob '"mine.update"' '' "$arg")"
    done
    nobody "$(publish '"m2"' glob '"saltcheck.run_test"' '' '["test={module_and_function: test.ping, assertion: assertTrue}"]')" | grep -q '"ok":true'
    for arg in '["test={module_and_function: cmd.run, args: [id], assertion: assertTrue}"]' \
        '[{"__kwarg__":true,"test":{"module_and_function":"saltcheck.state_apply","args":["any"]}}]'; do
        refused "$(publish '"m2"' glob '"saltcheck.run_test"' '' "$arg")"
        [[ $output == *'is not allowed'* ]]
    done
}

@test "H-INNER: a path or a name is no template, an event is no other function" {
    local run="{{ salt['cmd.run']('touch $FLEET/harm') }}" jid
    # ends FUN ARG: the job is m2's, and has failed there.
    fails() {
        jid=$(nobody "$(publish '"m2"' glob "\"$1\"" '' "$2")" | sed -nE 's/.*"jid":"([0-9]+)".*/\1/p')
        until_true 20 eval "salt-run jobs.lookup_jid $jid --out=json | grep -q '$3'"
    }
    fails jinja.import_yaml "[\"file\\\" as a %}$run{% import_yaml \\\"file\"]" 'no such file'
    fails jinja.import_json "[\"file\\\" as a %}$run{% import_json \\\"file\"]" 'no such file'
    fails jinja.load_map "[\"file\\\" import a %}$run{% from \\\"file\", \"a\"]" 'no such file'
    fails jinja.load_map "[\"file\", \"a with context %}$run{% set a = 1\"]" 'the name of one variable'
    fails jinja.load_map "[\"file\", \"salt['cmd.run']('touch $FLEET/harm')\"]" 'the name of one variable'
    fails event.fire '[{"environ":{"LD_PRELOAD":"/else.so"}},"environ_setenv"]' 'call environ.setenv'
}

@test "H-INNER: what the arguments name is looked for last, and in bounds" {
    local bomb i request
    # A hundred thousand values each, for a moment of the sender.
    bomb='a0: &a0 [y,y,y,y,y,y,y,y,y,y]'
    for i in 1 2 3 4; do bomb+=", a$i: &a$i [$(printf "*a$((i - 1)),%.0s" {1..9})*a$((i - 1))]"; done
    printf -v bomb '"x={%s}",%.0s' "$bomb" {1..20}
    # Of who may not call the function at all: at once, whatever its arguments are.
    request=$(publish '"m1"' glob '"test.cross_test"' '' "[${bomb%,}]")
    refused "$request"
    [[ $output == *'is not allowed'* ]]
    refused "$(publish '"m2"' glob '"test.cross_test"' '' "[${bomb%,}]")"
    [[ $output == *'too large to look for the functions that they name'* ]]
    # Nor is a list of functions longer than a job of anybody's.
    refused "$(publish '"m2"' glob "[$(printf '"test.ping",%.0s' {1..256})\"test.ping\"]")"
    [[ $output == *'at most 256 functions, not 257'* ]]
    run ask "$(publish '"m2"' glob "[$(printf '"test.ping",%.0s' {1..256})\"test.ping\"]")"
    [[ $output == *'at most 256 functions, not 257'* ]]
    # And the audit log has the beginning of a long one.
    refused "$(publish '"m2"' glob "[$(printf '"test.ping",%.0s' {1..20000})\"test.ping\"]")"
    [ "$(wc -L <"$FLEET/master/var/log/salt/audit")" -lt 8000 ]
}

@test "CVE-2022-22941: a target that says what a rule says is none of the rule's" {
    nobody "$(publish '"m1"' glob '"test.ping"')" | grep -q '"ok":true'
    nobody "$(publish '["m1"]' list '"test.ping"')" | grep -q '"ok":true'
    nobody "$(publish '"m1 and G@id:m1"' compound '"test.ping"')" | grep -q '"ok":true'
    refused "$(publish '"m1 or m2"' compound '"test.ping"')"
    refused "$(publish '"m1 or *"' compound '"test.ping"')"
    refused "$(publish '"m1,m2"' list '"test.ping"')"
    refused "$(publish '["m1","m2"]' list '"test.ping"')"
    refused "$(publish '"m1|m2"' pcre '"test.ping"')"
    refused "$(publish '"m*"' glob '"test.ping"')"
    refused "$(publish '"id:m*"' grain '"test.ping"')"
    # A rule that no minion meets allows nothing, whom the request means or not.
    refused "$(publish '"nosuch1"' glob '"cmd.run"')"
    refused "$(publish '"nosuch* or m1"' compound '"cmd.run"')"
}

@test "H-INNER: a function that calls on other minions calls what is allowed on all of them" {
    nobody "$(publish '"m1"' glob '"saltutil.cmd"' '' '["m2","test.version"]')" | grep -q '"ok":true'
    for arg in '["m2","test.ping"]' '["*","test.arg"]' '["m2","test.arg",["x"]]' '["m2","fun=test.arg"]' '["m2",{"__kwarg__":true,"fun":"test.ping"}]'; do
        refused "$(publish '"m1"' glob '"saltutil.cmd"' '' "$arg")"
        [[ $output == *'is not allowed'* ]]
    done
    # A text with commas is a list for an argument that takes one.
    nobody "$(publish '"m1"' glob '"saltutil.cmd"' '' '["m2","test.version","a,b=\"c\""]')" | grep -q '"ok":true'
    for arg in 'func=\"cmd\\x2erun\",args=[id]' 'x, func=\"cmd\\x2erun\"' 'x,y=cmd.run'; do
        refused "$(publish '"m1"' glob '"saltutil.cmd"' '' "[\"m2\",\"test.version\",\"$arg\"]")"
        refused "$(publish '"m1"' glob '"saltutil.cmd"' '' "[\"m2\",\"test.version\",{\"__kwarg__\":true,\"arg\":\"$arg\"}]")"
    done
    # m2 may not call it at all, by whatever function.
    refused "$(publish '"m2"' glob '"test.cross_test"' '' '["saltutil.cmd",["m1","test.version"]]')"
}

# batch [OPTION...]: of the user nobody, for m1 and m2; m2's turn comes in thirty years.
batch() { nobody "$(publish '"m1 or m2"' compound '"test.echo"' ',"batch":{"size":1,"wait":1000000000}' '["x"]')"; }
batches() { salt-run batch.list_active --out=json | grep -oE '"jid": "[0-9]+"' | grep -oE '[0-9]{20}'; }

@test "H-BATCHES: a user has so many batches under way, and others none the less" {
    local jid i
    for i in {1..64}; do batch >/dev/null; done
    run batch
    [ "$status" -eq 1 ]
    [[ $output == 'nobody has 64 batches under way, as many as may be: wait for the end of one, or ask root to stop it (salt-run batch.stop)'* ]]
    # Others have theirs, and nobody has again when one is over.
    ask "$(publish '"m1"' glob '"test.ping"' ',"batch":{"size":1}')" | grep -q '"ok":true'
    salt-run batch.stop "$(batches | head -n 1)" >/dev/null
    batch | grep -q '"ok":true'
    not batch
    for jid in $(batches); do salt-run batch.stop "$jid" >/dev/null; done
}

@test "H-BATCHES: a batch ends with its user's rights, those to a function included, and not at another change" {
    local rights own root
    rights=$(grep ^publisher_acl: "$MASTER_CONF")
    # now RULES: a reload, after which nobody has these, and its batch is halted or goes on.
    now() {
        sed -i "s/^publisher_acl:.*/publisher_acl: $1/" "$MASTER_CONF"
        kill -HUP "$(pid_of master)"
    }
    halted() { salt-run batch.status "$own" --out=json | grep -q 'its user may not begin it any more: see publisher_acl'; }
    for rules in '{}' '{nobody: [test.ping]}' '{nobody: [{m1: [test.echo]}]}' '{somebody: [test.echo]}'; do
        own=$(batch | field jid)
        root=$(ask "$(publish '"*"' glob '"test.echo"' ',"batch":{"size":1,"wait":1000000000}' '["x"]')" | field jid)
        now "{nobody: [test.echo, test.ping]}"
        until_true 5 eval 'nobody "$(publish "\"*\"" glob "\"test.ping\"")"'
        not halted
        now "$rules"
        until_true 5 halted
        # A user's alone.
        salt-run batch.stop "$root" | grep -q True
        now "${rights#publisher_acl: }"
        until_true 5 eval 'nobody "$(publish "\"m1 or m2\"" compound "\"test.echo\"" "" "[\"x\"]")"'
    done
    # Rights that went while no master was there.
    own=$(batch | field jid)
    stop master
    sed -i "s/^publisher_acl:.*/publisher_acl: {}/" "$MASTER_CONF"
    start_master
    until_true 10 halted
    wait_connected m1 m2
    now "${rights#publisher_acl: }"
    until_true 5 eval batch
    salt-run batch.stop "$(batches)" | grep -q True
}

@test "CVE-2022-22941: a rule's words are a pattern of ids, not of requests" {
    stop master
    sed -i "s|^publisher_acl:.*|publisher_acl: {nobody: [{'m1*': [test.ping]}]}|" "$MASTER_CONF"
    start_master
    wait_connected m1 m2
    chmod o+r "$MASTER_CONF"
    nobody "$(publish '"m1"' glob '"test.ping"')" | grep -q '"ok":true'
    refused "$(publish '"m1 or m2"' compound '"test.ping"')"
    refused "$(publish '"m1|m2"' pcre '"test.ping"')"
    refused "$(publish '"m1,m2"' list '"test.ping"')"
}

@test "CVE-2021-25281, CVE-2017-5192, CVE-2020-25592: what is not asked for by publish asks for rights too" {
    for request in '{"op":"wheel","fun":"key.list_all","arg":[]}' '{"op":"wheel","fun":"pillar_roots.write","arg":["x","harm"]}' \
        '{"op":"runner","fun":"test.arg","arg":[]}' "{\"op\":\"runner\",\"fun\":\"salt.cmd\",\"arg\":[\"cmd.run\",\"touch $FLEET/harm\"]}" \
        '{"op":"key_apply","action":"delete","ids":["m1"],"from":["minions"]}' '{"op":"reactor","action":"list"}' '{"op":"fire","tag":"salt/key","data":{}}' \
        '{"op":"forget","tgt":"*","tgt_type":"glob","what":["grains"]}' '{"op":"progress","jid":"20210101000000000001"}' \
        '{"op":"publish","tgt":"m1","tgt_type":"glob","fun":"test.ping","arg":[],"note":{"kind":"orch","ref":"1","part":"2"}}'; do
        before=$(begun)
        nobody "$request" >"$BATS_TEST_TMPDIR/answer" || :
        not grep -q '"ok":true' "$BATS_TEST_TMPDIR/answer" || { cat "$BATS_TEST_TMPDIR/answer" >&2; return 1; }
        [ "$(begun)" -eq "$before" ]
    done
    is_connected m1
}

@test "H-JIDS: a user chooses no jid: not one of jobs to come, which would have no name then" {
    local jid
    for jid in 20210101000000000001 99991231235959999999 "$(date -u -d '+20 seconds' +%Y%m%d%H%M%S)500000"; do
        refused "$(publish '"m1"' glob '"test.ping"' ",\"jid\":\"$jid\"")"
        [[ $output == *'choose a job'* ]]
    done
    # Root may, what has been.
    ask "$(publish '"m1"' glob '"test.ping"' ',"jid":"20210101000000000001"')" | grep -q '"jid":"20210101000000000001"'
    run ask "$(publish '"m1"' glob '"test.ping"' ',"jid":"99991231235959999999"')"
    [[ $output == *'ahead of the clock'* ]]
    run ask "$(publish '"m1"' glob '"test.ping"' ',"jid":"20210101000000000001"')"
    [[ $output == *'in use'* ]]
}

@test "CVE-2013-6617: a master that runs as another user keeps none of root's groups" {
    fleet=$FLEET port=$PORT
    fleet_new
    master_conf "user: nobody"
    mkdir -p "$FLEET"/master/{etc/salt/pki,var/run/salt,var/cache/salt,var/log/salt} && chown -R nobody "$FLEET/master"
    fleet_open
    chmod o+r "$MASTER_CONF"
    start_master
    groups=$(sed -nE 's/^Groups:[[:blank:]]*//p' "/proc/$(pid_of master)/status")
    [ "$(sed -nE 's/^Uid:[[:blank:]]*([0-9]+).*/\1/p' "/proc/$(pid_of master)/status")" -eq "$(id -u nobody)" ]
    not grep -qw 0 <<<"$groups $(sed -nE 's/^Gid:[[:blank:]]*//p' "/proc/$(pid_of master)/status")"
    fleet_down
    FLEET=$fleet PORT=$port SOCK_DIR=$fleet/master/var/run/salt/master MASTER_CONF=$fleet/etc/master SALT_CONFIG_DIR=$fleet/etc
    export FLEET PORT SOCK_DIR MASTER_CONF SALT_CONFIG_DIR
}

@test "H-GUESS: a mine value with allow_tgt is for the minions that it names and for operators, not for a limited user" {
    local question='{"op":"mine","tgt":"m1","tgt_type":"glob","fun":"kept"'
    wait_connected m1
    salt m1 mine.send kept mine_function=test.echo text=for-m1-alone allow_tgt=m1
    ask "$question}" | grep -q for-m1-alone
    ask "$question,\"for_minion\":true}" | grep -q '"mine":{}'
    nobody "$question}" | grep -q '"mine":{}'
    nobody "$question,\"for_minion\":false}" | grep -q '"mine":{}'
}

@test "H-GUESS: who is not an administrator finds out nothing of pillars by patterns" {
    wait_connected m1 m2
    salt -L m1,m2 saltutil.refresh_pillar >/dev/null
    until_true 10 eval 'ask "{\"op\":\"match\",\"tgt\":\"secret:pillar-*\",\"tgt_type\":\"pillar\"}" | grep -q m1'
    nobody '{"op":"match","tgt":"secret:pillar-*","tgt_type":"pillar"}' | grep -q '"minions":\[\]'
    nobody '{"op":"match","tgt":"I@secret:p* or J@secret:p.*","tgt_type":"compound"}' | grep -q '"minions":\[\]'
    nobody '{"op":"match","tgt":"secret:p","tgt_type":"pillar_pcre"}' | grep -q '"minions":\[\]'
    # Nor by all values at once.
    refused "{\"op\":\"match\",\"tgt\":\"m1$(printf ' or I@secret:%s' {1..17})\",\"tgt_type\":\"compound\"}"
    [[ $output == *'at most 16 at once'* ]]
}
