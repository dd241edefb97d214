#!/usr/bin/env bats
# files.bats - published attacks on Salt's file server, on what it keeps of minions, and on git: README.md says which.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

commit() { git -C "$1" add . && git -C "$1" -c user.name=t -c user.email=t@t commit -qm "$2"; }

setup_file() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    # Two repositories whose last name is the same, in different environments.
    REPOS=$(mktemp -d "$BATS_FILE_TMPDIR/repos.XXXX")
    export REPOS
    for env in prod dev; do
        git init -q -b "$env" "$REPOS/$env/same"
        echo "of $env" >"$REPOS/$env/same/which"
        commit "$REPOS/$env/same" one
    done
    museum_up "file_recv: True" "fileserver_backend: [roots, gitfs]" \
        "gitfs_remotes: ['file://$REPOS/prod/same', 'file://$REPOS/dev/same']" "on_demand_ext_pillar: [git]"
    echo outside >"$FLEET/outside"
    ln -s "$FLEET/outside" "$FLEET/srv/link"
}
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# Ways up and out, of a name that is there.
OUT=(../outside ../../outside /outside ../srv/../outside './../outside' '..\\outside' '%2e%2e/outside' 'file/../../outside' '....//outside'
    '|../outside' '\u0000../outside' "/../../../../../../../../../../etc/passwd" "../../../../../../../../../../etc/passwd" "~/../outside")

# asked OP PATH ENV [MORE]: adds to `steps` one whole request for a file, with a key as the honest send one, and its answer.
number=0
asked() {
    number=$((number + 1))
    steps+=(send "{\"m\":\"file_open\",\"n\":$number,\"op\":\"$1\",\"path\":\"$2\",\"saltenv\":\"$3\",\"credit\":4,\"key\":\"$(printf '0%.0s' {1..64})\"${4:-}}"
        expect "\"n\":$number[,}]")
}
# All steps are said and answered; what came is in the file. No request was turned away for its form or their number.
all_said() { # RECORD
    RECORD=$1 evil_says "${steps[@]}" >/dev/null
    not grep -qE 'without its key|too many|no such operation' "$1"
}

@test "CVE-2020-11652, CVE-2024-22232: paths that lead out of file_roots" {
    steps=()
    for op in get hash files dirs empty_dirs links; do
        for path in "${OUT[@]}" "$FLEET/outside"; do
            asked "$op" "$path" base
        done
    done
    asked get file base && steps+=(expect '"file_end"')
    all_said "$BATS_TEST_TMPDIR/record"
    not grep -qE '^outside|root:|"size":8' "$BATS_TEST_TMPDIR/record"
    grep -q '^served' "$BATS_TEST_TMPDIR/record"
    # The same for environments.
    steps=()
    for env in .. ../srv ../.. / "$FLEET" '' . '../../etc' '\u0000' 'base/..' __env__ '%2e%2e'; do
        for path in outside passwd "$FLEET/outside" which; do
            asked get "$path" "$env"
        done
    done
    all_said "$BATS_TEST_TMPDIR/record"
    not grep -qE '^outside|root:' "$BATS_TEST_TMPDIR/record"
}

@test "CVE-2020-11652, CVE-2021-25282: wheel functions that write and read files stay in their roots" {
    for path in ../harm.sls ../../harm /harm harm/../../harm "$FLEET/harm" '..' 'link'; do
        for fun in pillar_roots.write file_roots.write; do
            ask "{\"op\":\"wheel\",\"fun\":\"$fun\",\"arg\":[\"x\",\"$path\"]}" >/dev/null || :
            ask "{\"op\":\"wheel\",\"fun\":\"$fun\",\"arg\":[\"x\",\"$path\",\"../..\",0]}" >/dev/null || :
        done
    done
    for path in ../outside ../../../../../../../../etc/passwd "$FLEET/outside" link; do
        for fun in pillar_roots.read file_roots.read; do
            (ask "{\"op\":\"wheel\",\"fun\":\"$fun\",\"arg\":[\"$path\"],\"follow\":true}" || :) >>"$BATS_TEST_TMPDIR/read"
        done
    done
    not grep -qE 'root:x|"outside' "$BATS_TEST_TMPDIR/read"
    [ "$(cat "$FLEET/outside")" = outside ]
    # Below its root a name is as good as any.
    rm -rf "$FLEET/srv/harm" "$FLEET/pillar/harm"
}

