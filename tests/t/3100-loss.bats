#!/usr/bin/env bats
# 3100-loss.bats - a return that a minion produced is never lost and never counted twice, whoever dies in between.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    local rc=0
    fleet_down || rc=1
    [ -z "${MOUNTED:-}" ] || umount "$MOUNTED"
    return $rc
}

lookup() { "$HALITE_BIN/salt-run" jobs.lookup_jid "$@" --out=json; }
jid_in() { grep -oE '[0-9]{20}' <<<"$1" | head -n 1; }
returned() { lookup "$1" | grep -qE "$2"; }
running() { ask "{\"op\":\"verdicts\",\"jid\":\"$1\"}" | grep -qE "\"$2\":\{\"verdict\":\"running\""; }
spooled() { ls "$FLEET/$1/var/cache/salt/minion/spool"/*.ret >/dev/null 2>&1; }
blocker() {
    GO=$FLEET/go
    JID=$(jid_in "$(salt "$1" cmd.run "until test -e $GO; do sleep 0.02; done; echo over" --async)")
    until_true 5 running "$JID" "$1"
}
# That a job is over is on the disk.
verdict_kept() {
    [ "$(python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM notes WHERE kind = ?", ("ended",)).fetchone()[0])' "$FLEET/master/var/cache/salt/master/jobs.db")" -eq 1 ]
}
fleet() {
    fleet_down
    fleet_up "$@"
}

@test "a return made while the master is down is kept, delivered after its restart, and stored once" {
    fleet m1
    blocker m1
    stop master
    touch "$GO"
    until_true 5 spooled m1
    start_master
    until_true 20 returned "$JID" over
    until_true 5 not spooled m1
    [ "$(counter returns)" -eq 1 ]
    [ "$(lookup "$JID" | grep -c over)" -eq 1 ]
}

@test "the same, and the minion restarts before the master is back" {
    fleet m1
    blocker m1
    stop master
    touch "$GO"
    until_true 5 spooled m1
    stop m1
    start_minion m1
    start_master
    until_true 20 returned "$JID" over
    until_true 5 not spooled m1
}

@test "kill -9 of the master during a job: the job is followed to its end afterwards" {
    fleet m1 m2
    GO=$FLEET/go
    JID=$(jid_in "$(salt '*' cmd.run "until test -e $GO; do sleep 0.02; done; echo over" --async)")
    until_true 5 running "$JID" m1
    until_true 5 running "$JID" m2
    kill -KILL "$(pid_of master)"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2
    until_true 5 running "$JID" m1
    touch "$GO"
    until_true 20 returned "$JID" '"m1"'
    until_true 20 returned "$JID" '"m2"'
    [ "$(lookup "$JID" | grep -c over)" -eq 2 ]
}

@test "the CLI says so when its master ends, and the return can be looked up after the restart" {
    fleet m1
    GO=$FLEET/go
    # Its 15 seconds of patience with a master that may come back pass in two; a sanitizer wants no library before its own.
    local hurry=(env "LD_PRELOAD=$BUILD/tests/preload/hurry.so")
    [ -z "${SAN:-}" ] || hurry=()
    daemon listen-cli "${hurry[@]}" "$HALITE_BIN/salt" -t 600 m1 cmd.run "until test -e $GO; do sleep 0.02; done; echo over" -v
    until_log "$FLEET/log/listen-cli" 'Executing job with jid'
    JID=$(jid_in "$(cat "$FLEET/log/listen-cli")")
    until_true 5 running "$JID" m1
    stop master
    until_true 20 test -e "$FLEET/pids/listen-cli.rc"
    [ "$(cat "$FLEET/pids/listen-cli.rc")" -ne 0 ]
    grep -q "salt-run jobs.lookup_jid $JID" "$FLEET/log/listen-cli"
    touch "$GO"
    until_true 5 spooled m1
    start_master
    until_true 20 returned "$JID" over
}

asked_for() { ask '{"op":"journal","from":1,"tags":["salt/job/*/new"]}' | grep -q "\"fun\":\"$1\""; }

@test "a batch right after the master's restart: who is on its way back is waited for" {
    fleet m1
    local pids pid
    pids=$(pid_of m1; cat "/proc/$(pid_of m1)/task/$(pid_of m1)/children")
    for pid in $pids; do kill -STOP "$pid"; done
    stop master
    start_master
    daemon listen-batch "$HALITE_BIN/salt" '*' test.ping -b 1 --out=txt
    until_true 10 asked_for test.ping
    for pid in $pids; do kill -CONT "$pid"; done
    until_true 20 test -e "$FLEET/pids/listen-batch.rc"
    grep -qx 'm1: True' "$FLEET/log/listen-batch"
    [ "$(cat "$FLEET/pids/listen-batch.rc")" = 0 ]
}

