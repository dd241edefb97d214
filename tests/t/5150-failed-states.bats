#!/usr/bin/env bats
# 5150-failed-states.bats - states that failed, told by events: a short tag, and one below the job.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    mkdir -p "$BATS_FILE_TMPDIR/srv"
    cat >"$BATS_FILE_TMPDIR/srv/bad.sls" <<'SLS'
good:
  test.succeed_without_changes: []
bad:
  test.fail_without_changes: []
worse:
  cmd.run:
    - name: "false"
SLS
    MASTER_LINES=("file_roots: {base: [$BATS_FILE_TMPDIR/srv]}")
    fleet_up m1
}

teardown_file() {
    fleet_down
}

@test "state.sls and state.highstate: each failed state, with its return" {
    listen all
    run salt m1 state.sls bad
    [ "$status" -ne 0 ]
    event=$(wait_event all '"tag":"test.fail_without_changes"')
    for part in '"result":false' '"retcode":2' '"name":"bad"' '"id":"m1"' '"fun":"state.sls"' '"jid":"20' '"_stamp":"20'; do grep -qF "$part" <<<"$event"; done
    event=$(wait_event all '"tag":"salt/job/[0-9]*/sub/m1/error/state.sls".*cmd.run')
    for part in '"return":"Error: cmd.run"' '"id":"m1"' '"fun":"state.sls"' '"success":false' "\"user\":\"$(id -un)\""; do
        grep -qF "$part" <<<"$event"
    done
    [ "$(heard all '/sub/m1/error/')" -eq 2 ]
    salt m1 state.highstate || :
    wait_event all '"tag":"no.None"'
    unlisten all
}

@test "a minion names its states: none of them becomes a tag of the master's" {
    listen all
    ret='{"m":"ret","jid":"20261120100000000001","fun":"state.sls","fun_args":[],"return":{"salt/key_|-a_|-b_|-c":{"result":false},"ok_|-a_|-b_|-run":{"result":false}},"retcode":2,"success":false}'
    hello='{"m":"hello","id":"m1","role":"call","boot":"b","proto":1,"pending":[]}'
    cp -r "$FLEET/m1/etc/salt/pki/minion/." "$BATS_TEST_TMPDIR/"
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$FLEET/master/etc/salt/pki/master/master.pub" "$BATS_TEST_TMPDIR" minion \
        send "$hello" expect '"state":"accepted"' send "$ret" expect '"m":"ack"'
    wait_event all 'sub/m1/error/state.sls.*Error: ok.run'
    # Of a job that nobody published only the tag with its jid and the minion's id tells.
    [ "$(heard all '"tag":"ok.run"')" -eq 0 ]
    [ "$(heard all '"tag":"salt/key')" -eq 0 ]
    unlisten all
}

@test "a return that names its function again and again tells each failed state once" {
    listen all
    names='"state.sls","state.sls","state.sls","state.highstate","state.sls"'
    states='"test_|-bad_|-bad_|-nop":{"result":false}'
    ret="{\"m\":\"ret\",\"jid\":\"20261120100000000002\",\"fun\":[$names],\"fun_args\":[],\"return\":{\"state.sls\":{$states},\"state.highstate\":{$states}},\"retcode\":{\"state.sls\":2,\"state.highstate\":2},\"success\":{\"state.sls\":false}}"
    hello='{"m":"hello","id":"m1","role":"call","boot":"b","proto":1,"pending":[]}'
    cp -r "$FLEET/m1/etc/salt/pki/minion/." "$BATS_TEST_TMPDIR/"
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$FLEET/master/etc/salt/pki/master/master.pub" "$BATS_TEST_TMPDIR" minion \
        send "$hello" expect '"state":"accepted"' send "$ret" expect '"m":"ack"'
    ask '{"op":"fire","tag":"over","data":{}}' >/dev/null
    wait_event all '"tag":"over"'
    [ "$(heard all '/sub/m1/error/state.sls"')" -eq 1 ]
    [ "$(heard all '/sub/m1/error/state.highstate"')" -eq 1 ]
    unlisten all
}
