#!/usr/bin/env bats
# 8110-pictures.bats - what the commands show to a person at a terminal, and that programs get what they got before.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv"
    start_master "file_roots: {base: [$FLEET/srv]}" 'timeout: 2'
    start_minion m1
    start_minion m2
    accept m1 m2
    wait_connected m1 m2
    wait_grains m1 m2
}
teardown_file() { fleet_down; }

on() { python3 -B "$HALITE_SRC/tests/lib/terminal.py" run "$@"; }
# seen COMMAND...: both streams on a terminal, into the file SEEN; its exit code is left.
seen() { on both "$@" >"$BATS_TEST_TMPDIR/seen"; }
has() { grep -aqE -- "$1" "$BATS_TEST_TMPDIR/seen" || { cat -v "$BATS_TEST_TMPDIR/seen" >&2; return 1; }; }
lacks() { if grep -aqE -- "$1" "$BATS_TEST_TMPDIR/seen"; then cat -v "$BATS_TEST_TMPDIR/seen" >&2; return 1; fi; }
# sls NAME: an SLS file from stdin.
sls() { sed "s|@FLEET@|$FLEET|g" >"$FLEET/srv/$1.sls"; }

SALT=$HALITE_BIN/salt RUN=$HALITE_BIN/salt-run KEY=$HALITE_BIN/salt-key

@test "salt-key asks with fingerprint, address and age of each key" {
    local finger
    finger=$("$KEY" -f m1 | grep -oE '([0-9a-f]{2}:){31}[0-9a-f]{2}')
    seen "$KEY" --no-color -d 'm*' <<<n
    has "m1:  $finger"
    has '^    from 127\.0\.0\.1, [0-9]+ (second|minute)s? ago'
    [ "$(grep -c 'from 127' "$BATS_TEST_TMPDIR/seen")" -eq 2 ]
    # Without an address for a key whose minion was never here.
    echo nothing >"$(master_pki minions_pre)/m9"
    seen "$KEY" --no-color -a m9 <<<n
    has '^    from an unknown address, [0-9]+ seconds? ago'
    rm "$(master_pki minions_pre)/m9"
}

@test "salt-key's question to a program, and with -y, is as it was" {
    "$KEY" -d m1 <<<n >"$BATS_TEST_TMPDIR/seen"
    same_as "$(cat "$BATS_TEST_TMPDIR/seen")" <<<$'The following keys are going to be deleted:\nAccepted Keys:\nm1\nProceed? [N/y] '
    seen "$KEY" --no-color -d m1 --out=json <<<n
    lacks 'from 127'
}

@test "jobs and orchestrations are tables at a terminal, the newest first" {
    local old new
    old=$("$SALT" m1 test.arg first --async | grep -oE '[0-9]{20}')
    new=$("$SALT" m1 test.arg "second $(printf 'x%.0s' {1..200})" --async | grep -oE '[0-9]{20}')
    until_true 10 sh -c "$RUN jobs.lookup_jid $new --out=json | grep -q second"
    LC_ALL=C.UTF-8 TERMINAL_COLUMNS=120 seen "$RUN" --no-color jobs.list_jobs
    has '^Job  .*Function .*Arguments$'
    has "^$old .* first$"
    has "^$new .* second x+…$"
    [ "$(grep -oE "^($old|$new)" "$BATS_TEST_TMPDIR/seen" | head -n 1)" = "$new" ]
    [ "$(wc -L <"$BATS_TEST_TMPDIR/seen")" -le 120 ]
    LC_ALL=C TERMINAL_COLUMNS=60 seen "$RUN" --no-color jobs.list_jobs
    [ "$(LC_ALL=C wc -L <"$BATS_TEST_TMPDIR/seen")" -le 60 ]
    has '~'
    seen "$RUN" jobs.active
    has '^No job runs on a minion now\.$'
    sls nop <<<'a: {test.nop: []}'
    "$RUN" state.orchestrate nop >/dev/null
    seen "$RUN" orchestrate.list
    has $'\e\\[0;32m[0-9]{20} .* True    nop\e\\[0;0m$'
}

@test "into a pipe, and with --out, jobs are as they were" {
    "$RUN" jobs.list_jobs >"$BATS_TEST_TMPDIR/seen"
    has '^    Target-type:$'
    seen "$RUN" jobs.list_jobs --out=json
    has '"Target-type": '
    seen "$RUN" orchestrate.list --out=yaml
    has "^'[0-9]{20}':$"
    seen "$RUN" jobs.list_jobs outputter=nested --no-color
    has '^    Target-type:$'
}

# well_formed FILE: XML, as a parser that is not ours reads it.
well_formed() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }

