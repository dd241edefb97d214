#!/usr/bin/env bats
# 7000-runners.bats - salt-run: functions that work in the master.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_up m1 m2
}

teardown_file() {
    fleet_down
}

jid_in() { grep -oE '[0-9]{20}' <<<"$1" | head -n 1; }

@test "a runner's return, its exit code, and its arguments" {
    run --separate-stderr salt-run test.arg 1 two k=v 'l=[a]' --out=json --out-indent=-1
    [ "$status" -eq 0 ]
    same_as "$output" <<<'{"args": [1, "two"], "kwargs": {"k": "v", "l": ["a"]}}'
}

@test "unknown, raising and wrongly called runners: not 0, and why" {
    run salt-run nosuch.func
    [ "$status" -ne 0 ]
    grep -q "'nosuch.func' is not available" <<<"$output"
    run salt-run error.error name=Exception message=boom
    [ "$status" -ne 0 ]
    grep -q 'Exception: boom' <<<"$output"
    run salt-run jobs.lookup_jid
    [ "$status" -ne 0 ]
    grep -q "missing 1 required positional argument: 'jid'" <<<"$output"
}

@test "manage: up, down, status, present; before and after a minion's end" {
    [ "$(salt-run manage.up --out=json --out-indent=-1)" = '["m1", "m2"]' ]
    [ "$(salt-run manage.down --out=json --out-indent=-1)" = '[]' ]
    stop m2
    wait_gone m2
    timed salt-run manage.status --out=json --out-indent=-1
    [ "$output" = '{"up": ["m1"], "down": ["m2"]}' ]
    # The master knows its connections: nobody is asked and nobody waited for.
    [ "$MS" -lt 2000 ]
    [ "$(salt-run manage.present --out=json --out-indent=-1)" = '["m1"]' ]
    start_minion m2
    wait_connected m2
}

@test "manage.down after a master's restart: who is on its way back is not down and keeps its key" {
    local pids pid
    stop m2
    pids=$(pid_of m1; cat "/proc/$(pid_of m1)/task/$(pid_of m1)/children")
    for pid in $pids; do kill -STOP "$pid"; done
    stop master
    start_master
    daemon listen-down "$HALITE_BIN/salt-run" manage.down removekeys=True --out=json --out-indent=-1
    until_true 10 eval 'salt-run jobs.master --out=json | grep -q manage.down'
    [[ $(salt-run jobs.master --out=json) != *jobs.master* ]] # not the one that asks
    [ ! -e "$FLEET/pids/listen-down.rc" ]
    for pid in $pids; do kill -CONT "$pid"; done
    wait_connected m1
    # Who does not come in its time is down.
    until_true 40 test -e "$FLEET/pids/listen-down.rc"
    [ "$(cat "$FLEET/log/listen-down")" = '["m2"]' ]
    key_is m1 acc
    not key_is m2 acc
    start_minion m2
    accept m2
    wait_connected m2
    wait_grains m1 m2
}

@test "cache.grains of a minion that is down" {
    stop m2
    wait_gone m2
    salt-run cache.grains m2 --out=json | grep -q '"id": "m2"'
    start_minion m2
    wait_connected m2
}

@test "salt.execute: a job from a runner" {
    run salt-run salt.execute '*' test.echo arg='[hi]' --out=json
    [ "$status" -eq 0 ]
    grep -q '"m1": "hi"' <<<"$output"
    grep -q '"m2": "hi"' <<<"$output"
    # A value that looks like keywords stays a value, as in an orchestration.
    run -0 salt-run salt.execute m1 test.arg arg='[{"__kwarg__": true, "a": 1}]' kwarg='{"b": 2}' --out=json --out-indent=-1
    grep -qF '"args": [{"a": 1}], "kwargs": {"b": 2, "__pub_fun"' <<<"$output"
}

@test "salt-run -t: so long a runner waits for a silent minion" {
    local pids pid
    pids=$(pid_of m2; cat "/proc/$(pid_of m2)/task/$(pid_of m2)/children")
    for pid in $pids; do kill -STOP "$pid"; done
    timed salt-run -t 1 salt.execute '*' test.ping --out=json --out-indent=-1
    for pid in $pids; do kill -CONT "$pid"; done
    [ "$status" -eq 0 ]
    [ "$output" = '{"m1": true}' ]
    [ "$MS" -lt 3000 ]
    wait_connected m2
}

