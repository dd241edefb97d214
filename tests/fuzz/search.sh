#!/usr/bin/env bash
# search.sh - looks for new inputs with libFuzzer until each target has had so much time of a processor in all.
#
#   search.sh BUILD SECONDS NAME...           CASES: folders of recorded cases, which a search begins with
#
# Goes round in slices, so a search that is cut short has looked at all alike. BUILD/found/NAME holds the inputs that
# reach something new, BUILD/found/NAME.spent the seconds of processor that a target has had: the next call goes on from
# there. An input that fails is named and ends the search with 1.
set -euo pipefail
build=$1 wanted=$2
shift 2
slice=${FUZZ_SLICE:-60}
found=$build/found
interrupted=72 # what libFuzzer ends with after Ctrl-C
limits=(-timeout=300 -rss_limit_mb=4096) # a machine at work is slow, and a template's value may have a gigabyte

spent() { cat "$found/$1.spent" 2>/dev/null || echo 0; }

# What is new of the seeds, once for each target.
begin() {
    local seeds=$found/seeds.$1
    [ -d "$found/$1" ] && return 0
    # shellcheck disable=SC2086 # several folders
    tests/fuzz/seeds.py "$seeds" "$1" ${CASES:-tests/cases}
    mkdir -p "$found/$1.new"
    "$build/tests/fuzz/search_$1" -merge=1 "${limits[@]}" "-artifact_prefix=$found/$1-" "$found/$1.new" "$seeds" >"$found/$1.log" 2>&1 ||
        return 1
    rm -rf "$seeds"
    mv "$found/$1.new" "$found/$1"
}

# One slice of a target: NAME SECONDS
search() {
    local took rc=0
    local TIMEFORMAT='%U %S'
    begin "$1" || rc=$?
    [ "$rc" = 0 ] && took=$({ time "$build/tests/fuzz/search_$1" "-max_total_time=$2" "${limits[@]}" -print_final_stats=0 -verbosity=0 \
        "-artifact_prefix=$found/$1-" "$found/$1" "tests/fuzz/corpus/$1" >"$found/$1.log" 2>&1; } 2>&1) || rc=$?
    awk -v had="$(spent "$1")" '{ printf "%.0f\n", had + $1 + $2 }' <<<"${took:-0 0}" >"$found/$1.spent.new"
    mv "$found/$1.spent.new" "$found/$1.spent"
    [ "$rc" = 0 ] && return 0
    if [ "$rc" = "$interrupted" ]; then
        echo "fuzz: interrupted; the next call goes on from here" >&2
        return 1
    fi
    tail -40 "$found/$1.log" >&2
    echo "fuzz $1: an input fails; it is the newest of $found/$1-*, and $found/$1.log says how" >&2
    return 1
}

mkdir -p "$found"
left=1
while [ "$left" = 1 ]; do
    left=0
    for name in "$@"; do
        need=$((wanted - $(spent "$name")))
        [ "$need" -gt 0 ] || continue
        left=1 # a slice has seconds of the clock, in which a machine at work may give it few of a processor
        echo "  FUZZ $name: $(spent "$name") of $wanted s, $(find "$found/$name" -type f 2>/dev/null | wc -l) inputs"
        search "$name" "$((need < slice ? need : slice))"
    done
done
echo "fuzz: each of $# targets has had $wanted s of a processor or more"
