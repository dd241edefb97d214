#!/usr/bin/env bats
# 0060-modes.bats - what the programs make has the modes of one table, whatever the umask.

bats_require_minimum_version 1.5.0
load lib

setup() { fleet_new; }
teardown() { fleet_down; }

# PATTERN (of the path below the fleet's folder, anchored)  MODE; the first that fits counts. What fits none is an error.
modes_table() {
    cat <<'TABLE'
(master|m1)(/(etc|etc/salt|etc/salt/pki|var|var/(cache|log|run)|var/(cache|log|run)/salt))? 755
master/etc/salt/pki/master 700
master/etc/salt/pki/master/minions(_[a-z]+)? 700
master/etc/salt/pki/master/minions(_[a-z]+)?/.* 644
master/etc/salt/pki/master/[a-z_]+.pem 400
master/etc/salt/pki/master/([a-z_]+.pub|master_pubkey_signature) 644
m1/etc/salt/pki/minion 700
m1/etc/salt/pki/minion/minion.pem 400
m1/etc/salt/pki/minion/([a-z_]+.pub|minion_master.sig) 644
master/var/cache/salt/master 750
m1/var/cache/salt/minion 750
.*/var/cache/salt/.*/ 700
.*/var/cache/salt/.* 600
.*/var/log/salt/.* 640
master/var/run/salt/master 755
m1/var/run/salt/minion 755
master/var/run/salt/master/.*\.(sock|ipc) 660
m1/var/run/salt/minion/.*\.(sock|ipc) 600
.*/var/run/salt-.*\.pid 644
TABLE
}

# What a fleet makes, compared with the table.
modes_are_right() {
    (cd "$FLEET" && find master m1 \( -type d -printf '%p/ %m\n' -o -printf '%p %m\n' \)) >"$FLEET/found"
    python3 - "$FLEET/found" 3< <(modes_table) <<'PY'
import re, sys
rows = [line.rsplit(" ", 1) for line in open(3).read().splitlines()]
bad = 0
for line in open(sys.argv[1]).read().splitlines():
    path, mode = line.rsplit(" ", 1)
    want = [m for p, m in rows if re.fullmatch(p, path) or re.fullmatch(p, path.rstrip("/"))]
    if not want or want[0] != mode:
        bad = 1
        print(f"{path}: {mode}, the table says {want[0] if want else 'nothing'}")
sys.exit(bad)
PY
}

# Everything that makes files: keys, jobs, the caches, cp.push, custom modules, the runners' banks, logs, states.
everything() {
    umask "$1"
    mkdir -p "$FLEET/srv/_modules" "$FLEET/srv/_utils" "$FLEET/pillar"
    printf '%s\n' 'import salt.utils.files, tool' 'def x(): return tool.said' >"$FLEET/srv/_modules/own.py"
    echo 'said = "with a tool"' >"$FLEET/srv/_utils/tool.py"
    echo 'of the server' >"$FLEET/srv/f"
    echo 'a: {test.succeed_without_changes: []}' >"$FLEET/srv/s.sls"
    start_master "file_roots: {base: [$FLEET/srv]}" 'file_recv: True' 'log_level_logfile: debug'
    start_minion m1 'cache_jobs: True' 'log_level_logfile: debug'
    accept m1
    wait_connected m1
    wait_grains m1
    salt m1 test.ping >/dev/null
    salt m1 state.apply s >/dev/null
    salt m1 cp.cache_file salt://f >/dev/null
    salt m1 cp.push "$FLEET/srv/f" >/dev/null
    salt m1 saltutil.sync_all >/dev/null
    [[ $(salt m1 own.x --out=newline_values_only) = 'with a tool' ]]
    salt m1 data.update k v >/dev/null
    salt m1 mine.send test.ping >/dev/null
    salt-run cache.store bank key '{a: 1}' >/dev/null
    salt-run saltutil.sync_modules >/dev/null
    salt-run state.orchestrate s >/dev/null
    salt-key -L >/dev/null
    salt_call m1 test.ping >/dev/null 2>&1
}

@test "umask 000" {
    everything 000
    modes_are_right
}

@test "umask 077" {
    everything 077
    modes_are_right
}
