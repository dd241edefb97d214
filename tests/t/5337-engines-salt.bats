#!/usr/bin/env bats
# 5337-engines-salt.bats - an engine of Salt's own, docker_events, through the host of Python: on master and minion, against a fake
# Docker on a Unix socket; its end, and the end of what it listens to.

bats_require_minimum_version 1.5.0
load lib

python() { "${HALITE_SALT_PYTHON:-/usr/bin/python3}" "$@"; }
setup() {
    [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no folder with Salt's package"
    python -c 'import docker' 2>/dev/null || skip "python3-docker is not installed"
}
setup_file() {
    [ -n "${HALITE_SALT:-}" ] || return 0
    fleet_new
    # Says one event to each that asks, and one more for each line that is put into a file; at "end" it hangs up.
    cat >"$FLEET/docker.py" <<'PY'
import http.server, json, os, signal, socketserver, sys, time

signal.signal(signal.SIGTERM, lambda *args: os._exit(0))


class Events(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        if self.path.endswith("/version"):
            text = json.dumps({"ApiVersion": "1.41"}).encode()
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        said = 0
        self.say({"Type": "container", "Action": "start", "status": "start", "filters": "filters" in self.path})
        while True:
            lines = open(sys.argv[2]).read().splitlines() if os.path.exists(sys.argv[2]) else []
            for line in lines[said:]:
                if line == "end":
                    os.unlink(sys.argv[2])
                    self.wfile.write(b"0\r\n\r\n")
                    return
                self.say({"Type": "container", "Action": line, "status": line})
            said = len(lines)
            time.sleep(0.05)

    def say(self, event):
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def address_string(self):
        return "docker"

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


Server(sys.argv[1], Events).serve_forever()
PY
    daemon docker python3 "$FLEET/docker.py" "$FLEET/docker.sock" "$FLEET/lines"
    until_true 10 test -S "$FLEET/docker.sock"
    local more=("python_salt: $HALITE_SALT" "python: ${HALITE_SALT_PYTHON:-/usr/bin/python3}" 'engines:')
    start_master "${more[@]}" "  - docker_events: {docker_url: 'unix://$FLEET/docker.sock', filters: {event: [start, die]}}"
    start_minion m1 "${more[@]}" "  - docker_events: {docker_url: 'unix://$FLEET/docker.sock', tag: minion/docker}"
    accept m1
    wait_connected m1
}
teardown_file() {
    [ -n "${HALITE_SALT:-}" ] || return 0
    rm -f "$FLEET/docker.sock"
    fleet_down
}
seen() { salt-run state.event "$1" count=1 since=10m timeout=30; }

@test "events of the master's and of the minion's engine have Salt's tags and data" {
    seen salt/engines/docker_events/start | grep -q '"filters": true'
    until_true 20 eval 'echo die >>"$FLEET/lines"; salt-run state.event minion/docker/die count=1 since=10m timeout=2 | grep -q "\"id\": \"m1\""'
    seen salt/engines/docker_events/die | grep -q '"Action": "die"'
}

@test "an engine that returns is started again, and the log says how it ended" {
    echo end >>"$FLEET/lines"
    until_true 20 grep -qE 'Engine.docker_events. has ended .exit code 0.; it is started again in 1 s' "$FLEET/log/master" "$FLEET/log/m1"
    until_true 20 eval '[ "$(salt-run state.event "*/docker*/start" count=3 since=10m timeout=5 | grep -c Action)" = 3 ]'
}
