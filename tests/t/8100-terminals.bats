#!/usr/bin/env bats
# 8100-terminals.bats - what peers say, on a terminal and in a pipe: each program, each outputter, each stream.

bats_require_minimum_version 1.5.0
load lib

# What drives terminals, turns text and hides it; the end is a colour that is left on.
ATTACK=$'one\e[2J\e[1A\e[?1049h\e]0;title\a\e]8;;http://evil/\e\\link\e]8;;\e\\\e[8mhidden\ePq\e\\\e_Gq\e\\\e7\bback\rreturn'
ATTACK+=$' \xc2\x9b2J \xe2\x80\xaeturned\xe2\x81\xa6 w\xe2\x80\x8bidth\xef\xbb\xbf \xf3\xa0\x81\x81 \x7f\x0e end \e[31mred'

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv" "$FLEET/copy"
    printf '%s\nnext' "$ATTACK" >"$FLEET/attack"
    printf 'a:\n  test.configurable_test_state: [{name: "n\\e[2J\\u202e\\x9b", result: false, changes: true, comment: "c\\e[2J\\r\\u2066\\e]0;t\\a\\ntwo"}]\n' >"$FLEET/srv/bad.sls"
    start_master "file_roots: {base: [$FLEET/srv]}"
    start_minion m1 'grains: {evil: "a\e[2J\e]0;t\a\u202eb\u009b2J\r"}'
    accept m1
    wait_connected m1
    wait_grains m1
}
teardown_file() { fleet_down; }

on() { python3 -B "$HALITE_SRC/tests/lib/terminal.py" run "$@"; }
tame() { python3 -B "$HALITE_SRC/tests/lib/terminal.py" tame <"$1"; }

# shown FILE: the attack is there, and can do nothing.
shown() {
    tame "$1"
    grep -aqF "${2:-^[[2J}" "$1" || { cat -v "$1" >&2; return 1; }
}

# Both streams of a command on a terminal: seen COMMAND...
seen() {
    on both "$@" >"$BATS_TEST_TMPDIR/seen" || :
    tame "$BATS_TEST_TMPDIR/seen"
}
has() { grep -aqF -- "$1" "$BATS_TEST_TMPDIR/seen" || { cat -v "$BATS_TEST_TMPDIR/seen" >&2; return 1; }; }

SALT=$HALITE_BIN/salt

@test "every outputter shows a return, and lets none of it work" {
    local out
    for out in nested highstate json yaml raw txt text pprint key table newline_values_only no_return profile; do
        seen "$SALT" m1 cmd.run "cat $FLEET/attack" --out="$out"
        # The others write Python's text, or show no value that is alone.
        case $out in nested | highstate | json | yaml | txt | text | newline_values_only | no_return) has '\u202e' ;; esac
        seen "$SALT" m1 cmd.run "cat $FLEET/attack" --out="$out" --force-color
        seen "$SALT" m1 cmd.run "cat $FLEET/attack" --out="$out" --no-color
    done
    seen "$SALT" m1 cmd.run "cat $FLEET/attack" --out=txt
    has 'm1: one^[[2J^[[1A^[[?1049h^[]0;title^G^[]8;;http://evil/^[\link^[]8;;^[\^[[8mhidden^[Pq^[\^[_Gq^[\^[7^Hback'
    has '\x9b2J \u202eturned\u2066 w\u200bidth\ufeff \U000e0041 ^?^N end '$'\e[31mred\e[0m'
    has $'m1: next\n'
}

@test "into a pipe and a file the bytes are as they came, colours or not" {
    local colour
    for colour in '' --force-color --no-color; do
        "$SALT" m1 cmd.run "cat $FLEET/attack" --out=newline_values_only $colour >"$BATS_TEST_TMPDIR/pipe"
        cmp "$BATS_TEST_TMPDIR/pipe" <(printf '%s\nnext\n' "$ATTACK")
    done
    "$SALT" m1 cmd.run "cat $FLEET/attack" --out=txt --out-file="$BATS_TEST_TMPDIR/file"
    grep -aqF "$ATTACK" <(tr -d '\n' <"$BATS_TEST_TMPDIR/file" | sed 's/m1: return/'$'\r''return/')
    "$SALT" m1 test.ping --force-color >"$BATS_TEST_TMPDIR/pipe"
    cmp "$BATS_TEST_TMPDIR/pipe" <(printf '\e[0;36mm1\e[0;0m:\n    \e[0;1;33mTrue\e[0;0m\n')
}

@test "stdout and stderr are told apart" {
    local file=$BATS_TEST_TMPDIR/seen
    on out "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" cmd.run "cat $FLEET/attack" -l debug >"$file" 2>"$file.err"
    shown "$file" '\u202e'
    on err "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" cmd.run "cat $FLEET/attack" --out=newline_values_only -l debug >"$file" || :
    grep -aqF "$ATTACK" "$file"
}

@test "our own colours are those of a pipe, and over several lines" {
    "$SALT" m1 state.apply bad --force-color >"$BATS_TEST_TMPDIR/pipe" || :
    seen "$SALT" m1 state.apply bad
    has $'\e[0;31m----------\e[0;0m'
    seen "$SALT" m1 test.ping
    cmp "$BATS_TEST_TMPDIR/seen" <(printf '\e[0;36mm1\e[0;0m:\n    \e[0;1;33mTrue\e[0;0m\n')
    seen "$SALT" m1 test.ping --no-color
    cmp "$BATS_TEST_TMPDIR/seen" <(printf 'm1:\n    True\n')
}

