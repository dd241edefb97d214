#!/usr/bin/env bats
# 7330-vault.bats - secrets of a Vault server: functions, state, runner, pillar; who gets which token.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    export SRV=$FLEET/srv VAULT_PORT=$((PORT + 3))
    export VAULT_LOG=$FLEET/vault.log
    mkdir -p "$SRV" "$FLEET/pillar"
    daemon listen-vault python3 "$HALITE_SRC/tests/lib/vaultserver.py" "$VAULT_PORT" "$VAULT_LOG"
    printf '%s\n' "base: {'*': [secrets]}" >"$FLEET/pillar/top.sls"
    printf '%s\n' "word: {{ salt['vault.read_secret']('secret/' ~ opts.id ~ '/a', 'word', default='nothing') }}" \
        "other: {{ salt['vault.read_secret']('secret/m2/a', 'word', default='nothing') }}" >"$FLEET/pillar/secrets.sls"
    start_master "file_roots: {base: [$SRV]}" "pillar_roots: {base: [$FLEET/pillar]}" \
        "vault: {url: 'http://127.0.0.1:$VAULT_PORT', policies: ['{minion}', 'shared-{pillar[none]}'], auth: {method: token, token: root}, keys: [one, two]}" \
        'ext_pillar: [{vault: {conf: "path=kv/{minion}/b", nesting_key: vaulted}}, {vault: path=secret/none/a}]' \
        "peer_run: {'m.*': [vault.generate_token]}"
    until_true 10 eval "(exec 3<>/dev/tcp/127.0.0.1/$VAULT_PORT)"
    local=$FLEET/local
    mkdir -p "$local/root"
    printf '%s\n' 'id: m1' "root_dir: $local/root" 'file_client: local' "vault: {url: 'http://127.0.0.1:$VAULT_PORT', auth: {method: token, token: root}}" \
        >"$local/minion"
    own vault.write_secret secret/m1/a word=hello number=7 >/dev/null
    own vault.write_secret secret/m2/a word=others >/dev/null
    own vault.write_raw kv/m1/b '{"x": [1, 2]}' >/dev/null
    for id in m1 m2; do
        start_minion "$id"
        accept "$id"
        wait_connected "$id"
    done
}
teardown_file() { fleet_down; }

own() { "$BUILD/bin/salt-call" -c "$FLEET/local" --local --out=json --out-indent=-1 --log-level=error "$@"; }
said() { # of m1
    salt m1 "$@" --out=json --out-indent=-1 --static
}

@test "a store of version 2, one of version 1: what is read, listed, written, destroyed" {
    [ "$(own vault.read_secret secret/m1/a)" = '{"local": {"word": "hello", "number": 7}}' ]
    [ "$(own vault.read_secret /secret/m1/a word)" = '{"local": "hello"}' ]
    [ "$(own vault.read_secret secret/data/m1/a metadata=True)" = \
        '{"local": {"data": {"word": "hello", "number": 7}, "metadata": {"version": 1}}}' ]
    [ "$(own vault.read_secret kv/m1/b)" = '{"local": {"x": [1, 2]}}' ]
    [ "$(own vault.list_secrets secret/m1/)" = '{"local": {"keys": ["a"]}}' ]
    [ "$(own vault.write_secret secret/m1/c a=b)" = '{"local": {"version": 1}}' ]
    [ "$(own vault.destroy_secret secret/m1/c 1 2)" = '{"local": true}' ]
    tail -1 "$VAULT_LOG" | grep -q '"path": "/v1/secret/destroy/m1/c".*"versions": \[1, 2\]'
    [ "$(own vault.delete_secret secret/m1/c)" = '{"local": true}' ]
    run -1 own vault.destroy_secret kv/m1/b 1
    [[ $output == *'only supported on KV version 2'* ]]
}

@test "what is not there is an error in Salt's words, or the default" {
    run -1 own vault.read_secret secret/m1/none
    [[ $output == *"Failed to read secret! HTTPError: 404 Client Error: Not Found for url: http://127.0.0.1:$VAULT_PORT/v1/secret/data/m1/none"* ]]
    run -1 own vault.read_secret secret/m1/a nokey
    [[ $output == *"Failed to read secret! KeyError: 'nokey'"* ]]
    [ "$(own vault.read_secret secret/m1/a nokey default=x)" = '{"local": "x"}' ]
    [ "$(own vault.read_secret secret/m1/none default=None)" = '{"local": null}' ]
    run -1 own vault.list_secrets kv/none
    [[ $output == *'Failed to list secrets! HTTPError: 404 Client Error'* ]]
    run -1 own vault.read_secret secret/../sys/policy/x
    [[ $output == *"has '.' or '..' in it"* ]]
    [[ $(<"$VAULT_LOG") != *'sys/policy/x'* ]]
}

@test "policies: made, changed, in test mode, and left alone" {
    run -0 own state.single vault.policy_present p1 rules='path "a" { }' test=True
    [[ $output == *'"Policy would be created"'* ]]
    run -0 own state.single vault.policy_present p1 rules='path "a" { }'
    [[ $output == *'"Policy was created"'* ]]
    run -0 own state.single vault.policy_present p1 rules='path "a" { }'
    [[ $output == *'"Policy exists, and has the correct content"'*'"changes": {}'* || $output == *'"changes": {}'*'"Policy exists, and has the correct content"'* ]]
    run -0 own state.single vault.policy_present p1 rules='path "b" { }'
    [[ $output == *'"Policy was updated"'* && $output == *'-path \"a\" { }+path \"b\" { }'* ]]
}

