#!/bin/bash
# statics.sh - a function's name says whose it is: no static begins with s_, and few names are those of functions in two files,
# so that a search for one finds one. Of two with one name, each begins with the stem of its file.
set -u
cd "$(dirname "$0")/../.." || exit 2
MOST=30 # main, and pairs that a reader keeps apart by their folders
names() { git ls-files -co --exclude-standard 'src/*.c' | while read -r f; do grep -oE '^[a-z][a-z0-9_]*\(' "$f" | sort -u; done; }
rc=0
if git ls-files -co --exclude-standard 'src/*.c' | xargs grep -nE '^s_[a-z0-9_]+\('; then
    echo 'statics begin with s_: leave that out'
    rc=1
fi
twice=$(names | sort | uniq -d | tr -d '(')
n=$(grep -c . <<<"$twice")
if [ "$n" -gt "$MOST" ]; then
    echo "$n names are those of functions in two files, at most $MOST may be; put the file's stem in front of yours:" $twice
    rc=1
fi
exit $rc
