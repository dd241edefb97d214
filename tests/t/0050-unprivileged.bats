#!/usr/bin/env bats
# 0050-unprivileged.bats - the master as an ordinary user without any capability: keys, jobs, files, pillar, orchestration,
# reactor; its unit, and what is installed for it.

bats_require_minimum_version 1.5.0
load lib

setup() { fleet_new; }
teardown() { fleet_down; }

# A tree that the master's user may only read, and a configuration that its group may only read.
a_tree() {
    mkdir -p "$FLEET/srv/reactor" "$FLEET/pillar" "$FLEET/out"
    chmod 1777 "$FLEET/out"
    master_conf "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}" \
        "reactor: [{'go': [salt://reactor/go.sls]}]" 'file_recv: True' "$@"
    printf 'base: {"*": [p]}\n' >"$FLEET/pillar/top.sls"
    printf 'word: {{ grains.id }}-{{ salt["pillar.get"]("x", "y") }}\n' >"$FLEET/pillar/p.sls"
    printf 'one: {file.managed: [{name: %s/managed}, {source: "salt://f"}]}\n' "$FLEET/out" >"$FLEET/srv/s.sls"
    printf 'of the file server\n' >"$FLEET/srv/f"
    printf 'a: {salt.state: [{tgt: m1}, {sls: s}]}\nb: {salt.runner: [{name: manage.up}, {require: [{salt: a}]}]}\n' >"$FLEET/srv/o.sls"
    printf 'r: {local.test.echo: [{tgt: m1}, {arg: [reacted]}]}\n' >"$FLEET/srv/reactor/go.sls"
    chgrp -R 65534 "$FLEET/srv" "$FLEET/pillar" && chmod -R u=rwX,g=rX,o= "$FLEET/srv" "$FLEET/pillar"
    chgrp 65534 "$MASTER_CONF" && chmod 0640 "$MASTER_CONF"
    fleet_open
}

# What somebody would see who tries everything, once the master is there.
all_of_it() {
    local pid
    pid=$(pid_of master)
    grep -qP '^Uid:(\t65534){4}$' "/proc/$pid/status"
    grep -qP '^Gid:(\t65534){4}$' "/proc/$pid/status"
    for set in CapPrm CapEff CapInh CapAmb; do grep -qP "^$set:\t0000000000000000$" "/proc/$pid/status"; done
    start_minion m1
    wait_key m1 pre
    salt-key -L | grep -q m1
    run -0 salt-key -y -a m1
    wait_connected m1
    wait_grains m1
    [ "$(salt m1 test.echo hello --out=txt)" = 'm1: hello' ]
    [ "$(salt m1 cmd.run 'id -u' --out=txt)" = "m1: $(id -u)" ]
    [ "$(salt m1 pillar.get word --out=txt)" = 'm1: m1-y' ]
    run -0 salt m1 state.apply s
    [ "$(cat "$FLEET/out/managed")" = 'of the file server' ]
    [ "$(salt m1 cp.get_file_str salt://f --out=txt)" = 'm1: of the file server' ]
    [ "$(salt m1 cp.push "$FLEET/out/managed" --out=txt)" = 'm1: True' ]
    run -0 salt-run state.orchestrate o
    listen all 'salt/job/*/ret/*'
    salt-run event.send go >/dev/null
    wait_event all '"return":"reacted"'
    unlisten all
    run -0 salt-run jobs.list_jobs
    [[ $output == *cmd.run* ]]
    run -0 salt-run manage.up
    [[ $output == *m1* ]]
    master_hup
    [ "$(salt m1 test.echo again --out=txt)" = 'm1: again' ]
    # Nothing of it is root's.
    run -0 find "$FLEET"/master/{etc/salt/pki,var/cache/salt,var/run/salt}/master -uid 0
    [ -z "$output" ]
}
master_hup() {
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: 0 options changed'
}

# as_unit COMMAND...: with the unit's filter of system calls, where this host can say what is in it, and an ordinary user can reach
# what is run: not in a clone below a folder of root's.
as_unit() {
    local filter="$HALITE_SRC/tests/lib/as_unit.py $HALITE_SRC/conf/salt-master.service"
    [ -z "${SAN:-}" ] && $(halite_unprivileged) test -r "$HALITE_SRC/tests/lib/as_unit.py" && $filter true && echo "$filter"
}

