#!/usr/bin/env bats
# 0000-start.bats - how the daemons start, refuse to start, reload and end.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

# A start that must fail at once, with everything it said in `output`.
refused() {
    run timeout 20 env HALITE_FLEET="$FLEET" "$@" </dev/null
    echo "$output"
    [ "$status" -eq 1 ]
}
master_refused() { refused "$HALITE_BIN/salt-master" -c "$FLEET/etc"; }
minion_refused() { refused "$HALITE_BIN/salt-minion" -c "$FLEET/etc/$1"; }

has() { grep -qF -- "$1" <<<"$output"; }

@test "--version names the program and the version" {
    for program in salt-master salt-minion salt salt-run salt-key salt-call; do
        run --separate-stderr "$HALITE_BIN/$program" --version
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        grep -qE "^$program [0-9]+\.[0-9]+" <<<"$output"
    done
}

@test "an argument that is not an option is an error where none is taken" {
    for program in salt-master salt-minion; do
        run -64 "$HALITE_BIN/$program" -c "$BATS_TEST_TMPDIR" web1
        [[ $output == *"$program: error: unexpected argument: 'web1'" ]]
    done
}

@test "a configuration folder that does not exist is warned about" {
    mkdir "$BATS_TEST_TMPDIR/etc"
    run -0 --separate-stderr "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR/nosuch" --id x --out=txt --file-root "$BATS_TEST_TMPDIR" \
        --cachedir "$BATS_TEST_TMPDIR/cache" --log-file "$BATS_TEST_TMPDIR/log" test.ping
    [ "$output" = 'local: True' ]
    [[ $stderr == *"WARNING: CONFIG '$BATS_TEST_TMPDIR/nosuch' directory does not exist."* ]]
    run --separate-stderr "$HALITE_BIN/salt" -c "$BATS_TEST_TMPDIR/nosuch" x test.ping
    [[ $stderr == "WARNING: CONFIG '$BATS_TEST_TMPDIR/nosuch' directory does not exist."* ]]
}

@test "test.deprecation_warning: two warnings on stderr, whatever the log's level, and nothing else on stdout" {
    for level in quiet critical debug; do
        run -0 --separate-stderr "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR" --id x --cachedir "$BATS_TEST_TMPDIR/cache" \
            --out=txt -l "$level" test.deprecation_warning
        [ "$output" = 'local: True' ]
        [ "$(grep -c 'DeprecationWarning: This is a test deprecation warning by ' <<<"$stderr")" -eq 2 ]
    done
}

@test "salt-call: the beginning of names shows what there is, and options refuse words too many" {
    call() { "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR" --id x --cachedir "$BATS_TEST_TMPDIR/cache" --out=json "$@"; }
    run -1 --separate-stderr call schedu
    [[ $output == *"\"schedu\": \"'schedu' is not available."* ]]
    [[ $output == *'"schedule.add": "'* && $output != *'"test.ping"'* ]]
    run -255 --separate-stderr call nosuch
    [[ -z $output && $stderr == *"'nosuch' is not available."* ]]
    run -64 --separate-stderr call -d test.ping test.echo
    [[ $stderr == *"salt-call: error: You can only get documentation for one method at one time" ]]
    run -64 --separate-stderr call -g os
    [[ $stderr == *"salt-call: error: -g/--grains does not accept any arguments" ]]
}

