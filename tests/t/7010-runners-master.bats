#!/usr/bin/env bats
# 7010-runners-master.bats - runners and wheel functions over what the master itself has: caches, files, configuration, keys.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    local dir=$BATS_FILE_TMPDIR
    mkdir -p "$dir/base/sub" "$dir/dev" "$dir/base/_runners" "$dir/pillar" "$dir/outside"
    echo 'one: 1' >"$dir/base/one.sls"
    echo 'two: 2' >"$dir/base/sub/two.sls"
    printf 'a\0b' >"$dir/base/binary"
    echo 'secret' >"$dir/outside/secret"
    ln -s "$dir/outside" "$dir/base/out"
    ln -s one.sls "$dir/base/link"
    echo 'def f(): return 1' >"$dir/base/_runners/mine.py"
    printf "base:\n  '*':\n    - p\n" >"$dir/pillar/top.sls"
    echo 'colour: blue' >"$dir/pillar/p.sls"
    git init -q -b main "$dir/repo"
    echo x >"$dir/repo/x.sls"
    git -C "$dir/repo" add x.sls
    git -C "$dir/repo" -c user.name=t -c user.email=t@t commit -qm x
    export BASE=$dir/base DIR=$dir
    MASTER_LINES=("file_roots: {base: [$dir/base], dev: [$dir/dev]}" "pillar_roots: {base: [$dir/pillar]}"
        "fileserver_backend: [roots, gitfs]" "gitfs_remotes: ['file://$dir/repo']" "gitfs_update_interval: 3600"
        "id: the_master" "default_include: master.d/*.conf")
    MINION_LINES=('grains: {role: web}')
    fleet_up m1 m2
}

teardown_file() {
    fleet_down
}

json() { salt-run "$@" --out=json --out-indent=-1; }
# A wheel function, from the command line: through the execution module on the master.
wheel() { json salt.cmd saltutil.wheel "$@" | sed -E 's/^\{.*"return": (.*), "retcode".*/\1/'; }
fails() { run "$@"; [ "$status" -ne 0 ]; }

@test "no descriptor is left for a runner's thread: the master lives on, and the runner runs when there are some again" {
    stop master
    start_master
    wait_connected m1 m2 # who comes later would take the one
    pid=$(pid_of master)
    need_descriptors_of "$pid"
    # One for who asks, and none for what he asks for.
    prlimit --pid "$pid" --nofile=$(($(find "/proc/$pid/fd" -type l | wc -l) + 1)):
    daemon listen-runner "$HALITE_BIN/salt-run" test.arg one
    run ! timeout 1 "$HALITE_BIN/salt-run" test.arg two
    pid_alive "$pid"
    prlimit --pid "$pid" --nofile=1024:
    until_true 10 test -e "$FLEET/pids/listen-runner.rc"
    [ "$(cat "$FLEET/pids/listen-runner.rc")" -eq 0 ]
    grep -q one "$FLEET/log/listen-runner"
    json test.arg three | grep -q three
    wait_connected m1 m2
}

@test "salt.cmd: any execution function, on the master" {
    [ "$(json salt.cmd test.ping)" = true ]
    same_as "$(json salt.cmd test.arg 1 two k=v)" <<<'{"args": [1, "two"], "kwargs": {"k": "v"}}'
    [ "$(json salt.cmd config.get id)" = '"the_master"' ]
    [ "$(json salt.cmd grains.get kernel)" = '"Linux"' ]
    [ "$(json salt.cmd pillar.get colour)" = '""' ]
    [ "$(json salt.cmd pillar.get colour with_pillar=True)" = '"blue"' ]
    [ "$(json salt.cmd cp.get_file_str salt://one.sls)" = '"one: 1\n"' ]
    fails salt-run salt.cmd nosuch.fun
    grep -q "'nosuch.fun' is not available" <<<"$output"
}

