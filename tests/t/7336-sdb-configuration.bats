#!/usr/bin/env bats
# 7336-sdb-configuration.bats - values at addresses (sdb://PROFILE/KEY) in the configuration: found at the start and in a
# reload of whoever serves or runs functions.

bats_require_minimum_version 1.5.0
load lib
load api

setup() {
    fleet_new
    mkdir -p "$FLEET/local" "$FLEET/sdb" "$FLEET/data"
    export OWN_WORD=hello
    printf 'a: {n: 7, list: [one, two]}\nusers: {ann: [{"m1": [test.arg]}]}\nword: first-secret\n' >"$FLEET/data/one.yaml"
    cat >"$FLEET/sdb/shelf.py" <<'PY'
import time


def get(key, profile=None):
    if key == "locked":
        raise ValueError("the shelf is locked")
    if key == "hang":
        time.sleep(1000)
    print("no part of the answer")
    return {"word": profile["word"], "key": key}
PY
    PROFILES=('osenv: {driver: env}' "plain: {driver: yaml, files: [$FLEET/data/one.yaml]}" 'shelf: {driver: shelf, word: sdb://osenv/OWN_WORD}'
        "sdb_dirs: [$FLEET/sdb]" 'nodriver: {driver: nosuch}')
}
teardown() { fleet_down; }

# local_conf LINE...: of salt-call.
local_conf() {
    printf '%s\n' 'id: m1' "root_dir: $FLEET/local/root" 'file_client: local' "${PROFILES[@]}" "$@" >"$FLEET/local/minion"
}
call() { "$HALITE_BIN/salt-call" -c "$FLEET/local" --local --out=json --out-indent=-1 "$@"; }
# fails TEXT LINE...: nothing starts with this configuration.
fails() {
    local_conf "${@:2}"
    run -1 --separate-stderr call test.ping
    [[ $stderr == *"$1"* ]] || { printf '%s\n' "$stderr" >&2; return 1; }
}

@test "built-in drivers and one in Python: texts, numbers, lists, parts of an option, a profile's own values" {
    local_conf 'multiprocessing: true' 'grains: {own: {word: sdb://osenv/OWN_WORD, list: [a, sdb://plain/a:list]}}' \
        'retry_dns: sdb://plain/a:n' 'mysql.pass: sdb://shelf/of/mysql' 'empty: {driver: env, x: sdb://osenv/NO_SUCH_WORD}' \
        'mysql.user: sdb://of_pillar/x' 'mysql.host: sdb://osenv'
    [ "$(call grains.get own)" = '{"local": {"word": "hello", "list": ["a", ["one", "two"]]}}' ]
    [ "$(call config.get mysql.pass)" = '{"local": {"word": "hello", "key": "of/mysql"}}' ]
    [ "$(call config.get empty)" = '{"local": {"driver": "env", "x": null}}' ]
    call slsutil.renderer string='{{ opts.retry_dns + 1 }} {{ opts["mysql.pass"].word }}' default_renderer=jinja | grep -F '"8 hello"'
    # Without a profile in the configuration it stays what it is: the pillar may have one.
    [ "$(call config.get mysql.user)" = '{"local": "sdb://of_pillar/x"}' ]
    [ "$(call config.get mysql.host)" = '{"local": "sdb://osenv"}' ]
}

@test "what can't be had is one error with option, address and reason" {
    fails "$FLEET/local/minion, line 9: option 'log_datefmt': there is no value from sdb://nosuch/x: the part before the / names no profile" \
        'log_datefmt: sdb://nosuch/x'
    fails "option 'log_datefmt': there is no value from sdb://osenv: the part before the / names no profile" 'log_datefmt: sdb://osenv'
    fails "option 'grains': there is no value from sdb://osenv/NO_SUCH_WORD: its store has none there" 'grains: {a: [sdb://osenv/NO_SUCH_WORD]}'
    fails "option 'mysql.pass': there is no value from sdb://shelf/locked: sdb driver shelf: the shelf is locked" 'mysql.pass: sdb://shelf/locked'
    fails "option 'mysql.pass': there is no value from sdb://nodriver/x: 'nosuch.get' is not available." 'mysql.pass: sdb://nodriver/x'
    # A value that is none of the option's stays hidden.
    fails "option 'retry_dns': what is at sdb://osenv/OWN_WORD is no value of this option" 'retry_dns: sdb://osenv/OWN_WORD'
    [[ $stderr != *hello* ]]
    fails "option 'state_output': what is at sdb://osenv/OWN_WORD is no value of this option" 'state_output: sdb://osenv/OWN_WORD'
}

