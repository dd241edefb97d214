#!/usr/bin/env bats
# 3000-jobs.bats - jobs on a fleet of three: what comes back, in which form, and what is known of those who are silent.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_up web1 web2 db1
}

teardown_file() {
    fleet_down
}

lookup() { "$HALITE_BIN/salt-run" jobs.lookup_jid "$@"; }
jid_in() { grep -oE '[0-9]{20}' <<<"$1" | head -n 1; }
# A job that runs until the test says so: its jid in JID, the word in GO.
blocker() {
    GO=$BATS_TEST_TMPDIR/go
    JID=$(jid_in "$(salt "$1" cmd.run "until [ -e $GO ]; do sleep 0.05; done; echo over" --async)")
    until_true 5 running "$JID" "$1"
}
running() { ask "{\"op\":\"verdicts\",\"jid\":\"$1\"}" | grep -qE "\"$2\":\{\"verdict\":\"running\",\"pid\":[0-9]+"; }
# returned JID REGEX: the job's stored returns have it.
returned() { lookup "$1" --out=json | grep -qE "$2"; }

@test "ping: everybody answers, exit code 0, nothing on stderr" {
    run --separate-stderr salt '*' test.ping --static --out=json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    for id in web1 web2 db1; do grep -q "\"$id\": true" <<<"$output"; done
}

@test "arguments: positions, keywords, YAML's types" {
    run salt web1 test.arg 1 1.5 true '[a, 2]' '{k: v}' text key=5 'list=[x]' --out=json --out-indent=-1
    [ "$status" -eq 0 ]
    grep -qF '"args": [1, 1.5, true, ["a", 2], {"k": "v"}, "text"]' <<<"$output"
    grep -qF '"key": 5' <<<"$output"
    grep -qF '"list": ["x"]' <<<"$output"
}

@test "several functions in one job" {
    run salt web1 test.ping,test.echo ,hi --out=json
    [ "$status" -eq 0 ]
    grep -q '"test.ping": true' <<<"$output"
    grep -q '"test.echo": "hi"' <<<"$output"
}

@test "several functions, one of which fails: the other's return is there, exit code 1" {
    run salt web1 test.ping,test.nosuch , --out=json
    [ "$status" -eq 1 ]
    grep -q '"test.ping": true' <<<"$output"
    grep -q "'test.nosuch' is not available" <<<"$output"
}

@test "a function that does not exist: said by the minion, exit code 1" {
    run --separate-stderr salt web1 test.nosuch
    [ "$status" -eq 1 ]
    same_as "$output" <<<$'web1:\n    \'test.nosuch\' is not available.'
    [ "$stderr" = 'ERROR: Minions returned with non-zero exit code' ]
}

@test "a missing argument and a surplus one: named" {
    run salt web1 test.echo
    [ "$status" -eq 1 ]
    grep -q "missing 1 required positional argument: 'text'" <<<"$output"
    run salt web1 test.echo a b
    [ "$status" -eq 1 ]
    grep -q 'takes 1 positional argument but 2 were given' <<<"$output"
}

@test "a program that fails: its output, exit code 1" {
    run --separate-stderr salt web1 cmd.run 'echo out; exit 3'
    [ "$status" -eq 1 ]
    same_as "$output" <<<$'web1:\n    out'
}

@test "--async: the jid at once, the returns by jobs.lookup_jid" {
    run salt '*' test.echo later --async
    [ "$status" -eq 0 ]
    jid=$(jid_in "$output")
    [ "$output" = "Executed command with job ID: $jid" ]
    for id in web1 web2 db1; do until_true 5 returned "$jid" "$id"; done
    [ "$(lookup "$jid" --out=json | grep -c later)" -eq 3 ]
}

@test "--batch: one after the other, everybody once" {
    start=$(counter jobs)
    run --separate-stderr salt '*' test.ping -b 1 --out=txt
    [ "$status" -eq 0 ]
    for id in web1 web2 db1; do [ "$(grep -c "^$id: True" <<<"$output")" -eq 1 ]; done
    [ "$(counter jobs)" -eq $((start + 3)) ]
}

@test "--batch-wait: however long, the next one waits for it" {
    run -124 timeout 4 "$HALITE_BIN/salt" '*' test.ping -b 1 --batch-wait inf --out=txt
    [ "$(grep -c ': True$' <<<"$output")" -eq 1 ]
}

