#!/usr/bin/env bats
# salt-api as its clients see it: log-in, functions, jobs, keys, hooks, figures, files, TLS.
load lib
load api

setup_file() {
    export FLEET
    API_LINES=("app: $BATS_FILE_TMPDIR/app.html" "static: $BATS_FILE_TMPDIR/static" "webhook_url: /in"
        "log_access_file: $BATS_FILE_TMPDIR/access.log")
    MORE_LINES=('nodegroups: {group: m1}' 'rest_timeout: 3')
    mkdir -p "$BATS_FILE_TMPDIR/static/sub"
    echo '<p>the app</p>' >"$BATS_FILE_TMPDIR/app.html"
    echo 'body {}' >"$BATS_FILE_TMPDIR/static/sub/a.css"
    echo secret >"$BATS_FILE_TMPDIR/outside"
    ln -s ../outside "$BATS_FILE_TMPDIR/static/link"
    mkfifo "$BATS_FILE_TMPDIR/static/pipe"
    api_up m1 m2
}
teardown_file() { fleet_down; }

@test "log in, call, log out" {
    login admin
    [ "$(api POST / '{"client":"local","tgt":"m1","fun":"test.ping"}')" = '{"return": [{"m1": true}]}' ]
    [ "$(api POST / '{"client":"local","tgt":"m1","fun":"test.echo","arg":[[0.074, 1e-5, 3.0, 0.1]]}')" = '{"return": [{"m1": [0.074, 1e-05, 3.0, 0.1]}]}' ]
    [ "$(status_of POST /logout '{}')" = 200 ]
    [ "$(status_of POST / '{"client":"local","tgt":"m1","fun":"test.ping"}')" = 401 ]
}

@test "the token that a session stood for is revoked by its log-out" {
    token=$(curl -s "$API/token" -d eauth=sharedsecret -d username=admin -d password=secret | field token)
    [ ${#token} -eq 64 ]
    chunk='[{"client":"runner","fun":"test.arg","token":"'$token'"}]'
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/run" -H 'Content-Type: application/json' -d "$chunk")" = 200 ]
    ask "{\"op\":\"token_revoke\",\"token\":\"$token\"}"
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/run" -H 'Content-Type: application/json' -d "$chunk")" = 401 ]
}

@test "targets of every kind, full returns, a batch, a subset" {
    login admin
    [ "$(api POST / '{"client":"local","tgt":["m1","m2"],"tgt_type":"list","fun":"test.ping"}' | grep -o true | wc -l)" = 2 ]
    [ "$(api POST / '{"client":"local","tgt":"group","tgt_type":"nodegroup","fun":"test.ping"}')" = '{"return": [{"m1": true}]}' ]
    [ "$(api POST / '{"client":"local","tgt":"m[1]","expr_form":"pcre","fun":"test.ping"}')" = '{"return": [{"m1": true}]}' ]
    [ "$(status_of POST / '{"client":"local","tgt":"none","tgt_type":"nodegroup","fun":"test.ping"}')" = 400 ]
    api POST / '{"client":"local","tgt":"m1","fun":"test.false","full_return":true}' | grep -E '"m1": \{"ret": false, "retcode": [0-9]+, "jid": "[0-9]{20}"'
    [ "$(api POST / '{"client":"local_batch","tgt":"*","fun":"test.ping","batch":"50%"}' | grep -o '{"m[12]": true}' | wc -l)" = 2 ]
    [ "$(api POST / '{"client":"local_batch","tgt":"*","fun":"test.ping"}' | grep -o '{"m[12]": true}' | wc -l)" = 2 ]
    [ "$(api POST / '{"client":"local_subset","tgt":"*","fun":"test.ping","subset":1}' | grep -o true | wc -l)" = 1 ]
}

@test "mistakes of the caller are 400 and say what is wrong" {
    login admin
    local body
    for body in '{"client":"local","fun":"test.ping"}' '{"client":"local","tgt":"*"}' '{"client":"nope"}' '{"client":"ssh","tgt":"*","fun":"test.ping"}' \
        '{"client":"local_subset","tgt":"*","fun":"test.ping","subset":"x"}' \
        '{"client":"runner","fun":"nodot"}' '{"client":"wheel"}' '[1]' '"x"' '{' '{"client":"local","tgt":"*","fun":7}'; do
        [ "$(status_of POST / "$body")" = 400 ] || { echo "$body" >&2; return 1; }
    done
    api POST / '{"client":"local","fun":"test.ping"}' | grep -F '{"status": 400, "return": "tgt is wanted'
    curl -s "$API/" -H "X-Auth-Token: $TOKEN" -d client=nope | grep -F "<p>Invalid client specified: &#x27;nope&#x27;</p>"
}

@test "a runner that takes too long is 504, and others are served meanwhile" {
    login admin
    api POST / '{"client":"runner","fun":"test.sleep","arg":[30]}' -o /dev/null -w '%{http_code}' >"$BATS_TEST_TMPDIR/slow" &
    pid=$!
    [ "$(api POST / '{"client":"local","tgt":"m1","fun":"test.ping"}')" = '{"return": [{"m1": true}]}' ]
    wait "$pid"
    [ "$(<"$BATS_TEST_TMPDIR/slow")" = 504 ]
}

