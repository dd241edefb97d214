#!/usr/bin/env bats
# Events by GET /events and /ws: who sees what, slow readers, sessions that end, clients that go; in the clear and under TLS.
load lib
load api

setup_file() {
    export FLEET
    api_up m1 m2
}
teardown_file() { fleet_down; }

streams() { python3 -B "$HALITE_SRC/tests/lib/api_streams.py" "$API" "$@"; }

@test "both kinds of streams show events, large ones too" {
    login admin
    streams both "$TOKEN" "$SOCK_DIR"
}

@test "?format_events shows jobs and minions as Salt does" {
    login admin
    streams formatted "$TOKEN" "curl -sk $API/ -H 'X-Auth-Token: $TOKEN' -H 'Content-Type: application/json' -d '[
        {\"client\": \"local\", \"tgt\": [\"m1\"], \"tgt_type\": \"list\", \"fun\": \"test.echo\", \"arg\": \"words\"},
        {\"client\": \"local\", \"tgt\": \"m1\", \"fun\": \"grains.items\"}]'"
}

@test "a stream that is not read is cut, and others miss nothing" {
    login admin
    streams slow "$TOKEN" "$SOCK_DIR"
}

@test "streams end with their session" {
    login admin
    streams ended "$TOKEN" "curl -s -X POST $API/logout -H 'X-Auth-Token: $TOKEN' -d '{}'"
}

@test "clients that go leave nothing behind" {
    login admin
    streams gone "$TOKEN" 200
}

@test "a user sees the events of what his rules let him ask" {
    login limited
    curl -sN --max-time 20 "$API/events?token=$TOKEN" >"$BATS_TEST_TMPDIR/limited" &
    pid=$!
    until_true 5 grep -q retry "$BATS_TEST_TMPDIR/limited"
    salt m2 cmd.run 'echo private-words' >/dev/null
    salt m1 test.echo '[visible-words, 0.074]' >/dev/null
    until_true 10 grep -qF '["visible-words", 0.074]' "$BATS_TEST_TMPDIR/limited"
    not grep -q 'private-words' "$BATS_TEST_TMPDIR/limited"
    kill "$pid"
}

@test "the cookie alone opens a stream of events, and nothing else" {
    login admin
    curl -sN --max-time 20 -H "Cookie: session_id=$TOKEN" "$API/events" >"$BATS_TEST_TMPDIR/cookie" &
    pid=$!
    until_true 5 grep -q retry "$BATS_TEST_TMPDIR/cookie"
    kill "$pid"
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Cookie: session_id=$TOKEN" "$API/minions")" = 401 ]
}

@test "under TLS all of it is the same" {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "$FLEET/key.pem" -out "$FLEET/crt.pem" 2>/dev/null
    stop api
    sed -i "s#^  disable_ssl: True#  ssl_crt: $FLEET/crt.pem\n  ssl_key: $FLEET/key.pem#" "$MASTER_CONF"
    API=https://127.0.0.1:$API_PORT
    start_api
    login admin
    curl -ski "$API/login" -d eauth=sharedsecret -d username=admin -d password=secret | grep -E '^Set-Cookie: .*; Secure'
    [ "$(api POST / '{"client":"local","tgt":"m1","fun":"test.ping"}')" = '{"return": [{"m1": true}]}' ]
    streams both "$TOKEN" "$SOCK_DIR"
    streams gone "$TOKEN" 20
    streams slow "$TOKEN" "$SOCK_DIR"
    run curl -sk --tls-max 1.1 "$API/health"
    [ "$status" -ne 0 ]
}

subject() { openssl s_client -connect "127.0.0.1:$API_PORT" </dev/null 2>/dev/null | openssl x509 -noout -subject | tr -d " "; }
subject_is() { [ "$(subject)" = "subject=CN=$1" ]; }

@test "a new certificate is taken at SIGHUP, streams go on, and a bad one changes nothing" {
    API=https://127.0.0.1:$API_PORT
    login admin
    curl -skN --max-time 60 -H "X-Auth-Token: $TOKEN" "$API/events" >"$BATS_TEST_TMPDIR/stream" &
    pid=$!
    until_true 5 grep -q retry "$BATS_TEST_TMPDIR/stream"
    subject_is localhost
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=newer -keyout "$FLEET/key2.pem" -out "$FLEET/crt2.pem" 2>/dev/null
    cp "$FLEET/crt2.pem" "$FLEET/crt.pem"
    # The key is still that of before: half of a change.
    kill -HUP "$(pid_of api)"
    until_true 10 grep -q 'The certificate of before stays' "$FLEET/log/api"
    subject_is localhost
    cp "$FLEET/key2.pem" "$FLEET/key.pem"
    kill -HUP "$(pid_of api)"
    until_true 10 subject_is newer
    echo garbage >"$FLEET/crt.pem"
    kill -HUP "$(pid_of api)"
    until_true 10 grep -qE 'crt.pem.* no certificate and its key in PEM.*stays' "$FLEET/log/api"
    rm "$FLEET/crt.pem"
    kill -HUP "$(pid_of api)"
    until_true 10 grep -qE 'crt.pem.*No such file.*stays' "$FLEET/log/api"
    subject_is newer
    "$HALITE_BIN/salt" -c "$FLEET/etc" m1 test.echo after-the-change >/dev/null
    until_true 10 grep -q after-the-change "$BATS_TEST_TMPDIR/stream"
    kill "$pid"
}
