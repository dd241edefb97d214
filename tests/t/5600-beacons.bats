#!/usr/bin/env bats
# 5600-beacons.bats - what happens on a minion comes in as events: configuration, life, changes, storms, Python.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    SRV=$FLEET/srv
    W=$FLEET/watched
    mkdir -p "$SRV/reactor" "$SRV/_beacons" "$W"
}

teardown() { fleet_down; }

# The minion's configuration is read again.
reload() { kill -HUP "$(pid_of "$1")"; }
# set_beacons ID TEXT: its file of beacons.
set_beacons() {
    mkdir -p "$FLEET/etc/$1/minion.d"
    printf '%s\n' "$2" >"$FLEET/etc/$1/minion.d/beacons.conf"
}
said() { grep -qE -- "$2" "$FLEET/log/$1"; }

@test "from a file's change to the job of a reaction; interval, enabled, run_once, reload" {
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}" "reactor: ['salt/beacon/m1/inotify/*': [salt://reactor/changed.sls]]"
    cat >"$SRV/reactor/changed.sls" <<SLS
told:
  local.cmd.run:
    - tgt: {{ data['id'] }}
    - arg: ['echo {{ data["change"] }} {{ data["path"] }} >>$FLEET/told']
SLS
    listen all 'salt/beacon/*'
    start_minion m1 "beacons: {inotify: [files: {$W: {mask: [create, delete]}}], memusage: [percent: 0%, interval: 1], swapusage: [percent: 0, run_once: True], load: [averages: {1m: [1000, 2000]}, enabled: False]}"
    wait_connected m1
    wait_event all 'salt/beacon/m1/memusage/.*"memusage":[0-9]'
    wait_event all 'salt/beacon/m1/swapusage/.*"swapusage":[0-9]'
    touch "$W/one"
    wait_event all "salt/beacon/m1/inotify/$W.*\"path\":\"$W/one\",\"change\":\"IN_CREATE\""
    until_true 10 grep -q "IN_CREATE $W/one" "$FLEET/told"
    until_true 10 eval '[ "$(heard all "beacon/m1/memusage/")" -ge 3 ]'
    [ "$(heard all 'beacon/m1/swapusage/')" = 1 ]
    [ "$(heard all 'beacon/m1/load/')" = 0 ]

    # Another file of configuration: what is gone looks no more, what is wrong is said.
    sed -i '/^beacons:/d' "$FLEET/etc/m1/minion"
    set_beacons m1 'beacons: {load: {averages: {1m: [1000, 2000]}}, memusage: [{}], diskusage: text}'
    reload m1
    wait_event all 'salt/beacon/m1/load/.*"1m":.*"5m":.*"15m":'
    until_true 5 said m1 'Beacon memusage configuration invalid, not running'
    said m1 'Configuration for memusage beacon requires percent.'
    said m1 'Configuration for diskusage beacon must be a list.'
    n=$(heard all beacon/m1/memusage/)
    touch "$W/two"
    until_true 10 eval '[ "$(heard all "beacon/m1/load/")" -ge 2 ]'
    [ "$(heard all beacon/m1/memusage/)" = "$n" ]
    [ "$(heard all '/two')" = 0 ]
}

@test "the module: add, modify, switch, save, delete, reset; the pillar's can't be changed; the state" {
    mkdir -p "$FLEET/pillar"
    echo "{base: {'*': [p]}}" >"$FLEET/pillar/top.sls"
    echo "beacons: {ps: [processes: {nothing-of-the-kind: stopped}, interval: 1]}" >"$FLEET/pillar/p.sls"
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}" "pillar_roots: {base: [$FLEET/pillar]}"
    listen all 'salt/beacon/*'
    start_minion m1
    wait_connected m1
    wait_event all 'salt/beacon/m1/ps/.*"nothing-of-the-kind":"Stopped"'

    call() { salt m1 "$@" --out=newline_values_only; }
    run -0 call beacons.add memusage '[{percent: 0%}, {interval: 1}]' test=True
    [[ $output == *"Beacon: memusage would be added."* ]]
    run -1 call beacons.add memusage '[{interval: 1}]'
    [[ $output == *"Beacon memusage configuration invalid, not adding."*"requires percent."* ]]
    run -1 call beacons.add nobeacon '[]'
    [[ $output == *'Beacon "nobeacon" is not available.'* ]]
    run -0 call beacons.add memusage '[{percent: 0%}, {interval: 1}]'
    [[ $output == *"Added beacon: memusage."* ]]
    wait_event all 'salt/beacon/m1/memusage/'
    run -0 call beacons.add memusage '[{percent: 0%}]'
    [[ $output == *"Beacon memusage is already configured."* ]]
    run -0 salt m1 beacons.modify memusage '[{percent: 1%}, {interval: 2}]' --out=json --static
    [[ $output == *'"diff": "--- \n+++ \n@@ -1,2 +1,2 @@\n-percent:0%\n-interval:1\n+percent:1%\n+interval:2\n"'* ]]
    run -1 call beacons.modify ps '[{processes: {x: stopped}}]'
    [[ $output == *"Cannot modify beacon item ps, it is configured in pillar."* ]]
    run -0 call beacons.disable_beacon memusage
    [[ $output == *"Disabled beacon memusage on minion."* ]]
    run -0 call beacons.save
    [[ $output == *"Beacons saved to $FLEET/etc/m1/minion.d/beacons.conf."* ]]
    same_as "$(cat "$FLEET/etc/m1/minion.d/beacons.conf")" <<OUT
beacons:
  memusage:
  - percent: 1%
  - interval: 2
  - enabled: false
OUT
    run -0 call beacons.list
    [[ $output == *"beacons:"*"memusage:"*"ps:"*"nothing-of-the-kind: stopped"* ]]
    run -0 call beacons.enable_beacon memusage
    n=$(heard all beacon/m1/memusage/)
    until_true 10 eval '[ "$(heard all beacon/m1/memusage/)" -gt "$n" ]'
    run -0 call beacons.disable
    run -0 call beacons.list include_pillar=False
    [[ $output == *"enabled: false"* ]]
    run -0 call beacons.enable
    run -0 call beacons.delete memusage
    [[ $output == *"Deleted beacon: memusage."* ]]
    run -0 call beacons.reset
    [[ $output == *"Beacon configuration reset."* ]]
    run -0 call beacons.list_available
    for name in inotify diskusage load ps service; do grep -qx -- "- $name" <<<"$output"; done

    # States, and a file's own beacon.
    cat >"$SRV/watch.sls" <<SLS
disk:
  beacon.present:
    - save: True
    - $W: 0%
    - beacon_module: diskusage
$W/kept:
  file.managed:
    - contents: x
    - beacon: True
    - beacon_data: {mask: [create, delete, modify], interval: 1}
SLS
    run -0 salt m1 state.apply watch
    [[ $output == *"Adding disk to beacons"*"Beacon disk saved"* ]]
    [[ $output == *"beacon_inotify_$W/kept"* ]]
    grep -q 'beacon_module: diskusage' "$FLEET/etc/m1/minion.d/beacons.conf"
    echo more >>"$W/kept"
    wait_event all "salt/beacon/m1/beacon_inotify_$W/kept/.*\"change\":\"IN_MODIFY\""
    run -0 salt m1 state.apply watch
    [[ $output == *"Job disk in correct state"* ]]
}