@test "jobs: begun by POST /minions, polled by GET /jobs/JID as Rundeck does it" {
    login admin
    href=$(api POST /minions '{"tgt":"*","fun":"test.echo","arg":"hello"}' | sed -nE 's/.*"href": "([^"]*)".*/\1/p')
    until_true 10 grep -q '"return": \[{"m[12]": "hello", "m[12]": "hello"}\]' <(api GET "$href") ||
        until_true 10 eval 'api GET "$href" | grep -q "\"return\": .*hello.*hello"'
    api GET /jobs | grep -F "\"${href#/jobs/}\": {"
}

@test "keys are shown by GET /keys, by their fingerprints with an id" {
    login admin
    api GET /keys | grep -F '"minions": ["m1", "m2"]'
    api GET /keys/m1 | grep -E '"m1": "([0-9a-f]{2}:){31}[0-9a-f]{2}"'
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/keys" -d mid=../x -d eauth=sharedsecret -d username=admin -d password=secret)" = 400 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/keys" -d mid=x1 -d eauth=sharedsecret -d username=limited -d password=secret)" = 401 ]
}

@test "a hook is an event, without the session of who sent it" {
    listen hooks 'salt/netapi/*'
    login admin
    [ "$(api POST /in/build/done '{"ok":true}' -H 'X-Thing: 7')" = '{"success": true}' ]
    line=$(wait_event hooks 'salt/netapi/hook/build/done')
    grep -F '"post":{"ok":true}' <<<"$line"
    grep -F '"X-Thing":"7"' <<<"$line"
    not grep -F "$TOKEN" <<<"$line"
    [ "$(status_of POST /hook/x '{}')" = 404 ]
    unlisten hooks
}

@test "stats, health and readiness" {
    login admin
    api GET /stats | grep -F '"CherryPy Applications": {'
    [ "$(curl -s "$API/health")" = '{"status": "ok"}' ]
    [ "$(curl -s "$API/ready")" = '{"status": "ok"}' ]
}

@test "browsers get the app, and files of the folder and of nowhere else" {
    [ "$(curl -s "$API/" -H 'Accept: text/html,*/*;q=0.8')" = '<p>the app</p>' ]
    [ "$(curl -s "$API/anything/else" -H 'Accept: text/html')" = '<p>the app</p>' ]
    [ "$(curl -s "$API/app")" = '<p>the app</p>' ]
    [ "$(curl -s "$API/static/sub/a.css")" = 'body {}' ]
    [ "$(curl -s -r 0-3 -w '%{http_code}' "$API/static/sub/a.css")" = body206 ]
    [ "$(curl -s -r 100- -o /dev/null -w '%{http_code}' "$API/static/sub/a.css")" = 416 ]
    modified=$(curl -sI "$API/static/sub/a.css" | tr -d '\r' | sed -n 's/^Last-Modified: //p')
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H "If-Modified-Since: $modified" "$API/static/sub/a.css")" = 304 ]
    local path
    for path in /static/link /static/../outside /static/%2e%2e/outside /static/sub/..%2f..%2foutside //static/../../etc/passwd /static/%00/etc/passwd; do
        run curl -s --path-as-is "$API$path"
        not grep -qE 'secret|root:' <<<"$output"
    done
    [ "$(curl -s --path-as-is -o /dev/null -w '%{http_code}' "$API/static/../outside")" = 403 ]
    [ "$(curl -s --max-time 5 -o /dev/null -w '%{http_code}' "$API/static/pipe")" = 404 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/static/sub")" = 404 ]
}

@test "answers come as YAML for who asks for it, and nothing but JSON and YAML is known" {
    login admin
    [ "$(api POST / '{"client":"local","tgt":"m1","fun":"test.ping"}' -H 'Accept: application/x-yaml')" != "" ]
    curl -s "$API/" -H 'Accept: text/yaml' | grep -x 'return: Welcome'
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/" -H 'Accept: application/xml')" = 406 ]
}

@test "the log of requests says who asked for what, and has no secrets" {
    login admin
    api POST / '{"client":"local","tgt":"m1","fun":"test.echo","arg":["pass-me-not"]}' >/dev/null
    local log=$BATS_FILE_TMPDIR/access.log
    until_log "$log" '"user":"admin","method":"POST","path":"/","status":200,.*"asks":"local test.echo"'
    not grep -qE "$TOKEN|[^d]secret|pass-me-not" "$log" "$FLEET/log/api" "$FLEET/log/master"
}

@test "no request stays out of the log, whatever its texts are cut to" {
    login admin
    local long
    long=$(printf 'é%.0s' {1..90})
    # 80 bytes of a function are shown, and 40 of a client: a letter of two bytes is cut there.
    api POST / "[{\"client\":\"local\",\"tgt\":\"m1\",\"fun\":\"test.version\"},{\"client\":\"local\",\"tgt\":\"m1\",\"fun\":\"x$long\"}]" >/dev/null
    until_log "$BATS_FILE_TMPDIR/access.log" '"asks":"local test.version, local xé'
    api POST / "[{\"client\":\"local\",\"tgt\":\"m1\",\"fun\":\"test.versions_report\"},{\"client\":\"x$long\"}]" >/dev/null
    until_log "$BATS_FILE_TMPDIR/access.log" '"asks":"local test.versions_report, xé'
}

@test "a master that is away is 503, and one that comes back is found" {
    stop master
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/ready")" = 503 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/login" -d eauth=sharedsecret -d username=admin -d password=secret)" = 503 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/health")" = 200 ]
    start_master
    wait_connected m1 m2
    login admin
    [ "$(api POST / '{"client":"local","tgt":"m1","fun":"test.ping"}')" = '{"return": [{"m1": true}]}' ]
}
