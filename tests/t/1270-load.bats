#!/usr/bin/env bats
# 1270-load.bats - peers that want too much: connections that stand still, frames that never end, crowds of keys, millions of
# subscriptions, floods of questions whose answers nobody reads. While each goes on other minions answer, the master's memory stays
# within a bound, and an event says what was refused. What is cut off, recorded and repeated, or half of it, is in here too.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET"/{srv,pillar,keys}
    printf "base:\n  'evil*': [large]\n" >"$FLEET/pillar/top.sls"
    echo "large: {{ 'x' * 200000 }}" >"$FLEET/pillar/large.sls"
    head -c 8000000 /dev/zero >"$FLEET/srv/large"
    ulimit -Sn 3000
    start_master "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}" "max_open_files: 3000"
    ulimit -Sn "$(ulimit -Hn)"
    start_minion m1
    start_minion m2
    export SERVER=$FLEET/master/etc/salt/pki/master/master.pub
    accept m1 m2
    evil send "$(hello evil)" expect '"state":"pending"' >/dev/null
    salt-key -y -a evil >/dev/null
    wait_connected m1 m2
}
teardown_file() { fleet_down; }

setup() { GO=$BATS_TEST_TMPDIR/go; }

# The master is the same process, nothing is still held, its minions answer.
teardown() {
    touch "$GO"
    ask '{"op":"status"}' | grep -q "\"pid\":$(pid_of master),"
    [ "$(salt -L m1,m2 test.ping --out=txt | sort | tr '\n' ' ')" = 'm1: True m2: True ' ]
}