@test "drivers run as the user of the daemon, also where root asks" {
    [ "$(id -u)" = 0 ] || skip "only root becomes another user"
    fleet_open
    printf 'import os\n\n\ndef get(key, profile=None):\n    return os.getuid()\n' >"$FLEET/sdb/who.py"
    local_conf 'user: nobody' 'asked: {driver: who}' 'mysql.pass: sdb://asked/x'
    # Programs where that user finds them: the clone may be below a folder of root's alone.
    mkdir "$FLEET/bin"
    cp "$HALITE_BIN/salt-call" "$HALITE_BIN/salt-engine" "$FLEET/bin"
    cp -r "$BUILD/python" "$FLEET"
    [ "$(HALITE_BIN=$FLEET/bin call config.get mysql.pass)" = "{\"local\": $(id -u nobody)}" ]
}

@test "a store that hangs: a line on the terminal, after 20 seconds an error with its address, and nothing stays" {
    local_conf 'mysql.host: sdb://osenv/OWN_WORD' 'mysql.pass: sdb://shelf/hang'
    start=${EPOCHREALTIME/./}
    HALITE_FLEET=$FLEET TERM=xterm run -1 python3 -B "$HALITE_SRC/tests/lib/terminal.py" run err \
        "$HALITE_BIN/salt-call" -c "$FLEET/local" --local test.ping
    [ "$(ms_since "$start")" -lt 40000 ]
    [[ $output == *$'\r\e[Kreading the configuration, 3 s\r\e[K'* ]]
    [[ $output == *"option 'mysql.pass': there is no value from sdb://shelf/hang: its store, or those before it, took more than 20 s"* ]]
    no_processes
}

@test "master and minion: rules and secrets, and again in a reload; a store that fails then leaves all as it was" {
    start_master 'auto_accept: true' 'publisher_acl: sdb://plain/users' 'mysql.pass: sdb://plain/word' 'python_salt: sdb://osenv/NO_SUCH' "${PROFILES[@]}" && return 1
    grep -q "option 'python_salt': there is no value from sdb://osenv/NO_SUCH" "$FLEET/log/master"
    start_master 'auto_accept: true' 'publisher_acl: sdb://plain/users' 'mysql.pass: sdb://plain/word' "${PROFILES[@]}"
    start_minion m1 'mysql.pass: sdb://plain/word' "${PROFILES[@]}"
    wait_connected m1
    [ "$(salt m1 config.get mysql.pass --out=newline_values_only)" = first-secret ]
    [ "$(salt-run config.get mysql.pass --out=newline_values_only)" = first-secret ]
    printf 'users: {bob: [{"m1": [test.arg]}]}\nword: second-secret\n' >"$FLEET/data/one.yaml"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: 1 options? changed$'
    [ "$(salt-run config.get mysql.pass --out=newline_values_only)" = second-secret ]
    kill -HUP "$(pid_of m1)"
    until_log "$FLEET/log/m1" 'reload: 0 options? changed$'
    [ "$(salt m1 config.get mysql.pass --out=newline_values_only)" = second-secret ]
    rm "$FLEET/data/one.yaml"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" "reload: the old configuration stays: .*option 'publisher_acl': there is no value from sdb://plain/users"
    [ "$(salt-run config.get mysql.pass --out=newline_values_only)" = second-secret ]
    # Operators' commands ask no store; no log has a secret.
    ping_ok m1
    run -1 grep -rE '(first|second)-secret' "$FLEET/log"
}

@test "salt-api: values of its own options" {
    API_LINES=('webhook_url: sdb://osenv/HOOK')
    MORE_LINES=("${PROFILES[@]}")
    export HOOK=/from-a-store
    api_up
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/from-a-store/x" -d a=1)" = 401 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/other/x" -d a=1)" = 404 ]
}
