#!/usr/bin/env bats
# 7335-sdb.bats - values at addresses like sdb://PROFILE/KEY: the drivers that are built in.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    export DATA=$FLEET/data VAULT_PORT=$((PORT + 3))
    mkdir -p "$DATA" "$FLEET/local/root/srv"
    daemon listen-vault python3 "$HALITE_SRC/tests/lib/vaultserver.py" "$VAULT_PORT" "$FLEET/vault.log"
    until_true 10 eval "(exec 3<>/dev/tcp/127.0.0.1/$VAULT_PORT)"
    daemon listen-web "$HALITE_SRC/tests/lib/webserver.py" "$FLEET/web.port"
    until_true 10 test -s "$FLEET/web.port"
    printf 'a: {b: one, list: [1, 2]}\n' >"$DATA/one.yaml"
    printf 'a: {b: two, list: [2, 3], c: yes}\n' >"$DATA/two.yaml"
    printf '%s\n' 'id: m1' "root_dir: $FLEET/local/root" 'file_client: local' \
        "vault: {url: 'http://127.0.0.1:$VAULT_PORT', auth: {method: token, token: root}}" \
        'osenv: {driver: env}' 'store: {driver: vault}' \
        "plain: {driver: yaml, files: [$DATA/one.yaml, $DATA/nosuch, $DATA/two.yaml]}" \
        "joined: {driver: yaml, files: [$DATA/one.yaml, $DATA/two.yaml], merge: {merge_lists: true}}" \
        "web: {driver: rest, echo: {url: 'http://127.0.0.1:$(<"$FLEET/web.port")/echo?user={{ user }}', method: POST, data: x}, plain: {url: 'http://127.0.0.1:$(<"$FLEET/web.port")/yaml', decode_type: yaml}}" \
        "lite: {driver: sqlite3, database: $DATA/own.db}" \
        "odd: {driver: sqlite3, database: $DATA/odd.db, create_statements: ['CREATE TABLE advanced (a text, d blob)'], get_query: 'SELECT d FROM advanced WHERE a=:key', set_query: 'INSERT INTO advanced VALUES (:key, :value)'}" \
        'colour: sdb://plain/a:b' 'nodriver: {driver: nosuch}' "file_roots: {base: [$FLEET/local/root/srv]}" >"$FLEET/local/minion"
}
teardown_file() { fleet_down; }

call() { "$BUILD/bin/salt-call" -c "$FLEET/local" --local --out=json --out-indent=-1 --log-level=error "$@"; }
gives() { # VALUE ADDRESS
    [ "$(call sdb.get "$2" 2>/dev/null)" = "{\"local\": $1}" ]
}

@test "env: variables; one that is set keeps its value" {
    export OWN_WORD=hello
    gives '"hello"' sdb://osenv/OWN_WORD
    gives null sdb://osenv/NO_SUCH_WORD
    [ "$(call sdb.set sdb://osenv/OWN_WORD other)" = '{"local": "hello"}' ]
    [ "$(call sdb.set sdb://osenv/NO_SUCH_WORD other)" = '{"local": "other"}' ]
}

@test "yaml: files laid over each other, and what is left out is told" {
    gives '"two"' sdb://plain/a:b
    gives '[2, 3]' sdb://plain/a:list
    gives '[1, 2, 3]' sdb://joined/a:list
    gives true sdb://plain/a:c
    gives null sdb://plain/a:nosuch
    call sdb.get sdb://plain/a:b 2>&1 >/dev/null | grep -q "the file '$DATA/nosuch' is left out: .*No such file"
    run -1 call sdb.set sdb://plain/a:b x
    [[ $output == *'edit the files'* ]]
    [ "$(call config.get colour)" = '{"local": "two"}' ]
}

