# lib.bash - what the whole-program tests share. `load lib` at the top of a .bats file.
# BUILD names the build folder (default: build in the source tree).
#
# Without a daemon: halite_tmp, halite_master_conf, halite_unprivileged, same_as.
# With a fleet, once per file:
#     setup_file()    { fleet_up web1 web2; }       a master and accepted, connected minions
#     teardown_file() { fleet_down; }               ends what we started, and looks for what it left behind
# or per test: fleet_new in setup, fleet_down in teardown, and start_master, start_minion between.
#
# Under a sanitizer (SAN) everything takes longer: all times given to functions of this file are of a plain build.
# Nothing here sleeps for a fixed time to let something happen: `until_true SECONDS COMMAND...` asks again every 25 ms.

HALITE_SRC=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
. "$HALITE_SRC/tests/lib/environment.sh"
case ${BUILD:=build} in
/*) ;;
*) BUILD=$HALITE_SRC/$BUILD ;;
esac
HALITE_BIN=$BUILD/bin
HALITE_TOOLS=$BUILD/tests/lib
case ${SAN:-} in
'') SLOW=1 ;;
thread | valgrind) SLOW=10 ;;
*) SLOW=4 ;;
esac

# A root folder of its own for each test: ROOT, and CONF for -c. Bats removes it.
halite_tmp() {
    ROOT=$(mktemp -d "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}/root.XXXXXX")
    CONF=$ROOT/etc/salt
    mkdir -p "$CONF"
}

# A master's configuration below ROOT; each argument is one more line.
halite_master_conf() {
    PKI=$ROOT/pki
    {
        echo "root_dir: $ROOT"
        echo "pki_dir: $PKI"
        echo "sock_dir: $ROOT/run"
        echo "cachedir: $ROOT/cache"
        echo "log_file: $ROOT/log/master"
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$CONF/master"
}

# Words of a command line for somebody who is not root; empty when the test itself is not.
halite_unprivileged() {
    [ "$(id -u)" -ne 0 ] || echo "setpriv --reuid=65534 --regid=65534 --clear-groups"
}

# Compare with a here-document: same_as "$output" <<'EOF'
same_as() {
    diff <(printf '%s\n' "$1") - >&2
}

# ---- waiting ----------------------------------------------------------------------------------------------------

# until_true SECONDS COMMAND...: until the command succeeds. Fails when it has not by then.
until_true() {
    local end=$((${EPOCHREALTIME/./} + $1 * SLOW * 1000000))
    shift
    until "$@" >/dev/null 2>&1; do
        if [ "${EPOCHREALTIME/./}" -ge "$end" ]; then
            echo "waited in vain for: $*" >&2
            return 1
        fi
        read -rt 0.025 <> <(:) || :
    done
}

# until_log FILE REGEX [SECONDS]: until a line of the file matches.
until_log() {
    until_true "${3:-10}" grep -qE -- "$2" "$1" || {
        echo "--- $1" && tail -n 20 "$1" || :
        return 1
    } >&2
}

# Milliseconds that a command takes (would take in a plain build), in MS; its exit code in `status`, stdout and stderr in `output`.
timed() {
    local start=${EPOCHREALTIME/./}
    run "$@"
    MS=$(ms_since "$start")
}

# ms_since START: milliseconds since ${EPOCHREALTIME/./} was START, of a plain build too.
ms_since() { echo $(((${EPOCHREALTIME/./} - $1) / 1000 / SLOW)); }

# timeout SECONDS COMMAND...: as the program.
timeout() { command timeout "$(($1 * SLOW))" "${@:2}"; }

# kill [-SIGNAL] PID...: of processes alone. What a daemon says while a part of it does not run is 0, which kill takes for the whole
# group of the test run; the parent of who is left alone is 1.
kill() {
    local word first=1
    [[ $1 != -* ]] || first=2
    for word in "${@:first}"; do
        [[ $word =~ ^-?[0-9]+$ && ${word#-} -gt 1 ]] || { echo "kill: '$word' is no process" >&2 && return 1; }
    done
    builtin kill "$@"
}

# kill_by COMMAND...: SIGKILL to the process that the command prints, once there is one.
kill_by() {
    until_true 20 pid_from "$@"
    kill -KILL "$PID"
}
pid_from() { PID=$("$@") && [ "${PID:-0}" -gt 1 ]; }

pid_alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
pid_gone() { ! pid_alive "$1"; }

# ---- a fleet ----------------------------------------------------------------------------------------------------

# fleet_new: an empty fleet: FLEET (its folder), SOCK_DIR, PORT (publish; the next are ret, hello and one
# for another server of the test).
fleet_new() {
    FLEET=$(mktemp -d "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}/f.XXXX")
    chmod 0755 "$FLEET"
    mkdir -p "$FLEET"/{etc,pids,log} && mkdir -m 1777 "$FLEET/tmp"
    SOCK_DIR=$FLEET/master/var/run/salt/master
    MASTER_CONF=$FLEET/etc/master
    # For `salt` and the others; -c would do as well, but commands read better without.
    export FLEET SOCK_DIR MASTER_CONF SALT_CONFIG_DIR=$FLEET/etc
    fleet_ports
}

# Let an ordinary user reach the fleet's folder, which bats keeps to itself.
fleet_open() {
    local dir=$FLEET
    while [ "$dir" != "${BATS_RUN_TMPDIR%/*}" ]; do
        chmod o+x "$dir"
        dir=${dir%/*}
    done
}

# The fleet's four ports as /proc/net/tcp writes them.
hex_ports() { printf '%04X\n' "$PORT" $((PORT + 1)) $((PORT + 2)) $((PORT + 3)); }

# Four free ports in a row, below the range from which the kernel picks for clients.
fleet_ports() {
    local used try port
    used=$(awk 'FNR > 1 { printf "%s ", substr($2, index($2, ":")) }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    for try in {1..100}; do
        PORT=$((20000 + (RANDOM * 32768 + RANDOM) % 3000 * 4))
        for port in $(hex_ports); do
            case $used in *":$port "*) continue 2 ;; esac
        done
        export PORT && return
    done
    echo "no four free ports in a row" >&2
    return 1
}

# master_conf [LINE...]: write the fleet's master configuration.
master_conf() {
    {
        echo "interface: 127.0.0.1"
        echo "publish_port: $PORT"
        echo "ret_port: $((PORT + 1))"
        echo "hello_port: $((PORT + 2))"
        echo "root_dir: $FLEET/master"
        echo "log_level: debug"
        grep -q '^log_level_logfile:' <(printf '%s\n' "$@") || echo "log_level_logfile: quiet"
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$MASTER_CONF"
}

# minion_conf ID [LINE...]: write a minion's configuration; a line of ours that is given again is left out.
minion_conf() {
    local id=$1 dir=$FLEET/etc/$1 line
    shift
    mkdir -p "$dir"
    {
        while IFS= read -r line; do
            grep -q "^${line%%:*}:" <(printf '%s\n' "$@") || echo "$line"
        done <<CONF
id: $id
master: 127.0.0.1
master_port: $((PORT + 1))
publish_port: $PORT
hello_port: $((PORT + 2))
root_dir: $FLEET/$id
log_level: debug
log_level_logfile: quiet
acceptance_wait_time: 1
random_reauth_delay: 0
CONF
        # A sanitizer reserves more address space than a job may have.
        [ -z "${SAN:-}" ] || grep -q '^job_memory_max:' <(printf '%s\n' "$@") || echo "job_memory_max: 0"
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$dir/minion"
}

# daemon NAME COMMAND...: in the background, its output in log/NAME, its exit code in pids/NAME.rc when it ends.
# HALITE_FLEET in its environment marks it, and all it starts, as ours.
daemon() {
    local name=$1
    shift
    rm -f "$FLEET/pids/$name.rc"
    (
        env HALITE_FLEET="$FLEET" TMPDIR="$FLEET/tmp" "$@" </dev/null >>"$FLEET/log/$name" 2>&1 3>&- &
        echo $! >"$FLEET/pids/$name.new"
        mv "$FLEET/pids/$name.new" "$FLEET/pids/$name"
        rc=0
        wait $! || rc=$?
        echo "$rc" >"$FLEET/$name.rc" && mv "$FLEET/$name.rc" "$FLEET/pids/" # there is no moment without the number
    ) </dev/null >/dev/null 2>&1 3>&- &
    until_true 5 test -s "$FLEET/pids/$name"
}

# movable_clock: a master of HALITE_BIN=$FLEET/bin has the clock that move_clock sets.
movable_clock() {
    head -c 4096 /dev/zero >"$FLEET/page"
    mkdir "$FLEET/bin"
    ln -s "$HALITE_BIN"/* "$FLEET/bin"
    rm "$FLEET/bin/salt-master"
    printf '#!/bin/sh\nLD_PRELOAD=%q CHAOS_PAGE=%q exec %q "$@"\n' "$BUILD/tests/preload/chaos.so" "$FLEET/page" "$HALITE_BIN/salt-master" >"$FLEET/bin/salt-master"
    chmod +x "$FLEET/bin/salt-master"
}

# move_clock SECONDS: so much ahead of the true one. Where the page has them: tests/preload/chaos.c.
move_clock() {
    python3 -c 'import struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(40)
    f.write(struct.pack("q", int(sys.argv[2])))' "$FLEET/page" "$1"
}

pid_of() { cat "$FLEET/pids/$1"; }

# start_master [LINE...]: with these configuration lines, or those it had. Ready when this returns.
start_master() {
    local try
    [ $# -eq 0 ] && [ -e "$MASTER_CONF" ] || master_conf "$@"
    for try in 1 2 3; do
        : >"$FLEET/log/master"
        daemon master "$HALITE_BIN/salt-master" -c "$FLEET/etc"
        until_true 10 master_decided && [ ! -e "$FLEET/pids/master.rc" ] && return
        # Somebody else took the port between our look and the master's bind.
        grep -q 'port is in use' "$FLEET/log/master" && [ ! -e "$FLEET/keep-ports" ] || break
        fleet_ports
        master_conf "$@"
    done
    cat "$FLEET/log/master" >&2
    return 1
}
master_decided() { grep -q 'the master is ready' "$FLEET/log/master" || [ -e "$FLEET/pids/master.rc" ]; }

# start_minion ID [LINE...]: started when this returns, not yet connected.
start_minion() {
    local id=$1
    shift
    touch "$FLEET/keep-ports"
    [ $# -eq 0 ] && [ -e "$FLEET/etc/$id/minion" ] || minion_conf "$id" "$@"
    : >"$FLEET/log/$id"
    daemon "$id" "$HALITE_BIN/salt-minion" -c "$FLEET/etc/$id"
}

# A daemon that reads its signals blocks them first, a command catches them; before that SIGTERM (bit 14) just ends it.
reads_signals() {
    local mask
    for mask in $(sed -nE 's/^Sig(Blk|Cgt):[[:blank:]]*//p' "/proc/$(pid_of "$1")/status" 2>/dev/null || echo 4000); do
        [ $((16#$mask & 0x4000)) -eq 0 ] || return 0
    done
    return 1
}

# stop NAME [SIGNAL]: and wait for its end. Its exit code in RC.
stop() {
    local pid
    pid=$(pid_of "$1")
    case $1 in
    listen*) ;;
    *) until_true 5 reads_signals "$1" || : ;;
    esac
    kill "-${2:-TERM}" "$pid"
    until_true 10 test -e "$FLEET/pids/$1.rc" || { kill -KILL "$pid" && until_true 10 test -e "$FLEET/pids/$1.rc"; }
    RC=$(cat "$FLEET/pids/$1.rc")
    rm -f "$FLEET/pids/$1" "$FLEET/pids/$1.rc"
}

