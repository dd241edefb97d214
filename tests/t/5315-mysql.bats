#!/usr/bin/env bats
# 5315-mysql.bats - events and jobs in a MariaDB of the test's own: exactly once, whoever is killed; rows as Salt's own returner
# writes them.

bats_require_minimum_version 1.5.0
load lib

there() { command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null && command -v mariadb >/dev/null; }
setup() { there || skip "mariadbd and mariadb are not installed"; }
setup_file() {
    there || return 0
    fleet_new
    fleet_open
    export DB=$FLEET/db
    mkdir "$DB"
    chown 65534 "$DB"
    as_nobody mariadb-install-db --no-defaults --datadir="$DB/data" --auth-root-authentication-method=normal --skip-test-db >"$FLEET/log/install" 2>&1
    db_up
    sql '' "CREATE DATABASE salt DEFAULT CHARACTER SET utf8; CREATE USER salt IDENTIFIED BY 'hidden'; GRANT ALL ON salt.* TO salt"
    start_master 'event_return: mysql' 'master_job_cache: mysql' \
        "mysql: {host: localhost, unix_socket: $DB/sock, pass: hidden}" 'event_return_whitelist: ["test/*"]'
    start_minion m1 "mysql: {host: localhost, unix_socket: $DB/sock, pass: hidden}"
    accept m1
    wait_connected m1
}
teardown_file() {
    there || return 0
    fleet_down
    db_down
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
db_up() {
    as_nobody setsid mariadbd --no-defaults --datadir="$DB/data" --socket="$DB/sock" --skip-networking --pid-file="$DB/pid" \
        --innodb-flush-log-at-trx-commit=2 >>"$DB/log" 2>&1 </dev/null 3>&- &
    until_true 30 sql '' 'SELECT 1'
}
db_down() {
    local pid
    pid=$(<"$DB/pid")
    kill -9 "$pid"
    until_true 10 pid_gone "$pid"
    rm -f "$DB/sock" "$DB/pid"
}
sql() { mariadb --no-defaults -S "$DB/sock" -u root --default-character-set=utf8 -rNe "$2" $1; }
sql_is() { [ "$(sql salt "$1" 2>/dev/null)" = "$2" ]; }
schema() { mariadb --no-defaults -S "$DB/sock" -u root "$1" <"$HALITE_SRC/conf/schemas/mysql.sql"; }
fire() { # FROM TO: each is on the disk when this returns
    python3 - "$1" "$2" >"$FLEET/events" <<'PY'
import json, sys
first, last = map(int, sys.argv[1:])
print(json.dumps({"op": "fire", "kept": True, "events": [{"tag": f"test/{n}", "data": {"n": n}} for n in range(first, last + 1)]}))
PY
    until_true 20 ask "$(<"$FLEET/events")"
}
follower_pid() { salt-run follower.status --out=json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]]["pid"])' "$1"; }

@test "a follower that lacks Salt's tables says which file has them, and goes on when they are there; nothing else is said" {
    until_log "$FLEET/log/master" 'follower event_return.mysql: mysql: the database lacks the table salt_events, .*examples/schemas/mysql.sql'
    until_log "$FLEET/log/master" 'follower master_job_cache.mysql: mysql: the database lacks the table jids and salt_returns, '
    fire 1 1
    schema salt
    until_true 60 sql_is 'SELECT count(*) FROM salt_events' 1
    grep -E '1146|halite_followers' "$FLEET/log/master" && false
    sql salt 'DELETE FROM salt_events'
}