@test "the CLI outlives a restart of its master: it still shows the return" {
    fleet m1
    GO=$FLEET/go
    daemon listen-cli "$HALITE_BIN/salt" m1 cmd.run "until test -e $GO; do sleep 0.02; done; echo over" -v -t 20
    until_log "$FLEET/log/listen-cli" 'Executing job with jid'
    JID=$(jid_in "$(cat "$FLEET/log/listen-cli")")
    until_true 5 running "$JID" m1
    stop master
    start_master
    wait_connected m1
    touch "$GO"
    until_true 10 test -e "$FLEET/pids/listen-cli.rc"
    [ "$(cat "$FLEET/pids/listen-cli.rc")" -eq 0 ]
    grep -q over "$FLEET/log/listen-cli"
}

@test "following a job with 125 MB of returns, more than a connection's queue holds: each comes once, also after a restart" {
    fleet m1
    GO=$FLEET/go
    daemon listen-cli "$HALITE_BIN/salt" m1 cmd.run "until test -e $GO; do sleep 0.02; done; echo over" -v -t 20
    until_log "$FLEET/log/listen-cli" 'Executing job with jid'
    JID=$(jid_in "$(cat "$FLEET/log/listen-cli")")
    until_true 5 running "$JID" m1
    stop master KILL
    /usr/bin/python3 -c 'import json, sqlite3, sys
db, jid, ids = sqlite3.connect(sys.argv[1]), sys.argv[2], [f"f{i:03}" for i in range(500)]
doc = json.dumps({"m": "ret", "jid": jid, "fun": "cmd.run", "return": 250000 * "a", "retcode": 0, "success": True}, separators=(",", ":"))
db.executemany("INSERT INTO returns(jid, id, retcode, success, stamp_us, doc) VALUES(?, ?, 0, 1, 0, ?)", ((jid, id, doc) for id in ids))
db.execute("UPDATE jobs SET minions = ?, n_minions = 501, n_returned = 500 WHERE jid = ?", (json.dumps(["m1"] + ids), jid))
db.commit()' "$FLEET/master/var/cache/salt/master/jobs.db" "$JID"
    start_master
    wait_connected m1
    touch "$GO"
    until_true 20 test -e "$FLEET/pids/listen-cli.rc"
    [ "$(cat "$FLEET/pids/listen-cli.rc")" -eq 0 ]
    grep -q over "$FLEET/log/listen-cli"
    [ "$("$HALITE_TOOLS/local" --follow 501 $((20 * SLOW)) "$SOCK_DIR" "{\"op\":\"follow\",\"jid\":\"$JID\"}" |
        grep -oE '^\{"push":"ret","jid":"[0-9]+","id":"[^"]+"' | sort -u | wc -l)" -eq 501 ]
    run ! grep -q 'does not read its answers' "$FLEET/log/master"
}

@test "kill -9 of the minion after its return was made, before the master has it" {
    fleet m1
    blocker m1
    stop master
    touch "$GO"
    until_true 5 spooled m1
    kill -KILL "$(pid_of m1)"
    until_true 10 test -e "$FLEET/pids/m1.rc"
    start_master
    start_minion m1
    until_true 10 returned "$JID" over
    [ "$(counter returns)" -eq 1 ]
}

@test "kill -9 of the networking process during a job: the return arrives, once" {
    fleet m1
    blocker m1
    kill -KILL "$(session_pid m1)"
    touch "$GO"
    until_true 20 returned "$JID" over
    [ "$(counter returns)" -eq 1 ]
}

uptime_is() { [ "$(cut -d. -f1 /proc/uptime)" -ge "$1" ]; }

@test "a minion whose first process was stopped for minutes does not take the networking process for a hung one" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    local session
    start_master
    minion_conf m1
    daemon m1 env "LD_PRELOAD=$BUILD/tests/preload/hurry.so" "$HALITE_BIN/salt-minion" -c "$FLEET/etc/m1"
    accept m1
    wait_connected m1
    session=$(session_pid m1)
    kill -STOP "$(pid_of m1)"
    until_true 20 uptime_is $(($(cut -d. -f1 /proc/uptime) + 11)) # by its clock ten times as much
    kill -CONT "$(pid_of m1)"
    # A turn of its loop for which the networking process says nothing, and another one.
    for n in 1 2; do salt_call m1 --local event.fire '{}' anything >/dev/null; done
    not grep -q 'says nothing any more' "$FLEET/log/m1"
    pid_alive "$session"
    ping_ok m1
}

