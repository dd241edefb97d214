#!/usr/bin/env bats
# 4000-files.bats - the file server over a real connection: contents, lists, environments, what is hostile, and daemons
# that are killed in the middle of a download.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree
    mkdir -p "$TREE"/{base/d/sub,base/empty,dev}
    echo one >"$TREE/base/a"
    echo 'id: {{ grains.id }}' >"$TREE/base/t"
    printf 'x\0y\377' >"$TREE/base/d/bytes"
    : >"$TREE/base/d/sub/nothing"
    echo dev >"$TREE/dev/a"
    ln -s a "$TREE/base/link"
    ln -s /etc/hostname "$TREE/base/away"
    echo secret >"$BATS_FILE_TMPDIR/secret"
    MASTER_LINES=("file_roots: {base: [$TREE/base], dev: [$TREE/dev]}")
    fleet_up web1 web2
    export CACHE=$FLEET/web1/var/cache/salt/minion OUT=$BATS_FILE_TMPDIR/out
    mkdir -p "$OUT"
}

teardown_file() {
    fleet_down
}

call() { salt web1 "$@" --out=json --static | tr -d '\n ' | sed -e 's/^{"web1"://' -e 's/}$//'; }
big() { head -c "${1:-50000000}" /dev/urandom >"$TREE/base/big"; }
no_parts() { [ -z "$(find "$CACHE" "$OUT" -name '*.part*')" ]; }

@test "a file: to a place, to the cache, as text; the same bytes" {
    [ "$(call cp.get_file salt://d/bytes "$OUT/bytes")" = "\"$OUT/bytes\"" ]
    cmp "$TREE/base/d/bytes" "$OUT/bytes"
    [ "$(call cp.cache_file salt://d/sub/nothing)" = "\"$CACHE/files/base/d/sub/nothing\"" ]
    [ -f "$CACHE/files/base/d/sub/nothing" ] && [ ! -s "$CACHE/files/base/d/sub/nothing" ]
    [ "$(call cp.get_file_str salt://a)" = '"one\n"' ]
    [ "$(call cp.get_file_str salt://a saltenv=dev)" = '"dev\n"' ]
    [ "$(call cp.get_file_str 'salt://a?saltenv=dev')" = '"dev\n"' ]
    [ "$(call cp.get_template salt://t "$OUT/t")" = "\"$OUT/t\"" ]
    [ "$(cat "$OUT/t")" = "id: web1" ]
    no_parts
}

@test "lists, environments, digests" {
    [ "$(call cp.list_master)" = '["a","away","d/bytes","d/sub/nothing","link","t"]' ]
    [ "$(call cp.list_master prefix=d/s)" = '["d/sub/nothing"]' ]
    [ "$(call cp.list_master_dirs)" = '["d","d/sub","empty"]' ]
    [ "$(call cp.list_master_symlinks)" = '{"link":"a"}' ]
    [ "$(call cp.envs)" = '["base","dev"]' ]
    [ "$(call cp.hash_file salt://a)" = "{\"hash_type\":\"sha256\",\"hsum\":\"$(sha256sum <"$TREE/base/a" | cut -d' ' -f1)\"}" ]
    [ "$(call cp.stat_file salt://a)" = "\"0$(stat -c %a "$TREE/base/a")\"" ]
    [ "$(call cp.get_dir salt://d "$OUT")" = "[\"$OUT/d/bytes\",\"$OUT/d/sub/nothing\"]" ]
}

@test "a changed file is fetched again, an equal one is not" {
    call cp.cache_file salt://a
    local inode
    inode=$(stat -c %i "$CACHE/files/base/a")
    call cp.cache_file salt://a
    [ "$(stat -c %i "$CACHE/files/base/a")" = "$inode" ]
    echo two >"$TREE/base/a"
    [ "$(call cp.get_file_str salt://a)" = '"two\n"' ]
    echo one >"$TREE/base/a"
}

@test "salt-call: the same over a connection of its own" {
    [ "$(salt_call web1 cp.get_file_str salt://a --out=newline_values_only)" = one ]
    run --separate-stderr salt_call web1 cp.list_master --out=json --out-indent=-1
    [ "$output" = '{"local": ["a", "away", "d/bytes", "d/sub/nothing", "link", "t"]}' ]
    run --separate-stderr salt_call web1 cp.get_file salt://nosuch "$OUT/x" --out=json --out-indent=-1
    [ "$output" = '{"local": ""}' ]
}

