#!/usr/bin/env bats
# 5320-redis.bats - jobs and returns in a Redis of the test's own: under Salt's keys, none lost while it is away, read back by the
# runner jobs; Salt's own client reads them.

bats_require_minimum_version 1.5.0
load lib

there() { command -v redis-server >/dev/null && command -v redis-cli >/dev/null; }
setup() { there || skip "redis-server is not installed"; }
setup_file() {
    there || return 0
    fleet_new
    mkdir "$FLEET/redis"
    redis_up
    start_master 'ext_job_cache: redis' "redis: {unix_socket_path: $FLEET/redis/sock, password: hidden}"
    start_minion m1 "redis.unix_socket_path: $FLEET/redis/sock" 'redis.password: hidden'
    accept m1
    wait_connected m1
}
teardown_file() {
    there || return 0
    redis_down
    fleet_down
}

redis_up() {
    daemon redis redis-server --port 0 --unixsocket "$FLEET/redis/sock" --dir "$FLEET/redis" --requirepass hidden --appendonly yes --appendfsync always
    until_true 10 redis ping
}
redis_down() {
    kill "$(<"$FLEET/pids/redis")"
    until_true 10 test -e "$FLEET/pids/redis.rc"
}
redis() { REDISCLI_AUTH=hidden redis-cli -s "$FLEET/redis/sock" "$@"; }
redis_is() { # WANTED WORD...
    local wanted=$1
    shift
    [ "$(redis "$@")" = "$wanted" ]
}
last_jid() { redis get "m1:$1"; }
shown() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

@test "ext_job_cache: the minion stores its return, the master the job, under Salt's keys" {
    salt m1 test.arg a k=ü --metadata='{x: 1}' >/dev/null
    until_true 20 eval '[ -n "$(last_jid test.arg)" ]'
    jid=$(last_jid test.arg)
    until_true 20 redis_is 1 exists "load:$jid"
    [ "$(redis hget "ret:$jid" m1 | shown '[d["id"], d["fun"], d["return"]["args"], d["return"]["kwargs"]["k"], d["retcode"], d["success"]]')" = \
        "['m1', 'test.arg', ['a'], 'ü', 0, True]" ]
    redis hget "ret:$jid" m1 | grep -q '"fun": "test.arg"'
    [ "$(redis get "load:$jid" | shown '[d["fun"], d["tgt"], d["tgt_type"], d["jid"] == "'"$jid"'", d["kwargs"]["metadata"], d["user"] != ""]')" = \
        "['test.arg', 'm1', 'glob', True, {'x': 1}, True]" ]
    [ "$(redis smembers minions)" = m1 ]
    [ "$(redis ttl "ret:$jid")" -gt 86000 ]
    [ "$(redis ttl "load:$jid")" -gt 86000 ]
}

@test "the runner jobs reads it" {
    salt m1 test.echo hello --return=redis >/dev/null
    until_true 20 eval '[ -n "$(last_jid test.echo)" ]'
    jid=$(last_jid test.echo)
    until_true 20 redis_is 1 exists "load:$jid"
    [ "$(salt-run jobs.lookup_jid "$jid" --out=json | shown 'd["m1"]')" = hello ]
    [ "$(salt-run jobs.list_job "$jid" --out=json | shown '[d["Function"], d["Arguments"], d["Target"], d["Result"]["m1"]["return"]]')" = \
        "['test.echo', ['hello'], 'm1', 'hello']" ]
    [ "$(salt-run jobs.list_jobs search_function=test.echo --out=json | shown '[[v["Function"] for v in d.values()], "'"$jid"'" in d]')" = "[['test.echo'], True]" ]
    # What somebody else has stored is found, too.
    redis hset ret:20200101000000000001 web '{"id": "web", "return": 7, "retcode": 0, "success": true, "fun": "x.y", "jid": "20200101000000000001"}' >/dev/null
    redis set load:20200101000000000001 '{"fun": "x.y", "arg": [1], "tgt": "*", "tgt_type": "glob", "jid": "20200101000000000001"}' >/dev/null
    [ "$(salt-run jobs.lookup_jid 20200101000000000001 --out=json | shown d)" = "{'web': 7}" ]
}

# As Salt's runner answers of the same keys; a return that is false is told as such, which Salt leaves out.
@test "the runner jobs tells all that the store has of a job" {
    redis hset ret:20200101000000000002 web '{"id": "web", "return": 7, "fun": "x.z", "fun_args": [1], "jid": "20200101000000000002", "user": "jo"}' \
        db '{"id": "db", "return": false, "fun": "x.z", "jid": "20200101000000000002"}' >/dev/null
    redis set load:20200101000000000002 '{"fun": "x.z", "arg": [1], "tgt": ["web", "db"], "tgt_type": "list", "jid": "20200101000000000002"}' >/dev/null
    for fun in 'list_job' 'print_job'; do
        [ "$(salt-run jobs.$fun 20200101000000000002 --out=json | shown 'sorted((d if "Result" in d else d["20200101000000000002"])["Result"]["web"].items())')" = \
            "[('fun', 'x.z'), ('fun_args', [1]), ('id', 'web'), ('jid', '20200101000000000002'), ('return', 7), ('user', 'jo')]" ]
    done
    [ "$(salt-run jobs.exit_success 20200101000000000002 --out=json | shown 'sorted(d.items())')" = "[('db', False), ('web', True)]" ]
    [ "$(salt-run jobs.list_jobs search_target='w*' --out=json | shown 'list(d)')" = "['20200101000000000002']" ]
    [ "$(salt-run jobs.last_run function='x.*' --out=json | shown '[list(d), d["20200101000000000002"]["Target"]]')" = \
        "[['20200101000000000002'], ['web', 'db']]" ]
    [ "$(salt-run jobs.last_run function=nosuch.fun --out=newline_values_only)" = False ]
}

