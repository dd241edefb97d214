#!/usr/bin/env bats
# 9100-install.bats - `make install` into a folder (DESTDIR), and `make uninstall`: programs of another Salt stay, and so does
# a configuration that somebody changed.

bats_require_minimum_version 1.5.0
load lib

setup() {
    halite_tmp
}

place() { # install|uninstall [VARIABLE=VALUE...]
    local what=$1
    shift
    (cd "$HALITE_SRC" && env BUILD="$BUILD" PREFIX=/usr SYSCONF=/etc/salt UNITS=/lib/systemd/system DESTDIR="$ROOT/to" "$@" \
        conf/package/install.sh "$what")
}
tree() { find "$ROOT/to" -type f 2>/dev/null | sort; }

@test "what install wrote, uninstall removes, and nothing else" {
    mkdir -p "$ROOT/to/usr/bin"
    echo mine >"$ROOT/to/usr/bin/other"
    place install
    for program in salt salt-call salt-cp salt-key salt-master salt-minion salt-run; do [ -x "$ROOT/to/usr/bin/$program" ]; done
    grep -q '^ExecStart=/usr/bin/salt-master ' "$ROOT/to/lib/systemd/system/salt-master.service"
    cmp "$ROOT/to/etc/salt/minion" "$HALITE_SRC/conf/minion"
    place install
    place uninstall
    [ "$(tree)" = "$ROOT/to/usr/bin/other" ]
    run place uninstall
    [ "$status" -eq 1 ]
    [[ $output == *"nothing is known to be installed"* ]]
}

