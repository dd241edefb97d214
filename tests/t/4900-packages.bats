#!/usr/bin/env bats
# 4900-packages.bats - pkg.* and its states over dnf, zypper and pacman themselves: each in a copy of this system's files
# that only the test's processes see, with packages made on the spot. apk is not in Debian; its cases play it.
load lib

# root NAME COMMANDS: runs the commands in an overlay of the system, which is gone with the last of its processes.
in_root() {
    local dir="$BATS_TEST_TMPDIR/$1"
    mkdir -p "$dir"
    unshare -m bash -eu -c '
        mount --make-rprivate /
        mount -t tmpfs tmpfs "$1"
        mkdir -p "$1"/{upper,work,root}
        mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
        mount --rbind /dev "$1/root/dev"
        mount --rbind /proc "$1/root/proc"
        mkdir -p "$1/root$3"
        mount --bind "$3" "$1/root$3"
        exec chroot "$1/root" bash -eu -c "$2"' bash "$dir" "$2" "$BATS_FILE_TMPDIR"
}

needs() {
    local program
    for program in "$@"; do command -v "$program" >/dev/null || skip "no $program here"; done
    [ "$(id -u)" = 0 ] || skip "mounts an overlay: needs root"
    unshare -m bash -c 'd=$(mktemp -d) && mount -t tmpfs t "$d" && mkdir "$d"/{u,w,r} &&
        mount -t overlay o -o "lowerdir=/,upperdir=$d/u,workdir=$d/w" "$d/r"' || skip "no overlays here"
}

# rpm_package NAME VERSION RELEASE EPOCH [LINE]
rpm_package() {
    cat >"$BATS_FILE_TMPDIR/$1.spec" <<SPEC
Name: $1
Version: $2
Release: $3
Epoch: $4
Summary: Sample $1
License: MIT
BuildArch: noarch
${5:-}
%description
Sample.
%install
mkdir -p %{buildroot}/opt/$1
echo "$1 $2" >%{buildroot}/opt/$1/data
%files
/opt/$1/data
SPEC
    rpmbuild -bb --quiet --define "_topdir $BATS_FILE_TMPDIR/top" --define "_rpmdir $BATS_FILE_TMPDIR/repo" \
        --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.rpm' "$BATS_FILE_TMPDIR/$1.spec" >/dev/null 2>&1
}

rpm_repo() {
    [ ! -d "$BATS_FILE_TMPDIR/repo" ] || return 0
    rpm_package foo 1.0 1 0 && rpm_package foo 2.0 1 0 && rpm_package bar 1.0 1 2 "Requires: foo"
    rpm_package bar 1.1 1 2 "Requires: foo" && rpm_package hard 1 1 0 "Requires: nothing-has-this"
    rpm_package python3-dnf-plugin-versionlock 4 1 0
    createrepo_c -q "$BATS_FILE_TMPDIR/repo"
}

setup_file() { cp "$HALITE_BIN/salt-call" "$BATS_FILE_TMPDIR/"; }

# The script that each root runs first: `call` is salt-call with the grains of a family, its answer as JSON.
begin() {
    cat <<SH
mkdir -p "$BATS_FILE_TMPDIR/etc"
printf 'id: lab\nroot_dir: $BATS_FILE_TMPDIR/var\ngrains: {os_family: %s, os: %s, osrelease: "%s", osmajorrelease: %s, osarch: x86_64}\n' $1 >"$BATS_FILE_TMPDIR/etc/minion"
call() { "$BATS_FILE_TMPDIR/salt-call" -c "$BATS_FILE_TMPDIR/etc" --local --out=json --log-level=quiet "\$@" 2>&1 | tr -d '\n' | tr -s ' '; echo; }
is() { local want=\$1 got; shift; got=\$(call "\$@" || true); case \$got in *"\$want"*) ;; *) echo "\$*: \$got" >&2; return 1 ;; esac; }
export HOME=/root
SH
}