# Salt 3006.0's own returner was called with calls.jsonl: mysql.rows are the rows that it wrote, mysql.returns what it read.
@test "rows and what is read are those of Salt's own returner" {
    cases=$HALITE_SRC/tests/cases/returner
    sql '' 'CREATE DATABASE cmp DEFAULT CHARACTER SET utf8'
    schema cmp
    "$BUILD/tests/unit/plugins/test_returner_cases" mysql \
        "{\"id\": \"host_master\", \"mysql\": {\"host\": \"localhost\", \"unix_socket\": \"$DB/sock\", \"user\": \"root\", \"pass\": \"none\", \"db\": \"cmp\"}}" \
        <"$cases/calls.jsonl" >"$FLEET/said"
    diff "$cases/mysql.returns" <(tail -n +5 "$FLEET/said")
    {
        sql cmp 'SELECT * FROM jids'
        sql cmp 'SELECT fun, jid, `return`, id, success, full_ret FROM salt_returns ORDER BY id'
        sql cmp 'SELECT id, tag, data, master_id FROM salt_events'
    } >"$FLEET/rows"
    diff "$cases/mysql.rows" "$FLEET/rows"
}

@test "jobs, returns and events are rows; the runner jobs reads them" {
    fire 1 100
    until_true 20 sql_is 'SELECT count(*) FROM salt_events' 100
    salt m1 test.echo hello >/dev/null
    until_true 20 sql_is "SELECT count(*) FROM salt_returns WHERE fun = 'test.echo'" 1
    jid=$(sql salt "SELECT jid FROM salt_returns WHERE fun = 'test.echo'")
    [ "$(salt-run jobs.lookup_jid "$jid" --out=newline_values_only)" = hello ]
    salt m1 test.echo direct --return=mysql >/dev/null
    until_true 20 sql_is "SELECT count(*) FROM salt_returns WHERE \`return\` = '\"direct\"'" 2
}

@test "a value that the database refuses is left out, and nothing else" {
    tag=test/$(printf 'x%.0s' {1..250})
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/good/1", "data": {}}, {"tag": "'"$tag$tag"'", "data": {}}, {"tag": "test/good/2", "data": {}}]}' ||
        ask '{"op": "fire", "kept": true, "events": [{"tag": "test/good/1", "data": {}}, {"tag": "'"$tag"'", "data": {}}, {"tag": "test/good/2", "data": {}}]}'
    until_true 20 sql_is "SELECT count(*) FROM salt_events WHERE tag LIKE 'test/good/%'" 2
}

@test "a value that is larger than the server takes is left out, and nothing else" {
    python3 - >"$FLEET/large" <<'PY'
import json
print(json.dumps({"op": "fire", "kept": True, "events": [{"tag": "test/large/%d" % n, "data": {"x": "'" * k}} for n, k in enumerate((10, 45000, 10))]}))
PY
    sql '' 'SET GLOBAL max_allowed_packet = 65536'
    kill_by follower_pid event_return.mysql
    ask "$(<"$FLEET/large")" >/dev/null
    until_true 20 sql_is "SELECT tag FROM salt_events WHERE tag LIKE 'test/large/%' ORDER BY tag" $'test/large/0\ntest/large/2'
    sql '' 'SET GLOBAL max_allowed_packet = 16777216'
    kill_by follower_pid event_return.mysql
    until_log "$FLEET/log/master" 'mysql: left out, as the database refuses it: MySQL Error 1153: .*test/large/1'
}

@test "database, follower and master are killed under load: each event is there once" {
    next=101
    for round in {1..3}; do
        fire $next $((next + 299))
        next=$((next + 300))
        case $((round % 3)) in
        0) db_down ;;
        1) kill_by follower_pid event_return.mysql ;;
        2)
            kill -9 "$(<"$FLEET/pids/master")"
            until_true 10 test -e "$FLEET/pids/master.rc"
            start_master
            ;;
        esac
        fire $next $((next + 299))
        next=$((next + 300))
        [ $((round % 3)) -ne 0 ] || db_up
    done
    until_true 60 sql_is "SELECT count(DISTINCT tag) FROM salt_events WHERE tag REGEXP '^test/[0-9]+\$'" $((next - 1))
    sql_is "SELECT count(*) FROM salt_events WHERE tag REGEXP '^test/[0-9]+\$'" $((next - 1))
    grep -q hidden "$FLEET/log/master" && false
    true
}