@test "no path leads out of the roots" {
    local url
    for url in salt://../secret salt://d/../../../secret salt:///etc/passwd 'salt://|/etc/passwd' salt://./../secret; do
        [ "$(call cp.get_file "$url" "$OUT/stolen")" = '""' ]
        [ "$(call cp.cache_file "$url")" = false ]
    done
    [ "$(call cp.get_file salt://secret "$OUT/stolen" saltenv=../..)" = '""' ]
    [ "$(call cp.list_master ../..)" = '[]' ]
    [ ! -e "$OUT/stolen" ]
}

@test "links lead out only while fileserver_followsymlinks allows it" {
    [ "$(call cp.get_file salt://away "$OUT/away")" = "\"$OUT/away\"" ]
    cmp /etc/hostname "$OUT/away"
    cp "$MASTER_CONF" "$FLEET/etc/master.was"
    echo 'fileserver_followsymlinks: false' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 5 not_followed
    [ "$(call cp.get_file_str salt://link)" = '"one\n"' ]
    mv "$FLEET/etc/master.was" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 5 not not_followed
}
not_followed() { [ "$(call cp.get_file salt://away "$OUT/away2")" = '""' ]; }

# ---- in the middle of a download ----------------------------------------------------------------------------------

# A download of a large file, slowed down by stopping the master as soon as the part has bytes; where nobody has seen it
# grow, once more. Its jid in JID.
half_way() {
    local times halted=
    big
    for times in {1..20}; do
        rm -f "$CACHE/files/base/big"
        JID=$(salt web1 cp.cache_file salt://big --async | grep -oE '[0-9]{20}')
        until_true 10 eval 'part_grows || [ -e "$CACHE/files/base/big" ]'
        [ -z "$halted" ] || return 0
    done
    false
}
part() { find "$CACHE/files/base" -name '.big.part' -size +0c 2>/dev/null | grep -q .; }
part_grows() { part && kill -STOP "$(pid_of master)" && halted=yes; }
returned() { "$HALITE_BIN/salt-run" jobs.lookup_jid "$JID" --out=json | grep -q files/base/big; }

@test "the master is killed meanwhile: the download goes on with the next one" {
    half_way
    stop master KILL
    start_master
    until_true 30 returned
    cmp "$TREE/base/big" "$CACHE/files/base/big"
    no_parts
}

@test "the networking process is killed meanwhile: the next one goes on" {
    half_way
    kill -KILL "$(session_pid web1)"
    kill -CONT "$(pid_of master)"
    until_true 30 returned
    cmp "$TREE/base/big" "$CACHE/files/base/big"
    no_parts
}

@test "the minion is killed meanwhile: the next download takes up what is there" {
    half_way
    kill -KILL "$(session_pid web1)"
    stop web1 KILL
    kill -CONT "$(pid_of master)"
    part
    start_minion web1
    wait_connected web1
    [ "$(call cp.cache_file salt://big)" = "\"$CACHE/files/base/big\"" ]
    cmp "$TREE/base/big" "$CACHE/files/base/big"
    no_parts
}

@test "what is left of another file is not mixed in" {
    big 3000000
    rm -f "$CACHE/files/base/big"
    head -c 2000000 /dev/zero >"$CACHE/files/base/.big.part"
    [ "$(call cp.cache_file salt://big)" = "\"$CACHE/files/base/big\"" ]
    cmp "$TREE/base/big" "$CACHE/files/base/big"
    rm -f "$CACHE/files/base/big"
    head -c 4000000 /dev/zero >"$CACHE/files/base/.big.part"
    call cp.cache_file salt://big
    cmp "$TREE/base/big" "$CACHE/files/base/big"
    no_parts
}

# ---- salt-cp --------------------------------------------------------------------------------------------------------

salt-cp() { "$HALITE_BIN/salt-cp" "$@"; }

@test "salt-cp: a text file, as Salt shows it" {
    echo text >"$OUT/src.txt"
    mkdir -p "$OUT/to"
    run --separate-stderr salt-cp web1 "$OUT/src.txt" "$OUT/to"
    [ "$status" -eq 0 ]
    same_as "$output" <<EOF
web1:
    ----------
    $OUT/to/src.txt:
        True
EOF
    [ "$(cat "$OUT/to/src.txt")" = text ]
    run --separate-stderr salt-cp web1 "$OUT/src.txt" "$OUT/nosuch/x"
    [ "$output" = $'web1:\n    Destination unavailable' ]
    [ "$status" -eq 1 ]
    run --separate-stderr salt-cp web1 "$OUT/src.txt" "$OUT/nosuch/src.txt"
    [ "$output" = "web1:"$'\n'"    ----------"$'\n'"    $OUT/nosuch/src.txt:"$'\n'"        False" ]
    [ "$status" -eq 1 ]
}

@test "salt-cp: what it can't send that way is said before anything is sent" {
    run --separate-stderr salt-cp web1 "$TREE/base/d" "$OUT/to"
    [ "$status" -eq 1 ]
    [ "$output" = "$TREE/base/d is a directory, only files are supported in non-chunked mode. Use \"--chunked\" command line argument." ]
    run --separate-stderr salt-cp web1 "$TREE/base/d/bytes" "$OUT/to"
    [ "$status" -eq 42 ]
    [ "$stderr" = "$TREE/base/d/bytes is not text in UTF-8: use --chunked" ]
    run --separate-stderr salt-cp web1 "$OUT/nosuch" "$OUT/to"
    [ "$stderr" = "The referenced file, $OUT/nosuch is not available." ]
    run salt-cp web1 "$OUT/src.txt"
    [ "$status" -eq 2 ] || [ "$status" -eq 64 ]
}

@test "salt-cp: two sources of one name are refused, not written over each other" {
    mkdir -p "$OUT/one" "$OUT/two" "$OUT/both"
    echo 1 >"$OUT/one/file"
    echo 2 >"$OUT/two/file"
    for how in --out=txt --chunked; do
        run -64 --separate-stderr salt-cp "$how" web1 "$OUT/one/file" "$OUT/two/file" "$OUT/both"
        [ "${stderr_lines[-1]}" = "salt-cp: error: $OUT/one/file and $OUT/two/file would both be 'file' on the minions: copy them one by one" ]
        [ -z "$(ls "$OUT/both")" ]
    done
    run -0 --separate-stderr salt-cp web1 "$OUT/one/file" "$OUT/one/file" "$OUT/both"
    [ "$(cat "$OUT/both/file")" = 1 ]
}

@test "salt-cp --chunked: folders, any bytes, permissions, empty folders" {
    head -c 300000 /dev/urandom >"$OUT/large"
    chmod 640 "$OUT/large"
    run --separate-stderr salt-cp -C web1 "$OUT/large" "$OUT/copy"
    [ "$status" -eq 0 ]
    cmp "$OUT/large" "$OUT/copy"
    [ "$(stat -c %a "$OUT/copy")" = 640 ]
    run --separate-stderr salt-cp --chunked -n web1 "$TREE/base/d" "$TREE/base/empty" "$OUT/tree"
    [ "$status" -eq 0 ]
    diff -r "$TREE/base/d" "$OUT/tree/d"
    [ -d "$OUT/tree/empty" ]
    [[ $output == *"$OUT/tree/d/sub/nothing"* ]]
    run --separate-stderr salt-cp --chunked web1 "$TREE/base/empty" "$OUT/large"
    [ "$status" -eq 1 ]
}

@test "salt-cp: a source in another one is refused" {
    mkdir -p "$OUT/outer/inner" && echo x >"$OUT/outer/inner/two"
    run -64 --separate-stderr salt-cp --chunked web1 "$OUT/outer" "$OUT/outer/inner" "$OUT/dest"
    [[ $stderr == *"$OUT/outer/inner is in $OUT/outer, which brings it along"* ]]
    run -64 --separate-stderr salt-cp --chunked web1 "$OUT/outer/inner" "$OUT/outer" "$OUT/dest"
    [ ! -e "$OUT/dest" ]
}

@test "salt-cp --chunked: nothing in a folder is left out without a word, nor waited for" {
    mkdir -p "$OUT/mixed/sub"
    echo text >"$OUT/mixed/file"
    echo text >"$OUT/mixed/sub/"$'caf\xe9'
    run -42 --separate-stderr timeout 20 "$HALITE_BIN/salt-cp" --chunked web1 "$OUT/mixed" "$OUT/taken"
    [ "$stderr" = "$OUT/mixed/sub/"$'caf\xe9'" has a name that is not UTF-8" ]
    rm "$OUT/mixed/sub/"*
    mkfifo "$OUT/mixed/sub/fifo"
    run -42 --separate-stderr timeout 20 "$HALITE_BIN/salt-cp" --chunked web1 "$OUT/mixed" "$OUT/taken"
    [ "$stderr" = "$OUT/mixed/sub/fifo is neither a file nor a folder" ]
    run -64 --separate-stderr salt-cp web1 "$OUT/mixed/file" "$OUT/"$'\xe9'
    [ "${stderr_lines[-1]}" = "salt-cp: error: the destination has a name that is not UTF-8" ]
    [ ! -e "$OUT/taken" ]
}

# A file that salt-cp reads as it is written here: two pieces are sent, and it waits for more. Sets CP to its process.
cp_halfway() {
    mkfifo "$OUT/fifo"
    exec 7<>"$OUT/fifo"
    echo old >"$OUT/target"
    "$HALITE_BIN/salt-cp" --chunked web1 "$OUT/fifo" "$OUT/target" >"$OUT/said" 2>&1 7<&- &
    CP=$!
    # For writing alone, and without the descriptor that keeps a reader there: who writes ends with who reads.
    { head -c 200000 /dev/zero | tr '\0' x >"$OUT/fifo"; } 7<&- &
    until_true 10 has_part
}
has_part() { [ -n "$(find "$OUT" -name '.target.*.part' -size +60k)" ]; }
no_copies() { [ -z "$(find "$OUT" -name '*.part')$(ls -A "$CACHE/cp_parts")" ]; }
clean_fifo() {
    exec 7>&-
    rm -f "$OUT/fifo" "$OUT/target"
}

@test "salt-cp --chunked: the old file stays until all has come" {
    cp_halfway
    [ "$(cat "$OUT/target")" = old ]
    [ "$(stat -c %a "$(find "$OUT" -name '.target.*.part')")" = 600 ]
    until_true 10 eval '[ "$(cat "$OUT"/.target.*.part | wc -c)" -gt 130000 ]'
    exec 7>&- # the end of the file
    wait "$CP"
    [ "$(wc -c <"$OUT/target")" -eq 200000 ]
    no_copies
    clean_fifo
}

@test "salt-cp --chunked: minions that share a file system do not mix up what they get" {
    head -c 400000 /dev/urandom >"$OUT/large"
    salt-cp --chunked 'web*' "$OUT/large" "$OUT/shared"
    cmp "$OUT/large" "$OUT/shared"
    no_copies
    [ -z "$(ls -A "$FLEET/web2/var/cache/salt/minion/cp_parts")" ]
    rm "$OUT/shared"
}

@test "salt-cp --chunked, killed: the minion keeps the old file, and does not keep the part for ever" {
    cp_halfway
    kill -9 "$CP"
    wait "$CP" || :
    [ "$(call cp.recv_forget)" = '[]' ]
    has_part
    touch -d '2 hours ago' "$OUT"/.target.*.part "$CACHE"/cp_parts/*
    stop web1
    start_minion web1
    wait_connected web1
    until_true 10 no_copies
    [ "$(cat "$OUT/target")" = old ]
    clean_fifo
}

# ---- cp.push --------------------------------------------------------------------------------------------------------

pushed() { echo "$FLEET/master/var/cache/salt/master/minions/web1/files/$1"; }
takes_files() { [ "$(call cp.push "$OUT/small")" = true ]; }

@test "push: off by default" {
    echo small >"$OUT/small"
    [ "$(call cp.push "$OUT/small")" = false ]
    [ ! -e "$FLEET/master/var/cache/salt/master/minions" ]
    grep -q 'file_recv is not set there' "$FLEET/log/web1"
}

@test "push: to the minion's folder and nowhere else, bounded, whole or not at all" {
    cp "$MASTER_CONF" "$FLEET/etc/master.was"
    printf '%s\n' 'file_recv: true' 'file_recv_max_size: 2' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 5 takes_files
    cmp "$OUT/small" "$(pushed "$OUT/small")"
    head -c 2097152 /dev/urandom >"$OUT/limit"
    [ "$(call cp.push "$OUT/limit" upload_path=/deep/limit)" = true ]
    cmp "$OUT/limit" "$(pushed deep/limit)"
    head -c 2097153 /dev/urandom >"$OUT/over"
    [ "$(call cp.push "$OUT/over")" = false ]
    until_log "$FLEET/log/web1" "file_recv_max_size"
    [ ! -e "$(pushed "$OUT/over")" ]
    [ "$(call cp.push "$OUT/small" upload_path=../../../x)" = false ]
    [ "$(call cp.push "$OUT/small" upload_path=a/..)" = false ]
    ln -s "$FLEET/tmp" "$(pushed way)"
    [ "$(call cp.push "$OUT/small" upload_path=way/out)" = false ]
    [ -z "$(ls "$FLEET/tmp")" ]
    mkdir -p "$OUT/many/sub" && touch "$OUT/many/a.conf" "$OUT/many/sub/b.conf" "$OUT/many/c"
    [ "$(call cp.push_dir "$OUT/many" 'glob=*.conf' upload_path=/confs)" = true ]
    [ "$(cd "$(pushed confs)" && find . -type f | sort | tr '\n' ' ')" = './a.conf ./sub/b.conf ' ]
    [ "$(call cp.push "$OUT/small" remove_source=True)" = true ] && [ ! -e "$OUT/small" ]
    [ "$(salt_call web1 -l quiet cp.push "$OUT/limit" upload_path=bycall --out=newline_values_only)" = True ]
    cmp "$OUT/limit" "$(pushed bycall)"
    [ -z "$(find "$(pushed .)" -name '*.part')" ]
    mv "$FLEET/etc/master.was" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
}

shared() { [ "$(salt web2 cp.list_master prefix=pushed --out=json --static | tr -d '\n ')" = "{\"web2\":$1}" ]; }
of_web1() { salt web2 cp.get_file_str "salt://$1" --out=newline_values_only; }

@test "minionfs: pushed files for others, below their minion's id, as the lists allow" {
    cp "$MASTER_CONF" "$FLEET/etc/master.was"
    local minions=$FLEET/master/var/cache/salt/master/minions
    rm -rf "$minions"
    printf '%s\n' 'file_recv: true' 'fileserver_backend: [roots, minion]' 'minionfs_mountpoint: salt://pushed' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    echo small >"$OUT/small"
    until_true 5 takes_files
    [ "$(call cp.push "$OUT/small" upload_path=d/x)" = true ]
    [ "$(call cp.push "$OUT/small" upload_path=top.sls)" = true ]
    [ "$(salt web2 cp.push "$OUT/small" upload_path=own --out=newline_values_only)" = True ]
    shared "[\"pushed/web1/d/x\",\"pushed/web1$OUT/small\",\"pushed/web1/top.sls\",\"pushed/web2/own\"]"
    [ "$(of_web1 pushed/web1/d/x)" = small ]
    [ "$(of_web1 a)" = one ]
    for path in pushed/web1/top.sls pushed/web1/../web1/d/x pushed/.parts/x web1/d/x xxxxxx/web1/d/x pushed/web1; do
        [ "$(of_web1 "$path")" = False ]
    done
    ln -s "$BATS_FILE_TMPDIR/secret" "$minions/web1/files/out"
    ln -s ../../web2/files "$minions/web1/files/others"
    [ "$(of_web1 pushed/web1/out)" = False ]
    [ "$(of_web1 pushed/web1/others/own)" = False ]
    shared "[\"pushed/web1/d/x\",\"pushed/web1$OUT/small\",\"pushed/web1/top.sls\",\"pushed/web2/own\"]"
    echo 'minionfs_blacklist: [web1]' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 5 shared '["pushed/web2/own"]'
    [ "$(of_web1 pushed/web1/d/x)" = False ]
    mv "$FLEET/etc/master.was" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 5 shared '[]'
}

@test "a backend that is not built says what to do instead" {
    mkdir -p "$BATS_TEST_TMPDIR/c"
    echo 'fileserver_backend: [roots, s3fs]' >"$BATS_TEST_TMPDIR/c/master"
    run salt-run -c "$BATS_TEST_TMPDIR/c" fileserver.envs
    [ "$status" -ne 0 ]
    [[ $output == *"'s3fs'"*'file_roots'*'aws s3 sync'* ]]
}

# ---- gitfs ----------------------------------------------------------------------------------------------------------

git_commit() { (cd "$REPO" && git add -A && git -c user.name=t -c user.email=t@t commit -qm "$1"); }
has_envs() { [ "$(call cp.envs)" = "$1" ]; }

@test "gitfs: branches as environments beside file_roots; update by hand" {
    REPO=$BATS_FILE_TMPDIR/repo
    git init -q -b master "$REPO"
    echo git >"$REPO/g" && echo git >"$REPO/a"
    git_commit one
    git -C "$REPO" branch stage
    cp "$MASTER_CONF" "$FLEET/etc/master.was"
    printf '%s\n' 'fileserver_backend: [roots, git]' "gitfs_remotes: ['file://$REPO']" 'gitfs_mountpoint: ""' \
        'fileserver_events: true' >>"$MASTER_CONF"
    listen fetches 'salt/fileserver/*'
    kill -HUP "$(pid_of master)"
    until_true 10 has_envs '["base","dev","stage"]'
    wait_event fetches '"tag":"salt/fileserver/gitfs/update","data":{"changed":true,"backend":"gitfs"'
    [ "$(call cp.get_file_str salt://g)" = '"git\n"' ]
    [ "$(call cp.get_file_str salt://a)" = '"one\n"' ]
    [ "$(call cp.get_file_str salt://a saltenv=stage)" = '"git\n"' ]
    echo more >"$REPO/more"
    git_commit two
    [ "$(call cp.get_file_str salt://more)" = false ]
    run salt-run fileserver.update
    [[ $output == *True* ]]
    [ "$(call cp.get_file_str salt://more)" = '"more\n"' ]
    [ "$(heard fetches '"changed":true')" -eq 2 ]
    salt-run fileserver.update >/dev/null
    wait_event fetches '"changed":false'
    unlisten fetches
    run --separate-stderr salt-run fileserver.envs --out=json --out-indent=-1
    [ "$output" = '["base", "dev", "stage"]' ]
    run --separate-stderr salt-run fileserver.file_list backend=git --out=json --out-indent=-1
    [ "$output" = '["a", "g", "more"]' ]
    run --separate-stderr salt-run fileserver.dir_list backend=-git --out=json --out-indent=-1
    [ "$output" = '["d", "d/sub", "empty"]' ]
    run --separate-stderr salt-run fileserver.empty_dir_list --out=json --out-indent=-1
    [ "$output" = '["empty"]' ]
    run --separate-stderr salt-run fileserver.clear_cache --out=json --out-indent=-1
    [ "$output" = '{"cleared": ["The gitfs fileserver cache was successfully cleared"]}' ]
    [ "$(call cp.get_file_str salt://g)" != 'null' ]
    mv "$FLEET/etc/master.was" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
}

@test "grains_refresh_every, ping_interval: by themselves; source_address: where the master sees the minion" {
    listen ping
    stop web1
    start_minion web1 'grains_refresh_every: 0.005' 'ping_interval: 0.005' 'source_address: 127.0.0.7'
    event=$(wait_event ping '"tag":"minion_ping"')
    grep -qF '"data":"ping"' <<<"$event"
    grep -qF '"id":"web1"' <<<"$event"
    ask '{"op":"minions"}' | grep -q '"address":"127.0.0.7'
    not salt -G 'shelf:nine' test.ping
    echo 'shelf: nine' >"$FLEET/etc/web1/grains"
    until_true 10 salt -G 'shelf:nine' test.ping
    unlisten ping
    rm "$FLEET/etc/web1/grains"
    minion_conf web1
    stop web1
    start_minion web1
    wait_connected web1
}

@test "grains_refresh_pre_exec: a job sees the grains of now" {
    [ "$(call grains.get shelf none)" = '"none"' ]
    echo 'shelf: five' >"$FLEET/etc/web1/grains"
    [ "$(call grains.get shelf none)" = '"none"' ]
    stop web1
    rm "$FLEET/etc/web1/grains"
    start_minion web1 'grains_refresh_pre_exec: true'
    wait_connected web1
    [ "$(call grains.get shelf none)" = '"none"' ]
    echo 'shelf: five' >"$FLEET/etc/web1/grains"
    [ "$(call grains.get shelf none)" = '"five"' ]
    rm "$FLEET/etc/web1/grains"
    minion_conf web1
}

@test "random_startup_delay: the master is called later; the minion can be stopped meanwhile" {
    stop web1
    start_minion web1 'random_startup_delay: 86400' 'log_level: debug'
    until_log "$FLEET/log/web1" 'the master is called in [0-9]+ seconds'
    stop web1
    [ "$RC" -eq 0 ]
    minion_conf web1
    start_minion web1
    wait_connected web1
}

@test "start_event_grains go with the start event; startup_states run after it, and their return is a job's" {
    printf 'up:\n  test.nop: []\n' >"$TREE/base/boot.sls"
    listen boot 'salt/*'
    stop web1
    start_minion web1 'startup_states: sls' 'sls_list: [boot]' 'start_event_grains: [id, kernel, nosuch]'
    event=$(wait_event boot '"tag":"salt/minion/web1/start"')
    grep -qF '"grains":{"id":"web1","kernel":"Linux"}' <<<"$event"
    event=$(wait_event boot '"tag":"salt/job/[0-9]{20}/ret/web1"')
    grep -qF '"fun":"state.sls"' <<<"$event"
    grep -qF '"fun_args":[["boot"]]' <<<"$event"
    grep -qF '"test_|-up_|-up_|-nop"' <<<"$event"
    jid=$(grep -oE '[0-9]{20}' <<<"$event" | head -n 1)
    salt-run jobs.lookup_jid "$jid" | grep -q 'Function: test.nop'
    unlisten boot
    minion_conf web1
}

@test "startup_states that fail are in the minion's log, with how many; those that can't run with why" {
    printf 'up:\n  test.nop: []\ndown:\n  test.fail_without_changes: []\n' >"$TREE/base/half.sls"
    stop web1
    start_minion web1 'startup_states: sls' 'sls_list: [half]'
    until_log "$FLEET/log/web1" "WARNING.*startup_states: 1 of 2 states failed: 'salt-run jobs.lookup_jid [0-9]{20}' on the master shows them"
    stop web1
    start_minion web1 'startup_states: sls' 'sls_list: [nowhere]'
    until_log "$FLEET/log/web1" "WARNING.*startup_states did not run: .*No matching sls found for 'nowhere'"
    stop web1
    minion_conf web1
    start_minion web1
    wait_connected web1
}

# ---- the web --------------------------------------------------------------------------------------------------------

@test "get_url: http; an error of the server is told, nothing half stays" {
    daemon listen-web python3 -u -c "
import functools, http.server
h = functools.partial(http.server.SimpleHTTPRequestHandler, directory='$TREE/base')
s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), h)
print('port', s.server_address[1], flush=True)
s.serve_forever()"
    until_log "$FLEET/log/listen-web" '^port '
    local web
    web=127.0.0.1:$(sed -n 's/^port //p' "$FLEET/log/listen-web")
    [ "$(call cp.get_url "http://$web/d/bytes" "$OUT/web")" = "\"$OUT/web\"" ]
    cmp "$TREE/base/d/bytes" "$OUT/web"
    [ "$(call cp.cache_file "http://$web/a")" = "\"$CACHE/extrn_files/base/${web/:/}/a\"" ]
    [ "$(call cp.get_url "http://$web/a" None)" = '"one\n"' ]
    [ "$(call cp.is_cached "http://$web/a")" = "\"$CACHE/extrn_files/base/${web/:/}/a\"" ]
    run salt web1 cp.get_url "http://$web/nosuch" "$OUT/none"
    [[ $output == *'Error: HTTP 404: File not found reading /nosuch'* ]]
    [ -z "$(ls -A "$OUT" | grep none)" ]
    stop listen-web
}
