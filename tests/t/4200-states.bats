#!/usr/bin/env bats
# 4200-states.bats - state runs on a real minion: one at a time, paused, ended and killed; parallel steps that need the
# master's files; events; a terminal that waits.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree MARK=$BATS_FILE_TMPDIR/mark
    mkdir -p "$TREE" "$MARK"
    local i
    # A state that tells that it has begun, and waits until it may end.
    cat >"$TREE/gate.sls" <<SLS
gate:
  cmd.run:
    - name: touch $MARK/begun; while [ ! -e $MARK/go ]; do read -t 0.05 <> <(:) || :; done
after:
  test.nop: []
last:
  test.nop: []
SLS
    printf 'nop:\n  test.nop: []\n' >"$TREE/nop.sls"
    for i in 1 2 3; do
        echo "text $i" >"$TREE/file$i"
        printf 'f%s:\n  file.managed:\n    - name: %s/out%s\n    - source: salt://file%s\n    - parallel: True\n' \
            "$i" "$MARK" "$i" "$i"
    done >"$TREE/par.sls"
    printf 'sent:\n  event.send:\n    - name: from/parallel\n    - data: {a: 1}\n    - parallel: True\n' >>"$TREE/par.sls"
    printf 'told:\n  test.nop:\n    - fire_event: done/telling\n' >>"$TREE/par.sls"
    MASTER_LINES=("file_roots: {base: [$TREE]}")
    fleet_up web1
}

teardown_file() {
    touch "$MARK/go"
    fleet_down
}

setup() { rm -rf "${MARK:?}"/*; }

# A run of gate.sls that has begun; its jid in JID.
begin() {
    salt --async web1 state.apply gate >"$MARK/async"
    JID=$(sed -nE 's/.*job ID: ([0-9]+).*/\1/p' "$MARK/async")
    until_true 20 [ -e "$MARK/begun" ]
}
returned() { salt-run jobs.lookup_jid "$JID" --out=json 2>"$MARK/err" | grep -q "$1"; }
idle() { [ "$(salt web1 state.running --out=json --static | tr -d '\n ')" = '{"web1":[]}' ]; }

@test "one run at a time: the second one is told, or waits" {
    begin
    run --separate-stderr salt web1 state.apply nop
    [ "$status" -eq 1 ]
    [[ $output == *"The function \"state.apply\" is running as PID "*" with jid $JID"* ]]
    run -0 salt web1 state.apply nop concurrent=True
    run salt web1 state.apply nop queue=1
    [ "$status" -eq 1 ]
    salt web1 state.apply nop queue=True >"$MARK/queued" &
    local queued=$!
    until_true 10 pid_alive $queued
    salt web1 state.apply nop queue=3 >"$MARK/third" &
    local third=$!
    touch "$MARK/go"
    wait $queued
    grep -q 'Succeeded: 1' "$MARK/queued"
    wait $third
    grep -q 'Succeeded: 1' "$MARK/third"
    until_true 10 idle
}

@test "a run does not begin when nobody can tell whether another one is under way" {
    local claims=$FLEET/web1/var/cache/salt/minion/state_run
    mv "$claims" "$MARK/aside" && : >"$claims"
    run --separate-stderr salt web1 state.apply nop
    rm "$claims" && mv "$MARK/aside" "$claims"
    [ "$status" -ne 0 ]
    [[ $output == *"whether another state run is under way can't be known: $claims: Not a directory"* ]]
    run -0 salt web1 state.apply nop
}

@test "a claim that is held counts, whatever is written in it" {
    local claims=$FLEET/web1/var/cache/salt/minion/state_run fd
    mkdir -p "$claims"
    exec {fd}>"$claims/20200101000000000000"
    flock "$fd"
    run --separate-stderr salt web1 state.apply nop
    exec {fd}>&-
    [ "$status" -eq 1 ]
    [[ $output == *'The function "state.apply" is running as PID 0'*"with jid 20200101000000000000"* ]]
    run -0 salt web1 state.apply nop
}

