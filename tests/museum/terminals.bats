#!/usr/bin/env bats
# terminals.bats - what a minion that was turned sends to the terminal of whoever reads it: README.md says which attacks.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() { museum_up; }
teardown_file() { fleet_down; }
teardown() { museum_whole; }

terminal() { python3 -B "$HALITE_SRC/tests/lib/terminal.py" "$@"; }

# returned TEXT...: evil returns these texts (as JSON has them), one job each, and they are looked up on a terminal.
returned() {
    local text jid
    : >"$BATS_TEST_TMPDIR/seen"
    for text; do
        jid=$("$HALITE_BIN/salt" evil test.ping --async | grep -oE '[0-9]{20}')
        evil_says send "{\"m\":\"ret\",\"jid\":\"$jid\",\"fun\":\"test.ping\",\"fun_args\":[],\"return\":\"$text\",\"retcode\":0,\"success\":true}"
        until_true 10 eval 'salt-run jobs.lookup_jid "$jid" --out=json | grep -q evil'
        terminal run both "$HALITE_BIN/salt-run" jobs.lookup_jid "$jid" --out=txt >>"$BATS_TEST_TMPDIR/seen"
    done
    terminal tame <"$BATS_TEST_TMPDIR/seen"
}
has() { grep -aqF -- "$1" "$BATS_TEST_TMPDIR/seen" || { cat -v "$BATS_TEST_TMPDIR/seen" >&2; return 1; }; }

@test "H-TERMINALS: a return that clears the screen, sets the title and hides text shows what it is" {
    returned 'ok\u001b[2J\u001b[H\u001b]0;root@master\u0007\u001b[8mhidden\u001b[0m \u202egnp.exe\u202c'
    has 'evil: ok^[[2J^[[H^[]0;root@master^G^[[8mhidden'
    has '\u202egnp.exe\u202c'
}

# A terminal answers some sequences on its input, where the shell takes the answer for a command.
@test "H-TERMINALS: a return that asks the terminal something gets no answer" {
    returned 'a\u001b[6n\u001b[c\u001b[21t\u0005\u001b]4;1;?\u0007\u001bP+q544e\u001b\\\u001b]52;c;?\u0007\u001bZ'
    has 'evil: a^[[6n^[[c^[[21t^E^[]4;1;?^G^[P+q544e^[\^[]52;c;?^G^[Z'
}

# Another character set makes all that follows unreadable, the prompt too; a keypad or a macro changes what keys send.
@test "H-TERMINALS: a return that changes the character set, the keys or the tab stops changes none" {
    returned 'b\u001b(0\u000e\u001b*0\u001bn\u001b%@\u001b=\u001b>1u\u001b[20h\u001b[3g\u001b#3\u001b[!p'
    has 'evil: b^[(0^N^[*0^[n^[%@^[=^[>1u^[[20h^[[3g^[#3^[[!p'
}

# Neither of two values holds a sequence, both together do.
@test "H-TERMINALS: a sequence of two halves in two returns, and one in an event that was kept" {
    returned 'half\u001b[' '2Jhalf\u009b' '2J'
    has 'half^[['
    has $'half\\x9b\n'
    evil_says send '{"m":"event","n":1,"tag":"half/it","data":{"\u009b2J":"\u202e\u001b[2J"}}' expect '"events":\[1\]'
    terminal run both "$HALITE_BIN/salt-run" state.event 'half/*' count=1 since=10m timeout=20 >"$BATS_TEST_TMPDIR/seen"
    terminal tame <"$BATS_TEST_TMPDIR/seen"
    has '"data": {"\x9b2J": "\u202e\u001b[2J"'
}

# live OUTPUTTER TEXT...: salt waits on a terminal for m1 and evil, and shows a line of progress; then evil's return comes.
live() {
    local out=$1 text jid seen=$BATS_TEST_TMPDIR/seen dir
    shift
    for text; do
        dir=$(mktemp -d "$BATS_TEST_TMPDIR/live.XXXX")
        RECORD=$dir/record evil send "$(hello evil)" expect "$WELCOME" expect '"m":"job"' wait "$dir/go" file "$dir/started" wait "$dir/on" file "$dir/ret" expect '"m":"ack"' >"$dir/evil" 2>&1 3>&- &
        until_true 10 is_connected evil
        terminal run both "$HALITE_BIN/salt" -L m1,evil test.arg x --out="$out" -t 60 >"$seen" 3>&- &
        until_true 10 grep -q '"m":"job"' "$dir/record"
        jid=$(grep -oE '"jid":"[0-9]{20}"' "$dir/record" | head -n 1 | grep -oE '[0-9]{20}')
        printf '{"m":"started","jid":"%s","pid":1}' "$jid" >"$dir/started"
        printf '{"m":"ret","jid":"%s","fun":"test.arg","fun_args":["x"],"return":%s,"retcode":0,"success":true}' "$jid" "$text" >"$dir/ret"
        touch "$dir/go"
        until_true 10 grep -aq $'\r\e\[K1 of 2 ' "$seen"
        touch "$dir/on"
        wait
        terminal tame live <"$seen"
    done
}

@test "H-TERMINALS: a return that comes while salt shows its progress works neither on that line nor on the terminal" {
    live txt '"ok\r\u001b[K2 of 2 done\u001b[1A\u001b[2J\u001b]0;t\u0007\u009b2J\u202e\u000e\b end"'
    has $'evil: ok^M^[[K2 of 2 done^[[1A^[[2J^[]0;t^G\\x9b2J\\u202e^N^H end\n'
    live nested '{"a\u001b[2J\r":["\u001b]52;c;aGE=\u0007","\u001b["],"b":"2J\u001bP1$r\u001b\\\\"}' '"one\n\u001b[K\r2 of 2\n\u001b[8mtwo"'
    has $'    ^[[K^M2 of 2\n'
    live yaml '"\u2028\u001b[6n\u001b[c\u0005"'
    live json '["\u001b[6n\u001b[5i\u202e\u009d52;c;?\u0007"]'
    # What is left on at the end of a value, or of the program, is off.
    live txt '"\u001b[31mred"'
    has $'\e[31mred\e[0m'
}
