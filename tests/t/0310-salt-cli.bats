#!/usr/bin/env bats
# 0310-salt-cli.bats - what salt and salt-run show and when they stop waiting, on a real fleet.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_up m001 m002
}

teardown_file() {
    fleet_down
}

NOT_CONNECTED="    Minion did not return. [Not connected]"

# The jid that a command printed.
jid_of() { grep -oE '20[0-9]{18}' <<<"$1" | head -n 1; }
is_running() { ask '{"op":"active"}' | grep -q "\"$1\":[1-9]"; }

@test "--args-stdin: what can't be read, or has a NUL in it, is not an end" {
    run -64 --separate-stderr bash -c '"$1" --args-stdin test.arg prod </' _ "$HALITE_BIN/salt-run"
    [[ $stderr == *"arguments on stdin can't be read: Is a directory"* ]]
    run -64 --separate-stderr bash -c 'printf "x\0y\ntest=True\n" | "$1" --args-stdin test.arg prod' _ "$HALITE_BIN/salt-run"
    [[ $stderr == *"have a NUL byte"* ]]
}

@test "a command takes milliseconds" {
    timed salt '*' test.ping --out=txt
    [ "$status" -eq 0 ]
    same_as "$(sort <<<"$output")" <<'EOF'
m001: True
m002: True
EOF
    [ "$MS" -lt 1000 ]
}

@test "several functions in one job" {
    run --separate-stderr timeout 20 "$HALITE_BIN/salt" m001 test.ping,test.echo ,hello
    [ "$status" -eq 0 ]
    same_as "$output" <<'EOF'
m001:
    ----------
    test.echo:
        hello
    test.ping:
        True
EOF
}

@test "a minion that is not connected is told at once" {
    stop m002
    wait_gone m002
    timed salt '*' test.ping
    start_minion m002
    wait_connected m002
    [ "$status" -eq 1 ]
    [ "$MS" -lt 1500 ]
    grep -qxF -- "$NOT_CONNECTED" <<<"$output"
    grep -qF 'ERROR: Minions returned with non-zero exit code' <<<"$output"
}

@test "a minion that is not connected is told while the other still runs" {
    stop m002
    wait_gone m002
    daemon waiting "$HALITE_BIN/salt" '*' test.sleep 30
    until_log "$FLEET/log/waiting" 'Not connected'
    is_running m001
    stop waiting
    start_minion m002
    wait_connected m002
    [ "$RC" -eq 143 ]
    salt m001 saltutil.kill_all_jobs >/dev/null || salt m001 saltutil.kill_job "$(ask '{"op":"active"}' | field jid)"
}

@test "-t does not cut off a job that runs" {
    run --separate-stderr salt -t 1 m001 test.sleep 3
    [ "$status" -eq 0 ]
    same_as "$output" <<'EOF'
m001:
    True
EOF
}

@test "a timeout of no seconds is the configured one, and one that is too large no overflow" {
    echo text >"$BATS_TEST_TMPDIR/file"
    for seconds in 0 -1 9223372036854775 9223372036854775807; do
        run -0 salt m001 test.ping --out=txt --timeout="$seconds"
        [ "$output" = 'm001: True' ]
        run -0 "$HALITE_BIN/salt-cp" --timeout="$seconds" m001 "$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/copy"
        run -0 salt-run --timeout="$seconds" salt.execute m001 test.ping --out=json --out-indent=-1
        [ "$output" = '{"m001": true}' ]
    done
    run -0 salt-run salt.execute m001 test.ping timeout=3000000 --out=json --out-indent=-1
    [ "$output" = '{"m001": true}' ]
}

@test "a minion that is gone while it runs the job does not keep salt waiting" {
    daemon both "$HALITE_BIN/salt" '*' test.sleep 3
    until_true 5 is_running m001
    until_true 5 is_running m002
    stop m002 KILL
    until_true 20 test -e "$FLEET/pids/both.rc"
    stop_ended both
    start_minion m002
    wait_connected m002
    [ "$RC" -eq 1 ]
    grep -qxF '    True' "$FLEET/log/both"
    grep -qxF '    Minion did not return. [Running, not connected]' "$FLEET/log/both"
}

@test "Ctrl-C leaves the job running and says how to find it" {
    daemon waiting "$HALITE_BIN/salt" m001 test.sleep 3
    until_true 5 is_running m001
    stop waiting INT
    [ "$RC" -eq 130 ]
    grep -qx 'Exiting gracefully on Ctrl-c' "$FLEET/log/waiting"
    local jid
    jid=$(jid_of "$(cat "$FLEET/log/waiting")")
    grep -qx "salt-run jobs.lookup_jid $jid" "$FLEET/log/waiting"
    until_true 10 has_return "$jid"
}
has_return() { [ -n "$(salt-run jobs.lookup_jid "$1")" ]; }

@test "a master that does not answer: salt gives up, and what it asked for is not done later" {
    kill -STOP "$(pid_of master)"
    run --separate-stderr timeout 20 "$HALITE_BIN/salt" -t 1 m001 test.echo taken-back
    local code=$status said=$stderr
    run --separate-stderr timeout 20 "$HALITE_BIN/salt-run" -t 1 test.arg taken-back
    kill -CONT "$(pid_of master)"
    [ "$code" -eq 2 ]
    grep -qF 'Salt request timed out. The master is not responding' <<<"$said"
    [ "$status" -eq 2 ]
    grep -qF 'Salt request timed out. The master is not responding' <<<"$stderr"
    salt m001 test.ping >/dev/null
    [[ "$(salt-run jobs.list_jobs)" != *taken-back* ]]
    until_log "$FLEET/log/master" 'publish by .* is dropped'
}

