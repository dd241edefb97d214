#!/usr/bin/env bats
# 3300-own-minion.bats - what a minion does about itself: its own events, the returns it keeps, custom modules that it
# takes from the master, its own key.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv/_modules" "$FLEET/pillar"
    echo 'base: {"*": [rest]}' >"$FLEET/pillar/top.sls"
    echo 'rest: 1' >"$FLEET/pillar/rest.sls"
    echo "def f(): return 1" >"$FLEET/srv/_modules/mine.py"
    master_conf "auto_accept: True" "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}"
    start_master
    start_minion a "cache_jobs: True"
    wait_connected a
}

teardown_file() {
    fleet_down
}

@test "cache_jobs: saltutil.find_cached_job has the return; clear_job_cache removes it" {
    jid=$(salt a test.echo kept --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 test -e "$FLEET/a/var/cache/salt/minion/minion_jobs/$jid/return.json"
    run -0 salt a saltutil.find_cached_job "$jid" --out=json --static
    [[ $output == *'"return": "kept"'* && $output == *'"fun": "test.echo"'* && $output == *"\"jid\": \"$jid\""* ]]
    run -0 salt a saltutil.clear_job_cache hours=0 --out=newline_values_only
    [ "$output" = True ]
    [ ! -e "$FLEET/a/var/cache/salt/minion/minion_jobs/$jid" ]
    run -1 --separate-stderr salt a saltutil.find_cached_job "$jid" --out=newline_values_only
    [[ $output == "Local jobs cache directory "*"/minion_jobs/$jid not found" ]]
}

@test "event.fire: any tag; fire_master goes on to the master" {
    listen own 'my/*'
    run -0 salt a event.fire '{a: 1}' whatever --out=newline_values_only
    [ "$output" = True ]
    run -0 salt a event.fire '{tag: my/tag, data: {b: 2}}' fire_master --out=newline_values_only
    [ "$output" = True ]
    wait_event own '"tag":"my/tag".*"b":2'
    run -0 salt a event.fire text whatever --out=newline_values_only
    [ "$output" = False ]
    unlisten own
}

@test "event.fire_master: what preload says stands beside the data; who sends is not its to say" {
    listen pre 'pre/*'
    run -0 salt a event.fire_master '{x: 1}' pre/job preload='{foo: bar, id: other}' --out=newline_values_only
    [ "$output" = True ]
    wait_event pre '"tag":"pre/job"' >"$BATS_TEST_TMPDIR/event"
    grep -q '"foo":"bar"' "$BATS_TEST_TMPDIR/event"
    grep -q '"id":"a"' "$BATS_TEST_TMPDIR/event"
    not grep -q '"id":"other"' "$BATS_TEST_TMPDIR/event"
    run -0 --separate-stderr salt_call a event.send pre/call k=v preload='{foo: baz}' --out=newline_values_only
    [ "$output" = True ]
    wait_event pre '"tag":"pre/call".*' | grep -q '"foo":"baz"'
    unlisten pre
}

@test "salt-call: cache_jobs keeps its returns too" {
    jid=$(salt_call a test.echo kept --metadata --out=json | grep -oE '[0-9]{20}')
    run -0 salt_call a saltutil.find_cached_job "$jid" --out=json
    [[ $output == *'"return": "kept"'* ]]
}

one() { salt_call a "$@" --out=newline_values_only 2>"$BATS_TEST_TMPDIR/err"; } # WORD...

@test "salt-call: saltutil.refresh_pillar wait=True comes back when the running minion has its new pillar" {
    echo 'rest: 2' >"$FLEET/pillar/rest.sls"
    [ "$(one saltutil.refresh_pillar wait=True)" = True ]
    [ "$(one saltutil.refresh_pillar wait=True timeout=9223372036854775807)" = True ]
    [ "$(salt a pillar.raw rest --out=newline_values_only)" = 2 ]
    echo '{{' >"$FLEET/pillar/rest.sls"
    [ "$(one saltutil.pillar_refresh wait=True --local)" = True ]
    echo 'rest: 3' >"$FLEET/pillar/rest.sls"
    [ "$(one saltutil.refresh_pillar)" = True ]
    until_true 10 eval '[ "$(salt a pillar.raw rest --out=newline_values_only)" = 3 ]'
}

@test "salt-call: the jobs of the running minion are listed and ended" {
    mkfifo "$BATS_TEST_TMPDIR/gate"
    jid=$(salt a cmd.run "read x <$BATS_TEST_TMPDIR/gate" python_shell=True --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 eval '[[ $(one saltutil.running) == *cmd.run* ]]'
    [ "$(salt_call a saltutil.find_job "$jid" --out=json | python3 -c 'import json, sys; j = json.load(sys.stdin)["local"]; print(j["fun"], j["jid"])')" = "cmd.run $jid" ]
    [[ $(salt_call a saltutil.is_running 'cmd.*' --out=json) == *'"jid": "'$jid'"'* ]]
    [ "$(one saltutil.kill_job 20200101000000000000)" = "" ]
    [[ $(one saltutil.kill_job "$jid") == "Signal 9 sent to job $jid at pid "* ]]
    until_true 10 eval '[ "$(one saltutil.running)" = "" ]'
    [ "$(salt_call a saltutil.find_job "$jid" --out=json --out-indent=-1)" = '{"local": {}}' ]
}

@test "salt-call: grains that it sets are those of the running minion" {
    salt_call a grains.setval colour green >/dev/null
    until_true 10 eval '[ "$(salt a grains.get colour --out=newline_values_only)" = green ]'
    [ "$(salt -G colour:green test.ping --out=txt)" = "a: True" ]
}

@test "salt-call: minion.kill ends the running minion; afterwards nothing is there to be asked" {
    start_minion gone
    wait_connected gone
    pid=$(pid_of gone)
    [[ $(salt_call gone minion.kill --out=json --out-indent=-1) == '{"local": {"killed": '$pid', "retcode": 0}}' ]]
    until_true 10 pid_gone "$pid"
    [ "$(salt_call gone --local saltutil.refresh_pillar wait=True --out=newline_values_only)" = False ]
    [ "$(salt_call gone --local saltutil.running --out=json --out-indent=-1)" = '{"local": []}' ]
}

@test "saltutil.sync_modules: from the master" {
    run -0 salt a saltutil.sync_modules saltenv=base --out=json --static --out-indent=-1
    [ "$output" = '{"a": ["modules.mine"]}' ]
    cmp "$FLEET/srv/_modules/mine.py" "$FLEET/a/var/cache/salt/minion/extmods/modules/mine.py"
    run -0 salt a saltutil.sync_modules saltenv=base --out=json --static --out-indent=-1
    [ "$output" = '{"a": []}' ]
}

@test "saltutil.revoke_auth: not when allow_minion_key_revoke is off" {
    start_minion b
    wait_connected b
    echo "allow_minion_key_revoke: False" >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval 'salt-run config.get allow_minion_key_revoke | grep -q False'
    salt b saltutil.revoke_auth >/dev/null
    until_log "$FLEET/log/master" 'minion b asks for its key to be deleted: allow_minion_key_revoke is off' 10
    key_is b acc
    sed -i '/allow_minion_key_revoke/d; s/auto_accept: True/auto_accept: False/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval 'salt-run config.get allow_minion_key_revoke | grep -q True'
}

@test "saltutil.revoke_auth: the key is gone, and the minion waits for acceptance" {
    listen keys 'salt/key'
    salt b saltutil.revoke_auth --async >/dev/null
    wait_event keys '"act":"delete".*"id":"b"|"id":"b".*"act":"delete"'
    until_true 10 not key_is b acc
    wait_key b pre
    unlisten keys
}