@test "salt-call: a call that makes no sense shows how the function is called, tuples are shown as such" {
    call() { "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR" --id x --cachedir "$BATS_TEST_TMPDIR/cache" --out=txt "$@"; }
    run -1 --separate-stderr call test.echo
    [[ $stderr == *$'Passed invalid arguments: echo() missing 1 required positional argument: \'text\'.\n\nUsage:' ]]
    [[ $output == *"Return a string - used for testing the connection"* ]]
    run -1 --separate-stderr call file.replace /nosuch a b
    [[ $stderr == *$'Passed invalid arguments: File not found: /nosuch.\n\nUsage:' ]]
    [[ $output == *"salt '*' file.replace "* ]]
    run -1 --separate-stderr call test.echo text=a nosuch=1
    [[ -z $output && $stderr == *"The following keyword arguments are not valid: nosuch=1" ]]
    run -0 --separate-stderr call test.fib 3
    [[ $output =~ ^'local: (2, '[0-9.e-]+')'$ ]]
    run -0 --separate-stderr call test.collatz 2
    [[ $output =~ ^'local: ([2], '[0-9.e-]+')'$ ]]
    run -0 --separate-stderr call test.arg_clean 1 two a=3
    [ "$output" = "local: {'args': (1, 'two'), 'kwargs': {'a': 3}}" ]
}

@test "salt-call: a log_file without a syslog daemon behind it is told in Salt's words, and no more" {
    run -0 --separate-stderr "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR" --id x --cachedir "$BATS_TEST_TMPDIR/cache" --out=txt \
        --log-file="file://$BATS_TEST_TMPDIR/nosuch" test.ping
    [ "$output" = "local: True" ]
    [[ $stderr == *"[WARNING ] The log_file does not exist. Logging not setup correctly or syslog service not started."* ]]
}

@test "salt-call --log-file is written; a path of the command line begins in the current folder" {
    mkdir -p "$BATS_TEST_TMPDIR/etc" "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here"
    echo "root_dir: $BATS_TEST_TMPDIR/root" >"$BATS_TEST_TMPDIR/etc/minion"
    run -0 --separate-stderr "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR/etc" --id x --cachedir=cache --log-file=log --log-file-level=info \
        --out=txt cmd.run 'exit 0'
    grep -q 'Executing command' log
    run -0 "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR/etc" --id x --cachedir=cache --out=txt config.get cachedir
    [ "$output" = "local: $PWD/cache" ]
}

@test "a limit of file sizes is a write that fails, and ends no program; a command has its own signals" {
    case ${SAN:-} in *thread*) skip "its library writes a file of its own" ;; esac
    mkdir -p "$BATS_TEST_TMPDIR/etc"
    echo "root_dir: $BATS_TEST_TMPDIR/root" >"$BATS_TEST_TMPDIR/etc/minion"
    small() { (ulimit -f 0 && "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR/etc" --id x --out=txt "$@"); }
    run -0 small test.ping
    [ "${lines[-1]}" = "local: True" ]
    mkdir "$BATS_TEST_TMPDIR/files"
    run small file.write "$BATS_TEST_TMPDIR/files/x" text
    grep -qF 'File too large' <<<"$output"
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/files")" ]
    run small cmd.retcode "echo text >$BATS_TEST_TMPDIR/files/x"
    [ "${lines[-1]}" = "local: 153" ] || [ "${lines[-1]}" = "local: -25" ]
    run -2 "$HALITE_BIN/salt-run" -c "$BATS_TEST_TMPDIR/etc" jobs.list_jobs
}

@test "salt-call where no interface has an address: lists that are empty" {
    unshare -rn true 2>/dev/null || skip "no network namespace to be had"
    halite_tmp
    printf 'root_dir: %s\nid: m\n' "$ROOT" >"$CONF/minion"
    run -0 --separate-stderr unshare -rn "$HALITE_BIN/salt-call" --local -c "$CONF" --out=json grains.item ip4_interfaces ip6_interfaces ipv4
    same_as "$(tr -d ' \n' <<<"$output")" <<<'{"local":{"ip4_interfaces":{"lo":[]},"ip6_interfaces":{"lo":[]},"ipv4":[]}}'
    run -0 unshare -rn "$HALITE_BIN/salt-call" --local -c "$CONF" network.interfaces
}