@test "its unit's way: the unprivileged user from the start, no capability to be had, a configuration of its group" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    # git and python3 run under the same filter.
    git init -q "$FLEET/repo" && echo 'of git' >"$FLEET/repo/g" && chmod 0755 "$FLEET/repo"
    git -C "$FLEET/repo" add g && git -C "$FLEET/repo" -c user.name=x -c user.email=x@x commit -qm x && git -C "$FLEET/repo" branch -M master
    chown -R 65534 "$FLEET/repo"
    a_tree 'renderer_functions_pillar: [py]' 'fileserver_backend: [roots, git]' "gitfs_remotes: [file://$FLEET/repo]"
    printf '#!py\ndef run():\n    return {"word": __grains__["id"] + "-y"}\n' >"$FLEET/pillar/p.sls"
    # What tmpfiles.d and the unit make.
    for dir in etc/salt/pki/master var/cache/salt/master var/run/salt/master; do
        mkdir -p "$FLEET/master/$dir" && chown 65534:65534 "$FLEET/master/$dir"
    done
    mkdir -p "$FLEET/master/var/log/salt"
    for log in $(sed -n 's|^f /var/log/salt/\([a-z]*\) .*|\1|p' "$HALITE_SRC/conf/halite.tmpfiles"); do
        install -m 0640 -o 65534 -g 65534 /dev/null "$FLEET/master/var/log/salt/$log"
    done
    # Root looks at keys before there ever was a master: what is made is the master's.
    salt-key -L
    [ -z "$(find "$FLEET/master/etc/salt/pki/master" -uid 0)" ]
    : >"$FLEET/log/master"
    daemon master setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
        $(as_unit) \
        "$HALITE_BIN/salt-master" -c "$FLEET/etc" --pid-file="$FLEET/master/var/run/salt/master/salt-master.pid"
    until_log "$FLEET/log/master" 'the master is ready'
    all_of_it
    grep -q '"action":"accept"' "$FLEET/master/var/log/salt/audit"
    [ "$(salt m1 cp.get_file_str salt://g --out=txt)" = 'm1: of git' ]
    # A key that root accepts while the master is down is one that the master can read.
    stop m1
    salt-key -y -d m1 >/dev/null
    start_minion m1
    wait_key m1 pre
    stop master
    salt-key -y -a m1 >/dev/null
    daemon master $(halite_unprivileged) "$HALITE_BIN/salt-master" -c "$FLEET/etc" \
        --pid-file="$FLEET/master/var/run/salt/master/salt-master.pid"
    wait_connected m1
}

@test "Salt's way: started by root, which it leaves for the user of the option" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    a_tree 'user: nobody' 'pidfile: /var/run/salt/master/pid'
    start_master
    all_of_it
}

@test "a tree that is given to the user: links and files of others stay what they are" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    master_conf 'user: nobody' 'pidfile: /var/run/salt/master/pid'
    mkdir -p "$FLEET/master/var/cache/salt/master/a/b"
    touch "$FLEET/root-file" "$FLEET/root-other" "$FLEET/master/var/cache/salt/master/a/b/c"
    ln -s "$FLEET/root-file" "$FLEET/master/var/cache/salt/master/a/link"
    ln "$FLEET/root-other" "$FLEET/master/var/cache/salt/master/a/second-name"
    start_master
    [ "$(stat -c %u "$FLEET/root-file" "$FLEET/root-other" | sort -u)" = 0 ]
    [ "$(stat -c %u "$FLEET/master/var/cache/salt/master/a/b/c")" = 65534 ]
}

@test "salt-call by root is the minion's user, and a user that does not exist is an error" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
    fleet_open
    minion_conf m1 'user: nobody' 'file_client: local'
    mkdir -p "$FLEET/m1" && chown 65534 "$FLEET/m1"
    [ "$(salt_call m1 cmd.run 'id -u' --out=newline_values_only)" = 65534 ]
    run -0 find "$FLEET/m1" -type f -uid 0
    [ -z "$output" ]
    minion_conf m1 'user: nosuch-user' 'file_client: local'
    run --separate-stderr salt_call m1 test.ping
    [ "$status" -eq 1 ]
    [ "$stderr" = "user: there is no user 'nosuch-user' on this machine" ]
}

