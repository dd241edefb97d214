#!/usr/bin/env bats
# 7030-backup.bats - backups of the store, made and restored while the master runs, killed at each step, on a full disk; and
# the commands of the pages in docs, as they are printed there.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    places
}
places() {
    CACHE=$FLEET/master/var/cache/salt/master
    STORE=$CACHE/jobs.db
    COPIES=$FLEET/lib
    mkdir "$COPIES" "$FLEET/root"
}
# up ID...: a master and these minions.
up() {
    fleet_down
    fleet_up "$@"
    places
}

teardown() {
    fleet_down
}

sql() { /usr/bin/python3 -c 'import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=30).execute(sys.argv[2]).fetchone()[0])' "${2:-$STORE}" "$1"; }
# A store of many pages.
fill_store() {
    mkdir -p "$CACHE"
    "$BUILD/tests/bench/history" fill "$STORE" 300 3 2 >/dev/null
    chmod 0600 "$STORE"
}
restart_master() {
    stop master
    start_master
}
# Where it is not dead already.
end_master() {
    kill -KILL "$(pid_of master)" 2>/dev/null || :
    until_true 10 test -e "$FLEET/pids/master.rc"
    rm -f "$FLEET/pids/master" "$FLEET/pids/master.rc"
}
# The jid of a job that m1 has returned.
ping_job() {
    salt m1 test.ping --out=txt >/dev/null
    salt-run jobs.last_run function=test.ping --out=json | grep -oE '[0-9]{20}' | head -n 1
}
# names FILE...: what is there of these.
names() { ls -d "$@" 2>/dev/null || :; }

# ---- pages ----------------------------------------------------------------------------------------------------------

# commands PAGE [HEADING]: the indented lines of a page, or of one part of it, with the paths of this fleet; web1 is $MINION.
commands() {
    awk -v part="${2:-}" '/^#/ { inside = part == "" || index($0, "## " part) == 1 } inside && /^    / { sub(/^ +/, ""); print }' \
        "$HALITE_SRC/docs/$1.md" | sed -e "s|/var/cache/salt/master|$CACHE|g" -e "s|/var/lib/salt|$COPIES|g" -e "s|/root/|$FLEET/root/|g" \
        -e "s|/etc/salt/pki/master|$FLEET/master/etc/salt/pki/master|g" -e "s|/etc/salt/pki/minion|$FLEET/${MINION:-}/etc/salt/pki/minion|g" \
        -e "s|/etc/salt/master.d|$FLEET/etc/master.d|g" -e "s|/var/log/salt|$FLEET/master/var/log/salt|g"
}
# walk PAGE [HEADING]: each command in turn; what it says is in $FLEET/said.
walk() {
    local line
    commands "$@" >"$FLEET/commands"
    [ -s "$FLEET/commands" ]
    while IFS= read -r line; do
        echo "# $line" >&2
        eval "$line" </dev/null >>"$FLEET/said"
    done <"$FLEET/commands"
}
# The fleet has no systemd.
systemctl() {
    case $* in
    'stop salt-master') stop master ;;
    'start salt-master') start_master ;;
    'restart salt-master') restart_master ;;
    'restart salt-minion') stop "$MINION" && start_minion "$MINION" ;;
    *) return 1 ;;
    esac
}
salt-call() { salt_call "$MINION" "$@"; }

@test "a backup while the master works: one moment, for its user alone, with what is in it and what is not" {
    up m1
    umask 022
    jid=$(ping_job)
    run -0 salt-run store.backup "$COPIES/b" --out=json
    [ "$(field size <<<"$output")" -eq "$(stat -c %s "$COPIES/b")" ]
    [ "$(stat -c %a "$COPIES/b")" = 600 ]
    same_as "$(names "$COPIES"/*)" <<<"$COPIES/b"
    [ "$(sql "SELECT count(*) FROM returns WHERE jid = '$jid'" "$COPIES/b")" -eq 1 ]
    grep -q 'the keys, without which no minion knows a new master: add keys=True' <<<"$output"
    # The command that it names saves them.
    eval "$(grep -oE '\(umask 077; [^)]*\)' <<<"$output")"
    [ "$(stat -c %a "$COPIES/b.keys.tar")" = 600 ]
    tar -tf "$COPIES/b.keys.tar" | grep -qx ./minions/m1
    run -1 salt-run store.backup "$COPIES/b"
    grep -q 'is there already; name another file' <<<"$output"
    run -1 salt-run store.backup "$FLEET/none/b"
    grep -q 'make the folder first' <<<"$output"
    run -0 salt-run store.backup "$COPIES/k" keys=True --out=json
    grep -q '"signing key": ".*among the keys' <<<"$output"
    same_as "$(tar -tf "$COPIES/k.keys.tar" | grep -v '/$' | sort)" <<<"$(cd "$(master_pki .)" && find . -type f | sort)"
    [ "$(stat -c %a "$COPIES/k.keys.tar")" = 600 ]
    same_as "$(names "$COPIES"/*)" <<<"$COPIES/b
$COPIES/b.keys.tar
$COPIES/k
$COPIES/k.keys.tar"
}