@test "dnf: versions with epochs, holds, upgrades, failures, repositories" {
    needs dnf rpmbuild createrepo_c
    rpm_repo
    in_root dnf "$(begin 'RedHat Rocky 9.2 9')
    mkdir -p /etc/yum.repos.d
    printf '[main]\ngpgcheck=0\n' >/etc/dnf/dnf.conf
    rm -f /etc/dnf/plugins/local.conf; echo 9 >/etc/dnf/vars/releasever
    printf '[lab]\nname=Lab\nbaseurl=file://$BATS_FILE_TMPDIR/repo\n' >/etc/yum.repos.d/lab.repo
    is '\"local\": \"2.0-1\"' pkg.latest_version foo
    is '{ \"foo\": { \"old\": \"\", \"new\": \"1.0-1\" } }' pkg.install foo version=1.0-1
    is '\"new\": \"2:1.0-1\"' state.single pkg.installed bar version=2:1.0-1
    is 'already installed and are at the desired version' state.single pkg.installed bar version=2:1.0-1
    is '{ \"foo\": \"2.0-1\", \"bar\": \"2:1.1-1\" }' pkg.list_upgrades || is '\"bar\": \"2:1.1-1\"' pkg.list_upgrades
    is 'nothing provides nothing-has-this' state.single pkg.installed hard
    is '\"result\": false' state.single pkg.installed nonesuch
    is 'is not installed.' pkg.hold foo
    is '\"name\": \"Lab\"' pkg.get_repo lab
    is 'would be configured' state.single pkgrepo.managed two humanname=Two baseurl=file:///two test=True
    is 'Configured package repo' state.single pkgrepo.managed two humanname=Two baseurl=file:///two
    is 'already configured' state.single pkgrepo.managed two humanname=Two baseurl=file:///two
    is 'Removed repo two' state.single pkgrepo.absent two
    if [ -e /usr/lib/python3/dist-packages/dnf-plugins/versionlock.py ]; then
        call pkg.install python3-dnf-plugin-versionlock >/dev/null
        is 'Package foo is now being held' state.single pkg.held foo
        is 'because they are being held: foo' pkg.install foo version=2.0-1
        is '\"new\": \"2.0-1\"' pkg.install foo version=2.0-1 update_holds=True
        is 'no longer held' state.single pkg.unheld foo
    fi
    is '\"new\": \"2:1.1-1\"' pkg.upgrade
    is '\"local\": \"foo\"' pkg.owner /opt/foo/data
    is '\"files\": [ \"/opt/foo/data\" ]' pkg.file_list foo
    is '\"bar\": { \"new\": \"\", \"old\": \"2:1.1-1\" }' state.single pkg.removed bar
    [ ! -e /opt/bar/data ] && [ -e /opt/foo/data ]"
}

@test "zypper: versions with epochs, locks, upgrades with dry run, failures, repositories" {
    needs zypper rpmbuild createrepo_c
    rpm_repo
    in_root zypper "$(begin 'Suse SUSE 15.5 15')
    mkdir -p /etc/zypp/repos.d /etc/rpm /var/lib/rpm
    printf '[main]\narch = x86_64\n' >/etc/zypp/zypp.conf
    printf '[lab]\nname=Lab\nenabled=1\nbaseurl=dir://$BATS_FILE_TMPDIR/repo\ntype=rpm-md\ngpgcheck=0\n' >/etc/zypp/repos.d/lab.repo
    echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros
    is '\"Lab\": true' pkg.refresh_db
    is '\"new\": \"1.0-1\"' pkg.install foo version=1.0-1
    is '\"new\": \"2:1.0-1\"' state.single pkg.installed bar version=2:1.0-1
    is 'Package foo is now being held' state.single pkg.held foo
    is '\"foo-0:1.0-1.*\"' pkg.list_holds
    is 'to be upgraded: bar' pkg.upgrade dryrun=True || is 'bar' pkg.upgrade dryrun=True
    is '{ \"bar\": { \"old\": \"2:1.0-1\", \"new\": \"2:1.1-1\" } }' pkg.upgrade
    is 'no longer held' state.single pkg.unheld foo
    is '\"new\": \"2.0-1\"' pkg.upgrade
    is 'nothing provides' state.single pkg.installed hard
    is 'Configured package repo' state.single pkgrepo.managed two humanname=Two baseurl=http://localhost/two
    is 'already configured' state.single pkgrepo.managed two humanname=Two baseurl=http://localhost/two
    is 'Removed repo two' state.single pkgrepo.absent two
    is '\"old\": \"2:1.1-1\"' state.single pkg.removed bar
    [ ! -e /opt/bar/data ] && [ -e /opt/foo/data ]"
}

