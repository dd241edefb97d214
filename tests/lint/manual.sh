#!/bin/bash
# manual.sh - man and, where it is installed, mandoc find nothing wrong with the manual pages.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/environment.sh # man makes lines as narrow as the caller's terminal
rc=0
for page in "${BUILD:-build}"/man/*; do
    [ -e "$page" ] || { echo "no manual pages are built: make man"; exit 2; }
    if type man >/dev/null 2>&1; then
        said=$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || { echo "$said"; rc=1; }
    fi
    if type mandoc >/dev/null 2>&1; then
        # Lines are as long as their texts, and other packages' pages need not be here.
        said=$(mandoc -Tlint -Wwarning "$page" 2>&1)
        [ -z "$said" ] || { echo "$said"; rc=1; }
    fi
done
exit $rc
