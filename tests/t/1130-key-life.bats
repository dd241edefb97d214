#!/usr/bin/env bats
# 1130-key-life.bats - a minion's key over time: a new one in its place, cut short anywhere; too old; forgotten.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

key_of() { cksum <"$(master_pki "minions/$1")"; }
same_key() { cmp -s "$(minion_pki "$1" minion.pub)" "$(master_pki "minions/$1")"; }
renewed() { [ "$(key_of "$1")" != "$2" ] && same_key "$1"; }
up() {
    fleet_down
    fleet_up "$@"
}

@test "saltutil.regen_keys: the new key takes the old one's place, the old one is good no more" {
    up m1 m2
    listen all
    mkdir "$FLEET/old"
    cp "$(minion_pki m1 minion.pem)" "$FLEET/old/m1.pem"
    old=$(key_of m1)
    finger=$(salt-key -f m1 --out=json | field m1)
    run salt m1 saltutil.regen_keys --out=txt
    [ "$output" = "m1: None" ]
    until_true 10 renewed m1 "$old"
    wait_event all '"tag":"salt/key".*"act":"rotate","id":"m1".*"finger":"[0-9a-f:]*","old_finger":"'"$finger"
    wait_connected m1
    until_true 10 is_subscribed m1
    ping_ok m1
    ping_ok m2
    [ ! -e "$(minion_pki m1 minion_next.pem)" ] && [ ! -e "$(master_pki minions_next/m1)" ]
    [ "$(salt-key -l acc --out=json | tr -d ' \n')" = '{"minions":["m1","m2"]}' ]
    [ -z "$(ls "$(master_pki minions_pre)" "$(master_pki minions_denied)" | grep m1)" ]
    # Whoever has the old one is a stranger with a name that is taken.
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/old" m1 \
        send '{"m":"hello","id":"m1","proto":1,"version":"3006.0","boot":"b1","pending":[]}' expect '"state":"denied"'
    until_log "$FLEET/master/var/log/salt/audit" '"minion":"m1".*"op":"key","act":"rotate","finger"'
    ping_ok m1
}

@test "a job that runs meanwhile returns" {
    up m1
    old=$(key_of m1)
    (salt m1 cmd.run "until test -e $FLEET/go; do sleep 0.02; done; echo done" --out=txt >"$FLEET/out" 2>&1 3>&-) &
    local salt=$!
    until_true 5 eval 'salt-run jobs.active --out=json | grep -q cmd.run'
    salt m1 saltutil.regen_keys >/dev/null
    until_true 10 renewed m1 "$old"
    wait_connected m1
    touch "$FLEET/go"
    wait $salt
    same_as "$(cat "$FLEET/out")" <<<"m1: done"
}

@test "killed at every step on the minion's side: it is back with one of both keys, by itself" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    up m1
    local n old hits=0
    # There are about 32; each third one, or with EVERY=1 each.
    for ((n = 1; n < 60; n += ${EVERY:-3})); do
        stop m1
        rm -f "$FLEET/hit"
        FAULT=kill:$n FAULT_ROOT=$FLEET/m1/etc/salt/pki FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so start_minion m1
        until_true 10 eval 'is_connected m1 || [ -e "$FLEET/hit" ]'
        old=$(key_of m1)
        is_connected m1 && salt m1 saltutil.regen_keys --async >/dev/null 2>&1 || :
        until_true 10 eval '[ -e "$FLEET/hit" ] || renewed m1 "$old"'
        [ -e "$FLEET/hit" ] || break
        hits=$((hits + 1))
        kill -KILL "$(pid_of m1)" 2>/dev/null || :
        until_true 10 test -e "$FLEET/pids/m1.rc"
        start_minion m1
        until_true 10 is_connected m1
        until_true 10 ping_ok m1
        [ -z "$(find "$(master_pki minions_pre)" "$(master_pki minions_denied)" -type f)" ]
    done
    echo "$hits steps" >&2
    [ "$hits" -ge 5 ] && [ "$n" -lt 60 ]
    until_true 10 same_key m1
}

@test "the master killed at every step: the minion is back, by itself" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    up m1
    local n old hits=0
    for ((n = 1; n < 30; n += ${EVERY:-3})); do
        stop master
        rm -f "$FLEET/hit"
        FAULT=kill:$n FAULT_ROOT=$FLEET/master/etc/salt/pki FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so start_master 2>/dev/null || :
        [ -e "$FLEET/hit" ] || until_true 10 is_connected m1
        old=$(key_of m1)
        [ -e "$FLEET/hit" ] || salt m1 saltutil.regen_keys --async >/dev/null 2>&1 || :
        until_true 10 eval '[ -e "$FLEET/hit" ] || renewed m1 "$old"'
        if [ -e "$FLEET/hit" ]; then
            hits=$((hits + 1))
            until_true 10 test -e "$FLEET/pids/master.rc"
            start_master
            until_true 10 is_connected m1
            [ ! -e "$(minion_pki m1 minion_next.pem)" ] || until_true 10 renewed m1 "$old"
        fi
        until_true 10 ping_ok m1
        [ -z "$(find "$(master_pki minions_pre)" "$(master_pki minions_denied)" -type f)" ]
        [ -e "$FLEET/hit" ] || break
    done
    echo "$hits steps" >&2
    [ "$hits" -ge 3 ] && [ "$n" -lt 30 ]
}

