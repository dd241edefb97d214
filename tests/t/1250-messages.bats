#!/usr/bin/env bats
# 1250-messages.bats - every message of messages.def, sent by every kind of peer in every state of its key: taken where the
# table says so, refused and counted elsewhere.

bats_require_minimum_version 1.5.0
load lib

# One harmless, whole body for each message that a minion may send. A row without one fails the first test.
declare -gA BODY=(
    [hello]='"id":"ID","proto":1,"version":"3006.0","boot":"b1","pending":[]'
    [grains]='"grains":{"id":"ID"}'
    [pillar_ask]='"n":1'
    [mine_ask]='"n":2,"op":"get","tgt":"ID","tgt_type":"glob","fun":"test.ping"'
    [peer_ask]='"n":6,"op":"publish","fun":"test.ping","arg":[],"tgt":"ID","tgt_type":"glob","timeout":1'
    [started]='"jid":"20260101000000000001","pid":0'
    [elsewhere]='"jid":"20260101000000000001"'
    [ret]='"jid":"20260101000000000001","fun":"test.ping","fun_args":[],"return":true,"retcode":0,"success":true'
    [event]='"n":3,"tag":"messages/test","data":{}'
    [file_open]='"n":4,"op":"envs","path":"","saltenv":"base","credit":1'
    [file_more]='"n":4,"credit":1'
    [file_part]='"n":5,"at":0'
    [file_done]='"n":5,"tag":"x"'
    [file_stop]='"n":4'
    [revoke]='"preserve_minion_cache":true'
    [rekey]='"key":"none"'
    [bye]=''
)

setup_file() {
    fleet_new
    start_master "allow_minion_key_revoke: False"
    export SERVER=$FLEET/master/etc/salt/pki/master/master.pub
    mkdir "$FLEET/keys"
}

teardown_file() {
    fleet_down
}

# rows DIRECTION: the names of its messages. states NAME: the letters of its row.
row() { sed -nE "s/^MESSAGE\(($2), ($1), \"([A-Z]*)\",.*/\1 \3/p" "$HALITE_SRC/include/salt/messages.def"; }
rows() { row "$1" '[a-z_]+' | cut -d' ' -f1; }
states() { row 'UP|DOWN' "$1" | cut -d' ' -f2 -s; }
say() { echo "{\"m\":\"$1\"${BODY[$1]:+,${BODY[$1]//ID/$WHO}}}"; }
# as WHO STEP...: on a new connection with the key of that name.
as() {
    WHO=$1
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$FLEET/keys" "$WHO" "${@:2}"
}
# A hello is answered in every state, after all that came before it.
greet() { WHO=$1 say hello; }
accept_key() {
    as "$1" send "$(greet "$1")" expect '"state":"pending"'
    salt-key -y -a "$1" >/dev/null
}

# refuses STATE WHO NAMES...: of these messages, each is refused and counted; the connection lives on.
refuses() {
    local state=$1 who=$2 before steps=() name
    shift 2
    before=$(counter refused)
    WHO=$who
    for name; do steps+=(send "$(say "$name")"); done
    as "$who" send "$(greet "$who")" expect "\"state\":\"$state\"" "${steps[@]}" send "$(greet "$who")" expect "\"state\":\"$state\""
    echo "$state: refused $(($(counter refused) - before)) of $#" >&2
    [ $(($(counter refused) - before)) -eq $# ]
}

# Messages that a key in the state of LETTER may not send.
not_for() {
    local name
    for name in $(rows UP); do
        case $(states "$name") in *"$1"*) ;; *) echo "$name" ;; esac
    done
    rows DOWN
}

@test "the table is known here: each message has a body" {
    [ "$(rows UP | wc -l)" -ge 14 ]
    for name in $(rows UP); do
        [ -n "${BODY[$name]+there}" ] || { echo "no body for '$name' in this test" >&2; return 1; }
    done
}

@test "no key at all: nothing passes the handshake" {
    failed=$(counter handshakes_failed)
    "$HALITE_TOOLS/fakepeer" null 127.0.0.1 $((PORT + 1))
    until_true 5 eval '[ "$(counter handshakes_failed)" -gt '"$failed"' ]'
}

@test "an unknown key before its hello: all is refused" {
    before=$(counter refused)
    names=$(rows UP | grep -vx -e hello -e bye; rows DOWN)
    steps=()
    WHO=fresh
    for name in $names; do steps+=(send "$(say "$name")"); done
    as fresh "${steps[@]}" send "$(greet fresh)" expect '"state":"pending"'
    [ $(($(counter refused) - before)) -eq "$(wc -w <<<"$names")" ]
    salt-key -y -d fresh >/dev/null
}

