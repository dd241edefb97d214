#!/bin/bash
# deb.sh BUILD VERSION [DPKG-BUILDPACKAGE OPTION...] - Debian packages of the sources as they are here, into BUILD/deb.
# A copy of the sources with conf/package/debian as its debian/ is built by dpkg-buildpackage, and looked at by lintian.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 out=$1/deb version=$2
shift 2
tree=$out/halite-$version
rm -rf "$out"
conf/package/copy.sh "$build" "$tree"
cp -r conf/package/debian "$tree/debian"
day=$(git log -1 --format=%cD 2>/dev/null || date -R -r Makefile)
printf 'halite (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- Halite maintainers <maintainers@halite.invalid>  %s\n' \
    "$version" "$day" >"$tree/debian/changelog"
# The variables of the make that called are its own.
(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS dpkg-buildpackage -us -uc -b "$@")
rm -rf "$tree"
lintian --fail-on error "$out"/*.changes
ls -l "$out"/*.deb
