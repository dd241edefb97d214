#!/usr/bin/env bats
# 7020-history.bats - a master with ten thousand jobs behind it: what it shows of them, and what it forgets.

bats_require_minimum_version 1.5.0
load lib

JOBS=10000
RETURNS=3
DAY=86400

# The past is made once: 30 days, a job every 4 minutes 19 seconds.
setup_file() {
    PAST=$BATS_FILE_TMPDIR/past.db
    "$BUILD/tests/bench/history" fill "$PAST" $JOBS $RETURNS 30 >/dev/null
    export PAST
}

setup() {
    fleet_new
    CACHE=$FLEET/master/var/cache/salt/master
    STORE=$CACHE/jobs.db
    mkdir -p "$CACHE"
    cp "$PAST" "$STORE"
    chmod 0600 "$STORE"
}

teardown() {
    fleet_down
}

sql() { /usr/bin/python3 -c 'import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=30).execute(sys.argv[2]).fetchone()[0])' "$STORE" "$1"; }
jids() { grep -oE '"(JID|[0-9]{20})": ?("[0-9]{20}")?' | grep -oE '[0-9]{20}'; }
forgotten() { [ "$(counter store_expired)" -gt 0 ] && ask '{"op":"status"}' | grep -q '"expiring":false'; }
# Each job that is there has all it had; nothing is there without its job.
whole() {
    [ "$(sql 'SELECT count(*) FROM jobs WHERE n_returned <> (SELECT count(*) FROM returns r WHERE r.jid = jobs.jid)')" -eq 0 ]
    [ "$(sql 'SELECT count(*) FROM returns')" -eq $((RETURNS * $(sql 'SELECT count(*) FROM jobs'))) ]
    [ "$(sql 'SELECT count(*) FROM expired')" -eq 0 ]
    [ "$(sql 'SELECT count(*) FROM notes WHERE jid NOT IN (SELECT jid FROM jobs)')" -eq 0 ]
}

@test "the newest fifty, one of them, the last one, in a few files" {
    start_master 'keep_jobs_seconds: 0'
    salt-run jobs.list_jobs_filter 50 --out=json >"$BATS_TEST_TMPDIR/fifty"
    jids <"$BATS_TEST_TMPDIR/fifty" >"$BATS_TEST_TMPDIR/jids"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/jids")" -eq 50 ]
    sort -c "$BATS_TEST_TMPDIR/jids"
    jid=$(tail -n 1 "$BATS_TEST_TMPDIR/jids")
    [ "$jid" = "$(sql 'SELECT jid FROM jobs ORDER BY start_us DESC LIMIT 1')" ]
    [ "$(salt-run jobs.lookup_jid "$jid" --out=json | grep -c '"web.*": ')" -eq $RETURNS ]
    salt-run jobs.list_job "$jid" --out=json | grep -q '"Function"'
    [ "$(salt-run jobs.exit_success "$jid" --out=json | grep -c '"web.*": ')" -eq $RETURNS ]
    salt-run jobs.last_run --out=json | grep -q "$jid"
    [ "$(salt-run jobs.last_run function=no.such --out=json)" = false ]
    [ "$(salt-run jobs.last_run function=service.restart --out=json | jids | head -n 1)" = \
        "$(sql "SELECT max(jid) FROM jobs WHERE fun = 'service.restart'")" ]
    [ "$(salt-run jobs.list_jobs search_function='state.*' --out=json | jids | wc -l)" -eq \
        "$(sql "SELECT count(*) FROM jobs WHERE fun = 'state.apply'")" ]
    [ "$(find "$CACHE" -type f | wc -l)" -le 10 ]
}

@test "a long return: whole for who asks, left out of the event, and refused when no message can hold it" {
    start_master 'keep_jobs_seconds: 0'
    listen ret 'salt/run/*/ret'
    [ "$(salt-run jobs.list_jobs --out=json | jids | wc -l)" -eq $JOBS ]
    wait_event ret '"fun":"runner.jobs.list_jobs".*"return":"VALUE_TRIMMED","success":true'
    unlisten ret
    stop master
    jid=$(sql 'SELECT max(jid) FROM jobs')
    /usr/bin/python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
doc = "{\"return\": \"" + 100066 * "x" + "\"}"
db.executemany("INSERT INTO returns VALUES(?, ?, 0, 1, 0, ?)", ((sys.argv[2], f"big{i}", doc) for i in range(700)))
db.commit()' "$STORE" "$jid"
    start_master
    run -1 salt-run jobs.lookup_jid "$jid"
    grep -q "job $jid: its returns have more than [0-9]* bytes: ask for those of some minions" <<<"$output"
    # 670 of them: just few enough to be read, too many for a message that has room for what is told beside them.
    run salt-run jobs.lookup_jid "$jid" minions='big?, big??, big[1-5]??, big6[0-6]?'
    [ "$status" -eq 1 ]
    grep -qE 'jobs.lookup_jid: the return has [0-9]{8} bytes, more than the [0-9]{8} of a message' <<<"$output"
    [ "${#output}" -lt 1000 ]
    same_as "$(salt-run jobs.lookup_jid "$jid" minions='big1, big69?' --out=json | grep -oE '"big[0-9]+"' | sort | tr -d '\n')" \
        <<<'"big1""big690""big691""big692""big693""big694""big695""big696""big697""big698""big699"'
}

