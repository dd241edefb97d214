#!/usr/bin/env bats
# 3400-failover.bats - several masters: one of them at a time (master_type failover), and what is asked of one that goes away.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    touch "$FLEET/keep-ports"
    for n in 1 2; do
        mkdir -p "$FLEET/etc$n"
        SALT_CONFIG_DIR=$FLEET/etc$n
        MASTER_CONF=$FLEET/etc$n/master
        master_conf "auto_accept: True" "id: boss$n"
        sed -i "s/^interface:.*/interface: 127.0.0.$n/; s|^root_dir:.*|root_dir: $FLEET/master$n|" "$MASTER_CONF"
    done
    on 1
}

teardown() {
    fleet_down
}

# on N: operators' commands go to that master. boss N: start it.
on() {
    SALT_CONFIG_DIR=$FLEET/etc$1 MASTER_CONF=$FLEET/etc$1/master SOCK_DIR=$FLEET/master$1/var/run/salt/master
    export SALT_CONFIG_DIR MASTER_CONF SOCK_DIR
}
boss() {
    : >"$FLEET/log/master$1"
    daemon "master$1" "$HALITE_BIN/salt-master" -c "$FLEET/etc$1"
    until_log "$FLEET/log/master$1" 'the master is ready' 10
}
# minion LINE...: with both masters.
minion() {
    start_minion web 'master: [127.0.0.1, 127.0.0.2]' "master_type: failover" "auth_timeout: 1" "$@"
}

@test "the first that answers; the next one when it is gone, and the first one stays away" {
    boss 1
    boss 2
    minion "master_alive_interval: 1"
    wait_connected web
    on 2
    not is_connected web
    stop master1 KILL
    wait_connected web
    run -0 salt web test.ping --out=newline_values_only
    [ "$output" = True ]
    until_log "$FLEET/log/web" 'master 127.0.0.1 does not answer; master 127.0.0.2 is tried' 1
    boss 1
    run -0 salt web test.echo still --out=newline_values_only
    [ "$output" = still ]
    on 1
    not is_connected web
}

@test "salt-call keeps each master's key in that one's own file, as the minion does" {
    local pki=$FLEET/web/etc/salt/pki/minion first=$FLEET/first.pub
    boss 1
    boss 2
    cp "$FLEET/master1/etc/salt/pki/master/master.pub" "$first"
    stop master1
    minion
    on 2
    wait_connected web
    run -0 --separate-stderr salt_call web test.ping --out=txt
    [ "$output" = 'local: True' ]
    [ ! -e "$pki/minion_master.pub" ]
    cmp "$pki/minion_master.127.0.0.2.pub" "$FLEET/master2/etc/salt/pki/master/master.pub"
    # The first one is known: its key says nothing about the second one.
    cp "$first" "$pki/minion_master.pub"
    run -0 --separate-stderr salt_call web test.ping --out=txt
    [ "$output" = 'local: True' ]
    cmp "$pki/minion_master.pub" "$first"
}

@test "one that is down at the start is passed over" {
    boss 2
    minion
    on 2
    wait_connected web
    run -0 salt web grains.get id --out=newline_values_only
    [ "$output" = web ]
}

@test "master_failback: the first one again when it is back" {
    boss 2
    minion "master_failback: True" "master_failback_interval: 1"
    on 2
    wait_connected web
    boss 1
    on 1
    wait_connected web
    run -0 salt web test.ping --out=newline_values_only
    [ "$output" = True ]
    on 2
    wait_gone web
    until_log "$FLEET/log/web" 'master 127.0.0.1 is back' 1
}

