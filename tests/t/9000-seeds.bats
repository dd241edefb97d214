#!/usr/bin/env bats
# 9000-seeds.bats - published examples of orchestration, events and the reactor, from their first line to their last: one
# test for each text, its files in tests/t/seeds. Paths and host names are the test's own. Where a text uses what is not here
# (a load balancer, a cloud, modules in Python, a machine that boots), a comment says what stands in for it.

bats_require_minimum_version 1.5.0
load lib
load named

setup() {
    fleet_new
    ROOT=$FLEET/walk
    mkdir -p "$ROOT/bin"
    # What minions find first on their PATH.
    export PATH=$ROOT/bin:$PATH
}

teardown() { fleet_down; }

# seed NAME: the text's tree below ROOT; its reactor is not configured yet.
seed() {
    cp -r "$BATS_TEST_DIRNAME/seeds/$1/." "$ROOT"
    grep -rlZ '@ROOT@' "$ROOT" | xargs -0 -r sed -i "s|@ROOT@|$ROOT|g"
}

# The text's master.d: copied and the master started again.
take_master_d() {
    mkdir -p "$FLEET/etc/master.d"
    cp "$ROOT"/master.d/* "$FLEET/etc/master.d/"
    stop master
    start_master
}

roots() { printf '%s\n' "file_roots: {base: [$ROOT/salt]}" "pillar_roots: {base: [$ROOT/pillar]}" "$@"; }
minions() {
    local id
    for id; do
        [ -e "$FLEET/pids/$id" ] || start_minion "$id"
        key_is "$id" acc || accept "$id"
    done
    wait_connected "$@"
    wait_grains "$@"
}
script() { cat >"$ROOT/$1" && chmod +x "$ROOT/$1"; }
json() { "$@" --out=json --out-indent=-1; }

# watch: `salt-run state.event pretty=True` in the background. on_bus TAG: the newest event of this tag, as JSON on one line.
watch() {
    daemon listen-watch "$HALITE_BIN/salt-run" state.event pretty=True
    until_true 10 eval 'salt-run event.send walk/ready >/dev/null; grep -q "^walk/ready" "$FLEET/log/listen-watch"'
}
on_bus() {
    python3 - "$FLEET/log/listen-watch" "$1" <<'PY'
import fnmatch, json, re, sys
text = open(sys.argv[1]).read()
found = None
for m in re.finditer(r'^(\S+)\t(\{\n.*?^\})$', text, re.S | re.M):
    if fnmatch.fnmatchcase(m[1], sys.argv[2]):
        found = json.loads(m[2])
if found is None:
    sys.exit(1)
print(json.dumps(found, sort_keys=True))
PY
}
# bus_has TAG PART...: an event of this tag comes, and has these members.
bus_has() {
    local tag=$1 part event
    until_true 15 on_bus "$tag"
    shift
    event=$(on_bus "$tag")
    for part; do grep -qF -- "$part" <<<"$event" || { echo "$tag has no $part: $event" >&2 && return 1; }; done
}
called() { cat "$ROOT/calls" 2>/dev/null; }

@test "a deployment behind a load balancer, custom events, machines that come by themselves" {
    seed deploy
    mapfile -t lines < <(roots)
    start_master "${lines[@]}"
    start_minion lb1 'grains: {role: loadbalancer}'
    minions lb1 web01
    # The load balancer's tools and the smoke test are scripts that note their calls.
    for tool in haproxy-disable haproxy-enable; do
        script "bin/$tool" <<<$'#!/bin/sh\n'"echo $tool \"\$@\" >>$ROOT/calls"
    done
    mkdir -p "$ROOT/opt/app/bin"
    script opt/app/bin/smoke-test.sh <<<$'#!/bin/sh\n'"echo smoke >>$ROOT/calls"

    # --- orchestration: each step after the one that it requires
    run -0 salt-run state.orchestrate orch.deploy
    grep -q '^Succeeded: 4' <<<"$output"
    same_as "$(called)" <<'EOF'
haproxy-disable backend web01
deploy
smoke
haproxy-enable backend web01
EOF
    # A smoke test that fails: the server stays out, and the command says so.
    : >"$ROOT/calls"
    script opt/app/bin/smoke-test.sh <<<$'#!/bin/sh\nexit 1'
    run salt-run state.orchestrate orch.deploy
    [ "$status" -ne 0 ]
    grep -q 'One or more requisite failed: orch.deploy.run_smoke_tests' <<<"$output"
    same_as "$(called)" <<'EOF'
haproxy-disable backend web01
deploy
EOF
    script opt/app/bin/smoke-test.sh <<<$'#!/bin/sh\n'"echo smoke >>$ROOT/calls"
    run -0 salt-run state.orchestrate orch.deploy -l debug

    # --- the bus: a start, a job's return, a key
    watch
    stop web01
    start_minion web01
    wait_connected web01
    bus_has salt/minion/web01/start '"id": "web01"' '"tag": "salt/minion/web01/start"'
    bus_has salt/auth '"act": "accept"' '"result": true'
    salt web01 test.ping
    bus_has 'salt/job/*/ret/web01' '"fun": "test.ping"' '"return": true'

    # --- the reactor: who comes gets its highstate
    stop listen-watch
    take_master_d
    minions lb1 web01
    watch
    stop web01
    rm -f "$ROOT/configured.web01"
    start_minion web01
    until_true 15 test -e "$ROOT/configured.web01"

    # --- events of one's own, from the command line and from a state
    : >"$ROOT/calls"
    run -0 salt web01 event.send myapp/deploy/complete '{"version": "1.4.2", "status": "ok"}'
    bus_has myapp/deploy/complete '"id": "web01"' '"version": "1.4.2"' '"status": "ok"' '"cmd": "_minion_event"'
    until_true 15 grep -q '^complete 1.4.2' "$ROOT/calls"
    : >"$ROOT/calls"
    run -0 salt web01 state.apply app.notify
    until_true 15 grep -q '^complete 1.4.2' "$ROOT/calls"

    # --- scaling: a minion of the right name is accepted and configured, any other waits
    start_minion web-asg-1
    start_minion other-1
    until_true 20 test -e "$ROOT/configured.web-asg-1" || { grep -iE "react|asg|error|warn" "$FLEET/log/master" | tail -40; tail -5 "$FLEET/log/web-asg-1"; salt-key -L; tail -60 $FLEET/log/listen-watch; false; }
    wait_key web-asg-1 acc
    wait_key other-1 pre
    bus_has salt/auth '"act": "pend"'
    [ ! -e "$ROOT/configured.other-1" ]

    # --- and without order between machines: a highstate in batches
    rm -f "$ROOT"/configured.*
    run -0 salt '*' state.highstate --batch 50%
    [ -e "$ROOT/configured.web01" ] && [ -e "$ROOT/configured.lb1" ]
}

