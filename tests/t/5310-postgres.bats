#!/usr/bin/env bats
# 5310-postgres.bats - events and jobs in a PostgreSQL of the test's own: exactly once, whoever is killed; Salt's tables as Salt
# writes them, and read back by the runner jobs.

bats_require_minimum_version 1.5.0
load lib

there() { [ -e /usr/bin/psql ] && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
setup() { there || skip "initdb and psql are not installed"; }
setup_file() {
    there || return 0
    fleet_new
    fleet_open
    export PG=$FLEET/pg PGBIN
    PGBIN=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
    mkdir "$PG"
    chown 65534 "$PG"
    as_nobody "$PGBIN/initdb" -D "$PG/data" -U salt -A trust -E UTF8 --locale=C -N >"$FLEET/log/initdb"
    pg_up
    as_nobody "$PGBIN/createdb" -h "$PG" -U salt salt
    start_master 'event_return: pgjsonb' 'master_job_cache: pgjsonb' "returner.pgjsonb: {host: $PG, sslmode: disable}" \
        "master_job_cache.postgres: {host: $PG, user: salt, db: texts}" \
        'event_return_whitelist: ["test/*"]'
    start_minion m1 "returner.pgjsonb.host: $PG"
    accept m1
    wait_connected m1
}
teardown_file() {
    there || return 0
    fleet_down
    pg_down
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
pg_up() {
    as_nobody "$PGBIN/pg_ctl" -D "$PG/data" -w -l "$PG/log" -o "-k $PG -c listen_addresses= -c fsync=off -c timezone=UTC" start >/dev/null 3>&-
}
pg_down() { as_nobody "$PGBIN/pg_ctl" -D "$PG/data" -m immediate stop >/dev/null; }
sql() { "$PGBIN/psql" -h "$PG" -U salt -d salt -qAtc "$1"; }
sql_is() { [ "$(sql "$1" 2>/dev/null)" = "$2" ]; }
schema() { "$PGBIN/psql" -h "$PG" -U salt -d "$1" -qf "$HALITE_SRC/conf/schemas/$2.sql"; }
# fire FROM TO: so many events, of which each is on the disk when this returns; asked again while there is no master.
fire() {
    python3 - "$1" "$2" >"$FLEET/events" <<'PY'
import json, sys
first, last = map(int, sys.argv[1:])
print(json.dumps({"op": "fire", "kept": True, "events": [{"tag": f"test/{n}", "data": {"n": n}} for n in range(first, last + 1)]}))
PY
    until_true 20 ask "$(<"$FLEET/events")"
}
follower_pid() { salt-run follower.status --out=json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]]["pid"])' "$1"; }

@test "a follower that lacks Salt's tables says which file has them, and goes on when they are there; nothing else is said" {
    until_log "$FLEET/log/master" 'follower event_return.pgjsonb: returner.pgjsonb: the database lacks the table salt_events, .*examples/schemas/pgjsonb.sql'
    until_log "$FLEET/log/master" 'follower master_job_cache.pgjsonb: returner.pgjsonb: the database lacks the table jids and salt_returns, '
    fire 1 1
    schema salt pgjsonb
    until_true 60 sql_is 'SELECT count(*) FROM salt_events' 1
    grep -q halite_followers "$FLEET/log/master" && false
    grep ERROR "$PG/log" && false # of the server
    sql 'DELETE FROM salt_events'
}

@test "events are rows as Salt's returner writes them" {
    fire 1 100
    until_true 20 sql_is 'SELECT count(*) FROM salt_events' 100
    [ "$(sql "SELECT tag, data->>'n', master_id LIKE '%\_master', alter_time > now() - interval '1 hour' FROM salt_events ORDER BY id LIMIT 1")" = \
        'test/1|1|t|t' ]
    [ "$(sql 'SELECT string_agg(tag, chr(32) ORDER BY id) FROM (SELECT * FROM salt_events ORDER BY id LIMIT 3) e')" = 'test/1 test/2 test/3' ]
}

@test "jobs and returns are rows, and the runner jobs reads them" {
    salt m1 test.arg a k=1 --metadata='{x: 1}' >/dev/null
    until_true 20 sql_is "SELECT count(*) FROM salt_returns WHERE fun = 'test.arg'" 1
    jid=$(sql "SELECT jid FROM salt_returns WHERE fun = 'test.arg'")
    [ "$(sql "SELECT id, success, return->'args'->>0, full_ret->>'retcode' FROM salt_returns WHERE jid = '$jid'")" = 'm1|true|a|0' ]
    [ "$(sql "SELECT load->>'fun', load->>'tgt', load->>'tgt_type', load->>'cmd', load->'kwargs'->'metadata'->>'x' FROM jids WHERE jid = '$jid'")" = \
        'test.arg|m1|glob|publish|1' ]
    salt-run jobs.lookup_jid "$jid" --out=json | python3 -c 'import json, sys; assert json.load(sys.stdin)["m1"]["args"] == ["a"]'
    # A job of the minion's own has no publication: its load is made of the return.
    salt_call m1 test.echo own >/dev/null
    until_true 20 sql_is "SELECT count(*) FROM salt_returns r JOIN jids j USING (jid) WHERE r.fun = 'test.echo' AND j.load->>'tgt' = 'm1'" 1
}