@test "a job's returners are named by a text" {
    run ask '{"op":"publish","tgt":"m001","fun":"test.ping","ret":["mysql"]}'
    [ "$status" -eq 1 ]
    [ "$output" = "publish: 'ret' is a text: names of returners, with commas between them" ]
    run ask '{"op":"publish","tgt":"m001","fun":"test.ping","ret":""}'
    [ "$status" -eq 0 ]
}

@test "SIGTERM ends salt by the signal, and leaves the job running" {
    daemon ended "$HALITE_BIN/salt" m001 test.sleep 3
    until_true 5 is_running m001
    stop ended
    [ "$RC" -eq 143 ]
    [ ! -s "$FLEET/log/ended" ]
    until_true 10 not is_running m001
}

@test "a restart of the master does not lose what salt waits for" {
    daemon waiting "$HALITE_BIN/salt" m001 test.sleep 3
    until_true 5 is_running m001
    stop master KILL
    start_master
    until_true 20 test -e "$FLEET/pids/waiting.rc"
    stop_ended waiting
    [ "$RC" -eq 0 ]
    grep -q 'waiting for the master to come back' "$FLEET/log/waiting"
    tail -n 2 "$FLEET/log/waiting" | same_as "$(printf 'm001:\n    True')"
    wait_connected m001 m002
}
# The exit code, in RC, of one that ended by itself.
stop_ended() { RC=$(cat "$FLEET/pids/$1.rc") && rm -f "$FLEET/pids/$1" "$FLEET/pids/$1.rc"; }

@test "--batch: one after the other; a dead minion is named and counts" {
    run --separate-stderr salt -b 1 '*' test.ping
    [ "$status" -eq 0 ]
    [ "$(grep -c '^Executing run on ' <<<"$output")" -eq 2 ]
    stop m002
    wait_gone m002
    run --separate-stderr salt -b 50% '*' test.ping
    start_minion m002
    wait_connected m002
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "Minion m002 did not respond. No job will be sent." ]
    grep -qF "Executing run on ['m001']" <<<"$output"
}

@test "--subset runs on so many" {
    run --separate-stderr salt --subset=1 '*' test.ping --out=txt
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "--subset chooses among those that are connected" {
    stop m002
    wait_gone m002
    for _ in 1 2 3 4 5 6; do run -0 salt --subset=1 '*' test.ping --out=txt && [ "$output" = 'm001: True' ] || break; done
    start_minion m002
    wait_connected m002
    [ "$output" = 'm001: True' ]
}

@test "--subset of a negative number runs nowhere" {
    run -64 --separate-stderr salt --subset=-1 '*' test.ping
    [ -z "$output" ]
    [ "${stderr_lines[-1]}" = "salt: error: option --subset: -1 is not a number of minions" ]
}

@test "the configuration's failhard and batch_safe_limit hold for batches, and are known" {
    cp "$MASTER_CONF" "$MASTER_CONF.old"
    printf '%s\n' 'failhard: True' 'batch_safe_limit: 2' 'batch_safe_size: 1' >>"$MASTER_CONF"
    run -3 --separate-stderr salt '*' cmd.run 'exit 3' --out=txt
    mv "$MASTER_CONF.old" "$MASTER_CONF"
    [[ $output == *'switching to batch execution'* ]]
    [ "$(grep -c '^Executing run on' <<<"$output")" -eq 1 ]
    [[ $stderr == *'stopped due to failhard'* ]]
    [[ $stderr != *'unknown option'* ]]
}

@test "--subset holds in batches, with --static and with --async" {
    run --separate-stderr salt --subset=1 -b 5 '*' test.ping
    [ "$status" -eq 0 ]
    [ "$(grep -cE '^m00[12]:$' <<<"$output")" -eq 1 ]
    run --separate-stderr salt --subset=1 '*' test.ping --static --out=json --out-indent=-1
    [ "$status" -eq 0 ]
    [[ $output =~ ^\{\"m00[12]\":\ true\}$ ]]
    run --separate-stderr salt --subset=1 '*' test.ping --async
    [ "$status" -eq 0 ]
    ask "{\"op\":\"follow\",\"jid\":\"$(jid_of "$output")\"}" | grep -qE '"minions":\["m00[12]"\]'
}

@test "--async with --static is refused" {
    run --separate-stderr salt --static --async '*' test.echo not-begun
    [ "$status" -eq 64 ]
    grep -qF -- '--async shows no returns' <<<"$stderr"
    [[ "$(salt-run jobs.list_jobs)" != *not-begun* ]]
}

@test "--batch-safe-limit with --async: the master drives the batch" {
    run --separate-stderr salt --batch-safe-limit=2 --async '*' test.ping
    [ "$status" -eq 0 ]
    grep -qF 'switching to batch execution' <<<"$output"
    [ "$("$HALITE_BIN/salt-run" batch.status "$(jid_of "$output")" --out=json | field total)" -eq 2 ]
}

@test "--static is one document" {
    run --separate-stderr salt '*' test.ping --static --out=json --out-indent=-1
    [ "$status" -eq 0 ]
    [ "$output" = '{"m001": true, "m002": true}' ] || [ "$output" = '{"m002": true, "m001": true}' ]
}

@test "a runner that is unknown or fails gives an exit code" {
    run --separate-stderr salt-run nosuch.func
    [ "$status" -eq 1 ]
    [ "$output" = "'nosuch.func' is not available." ]
}

@test "salt-run --async prints the jid; its return is found with it" {
    run --separate-stderr salt-run --async test.arg 1
    [ "$status" -eq 0 ]
    grep -qE '^Executed command with job ID: 20[0-9]{18}$' <<<"$output"
    grep -qE 'running under tag salt/run/20[0-9]{18}$' <<<"$stderr"
}