@test "the server is away and comes back: no job is missing" {
    redis_down
    rm -f "$FLEET/redis/sock"
    [ "$(salt m1 test.echo away --out=newline_values_only)" = away ]
    until_log "$FLEET/log/m1" 'returner redis: Redis: '
    for i in 1 2 3; do salt m1 test.echo "$i" >/dev/null; done
    ask '{"op": "fire", "kept": true, "tag": "test/kept", "data": {}}' # all before it is on the disk
    kill -9 "$(<"$FLEET/pids/master")"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1
    redis_up
    until_true 60 eval '[ "$(redis --scan --pattern "load:*" | wc -l)" -ge 7 ]'
    salt-run jobs.list_jobs search_function=test.echo --out=json | shown 'sorted(str(v["Arguments"][0]) for v in d.values())' |
        grep -qF "['1', '2', '3', 'away', 'hello']"
}

@test "a wrong password is an error that shows no password; event_return is refused as in Salt" {
    salt m1 test.echo x --return=redis --return_kwargs='{password: wrongpass}' >/dev/null
    until_log "$FLEET/log/m1" 'returner redis: Redis: WRONGPASS'
    grep -q 'hidden' "$FLEET/log/m1" && false
    grep -q 'hidden' "$FLEET/log/master" && false
    true
}

@test "a minion with the id ret or load, and a function that is a jid, spoil no job" {
    jid=20260101000000000007
    redis hset "ret:$jid" m1 '{"id": "m1", "return": 7, "fun": "x.y", "jid": "'$jid'"}' >/dev/null
    redis set "load:$jid" '{"fun": "x.y", "arg": [], "tgt": "*", "tgt_type": "glob", "jid": "'$jid'"}' >/dev/null
    redis set load:test.ping 20260101000000000008 >/dev/null # as Salt's own returner does for a minion load
    {
        for id in ret load; do
            echo '["returner", {"id": "'$id'", "jid": "20260101000000000009", "fun": "'$jid'", "return": 1}]'
            echo '["returner", {"id": "'$id'", "jid": "20260101000000000009", "fun": "test.ping", "return": 1}]'
        done
        printf '%s\n' '["get_jid", "'$jid'"]' '["get_load", "'$jid'"]' '["get_jids"]' '["get_fun", "test.ping"]' '["clean_old_jobs"]'
    } | "$BUILD/tests/unit/plugins/test_returner_cases" redis "{\"redis\": {\"unix_socket_path\": \"$FLEET/redis/sock\", \"password\": \"hidden\"}}" >"$FLEET/said"
    [ "$(sed -n 5p "$FLEET/said")" = '{"m1": {"fun": "x.y", "id": "m1", "jid": "'$jid'", "return": 7}}' ]
    [ "$(sed -n 6p "$FLEET/said" | shown 'd["fun"]')" = x.y ]
    [ "$(sed -n 7p "$FLEET/said" | shown '"'$jid'" in d, "test.ping" in d')" = '(True, False)' ]
    [ "$(sed -n 8p "$FLEET/said")" = '{}' ]
    [ "$(redis type "ret:$jid") $(redis get load:test.ping)" = 'hash 20260101000000000008' ]
}

# Salt 3006.0's own returner was called with calls.jsonl: redis.rows are the keys that it wrote, redis.returns what it read.
@test "keys and what is read are those of Salt's own returner" {
    cases=$HALITE_SRC/tests/cases/returner
    redis flushall >/dev/null
    grep -v event_return "$cases/calls.jsonl" |
        "$BUILD/tests/unit/plugins/test_returner_cases" redis "{\"redis\": {\"unix_socket_path\": \"$FLEET/redis/sock\", \"password\": \"hidden\"}}" >"$FLEET/said"
    diff "$cases/redis.returns" <(tail -n +4 "$FLEET/said" | sed 's/\["m2", "m1"\]/["m1", "m2"]/')
    for key in $(redis --scan | sort); do
        echo "== $key"
        redis type "$key"
        case $key in
        ret:*) for id in m1 m2; do echo "$id" && redis hget "$key" "$id"; done ;;
        minions) redis smembers minions | sort ;;
        *) redis get "$key" ;;
        esac
    done >"$FLEET/keys"
    diff "$cases/redis.rows" "$FLEET/keys"
}
