#!/usr/bin/env bats
# 4230-databases.bats - the modules and states of MySQL and PostgreSQL on real servers, which are the tests' own: they
# run as an ordinary user below a folder of the test. Each state is told in test mode, done, and done again.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    halite_tmp
    export ROOT CONF AS AS_USER PORT
    AS=$(halite_unprivileged)
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$ROOT" "$BATS_TEST_TMPDIR" 2>/dev/null || true
    for dir in $(all_above "$ROOT"); do chmod o+x "$dir"; done
    PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    cat >"$CONF/minion" <<EOF
id: m
root_dir: $ROOT/minion
file_client: local
mysql.unix_socket: $ROOT/my/s
mysql.user: root
postgres.host: 127.0.0.1
postgres.port: $PORT
postgres.user: admin
postgres.pass: adm1n-secret
EOF
    if command -v mariadbd >/dev/null; then start_mysql; fi
    if [ -n "$(pg_bin)" ] && command -v psql >/dev/null; then start_postgres; fi
}

# The test's folder and those above it that are bats'.
all_above() {
    local dir=$1
    while [ "$dir" != / ] && [ "$dir" != "${TMPDIR:-/tmp}" ]; do
        [ ! -O "$dir" ] || echo "$dir"
        dir=$(dirname "$dir")
    done
}
own_folder() { # A folder for whom the servers run as.
    mkdir "$ROOT/$1"
    [ -z "$AS" ] || chown 65534:65534 "$ROOT/$1"
}
pg_bin() { ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | tail -n 1; }

start_mysql() {
    own_folder my
    $AS mariadb-install-db --no-defaults --datadir="$ROOT/my/data" --auth-root-authentication-method=normal \
        --skip-test-db >"$ROOT/my-install.log" 2>&1
    $AS mariadbd --no-defaults --datadir="$ROOT/my/data" --socket="$ROOT/my/s" --skip-networking \
        --pid-file="$ROOT/my/pid" >"$ROOT/my.log" 2>&1 3>&- &
    echo $! >"$ROOT/my.pid"
    until_true 30 call mysql.verify_login root
}
start_postgres() {
    own_folder pg
    (umask 077 && echo adm1n-secret >"$ROOT/pw")
    [ -z "$AS" ] || chown 65534 "$ROOT/pw"
    $AS "$(pg_bin)/initdb" -D "$ROOT/pg/data" -U admin -A scram-sha-256 --pwfile="$ROOT/pw" -E UTF8 --locale=C \
        >"$ROOT/pg-install.log"
    $AS "$(pg_bin)/postgres" -D "$ROOT/pg/data" -k "$ROOT/pg" -h 127.0.0.1 -p "$PORT" >"$ROOT/pg.log" 2>&1 3>&- &
    echo $! >"$ROOT/pg.pid"
    until_true 30 call postgres.version
    until_true 30 grep -q 'ready to accept' "$ROOT/pg.log"
}
teardown_file() {
    for pid in "$ROOT/my.pid" "$ROOT/pg.pid"; do
        [ ! -e "$pid" ] || kill "$(cat "$pid")"
        [ ! -e "$pid" ] || until_true 30 ended "$(cat "$pid")"
    done
}
ended() { [ ! -e "/proc/$1" ]; }

need_mysql() { [ -e "$ROOT/my.pid" ] || skip 'mariadbd is not installed'; }
need_postgres() { [ -e "$ROOT/pg.pid" ] || skip 'initdb and psql are not installed'; }

# The return of a function, as JSON; true as the function's is.
call() {
    "$HALITE_BIN/salt-call" --local -c "$CONF" -l quiet --log-file="$ROOT/log" --log-file-level=trace --out=json "$@" |
        python3 -c 'import json, sys; v = json.load(sys.stdin)["local"]; print(json.dumps(v, sort_keys=True)); sys.exit(not v)'
}
# "RESULT CHANGES" of a state.
single() {
    "$HALITE_BIN/salt-call" --local -c "$CONF" -l quiet --log-file="$ROOT/log" --log-file-level=trace --out=json state.single "$@" |
        python3 -c 'import json, sys
for v in json.load(sys.stdin)["local"].values():
    print(v["result"], json.dumps(v["changes"], sort_keys=True))
    print(v["comment"], file=sys.stderr)'
}
not_logged() {
    [ -s "$ROOT/log" ]
    run --separate-stderr grep -c "$1" "$ROOT/log"
    [ "$output" = 0 ]
}
# Test mode tells what the run does, and the next run does nothing.
state() {
    local told done again
    told=$(single "$@" test=True)
    done=$(single "$@")
    again=$(single "$@")
    [ "${told%% *}" = None ]
    [ "${done%% *}" = True ]
    [ "${told#* }" = "${done#* }" ]
    [ "$again" = 'True {}' ]
}

