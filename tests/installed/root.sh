#!/bin/bash
# root.sh - a Debian of its own for tests: made by debootstrap, booted with systemd, and gone without a trace afterwards.
#
#   root.sh can [SUITE]                exit 0 when this machine can boot one, else say on standard output why not
#   root.sh reach SUITE                the same of getting a suite's packages
#   root.sh make SUITE [PACKAGE...]    the folder of a Debian SUITE with these packages; made once, kept in HALITE_CACHE
#   root.sh bare SUITE                 the same of one that has nothing but what every Debian has
#   root.sh chroot FOLDER COMMAND...   run in such a folder, with this machine's network
#   root.sh fresh FOLDER COMMAND...    the same, and what is written is in memory and gone afterwards
#   root.sh up SUITE_FOLDER            boot it; prints a handle, a folder, that the others take. What is written is in memory
#   root.sh run HANDLE COMMAND...      run inside, as root; with standard input, output and exit code
#   root.sh in HANDLE FILE... FOLDER   copy into FOLDER of the booted one
#   root.sh out HANDLE FILE... FOLDER  copy out of it
#   root.sh unit HANDLE UNIT [STATE]   until the unit is in the state (active), at most a minute; else its journal, exit 1
#   root.sh reboot HANDLE              and until it is up again
#   root.sh down HANDLE                end it; nothing of it is left
#
# The booted one has namespaces of its own for mounts, processes, names, network (loopback only; with ROOT_NETWORK=host this
# machine's) and control groups, and none of the capabilities to load modules, set the clock or reach devices. Its mounts are
# in no other namespace, and its first process ends with the one that watches it: what a failure leaves is a folder below
# TMPDIR and an empty control group, which the next `up` removes.
#
# systemd-nspawn does the same. It is not used because it needs a package that brings services, wants /run/systemd/nspawn on
# this machine, and leaves its control groups behind where systemd does not run.
set -euo pipefail

cache=${HALITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/halite}
here=$(readlink -f "$0")
base_packages='systemd systemd-sysv dbus logrotate python3 procps iproute2 ca-certificates'
die() { echo "root.sh: $*" >&2; exit 1; }

# ---- making ----------------------------------------------------------------------------------------------------

# Where this machine's apt gets a suite of Debian or Ubuntu from, and how, else the system's own archive: settings stay outside of
# the repository.
mirror() { # SUITE
    local site
    site=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 'Created-By: Packages' 2>/dev/null |
        awk -v want="$(origin_of "$1")" '$2 == want { print $1; exit }')
    [ -n "$site" ] || case $(origin_of "$1") in
    Ubuntu) site=http://archive.ubuntu.com/ubuntu ;;
    Debian) site=http://deb.debian.org/debian ;;
    esac
    echo "$site"
}
origin_of() { # SUITE
    case $1 in jammy | noble | plucky | questing) echo Ubuntu ;; *) echo Debian ;; esac
}
keyring_of() { # SUITE
    case $(origin_of "$1") in Ubuntu) echo /usr/share/keyrings/ubuntu-archive-keyring.gpg ;; *) echo /usr/share/keyrings/debian-archive-keyring.gpg ;; esac
}
apt_settings() { apt-config dump | grep -E '^Acquire::((https?|ftp)::|Check-(Valid-Until|Date) |Retries |ForceIPv)' || :; }

# Whether a suite can be made here, and its packages be had; says why not.
reach() { # SUITE
    local site seen rc=0
    site=$(mirror "$1")
    command -v debootstrap >/dev/null || { echo "debootstrap is not installed"; return 1; }
    [ -e "/usr/share/debootstrap/scripts/$1" ] || { echo "this machine's debootstrap does not know $1"; return 1; }
    [ -e "$(keyring_of "$1")" ] || { echo "there is no key to trust $1 by, $(keyring_of "$1")"; return 1; }
    seen=$(mktemp)
    /usr/lib/apt/apt-helper -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 \
        download-file "$site/dists/$1/Release" "$seen" >/dev/null 2>&1 || rc=$?
    rm -f "$seen"
    [ $rc -eq 0 ] || { echo "$site does not answer"; return 1; }
}