# The child of a minion that talks to its master: the one that has descriptors of TCP connections. An ordinary user may not
# look at those: then the oldest child.
session_pid() {
    local pid
    for pid in $(cat "/proc/$(pid_of "$1")/task/$(pid_of "$1")/children"); do
        [ "$(id -u)" -eq 0 ] || { grep -q '^State:.Z' "/proc/$pid/status" || { echo "$pid" && return; } && continue; }
        ls -l "/proc/$pid/fd" 2>/dev/null | grep -q 'eventpoll' && echo "$pid" && return
    done
    return 1
}

# An ordinary user may not look at the descriptors of an undumpable process, as the daemons are.
need_descriptors_of() { ls "/proc/$1/fd" >/dev/null 2>&1 || skip "the descriptors of the daemons are root's to see"; }

# ask JSON...: requests over the master's local socket; the replies as lines.
ask() { "$HALITE_TOOLS/local" "$SOCK_DIR" "$@"; }

# field NAME: a number, word or text from JSON on stdin, the first of that name.
field() { sed -nE "s/.*\"$1\": ?(\"([^\"]*)\"|([^],}]*)).*/\2\3/p" | head -n 1; }

counter() { ask '{"op":"status"}' | grep -oE "\"$1\":[0-9]+" | cut -d: -f2; }
is_connected() { ask '{"op":"minions"}' | grep -qE "\"$1\":\{\"connected\":true"; }
is_subscribed() { ask '{"op":"minions"}' | grep -qE "\"$1\":\{\"connected\":true[^}]*\"subscribed\":true"; }
has_grains() { ask "{\"op\":\"grains\",\"tgt\":\"$1\",\"tgt_type\":\"list\"}" | grep -q "\"$1\":{"; }
nothing_spooled() { [ -z "$(ls "$FLEET/$1/var/cache/salt/minion/spool" | grep -E '\.(run|ret|bad)$')" ]; }
key_is() { [ -e "$FLEET/master/etc/salt/pki/master/minions$([ "$2" = acc ] || echo "_$2")/$1" ]; }

