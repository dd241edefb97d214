#!/usr/bin/env bats
# 6100-reactor.bats - the reactor: files that react to events, in order, once, also across the master's death.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    SRV=$FLEET/srv
    OUT=$FLEET/out
    mkdir -p "$SRV/reactor" "$OUT"
}

teardown() { fleet_down; }

# reactor_master LINE...: a master whose `reactor` has these lines.
reactor_master() {
    start_master "file_roots: {base: [$SRV]}" "reactor:" "$@"
}

sls() { cat >"$SRV/reactor/$1.sls"; }
jid_in() { grep -oE '[0-9]{20}' <<<"$1" | head -n 1; }
send() { salt-run event.send "$@" >/dev/null; }
# at_once TAG DATA...: events one after the other without a pause, however slow the machine is.
at_once() {
    local all=()
    while [ $# -gt 0 ]; do
        all+=("{\"op\":\"fire\",\"tag\":\"$1\",\"data\":$2}")
        shift 2
    done
    ask "${all[@]}" >/dev/null
}
waiting_is() { [ "$(ask '{"op":"status"}' | grep -oE '"waiting":[0-9]+' | cut -d: -f2)" "$1" "$2" ]; }
nothing_reacts() { ask '{"op":"status"}' | grep -qE '"waiting":0,"under_way":0,'; }
minion_up() {
    local id
    for id; do start_minion "$id"; done
    accept "$@"
    wait_connected "$@"
    wait_grains "$@"
}

@test "local, runner, wheel: old and new arguments, what the bus shows" {
    reactor_master "  - 'go/*': [salt://reactor/go.sls]" "  - other: $SRV/reactor/disk.sls"
    minion_up m1
    sls go <<'SLS'
touched:
  cmd.cmd.run:
    - tgt: {{ data['id'] if 'id' in data else 'm1' }}
    - arg:
      - touch {{ data['out'] }}/{{ tag.split('/')[1] }}
echoed:
  local.test.echo:
    - tgt: m1
    - args:
      - text: new-style
ran:
  runner.test.arg:
    - args:
      - foo: bar
accepted:
  wheel.key.list:
    - match: accepted
SLS
    sls disk <<'SLS'
d:
  local.test.echo: [{tgt: m1}, {arg: ['{{ saltenv }} {{ grains.id }} {{ salt['test.echo']('hello') }}']}]
SLS
    listen all
    send go/one "{\"out\": \"$OUT\"}"
    until_true 10 test -e "$OUT/one"
    event=$(wait_event all '/new".*test.echo')
    for part in '"tgt":"m1"' '"tgt_type":"glob"' "\"user\":\"$(id -un)\"" '"arg":[{"__kwarg__":true,"text":"new-style"}]' '"minions":["m1"]'; do
        grep -qF "$part" <<<"$event"
    done
    event=$(wait_event all 'salt/run/[0-9]*/ret".*runner.test.arg')
    for part in '"user":"Reactor"' '"success":true' '"kwargs":{' '"foo":"bar"'; do grep -qF "$part" <<<"$event"; done
    event=$(wait_event all 'salt/wheel/[0-9]*/ret".*wheel.key.list')
    for part in '"user":"Reactor"' '"minions":["m1"]'; do grep -qF "$part" <<<"$event"; done
    send other
    wait_event all '"fun_args":\["base .*_master hello"\]'
    unlisten all
}

@test "what is wrong is said once, with file, line and cause, in the log and as an event; others go on" {
    reactor_master "  - 'bad/*':" "    - salt://reactor/jinja.sls" "    - salt://reactor/yaml.sls" "    - salt://reactor/client.sls" \
        "    - salt://reactor/good.sls" "  - gone: [salt://reactor/nonesuch.sls, $SRV/none*.sls]"
    until_log "$FLEET/log/master" "reactor: salt://reactor/nonesuch.sls: for gone: File missing or not found."
    until_log "$FLEET/log/master" "reactor: $SRV/none\*.sls: for gone: File missing or not found."
    sls jinja <<<$'x:\n  local.test.ping:\n    - tgt: {{ data[\'nonexistent\'][\'key\'] }}'
    sls yaml <<<$'x:\n  local.test.ping: ['
    sls client <<<$'\nx:\n  nosuchclient.test.ping: []\ny:\n  runner.nosuch.fun: []\nz:\n  caller.test.ping: []\nv:\n  runner.error.error: [{name: Exception}, {message: as told}]\nw:\n  local.test.ping: [{tgt: nobody}]\nu:\n  runner.state.orchestrate: [{mods: none-such}]'
    sls good <<<$'x:\n  runner.test.arg: [{arg: [good]}]'
    listen err 'salt/*'
    send bad/1
    wait_event err '"error":"Jinja variable .dict object. has no attribute .nonexistent.*"file":"salt://reactor/jinja.sls","line":3'
    wait_event err '"error":"while parsing a flow node.ndid not find expected node content.*"file":"salt://reactor/yaml.sls","line":3'
    wait_event err '"error":".nosuchclient.test.ping.: there is no client .nosuchclient.; it is local, runner or wheel".*"line":2,"id":"x"'
    wait_event err '"error":"runner .nosuch.fun.: function not available.*"line":4,"id":"y"'
    wait_event err "caller.test.ping' runs in a minion's reactor only; the master's has 'local.test.ping' with 'tgt'.*\"id\":\"z\""
    wait_event err 'runner.error.error failed: .*as told.*"id":"v"'
    wait_event err 'runner.state.orchestrate failed; its return: salt-run jobs.lookup_jid 20[0-9]{18}".*"id":"u"'
    wait_event err "local.test.ping: no minion matched the target 'nobody'.*\"id\":\"w\""
    wait_event err 'runner.test.arg.*"good"'
    send gone
    wait_event err 'File missing or not found.*"seq":[^0].*nonesuch.sls'
    wait_event err 'File missing or not found.*"seq":[^0].*none\*.sls'
    [ "$(grep -c "has no attribute 'nonexistent'" "$FLEET/log/master")" -eq 1 ]
    [ "$(ask '{"op":"status"}' | grep -oE '"failed":[0-9]+')" = '"failed":16' ]

    # The figures, file by file.
    rule() { salt-run reactor.status --out=json | python3 -c '
import json, sys
s = json.load(sys.stdin)
r = s["rules"].get(sys.argv[1], {})
print(s["waiting"], s["under_way"], s["failed"], r.get("events"), r.get("begun"), r.get("failed"), r.get("per_minute", 0) > 0, r.get("last", {}).get("tag"), r.get("last_error", "")[:24])' "$1"; }
    rule_is() { [ "$(rule "$1")" = "$2" ]; }
    until_true 5 rule_is salt://reactor/good.sls '0 0 16 1 1 0 True bad/1 '
    rule_is salt://reactor/yaml.sls '0 0 16 1 0 1 True bad/1 while parsing a flow nod'
    rule_is "$SRV/none*.sls" "0 0 16 1 0 1 True gone File missing or not foun"
    unlisten err
}

@test "require: in order, and what requires a failed one is not run" {
    reactor_master "  - 'go/*': [salt://reactor/go.sls]"
    minion_up m1
    sls go <<SLS
second:
  local.cmd.run:
    - tgt: m1
    - arg: ['cat $OUT/first && touch $OUT/second']
    - require:
      - local: first
first:
  local.cmd.run:
    - tgt: m1
    - arg: ['echo yes > $OUT/first; exit {{ data.get("code", 0) }}']
third:
  runner.test.arg:
    - require: [second]
SLS
    listen all
    send go/1
    wait_event all 'runner.test.arg.*"success":true'
    [ -e "$OUT/second" ]
    rm "$OUT/second"
    send go/2 '{"code": 3}'
    wait_event all 'salt/reactor/error.*local.cmd.run .job [0-9]*. failed on m1.*"id":"first"'
    wait_event all 'salt/reactor/error.*"local.cmd.run was not run: it requires .first., which failed".*"id":"second"'
    wait_event all 'salt/reactor/error.*"runner.test.arg was not run: it requires .second., which failed".*"id":"third"'
    [ ! -e "$OUT/second" ]
    unlisten all
}

@test "autoscaling: a minion of the right name is accepted and gets its highstate, another one waits" {
    reactor_master "  - salt/auth: [$SRV/reactor/auth.sls]" "  - 'salt/minion/*/start': [$SRV/reactor/minion_start.sls]"
    sls auth <<'SLS'
{% if data['act'] == 'pend' and data['id'].startswith('web-asg-') %}
accept_minion:
  wheel.key.accept:
    - match: {{ data['id'] }}
{% endif %}
SLS
    sls minion_start <<'SLS'
apply_highstate:
  local.state.highstate:
    - tgt: {{ data['id'] }}
SLS
    printf 'base:\n  "web-asg-*": [web]\n' >"$SRV/top.sls"
    printf 'mark:\n  file.managed:\n    - name: %s/{{ grains.id }}\n    - contents: scaled\n' "$OUT" >"$SRV/web.sls"
    listen all
    start_minion other-1
    start_minion web-asg-1
    wait_event all 'salt/auth.*"act":"pend".*"id":"web-asg-1"'
    wait_event all 'salt/key.*"act":"accept".*"id":"web-asg-1"'
    wait_event all 'salt/minion/web-asg-1/start'
    wait_event all 'ret/web-asg-1".*state.highstate'
    [ "$(cat "$OUT/web-asg-1")" = scaled ]
    wait_key other-1 pre
    wait_key web-asg-1 acc
    unlisten all
}

@test "autoscaling: accept and highstate in one file, the second requires the first" {
    reactor_master "  - 'salt/auth': [$SRV/reactor/auth.sls]"
    sls auth <<'SLS'
{% if data['act'] == 'pend' and data['id'].startswith('web-asg-') %}
accept_minion:
  wheel.key.accept:
    - match: {{ data['id'] }}

apply_state:
  local.state.highstate:
    - tgt: {{ data['id'] }}
    - require:
      - wheel: accept_minion
{% endif %}
SLS
    printf 'base:\n  "*": [web]\n' >"$SRV/top.sls"
    printf 'mark:\n  file.managed:\n    - name: %s/{{ grains.id }}\n    - contents: scaled\n' "$OUT" >"$SRV/web.sls"
    listen all
    start_minion web-asg-1
    wait_event all 'ret/web-asg-1".*state.highstate'
    [ "$(cat "$OUT/web-asg-1")" = scaled ]
    [ "$(heard all 'salt/reactor/error')" -eq 0 ]
    unlisten all
}

@test "a file's events in their order, and a slow file stops nobody else" {
    reactor_master "  - 'n/*': [salt://reactor/count.sls]" "  - 'slow/*': [salt://reactor/slow.sls]" "renderer_functions_reactor: [cmd.run]"
    mkfifo "$OUT/gate"
    sls count <<<$'x:\n  runner.test.arg: [{arg: ["n{{ tag }}"]}]'
    sls slow <<SLS
{% set waited = salt['cmd.run']('cat $OUT/gate') %}
x:
  runner.test.arg: [{arg: ["{{ waited }}{{ tag }}"]}]
SLS
    listen all 'salt/run/*/new'
    send slow/1
    for n in {1..30}; do send "n/$n"; done
    wait_event all '"nn/30"'
    [ "$(heard all openslow)" -eq 0 ]
    diff <(grep -oE '"nn/[0-9]+"' "$FLEET/log/listen-all") <(printf '"nn/%d"\n' {1..30})
    echo open >"$OUT/gate"
    wait_event all '"openslow/1"'
    unlisten all
}

@test "a file that can't be read for now is tried again: no reaction is lost, and their order stays" {
    reactor_master "  - 'salt/job/*/ret/m1': [salt://reactor/count.sls]"
    start_minion m1
    wait_key m1 pre
    accept m1
    wait_connected m1
    sls count <<<$'x:\n  runner.test.arg: [{arg: ["n{{ data.return }}"]}]'
    listen all 'salt/*'
    local n
    for n in 1 2 3; do salt m1 cmd.run "until test -e $OUT/go$n; do sleep 0.02; done; echo $n" --async; done
    # All that it has open stays so; it opens nothing more.
    n=0
    need_descriptors_of "$(pid_of master)"
    while [ -e "/proc/$(pid_of master)/fd/$n" ]; do n=$((n + 1)); done
    prlimit --pid "$(pid_of master)" --nofile="$n":
    touch "$OUT/go1"
    until_log "$FLEET/log/master" 'reactor: .*count.sls: .*Too many open files.*; it is tried again for a minute'
    touch "$OUT/go2"
    wait_event all '"salt/job/[0-9]*/ret/m1".*"return":"2"'
    touch "$OUT/go3"
    prlimit --pid "$(pid_of master)" --nofile=1024:
    wait_event all '"salt/run/[0-9]*/new".*"n3"'
    diff <(grep '"salt/run/[0-9]*/new"' "$FLEET/log/listen-all" | grep -oE '"n[1-3]"') <(printf '"n%d"\n' {1..3})
    [ "$(heard all 'salt/reactor/error')" -eq 0 ]
    unlisten all
}

# A reactor with so much room, whose file waits at the gate with the first event.
gated_reactor() {
    reactor_master "  - 'slow/*': [salt://reactor/slow.sls]" "reactor_worker_hwm: $1" "renderer_functions_reactor: [cmd.run]"
    mkfifo "$OUT/gate"
    sls slow <<SLS
{% if tag == 'slow/1' %}{% do salt['cmd.run']('cat $OUT/gate') %}{% endif %}
x:
  runner.test.arg: [{arg: ["did {{ tag }}"]}]
SLS
}

@test "a backlog: a figure, an event, and nothing is lost" {
    gated_reactor 20
    listen run 'salt/run/*/new'
    listen log 'salt/reactor/backlog'
    for n in {1..40}; do send "slow/$n"; done
    event=$(wait_event log 'salt/reactor/backlog')
    [ "$(grep -oE '"waiting":[0-9]+' <<<"$event" | cut -d: -f2)" -ge 3 ]
    until_true 10 waiting_is -ge 3
    until_log "$FLEET/log/master" 'reactor: [0-9]+ reactions wait'
    echo open >"$OUT/gate"
    wait_event run '"did slow/40"'
    diff <(grep -oE '"did slow/[0-9]+"' "$FLEET/log/listen-run") <(printf '"did slow/%d"\n' {1..40})
    until_true 10 waiting_is -eq 0
    unlisten run
    unlisten log
}

@test "a reaction for which the master has no place at the moment is begun when there is one" {
    reactor_master "  - 'go/*': [salt://reactor/go.sls]"
    sls go <<<$'x:\n  runner.salt.cmd: [{arg: [test.echo, "did {{ tag }}"]}]'
    mkfifo "$OUT/gate"
    local n all=()
    listen run 'salt/run/*/ret'
    for n in {1..32}; do all+=("{\"op\":\"runner\",\"fun\":\"salt.cmd\",\"arg\":[\"cmd.run\",\"cat $OUT/gate\"]}"); done
    for n in {1..1000}; do all+=('{"op":"runner","fun":"salt.cmd","arg":["test.ping"]}'); done
    ask "${all[@]}" '{"op":"fire","tag":"go/1","data":{}}' >/dev/null
    until_log "$FLEET/log/master" 'reactor: runner.salt.cmd: 1000 functions wait for one of 32 workers already; it is tried again'
    : >"$OUT/gate"
    wait_event run '"return":"did go/1"'
    unlisten run
}

@test "a backlog longer than the journal: what was dropped is said" {
    gated_reactor 2
    listen run 'salt/run/*/new'
    listen errors 'salt/reactor/error'
    local n
    for n in {1..4}; do send "slow/$n"; done
    until_true 10 waiting_is -ge 2
    for n in {5..9}; do send "slow/$n"; done
    # Other tags from now on: what there is no room for yet is read in the journal.
    ask '{"op":"reactor","action":"add","event":"other","reactors":["salt://reactor/slow.sls"]}' | grep -q 'Reactor added'
    # As a journal that has taken a million events since.
    python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=30) as db:
    db.execute("DELETE FROM event_blocks WHERE last < (SELECT max(first) FROM event_blocks WHERE instr(frames, ?))", ("\"tag\":\"slow/9\"",))' "$FLEET/master/var/cache/salt/master/jobs.db"
    echo open >"$OUT/gate"
    wait_event run '"did slow/9"'
    wait_event errors 'events [0-9]* to [0-9]* are no longer in the journal'
    [ "$(heard run '"did slow/8"')" -eq 0 ]
    unlisten run
    unlisten errors
}

@test "a loop is found and cut: jobs, events of jobs, runs" {
    reactor_master "  - 'salt/job/*/ret/*': [salt://reactor/ret.sls]" "  - again: [salt://reactor/again.sls]"
    minion_up m1
    sls ret <<<$'{% if data.fun == "test.echo" %}\nx:\n  local.test.echo: [{tgt: m1}, {arg: [once more]}]\n{% endif %}'
    sls again <<<$'x:\n  local.event.send: [{tgt: m1}, {arg: [again]}]'
    listen all
    salt m1 test.echo begin >/dev/null
    wait_event all 'salt/reactor/error.*a loop: local.test.echo would be its own descendant for the 11th time, and is cut'
    [ "$(heard all '/ret/m1".*once more')" -eq 10 ]
    send again
    wait_event all 'salt/reactor/error.*a loop: local.event.send'
    [ "$(heard all '"push":"event".*"tag":"again"')" -eq 11 ]
    unlisten all
}

@test "SIGHUP, and the runner: list, add, delete, leader" {
    reactor_master "  - one: [salt://reactor/one.sls]"
    sls one <<<$'x:\n  runner.test.arg: [{arg: ["one of {{ tag }}"]}]'
    listen all 'salt/run/*/new'
    run salt-run reactor.list --out=json
    same_as "$output" <<'OUT'
[
    {
        "one": [
            "salt://reactor/one.sls"
        ]
    }
]
OUT
    salt-run reactor.add two reactors=salt://reactor/one.sls --out=json | grep -q '"comment": "Reactor added."'
    salt-run reactor.add two reactors=salt://reactor/one.sls --out=json | grep -q '"comment": "Reactor already exists."'
    until_true 5 event_reacts two 'one of two'
    salt-run reactor.delete two --out=json | grep -q '"comment": "Reactor deleted."'
    salt-run reactor.delete two --out=json | grep -q '"comment": "Reactor does not exists."'
    [ "$(salt-run reactor.is_leader --out=json)" = true ]
    [ "$(salt-run reactor.set_leader False --out=json)" = false ]
    [ "$(salt-run reactor.is_leader --out=json)" = false ]
    send one
    [ "$(salt-run reactor.set_leader True --out=json)" = true ]
    until_true 5 event_reacts one 'one of one'
    sed -i 's/  - one:/  - three:/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 5 event_reacts three 'one of three'
    run salt-run reactor.list --out=json
    [[ $output == *three* ]]
    sed -i 's/  - three:.*/  - four/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" "reload: the old configuration stays: .*line [0-9]+: entry 1 of 'reactor': it is a mapping of a tag to files"
    # salt-run would refuse this configuration too.
    ask '{"op":"reactor","action":"list"}' | grep -q three
    unlisten all
}
event_reacts() { send "$1" && grep -q "$2" "$FLEET/log/listen-all"; }

@test "a store that can't be opened: the master answers all the same, and events react when it can" {
    start_master "file_roots: {base: [$SRV]}"
    sls one <<<$'x:\n  runner.test.arg: [{arg: ["one of {{ tag }}"]}]'
    local db=$FLEET/master/var/cache/salt/master/jobs.db n
    # At one time: the master would make a new one in between.
    ln "$db" "$db.away"
    ln -s "$db.none/x" "$db.link"
    mv -T "$db.link" "$db"
    ask '{"op":"reactor","action":"add","event":"first/*","reactors":["salt://reactor/one.sls"]}' | grep -q 'Reactor added'
    until_log "$FLEET/log/master" 'reactor: .*jobs.db'
    for n in 1 2 3; do
        timeout 5 "$HALITE_TOOLS/local" "$SOCK_DIR" '{"op":"reactor","action":"set_leader","value":true}' | grep -q '"result":true'
    done
    kill -HUP "$(pid_of master)"
    until_true 5 master_lists_none
    mv -T "$db.away" "$db"
    until_log "$FLEET/log/master" 'reactor: the store can be read again'
    ask '{"op":"reactor","action":"add","event":"first/*","reactors":["salt://reactor/one.sls"]}' | grep -q 'Reactor added'
    listen all 'salt/run/*/new'
    send first/1
    wait_event all '"one of first/1"'
    unlisten all
    stop master
    [ "$RC" -eq 0 ]
}
# salt-run can't read the store either.
master_lists_none() { ask '{"op":"reactor","action":"list"}' | grep -qF '"result":[]'; }

@test "events behind an added reactor react, those before it and behind its end don't" {
    local n event=()
    reactor_master "  - 'go/*': [salt://reactor/one.sls]"
    sls one <<<$'x:\n  runner.test.arg: [{arg: ["one of {{ tag }}"]}]'
    listen all 'salt/run/*/new'
    send go/1
    wait_event all '"one of go/1"'
    # Nobody waits for the reactor's thread between one and the next.
    for n in {1..8}; do
        event+=("{\"op\":\"fire\",\"tag\":\"new$n/before\",\"data\":{}}"
            "{\"op\":\"reactor\",\"action\":\"add\",\"event\":\"new$n/*\",\"reactors\":[\"salt://reactor/one.sls\"]}"
            "{\"op\":\"fire\",\"tag\":\"new$n/while\",\"data\":{}}"
            "{\"op\":\"reactor\",\"action\":\"delete\",\"event\":\"new$n/*\"}"
            "{\"op\":\"fire\",\"tag\":\"new$n/after\",\"data\":{}}")
    done
    ask "${event[@]}" '{"op":"fire","tag":"go/2","data":{}}' >/dev/null
    wait_event all '"one of go/2"'
    # Runners that begin at one time are told in any order.
    for n in {1..8}; do wait_event all "\"one of new$n/while\""; done
    until_true 10 nothing_reacts
    diff <(grep -oE '"one of new[^"]*"' "$FLEET/log/listen-all" | sort) <(printf '"one of new%d/while"\n' {1..8})
    unlisten all
}

@test "lists of master.d are merged, a reactor in a file of its own, an empty list" {
    mkdir -p "$FLEET/etc/master.d"
    printf 'reactor:\n  - a: [salt://reactor/a.sls]\n' >"$FLEET/etc/master.d/a.conf"
    printf 'reactor:\n  - b: salt://reactor/b.sls\n' >"$FLEET/etc/master.d/b.conf"
    start_master "file_roots: {base: [$SRV]}"
    sls a <<<$'x:\n  runner.test.arg: [{arg: [file a]}]'
    sls b <<<$'x:\n  runner.test.arg: [{arg: [file b]}]'
    listen all 'salt/run/*/new'
    send a
    send b
    wait_event all '"file a"'
    wait_event all '"file b"'
    rm "$FLEET/etc/master.d/a.conf"
    printf -- '- c: [salt://reactor/a.sls]\n' >"$FLEET/reactor.yaml"
    printf 'reactor: %s/reactor.yaml\n' "$FLEET" >"$FLEET/etc/master.d/b.conf"
    kill -HUP "$(pid_of master)"
    until_true 5 event_count c 'file a' 2
    salt-run reactor.list --out=json | grep -q '"c"'
    not salt-run reactor.add d reactors=/x.sls >"$FLEET/said" 2>&1
    grep -q "the reactors are in $FLEET/reactor.yaml: change them there" "$FLEET/said"
    rm "$FLEET/etc/master.d/b.conf"
    kill -HUP "$(pid_of master)"
    until_true 5 list_is_empty
    unlisten all
}
event_count() { send "$1" && [ "$(grep -c "$2" "$FLEET/log/listen-all")" -ge "$3" ]; }
list_is_empty() { [ "$(salt-run reactor.list --out=json)" = '[]' ]; }

@test "conditions and throttles, also across a restart" {
    reactor_master \
        "  - {name: both, when: {all: [a, {tag: b, match: {kind: good}}]}, group_by: host, do: salt://reactor/said.sls}" \
        "  - {name: late, when: {not_all: [begin, end]}, within: 1, do: salt://reactor/said.sls}" \
        "  - {name: once, when: c, throttle: {once_within: 60}, do: salt://reactor/said.sls}" \
        "  - {name: quiet, when: d, throttle: {once_after: 0.5}, do: salt://reactor/said.sls}"
    sls said <<<$'x:\n  runner.test.arg: [{arg: ["{{ tag }} {{ group }} {{ count }} {{ missing | default(\'\') }}"]}]'
    listen all 'salt/run/*/new'
    send a '{"host": "h1"}'
    send a '{"host": "h2"}'
    send b '{"host": "h2", "kind": "bad"}'
    send c
    send c
    send begin
    at_once d '{}' d '{}'
    wait_event all '"c None 1 "'
    wait_event all '"d None 2 "'
    wait_event all "\"begin None 1 \['end'\]\""
    unlisten all
    stop master KILL
    start_master
    listen all 'salt/run/*/new'
    send b '{"host": "h2", "kind": "good"}'
    send c
    wait_event all '"b h2 2 "'
    send b '{"host": "h1", "kind": "good"}'
    wait_event all '"b h1 2 "'
    [ "$(heard all '"c None')" -eq 0 ]
    unlisten all
}

# Events that minions' jobs count: each reaction appends its number to a file.
@test "kill -9 of the master at any point: each reaction runs exactly once" {
    local total=0 round n
    reactor_master "  - 'n/*': [salt://reactor/n.sls]"
    minion_up m1
    sls n <<SLS
x:
  local.cmd.run:
    - tgt: m1
    - arg: ['echo {{ data["n"] }} >> $OUT/done']
SLS
    for round in {1..8}; do
        for n in {1..12}; do
            total=$((total + 1))
            send "n/$total" "{\"n\": $total}"
        done
        # After 0 to 70 ms of work: none of it waits for anything in the test.
        read -rt "0.0$((round - 1))" <> <(:) || :
        stop master KILL
        start_master
        wait_connected m1
    done
    done_is() { [ "$(sort -u "$OUT/done" | wc -l)" -ge "$1" ]; }
    # What the bus had not kept when the master died never was: the events that are there count.
    total=$(ask '{"op":"journal","from":1,"tags":["n/*"]}' | grep -oE '"tag":"n/[0-9]+"' | sort -u | wc -l)
    until_true 20 done_is "$total"
    [ -z "$(sort "$OUT/done" | uniq -d)" ]
    [ "$(wc -l <"$OUT/done")" -eq "$total" ]
}

@test "a reaction whose job is forgotten while an earlier one waits is not begun again" {
    reactor_master "  - wait: [salt://reactor/wait.sls]" "  - 'go/*': [salt://reactor/go.sls]" "keep_jobs_seconds: 1" "loop_interval: 1"
    mkfifo "$OUT/gate"
    sls wait <<SLS
long:
  runner.salt.cmd: [{arg: [cmd.run, 'cat $OUT/gate']}]
behind:
  runner.test.arg: [{require: [long]}]
SLS
    sls go <<<"x: {runner.salt.cmd: [{arg: [cmd.shell, 'echo {{ tag }} >> $OUT/done']}]}"
    listen all 'salt/run/*'
    send wait
    wait_event all '/new".*gate'
    send go/1
    wait_event all '/ret".*echo go/1'
    local jid gate
    jid=$(jid_in "$(grep '/ret".*echo go/1' "$FLEET/log/listen-all")")
    until_true 10 is_forgotten "$jid"
    unlisten all
    stop master KILL
    start_master
    send go/2
    until_true 10 grep -q go/2 "$OUT/done"
    until_true 10 nothing_reacts
    [ "$(cat "$OUT/done")" = $'go/1\ngo/2' ]
    exec {gate}<>"$OUT/gate" # the first one still waits there
    echo open >&"$gate"
    exec {gate}>&-
}
is_forgotten() { ! salt-run jobs.list_jobs --out=json | grep -q "$1"; }

@test "a minion's own reactor: caller, from salt-call and from jobs, without a master" {
    sls caller <<SLS
mycaller:
  caller.file.touch:
    - args:
      - name: $OUT/{{ data['name'] }}
wrong:
  local.test.ping: [{tgt: m1}]
after:
  caller.cmd.run:
    - arg: ['echo {{ tag }} {{ grains.id }} > $OUT/{{ data['name'] }}.after']
    - kwarg: {python_shell: true}
    - require:
      - caller: mycaller
fails:
  caller.cmd.run: [{args: [exit 3, {python_shell: true}]}]
not_run:
  caller.file.touch:
    - args: [$OUT/never]
    - require: [fails]
SLS
    start_minion less "file_client: local" "master_type: disable" "file_roots: {base: [$SRV]}" \
        "reactor: [{'x/*': [salt://reactor/caller.sls, /nonexistent.sls]}]"
    until_log "$FLEET/log/less" 'reactor: /nonexistent.sls: for x/\*: File missing or not found.'
    until_true 5 test -S "$FLEET/less/var/run/salt/minion/minion.sock"
    run salt_call less --local event.fire '{name: one}' x/caller
    [[ $output == *True* ]]
    until_true 10 test -s "$OUT/one.after"
    [ -e "$OUT/one" ]
    [ "$(cat "$OUT/one.after")" = "x/caller less" ]
    until_log "$FLEET/log/less" "reactor: salt://reactor/caller.sls, line 5, wrong: a minion's reactor has 'caller.test.ping' only, not 'local'"
    until_log "$FLEET/log/less" 'reactor: salt://reactor/caller.sls, line 15, not_run: not run: what it requires failed'
    [ ! -e "$OUT/never" ]
    for n in {1..5}; do salt_call less --local event.send "x/$n" name="n$n" >/dev/null; done
    until_true 10 test -s "$OUT/n5.after"
    stop less
    [ "$RC" -eq 0 ]
    [ ! -e "$FLEET/less/var/run/salt/minion/minion.sock" ]
}

# A child that is forked has the descriptors of who listens then: those of lines that have ended keep nobody busy, and who is
# cut off hears it.
@test "a minion's bus: lines end while a job runs that began beside them" {
    mkfifo "$OUT/gate"
    sls long <<SLS
long:
  caller.cmd.run: [{args: ['echo > $OUT/began; read line < $OUT/gate', {python_shell: true}]}]
SLS
    start_minion bus "file_client: local" "master_type: disable" "file_roots: {base: [$SRV]}" "reactor: [long: [salt://reactor/long.sls]]"
    until_true 5 test -S "$FLEET/bus/var/run/salt/minion/minion.sock"
    run timeout 30 python3 - "$FLEET/bus/var/run/salt/minion/minion.sock" "$(pid_of bus)" "$OUT" <<'PY'
import json, os, socket, struct, sys, time
path, pid, out = sys.argv[1:]
def line():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s
def fire(s, tag):
    text = json.dumps({"op": "event", "tag": tag, "data": {}}).encode()
    s.sendall(struct.pack("!I", len(text)) + text)
    assert b'"ok":true' in s.recv(65536)
def waits():
    return next(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith("voluntary"))
gone, cut = line(), line()
fire(cut, "other")
fire(gone, "long")
while not os.path.exists(out + "/began"):
    time.sleep(0.025)
cut.sendall(b"\xff\xff\xff\xff")
while cut.recv(65536):
    pass
gone.close()
# It sleeps after each event; one that is kept busy never does.
for i in range(20):
    before = waits()
    s = line()
    fire(s, "other")
    s.close()
    while waits() == before:
        time.sleep(0.005)
PY
    echo "$output" >&2
    echo >"$OUT/gate"
    [ "$status" -eq 0 ]
}

# In the kernel's recvfrom, which is what waits for the job server's answer.
asks_minion() { grep -qE '^(45|207) ' "/proc/$1/syscall"; }

@test "a minion's reactor: the event that a job fired last, before it was killed" {
    local child words=(cmd.run) args=("echo \$PPID > $OUT/child; read line < $OUT/gate") n
    mkfifo "$OUT/gate" "$OUT/long"
    cat >"$OUT/long.sls" <<SLS
long:
  caller.cmd.run: [{args: ['echo {{ data.n }} >> $OUT/began; read line < $OUT/long', {python_shell: true}]}]
SLS
    cat >"$OUT/short.sls" <<SLS
short:
  caller.file.touch: [{args: [$OUT/short]}]
SLS
    start_master
    start_minion m1 "reactor: [long: [$OUT/long.sls], short: [$OUT/short.sls]]"
    accept m1
    wait_connected m1
    # More than the job server hears of one job in one turn.
    for n in {1..80}; do
        words+=(event.fire_master)
        args+=(, '{}' "n/$n")
    done
    words+=(event.fire)
    jid=$(jid_in "$(salt m1 --async "$(IFS=, && echo "${words[*]}")" "${args[@]}" , '{n: 1}' long)")
    until_true 10 test -s "$OUT/child"
    child=$(cat "$OUT/child")
    [ -r "/proc/$child/syscall" ] || skip "the kernel does not tell what a process waits in"
    kill -STOP "$(pid_of m1)"
    echo >"$OUT/gate"
    until_true 10 asks_minion "$child"
    kill -KILL "$child"
    kill -CONT "$(pid_of m1)"
    until_true 10 test -s "$OUT/began"
    salt_call m1 event.fire '{n: 2}' long >/dev/null
    salt_call m1 event.fire '{}' short >/dev/null
    until_true 10 test -e "$OUT/short"
    [ "$(cat "$OUT/began")" = 1 ] # one event of a file at a time: its job is known
    echo >"$OUT/long"
    until_true 10 grep -q 2 "$OUT/began"
    echo >"$OUT/long"
    until_true 10 lookup_has "$jid" 'signal 9'
}
lookup_has() { salt-run jobs.lookup_jid "$1" --out=json | grep -q "$2"; }

@test "what Salt's reactor did, event by event" {
    local reference=${HALITE_REFERENCE:-$HALITE_SRC/../shared/reference/transcripts} name
    [ -d "$reference" ] || skip "no transcripts at $reference"
    rm -r "$SRV" && cp -r "$reference/../srv/salt" "$SRV"
    grep -rl REF/out "$SRV/reactor" | xargs sed -i "s|REF/out|$OUT|g"
    reactor_master "  - anchors/touch: [salt://reactor/touch.sls]" "  - 'anchors/r/glob/*': [salt://reactor/newlocal.sls, salt://reactor/ping.sls]" \
        "  - anchors/ping: [salt://reactor/ping.sls]" "  - anchors/r/missing: [salt://reactor/nonesuch.sls]" \
        "$(for name in badtype caller jinja_err newlocal oldcmd runner runner_old wheel yaml_err; do echo "  - anchors/r/$name: [salt://reactor/$name.sls]"; done)"
    minion_conf m001 'log_level: warning'
    cp "$FLEET/etc/m001/minion" "$FLEET/etc/minion"
    start_minion m001
    accept m001
    wait_connected m001
    PATH=$HALITE_BIN:$PATH HALITE_TOOLS=$HALITE_TOOLS SLOW=$SLOW run "$HALITE_SRC/tests/lib/replay_reactor.py" "$reference" "$HALITE_SRC/tests/DIFFERENCES.md"
    echo "$output" >&2
    [ "$status" -eq 0 ]
    [ -e "$OUT/react-1" ]
}

@test "a loop by way of an orchestration is cut too" {
    reactor_master "  - 'salt/job/*/ret/*': [salt://reactor/ret.sls]"
    minion_up m1
    sls ret <<<$'{% if data.fun == "test.echo" %}\nx:\n  runner.state.orchestrate: [{args: [{mods: once_more}]}]\n{% endif %}'
    printf 'more:\n  salt.function:\n    - name: test.echo\n    - tgt: m1\n    - arg: [more]\n' >"$SRV/once_more.sls"
    listen all
    salt m1 test.echo begin >/dev/null
    wait_event all 'salt/reactor/error.*a loop: runner.state.orchestrate would be its own descendant for the 11th time, and is cut' 30
    [ "$(heard all '/ret/m1".*"fun":"test.echo"')" -eq 11 ]
    unlisten all
}

@test "more tags than a listener may name" {
    local n
    reactor_master "$(for n in {1..1100}; do echo "  - t/$n: [salt://reactor/t.sls]"; done)"
    sls t <<<$'x:\n  runner.test.arg: [{arg: ["did {{ tag }}"]}]'
    listen all 'salt/run/*/new'
    send t/1
    send t/1100
    wait_event all '"did t/1"'
    wait_event all '"did t/1100"'
    unlisten all
}

@test "the examples of srv" {
    mkdir -p "$FLEET/etc/master.d"
    sed "s|/srv/reactor|$HALITE_SRC/srv/reactor|; s/within: 600/within: 1/; s/once_after: 30/once_after: 0.3/" "$HALITE_SRC/srv/master.d/conditions.conf" >"$FLEET/etc/master.d/conditions.conf"
    start_master
    minion_up m1
    listen all
    at_once site/deployment/begun '{"data":{"deployment":1}}' site/deployment/begun '{"data":{"deployment":2}}' \
        site/deployment/ended '{"data":{"deployment":1}}' site/pillar/changed '{}' site/pillar/changed '{}'
    wait_event all '"tag":"site/alert".*"because":"site/deployment/begun".*"missing":\["site/deployment/ended"\]'
    wait_event all '/new".*saltutil.refresh_pillar'
    salt m1 state.single test.fail_without_changes name=x >/dev/null || :
    wait_event all '"tag":"site/alert".*"because":"salt/job/[0-9]*/ret/m1"'
    send site/web/ready '{"data": {"cluster": "red"}}'
    send site/database/ready '{"data": {"cluster": "red"}}'
    wait_event all "salt/reactor/error.*no minion matched the target 'cluster:red'"
    [ "$(heard all '"seq":[0-9]*,"tag":"site/alert","data":[{]"because":"site/deployment')" -eq 1 ]
    [ "$(heard all '/new".*saltutil.refresh_pillar')" -eq 1 ]
    unlisten all
}

@test "what files may call and how they may be written: runners, pillar, imports, Python" {
    reactor_master "  - call: [salt://reactor/call.sls]" "  - py: [salt://reactor/py.sls]" "pillar_roots: {base: [$FLEET/pillar]}" \
        "renderer_functions_reactor: [py]"
    mkdir "$FLEET/pillar"
    printf 'base:\n  "*_master": [m]\n' >"$FLEET/pillar/top.sls"
    printf 'secret: of the master\n' >"$FLEET/pillar/m.sls"
    printf '{%% set name = "imported" %%}\n' >"$SRV/reactor/map.jinja"
    sls call <<'SLS'
{% from "reactor/map.jinja" import name %}
{% set keys = salt['saltutil.runner']('test.arg', arg=['x'], kwarg={'k': 1}) %}
x:
  runner.test.arg:
    - arg:
      - "{{ name }}, {{ pillar.secret }}, {{ salt['pillar.get']('secret') }}, {{ keys.args }} {{ keys.kwargs.k }}"
      - {{ data.body | load_json | json }}
      - {{ data['path'].split('/')[1] }}
      - "{{ salt.hashutil.digest('a', 'md5') }}"
SLS
    sls py <<'SLS'
#!py
def run():
    return {"x": {"runner.test.arg": [{"args": ["python", {"tag": tag, "n": data["n"] + 1, "os": __grains__["kernel"]}]}]}}
SLS
    listen all 'salt/run/*/new'
    send call '{"body": "{\"a\": [1, 2]}", "path": "one/two"}'
    wait_event all '"imported, of the master, of the master, \[.x.\] 1",\{"a":\[1,2\]\},"two","0cc175b9c0f1b6a831c399e269772661"'
    send py '{"n": 4}'
    wait_event all '"python",\{"tag":"py","n":5,"os":"Linux"\}'
    unlisten all
}

@test "a loop of events that runners fire, and of jobs that they publish" {
    reactor_master "  - again: [salt://reactor/again.sls]" "  - 'salt/job/*/ret/*': [salt://reactor/ret.sls]"
    minion_up m1
    sls again <<<$'x:\n  runner.event.send: [{args: [{tag: again}]}]'
    sls ret <<<$'{% if data.fun == "test.echo" %}\ny:\n  runner.salt.execute: [{args: [{tgt: m1}, {fun: test.echo}, {arg: [more]}]}]\n{% endif %}'
    listen all
    send again
    wait_event all 'salt/reactor/error.*a loop: runner.event.send would be its own descendant for the 11th time'
    [ "$(heard all '"seq":[0-9]*,"tag":"again"')" -eq 11 ]
    salt m1 test.echo begin >/dev/null
    wait_event all 'salt/reactor/error.*a loop: runner.salt.execute' 30
    [ "$(heard all '/ret/m1".*"fun":"test.echo"')" -eq 11 ]
    unlisten all
}

@test "a file that is named twice reacts once, an ID in two files twice" {
    reactor_master "  - 'two/*': ['$SRV/reactor/*.sls', $SRV/reactor/a.sls]"
    mkfifo "$OUT/gate"
    sls a <<<$'x:\n  runner.salt.cmd: [{arg: [cmd.run, "cat '"$OUT"$'/gate"]}]'
    sls b <<<$'x:\n  runner.test.arg: [{arg: [b]}]'
    listen all 'salt/run/*'
    send two/1
    wait_event all '/new".*runner.salt.cmd'
    wait_event all '/ret".*"b"'
    echo open >"$OUT/gate"
    wait_event all '/ret".*runner.salt.cmd'
    send two/2
    until_true 5 test -p "$OUT/gate"
    wait_event all '/new".*runner.salt.cmd'
    echo open >"$OUT/gate"
    until_true 10 all_over 2
    until_true 10 waiting_is -eq 0
    [ "$(ask '{"op":"status"}' | grep -oE '"under_way":[0-9]+')" = '"under_way":0' ]
    unlisten all
}
all_over() { [ "$(heard all '/ret".*runner.salt.cmd')" -eq "$1" ] && [ "$(heard all '/ret".*"b"')" -eq "$1" ]; }

@test "the master ends although a file renders still, and takes the event up again" {
    reactor_master "  - 'slow/*': [salt://reactor/slow.sls]"
    sls slow <<<$'{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}'
    send slow/1
    until_true 5 looked_at "$(ask '{"op":"journal","from":1,"tags":["slow/*"]}' | field seq)"
    stop master
    [ "$RC" -eq 0 ]
    sls slow <<<$'x:\n  runner.test.arg: [{arg: ["did {{ tag }}"]}]'
    start_master
    until_true 10 looked_up
}
looked_at() { [ "$(ask '{"op":"status"}' | sed 's/.*"reactor"://' | field seq)" -ge "$1" ]; }
looked_up() { ask '{"op":"journal","from":1,"tags":["salt/run/*/ret"]}' | grep -q '"did slow/1"'; }
