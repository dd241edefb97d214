#!/bin/bash
# install.sh install|uninstall - what `make install` writes, and its way back.
# From the environment: BUILD, PREFIX, SYSCONF, UNITS, DESTDIR, and FORCE=1 to write over another's programs.
#
# With PREFIX=/usr the tree takes Salt's own places. Any other PREFIX is a tree that lives beside a Salt: its configuration,
# keys, logs, caches and sockets are below PREFIX (root_dir), its units are called halite-master, halite-minion and halite-api, and its
# master runs as the user halite. All that was written is in PREFIX/lib/halite/manifest, each file with its digest.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${BUILD:?}" "${PREFIX:?}" "${SYSCONF:?}" "${UNITS:?}" "${DESTDIR=}" "${FORCE=}"
programs='salt salt-api salt-call salt-cp salt-key salt-master salt-minion salt-run'
manifest=$PREFIX/lib/halite/manifest
new=$(mktemp "${TMPDIR:-/tmp}/halite-install.XXXXXX")
trap 'rm -f "$new"' EXIT

# ---- places ----------------------------------------------------------------------------------------------------

beside() { [ "$PREFIX" != /usr ]; }
unit() { ! beside && echo "salt-$1" || echo "halite-$1"; }
# A text of conf/ as it is to be at these places. What the unit makes for the master below /run and /var is there made by
# tmpfiles.d, as systemd makes no such folders elsewhere.
placed() { # FILE
    if ! beside; then
        sed "s|/etc/salt|$SYSCONF|g" "$1"
        return
    fi
    sed -E -e "s|/usr/|$PREFIX/|g; s|/etc/salt|$SYSCONF|g; s#(^|[^a-z])/(var|run)/#\1$PREFIX/var/\2/#g" \
        -e "s|$PREFIX/var/var/|$PREFIX/var/|g" -e 's/^(User|Group|SupplementaryGroups)=salt$/\1=halite/; s/ salt salt/ halite halite/; s/^u salt /u halite /' \
        -e '/^(Runtime|State|Cache)Directory/d' -e "s|^ReadWritePaths=.*|ReadWritePaths=$(writes "$1")|" \
        -e 's/salt-(master|minion)\.service/halite-\1.service/g' "$1"
}
# What a unit's daemon may write into.
writes() { # FILE
    case $1 in
    *api*) echo "$PREFIX/var/run/salt-api $PREFIX/var/log/salt" ;;
    *) echo "$PREFIX/var -$SYSCONF/pki/master" ;;
    esac
}
# tmpfiles.d's text, with the folders that the unit would have made.
folders() { # master|api
    case $1 in
    master) placed conf/halite.tmpfiles ;;
    api) placed conf/halite-api.tmpfiles ;;
    esac
    beside || return 0
    case $1 in
    master) printf 'd %s %s halite halite\n' "$PREFIX/var/run/salt/master" 0755 "$PREFIX/var/lib/salt" 0700 "$PREFIX/var/cache/salt/master" 0750 ;;
    api) printf 'd %s %s salt-api salt-api\n' "$PREFIX/var/run/salt-api" 0755 ;;
    esac
}
# A sample of the configuration; a tree of its own begins with where it is.
sample() { # master|minion
    beside || { cat "conf/$1" && return; }
    printf '# All paths are below this folder.\nroot_dir: %s\n' "$PREFIX"
    cat "conf/$1"
}

# ---- writing ---------------------------------------------------------------------------------------------------

put() { # MODE SOURCE PLACE: install a file; with SOURCE - its text from standard input
    local to=$DESTDIR$3
    install -d "${to%/*}"
    if [ "$2" = - ]; then install -m "$1" /dev/stdin "$to"; else install -m "$1" "$2" "$to"; fi
    record "$3"
}
record() { printf '%s  %s\n' "$(sha256sum <"$DESTDIR$1" | cut -d' ' -f1)" "$1" >>"$new"; }
# A configuration that is there stays. Of one that is ours the record stays too, so that what was changed is told apart.
put_conf() { # NAME PLACE
    if [ -e "$DESTDIR$2" ]; then
        grep -F "  $2" "$DESTDIR$manifest" 2>/dev/null >>"$new" || :
    else
        sample "$1" | put 0644 - "$2"
    fi
}

ours() { grep -qsF "  $1" "$DESTDIR$manifest" || grep -q '(Halite' "$DESTDIR$1"; }
package_of() { # FILE
    dpkg -S "$1" 2>/dev/null | sed -n 's/: .*//p' || :
    rpm -qf --qf '%{NAME}\n' "$1" 2>/dev/null | grep -v ' ' || :
}
refuse() {
    echo "install: $1" >&2
    echo "install: nothing was written. Remove it, install with another PREFIX (/opt/halite lives beside it), or say FORCE=1" >&2
    exit 1
}
look_first() {
    local program place owner
    for program in $programs; do
        place=$PREFIX/bin/$program
        [ -e "$DESTDIR$place" ] || [ -L "$DESTDIR$place" ] || continue
        owner=$([ -n "$DESTDIR" ] || package_of "$place")
        [ -z "$owner" ] || refuse "$place belongs to the package $owner"
        ours "$place" || refuse "$DESTDIR$place is not Halite's"
    done
}