@test "only root and the master's user may; a terminal sees how far it is" {
    [ "$(id -u)" -eq 0 ] || skip "needs another user"
    fill_store
    fleet_open
    start_master 'publisher_acl: {nobody: [test.ping]}'
    for fun in "backup $COPIES/b" check "restore $COPIES/b"; do
        # shellcheck disable=SC2086
        run setpriv --reuid=65534 --regid=65534 --clear-groups "$HALITE_BIN/salt-run" store.$fun
        [ "$status" -ne 0 ]
        grep -q 'is not allowed' <<<"$output"
    done
    [ -z "$(names "$COPIES"/*)" ]
    # What a terminal draws comes as pushes.
    run -0 "$HALITE_TOOLS/local" --follow 1 20 "$SOCK_DIR" "{\"op\":\"runner\",\"fun\":\"store.backup\",\"arg\":[\"$COPIES/b\"],\"follow\":true}"
    grep -q '"what":"pages of the store are copied","push":"progress"' <<<"$output"
    until_true 20 test -e "$COPIES/b"
}

@test "restored at the next start: the backup's jobs, new numbers, and the present store is kept" {
    up m1
    first=$(ping_job)
    salt-run store.backup "$COPIES/b" >/dev/null
    later=$(ping_job)
    run -0 salt-run store.restore "$COPIES/b" --out=json
    grep -qE '"after": "[1-9][0-9]* jobs and [1-9][0-9]* returns of the present store are not in the backup' <<<"$output"
    grep -q 'when the master starts the next time: restart it' <<<"$output"
    kept=$CACHE/$(field kept <<<"$output")
    [ "$(stat -c %a "$STORE.restore")" = 600 ]
    # Nothing has changed yet, and what comes is stored.
    last=$(ping_job)
    salt-run jobs.lookup_jid "$later" --out=json | grep -q m1
    seq=$(counter seq | head -n 1)
    restart_master
    grep -q "the job store is the restored backup now; the one of before is kept as $kept" "$FLEET/log/master"
    salt-run jobs.lookup_jid "$first" --out=json | grep -q m1
    [ "$(sql "SELECT count(*) FROM jobs WHERE jid IN ('$later', '$last')")" -eq 0 ]
    [ "$(sql "SELECT count(*) FROM returns WHERE jid IN ('$later', '$last')" "$kept")" -eq 2 ]
    [ "$(counter seq | head -n 1)" -gt "$seq" ]
    [ ! -e "$STORE.restore" ]
    wait_connected m1
    ping_ok m1
    # No number is in both.
    salt-run store.check --out=json | grep -q '"result": true'
    [ "$(sql 'SELECT max(last) FROM event_blocks' "$kept")" -lt "$(sql 'SELECT max(last) FROM event_blocks')" ]
    [ "$(sql "SELECT count(*) FROM event_blocks WHERE first > $seq AND first < 1000000000000000")" -eq 0 ]
}

@test "no reaction twice: what the reactor did before the backup, and after it, stays done" {
    local srv=$BATS_TEST_TMPDIR/srv
    mkdir "$srv"
    cat >"$srv/r.sls" <<EOF
note:
  local.cmd.run:
    - tgt: m1
    - arg:
      - echo {{ data["n"] }} >>$srv/done
EOF
    MASTER_LINES=("reactor: [{'my/*': [$srv/r.sls]}]")
    up m1
    salt-run event.send my/a '{"n": 1}' >/dev/null
    until_true 10 grep -qx 1 "$srv/done"
    salt-run store.backup "$COPIES/b" >/dev/null
    salt-run event.send my/a '{"n": 2}' >/dev/null
    until_true 10 grep -qx 2 "$srv/done"
    salt-run store.restore "$COPIES/b" >/dev/null
    restart_master
    wait_connected m1
    salt-run event.send my/a '{"n": 3}' >/dev/null
    until_true 10 grep -qx 3 "$srv/done"
    same_as "$(sort "$srv/done")" <<<"1
2
3"
}