@test "jobs and orchestrations go by their age, whole; young ones stay" {
    start_master "keep_jobs_seconds: $((10 * DAY))" 'loop_interval: 1'
    until_true 20 forgotten
    whole
    kept=$(sql 'SELECT count(*) FROM jobs')
    [ "$kept" -gt $((JOBS / 3 - 20)) ]
    [ "$kept" -le $((JOBS / 3)) ]
    [ "$(sql 'SELECT count(*) FROM runs')" -eq 3 ]
    [ "$(sql 'SELECT count(*) FROM steps')" -eq 15 ]
    [ "$(salt-run jobs.list_jobs_filter 50 --out=json | jids | wc -l)" -eq 50 ]
}

@test "jobs go by their size, the oldest first, also after a reload" {
    start_master 'keep_jobs_seconds: 0' 'loop_interval: 1'
    newest=$(sql 'SELECT max(jid) FROM jobs')
    echo 'keep_jobs_bytes: 6000000' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 20 forgotten
    whole
    kept=$(sql 'SELECT count(*) FROM jobs')
    [ "$kept" -gt 500 ]
    [ "$kept" -lt $((JOBS / 2)) ]
    [ "$(sql 'SELECT max(jid) FROM jobs')" = "$newest" ]
    [ "$(sql 'SELECT count(*) FROM jobs')" -eq "$(salt-run jobs.list_jobs --out=json | jids | wc -l)" ]
}

@test "killed while it forgets, the master goes on where it was" {
    start_master "keep_jobs_seconds: $DAY" 'loop_interval: 1'
    stop master KILL
    start_master
    until_true 20 eval '[ "$(sql "SELECT count(*) FROM jobs")" -le $((JOBS / 30)) ]'
    until_true 20 eval '[ "$(sql "SELECT count(*) FROM expired")" -eq 0 ]'
    whole
}

@test "a damaged store: one line says what has become of it, and the master begins a new one" {
    start_master 'keep_jobs_seconds: 0'
    pages=$(($(stat -c %s "$STORE") / 8192))
    stop master
    dd if=/dev/zero of="$STORE" bs=8192 seek=40 count=$((pages - 40)) conv=notrunc status=none
    start_master
    [ "$(grep -c 'The job store was damaged and a new, empty one was begun; .*\.recover' "$FLEET/log/master")" -eq 1 ]
    [ "$(find "$CACHE" -name 'jobs.db.damaged-*' | wc -l)" -eq 1 ]
    [ "$(salt-run jobs.list_jobs_filter 50 --out=json | jids | wc -l)" -eq 0 ]
    start_minion m1
    accept m1
    wait_connected m1
    salt m1 test.ping | grep -q True
    [ "$(salt-run jobs.list_jobs_filter 50 --out=json | jids | wc -l)" -eq 1 ]
}

@test "killed at any step while it sets a damaged store aside, the master does it at the next start, and says so" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    local n said half=0
    start_master 'keep_jobs_seconds: 0'
    stop master
    cp "$STORE" "$FLEET/damaged"
    dd if=/dev/zero of="$FLEET/damaged" bs=8192 count=1 conv=notrunc status=none
    for ((n = 1;; n++)); do
        rm -f "$FLEET/hit" "$STORE"*
        cp "$FLEET/damaged" "$STORE"
        FAULT=kill:$n FAULT_ROOT=$STORE FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so \
            start_master 2>/dev/null || :
        [ -e "$FLEET/hit" ] || break
        until_true 10 test -e "$FLEET/pids/master.rc"
        said=$(grep -c 'The job store was damaged' "$FLEET/log/master") || :
        # The new one is there, and what the master had to say of it died with it.
        [ -e "$STORE.replacing" ] || cmp -s "$FLEET/damaged" "$STORE" || said=1
        [ ! -e "$STORE.replacing" ] || half=$((half + 1))
        start_master
        said=$((said + $(grep -c 'The job store was damaged' "$FLEET/log/master"))) || :
        cmp "$FLEET/damaged" "$CACHE"/jobs.db.damaged-*
        if [ "$said" -eq 0 ] || [ "$(counter seq | head -n 1)" -lt 1000000000000000 ] || [ -e "$STORE.replacing" ]; then
            echo "killed at $n: said $said times; $(ask '{"op":"status"}'); $(ls "$CACHE")" >&2
            return 1
        fi
        stop master
    done
    stop master
    [ "$n" -gt 10 ]
    [ "$half" -gt 5 ]
}
