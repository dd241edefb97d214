#!/usr/bin/env bats
# 1310-eauth.bats - external authentication: logins by the systems of external_auth, tokens, what a connection may do that has
# become somebody, and what it sees.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    printf 'ann:ann-pw\nbob:bob-pw\nall:all-pw\ncarl:carl-pw\n' >"$FLEET/users"
    {
        printf 'sha:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n'
        printf 'apr:%s\n' "$(openssl passwd -apr1 -salt abcdefgh password)"
        printf 'md5:%s\n' "$(openssl passwd -1 -salt abcdefgh password)"
        printf 'six:%s\n' "$(openssl passwd -6 -salt abcdefgh password)"
        printf 'plain:password\n'
    } >"$FLEET/htpasswd"
    start_master "external_auth:" \
        "  file:" "    ^filename: $FLEET/users" \
        "    ann: [{'w*': ['test.*', {cmd.run: {args: ['echo ']}}]}, '@jobs']" \
        "    bob: []" \
        "    all: ['.*', '@runner', '@wheel']" \
        "    '*': [test.version]" \
        "  sharedsecret:" "    ann: [test.ping]" \
        "  auto:" "    ann: ['.*']" \
        "sharedsecret: the-shared-one"
    start_minion w1
    start_minion d1
    accept w1 d1
    wait_connected w1 d1
    wait_grains w1 d1
    fleet_open
    chmod o+r "$MASTER_CONF"
}
teardown_file() { fleet_down; }

