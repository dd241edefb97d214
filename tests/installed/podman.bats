#!/usr/bin/env bats
# podman.bats - the module `docker` and its states on podman's socket in a booted Debian, with the package's salt-call: images of a
# tar file, real containers (runc), networks (netavark) and volumes: `make test-installed`. podman.json has the steps; what Salt 3006
# with docker-py answered to them on the same podman is in those without "ours". No registry is asked. Each test goes on where
# the one before it ended.
#
# podman keeps whole copies of images here (vfs), as the root is an overlay already, and runs containers by runc: crun wants to
# lift a limit of locked memory, which needs a capability that a sandboxed machine may lack.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local folder new=${HALITE_DEBS:?the folder of the packages}
    export HANDLE='' WHY=''
    WHY=$("$ROOT_SH" can) || return 0
    folder=$(named_root podman $(needs_of "$new") libcurl4 podman runc netavark iptables busybox-static)
    HANDLE=$("$ROOT_SH" up "$folder")
    "$ROOT_SH" in "$HANDLE" "$new"/halite-{common,minion}_*.deb /pkg
    "$ROOT_SH" in "$HANDLE" "$BATS_TEST_DIRNAME/steps.py" "$BATS_TEST_DIRNAME/podman.json" /steps
    put /etc/containers/storage.conf <<'END'
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
    put /etc/containers/containers.conf <<'END'
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
[containers]
pids_limit = 0
END
    # An image of one program under many names, and nothing of what podman tried with its defaults at boot.
    it sh -ec 'rm -rf /var/lib/containers/* /run/containers
        apt-get install -y --no-install-recommends /pkg/*.deb
        mkdir -p /srv/box/bin /srv/box/etc /srv/box/tmp
        cp /bin/busybox /srv/box/bin/
        for p in sh sleep cat echo ls tar env md5sum stat test chmod rm mkdir ip; do ln -s busybox "/srv/box/bin/$p"; done
        tar -C /srv/box -cf /srv/box.tar .
        systemctl reset-failed
        systemctl restart podman.socket' >&2
    run it podman run --rm --network none "$(it podman import -q /srv/box.tar localhost/try:1)" echo runs
    [[ ${lines[-1]} == runs ]] || { echo "$output" >&2 && WHY="podman runs no container here: ${lines[-1]}"; }
    it podman rmi -f localhost/try:1 >&2 || :
}
teardown_file() {
    [ ! -e "$HANDLE/group" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

steps() { it python3 /steps/steps.py salt-call /steps/podman.json "$@" >&2; }

@test "images: loaded of a file, tagged, saved, imported, removed" {
    steps images
}

@test "states of images" {
    steps 'image states'
}

@test "containers made, started, paused, stopped, removed; commands, files and scripts inside" {
    steps 'containers by functions'
}

@test "states of containers: a second run changes nothing" {
    steps 'container states'
}

@test "networks and volumes" {
    steps 'networks and volumes'
}
