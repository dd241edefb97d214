#!/usr/bin/env bats
# 5300-followers.bats - event_return and master_job_cache: nothing is lost while the target or the master is away.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/keep" "$FLEET/srv/_returners"
    start_master 'event_return: rawfile_json' "rawfile_json.filename: $FLEET/keep/events" \
        'event_return_whitelist: ["test/*", "salt/job/*"]' 'event_return_blacklist: ["test/secret*"]'
    start_minion m1
    accept m1
    wait_connected m1
}
teardown_file() { fleet_down; }

tags() { python3 -c 'import json, sys; print(*[json.loads(l)["tag"] for l in open(sys.argv[1])], sep="\n")' "$FLEET/keep/events" 2>/dev/null; }
numbers() { # the numbers of test/N, in their order
    tags | sed -n 's|^test/n/||p'
}
fire() { # FROM TO
    local i
    for ((i = $1; i <= $2; i++)); do salt-run event.send "test/n/$i" "{number: $i}" >/dev/null; done
}
has() { numbers | grep -qx "$1"; }
status() { salt-run follower.status --out=json | python3 -c 'import json, sys; d = json.load(sys.stdin)["event_return.rawfile_json"]; print(eval(sys.argv[1]))' "$1"; }
status_is() { [ "$(status "$1")" = "$2" ]; }

@test "events of the lists come in order; jobs and returns among them" {
    salt-run event.send test/secret/a >/dev/null
    salt-run event.send other/a >/dev/null
    fire 1 3
    until_true 10 has 3
    [ "$(numbers | tr '\n' ' ')" = '1 2 3 ' ]
    tags | grep -q secret && false
    tags | grep -q other && false
    salt m1 test.ping >/dev/null
    until_true 10 eval 'tags | grep -q "^salt/job/[0-9]*/ret/m1"'
    head -1 "$FLEET/keep/events" | grep -q '{"tag": "test/n/1", "data": {'
}

@test "while the target is away nothing is lost, and the status and an event say so" {
    salt-run state.event 'salt/follower/*' count=2 since=10m timeout=60 >"$FLEET/told" 3>&- &
    mv "$FLEET/keep" "$FLEET/away"
    fire 4 6
    until_true 10 status_is '"Could not write" in d.get("failed", "")' True
    until_true 20 grep -q 'salt/follower/event_return.rawfile_json/failed' "$FLEET/told"
    mv "$FLEET/away" "$FLEET/keep"
    until_true 40 has 6
    until_true 20 grep -q 'salt/follower/event_return.rawfile_json/recovered' "$FLEET/told"
    [ "$(numbers | tr '\n' ' ')" = '1 2 3 4 5 6 ' ]
}

@test "a killed follower goes on where it was; so does one of a killed master" {
    fire 7 7
    until_true 10 has 7
    kill_by status 'd["pid"]'
    fire 8 9
    until_true 10 has 9
    [ "$(status 'd["starts"]')" = 2 ]
    kill -9 "$(<"$FLEET/pids/master")"
    until_true 10 test -e "$FLEET/pids/master.rc"
    until_true 5 eval '! pgrep -f "salt-follower.*$FLEET"'
    start_master
    fire 10 11
    until_true 20 has 11
    [ "$(numbers | sort -nu | tr '\n' ' ')" = '1 2 3 4 5 6 7 8 9 10 11 ' ]
}

# unwanted N: so many events that no follower wants, in one request.
unwanted() {
    python3 -c 'import json, sys; print(json.dumps({"op": "fire", "events": [{"tag": f"other/{i}", "data": {}} for i in range(int(sys.argv[1]))]}))' "$1" >"$FLEET/unwanted"
    ask "$(<"$FLEET/unwanted")"
}
@test "for what it does not want a follower neither writes nor is behind, and one that is killed goes on at its last mark" {
    file=$FLEET/master/var/cache/salt/master/followers/event_return.rawfile_json.json
    fire 12 12
    until_true 10 has 12
    until_true 10 status_is 'd["behind"]' 0
    kept=$(cat "$file")
    unwanted 300
    salt-run event.send test/secret/b >/dev/null
    status_is 'd["behind"]' 0
    seq=$(status 'd["seq"]')
    [ "$(cat "$file")" = "$kept" ]
    for _ in 1 2 3 4 5; do unwanted 1000; done
    for _ in 1 2 3 4 5; do unwanted 1000; done
    until_true 10 eval '[ "$(cat "$file")" != "$kept" ]'
    until_true 10 eval '[ "$(python3 -c "import json, sys; print(json.load(open(sys.argv[1]))[\"seq\"])" "$file")" -ge $((seq + 9000)) ]'
    status_is 'd["behind"]' 0
    kill_by status 'd["pid"]'
    fire 13 13
    until_true 10 has 13
    [ "$(numbers | sort -nu | tail -3 | tr '\n' ' ')" = '11 12 13 ' ]
}

@test "a follower in Python: master_job_cache of a user's file" {
    cat >"$FLEET/srv/_returners/book.py" <<PY
import json


def write(kind, data):
    with open("$FLEET/book", "a") as book:
        book.write(json.dumps([kind, data]) + "\\n")


def save_load(jid, load, minions=None):
    write("load", [jid, load["fun"], load["tgt"], minions])


def returner(ret):
    write("ret", [ret["jid"], ret["id"], ret["return"], __opts__["id"]])
PY
    printf '%s\n' "master_job_cache: book" "module_dirs: [$FLEET/srv]" >>"$MASTER_CONF"
    kill -HUP "$(<"$FLEET/pids/master")"
    until_true 20 eval 'salt m1 test.echo hello >/dev/null; grep -q "\"ret\"" "$FLEET/book"'
    grep -q '"load", \["[0-9]*", "test.echo", "m1", \["m1"\]' "$FLEET/book"
    grep -q '"ret", \["[0-9]*", "m1", "hello", ".*_master"\]' "$FLEET/book"
}