# user REQUEST...: on one connection of an ordinary user. refused REQUEST...: the last of them is.
user() { $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" "$@"; }
login() { echo "{\"op\":\"login\",\"eauth\":\"$1\",\"username\":\"$2\",\"password\":\"$3\"}"; }
become() { echo "{\"op\":\"become\",\"token\":\"$1\"}"; }
publish() { echo "{\"op\":\"publish\",\"tgt\":\"$1\",\"tgt_type\":\"glob\",\"fun\":\"$2\",\"arg\":${3:-[]}}"; }
runner() { echo "{\"op\":\"runner\",\"fun\":\"$1\",\"arg\":${2:-[]}}"; }
token() { user "$(login "$@")" | field token; }
# may TOKEN REQUEST, may_not TOKEN REQUEST [WORDS]
may() { user "$(become "$1")" "$2" | tail -n 1 | grep -q '"ok":true'; }
may_not() {
    run user "$(become "$1")" "$2"
    [ "$status" -eq 1 ]
    [[ $output == *"${3:-not allowed}"* ]]
}
audit() { cat "$FLEET/master/var/log/salt/audit"; }

@test "a login gives a token of 64 digits, its time, and the user's rules" {
    run user "$(login file ann ann-pw)"
    [ "$status" -eq 0 ]
    [[ $output =~ '"token":"'[0-9a-f]{64}'"' ]]
    python3 - "$output" <<'PY'
import json, sys, time
reply = json.loads(sys.argv[1])
assert reply["user"] == "ann" and reply["eauth"] == "file", reply
assert abs(reply["expire"] - reply["start"] - 43200) < 1 and abs(reply["start"] - time.time()) < 30, reply
assert reply["perms"] == ["@jobs", {"w*": ["test.*", {"cmd.run": {"args": ["echo "]}}]}], reply["perms"]
PY
    # Nobody with a rule, but for that of '*'.
    user "$(login file carl carl-pw)" | grep -q '"perms":\["test.version"\]'
    user "$(login file bob bob-pw)" | grep -q '"perms":{}'
}

@test "a failure is the same whatever was wrong, and comes later" {
    local start=${EPOCHREALTIME/./}
    for request in "$(login file ann wrong)" "$(login file nobody x)" "$(login nosuch ann ann-pw)" "$(login pam '' '')" "$(login auto ann x)" "$(login file ann '')"; do
        run user "$request"
        [ "$status" -eq 1 ]
    done
    run user "$(login file ann wrong)"
    [ "$output" = 'Authentication failure of type "eauth" occurred for user ann.' ]
    # Delays are those of the clock, also where all else is slow: ms_since counts in a plain build's.
    [ $(((${EPOCHREALTIME/./} - start) / 1000)) -ge 3000 ]
    run user '{"op":"login","eauth":"file","username":"ann"}'
    [[ $output == *"'password'"* ]]
    until_log "$FLEET/log/master" "login of 'ann' by auto has failed: the system auto lets everybody in"
    until_log "$FLEET/log/master" "login of 'ann' by nosuch has failed: external_auth does not name this system"
}

@test "several failures in a row make the next one wait" {
    local i
    for i in {1..5}; do run user "$(login file dora wrong$i)"; done
    run user "$(login file dora wrong)"
    [[ $output == *'too many failed logins: the next one may be tried in'* ]]
    # Others are not held up.
    user "$(login file ann ann-pw)" >/dev/null
}

@test "a connection becomes the user, with his rules alone" {
    t=$(token file ann ann-pw)
    user "$(become "$t")" | grep -q '"user":"ann","eauth":"file"'
    may "$t" "$(publish w1 test.ping)"
    may "$t" "$(publish 'w*' test.ping)"
    may "$t" "$(publish w1 cmd.run '["echo hello"]')"
    may "$t" "$(publish d1 saltutil.find_job '["1"]')"
    may_not "$t" "$(publish '*' test.ping)" "'test.ping' on '*' is not allowed; see external_auth"
    may_not "$t" "$(publish d1 test.ping)"
    may_not "$t" "$(publish w1 cmd.run '["id"]')"
    may_not "$t" "$(publish w1 cmd.run)"
    may_not "$t" "$(publish w1 cmd.run '[{"__kwarg__":true,"cmd":"id"}]')"
    may_not "$t" "$(publish w1 test.cross_test '["cmd.run"]')"
    may "$t" "$(runner jobs.active)"
    may_not "$t" "$(runner salt.cmd '["cmd.run","id"]')" 'Authentication failure of type "token" occurred for user ann'
    may_not "$t" '{"op":"wheel","fun":"key.list_all","arg":[]}'
    # Rules of '*' are not for whom another key names; the same name by another system is somebody else.
    may_not "$t" "$(publish d1 test.version)"
    s=$(token sharedsecret ann the-shared-one)
    may "$s" "$(publish d1 test.ping)"
    may_not "$s" "$(publish d1 test.version)"
    may_not "$(token file bob bob-pw)" "$(publish w1 test.ping)"
    all=$(token file all all-pw)
    may "$all" "$(publish '*' test.ping)"
    may "$all" "$(runner test.arg)"
    may "$all" '{"op":"wheel","fun":"key.list_all","arg":[]}'
}

@test "root, too, is then the user and nothing more, for good" {
    t=$(token file ann ann-pw)
    run ask "$(become "$t")" "$(publish '*' cmd.run '["id"]')"
    [ "$status" -eq 1 ]
    for request in '{"op":"key_apply","action":"delete","ids":["d1"],"from":["minions"]}' '{"op":"token_list"}' '{"op":"forget","tgt":"*","tgt_type":"glob","what":["grains"]}' \
        '{"op":"fire","tag":"x","data":{}}' '{"op":"explain","user":"root","fun":"x.y"}' '{"op":"reactor","action":"list"}' '{"op":"key_rotate"}' '{"op":"grains","tgt":"d1","tgt_type":"glob"}' \
        "{\"op\":\"publish\",\"tgt\":\"w1\",\"tgt_type\":\"glob\",\"fun\":\"test.ping\",\"arg\":[],\"jid\":\"20300101000000000000\"}" \
        "{\"op\":\"runner\",\"fun\":\"jobs.active\",\"arg\":[],\"within\":\"1\"}" '{"op":"token_revoke","user":"ann"}' '{"op":"become","token":"no"}'; do
        run ask "$(become "$t")" "$request"
        [ "$status" -eq 1 ]
    done
    # The request can't say who asks.
    run ask "$(become "$t")" '{"op":"publish","tgt":"d1","tgt_type":"glob","fun":"test.ping","arg":[],"as":{"user":"all","eauth":"file"},"user":"root"}'
    [ "$status" -eq 1 ]
    # Another login changes who it is, and credentials do as well as a token.
    ask "$(become "$t")" '{"op":"become","eauth":"file","username":"all","password":"all-pw"}' "$(publish '*' test.ping)" | tail -n 1 | grep -q '"ok":true'
    is_connected d1
}

@test "without a login an ordinary user may only log in" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
    for request in '{"op":"status"}' '{"op":"events","tag":"*"}' "$(publish w1 test.ping)" '{"op":"minions"}' '{"op":"token_list"}' '{"op":"token_revoke","user":"ann"}'; do
        run user "$request"
        [ "$status" -eq 1 ]
    done
}