@test "--versions-report names the libraries" {
    run "$HALITE_BIN/salt-master" --versions-report
    [ "$status" -eq 0 ]
    has 'Salt Version:'
    grep -qE '^ +libzmq: [0-9.]+' <<<"$output"
}

@test "--help: usage and options, exit 0; an unknown option: usage on stderr, exit 64" {
    for program in salt-master salt-minion salt salt-run salt-key salt-call; do
        run --separate-stderr "$HALITE_BIN/$program" --help
        [ "$status" -eq 0 ]
        has "Usage: $program"
        has '--config-dir'
        run --separate-stderr "$HALITE_BIN/$program" --no-such-option
        [ "$status" -eq 64 ]
        grep -q 'no such option: --no-such-option' <<<"$stderr"
    done
}

@test "a port in use: said with its number, exit 1, nothing left behind" {
    start_master
    cp -r "$FLEET/etc" "$FLEET/etc2"
    sed -i "s|^root_dir:.*|root_dir: $FLEET/second|" "$FLEET/etc2/master"
    refused "$HALITE_BIN/salt-master" -c "$FLEET/etc2"
    has "tcp://127.0.0.1:$PORT: the port is in use"
    [ ! -e "$FLEET/second/var/run/salt/master/master.sock" ]
    [ ! -e "$FLEET/second/var/run/salt-master.pid" ]
    pid_alive "$(pid_of master)"
}

@test "a second master on the same root is refused, the first is unharmed" {
    start_master
    master_refused
    has "process $(pid_of master) already runs with this pid file"
    ask '{"op":"status"}'
    [ "$(cat "$FLEET/master/var/run/salt-master.pid")" = "$(pid_of master)" ]
}

@test "a second minion on the same root is refused" {
    start_minion m1
    until_true 10 test -s "$FLEET/m1/var/run/salt-minion.pid"
    minion_refused m1
    has "process $(pid_of m1) already runs with this pid file"
    pid_alive "$(pid_of m1)"
}

@test "a configuration that is not YAML: file, line and cause" {
    master_conf 'file_roots:' '  base: [/srv/salt' 'timeout: 5'
    master_refused
    has "$MASTER_CONF"
    grep -qE 'line [0-9]+' <<<"$output"
}

@test "a value of the wrong kind: file, line, option" {
    master_conf 'timeout: many'
    master_refused
    has "$MASTER_CONF:$(grep -n 'timeout: many' "$MASTER_CONF" | cut -d: -f1)" || has "line $(grep -n 'timeout: many' "$MASTER_CONF" | cut -d: -f1)"
    has timeout
}

@test "a configuration that cannot be read" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    master_conf
    chmod 0600 "$MASTER_CONF"
    fleet_open
    refused $(halite_unprivileged) "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    has "$MASTER_CONF"
    has 'ermission denied'
}

@test "a configuration folder that cannot be looked into" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    master_conf
    chmod 0700 "$FLEET/etc"
    fleet_open
    chmod 0700 "$FLEET/etc"
    refused $(halite_unprivileged) "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    has "$MASTER_CONF"
    has 'ermission denied'
}

@test "an unknown option is warned about, with the one that may be meant" {
    start_master 'timeot: 7'
    grep -q 'timeot' "$FLEET/log/master"
    grep -q "'timeout' meant" "$FLEET/log/master"
}

@test "options of Salt that Halite does not have are told, with file, line and what to use" {
    start_master 'fips_mode: True' 'runner_returns: False' \
        'worker_threads: 20' 'max_minions: 0'
    local log="$FLEET/log/master"
    grep -q "$MASTER_CONF, line [0-9]*: option 'fips_mode' has no effect in Halite: its cryptography" "$log"
    grep -q "WARNING.*option 'runner_returns' has no effect in Halite: runners always" "$log"
    [ "$(grep -c "option 'fips_mode'" "$log")" -eq 1 ]
    grep -q "INFO.*option 'worker_threads' has no effect in Halite" "$log"
    run ! grep -q max_minions "$log"
    start_minion m1 'snapper_states: True' 'multiprocessing: False'
    until_log "$FLEET/log/m1" "INFO.*option 'multiprocessing' has no effect in Halite"
    grep -q "line [0-9]*: option 'snapper_states' has no effect in Halite: " "$FLEET/log/m1"
}