@test "a run that is queued waits for one that has begun, though its jid is a later one" {
    local claims=$FLEET/web1/var/cache/salt/minion/state_run fd queued
    printf 'a:\n  cmd.run:\n    - name: test -e %s/released\n' "$MARK" >"$TREE/released.sls"
    mkdir -p "$claims"
    exec {fd}>"$claims/20991231000000000000"
    flock "$fd"
    salt web1 state.apply released queue=True {fd}>&- >"$MARK/queued" &
    queued=$!
    until_true 10 eval '[ -s "$MARK/queued" ] || salt web1 saltutil.running | grep -q released'
    touch "$MARK/released"
    exec {fd}>&-
    wait $queued
    grep -q 'Succeeded: 1' "$MARK/queued"
}

@test "two runs that arrive together: one of them goes on" {
    local publish='{"op":"publish","tgt":"web1","tgt_type":"glob","fun":"state.apply","arg":["nop"]}' jid
    for jid in $(ask "$publish" "$publish" | grep -oE '"jid":"[0-9]+"' | grep -oE '[0-9]+'); do
        until_true 10 eval 'salt-run jobs.lookup_jid "$jid" --out=json | grep -q web1'
        salt-run jobs.lookup_jid "$jid" --out=json >>"$MARK/both"
    done
    grep -q '"result": true' "$MARK/both"
    until_true 10 idle
}

@test "pause, resume, soft_kill" {
    begin
    salt web1 state.pause "$JID" last
    salt web1 state.get_pauses --out=json | grep -q '"last"'
    touch "$MARK/go"
    run ! returned '"last"'
    salt web1 state.resume "$JID" last
    until_true 10 returned last
    setup
    begin
    salt web1 state.soft_kill "$JID" after
    touch "$MARK/go"
    until_true 10 returned gate
    returned "\"$(id -un) ended the run before this step by state.soft_kill, at 20"
    run ! returned last
    until_true 10 idle
}

@test "salt-call is told of the minion's run" {
    begin
    run --separate-stderr "$HALITE_BIN/salt-call" --local -l quiet -c "$FLEET/etc/web1" "--file-root=$TREE" state.apply nop
    [ "$status" -ne 0 ]
    [[ $output == *"The function \"state.apply\" is running as PID "*" with jid $JID"* ]]
    touch "$MARK/go"
    until_true 10 idle
    run -0 "$HALITE_BIN/salt-call" --local -l quiet -c "$FLEET/etc/web1" "--file-root=$TREE" state.apply nop
    run -0 --separate-stderr "$HALITE_BIN/salt-call" -c "$FLEET/etc/web1" "--file-root=$TREE" test.ping
    [[ $stderr == *"--file-root has no effect without --local"* ]]
}

@test "a run that is killed leaves nothing in the way of the next" {
    begin
    local pid
    pid=$(salt web1 saltutil.find_job "$JID" --out=json | field pid)
    kill -9 "$pid"
    until_true 10 idle
    run -0 salt web1 state.apply nop
    [[ $output == *'Succeeded: 1'* ]]
    touch "$MARK/go"
}

@test "what a file in Python waits for ends with the run that is killed" {
    command -v python3 >/dev/null || skip "python3 is not installed"
    printf '#!py\nimport os, time\ndef run():\n    with open("%s", "w") as f:\n        print(os.getpid(), file=f)\n    time.sleep(3600)\n' \
        "$MARK/python" >"$TREE/python.sls"
    salt web1 state.apply python --async >/dev/null
    until_true 10 test -s "$MARK/python"
    kill -9 "$(ps -o ppid= -p "$(cat "$MARK/python")" | tr -d ' ')"
    until_true 10 pid_gone "$(cat "$MARK/python")"
    until_true 10 idle
}

@test "parallel steps fetch the master's files and send events" {
    listen par
    run -0 salt web1 state.apply par
    [[ $output == *'Succeeded: 5 (changed=4)'* ]]
    cmp "$TREE/file1" "$MARK/out1"
    cmp "$TREE/file3" "$MARK/out3"
    wait_event par 'from/parallel'
    wait_event par 'salt/state_result/[0-9]+/web1/done/telling'
    unlisten par
}

