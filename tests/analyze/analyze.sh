#!/usr/bin/env bash
# analyze.sh - static analysis of src: gcc's -fanalyzer, clang-tidy, cppcheck. What they find is a line
# "TOOL CHECK FILE"; those in `explained` are known to be wrong, with the reason. Anything else fails.
#
#   BUILD=dir tests/analyze/analyze.sh [gcc|tidy|cppcheck]...      a quarter of an hour in all
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
logs=$build/analyze
flags=(-Iinclude -Isrc "-I$build" -D_GNU_SOURCE '-DHALITE_VERSION="3006.0"' '-DHALITE_RELEASE="1.0.0"' -std=gnu17)
# bugprone-*: without those that are taste (names, order of parameters, assignments in conditions).
checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,bugprone-*'
checks+=',-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-narrowing-conversions'
checks+=',-bugprone-implicit-widening-of-multiplication-result,-bugprone-assignment-in-if-condition'
checks+=',-bugprone-branch-clone,-bugprone-macro-parentheses,-bugprone-sizeof-expression,misc-redundant-expression'
mkdir -p "$logs"
mapfile -t sources < <(find src -name '*.c' | sort)

each() {
    printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} "$@"
}

run_gcc() {
    each gcc "${flags[@]}" -O1 -fanalyzer -c {} -o /dev/null 2>&1
}

run_tidy() {
    each clang-tidy --quiet "-checks=$checks" {} -- "${flags[@]}" 2>/dev/null | sed "s#^$PWD/##"
}

# It does not know the macros of jansson.
run_cppcheck() {
    cppcheck -q -j "$(nproc)" --std=c11 --enable=warning,performance,portability --library=posix \
        -Iinclude -Isrc "-I$build" -D_GNU_SOURCE '-DHALITE_VERSION="3006.0"' '-DHALITE_RELEASE="1.0.0"' \
        '-Djson_array_foreach(a,i,v)=while((v=json_array_get(a,(i=0)+1)))' \
        '-Djson_object_foreach(o,k,v)=while((k=json_object_iter_key(o),v=json_object_get(o,k)))' -D__x86_64__=1 \
        --suppress=missingIncludeSystem --template='{file}:{line}:{column}: {severity}: {message} [{id}]' src 2>&1
}

# "FILE:LINE:COLUMN: warning: text [CHECK]" of all three.
findings() {
    sed -n -E 's#^([^: ]+\.[ch]):[0-9]+:[0-9]+: (warning|error|portability|performance|style): .*\[(-W)?([A-Za-z0-9.,_-]+)\]$#\4 \1#p' "$1" |
        sort | uniq -c | while read -r n check file; do echo "$2 $check $file $n"; done
}

# A reason may be for a whole check ("*"), or for so many places of a file.
is_explained() {
    awk -v tool="$1" -v check="$2" -v file="$3" -v n="$4" '
        /^#/ || NF == 0 { next }
        $1 == tool && $2 == check && ($3 == "*" || ($3 == file && $4 >= n)) { found = 1 }
        END { exit !found }' tests/analyze/explained
}

declare -A programs=([gcc]=gcc [tidy]=clang-tidy [cppcheck]=cppcheck)
rc=0
for tool in "${@:-gcc tidy cppcheck}"; do
    for one in $tool; do
        echo "  ANALYZE $one"
        command -v "${programs[$one]}" >/dev/null || { echo "${programs[$one]} is not installed" && rc=1 && continue; }
        "run_$one" >"$logs/$one.log"
        while read -r name check file n; do
            is_explained "$name" "$check" "$file" "$n" && continue
            rc=1
            echo "$name: $check, $n in $file:"
            grep -F "$check]" "$logs/$one.log" | grep -F "$file:" | sort -u
        done < <(findings "$logs/$one.log" "$one")
    done
done
exit $rc
