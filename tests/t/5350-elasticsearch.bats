#!/usr/bin/env bats
# 5350-elasticsearch.bats - documents as Salt 3006.0's own returner made them (tests/cases/returner/elasticsearch*.documents), against a
# server of the test's own that speaks as much of the interface; a repeat writes the same document.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    cat >"$FLEET/server.py" <<'PY'
import base64, http.server, json, signal, sys

signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))
indices, documents = {}, {}


class Server(http.server.BaseHTTPRequestHandler):
    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def body(self):
        assert self.headers["Authorization"] == "Basic " + base64.b64encode(b"salt:hidden").decode()
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def do_GET(self):
        self.body()
        parts = self.path.strip("/").split("/")
        if parts == ["all"]:
            return self.answer(200, [indices, list(documents.values())])
        if len(parts) == 1:
            return self.answer(200 if parts[0] in indices else 404, {})
        found = documents.get(parts[0] + " " + parts[2])
        self.answer(200 if found else 404, {"_source": found["doc"]} if found else {"found": False})

    def do_PUT(self):
        name, definition = self.path.strip("/"), json.loads(self.body() or "null")
        if not definition:  # /proxy and /direct: answers that are no Elasticsearch's, until the other
            indices.pop("proxy", None)
            indices.update({"proxy": ""} if name == "proxy" else {})
            return self.answer(200, {})
        assert definition["settings"] == {"number_of_shards": 1, "number_of_replicas": 0}
        if len(name) > 255 or "full" in name:  # names, and the shards of a cluster, have limits
            return self.answer(400, {"error": {"type": "invalid_index_name_exception" if len(name) > 255 else "validation_exception"}})
        for alias in definition["aliases"]:
            indices[alias] = name
        self.answer(200, {"acknowledged": True})

    def do_POST(self):
        assert self.path == "/_bulk"
        body = self.body()
        if len(body) > 40000:  # http.max_content_length
            return self.answer(413, {})
        lines = body.splitlines()
        said = []
        if "proxy" in indices:
            self.send_response(200)
            self.end_headers()
            return self.wfile.write(b"<html>log in</html>")
        for action, doc in zip(lines[::2], lines[1::2]):
            where, doc = json.loads(action)["index"], json.loads(doc)
            assert where["_index"] in indices and where["_index"].split("-20")[0] + "-v1" != "", where
            stamp = doc.pop("@timestamp", None)
            assert stamp is None or stamp.endswith("+00:00")
            key = where.get("_id", "none %d" % len(documents))
            asked = doc["data"].get("refused") if isinstance(doc.get("data"), dict) else None
            refused = {"status": asked, "error": {"type": "as asked"}} if asked else {"status": 201}
            said.append({"index": dict(refused, _index=where["_index"], _id=key)})
            if "error" in refused:
                continue
            documents[where["_index"] + " " + key] = {"index": where["_index"], "doc": doc}
        self.answer(200, {"errors": any("error" in x["index"] for x in said), "items": said})

    def log_message(self, *args):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Server).serve_forever()
PY
    serve
    start_master 'event_return: elasticsearch' 'master_job_cache: elasticsearch' \
        "elasticsearch: {host: '127.0.0.1:$((PORT + 3))', username: salt, password: hidden}" 'event_return_whitelist: ["test/*"]'
    start_minion m1
    accept m1
    wait_connected m1
}
teardown_file() { fleet_down; }