@test "a key that can't be read for now is no reason to forget the next one" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    start_master
    mkdir "$FLEET/keys"
    local file id pem
    as() { "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/keys" "$1" \
        send '{"m":"hello","id":"'"$2"'","proto":1,"version":"3006.0","boot":"b1","pending":[]}' expect "\"state\":\"$3\"" "${@:4}"; }
    for id in minions minions_next; do
        "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" "$id"
        "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" "next-$id"
        as "$id" "$id" pending
        salt-key -y -a "$id" >/dev/null
        pem=$(sed ':a;N;$!ba;s/\n/\\n/g' "$FLEET/keys/next-$id.pub")
        as "$id" "$id" accepted send "{\"m\":\"rekey\",\"key\":\"$pem\\n\"}" expect '"m":"rekeyed","key"'
    done
    # The present key's file, and the next one's, each once without a descriptor.
    for id in minions minions_next; do
        file=$(master_pki "$id/$id")
        stop master
        rm -f "$FLEET/hit"
        FAULT=24:1 FAULT_OPENS=1 FAULT_ROOT=$file FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so start_master
        [ -e "$FLEET/hit" ]
        [ -e "$(master_pki "minions_next/$id")" ]
        DEADLINE=1 until_true 15 as "next-$id" "$id" accepted
    done
}

@test "a next key that is another minion's, or none, is refused; nobody else is harmed" {
    up m1
    mkdir "$FLEET/keys"
    "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" rogue
    hello='{"m":"hello","id":"rogue","proto":1,"version":"3006.0","boot":"b1","pending":[]}'
    rogue() { "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/keys" rogue send "$hello" "$@"; }
    rogue expect '"state":"pending"' send '{"m":"rekey","key":"x"}' send "$hello" expect '"state":"pending"'
    salt-key -y -a rogue >/dev/null
    pem=$(sed ':a;N;$!ba;s/\n/\\n/g' "$(minion_pki m1 minion.pub)")
    own=$(sed ':a;N;$!ba;s/\n/\\n/g' "$FLEET/keys/rogue.pub")
    rogue expect '"state":"accepted"' send '{"m":"rekey"}' expect '"m":"rekeyed".*"error":"the key is empty' \
        send "{\"m\":\"rekey\",\"key\":\"$pem\\n\"}" expect '"m":"rekeyed".*"error":"another minion has this key' \
        send "{\"m\":\"rekey\",\"key\":\"$own\\n\"}" expect '"m":"rekeyed".*"error":"it is the present key'
    # A public key that it has only seen: whoever comes with it for another id is not taken for it.
    "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" seen
    seen=$(sed ':a;N;$!ba;s/\n/\\n/g' "$FLEET/keys/seen.pub")
    rogue expect '"state":"accepted"' send "{\"m\":\"rekey\",\"key\":\"$seen\\n\"}" expect '"m":"rekeyed","key":"-----BEGIN'
    "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/keys" seen \
        send "${hello/rogue/seen}" expect '"state":"pending"'
    cmp "$FLEET/keys/rogue.pub" "$(master_pki minions/rogue)"
    # A deleted key takes its next one along.
    salt-key -y -d rogue >/dev/null
    [ ! -e "$(master_pki minions_next/rogue)" ]
    ping_ok m1
}

