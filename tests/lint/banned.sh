#!/bin/bash
# banned.sh - functions without bounds or with hidden state, unfinished work, and words that do not belong in the tree.
set -u
cd "$(dirname "$0")/../.." || exit 2
rc=0
no() { # regex  reason  [files...]
    local re=$1 why=$2
    shift 2
    out=$(git ls-files -co --exclude-standard "$@" | xargs grep -nE "$re" 2>/dev/null)
    [ -z "$out" ] || { echo "$out" | sed "s|\$|   <- $why|"; rc=1; }
}
no '(^|[^a-zA-Z0-9_>.])(strcpy|strcat|sprintf|vsprintf|strncpy|strncat|gets|strtok|gmtime|localtime|ctime|asctime|tmpnam|mktemp|system|popen|alloca|atoi|atol|sleep|usleep)\(' \
    'banned: use buf_t, str_*, *_r, proc_run' 'src/*.c' 'src/*.h' 'include/*.h'
no '(^|[^A-Z_-])(TOD[O]|FIXM[E]|XX[X]|HAC[K])([^A-Z-]|$)' 'unfinished work is not committed' 'src/*' 'include/*' 'tests/*.c' 'tests/*.sh'
no '[[:blank:]]+$' 'trailing white space' 'src/*.c' 'src/*.h' 'include/*.h' 'Makefile' '*.md'
no '^ +json_auto_t .*, \*[a-z_0-9]+;$' 'cleaned up, and not set: a loop over it leaves a borrowed value, or none' 'src/*.c' 'src/*.h' 'tests/*.c'
exit $rc