@test "values that are none of those there are: neither daemon starts" {
    master_conf 'fileserver_backend: [rots]'
    master_refused
    has "option 'fileserver_backend' is 'rots'; known are roots, gitfs, git, minionfs, minion; is 'roots' meant?"
    master_conf 'nodegroups: {web: {a: b}}'
    master_refused
    has "the group 'web' wants a compound target"
    minion_conf m1 'schedule: [a]'
    minion_refused m1
    has "$FLEET/etc/m1/minion, line "
    has "option 'schedule' wants a mapping"
}

@test "log_file: a syslog daemon, or a refusal; never a file of such a name" {
    master_conf 'log_file: tcp://127.0.0.1:514'
    master_refused
    has "option 'log_file': 'tcp://127.0.0.1:514': the log does not wait for a connection; use file:///dev/log"
    daemon listen-syslog python3 -uc 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True: print(s.recv(65536).decode())' "$FLEET/syslog"
    until_true 10 test -S "$FLEET/syslog"
    start_master "log_file: file://$FLEET/syslog/LOG_LOCAL3" 'log_level_logfile: warning' 'timeot: 7'
    until_log "$FLEET/log/listen-syslog" '^<156>.* salt-master\[[0-9]+\]: .*unknown option .timeot'
    [ ! -e "$FLEET/master/file:" ]
    stop listen-syslog
    rm "$FLEET/syslog"
}

@test "open_mode is refused with the reason" {
    master_conf 'open_mode: true'
    master_refused
    has 'open_mode'
    has 'Halite has no such mode'
    minion_conf m1 'open_mode: true'
    minion_refused m1
    has 'Halite has no such mode'
}

@test "master_type: a word Salt does not know is refused, disable means no connection" {
    start_master
    minion_conf m1 'master_type: standard'
    minion_refused m1
    has "'master_type' is 'standard'; known are str, failover, disable"
    minion_conf m1 'master_type: func'
    minion_refused m1
    has "'master_type' is 'func', which Halite does not have"
    start_minion m1 'master_type: disable'
    until_log "$FLEET/log/m1" 'this minion has no master'
    until_true 10 reads_signals m1
    stop m1
    [ "$RC" -eq 0 ]
    [ "$(counter messages_in)" -eq 0 ]
    run salt_call m1 test.ping
    [ "$status" -eq 0 ]
}

@test "too few descriptors: neither daemon starts, and both say what to do" {
    master_conf
    minion_conf m1
    run -1 prlimit --nofile=40 "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    has 'the limit of open files is 40, and at least 80 are needed: raise it (LimitNOFILE of the unit, ulimit -n)'
    run -1 prlimit --nofile=12 "$HALITE_BIN/salt-minion" -c "$FLEET/etc/m1"
    has 'the limit of open files is 12, and at least 32 are needed'
}

@test "operators for whom no descriptor is left wait for one, are turned away, and come again later" {
    master_conf
    daemon master prlimit --nofile=90 "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    until_log "$FLEET/log/master" 'the master is ready'
    # Whose lines are closed within a second leave room for who waits meanwhile.
    timeout 60 python3 - "$SOCK_DIR/master.sock" <<'EOF'
import json, select, socket, struct, sys
def line():
    one = socket.socket(socket.AF_UNIX)
    one.connect(sys.argv[1])
    return one
lines, last = [line() for _ in range(120)], line()
text = json.dumps({"op": "status"}).encode()
last.send(struct.pack(">I", len(text)) + text)
assert select.select([*lines, last], [], [], 0.5)[0] == []
for one in lines:
    one.close()
assert b'"ok"' in last.recv(1000)
EOF
    not grep -q 'no descriptor is left' "$FLEET/log/master"
    # Ends when one of its connections has been closed by the master.
    timeout 60 python3 - "$SOCK_DIR/master.sock" <<'EOF'
import select, socket, sys
lines = [socket.socket(socket.AF_UNIX) for _ in range(120)]
for line in lines:
    line.connect(sys.argv[1])
readable, _, _ = select.select(lines, [], [])
assert readable[0].recv(1) == b""
EOF
    until_log "$FLEET/log/master" 'no descriptor is left'
    until_true 10 ask '{"op":"status"}'
}