# pacman_package NAME VERSION [LINE]: a package, and its entry of the database.
pacman_package() {
    local repo="$BATS_FILE_TMPDIR/arch" dir file
    dir=$(mktemp -d -p "$BATS_FILE_TMPDIR")
    file="$repo/$1-$2-any.pkg.tar.xz"
    mkdir -p "$repo" "$dir/opt/$1"
    echo "$1 $2" >"$dir/opt/$1/data"
    printf 'pkgname = %s\npkgver = %s\npkgdesc = Sample\nbuilddate = 1700000000\nsize = 10\narch = any\n%s\n' "$1" "$2" "${3:-}" >"$dir/.PKGINFO"
    (cd "$dir" && tar -cJf "$file" .PKGINFO opt)
    rm -rf "$BATS_FILE_TMPDIR/archdb/$1"-*
    mkdir -p "$BATS_FILE_TMPDIR/archdb/$1-$2"
    {
        printf '%%FILENAME%%\n%s\n\n%%NAME%%\n%s\n\n%%VERSION%%\n%s\n\n%%CSIZE%%\n%s\n\n%%SHA256SUM%%\n%s\n\n%%ARCH%%\nany\n\n' \
            "${file##*/}" "$1" "$2" "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d' ' -f1)"
        [ -z "${3:-}" ] || printf '%%DEPENDS%%\n%s\n\n' "${3#depend = }"
    } >"$BATS_FILE_TMPDIR/archdb/$1-$2/desc"
    (cd "$BATS_FILE_TMPDIR/archdb" && tar -cJf "$repo/lab.db" -- *)
}

@test "pacman: versions, upgrades, failures, removal" {
    needs pacman
    pacman_package foo 1.0-1
    pacman_package bar 1:1.0-1 "depend = foo"
    pacman_package hard 1-1 "depend = nothing-has-this"
    cp -a "$BATS_FILE_TMPDIR/arch" "$BATS_FILE_TMPDIR/first"
    touch -d '1 hour ago' "$BATS_FILE_TMPDIR/first/lab.db"
    pacman_package foo 2.0-1
    in_root pacman "$(begin 'Arch Arch 1 1')
    mkdir -p /var/lib/pacman /var/cache/pacman/pkg
    printf '[options]\nArchitecture = auto\nSigLevel = Never\n[lab]\nServer = file://$BATS_FILE_TMPDIR/first\n' >/etc/pacman.conf
    is '\"lab\": true' pkg.refresh_db
    is '\"foo\": { \"old\": \"\", \"new\": \"1.0-1\" }' state.single pkg.installed bar
    is 'already installed' state.single pkg.installed bar
    is 'cannot resolve' state.single pkg.installed hard
    sed -i s,/first,/arch, /etc/pacman.conf
    call pkg.refresh_db >/dev/null
    is '{ \"foo\": \"2.0-1\" }' pkg.list_upgrades
    is '\"new\": \"2.0-1\"' pkg.upgrade
    is '\"local\": \"foo\"' pkg.owner /opt/foo/data
    is '\"old\": \"1:1.0-1\"' state.single pkg.removed bar
    [ ! -e /opt/bar/data ] && [ -e /opt/foo/data ]
    is '\"old\": \"2.0-1\"' pkg.purge foo"
}
