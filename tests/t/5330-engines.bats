#!/usr/bin/env bats
# 5330-engines.bats - engines of master and minion: script, stalekey, http_logstash, and files in Python; they are started again
# when they end, and end with their daemon.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/more/engines"
    cat >"$FLEET/more/engines/tick.py" <<'PY'
import os
import time

import salt.utils.event


def start(word, every=0.1):
    """Fire an event now and then, as Salt's documentation has it."""
    if __opts__["__role"] == "master":
        bus = salt.utils.event.get_master_event(__opts__, __opts__["sock_dir"], listen=False)
        fire = lambda tag, data: bus.fire_event(data, tag)
    else:
        fire = __salt__["event.send"]
    while True:
        fire("test/tick/" + word, {"pid": os.getpid()})
        time.sleep(every)
PY
    # A server that writes down what is posted to it.
    cat >"$FLEET/server.py" <<'PY'
import http.server, signal, sys

signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))


class Posts(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[2], "ab") as out:
            out.write(text + b"\n")
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Posts).serve_forever()
PY
    daemon server python3 "$FLEET/server.py" $((PORT + 3)) "$FLEET/posts"
    printf '{"tag": "test/script", "data": {"n": 1}}\nno json\n{"data": 2}\n{"tag": "test/bare"}\n' >"$FLEET/lines"
    start_master "module_dirs: [$FLEET/more]" 'engines:' "  - script: {cmd: cat $FLEET/lines, interval: 0.2, onchange: True}" \
        "  - other: {engine_module: script, cmd: cat '$FLEET/more lines', interval: 0.2, output: yaml}" \
        '  - tick: {word: master}' \
        "  - http_logstash: {url: 'http://127.0.0.1:$((PORT + 3))/x', tags: ['test/post/*'], funs: [test.ping]}" \
        '  - stalekey: {interval: 0.2, expire: 2}'
    start_minion m1 "module_dirs: [$FLEET/more]" 'engines:' '  tick: {word: minion}' \
        "  script: {cmd: cat $FLEET/lines, interval: 0.2, onchange: True}"
    accept m1
    wait_connected m1
}
teardown_file() { fleet_down; }

seen() { # TAG: an event of it comes, or is in the journal
    salt-run state.event "$1" count=1 since=10m timeout=20
}
engine_pid() { ask '{"op": "status"}' | python3 -c 'import json, sys; print(json.load(sys.stdin)["engines"][sys.argv[1]]["pid"])' "Engine($1)"; }

@test "script: lines with a tag are events, of master and minion; onchange fires each once" {
    seen test/script | grep -q '"n": 1'
    seen test/bare | grep -q '{'
    printf 'tag: test/yaml\n' >"$FLEET/more lines"
    seen test/yaml >/dev/null
    until_log "$FLEET/log/master" "engine script: the script's line"
    seen test/script | grep -q '"id": "m1"' || salt-run state.event test/script count=2 since=10m timeout=20 | grep -q '"id": "m1"'
    [ "$(salt-run state.event test/script count=9 since=10m timeout=1 2>/dev/null | wc -l)" = 2 ]
}

@test "script: a line without an end takes no memory, and is left out; the one after it counts" {
    { head -c 50000000 /dev/zero | tr '\0' x && printf '\n{"tag": "test/yaml/long"}'; } >"$FLEET/more lines"
    seen test/yaml/long >/dev/null
    until_log "$FLEET/log/master" 'engine script: a line of more than 1048576 bytes is left out'
    [ "$(awk '/^VmHWM/ {print $2}' "/proc/$(engine_pid other)/status")" -lt 40000 ]
    printf 'tag: test/yaml\n' >"$FLEET/more lines"
}

