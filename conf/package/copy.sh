#!/bin/bash
# copy.sh BUILD FOLDER - the sources as they are here, without what was built, into a new folder for a tool that makes packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 tree=$2
mkdir -p "$tree"
# A clone's files, with what is changed and not yet committed; an unpacked archive's.
{ git ls-files -zco --exclude-standard 2>/dev/null || find . -path "./$build" -prune -o -type f -print0; } | xargs -0 cp -P --parents -t "$tree"