@test "an orchestration that ran is a picture: failed steps, those not run, the critical path" {
    sls pic <<'SLS'
first: {salt.function: [{name: test.ping}, {tgt: m1}]}
"<bad> & \e[2J": {salt.function: [{name: test.false}, {tgt: m1}, {require: [{salt: first}]}]}
never: {salt.function: [{name: test.ping}, {tgt: m2}, {require: [{salt: "<bad> & \e[2J"}]}]}
SLS
    local jid
    run -1 "$RUN" state.orchestrate pic
    jid=$("$RUN" orchestrate.list limit=1 --out=json | grep -oE '[0-9]{20}')
    "$RUN" orchestrate.graph "$jid" format=svg --out=newline_values_only >"$BATS_TEST_TMPDIR/seen"
    well_formed "$BATS_TEST_TMPDIR/seen"
    has 'failed: 1, not run: 1'
    has '<g class="bad hot"><title>&lt;bad&gt; &amp; \^\[\[2J: salt.function test.false on m1, failed, [0-9]+ ms'
    has '<g class="off"><title>never: '
    "$RUN" orchestrate.graph pic format=html --out=newline_values_only >"$BATS_TEST_TMPDIR/seen"
    has '^<!DOCTYPE html>$'
    lacks 'src=|href='
    run -1 "$RUN" orchestrate.graph pic format=png
    [[ $output == *"text, dot, mermaid, json, svg or html"* ]]
}

@test "state.graph draws what states require, of SLS and of the top file" {
    sls top <<<'base: {m1: [req]}'
    sls req <<'SLS'
a: {test.nop: []}
b: {test.nop: [{require: [{test: a}]}]}
SLS
    local want=$'m1:\n    *   1  a: test.nop\n    *   2  b: test.nop  [require a]\n    Critical path: a -> b (2 of 2 steps)'
    same_as "$("$SALT" m1 state.graph req)" <<<"$want"
    same_as "$("$SALT" m1 state.graph)" <<<"$want"
    "$SALT" m1 state.graph format=svg --out=newline_values_only >"$BATS_TEST_TMPDIR/seen"
    well_formed "$BATS_TEST_TMPDIR/seen"
}

@test "a summary tells failed states from those that did not run, and to a pipe as Salt does" {
    sls kept <<'SLS'
bad: {test.fail_without_changes: []}
{% for i in range(6) %}
n{{ i }}: {test.nop: [{require: [{test: bad}]}]}
{% endfor %}
SLS
    local call=("$HALITE_BIN/salt-call" -c "$FLEET/etc/m1" -l error)
    seen "$SALT" m1 state.apply kept --no-color || :
    has '^Failed:    1, not run: 6$'
    has '^Total states run:     7$'
    seen "${call[@]}" state.apply kept --no-color || :
    has '^Failed:    1, not run: 6$'
    "$SALT" m1 state.apply kept >"$BATS_TEST_TMPDIR/seen" 2>&1 || :
    has '^Failed:    7$'
}

@test "an orchestration is a tree at a terminal, and to a pipe what it was" {
    sls tree <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: 'm*'}, {arg: ["printf '\\033[2J'; exit 3"]}]}
two: {salt.function: [{name: test.ping}, {tgt: m1}, {require: [{salt: one}]}]}
SLS
    LC_ALL=C.UTF-8 run -1 on both "$RUN" --no-color state.orchestrate tree
    echo "$output" >"$BATS_TEST_TMPDIR/seen"
    has '^Orchestration [0-9]{20}: 2 of 2 steps, [0-9.]+ s; failed: 1, not run: 1$'
    has '^├─ ✗ one +[0-9.]+ s +2 of 2 minions +salt\.function$'
    has '^│     m1, m2: exit code 3'
    has '^└─ - two +not run +salt\.function$'
    lacks $'\e'
    has '^To go on once the cause is mended: salt-run state\.orchestrate resume=[0-9]{20}$'
    # ASCII where the locale has nothing else, colours unless they are not wanted, a terminal that can do nothing.
    LC_ALL=C run -1 on both "$RUN" state.orchestrate tree
    [[ $output == *$'|- \e[0;31mx\e[0;0m one'*$'`- \e[0;1;30m-\e[0;0m two'* ]]
    LC_ALL=C NO_COLOR=1 TERM=dumb run -1 on both "$RUN" state.orchestrate tree
    [[ $output == *'|- x one'*'`- - two'* ]]
    [[ $output != *$'\e'* ]]
    LC_ALL=C.UTF-8 TERMINAL_COLUMNS=20 run -1 on err "$RUN" --no-color state.orchestrate tree
    [[ $output != *'├─'* ]] # stdout is a pipe
    run -1 --separate-stderr "$RUN" state.orchestrate tree
    [ -z "$stderr" ]
    [[ $output == *"Failed:    2"* ]]
    [[ $output != *"Orchestration 2"* ]]
    LC_ALL=C.UTF-8 TERMINAL_COLUMNS=20 run -1 on both "$RUN" --no-color state.orchestrate tree
    [[ $output == *$'\nOrchestration 2'*$'\n├─ ✗ one '* ]]
}

