#!/bin/bash
# rpm.sh BUILD VERSION [RPMBUILD-OPTION...] - RPM packages of the sources as they are here, into BUILD/rpm.
# Debian's rpmbuild does it too: what must be there to build is then Debian's packages (tests/lib/deps.sh), unknown to rpm.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 out=$(readlink -m "$1")/rpm version=$2
shift 2
rm -rf "$out"
mkdir -p "$out/SOURCES"
conf/package/copy.sh "$build" "$out/halite-$version"
day=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)
tar -C "$out" --sort=name --owner=0 --group=0 --mtime="@$day" -czf "$out/SOURCES/halite-$version.tar.gz" "halite-$version"
rm -rf "${out:?}/halite-$version"
rpm -q --quiet rpm 2>/dev/null || set -- --nodeps "$@"
# The variables of the make that called are its own.
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS SOURCE_DATE_EPOCH="$day" rpmbuild -bb "$@" --define "_topdir $out" --define "halite_version $version" \
    --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' conf/package/rpm/halite.spec
mv "$out"/RPMS/*/*.rpm "$out"
find "$out" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +
ls -l "$out"