# A folder of a suite, in the cache under a name; whoever comes second waits for it.
make_base() { # NAME SUITE [DEBOOTSTRAP'S OPTION...]
    local name=$1 suite=$2 why
    shift 2
    mkdir -p "$cache"
    exec 8>"$cache/.lock"
    flock 8
    [ ! -e "$cache/$name" ] || return 0
    why=$(reach "$suite") || die "$why"
    rm -rf "$cache/$name.new"
    debootstrap --variant=minbase --force-check-gpg --keyring="$(keyring_of "$suite")" \
        --components="$([ "$(origin_of "$suite")" = Debian ] && echo main || echo main,universe)" "$@" \
        "$suite" "$cache/$name.new" "$(mirror "$suite")" >"$cache/$name.log" 2>&1 8>&- || {
        tail -n 20 "$cache/$name.log" >&2
        die "debootstrap of $suite failed; all it said is in $cache/$name.log"
    }
    rm -f "$cache/$name.new/var/cache/apt/archives"/*.deb
    mv "$cache/$name.new" "$cache/$name"
}
make_bare() { # SUITE
    make_base "$1-bare" "$1"
    echo "$cache/$1-bare"
}
make_root() { # SUITE [PACKAGE...]
    local suite=$1 root=$cache/$1 missing=() p
    shift
    make_base "$suite" "$suite" --include="${base_packages// /,}"
    for p; do
        chroot "$root" dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
    done
    # A package NAME:ARCHITECTURE of another architecture is known once dpkg has been told of that one.
    for p in $(printf '%s\n' "${missing[@]}" | sed -n 's/.*://p' | sort -u); do
        chroot "$root" dpkg --add-architecture "$p"
    done
    if [ ${#missing[@]} -gt 0 ]; then
        "$here" chroot "$root" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" &&
            apt-get clean' sh "${missing[@]}" >"$cache/$suite.log" 2>&1 8>&- </dev/null || {
            tail -n 20 "$cache/$suite.log" >&2
            die "$suite: cannot install ${missing[*]}"
        }
    fi
    echo "$root"
}

# Devices of its own: what a root does to their owners and modes, it does to none of this machine's.
own_dev() { # FOLDER
    local node name major minor
    mount -t tmpfs -o mode=0755 tmpfs "$1"
    for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
        IFS=: read -r name major minor <<<"$node"
        mknod -m 0666 "$1/$name" c "$major" "$minor"
    done
    mkdir "$1/pts" "$1/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$1/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$1/shm"
    ln -s pts/ptmx "$1/ptmx"
    ln -s /proc/self/fd "$1/fd"
    ln -s fd/0 "$1/stdin" && ln -s fd/1 "$1/stdout" && ln -s fd/2 "$1/stderr"
}
# The folder and what is written into it, as one folder below /mnt.
overlay() { # FOLDER
    mount -t tmpfs -o mode=0755 tmpfs /mnt
    mkdir /mnt/upper /mnt/work /mnt/root
    mount -t overlay overlay -o "lowerdir=$1,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
}

# Mounts and processes in namespaces of their own, which end with this process, and this one with its caller: unshare itself
# blocks the signals that ask for it. How apt and names work here is said to it in files of this run alone.
in_chroot() { # kept|fresh FOLDER COMMAND...
    exec setpriv --pdeathsig TERM "$here" held "$@"
}
held() {
    local unshare
    # A shell without job control has what it puts into the background ignore interrupts and read nothing.
    env --default-signal=INT,QUIT setpriv --pdeathsig KILL \
        unshare --mount --propagation private --pid --fork --kill-child --ipc "$here" enter "$@" <&0 &
    unshare=$!
    trap 'ended "$unshare"' INT TERM HUP
    wait "$unshare"
}
ended() { # PID
    kill -KILL "$1" 2>/dev/null || :
    wait "$1" 2>/dev/null || :
    exit 143
}
copied() { # FILE PLACE
    [ -e "$2" ] || : >"$2"
    mount --bind "$1" "$2"
}
enter() { # kept|fresh FOLDER COMMAND...: in namespaces of its own
    local f
    case $1 in
    kept) mount --bind "$2" "$2" && cd "$2" ;;
    fresh) overlay "$2" && cd /mnt/root ;;
    esac
    shift 2
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    own_dev dev
    mount -t tmpfs -o mode=1777 tmpfs tmp
    mount -t tmpfs -o mode=0755 tmpfs run
    mkdir run/halite run/lock
    # Of settings a copy below /run: sudo forgets an environment, and nothing of them is kept.
    apt_settings >run/halite/00here
    copied run/halite/00here etc/apt/apt.conf.d/00here
    for f in resolv.conf hosts; do
        [ ! -e "/etc/$f" ] || { cp "/etc/$f" run/halite/ && copied "run/halite/$f" "etc/$f"; }
    done
    pivot_root . mnt
    umount -l /mnt
    cd /root
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb "$@"
}

# ---- booting ---------------------------------------------------------------------------------------------------

# The folder of control groups of version 2, wherever it is mounted.
cgroups() { awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts; }

can() { # [SUITE]
    [ "$(id -u)" -eq 0 ] || { echo "not root"; return 1; }
    [ -n "$(cgroups)" ] || { echo "control groups of version 2 are not mounted"; return 1; }
    [ -w "$(cgroups)/cgroup.procs" ] && mkdir "$(cgroups)/halite-can.$$" 2>/dev/null && rmdir "$(cgroups)/halite-can.$$" || {
        echo "no control group can be made in $(cgroups)"; return 1
    }
    unshare --mount --propagation private --pid --fork --ipc --uts --net --cgroup "$here" try 2>/dev/null ||
        { echo "this machine refuses namespaces, devices or overlay mounts"; return 1; }
    [ -z "${1:-}" ] || [ -e "$cache/$1" ] || reach "$1"
}
try() { # in namespaces of its own
    overlay /usr
    own_dev /mnt/root
    : >/mnt/root/null
}

# What an earlier one left that was killed.
sweep() {
    local group
    for group in "$(cgroups)"/halite-root.*; do
        [ -d "$group" ] && ! grep -qs . "$group"/cgroup.procs && ! grep -qs 'populated 1' "$group/cgroup.events" || continue
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || :
    done
}

up() { # SUITE_FOLDER
    local handle group
    sweep
    handle=$(mktemp -d "${TMPDIR:-/tmp}/halite-root.XXXXXX")
    group=$(cgroups)/${handle##*/}
    mkdir "$group"
    echo "$group" >"$handle/group"
    setsid "$here" watch "$handle" "$1" </dev/null >"$handle/console" 2>&1 &
    echo $! >"$handle/watch"
    (booted "$handle") || { down "$handle" && exit 1; }
    echo "$handle"
}
booted() { # HANDLE
    until_true 120 is_booted "$1" || { tail -n 40 "$1/console" >&2; die "the root does not boot; see above"; }
}
is_booted() {
    kill -0 "$(cat "$1/watch")" && case $(inside "$1" systemctl is-system-running) in running | degraded) ;; *) false ;; esac
}
until_true() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        read -rt 0.1 <> <(:) || :
    done
}