@test "logins: approle, a wrapped token, a setting that is missing, a server that is away" {
    as() { printf '%s\n' "vault: {url: 'http://127.0.0.1:${2:-$VAULT_PORT}', namespace: team, auth: $1}" >"$FLEET/local/minion.d/vault.conf"; }
    mkdir -p "$FLEET/local/minion.d"
    as '{method: approle, role_id: role-1, secret_id: secret-1}'
    [ "$(own vault.read_secret kv/m1/b x)" = '{"local": [1, 2]}' ]
    tail -1 "$VAULT_LOG" | grep -q '"namespace": "team"'
    as '{method: approle, role_id: role-1, secret_id: wrong}'
    run -1 own vault.read_secret kv/m1/b x
    [[ $output == *'An error occurred while getting a token from approle: 400 Bad Request'* ]]
    as '{method: wrapped_token, token: wrapped-1}'
    [ "$(own vault.read_secret kv/m1/b x)" = '{"local": [1, 2]}' ]
    as '{method: token}'
    run -1 own vault.read_secret kv/m1/b x
    [[ $output == *"could not find key \"'token'\" within"* ]]
    as '{method: token, token: root}' 1
    run -1 own vault.read_secret kv/m1/b x
    [[ $output == *'Vault at http://127.0.0.1:1: '* ]]
    rm "$FLEET/local/minion.d/vault.conf"
}

@test "a minion reads with a token of its master, which gives it its own policies" {
    [ "$(said vault.read_secret secret/m1/a word)" = '{"m1": "hello"}' ]
    run -1 salt m1 vault.read_secret secret/m2/a word
    [[ $output == *'403 Client Error'* ]]
    until_log "$FLEET/log/master" 'Could not resolve policy pattern shared-{pillar.none.} for minion m1'
    [ -z "$(find "$FLEET" -name 'salt_vault_token*')" ]
    # The token stands in no log and no event.
    token=$(grep -o 'hvs\.[0-9]*' "$VAULT_LOG" | tail -1)
    [ -n "$token" ]
    [ -z "$(grep -rl "$token" "$FLEET/log" || :)" ]
    [ -z "$(salt-run state.event 'salt/run/*' count=50 since=10m timeout=1 2>/dev/null | grep "$token" || :)" ]
}

@test "pillars: by a function, with the minion's own policies, and as an external source" {
    [ "$(said pillar.items | python3 -c 'import json, sys; d = json.load(sys.stdin)["m1"]; print(d["word"], d["other"], d["vaulted"])')" = \
        "hello nothing {'x': [1, 2]}" ]
    # No name makes a minion the master, whose login may read everything.
    start_minion m9_master
    accept m9_master
    wait_connected m9_master
    [ "$(salt m9_master pillar.get other --out=newline_values_only)" = nothing ]
    [ "$(salt m2 pillar.get vaulted --out=json --out-indent=-1 --static)" = '{"m2": {}}' ]
}

@test "no minion gets another one's token" {
    run salt m1 publish.runner vault.generate_token "['m2', '', False, None, None]"
    [[ $output == *'Could not validate token request from m2: m1 asks'* && $output != *hvs* ]]
    run -0 salt-run vault.show_policies m1 --out=json --out-indent=-1
    [[ $output == *'["m1"]'* ]]
    run -0 salt-run vault.generate_token m2 ''
    [[ $output == *hvs.* ]]
}

@test "policies: patterns with what the master knows of a minion's pillar and grains" {
    sed -i "s/'shared-{pillar\[none\]}'/&, 'w-{pillar[other]}', 'k-{grains[kernel]}'/" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval '[ "$(salt-run vault.show_policies m1 --out=json --out-indent=-1)" = '"'"'["m1", "w-nothing", "k-linux"]'"'"' ]'
}

@test "unseal: one key after another until it is open" {
    [ "$(salt-run vault.unseal)" = True ]
    [ "$(grep -c sys/unseal "$VAULT_LOG")" = 2 ]
}

@test "token_backend disk: one token for several jobs, in a file of root alone, until its uses are over" {
    sed -i 's/method: token, token: root/method: token, token: root, token_backend: disk, uses: 3/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval 'said vault.read_secret secret/m1/a word && [ -n "$(find "$FLEET" -name salt_vault_token)" ]'
    file=$(find "$FLEET" -name salt_vault_token)
    [ "$(stat -c %a "$file")" = 600 ]
    made=$(grep -c auth/token/create "$VAULT_LOG")
    said vault.read_secret secret/m1/a word >/dev/null
    [ "$(grep -c auth/token/create "$VAULT_LOG")" = "$made" ]
    said vault.read_secret secret/m1/a word >/dev/null
    [ ! -e "$file" ]
    said vault.read_secret secret/m1/a word >/dev/null
    [ "$(said vault.clear_token_cache)" = '{"m1": true}' ]
    [ "$(said vault.clear_token_cache)" = '{"m1": false}' ]
}