@test "a master that is away gets the events when it is back" {
    start_master "auto_accept: True"
    start_minion m1 "beacons: {inotify: [files: {$W: {mask: [create]}}]}"
    wait_connected m1
    stop master
    sleep 1
    touch "$W/while-away"
    start_master "auto_accept: True"
    listen all 'salt/beacon/*'
    until_true 20 eval 'grep -rqs while-away "$FLEET/master/var/cache/salt/master"'
}

@test "a minion that is killed holds what its beacons saw: each event comes after its start, once" {
    spooled() { # N: at least so many files wait in the spool
        [ "$(ls "$FLEET/m1/var/cache/salt/minion/spool" | grep -c '\.ev')" -ge "$1" ]
    }
    watches() { touch "$W/try-$RANDOM" && [ "$(heard all "$W/try")" -gt 0 ]; }
    looks() { touch "$W/try-$RANDOM" && spooled $((waiting + 1)); }
    killed() {
        kill -9 "$(pid_of m1)"
        until_true 10 test -e "$FLEET/pids/m1.rc"
    }
    start_master "auto_accept: True"
    listen all 'salt/beacon/*'
    start_minion m1 "beacons: {inotify: [files: {$W: {mask: [create]}}]}" 'beacons_before_connect: True'
    wait_connected m1
    until_true 10 watches
    stop listen-all
    stop master
    waiting=0
    for round in 1 2 3; do
        until_true 20 looks
        touch "$W/$round-"{1..40}
        waiting=$((waiting + 41))
        until_true 20 spooled "$waiting"
        waiting=$(ls "$FLEET/m1/var/cache/salt/minion/spool" | grep -c '\.ev')
        killed
        start_minion m1
    done
    start_master
    python3 - "$SOCK_DIR/master.sock" "$HALITE_SRC/tests/lib" >"$FLEET/came" <<'PY' &
import os, re, sys
sys.path.insert(1, sys.argv[2])
from halite import LocalClient
with LocalClient(sys.argv[1]) as line:
    line.send("events", tag="salt/beacon/*", since_seq=0)
    while True:
        said = line.next()
        if said.get("push") == "event" and said["data"].get("path"):
            print(os.path.basename(said["data"]["path"]), flush=True)
PY
    reader=$!
    # In the midst of it, too.
    until_true 30 test -s "$FLEET/came"
    killed
    start_minion m1
    until_true 30 eval '[ "$(grep -cE "^[123]-[0-9]+$" "$FLEET/came")" -ge 120 ]'
    touch "$W/last"
    until_true 10 eval 'touch "$W/last-$RANDOM"; grep -q ^last "$FLEET/came"'
    kill "$reader"
    [ "$(grep -E '^[123]-[0-9]+$' "$FLEET/came" | sort | uniq -c | grep -vc '^ *1 ')" = 0 ]
    [ "$(grep -cE '^[123]-[0-9]+$' "$FLEET/came")" = 120 ]
}

