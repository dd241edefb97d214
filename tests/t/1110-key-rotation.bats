#!/usr/bin/env bats
# 1110-key-rotation.bats - the master's key is replaced: minions that know its signing key come back by themselves, those
# that were off as well; others refuse and say why.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

knows_key() { cmp -s "$(minion_pki "$1" minion_master.pub)" "$(master_pki master.pub)"; }
finger_of() { salt-key -F master --out=json | field "$1"; }
up() {
    fleet_down
    fleet_up "$@"
    for id; do until_true 5 test -s "$(minion_pki "$id" minion_master.sig)"; done
}

@test "online, off, and one that trusts another signing key" {
    up on1 on2 away wrong
    listen all
    stop away
    stop wrong
    "$HALITE_BIN/salt-key" -c "$FLEET/etc" --gen-signature --auto-create --signature-path="$FLEET/tmp" >/dev/null
    rm "$FLEET/tmp/master_pubkey_signature"
    openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -pubout >"$(minion_pki wrong master_sign.pub)"
    old=$(finger_of master.pub)
    signer=$(finger_of master_sign.pub)
    refused=$(counter refused)
    run salt-key -y --rotate-master-key
    [ "$status" -eq 0 ]
    new=$(finger_of master.pub)
    [ "$old" != "$new" ] && [ "$output" = "The master has a new key, fingerprint $new." ]
    [ "$(finger_of master_sign.pub)" = "$signer" ]
    wait_event all '"tag":"salt/key".*"act":"rotate"'
    wait_event all 'salt/minion/on1/master_key.*"finger":"'"$new"
    wait_event all 'salt/minion/on2/master_key'
    until_true 10 knows_key on1
    until_true 10 knows_key on2
    until_true 10 is_subscribed on1
    ping_ok on1
    ping_ok on2
    start_minion away
    wait_connected away
    ping_ok away
    knows_key away
    start_minion wrong
    until_log "$FLEET/log/wrong" "the master's key has changed: known is $old.*it is vouched for by the signing key $signer"
    not is_connected wrong
    not knows_key wrong
    [ "$(counter refused)" -eq "$refused" ]
}

@test "three times, with a minion that missed two of them; and then the master's restart" {
    up here away
    stop away
    salt-key -y --rotate-master-key
    until_true 10 knows_key here
    salt-key -y --rotate-master-key
    until_true 10 knows_key here
    start_minion away
    wait_connected away
    salt-key -y --rotate-master-key
    for id in here away; do
        until_true 10 knows_key $id
        wait_connected $id
    done
    stop master
    start_master
    wait_connected here away
    ping_ok here
    ping_ok away
}

@test "a job that runs meanwhile returns, and its salt waits for it" {
    up m1
    (salt m1 cmd.run "until test -e $FLEET/go; do sleep 0.02; done; echo done" --out=txt >"$FLEET/out" 2>&1 3>&-) &
    local salt=$!
    until_true 5 eval 'salt-run jobs.active --out=json | grep -q cmd.run'
    salt-key -y --rotate-master-key
    until_true 10 knows_key m1
    wait_connected m1
    touch "$FLEET/go"
    wait $salt
    same_as "$(cat "$FLEET/out")" <<<"m1: done"
}

@test "hello_port 0: who is connected is told, and comes back" {
    master_conf
    sed -i 's/^hello_port:.*/hello_port: 0/' "$MASTER_CONF"
    start_master
    minion_conf m1 'hello_port: 0'
    mkdir -p -m 0700 "$FLEET/m1/etc/salt/pki/minion"
    cp "$(master_pki master.pub)" "$(minion_pki m1 minion_master.pub)"
    start_minion m1
    accept m1
    wait_connected m1
    until_true 5 test -s "$(minion_pki m1 minion_master.sig)"
    salt-key -y --rotate-master-key
    until_true 10 knows_key m1
    wait_connected m1
    until_true 10 ping_ok m1
}

@test "without a running master; and a question that is not answered" {
    up m1
    stop master
    old=$(finger_of master.pub)
    run salt-key --rotate-master-key <<<n
    [ "$status" -eq 0 ] && [ "$(finger_of master.pub)" = "$old" ]
    run salt-key --rotate-master-key </dev/null
    [ "$status" -eq 1 ] && [ "$(finger_of master.pub)" = "$old" ]
    salt-key -y --rotate-master-key
    [ "$(finger_of master.pub)" != "$old" ]
    start_master
    until_true 20 is_connected m1
    ping_ok m1
}

