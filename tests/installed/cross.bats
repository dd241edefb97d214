#!/usr/bin/env bats
# cross.bats - `make deb DEB_HOST_ARCH=arm64` in a Debian that has arm64's compiler and libraries: this machine gets neither.
# `make test-installed`. HALITE_CROSS: the architecture; the build takes a quarter of an hour, and is left out when it is empty.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local needs
    export WHY='' FOLDER='' ARCH=${HALITE_CROSS-arm64}
    [ -n "$ARCH" ] || { WHY='HALITE_CROSS names no architecture' && return 0; }
    WHY=$("$ROOT_SH" can) || return 0
    # What the packages' build depends on, of the other architecture.
    mapfile -t needs < <(sed -n '/^Build-Depends/,/^Standards/p' "$HALITE_SRC/conf/package/debian/control" | sed '$d; s/^Build-Depends://' |
        tr ',' '\n' | sed -E "s/ *[(<].*//; s/ //g; /^(debhelper-compat|qemu-user-static|)$/d; s/$/:$ARCH/")
    FOLDER=$(named_root "cross-$ARCH" build-essential debhelper dpkg-dev fakeroot lintian make git "crossbuild-essential-$ARCH" qemu-user-static "${needs[@]}")
    mkdir "$BATS_FILE_TMPDIR/deb"
    (cd "$HALITE_SRC" && git ls-files -zco --exclude-standard | tar --null -T - -c) |
        "$ROOT_SH" fresh "$FOLDER" sh -ec 'mkdir /src && tar --no-same-owner -C /src -x && cd /src
            make deb DEB_HOST_ARCH='"$ARCH"' >&2; tar -C build/deb -c .' 2>"$BATS_FILE_TMPDIR/said" |
        tar --no-same-owner -C "$BATS_FILE_TMPDIR/deb" -x || { tail -n 50 "$BATS_FILE_TMPDIR/said" >&2 && return 1; }
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

@test "the packages and their debug symbols, of the architecture" {
    local name
    for name in halite-{common,master,api,minion}{,-dbgsym}; do
        [ "$(dpkg-deb -f "$BATS_FILE_TMPDIR/deb/${name}"_*_"$ARCH.deb" Architecture)" = "$ARCH" ]
    done
    dpkg-deb -f "$BATS_FILE_TMPDIR"/deb/halite-minion_*.deb Depends | grep -q 'libc6 (>= '
    # Pages are printed by a program of the build.
    dpkg-deb -c "$BATS_FILE_TMPDIR"/deb/halite-minion_*_"$ARCH.deb" | grep -q '/usr/share/man/man8/salt-minion\.8\.gz'
}

@test "the programs are of the architecture, hardened as this machine's, and run" {
    local program machine
    for name in master minion; do dpkg-deb -x "$BATS_FILE_TMPDIR"/deb/halite-"$name"_*_"$ARCH.deb" "$BATS_TEST_TMPDIR/tree"; done
    case $ARCH in arm64) machine=AArch64 cpu=aarch64 ;; *) machine=$ARCH cpu=$ARCH ;; esac
    for program in salt salt-call salt-cp salt-key salt-master salt-minion salt-run; do
        readelf -h "$BATS_TEST_TMPDIR/tree/usr/bin/$program" | grep -q "Machine: *$machine"
        readelf -h "$BATS_TEST_TMPDIR/tree/usr/bin/$program" | grep -q 'Type: *DYN'
        readelf -d "$BATS_TEST_TMPDIR/tree/usr/bin/$program" | grep -q BIND_NOW
        tar -C "$BATS_TEST_TMPDIR/tree" -c "usr/bin/$program" |
            "$ROOT_SH" fresh "$FOLDER" sh -ec "tar -C /tmp -x; qemu-$cpu-static /tmp/usr/bin/$program --version" >"$BATS_TEST_TMPDIR/version"
        grep -qE "^$program [0-9.]+ \(Halite " "$BATS_TEST_TMPDIR/version"
    done
}
