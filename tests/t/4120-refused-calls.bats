#!/usr/bin/env bats
# 4120-refused-calls.bats - system calls that fail for a reason of the machine's: files and pillar go on without openat2, and any
# other error reaches the log and the minion with call, path and errno, never as a file that is not there.

bats_require_minimum_version 1.5.0
load lib

setup() { fleet_new; }
teardown() { fleet_down; }

# a_unit LINE...: a unit with nothing but a filter, for as_unit.py.
a_unit() {
    { echo '[Service]' && printf '%s\n' "$@"; } >"$FLEET/filter.service"
    "$HALITE_SRC/tests/lib/as_unit.py" "$FLEET/filter.service" true || skip "this host can't say the calls' numbers"
}

a_tree() {
    mkdir -p "$FLEET/srv/below" "$FLEET/pillar" "$FLEET/out"
    printf 'base: {"*": [p]}\n' >"$FLEET/pillar/top.sls"
    printf 'word: of the pillar\n' >"$FLEET/pillar/p.sls"
    printf 'one: {file.managed: [{name: %s/managed}, {source: "salt://below/f"}]}\n' "$FLEET/out" >"$FLEET/srv/s.sls"
    printf 'of the file server\n' >"$FLEET/srv/below/f"
    ln -s below "$FLEET/srv/link"
    fleet_open
    master_conf "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}" 'file_recv: True' "$@"
}

# up WRAP...: master and minion, both behind what is given.
up() {
    : >"$FLEET/log/master"
    daemon master "$@" "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    until_log "$FLEET/log/master" 'the master is ready'
    touch "$FLEET/keep-ports"
    minion_conf m1
    : >"$FLEET/log/m1"
    daemon m1 "$@" "$HALITE_BIN/salt-minion" -c "$FLEET/etc/m1"
    accept m1
    wait_connected m1
    wait_grains m1
}

# says TEXT COMMAND...: the text is in the answer, whatever the exit code.
says() {
    run salt m1 "${@:2}" --out=json --static
    echo "${*:2}: $output"
    [[ $output == *"$1"* ]]
}

all_is_served() {
    [ "$(salt m1 pillar.get word --out=txt)" = 'm1: of the pillar' ]
    [ "$(salt m1 cp.get_file_str salt://link/f --out=txt)" = 'm1: of the file server' ]
    run -0 salt m1 state.apply s
    [ "$(cat "$FLEET/out/managed")" = 'of the file server' ]
    [ "$(salt m1 cp.list_master --out=txt)" = "m1: ['below/f', 'link/f', 's.sls']" ]
    [ "$(salt m1 cp.push "$FLEET/out/managed" --out=txt)" = 'm1: True' ]
    [ "$(salt m1 cp.get_file_str salt://no/f --out=txt)" = 'm1: False' ]
    [ "$(salt m1 saltutil.sync_all --out=txt | wc -l)" -ge 1 ]
}

@test "no openat2, as RestrictSUIDSGID= takes it away: files, pillar, states and pushes go on" {
    a_unit 'RestrictSUIDSGID=yes'
    a_tree
    up "$HALITE_SRC/tests/lib/as_unit.py" "$FLEET/filter.service"
    all_is_served
}

@test "no openat2, as profiles of containers take it away: the same" {
    a_unit 'SystemCallFilter=~openat2' 'SystemCallErrorNumber=EPERM'
    a_tree
    up "$HALITE_SRC/tests/lib/as_unit.py" "$FLEET/filter.service"
    all_is_served
}

@test "an errno that nobody expects: call, path and errno are in the log and in the answer, and no pillar is empty" {
    a_tree
    up
    a_unit 'SystemCallFilter=~openat2' 'SystemCallErrorNumber=EIO'
    stop master
    : >"$FLEET/log/master"
    daemon master "$HALITE_SRC/tests/lib/as_unit.py" "$FLEET/filter.service" "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    wait_connected m1
    local file="cannot open $FLEET/srv/below/f: Input/output error" top="cannot open $FLEET/pillar/top.sls: Input/output error"
    says "$file" cp.get_file_str salt://below/f
    until_log "$FLEET/log/master" "minion m1 asks for 'below/f' .*: $file"
    says "$file" cp.hash_file salt://below/f
    says "$top" state.apply s
    rm "$FLEET/srv/link" # the same folder by another name, which some file systems list first
    says "cannot read the folder $FLEET/srv/below: Input/output error" cp.list_master
    says "$top" pillar.items
    until_log "$FLEET/log/master" "$top"
    says "cannot open $FLEET/srv/s.sls: Input/output error" cp.cache_file salt://s.sls
}

@test "roots that the master's user may not look into: the same" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    a_tree 'user: nobody' 'pidfile: /var/run/salt/master/pid' "ext_pillar: [{file_tree: {root_dir: $FLEET/tree}}]"
    mkdir -p "$FLEET/tree/hosts/m1/sub"
    chmod 0700 "$FLEET/tree/hosts/m1/sub"
    chmod 0700 "$FLEET/srv/below" "$FLEET/pillar"
    up
    says "cannot open $FLEET/srv/below/f: Permission denied" cp.get_file_str salt://below/f
    rm "$FLEET/srv/link" # the same folder by another name, which some file systems list first
    says "cannot read the folder $FLEET/srv/below: Permission denied" cp.list_master
    until_log "$FLEET/log/master" "cannot open $FLEET/pillar/top.sls: Permission denied"
    says "cannot open $FLEET/pillar/top.sls: Permission denied" pillar.items
    chmod 0755 "$FLEET/srv/below" "$FLEET/pillar"
    [ "$(salt m1 cp.get_file_str salt://below/f --out=txt)" = 'm1: of the file server' ]
    says "cannot read the folder $FLEET/tree/hosts/m1/sub: Permission denied" pillar.items
    chmod 0700 "$FLEET/tree/hosts"
    says "cannot look at $FLEET/tree/hosts/m1: Permission denied" pillar.items
    chmod -R 0755 "$FLEET/tree"
    run -0 salt m1 saltutil.refresh_pillar wait=True
    [ "$(salt m1 pillar.get word --out=txt)" = 'm1: of the pillar' ]
}
