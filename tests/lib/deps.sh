#!/bin/sh
# deps.sh [build|test|package|rpm|installed]... - what these need, as Debian 12 packages: installs those that are missing, asks
# nothing. Needs root, or sudo without a password. On another system it names them, and exits 1 when a library is not found.
#   build      the programs: make, make demo        test       all tests (make test, make lint)
#   servers    real servers and package managers for tests, which skip without them; for CI
#   package    make deb                             installed  make test-installed, make test-bare
#   rpm        make rpm
# deps.sh list WORD... - only say which packages these are.
set -eu

packages='' modules='' programs=''
build() { # Compilers and tools; the libraries, of libcurl the headers alone; what libzmq's archive needs (the minion links it).
    packages="$packages gcc g++ make pkgconf git
        libzmq3-dev libczmq-dev libyaml-dev libsodium-dev libjansson-dev libsqlite3-dev libpcre2-dev libgmp-dev libmd-dev
        zlib1g-dev libcrypt-dev libcurl4-openssl-dev libc6-dev libkrb5-dev libnorm-dev libpgm-dev libbsd-dev
        libmicrohttpd-dev libgnutls28-dev"
    modules="$modules libzmq libczmq yaml-0.1 libsodium jansson sqlite3 libpcre2-8 gmp libmd zlib libcrypt libcurl libmicrohttpd gnutls"
    programs="$programs gcc make pkg-config git"
}
test_() { # What tests are written in; what they and the programs under test call.
    packages="$packages libcmocka-dev bats python3 python3-jinja2 python3-requests python3-yaml clang clang-format
        acl apache2-utils btrfs-progs curl fish gpg gpg-agent iproute2 ipset iptables mercurial nftables openssh-client openssl patch procps rsync ruby strace subversion systemd-journal-remote unzip
        util-linux xz-utils zip zsh"
    modules="$modules cmocka"
    programs="$programs bats mkfs.btrfs getfacl python3 clang clang-format curl fish gpg gpg-agent hg htpasswd ip iptables nft openssl patch ps rsync ruby setpriv
        ssh-keygen strace svn unzip xz zip zsh"
}
servers() { # Servers that tests run for themselves, and other systems' package managers. Debian starts some of the servers for
    # good, so nothing but CI asks for these: tests say that they skip without them.
    packages="$packages libmariadb3 libpq5 mariadb-client-core mariadb-server-core openssh-server postgresql
        redis-server redis-tools influxdb slapd bind9 bind9-dnsutils prometheus
        dnf rpm createrepo-c zypper pacman-package-manager chromium"
    programs="$programs mariadb mariadbd psql redis-cli redis-server influxd sshd slapd named dig promtool dnf createrepo_c zypper pacman chromium"
}
package() {
    packages="$packages debhelper dpkg-dev fakeroot lintian"
    programs="$programs dpkg-buildpackage dh lintian"
}
rpm() {
    packages="$packages rpm debugedit elfutils cpio"
    programs="$programs rpmbuild find-debuginfo eu-strip cpio"
}
installed() {
    packages="$packages debootstrap iproute2 util-linux bats"
    programs="$programs debootstrap ip unshare setpriv bats"
}
list=
[ "${1:-}" != list ] || { list=1 && shift; }
for word in "${@:-build}"; do
    case $word in
    build | servers | package | rpm | installed) $word ;;
    test) test_ ;;
    *) echo "deps: $word: build, test, servers, package, rpm or installed" >&2 && exit 2 ;;
    esac
done

[ -z "$list" ] || { printf '%s\n' $packages && exit 0; }

elsewhere() {
    missing=
    for m in $modules; do pkg-config --exists "$m" 2>/dev/null || missing="$missing $m"; done
    for p in $programs; do command -v "$p" >/dev/null || missing="$missing $p"; done
    [ -n "$missing" ] || exit 0
    echo "deps: not found here:$missing"
    echo "deps: this is not a Debian system, so nothing is installed. In Debian 12 the packages are:" $packages
    exit 1
}

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || elsewhere
missing=
for p in $packages; do
    # A package that another one names has a status too: not-installed.
    dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
as_root=
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || {
        echo "deps: missing:$missing"
        echo "deps: run this as root, or: sudo apt-get install$missing"
        exit 1
    }
    as_root='sudo -n'
fi
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing </dev/null; }
echo "deps: installing$missing"
install || { $as_root apt-get update -q </dev/null && install; }