@test "CVE-2024-38824: a pushed file stays in its minion's folder" {
    steps=()
    for path in "${OUT[@]}" ../../../harm ../../m1/files/harm /tmp/harm ../../../../jobs.db; do
        asked put "$path" base ',"size":1'
        steps+=(send "{\"m\":\"file_part\",\"n\":$number,\"at\":0}" send "{\"m\":\"file_done\",\"n\":$number,\"tag\":\"x\"}")
    done
    others=(-not -path "$FLEET/master/var/cache/salt/master/minions/evil/*" -newer "$SERVER")
    fleet_files "${others[@]}" >"$BATS_TEST_TMPDIR/before"
    all_said "$BATS_TEST_TMPDIR/record"
    fleet_files "${others[@]}" | diff "$BATS_TEST_TMPDIR/before" -
    # A link in the folder leads nowhere either.
    mkdir -p "$FLEET/master/var/cache/salt/master/minions/m1/files"
    ln -s "$FLEET" "$FLEET/master/var/cache/salt/master/minions/m1/files/up"
    mkdir -p "$FLEET/m1/up"
    echo pushed >"$FLEET/in-m1"
    salt m1 cp.push "$FLEET/in-m1" upload_path=up/harm >/dev/null || :
    salt m1 cp.push "$FLEET/in-m1" upload_path=../harm >/dev/null || :
    [ ! -e "$FLEET/harm" ]
    find "$FLEET/master/var/cache" -name harm -delete
}

@test "CVE-2025-22240: environments that are paths, where branches are environments" {
    steps=()
    asked get which prod && steps+=(expect '"file_end"')
    all_said "$BATS_TEST_TMPDIR/fine"
    grep -q '^of prod' "$BATS_TEST_TMPDIR/fine"
    fleet_files "$REPOS" >"$BATS_TEST_TMPDIR/before"
    steps=()
    for env in ../../harm refs/heads/prod prod/../../harm '--upload-pack=touch harm' '-o harm' 'prod^{tree}' '../prod' 'prod:which' 'HEAD'; do
        for op in get hash files; do
            asked "$op" which "$env"
        done
    done
    all_said "$BATS_TEST_TMPDIR/record"
    not grep -q '^of ' "$BATS_TEST_TMPDIR/record"
    fleet_files "$REPOS" | diff "$BATS_TEST_TMPDIR/before" -
}

@test "CVE-2023-20898: repositories of one name are kept apart" {
    [ "$(salt m1 cp.get_file_str salt://which saltenv=prod --out=newline_values_only)" = 'of prod' ]
    [ "$(salt m1 cp.get_file_str salt://which saltenv=dev --out=newline_values_only)" = 'of dev' ]
    [ "$(salt m2 cp.get_file_str salt://which saltenv=dev --out=newline_values_only)" = 'of dev' ]
}

@test "CVE-2025-22237: a minion's own git address runs nothing, and no setting of it leads elsewhere" {
    steps=()
    n=100
    for remote in "\"master ext::sh -c touch%20$FLEET/harm\"" "\"master --upload-pack=touch\${IFS}$FLEET/harm\"" \
        "\"master -u touch $FLEET/harm\"" "\"master ssh://-oProxyCommand=touch\${IFS}$FLEET/harm/x\"" "\"--upload-pack=touch\${IFS}$FLEET/harm x\"" \
        "\"master \$(touch $FLEET/harm)\"" "\"master file://$REPOS/prod/same; touch $FLEET/harm\"" "\"master |touch $FLEET/harm\"" \
        "{\"prod file://$REPOS/prod/same\": [{\"root\": \"../../../../../../../../../../$FLEET\"}, {\"mountpoint\": \"harm\"}]}" \
        "{\"prod file://$REPOS/prod/same\": [{\"mountpoint\": \"../../../../harm\"}]}" \
        "{\"prod file://$REPOS/prod/same\": [{\"env\": \"../../harm\"}, {\"root\": \"..\"}]}" \
        "{\"prod ssh://localhost:1/x\": [{\"privkey\": \"x -oProxyCommand=touch $FLEET/harm\"}, {\"pubkey\": \"x\"}]}"; do
        steps+=(send "{\"m\":\"pillar_ask\",\"n\":$((n += 1)),\"ext\":{\"git\":[$remote]}}" expect "\"n\":$n")
    done
    DEADLINE=60 evil_says "${steps[@]}" >/dev/null
    [ -d "$FLEET/pillar" ] && [ -d "$FLEET/srv" ]
    [ "$(cat "$FLEET/outside")" = outside ]
    # What was not asked for by name is not there.
    evil_says send "{\"m\":\"pillar_ask\",\"n\":200,\"ext\":{\"cmd_yaml\":\"touch $FLEET/harm\"}}" expect '"n":200' \
        send "{\"m\":\"pillar_ask\",\"n\":201,\"ext\":{\"git\":[],\"cmd_json\":\"touch $FLEET/harm\"}}" expect '"n":201'
}