@test "mysql: databases, users and grants are foretold, made once, and removed" {
    need_mysql
    state mysql_database.present 'a`b"c' # a name that would end a careless quote
    state mysql_database.present db1 character_set=latin1
    state mysql_database.present db1 character_set=utf8 collate=utf8_general_ci
    state mysql_user.present bob password="s3cret'x"
    [ "$(call mysql.verify_login bob "s3cret'x")" = true ]
    state mysql_user.present bob password=s3cret2
    [ "$(call mysql.verify_login bob s3cret2)" = true ]
    run -1 call mysql.verify_login bob "s3cret'x"
    state mysql_user.present bob password_hash='*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4'
    [ "$(call mysql.verify_login bob mypass)" = true ]
    state mysql_user.present bob allow_passwordless=True
    state mysql_user.present bob unix_socket=True allow_passwordless=True
    state mysql_user.present bob password=s3cret
    state mysql_user.present sock unix_socket=True allow_passwordless=True
    state mysql_grants.present g grant='select, insert' database='db1.*' user=bob
    [ "$(call mysql.query db1 'CREATE TABLE t (a INT, b INT)' | grep -c 'rows affected')" = 1 ]
    state mysql_grants.present g grant='update(a, b)' database=db1.t user=bob
    state mysql_grants.present g grant='all privileges' database='a`b"c.*' user=bob
    state mysql_grants.absent g grant=select database='db1.*' user=bob
    state mysql_grants.present g grant=delete database='db1.*' user=bob revoke_first=True
    [ "$(call mysql.grant_exists insert 'db1.*' bob || true)" = false ]
    state mysql_user.absent bob
    state mysql_user.absent sock
    state mysql_database.absent 'a`b"c'
    state mysql_database.absent db1
}

@test "mysql: queries, their results in a file, scripts, and errors of the server" {
    need_mysql
    call mysql.db_create q1
    printf '%s\n' '-- comment; not a statement' 'CREATE TABLE t (a INT,' ' b VARCHAR(10));' \
        "INSERT INTO t VALUES (1, 'x;y'), (2, NULL);" 'SELECT * FROM t' >"$ROOT/script"
    call mysql.file_query q1 "$ROOT/script" | grep -qF '"results": [[["1", "x;y"], ["2", null]]], "rows affected": 2'
    single mysql_query.run q database=q1 query='SELECT a FROM t' output="$ROOT/out"
    [ "$(cat "$ROOT/out")" = "$(printf 'a:1\na:2')" ]
    [ "$(single mysql_query.run q database=q1 query='SELECT a FROM t' output="$ROOT/out" overwrite=False)" = 'True {}' ]
    [ "$(call mysql.query q1 'SELEC 1' || true)" = false ]
    [ "$(call mysql.db_tables q1)" = '["t"]' ]
    for fun in db_check db_repair db_optimize; do call "mysql.$fun" q1 | grep -q q1.t; done
    call mysql.db_remove q1
    # A syntax error does not show the statement, in which there may be a password.
    run --separate-stderr single mysql_user.present 'x' host='h' password_hash="no'hash-s3cret9"
    [ "${output%% *}" = False ]
    for fun in processlist showglobal showvariables status plugins_list user_list db_list version; do call "mysql.$fun" >/dev/null; done
    [ "$(call mysql.slave_lag)" = -1 ]
    [ "$(call mysql.plugin_status unix_socket)" = '"ACTIVE"' ]
    not_logged s3cret
}

@test "mysql: settings of a defaults file, and a server that refuses" {
    need_mysql
    call mysql.user_create file password=filepw
    printf '[client]\nuser=file\npassword=filepw\nsocket=%s\n' "$ROOT/my/s" >"$ROOT/my.cnf"
    call mysql.version connection_default_file="$ROOT/my.cnf"
    call mysql.processlist connection_default_file="$ROOT/my.cnf" | grep -q '"User": "file"'
    run --separate-stderr single mysql_database.present db2 connection_user=nobody-there connection_pass=x
    [ "$output" = 'False {}' ]
    [[ $stderr == *'MySQL Error 1045: Access denied'* ]]
    call mysql.user_remove file
}

@test "postgres: roles, databases and what is in them are foretold, made once, and removed" {
    need_postgres
    state postgres_group.present grp
    state postgres_user.present 'bob"x' password="s3cret'x\\y" createdb=True groups=grp
    state postgres_user.present sam password=s3cret encrypted=scram-sha-256
    [ "$(call postgres.psql_query 'select 1 as a' user=sam password=s3cret)" = '[{"a": "1"}]' ]
    state postgres_user.present sam password=s3cret2 encrypted=False valid_until='2036-01-02 03:04:05'
    [ "$(call postgres.psql_query 'select 1 as a' user=sam password=s3cret2)" = '[{"a": "1"}]' ]
    state postgres_database.present db1 owner='bob"x'
    state postgres_database.present db1 owner=sam owner_recurse=True
    state postgres_schema.present name=sch dbname=db1 owner=sam
    mkdir "$ROOT/pg/ts" && { [ -z "$AS" ] || chown 65534 "$ROOT/pg/ts"; }
    state postgres_tablespace.present ts1 directory="$ROOT/pg/ts" owner=sam options='{seq_page_cost: 1.5}'
    state postgres_tablespace.present ts1 directory="$ROOT/pg/ts" owner=admin options='{seq_page_cost: 2}'
    call postgres.psql_query 'select 1' >/dev/null
    PGPASSWORD=adm1n-secret psql -qh 127.0.0.1 -p "$PORT" -U admin db1 -c 'CREATE TABLE "odd ""t" (a int); CREATE SEQUENCE s1;
        CREATE FUNCTION f(integer) RETURNS int LANGUAGE sql AS $$ select 1 $$;'
    state postgres_privileges.present 'bob"x' object_name='odd "t' object_type=table privileges='[SELECT, INSERT]' maintenance_db=db1
    state postgres_privileges.present 'bob"x' object_name='odd "t' object_type=table privileges='[ALL]' grant_option=True maintenance_db=db1
    state postgres_privileges.present sam object_name=ALL object_type=sequence privileges='[USAGE]' maintenance_db=db1
    state postgres_privileges.present sam object_name='f(integer)' object_type=function privileges='[EXECUTE]' maintenance_db=db1
    state postgres_privileges.present 'bob"x' object_name=sch object_type=schema privileges='[USAGE]' maintenance_db=db1
    state postgres_privileges.present sam object_name=grp object_type=group
    state postgres_privileges.absent sam object_name=grp object_type=group
    state postgres_privileges.absent 'bob"x' object_name='odd "t' object_type=table privileges='[ALL]' maintenance_db=db1
    state postgres_database.absent db1
    state postgres_tablespace.absent ts1
    state postgres_user.absent 'bob"x'
    state postgres_user.absent sam
    state postgres_group.absent grp
    for word in s3cret adm1n-secret; do
        not_logged "$word"
    done
}

@test "postgres: extensions, where the server has some" {
    need_postgres
    [ "$(call postgres.is_available_extension hstore || true)" = true ] || skip 'postgresql-contrib is not installed'
    call postgres.db_create ext1
    state postgres_extension.present hstore maintenance_db=ext1
    state postgres_schema.present name=sch dbname=ext1
    state postgres_extension.present hstore schema=sch maintenance_db=ext1
    state postgres_extension.absent hstore maintenance_db=ext1
    call postgres.db_remove ext1
}

@test "postgres: nothing is absent because the server can't be reached" {
    need_postgres
    run --separate-stderr single postgres_user.absent nobody db_host=127.0.0.1 db_port=1
    [ "$output" = 'False {}' ]
    [[ $stderr == *'Connection refused'* ]]
}

@test "postgres: a folder of data is initialized once, its password in no list of arguments" {
    [ -n "$(pg_bin)" ] || skip 'initdb is not installed'
    [ -n "$AS" ] || skip 'only root may run initdb as somebody else'
    mkdir "$ROOT/init" && chown 65534 "$ROOT/init"
    echo "postgres.bins_dir: $(pg_bin)" >>"$CONF/minion"
    state postgres_initdb.present "$ROOT/init/data" runas="$(id -un 65534)" user=admin password=s3cret auth=md5
    [ -s "$ROOT/init/data/PG_VERSION" ]
    not_logged s3cret
}
