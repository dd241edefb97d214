#!/usr/bin/env bats
# walk.bats - the Debian packages in a booted Debian, from the first installation to the purge: `make test-installed`.
# Each test goes on where the one before it ended. HALITE_DEBS: the folder of the packages; HALITE_SUITE: which Debian.

bats_require_minimum_version 1.5.0

ROOT_SH=$BATS_TEST_DIRNAME/root.sh
new=${HALITE_DEBS:?the folder of the packages}

setup_file() {
    local why deb handle
    export HANDLE='' WHY=''
    why=$("$ROOT_SH" can) || { WHY=$why && return 0; }
    devices >"$BATS_FILE_TMPDIR/devices"
    # The build before this one: the same packages with a lower version.
    mkdir -p "$BATS_FILE_TMPDIR/old"
    for deb in "$new"/halite-{common,master,minion}_*.deb; do
        dpkg-deb -R "$deb" "$BATS_FILE_TMPDIR/tree"
        version=$(dpkg-deb -f "$deb" Version)
        sed -i "s/$version/$version~0/" "$BATS_FILE_TMPDIR/tree/DEBIAN/control"
        dpkg-deb -Znone -b "$BATS_FILE_TMPDIR/tree" "$BATS_FILE_TMPDIR/old" >/dev/null
        rm -r "$BATS_FILE_TMPDIR/tree"
    done
    # What they depend on, and nothing of theirs.
    mapfile -t needs < <(for deb in "$new"/halite-{common,master,minion}_*.deb; do dpkg-deb -f "$deb" Depends; done |
        tr ',' '\n' | sed 's/ *[(|].*//; s/^ *//; /^halite-/d' | sort -u)
    folder=$("$ROOT_SH" make "${HALITE_SUITE:-bookworm}" "${needs[@]}") || return 1
    handle=$("$ROOT_SH" up "$folder") || return 1
    HANDLE=$handle
    "$ROOT_SH" in "$HANDLE" "$BATS_FILE_TMPDIR"/old/*.deb /pkg/old
    "$ROOT_SH" in "$HANDLE" "$new"/halite-{common,master,minion}_*.deb /pkg/new
}
teardown_file() {
    [ ! -e "$HANDLE/group" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

it() { "$ROOT_SH" run "$HANDLE" "$@" </dev/null; }
sh_() { it sh -ec "$1"; }
unit() { "$ROOT_SH" unit "$HANDLE" "$@"; }
pid_of() { it systemctl show -P MainPID "$1"; }
put() { "$ROOT_SH" run "$HANDLE" sh -c 'mkdir -p "$(dirname "$1")" && cat >"$1"' sh "$1"; }
# until_it SECONDS COMMAND...: until it succeeds inside
until_it() {
    local end=$((SECONDS + $1))
    shift
    until it "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { echo "waited in vain for: $*"; it "$@" || return 1; } >&2
        read -rt 0.1 <> <(:) || :
    done
}
# eventually COMMAND...: the same, of this shell's functions
eventually() {
    local end=$((SECONDS + 30))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        read -rt 0.1 <> <(:) || :
    done
}
# mark, then started: until the minion has told a master of a start after the mark; it takes jobs from then on.
mark() { MARK=$(it date -u +%Y-%m-%dT%H:%M:%S.%6N); }
started() {
    until_it 60 salt-run manage.up
    it salt-run state.event salt/minion/web1/start since="$MARK" count=1 timeout=60 quiet=True
}
devices() { stat -c '%n %A %U %G %t,%T' /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty; }

@test "the first installation starts both daemons, the master as an ordinary user" {
    put /etc/salt/minion.d/walk.conf <<'END'
id: web1
master: 127.0.0.1
grains: {role: web, site: /srv/site}
log_level_logfile: info
END
    put /etc/salt/master.d/log.conf <<<'log_level_logfile: info'
    sh_ 'apt-get install -y --no-install-recommends /pkg/old/*.deb' >&2
    unit salt-master
    unit salt-minion
    [ "$(it stat -c %U /proc/"$(pid_of salt-master)")" = salt ]
    [ "$(it stat -c %U /proc/"$(pid_of salt-minion)")" = root ]
    [ "$(it systemctl is-enabled salt-master salt-minion | sort -u)" = enabled ]
    # What the sandbox takes: the folders of everybody else.
    run it systemctl show -P ProtectSystem salt-master
    [ "$output" = strict ]
}

@test "a key that is accepted connects its minion" {
    until_it 30 sh -c 'salt-key -l pre --out=newline_values_only | grep -qx web1'
    mark
    it salt-key -y -a web1
    started
    it salt web1 test.ping
}

@test "a highstate of /srv/salt with pillar, twice: the second changes nothing" {
    sh_ 'cp -r /usr/share/doc/halite/examples/salt /usr/share/doc/halite/examples/pillar /usr/share/doc/halite/examples/reactor /srv/'
    it salt web1 state.apply >&2
    it grep -q 'the operations team' /srv/site/etc/motd
    it grep -q '192.0.2.12 web2' /srv/site/etc/hosts
    run it salt web1 state.apply --state-output=terse --state-verbose=False
    [ "$status" -eq 0 ]
    [[ $output != *changed=* ]]
}

@test "an orchestration deploys, and the reactor answers its event" {
    put /etc/salt/master.d/walk.conf <<'END'
reactor:
  - 'site/deployed': [/srv/reactor/walk.sls]
END
    put /srv/reactor/walk.sls <<'END'
note it:
  local.file.touch:
    - tgt: web1
    - args:
      - name: /srv/site/deployed
END
    put /srv/salt/orch/walk.sls <<'END'
deploy:
  salt.state:
    - tgt: web1
    - sls: app
    - pillar: {version: "2.0"}
tell:
  salt.runner:
    - name: event.send
    - tag: site/deployed
    - data: {version: "2.0", servers: [web1]}
    - require: [{salt: deploy}]
END
    it systemctl reload salt-master
    it salt-run state.orchestrate orch.walk >&2
    until_it 30 test -e /srv/site/deployed || { it tail -n 20 /var/log/salt/master >&2 && false; }
}

@test "users' files in Python: a module and a state on the minion, a runner in the master's sandbox, forked from interpreters that stay" {
    put /srv/salt/_modules/walked.py <<'END'
import os
import salt.utils.files


def whose():
    """The id, and the process that this one was forked by."""
    return [__grains__["id"], os.getppid()]
END
    put /srv/salt/_states/walked.py <<'END'
def seen(name):
    return {"name": name, "result": True, "changes": {"seen": __salt__["walked.whose"]()[0]}, "comment": __pillar__["version"]}
END
    put /srv/salt/_runners/walked.py <<'END'
import os
import salt.client


def ask():
    return [salt.client.LocalClient().cmd("web1", "walked.whose")["web1"][0], os.getppid()]
END
    put /srv/salt/walked.sls <<<'it: {walked.seen: []}'
    it salt web1 saltutil.sync_all >&2
    it salt-run saltutil.sync_runners >&2
    forked() { # PID COMMAND...: its answer names web1, and an interpreter that is a child of the unit's process
        local unit=$1 said
        shift
        said=$(it "$@" --out=json | tr -d '[:space:]"')
        echo "$said"
        [[ $said =~ web1,([0-9]+) ]] && [ "$(it ps -o ppid=,comm= -p "${BASH_REMATCH[1]}" | xargs)" = "$unit python3" ]
    }
    it salt web1 walked.whose >&2
    it salt-run walked.ask >&2
    eventually forked "$(pid_of salt-minion)" salt web1 walked.whose
    eventually forked "$(pid_of salt-master)" salt-run walked.ask
    run it salt web1 state.apply walked pillar='{version: "2.0"}' --out=json --static
    [[ $output == *'"seen": "web1"'* && $output == *'"comment": "2.0"'* ]]
}

@test "logrotate takes the logs, and both daemons write to the new ones" {
    local log
    it salt web1 cmd.run 'echo before'
    it logrotate -f /etc/logrotate.conf
    for log in master audit minion; do
        until_it 10 test -s "/var/log/salt/$log.1"
        it test ! -s "/var/log/salt/$log" || it test "/var/log/salt/$log" -nt "/var/log/salt/$log.1"
    done
    [ "$(it stat -c %U:%a /var/log/salt/audit)" = salt:640 ]
    # Each says something: the minion and the master of a job, the audit of a key.
    it salt web1 cmd.run 'echo after'
    until_it 10 grep -q 'cmd.run from' /var/log/salt/minion
    until_it 10 grep -q 'Published command cmd.run' /var/log/salt/master
    it salt-key -y --gen-keys=other --gen-keys-dir=/tmp >/dev/null
    it install -D -o salt -g salt /tmp/other.pub /etc/salt/pki/master/minions_pre/other
    it salt-key -y -r other
    until_it 10 grep -q other /var/log/salt/audit
    run it grep -c other /var/log/salt/audit.1
    [ "$output" = 0 ]
    it systemctl is-active salt-master salt-minion
}

@test "minion.restart from a job returns, and the minion is back" {
    mark
    it salt web1 minion.restart >&2
    started
    it salt web1 test.ping
}

@test "a job that restarts the minion survives, and returns" {
    local before
    before=$(pid_of salt-minion)
    mark
    run it salt web1 cmd.run 'systemctl restart salt-minion; echo the job goes on'
    echo "$output"
    [[ $output == *"the job goes on"* ]]
    [ "$(pid_of salt-minion)" != "$before" ]
    started
    it salt web1 test.ping
}

@test "a job that upgrades the minion it runs in returns; the minion restarts after it, the master once" {
    local minion master
    minion=$(pid_of salt-minion) master=$(pid_of salt-master)
    mark
    it salt web1 cmd.run 'apt-get install -y --no-install-recommends /pkg/new/halite-common_*.deb /pkg/new/halite-minion_*.deb /pkg/new/halite-master_*.deb && echo the job has come to its end' \
        --async --out=newline_values_only >"$BATS_FILE_TMPDIR/said"
    until_it 120 sh -c 'salt-run jobs.list_jobs search_function=cmd.run --out=json >/dev/null; for j in $(salt-run jobs.list_jobs search_function=cmd.run --out=json | grep -oE "[0-9]{20}"); do salt-run jobs.lookup_jid $j; done | grep -q "the job has come to its end"'
    until_it 60 sh -c '[ "$(systemctl show -P MainPID salt-minion)" != '"$minion"' ] && systemctl is-active salt-minion'
    [ "$(pid_of salt-master)" != "$master" ]
    [ "$(it journalctl --no-pager -o cat -u salt-master --grep '^Started' | wc -l)" -eq 2 ]
    [ "$(it dpkg-query -W -f '${Version}' halite-minion)" = "$(dpkg-deb -f "$new"/halite-minion_*.deb Version)" ]
    started
    it salt web1 test.ping
}

@test "an upgrade waits for a job that runs, and does not end it" {
    local minion
    minion=$(pid_of salt-minion)
    mark
    it mkfifo /run/gate
    it salt web1 cmd.run 'read word </run/gate; echo the gate says $word' --async
    until_it 30 sh -c 'ls /var/cache/salt/minion/spool/*.run'
    sh_ 'apt-get install -y --reinstall --no-install-recommends /pkg/new/halite-minion_*.deb' >&2
    [ "$(pid_of salt-minion)" = "$minion" ]
    unit halite-restart
    sh_ 'echo open >/run/gate'
    until_it 60 sh -c '[ "$(systemctl show -P MainPID salt-minion)" != '"$minion"' ] && systemctl is-active salt-minion'
    started
    until_it 30 sh -c 'for j in $(salt-run jobs.list_jobs search_function=cmd.run --out=json | grep -oE "[0-9]{20}"); do salt-run jobs.lookup_jid $j; done | grep -q "the gate says open"'
}

@test "after a reboot both are up, with their keys and jobs" {
    local jobs
    jobs=$(it salt-run jobs.list_jobs --out=json | grep -c StartTime)
    mark
    "$ROOT_SH" reboot "$HANDLE"
    unit salt-master
    unit salt-minion
    started
    it salt web1 test.ping
    [ "$(it salt-run jobs.list_jobs --out=json | grep -c StartTime)" -ge "$jobs" ]
}

@test "what the minion keeps of its schedule and beacons is in files of its own" {
    it salt web1 schedule.add tick function=test.ping seconds=3600 >&2
    it salt web1 beacons.add load '[{averages: {1m: [0, 9]}}]' >&2
    it salt web1 beacons.save >&2
    sh_ 'test -s /etc/salt/minion.d/_schedule.conf; test -s /etc/salt/minion.d/beacons.conf'
}

@test "removed: stopped, and configuration, keys and store stay" {
    it apt-get remove -y halite-master halite-minion >&2
    [ -z "$(it pgrep -x 'salt-(master|minion)' || :)" ]
    sh_ 'for f in /etc/salt/master /etc/salt/minion /etc/salt/pki/master/minions/web1 /etc/salt/pki/minion /var/cache/salt/master /var/log/salt/audit; do [ -e $f ]; done'
}

@test "installed again: the same keys, the same jobs" {
    mark
    sh_ 'apt-get install -y --no-install-recommends /pkg/new/*.deb' >&2
    started
    it salt web1 test.ping
    it salt-run jobs.list_jobs search_function=state.apply --out=json | grep -q StartTime
}

@test "purged: nothing of theirs is left but what somebody wrote into /etc/salt" {
    it apt-get purge -y halite-master halite-minion halite-common >&2
    run it find /etc/salt /var/cache/salt /var/lib/salt /var/log/salt /etc/logrotate.d /usr/lib/halite /usr/share/doc/halite -name '*salt*' -o -path '*/salt/*' -type f -o -path '*halite*' -type f
    [ "$(grep '^/' <<<"$output" | sort)" = "/etc/salt
/etc/salt/master.d/log.conf
/etc/salt/master.d/walk.conf
/etc/salt/minion.d/walk.conf" ] || { echo "$output" && false; }
    run it systemctl is-enabled salt-master
    [ "$status" -ne 0 ]
}

@test "what is done to the devices of the root is done to none of this machine's" {
    it chown root:tty /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty
    it chmod 0620 /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty
    diff "$BATS_FILE_TMPDIR/devices" <(devices)
}

@test "the root ends, and nothing of it is left on this machine" {
    local group
    group=$(cat "$HANDLE/group")
    "$ROOT_SH" down "$HANDLE"
    [ ! -e "$HANDLE" ]
    # A control group that is gone has no process, and mounts of others end with their processes.
    [ ! -e "$group" ]
    run grep -E "halite-root|/mnt/root" /proc/self/mounts
    [ -z "$output" ]
    diff "$BATS_FILE_TMPDIR/devices" <(devices)
}