# The process that holds the namespaces: it boots the system, again when that asks for it, and ends everything when it ends.
watch_root() { # HANDLE SUITE_FOLDER
    echo $$ >"$(cat "$1/group")/cgroup.procs"
    local net=--net
    [ "${ROOT_NETWORK:-}" != host ] || net=
    exec unshare --mount --propagation private --ipc --uts $net --cgroup "$here" hold "$1" "$2"
}
hold() {
    local rc
    overlay "$2"
    hostname halite
    [ "${ROOT_NETWORK:-}" = host ] || ip link set lo up
    while :; do
        rc=0
        setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "$here" boot || rc=$?
        # The kernel ends the first process by SIGHUP when the system says reboot, by SIGINT when it says power off.
        [ $rc -eq 129 ] || exit $rc
    done
}
boot() { # in namespaces of its own
    cd /mnt/root
    mount -t proc proc proc
    # The kernel's switches are the machine's; those of the network are of the namespace.
    [ "${ROOT_NETWORK:-}" = host ] || mount --bind proc/sys/net proc/sys/net
    mount --rbind proc/sys proc/sys && mount -o remount,bind,ro proc/sys
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=0755 tmpfs run
    mount -t tmpfs -o mode=1777 tmpfs tmp
    own_dev dev
    : >etc/machine-id
    # debootstrap makes none, and servers listen at this name; empty where something was mounted over it.
    [ -s etc/hosts ] || printf '%s\n' '127.0.0.1 localhost halite' '::1 localhost' >etc/hosts
    pivot_root . mnt
    umount -l /mnt
    exec setpriv --bounding-set -sys_module,-sys_time,-sys_rawio,-syslog,-mknod,-wake_alarm,-mac_admin,-mac_override \
        env -i container=halite PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
}