@test "a key that waits: hello and bye only" {
    refuses pending waits $(not_for P)
    salt-key -y -d waits >/dev/null
}

@test "an accepted key: all that its row allows, nothing of the master's" {
    accept_key good
    refuses accepted good $(rows DOWN)
    before=$(counter refused)
    steps=()
    WHO=good
    for name in $(rows UP | grep -vx -e bye -e file_part -e file_done -e file_more -e file_stop -e revoke); do steps+=(send "$(say "$name")"); done
    as good send "$(greet good)" expect '"state":"accepted"' "${steps[@]}" send "$(greet good)" expect '"state":"accepted"'
    [ "$(counter refused)" -eq "$before" ]
}

@test "a file's further messages without a file that is open harm nobody" {
    accept_key files
    WHO=files
    as files send "$(greet files)" expect '"state":"accepted"' send "$(say file_part)"$'\n' send "$(say file_done)" send "$(say file_more)" \
        send "$(say file_stop)" send "$(greet files)" expect '"state":"accepted"'
    key_is files acc
}

@test "revoke without allow_minion_key_revoke: the key stays" {
    accept_key stays
    WHO=stays
    as stays send "$(greet stays)" expect '"state":"accepted"' send "$(say revoke)" send "$(greet stays)" expect '"state":"accepted"'
    key_is stays acc
}