@test "salt: grains, states, batches, --static, summaries, errors" {
    seen "$SALT" m1 grains.item evil --out=txt
    seen "$SALT" m1 grains.item evil
    has '\u202eb\x9b2J'
    seen "$SALT" m1 state.apply bad
    seen "$SALT" m1 state.apply bad --state-output=terse
    seen "$SALT" m1 cmd.run "cat $FLEET/attack" -b 1
    has '\u202e'
    seen "$SALT" m1 cmd.run "cat $FLEET/attack" --static --summary -v
    seen "$SALT" "$ATTACK" test.ping
    seen "$SALT" -L "m1,$ATTACK" test.ping -v --summary
    seen "$SALT" m1 "no$ATTACK.such"
    seen "$SALT" --batch="$ATTACK" m1 test.ping
    seen "$SALT" m1 test.ping --out="$ATTACK"
    has '\x1b[2J'
}

@test "salt-run: returns, progress, errors, orchestrations, events" {
    local run=$HALITE_BIN/salt-run
    seen "$run" salt.execute m1 cmd.run arg="['cat $FLEET/attack']"
    has '\u202e'
    seen "$run" "no$ATTACK.such"
    seen "$run" error.error message="$ATTACK"
    seen "$run" jobs.list_jobs
    seen "$run" jobs.lookup_jid "$("$SALT" m1 cmd.run "cat $FLEET/attack" -v | grep -oE '[0-9]{20}' | head -n 1)" --out=txt
    salt_call m1 event.send terminal/it "{d: \"\\u202e\\u009b\\e[2J\"}" >/dev/null
    seen "$run" state.event 'terminal/*' count=1 since=10m timeout=20
    has 'terminal/it'
    has '\u202e\x9b\u001b[2J'
}

@test "salt-key: lists and the prompt" {
    local pki
    pki=$(master_pki minions_pre)
    cp "$(minion_pki m1 minion.pub)" "$pki"/$'web\e[1A\e[2Kroot\r'
    cp "$(minion_pki m1 minion.pub)" "$pki"/$'web\xe3\x85\xa4'
    seen "$HALITE_BIN/salt-key" -L
    seen "$HALITE_BIN/salt-key" -F
    on both "$HALITE_BIN/salt-key" -A <<<n >"$BATS_TEST_TMPDIR/seen" || :
    tame "$BATS_TEST_TMPDIR/seen"
    seen "$HALITE_BIN/salt-key" -p "$ATTACK"
    has "The key glob 'one^[[2J"
    seen "$HALITE_BIN/salt-key" -y -a "$ATTACK"
    seen "$HALITE_BIN/salt-key" "--$ATTACK"
    rm "$pki"/web*
}

@test "salt-call: returns, its log, errors" {
    local call=("$HALITE_BIN/salt-call" -c "$FLEET/etc/m1")
    seen "${call[@]}" --local cmd.run "cat $FLEET/attack" -l debug
    has '\x1b[2J'
    seen "${call[@]}" --local cmd.run "cat $FLEET/attack; exit 3" --out=txt
    has '^[[2J'
    seen "${call[@]}" --local "no$ATTACK.such"
    seen "${call[@]}" --local test.arg -l "$ATTACK"
    seen "${call[@]}" --local -c "$FLEET/$ATTACK" test.ping
    seen "${call[@]}" --local file.read "$FLEET/$ATTACK"
    seen "${call[@]}" cp.get_file "salt://$ATTACK" "$FLEET/x"
}

@test "salt-cp: names of files" {
    local name
    name=$FLEET/$'a\e[2J\r\xe2\x80\xaeb'
    echo x >"$name"
    seen "$HALITE_BIN/salt-cp" m1 "$name" "$FLEET/copy/"
    has '\u202eb'
    seen "$HALITE_BIN/salt-cp" --chunked m1 "$name" "$FLEET/copy/"
    seen "$HALITE_BIN/salt-cp" m1 "$name.not" "$FLEET/copy/"
    has '^[[2J^M\u202eb'
    rm "$name"
}

@test "a file that is a terminal: --out-file" {
    on out sh -c "exec 3>&1; $SALT m1 cmd.run 'cat $FLEET/attack' --out=txt --out-file=\$(readlink /proc/self/fd/3)" >"$BATS_TEST_TMPDIR/seen"
    shown "$BATS_TEST_TMPDIR/seen"
}

@test "the daemons in the foreground of a terminal" {
    local program
    mkdir "$FLEET/bin"
    for program in salt-master salt-minion; do
        printf '#!/bin/sh\nexec python3 -B %s run both %s "$@"\n' "$HALITE_SRC/tests/lib/terminal.py" "$HALITE_BIN/$program" >"$FLEET/bin/$program"
        chmod +x "$FLEET/bin/$program"
    done
    stop m1
    stop master
    HALITE_BIN=$FLEET/bin start_master
    HALITE_BIN=$FLEET/bin start_minion m1
    wait_connected m1
    "$SALT" m1 cmd.run "cat $FLEET/attack" >/dev/null
    "$SALT" m1 cp.get_file "salt://$ATTACK" "$FLEET/x" >/dev/null || :
    "$SALT" m1 "no$ATTACK.such" >/dev/null || :
    until_log "$FLEET/log/m1" '\\x1b\[2J'
    tame "$FLEET/log/m1"
    tame "$FLEET/log/master"
}
