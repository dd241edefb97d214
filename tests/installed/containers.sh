#!/bin/bash
# containers.sh - what containers.bats runs inside a Debian with buildah, the sources and base.tar on standard input: builds the
# images and runs them. A line "@@ NAME" begins what each step says.
set -euo pipefail

say() { echo "@@ $*"; }
outcome() { if "$@" >/dev/null 2>&1; then echo passed; else echo failed; fi; }
# until_true SECONDS COMMAND...
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { echo "waited in vain for: $*"; "$@" || return 1; }
        read -rt 0.2 <> <(:) || :
    done
}
in_image() { buildah run --isolation chroot "$@"; }
# The health check of an image, as its recipe says it.
health() { # CONTAINER
    local words
    mapfile -t words < <(buildah inspect --type container --format '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}' "$1" | sed '/^$/d')
    case ${words[0]} in
    CMD) in_image "$1" -- "${words[@]:1}" ;;
    CMD-SHELL) in_image "$1" -- sh -c "${words[*]:1}" ;;
    esac
}

build() {
    mkdir -p /src /var/lib/containers
    mount -t tmpfs tmpfs /var/lib/containers
    mount -t tmpfs tmpfs /var/tmp
    tar --no-same-owner -C /src -x
    cd /src
    say build
    scratch=$(buildah from scratch)
    buildah add -q "$scratch" base.tar /
    buildah commit -q "$scratch" localhost/debian:base
    buildah rm "$scratch" >/dev/null
    rm base.tar
    for side in master minion; do
        buildah bud --isolation chroot --format docker --layers --build-arg BASE=localhost/debian:base -f conf/package/Containerfile \
            --target "$side" -t "halite-$side" . </dev/null
    done
    # What the images' programs listen at is none of this machine's.
    exec unshare --net bash tests/installed/containers.sh run
}

# ---- run, without a network but a loopback -----------------------------------------------------------------------------

[ "${1:-}" = run ] || build
ip link set lo up
master=$(buildah from halite-master)
minion=$(buildah from halite-minion)

say 'master image'
config() { buildah inspect --type image --format "$1" halite-master | xargs; }
config '{{.Docker.Config.User}}'
config '{{range $path, $_ := .Docker.Config.Volumes}}{{$path}} {{end}}'
config '{{range $port, $_ := .Docker.Config.ExposedPorts}}{{$port}} {{end}}'
config '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}'
in_image "$master" -- sh -c 'command -v gcc || command -v make || echo no compiler'

say 'master is unhealthy'
outcome health "$master"
say 'minion is unhealthy'
outcome health "$minion"

printf 'id: web1\nmaster: 127.0.0.1\n' >/tmp/minion.conf
buildah copy -q "$minion" /tmp/minion.conf /etc/salt/minion.d/web1.conf
cat >/tmp/master.conf <<'END'
external_auth: {sharedsecret: {ann: ['test.*']}}
sharedsecret: a-secret-of-twenty-and-more
event_return: rawfile_json
event_return_whitelist: ['engine/*']
rawfile_json.filename: /var/log/salt/events
engines: [{script: {cmd: 'cat /etc/salt/master.d/lines', interval: 1, onchange: True}}]
END
echo '{"tag": "engine/told", "data": {}}' >/tmp/lines
buildah copy -q "$master" /tmp/master.conf /etc/salt/master.d/here.conf
buildah copy -q "$master" /tmp/lines /etc/salt/master.d/lines
in_image "$master" -- salt-master --pid-file=/run/salt/master/salt-master.pid --log-level=info >/tmp/master.log 2>&1 &
say 'master is healthy'
until_true 30 health "$master"
outcome health "$master"
say 'master user'
ps -o uid= -C salt-master | sort -u | tr -d ' '
in_image "$minion" -- salt-minion --pid-file=/run/salt/minion/salt-minion.pid >/tmp/minion.log 2>&1 &
until_true 30 in_image "$master" -- sh -c 'salt-key -l pre --out=newline_values_only | grep -qx web1'
in_image "$master" -- salt-key -y -a web1 >/dev/null
say 'minion is healthy'
until_true 30 health "$minion"
outcome health "$minion"
say 'a job'
in_image "$master" -- salt web1 test.ping --out=txt
say 'a log-in'
in_image "$master" -- salt -a sharedsecret --username ann --password a-secret-of-twenty-and-more web1 test.ping --out=txt
say 'an event of an engine, kept by a follower'
until_true 30 in_image "$master" -- grep -o engine/told /var/log/salt/events
in_image "$master" -- grep -o engine/told /var/log/salt/events
say end
# Both end with the processes of this root.