@test "whoever comes while others wait for a descriptor waits for one as long as they do" {
    master_conf
    daemon master prlimit --nofile=90 "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    until_log "$FLEET/log/master" 'the master is ready'
    # One more twenty times a second, until the master has closed one of those who came late.
    timeout 60 python3 - "$SOCK_DIR/master.sock" <<'EOF'
import select, socket, sys, time
since, late, waited = {}, set(), []
def knock():
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    since[line] = time.monotonic()
    return line
for _ in range(90):
    knock()
gone = []
while not late.intersection(gone):
    gone, _, _ = select.select(list(since), [], [], 0.05)
    waited += [time.monotonic() - since.pop(line) for line in gone]
    if len(late) < 300:
        late.add(knock())
print(f"{len(waited)} were turned away, after {min(waited):.2f} to {max(waited):.2f} seconds", file=sys.stderr)
assert min(waited) > 1.9
EOF
    until_true 10 ask '{"op":"status"}'
}

@test "users have half of the descriptors that minions leave: root does not wait for one" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    master_conf 'publisher_acl: {nobody: [test.ping]}'
    fleet_open
    daemon master prlimit --nofile=128 "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    until_log "$FLEET/log/master" 'the master is ready'
    timeout 60 python3 - "$SOCK_DIR/master.sock" <<'EOF'
import json, os, socket, struct, sys
os.setgroups([])
os.setegid(65534)
def line(uid):
    one = socket.socket(socket.AF_UNIX)
    os.seteuid(uid)
    one.connect(sys.argv[1])
    os.seteuid(0)
    return one
lines, last = [line(100000 + i) for i in range(4) for _ in range(64)], line(0)
text = json.dumps({"op": "status"}).encode()
last.send(struct.pack(">I", len(text)) + text)
assert b'"ok"' in last.recv(1000)
EOF
    not grep -q 'no descriptor is left' "$FLEET/log/master"
}

@test "a private key that others may read is refused" {
    start_master
    stop master
    chmod 0644 "$FLEET/master/etc/salt/pki/master/master.pem"
    master_refused
    has 'master.pem'
    chmod 0400 "$FLEET/master/etc/salt/pki/master/master.pem"
    start_master
}

@test "key files are made with narrow permissions" {
    start_master
    [ "$(stat -c %a "$FLEET/master/etc/salt/pki/master")" = 700 ]
    [ "$(stat -c %a "$FLEET/master/etc/salt/pki/master/master.pem")" = 400 ]
    [ "$(stat -c %a "$SOCK_DIR/master.sock")" = 660 ]
    start_minion m1
    until_true 10 test -e "$FLEET/m1/etc/salt/pki/minion/minion.pem"
    [ "$(stat -c %a "$FLEET/m1/etc/salt/pki/minion/minion.pem")" = 400 ]
}

@test "a call without a master leaves no folder for keys" {
    local root=$BATS_TEST_TMPDIR
    printf 'id: x\nroot_dir: %s\n' "$root" >"$root/minion"
    run -0 "$HALITE_BIN/salt-call" --local -c "$root" test.ping
    [ -d "$root/var/cache/salt/minion" ] || [ "$(id -u)" -ne 0 ]
    [ ! -e "$root/etc" ]
}

