#!/usr/bin/env bats
# 7200-ddns.bats - runner ddns against a real name server (named, of BIND).

bats_require_minimum_version 1.5.0
load lib
load named

json() { "$@" --out=json --out-indent=-1; }

setup_file() {
    has_named || return 0
    fleet_new
    start_master
    start_named 127.0.0.1 $((PORT + 3)) example.test 168.192.in-addr.arpa
}

teardown_file() {
    has_named || return 0
    fleet_down
}

setup() {
    has_named || skip "$NAMED_MISSING"
}

ddns() { json salt-run "ddns.$1" "${@:2}" nameserver=127.0.0.1 "port=$DNS_PORT" keyname=None keyfile=None; }

@test "a host: added in both directions, there already, deleted" {
    run -0 ddns add_host zone=example.test name=web1 ttl=60 ip=192.168.7.9
    same_as "$output" <<'EOF'
{"web1.example.test": ["Created record of type 'A': web1.example.test -> 192.168.7.9", "Created record of type 'PTR': 9.7.168.192.in-addr.arpa. -> web1.example.test."]}
EOF
    [ "$(look A web1.example.test)" = 192.168.7.9 ]
    [ "$(look PTR 9.7.168.192.in-addr.arpa)" = web1.example.test. ]
    run -0 ddns add_host zone=example.test name=web1.example.test ttl=60 ip=192.168.7.9
    same_as "$output" <<'EOF'
{"web1.example.test": ["Record of type 'A' already exists with ttl of 60", "Record of type 'PTR' already exists with ttl of 60"]}
EOF
    run -0 ddns delete_host zone=example.test name=web1
    same_as "$output" <<'EOF'
{"web1.example.test": ["Deleted DNS record(s) of type 'A'", "Deleted DNS record(s) of type 'PTR'"]}
EOF
    [ -z "$(look A web1.example.test)$(look PTR 9.7.168.192.in-addr.arpa)" ]
    run -0 ddns delete_host zone=example.test name=web1
    same_as "$output" <<<'{"web1.example.test": ["No matching DNS record(s) found of type '"'A'"'"]}'
}

@test "a name has the zone as its last labels only, and elsewhere as letters of its own" {
    for name in wexample.testww www.example.test.evil badexample.test; do
        run -0 ddns create zone=example.test "name=$name" ttl=60 rdtype=A data=192.168.0.1
        same_as "$output" <<<"{\"$name.example.test\": \"Created record of type 'A': $name.example.test -> 192.168.0.1\"}"
        [ "$(look A "$name.example.test")" = 192.168.0.1 ]
        ddns delete zone=example.test "name=$name"
    done
    [ -z "$(look A www.example.test)" ]
    for name in www WWW.Example.Test www.example.test.; do
        run -0 ddns create zone=example.test "name=$name" ttl=60 rdtype=A data=192.168.0.1
        [ "$(look A www.example.test)" = 192.168.0.1 ]
        ddns delete zone=example.test "name=$name"
    done
    run -0 ddns create zone=example.test name=example.test ttl=60 rdtype=TXT data=word
    [ "$(look TXT example.test)" = '"word"' ]
    ddns delete zone=example.test name=example.test rdtype=TXT
}

@test "records: create, update, replace, delete one and all" {
    ddns create zone=example.test name=text ttl=60 rdtype=TXT data='two words'
    [ "$(look TXT text.example.test)" = '"two" "words"' ]
    ddns create zone=example.test name=a ttl=60 rdtype=A data=192.168.0.1
    ddns create zone=example.test name=a ttl=60 rdtype=A data=192.168.0.2
    run -0 ddns update zone=example.test name=a ttl=60 rdtype=A data=192.168.0.1
    same_as "$output" <<<"{\"a.example.test\": \"Record of type 'A' already present with ttl of 60\"}"
    run -0 ddns update zone=example.test name=a ttl=60 rdtype=A data=192.168.0.1 replace=True
    same_as "$output" <<<"{\"a.example.test\": \"Updated record of type 'A'\"}"
    [ "$(look A a.example.test)" = 192.168.0.1 ]
    run -0 ddns update zone=example.test name=nosuch ttl=60 rdtype=A data=192.168.0.1
    same_as "$output" <<<'{"nosuch.example.test": "No matching DNS record(s) found"}'
    ddns create zone=example.test name=a ttl=60 rdtype=A data=192.168.0.3
    ddns delete zone=example.test name=a rdtype=A data=192.168.0.1
    [ "$(look A a.example.test)" = 192.168.0.3 ]
    ddns delete zone=example.test name=a
    [ -z "$(look A a.example.test)" ]
}

