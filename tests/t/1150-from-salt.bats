#!/usr/bin/env bats
# 1150-from-salt.bats - folders with Salt's RSA keys: explained by both daemons and salt-key, moved aside, and nothing is lost.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    PKI=$FLEET/master/etc/salt/pki/master
    MINION_PKI=$FLEET/m1/etc/salt/pki/minion
    mkdir -p "$PKI/minions" "$MINION_PKI" && chmod 0700 "$PKI" "$MINION_PKI"
    rsa >"$PKI/master.pem"
    rsa public >"$PKI/master.pub"
    rsa public m1 >"$PKI/minions/m1"
    rsa public m2 >"$PKI/minions/m2"
    rsa >"$MINION_PKI/minion.pem"
    rsa public m1 >"$MINION_PKI/minion.pub"
    rsa public >"$MINION_PKI/minion_master.pub"
    cp -a "$PKI" "$FLEET/was" && cp -a "$MINION_PKI" "$FLEET/minion-was"
}

teardown() {
    fleet_down
}

# As far as anybody reads it.
rsa() {
    if [ "${1:-}" = public ]; then
        printf -- '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA%s\n-----END PUBLIC KEY-----\n' "${2:-}"
    else
        printf -- '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n'
    fi
}
rsa_files() { (cd "$1" && find . -type f ! -name '*.sig' -exec md5sum {} + | sort -k 2); }

@test "both daemons move Salt's keys aside, say so once, and are joined by new ones" {
    master_conf
    run --separate-stderr salt-key -L
    [ "$status" -eq 0 ]
    [[ $stderr == *"4 keys in $PKI are RSA keys of Salt, 2 of them of accepted minions."*"$PKI/salt-rsa"* ]]
    diff <(rsa_files "$PKI") <(rsa_files "$FLEET/was")
    start_master
    grep -qF "$PKI held RSA keys of Salt, which Halite can't use: 2 of this host's own and 2 of minions (2 accepted) are in $PKI/salt-rsa now, unchanged." "$FLEET/log/master"
    diff <(rsa_files "$PKI/salt-rsa") <(rsa_files "$FLEET/was")
    start_minion m1
    until_log "$FLEET/log/m1" "$MINION_PKI held RSA keys of Salt, .*: 3 of this host.s own and 0 of minions"
    diff <(rsa_files "$MINION_PKI/salt-rsa") <(rsa_files "$FLEET/minion-was")
    accept m1
    wait_connected m1
    ping_ok m1
    run -0 --separate-stderr salt-key -L
    [ -z "$stderr" ]
    stop master
    start_master
    wait_connected m1
    not grep -q 'RSA keys of Salt' "$FLEET/log/master"
}

@test "a key of Salt that can't be moved stays, and the daemon does not start" {
    mkdir "$MINION_PKI/salt-rsa"
    echo earlier >"$MINION_PKI/salt-rsa/minion.pem"
    start_minion m1
    until_true 10 test -e "$FLEET/pids/m1.rc"
    [ "$(cat "$FLEET/pids/m1.rc")" -ne 0 ]
    grep -qF "$MINION_PKI/minion.pem is an RSA key of Salt and can't be moved to $MINION_PKI/salt-rsa/minion.pem: File exists" "$FLEET/log/m1"
    [ "$(cat "$MINION_PKI/salt-rsa/minion.pem")" = earlier ]
    cmp "$MINION_PKI/minion.pem" "$FLEET/minion-was/minion.pem"
}

@test "--import-salt: an id alone waits and is marked; the right fingerprint is accepted, a wrong one waits" {
    start_master
    local id finger
    for id in m1 m2 m3; do minion_conf "$id"; done
    rsa public m3 >"$PKI/salt-rsa/minions/m3"
    # The minions' new keys, as a job on the old side has them made and shown.
    for id in m1 m2; do
        mkdir -p -m 0700 "$FLEET/$id/etc/salt/pki/minion"
        rm -f "$FLEET/$id/etc/salt/pki/minion"/*
        finger=$(salt-key --gen-keys minion --gen-keys-dir "$FLEET/$id/etc/salt/pki/minion" --out=newline_values_only)
        [ "$id" = m1 ] && echo "$id: local: $finger" || echo "$id: $(tr '0-9a-f' '1-9a-f0' <<<"$finger")"
    done >"$FLEET/fingers"
    run -0 salt-key --import-salt "$PKI/salt-rsa" --fingers "$FLEET/fingers"
    [[ $output == "3 minions are expected: a key of 2 of them is accepted when its fingerprint agrees,"* ]]
    grep -q '"op":"key_import","allowed":true,"minions":3,"fingers":2,"outcome":"ok"' "$FLEET/master/var/log/salt/audit"
    for id in m1 m2 m3; do start_minion "$id"; done
    wait_connected m1
    wait_key m2 pre
    wait_key m3 pre
    run -0 salt-key -l pre
    grep -qx 'm2 (expected)' <<<"$output"
    grep -qx 'm3 (expected)' <<<"$output"
    run -0 salt-key -l pre --out=json
    [[ $output != *expected* ]]
    echo 'm1 nothing' >"$FLEET/fingers"
    run -1 salt-key --import-salt "$PKI/salt-rsa" --fingers "$FLEET/fingers"
    [[ $output == *"$FLEET/fingers:1: not 'ID: FINGERPRINT'"* ]]
    run -1 salt-key --import-salt "$FLEET/nosuch"
    [[ $output == *"$FLEET/nosuch/minions: No such file or directory"* ]]
}

@test "--import-salt: an expectation ends with the acceptance, whoever accepts, and is good for one" {
    start_master
    local finger expected=$PKI/minions_expected
    rm -f "$MINION_PKI"/*
    minion_conf m1
    finger=$(salt-key --gen-keys minion --gen-keys-dir "$MINION_PKI" --out=newline_values_only)
    echo "m1: $finger" >"$FLEET/fingers"
    salt-key --import-salt "$PKI/salt-rsa" --fingers "$FLEET/fingers"
    [ -e "$expected/m1" ] && [ -e "$expected/m2" ]
    # By its fingerprint, and by an operator.
    start_minion m1
    start_minion m2
    wait_connected m1
    [ ! -e "$expected/m1" ]
    accept m2
    [ ! -e "$expected/m2" ]
    # The same key again, when an operator has deleted it: it waits, and is no longer marked.
    salt-key -y -d m1
    wait_key m1 pre
    run -0 salt-key -l pre
    grep -qx m1 <<<"$output"
    # Whoever is accepted already is not expected.
    salt-key --import-salt "$PKI/salt-rsa" --fingers "$FLEET/fingers"
    [ -e "$expected/m1" ] && [ ! -e "$expected/m2" ]
    # Without a master the files are salt-key's to keep.
    stop m1
    stop master
    salt-key -y -a m1
    [ ! -e "$expected/m1" ]
}
