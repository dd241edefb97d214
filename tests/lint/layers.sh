#!/bin/bash
# layers.sh - who may include whom: the table of src/README.md as a check. Prints each forbidden include; exit 1 if any.
set -u
cd "$(dirname "$0")/../.." || exit 2

# folder (longest prefix wins)   what its files may include (prefixes of the included path)
rules='
include/salt            salt/
src/common/base         salt/ common/base/
src/common/data         salt/ common/base/ common/data/
src/common/crypto       salt/ common/base/ common/crypto/
src/common/match        salt/ common/base/ common/data/ common/match/
src/common              salt/ common/
src/common/host         salt/ common/base/ common/host/
src/plugins             salt/ plugins/
src/plugins/exec        salt/ common/ plugins/lib/
src/plugins/engine      salt/ common/ plugins/lib/
src/plugins/returner    salt/ common/ plugins/lib/
src/plugins/state       salt/ common/ plugins/lib/
src/plugins/lib         salt/ common/ plugins/lib/
src/plugins/grain       salt/ common/base/ common/data/ common/host/ plugins/grain/
src/plugins/beacon      salt/ common/ plugins/lib/
src/plugins/wheel       salt/ common/ keyring/ plugins/wheel/ master/api.h
src/pyhost              salt/ common/ pyhost/
src/engine              salt/ common/ engine/ plugins/lib/sdb/
src/follower            salt/ common/ follower/
src/keyring             salt/ common/ keyring/
src/uplink              salt/ common/ uplink/
src/minion              salt/ common/ pyhost/ uplink/ minion/
src/master              salt/ common/ keyring/ master/
src/runners             salt/ common/ runners/ plugins/lib/http/ plugins/lib/sdb/ plugins/lib/vault/ master/api.h
src/manual              salt/ common/ manual/ cli/opts.h master/opts.h minion/opts.h api/opts.h
src/auth                salt/ common/ auth/ plugins/lib/http/
src/api                 salt/ common/ api/
src/cli                 salt/ common/ cli/ keyring/
'
git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' 'include/*.h' | xargs grep -Hn '^#include "' | awk -v rules="$rules" '
BEGIN {
    n = split(rules, line, "\n")
    for (i = 1; i <= n; i++) {
        k = split(line[i], w, " ")
        if (k < 2) continue
        m++; folder[m] = w[1]; may[m] = ""
        for (j = 2; j <= k; j++) may[m] = may[m] " " w[j]
    }
}
{
    split($0, part, ":"); file = part[1]
    # Wiring may include anything: it builds the tables and passes them down.
    if (file ~ /\/main_[a-z]+\.c$/) next
    match($0, /"[^"]+"/); inc = substr($0, RSTART + 1, RLENGTH - 2)
    best = 0
    for (i = 1; i <= m; i++)
        if (index(file, folder[i] "/") == 1 && (!best || length(folder[i]) > length(folder[best]))) best = i
    if (!best) { print file ": belongs to no layer: add its folder to the table in tests/lint/layers.sh"; bad = 1; next }
    ok = inc ~ /^gen\//
    k = split(may[best], w, " ")
    for (j = 1; j <= k; j++) if (index(inc, w[j]) == 1) ok = 1
    # A .def or a header beside the file, by its bare name, is the same folder.
    if (inc !~ /\//) ok = 1
    if (!ok) { print file ":" part[2] ": " folder[best] " may not include " inc " (what both need belongs below both: the table in tests/lint/layers.sh)"; bad = 1 }
}
END { exit bad }'
rc=$?

# One library, one user.
one_user() { # header-regex  allowed-path-regex  name
    out=$(git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' | grep -Ev "$2" | xargs grep -lE "^#include <($1)>" || true)
    if [ -n "$out" ]; then echo "$out" | sed "s|\$|: only $3 may include it ($1)|"; rc=1; fi
}
one_user 'yaml\.h' '^src/common/(data/|cli/versions)' 'common/data'
one_user 'sodium\.h' '^src/common/(crypto|cli/versions)' 'common/crypto'
one_user 'pcre2\.h' '^src/common/(match|cli/versions)' 'common/match'
one_user 'sqlite3\.h' '^src/(master/store|common/cli/versions)' 'master/store*'
one_user 'zmq\.h|czmq\.h' '^src/(common/net|common/cli/versions|master/front/front\.h|uplink/(sessions|callsession|session)\.c|uplink/session\.h)' 'common/net and the loops'
one_user 'curl/.*\.h' '^src/plugins/lib/http/web\.h' 'plugins/lib/http/web.h'
exit $rc