@test "a key: asked for, wrong, right; never in a command line" {
    printf '{"halite": "%s", "other": "%s"}' "$SECRET" "$SECRET" >"$FLEET/ring"
    run ddns create zone=signed.test name=x ttl=60 rdtype=A data=192.168.0.1
    [ "$status" -ne 0 ]
    same_as "$output" <<<"{\"x.signed.test\": \"Failed to create record of type 'A' (REFUSED)\"}"
    signed() {
        json salt-run ddns.create zone=signed.test name=x ttl=60 rdtype=A data=192.168.0.1 nameserver=127.0.0.1 \
            "port=$DNS_PORT" "keyfile=$FLEET/ring" keyalgorithm=hmac-sha256 "keyname=$1"
    }
    run signed nosuch
    [ "$status" -ne 0 ]
    grep -q "has no key 'nosuch'" <<<"$output"
    run signed other
    [ "$status" -ne 0 ]
    run -0 signed halite
    [ "$(look A x.signed.test)" = 192.168.0.1 ]
}

@test "what is not a name, address or record is refused before anything is sent" {
    run ddns create zone=example.test name='x y' ttl=60 rdtype=A data=192.168.0.1
    [ "$status" -ne 0 ]
    grep -q "is not valid" <<<"$output"
    run ddns create zone=example.test name=x ttl=60 rdtype=A data=$'192.168.0.1\nupdate delete ns.example.test'
    [ "$status" -ne 0 ]
    [ "$(look A ns.example.test)" = 127.0.0.1 ]
    run json salt-run ddns.add_host zone=example.test name=x ttl=60 ip=192.168.0.1 keyname=None keyfile=None nameserver=ns.example.test
    [ "$status" -ne 0 ]
    grep -q "is not an IP address" <<<"$output"
}

@test "a server that does not answer: an error that names it" {
    run json salt-run ddns.delete_host zone=example.test name=x keyname=None keyfile=None nameserver=127.0.0.1 port=9 timeout=1
    [ "$status" -ne 0 ]
    grep -q "The name server 127.0.0.1 port 9 does not answer" <<<"$output"
}

@test "the minion's module and states change the same server" {
    local call=("$HALITE_BIN/salt-call" --local -c "$FLEET/local" --out=json --out-indent=-1)
    mkdir -p "$FLEET/local"
    echo "root_dir: $FLEET/local" >"$FLEET/local/minion"
    run -0 "${call[@]}" ddns.add_host example.test web7 60 192.168.7.7 nameserver=127.0.0.1 port="$DNS_PORT"
    same_as "$output" <<<'{"local": true}'
    [ "$(look A web7.example.test)" = 192.168.7.7 ]
    [ "$(look PTR 7.7.168.192.in-addr.arpa)" = web7.example.test. ]
    run -0 "${call[@]}" ddns.update example.test web7 60 A 192.168.7.7 nameserver=127.0.0.1 port="$DNS_PORT"
    same_as "$output" <<<'{"local": null}'
    run -0 "${call[@]}" state.single ddns.present web8 zone=example.test ttl=60 data=192.168.7.8 nameserver=127.0.0.1 port="$DNS_PORT"
    [ "$(look A web8.example.test)" = 192.168.7.8 ]
    run -0 "${call[@]}" state.single ddns.absent web8 zone=example.test nameserver=127.0.0.1 port="$DNS_PORT"
    [ -z "$(look A web8.example.test)" ]
    run -0 "${call[@]}" ddns.delete_host example.test web7 nameserver=127.0.0.1 port="$DNS_PORT"
    [ -z "$(look A web7.example.test)$(look PTR 7.7.168.192.in-addr.arpa)" ]
}
