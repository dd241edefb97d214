#!/usr/bin/env bats
# containers.bats - conf/package/Containerfile is built by buildah in a Debian of its own, and both images run: `make test-installed`.
# The base image is the Debian that the tests have, so that no registry is asked; the packages come from the archive.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local folder base
    export WHY=''
    WHY=$("$ROOT_SH" can) || return 0
    base=$("$ROOT_SH" make "${HALITE_SUITE:-bookworm}")
    folder=$(named_root container buildah)
    tar -C "$base" -cf "$BATS_FILE_TMPDIR/base.tar" .
    (cd "$HALITE_SRC" && git ls-files -zco --exclude-standard | tar --null -T - -cf "$BATS_FILE_TMPDIR/all.tar")
    tar -C "$BATS_FILE_TMPDIR" -rf "$BATS_FILE_TMPDIR/all.tar" base.tar
    # All of it in one root, as nothing of that is kept; the tests look at what it said.
    "$ROOT_SH" fresh "$folder" bash -c "$(cat "$BATS_TEST_DIRNAME/containers.sh")" <"$BATS_FILE_TMPDIR/all.tar" >"$BATS_FILE_TMPDIR/said" 2>&1 ||
        { tail -n 40 "$BATS_FILE_TMPDIR/said" >&2 && return 1; }
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

# said NAME: what the step printed
said() { sed -n "/^@@ $1\$/,/^@@ /{/^@@ /d;p}" "$BATS_FILE_TMPDIR/said"; }

@test "the master's image: an ordinary user, volumes, ports, a health check; no compiler and nothing that only builds" {
    run said 'master image'
    echo "$output"
    [ "${lines[0]}" = '4505:4505' ]
    [ "${lines[1]}" = '/etc/salt/pki/master /var/cache/salt/master /var/lib/salt /var/log/salt' ]
    [ "${lines[2]}" = '4505/tcp 4506/tcp 4507/tcp' ]
    [ "${lines[3]}" = 'CMD salt-run --out=quiet manage.up' ]
    [ "${lines[4]}" = 'no compiler' ]
}

@test "before its master runs, the health check of the master's image fails; then it passes" {
    [ "$(said 'master is unhealthy')" = failed ]
    [ "$(said 'master is healthy' | tail -n 1)" = passed ]
    [ "$(said 'master user')" = 4505 ]
}

@test "the minion's image connects, is healthy, and does a job" {
    [ "$(said 'minion is unhealthy')" = failed ]
    [ "$(said 'minion is healthy' | tail -n 1)" = passed ]
    said 'a job' | grep -qx 'web1: True'
}

@test "the programs that the master starts are in its image: log-ins, engines, followers" {
    said 'a log-in' | grep -qx 'web1: True'
    said 'an event of an engine, kept by a follower' | grep -q engine/told
}