@test "engines in Python run on both; one that is killed is started again" {
    seen test/tick/master >/dev/null
    seen test/tick/minion | grep -q '"id": "m1"'
    kill_by engine_pid tick
    pid=$PID
    until_true 20 eval '[ "$(engine_pid tick)" != "$pid" ] && [ "$(engine_pid tick)" != 0 ]'
    seen test/tick/master >/dev/null
    until_log "$FLEET/log/master" 'Engine.tick. has ended .signal 9 .Killed..; it is started again in'
    python=$(seen test/tick/minion | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
    kill -9 "$(awk '{ print $4 }' "/proc/$python/stat")" # the engine, of which that is the host of Python
    until_log "$FLEET/log/m1" 'Engine.tick. has ended .signal 9 .Killed..; it is started again in'
}

@test "http_logstash posts the events of its tags and functions" {
    until_true 20 eval 'salt-run event.send test/post/a "{fun: test.ping, n: 7}" >/dev/null; grep -q "\"n\": 7" "$FLEET/posts"'
    salt-run event.send test/post/b '{fun: other.fun, n: 8}' >/dev/null
    salt-run event.send test/post/c '{n: 9}' >/dev/null
    until_true 20 grep -q '"n": 9' "$FLEET/posts"
    grep -q '"n": 8' "$FLEET/posts" && false
    tail -1 "$FLEET/posts" | python3 -c 'import json, sys; d = json.load(sys.stdin); assert sorted(d) == ["_stamp", "n"], d'
}

@test "stalekey deletes the key of who is gone" {
    start_minion m2
    accept m2
    wait_connected m2
    kill "$(<"$FLEET/pids/m2")"
    until_true 20 test ! -e "$(master_pki minions/m2)"
    [ -e "$(master_pki minions/m1)" ]
}

@test "a reload changes what runs; engines end with their daemon" {
    sed -i '/^  - tick/d' "$MASTER_CONF"
    pid=$(engine_pid tick)
    kill -HUP "$(<"$FLEET/pids/master")"
    until_true 20 pid_gone "$pid"
    until_true 10 eval '[ "$(engine_pid other)" != 0 ]' # started by the first tick after the reload
    pid=$(engine_pid other)
    kill -9 "$(<"$FLEET/pids/master")"
    until_true 10 test -e "$FLEET/pids/master.rc"
    until_true 20 pid_gone "$pid"
    start_master
}

@test "schedule in the master's configuration: runners, with their returners; it begins no second one while the first runs" {
    printf '%s\n' 'schedule:' "  note: {function: event.send, args: [test/scheduled], kwargs: {data: {n: 5}}, seconds: 1, returner: rawfile_json}" \
        '  long: {function: test.sleep, args: [600], seconds: 1}' '  bad: {function: nosuch.runner, seconds: 3600, run_on_start: True}' \
        "rawfile_json.filename: $FLEET/scheduled" >>"$MASTER_CONF"
    kill -HUP "$(<"$FLEET/pids/master")"
    seen test/scheduled | grep -q '"n": 5'
    until_true 20 test -s "$FLEET/scheduled"
    head -1 "$FLEET/scheduled" | python3 -c 'import json, sys; d = json.load(sys.stdin); assert [d["fun"], d["schedule"], d["success"]] == ["event.send", "note", True] and d["id"].endswith("_master"), d'
    until_log "$FLEET/log/master" "schedule: bad"
    until_true 20 eval '[ "$(wc -l <"$FLEET/scheduled")" -ge 3 ]'
    [ "$(salt-run jobs.master --out=json | python3 -c 'import json, sys; print(sum(r["fun"] == "test.sleep" for r in json.load(sys.stdin)))')" = 1 ]
}

@test "the runner schedule shows the master's schedule and begins a job of it" {
    of() { salt-run "$@" --out=json | python3 -c 'import json, sys; print(json.load(sys.stdin))'; }
    printf '%s\n' '  idle: {function: event.send, args: [test/idle], hours: 5, returner: rawfile_json}' \
        '  never: {function: event.send, args: [test/never], hours: 5, enabled: False}' >"$FLEET/jobs"
    sed -i "/^  note: /r $FLEET/jobs" "$MASTER_CONF"
    kill -HUP "$(<"$FLEET/pids/master")"
    next() { [[ $(of schedule.show_next_fire_time idle) == "{'result': True, 'next_fire_time': '20"* ]]; }
    until_true 20 next
    same_as "$(of schedule.list show_disabled=False | tr -d "{}' ")" <<<'note:function:event.send,args:[test/scheduled],kwargs:data:n:5,seconds:1,returner:rawfile_json,enabled:True,idle:function:event.send,args:[test/idle],hours:5,returner:rawfile_json,enabled:True,long:function:test.sleep,args:[600],seconds:1,enabled:True,bad:function:nosuch.runner,seconds:3600,run_on_start:True,enabled:True'
    [[ $(of schedule.show_next_fire_time) == *"'never': "*"'note': '20"* || $(of schedule.show_next_fire_time) == *"'note': '20"*"'never': "* ]]
    [ "$(of schedule.is_enabled)" = True ]
    [ "$(of schedule.is_enabled never)" = "{'function': 'event.send', 'args': ['test/never'], 'hours': 5, 'enabled': False}" ]
    [[ $(of schedule.job_status idle) == *"'_last_run': None"* ]]
    [ "$(of schedule.run_job idle)" = "{'comment': 'Scheduling Job idle on master.', 'result': True}" ]
    seen test/idle
    until_true 20 eval 'grep -q "\"schedule\": \"idle\"" "$FLEET/scheduled"'
    ran() { [[ $(of schedule.job_status idle) == *"'_last_run': '20"*"'_running': 0"* ]]; }
    until_true 10 ran
    [ "$(of schedule.run_job never)" = "{'comment': 'Job never is disabled.', 'result': True}" ]
    of schedule.run_job never force=True
    seen test/never
    of schedule.run_job long
    until_log "$FLEET/log/master" 'schedule: long is to run now, and can.t'
    run salt-run schedule.job_status nothing
    [[ $status -eq 1 && $output == *"The master's schedule has no job 'nothing'"* ]]
    # No minion may fire that event.
    run salt m1 event.send salt/schedule/run '{name: never}'
    [[ $status -ne 0 && $output == *"the tag salt/schedule/run is the master's"* ]]
}