@test "ids that could leave their folder are refused" {
    for id in ../x .hidden a/b 'a b'; do
        minion_conf bad "id: '$id'"
        minion_refused bad
        has "id"
    done
    [ ! -e "$FLEET/x" ]
}

@test "a start that fails leaves no pid file" {
    local pid_file=$FLEET/bad/var/run/salt-minion.pid
    minion_conf bad "id: '../x'"
    minion_refused bad
    [ ! -e "$pid_file" ]
    minion_conf bad
    mkdir -p -m 0700 "$FLEET/bad/etc/salt/pki/minion"
    salt-key --gen-keys minion --gen-keys-dir "$FLEET/bad/etc/salt/pki/minion" >/dev/null
    chmod 0644 "$FLEET/bad/etc/salt/pki/minion/minion.pem"
    minion_refused bad
    has 'minion.pem'
    [ ! -e "$pid_file" ]
    minion_conf bad 'user: nosuchuser'
    minion_refused bad
    has 'nosuchuser'
    [ ! -e "$pid_file" ]
    master_conf 'user: nosuchuser'
    master_refused
    has 'nosuchuser'
    [ ! -e "$FLEET/master/var/run/salt-master.pid" ]
}

@test "the whole fleet as an ordinary user, below a root of its own" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    master_conf
    minion_conf m1
    mkdir "$FLEET/master" "$FLEET/m1"
    chown -R 65534:65534 "$FLEET/master" "$FLEET/m1" "$FLEET/etc"
    fleet_open
    : >"$FLEET/log/master"
    daemon master $(halite_unprivileged) "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    until_log "$FLEET/log/master" 'the master is ready'
    daemon m1 $(halite_unprivileged) "$HALITE_BIN/salt-minion" -c "$FLEET/etc/m1"
    wait_key m1 pre
    run $(halite_unprivileged) "$HALITE_BIN/salt-key" -y -a m1
    [ "$status" -eq 0 ]
    wait_connected m1
    run $(halite_unprivileged) "$HALITE_BIN/salt" m1 cmd.run 'id -u'
    [ "$status" -eq 0 ]
    same_as "$output" <<<$'m1:\n    65534'
}

@test "-d: in the background with a pid file once it serves; SIGTERM ends it" {
    master_conf
    run env HALITE_FLEET="$FLEET" timeout 20 "$HALITE_BIN/salt-master" -c "$FLEET/etc" -d 3>&-
    [ "$status" -eq 0 ]
    local pid
    pid=$(cat "$FLEET/master/var/run/salt-master.pid")
    pid_alive "$pid"
    [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = "$HALITE_BIN/salt-master -c $FLEET/etc -d " ]
    ask '{"op":"status"}'
    kill "$pid"
    until_true 10 pid_gone "$pid"
    [ ! -e "$FLEET/master/var/run/salt-master.pid" ]
    [ ! -e "$SOCK_DIR/master.sock" ]
}

@test "-d: the terminal is given up by all of the minion's processes" {
    minion_conf m1
    # `run` reads until nobody has the pipe open any more.
    run env HALITE_FLEET="$FLEET" timeout 20 "$HALITE_BIN/salt-minion" -c "$FLEET/etc/m1" -d 3>&-
    [ "$status" -eq 0 ]
    local pid
    pid=$(cat "$FLEET/m1/var/run/salt-minion.pid")
    pid_alive "$pid"
    kill "$pid"
    until_true 10 pid_gone "$pid"
}

@test "-d: a start that fails is told by the exit code" {
    master_conf
    start_master
    cp -r "$FLEET/etc" "$FLEET/etc2"
    sed -i "s|^root_dir:.*|root_dir: $FLEET/second|" "$FLEET/etc2/master"
    run env HALITE_FLEET="$FLEET" timeout 20 "$HALITE_BIN/salt-master" -c "$FLEET/etc2" -d 3>&-
    [ "$status" -eq 1 ]
    has 'the port is in use'
}

