#!/usr/bin/env bats
# 5000-events.bats - the event bus: who may fire, what listeners see, and what a slow one misses.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_up m1 m2
    # salt-call speaks for m1.
    cp "$FLEET/etc/m1/minion" "$FLEET/etc/minion"
    sed -i 's/^log_level: debug/log_level: warning/' "$FLEET/etc/minion"
}

teardown_file() {
    fleet_down
}

fire() { ask "{\"op\":\"fire\",\"tag\":\"$1\",\"data\":{\"n\":1}}" >"$BATS_TEST_TMPDIR/fired"; }
last_seq() { grep -oE '"seq":[0-9]+' "$BATS_TEST_TMPDIR/fired" | cut -d: -f2; }
same_as_text() { diff <(cat) <(printf '%s' "$1") >&2; }

jid_in() { grep -oE '[0-9]{20}' <<<"$1" | head -n 1; }

@test "a job's events in their order: the jid, new, one ret for each minion" {
    listen job
    jid=$(jid_in "$(salt '*' test.echo hi -v)")
    wait_event job "\"tag\":\"salt/job/$jid/ret/m1\""
    wait_event job "\"tag\":\"salt/job/$jid/ret/m2\""
    tags=$(grep -F "$jid" "$FLEET/log/listen-job" | sed -E 's/.*"tag":"([^"]*)".*/\1/')
    [ "$(head -n 2 <<<"$tags" | tr '\n' ' ')" = "$jid salt/job/$jid/new " ]
    [ "$(wc -l <<<"$tags")" -eq 4 ]
    event=$(wait_event job "salt/job/$jid/new")
    for part in '"fun":"test.echo"' '"arg":["hi"]' '"tgt":"*"' '"tgt_type":"glob"' "\"user\":\"$(id -un)\"" '"minions":["m1","m2"]' '"_stamp":"'; do
        grep -qF "$part" <<<"$event"
    done
    event=$(wait_event job "salt/job/$jid/ret/m1")
    for part in '"cmd":"_return"' '"id":"m1"' '"success":true' '"return":"hi"' '"retcode":0' '"fun":"test.echo"' '"fun_args":["hi"]'; do
        grep -qF "$part" <<<"$event"
    done
    unlisten job
}

@test "numbers without a gap, in the order of the events" {
    listen seq
    salt '*' test.ping,test.echo ,x >/dev/null
    for n in 1 2 3; do salt-run event.send "count/$n" '{"n": 1}' >/dev/null; done
    wait_event seq 'count/3'
    grep -oE '"seq":[0-9]+' "$FLEET/log/listen-seq" | cut -d: -f2 | sort -nc
    numbers=$(grep '"push":"event"' "$FLEET/log/listen-seq" | grep -oE '"seq":[0-9]+' | cut -d: -f2)
    [ $(($(tail -n 1 <<<"$numbers") - $(head -n 1 <<<"$numbers") + 1)) -eq "$(wc -l <<<"$numbers")" ]
    unlisten seq
}

@test "salt-call event.send reaches the bus with its minion's id" {
    listen call 'my/*'
    run -0 "$HALITE_BIN/salt-call" event.send my/tag '{"a": 1}' b=two
    event=$(wait_event call '"tag":"my/tag"')
    grep -qF '"id":"m1"' <<<"$event"
    grep -qF '"a":1' <<<"$event"
    grep -qF '"b":"two"' <<<"$event"
    unlisten call
}

@test "event.send in a job does too" {
    listen job 'from/*'
    run -0 salt m2 event.send from/job '{"x": [1, 2]}'
    event=$(wait_event job '"tag":"from/job"')
    grep -qF '"id":"m2"' <<<"$event"
    grep -qF '"x":[1,2]' <<<"$event"
    unlisten job
}

@test "event.fire_master as well" {
    listen fire 'fired'
    run -0 salt m1 event.fire_master '{"k": "v"}' fired
    wait_event fire '"k":"v"'
    unlisten fire
}

@test "salt-run event.send" {
    listen run 'my/run*'
    run -0 salt-run event.send my/runner '{"a": 1}'
    wait_event run '"tag":"my/runner","data":\{.*"a":1'
    unlisten run
}

@test "a runner's own events: new and ret" {
    listen runner 'salt/run/*'
    run -0 salt-run test.arg 1 k=v
    wait_event runner '/new"'
    event=$(wait_event runner '/ret"')
    grep -qF '"fun":"runner.test.arg"' <<<"$event"
    grep -qF '"success":true' <<<"$event"
    unlisten runner
}

@test "a listener sees only what its pattern matches" {
    listen narrow 'salt/job/*/ret/m2'
    salt '*' test.ping >/dev/null
    wait_event narrow '/ret/m2'
    [ "$(heard narrow '"push":"event"')" -eq 1 ]
    unlisten narrow
}