@test "jobs.active while a job runs, and after it" {
    go=$BATS_TEST_TMPDIR/go
    jid=$(jid_in "$(salt m1 cmd.run "until test -e $go; do sleep 0.02; done" --async)")
    until_true 5 eval 'salt-run jobs.active --out=json | grep -q "\"$jid\""'
    active=$(salt-run jobs.active --out=json)
    grep -q '"Function": "cmd.run"' <<<"$active"
    grep -qE '"m1": [0-9]+' <<<"$active"
    touch "$go"
    until_true 5 eval 'not grep -q "$jid" <<<"$(salt-run jobs.active --out=json)"'
}

@test "jobs.exit_success, list_jobs_filter, last_run" {
    jid=$(jid_in "$(salt m1 test.echo exits -v)")
    [ "$(salt-run jobs.exit_success "$jid" --out=json --out-indent=-1)" = '{"m1": true}' ]
    salt-run jobs.list_jobs_filter 1 --out=json | grep -q "$jid"
    salt-run jobs.last_run --out=json | grep -q "$jid"
}

@test "a runner's run is a job, also of one that fails and of one whose caller waited; looking at jobs is none" {
    salt-run test.arg kept key=word >/dev/null
    salt-run salt.execute nosuch-minion test.ping >/dev/null 2>&1 || :
    run --separate-stderr salt-run jobs.list_jobs search_function='runner.*' --out=json
    jid=$(grep -B9 '"Function": "runner.test.arg"' <<<"$output" | grep -oE '20[0-9]{18}' | tail -n 1)
    grep -q '"Function": "runner.salt.execute"' <<<"$output"
    grep -q '"Function": "runner.jobs' <<<"$output" && false
    salt-run jobs.list_job "$jid" --out=json --out-indent=-1 | grep -qF '"Arguments": ["kept", {"__kwarg__": true, "key": "word"}]'
    salt-run jobs.lookup_jid "$jid" --out=json --out-indent=-1 | grep -qF '{"args": ["kept"], "kwargs": {"key": "word"}}'
}

@test "--async: the jid at once; the return is looked up" {
    run --separate-stderr salt-run --async test.arg looked-up
    [ "$status" -eq 0 ]
    jid=$(jid_in "$output")
    [ -n "$jid" ]
    until_true 5 eval 'salt-run jobs.lookup_jid "$jid" | grep -q looked-up'
}

@test "on a terminal, and only there, a runner that takes long says that it is at work, until it is done" {
    local run="$HALITE_BIN/salt-run salt.execute m1 cmd.run arg='[sleep 2]'"
    script -qec "$run --out=quiet" /dev/null >"$FLEET/tty"
    grep -qE 'salt.execute, [1-9][0-9]* s' "$FLEET/tty"
    [[ $(<"$FLEET/tty") == *$'\e[1A\r\e[J' ]]
    run --separate-stderr $HALITE_BIN/salt-run salt.execute m1 cmd.run arg='[sleep 1.5]'
    [ -z "$stderr" ]
}

@test "a runner outlives its terminal" {
    listen end 'salt/run/*/ret'
    daemon listen-run "$HALITE_BIN/salt-run" test.sleep 2
    until_true 5 eval 'ask "{\"op\":\"active\"}" | grep -q "\"fun\":\"runner.test.sleep\"\|\"fun\":\"test.sleep\""'
    stop listen-run INT
    grep -qE '[0-9]{20}' "$FLEET/log/listen-run"
    wait_event end '"fun":"runner.test.sleep"'
    unlisten end
}

@test "a runner that the master's end cuts off has a return, and its command says where it is" {
    local signal jid
    for signal in TERM KILL; do
        daemon listen-cut "$HALITE_BIN/salt-run" test.sleep 1000
        until_true 10 eval 'salt-run jobs.master --out=json | grep -q test.sleep'
        jid=$(salt-run jobs.master --out=json | grep -A3 '"fun": "test.sleep"' | field jid)
        until_true 5 eval '[ "$(counter store_queued)" -eq 0 ]'
        stop master "$signal"
        until_true 10 test -e "$FLEET/pids/listen-cut.rc"
        grep -qx "salt-run jobs.lookup_jid $jid" "$FLEET/log/listen-cut"
        start_master
        run -0 salt-run jobs.lookup_jid "$jid" --out=json
        grep -q 'The master ended while this function ran; what it has done is not known' <<<"$output"
        ask '{"op":"journal","from":1,"tags":["salt/run/'"$jid"'/ret"]}' | grep -q '"success":false'
        # Told once.
        stop master
        start_master
        [ "$(ask '{"op":"journal","from":1,"tags":["salt/run/'"$jid"'/ret"]}' | grep -o '"success":false' | wc -l)" -eq 1 ]
        rm "$FLEET/pids/listen-cut.rc" "$FLEET/log/listen-cut"
    done
    wait_connected m1 m2
    wait_grains m1 m2
}