@test "parallel steps with clean keep what they require" {
    mkdir -p "$TREE/site" "$MARK/conf" "$MARK/web"
    echo served >"$TREE/site/index"
    touch "$MARK/conf/old" "$MARK/web/old"
    cat >"$TREE/sweep.sls" <<SLS
own:
  file.managed: [{names: [$MARK/conf/own, $MARK/web/own]}, {contents: mine}]
$MARK/conf:
  file.directory: [{clean: True}, {parallel: True}, {require: [{file: own}]}]
$MARK/web:
  file.recurse: [{source: salt://site}, {clean: True}, {parallel: True}, {require: [{file: own}]}]
SLS
    run -0 "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/web1" --file-root="$TREE" state.apply sweep
    [ "$(cd "$MARK" && find conf web -type f | sort | tr '\n' ' ')" = 'conf/own web/index web/own ' ]
}

@test "clean in more folders inside each other than there are descriptors" {
    deep=$MARK/dir/$(printf 'a/%.0s' {1..500})
    mkdir -p "$deep"
    touch "$deep/f" "$MARK/dir/z"
    clean() { (ulimit -n 100; exec "$HALITE_BIN/salt-call" --local -l quiet -c "$FLEET/etc/web1" state.single file.directory "$MARK/dir" clean=True "$@"); }
    run -0 clean 'exclude_pat=a*'
    [ -e "$deep/f" ]
    [ ! -e "$MARK/dir/z" ]
    run -0 clean
    [ -z "$(ls "$MARK/dir")" ]
}

@test "salt-call says on a terminal where a long run is, and nothing in a pipe" {
    printf 'slow:\n  cmd.run:\n    - name: sleep 1.2\nshown:\n  test.nop: []\nend:\n  test.nop: []\n' >"$TREE/slow.sls"
    local call="$HALITE_BIN/salt-call --local -l quiet -c $FLEET/etc/web1 --file-root=$TREE state.apply slow --out=quiet"
    script -qec "$call" /dev/null >"$MARK/tty"
    grep -q '\[   1/   3\] cmd.run sleep 1.2, [1-9][0-9]* s' "$MARK/tty"
    [[ $(<"$MARK/tty") == *$'\r\e[K' ]]
    $call >"$MARK/out" 2>&1
    [ ! -s "$MARK/out" ]
    call="$HALITE_BIN/salt-call --local -l quiet -c $FLEET/etc/web1 cmd.run 'sleep 1.5' --out=quiet"
    script -qec "$call" /dev/null >"$MARK/tty"
    [[ $(<"$MARK/tty") =~ ^($'\r\e[Kcmd.run, '[1-9][0-9]*' s')+$'\r\e[K'$ ]]
}

# A call without a master, with an environment more. $1: an SLS; the rest is given too.
call_envs() {
    "$HALITE_BIN/salt-call" --local -l quiet -c "$MARK/etc" --out=quiet state.apply "$@"
}

@test "saltenv of a state is where its files come from" {
    mkdir -p "$MARK/base" "$MARK/dev/tree" "$MARK/etc"
    printf 'id: m1\nfile_client: local\ncachedir: %s/cache\nfile_roots: {base: [%s/base], dev: [%s/dev]}\n' "$MARK" "$MARK" \
        "$MARK" >"$MARK/etc/minion"
    echo 'of base {{ saltenv }}' >"$MARK/base/f"
    echo 'of dev {{ saltenv }}' | tee "$MARK/dev/f" >"$MARK/dev/tree/g"
    cat >"$MARK/base/envs.sls" <<SLS
$MARK/named: {file.managed: [{source: salt://f}, {template: jinja}, {saltenv: dev}]}
$MARK/all: {file.recurse: [{source: salt://tree}, {saltenv: dev}]}
$MARK/own: {file.managed: [{source: salt://f}, {template: jinja}]}
SLS
    call_envs envs
    [ "$(<"$MARK/named")" = "of dev dev" ]
    [ -e "$MARK/all/g" ]
    [ "$(<"$MARK/own")" = "of base base" ]
    printf 'saltenv: base\nlock_saltenv: True\n' >>"$MARK/etc/minion"
    rm -r "$MARK/all"
    run -1 call_envs envs
    [ "$(<"$MARK/named")" = "of base base" ]
}

# Expected bytes are those that Salt 3006 writes for the same tree.
@test "bytes and keys that are numbers reach files and templates" {
    mkdir -p "$MARK/pillar"
    printf 'base: {"*": [p]}\n' >"$MARK/pillar/top.sls"
    printf 'bin: !!binary /wABgA==\nnums: {1: {2: x}}\n' >"$MARK/pillar/p.sls"
    echo '{{ ports }} {{ ports[80] }} {{ big + 1 }} {% for k in ports %}{{ k + 1 }} {% endfor %}' >"$TREE/ports"
    cat >"$TREE/natives.sls" <<SLS
$MARK/sls:
  file.managed:
    - contents: !!binary /wABgA==
$MARK/text:
  file.managed:
    - contents: !!binary aGVsbG8=
$MARK/pillar.bin:
  file.managed:
    - contents_pillar: bin
$MARK/template:
  file.managed:
    - template: jinja
    - source: salt://ports
    - context:
        ports: {80: a, 443: {1: b}}
        big: 123456789012345678901234567890
$MARK/yaml:
  file.serialize:
    - dataset: {80: a, 443: {1: b}}
$MARK/yaml.pillar:
  file.serialize:
    - dataset_pillar: nums
$MARK/yaml.merged:
  file.serialize:
    - dataset: {80: a, z: {443: b}}
    - merge_if_exists: True
$MARK/refused:
  file.managed:
    - template: jinja
    - contents_pillar: bin
SLS
    printf '22: ssh\nz: {1: x}\n' >"$MARK/yaml.merged"
    run "$HALITE_BIN/salt-call" --local -l quiet -c "$FLEET/etc/web1" "--file-root=$TREE" "--pillar-root=$MARK/pillar" \
        state.apply natives
    [[ $output == *'Succeeded: 7 (changed=7)'*'Failed:    1'* ]]
    [[ $output == *'appears to be binary data, and as will not be able to be treated as a Jinja template'* ]]
    printf '\377\0\1\200' | cmp - "$MARK/sls"
    cmp "$MARK/sls" "$MARK/pillar.bin"
    [ "$(cat "$MARK/text")" = hello ]
    [ "$(cat "$MARK/template")" = "{80: 'a', 443: {1: 'b'}} a 123456789012345678901234567891 81 444 " ]
    [ "$(cat "$MARK/yaml")" = $'80: a\n443:\n  1: b' ]
    [ "$(cat "$MARK/yaml.pillar")" = $'1:\n  2: x' ]
    [ "$(cat "$MARK/yaml.merged")" = $'22: ssh\nz:\n  1: x\n  443: b\n80: a' ]
    rm -r "$MARK/pillar"
}

@test "the difference that an edit returns has a bound" {
    seq -f 'this is line number %.0f' 1 110000 >"$MARK/lines"
    run -0 --separate-stderr "$HALITE_BIN/salt-call" --local -l quiet -c "$FLEET/etc/web1" --out=json \
        file.replace "$MARK/lines" pattern=line repl=row backup=False
    [ "${#output}" -lt 1500000 ]
    [[ $output == *' more bytes of difference'* ]]
    [ "$(head -1 "$MARK/lines")" = "this is row number 1" ]
    # As many lines as these are not looked at one by one.
    head -c 2000000 /dev/zero | tr '\0' '\n' >"$MARK/breaks"
    printf 'more:\n  file.append:\n    - name: %s/breaks\n    - text: more\n' "$MARK" >"$TREE/append.sls"
    run -0 "$HALITE_BIN/salt-call" --local -l quiet -c "$FLEET/etc/web1" "--file-root=$TREE" state.apply append
    [[ $output == *'Replace text of 2000000 bytes by one of 2000005 bytes (too large to compare by lines)'* ]]
}
