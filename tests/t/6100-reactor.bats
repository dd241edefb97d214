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
waiting_is() { [ "$(ask '{"op":"status"}' | grep -oE '"waiting":[0-9]+' | cut -d: -f2)" "$1" "$2" ]; }
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
    for part in '"tgt":"m1"' '"tgt_type":"glob"' '"user":"root"' '"arg":[{"__kwarg__":true,"text":"new-style"}]' '"minions":["m1"]'; do
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
