#!/usr/bin/env bats
# 0055-service.bats - the daemons under a service manager: what they tell it, logs that are rotated, and jobs that outlive the
# minion's restart.

bats_require_minimum_version 1.5.0
load lib

setup() { fleet_new; }
teardown() { fleet_down; }

# manager NAME [SOCKET]: somebody hears what NAME tells; its words are lines of $FLEET/NAME.said.
manager() {
    local socket=${2:-$FLEET/$1.notify}
    : >"$FLEET/$1.said"
    daemon "manager-$1" "$HALITE_SRC/tests/lib/notified.py" "$socket" "$FLEET/$1.said"
    until_true 10 eval '[ -S "$FLEET/$1.notify" ] || grep -qs " $socket\$" /proc/net/unix'
}
told() { until_log "$FLEET/$1.said" "$2" || { grep -v WATCHDOG "$FLEET/$1.said" && return 1; }; }

# managed NAME PROGRAM WORD...: as a service manager starts it.
managed() {
    daemon "$1" env NOTIFY_SOCKET="${SOCKET:-$FLEET/$1.notify}" WATCHDOG_USEC=400000 "$HALITE_BIN/$2" "${@:3}"
}

@test "the master: ready, how many minions, a sign of life while it turns, and its end" {
    manager master
    master_conf
    : >"$FLEET/log/master"
    managed master salt-master -c "$FLEET/etc"
    told master '^READY=1$'
    told master "^STATUS=0 of 0 minions connected, 0 keys wait .*; ports $PORT, "
    told master '^WATCHDOG=1$'
    start_minion m1
    told master '^STATUS=0 of 0 minions connected, 1 keys wait'
    accept m1
    wait_connected m1
    told master '^STATUS=1 of 1 minions connected, 0 keys wait'
    # Half of the watchdog's time.
    until_true 10 eval '[ "$(grep -c WATCHDOG "$FLEET/master.said")" -ge 3 ]'
    stop master
    told master '^STOPPING=1$'
}

@test "the minion: ready, its master, why there is none; nothing of it is left for what jobs start" {
    local name="@halite-$$-$BATS_TEST_NUMBER"
    manager m1 "$name"
    start_master
    touch "$FLEET/keep-ports"
    minion_conf m1
    : >"$FLEET/log/m1"
    SOCKET=$name managed m1 salt-minion -c "$FLEET/etc/m1"
    told m1 '^READY=1$'
    told m1 '^STATUS=master 127\.0\.0\.1: this minion.s key waits for acceptance'
    accept m1
    wait_connected m1
    told m1 '^STATUS=master 127\.0\.0\.1: connected$'
    until_true 10 eval '[ "$(grep -c WATCHDOG "$FLEET/m1.said")" -ge 3 ]'
    run -0 salt m1 cmd.run 'env' --out=txt
    [[ $output != *NOTIFY_SOCKET* && $output != *WATCHDOG* ]]
    stop master
    told m1 '^STATUS=master 127\.0\.0\.1: not connected yet'
    told m1 "^STATUS=master 127\\.0\\.0\\.1: nothing answers at 127\\.0\\.0\\.1:$((PORT + 1)): .*systemctl start salt-master"
    stop m1
    told m1 '^STOPPING=1$'
}