# Until one more command listens to the bus than COUNT.
listens_more() { [ "$(ask '{"op":"status"}' | field listeners)" -gt "$1" ]; }

@test "what the bus shows, commands that wait for events, custom events, states by event" {
    seed events
    mapfile -t lines < <(roots)
    start_master "${lines[@]}"
    # A machine that boots is a script of its own here, and the test starts the minion again.
    script bin/shutdown <<<$'#!/bin/sh\n'"echo booted >>$ROOT/calls"
    minions ubuntuAsus ubuntuMaster third

    # --- the bus at the terminal of the master, and of a minion
    daemon listen-watch "$HALITE_BIN/salt-run" state.event pretty=true
    daemon listen-call "$HALITE_BIN/salt-call" -c "$FLEET/etc/ubuntuAsus" state.event pretty=true
    until_true 10 eval 'salt-run event.send walk/ready >/dev/null; grep -q "^walk/ready" "$FLEET/log/listen-watch"'
    until_true 10 eval 'salt_call ubuntuAsus event.fire "{}" walk/ready >/dev/null; grep -q "^walk/ready" "$FLEET/log/listen-call"'
    run -0 salt ubuntuAsus test.ping
    bus_has 'salt/job/*/new' '"arg": []' '"fun": "test.ping"' '"minions": ["ubuntuAsus"]' '"missing": []' '"tgt": "ubuntuAsus"' \
        '"tgt_type": "glob"' "\"user\": \"$(id -un)\""
    bus_has 'salt/job/*/ret/ubuntuAsus' '"cmd": "_return"' '"fun": "test.ping"' '"fun_args": []' '"id": "ubuntuAsus"' \
        '"retcode": 0' '"return": true' '"success": true'
    bus_has "$(on_bus 'salt/job/*/ret/ubuntuAsus' | field jid)" '"minions": ["ubuntuAsus"]'
    until_log "$FLEET/log/listen-call" '^salt/job/[0-9]*/new'
    until_log "$FLEET/log/listen-call" '^salt/job/[0-9]*/ret/ubuntuAsus'
    stop listen-call

    # --- a machine boots, and is configured when it is back
    seen=$(ask '{"op":"status"}' | field listeners)
    (
        salt 'ubuntuAsus' system.reboot &&
            salt-run state.event 'salt/minion/ubuntuAsus/start' count=1 quiet=True &&
            salt 'ubuntuAsus' test.arg back-again
    ) >"$ROOT/one" 2>&1 3>&- &
    salt=$!
    until_true 15 listens_more "$seen"
    [ "$(called)" = booted ]
    stop ubuntuAsus
    start_minion ubuntuAsus
    until_true 15 grep -q back-again "$ROOT/one"
    wait "$salt"
    # Several, when all of them are back: the third start is that of one more machine.
    (
        salt -L 'ubuntuAsus,ubuntuMaster' system.reboot &&
            salt-run state.event 'salt/minion/*/start' count=3 quiet=True &&
            salt -L 'ubuntuAsus,ubuntuMaster' test.arg all-back
    ) >"$ROOT/all" 2>&1 3>&- &
    salt=$!
    until_true 15 listens_more "$seen"
    for id in ubuntuAsus ubuntuMaster third; do
        run ! grep -q all-back "$ROOT/all"
        stop "$id"
        start_minion "$id"
        wait_connected "$id"
    done
    until_true 15 grep -q all-back "$ROOT/all"
    wait "$salt"

    # --- events of one's own from a minion: without data, with, with grains
    run -0 salt_call ubuntuAsus event.send instar/custom/event
    bus_has instar/custom/event '"cmd": "_minion_event"' '"__pub_fun": "event.send"' '"__pub_jid": "' '"__pub_pid": ' \
        '"__pub_tgt": "salt-call"' '"id": "ubuntuAsus"' '"tag": "instar/custom/event"'
    bus_has salt/auth '"act": "accept"' '"id": "ubuntuAsus"' '"pub": "-----BEGIN PUBLIC KEY-----' '"result": true'
    bus_has minion/refresh/ubuntuAsus '"Minion data cache refresh": "ubuntuAsus"'
    until_true 10 eval 'on_bus "salt/job/*/ret/ubuntuAsus" | grep -q "\"fun\": \"event.send\""'
    bus_has 'salt/job/*/ret/ubuntuAsus' '"arg": ["instar/custom/event"]' '"fun_args": ["instar/custom/event"]' '"retcode": 0' \
        '"return": true' '"tgt": "ubuntuAsus"' '"tgt_type": "glob"'
    run -0 salt_call ubuntuAsus event.send instar/custom/event '{"what": "something happened", "is it serious": true}'
    until_true 10 eval 'on_bus instar/custom/event | grep -q "\"is it serious\": true, \"what\": \"something happened\""'
    run -0 salt_call ubuntuAsus event.send instar/custom/event with_grains=true
    until_true 10 eval 'on_bus instar/custom/event | grep -q "\"osfullname\""'
    run -0 salt_call ubuntuAsus event.send instar/custom/event with_grains='[os]'
    until_true 10 eval 'on_bus instar/custom/event | grep -qE "\"grains\": \{\"os\": \"[^\"]*\"\}"'

    # --- a state run by an event; there is no top file yet
    stop listen-watch
    take_master_d
    minions ubuntuAsus ubuntuMaster third
    watch
    run -0 salt_call ubuntuAsus event.send instar/custom/event
    bus_has 'salt/job/*/new' '"fun": "state.highstate"' '"arg": []' '"tgt": "ubuntuAsus"'
    until_true 15 on_bus no.None
    bus_has 'salt/job/*/ret/ubuntuAsus' '"fun": "state.highstate"' '"out": "highstate"' '"retcode": 2' '"success": false' \
        '"no_|-states_|-states_|-None"' \
        '"comment": "No Top file or master_tops data matches found. Please see master log for details.'
    bus_has no.None '"__run_num__": 0' '"changes": {}' '"name": "No States"' '"result": false' '"retcode": 2'

    # --- pillar for a state, by hand and from the event. A package and a service of this machine would be touched: the
    # service is one that is not there, and shall not run.
    git init -q -b development "$ROOT/repo"
    for version in development master; do
        git -C "$ROOT/repo" checkout -q -B "$version"
        echo "$version" >"$ROOT/repo/file"
        git -C "$ROOT/repo" add file
        git -C "$ROOT/repo" -c user.name=t -c user.email=t@t commit -qm "$version"
    done
    run -0 salt ubuntuAsus state.sls apptest pillar='{version: development}'
    [ "$(cat "$ROOT/opt/apptest/file")" = development ]
    run -0 salt_call ubuntuAsus event.send instar/deploy/testapp version=master
    bus_has instar/deploy/testapp '"version": "master"'
    until_true 15 eval 'on_bus "salt/job/*/ret/ubuntuAsus" | grep -q "\"fun\": \"state.sls\""'
    bus_has 'salt/job/*/new' '"fun": "state.sls"' '"arg": [{"__kwarg__": true, "mods": "apptest", "pillar": {"version": "master"}}]'
    bus_has 'salt/job/*/ret/ubuntuAsus' '"fun_args": [{"mods": "apptest", "pillar": {"version": "master"}}]' '"out": "highstate"' \
        '"success": true' '"__sls__": "apptest"' '"State was not run because onfail req did not change"'
    [ "$(cat "$ROOT/opt/apptest/file")" = master ]
}