wait_connected() { local id; for id; do until_true 10 is_connected "$id" || { tail -n 20 "$FLEET/log/$id" >&2; return 1; }; done; }
wait_gone() { local id; for id; do until_true 10 not is_connected "$id"; done; }
wait_grains() { local id; for id; do until_true 10 has_grains "$id"; done; }
# wait_key ID acc|pre|rejected|denied
wait_key() { until_true 10 key_is "$1" "$2"; }
not() { ! "$@"; }

# accept ID...: by an operator, as soon as their keys are there.
accept() {
    local id
    for id; do wait_key "$id" pre && salt-key -y -a "$id" >/dev/null; done
}

# fleet_up ID...: a new fleet with a master and these minions, accepted, connected and with their grains.
# MASTER_LINES and MINION_LINES (arrays) are further configuration.
fleet_up() {
    local id
    fleet_new
    start_master "${MASTER_LINES[@]}"
    for id; do start_minion "$id" "${MINION_LINES[@]}"; done
    accept "$@"
    wait_connected "$@"
    wait_grains "$@"
}

# Processes of this fleet, by the mark in their environment.
fleet_processes() {
    grep -lzs "^HALITE_FLEET=$FLEET\$" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
        pid_alive "$pid" && echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done
    return 0
}
no_processes() { [ -z "$(fleet_processes)" ]; }
# Only ports in state LISTEN: connections of a moment ago stay in TIME_WAIT.
no_listeners() {
    ! cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE "^ *[0-9]+: [0-9A-F]+:($(hex_ports | paste -sd '|')) [0-9A-F:]+ 0A "
}

