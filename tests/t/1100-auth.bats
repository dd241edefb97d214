#!/usr/bin/env bats
# 1100-auth.bats - who may join a fleet: acceptance, rejection, automatic decisions, keys that are claimed twice, a master
# that changed.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

@test "a minion started before its master waits and joins" {
    start_minion m1
    until_true 10 test -s "$FLEET/m1/var/run/salt-minion.pid"
    start_master
    accept m1
    wait_connected m1
    ping_ok m1
}

@test "accepted: connected within two seconds, with the events that reactors know" {
    start_master
    listen all
    start_minion m1
    wait_key m1 pre
    wait_event all '"tag":"salt/auth".*"act":"pend","id":"m1"'
    local start=${EPOCHREALTIME/./}
    salt-key -y -a m1
    wait_connected m1
    [ "$(ms_since "$start")" -lt 2000 ]
    wait_event all '"tag":"salt/key".*"act":"accept","id":"m1"'
    wait_event all '"tag":"salt/minion/m1/start"'
    wait_event all '"tag":"minion_start"'
    ping_ok m1
}

@test "key files removed, moved and put there by hand count when the minion comes again" {
    fleet_down
    fleet_up m1
    listen keys 'salt/key'
    local pki
    pki=$(dirname "$(dirname "$(master_pki minions/m1)")")
    cp "$pki/minions/m1" "$FLEET/m1.key"
    stop m1
    rm "$pki/minions/m1"
    start_minion m1
    wait_key m1 pre
    wait_event keys '"act":"delete","id":"m1".*"cause":"file"'
    [ ! -e "$pki/minions/m1" ]

    stop m1
    mv "$pki/minions_pre/m1" "$pki/minions/m1"
    start_minion m1
    wait_connected m1
    ping_ok m1
    wait_event keys '"act":"accept","id":"m1".*"cause":"file"'

    stop m1
    mv "$pki/minions/m1" "$pki/minions_pre/m1"
    start_minion m1
    wait_event keys '"act":"pend","id":"m1".*"cause":"file"'
    accept m1
    wait_connected m1

    stop m1
    mv "$pki/minions/m1" "$pki/minions_rejected/m1"
    start_minion m1
    wait_event keys '"act":"reject","id":"m1".*"cause":"file"'
    [ "$(ls "$pki/minions" "$pki/minions_pre")" = "$(printf '%s:\n\n%s:' "$pki/minions" "$pki/minions_pre")" ]

    # Another key under an id whose file is gone: the id is free.
    stop m1
    rm "$pki/minions_rejected/m1"
    rm "$(minion_pki m1 minion.pem)" "$(minion_pki m1 minion.pub)"
    start_minion m1
    wait_key m1 pre
    [ ! -e "$pki/minions_denied/m1" ]

    # A key that is there before the minion comes for the first time.
    cp "$FLEET/m1.key" "$pki/minions/m2"
    mkdir -p "$FLEET/m2"
    start_minion m2
    wait_event keys '"act":"accept","id":"m2".*"cause":"file"'
}

@test "a job sees at once what was done by hand to key files; two ids with one key do no harm" {
    fleet_down
    fleet_up m1
    listen keys 'salt/key'
    local pki
    pki=$(dirname "$(dirname "$(master_pki minions/m1)")")

    # A second id with m1's key is one more target, and the key stays m1's, also after all files are read again.
    cp "$pki/minions/m1" "$pki/minions/m2"
    run -1 salt -t 2 m2 test.ping
    [[ $output == *"Minion did not return"* ]]
    wait_event keys '"act":"accept","id":"m2".*"cause":"file"'
    until_log "$FLEET/log/master" "minion m2: its key is that of the minion m1"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: '
    ping_ok m1
    rm "$pki/minions/m2"
    run -2 salt m2 test.ping
    ping_ok m1

    # A renamed file is a renamed minion; the key goes with it.
    stop m1
    mv "$pki/minions/m1" "$pki/minions/m3"
    mv "$FLEET/m1" "$FLEET/m3"
    run -2 salt m1 test.ping
    start_minion m3
    wait_connected m3
    ping_ok m3

    # A key whose file is gone is accepted no more: the live connection ends, and the key waits.
    rm "$pki/minions/m3"
    run -2 salt m3 test.ping
    wait_key m3 pre
    wait_event keys '"act":"delete","id":"m3".*"cause":"file"'
}