@test "sh: what is run in a login shell is told, of a real minion and a real shell on a terminal" {
    [ "$(id -u)" -eq 0 ] || skip "needs root: it traces shells"
    # The minion knows of this one shell alone, as it would trace everybody's.
    cp /bin/bash "$FLEET/oursh"
    printf '%s\n' "$FLEET/oursh" >"$FLEET/shells"
    unshare --mount mount --bind "$FLEET/shells" /etc/shells 2>/dev/null || skip "no mount namespace may be made"
    python3 - "$FLEET/oursh" <<'PY' || skip "ptrace is not allowed"
import ctypes, os, sys
pid = os.fork() or os.execv(sys.argv[1], [sys.argv[1], "-c", "read x"])
sys.exit(ctypes.CDLL(None).ptrace(16, pid, None, None) != 0 or os.kill(pid, 9) is not None)
PY
    start_master "auto_accept: True"
    listen all 'salt/beacon/*'
    minion_conf m1 "beacons: {sh: []}"
    daemon m1 unshare --mount --propagation private sh -c "mount --bind '$FLEET/shells' /etc/shells && exec '$HALITE_BIN/salt-minion' -c '$FLEET/etc/m1'"
    wait_connected m1
    cat >"$FLEET/type.py" <<'PY'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["-" + os.path.basename(sys.argv[1])])
end = time.monotonic() + 30
while "TracerPid:\t0\n" in open(f"/proc/{pid}/status").read():
    if time.monotonic() > end:
        sys.exit("the shell is not traced")
    time.sleep(0.05)
os.write(fd, b"/bin/echo typed by hand; /bin/true second\n/bin/ls -d /nowhere\nexit 5\n")
try:
    while os.read(fd, 1000):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
    HOME=$FLEET run -5 python3 "$FLEET/type.py" "$FLEET/oursh"
    wait_event all 'salt/beacon/m1/sh/.*"args":\["/bin/echo","typed","by","hand"\].*"user":"root"|salt/beacon/m1/sh/.*"user":"root".*"args":\["/bin/echo","typed","by","hand"\]'
    wait_event all 'salt/beacon/m1/sh/.*"cmd":"/bin/true"'
    wait_event all 'salt/beacon/m1/sh/.*"/nowhere"'
    [ "$(heard all '"/bin/echo","typed')" = 1 ]
    ping_ok m1
}