@test "names of machines that come and go, kept by reactions" {
    has_named || skip "$NAMED_MISSING"
    # The reactions name no port.
    [ "$(id -u)" -eq 0 ] && ! grep -qE ': (0100007F|00000000):0035 ' /proc/net/udp || skip "port 53 of 127.0.0.1 is not free"
    start_named 127.0.0.1 53 mydomain.com 10.10.in-addr.arpa
    seed dns
    sed -i "s|@DNS@|$DNS|" "$ROOT"/reactor/*.sls
    start_master
    deployed='{"event": "jmtest1 has been deployed at 10.10.51.152", "host": "10.10.51.152", "name": "jmtest1"}'
    destroyed='{"event": "destroyed instance", "name": "jmtest1"}'

    # --- what a cloud tells: there is no salt-cloud here, so that its events are sent by hand
    watch
    salt-run event.send salt/cloud/jmtest1/deploy_script "$deployed"
    bus_has salt/cloud/jmtest1/deploy_script '"host": "10.10.51.152"' '"name": "jmtest1"'
    salt-run event.send salt/cloud/jmtest1/destroyed "$destroyed"
    bus_has salt/cloud/jmtest1/destroyed '"event": "destroyed instance"' '"name": "jmtest1"'
    [ -z "$(look A jmtest1.mydomain.com)" ]

    # --- the same with reactions
    stop listen-watch
    take_master_d
    salt-run event.send salt/cloud/jmtest1/deploy_script "$deployed"
    until_true 15 eval '[ "$(look A jmtest1.mydomain.com)" = 10.10.51.152 ]'
    until_true 15 eval '[ "$(look PTR 152.51.10.10.in-addr.arpa)" = jmtest1.mydomain.com. ]'
    salt-run event.send salt/cloud/jmtest1/destroyed "$destroyed"
    until_true 15 eval '[ -z "$(look A jmtest1.mydomain.com)$(look PTR 152.51.10.10.in-addr.arpa)" ]'
}

@test "runners, and orchestrations of a function and of states" {
    seed runners
    mapfile -t lines < <(roots)
    start_master "${lines[@]}"
    minions lb1 web1 web2

    # --- runners for events, jobs, the mine and pillar
    watch
    run -0 salt-run event.send my/event '{"a": 1}'
    bus_has my/event '"a": 1'
    jid=$(salt web1 test.arg from-a-job -v | grep -oE '[0-9]{20}' | head -n 1)
    salt-run jobs.lookup_jid "$jid" | grep -q from-a-job
    salt-run jobs.list_jobs search_function=test.arg --out=json | grep -q "$jid"
    [ "$(json salt-run jobs.active)" = '{}' ]
    salt web1 mine.send test.ping >/dev/null
    same_as "$(json salt-run mine.get 'web*' test.ping)" <<<'{"web1": true}'
    [ "$(json salt-run pillar.show_pillar web1)" = '{}' ]

    # --- a function on all minions
    mkdir -p "$ROOT/tmp/foo"
    run -0 salt-run state.orchestrate orch.cleanfoo
    [ ! -e "$ROOT/tmp/foo" ]
    grep -q 'Function ran successfully' <<<"$output"

    # --- states: the load balancer before the web servers; and nothing more when it fails
    run -0 salt-run state.orchestrate orch.webserver
    [ "$(called | head -n 1)" = 'balancer on lb1' ]
    same_as "$(called | sort)" <<<$'balancer on lb1\nnginx on web1\nnginx on web2'
    : >"$ROOT/calls"
    touch "$ROOT/broken"
    run salt-run state.orchestrate orch.webserver
    [ "$status" -ne 0 ]
    same_as "$(called)" <<<'balancer on lb1'
}

@test "an application's releases: canaries, reactions, roll back" {
    seed deepdive
    mapfile -t lines < <(roots)
    start_master "${lines[@]}"
    minions web-canary1 web1 web2
    daemon listen-web "$HALITE_SRC/tests/lib/webserver.py" "$ROOT/web.port"
    until_true 10 test -s "$ROOT/web.port"
    web=http://127.0.0.1:$(cat "$ROOT/web.port")
    git init -q -b main "$ROOT/repo"
    echo 2.3.1 >"$ROOT/repo/version"
    git -C "$ROOT/repo" add version
    git -C "$ROOT/repo" -c user.name=t -c user.email=t@t commit -qm release
    git -C "$ROOT/repo" tag v2.3.1

    # --- one message to all; the way back is each minion's own
    [ "$(salt '*' test.ping --out=txt | sort | tr '\n' ' ')" = 'web-canary1: True web1: True web2: True ' ]

    # --- a module that releases an application, and the state over it: Python's there, git.latest here
    run -0 salt web1 state.apply apps.myapp
    [ "$(cat "$ROOT/opt/apps/web1/version")" = 2.3.1 ]
    run -0 salt web1 state.apply apps.myapp test=True
    grep -q 'up-to-date' <<<"$output"
    # Its look at the application's health is a function that is here.
    same_as "$(json salt web1 http.query "$web/plain" status=True --static)" <<<'{"web1": {"body": "just text", "status": 200}}'

    # --- reactions
    take_master_d
    minions web-canary1 web1 web2
    stop web2
    start_minion web2
    until_true 15 grep -q '^started web2' "$ROOT/calls"
    : >"$ROOT/calls"
    run -0 salt-run event.send myapp/deployment/failed '{"app_name": "myapp", "version": "v2.4.0"}'
    until_true 15 eval '[ "$(grep -c "^myapp back from v2.4.0" "$ROOT/calls")" -eq 3 ]'
    # A beacon's event, sent by hand.
    run -0 salt web1 event.send salt/beacon/web1/diskusage/root '{"diskusage": 91}'
    until_true 15 grep -q '^disk 91' "$ROOT/calls"

    # --- canaries first: Python's runner there, an orchestration here
    same_as "$(json salt-run salt.execute 'web-canary*' test.echo kwarg='{text: myapp}')" <<<'{"web-canary1": "myapp"}'
    rm -rf "$ROOT/opt/apps"
    run salt-run state.orchestrate orchestration.canary pillar="{health: $web/status/500}"
    [ "$status" -ne 0 ]
    [ "$(ls "$ROOT/opt/apps")" = web-canary1 ]
    run -0 salt-run state.orchestrate orchestration.canary pillar="{health: $web/plain}"
    [ "$(ls "$ROOT/opt/apps" | tr '\n' ' ')" = 'web-canary1 web1 web2 ' ]

    # --- in waves
    run -0 salt --batch 20% '*' test.ping
    [ "$(grep -c True <<<"$output")" -eq 3 ]
}