peer() { "$HALITE_TOOLS/fakepeer" "$@"; }
# wire.py, not in a function: its process is the one that $! names.
WIRE=(python3 -B "$HALITE_SRC/tests/lib/wire.py")
wire() { "${WIRE[@]}" "$@"; }
evil() { peer dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$FLEET/keys" evil "$@"; }
hello() { echo "{\"m\":\"hello\",\"id\":\"$1\",\"role\":\"minion\",\"boot\":\"b$RANDOM\",\"proto\":1,\"version\":\"3006.0\",\"pending\":[]}"; }
WELCOME='"m":"welcome","state":"accepted"'
# The master's memory in kB.
# Of a process that hides an ordinary user sees what it has in memory, shared or not: it grows by the same.
pss() {
    local file=smaps_rollup
    [ "$(id -u)" -eq 0 ] || file=status
    sed -nE 's/^(Pss|VmRSS):[[:blank:]]*([0-9]+) kB/\2/p' "/proc/$(pid_of master)/$file"
}

# under GROWTH ROUNDS PID: so many pings of m1 and m2, each answered in 10 s, while the attack of that process goes on (0 rounds: as long as
# it does); the master grows by less than GROWTH kB meanwhile (not under a sanitizer, which keeps what is freed). PEAK in kB.
under() {
    local before=$BEFORE growth=$1 rounds=$2 pid=$3 now n=0
    PEAK=0
    while { [ "$rounds" -gt 0 ] && [ "$n" -lt "$rounds" ]; } || { [ "$rounds" -eq 0 ] && pid_alive "$pid"; }; do
        timed timeout 10 "$HALITE_BIN/salt" -L m1,m2 test.ping --out=txt
        [ "$(sort <<<"$output" | tr '\n' ' ')" = 'm1: True m2: True ' ] || { echo "round $n after $MS ms: $output" >&2; return 1; }
        [ "$MS" -lt 10000 ]
        now=$(pss)
        [ "$now" -le "$PEAK" ] || PEAK=$now
        n=$((n + 1))
    done
    echo "$n rounds; $before kB before, $PEAK kB at the peak" >&2
    [ -n "${SAN:-}" ] || [ $((PEAK - before)) -lt "$growth" ]
}
# calm KB: the master is back to what it had, and so much more.
calm() { [ -n "${SAN:-}" ] || until_true 10 eval '[ $(($(pss) - BEFORE)) -lt '"$1"' ]' || { echo "$(pss) kB" >&2; return 1; }; }

@test "connections that say nothing take no minion's place" {
    listen gate 'salt/gate/*'
    BEFORE=$(pss)
    for what in silent greeting; do
        "${WIRE[@]}" hold $((PORT + 1)) 2500 "$what" "$GO" >"$BATS_TEST_TMPDIR/$what" 2>&1 3>&- &
        eval "$what=\$!"
    done
    until_true 20 grep -q held "$BATS_TEST_TMPDIR/silent"
    wait_event gate 'salt/gate/door.*"door":"(known|shut)"'
    under 120000 3 0
    # A minion that comes anew finds one too, and so does its subscription.
    stop m2
    start_minion m2
    wait_connected m2
    until_true 20 is_subscribed m2
    under 120000 3 0
    touch "$GO"
    wait "$silent" "$greeting"
    wait_event gate 'salt/gate/door.*"door":"open"'
    unlisten gate
    calm 100000
}

@test "frames that never end: who has no key holds no memory" {
    BEFORE=$(pss)
    before=$(counter refused)
    for port in "$PORT" $((PORT + 1)) $((PORT + 2)); do
        "${WIRE[@]}" hold "$port" 60 frame:16000000 "$GO" >/dev/null 2>&1 3>&- &
        pids+=($!)
    done
    under 300000 5 0
    until_true 30 eval '[ "$(counter refused)" -gt '"$before"' ]'
    under 300000 5 0
    touch "$GO"
    wait "${pids[@]}"
    calm 40000
}

@test "every beginning of a greeting, and every byte of it another" {
    mkdir "$BATS_TEST_TMPDIR/in"
    "${WIRE[@]}" proxy $((PORT + 1)) "$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/port" 3>&- &
    proxy=$!
    until_true 10 test -s "$BATS_TEST_TMPDIR/port"
    peer dealer 127.0.0.1 "$(head -n 1 "$BATS_TEST_TMPDIR/port")" "$SERVER" "$FLEET/keys" evil send "$(hello evil)" expect "$WELCOME"
    kill "$proxy"
    wait "$proxy" || :
    size=$(wc -c <"$BATS_TEST_TMPDIR/in/1")
    [ "$size" -gt 500 ]
    listen auth 'salt/auth'
    BEFORE=$(pss)
    (wire cut $((PORT + 1)) "$BATS_TEST_TMPDIR/in/1" && wire cut "$PORT" "$BATS_TEST_TMPDIR/in/1" 7 && wire flip $((PORT + 1)) "$BATS_TEST_TMPDIR/in/1" &&
        wire replay $((PORT + 1)) "$BATS_TEST_TMPDIR/in/1") >/dev/null 2>&1 3>&- &
    attack=$!
    under 60000 0 "$attack"
    wait "$attack"
    [ "$(heard auth accept)" -eq 0 ]
    unlisten auth
}

@test "every beginning of every message" {
    steps=()
    for text in "$(hello evil)" '{"m":"grains","grains":{"a":[1,{"b":null}]}}' '{"m":"pillar_ask","n":1}' '{"m":"mine_ask","n":2,"op":"get","tgt":"*","fun":"x"}' \
        '{"m":"started","jid":"20260101000000000001","pid":1}' '{"m":"ret","jid":"20260101000000000001","fun":"x","return":{"a":1}}' \
        '{"m":"event","n":1,"tag":"x","data":{}}' '{"m":"file_open","n":1,"op":"get","path":"x","saltenv":"base","credit":1}' '{"m":"revoke"}' '{"m":"bye"}'; do
        for ((n = 0; n < ${#text}; n++)); do steps+=(send "${text:0:n}"); done
    done
    before=$(counter refused)
    evil send "$(hello evil)" expect "$WELCOME" "${steps[@]}" send "$(hello evil)" expect "$WELCOME" >/dev/null
    # An empty message is not a message; of the others each is refused.
    [ $(($(counter refused) - before)) -eq $((${#steps[@]} / 2 - 10)) ]
}

@test "a crowd of keys: a thousand wait, more are turned away, and an event says so" {
    listen gate 'salt/gate/*'
    listen auth 'salt/auth'
    BEFORE=$(pss)
    renamed() { peer dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$FLEET/keys" renamed send "$(hello "$1")" expect '"state":"pending"' >/dev/null; }
    renamed crowd0
    # More connections than there are descriptors: those that are cut come again.
    (peer crowd 127.0.0.1 $((PORT + 1)) "$SERVER" 900 crowd "$GO") >"$BATS_TEST_TMPDIR/crowd" 2>&1 3>&- &
    crowd=$!
    until_true 60 grep -q here "$BATS_TEST_TMPDIR/crowd"
    under 150000 5 0
    stop m2
    start_minion m2
    wait_connected m2
    touch "$GO"
    wait "$crowd"
    rm "$GO"
    # Those who found no place at first come when others have gone.
    (peer crowd 127.0.0.1 $((PORT + 1)) "$SERVER" 300 more "$GO") >"$BATS_TEST_TMPDIR/more" 2>&1 3>&- &
    crowd=$!
    wait_event gate '"pending_full":true' 60
    [ "$(salt-key -l pre | grep -cE 'crowd|more')" -eq 1000 ]
    # Who waits under another name from now on keeps his place.
    renamed more0
    key_is more0 pre && not key_is crowd0 pre
    under 150000 3 0
    touch "$GO"
    wait "$crowd"
    # Not each of them is an event.
    [ "$(heard auth '"act":"pend"')" -lt 2500 ]
    salt-key -y -d 'crowd*' >/dev/null
    salt-key -y -d 'more*' >/dev/null
    wait_event gate '"pending_full":false'
    unlisten gate
    unlisten auth
    calm 60000
}

@test "a million subscriptions" {
    BEFORE=$(pss)
    (DEADLINE=60 peer sub 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" evil topics 1000000) >/dev/null 2>&1 3>&- &
    attack=$!
    under 200000 0 "$attack"
    wait "$attack" || :
    under 200000 3 0
    calm 60000
}

@test "a flood of messages: events, returns, and what is none" {
    listen gate 'salt/gate/refused'
    BEFORE=$(pss)
    (DEADLINE=120 evil send "$(hello evil)" expect "$WELCOME" many 140000 '{"m":"event","n":#,"tag":"flood","data":{"x":"#"}}' \
        many 50000 '{"m":"ret","jid":"2026010100000000#","fun":"x","return":1}' many 50000 '{"m":"nosuch","x":#}' send "$(hello evil)" expect "$WELCOME") >/dev/null 2>&1 3>&- &
    attack=$!
    under 250000 0 "$attack"
    wait "$attack"
    wait_event gate '"address":"127.0.0.1","reason":"evil: '
    wait_event gate 'minion evil: events and returns of more than 256 KB a second have to wait'
    # It hides nothing of another kind.
    (DEADLINE=60 evil many 200 '{"m":"nosuch","x":#}' wait "$GO") >/dev/null 2>&1 3>&- &
    other=$!
    wait_event gate 'messages before its key is accepted: its connection is cut'
    touch "$GO"
    wait "$other" || :
    # Told once a second or so, not fifty thousand times.
    [ "$(heard gate refused)" -lt 200 ]
    unlisten gate
}

@test "a flood of what costs its sender nothing, and is an event each time: grains, greetings" {
    busy() { peer dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$FLEET/keys" busy "$@"; }
    call=$(hello busy | sed s,minion,call,)
    busy send "$(hello busy)" expect '"state":"pending"' >/dev/null
    salt-key -y -a busy >/dev/null
    listen gate 'salt/gate/refused'
    BEFORE=$(pss)
    before=$(counter events)
    (DEADLINE=120 busy send "$(hello busy)" expect "$WELCOME" many 140000 '{"m":"grains","grains":{"x":#}}' send "$call" expect "$WELCOME" \
        many 140000 "$call" send '{"m":"mine_ask","n":-1,"op":"flush"}' expect '"n":-1') >/dev/null 2>&1 3>&- &
    attack=$!
    under 250000 0 "$attack"
    wait "$attack"
    wait_event gate 'minion busy: grains of more than 256 KB a second: those of before stay'
    # As many as its own events could have been.
    [ $(($(counter events) - before)) -lt 180000 ]
    unlisten gate
}

@test "frames of sixteen megabytes from many connections of one key" {
    BEFORE=$(pss)
    steps=()
    for _ in {1..5}; do steps+=(big 16000000 '{"m":"ret","jid":"20260101000000000001","fun":"x","return":"'); done
    pids=()
    for _ in {1..6}; do
        (DEADLINE=60 evil "${steps[@]}") >/dev/null 2>&1 3>&- &
        pids+=($!)
    done
    under 900000 6 0
    wait "${pids[@]}" || :
    calm 60000
}

@test "who was accepted and is no more is a stranger again: an accepted key's connections under another's id" {
    begin=$BATS_TEST_TMPDIR/begin
    call() { hello "$1" | sed s,minion,call,; }
    "${WIRE[@]}" stuff $((PORT + 1)) 15000000 "$begin" "$GO" >"$BATS_TEST_TMPDIR/stuff" 3>&- &
    pids=($!)
    until_true 10 test -s "$BATS_TEST_TMPDIR/stuff"
    for i in {1..14}; do
        # Without heartbeats, which would come behind the frame's beginning.
        (DEAF=1 DEADLINE=60 peer dealer 127.0.0.1 "$(head -n 1 "$BATS_TEST_TMPDIR/stuff")" "$SERVER" "$FLEET/keys" evil send "$(call evil)" expect "$WELCOME" \
            send "$(call m1)" expect '"state":"denied"' wait "$GO") >"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
        pids+=($!)
        until_true 20 grep -q 'state":"denied' "$BATS_TEST_TMPDIR/$i"
    done
    BEFORE=$(pss)
    before=$(counter refused)
    touch "$begin"
    until_true 30 grep -q stuffed "$BATS_TEST_TMPDIR/stuff"
    # Cut for what they hold of a message; those that are left hold less than what makes the master look.
    until_true 10 eval '[ "$(counter refused)" -gt '"$before"' ]'
    calm 90000
    touch "$GO"
    wait "${pids[@]}"
}

@test "answers that nobody reads: pillars, files, the mine" {
    listen gate 'salt/gate/refused'
    BEFORE=$(pss)
    # A megabyte for each question: a minion may ask for a second of the master's time only.
    local values=()
    for n in {0..9}; do
        values+=(send "{\"m\":\"mine_ask\",\"n\":$n,\"op\":\"send\",\"data\":{\"x$n\":\"$(head -c 100000 /dev/zero | tr '\0' x)\"}}" expect "\"n\":$n")
    done
    evil send "$(hello evil)" expect "$WELCOME" "${values[@]}" >/dev/null
    # What it has not read waits with us, until it is too much. A slow master answers less of it in a second, and says no to the rest:
    # of too many of those none waits any more.
    local ask='{"m":"mine_ask","n":#,"op":"get","tgt":"evil","tgt_type":"glob","fun":"x0,x1,x2,x3,x4,x5,x6,x7,x8,x9"}'
    (DEAF=1 DEADLINE=$((60 * SLOW)) evil send "$(hello evil)" expect "$WELCOME" many 200 '{"m":"file_open","n":#,"op":"get","path":"large","saltenv":"base","credit":16,"key":"'"$(printf '0%.0s' {1..64})"'"}' \
        many 3000 '{"m":"pillar_ask","n":#}' many 1000 "$ask" again "$GO" 100 "$ask") >"$BATS_TEST_TMPDIR/deaf" 2>&1 3>&- &
    deaf=$!
    under 700000 5 0
    wait_event gate 'evil: [0-9]* bytes wait for it to read' 20
    under 700000 3 0
    touch "$GO"
    wait "$deaf" || :
    unlisten gate
    evil send "$(hello evil)" expect "$WELCOME" send '{"m":"mine_ask","n":1,"op":"flush"}' expect '"n":1' >/dev/null
    calm 60000
}