# fleet_down: end our daemons, minions first; then nothing of ours may be left: no process, port, socket, pid file,
# temporary file.
fleet_down() {
    local name left rc=0
    [ -n "${FLEET:-}" ] && [ -d "$FLEET" ] || return 0
    rmdir "$FLEET/pids" 2>/dev/null && rm -r "$FLEET" && return
    for name in $(cd "$FLEET/pids" && ls | grep -v '\.rc$' | grep -v '^master$') master; do
        [ -e "$FLEET/pids/$name" ] || continue
        if [ -e "$FLEET/pids/$name.rc" ]; then continue; fi
        stop "$name"
        case $name:$RC in
        listen*) ;;
        *:0) ;;
        *) echo "$name ended with exit code $RC" >&2 && tail -n 20 "$FLEET/log/$name" >&2 && rc=1 ;;
        esac
    done
    until_true 5 no_processes || { fleet_processes >&2 && fleet_processes | cut -d' ' -f1 | xargs -r kill -KILL; rc=1; }
    until_true 5 no_listeners || rc=1
    left=$(find "$FLEET" -type s -o -name '*.pid' -o -path "$FLEET/tmp/*" -o -name '*.new' | head)
    [ -z "$left" ] || { echo "left behind: $left" >&2 && rc=1; }
    grep -lE 'Sanitizer|runtime error|assertion' "$FLEET"/log/* 2>/dev/null | while read -r name; do cat "$name" >&2; done
    ! grep -qsE 'Sanitizer|runtime error|assertion' "$FLEET"/log/* || rc=1
    return $rc
}

# ---- operators' programs of the fleet -----------------------------------------------------------------------------

salt() { "$HALITE_BIN/salt" "$@"; }
salt-run() { "$HALITE_BIN/salt-run" "$@"; }
salt-key() { "$HALITE_BIN/salt-key" "$@"; }
# salt_call ID WORD...: as that minion.
salt_call() {
    local id=$1
    shift
    "$HALITE_BIN/salt-call" -c "$FLEET/etc/$id" "$@"
}

# ping_ok ID: it answers. master_pki FILE, minion_pki ID FILE: paths of keys.
ping_ok() { [ "$(salt "$1" test.ping --out=txt)" = "$1: True" ]; }
master_pki() { echo "$FLEET/master/etc/salt/pki/master/$1"; }
minion_pki() { echo "$FLEET/$1/etc/salt/pki/minion/$2"; }

# ---- events -------------------------------------------------------------------------------------------------------

# listen NAME [GLOB]: from now on events whose tags match are lines of log/listen-NAME.
listen() {
    : >"$FLEET/log/listen-$1"
    daemon "listen-$1" "$HALITE_TOOLS/local" --follow 0 0 "$SOCK_DIR" "{\"op\":\"events\",\"tag\":\"${2:-*}\"}"
    until_log "$FLEET/log/listen-$1" '"ok":true' 5
}

# wait_event NAME REGEX [SECONDS]: until the listener has seen it; prints that line. heard NAME REGEX: how often so far.
wait_event() {
    until_log "$FLEET/log/listen-$1" "$2" "${3:-10}" && grep -E -- "$2" "$FLEET/log/listen-$1" | head -n 1
}
heard() { grep -cE -- "$2" "$FLEET/log/listen-$1" || :; }
unlisten() { stop "listen-$1"; }