install_all() {
    local program page shell f
    [ -n "$FORCE" ] || look_first
    for program in $programs; do put 0755 "$BUILD/bin/$program" "$PREFIX/bin/$program"; done
    for program in salt-engine salt-follower; do put 0755 "$BUILD/bin/$program" "$PREFIX/lib/halite/$program"; done
    for f in api master minion; do
        placed "conf/salt-$f.service" | put 0644 - "$UNITS/$(unit "$f").service"
        placed "conf/salt-$f.logrotate" | put 0644 - "/etc/logrotate.d/$(unit "$f")"
        [ "$f" != api ] || continue # its section is in the master's configuration
        put_conf "$f" "$SYSCONF/$f"
        install -d "$DESTDIR$SYSCONF/$f.d"
    done
    put 0755 "$BUILD/bin/salt-auth" "$PREFIX/lib/halite/salt-auth"
    placed conf/package/restart-after-jobs | put 0755 - "$PREFIX/lib/halite/restart-after-jobs"
    # The package salt, for modules and scripts on machines without Salt's own.
    while read -r f; do put 0644 "$f" "$PREFIX/lib/halite/python/${f#src/pyhost/}"; done < <(find src/pyhost/salt -name '*.py' | sort)
    put 0644 "$BUILD/python/salt/_built.py" "$PREFIX/lib/halite/python/salt/_built.py"
    # systemd looks for these below /usr/lib, and for those of an administrator below /etc.
    local lib=/usr/lib name=halite
    ! beside || lib=/etc name=halite-tree
    placed conf/halite.sysusers | put 0644 - "$lib/sysusers.d/$name.conf"
    placed conf/halite-api.sysusers | put 0644 - "$lib/sysusers.d/$name-api.conf"
    folders api | put 0644 - "$lib/tmpfiles.d/$name-api.conf"
    folders master | put 0644 - "$lib/tmpfiles.d/$name.conf"
    # Names of the master's ports for two firewalls; nothing is opened by them. A tree beside a Salt has ports of its own.
    if ! beside; then
        put 0644 conf/package/firewalld/halite-master.xml /usr/lib/firewalld/services/halite-master.xml
        put 0644 conf/package/ufw/halite-master /etc/ufw/applications.d/halite-master
    fi
    for f in README.md SECURITY.md CHANGELOG.md tests/DIFFERENCES.md tests/COMPAT.md; do
        [ ! -e "$f" ] || put 0644 "$f" "$PREFIX/share/doc/halite/${f##*/}"
    done
    for f in docs/*.md; do put 0644 "$f" "$PREFIX/share/doc/halite/$f"; done
    while read -r f; do put 0644 "$f" "$PREFIX/share/doc/halite/examples/${f#srv/}"; done < <(find srv -type f ! -name demo.sh | sort)
    for f in conf/metrics/* conf/schemas/*; do put 0644 "$f" "$PREFIX/share/doc/halite/examples/${f#conf/}"; done
    for page in "$BUILD"/man/*.[1-9]; do
        [ ! -e "$page" ] || gzip -9nc "$page" | put 0644 - "$PREFIX/share/man/man${page##*.}/${page##*/}.gz"
    done
    for shell in "$BUILD"/completion/*; do
        program=${shell##*/} f=
        case $shell in
        *.bash) f=bash-completion/completions/${program%.*} ;;
        *.zsh) f=zsh/vendor-completions/_${program%.*} ;;
        *.fish) f=fish/vendor_completions.d/$program ;;
        esac
        [ -z "$f" ] || put 0644 "$shell" "$PREFIX/share/$f"
    done
    install -D -m 0644 "$new" "$DESTDIR$manifest"
}

# ---- and back --------------------------------------------------------------------------------------------------

# Programs and texts go; a configuration only as it was written. Folders go when they are empty.
uninstall_all() {
    local digest place
    [ -e "$DESTDIR$manifest" ] || { echo "uninstall: $DESTDIR$manifest is not there: nothing is known to be installed below $PREFIX" >&2; exit 1; }
    while read -r digest place; do
        [ -e "$DESTDIR$place" ] || continue
        if [[ $place == "$SYSCONF"/* ]] && [ "$(sha256sum <"$DESTDIR$place")" != "$digest  -" ]; then
            echo "uninstall: $DESTDIR$place was changed, and stays"
            continue
        fi
        rm -f "$DESTDIR$place"
        # Python may have written what it has compiled beside it.
        [[ $place != *.py ]] || rm -rf "$DESTDIR${place%/*}/__pycache__"
    done <"$DESTDIR$manifest"
    { sed 's/^[^ ]*  //; s|/[^/]*$||' "$DESTDIR$manifest" && printf '%s\n' "$SYSCONF/master.d" "$SYSCONF/minion.d"; } | sort -ur >"$new"
    rm -f "$DESTDIR$manifest"
    while read -r place; do
        ! beside && [[ $place != "$PREFIX"/*/*/* && $place != */halite* && $place != "$SYSCONF"* ]] ||
            (cd "${DESTDIR:-/}" && rmdir -p --ignore-fail-on-non-empty ".$place" 2>/dev/null) || :
    done <"$new"
}

"${1:?install or uninstall}_all"
