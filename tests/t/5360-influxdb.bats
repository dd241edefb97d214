#!/usr/bin/env bats
# 5360-influxdb.bats - returner influxdb: points are those of Salt 3006.0's own (tests/cases/returner/influxdb.posts), but for their
# times; a real server takes each once, and the runner jobs reads them.

bats_require_minimum_version 1.5.0
load lib

there() { command -v influxd >/dev/null; }
setup_file() {
    fleet_new
    cat >"$FLEET/server.py" <<'PY'
import http.server, json, re, signal, sys

signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))


class Posts(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        body, times = re.subn(r" \d{19}\n$", "\n", body)
        assert times == 1
        with open(sys.argv[2], "a") as out:
            out.write(json.dumps({"path": self.path, "auth": self.headers["Authorization"], "body": body}, sort_keys=True, ensure_ascii=False) + "\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Posts).serve_forever()
PY
    export FAKE=$PORT
    daemon server python3 "$FLEET/server.py" "$FAKE" "$FLEET/posts"
    until_true 10 eval 'echo > "/dev/tcp/127.0.0.1/$FAKE"'
    fleet_ports
    export REAL=$PORT
    there || return 0
    mkdir "$FLEET/influx"
    cat >"$FLEET/influx/conf" <<END
reporting-disabled = true
bind-address = "127.0.0.1:$((REAL + 1))"
[meta]
  dir = "$FLEET/influx/meta"
[data]
  dir = "$FLEET/influx/data"
  wal-dir = "$FLEET/influx/wal"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:$REAL"
  log-enabled = false
[monitor]
  store-enabled = false
END
    daemon influx influxd -config "$FLEET/influx/conf"
    until_true 20 query 'CREATE DATABASE salt'
}
teardown_file() {
    if there; then
        kill "$(<"$FLEET/pids/influx")"
        until_true 10 test -e "$FLEET/pids/influx.rc"
    fi
    fleet_down
}

query() { curl -sf --noproxy '*' "http://127.0.0.1:$REAL/query" --data-urlencode "db=salt" --data-urlencode "q=$1"; }
call() { # PORT <CALLS
    "$BUILD/tests/unit/plugins/test_returner_cases" influxdb '{"influxdb": {"host": "127.0.0.1", "port": '"$1"', "db": "salt", "user": "u", "password": "p"}}'
}
counted() { query "select count(full_ret) from returns" | python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][0].get("series", [{"values": [[0, 0]]}])[0]["values"][0][1])'; }
counted_is() { [ "$(counted)" = "$1" ]; }

@test "points are those of Salt's own returner" {
    call "$FAKE" <"$HALITE_SRC/tests/cases/returner/points.jsonl"
    diff "$HALITE_SRC/tests/cases/returner/influxdb.posts" "$FLEET/posts"
}

@test "a real server gives back what was stored, once though it came twice; hostile ids stay values" {
    there || skip "influxd is not installed"
    call "$REAL" <"$HALITE_SRC/tests/cases/returner/points.jsonl"
    call "$REAL" <"$HALITE_SRC/tests/cases/returner/points.jsonl"
    counted_is 2
    jid=20261126100000000001
    printf '%s\n' '["get_load", "'$jid'"]' '["get_jid", "'$jid'"]' '["get_fun", "test.arg"]' '["get_jids"]' '["get_minions"]' \
        '["get_jid", "x'"'"' or jid != '"'"'"]' | call "$REAL" >"$FLEET/said"
    python3 - "$FLEET/said" <<'PY'
import json, sys

load, returns, fun, jids, minions, none = map(json.loads, open(sys.argv[1]))
assert load["fun"] == "test.arg" and load["arg"][0] == "ü", load
assert returns["m1"]["return"] == {"a": [1, 2.5, None, True, 'ü"x\\y\nz, =']}, returns
assert returns["m,2 ="]["return"] == "no" and returns["m,2 ="]["retcode"] == 1, returns
assert fun == returns, fun
assert jids["20261126100000000001"]["Function"] == "test.arg", jids
assert sorted(minions) == ["m,2 =", "m1"], minions
assert none == {}, none
PY
}

@test "master_job_cache: a follower stores jobs and returns, also those of a time without the server; the runner jobs reads them" {
    there || skip "influxd is not installed"
    fleet_ports
    start_master 'master_job_cache: influxdb' "influxdb: {host: 127.0.0.1, port: $REAL, db: other}"
    start_minion m1
    accept m1
    wait_connected m1
    salt m1 test.echo kept >/dev/null
    until_log "$FLEET/log/master" 'follower master_job_cache.influxdb: http://127.0.0.1:[0-9]* answers 404'
    query 'CREATE DATABASE other'
    until_true 60 eval '[ "$(salt-run jobs.list_jobs search_function=test.echo --out=json | grep -c "\"Function\": \"test.echo\"")" = 1 ]'
    jid=$(salt-run jobs.list_jobs search_function=test.echo --out=json | grep -o '[0-9]\{20\}' | head -1)
    until_true 20 eval 'curl -sf --noproxy "*" -G "http://127.0.0.1:$REAL/query" --data-urlencode db=other --data-urlencode "q=select * from returns" | grep -q kept'
    [ "$(salt-run jobs.lookup_jid "$jid" --out=json | tr -d ' \n')" = '{"m1":"kept"}' ]
}
