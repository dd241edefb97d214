#!/usr/bin/env bats
# 5340-webhooks.bats - returners that post to web servers: what they send is what Salt 3006.0's own sent (tests/cases/returner/NAME.posts).

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    cat >"$FLEET/server.py" <<'PY'
import http.server, json, signal, sys, time, urllib.parse

signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))


taken = [0]


class Posts(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        post = {"path": self.path}
        if self.headers["Authorization"]:
            post["auth"] = self.headers["Authorization"]
        form = self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        post["payload"] = json.loads(urllib.parse.parse_qs(text)["payload"][0] if form else text)
        if not form:
            assert post["payload"].pop("time").isdigit() and post["payload"].pop("host")
        status = 500 if "fail" in self.path else self.slow(text) if "slow" in self.path else 200
        with open(sys.argv[2], "a") as out:
            if status in (200, 500):
                out.write(json.dumps(post, sort_keys=True, ensure_ascii=False) + "\n")
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"ok")

    # Takes three a second, and nothing bad.
    def slow(self, text):
        if "bad" in text or time.monotonic() - taken[0] < 0.3:
            return 400 if "bad" in text else 429
        taken[0] = time.monotonic()
        return 200

    def log_message(self, *args):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Posts).serve_forever()
PY
    export SERVER=http://127.0.0.1:$PORT
    daemon server python3 "$FLEET/server.py" "$PORT" "$FLEET/posts"
    until_true 10 eval 'echo > "/dev/tcp/127.0.0.1/$PORT"'
}
teardown_file() { fleet_down; }
setup() { rm -f "$FLEET/posts"; }

posted() { # NAME OPTS CALLS
    "$BUILD/tests/unit/plugins/test_returner_cases" "$1" "$2" <"$HALITE_SRC/tests/cases/returner/$3"
    diff "$HALITE_SRC/tests/cases/returner/$1.posts" "$FLEET/posts"
}

@test "slack_webhook: messages of returns and of state runs" {
    posted slack_webhook '{"slack_webhook": {"webhook": "'"$SERVER"'/T/B/x", "show_tasks": true}, "grains": {"id": "m1", "localhost": "m1.example"}}' posts.jsonl
}

@test "slack_webhook: a state that failed and changed something is in both counts, and the unchanged are those in none" {
    one='"__id__": "a", "__sls__": "s", "comment": "", "name": "a"'
    echo '["returner", {"id": "m1", "jid": "20261126100000000009", "fun": "state.apply", "fun_args": [], "retcode": 2, "success": false, "return": {"cmd_|-a_|-a_|-run": {'"$one"', "__run_num__": 70, "changes": {"pid": 1}, "result": false}, "cmd_|-b_|-b_|-run": {'"$one"', "__run_num__": 9, "changes": {}, "result": true}}}]' |
        "$BUILD/tests/unit/plugins/test_returner_cases" slack_webhook '{"slack_webhook": {"webhook": "'"$SERVER"'/T/B/x"}}'
    [ "$(grep -oE '(Unchanged|Changed|Failed): [0-9]+' "$FLEET/posts" | tr '\n' ' ')" = 'Unchanged: 1 Changed: 1 Failed: 1 ' ]
}

@test "mattermost: messages of returns and events" {
    posted mattermost '{"mattermost": {"hook": "abc", "api_url": "'"$SERVER"'", "channel": "#ops"}}' posts-events.jsonl
}

@test "splunk: documents of returns and events" {
    posted splunk '{"splunk_http_forwarder": {"token": "t0", "url": "'"$SERVER"'/services/collector/event", "index": "main", "sourcetype": "salt"}}' posts-events.jsonl
}

@test "a server that refuses is an error that shows no hook" {
    run "$BUILD/tests/unit/plugins/test_returner_cases" slack_webhook '{"slack_webhook": {"webhook": "'"$SERVER"'/fail/secret"}}' <"$HALITE_SRC/tests/cases/returner/posts.jsonl"
    [ "$status" -eq 1 ]
    [[ $output == *"$SERVER answers 500: ok"* && $output != *secret* ]]
    run "$BUILD/tests/unit/plugins/test_returner_cases" mattermost '{}' <"$HALITE_SRC/tests/cases/returner/posts.jsonl"
    [[ $output == *'mattermost.hook not defined in salt config'* ]]
}

@test "a server that takes few events a second gets each once; one that it refuses is left out" {
    server=$PORT
    fleet_ports
    start_master 'event_return: splunk' 'event_return_whitelist: ["test/*"]' "splunk_http_forwarder: {token: t0, url: 'http://127.0.0.1:$server/slow', index: main, sourcetype: salt}"
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/1", "data": {"n": 1}}, {"tag": "test/2", "data": {"n": 2}}, {"tag": "test/3", "data": {"n": 3}}, {"tag": "test/bad", "data": {"n": "MARK-4"}}, {"tag": "test/5", "data": {"n": 5}}]}'
    until_true 60 grep -q test/5 "$FLEET/posts"
    [ "$(grep -o 'test/[0-9a-z]*' "$FLEET/posts" | tr '\n' ' ')" = 'test/1 test/2 test/3 test/5 ' ]
    until_log "$FLEET/log/master" 'follower event_return.splunk: left out, as the target refuses it: event [0-9]* .test/bad.'
    not grep -rq MARK-4 "$FLEET/log"
}
