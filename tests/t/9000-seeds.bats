#!/usr/bin/env bats
# 9000-seeds.bats - published examples of orchestration, events and the reactor, from their first line to their last: one
# test for each text, its files in tests/t/seeds. Paths and host names are the test's own. Where a text uses what is not here
# (a load balancer, a cloud, modules in Python, a machine that boots), a comment says what stands in for it.

bats_require_minimum_version 1.5.0
load lib

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