@test "vault: a value of a secret, by PATH/KEY and PATH?KEY" {
    [ "$(call sdb.set sdb://store/secret/m1/a/word hello)" = '{"local": true}' ]
    gives '"hello"' sdb://store/secret/m1/a/word
    gives '"hello"' 'sdb://store/secret/m1/a?word'
    gives '{"word": "hello"}' sdb://store/secret/m1/a/nosuch
    gives null sdb://store/secret/m1/none/nosuch
    [ "$(call sdb.set sdb://store/kv/m1/b/n 7)" = '{"local": true}' ]
    gives 7 sdb://store/kv/m1/b/n
    gives null sdb://store/kv/m1/b/nosuch
    run -1 call sdb.delete sdb://store/kv/m1/b/n
    [[ $output == *"'vault.delete' is not available."* ]]
    word=$(call sdb.get_or_set_hash sdb://store/kv/m1/made/it 12)
    [[ $word =~ ^\{\"local\":\ \".{12}\"\}$ ]]
    [ "$(call sdb.get_or_set_hash sdb://store/kv/m1/made/it 12)" = "$word" ]
}

# The bytes are what Salt's driver keeps: MessagePack, read and written by Python's module.
@test "sqlite3: values in Salt's table, and by statements of one's own" {
    gives null sdb://lite/nosuch
    [ "$(call sdb.set sdb://lite/word '{a: [1, two]}')" = '{"local": true}' ]
    gives '{"a": [1, "two"]}' sdb://lite/word
    [ "$(call sdb.set sdb://lite/word 7)" = '{"local": true}' ]
    gives 7 sdb://lite/word
    python3 - "$DATA/own.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("SELECT key, hex(value) FROM sdb").fetchall() == [("word", "07")]
db.execute("INSERT INTO sdb VALUES ('theirs', ?)", (bytes.fromhex("82a161c0a162cb3ff8000000000000"),))
db.execute("INSERT INTO sdb VALUES ('broken', ?)", (b"\xd9",))
db.commit()
PY
    gives '{"a": null, "b": 1.5}' sdb://lite/theirs
    run -1 call sdb.get sdb://lite/broken
    [[ $output == *'MessagePack: it is cut off'* ]]
    [ "$(call sdb.set sdb://odd/k v)" = '{"local": true}' ]
    gives '"v"' sdb://odd/k
    echo 'no database' >"$DATA/own.db"
    run -1 call sdb.get sdb://lite/word
    [[ $output == *'SQLite: file is not a database'* ]]
}

@test "rest: an address with variables, and what is answered" {
    call sdb.get 'sdb://web/echo?user=me' | grep -q '"path": "/echo?user=me"'
    gives '{"a": [1, "two"]}' sdb://web/plain
    run -1 call sdb.get sdb://web/nosuch
    [[ $output == *"The profile has no 'nosuch' with a 'url'"* ]]
}

@test "a driver that is not there; a user's file takes the place of one that is" {
    run -1 call sdb.get sdb://nodriver/x
    [[ $output == *"'nosuch.get' is not available."* ]]
    mkdir -p "$FLEET/local/root/srv/_sdb"
    printf 'def get(key, profile=None):\n    return "mine: " + key\n' >"$FLEET/local/root/srv/_sdb/env.py"
    call saltutil.sync_sdb >/dev/null
    gives '"mine: x"' sdb://osenv/x
}

@test "runner sdb: the master's stores; a value that is made once stays" {
    start_master "lite: {driver: sqlite3, database: $DATA/masters.db}" "plain: {driver: yaml, files: [$DATA/one.yaml]}"
    run_() { salt-run "$@" --out=newline_values_only; }
    [ "$(run_ sdb.get sdb://plain/a:b)" = one ]
    [ "$(run_ sdb.get nothing)" = nothing ]
    [ "$(run_ sdb.set sdb://lite/k v)" = True ]
    [ "$(run_ sdb.get sdb://lite/k)" = v ]
    made=$(run_ sdb.get_or_set_hash sdb://lite/made 20 chars=xy)
    [[ $made =~ ^[xy]{20}$ ]]
    [ "$(run_ sdb.get_or_set_hash sdb://lite/made)" = "$made" ]
    run -1 salt-run sdb.get_or_set_hash sdb://lite/other length=many
    [[ $output == *"length is a number up to"* ]]
    [ "$(run_ sdb.get_or_set_hash other)" = False ]
    stop master
}