@test "salt-api: ready, how many connections, a sign of life while it turns, and its end" {
    manager api
    start_master "rest_cherrypy: {port: $((PORT + 3)), host: 127.0.0.1, disable_ssl: True}"
    : >"$FLEET/log/api"
    managed api salt-api -c "$FLEET/etc" --pid-file="$FLEET/tmp/api.pid"
    told api '^READY=1$'
    told api "^STATUS=0 connections, 0 log-ins, 0 streams of events; port $((PORT + 3)) at 127\.0\.0\.1$"
    until_true 10 eval '[ "$(grep -c WATCHDOG "$FLEET/api.said")" -ge 3 ]'
    # A master that is away is named with its socket, once.
    stop master
    curl -s "http://127.0.0.1:$((PORT + 3))/login" -d eauth=pam -d username=a -d password=b >/dev/null
    curl -s "http://127.0.0.1:$((PORT + 3))/login" -d eauth=pam -d username=a -d password=b >/dev/null
    until_log "$FLEET/log/api" "the master can't be asked: $FLEET/master/.*/[a-z_]*[^:]*: "
    [ "$(grep -c "can't be asked" "$FLEET/log/api")" -eq 1 ]
    stop api
    told api '^STOPPING=1$'
}

@test "the minion: each reason why it is not connected, in the words of its log" {
    local here='^STATUS=master 127\.0\.0\.1:'
    manager m1
    touch "$FLEET/keep-ports"
    minion_conf m1
    # A Salt master, as far as a minion sees before it has said a word.
    echo '{"enc": "clear"}' >"$FLEET/salt-says"
    daemon listen-salt python3 "$HALITE_SRC/tests/lib/wire.py" master $((PORT + 1)) "$FLEET/salt-says"
    until_log "$FLEET/log/listen-salt" listening
    managed m1 salt-minion -c "$FLEET/etc/m1"
    told m1 "$here a Salt master, not Halite, answers at 127\\.0\\.0\\.1:$((PORT + 1))"
    stop listen-salt
    start_master
    told m1 "$here this minion.s key waits for acceptance; its fingerprint is [0-9a-f:]{95}\\..*salt-key -a m1\$"
    salt-key -y -r m1
    told m1 "$here (this minion.s key was rejected there|the master refuses this minion.s key)"
    salt-key -y -a m1 --include-rejected
    wait_connected m1
    told m1 "$here connected\$"
    # Another master with another key.
    stop master
    rm "$FLEET"/master/etc/salt/pki/master/master*.*
    start_master
    told m1 "$here .*$FLEET/m1/etc/salt/pki/minion/minion_master.pub"
    stop m1
    manager m2
    minion_conf m2 'master: nosuch.invalid'
    managed m2 salt-minion -c "$FLEET/etc/m2"
    told m2 '^STATUS=master nosuch\.invalid: the (name can.t be resolved|resolver gives no answer for this name).*getent hosts nosuch\.invalid'
}

@test "a minion that starts itself again tells it again" {
    manager m1
    start_master
    touch "$FLEET/keep-ports"
    minion_conf m1
    : >"$FLEET/log/m1"
    managed m1 salt-minion -c "$FLEET/etc/m1"
    accept m1
    wait_connected m1
    run -0 salt m1 minion.restart --out=json
    until_true 20 eval '[ "$(grep -c "^READY=1$" "$FLEET/m1.said")" -eq 2 ]'
    wait_connected m1
}

# in_unit COMMAND...: as nobody, where $FLEET is read-only but for what the master's unit lets it write.
in_unit() {
    local unit=$HALITE_SRC/conf/salt-master.service dir
    {
        sed -n 's/^ReadWritePaths=//p' "$unit" | tr ' ' '\n' | sed 's/^-//'
        sed -nE 's|^StateDirectory=|/var/lib/|p; s|^CacheDirectory=|/var/cache/|p; s|^RuntimeDirectory=|/var/run/|p' "$unit"
    } | while read -r dir; do
        [ -e "$FLEET/master$dir" ] || install -d -o 65534 -g 65534 "$FLEET/master$dir"
        echo "mount --bind '$FLEET/master$dir' '$FLEET/master$dir'"
    done >"$FLEET/mounts"
    echo "mount --make-rprivate / && mount --bind '$FLEET' '$FLEET' && . '$FLEET/mounts' && mount -o remount,bind,ro '$FLEET' && exec \"\$@\"" >"$FLEET/enter"
    exec unshare --mount bash -euc ". '$FLEET/enter'" enter setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

@test "logs are rotated under the unit: the file system is read-only, the logs' folder root's, and nobody tells the daemon" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    unshare --mount true 2>/dev/null || skip "can't make a mount namespace"
    local logs=$FLEET/master/var/log/salt log
    fleet_open
    master_conf 'log_level_logfile: info'
    mkdir -p "$logs"
    for log in master audit; do install -m 0640 -o 65534 -g 65534 /dev/null "$logs/$log"; done
    : >"$FLEET/log/master"
    export -f in_unit
    export FLEET HALITE_SRC
    daemon master bash -c 'in_unit "$@"' in_unit "$HALITE_BIN/salt-master" -c "$FLEET/etc" --pid-file="$FLEET/master/var/run/salt/master/pid"
    until_log "$FLEET/log/master" 'the master is ready'
    salt-run manage.up >/dev/null
    until_log "$logs/audit" '"op":"runner"'
    for log in master audit; do
        mv "$logs/$log" "$logs/$log.1"
        install -m 0640 -o 65534 -g 65534 /dev/null "$logs/$log"
    done
    start_minion m1
    accept m1
    until_log "$logs/master" 'm1'
    until_log "$logs/audit" '"action":"accept"'
    not grep -q '"action":"accept"' "$logs/audit.1"
    run grep -h 'Read-only' "$logs/master" "$logs/master.1" "$FLEET/log/master"
    [ -z "$output" ]
}

# As systemctl does with KillMode=process: the minion's first process gets SIGTERM, another one is started when it is gone, and the
# command waits until that one serves. It is a child of the job that asks for it.
restarter() {
    cat >"$FLEET/restart" <<EOF
#!/bin/bash
set -eu
n=\$(grep -c '^READY=1\$' "$FLEET/m1.said")
echo now >"$FLEET/asked"
while [ "\$(grep -c '^READY=1\$' "$FLEET/m1.said")" -eq "\$n" ]; do read -rt 0.05 <> <(:) || :; done
echo restarted
EOF
    chmod +x "$FLEET/restart"
}
# The manager's side of it.
restart_when_asked() {
    until_true 20 test -e "$FLEET/asked"
    stop m1
    managed m1 salt-minion -c "$FLEET/etc/m1"
}
up_managed() {
    manager m1
    start_master "$@"
    touch "$FLEET/keep-ports"
    minion_conf m1
    : >"$FLEET/log/m1"
    managed m1 salt-minion -c "$FLEET/etc/m1"
    accept m1
    wait_connected m1
    wait_grains m1
    restarter
}

@test "a job that restarts the minion lives through it, and its return arrives" {
    up_managed
    salt m1 cmd.run "$FLEET/restart; echo after" --out=txt >"$FLEET/answer" 2>&1 3>&- &
    local asked=$!
    restart_when_asked
    wait $asked
    cat "$FLEET/answer"
    [ "$(cat "$FLEET/answer")" = $'m1: restarted\nm1: after' ]
    until_log "$FLEET/log/m1" 'goes on while the minion is stopped'
    until_log "$FLEET/log/m1" 'it went on while the minion was started again, and has returned'
    # Nothing is left of it.
    run find "$FLEET/m1" -name '*.run'
    [ -z "$output" ]
    salt m1 test.ping --out=txt
}

@test "a state run that restarts the minion: its return too, and what comes after the restart is told why it gets no files" {
    mkdir -p "$FLEET/srv"
    printf 'text\n' >"$FLEET/srv/f"
    cat >"$FLEET/srv/s.sls" <<EOF
first: {test.nop: []}
again: {cmd.run: [{name: $FLEET/restart}]}
late: {file.managed: [{name: $FLEET/late}, {source: "salt://f"}]}
EOF
    up_managed "file_roots: {base: [$FLEET/srv]}"
    salt m1 state.apply s --out=json --static >"$FLEET/answer" 2>&1 3>&- &
    local asked=$!
    restart_when_asked
    wait $asked || :
    cat "$FLEET/answer"
    grep -q '"stdout": "restarted"' "$FLEET/answer"
    grep -q 'what restarts the minion comes last in a job' "$FLEET/answer"
}

@test "a job that is killed after the minion was restarted without it: that is its return" {
    up_managed
    salt m1 cmd.run "echo \$PPID >$FLEET/pid.new; mv $FLEET/pid.new $FLEET/pid; $FLEET/restart; while :; do read -rt 1 <> <(:) || :; done" \
        --out=txt >"$FLEET/answer" 2>&1 3>&- &
    local asked=$!
    restart_when_asked
    until_log "$FLEET/log/m1" '1 jobs of before the start still run'
    wait_connected m1
    kill -KILL "$(cat "$FLEET/pid")"
    wait $asked || :
    cat "$FLEET/answer"
    grep -q 'The minion was stopped while this job ran' "$FLEET/answer"
}

@test "without a service manager a minion that is stopped ends its jobs" {
    start_master
    start_minion m1
    accept m1
    wait_connected m1
    salt m1 cmd.run "echo \$\$ >$FLEET/pid.new; mv $FLEET/pid.new $FLEET/pid; exec tail -f /dev/null" --out=txt >"$FLEET/answer" 2>&1 3>&- &
    local asked=$!
    until_true 10 test -e "$FLEET/pid"
    stop m1
    until_true 10 eval '! kill -0 "$(cat "$FLEET/pid")" 2>/dev/null'
    start_minion m1
    wait $asked || :
    run cat "$FLEET/answer"
    [[ $output == *'ended by signal'* || $output == *'was stopped'* ]]
}