@test "tokens: kept as hashes, listed, revoked, over" {
    t=$(token file ann ann-pw)
    salt-run auth.list_tokens --out=json | grep -q '"user": "ann"'
    run grep -rl "$t" "$FLEET/master" "$FLEET/log"
    [ -z "$output" ]
    # A master that starts anew knows them.
    stop master
    start_master
    wait_connected w1 d1
    may "$t" "$(publish w1 test.ping)"
    # Who has it may end it; connections that speak by it end.
    user "{\"op\":\"token_revoke\",\"token\":\"$t\"}" | grep -q '"revoked":1'
    may_not "$t" "$(publish w1 test.ping)" 'Authentication failure of type "token" occurred.'
    t=$(token file ann ann-pw)
    ask_long() { "$HALITE_TOOLS/local" --follow 0 60 "$SOCK_DIR" "$(become "$t")" '{"op":"events","tag":"*"}'; }
    ask_long >"$FLEET/long" 2>&1 3>&- &
    local pid=$!
    until_true 10 grep -q '"seq"' "$FLEET/long"
    [ "$(salt-run auth.revoke ann --out=json)" -ge 1 ]
    wait "$pid" || :
    may_not "$t" "$(publish w1 test.ping)" 'occurred'
    # A time of the user's own, where he may choose it.
    r=$(user '{"op":"login","eauth":"file","username":"ann","password":"ann-pw","token_expire":1}')
    python3 -c 'import json, sys; r = json.loads(sys.argv[1]); assert r["expire"] - r["start"] > 43000' "$r"
}

@test "rules hold as the configuration has them now" {
    t=$(token file ann ann-pw)
    cp "$MASTER_CONF" "$FLEET/before"
    sed -i "s/^    ann: \[{'w\*'.*/    ann: [test.version]/" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    now() { may "$t" "$(publish d1 test.version)"; }
    until_true 10 now
    may_not "$t" "$(publish w1 test.ping)"
    cp "$FLEET/before" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    again() { may "$t" "$(publish w1 test.ping)"; }
    until_true 10 again
}

@test "events: one's own jobs, and those that the rules allow" {
    [ "$(id -un)" != ann ] || skip "who runs it has the name of one who logs in: the jobs are that one's own"
    t=$(token file ann ann-pw)
    all=$(token file all all-pw)
    for who in t all; do
        "$HALITE_TOOLS/local" --follow 0 60 "$SOCK_DIR" "$(become "${!who}")" '{"op":"events","tag":"*"}' >"$FLEET/events-$who" 2>&1 3>&- &
        echo $! >"$FLEET/listener-$who"
        until_true 10 grep -q '"seq"' "$FLEET/events-$who"
    done
    salt w1 test.arg seen >/dev/null
    salt d1 test.arg hidden-minion >/dev/null
    salt w1 pillar.items hidden-function >/dev/null || :
    salt-run event.send hidden/tag '{"x": 1}' >/dev/null
    salt-run jobs.list_jobs search_function=seen-runner >/dev/null
    user "$(become "$t")" "$(publish w1 cmd.run '["echo own"]')" >/dev/null
    until_log "$FLEET/events-t" 'salt/job/[0-9]*/ret/w1".*"echo own"'
    until_log "$FLEET/events-all" 'hidden/tag'
    grep -q 'test.arg' "$FLEET/events-t"
    grep -q 'seen-runner' "$FLEET/events-t"
    run grep -E 'hidden' "$FLEET/events-t"
    [ -z "$output" ]
    [ "$(grep -c hidden "$FLEET/events-all")" -ge 4 ]
    # The journal is filtered as well.
    user "$(become "$t")" '{"op":"journal","from":1}' | tail -n 1 >"$FLEET/journal"
    grep -q '"seen"' "$FLEET/journal"
    run grep -oE 'hidden-[a-z]*|salt/auth|salt/key' "$FLEET/journal"
    [ -z "$output" ]
    kill "$(cat "$FLEET/listener-t")" "$(cat "$FLEET/listener-all")"
    wait || :
}

