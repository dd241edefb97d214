#!/usr/bin/env bats
# firewall.bats - firewalld and ufw themselves read the ports' names: `make test-installed`.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local why
    export FOLDER='' WHY=''
    why=$("$ROOT_SH" can) || { WHY=$why && return 0; }
    FOLDER=$(named_root firewall firewalld ufw)
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}
# In the folder, with Halite's two files where its packages put them.
with_files() { # COMMAND
    local files=conf/package/firewalld/halite-master.xml:usr/lib/firewalld/services/ to=$BATS_TEST_TMPDIR/files f
    for f in "$files" conf/package/ufw/halite-master:etc/ufw/applications.d/; do install -D -t "$to/${f#*:}" "$HALITE_SRC/${f%%:*}"; done
    tar -C "$to" -c . | "$ROOT_SH" fresh "$FOLDER" sh -ec "tar --no-same-owner --no-overwrite-dir -C / -x; $1"
}

@test "firewalld's own check passes, and the service can be let in" {
    run with_files 'firewall-offline-cmd --check-config; firewall-offline-cmd --info-service=halite-master
        firewall-offline-cmd --add-service=halite-master; firewall-offline-cmd --list-services'
    echo "$output"
    [ "$status" -eq 0 ]
    grep -qE '^ +ports: 4505/tcp 4506/tcp 4507/tcp$' <<<"$output"
    grep -qE '(^| )halite-master( |$)' <<<"${lines[-1]}"
}

@test "ufw lists the profile with its ports" {
    run with_files "ufw app info 'Halite master'"
    echo "$output"
    [ "$status" -eq 0 ]
    grep -qx '  4505:4507/tcp' <<<"$output"
}