@test "a watched path that is renamed, or a link that leads elsewhere, is watched by its path; a mask of nothing is said once" {
    start_master "auto_accept: True"
    listen all 'salt/beacon/*'
    mkdir "$W/d" "$W/one" "$W/two" "$W/e"
    ln -s one "$W/link"
    start_minion m1 "beacons: {inotify: [files: {$W/d: {mask: [create]}, $W/link: {mask: [create]}, $W/e: {mask: []}}]}"
    wait_connected m1
    made() { # PATH
        touch "$1-$RANDOM" && [ "$(heard all "$1")" -gt 0 ]
    }
    until_true 10 made "$W/d/first"
    until_true 10 made "$W/link/first"
    mv "$W/d" "$W/old"
    mkdir "$W/d"
    until_true 10 made "$W/d/second"
    ln -s two "$W/link.new"
    mv -T "$W/link.new" "$W/link"
    until_true 10 made "$W/link/second"
    [ "$(heard all MOVE_SELF)" = 0 ]
    [ "$(grep -c "$W/e can't be watched" "$FLEET/log/m1")" = 1 ]
}

@test "a storm: 10,000 files in a second are few events, all are counted, and a job is not kept waiting" {
    start_master "auto_accept: True"
    listen all 'salt/beacon/*'
    start_minion m1 "beacons: {inotify: [files: {$W: {mask: [create]}}]}"
    wait_connected m1
    until_true 10 ping_ok m1
    python3 - "$W" <<'PY' &
import os, sys
for i in range(10000):
    os.close(os.open(f"{sys.argv[1]}/f{i}", os.O_CREAT | os.O_WRONLY))
PY
    maker=$!
    began=${EPOCHREALTIME/./}
    run -0 salt m1 test.ping
    [ "$(ms_since "$began")" -lt 2000 ]
    wait "$maker"
    wait_event all 'salt/beacon/m1/inotify/merged.*"merged":[0-9]+'
    counted() {
        fired=$(heard all '"change":"IN_CREATE"')
        merged=$(($(grep -oE '"merged":[0-9]+' "$FLEET/log/listen-all" | cut -d: -f2 | paste -sd+)))
        [ $((fired + merged)) = 10000 ]
    }
    until_true 15 counted
    [ "$fired" -lt 4000 ]
}

@test "a return goes to the master before the events of beacons that wait" {
    spooled() { [ "$(ls "$FLEET/m1/var/cache/salt/minion/spool" | grep -c "$1\$")" -ge "$2" ]; }
    start_master "auto_accept: True"
    start_minion m1 "beacons: {inotify: [files: {$W: {mask: [create]}}]}"
    wait_connected m1
    watches() { touch "$W/try-$RANDOM" && said m1 'beacon inotify: [1-9]'; }
    until_true 10 watches
    stop master
    touch "$W/"{1..800}
    until_true 20 spooled .ev 800
    set_beacons m1 'schedule: {late: {function: test.echo, args: [late], seconds: 3600, run_on_start: True}}'
    reload m1
    until_true 20 spooled .ret 1
    start_master
    timeout 60 python3 - "$SOCK_DIR/master.sock" "$HALITE_SRC/tests/lib" >"$FLEET/order" <<'PY'
import re, sys
sys.path.insert(1, sys.argv[2])
from halite import LocalClient
with LocalClient(sys.argv[1]) as line:
    line.send("events", tag="salt/*", since_seq=0)
    seen = 0
    while seen < 800:
        said = line.next()
        if said.get("push") != "event":
            continue
        seen += bool(re.search("/[0-9]+$", said["data"].get("path", "")))
        if said["data"].get("return") == "late":
            print("return", seen)
PY
    # At most those that were under way already go before it.
    read -r word n <"$FLEET/order"
    [ "$word" = return ] && [ "$n" -lt 300 ]
}

@test "a storm while the master is away: what finds no room is counted, told when there is some, and a line of the log" {
    start_master "auto_accept: True"
    beacons=
    for i in 0 1 2 3 4 5 6 7 8 9; do
        mkdir "$W/b$i"
        beacons+="b$i: [{beacon_module: inotify}, {files: {$W/b$i: {mask: [create]}}}], "
    done
    start_minion m1 "beacons: {$beacons}"
    wait_connected m1
    watches() { touch "$W/b9/try-$RANDOM" && said m1 'beacon b9: [1-9]'; }
    until_true 10 watches
    stop master
    for i in 0 1 2 3 4 5 6 7 8 9; do touch "$W/b$i/"{1..1200}; done
    full() { [ "$(find "$FLEET/m1/var/cache/salt/minion/spool" -name '*.ev' | wc -l)" -ge 9000 ]; }
    until_true 30 full
    until_log "$FLEET/log/m1" 'too many wait for a master; such events are only counted'
    start_master
    all_told() { # each is an event, or counted
        salt-run state.event 'salt/beacon/m1/b*' count=20000 since=10m timeout=2 >"$FLEET/told" 2>/dev/null
        fired=$(grep -cE '"path": "[^"]*/[0-9]+"' "$FLEET/told")
        merged=$(($(grep -oE '"merged": [0-9]+' "$FLEET/told" | cut -d: -f2 | paste -sd+)))
        [ $((fired + merged)) = 12000 ]
    }
    until_true 60 all_told
    [ "$fired" -ge 8900 ] && [ "$merged" -ge 2000 ]
    [ "$(grep -c 'are only counted' "$FLEET/log/m1")" = 1 ]
}

@test "quiet during a state run" {
    seen() {
        touch "$W/$1-$RANDOM"
        [ "$(heard all "$W/$1")" -gt 0 ]
    }
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}"
    listen all 'salt/beacon/*'
    start_minion m1 "beacons: {inotify: [files: {$W: {mask: [create]}}, disable_during_state_run: True]}"
    wait_connected m1
    until_true 10 seen before # a minion that is connected may not watch yet
    printf '%s/by-state:\n  file.managed: [contents: x]\n' "$W" >"$SRV/s.sls"
    run -0 salt m1 state.apply s
    until_true 10 seen after
    [ "$(heard all by-state)" = 0 ]
}