@test "the units: how exposed systemd finds them" {
    command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
    local figure
    for unit in master:2.0 minion:9.4; do
        figure=$(systemd-analyze security --offline=yes --no-pager "$HALITE_SRC/conf/salt-${unit%:*}.service" |
            sed -nE 's/.*Overall exposure level .*: ([0-9.]+) .*/\1/p')
        echo "salt-${unit%:*}: $figure"
        [ "$(awk "BEGIN { print ($figure < ${unit#*:}) }")" = 1 ]
    done
    grep -qx 'User=salt' "$HALITE_SRC/conf/salt-master.service"
}

@test "make install: programs, units, and the files that make the user and its folders" {
    local root=$BATS_TEST_TMPDIR/root
    make -C "$HALITE_SRC" -s install BUILD="$BUILD" DESTDIR="$root" BIN="$(echo "$HALITE_BIN"/salt*)" >/dev/null
    # Manual pages, completions and the package for Python have tests of their own.
    (cd "$root" && find . -type f ! -path '*/examples/*' ! -path './usr/lib/halite/python/*' ! -path '*/docs/*' ! -path './usr/share/[!d]*' -printf '%P %m\n' | sort) >"$BATS_TEST_TMPDIR/files"
    diff "$BATS_TEST_TMPDIR/files" - <<'FILES'
etc/logrotate.d/salt-api 644
etc/logrotate.d/salt-master 644
etc/logrotate.d/salt-minion 644
etc/salt/master 644
etc/salt/minion 644
etc/ufw/applications.d/halite-master 644
lib/systemd/system/salt-api.service 644
lib/systemd/system/salt-master.service 644
lib/systemd/system/salt-minion.service 644
usr/bin/salt 755
usr/bin/salt-api 755
usr/bin/salt-call 755
usr/bin/salt-cp 755
usr/bin/salt-key 755
usr/bin/salt-master 755
usr/bin/salt-minion 755
usr/bin/salt-run 755
usr/lib/firewalld/services/halite-master.xml 644
usr/lib/halite/manifest 644
usr/lib/halite/restart-after-jobs 755
usr/lib/halite/salt-auth 755
usr/lib/halite/salt-engine 755
usr/lib/halite/salt-follower 755
usr/lib/sysusers.d/halite-api.conf 644
usr/lib/sysusers.d/halite.conf 644
usr/lib/tmpfiles.d/halite-api.conf 644
usr/lib/tmpfiles.d/halite.conf 644
usr/share/doc/halite/CHANGELOG.md 644
usr/share/doc/halite/COMPAT.md 644
usr/share/doc/halite/DIFFERENCES.md 644
usr/share/doc/halite/README.md 644
usr/share/doc/halite/SECURITY.md 644
FILES
    # What the units name is there.
    for unit in master minion; do
        for page in $(sed -n 's|^Documentation=||p' "$root/lib/systemd/system/salt-$unit.service"); do
            case $page in
            man:*) name=${page#man:} name=${name%)} page=/usr/share/man/man${name##*\(}/${name%(*}.${name##*\(}.gz ;;
            esac
            [ -s "$root/${page#file:}" ]
        done
    done
    if command -v systemd-analyze >/dev/null; then
        run systemd-analyze verify --man=no --root="$root" "$root"/lib/systemd/system/salt-{master,minion}.service
        echo "$output" && [[ ! $output =~ \.service:[0-9] ]]
    fi
    command -v systemd-sysusers >/dev/null || return 0
    mkdir -p "$root/etc"
    systemd-sysusers --root="$root" halite.conf
    grep -q '^salt:[^:]*:[0-9]*:[0-9]*:Salt Master:/var/lib/salt:' "$root/etc/passwd"
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir -p "$root/etc/salt/pki/master" && touch "$root/etc/salt/pki/master/master.pem"
    systemd-tmpfiles --root="$root" --create halite.conf
    (cd "$root" && stat -c '%n %a %u' etc/salt/pki etc/salt/pki/master var/log/salt var/log/salt/{audit,master}) >"$BATS_TEST_TMPDIR/made"
    local uid
    uid=$(sed -nE 's/^salt:[^:]*:([0-9]*):.*/\1/p' "$root/etc/passwd")
    diff "$BATS_TEST_TMPDIR/made" - <<FILES
etc/salt/pki 755 0
etc/salt/pki/master 700 $uid
var/log/salt 755 0
var/log/salt/audit 640 $uid
var/log/salt/master 640 $uid
FILES
    [ "$(stat -c %u "$root/etc/salt/pki/master/master.pem")" = "$uid" ]
}

@test "a command runs with a group that has more members than fit where others do" {
    unshare --mount true 2>/dev/null || skip "can't make a mount namespace"
    printf 'id: m\nroot_dir: %s/minion\nfile_client: local\n' "$FLEET" >"$FLEET/etc/minion"
    { cat /etc/group; echo "many:x:4711:$(seq -s, -f m%g 20000)"; } >"$FLEET/group"
    export FLEET HALITE_BIN
    run -0 unshare --mount bash -euc '
        mount --make-rprivate /
        mount --bind "$FLEET/group" /etc/group
        "$HALITE_BIN/salt-call" --local -c "$FLEET/etc" -l quiet cmd.run "id -g" group=many --out=txt'
    [ "$output" = "local: 4711" ]
}