@test "a configuration that somebody changed stays" {
    place install
    echo 'id: web1' >>"$ROOT/to/etc/salt/minion"
    echo 'interface: 127.0.0.1' >"$ROOT/to/etc/salt/master.d/mine.conf"
    place install
    grep -q '^id: web1' "$ROOT/to/etc/salt/minion"
    run place uninstall
    [[ $output == *"/etc/salt/minion was changed, and stays"* ]]
    [ "$(tree)" = "$ROOT/to/etc/salt/master.d/mine.conf
$ROOT/to/etc/salt/minion" ]
}

@test "another Salt's program is not written over, but by FORCE=1" {
    mkdir -p "$ROOT/to/usr/bin"
    printf '#!/usr/bin/python3\nfrom salt.scripts import salt_master\n' >"$ROOT/to/usr/bin/salt-master"
    run place install
    [ "$status" -eq 1 ]
    [[ $output == *"/usr/bin/salt-master is not Halite's"*"FORCE=1"* ]]
    [ "$(tree)" = "$ROOT/to/usr/bin/salt-master" ]
    place install FORCE=1
    cmp "$ROOT/to/usr/bin/salt-master" "$HALITE_BIN/salt-master"
}

@test "another prefix is a tree of its own: no word in it names a place of Salt's" {
    place install PREFIX=/opt/halite SYSCONF=/opt/halite/etc/salt
    [ -z "$(find "$ROOT/to" -type f ! -path "$ROOT/to/opt/halite/*" ! -name 'halite-*')" ]
    grep -qx 'root_dir: /opt/halite' "$ROOT/to/opt/halite/etc/salt/master"
    run grep -rnE '(^|[^a-z])/(etc/salt|var/|run/|usr/)|[ =/]salt-(master|minion|api)\.service|=salt$' \
        "$ROOT/to/lib/systemd/system" "$ROOT/to/etc" "$ROOT/to/opt/halite/lib/halite/restart-after-jobs"
    echo "$output"
    [ -z "$(grep -v ':#' <<<"$output")" ]
    # What the units would have made for the two that are not root.
    local folder
    for folder in $(sed -n 's/.*--pid-file=\(.*\)\/[^/]*$/\1/p' "$ROOT"/to/lib/systemd/system/halite-*.service); do
        grep -qE "^d $folder +0755 " "$ROOT"/to/etc/tmpfiles.d/*.conf
    done
    place uninstall PREFIX=/opt/halite SYSCONF=/opt/halite/etc/salt
    [ -z "$(tree)" ]
}

@test "the pages of docs/ are installed, with links that lead somewhere, and are removed" {
    local docs=$ROOT/to/usr/share/doc/halite page link
    place install
    [ -e "$docs/docs/backup.md" ]
    for page in "$HALITE_SRC"/docs/*.md; do
        cmp "$page" "$docs/docs/${page##*/}"
        while read -r link; do
            [ -e "$docs/docs/$link" ] || { echo "$page: $link is not installed" && false; } >&2
        done < <(grep -oE '\]\([^)#:]+' "$page" | sed 's/^](//' || :)
    done
    place uninstall
    [ ! -e "$docs" ]
}

# Where a firewall's own tool is here, it reads the files as well: tests/installed/salts.bats has them in any case.
@test "firewalld's service and ufw's profile name the ports that the master listens at" {
    place install
    /usr/bin/python3 - "$ROOT/to" "$HALITE_SRC/conf/master" <<'EOF'
import configparser, re, sys, xml.etree.ElementTree as xml
root, sample = sys.argv[1:]
ports = sorted(re.findall(r'^#(?:publish|ret|hello)_port: (\d+)$', open(sample).read(), re.M))
assert len(ports) == 3, ports
service = xml.parse(root + '/usr/lib/firewalld/services/halite-master.xml').getroot()
assert service.tag == 'service' and [e.tag for e in service] == ['short', 'description', 'port', 'port', 'port']
assert all(set(e.attrib) == {'port', 'protocol'} and e.get('protocol') == 'tcp' for e in service.iter('port'))
assert sorted(e.get('port') for e in service.iter('port')) == ports
profile = configparser.RawConfigParser()
profile.read(root + '/etc/ufw/applications.d/halite-master')
(name,) = profile.sections()
assert set(profile[name]) == {'title', 'description', 'ports'}
assert profile[name]['ports'] == f'{ports[0]}:{ports[2]}/tcp' and int(ports[2]) == int(ports[0]) + 2
EOF
}

@test "a library that is loaded when it is used is named by a package that recommends or suggests it" {
    local soname name
    while read -r soname; do
        name=${soname%.so.*}
        case $soname in
        libmysqlclient.*) continue ;; # Debian has MariaDB's
        libcrypto.so.3) name=libssl3 ;;
        libcurl-gnutls.so.4) name=libcurl3-gnutls ;;
        libpam.so.0) name=libpam0g ;;
        *[0-9].so.*) name=$name-${soname##*.} ;;
        *) name=$name${soname##*.} ;;
        esac
        grep -E '^(Recommends|Suggests):' "$HALITE_SRC/conf/package/debian/control" | grep -qE "[ |]$name(,| |\$)" ||
            { echo "$soname: no package recommends or suggests $name" && false; } >&2
    done < <(grep -rhoE '"lib[a-z0-9.+-]+\.so\.[0-9]+"' "$HALITE_SRC/src" --include='*.c' | tr -d '"' | sort -u)
}

@test "deps.sh installs what dpkg knows by name alone, and asks for nothing that is there" {
    mkdir "$ROOT/bin"
    printf '#!/bin/sh\neval "last=\\${$#}"\ncase $last in make) echo not-installed ;; git) exit 1 ;; *) echo installed ;; esac\n' >"$ROOT/bin/dpkg-query"
    printf '#!/bin/sh\necho "apt-get $*"\n' >"$ROOT/bin/apt-get"
    printf '#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n' >"$ROOT/bin/sudo"
    chmod 0755 "$ROOT"/bin/*
    run env PATH="$ROOT/bin:$PATH" "$HALITE_SRC/tests/lib/deps.sh" build
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = 'apt-get install -y -q --no-install-recommends make git' ]
}