@test "a minion that names one next key after the other waits alone; nobody names another's next key" {
    up m1
    mkdir "$FLEET/keys"
    peer() { "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/keys" "$@"; }
    rekey() { echo "{\"m\":\"rekey\",\"key\":\"$1\"}"; }
    hello() { echo '{"m":"hello","id":"'"$1"'","proto":1,"version":"3006.0","boot":"b1","pending":[]}'; }
    local one steps=() next old
    for one in rogue victim next; do
        "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" $one
        [ $one = next ] || peer $one send "$(hello $one)" expect '"state":"pending"'
    done
    salt-key -y -A >/dev/null
    next=$(sed ':a;N;$!ba;s/\n/\\n/g' "$FLEET/keys/next.pub")'\n'
    peer victim send "$(hello victim)" expect '"state":"accepted"' send "$(rekey "$next")" expect '"m":"rekeyed","key":"-----BEGIN[^}]*}$'
    # Three hundred of them at once: those of one minion that the master keeps, for which it waits for the disk, are few.
    while read -r one; do
        steps+=(send "$(rekey "-----BEGIN PUBLIC KEY-----\\n$one\\n-----END PUBLIC KEY-----\\n")")
    done < <(python3 -c 'import base64, os
for i in range(300): print(base64.b64encode(bytes.fromhex("302a300506032b656e032100") + os.urandom(32)).decode())')
    peer rogue send "$(hello rogue)" expect '"state":"accepted"' send "$(rekey "$next")" \
        expect '"m":"rekeyed".*"error":"another minion has this key' "${steps[@]}" send '{"m":"rekey"}' expect '"error":"the key is empty' >"$FLEET/said"
    [ "$(grep -c '"m":"rekeyed"' "$FLEET/said")" -eq 302 ]
    [ "$(grep -c '"again":true' "$FLEET/said")" -ge 275 ]
    # Others get theirs meanwhile, and the victim comes with the one that it had named.
    old=$(key_of m1)
    salt m1 saltutil.regen_keys >/dev/null
    until_true 5 renewed m1 "$old"
    peer next send "$(hello victim)" expect '"state":"accepted"'
    cmp "$FLEET/keys/next.pub" "$(master_pki minions/victim)"
}

@test "revoked by an operator meanwhile: the next key is worth nothing" {
    up m1
    mkdir "$FLEET/keys"
    "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" a
    "$HALITE_TOOLS/fakepeer" key "$FLEET/keys" b
    hello='{"m":"hello","id":"a","proto":1,"version":"3006.0","boot":"b1","pending":[]}'
    next=$(sed ':a;N;$!ba;s/\n/\\n/g' "$FLEET/keys/b.pub")
    peer() { "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$(master_pki master.pub)" "$FLEET/keys" "$@"; }
    peer a send "$hello" expect '"state":"pending"'
    salt-key -y -a a >/dev/null
    peer a send "$hello" expect '"state":"accepted"' send "{\"m\":\"rekey\",\"key\":\"$next\\n\"}" expect '"m":"rekeyed"'
    salt-key -y -r a --include-accepted >/dev/null
    peer b send "$hello" expect '"state":"denied"'
    key_is a rejected
}

# A key file that is so old.
aged() { touch -d "$2 ago" "$(master_pki "$1")"; }

@test "key_expire_days: at half of it the minion gets a new key by itself" {
    up m1
    stop master
    aged minions/m1 '6 days'
    master_conf 'key_expire_days: 10'
    old=$(key_of m1)
    start_master
    wait_connected m1
    kill -HUP "$(pid_of master)"
    until_true 10 renewed m1 "$old"
    wait_connected m1
    ping_ok m1
}

@test "key_expire_days: who is not there is warned of, then waits again; a new acceptance lets it in" {
    up m1 m2
    stop m1
    stop master
    aged minions/m1 '228 hours'
    aged minions/m2 '11 days'
    master_conf 'key_expire_days: 10'
    start_master
    wait_key m2 pre
    until_log "$FLEET/master/var/log/salt/audit" '"minion":"m1","op":"key","act":"expiring","seconds":4[0-9]{4}'
    until_log "$FLEET/master/var/log/salt/audit" '"minion":"m2","op":"key","act":"expire"'
    until_log "$FLEET/log/m2" "waits for acceptance; .*salt-key -a m2; this minion's key is older than key_expire_days"
    key_is m1 acc
    salt-key -y -a m2
    wait_connected m2
    ping_ok m2
}

@test "key_pending_days: keys that nobody accepted go, but not of who is connected" {
    fleet_down
    fleet_new
    start_master
    start_minion here
    start_minion gone
    wait_key here pre
    wait_key gone pre
    stop gone
    stop master
    aged minions_pre/here '3 days'
    aged minions_pre/gone '3 days'
    master_conf 'key_pending_days: 0.00002' # two seconds
    start_master
    until_true 10 not key_is gone pre
    until_log "$FLEET/log/here" 'waits for acceptance'
    until_true 10 key_is here pre
    until_log "$FLEET/master/var/log/salt/audit" '"minion":"gone","op":"key","act":"delete"'
    accept here
    wait_connected here
}

kept_of_minions() {
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(*(db.execute("SELECT count(*) FROM " + what).fetchone()[0] for what in ("grains", "meta WHERE key GLOB '"'events_of/*'"'")))' \
        "$FLEET/master/var/cache/salt/master/jobs.db"
}
kept_is() { [ "$(kept_of_minions)" = "$1" ]; }

@test "key_pending_days: of a minion whose key was too old and that never came again nothing is kept" {
    up m1
    salt_call m1 event.send my/tag
    until_true 10 kept_is '1 1'
    stop m1
    stop master
    aged minions/m1 '11 days'
    master_conf 'key_expire_days: 10' 'key_pending_days: 0.00002'
    start_master
    until_true 10 kept_is '0 0'
    not key_is m1 acc
    not key_is m1 pre
}

@test "the clock jumps: that is said once, and no key is too old for it; the clock is set back" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    fleet_down
    fleet_new
    movable_clock
    # For an age of two seconds ages are looked at ten times a second.
    HALITE_BIN=$FLEET/bin start_master 'auto_accept: true' 'key_expire_days: 0.5' 'key_pending_days: 0.00002'
    start_minion m1
    wait_connected m1
    move_clock 86400
    until_log "$FLEET/log/master" 'the clock has jumped by 86(399|400|401) s'
    for _ in {1..9}; do ping_ok m1; done
    key_is m1 acc
    move_clock 0
    until_log "$FLEET/log/master" 'the clock is right again'
    [ "$(grep -c 'the clock has jumped' "$FLEET/log/master")" = 1 ]
}