@test "an accepted key that calls itself another: denied, and then nothing but hello" {
    accept_key owner
    accept_key thief
    before=$(counter refused)
    steps=()
    WHO=owner
    for name in $(rows UP | grep -vx -e hello -e bye; rows DOWN); do steps+=(send "$(say "$name")"); done
    as thief send "$(greet owner)" expect '"state":"denied"' "${steps[@]}" send "$(greet owner)" expect '"state":"denied"'
    [ $(($(counter refused) - before)) -ge $((${#steps[@]} / 2)) ]
    cmp "$FLEET/keys/owner.pub" "$FLEET/master/etc/salt/pki/master/minions/owner"
}

@test "another key for an accepted id: denied, and nothing passes" {
    before=$(counter refused)
    steps=()
    WHO=owner
    for name in $(rows UP | grep -vx -e hello -e bye; rows DOWN); do steps+=(send "$(say "$name")"); done
    as second send "$(greet owner)" expect '"state":"denied"' "${steps[@]}" send "$(greet owner)" expect '"state":"denied"'
    [ $(($(counter refused) - before)) -ge $((${#steps[@]} / 2)) ]
    salt-key -l denied | grep -q owner
}

@test "a rejected key and a deleted one: the connection ends" {
    accept_key out
    (as out send "$(greet out)" expect '"state":"accepted"' wait "$BATS_TEST_TMPDIR/go" closed) >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    peer=$!
    until_true 10 grep -q 'done: expect' "$BATS_TEST_TMPDIR/out"
    salt-key -y -r out --include-accepted >/dev/null
    touch "$BATS_TEST_TMPDIR/go"
    wait "$peer"
    as out closed
    accept_key gone
    (as gone send "$(greet gone)" expect '"state":"accepted"' wait "$BATS_TEST_TMPDIR/go" closed) >"$BATS_TEST_TMPDIR/gone" 2>&1 3>&- &
    peer=$!
    until_true 10 grep -q 'done: expect' "$BATS_TEST_TMPDIR/gone"
    salt-key -y -d gone >/dev/null
    wait "$peer"
    # As one that nobody knows, it may ask again.
    as gone send "$(greet gone)" expect '"state":"pending"'
}

@test "an accepted minion fires no event that is the master's or another minion's to tell" {
    accept_key teller
    listen told
    before=$(counter refused)
    steps=()
    n=0
    for tag in salt/auth salt/key salt/run/20260101000000000001/ret salt/job/20260101000000000001/ret/owner salt/minion/owner/start 20260101000000000001; do
        steps+=(send "{\"m\":\"event\",\"n\":$((n += 1)),\"tag\":\"$tag\",\"data\":{\"act\":\"pend\",\"forged\":1}}" expect "\"events\":\[$n\]")
    done
    as teller send "$(greet teller)" expect '"state":"accepted"' "${steps[@]}" \
        send '{"m":"event","n":7,"tag":"salt/minion/teller/start","data":{}}' expect '"events":\[7\]'
    [ $(($(counter refused) - before)) -eq 6 ]
    wait_event told 'salt/minion/teller/start'
    [ "$(heard told forged)" -eq 0 ]
    unlisten told
}

# What was looked at so far, taken or refused.
taken() { echo "$(counter refused) $(counter returns) $(counter duplicates) $(counter jobs)"; }

@test "a deleted key: all but a greeting is refused, as of one that nobody knows" {
    accept_key was
    salt-key -y -d was >/dev/null
    before=$(counter refused)
    names=$(rows UP | grep -vx -e hello -e bye; rows DOWN)
    WHO=was
    steps=()
    for name in $names; do steps+=(send "$(say "$name")"); done
    as was "${steps[@]}" send "$(greet was)" expect '"state":"pending"'
    [ $(($(counter refused) - before)) -eq $((${#steps[@]} / 2)) ]
}

@test "a rejected key: no message passes, on either port" {
    as shut send "$(greet shut)" expect '"state":"pending"'
    salt-key -y -r shut >/dev/null
    before=$(taken)
    WHO=shut
    steps=()
    for name in $(rows UP; rows DOWN); do steps+=(send "$(say "$name")"); done
    as shut "${steps[@]}" closed
    [ "$(taken)" = "$before" ]
    "$HALITE_TOOLS/fakepeer" sub 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" shut closed
}

@test "bye: the connection ends, whoever says it" {
    as leaves send "$(WHO=leaves say bye)" closed
    as leaves send "$(greet leaves)" expect '"state":"pending"' send "$(WHO=leaves say bye)" closed
    salt-key -y -a leaves >/dev/null
    as leaves send "$(greet leaves)" expect '"state":"accepted"' send "$(WHO=leaves say bye)" closed
    as leaves send "$(greet owner)" expect '"state":"denied"' send "$(WHO=leaves say bye)" closed
    until_true 5 not is_connected leaves
}

@test "the publish port: accepted keys listen, nobody speaks" {
    as waiting send "$(greet waiting)" expect '"state":"pending"'
    accept_key hears
    as rival send "$(greet hears)" expect '"state":"denied"'
    accept_key removed
    salt-key -y -d removed >/dev/null
    for key in nobody waiting rival removed; do
        "$HALITE_TOOLS/fakepeer" sub 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" "$key" closed
    done
    before=$(taken)
    # Who is accepted may not say anything there: a DEALER's messages, whatever its row allows at the other port.
    WHO=hears
    steps=()
    for name in $(rows UP; rows DOWN); do steps+=(send "$(say "$name")"); done
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" hears "${steps[@]}" closed
    [ "$(taken)" = "$before" ]
    # Nor does it help to subscribe to more than everything.
    "$HALITE_TOOLS/fakepeer" sub 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" hears topics 1 closed
    # A subscription at the port for messages is none.
    "$HALITE_TOOLS/fakepeer" sub 127.0.0.1 $((PORT + 1)) "$SERVER" "$FLEET/keys" hears closed
}

# silent NAME KEY: a connection to the publish port that says nothing until it ends.
silent() {
    (SILENT=1 "$HALITE_TOOLS/fakepeer" sub 127.0.0.1 "$PORT" "$SERVER" "$FLEET/keys" "$2" met closed) >"$BATS_TEST_TMPDIR/$1" 2>&1 3>&- &
    pids+=($!)
    until_true 10 grep -q 'done: met' "$BATS_TEST_TMPDIR/$1"
}

@test "the publish port: who has not subscribed yet when his key goes never hears a job" {
    accept_key quiet
    pids=()
    for i in {1..6}; do silent "$i" quiet; done
    salt-key -y -d quiet >/dev/null
    for i in {0..5}; do wait "${pids[i]}"; done
    # Nor when another key has taken its place.
    accept_key early
    as late send "$(greet late)" expect '"state":"pending"'
    salt-key -y -d late >/dev/null
    next=$(awk '{printf "%s\\n", $0}' "$FLEET/keys/late.pub")
    pids=()
    silent 1 early
    as early send "$(greet early)" expect '"state":"accepted"' send "{\"m\":\"rekey\",\"key\":\"$next\"}" expect '"m":"rekeyed"'
    as late send "$(greet early)" expect '"state":"accepted"'
    wait "${pids[0]}"
}

@test "the hello port: whatever is said, the answer is the public key, and what vouches for it" {
    WHO=hears
    steps=()
    for name in $(rows UP; rows DOWN); do steps+=(send "$(say "$name" | head -c 256)" expect '"pub":'); done
    before=$(taken)
    RECORD=$BATS_TEST_TMPDIR/record "$HALITE_TOOLS/fakepeer" null 127.0.0.1 $((PORT + 2)) "${steps[@]}"
    [ "$(sort -u "$BATS_TEST_TMPDIR/record" | grep -c .)" -eq 1 ]
    not grep -qE 'state|pillar|jid' "$BATS_TEST_TMPDIR/record"
    [ "$(taken)" = "$before" ]
}
