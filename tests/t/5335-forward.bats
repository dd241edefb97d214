#!/usr/bin/env bats
# 5335-forward.bats - engines that send events to Logstash and Fluentd: the same bytes as Python's own clients, whose packages Salt's
# engines use; receivers that go away and come back.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    # Keeps what comes: by TCP all bytes of a connection, by UDP a datagram each.
    cat >"$FLEET/sink.py" <<'PY'
import signal, socket, sys, threading

signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))
kind, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def keep(data):
    with open(path, "ab") as out:
        out.write(data)


if kind == "udp":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", port))
        keep(b"")
        while True:
            keep(one.recv(65536) + b"\n")
with socket.create_server(("127.0.0.1", port)) as door:
    keep(b"")

    def read(one):
        while data := one.recv(65536):
            keep(data)
        one.close()

    while True:
        threading.Thread(target=read, args=(door.accept()[0],), daemon=True).start()
PY
    export SINK=$PORT
    sink tcp fluent 0
    sink tcp lines 1
    sink udp grams 2
    fleet_ports
    start_master 'engines:' "  - fluent: {host: 127.0.0.1, port: $SINK, app: here}" \
        "  - logstash: {host: 127.0.0.1, port: $((SINK + 1)), proto: tcp}" \
        "  - grams: {engine_module: logstash, host: localhost, port: $((SINK + 2)), tag: mine}"
}
teardown_file() { fleet_down; }

sink() { # KIND NAME N: one that keeps in a file of that name
    daemon "$2" python3 "$FLEET/sink.py" "$1" $((SINK + $3)) "$FLEET/$2"
    until_true 10 test -e "$FLEET/$2"
}
fire() { ask '{"op": "fire", "kept": true, "tag": "test/x", "data": '"$1"'}' >/dev/null; }
# Fires until the engine listens: each time another number.
until_seen() { # FILE
    local n=0
    until_true 20 eval 'n=$((n + 1)); fire "{\"warm\": $n}"; grep -qa warm "$FLEET/'"$1"'"'
}

@test "logstash: lines by TCP and datagrams by UDP, with the members of a line of Python's log" {
    until_seen lines
    until_seen grams
    fire '{"id": "m1", "fun": "test.ping", "name": "gone", "message": "gone too", "deep": {"a": ["ü", 1.5, null]}}'
    until_true 20 grep -q test.ping "$FLEET/lines"
    until_true 20 grep -q test.ping "$FLEET/grams"
    python3 - "$FLEET/lines" "$FLEET/grams" <<'PY'
import json, re, socket, sys

for path, message in zip(sys.argv[1:], ("salt/engine/logstash", "mine")):
    one = [d for d in map(json.loads, open(path)) if d.get("fun")][-1]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one.pop("@timestamp"))
    assert one.pop("_stamp")
    assert one == {"@version": "1", "message": message, "host": socket.gethostname(), "path": "salt-engine", "tags": [],
                   "type": "logstash", "level": "INFO", "logger_name": "python-logstash-logger", "id": "m1", "fun": "test.ping",
                   "deep": {"a": ["ü", 1.5, None]}}, one
PY
}

@test "fluent: messages that Python's msgpack reads, byte for byte as it writes them" {
    /usr/bin/python3 -c 'import msgpack' 2>/dev/null || skip "python3-msgpack is not installed"
    until_seen fluent
    numbers='[0, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296, 9223372036854775807, -1, -32, -33, -128, -129, -32768, -32769, -2147483648, -2147483649, 1.5, true, false, null]'
    fire '{"k": "'"$(printf 'x%.0s' {1..31})"'", "l": "'"$(printf 'x%.0s' {1..32})"'", "m": "'"$(printf 'x%.0s' {1..256})"'", "ü": '"$numbers"', "end": "here"}'
    python3 -c 'import json; print(json.dumps({"op": "fire", "kept": True, "tag": "t", "data": {"wide": "y" * 70000, "many": list(range(5000)), "keys": {str(i): i for i in range(20)}, "last": 1}}))' >"$FLEET/large"
    ask "$(cat "$FLEET/large")" >/dev/null
    until_true 20 grep -qa last "$FLEET/fluent"
    /usr/bin/python3 - "$FLEET/fluent" <<'PY'
import sys, time
import msgpack

raw = open(sys.argv[1], "rb").read()
reader = msgpack.Unpacker(raw=False, max_buffer_size=1 << 26)
reader.feed(raw)
messages = list(reader)
assert b"".join(msgpack.packb(tuple(m)) for m in messages) == raw
assert all(m[0] == "saltstack.here" and abs(m[1] - time.time()) < 100 for m in messages)
data = [m[2] for m in messages]
one = next(d for d in data if "end" in d)
assert one["ü"][9] == 2 ** 63 - 1 and one["ü"][18:] == [-2147483649, 1.5, True, False, None]
assert len(next(d for d in data if "wide" in d)["many"]) == 5000
PY
}

@test "a receiver that is away gets what came meanwhile when it is back" {
    until_seen lines
    kill "$(<"$FLEET/pids/lines")"
    until_true 10 test -e "$FLEET/pids/lines.rc"
    fire '{"n": "lost or not"}' # may go into the connection that ends
    until_true 20 eval 'fire "{\"n\": \"more\"}"; grep -q "engine logstash: 127.0.0.1 port $((SINK + 1)): .*; events wait" "$FLEET/log/master"'
    fire '{"n": "waits"}'
    rm -f "$FLEET/lines" "$FLEET/pids/lines.rc"
    sink tcp lines 1
    until_true 40 grep -q '"n": "waits"' "$FLEET/lines"
    until_log "$FLEET/log/master" 'engine logstash: 127.0.0.1 takes events again'
}

@test "a datagram that is too large is left out, and the next one comes" {
    until_seen grams
    python3 -c 'import json; print(json.dumps({"op": "fire", "kept": True, "tag": "t", "data": {"wide": "y" * 70000}}))' >"$FLEET/large"
    ask "$(cat "$FLEET/large")" >/dev/null
    fire '{"n": "after"}'
    until_true 20 grep -q '"n": "after"' "$FLEET/grams"
    until_log "$FLEET/log/master" 'engine logstash: an event of [0-9]* bytes is too large for a datagram'
}