@test "cache: grains, pillar and mine are shown and forgotten; banks" {
    json cache.grains m1 | grep -q '"role": "web"'
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
    same_as "$(json cache.pillar m1)" <<<'{"m1": {"colour": "blue"}}'
    [ "$(json cache.clear_pillar m1)" = true ]
    same_as "$(json cache.pillar m1)" <<<'{}'
    [ "$(json cache.clear_pillar)" = false ]
    salt m1 mine.send test.ping >/dev/null
    same_as "$(json cache.fetch minions/m1 mine)" <<<'{"test.ping": true}'
    same_as "$(json cache.list minions)" <<<'["m1", "m2"]'
    same_as "$(json cache.list minions/m1)" <<<'["data", "mine"]'
    [ "$(json cache.flush minions/m1 mine)" = true ]
    same_as "$(json cache.mine)" <<<'{}'
    fails salt-run cache.store minions/m1 data 1
    [ "$(json cache.clear_all m1)" = true ]
    same_as "$(json cache.grains 'm*')" <<<"$(json cache.grains m2)"
    salt m1 saltutil.refresh_grains >/dev/null

    json cache.store shop/fruit apple '{kind: red}'
    json cache.store shop/fruit pear 2
    same_as "$(json cache.list shop/fruit)" <<<'["apple", "pear"]'
    same_as "$(json cache.list shop)" <<<'["fruit"]'
    same_as "$(json cache.fetch shop/fruit apple)" <<<'{"kind": "red"}'
    same_as "$(json cache.fetch shop/fruit nosuch)" <<<'{}'
    [ "$(json cache.flush shop/fruit apple)" = true ]
    [ "$(json cache.flush shop/fruit apple)" = false ]
    [ "$(json cache.flush shop)" = true ]
    same_as "$(json cache.list shop)" <<<'[]'
    fails salt-run cache.fetch ../../etc passwd
    fails salt-run cache.fetch shop/fruit ../../../../../../../etc/passwd
    fails salt-run cache.flush . x
    fails salt-run cache.cloud '*'
    [ "$(json cache.clear_git_lock git_pillar)" = '"No locks were removed"' ]
    fails salt-run cache.clear_git_lock nosuch
    grep -q "Invalid role 'nosuch'" <<<"$output"
}

@test "fileserver: environments, lists, updates, locks" {
    same_as "$(json fileserver.envs)" <<<'["base", "dev", "main"]'
    same_as "$(json fileserver.envs sources=True)" <<<'{"roots": ["base", "dev"], "gitfs": ["main"]}'
    same_as "$(json fileserver.file_list backend=roots saltenv=base)" \
        <<<'["_runners/mine.py", "binary", "link", "one.sls", "out/secret", "sub/two.sls"]'
    same_as "$(json fileserver.file_list saltenv=main)" <<<'["x.sls"]'
    same_as "$(json fileserver.dir_list backend=roots)" <<<'["_runners", "out", "sub"]'
    for words in "file_list backend=nosuch" "envs backend=-roots,-gitfs" "update backend=s3" "clear_lock backend=hg"; do
        fails salt-run fileserver.$words
        grep -q "none of those in fileserver_backend" <<<"$output"
    done
    same_as "$(json fileserver.empty_dir_list)" <<<'[]'
    same_as "$(json fileserver.symlink_list)" <<<'{"link": "one.sls"}'
    same_as "$(json fileserver.lock)" <<<"{\"locked\": [\"Set update lock for gitfs remote 'file://$DIR/repo'\"]}"
    [ "$(json fileserver.lock)" = '"No locks were set"' ]
    git -C "$DIR/repo" branch later
    [ "$(json fileserver.update)" = true ]
    same_as "$(json fileserver.envs backend=git)" <<<'["main"]'
    [ "$(json fileserver.clear_lock remote='*nosuch*')" = '"No locks were removed"' ]
    same_as "$(json fileserver.clear_lock)" <<<"{\"cleared\": [\"Removed update lock for gitfs remote 'file://$DIR/repo'\"]}"
    [ "$(json fileserver.update)" = true ]
    same_as "$(json fileserver.envs backend=git)" <<<'["later", "main"]'
    json fileserver.clear_cache backend=git | grep -q 'The gitfs fileserver cache was successfully cleared'
    [ "$(json fileserver.clear_file_list_cache)" = '{}' ]
    [ "$(json salt.cmd saltutil.runner fileserver.update)" = true ]
    printf 'a:\n  salt.runner:\n    - name: fileserver.update\n' >"$DIR/base/update.sls"
    json state.orchestrate update | grep -q '"comment": "Runner function .fileserver.update. executed."'
    rm "$DIR/base/update.sls"
}

