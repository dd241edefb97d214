#!/usr/bin/env bats
# Published attacks on salt-api: functions for who has no credentials, or wrong ones, and files of the server.
load ../t/lib
load ../t/api

setup_file() {
    export FLEET
    API_LINES=("static: $BATS_FILE_TMPDIR/static")
    mkdir -p "$BATS_FILE_TMPDIR/static"
    api_up m1
}
teardown_file() { fleet_down; }

run_with() { # CREDENTIALS CLIENT MORE: the status
    curl -s -o "$BATS_TEST_TMPDIR/out" -w '%{http_code}' "$API/run" -H 'Content-Type: application/json' -d "[{\"client\":\"$2\",$3$1}]"
}

@test "CVE-2017-5192: local_batch, as every client, asks for credentials" {
    local client
    for client in local local_async local_batch local_subset; do
        [ "$(run_with '' "$client" '"tgt":"*","batch":"1","fun":"test.touch_me"')" = 401 ]
        [ "$(run_with ',"token":"nope"' "$client" '"tgt":"*","batch":"1","fun":"test.ping"')" = 401 ]
    done
}

@test "CVE-2018-15750: a token that is a path tells nothing of files" {
    touch "$BATS_TEST_TMPDIR/there"
    for token in "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/missing" ../../../../etc/passwd; do
        [ "$(run_with ",\"token\":\"$token\"" local '"tgt":"*","fun":"test.ping"')" = 401 ]
        cp "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/out.${token##*/}"
    done
    cmp "$BATS_TEST_TMPDIR/out.there" "$BATS_TEST_TMPDIR/out.missing"
    [ "$(curl -s --path-as-is -o /dev/null -w '%{http_code}' "$API/static/../../../../etc/passwd")" = 403 ]
}

@test "CVE-2018-15751: nobody runs commands without credentials" {
    [ "$(run_with '' local '"tgt":"*","fun":"cmd.run","arg":["touch '"$BATS_TEST_TMPDIR"'/ran"]')" = 401 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/" -H 'Content-Type: application/json' -d '[{"client":"local","tgt":"*","fun":"cmd.run","arg":["touch '"$BATS_TEST_TMPDIR"'/ran"]}]')" = 401 ]
    [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "CVE-2020-25592: wrong credentials are none, whatever the system and the client" {
    local eauth client
    for eauth in sharedsecret auto pam nope ''; do
        client=$([ -n "$eauth" ] && echo runner || echo local)
        [ "$(run_with ",\"eauth\":\"$eauth\",\"username\":\"admin\",\"password\":\"wrong\"" "$client" '"tgt":"*","fun":"test.ping"')" != 200 ] # 401, or 429
    done
}

@test "CVE-2021-25281: wheel_async, as every client, asks for credentials" {
    local client
    for client in wheel wheel_async runner runner_async; do
        [ "$(run_with '' "$client" '"fun":"key.list_all"')" = 401 ]
        [ "$(run_with ',"eauth":"sharedsecret","username":"limited","password":"secret"' "$client" '"fun":"key.gen","keyname":"x"')" = 401 ]
    done
}