@test "salt/auth has result, act, id and the public key" {
    start_master
    listen auth 'salt/auth'
    start_minion m1
    event=$(wait_event auth '"act":"pend"')
    grep -q '"result":true' <<<"$event"
    grep -q '"id":"m1"' <<<"$event"
    grep -q '"pub":"-----BEGIN PUBLIC KEY' <<<"$event"
    grep -qE '"_stamp":"[0-9]{4}-[0-9]{2}-[0-9]{2}T' <<<"$event"
    [ "$(field pub <<<"$event")" = "$(sed ':a;N;$!ba;s/\n/\\n/g' "$(minion_pki m1 minion.pub)")\\n" ]
}

@test "reject: a live connection is cut at once, and the minion says why" {
    fleet_down
    fleet_up m1 m2
    listen keys 'salt/key'
    salt-key -y -r m1 --include-accepted
    wait_key m1 rejected
    wait_gone m1
    wait_event keys '"act":"reject","id":"m1"'
    until_log "$FLEET/log/m1" 'reject|refuse'
    run salt m1 test.ping
    [ "$status" -ne 0 ]
    ping_ok m2
    [ "$(pid_of m1)" ] && pid_alive "$(pid_of m1)"
}

@test "a rejected minion that is accepted later comes back by itself" {
    fleet_down
    fleet_up m1
    salt-key -y -r m1 --include-accepted
    wait_gone m1
    salt-key -y -a m1 --include-rejected
    wait_connected m1
    ping_ok m1
}

@test "delete: cut at once; the minion asks again and waits for acceptance" {
    fleet_down
    fleet_up m1
    listen keys 'salt/key'
    salt-key -y -d m1
    wait_event keys '"act":"delete","id":"m1"'
    wait_key m1 pre
    run salt m1 test.ping
    [ "$status" -ne 0 ]
    salt-key -y -a m1
    wait_connected m1
    ping_ok m1
}