serve() {
    daemon server python3 "$FLEET/server.py" $((PORT + 3))
    until_true 10 all
}
all() { curl -sfu salt:hidden "http://127.0.0.1:$((PORT + 3))/all"; }
shown() { all | python3 -c 'import json, sys; i, d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
shows() { [ "$(shown "$1")" = "$2" ]; }
documents() { # FILE MORE
    local server="\"host\": \"127.0.0.1:$((PORT + 3))\", \"username\": \"salt\", \"password\": \"hidden\""
    stop server
    serve
    "$BUILD/tests/unit/plugins/test_returner_cases" elasticsearch "{\"id\": \"h_master\", \"elasticsearch\": {$server$2}}" \
        <"$HALITE_SRC/tests/cases/returner/documents.jsonl"
    all | python3 -c 'import json, sys; print(*[json.dumps(d, sort_keys=True, ensure_ascii=False) for d in json.load(sys.stdin)[1]], sep="\n")' >"$FLEET/documents"
    diff "$HALITE_SRC/tests/cases/returner/$1" "$FLEET/documents"
}

@test "followers store events and jobs, each once, also when they are killed" {
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/1", "data": {"n": 1}}, {"tag": "test/2", "data": {"n": 2}}]}'
    salt m1 test.echo hello >/dev/null
    until_true 20 shows 'sorted(x["doc"]["data"]["n"] for x in d if x["index"] == "salt-master-event-cache")' '[1, 2]'
    until_true 20 shows '[x["doc"]["data"] for x in d if x["index"] == "salt-test_echo"]' "['hello']"
    shows '[x["doc"]["load"]["fun"] for x in d if x["index"] == "salt-master-job-cache"]' "['test.echo']"
    # As if the follower had been killed between the answer and its file.
    for f in "$FLEET"/master/var/cache/salt/master/followers/*.json; do echo '{"seq": 1}' >"$f.old"; done
    stop master
    for f in "$FLEET"/master/var/cache/salt/master/followers/*.json; do mv "$f.old" "$f"; done
    before=$(shown 'len(d)')
    start_master
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/3", "data": {"n": 3}}]}'
    until_true 20 shows 'sorted(x["doc"]["data"]["n"] for x in d if x["index"] == "salt-master-event-cache")' '[1, 2, 3]'
    until_true 20 shows 'len(d)' $((before + 1))
}

@test "a function whose name is none of an index is left out, and holds up no other" {
    salt m1 'Test.no/_search?x' >/dev/null 2>&1 || :
    salt m1 'master-event-cache' >/dev/null 2>&1 || :
    salt m1 test.arg later >/dev/null
    until_true 20 shows '[x["doc"]["data"]["args"] for x in d if x["index"] == "salt-test_arg"]' "[['later']]"
    until_log "$FLEET/log/master" "left out: the return of 'm1' in job [0-9]*: elasticsearch: no index can have the name that the function 'Test.no/_search"
    until_log "$FLEET/log/master" "no index can have the name that the function 'master-event-cache"
    [ "$(shown '[x for x in i if "no" in x]')" = '[]' ]
    [ "$(shown '[x for x in d if x["index"] == "salt-master-event-cache" and "retcode" in x["doc"]]')" = '[]' ]
}

# goes_on WORD: the follower stores what comes after it.
goes_on() {
    salt m1 test.arg "$1" >/dev/null
    until_true 20 shows '["'"$1"'"] in [x["doc"]["data"]["args"] for x in d if x["index"] == "salt-test_arg"]' True
}

@test "a function for which the server makes no index, as its name is too long or there are too many, is left out" {
    salt m1 "test.$(printf 'x%.0s' {1..245})" >/dev/null 2>&1 || :
    goes_on long
    salt m1 test.full >/dev/null 2>&1 || :
    goes_on full
    until_log "$FLEET/log/master" "left out: the return of 'm1' in job [0-9]*: Elasticsearch: salt-test_full-v1: the server answers 400"
}

@test "events that are too large together are stored one by one; one that is too large alone is left out" {
    python3 - >"$FLEET/large" <<'PY'
import json
print(json.dumps({"op": "fire", "kept": True, "events": [{"tag": "test/l", "data": {"n": 10 + n, "x": "x" * k}}
    for n, k in enumerate((25000, 25000, 45000, 10))]}))
PY
    ask "$(<"$FLEET/large")" >/dev/null
    until_true 20 shows 'sorted(x["doc"]["data"]["n"] for x in d if x["index"] == "salt-master-event-cache" and 10 <= x["doc"]["data"]["n"] < 20)' '[10, 11, 13]'
    until_log "$FLEET/log/master" 'elasticsearch: left out, as the server refuses it: Elasticsearch: _bulk: the server answers 413'
}

@test "a document that the server refuses is left out, and those after it are stored" {
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/r", "data": {"n": 20, "refused": 400}}, {"tag": "test/r", "data": {"n": 21}}]}'
    until_true 20 shows 'sorted(x["doc"]["data"].get("n", 0) for x in d if x["index"] == "salt-master-event-cache" and x["doc"]["data"].get("n", 0) >= 20)' '[21]'
    until_log "$FLEET/log/master" 'elasticsearch: left out, as the server refuses it: .* of salt-master-event-cache: .*as asked'
}

@test "an answer that is no Elasticsearch's stores nothing: the events come again" {
    curl -sfu salt:hidden -X PUT "http://127.0.0.1:$((PORT + 3))/proxy"
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/p", "data": {"n": 30}}]}'
    until_log "$FLEET/log/master" 'follower event_return.elasticsearch: Elasticsearch: _bulk: the server answers 200: <html>log in'
    curl -sfu salt:hidden -X PUT "http://127.0.0.1:$((PORT + 3))/direct"
    until_true 20 shows 'sorted(x["doc"]["data"]["n"] for x in d if x["index"] == "salt-master-event-cache" and x["doc"]["data"]["n"] >= 30)' '[30]'
}

@test "documents are those of Salt's own returner" {
    documents elasticsearch.documents ''
    documents elasticsearch-states.documents ', "states_count": true, "states_order_output": true, "states_single_index": true'
}