# ---- the booted one --------------------------------------------------------------------------------------------

init_of() { # HANDLE: the number of its first process
    local holder child
    holder=$(cat "$1/watch") || return
    child=$(pgrep -P "$holder" | head -n 1) && [ -n "$child" ] && pgrep -P "$child" | head -n 1
}
inside() { # HANDLE COMMAND...
    local init
    init=$(init_of "$1") && [ -n "$init" ] || { echo "root.sh: it is not running" >&2; return 1; }
    shift
    nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup --root --wd \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"
}
copy_in() { # HANDLE FILE... FOLDER
    local handle=$1 to=${*: -1} f
    shift
    for f in "${@:1:$#-1}"; do
        tar -C "$(dirname "$f")" -c "$(basename "$f")" | inside "$handle" sh -c 'mkdir -p "$1" && tar --no-same-owner -C "$1" -x' sh "$to"
    done
}
copy_out() { # HANDLE FILE... FOLDER
    local handle=$1 to=${*: -1} f
    shift
    for f in "${@:1:$#-1}"; do
        inside "$handle" tar -C "$(dirname "$f")" -c "$(basename "$f")" | tar --no-same-owner -C "$to" -x
    done
}
wait_unit() { # HANDLE UNIT [STATE]
    until_true 60 unit_is "$1" "$2" "${3:-active}" && return
    inside "$1" systemctl status --no-pager "$2" >&2 || :
    inside "$1" journalctl --no-pager -n 30 -u "$2" >&2 || :
    die "$2 is not ${3:-active} within a minute"
}
unit_is() { [ "$(inside "$1" systemctl is-active "$2")" = "$3" ]; }
reboot_root() { # HANDLE
    local before
    before=$(init_of "$1")
    inside "$1" systemctl reboot || :
    until_true 90 is_another "$1" "$before" || { tail -n 40 "$1/console" >&2; die "it does not reboot"; }
    booted "$1"
}
is_another() { local now; now=$(init_of "$1") && [ -n "$now" ] && [ "$now" != "$2" ]; }

down() { # HANDLE
    [ -e "$1/group" ] || die "$1 is not a handle of up"
    echo 1 >"$(cat "$1/group")/cgroup.kill"
    until_true 30 is_empty "$(cat "$1/group")" || die "processes of $1 do not end"
    find "$(cat "$1/group")" -depth -type d -exec rmdir {} +
    rm -rf "$1"
}
is_empty() { grep -q 'populated 0' "$1/cgroup.events"; }

case ${1:-} in
can) can "${2:-}" ;;
reach) reach "$2" ;;
try) try ;;
make) shift && make_root "$@" ;;
bare) make_bare "$2" ;;
chroot) shift && in_chroot kept "$@" ;;
fresh) shift && in_chroot fresh "$@" ;;
held) shift && held "$@" ;;
enter) shift && enter "$@" ;;
up) up "$2" ;;
watch) watch_root "$2" "$3" ;;
hold) hold "$2" "$3" ;;
boot) boot ;;
run) shift && inside "$@" ;;
in) shift && copy_in "$@" ;;
out) shift && copy_out "$@" ;;
unit) shift && wait_unit "$@" ;;
reboot) reboot_root "$2" ;;
down) down "$2" ;;
*) sed -n '2,/^$/s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