@test "Python: a user's beacon keeps its context, its failures are events, and its crash is only its own" {
    type -P python3 >/dev/null || skip "python3 is not there"
    cat >"$SRV/_beacons/counts.py" <<'PY'
import os


def validate(config):
    return isinstance(config, list) and config != [], "counts needs a list"


def beacon(config):
    __context__["n"] = __context__.get("n", 0) + 1
    if os.path.exists(config[0]["crash"]):
        os._exit(3)
    if os.path.exists(config[0]["raise"]):
        raise ValueError("as asked")
    return [{"n": __context__["n"], "tag": "seen"}]
PY
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}"
    listen all 'salt/beacon/*'
    start_minion m1 'beacons: {other: [{beacon_module: nowhere}]}'
    wait_connected m1
    run -0 salt m1 saltutil.sync_beacons
    run -0 salt m1 beacons.add counts "[{crash: $FLEET/crash, raise: $FLEET/raise}, {interval: 1}]"
    [[ $output == *"Added beacon: counts."* ]]
    wait_event all 'salt/beacon/m1/counts/seen.*"n":1'
    wait_event all 'salt/beacon/m1/counts/seen.*"n":2'
    [ "$(salt m1 saltutil.running --out=json --out-indent=-1)" = '{"m1": []}' ] # its interpreter is no job
    touch "$FLEET/raise"
    wait_event all 'salt/beacon/m1/counts/.*"error":".*as asked"'
    rm "$FLEET/raise"
    touch "$FLEET/crash"
    wait_event all 'salt/beacon/m1/counts/.*"error":"[^"]*(ended|exit)'
    rm "$FLEET/crash"
    n=$(heard all 'counts/seen')
    until_true 30 eval '[ "$(heard all counts/seen)" -gt "$n" ]'
    # One without a check of its own looks all the same, as in Salt; of one that is nowhere the event says so.
    printf 'def beacon(config):\n    return [{"tag": "seen"}]\n' >"$SRV/_beacons/plain.py"
    run -0 salt m1 saltutil.sync_beacons
    run -0 salt m1 beacons.add plain '[{interval: 1}]'
    [[ $output == *"Added beacon: plain."* ]]
    wait_event all 'salt/beacon/m1/plain/seen'
    until_log "$FLEET/log/m1" 'No validate function found for plain, running basic beacon validation.'
    wait_event all 'salt/beacon/m1/other/.*"error":"there is no beacon nowhere"'
    ping_ok m1
}