@test "Ctrl-C leaves the tree, and says how to go on" {
    sls wait <<'SLS'
long: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["until test -e @FLEET@/go; do sleep 0.02; done"]}]}
SLS
    LC_ALL=C TERM=xterm NO_COLOR=1 daemon tree python3 -B "$HALITE_SRC/tests/lib/terminal.py" run both "$RUN" state.orchestrate wait
    until_log "$FLEET/log/tree" '`- \* long '
    kill -INT "$(cat "$FLEET/pids/tree")"
    until_true 10 test -e "$FLEET/pids/tree.rc"
    grep -q 'Exiting gracefully on Ctrl-c' "$FLEET/log/tree"
    grep -q 'orchestrate.show' "$FLEET/log/tree"
    touch "$FLEET/go"
    until_true 10 sh -c "$RUN orchestrate.list limit=1 --out=json | grep -q '\"Result\": true'"
}

@test "a state run at a terminal says where its minions are, and nobody says so unwatched" {
    rm -f "$FLEET/go"
    sls where <<'SLS'
a: {test.nop: []}
b: {cmd.run: [{name: "until test -e @FLEET@/go; do sleep 0.02; done # secret"}]}
c: {test.nop: []}
SLS
    TERM=xterm daemon where python3 -B "$HALITE_SRC/tests/lib/terminal.py" run both "$SALT" --no-color 'm*' state.apply where
    until_log "$FLEET/log/where" 'm1  2/3 cmd\.run, [0-9]+ s'
    until_log "$FLEET/log/where" 'm2  2/3 cmd\.run, [0-9]+ s'
    until_log "$FLEET/log/where" '0 of 2 minions returned, running: m1, m2'
    touch "$FLEET/go"
    until_true 10 test -e "$FLEET/pids/where.rc"
    [ "$(cat "$FLEET/pids/where.rc")" -eq 0 ]
    grep -q '^Total states run:     3' "$FLEET/log/where"
    # Lines are taken away before the returns.
    grep -aq $'\e\\[2A\r\e\\[J' "$FLEET/log/where"
    local jid
    jid=$("$RUN" jobs.list_jobs search_function=state.apply --out=json | grep -oE '"[0-9]{20}"' | tail -n 1 | tr -d '"')
    "$RUN" state.event "salt/job/$jid/*" since=5m count=9 timeout=1 >"$BATS_TEST_TMPDIR/seen" || :
    has "salt/job/$jid/at/m1.*\"of\": 3, \"what\": \"cmd.run\""
    if grep '/at/' "$BATS_TEST_TMPDIR/seen" | grep secret; then return 1; fi
    jid=$("$SALT" m1 state.apply where -v | grep -oE '[0-9]{20}' | head -n 1)
    "$RUN" state.event "salt/job/$jid/*" since=5m count=9 timeout=1 >"$BATS_TEST_TMPDIR/seen" || :
    has "salt/job/$jid/ret/m1"
    lacks "/at/"
}

@test "a batch at a terminal says where its minions are, and who waits" {
    rm -f "$FLEET/go"
    TERM=xterm daemon batch python3 -B "$HALITE_SRC/tests/lib/terminal.py" run both "$SALT" --no-color -b 1 'm*' state.apply where
    until_log "$FLEET/log/batch" 'm[12]  2/3 cmd\.run, [0-9]+ s'
    until_log "$FLEET/log/batch" '0 of 2 minions returned, 1 wait for their turn'
    touch "$FLEET/go"
    until_true 10 test -e "$FLEET/pids/batch.rc"
    [ "$(cat "$FLEET/pids/batch.rc")" -eq 0 ]
    [ "$(grep -c '^Total states run:     3' "$FLEET/log/batch")" -eq 2 ]
    # Functions other than states say nothing; their minions have a line all the same.
    rm -f "$FLEET/go"
    TERM=xterm daemon batch2 python3 -B "$HALITE_SRC/tests/lib/terminal.py" run both "$SALT" --no-color -b 2 'm*' cmd.run "until test -e $FLEET/go; do sleep 0.02; done"
    until_log "$FLEET/log/batch2" 'm1  at work, [0-9]+ s'
    until_log "$FLEET/log/batch2" 'm2  at work, [0-9]+ s'
    until_log "$FLEET/log/batch2" '0 of 2 minions returned'
    touch "$FLEET/go"
    until_true 10 test -e "$FLEET/pids/batch2.rc"
    # A program that reads it gets what it got before.
    "$SALT" -b 1 'm*' test.ping >"$BATS_TEST_TMPDIR/seen" 2>&1
    lacks 'at work|minions returned'
}