@test "pillar: its cache; git_pillar without remotes" {
    [ "$(json pillar.show_pillar_cache)" = false ]
    [ "$(json pillar.clear_pillar_cache)" = false ]
    same_as "$(json pillar.show_top m1)" <<<'{"base": {"*": ["p"]}}'
    fails salt-run git_pillar.update
    grep -q 'No git_pillar remotes are configured' <<<"$output"
}

@test "git_pillar.update: something new, nothing new, no such remote" {
    git init -q -b main "$DIR/pillars"
    printf "base:\n  '*': [fromgit]\n" >"$DIR/pillars/top.sls"
    echo 'shape: round' >"$DIR/pillars/fromgit.sls"
    commit() { git -C "$DIR/pillars" add -A && git -C "$DIR/pillars" -c user.name=t -c user.email=t@t commit -qm x; }
    commit
    cp "$MASTER_CONF" "$FLEET/before"
    printf 'git_pillar_base: main\next_pillar:\n  - git: ["main file://%s", "main file:///nosuch"]\n' "$DIR/pillars" >>"$MASTER_CONF"
    stop master
    start_master
    # A minion that connects may have had it fetched.
    json git_pillar.update repo="file://$DIR/pillars" | grep -qE '(true|null)'
    same_as "$(json git_pillar.update branch=main)" <<<"{\"main file://$DIR/pillars\": null, \"main file:///nosuch\": false}"
    json pillar.show_pillar m1 | grep -q '"shape": "round"'
    echo 'shape: square' >"$DIR/pillars/fromgit.sls"
    commit
    json git_pillar.update repo="file://$DIR/pillars" | grep -q true
    json pillar.show_pillar m1 | grep -q '"shape": "square"'
    fails salt-run git_pillar.update branch=nosuch
    grep -q 'Specified git branch/repo not found in ext_pillar config' <<<"$output"
    cp "$FLEET/before" "$MASTER_CONF"
    stop master
    start_master
    wait_connected m1 m2
}

@test "survey: who answers alike, and what differs" {
    same_as "$(json survey.hash '*' test.echo same)" <<<'[{"pool": ["m1", "m2"], "result": "same"}]'
    same_as "$(json survey.hash '*' grains.get id survey_sort=up)" \
        <<<'[{"pool": ["m1"], "result": "m1"}, {"pool": ["m2"], "result": "m2"}]'
    json survey.diff '*' grains.get id | grep -q '"diff": "--- m1\\n+++ m2\\n@@ -1 +1 @@\\n-m1+m2"'
    fails salt-run survey.hash '*'
}

@test "saltutil.sync_*: copied and named" {
    same_as "$(json saltutil.sync_runners)" <<<'["runners.mine"]'
    same_as "$(json saltutil.sync_runners)" <<<'[]'
    json saltutil.sync_all | grep -q '"clouds": \[\], "modules": \[\]'
}

@test "what needs salt-ssh or Windows says so" {
    for fun in bootstrap bootstrap_psexec safe_accept; do
        fails salt-run manage.$fun m1
        grep -qE 'There is no (salt-ssh here|minion for Windows)' <<<"$output"
    done
}