@test "a job's arguments are a list also where the table has texts" {
    "$PGBIN/psql" -h "$PG" -U salt -d salt -qc 'CREATE DATABASE texts'
    schema texts postgres_local_cache
    "$PGBIN/psql" -h "$PG" -U salt -d texts -qc "INSERT INTO jids (jid, tgt_type, cmd, tgt, kwargs, ret, username, arg, fun) VALUES
        ('20260101000000000001', 'glob', 'publish', 'm1', '{}', '', 'root', '[\"a\", {\"k\": [1]}]', 'test.arg'),
        ('20260101000000000002', 'glob', 'publish', 'm1', '{}', '', 'root', 'None', 'test.ping')"
    salt-run jobs.list_job 20260101000000000001 ext_source=postgres_local_cache --out=json >"$FLEET/job"
    python3 -c 'import json, sys; assert json.load(sys.stdin)["Arguments"] == ["a", {"k": [1]}]' <"$FLEET/job"
    salt-run jobs.list_job 20260101000000000002 ext_source=postgres_local_cache --out=json | grep -q '"Arguments": \[\]'
}

@test "a value that the database refuses is left out, and nothing else" {
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/good/1", "data": {}}, {"tag": "test/bad", "data": {"nul": "a\u0000b"}}, {"tag": "test/good/2", "data": {}}]}'
    until_true 20 sql_is "SELECT count(*) FROM salt_events WHERE tag LIKE 'test/good/%'" 2
    until_log "$FLEET/log/master" 'left out, as the database refuses it'
    sql_is "SELECT count(*) FROM salt_events WHERE tag = 'test/bad'" 0
}

@test "database, follower and master are killed under load: each event is there once" {
    next=101
    for round in {1..6}; do
        fire $next $((next + 499))
        next=$((next + 500))
        case $((round % 3)) in
        0) pg_down ;; # at once, without a checkpoint
        1) kill_by follower_pid event_return.pgjsonb ;;
        2)
            kill -9 "$(<"$FLEET/pids/master")"
            until_true 10 test -e "$FLEET/pids/master.rc"
            start_master
            ;;
        esac
        fire $next $((next + 499))
        next=$((next + 500))
        [ $((round % 3)) -ne 0 ] || pg_up
    done
    until_true 60 sql_is "SELECT count(DISTINCT data->>'n') FROM salt_events WHERE data ? 'n'" $((next - 1))
    sql_is "SELECT count(*) FROM salt_events WHERE data ? 'n'" $((next - 1))
}

@test "a damaged file of the cursor is no end where the database keeps it" {
    local file
    file=$(find "$FLEET" -path '*/followers/event_return.pgjsonb.json')
    kill_by follower_pid event_return.pgjsonb
    echo '{"seq": ' >"$file"
    fire 90001 90003
    until_true 30 sql_is "SELECT count(*) FROM salt_events WHERE data->>'n' IN ('90001', '90002', '90003')" 3
    sql_is "SELECT count(*) - count(DISTINCT data->>'n') FROM salt_events WHERE data ? 'n'" 0
    until_log "$FLEET/log/master" "follower event_return.pgjsonb: .*event_return.pgjsonb.json: not valid JSON.*the database's own position is taken"
}

@test "a minion's returner writes there too, and a database that is away is an error of the log alone" {
    salt m1 test.echo direct --return=pgjsonb >/dev/null
    until_true 20 sql_is "SELECT count(*) FROM salt_returns WHERE return = '\"direct\"'" 2
    pg_down
    [ "$(salt m1 test.echo away --return=pgjsonb --out=newline_values_only)" = away ]
    until_log "$FLEET/log/m1" 'returner pgjsonb: PostgreSQL: '
    pg_up
    until_true 60 sql_is "SELECT count(*) FROM salt_returns WHERE return = '\"away\"'" 1
}

# Salt 3006.0's own returners were called with calls.jsonl: NAME.rows are the rows that they wrote, NAME.returns what they read.
recorded() { # NAME OPTS
    local name=$1 db=cmp_$1 cases=$HALITE_SRC/tests/cases/returner
    "$PGBIN/createdb" -h "$PG" -U salt "$db"
    schema "$db" "$name"
    "$BUILD/tests/unit/plugins/test_returner_cases" "$name" "$2" <"$cases/calls.jsonl" >"$FLEET/said"
    diff "$cases/$name.returns" <(tail -n +5 "$FLEET/said")
    local columns='fun, jid, return, id, success, full_ret'
    [ "$name" != postgres_local_cache ] || columns='fun, jid, return, id, success'
    {
        "$PGBIN/psql" -h "$PG" -U salt "$db" -Atc 'select * from jids'
        "$PGBIN/psql" -h "$PG" -U salt "$db" -Atc "select $columns from salt_returns order by id"
        "$PGBIN/psql" -h "$PG" -U salt "$db" -Atc 'select id, tag, data, master_id from salt_events'
    } >"$FLEET/rows"
    diff "$cases/$name.rows" "$FLEET/rows"
}

@test "rows and what is read are those of Salt's own returners" {
    opts='"id": "host_master", "keep_jobs_seconds": 86400'
    recorded pgjsonb "{$opts, \"returner.pgjsonb\": {\"host\": \"$PG\", \"db\": \"cmp_pgjsonb\"}}"
    recorded postgres "{$opts, \"returner.postgres\": {\"host\": \"$PG\", \"db\": \"cmp_postgres\"}}"
    recorded postgres_local_cache "{$opts, \"master_job_cache.postgres\": {\"host\": \"$PG\", \"user\": \"salt\", \"db\": \"cmp_postgres_local_cache\"}}"
}
