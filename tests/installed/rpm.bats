#!/usr/bin/env bats
# rpm.bats - the RPM packages: what is in them, and their scripts in a booted system, from the first installation to the removal:
# `make test-installed`. HALITE_RPMS: their folder. The system is a Debian with rpm, as no archive of an RPM system may be in reach:
# its libraries are not known to rpm, hence --nodeps. Each test goes on where the one before it ended.

bats_require_minimum_version 1.5.0

load booted
RPMS=${HALITE_RPMS:?the folder of the packages}

setup_file() {
    local folder why
    export HANDLE='' WHY=''
    command -v rpmbuild >/dev/null || { WHY='rpmbuild is not installed' && return 0; }
    why=$("$ROOT_SH" can) || { WHY=$why && return 0; }
    # A package that is not to be there with Halite's.
    printf '%s\n' 'Name: salt-minion' 'Version: 3006.9' 'Release: 1' 'Summary: a mock' 'License: none' 'BuildArch: noarch' \
        '%description' 'a mock' '%files' >"$BATS_FILE_TMPDIR/mock.spec"
    rpmbuild --quiet -bb --define "_topdir $BATS_FILE_TMPDIR/mock" "$BATS_FILE_TMPDIR/mock.spec"
    mapfile -t needs < <(needs_of "${HALITE_DEBS:?the folder of the Debian packages}")
    folder=$(named_root rpm rpm "${needs[@]}")
    HANDLE=$("$ROOT_SH" up "$folder")
    "$ROOT_SH" in "$HANDLE" "$RPMS"/halite-{common,master,minion}-[0-9]*.rpm /pkg/new
    "$ROOT_SH" in "$HANDLE" "$BATS_FILE_TMPDIR"/mock/RPMS/noarch/*.rpm /pkg/mock
}
teardown_file() {
    [ -z "$HANDLE" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

asked() { rpm -qp "$@" 2>/dev/null; }
package() { echo "$RPMS/halite-$1"-[0-9]*.rpm; }
pid_of() { it systemctl show -P MainPID "$1"; }
# The minion of the system is connected to its master.
connected() { until_it 30 sh -c 'salt-run manage.up --out=json | grep -q web1'; }

@test "the packages are split as Debian's are: each has the same files" {
    local name
    for name in common master minion; do
        asked --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$(package "$name")" |
            sed -nE 's/^-[^ ]* //; s|/zsh/site-functions|/zsh/vendor-completions|; \|/licenses/|d; \|/.build-id/|d; \|^/|p' | sort >"$BATS_TEST_TMPDIR/rpm"
        dpkg-deb --fsys-tarfile "$HALITE_DEBS"/halite-"$name"_*.deb | tar -t |
            sed -E '\|/$|d; s|^\./|/|; s|^/lib/systemd|/usr/lib/systemd|; \|/doc/halite-|d' | sort >"$BATS_TEST_TMPDIR/deb"
        diff "$BATS_TEST_TMPDIR/deb" "$BATS_TEST_TMPDIR/rpm" >&2
    done
}

@test "configurations are kept, and only the packages of Salt's daemons are refused" {
    [ "$(asked --configfiles "$(package minion)")" = "/etc/logrotate.d/salt-minion
/etc/salt/minion" ]
    # 1: a configuration, 16: noreplace
    [ -z "$(asked --qf '[%{FILENAMES} %{FILEFLAGS}\n]' "$(package master)" | awk '/^\/etc\// && $1 !~ /salt(\/master\.d)?$/ && $2 != 17')" ]
    [ "$(asked --conflicts "$(package master)")" = salt-master ]
    [ "$(asked --conflicts "$(package minion)")" = salt-minion ]
    [ -z "$(asked --conflicts --obsoletes "$(package common)")" ]
    [ -z "$(asked --obsoletes "$(package master)" "$(package minion)")" ]
}

@test "programs are stripped, and their debug symbols are packages of their own" {
    local name
    for name in master minion; do
        mkdir "$BATS_TEST_TMPDIR/$name"
        rpm2cpio "$(package "$name")" | (cd "$BATS_TEST_TMPDIR/$name" && cpio -id --quiet)
        [ -z "$(readelf -S "$BATS_TEST_TMPDIR/$name/usr/bin/salt-$name" | grep -E '\.debug_info|\.symtab')" ]
        readelf -S "$BATS_TEST_TMPDIR/$name/usr/bin/salt-$name" | grep -q '\.gnu_debuglink'
        asked -l "$(package "$name-debuginfo")" | grep -q "/usr/lib/debug/usr/bin/salt-$name.*\.debug$"
    done
}

@test "the first installation makes the master's user and folders, and nothing is amiss" {
    put /etc/salt/minion.d/walk.conf <<'END'
id: web1
master: 127.0.0.1
END
    sh_ 'rpm --nodeps -i /pkg/new/*.rpm' >&2
    sh_ 'rpm -V --nodeps halite-common halite-master halite-minion'
    [ "$(it stat -c '%U %a' /etc/salt/pki/master)" = 'salt 700' ]
    it systemctl start salt-master salt-minion
    unit salt-master
    unit salt-minion
    [ "$(it stat -c %U "/proc/$(pid_of salt-master)")" = salt ]
    until_it 30 sh -c 'salt-key -l pre --out=newline_values_only | grep -qx web1'
    it salt-key -y -a web1
    connected
}

@test "Salt's own package of a daemon is refused beside it" {
    run sh_ 'rpm -i --test /pkg/mock/*.rpm'
    [ "$status" -ne 0 ]
    [[ $output == *"salt-minion conflicts with"*"halite-minion"* ]]
}

@test "an upgrade restarts the master once, and the minion after its running job; a changed configuration stays" {
    local minion master
    minion=$(pid_of salt-minion) master=$(pid_of salt-master)
    sh_ 'echo "# mine" >>/etc/salt/minion; mkfifo /run/gate'
    it salt web1 cmd.run 'read word </run/gate; echo the gate says $word' --async
    until_it 30 sh -c 'ls /var/cache/salt/minion/spool/*.run'
    sh_ 'rpm --nodeps -U --force /pkg/new/*.rpm' >&2
    unit salt-master
    [ "$(pid_of salt-master)" != "$master" ]
    [ "$(it journalctl --no-pager -o cat -u salt-master --grep '^Started' | wc -l)" -eq 2 ]
    [ "$(pid_of salt-minion)" = "$minion" ]
    unit halite-restart
    sh_ 'echo open >/run/gate'
    until_it 60 sh -c '[ "$(systemctl show -P MainPID salt-minion)" != '"$minion"' ] && systemctl is-active salt-minion'
    it grep -qx '# mine' /etc/salt/minion
    connected
    until_it 30 sh -c 'for j in $(salt-run jobs.list_jobs search_function=cmd.run --out=json | grep -oE "[0-9]{20}"); do salt-run jobs.lookup_jid $j; done | grep -q "the gate says open"'
}

@test "removed: stopped; configuration that somebody wrote, keys, store and logs stay for the next installation" {
    it rpm -e halite-master halite-minion halite-common >&2
    [ -z "$(it pgrep -x 'salt-(master|minion)' || :)" ]
    it test ! -e /usr/bin/salt-master
    for kept in /etc/salt/minion /etc/salt/minion.d/walk.conf /etc/salt/pki/master/minions/web1 /etc/salt/pki/master/master.pem \
        /etc/salt/pki/minion/minion.pem /var/cache/salt/master/jobs.db /var/log/salt/audit; do it test -e "$kept"; done
    it grep -qx '# mine' /etc/salt/minion
    [ "$(it systemctl is-enabled salt-minion 2>&1 || :)" != enabled ]
    sh_ 'rpm --nodeps -i /pkg/new/*.rpm && systemctl start salt-master salt-minion' >&2
    it grep -qx '# mine' /etc/salt/minion
    connected
    it salt web1 test.ping
}
