# booted.bash - what tests in a Debian of their own share. HANDLE is root.sh's, where one is booted.

ROOT_SH=$BATS_TEST_DIRNAME/root.sh
HALITE_SRC=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BUILD=$(readlink -m "${BUILD:-$HALITE_SRC/build}")

it() { "$ROOT_SH" run "$HANDLE" "$@" </dev/null; }
sh_() { it sh -ec "$1"; }
unit() { "$ROOT_SH" unit "$HANDLE" "$@"; }
put() { "$ROOT_SH" run "$HANDLE" sh -c 'mkdir -p "$(dirname "$1")" && cat >"$1"' sh "$1"; }
not() { ! "$@"; }
# until_it SECONDS COMMAND...: until it succeeds inside
until_it() {
    local end=$((SECONDS + $1))
    shift
    until it "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { echo "waited in vain for: $*"; it "$@" || return 1; } >&2
        read -rt 0.1 <> <(:) || :
    done
}

# The names of what the packages of a folder depend on, without each other.
needs_of() { # FOLDER
    local deb
    for deb in "$1"/halite-{common,master,minion}_*.deb; do dpkg-deb -f "$deb" Depends; done |
        tr ',' '\n' | sed 's/ *[(|].*//; s/^ *//; /^halite-/d' | sort -u
}
# named_root NAME [PACKAGE...]: a Debian of its own, begun as a copy of everybody's, for packages that no other should have.
named_root() {
    local cache=${HALITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/halite} suite=${HALITE_SUITE:-bookworm} base
    (
        flock 9
        base=$("$ROOT_SH" make "$suite" 9>&-)
        if [ ! -e "$cache/$1/$suite" ]; then
            rm -rf "$cache/$1" && mkdir "$cache/$1"
            cp -a --reflink=auto "$base" "$cache/$1/$suite.new"
            mv "$cache/$1/$suite.new" "$cache/$1/$suite"
        fi
    ) 9>"$cache/.named"
    HALITE_CACHE=$cache/$1 "$ROOT_SH" make "$suite" "${@:2}"
}
