#!/bin/bash
# bare.sh - the README's commands on a Debian that has nothing yet: `make test-bare`. Every suite of HALITE_SUITE (bookworm trixie
# noble), for every user of HALITE_USER: "root", in a clone below a folder that nobody else can enter, and "sudo", an ordinary
# user who has sudo. HALITE_GOALS (demo test): which commands. Of the sources the last commit is taken.
#
# All that a run says is in BUILD/bare/SUITE-USER.log. The last line is "N passed, N failed"; what can't be made here is skipped,
# and said so.
set -uo pipefail
cd "$(dirname "$0")/../.."
here=tests/installed
out=${BUILD:-build}/bare
goals=${HALITE_GOALS:-demo test}

# ---- inside ----------------------------------------------------------------------------------------------------

# step NAME COMMAND...: run by the user in the clone; its end is a line of the log.
step() {
    local name=$1
    shift
    echo "@@ begins: $name"
    "$@" && echo "@@ passed: $name" || { echo "@@ failed: $name" && return 1; }
}
it() { # COMMAND: as the user would type it
    case $who in
    root) (cd "$place" && bash -c "$1") ;;
    sudo) setpriv --reuid=somebody --regid=somebody --init-groups env HOME=/home/somebody USER=somebody LOGNAME=somebody bash -c "cd '$place' && $1" ;;
    esac
}
first_packages() {
    local sudo=''
    [ "$who" = root ] || sudo=sudo
    it "$sudo apt-get update -q && $sudo apt-get install -y -q git make"
}
packages() { dpkg-query -W -f='${Package}\n' | sort -u; }
# Of what was installed since, nothing is there for tests or packages alone.
only_demo() {
    local more
    more=$(comm -12 <(comm -13 /run/halite/before <(packages)) \
        <(comm -13 <(it 'tests/lib/deps.sh list build' | sort) <(it 'tests/lib/deps.sh list test package installed' | sort -u)))
    [ -z "$more" ] || { echo "make demo has installed" $more && return 1; }
}
# Files below /tmp, processes, and changes in the clone.
left() {
    local rc=0 pid
    [ -z "$(ls -A /tmp)" ] || { echo "left in /tmp:" && ls -lA /tmp && rc=1; }
    for pid in /proc/[0-9]*; do
        case $(readlink "$pid/exe") in "$place"/*) echo "left: $(tr '\0' ' ' <"$pid/cmdline")" && rc=1 ;; esac
    done
    [ -z "$(it 'git status --porcelain')" ] || { it 'git status --short' && rc=1; }
    return $rc
}
inside() { # USER GOALS; the sources as a bundle of git on standard input
    local goal who=$1
    set -- $2
    cat >/run/halite/sources
    chmod 0644 /run/halite/sources
    place=/root
    if [ "$who" = sudo ]; then
        # The name is none of those that tests log in by.
        apt-get update -q && apt-get install -y -q --no-install-recommends sudo || return
        useradd --create-home --shell /bin/bash somebody
        echo 'somebody ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/somebody
        place=/home/somebody
    fi
    step "apt-get install git make" first_packages || return
    # 0700, as root's own home is anyway.
    step clone it "mkdir -m 0700 own && git clone -q /run/halite/sources own/halite" || return
    place=$place/own/halite
    packages >/run/halite/before
    for goal; do
        step "make $goal" it "make $goal" </dev/null
        [ "$goal" != demo ] || step "make demo installs nothing for tests" only_demo
        step "make $goal leaves nothing behind" left
    done
    echo '@@ end'
}

# ---- outside ---------------------------------------------------------------------------------------------------

passed=0 failed=0
run_one() { # SUITE USER
    local folder log=$out/$1-$2.log ok bad
    folder=$("$here/root.sh" bare "$1") || { failed=$((failed + 1)) && return; }
    git bundle create -q "$out/sources" HEAD || { failed=$((failed + 1)) && return; }
    echo "$1, $2: all is in $log"
    "$here/root.sh" fresh "$folder" bash -c "$(cat "$here/bare.sh")" bare.sh inside "$2" "$goals" <"$out/sources" >"$log" 2>&1
    grep -qx '@@ end' "$log" || echo "@@ failed: the run came to no end" >>"$log"
    grep -aE '^(FAILED|    (not ok|skipped:)|[0-9]+ passed, )|^@@ (passed|failed)' "$log" | sed 's/^@@ //; s/^/    /'
    ok=$(grep -ac '^@@ passed' "$log") bad=$(grep -ac '^@@ failed' "$log")
    passed=$((passed + ok)) failed=$((failed + bad))
}

case ${1:-} in
inside) inside "$2" "$3" ;;
'')
    why=$("$here/root.sh" can) || { echo "test-bare: skipped: $why" && exit 0; }
    tests/lib/deps.sh installed || { echo "test-bare: skipped: what it needs can't be installed here" && exit 0; }
    mkdir -p "$out"
    for suite in ${HALITE_SUITE:-bookworm trixie noble}; do
        why=$("$here/root.sh" reach "$suite") || { echo "test-bare: $suite: skipped: $why" && continue; }
        for user in ${HALITE_USER:-root sudo}; do run_one "$suite" "$user"; done
    done
    rm -f "$out/sources"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