@test "several patterns, and events of before first: by number, by time, by age" {
    for n in 1 2 3; do fire "since/$n"; done
    fire other/4
    listen all 'since/*'
    first=$(last_seq)
    since() { timeout 10 "$HALITE_TOOLS/local" --follow "$1" 10 "$SOCK_DIR" "$2" | grep '"push"' | sed -E 's/.*"tag":"([^"]*)".*/\1/' | tr '\n' ' '; }
    [ "$(since 4 "{\"op\":\"events\",\"since_seq\":$((first - 4)),\"tags\":[\"since/*\",\"other/*\"]}")" = 'since/1 since/2 since/3 other/4 ' ]
    [ "$(since 2 "{\"op\":\"events\",\"since_seq\":$((first - 3)),\"tag\":\"since/*\"}")" = 'since/2 since/3 ' ]
    [ "$(since 3 '{"op":"events","since":60,"tag":"since/*"}')" = 'since/1 since/2 since/3 ' ]
    stamp=$(ask "{\"op\":\"journal\",\"from\":$((first - 2)),\"to\":$((first - 2))}" | sed -E 's/.*"_stamp":"([^"]*)".*/\1/')
    [ "$(since 2 "{\"op\":\"events\",\"since\":\"$stamp\",\"tag\":\"since/*\"}")" = 'since/2 since/3 ' ]
    not ask '{"op":"events","since":"yesterday"}'
    not ask '{"op":"events","tags":"x"}'
    not ask '{"op":"events","tags":[1]}'
    unlisten all
}

@test "since a number: then what comes, without gap or repetition" {
    for n in {1..20}; do fire "mix/$n"; done
    first=$(($(last_seq) - 20))
    "$HALITE_TOOLS/local" --follow 40 20 "$SOCK_DIR" "{\"op\":\"events\",\"since_seq\":$first,\"tag\":\"mix/*\"}" >"$BATS_TEST_TMPDIR/mix" 3>&- &
    follow=$!
    for n in {21..40}; do fire "mix/$n"; done
    wait "$follow"
    grep -oE '"tag":"mix/[0-9]+' "$BATS_TEST_TMPDIR/mix" | cut -d/ -f2 | tr '\n' ' ' | same_as_text "$(echo {1..40}) "
}

@test "the journal by number, in pieces" {
    for n in 1 2 3; do fire "piece/$n"; done
    seq=$(last_seq)
    reply=$(ask "{\"op\":\"journal\",\"from\":$((seq - 2)),\"to\":$seq,\"tags\":[\"piece/*\"]}")
    [ "$(grep -oE '"tag":"[^"]*"' <<<"$reply" | tr '\n' ' ')" = '"tag":"piece/1" "tag":"piece/2" "tag":"piece/3" ' ]
    grep -qF '"next":0' <<<"$reply"
    reply=$(ask "{\"op\":\"journal\",\"from\":$((seq + 1))}")
    grep -qF '"events":[],"next":0' <<<"$reply"
}

@test "a tag that is not a tag, and data that is not an object, are refused with the reason" {
    not ask '{"op":"fire","tag":"","data":{}}'
    not ask "{\"op\":\"fire\",\"tag\":\"$(printf 'x%.0s' {1..2000})\",\"data\":{}}"
    not ask '{"op":"fire","tag":"ok","data":[1]}'
    ask '{"op":"status"}'
}

@test "presence events tell who is there again and again, and a change when there is one only" {
    master_conf 'presence_events: true' 'loop_interval: 1'
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: [0-9]+ options? changed'
    listen there 'salt/presence/*'
    wait_event there salt/presence/present
    changes=$(heard there salt/presence/change) # both are new when the option is
    until_true 10 eval '[ "$(heard there salt/presence/present)" -ge 4 ]'
    [ "$(heard there salt/presence/change)" -eq "$changes" ]
    stop m2
    wait_event there '"tag":"salt/presence/change".*"lost":\["m2"\]'
    unlisten there
    start_minion m2
    wait_connected m2
    master_conf
    kill -HUP "$(pid_of master)"
}

@test "a minion that comes and goes is told" {
    listen minion
    stop m2
    start_minion m2
    wait_event minion '"tag":"salt/minion/m2/start"'
    wait_event minion '"tag":"minion/refresh/m2"'
    wait_event minion '"tag":"salt/auth".*"id":"m2"'
    wait_connected m2
    unlisten minion
}

@test "a hundred listeners see the same" {
    for n in {1..100}; do
        "$HALITE_TOOLS/local" --follow 1 20 "$SOCK_DIR" '{"op":"events","tag":"go/*"}' >"$BATS_TEST_TMPDIR/l$n" 2>&1 3>&- &
    done
    for n in {1..100}; do until_true 10 grep -q '"ok":true' "$BATS_TEST_TMPDIR/l$n"; done
    salt-run event.send go/all '{}' >/dev/null
    wait
    [ "$(cat "$BATS_TEST_TMPDIR"/l* | grep -c '"tag":"go/all"')" -eq 100 ]
}

@test "a listener that does not read misses events and is told which; another one has them all" {
    # A listener whose socket is full: it is stopped.
    listen slow 'flood/*'
    kill -STOP "$(pid_of listen-slow)"
    listen fast 'flood/*'
    big=$(head -c 60000 /dev/zero | tr '\0' x)
    for n in {1..700}; do echo "{\"op\":\"fire\",\"tag\":\"flood/$n\",\"data\":{\"x\":\"$big\"}}"; done >"$BATS_TEST_TMPDIR/requests"
    xargs -d '\n' -n 20 "$HALITE_TOOLS/local" "$SOCK_DIR" <"$BATS_TEST_TMPDIR/requests" >/dev/null
    wait_event fast '"tag":"flood/700"' 20 >/dev/null
    [ "$(heard fast '"push":"event"')" -eq 700 ]
    kill -CONT "$(pid_of listen-slow)"
    ask '{"op":"fire","tag":"flood/last","data":{}}'
    wait_event slow '"tag":"flood/last"' 20 | cut -c1-200
    # What it has and what it missed make the whole, and what it missed is in the journal.
    [ "$(heard slow '"push":"missed"')" -eq 1 ]
    read -r from to missed <<<"$(grep '"push":"missed"' "$FLEET/log/listen-slow" | sed -E 's/.*"from":([0-9]+),"to":([0-9]+),"count":([0-9]+).*/\1 \2 \3/')"
    [ $(($(heard slow '"tag":"flood/[0-9]') + missed)) -eq 700 ]
    fetched=0
    while [ "$from" -gt 0 ]; do
        piece=$(ask "{\"op\":\"journal\",\"from\":$from,\"to\":$to,\"tags\":[\"flood/*\"]}")
        fetched=$((fetched + $(grep -oE '"tag":"flood/' <<<"$piece" | wc -l)))
        from=$(grep -oE '"next":[0-9]+' <<<"$piece" | cut -d: -f2)
    done
    [ "$fetched" -eq "$missed" ]
    unlisten slow
    unlisten fast
}

# watch NAME ARGS...: state.event in the background; it listens when this returns.
watch() {
    local name=$1 before
    shift
    before=$(ask '{"op":"status"}' | field listeners)
    daemon "watch-$name" "$HALITE_BIN/salt-run" state.event "$@"
    until_true 5 listens "$before"
}
listens() { [ "$(ask '{"op":"status"}' | field listeners)" -gt "$1" ]; }
watched() { until_true 10 test -e "$FLEET/pids/watch-$1.rc" && RC=$(cat "$FLEET/pids/watch-$1.rc") && rm -f "$FLEET/pids/watch-$1" "$FLEET/pids/watch-$1.rc"; }

@test "salt-run state.event: a line for each event, and nothing at its end" {
    watch line my/tag count=2
    run -0 salt-run event.send my/tag '{"a": 1, "ü": [null, true, 1.5]}'
    run -0 salt-run event.send other/tag '{}'
    run -0 salt-run event.send my/tag '{}'
    watched line
    [ "$RC" -eq 0 ]
    sed -E 's/"20[^"]*"/"STAMP"/' "$FLEET/log/watch-line" | diff - <(printf 'my/tag\t%s\n' '{"a": 1, "ü": [null, true, 1.5], "_stamp": "STAMP"}' '{"_stamp": "STAMP"}')
}

@test "salt-run state.event pretty=True" {
    watch pretty 'my/*' count=1 pretty=True
    run -0 salt-run event.send my/tag '{"z": {"b": [1, {}], "a": ""}}'
    watched pretty
    sed -E 's/"20[^"]*"/"STAMP"/' "$FLEET/log/watch-pretty" | diff - <(printf 'my/tag\t%s\n' '{
    "_stamp": "STAMP",
    "z": {
        "a": "",
        "b": [
            1,
            {}
        ]
    }
}')
}

@test "salt-run state.event: data that is nested deeper than templates may nest is shown all the same" {
    local deep event
    deep=$(printf '[%.0s' {1..450})$(printf ']%.0s' {1..450})
    watch deep 'deep/*' count=2
    for event in "$deep" '[1]'; do ask "{\"op\":\"fire\",\"tag\":\"deep/tag\",\"data\":{\"a\":$event}}" >/dev/null; done
    watched deep
    grep -qF "$deep" "$FLEET/log/watch-deep"
    grep -qF '"a": [1]' "$FLEET/log/watch-deep"
}

@test "salt-run state.event in a list of commands: quiet, and on with the next" {
    (timeout 20 "$HALITE_BIN/salt-run" state.event 'salt/minion/m2/start' count=1 quiet=True && salt m2 test.ping --out=txt) >"$BATS_TEST_TMPDIR/list" 2>&1 3>&- &
    local list=$!
    until_true 5 listens 0
    stop m2
    start_minion m2
    wait $list
    [ "$(cat "$BATS_TEST_TMPDIR/list")" = 'm2: True' ]
}

@test "salt-run state.event: a master that hangs is not waited for beyond the time limit" {
    kill -STOP "$(pid_of master)"
    run --separate-stderr timeout 30 "$HALITE_BIN/salt-run" state.event 'no/such' timeout=0.5
    kill -CONT "$(pid_of master)"
    [ "$status" -eq 1 ]
    [ -n "$stderr" ]
}

@test "salt-run state.event: a regular expression, a time limit, bad arguments" {
    fire rx/1
    seq=$(last_seq)
    run -0 salt-run state.event 'rx/\d' count=1 since="$seq"
    run -1 --separate-stderr salt-run state.event 'rx/\d\d' count=1 since="$seq" timeout=0.2
    [ -z "$output" ]
    [ -n "$stderr" ]
    run -0 salt-run state.event 'rx/*' count=1 since=10m timeout=20
    grep -q '^rx/1.{"n": 1, ' <<<"$output"
    stamp=$(sed -E 's/.*"_stamp": "([^"]*)".*/\1/' <<<"$output")
    run -0 salt-run state.event 'rx/*' count=1 "since=$stamp" timeout=20
    grep -qF "$stamp" <<<"$output"
    for bad in count=x nosuch=1 since=bad timeout=soon node=nobody; do
        run -1 salt-run state.event "$bad"
    done
}

@test "salt-run state.event ends without a word: when its reader goes, and at Ctrl-C" {
    timeout 20 bash -c '"$1" state.event "pipe/*" | head -n 1 >"$2"' _ "$HALITE_BIN/salt-run" "$BATS_TEST_TMPDIR/head" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    local pipe=$!
    until_true 5 listens 0
    fire pipe/1
    wait $pipe
    [ "$(cut -f1 "$BATS_TEST_TMPDIR/head")" = pipe/1 ]
    [ ! -s "$BATS_TEST_TMPDIR/err" ]
    watch quiet 'none/*'
    kill -INT "$(pid_of watch-quiet)"
    watched quiet
    [ "$RC" -eq 130 ]
    [ ! -s "$FLEET/log/watch-quiet" ]
}

@test "salt-run state.event on a full disk fails, and says so: nobody takes it for having seen all" {
    [ -w /dev/full ] || skip "no /dev/full"
    ask '{"op":"fire","tag":"full/1","data":{}}' >/dev/null
    run -1 --separate-stderr bash -c '"$1" state.event "full/*" since=1m count=1 timeout=20 >/dev/full' _ "$HALITE_BIN/salt-run"
    [ "$stderr" = "The events can't be written any more: No space left on device" ]
}

@test "salt-run state.event goes on when the master was restarted, without gap" {
    watch long 'long/*' count=3
    fire long/1
    until_log "$FLEET/log/watch-long" long/1
    until_true 5 journalled long/1
    stop master KILL
    start_master
    fire long/2
    fire long/3
    watched long
    [ "$RC" -eq 0 ]
    [ "$(grep -o '^long/.' "$FLEET/log/watch-long" | tr '\n' ' ')" = 'long/1 long/2 long/3 ' ]
    wait_connected m1 m2
}
journalled() { salt-run state.event "$1" since=1h count=1 timeout=1 && [ "$(ask '{"op":"status"}' | field store_queued)" -eq 0 ]; }

call_hears() { salt m1 event.fire '{"x": 1}' my/first >/dev/null && grep -q '^my/first' "$FLEET/log/watch-own"; }

@test "salt-call state.event: the bus of the minion itself, or the master's" {
    daemon watch-own "$HALITE_BIN/salt-call" state.event
    until_true 10 call_hears
    jid=$(jid_in "$(salt m1 test.echo hi -v)")
    until_log "$FLEET/log/watch-own" "^salt/job/$jid/new[[:blank:]].*\"fun\": \"test.echo\""
    until_log "$FLEET/log/watch-own" "^salt/job/$jid/ret/m1[[:blank:]].*\"return\": \"hi\".*\"_stamp\": "
    run -0 "$HALITE_BIN/salt-call" event.fire '{"y": 2}' my/second
    until_log "$FLEET/log/watch-own" '^my/second[[:blank:]][{]"y": 2, "_stamp": "[^"]*"[}]$'
    run -0 salt m1 event.send my/third z=3
    until_log "$FLEET/log/watch-own" '^my/third[[:blank:]].*"z": 3'
    kill "$(pid_of watch-own)"
    watched own
    [ "$RC" -eq 143 ]
    run -1 "$HALITE_BIN/salt-call" state.event since=5 count=1
    daemon watch-master "$HALITE_BIN/salt-call" state.event 'go/*' node=master "sock_dir=$SOCK_DIR" count=1
    until_true 10 master_hears
    watched master
    [ "$RC" -eq 0 ]
    [ "$(grep -c . "$FLEET/log/watch-master")" -eq 1 ]
    run -1 salt m1 state.event
    grep -q 'needs a count or a timeout' <<<"$output"
}
master_hears() { fire go/master && grep -q '^go/master' "$FLEET/log/watch-master"; }

# fire_many TAG FIRST LAST SIZE: events TAG with the data {n, x: SIZE bytes}, a hundred in a request; prints the last
# number that the master confirmed. Ends without a word when the master does.
fire_many() {
    python3 - "$SOCK_DIR/master.sock" "$@" <<'EOF'
import json, socket, struct, sys
path, tag, first, last, size = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
seq = 0
try:
    s.connect(path)
    f = s.makefile("rb")
    for n in range(first, last + 1, 100):
        events = [{"tag": tag, "data": {"n": i, "x": "x" * size}} for i in range(n, min(n + 100, last + 1))]
        text = json.dumps({"op": "fire", "events": events, "n": 1}).encode()
        s.sendall(struct.pack(">I", len(text)) + text)
        head = f.read(4)
        if len(head) < 4:
            break
        seq = json.loads(f.read(struct.unpack(">I", head)[0]))["seq"]
except OSError:
    pass
print(seq)
EOF
}
memory_mb() { awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$(pid_of master)/status"; }
# numbers_of TAG: the numbers in the data of its events, as state.event or a listener shows them.
# Byte by byte, as there are hundreds of megabytes of them.
numbers_of() { LC_ALL=C grep -oE "$1(\",\"data\":|"$'\t'")[{]\"n\": ?[0-9]+" | LC_ALL=C grep -oE '[0-9]+$'; }

@test "many events in one request, all or none, plain or not" {
    listen many 'many/*'
    ask '{"op":"fire","events":[{"tag":"many/1","data":{"a":1}},{"tag":"many/2"},{"tag":"many/3","data":{"u":"\u00fc","_stamp":"x"}}]}' | grep -q '"seq":'
    wait_event many 'many/3'
    grep -oE '"tag":"many/.","data":\{[^}]*' "$FLEET/log/listen-many" | sed -E 's/"20[^"]*"/STAMP/' | diff - <(printf '%s\n' \
        '"tag":"many/1","data":{"a":1,"_stamp":STAMP' '"tag":"many/2","data":{"_stamp":STAMP' '"tag":"many/3","data":{"u":"ü","_stamp":STAMP')
    not ask '{"op":"fire","events":[{"tag":"many/4"},{"tag":""}]}'
    not ask '{"op":"fire","events":[{"tag":"many/4"},{"tag":"x","data":[]}]}'
    not ask '{"op":"fire","events":[{"tag":"many/4"},{"data":{}}]}'
    not ask '{"op":"fire","events":{}}'
    not ask "{\"op\":\"fire\",\"events\":[$(printf '{"tag":"m"},%.0s' {1..10000}){\"tag\":\"many/4\"}]}"
    fire many/end
    wait_event many 'many/end'
    [ "$(heard many '"tag":"many/4"')" -eq 0 ]
    unlisten many
}

@test "a stopped listener and 100,000 events: bounded memory, told how many, and it fetches them" {
    listen stopped 'stop/*'
    kill -STOP "$(pid_of listen-stopped)"
    last=$(fire_many stop/it 1 100000 600)
    [ "$(memory_mb)" -lt $((SLOW > 1 ? 2000 : 160)) ]
    kill -CONT "$(pid_of listen-stopped)"
    fire stop/end
    wait_event stopped '"tag":"stop/end"' 30 | cut -c1-200
    read -r from to missed <<<"$(grep '"push":"missed"' "$FLEET/log/listen-stopped" | sed -E 's/.*"from":([0-9]+),"to":([0-9]+),"count":([0-9]+).*/\1 \2 \3/')"
    [ "$missed" -gt 0 ]
    [ "$to" -lt "$last" ]
    [ $(($(heard stopped '"tag":"stop/it"') + missed)) -eq 100000 ]
    timeout 30 "$HALITE_BIN/salt-run" state.event 'stop/*' since="$from" count="$missed" | numbers_of stop/it >"$BATS_TEST_TMPDIR/fetched"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/fetched")" -eq "$missed" ]
    # With those that it has they are all there are, each once.
    numbers_of stop/it <"$FLEET/log/listen-stopped" | sort -n - "$BATS_TEST_TMPDIR/fetched" | diff -q - <(seq 100000)
    unlisten stopped
}

@test "a slow listener that asked for events since a number has them all, however late" {
    seq=$(fire_many late/it 1 1 10)
    daemon listen-late "$HALITE_TOOLS/local" --follow 0 0 "$SOCK_DIR" "{\"op\":\"events\",\"tag\":\"late/*\",\"since_seq\":$((seq - 1))}"
    until_log "$FLEET/log/listen-late" 'late/it'
    kill -STOP "$(pid_of listen-late)"
    fire_many late/it 2 100000 600
    kill -CONT "$(pid_of listen-late)"
    fire late/end
    wait_event late '"tag":"late/end"' 30 | cut -c1-200
    numbers_of late/it <"$FLEET/log/listen-late" | diff -q - <(seq 100000)
    [ "$(heard late '"push":"missed"')" -eq 0 ]
    unlisten late
}

commits_over() { [ "$(counter store_commits)" -gt "$1" ]; }

@test "a master that is killed in a flood of events: what is in its journal is whole" {
    seq=$(fire_many kill/first 1 1 10)
    before=$(counter store_commits)
    fire_many kill/it 1 1000000 100 >"$BATS_TEST_TMPDIR/confirmed" 3>&- &
    local flood=$!
    until_true 20 commits_over $((before + 20))
    stop master KILL
    wait $flood
    start_master
    run -1 --separate-stderr salt-run state.event kill/it since="$seq" timeout=3
    # Without a gap from the first on.
    numbers_of kill/it <<<"$output" >"$BATS_TEST_TMPDIR/n"
    [ -s "$BATS_TEST_TMPDIR/n" ]
    diff -q "$BATS_TEST_TMPDIR/n" <(seq "$(tail -n 1 "$BATS_TEST_TMPDIR/n")")
    listen after
    fire kill/after
    wait_event after kill/after
    unlisten after
    wait_connected m1 m2
}

@test "no two events have one number, also when a master was killed before the first was on the disk" {
    listen told 'twice/*'
    fire twice/before
    first=$(wait_event told twice/before | field seq)
    # Somebody else writes in the store: nothing is committed.
    daemon listen-lock python3 -c '
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(600)' "$FLEET/master/var/cache/salt/master/jobs.db"
    until_log "$FLEET/log/listen-lock" locked
    ask '{"op":"fire","tag":"twice/lost","data":{}}'
    last=$(wait_event told twice/lost | field seq)
    stop master KILL
    stop listen-lock KILL
    start_master
    until_log "$FLEET/log/master" 'the last master did not end itself'
    seq=$(ask '{"op":"fire","tag":"twice/after","data":{}}' | field seq)
    [ "$seq" -gt "$last" ]
    # Who goes on from the journal is told of the gap, and that nothing else was missed.
    since=$("$HALITE_TOOLS/local" --follow 3 10 "$SOCK_DIR" "{\"op\":\"events\",\"tags\":[\"twice/*\",\"salt/event/*\"],\"since_seq\":$((first - 1))}")
    [[ $since != *missed* && $since != *twice/lost* && $since == *twice/before*salt/event/gap*twice/after* ]]
    # A master that ends itself leaves none.
    stop master
    start_master
    until_true 5 fire twice/last
    [ "$(ask '{"op":"journal","tags":["salt/event/gap"],"from":1}' | grep -o salt/event/gap | wc -l)" -eq "$(ask "{\"op\":\"journal\",\"tags\":[\"salt/event/gap\"],\"from\":1,\"to\":$seq}" | grep -o salt/event/gap | wc -l)" ]
    wait_connected m1 m2
}

@test "garbage on the local socket ends that connection only" {
    python3 - "$SOCK_DIR/master.sock" <<'EOF'
import socket, struct, sys
def talk(data):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(10)
    s.connect(sys.argv[1])
    try:
        s.sendall(data)
        while s.recv(65536):
            pass
    except (BrokenPipeError, ConnectionResetError):
        pass
    s.close()
def frame(b): return struct.pack(">I", len(b)) + b
talk(b"\xff" * 100)
talk(struct.pack(">I", 1 << 31))
talk(frame(b"[1,2,3]"))
talk(frame(b"not json"))
talk(frame(b"[" * 100000))
EOF
    ask '{"op":"status"}'
    not ask '{"op":"nosuch"}'
    not ask '{"op":"publish"}'
    not ask '{"op":"publish","tgt":1,"fun":2,"arg":3}'
    not ask '{"op":"follow","jid":"../x"}'
    ask '{"op":"key_apply","action":"accept","ids":["../x"],"from":["minions_pre"]}' | grep -q '"done":\[\]'
    salt m1 test.ping
}

@test "others than root and the master's user are let in by publisher_acl only" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    run $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" '{"op":"status"}'
    [ "$status" -eq 2 ]
    grep -q 'ermission denied' <<<"$output"
    run $(halite_unprivileged) "$HALITE_BIN/salt" '*' test.ping
    [ "$status" -ne 0 ]
    grep -q 'ermission denied' <<<"$output"
}

@test "publisher_acl: its functions on its targets, and nothing else" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    stop master
    master_conf 'publisher_acl: {nobody: [{m1: [test.*]}]}'
    start_master
    wait_connected m1 m2
    fleet_open
    chmod o+r "$MASTER_CONF"
    run $(halite_unprivileged) "$HALITE_BIN/salt" m1 test.ping --out=txt
    [ "$output" = 'm1: True' ]
    run $(halite_unprivileged) "$HALITE_BIN/salt" m1 cmd.run id
    [ "$status" -ne 0 ]
    run $(halite_unprivileged) "$HALITE_BIN/salt" m2 test.ping
    [ "$status" -ne 0 ]
    run $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" '{"op":"wheel","fun":"key.list_all","arg":[]}'
    [ "$status" -eq 1 ]
    run $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" '{"op":"key_apply","action":"delete","ids":["m1"],"from":["minions"]}'
    [ "$status" -eq 1 ]
    is_connected m1
}

@test "publisher_acl: patterns of users, unless client_acl_verify is off" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    for users in 'no*' 'nob(o|i)dy'; do
        stop master
        master_conf "publisher_acl: {\"$users\": [test.*]}"
        start_master
        wait_connected m1
        chmod o+r "$MASTER_CONF"
        run $(halite_unprivileged) "$HALITE_BIN/salt" m1 test.ping --out=txt
        [ "$output" = 'm1: True' ]
    done
    stop master
    master_conf "publisher_acl: {'no*': [test.*]}" "client_acl_verify: False"
    start_master
    wait_connected m1
    chmod o+r "$MASTER_CONF"
    run $(halite_unprivileged) "$HALITE_BIN/salt" m1 test.ping --out=txt
    [ "$status" -ne 0 ]
}

@test "publisher_acl: a directory service that hangs holds up those whose names it has, and nobody else" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    fleet_open
    stop master
    master_conf 'publisher_acl: {nobody: [test.*]}'
    LD_PRELOAD=$BUILD/tests/preload/names.so NAMES_HANG=$FLEET/hang start_master
    chmod o+r "$MASTER_CONF"
    wait_connected m1
    touch "$FLEET/hang"
    $(halite_unprivileged) "$HALITE_BIN/salt" m1 test.ping --out=txt >"$BATS_TEST_TMPDIR/his" 2>&1 3>&- &
    his=$!
    # Twice, so that his question is there before the second one.
    for _ in 1 2; do
        timed timeout 5 "$HALITE_BIN/salt" m1 test.ping --out=txt
        [ "$output" = 'm1: True' ]
    done
    [ ! -s "$BATS_TEST_TMPDIR/his" ]
    rm "$FLEET/hang"
    wait "$his"
    [ "$(cat "$BATS_TEST_TMPDIR/his")" = 'm1: True' ]
}

@test "publisher_acl: who is in it no more after SIGHUP hears nothing more, others go on" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    stop master
    master_conf 'publisher_acl: {nobody: [test.*], daemon: [test.*]}'
    start_master
    wait_connected m1
    for uid in 65534 1; do
        setpriv --reuid="$uid" --regid="$uid" --clear-groups "$HALITE_TOOLS/local" --follow 0 0 "$SOCK_DIR" '{"op":"events","tag":"secret/*"}' >"$FLEET/$uid" 2>&1 3>&- &
        eval "user_$uid=$!"
        until_true 10 grep -q '"seq"' "$FLEET/$uid"
    done
    sed -i 's/nobody: \[test..\], //' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'nobody is in publisher_acl no more'
    until_true 10 pid_gone "$user_65534"
    ask '{"op":"fire","tag":"secret/one","data":{}}' >/dev/null
    until_true 10 grep -q secret/one "$FLEET/1"
    not grep -q secret/one "$FLEET/65534"
    kill "$user_1"
    wait "$user_1" || :
}

# users HOW UID LINES TIMES REQUEST &: that user's lines, each with so many requests one behind the other, until it is ended; HOW: read or deaf.
users() {
    local uid=$2
    set -- "$1" "${@:3}"
    exec setpriv --reuid="$uid" --regid="$uid" --clear-groups /usr/bin/python3 - "$SOCK_DIR/master.sock" "$@" <<'PY'
import select, socket, struct, sys
path, how, lines, times, text = sys.argv[1:]
data = (struct.pack(">I", len(text)) + text.encode()) * int(times)
left = {}
for _ in range(int(lines)):
    one = socket.socket(socket.AF_UNIX)
    one.connect(path)
    one.setblocking(False)
    left[one] = 0
print("begun", flush=True)
while True:
    readable, writable, _ = select.select(list(left) if how == "read" else [], [s for s in left if left[s] < len(data)], [], 0.05)
    for one in readable + writable:
        try:
            if one in readable and not one.recv(1 << 20):
                left.pop(one, None)
            if one in writable and one in left:
                left[one] += one.send(data[left[one]:left[one] + 65536])
        except BlockingIOError:
            pass
        except OSError:
            left.pop(one, None)
PY
}
# MS: the longest that an administrator waits in two seconds.
longest() {
    local end=$((${EPOCHREALTIME/./} + 2000000 * SLOW)) most=0
    while [ "${EPOCHREALTIME/./}" -lt "$end" ]; do
        timed ask '{"op":"status"}'
        [ "$MS" -le "$most" ] || most=$MS
    done
    MS=$most
}

# tags N: that many patterns which look long at a tag before they do not match it.
tags() { seq -s, -f '"*0-%g"' "$1"; }

@test "publisher_acl: users who ask for more than the master can do take the time of nobody else, nor its memory" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    stop master
    master_conf 'publisher_acl: {nobody: [test.ping]}'
    start_master
    wait_connected m1
    events=$(printf '{"tag":"%0999d","data":{}},' {1..60})
    for _ in {1..30}; do ask "{\"op\":\"fire\",\"events\":[${events%,}]}" >/dev/null; done
    pss() { sed -nE 's/^Pss: *([0-9]+) kB/\1/p' "/proc/$(pid_of master)/smaps_rollup"; }
    before=$(pss)
    for op in events journal; do
        run setpriv --reuid=65534 --regid=65534 --clear-groups "$HALITE_TOOLS/local" "$SOCK_DIR" "{\"op\":\"$op\",\"tags\":[$(tags 65)]}"
        [ "$status" -eq 1 ]
        grep -q 'nobody would listen to 65 patterns of tags, over all connections, of which a user may have 64: ask for fewer' <<<"$output"
    done
    # Of whom nobody knows anything; who may read, and does; who does not; who lets much be compared.
    for attack in 'read 65533 60 20000 {}' 'read 65534 4 5000 {"op":"journal","from":1,"tags":["nothing"]}' 'deaf 65534 20 500 {"op":"journal","from":1}' \
        "read 65534 4 50 {\"op\":\"journal\",\"from\":1,\"tags\":[$(tags 64)]}" "read 65534 4 50 {\"op\":\"journal\",\"from\":1,\"tags\":[$(tags 1000)]}" \
        "read 65534 1 50 {\"op\":\"events\",\"since_seq\":0,\"tags\":[$(tags 64)]}" "read 65534 60 50 {\"op\":\"events\",\"tags\":[$(tags 1000)]}"; do
        read -r how uid lines times request <<<"$attack"
        users "$how" "$uid" "$lines" "$times" "$request" >"$BATS_TEST_TMPDIR/begun" 3>&- &
        pid=$!
        until_true 10 test -s "$BATS_TEST_TMPDIR/begun"
        longest
        all=$MS
        timed ask "{\"op\":\"fire\",\"events\":[${events%,}]}"
        [ "$all" -gt "$MS" ] || all=$MS
        echo "${attack:0:80}: $all ms, $(pss) kB after $before" >&2
        [ "$all" -lt 1000 ]
        [ -n "${SAN:-}" ] || [ "$(pss)" -lt $((before + 100000)) ]
        kill "$pid"
        wait "$pid" || :
    done
}

@test "publisher_acl: users who knock and go take the time of nobody else" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    stop master
    master_conf 'publisher_acl: {daemon: [test.ping]}'
    start_master
    wait_connected m1
    pids=()
    for _ in 1 2 3 4; do
        $(halite_unprivileged) "$HALITE_TOOLS/local" --knock "$BATS_TEST_TMPDIR/go" "$SOCK_DIR" >/dev/null 2>&1 3>&- &
        pids+=($!)
    done
    mkdir -p "$FLEET/keys"
    for _ in {1..6}; do
        timed timeout 10 "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/keys" knocked \
            send '{"m":"hello","id":"knocked","boot":"b1","proto":1,"version":"3006.0","pending":[]}' expect '"state":"pending"'
        echo "$MS ms" >&2
        [ "$status" -eq 0 ] && true
    done
    touch "$BATS_TEST_TMPDIR/go"
    wait "${pids[@]}"
    salt-key -y -d knocked >/dev/null
}

@test "publisher_acl_blacklist: its modules and users for nobody, root included" {
    stop master
    master_conf 'publisher_acl_blacklist: {modules: [cmd.*, test.(echo|arg)]}'
    start_master
    wait_connected m1 m2
    run "$HALITE_BIN/salt" m1 cmd.run id
    [ "$status" -ne 0 ]
    grep -q 'Authorization error occurred' <<<"$output"
    run "$HALITE_BIN/salt" m1 test.ping,test.echo ,x
    [ "$status" -ne 0 ]
    # Nor by a function that calls the one which an argument names.
    run "$HALITE_BIN/salt" m1 test.cross_test cmd.run '["id"]'
    [ "$status" -ne 0 ]
    grep -q 'Authorization error occurred' <<<"$output"
    run "$HALITE_BIN/salt" m1 test.ping --out=txt
    [ "$output" = 'm1: True' ]
    stop master
    master_conf "publisher_acl_blacklist: {users: [$(id -un)]}"
    start_master
    wait_connected m1 m2
    run "$HALITE_BIN/salt" m1 test.ping
    [ "$status" -ne 0 ]
    grep -q 'Authorization error occurred' <<<"$output"
}