@test "looks that take long keep neither Python nor one another out" {
    type -P python3 >/dev/null || skip "python3 is not there"
    printf 'def validate(config):\n    return True, ""\n\n\ndef beacon(config):\n    return [{"tag": "seen"}]\n' >"$SRV/_beacons/quick.py"
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}"
    listen all 'salt/beacon/*'
    slow='{salt_fun: [{test.sleep: {args: [1]}}]}, {beacon_module: salt_monitor}, {interval: 1}'
    minion_conf m1 "beacons: {$(for i in 1 2 3 4 5 6; do printf 's%s: [%s], ' "$i" "$slow"; done)}"
    start_minion m1
    wait_connected m1
    for i in 1 2 3 4 5 6; do wait_event all "salt/beacon/m1/s$i/"; done
    run -0 salt m1 saltutil.sync_beacons
    run -0 salt m1 beacons.add quick '[{interval: 1}]'
    wait_event all 'salt/beacon/m1/quick/seen'
    for i in 1 2 3 4 5 6; do
        n=$(heard all "salt/beacon/m1/s$i/")
        until_true 20 eval '[ "$(heard all "salt/beacon/m1/s$i/")" -gt "$((n + 1))" ]'
    done
    grep 'children beside the jobs' "$FLEET/log/m1" && false
    true
}

# doc_part N: the Nth indented part of the manual's example.
doc_part() { awk -v n="$1" '/^## Example/ {on = 1} on && /^    / {if (!in_it) k++; in_it = 1; if (k == n) print substr($0, 5)} on && !/^    / && !/^$/ {in_it = 0}' "$ROOT_DIR/docs/beacons.md"; }

@test "the manual's example: a run in test mode by the schedule fires its drift, and the reaction repairs it" {
    ROOT_DIR=$BATS_TEST_DIRNAME/../..
    mkdir -p "$FLEET/pillar"
    echo "{base: {'*': [drift]}}" | tee "$FLEET/pillar/top.sls" >"$SRV/top.sls"
    doc_part 1 | sed 's/hours: 1/seconds: 2/; /splay/d' >"$FLEET/pillar/drift.sls"
    doc_part 3 >"$SRV/reactor/drift.sls"
    printf '%s/kept:\n  file.managed: [contents: as it should be]\n' "$W" >"$SRV/drift.sls"
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}" "pillar_roots: {base: [$FLEET/pillar]}" \
        "$(doc_part 2 | sed "s|/srv/reactor|$SRV/reactor|")"
    listen all
    start_minion m1
    wait_connected m1
    until_true 20 grep -q 'as it should be' "$W/kept"
    wait_event all 'drift/m1.*"states":\["file_'
    echo spoilt >"$W/kept"
    until_true 20 grep -q 'as it should be' "$W/kept"
}

@test "the seed's reaction to diskusage, and its beacon of latency as printed" {
    cat >"$SRV/reactor/disk_alert.sls" <<SLS
disk_alert:
  local.cmd.run:
    - tgt: {{ data['id'] }}
    - arg: ['echo disk {{ data["diskusage"] }} {{ data["mount"] }} >>$FLEET/told']
SLS
    cp "$BATS_TEST_DIRNAME/seeds/deepdive/salt/_beacons/app_latency.py" "$SRV/_beacons/"
    start_master "auto_accept: True" "file_roots: {base: [$SRV]}" "reactor: ['salt/beacon/*/diskusage/*': [$SRV/reactor/disk_alert.sls]]"
    listen all 'salt/beacon/*'
    start_minion m1 "beacons: {diskusage: [/: 0%, interval: 2]}"
    wait_connected m1
    until_true 15 grep -qE '^disk [0-9.]+ /$' "$FLEET/told"
    python3 -c 'import requests' 2>/dev/null || skip "python3-requests is not there"
    run -0 salt m1 saltutil.sync_beacons
    run -0 salt m1 beacons.add app_latency '[{url: "http://localhost:9/"}, {interval: 1}]'
    [[ $output == *"Added beacon: app_latency."* ]]
    wait_event all 'salt/beacon/m1/app_latency/unreachable.*"url":"http://localhost:9/"'
}