@test "a damaged file in the spool is set aside and said; the others are delivered" {
    fleet m1
    blocker m1
    stop master
    touch "$GO"
    until_true 5 spooled m1
    stop m1
    spool=$FLEET/m1/var/cache/salt/minion/spool
    printf '{"jid":"20260101000000000001","ret' >"$spool/20260101000000000001.ret"
    printf 'x' >"$spool/../../outside.ret"
    start_minion m1
    until_log "$FLEET/log/m1" '20260101000000000001.ret.bad'
    start_master
    until_true 20 returned "$JID" over
    [ -e "$spool/20260101000000000001.ret.bad" ]
}

@test "what was told not to be connected is not begun by the master after a killed one" {
    fleet m1 m2
    stop m2
    wait_gone m2
    run salt '*' test.echo never-there -t 1
    [[ $output == *m2* ]]
    until_true 5 verdict_kept
    kill -KILL "$(pid_of master)"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    start_minion m2
    wait_connected m1 m2
    # What it is sent, it is sent before this.
    salt m2 test.echo later | grep -q later
    [ "$(grep -c 'test.echo from' "$FLEET/log/m2")" -eq 1 ]
}

@test "an event that a minion sends again, as its master was killed before the minion heard of it, is one event" {
    fleet m1
    stop m1
    wait_gone m1
    cp -r "$FLEET/m1/etc/salt/pki/minion/." "$BATS_TEST_TMPDIR/"
    as_m1() {
        "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$FLEET/master/etc/salt/pki/master/master.pub" "$BATS_TEST_TMPDIR" minion \
            send '{"m":"hello","id":"m1","role":"minion","boot":"b7","proto":1,"pending":[]}' expect '"state":"accepted"' "$@"
    }
    as_m1 send '{"m":"event","n":4,"tag":"once/it","data":{}}' expect '"events":\[4\]'
    stop master KILL
    start_master
    as_m1 send '{"m":"event","n":4,"tag":"once/it","data":{}}' expect '"events":\[4\]' \
        send '{"m":"event","n":5,"tag":"once/more","data":{}}' expect '"events":\[5\]'
    [ "$(ask '{"op":"journal","from":1,"tags":["once/*"]}' | grep -oE '"seq":[0-9]+,"tag":"once/[a-z]+"' | cut -d, -f2 | tr '\n' ' ')" = '"tag":"once/it" "tag":"once/more" ' ]
}

TEN_YEARS=$((10 * 365 * 86400))
# A master whose clock can be moved, and a job that it must not forget: JID.
keeper() {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    movable_clock
    HALITE_BIN=$FLEET/bin start_master 'auto_accept: true' "$@"
    start_minion m1
    wait_connected m1
    JID=$(jid_in "$(salt m1 test.echo kept -v)")
}
restart() {
    stop master
    HALITE_BIN=$FLEET/bin start_master
}
# What the store forgets first, it forgets before it has this.
committed_more() { [ "$(counter store_commits)" -gt "$1" ]; }
forgets_no_more() { ask '{"op":"status"}' | grep -q '"expiring":false'; }
forgetting_is_over() {
    commits=$(counter store_commits)
    salt m1 test.ping
    until_true 5 committed_more "$commits"
    until_true 5 forgets_no_more
}

@test "the clock jumps ten years: no job is forgotten for that, nor by the master after a restart" {
    keeper 'loop_interval: 1'
    move_clock $TEN_YEARS
    until_log "$FLEET/log/master" 'the clock has jumped by'
    forgetting_is_over
    returned "$JID" kept
    restart
    grep -q 'the clock had jumped before the master ended' "$FLEET/log/master"
    wait_connected m1
    forgetting_is_over
    returned "$JID" kept
    # Nor by one that finds the clock right, and the next.
    move_clock 0
    restart
    restart
    wait_connected m1
    forgetting_is_over
    returned "$JID" kept
}

@test "the clock jumps ten years while there is no master: the next one does not believe it" {
    keeper
    stop master
    move_clock $TEN_YEARS
    HALITE_BIN=$FLEET/bin start_master
    grep -qE 'the newest event in the store is 876[0-9]{2}\.[0-9] hours old' "$FLEET/log/master"
    wait_connected m1
    forgetting_is_over
    returned "$JID" kept
}

@test "the clock jumps ten years, and much is stored before that is seen: sizes are looked at, not ages" {
    keeper 'keep_jobs_bytes: 1000000000' 'loop_interval: 3600'
    move_clock $TEN_YEARS
    for n in {1..5}; do salt m1 cmd.run "head -c 4000000 /dev/zero | tr '\\0' $n" --out=quiet; done
    forgetting_is_over
    returned "$JID" kept
}

@test "the store has no room: returns stay with the minion and arrive when there is room again" {
    fleet_down
    fleet_new
    mkdir -p "$FLEET/master/var/cache/salt/master"
    store=$FLEET/master/var/cache/salt/master
    mount -t tmpfs -o size=16m,mode=0755 halite "$store" 2>/dev/null || skip "can't mount a small tmpfs"
    MOUNTED=$store
    start_master 'auto_accept: true'
    start_minion m1
    wait_connected m1
    # Fill it up but for what the store has taken already.
    dd if=/dev/zero of="$store/ballast" bs=4k 2>/dev/null || :
    for n in 1 2 3; do salt m1 cmd.run "head -c 200000 /dev/zero | tr '\\0' $n" --async >"$FLEET/j$n"; done
    until_log "$FLEET/log/master" "the store can't be written"
    until_true 10 spooled m1
    pid_alive "$(pid_of master)"
    rm "$store/ballast"
    until_log "$FLEET/log/master" 'the store can be written again'
    for n in 1 2 3; do until_true 40 returned "$(jid_in "$(cat "$FLEET/j$n")")" "$n$n$n$n"; done
    until_true 40 not spooled m1
}

both_returned() { [ "$(lookup "$1" | grep -cE '"m[12]": "b[0-9]+\."')" -eq 2 ]; }
idle() { [ -z "$(ls "$FLEET/$1/var/cache/salt/minion/spool" | grep -E '\.(run|ret)$')" ]; }
@test "forty jobs while the master is killed and started again: every job that was taken has its returns, each once" {
    fleet m1 m2
    for n in {1..20}; do salt '*' test.echo "a$n." --async; done >"$FLEET/jobs"
    kill -KILL "$(pid_of master)"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2
    for n in {1..20}; do salt '*' test.echo "b$n." --async; done >>"$FLEET/jobs"
    # The newest came behind all others.
    for jid in $(grep -oE '[0-9]{20}' "$FLEET/jobs" | tail -n 20); do until_true 20 both_returned "$jid"; done
    until_true 20 idle m1
    until_true 20 idle m2
    # What a minion ran is stored, and once: the spools are empty, so everything was acknowledged.
    for jid in $(grep -oE '[0-9]{20}' "$FLEET/jobs"); do
        ran=$(cat "$FLEET/log/m1" "$FLEET/log/m2" | grep -c "job $jid: test.echo from" || :)
        [ "$(lookup "$jid" | grep -cE '"m[12]": "[ab][0-9]+\."')" -eq "$ran" ]
        echo "$ran" >>"$FLEET/ran"
    done
    [ "$(tail -n 20 "$FLEET/ran" | grep -c 2)" -eq 20 ]
}

# at WORD: the job has got there. go WORD: on from there.
at() { until_true 10 test -e "$FLEET/at-$1"; }
go() { echo >"$FLEET/go-$1"; }
gate() { echo "touch $FLEET/at-$1; read line < $FLEET/go-$1"; }

@test "an event that a lost connection took with it comes before those that were fired while the minion had not heard of the loss" {
    fleet m1
    for n in 1 2 3; do mkfifo "$FLEET/go-$n"; done
    salt m1 --async cmd.run,event.fire_master,cmd.run,event.fire_master,cmd.run \
        "$(gate 1)" , '{}' first/one , "$(gate 2)" , '{}' second/one , "$(gate 3)" >/dev/null
    at 1
    kill -STOP "$(pid_of master)"
    go 1
    at 2
    kill -STOP "$(pid_of m1)"
    stop master KILL
    go 2
    at 3
    start_master
    wait_connected m1
    listen both '*/one'
    kill -CONT "$(pid_of m1)"
    wait_event both second/one
    wait_event both first/one
    go 3
}

all_run() { [ "$(ls "$FLEET/m1/var/cache/salt/minion/spool" | grep -c '\.run$')" -eq "$1" ] && [ "$(fleet_processes | grep -c 'sleep 98765')" -ge "$1" ]; }

@test "a minion with a hundred jobs that are to end ends as soon as they have" {
    fleet m1
    for n in {1..100}; do salt m1 --async cmd.run 'sleep 98765' >/dev/null; done
    until_true 30 all_run 100
    stop m1 # or else it is killed
    [ "$RC" -eq 0 ]
    nothing_runs
}
nothing_runs() { [ -z "$(ls "$FLEET/m1/var/cache/salt/minion/spool" | grep '\.run$')" ] && ! fleet_processes | grep -q 'sleep 98765'; }