@test "twenty runners at one time" {
    for n in {1..20}; do salt-run test.arg "n$n." --out=json >"$BATS_TEST_TMPDIR/r$n" 3>&- & done
    wait
    for n in {1..20}; do grep -q "n$n\." "$BATS_TEST_TMPDIR/r$n"; done
}

@test "as many runners as may run at one time: quick ones run all the same, others say that they wait, and run when one ends" {
    local go=$BATS_TEST_TMPDIR/go i long=()
    echo "while test -d $BATS_TEST_TMPDIR && ! test -e $go; do sleep 0.2; done" >"$BATS_TEST_TMPDIR/wait"
    for i in {1..32}; do
        long+=('{"op":"runner","fun":"salt.cmd","arg":["cmd.run","sh '"$BATS_TEST_TMPDIR"'/wait"]}')
    done
    ask "${long[@]}" >/dev/null
    [ "$(salt-run jobs.master --out=json | grep -c '"fun": "salt.cmd"')" -eq 32 ]
    [ "$(timeout 20 "$HALITE_BIN/salt-run" manage.up --out=json --out-indent=-1)" = '["m1", "m2"]' ]
    run -0 timeout 60 python3 - "$HALITE_BIN/salt-run" "$go" <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "salt.cmd", "test.echo", "my-turn"])
text = ""
while True:
    try:
        part = os.read(fd, 65536).decode("utf-8", "replace")
    except OSError:
        break
    text += part
    if "waits for one of them to end" in text:
        open(sys.argv[2], "w").close()
print(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
    [[ $output == *"32 functions are at work in the master; this one (jid "*") waits for one of them to end. 'salt-run jobs.master' shows them."*my-turn* ]]
    until_true 10 eval '[[ $(salt-run jobs.master --out=json) != *salt.cmd* ]]'
}

@test "wheel functions by the local socket, for operators only" {
    reply=$("$HALITE_TOOLS/local" --follow 1 10 "$SOCK_DIR" '{"op":"wheel","fun":"key.list_all","arg":[]}')
    grep -q '"minions":\["m1","m2"\]' <<<"$reply"
}

@test "documentation: salt-run -d, and doc.runner" {
    salt-run -d jobs.lookup_jid | grep -q 'jobs.lookup_jid:'
    salt-run doc.runner --out=json | grep -q '"manage.up"'
}

on_record() { salt-run jobs.list_job "$1" --out=json | grep -q '"Function"' && "$HALITE_TOOLS/local" "$SOCK_DIR" "{\"op\":\"follow\",\"jid\":\"$1\"}" >/dev/null; }
@test "jobs older than keep_jobs_seconds go; one that is under way stays, also after a restart" {
    stop master
    master_conf 'keep_jobs_seconds: 1' 'loop_interval: 3600'
    start_master
    wait_connected m1
    long=$(jid_in "$(salt m1 cmd.run "until [ -e '$FLEET/go' ]; do sleep 0.1; done" --async)")
    jid=$(jid_in "$(salt m1 test.echo old -v)")
    until_true 5 eval '[ $(($(date +%s) - $(date -u -d "${jid:0:8} ${jid:8:2}:${jid:10:2}:${jid:12:2}" +%s))) -gt 2 ]'
    on_record "$long"
    on_record "$jid"
    # It is the loop_interval that decides when they go, not the restart.
    stop master
    start_master
    on_record "$long"
    on_record "$jid"
    stop master
    master_conf 'keep_jobs_seconds: 1' 'loop_interval: 1'
    start_master
    wait_connected m1
    until_true 10 eval '! on_record "$jid"'
    on_record "$long"
    stop master
    start_master
    wait_connected m1
    jid=$(jid_in "$(salt m1 test.echo young -v)")
    until_true 10 eval '! on_record "$jid"'
    on_record "$long"
    touch "$FLEET/go"
    until_true 10 eval '! on_record "$long"'
}