@test "CVE-2021-21996: what is fetched from an address stays in the cache, whatever the address is called" {
    python3 -B "$HALITE_SRC/tests/lib/webserver.py" "$BATS_TEST_TMPDIR/port" >/dev/null 2>&1 3>&- &
    server=$!
    until_true 10 test -s "$BATS_TEST_TMPDIR/port"
    at=http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")
    for path in /plain/../../../../../../harm '/%2e%2e/%2e%2e/%2e%2e/harm' '/..%2f..%2f..%2fharm' '//../../harm' '/plain?x=../../../harm' '/plain#/../../harm' \
        '/../../../../../../../../../../../../../../../../../'"$FLEET/harm"; do
        salt m1 cp.cache_file "$at$path" >/dev/null || :
        salt m1 cp.get_url "$at$path" "$FLEET/m1/got" >/dev/null || :
        salt m1 state.single file.managed "$FLEET/m1/managed" source="$at$path" source_hash="$at$path" >/dev/null || :
        salt m1 cp.cache_dest "$at$path" --out=newline_values_only >>"$BATS_TEST_TMPDIR/dests" || :
    done
    kill "$server"
    wait "$server" || :
    find "$FLEET/m1/var/cache" -name 'harm*' -delete
    not grep -E '/\.\./' "$BATS_TEST_TMPDIR/dests"
    not grep -vE "^($FLEET/m1/var/cache/salt/minion/extrn_files/|Invalid path|$)" "$BATS_TEST_TMPDIR/dests"
}

@test "CVE-2015-6918: a password in a git address is in no log and no answer" {
    salt m1 git.clone "$FLEET/m1/clone" https://user:SECRET@127.0.0.1:1/x >"$BATS_TEST_TMPDIR/said" 2>&1 || :
    salt m1 state.single git.latest https://user:SECRET@127.0.0.1:1/x target="$FLEET/m1/clone" >>"$BATS_TEST_TMPDIR/said" 2>&1 || :
    stop master
    sed -i "s|^gitfs_remotes:.*|gitfs_remotes: ['https://user:SECRET@127.0.0.1:1/x']|" "$MASTER_CONF"
    printf '%s\n' 'ext_pillar:' '  - git:' '    - master https://user:SECRET@127.0.0.1:1/x' >>"$MASTER_CONF"
    start_master
    wait_connected m1 m2
    salt-run fileserver.update >>"$BATS_TEST_TMPDIR/said" 2>&1 || :
    salt-run git_pillar.update >>"$BATS_TEST_TMPDIR/said" 2>&1 || :
    salt-run pillar.show_pillar m1 >>"$BATS_TEST_TMPDIR/said" 2>&1 || :
    # A state's ID is what the caller called it.
    sed -i '/^ *ID: /d' "$BATS_TEST_TMPDIR/said"
    grep -rl SECRET "$FLEET/log" "$BATS_TEST_TMPDIR/said" "$FLEET/m1/var/log" "$FLEET/master/var/log" 2>/dev/null | tee "$BATS_TEST_TMPDIR/found"
    [ ! -s "$BATS_TEST_TMPDIR/found" ]
}