@test "--batch with a part in percent" {
    run --separate-stderr salt '*' test.ping -b 50% --out=txt
    [ "$status" -eq 0 ]
    [ "$(grep -c ': True' <<<"$output")" -eq 3 ]
}

@test "--subset: so many of them" {
    run salt '*' test.ping --subset 2 --out=txt
    [ "$status" -eq 0 ]
    [ "$(grep -c ': True' <<<"$output")" -eq 2 ]
}

@test "--summary counts" {
    run salt '*' test.ping --summary
    [ "$status" -eq 0 ]
    grep -q '# of minions targeted: 3' <<<"$output"
    grep -q '# of minions returned: 3' <<<"$output"
}

@test "output formats that programs read" {
    run salt web1 test.echo '{a: [1, b]}' --out=json --out-indent=-1
    same_as "$output" <<<'{"web1": {"a": [1, "b"]}}'
    run salt web1 test.echo '{a: [1, b]}' --out=yaml
    same_as "$output" <<<$'web1:\n  a:\n  - 1\n  - b'
    run salt web1 test.echo text --out=txt
    same_as "$output" <<<'web1: text'
    run salt web1 test.echo text --out=newline_values_only
    same_as "$output" <<<'text'
    run salt web1 test.echo text --out-file="$BATS_TEST_TMPDIR/out"
    [ -z "$output" ]
    same_as "$(cat "$BATS_TEST_TMPDIR/out")" <<<$'web1:\n    text'
}

@test "an output that can't be written: before anything runs, or else once and with the reason" {
    local mark=$BATS_TEST_TMPDIR/ran option
    for option in --out-file="$BATS_TEST_TMPDIR/nosuch/out" --out-file="$BATS_TEST_TMPDIR"; do
        run -64 --separate-stderr salt web1 cmd.run "touch $mark" "$option"
        [[ ${stderr_lines[-1]} == "salt: error: ${option#*=}: Access denied: "* ]]
    done
    run -64 salt web1 cmd.run "touch $mark" --out-file-append --out-file="$BATS_TEST_TMPDIR/nosuch/out"
    [ ! -e "$mark" ]
    [ -w /dev/full ] || skip "no /dev/full"
    run -1 --separate-stderr salt '*' test.ping --out-file=/dev/full
    [ "$stderr" = "/dev/full can't be written: No space left on device" ]
    for words in "*|test.ping" "*|test.ping|-s" "*|test.ping|-b|1"; do
        IFS='|' read -ra words <<<"$words"
        run -1 --separate-stderr bash -c '"$@" >/dev/full' - "$HALITE_BIN/salt" "${words[@]}"
        [ "$stderr" = "Standard output can't be written: No space left on device" ]
    done
    run -1 --separate-stderr bash -c '"$@" >/dev/full' - "$HALITE_BIN/salt-run" manage.up
    [ "$stderr" = "Standard output can't be written: No space left on device" ]
}

@test "--out-file may be a pipe: who reads it gets all" {
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    cat "$BATS_TEST_TMPDIR/pipe" >"$BATS_TEST_TMPDIR/read" &
    local reader=$!
    run -0 timeout 10 "$HALITE_BIN/salt" -s '*' test.ping --out=txt --out-file="$BATS_TEST_TMPDIR/pipe"
    wait "$reader"
    same_as "$(sort "$BATS_TEST_TMPDIR/read")" <<<$'db1: True\nweb1: True\nweb2: True'
}

@test "text that is not ASCII, and a return of megabytes" {
    run salt web1 test.echo 'Grüße, 世界 🌍' --out=txt
    same_as "$output" <<<'web1: Grüße, 世界 🌍'
    [ "$(salt web1 cmd.run 'head -c 3000000 /dev/zero | tr "\0" x' --out=txt | wc -c)" -eq 3000007 ]
}

@test "a return that is larger than job_output_max fails with that reason, and the minion lives" {
    run salt web1 cmd.run 'head -c 9000000 /dev/zero | tr "\0" x'
    [ "$status" -eq 1 ]
    grep -q job_output_max <<<"$output"
    salt web1 test.ping
}