@test "master_sign_pubkey off: nothing is replaced" {
    start_master 'master_sign_pubkey: false'
    old=$(finger_of master.pub)
    run salt-key -y --rotate-master-key
    [ "$status" -eq 1 ]
    grep -q 'master_sign_pubkey is off' <<<"$output"
    [ "$(finger_of master.pub)" = "$old" ]
    [ ! -e "$(master_pki master_sign.pem)" ]
}

@test "the signing key is kept elsewhere" {
    up m1
    mkdir "$FLEET/safe"
    mv "$(master_pki master_sign.pem)" "$FLEET/safe"
    stop master
    master_conf 'master_use_pubkey_signature: true'
    start_master
    wait_connected m1
    old=$(finger_of master.pub)
    run salt-key -y --rotate-master-key
    [ "$status" -eq 1 ]
    grep -q 'waits for its signature' <<<"$output"
    [ "$(finger_of master.pub)" = "$old" ]
    salt-key --gen-signature --priv="$FLEET/safe/master_sign.pem" --pub="$(master_pki master_next.pub)" --signature-path="$FLEET/safe"
    cp "$FLEET/safe/master_pubkey_signature" "$(master_pki .)"
    salt-key -y --rotate-master-key
    [ "$(finger_of master.pub)" != "$old" ]
    until_true 10 knows_key m1
    wait_connected m1
    ping_ok m1
}

@test "killed at every step of a rotation on the disk: the master starts, with the old key or the new one, and the minion is back" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    up m1
    local n seen=
    for ((n = 1; n < 40; n += ${EVERY:-3})); do # each third step, or with EVERY=1 each
        stop master
        rm -f "$FLEET/hit"
        FAULT=kill:$n FAULT_ROOT=$FLEET/master/etc FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so \
            run salt-key -y --rotate-master-key
        start_master
        until_true 20 is_connected m1
        ping_ok m1
        knows_key m1
        [ -e "$FLEET/hit" ] || break
        seen+=.
    done
    [ ${#seen} -ge 3 ] && [ "$n" -lt 40 ]
}

@test "verify_master_pubkey_sign: only with the signing key's file, from the first contact on" {
    start_master 'auto_accept: true'
    start_minion m1 'verify_master_pubkey_sign: true'
    until_log "$FLEET/log/m1" 'is not believed: no signing key'
    not is_connected m1
    stop m1
    cp "$(master_pki master_sign.pub)" "$(minion_pki m1 master_sign.pub)"
    start_minion m1
    wait_connected m1
    salt-key -y --rotate-master-key
    until_true 10 knows_key m1
    wait_connected m1
}

@test "always_verify_signature: no job from a master without a voucher" {
    start_master 'auto_accept: true' 'master_sign_pubkey: false'
    start_minion m1 'always_verify_signature: true'
    until_log "$FLEET/log/m1" 'always_verify_signature: the key of 127.0.0.1 is not vouched for'
    stop master
    start_master
    sed -i '/^master_sign_pubkey/d' "$MASTER_CONF"
    stop master
    start_master
    wait_connected m1
    until_true 10 ping_ok m1
}

@test "fingerprints on both sides, of the signing key too" {
    up m1
    [ "$(salt_call m1 --local key.finger_master --out=txt)" = "local: $(finger_of master.pub)" ]
    [ "$(salt_call m1 --local key.finger_master_sign --out=txt)" = "local: $(finger_of master_sign.pub)" ]
    [ "$(salt_call m1 --local key.finger --out=txt)" = "local: $(salt-key -f m1 --out=json | field m1)" ]
    # Either of the two says who the master is.
    stop m1
    rm "$(minion_pki m1 minion_master.pub)" "$(minion_pki m1 minion_master.sig)" "$(minion_pki m1 master_sign.pub)"
    minion_conf m1 "master_finger: '$(finger_of master_sign.pub)'"
    start_minion m1
    wait_connected m1
    salt-key -y --rotate-master-key
    until_true 10 knows_key m1
    stop m1
    start_minion m1
    wait_connected m1
}
