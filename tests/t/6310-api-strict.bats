#!/usr/bin/env bats
# salt-api among hostile clients: pages of other sites, guessers, half requests, forged lengths, strange upgrades.
load lib
load api

setup_file() {
    export FLEET
    API_LINES=("request_timeout: 3" "cors_origin: ['https://gui.example']" "api_acl: {users: {'*': ['127.0.0.1', '127.0.0.2'], nobody: []}}")
    api_up m1
}
teardown_file() { fleet_down; }

hostile() { python3 -B "$HALITE_SRC/tests/lib/api_hostile.py" "$API_PORT" "$@"; }
PING='{"client":"local","tgt":"*","fun":"test.ping"}'

@test "a page of another site can't act with the cookie of who visits it" {
    login admin
    code() { curl -s -o "$BATS_TEST_TMPDIR/out" -w '%{http_code}' "$@"; }
    [ "$(code "$API/" -H "Cookie: session_id=$TOKEN" -H 'Content-Type: text/plain' -H 'Origin: https://evil.example' -d "$PING")" = 403 ]
    [ "$(code "$API/" -H "Cookie: session_id=$TOKEN" -H 'Content-Type: text/plain' -d "$PING")" = 401 ]
    [ "$(code "$API/" -H "X-Auth-Token: $TOKEN" -H 'Origin: https://evil.example' -H 'Content-Type: application/json' -d "$PING")" = 403 ]
    [ "$(code "$API/" -H "X-Auth-Token: $TOKEN" -H "Origin: $API" -H 'Content-Type: application/json' -d "$PING")" = 200 ]
    [ "$(code "$API/" -H "X-Auth-Token: $TOKEN" -H 'Origin: https://gui.example' -H 'Content-Type: application/json' -d "$PING")" = 200 ]
}

@test "other origins are told nothing, those of cors_origin what they may" {
    curl -si -X OPTIONS "$API/" -H 'Origin: https://evil.example' -H 'Access-Control-Request-Method: POST' >"$BATS_TEST_TMPDIR/evil"
    not grep -qi '^access-control' "$BATS_TEST_TMPDIR/evil"
    curl -si -X OPTIONS "$API/" -H 'Origin: https://gui.example' -H 'Access-Control-Request-Method: POST' | tr -d '\r' >"$BATS_TEST_TMPDIR/good"
    grep -x 'Access-Control-Allow-Origin: https://gui.example' "$BATS_TEST_TMPDIR/good"
    grep -x 'Access-Control-Allow-Headers: Content-Type, X-Auth-Token, X-Requested-With' "$BATS_TEST_TMPDIR/good"
}

@test "the cookie is for this site alone and for no script" {
    curl -si "$API/login" -d eauth=sharedsecret -d username=admin -d password=secret | grep -E '^Set-Cookie: session_id=[0-9a-f]{40};.*; Path=/; HttpOnly; SameSite=Strict'
}

@test "users come from the addresses of api_acl" {
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/login" -d eauth=sharedsecret -d username=nobody -d password=secret)" = 403 ]
    login admin
    [ "$(curl -s --interface 127.0.0.3 -o /dev/null -w '%{http_code}' "$API/minions" -H "X-Auth-Token: $TOKEN")" = 403 ]
}

@test "10,000 bad log-ins of an address slow nobody but that address" { hostile guess 10000; }
@test "half requests end in time, and others are served meanwhile" { hostile slow 200 20; }
@test "pipelined requests are answered in their order" { hostile pipeline; }
@test "a request with two lengths is refused" { hostile smuggle; }
@test "bytes that are no text end nothing" {
    login admin
    hostile bytes_of_no_text "$TOKEN"
    [ ! -e "$FLEET/pids/api.rc" ]
}

@test "wrong tokens hold up nobody who has a right one" {
    [ "$(id -u)" -eq 0 ] || skip "another user is wanted: only root can become one"
    stop api
    fleet_open
    start_api setpriv --reuid=65534 --regid=65534 --clear-groups
    login admin
    local i
    for i in {1..12}; do [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/events?token=wrong$i")" = 401 ]; done
    [ "$(status_of POST / "$PING")" = 200 ]
    stop api
    start_api
}