@test "SIGTERM and SIGINT: exit 0, pid file and socket gone, within two seconds" {
    for signal in TERM INT; do
        start_master
        start_minion m1
        until_true 10 test -s "$FLEET/m1/var/run/salt-minion.pid"
        local start=${EPOCHREALTIME/./}
        stop m1 "$signal"
        [ "$RC" -eq 0 ]
        [ ! -e "$FLEET/m1/var/run/salt-minion.pid" ]
        stop master "$signal"
        [ "$RC" -eq 0 ]
        [ "$(ms_since "$start")" -lt 4000 ]
        [ ! -e "$FLEET/master/var/run/salt-master.pid" ]
        [ ! -e "$SOCK_DIR/master.sock" ]
    done
}

@test "a pid file of a process that is gone does not hinder the start" {
    start_master
    kill -KILL "$(pid_of master)"
    until_true 10 test -e "$FLEET/pids/master.rc"
    [ -e "$FLEET/master/var/run/salt-master.pid" ]
    start_master
    ask '{"op":"status"}'
}

@test "SIGHUP: the configuration is read again; a broken one is refused and the old one stays" {
    start_master
    start_minion m1
    wait_key m1 pre
    salt-key -y -d m1
    master_conf 'auto_accept: true'
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: 1 options? changed$'
    wait_key m1 acc
    wait_connected m1
    echo 'timeout: [' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: the old configuration stays: .*line'
    is_connected m1
}

@test "SIGHUP: what is done every loop_interval follows a shorter one at once" {
    start_master 'loop_interval: 86400' 'presence_events: true'
    listen all 'salt/presence/present'
    sed -i 's/^loop_interval:.*/loop_interval: 1/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval '[ "$(heard all present)" -ge 2 ]'
    unlisten all
}

@test "start, SIGHUP: names of external_auth and ext_pillar that nothing answers to are told" {
    start_master 'ext_pillar: [{stak: a}]'
    until_log "$FLEET/log/master" "ext_pillar: there is no source 'stak'; is 'stack' meant?"
    master_conf 'external_auth: {pamm: {ann: [test.ping]}, pam: {bob: [test.ping]}}'
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" "external_auth: there is no system 'pamm'; is 'pam' meant?"
}

@test "SIGHUP: an option that needs a restart is named" {
    start_master
    master_conf "max_open_files: 5000"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'max_open_files changed.*restart'
}

@test "SIGHUP: a log file that was moved away is opened anew" {
    start_master "log_level_logfile: info"
    local log=$FLEET/master/var/log/salt/master
    until_true 5 test -s "$log"
    mv "$log" "$log.1"
    kill -HUP "$(pid_of master)"
    until_true 5 grep -q reload "$log"
}

@test "commands without a master: said where it was looked for, exit code not 0" {
    master_conf
    for command in "salt m1 test.ping" "salt-run manage.up"; do
        run --separate-stderr $command
        [ "$status" -ne 0 ]
        grep -q "$SOCK_DIR/master.sock" <<<"$stderr"
        grep -q 'Is salt-master running' <<<"$stderr"
    done
}

@test "options: each that Salt's own files name is known, where they are at hand" {
    [ -n "${SALT_SOURCE:-}" ] || skip "SALT_SOURCE names no work tree of Salt"
    run -0 /usr/bin/python3 -B "$HALITE_SRC/tests/oracle/options.py" "$SALT_SOURCE"
}

@test "minion and salt-call load no library for what libzmq's archive has beyond CURVE" {
    for program in salt-minion salt-call; do
        needed=$(ldd "$HALITE_BIN/$program")
        [[ $needed != *libzmq.so* ]] || skip "libzmq is no archive in this build"
        [[ $needed == *libjansson.so* && $needed != *libgssapi* && $needed != *libkrb5* && $needed != *libbsd* ]]
    done
}