@test "what a lost master had asked for returns to the next one" {
    boss 1
    boss 2
    minion "master_alive_interval: 1"
    wait_connected web
    jid=$(salt web cmd.run "until [ -e $FLEET/go ]; do sleep 0.05; done; echo over" --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 eval 'salt web saltutil.running --out=json --static | grep -q "$jid"'
    stop master1
    on 2
    wait_connected web
    touch "$FLEET/go"
    until_true 10 eval 'salt-run jobs.lookup_jid "$jid" | grep -q over'
}

# returned_elsewhere: a job of the first master, in $jid, whose return the second one has. The minion db never comes to it,
# so that it has no end.
returned_elsewhere() {
    boss 1
    boss 2
    minion "master_alive_interval: 1" "master_failback: True" "master_failback_interval: 1"
    start_minion db 'master: 127.0.0.1' 'process_count_max: 1'
    wait_connected web db
    salt db cmd.run "until [ -e $FLEET/end ]; do sleep 0.05; done" --async
    jid=$(salt -L web,db cmd.run "until [ -e $FLEET/go ]; do sleep 0.05; done; echo over" --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 eval 'salt web saltutil.running --out=json --static | grep -q "$jid"'
    stop master1 KILL
    on 2
    wait_connected web
    touch "$FLEET/go"
    until_true 10 eval 'salt-run jobs.lookup_jid "$jid" | grep -q over'
}
# told_elsewhere TIMES: the first master is back and knows that; so often the minion was sent the job, by its log.
told_elsewhere() {
    boss 1
    on 1
    wait_connected web
    # What that master sends again comes before this.
    salt web test.ping
    [ "$(grep -c "job $jid: cmd.run from" "$FLEET/log/web")" = "$1" ]
    ask "{\"op\":\"verdicts\",\"jid\":\"$jid\"}" | grep -q '"web":{"verdict":"elsewhere"}'
}

@test "a job that returned to the next master does not run again when the one that asked is back, which is told" {
    returned_elsewhere
    told_elsewhere 1
}

@test "the same when the networking process, or the minion, has been started again meanwhile" {
    returned_elsewhere
    kill -KILL "$(session_pid web)"
    until_log "$FLEET/log/web" 'the networking process ended' 5
    wait_connected web
    stop web KILL
    start_minion web
    wait_connected web
    told_elsewhere 0
}

@test "several at a time: what a killed minion says of a job goes to the master that asked, not to one that listens" {
    boss 1
    boss 2
    start_minion web 'master: [127.0.0.1, 127.0.0.2]'
    on 2
    wait_connected web
    jid=$(salt web cmd.run "until [ -e $FLEET/go ]; do sleep 0.05; done" --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 eval 'salt web saltutil.running --out=json --static | grep -q "$jid"'
    kill -STOP "$(pid_of master2)"
    stop web KILL
    touch "$FLEET/go"
    start_minion web
    on 1
    wait_connected web
    salt web test.ping
    [ -e "$FLEET/web/var/cache/salt/minion/spool/$jid.ret" ]
    kill -CONT "$(pid_of master2)"
    on 2
    until_true 10 eval 'salt-run jobs.lookup_jid "$jid" | grep -q "stopped while this job ran"'
    on 1
    run salt-run jobs.lookup_jid "$jid"
    [[ $output != *"stopped while this job ran"* ]]
}

@test "several at a time: what one was asked goes to another when it is gone" {
    mkdir "$FLEET/files"
    echo hello >"$FLEET/files/page"
    for n in 1 2; do
        echo "file_roots: {base: [$FLEET/files]}" >>"$FLEET/etc$n/master"
        boss $n
    done
    start_minion web 'master: [127.0.0.1, 127.0.0.2]' "schedule: {get: {function: cp.cache_file, args: ['salt://page'], seconds: 1}}"
    wait_connected web
    on 2
    wait_connected web
    kill -STOP "$(pid_of master1)"
    jid=$(until_asking)
    stop master1 KILL
    until_true 10 eval 'salt-run jobs.lookup_jid "$jid" | grep -q files/base/page'
    rm "$FLEET"/master1/var/run/salt-master.pid "$FLEET"/master1/var/run/salt/master/master.sock
}
# The jid of the scheduled job that waits for its answer.
until_asking() {
    until_true 10 eval 'salt web saltutil.running --out=json --static | tr -d "\n " | grep -oE "[0-9]{20}[^}]*cp.cache_file" >"$FLEET/asking"'
    cut -c -20 "$FLEET/asking"
}

@test "saltutil.regen_keys is refused, and no key is touched: other masters would not know the new one" {
    boss 1
    minion
    wait_connected web
    keys=$(cat "$(minion_pki web minion.)"*)
    run -1 salt web saltutil.regen_keys --out=newline_values_only
    [[ $output == *"With master_type failover"* ]]
    [ "$(cat "$(minion_pki web minion.)"*)" = "$keys" ]
}

@test "several at a time: what a beacon saw goes to each master once, and to the other while one is away" {
    mkdir "$FLEET/seen"
    seen() { salt-run state.event "salt/beacon/web/watchdog/*" since=10m count=9 timeout=1 | grep -c '"change"'; }
    boss 1
    boss 2
    start_minion web 'master: [127.0.0.1, 127.0.0.2]' "beacons: {watchdog: [directories: {$FLEET/seen: {mask: [create]}}]}"
    for n in 1 2; do on $n && wait_connected web; done
    touch "$FLEET/seen/both"
    for n in 1 2; do on $n && until_true 20 eval '[ "$(seen)" = 1 ]'; done
    stop master2
    touch "$FLEET/seen/one"
    on 1
    until_true 20 eval '[ "$(seen)" = 2 ]'
}