@test "a return that fits no message, though job_output_max allows it: it fails with that reason, and is not kept" {
    stop web1
    start_minion web1 'job_output_max: 16777216'
    wait_connected web1
    for i in 1 2; do
        run timeout 60 "$HALITE_BIN/salt" web1 cmd.run 'head -c 16777150 /dev/zero | tr "\0" x'
        [ "$status" -eq 1 ]
        grep -q "its limit is 16777216; have the function return less (job_output_max)" <<<"$output"
    done
    salt web1 test.ping
    until_true 5 nothing_spooled web1
    # Without what it was asked with this one fits.
    [ "$(timeout 60 "$HALITE_BIN/salt" web1 cmd.run 'head -c 16777100 /dev/zero | tr "\0" x' --out=txt | wc -c)" -eq 16777107 ]
}

@test "jobs on one minion do not wait for each other" {
    blocker web1
    salt web1 test.ping
    running "$JID" web1
    touch "$GO"
    until_true 5 returned "$JID" over
}

@test "the timeout passes while the job runs: the verdict is running, and the return is still shown" {
    GO=$BATS_TEST_TMPDIR/go
    daemon listen-slow "$HALITE_BIN/salt" web1 cmd.run "until [ -e $GO ]; do sleep 0.05; done; echo over" -t 1 -v
    until_log "$FLEET/log/listen-slow" 'Executing job with jid'
    jid=$(jid_in "$(cat "$FLEET/log/listen-slow")")
    until_true 5 running "$jid" web1
    # Twice the timeout goes by: the clock is what is tested here.
    until_true 4 elapsed_ms "$jid" 2000
    running "$jid" web1
    [ ! -e "$FLEET/pids/listen-slow.rc" ]
    touch "$GO"
    until_true 10 test -e "$FLEET/pids/listen-slow.rc"
    [ "$(cat "$FLEET/pids/listen-slow.rc")" -eq 0 ]
    grep -q over "$FLEET/log/listen-slow"
    rm "$FLEET/pids/"listen-slow*
}
# elapsed_ms JID MS: so long ago it was published.
elapsed_ms() {
    local then
    then=$(date -u -d "${1:0:8} ${1:8:2}:${1:10:2}:${1:12:2}" +%s)
    [ $((${EPOCHREALTIME/./} / 1000 - then * 1000 - 10#${1:14:3})) -ge "$2" ]
}

@test "Ctrl-C leaves the job running and says how to look it up" {
    GO=$BATS_TEST_TMPDIR/go
    daemon listen-int "$HALITE_BIN/salt" web1 cmd.run "until [ -e $GO ]; do sleep 0.05; done; echo over" -v
    until_log "$FLEET/log/listen-int" 'Executing job with jid'
    jid=$(jid_in "$(cat "$FLEET/log/listen-int")")
    until_true 5 running "$jid" web1
    stop listen-int INT
    [ "$RC" -eq 130 ]
    grep -q "salt-run jobs.lookup_jid $jid" "$FLEET/log/listen-int"
    running "$jid" web1
    touch "$GO"
    until_true 5 returned "$jid" over
}

@test "saltutil.kill_job: there is a return that can be looked up, and nothing of the job is left" {
    blocker web1
    run salt web1 saltutil.kill_job "$JID"
    [ "$status" -eq 0 ]
    until_true 5 returned "$JID" web1
    lookup "$JID" | grep -qiE 'signal|killed|ended'
    not running "$JID" web1
    until_true 5 not pgrep_args "$GO"
}
# pgrep_args TEXT: a process of the fleet has it on its command line.
pgrep_args() { fleet_processes | grep -qF -- "$1"; }

@test "saltutil.running and find_job see a job; its end removes it" {
    blocker web1
    salt web1 saltutil.running --out=json | grep -q "$JID"
    salt web1 saltutil.find_job "$JID" --out=json | grep -q '"cmd.run"'
    touch "$GO"
    until_true 5 returned "$JID" over
    not grep -q "$JID" <<<"$(salt web1 saltutil.running --out=json)"
}

@test "a minion that is down is told at once, whatever the timeout, and is not waited for" {
    stop web2
    wait_gone web2
    timed salt '*' test.ping -t 30
    [ "$status" -eq 1 ]
    [ "$MS" -lt 3000 ]
    grep -q 'Not connected' <<<"$output"
    grep -q '^web1:' <<<"$output"
    timed salt web2 test.ping -t 30
    [ "$status" -ne 0 ]
    [ "$MS" -lt 3000 ]
    start_minion web2
    wait_connected web2
    salt web2 test.ping
}

@test "kill -9 of a minion in a job: after its restart the job has one return, which says so" {
    blocker web2
    listen lost "salt/job/$JID/ret/*"
    daemon listen-f "$HALITE_TOOLS/local" --follow 1 20 "$SOCK_DIR" "{\"op\":\"follow\",\"jid\":\"$JID\"}"
    until_log "$FLEET/log/listen-f" '"ok":true'
    before=$(counter returns)
    kill -KILL "$(pid_of web2)"
    until_true 10 test -e "$FLEET/pids/web2.rc"
    start_minion web2
    wait_connected web2
    until_true 10 returned "$JID" 'stopped while this job ran'
    until_true 5 test -e "$FLEET/pids/listen-f.rc"
    wait_event lost "ret/web2"
    stop web2
    start_minion web2
    wait_connected web2
    salt web2 test.ping
    [ "$(heard lost "ret/web2")" -eq 1 ]
    [ "$(counter returns)" -eq $((before + 2)) ]
    unlisten lost
    rm "$FLEET/pids/"listen-f*
    # Nobody was left to end what the job had started.
    touch "$GO"
}

@test "a minion that is stopped in a job: the same" {
    blocker web2
    stop web2
    start_minion web2
    wait_connected web2
    until_true 10 returned "$JID" 'web2'
    until_true 5 not pgrep_args "$GO"
}

@test "fifty jobs at one time on one minion: fifty returns" {
    for n in {1..50}; do salt web1 test.echo "n$n." --async >"$BATS_TEST_TMPDIR/j$n"; done
    for n in {1..50}; do until_true 10 returned "$(jid_in "$(cat "$BATS_TEST_TMPDIR/j$n")")" "n$n\."; done
}

@test "each return is stored once and counted once" {
    before=$(counter returns)
    salt '*' test.ping >/dev/null
    [ "$(counter returns)" -eq $((before + 3)) ]
    [ "$(counter refused)" -eq 0 ]
}

@test "jobs.list_jobs, list_job and print_job know the job" {
    jid=$(jid_in "$(salt web1 test.echo listed -v)")
    salt-run jobs.list_jobs search_function=test.echo --out=json | grep -q "\"$jid\""
    salt-run jobs.list_job "$jid" --out=json | grep -q '"listed"'
    salt-run jobs.print_job "$jid" --out=json | grep -q '"return": "listed"'
}

@test "a jid that does not exist" {
    run -1 --separate-stderr lookup 20200101000000000000 --out=json
    grep -qF 20200101000000000000 <<<"$stderr"
    [ "$(tr -d ' \n' <<<"$output")" = '{}' ]
}

@test "--metadata goes with the job and into its events" {
    listen meta 'salt/job/*'
    salt web1 test.ping --metadata='{ticket: 42}' >/dev/null
    wait_event meta '/new".*"metadata":\{"ticket":42\}'
    unlisten meta
}

@test "jobs.list_jobs finds a job by its metadata" {
    salt web1 test.ping --metadata='{word: found, ticket: 43}' >/dev/null
    salt web1 test.ping --metadata='{word: other}' >/dev/null
    [ "$(salt-run jobs.list_jobs search_metadata='{word: found}' --out=json | grep -c '"Function": "test.ping"')" -eq 1 ]
}

@test "status.master: the connection is seen, and that there is none" {
    [ "$(salt web1 status.master master=127.0.0.1 --out=newline_values_only)" = True ]
    [ "$(salt web1 status.master master=127.0.0.9 --out=newline_values_only)" = False ]
}

@test "documentation: sys.doc and --doc" {
    salt web1 sys.doc test.ping | grep -q 'test.ping:'
    salt web1 --doc test.echo | grep -q 'test.echo:'
}

@test "a job that wants too much memory ends alone: the minion says so and lives" {
    case ${SAN:-} in *address* | *thread*) skip "this sanitizer reserves more address space than that" ;; esac
    stop db1
    minion_conf db1 'job_memory_max: 100000000'
    start_minion db1
    wait_connected db1
    run salt db1 test.echo 'still here' --out=txt
    [ "$output" = 'db1: still here' ]
    head -c 60000000 /dev/zero | tr '\0' x >"$FLEET/large"
    run salt db1 file.read "$FLEET/large"
    [ "$status" -ne 0 ]
    [[ $output == *'ran out of memory'* ]]
    salt db1 test.ping
}