@test "refused: a damaged backup, one of a newer master, another program's, and a damaged store" {
    fill_store
    start_master 'keep_jobs_seconds: 0'
    for b in good bad newer other; do salt-run store.backup "$COPIES/$b" >/dev/null; done
    dd if=/dev/urandom of="$COPIES/bad" bs=8192 seek=20 count=5 conv=notrunc status=none
    python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99")
sqlite3.connect(sys.argv[2]).execute("PRAGMA application_id = 7")' "$COPIES/newer" "$COPIES/other"
    run -1 salt-run store.restore "$COPIES/bad"
    grep -q "$COPIES/bad: damaged: " <<<"$output"
    run -1 salt-run store.check "$COPIES/bad" --out=json
    grep -q '"result": false' <<<"$output"
    grep -q 'Take an older backup' <<<"$output"
    run -1 salt-run store.restore "$COPIES/newer"
    grep -q "a store of format 99, .*install that master again" <<<"$output"
    run -1 salt-run store.restore "$COPIES/other"
    grep -q 'a database of another program' <<<"$output"
    [ -z "$(names "$STORE".restore*)" ]
    run -0 salt-run store.check "$COPIES/good" full=True --out=json
    grep -q '"damage": \[\]' <<<"$output"
    stop master
    # Pages of returns: a start reads jobs, and would move a damaged store aside itself.
    python3 -c 'import os, sqlite3, sys
leaves = sqlite3.connect(sys.argv[1]).execute("SELECT pageno FROM dbstat WHERE name = \"returns\" AND pagetype = \"leaf\"").fetchall()
with open(sys.argv[1], "r+b") as f:
    for (page,) in leaves[len(leaves) // 2:][:4]:
        f.seek((page - 1) * 8192)
        f.write(os.urandom(8192))' "$STORE"
    start_master
    run -1 salt-run store.check --out=json
    grep -q 'Restore the newest backup' <<<"$output"
    run -1 salt-run store.backup "$COPIES/again"
    grep -q "jobs.db: damaged" <<<"$output"
    [ -z "$(names "$COPIES"/again*)" ]
    salt-run store.restore "$COPIES/good" >/dev/null
    restart_master
    salt-run store.check --out=json | grep -q '"result": true'
}

@test "killed at any step of a backup: no half of one has its name, and the next one is whole" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    local n hits=0
    fill_store
    master_conf 'keep_jobs_seconds: 0'
    for ((n = 1;; n += 1 + n / 20)); do
        rm -f "$FLEET/hit" "$COPIES"/*.keys.tar "$COPIES/b"
        FAULT=kill:$n FAULT_ROOT=$COPIES FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so start_master
        run salt-run store.backup "$COPIES/b" keys=True
        if [ ! -e "$FLEET/hit" ]; then break; fi
        hits=$((hits + 1))
        end_master
        if [ -e "$COPIES/b" ]; then
            [ "$(sql 'PRAGMA integrity_check' "$COPIES/b")" = ok ] && [ -e "$COPIES/b.keys.tar" ]
            rm "$COPIES/b"
        fi
        start_master
        salt-run store.backup "$COPIES/b" keys=True >/dev/null
        [ "$(sql 'PRAGMA integrity_check' "$COPIES/b")" = ok ]
        same_as "$(names "$COPIES"/*)" <<<"$COPIES/b
$COPIES/b.keys.tar"
        stop master
    done
    [ "$status" -eq 0 ] && [ "$hits" -gt 10 ]
}

@test "a disk that fills at any step of a backup: it is refused, nothing is left, and the master works on" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    local n hits=0
    fill_store
    master_conf 'keep_jobs_seconds: 0'
    for ((n = 1;; n += 1 + n / 15)); do
        rm -f "$FLEET/hit" "$COPIES"/*
        FAULT=28:$n FAULT_ROOT=$COPIES FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so start_master
        run salt-run store.backup "$COPIES/b"
        [ -e "$FLEET/hit" ] || break
        hits=$((hits + 1))
        if [ "$status" -eq 0 ]; then
            [ "$(sql 'PRAGMA integrity_check' "$COPIES/b")" = ok ]
        elif [ -n "$(names "$COPIES/b")" ] || ! grep -q "$COPIES/b" <<<"$output"; then
            echo "at $n: $output; $(names "$COPIES"/*)" >&2
            return 1
        fi
        salt-run store.check --out=json | grep -q '"result": true'
        stop master
    done
    [ "$status" -eq 0 ] && [ "$hits" -gt 10 ]
}

@test "killed at any step of a restore, and of the start that takes it: the old store or the backup, whole, and nothing lost" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    local n step root hits=0
    fill_store
    start_master 'keep_jobs_seconds: 0'
    salt-run store.backup "$COPIES/b" >/dev/null
    stop master
    mkdir "$FLEET/past"
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO jobs(jid, start_us, n_minions, n_returned, fun, tgt, doc, minions) SELECT 1, max(start_us) + 1, 1, 1, ?, ?, ?, ? FROM jobs",
           ("late", "m", "{}", "[]"))
db.commit()' "$STORE"
    cp -a "$STORE" "$FLEET/past"
    for step in restore take; do
        for ((n = 1;; n += 1 + n / 15)); do
            rm -f "$FLEET/hit" "$CACHE"/jobs.db*
            cp -a "$FLEET/past/jobs.db" "$STORE"
            root=$STORE.restore
            if [ $step = take ]; then
                start_master
                salt-run store.restore "$COPIES/b" >/dev/null
                stop master
                root=$STORE
            fi
            FAULT=kill:$n FAULT_ROOT=$root FAULT_HIT=$FLEET/hit LD_PRELOAD=$BUILD/tests/preload/fault.so start_master 2>/dev/null || :
            [ $step = take ] || run salt-run store.restore "$COPIES/b"
            # What comes after the taking is not of it.
            if [ ! -e "$FLEET/hit" ] || { [ $step = take ] && grep -q 'the master is ready' "$FLEET/log/master"; }; then
                end_master
                break
            fi
            hits=$((hits + 1))
            end_master
            start_master
            if [ -n "$(names "$CACHE"/jobs.db.before-*)" ]; then
                [ "$(sql "SELECT count(*) FROM jobs WHERE fun = 'late'" "$CACHE"/jobs.db.before-*)" -eq 1 ]
                [ "$(sql "SELECT count(*) FROM jobs WHERE fun = 'late'")" -eq 0 ]
                [ "$(counter seq | head -n 1)" -gt 1000000000000000 ]
            else
                [ $step = restore ]
                [ "$(sql "SELECT count(*) FROM jobs WHERE fun = 'late'")" -eq 1 ]
                salt-run store.restore "$COPIES/b" >/dev/null
                same_as "$(names "$STORE".restore*)" <<<"$STORE.restore"
            fi
            salt-run store.check --out=json | grep -q '"result": true'
            stop master
        done
        [ "$hits" -gt 10 ]
        hits=0
    done
}

@test "docs/backup.md, as it is printed" {
    up m1
    first=$(ping_job)
    walk backup 'Make one'
    [ "$(stat -c %a "$FLEET/root/salt-backup.tar")" = 600 ]
    walk backup 'Look whether'
    later=$(ping_job)
    walk backup Restore
    salt-run jobs.lookup_jid "$first" --out=json | grep -q m1
    [ "$(salt-run jobs.lookup_jid "$later" --out=json | tr -d ' {}\n')" = "" ]
    [ "$(sql "SELECT count(*) FROM jobs WHERE jid = '$later'")" -eq 0 ]
    walk backup 'Go back'
    [ "$(sql "SELECT count(*) FROM jobs WHERE jid = '$later'")" -eq 1 ]
    [ -z "$(names "$CACHE"/jobs.db.before-*)" ]
    # As a package leaves it.
    rm -r "$FLEET/master/etc/salt/pki/master"
    mkdir -m 0700 "$FLEET/master/etc/salt/pki/master"
    walk backup 'On a new machine'
    wait_connected m1
    ping_ok m1
}

@test "docs/lost-master-key.md, as it is printed" {
    MINION=m1
    up m1
    old=$(salt-key -F master --out=json | field master.pub)
    walk lost-master-key 'It was stolen'
    wait_connected m1
    [ "$(salt-key -F master --out=json | field master.pub)" != "$old" ]
    until_true 10 ping_ok m1
    salt-run store.backup "$COPIES/jobs.backup" keys=True >/dev/null
    stop master
    rm -r "$FLEET/master/etc/salt/pki/master"
    start_master
    walk lost-master-key 'It is lost, and there is a backup'
    wait_connected m1
    ping_ok m1
    walk lost-master-key 'It is lost, and so is every'
    wait_connected m1
    ping_ok m1
    grep -q "$(salt-key -F master --out=json | field master.pub)" "$FLEET/said"
    [ "$(salt-call --local key.finger_master --out=txt)" = "local: $(salt-key -F master --out=json | field master.pub)" ]
}

@test "docs/stolen-minion.md, as it is printed" {
    MASTER_LINES=("pillar_roots: {base: [$BATS_TEST_TMPDIR/pillar]}")
    mkdir -p "$BATS_TEST_TMPDIR/pillar"
    printf 'base: {web1: [s]}\n' >"$BATS_TEST_TMPDIR/pillar/top.sls"
    printf 'password: hunter2\n' >"$BATS_TEST_TMPDIR/pillar/s.sls"
    MINION=web1
    up web1 db1
    salt web1 saltutil.refresh_pillar --out=txt >/dev/null
    until_true 10 eval 'salt-run cache.pillar tgt=web1 --out=json | grep -q hunter2'
    salt web1 cmd.run 'echo hello' >/dev/null
    commands stolen-minion >"$FLEET/page"
    step() { sed -n "$1p" "$FLEET/page" >"$FLEET/step" && . "$FLEET/step" >>"$FLEET/said"; }
    step 1
    wait_gone web1
    not is_connected web1
    # Else its old key may be the first to wait once it is forgotten.
    stop web1
    step 2,6
    grep -q hunter2 "$FLEET/said"
    grep -q 'cmd.run' "$FLEET/said"
    grep -q '"reject' "$FLEET/said"
    step 7
    not grep -q hunter2 <<<"$(salt-run cache.pillar tgt=web1 --out=json)"
    rm -r "$FLEET/web1/etc/salt/pki/minion"
    start_minion web1
    wait_key web1 pre
    step 8,9
    wait_connected web1
    ping_ok web1
}

@test "docs/full-disk.md, as it is printed: returns wait for room, and none is lost; a backup that does not fit is refused" {
    unshare --mount true 2>/dev/null || skip "can't make a mount namespace"
    local pid n
    mkdir -p "$CACHE" "$FLEET/bin"
    ln -s "$HALITE_BIN"/* "$FLEET/bin"
    rm "$FLEET/bin/salt-master"
    cat >"$FLEET/bin/salt-master" <<EOF
#!/bin/bash
# The cache has a disk of its own.
exec unshare --mount bash -ec 'mount --make-rprivate /; mount -t tmpfs -o size=12m,mode=0750 halite "\$1"; mount -t tmpfs -o size=200k halite "\$2"; shift 2; exec "\$@"' - "$CACHE" "$COPIES" "$HALITE_BIN/salt-master" "\$@"
EOF
    chmod +x "$FLEET/bin/salt-master"
    HALITE_BIN=$FLEET/bin start_master
    start_minion m1
    accept m1
    wait_connected m1
    wait_grains m1
    pid=$(pid_of master)
    on_disk() { nsenter --mount="/proc/$pid/ns/mnt" env PATH="$HALITE_BIN:$PATH" bash -ec "$1"; }
    run -1 salt-run store.backup "$COPIES/b"
    grep -qE 'a copy needs [0-9]+ MB there, and 0 MB are free: make room, or name a file on another file system' <<<"$output"
    [ -z "$(on_disk "ls -A $COPIES")" ]
    run -1 salt-run store.backup "$CACHE/b"
    grep -qE 'a copy needs [0-9]+ MB there, beside the store and what comes meanwhile, and' <<<"$output"
    on_disk "cat /dev/zero >$CACHE/jobs.db.damaged-20261125000000000000" 2>/dev/null || :
    for n in {1..30}; do salt m1 test.echo "$n" --out=txt >/dev/null; done
    until_log "$FLEET/log/master" "the store can't be written"
    commands full-disk >"$FLEET/page"
    # systemd's part.
    sed "s|^systemctl reload salt-master\$|kill -HUP $pid|" "$FLEET/page" >"$FLEET/walk"
    on_disk "set -e; . $FLEET/walk" >"$FLEET/said"
    grep -q '100%' "$FLEET/said"
    grep -q 'Nothing needs to be done' "$FLEET/said"
    until_true 20 nothing_spooled m1
    [ "$(on_disk "python3 -c 'import sqlite3; print(sqlite3.connect(\"$STORE\").execute(\"SELECT count(*) FROM returns r JOIN jobs j USING (jid) WHERE j.fun = \\\"test.echo\\\"\").fetchone()[0])'")" -eq 30 ]
    until_log "$FLEET/log/master" 'can be written again'
}