@test "manage.versions, list_state and the like" {
    shown=$("$HALITE_BIN/salt-run" --version) && shown=${shown#salt-run }
    same_as "$(json manage.versions)" <<<"{\"Up to date\": {\"m1\": \"$shown\", \"m2\": \"$shown\"}, \"Master\": \"$shown\"}"
    same_as "$(json manage.alived)" <<<'["m1", "m2"]'
    same_as "$(json manage.not_alived)" <<<'[]'
    same_as "$(json manage.list_state subset=m2 show_ip=True)" <<<'{"m2": "127.0.0.1"}'
}

@test "wheel: file_roots and pillar_roots, and nothing outside" {
    same_as "$(wheel file_roots.find one.sls)" <<<"[{\"$BASE/one.sls\": \"txt\"}]"
    same_as "$(wheel file_roots.find sub/two.sls)" <<<"[{\"$BASE/sub/two.sls\": \"txt\"}]"
    same_as "$(wheel file_roots.find binary)" <<<"[{\"$BASE/binary\": \"bin\"}]"
    same_as "$(wheel file_roots.read sub/two.sls)" <<<"[{\"$BASE/sub/two.sls\": \"two: 2\\n\"}]"
    for path in ../outside/secret out/secret "$DIR/outside/secret" sub/../../outside/secret; do
        same_as "$(wheel file_roots.find "$path")" <<<'[]'
        same_as "$(wheel file_roots.read "$path")" <<<'[]'
    done
    wheel file_roots.list_env base | grep -q '"out": {}, "sub": {"two.sls": "f"}'
    wheel file_roots.list_roots | grep -q '"dev": \[{"'
    wheel file_roots.write 'three: 3' new/three.sls
    [ "$(cat "$BASE/new/three.sls")" = 'three: 3' ]
    for path in ../outside/new out/new /etc/new 'a/..' ''; do
        fails salt-run salt.cmd saltutil.wheel file_roots.write x "$path"
    done
    [ "$(ls "$DIR/outside")" = secret ]
    wheel file_roots.write x y index=7 | grep -q 'Specified index 7 in environment base is not present'
    wheel pillar_roots.write 'colour: red' p.sls
    same_as "$(wheel pillar_roots.read p.sls)" <<<"[{\"$DIR/pillar/p.sls\": \"colour: red\"}]"
}

@test "wheel: config, checked before it is written" {
    wheel config.values | grep -q '"id": "the_master"'
    wheel config.update_config gui '{timeout: 11}' | grep -q 'Wrote gui.conf'
    [ "$(cat "$FLEET/etc/master.d/gui.conf")" = 'timeout: 11' ]
    wheel config.update_config ../evil '{timeout: 11}' | grep -q 'Invalid path'
    fails salt-run salt.cmd saltutil.wheel config.update_config gui '{timeout: [a]}'
    # What an error quotes ends in the middle of a letter: it is told all the same.
    run -1 salt-run salt.cmd saltutil.wheel config.update_config gui "{timeout: $(printf 'x%.0s' {1..99})ü}"
    [[ $output == *"not the text 'xxxx"* ]]
    [ "$(cat "$FLEET/etc/master.d/gui.conf")" = 'timeout: 11' ]
    # Who reads the file goes on reading it, and where it is kept it stays.
    mv "$MASTER_CONF" "$DIR/kept" && ln -s "$DIR/kept" "$MASTER_CONF"
    chmod 640 "$DIR/kept"
    wheel config.apply timeout 7
    grep -q '^timeout: 7$' "$DIR/kept"
    [ -L "$MASTER_CONF" ]
    [ "$(stat -c %a "$DIR/kept")" = 640 ]
    rm "$MASTER_CONF" && mv "$DIR/kept" "$MASTER_CONF"
    before=$(cat "$MASTER_CONF")
    fails salt-run salt.cmd saltutil.wheel config.apply timeout many
    [ "$before" = "$(cat "$MASTER_CONF")" ]
}

@test "wheel: minions, error, key" {
    same_as "$(wheel minions.connected)" <<<'["m1", "m2"]'
    fails salt-run salt.cmd saltutil.wheel error.error Exception boom
    grep -q boom <<<"$output" || { echo "$output"; false; }
    wheel key.list_all | grep -q '"minions": \["m1", "m2"\]'
    wheel key.gen | grep -q 'BEGIN PRIVATE KEY'
    wheel key.gen "keysize='2048'" | grep -q 'BEGIN PRIVATE KEY'
    wheel key.gen_accept web9 | grep -q '"pub"'
    wheel key.list accepted | grep -q web9
    wheel key.delete web9
    run ! grep -q web9 <<<"$(wheel key.list_all)"
    # A key that can't be accepted.
    echo garbage >"$FLEET/master/etc/salt/pki/master/minions_pre/bad1"
    fails salt-run salt.cmd saltutil.wheel key.accept bad1
    grep -q 'accept bad1: ' <<<"$output" || { echo "$output"; false; }
    rm "$FLEET/master/etc/salt/pki/master/minions_pre/bad1"
    wheel key.finger m1 | grep -qE '"m1": "([0-9a-f]{2}:){31}[0-9a-f]{2}"'
    wheel key.finger_master | grep -q '"master.pub"'
    wheel key.print m1 | grep -q 'BEGIN PUBLIC KEY'
    fails salt-run salt.cmd saltutil.wheel key.gen_signature a b c
    same_as "$(wheel key.gen_signature '' '' '')" <<<true
    wheel key.rotate_master | grep -qE '^"([0-9a-f]{2}:){31}[0-9a-f]{2}"$'
    wait_connected m1 m2
}

@test "a private key that a wheel function returns is its caller's alone: in no event, in no return that is kept" {
    listen ends '*/ret'
    # The runner that asks has it in its own return, and so has the orchestration.
    wheel key.gen_accept web9 | grep -q 'BEGIN PRIVATE KEY'
    wait_event ends '"fun":"wheel.key.gen_accept".*"return":"VALUE_TRIMMED","success":true'
    wait_event ends '"fun":"runner.salt.cmd".*"return":"VALUE_TRIMMED","success":true'
    printf 'pair: {salt.wheel: [{name: key.gen}]}\n' >"$BASE/pair.sls"
    json state.orchestrate pair | grep -q 'BEGIN PRIVATE KEY'
    wait_event ends '"fun":"wheel.key.gen".*"return":"VALUE_TRIMMED","success":true'
    wait_event ends '"fun":"runner.state.orchestrate".*"return":"VALUE_TRIMMED","success":true'
    # The run's journal is without it, so that one that is resumed has none to tell.
    jid=$(wait_event ends '"fun":"runner.state.orchestrate"' | grep -oE '"jid":"[0-9]+"' | grep -oE '[0-9]+')
    json state.orchestrate resume="$jid" | grep -q '"return": "VALUE_TRIMMED"'
    # The step's is kept for its note, and what nobody waits for is kept.
    jid=$(wait_event ends '"fun":"wheel.key.gen"' | grep -oE '"jid":"[0-9]+"' | grep -oE '[0-9]+')
    json jobs.lookup_jid "$jid" | grep -q VALUE_TRIMMED
    jid=$(salt-run --async salt.cmd saltutil.wheel key.gen | grep -oE '[0-9]{20}' | head -n 1)
    until_true 10 eval 'json jobs.lookup_jid "$jid" | grep -q VALUE_TRIMMED'
    # What fails is told, and so is what is not a secret.
    fails salt-run salt.cmd saltutil.wheel key.gen_accept ../web9
    wait_event ends '"fun":"wheel.key.gen_accept".*"success":false' | grep -v VALUE_TRIMMED
    wheel key.finger m1 >/dev/null
    wait_event ends '"fun":"wheel.key.finger".*"return":\{"minions":\{"m1":'
    wheel key.delete web9
    unlisten ends
    run ! grep -q PRIVATE "$FLEET/log/listen-ends"
    run ! grep -q PRIVATE <<<"$(salt-run state.event '*' since=1h count=100000 timeout=1)"
    run ! grep -q PRIVATE "$FLEET/master/var/log/salt/audit"
}

@test "every runner and wheel function has its documentation" {
    salt-run doc.runner --out=json | grep -q '"cache.clear_mine_func"'
    salt-run doc.wheel --out=json | grep -q '"file_roots.write"'
    salt-run -d ddns | grep -q 'ddns.add_host:'
}