@test "files of Apache, too" {
    cp "$MASTER_CONF" "$FLEET/before"
    sed -i "s|^    ^filename:.*|    ^filename: $FLEET/htpasswd\n    ^filetype: htpasswd|" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    sha() { user "$(login file sha password)" | grep -q '"token"'; }
    until_true 20 sha
    for who in apr md5 six; do
        user "$(login file $who password)" | grep -q '"token"'
        run user "$(login file $who Password)"
        [ "$status" -eq 1 ]
    done
    run user "$(login file plain password)"
    [ "$status" -eq 1 ]
    cp "$FLEET/before" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    back() { user "$(login file ann ann-pw)" | grep -q '"token"'; }
    until_true 20 back
}

@test "salt, salt-run and salt-key with -a; -T keeps a token" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
    export HOME=$FLEET/home
    mkdir -p "$HOME"
    chmod 0777 "$HOME"
    # No program between the two: only the first that setpriv starts is found in a folder of root's alone.
    as() { $(halite_unprivileged) "$HALITE_BIN/$1" "${@:2}"; }
    [ "$(as salt -a file --username ann --password ann-pw w1 test.ping --out=txt)" = 'w1: True' ]
    run as salt -a file --username ann --password ann-pw d1 test.ping
    [ "$status" -ne 0 ]
    [[ $output == *'is not allowed'* ]]
    run as salt -a file --username ann --password wrong w1 test.ping
    [ "$status" -ne 0 ]
    [[ $output == *'Authentication failure of type "eauth" occurred for user ann.'* ]]
    run as salt w1 test.ping
    [ "$status" -ne 0 ]
    as salt -T -a file --username ann --password ann-pw w1 test.ping --out=txt
    [ "$(stat -c %a "$HOME/.salt_token")" = 600 ]
    [ "$(as salt w1 test.ping --out=txt)" = 'w1: True' ]
    as salt-run jobs.active >/dev/null
    run as salt-run salt.cmd test.ping
    [ "$status" -ne 0 ]
    # Root speaks for itself, whatever token there is, unless -a is given.
    salt d1 test.ping >/dev/null
    run salt -a file --username ann --password ann-pw d1 test.ping
    [ "$status" -ne 0 ]
    as salt-key --auth file --username all --password all-pw -L | grep -q w1
    as salt-key --auth file --username all --password all-pw -f w1 | grep -q "w1:"
    as salt-key -y --auth file --username all --password all-pw --include-accepted -r d1 | grep -q "Key for minion d1 rejected."
    key_is d1 rejected
    as salt-key -y --auth file --username all --password all-pw --include-rejected -a d1 | grep -q "Key for minion d1 accepted."
    wait_connected d1
    run as salt-key --auth file --username ann --password ann-pw -L
    [ "$status" -ne 0 ]
    [ -z "$(grep -l -- ann-pw "$FLEET/log/master")" ]
}

@test "salt-run -a state.event shows what the user's rules let him see" {
    [ "$(id -un)" != ann ] || skip "who runs it has the name of one who logs in: the jobs are that one's own"
    $(halite_unprivileged) "$HALITE_BIN/salt-run" -a file --username ann --password ann-pw state.event 'salt/job/*/ret/*' count=1 >"$FLEET/watched" 2>&1 3>&- &
    local pid=$!
    until_true 10 eval "salt d1 test.arg hidden >/dev/null; salt w1 test.arg shown >/dev/null; grep -q shown '$FLEET/watched'"
    wait "$pid"
    run grep hidden "$FLEET/watched"
    [ -z "$output" ]
}

