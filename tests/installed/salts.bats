#!/usr/bin/env bats
# salts.bats - the Debian packages over those of Salt's daemons, and their removal: `make test-installed`. Salt's are mock packages
# with the names, relations, places and scripts of Salt's own that matter here, and
# BUILD has the programs for `make install`. Each test goes on where the one before it ended.

bats_require_minimum_version 1.5.0

load booted
NEW=${HALITE_DEBS:?the folder of the packages}
SALT=3006.9

# mock NAME RELATIONS CONFFILE PROGRAM...: a package of Salt's.
mock() {
    local tree=$BATS_FILE_TMPDIR/tree name=$1 relations=$2 conffile=$3 program
    shift 3
    mkdir -p "$tree"/{DEBIAN,usr/bin,etc/salt,opt/saltstack/salt}
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\n%sDescription: a mock of %s\n' \
        "$name" "$SALT" "${relations:+$relations
}" "$name" >"$tree/DEBIAN/control"
    for program; do printf '#!/bin/sh\necho "%s %s (Sulfur)"\n' "$program" "$SALT" >"$tree/usr/bin/$program"; done
    chmod 0755 "$tree"/usr/bin/* 2>/dev/null || :
    [ -z "$conffile" ] || { echo "# Salt's sample of $conffile" >"$tree/etc/salt/$conffile" && echo "/etc/salt/$conffile" >"$tree/DEBIAN/conffiles"; }
    case $name in
    salt-common)
        mkdir -p "$tree/usr/share/bash-completion/completions" && echo : >"$tree/usr/share/bash-completion/completions/salt"
        echo 'the library' >"$tree/opt/saltstack/salt/library"
        ;;
    *)
        mkdir -p "$tree/lib/systemd/system"
        printf '[Service]\nExecStart=/usr/bin/tail -f /dev/null\n[Install]\nWantedBy=multi-user.target\n' >"$tree/lib/systemd/system/$name.service"
        printf '#!/bin/sh\nsystemctl daemon-reload && systemctl enable --now %s\n' "$name" >"$tree/DEBIAN/postinst"
        printf '#!/bin/sh\nsystemctl stop %s\n' "$name" >"$tree/DEBIAN/prerm"
        chmod 0755 "$tree"/DEBIAN/p*
        ;;
    esac
    dpkg-deb -Znone -b "$tree" "$BATS_FILE_TMPDIR/mock" >/dev/null
    rm -r "$tree"
}

setup_file() {
    local why
    export HANDLE='' WHY=''
    why=$("$ROOT_SH" can) || { WHY=$why && return 0; }
    mkdir "$BATS_FILE_TMPDIR/mock"
    mock salt-common '' '' salt-call
    mock salt-master "Depends: salt-common (= $SALT)" master salt salt-cp salt-key salt-master salt-run
    mock salt-minion "Depends: salt-common (= $SALT)" minion salt-minion
    mapfile -t needs < <(needs_of "$NEW")
    folder=$("$ROOT_SH" make "${HALITE_SUITE:-bookworm}" "${needs[@]}")
    HANDLE=$("$ROOT_SH" up "$folder")
    "$ROOT_SH" in "$HANDLE" "$BATS_FILE_TMPDIR"/mock/*.deb /pkg/mock
    "$ROOT_SH" in "$HANDLE" "$NEW"/halite-{common,master,minion}_*.deb /pkg/new
}
teardown_file() {
    [ -z "$HANDLE" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

version_of() { it dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null || echo none; }
is_halite() { it "$1" --version | grep -q '(Halite '; }

@test "make install writes over no package of Salt's, but by FORCE=1" {
    sh_ 'apt-get install -y --no-install-recommends /pkg/mock/*.deb' >&2
    unit salt-master
    unit salt-minion
    (cd "$HALITE_SRC" && git ls-files -z conf docs srv src/pyhost/salt '*.md' | tar --null -T - -c) | "$ROOT_SH" run "$HANDLE" sh -c 'mkdir /src && tar --no-same-owner -C /src -x'
    "$ROOT_SH" in "$HANDLE" "$BUILD/bin" "$BUILD/python" /src/build
    run sh_ 'cd /src && BUILD=build PREFIX=/usr SYSCONF=/etc/salt UNITS=/lib/systemd/system conf/package/install.sh install'
    [ "$status" -eq 1 ]
    [[ $output == *"/usr/bin/salt belongs to the package salt-master"*"nothing was written"*"FORCE=1"* ]]
    [ -z "$(it find /usr/share/doc/halite /usr/lib/halite 2>/dev/null || :)" ]
    not is_halite salt-minion
    # A tree of its own beside them is nobody's.
    sh_ 'cd /src && for what in install uninstall; do BUILD=build PREFIX=/opt/halite SYSCONF=/opt/halite/etc/salt UNITS=/lib/systemd/system conf/package/install.sh $what; done'
    not is_halite salt-minion
    sh_ 'cd /src && BUILD=build PREFIX=/usr SYSCONF=/etc/salt UNITS=/lib/systemd/system FORCE=1 conf/package/install.sh install'
    is_halite salt-minion
    sh_ 'cd /src && BUILD=build PREFIX=/usr SYSCONF=/etc/salt UNITS=/lib/systemd/system conf/package/install.sh uninstall
        apt-get install -y --reinstall /pkg/mock/*.deb' >&2
    not is_halite salt-minion
}

@test "the packages replace those of Salt's daemons; salt-common stays as a library, a changed configuration too" {
    sh_ 'echo "id: web1" >>/etc/salt/minion; echo "master: 127.0.0.1" >>/etc/salt/minion
        apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold /pkg/new/*.deb' >&2
    [[ $(version_of salt-master) != installed* ]]
    [[ $(version_of salt-minion) != installed* ]]
    [ "$(version_of salt-common)" = "installed $SALT" ]
    it test -e /opt/saltstack/salt/library
    for program in salt salt-cp salt-key salt-master salt-run salt-minion salt-call; do is_halite "$program"; done
    unit salt-master
    unit salt-minion
    sh_ 'readlink /proc/$(systemctl show -P MainPID salt-minion)/exe | grep -qx /usr/bin/salt-minion'
    it grep -qx 'id: web1' /etc/salt/minion
    [ -z "$(it dpkg --audit)" ]
}

@test "Salt's packages of the daemons are refused beside them, and purging their remains takes nothing of Halite's" {
    run it dpkg -i "/pkg/mock/salt-minion_${SALT}_all.deb"
    [ "$status" -ne 0 ]
    [[ $output == *"conflicting packages"* ]]
    is_halite salt-minion
    it dpkg --purge salt-master salt-minion >&2 || :
    sh_ 'test -e /etc/salt/master; grep -qx "id: web1" /etc/salt/minion; systemctl is-active salt-master salt-minion'
}

@test "salt-common goes without anything of Halite's" {
    it apt-get purge -y salt-common >&2
    for program in salt-call salt-minion salt; do is_halite "$program"; done
    it test -e /usr/share/bash-completion/completions/salt
}

@test "removed: stopped; configuration, keys, store and logs stay" {
    until_it 30 sh -c 'salt-key -l pre --out=newline_values_only | grep -qx web1'
    it salt-key -y -a web1
    sh_ 'find /etc/salt /var/cache/salt/master/jobs.db /var/log/salt -type f | sort >/before'
    it dpkg --remove halite-master halite-minion halite-common >&2
    [ -z "$(it pgrep -x 'salt-(master|minion)' || :)" ]
    it test ! -e /usr/bin/salt-master
    for kept in /etc/salt/master /etc/salt/minion /etc/salt/pki/master/minions/web1 /etc/salt/pki/master/master.pem \
        /etc/salt/pki/minion/minion.pem /var/cache/salt/master/jobs.db /var/log/salt/audit; do it test -e "$kept"; done
    sh_ 'find /etc/salt /var/cache/salt/master/jobs.db /var/log/salt -type f | sort | diff /before -'
}

@test "purged: configuration, keys, store and logs go, but not what somebody else has put beside them" {
    put /etc/salt/master.d/mine.conf <<<'interface: "::"'
    it dpkg --purge halite-master halite-minion halite-common >&2
    [ "$(sh_ 'find /etc/salt /var/cache/salt /var/lib/salt /var/log/salt /usr/lib/halite /usr/share/doc/halite /etc/ufw/applications.d \
        /etc/logrotate.d -type f -a \( -path "*salt*" -o -name "*halite*" \) 2>/dev/null || :')" = /etc/salt/master.d/mine.conf ]
    [ "$(version_of halite-master)" = none ]
}