@test "a job that is running when the key is deleted: its return is not taken" {
    fleet_down
    fleet_up m1 m2
    spool=$FLEET/m1/var/cache/salt/minion/spool
    jid=$(salt m1 cmd.run "until test -e $FLEET/go; do sleep 0.02; done" --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 test -e "$spool/$jid.run"
    listen all
    salt-key -y -d m1
    wait_key m1 pre
    wait_event all '"act":"pend"'
    touch "$FLEET/go"
    until_true 10 test -e "$spool/$jid.ret"
    ping_ok m2
    [ "$(heard all "salt/job/$jid/ret/m1")" -eq 0 ]
}

@test "auto_accept" {
    start_master 'auto_accept: true'
    start_minion m1
    wait_connected m1
    key_is m1 acc
}

@test "autosign_file accepts, autoreject_file goes before it, others wait" {
    mkdir "$FLEET/master"
    printf 'web*\n' >"$FLEET/master/autosign"
    printf 'web9\n' >"$FLEET/master/autoreject"
    chmod 0644 "$FLEET/master/autosign" "$FLEET/master/autoreject"
    start_master "autosign_file: $FLEET/master/autosign" "autoreject_file: $FLEET/master/autoreject"
    start_minion web1
    start_minion web9
    start_minion db1
    wait_connected web1
    wait_key web9 rejected
    wait_key db1 pre
}

@test "a master's name without an address: said once, the minion goes on" {
    start_minion m1 'master: no..name' 'retry_dns: 0.05' 'log_level: debug'
    until_log "$FLEET/log/m1" "master no..name: the name can't be resolved"
    [ "$(grep -c "can't be resolved" "$FLEET/log/m1")" -eq 1 ]
    stop m1
    [ "$RC" -eq 0 ]
}

@test "the master's name has another address: the minion goes there, also from a connection that was" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    start_master
    echo 127.0.0.9 >"$FLEET/hub"
    LD_PRELOAD=$BUILD/tests/preload/names.so NAMES_ADDRESS=$FLEET/hub start_minion m1 'master: hub.test'
    until_log "$FLEET/log/m1" 'hub.test'
    echo 127.0.0.1 >"$FLEET/hub"
    wait_key m1 pre
    accept m1
    wait_connected m1
    stop master
    sed -i 's/^interface: .*/interface: 127.0.0.2/' "$MASTER_CONF"
    echo 127.0.0.2 >"$FLEET/hub"
    start_master
    wait_connected m1
    ping_ok m1
}

@test "random_master of one master is told to do nothing, of two it is not" {
    start_master
    start_minion m1 'random_master: True'
    start_minion m2 'random_master: True' 'master_type: failover' 'master: [127.0.0.1, 127.0.0.9]' 'auth_timeout: 1'
    accept m1 m2
    wait_connected m1 m2
    until_log "$FLEET/log/m1" 'random_master is True but there is only one master specified'
    not grep -q 'only one master' "$FLEET/log/m2"
}

@test "an autosign_file that is not there is told at the start, with its whole path" {
    fleet_new
    start_master "autosign_file: $FLEET/master/nosuch"
    until_log "$FLEET/log/master" "autosign_file: .*$FLEET/master/nosuch is not there"
}

@test "a file in minions_autosign accepts its id once" {
    start_master
    mkdir -p "$FLEET/master/etc/salt/pki/master/minions_autosign"
    touch "$FLEET/master/etc/salt/pki/master/minions_autosign/m1"
    start_minion m1
    start_minion m2
    wait_connected m1
    wait_key m2 pre
    [ ! -e "$FLEET/master/etc/salt/pki/master/minions_autosign/m1" ]
}

@test "autosign_grains: the value of a grain that the master's folder lists accepts a new key, another waits; autoreject_file goes before" {
    mkdir -p "$FLEET/master/signs"
    printf '# tokens\n0f9a-secret\n' >"$FLEET/master/signs/token"
    echo bad >"$FLEET/master/reject"
    chmod 755 "$FLEET/master/signs"
    chmod 644 "$FLEET/master/signs/token" "$FLEET/master/reject"
    start_master "autosign_grains_dir: $FLEET/master/signs" "autoreject_file: $FLEET/master/reject"
    start_minion web1 'grains: {token: 0f9a-secret}' 'autosign_grains: [token, none-such]'
    wait_connected web1
    start_minion web2 'grains: {token: guessed}' 'autosign_grains: [token]'
    start_minion web3 'grains: {token: 0f9a-secret}'
    start_minion bad 'grains: {token: 0f9a-secret}' 'autosign_grains: [token]'
    wait_key web2 pre
    wait_key web3 pre
    wait_key bad rejected
    [ "$(grep -c 0f9a-secret "$FLEET/log/master")" = 0 ]
}

@test "an autosign_file that everybody may write is not believed" {
    mkdir "$FLEET/master"
    echo 'web*' >"$FLEET/master/autosign"
    chmod 0666 "$FLEET/master/autosign"
    start_master "autosign_file: $FLEET/master/autosign"
    start_minion web1
    wait_key web1 pre
    until_log "$FLEET/log/master" "autosign.*writ|writ.*autosign"
}

@test "two minions with one id: the second is refused and told, the first is unharmed" {
    fleet_down
    fleet_up m1
    listen auth 'salt/auth'
    mkdir "$FLEET/etc/twin"
    sed "s|^root_dir:.*|root_dir: $FLEET/twin|" "$FLEET/etc/m1/minion" >"$FLEET/etc/twin/minion"
    start_minion twin
    wait_event auth '"act":"denied","id":"m1".*"address":"127.0.0.1[^"]*","other":"127.0.0.1'
    wait_key m1 denied
    until_log "$FLEET/log/twin" 'another key is known for this id'
    until_log "$FLEET/log/master" '127.0.0.1.*another key is known for this id.*the one at 127.0.0.1.* has it'
    # However often it asks, it is told of once a minute.
    until_true 10 eval '[ "$(counter refused)" -ge 3 ]'
    [ "$(heard auth '"act":"denied"')" -eq 1 ]
    is_connected m1
    ping_ok m1
    cmp "$(minion_pki m1 minion.pub)" "$(master_pki minions/m1)"
}

@test "one key on two machines: the second is refused, the first is unharmed" {
    fleet_down
    fleet_up m1
    listen auth 'salt/auth'
    mkdir "$FLEET/etc/copy"
    sed "s|^root_dir:.*|root_dir: $FLEET/copy|" "$FLEET/etc/m1/minion" >"$FLEET/etc/copy/minion"
    mkdir -p "$FLEET/copy/etc/salt"
    cp -r "$FLEET/m1/etc/salt/pki" "$FLEET/copy/etc/salt/"
    start_minion copy
    wait_event auth '"act":"duplicate","id":"m1".*"address":"127.0.0.1[^"]*","other":"127.0.0.1'
    until_log "$FLEET/log/master" "two machines share one key.*the one at 127.0.0.1.* has it"
    until_log "$FLEET/log/copy" 'two machines share one key'
    is_connected m1
    ping_ok m1
}

@test "the same key under another id is refused" {
    fleet_down
    fleet_up m1
    listen auth 'salt/auth'
    mkdir "$FLEET/etc/other"
    sed -e "s|^root_dir:.*|root_dir: $FLEET/other|" -e 's/^id:.*/id: other/' "$FLEET/etc/m1/minion" >"$FLEET/etc/other/minion"
    mkdir -p "$FLEET/other/etc/salt"
    cp -r "$FLEET/m1/etc/salt/pki" "$FLEET/other/etc/salt/"
    start_minion other
    wait_event auth '"act":"denied","id":"other"'
    until_log "$FLEET/log/other" "one key can't have two ids"
    ping_ok m1
}

@test "another master with other keys: the minion refuses and says both fingerprints; deleting the known ones heals" {
    fleet_down
    fleet_up m1
    old=$(salt-key -F master --out=json | field master.pub)
    stop master
    rm "$(master_pki .)"/master*.*
    start_master
    until_log "$FLEET/log/m1" "the master's key has changed: known is $old" 20
    grep -q "delete $(minion_pki m1 minion_master.pub) and $(minion_pki m1 master_sign.pub) and restart" "$FLEET/log/m1"
    not is_connected m1
    stop m1
    rm "$(minion_pki m1 minion_master.pub)" "$(minion_pki m1 master_sign.pub)"
    start_minion m1
    wait_connected m1
}

@test "the master's old key comes back: the minion returns by itself" {
    fleet_down
    fleet_up m1
    stop master
    mkdir "$FLEET/aside"
    mv "$(master_pki .)"/master*.* "$FLEET/aside"
    start_master
    until_log "$FLEET/log/m1" "the master's key has changed" 20
    stop master
    rm -f "$(master_pki .)"/master*.*
    mv "$FLEET/aside"/* "$(master_pki .)"
    start_master
    until_true 20 is_connected m1
}

@test "master_finger: the right one joins, a wrong one refuses" {
    start_master 'auto_accept: true'
    finger=$(salt-key -F master --out=json | field master.pub)
    start_minion good "master_finger: '$finger'"
    start_minion bad "master_finger: '${finger:3}:00'"
    wait_connected good
    until_log "$FLEET/log/bad" "shows the key $finger, but master_finger is"
    not is_connected bad
    [ ! -e "$(minion_pki bad minion_master.pub)" ]
}

@test "hello_port 0: nothing is handed out; a copied key file lets the minion in" {
    master_conf 'auto_accept: true'
    sed -i 's/^hello_port:.*/hello_port: 0/' "$MASTER_CONF"
    start_master
    start_minion m1 'hello_port: 0'
    until_log "$FLEET/log/m1" "the master's key is not known and hello_port is 0"
    stop m1
    cp "$(master_pki master.pub)" "$(minion_pki m1 minion_master.pub)"
    start_minion m1
    wait_connected m1
}

@test "the fleet heals after the master's restart, and after a minion's" {
    fleet_down
    fleet_up m1 m2
    stop master
    start_master
    wait_connected m1 m2
    ping_ok m1
    stop m1
    wait_gone m1
    start_minion m1
    wait_connected m1
    ping_ok m1
    ping_ok m2
}

@test "the fleet heals after kill -9 of the master" {
    fleet_down
    fleet_up m1
    kill -KILL "$(pid_of master)"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1
    ping_ok m1
}

@test "kill -9 of the minion's networking process: another one takes over" {
    fleet_down
    fleet_up m1
    local first
    first=$(session_pid m1)
    kill -KILL "$first"
    until_true 10 pid_gone "$first"
    until_true 10 session_pid m1
    [ "$(session_pid m1)" != "$first" ]
    wait_connected m1
    ping_ok m1
}

@test "kill -9 of the minion: the next start joins with the same key" {
    fleet_down
    fleet_up m1
    kill -KILL "$(pid_of m1)"
    until_true 10 test -e "$FLEET/pids/m1.rc"
    wait_gone m1
    start_minion m1
    wait_connected m1
    ping_ok m1
}

@test "salt-key gives up on a master that does not answer, and what it asked for is not done later" {
    start_master 'timeout: 1'
    start_minion m1
    wait_key m1 pre
    kill -STOP "$(pid_of master)"
    run --separate-stderr timeout 20 "$HALITE_BIN/salt-key" -y -a m1
    kill -CONT "$(pid_of master)"
    [ "$status" -eq 1 ]
    grep -qF 'Salt request timed out. The master is not responding' <<<"$stderr"
    grep -qF "'salt-key -L'" <<<"$stderr"
    until_log "$FLEET/log/master" 'key_apply by .* is dropped'
    key_is m1 pre
    accept m1
    wait_connected m1
}