@test "rules mean what Salt's checker makes of them (random ones, where HALITE_SALT names a Salt)" {
    [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no package of Salt"
    [ -x "$BUILD/tests/unit/common/test_who_may" ] || skip "the unit tests are not built: make $BUILD/tests/unit/common/test_who_may"
    HALITE_RULES=$BUILD/tests/unit/common/test_who_may python3 -B "$HALITE_SRC/tests/oracle/rules.py" 5000 "$RANDOM" >&2
}

@test "acl.explain says which rule decides" {
    salt-run acl.explain ann test.ping w1 eauth=file --out=json >"$FLEET/explained"
    python3 - "$FLEET/explained" <<'PY'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["allowed"] is True and told["option"] == "external_auth" and told["key"] == "ann", told
assert told["target"] == "w*" and told["call"] == "test.*", told
PY
    salt-run acl.explain ann test.ping d1 eauth=file --out=json | grep -q '"allowed": false'
    salt-run acl.explain ann jobs.active eauth=file form=runner --out=json | grep -q '"rule": "@jobs"'
    salt-run acl.explain zoe test.version eauth=file --out=json | grep -q '"key": "\*"'
    salt-run acl.explain root cmd.run --out=json | grep -q '"why": "root and'
    salt-run acl.explain zoe cmd.run --out=json | grep -q '"why": "the user has no rule"'
}

@test "runner auth.mk_token; no secret in events, log, audit or arguments" {
    salt-run auth.mk_token eauth=file username=ann password=ann-pw --out=json | grep -qE '"token": "[0-9a-f]{64}"'
    run salt-run auth.mk_token eauth=file username=ann password=wrong-pw
    [ "$status" -ne 0 ]
    run grep -E 'ann-pw|wrong-pw|the-shared-one|bob-pw' <(audit) "$FLEET/log/master"
    [ -z "$output" ]
    ask '{"op":"journal","from":1}' >"$FLEET/journal"
    run grep -cE '(ann|wrong)-pw' "$FLEET/journal"
    [ "$output" = 0 ]
    run grep -lE '(ann|wrong)-pw' -r "$FLEET/master/var"
    [ -z "$output" ]
    audit | grep -q '"op":"login".*"eauth":"file","as":"ann","allowed":true'
    audit | grep -q '"op":"login".*"as":"ann","allowed":false'
    audit | grep '"op":"publish"' | grep '"user":"ann"' | grep -q '"eauth":"file"'
}

@test "one user of a program that serves many does not hold the others up" {
    [ "$(id -un)" != ann ] || skip "who runs it has the name of one who logs in: the lines are that one's own"
    # 64 connections of ann's wait; another user's, of the same process owner, work.
    t=$(token file ann ann-pw) b=$(token file all all-pw)
    python3 - "$SOCK_DIR/master.sock" "$t" "$b" <<'PY'
import json, socket, struct, sys, time
path, ann, other = sys.argv[1:]
def frame(v):
    text = json.dumps(v).encode()
    return struct.pack("!I", len(text)) + text
def reply(s):
    head = b""
    while len(head) < 4:
        got = s.recv(4 - len(head))
        if not got: return None
        head += got
    left = struct.unpack("!I", head)[0]
    text = b""
    while len(text) < left: text += s.recv(left - len(text))
    return json.loads(text)
def line(token):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(frame({"op": "become", "n": 1, "token": token}))
    return s, reply(s)
lines = []
refused = None
for i in range(70):
    s, r = line(ann)
    if not r["ok"]:
        refused = (i, r["error"])
        break
    lines.append(s)
assert refused and refused[0] == 64 and "as many as may be" in refused[1], refused
for s in lines:
    s.sendall(frame({"op": "match", "n": 2, "tgt": "w*", "tgt_type": "glob"}) * 200)
start = time.time()
s, r = line(other)
assert r["ok"], r
s.sendall(frame({"op": "match", "n": 3, "tgt": "*", "tgt_type": "glob"}))
assert reply(s)["ok"]
assert time.time() - start < 5
PY
}

# A salt-auth that says what is no answer, and then neither ends nor listens.
@test "a broken salt-auth holds up nobody, and is gone in the end" {
    local old=$HALITE_BIN n
    stop master
    mkdir "$FLEET/broken"
    cp "$HALITE_BIN/salt-master" "$FLEET/broken/"
    cat >"$FLEET/broken/salt-auth" <<'PY'
#!/usr/bin/python3
import os, signal, socket, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(os.environ["HALITE_FLEET"] + "/broken/pids", "a") as file:
    file.write("%d\n" % os.getpid())
line = socket.socket(fileno=3)
line.recv(65536)
line.send(b"no JSON")
time.sleep(600)
PY
    chmod 755 "$FLEET/broken/salt-auth"
    HALITE_BIN=$FLEET/broken start_master
    HALITE_BIN=$old
    python3 -B - "$SOCK_DIR/master.sock" "$HALITE_SRC/tests/lib" <<'PY'
import json, socket, struct, sys, time
def frame(value):
    text = json.dumps(value).encode()
    return struct.pack(">I", len(text)) + text
def reply(s):
    (size,) = struct.unpack(">I", s.recv(4, socket.MSG_WAITALL))
    return json.loads(s.recv(size, socket.MSG_WAITALL))
def line():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(sys.argv[1])
    return s
waits = []
asker = line()
for n in range(4):
    user = line()
    user.sendall(frame({"op": "login", "n": 1, "eauth": "file", "username": "u%d" % n, "password": "x"}))
    answered = False
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        begin = time.monotonic()
        asker.sendall(frame({"op": "match", "n": 2, "tgt": "w*", "tgt_type": "glob"}))
        assert reply(asker)["ok"]
        waits.append(time.monotonic() - begin)
        time.sleep(0.01)
    assert not reply(user)["ok"]
waits.sort()
print("the longest waits: %s ms" % [round(1000 * one) for one in waits[-4:]])
# Each program that was waited for would show here, with the second that it is given.
assert len([one for one in waits if one > 0.9]) < 2, waits[-4:]
PY
    for n in $(cat "$FLEET/broken/pids"); do until_true 10 not kill -0 "$n"; done
    [ "$(wc -l <"$FLEET/broken/pids")" -eq 4 ]
}

@test "a system in Python: a user's file, with groups and rules" {
    command -v python3 >/dev/null || skip "there is no python3"
    stop master
    mkdir -p "$FLEET/auth"
    cat >"$FLEET/auth/house.py" <<'PY'
__virtualname__ = "maison"
def __virtual__():
    return __virtualname__
def auth(username, password):
    if username == "bad":
        raise RuntimeError("the house is on fire")
    print("printed by the file")
    return password == __opts__["house_password"]
def groups(username, *args, **kwargs):
    return ["cooks"] if username == "ann" else []
def acl(username, password, **kwargs):
    if username == "fay":
        raise RuntimeError("no rules today")
    own = {"bob": ["test.arg"], "dan": [], "eve": [f"{len(password)}.{kwargs['eauth']}"]}
    return own.get(username)
PY
    sed -i '/^external_auth:/,/^[^ ]/{/^external_auth:/d; /^  /d}' "$MASTER_CONF"
    {
        printf 'auth_dirs: [%s]\nhouse_password: in-my-house\n' "$FLEET/auth"
        printf 'external_auth:\n  maison:\n    ann: [test.ping]\n    "cooks%%": [test.echo]\n    bob: [test.version]\n    dan: [test.version]\n    eve: [test.version]\n    fay: [test.version]\n  nosuch:\n    ann: [test.ping]\n'
    } >>"$MASTER_CONF"
    start_master
    ask "$(login maison ann in-my-house)" | grep -q '"groups":\["cooks"\].*"perms":\["test.echo","test.ping"\]'
    # acl() stands in the place of the configuration's rules, unless it says None; an empty list is nothing at all.
    ask "$(login maison bob in-my-house)" | grep -q '"perms":\["test.arg"\]'
    ask "$(login maison dan in-my-house)" | grep -q '"perms":{}'
    # It gets what it names of the log-in.
    ask "$(login maison eve in-my-house)" | grep -q '"perms":\["11.maison"\]'
    # One that fails refuses the log-in.
    run ask "$(login maison fay in-my-house)"
    [ "$status" -eq 1 ]
    until_log "$FLEET/log/master" "login of 'fay' by maison has failed: .*no rules today"
    for words in 'ann wrong' 'bad in-my-house' "ann ''"; do
        # shellcheck disable=SC2086
        run ask "$(login maison $words)"
        [ "$status" -eq 1 ]
    done
    until_log "$FLEET/log/master" "login of 'bad' by maison has failed: .*the house is on fire"
    run ask "$(login nosuch ann in-my-house)"
    [ "$status" -eq 1 ]
    until_log "$FLEET/log/master" "login of 'ann' by nosuch has failed: there is no such system: salt-master.conf.5. has a list"
    run grep -rl in-my-house "$FLEET/log"
    [ -z "$output" ]
}
