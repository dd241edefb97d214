#!/usr/bin/env bats
# services.bats - the module and the states `service` on a booted systemd, with the package's salt-call: units started, stopped,
# enabled and masked, drop-ins, failed units, instances of templates, sockets and init scripts: `make test-installed`.
# services.json has the steps and what Salt 3006 answered to them in such a system; steps.py runs them. Each test goes on where the one
# before it ended.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local folder new=${HALITE_DEBS:?the folder of the packages}
    export HANDLE='' WHY=''
    WHY=$("$ROOT_SH" can) || return 0
    mapfile -t needs < <(needs_of "$new")
    folder=$("$ROOT_SH" make "${HALITE_SUITE:-bookworm}" "${needs[@]}")
    HANDLE=$("$ROOT_SH" up "$folder")
    "$ROOT_SH" in "$HANDLE" "$new"/halite-{common,master,minion}_*.deb /pkg
    "$ROOT_SH" in "$HANDLE" "$BATS_TEST_DIRNAME/steps.py" "$BATS_TEST_DIRNAME/services.json" /steps
    printf 'id: web1\nmaster: 127.0.0.1\n' | put /etc/salt/minion.d/here.conf
    put /etc/salt/master.d/here.conf <<<'auto_accept: True'
    sh_ 'apt-get install -y --no-install-recommends /pkg/*.deb' >&2
}
teardown_file() {
    [ ! -e "$HANDLE/group" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

steps() { it python3 /steps/steps.py salt-call /steps/services.json "$@" >&2; }

@test "a unit, started, reloaded, restarted and stopped by functions" {
    steps 'a unit, started and stopped by functions'
}

@test "at boot, by functions; in the files of another root" {
    steps 'at boot, by functions'
}

@test "masks for good and until the next boot, by functions" {
    steps 'masks, by functions'
}

@test "running, dead, enabled, disabled: in test mode, for real and again" {
    steps 'states in test mode, for real and again'
}

@test "what the states say of masked units" {
    steps 'masked units and states'
}

@test "drop-ins and unit files that changed: systemd reads them before it acts" {
    steps 'drop-ins'
}

@test "failed units, and such as can't be started or stopped" {
    steps 'failed units'
}

@test "instances of a template, init scripts" {
    steps 'instances of a template, init scripts'
}

@test "sockets and timers" {
    steps 'sockets and timers'
}

@test "watch with restart, reload, force-reload and full_restart" {
    steps 'watch, reload and full_restart'
}

@test "by the minion: its own service is masked, unmasked and restarted, and the job returns" {
    local before
    until_it 60 salt web1 test.ping
    it salt web1 service.mask salt-minion runtime=True --out=newline_values_only | grep -qx True
    run it salt web1 service.restart salt-minion
    [[ $output == *"Unit salt-minion.service is masked."* ]]
    it salt web1 service.unmask salt-minion runtime=True
    before=$(it systemctl show -P MainPID salt-minion)
    it salt web1 service.restart salt-minion --out=newline_values_only | grep -qx True
    [ "$(it systemctl show -P MainPID salt-minion)" != "$before" ]
    until_it 60 salt web1 test.ping
}

@test "by the minion: a drop-in of a state restarts the master that it is for, which answers again" {
    local before
    put /srv/salt/limits.sls <<'END'
/etc/systemd/system/salt-master.service.d/limits.conf:
  file.managed:
    - makedirs: True
    - contents: |
        [Service]
        LimitNOFILE=54321
# A unit that runs and gets its first drop-in: systemd does not tell by itself that it has to read it.
let systemd read it:
  module.run:
    - service.systemctl_reload: []
    - onchanges: [{file: /etc/systemd/system/salt-master.service.d/limits.conf}]
salt-master:
  service.running:
    - enable: True
    - require: [{module: let systemd read it}]
    - watch:
      - file: /etc/systemd/system/salt-master.service.d/limits.conf
END
    before=$(it systemctl show -P MainPID salt-master)
    it salt-call state.apply limits >&2
    [ "$(it systemctl show -P MainPID salt-master)" != "$before" ]
    [ "$(it systemctl show -P LimitNOFILE salt-master)" = 54321 ]
    unit salt-master
    until_it 60 salt web1 test.ping
}