@test "keywords that are no mapping are refused: test=True must not be lost" {
    login admin
    local client
    for client in local local_async runner wheel; do
        [ "$(status_of POST / "{\"client\":\"$client\",\"tgt\":\"*\",\"fun\":\"test.arg\",\"kwarg\":\"test=True\"}")" = 400 ]
    done
    [ "$(status_of POST / '{"client":"local","tgt":"*","fun":"test.arg","kwarg":["test=True"]}')" = 400 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/" -H "X-Auth-Token: $TOKEN" -d client=local -d 'tgt=*' -d fun=test.arg -d kwarg=test=True)" = 400 ]
    [ "$(status_of POST / '{"client":"local","tgt":"*","fun":"test.ping","kwarg":{}}')" = 200 ]
    [ "$(status_of POST / '{"client":"local","tgt":"*","fun":"test.ping","kwarg":null}')" = 200 ]
}

@test "a timeout beyond all numbers is none" {
    login admin
    local seconds
    for seconds in 1e300 -1e300 '"inf"' '"nan"' '[]'; do
        [ "$(status_of POST / "{\"client\":\"local\",\"tgt\":\"*\",\"fun\":\"test.ping\",\"timeout\":$seconds}")" = 200 ]
        [ "$(status_of POST / "{\"client\":\"runner\",\"fun\":\"jobs.active\",\"timeout\":$seconds}")" = 200 ]
        [ "$(status_of POST / "{\"client\":\"wheel\",\"fun\":\"key.list_all\",\"timeout\":$seconds}")" = 200 ]
    done
}

@test "salt-api ends well, also after it has warned of its configuration" {
    stop api
    sed 's/^  disable_ssl: True/&\n  misspelt: 1/' "$FLEET/etc/master" >"$FLEET/etc/master.new"
    cp "$FLEET/etc/master" "$FLEET/etc/master.old"
    mv "$FLEET/etc/master.new" "$FLEET/etc/master"
    start_api
    grep -q "unknown option 'misspelt'" "$FLEET/log/api"
    stop api
    mv "$FLEET/etc/master.old" "$FLEET/etc/master"
    start_api
}

@test "heads that are too large, and what is no HTTP" { hostile heads; }
@test "bodies that are too large are 413" { hostile bodies; }
@test "upgrades: none without a session, from other sites, or against the rules" {
    login admin
    hostile upgrades "$TOKEN"
}

@test "a path is no token" {
    for token in /etc/passwd ../../x '' "$(printf 'a%.0s' {1..64})"; do
        [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/run" -H 'Content-Type: application/json' -d '[{"client":"local","tgt":"*","fun":"test.ping","token":"'"$token"'"}]')" = 401 ]
        [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/" -H "X-Auth-Token: $token" -H 'Content-Type: application/json' -d "$PING")" = 401 ]
        [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/events?token=$token")" = 401 ]
    done
}

@test "without TLS it listens on loopback only" {
    mkdir "$BATS_TEST_TMPDIR/etc"
    sed 's/host: 127.0.0.1/host: 0.0.0.0/' "$MASTER_CONF" >"$BATS_TEST_TMPDIR/etc/master"
    run "$HALITE_BIN/salt-api" -c "$BATS_TEST_TMPDIR/etc"
    [ "$status" -eq 1 ]
    grep -F 'passwords would cross the network in the clear' <<<"$output"
}

@test "a client that is not enabled is not served, in any spelling" {
    login admin
    for client in ssh wheel_nope WHEEL ' wheel' ; do
        [ "$(status_of POST / "{\"client\":\"$client\",\"fun\":\"key.list_all\"}")" = 400 ]
    done
}

@test "as a user without rights it serves more clients at one time than the master gives a user lines" {
    [ "$(id -u)" -eq 0 ] || skip "another user is wanted: only root can become one"
    stop api
    fleet_open
    start_api setpriv --reuid=65534 --regid=65534 --clear-groups
    login admin
    hostile many "$TOKEN" 300
    stop api
    start_api
}

@test "salt-api lives, with the memory that it had" {
    [ ! -e "$FLEET/pids/api.rc" ]
    [ -n "${SAN:-}" ] || [ "$(sed -n 's/^VmRSS:[[:blank:]]*\([0-9]*\) kB/\1/p' "/proc/$(pid_of api)/status")" -lt 40000 ]
}
