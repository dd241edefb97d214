#!/usr/bin/env bats
# 7300-http.bats - http.query as runner and as execution module, against a server on loopback.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    start_master
    minion_conf m1
    daemon listen-web "$HALITE_SRC/tests/lib/webserver.py" "$FLEET/web.port"
    until_true 10 test -s "$FLEET/web.port"
    WEB=http://127.0.0.1:$(cat "$FLEET/web.port")
    export WEB
}

teardown_file() {
    fleet_down
}

query() { salt-run http.query "$@" --out=json --out-indent=-1; }
# A member of what the server was asked.
asked() { query "$@" | python3 -c 'import json, sys; print(json.dumps(json.loads(json.load(sys.stdin)["body"]), sort_keys=True))'; }

@test "a body, and what else is asked for" {
    same_as "$(query "$WEB/plain")" <<<'{"body": "just text"}'
    same_as "$(query "$WEB/plain" status=True text=True)" <<<'{"body": "just text", "status": 200, "text": "just text"}'
    query "$WEB/plain" headers=True | grep -q '"X-One": "1,2"'
    same_as "$(query "$WEB/yaml" decode=True decode_type=yaml)" <<<'{"body": "a: [1, two]\n", "dict": {"a": [1, "two"]}}'
    same_as "$(query "$WEB/yaml" decode=True)" <<<'{"body": "a: [1, two]\n", "dict": {"a": [1, "two"]}}'
    query "$WEB/echo" decode=True | grep -q '"dict": {"body": "", '
    query "$WEB/plain" decode=True decode_type=nosuch | grep -q "Valid decode types are: ('json', 'xml', 'yaml', 'plain')"
    same_as "$(query "$WEB/nosuch" test=True)" <<<'{}'
}

@test "method, parameters, data, fields of the header" {
    same_as "$(asked "$WEB/echo" 'params={a: 1, b: x y}')" <<'EOF'
{"body": "", "headers": {"user-agent": "Salt/3006.0 http.query()"}, "method": "GET", "path": "/echo?a=1&b=x+y"}
EOF
    same_as "$(asked "$WEB/echo?z=0" params='key1=val1&key2=val2' method=POST)" <<'EOF'
{"body": "", "headers": {"content-type": "application/x-www-form-urlencoded", "user-agent": "Salt/3006.0 http.query()"}, "method": "POST", "path": "/echo?z=0&key1=val1&key2=val2"}
EOF
    same_as "$(asked "$WEB/echo" method=PUT data='@a "quoted\" text' 'header_dict={X-A: 1}' 'header_list=["X-B: two", none]' agent=me)" <<'EOF'
{"body": "@a \"quoted\\\" text", "headers": {"user-agent": "me", "x-a": "1", "x-b": "two"}, "method": "PUT", "path": "/echo"}
EOF
    asked "$WEB/echo" method=POST 'data={a: b c, d: "&"}' | grep -q '"body": "a=b+c&d=%26"'
    printf 'from a file' >"$FLEET/data"
    asked "$WEB/echo" method=POST "data_file=$FLEET/data" | grep -q '"body": "from a file"'
    asked "$WEB/echo" method=POST "data_file=$FLEET/data" formdata=True formdata_fieldname=f formdata_filename=n.txt |
        grep -q 'form-data; name=\\"f\\"; filename=\\"n.txt\\"'
    [ "$(query "$WEB/echo" method=HEAD)" = '{"body": ""}' ]
}

@test "what is sent is sent whole, whatever its bytes" {
    printf 'HEAD\0TAIL-%090d' 0 >"$FLEET/bytes"
    asked "$WEB/echo" method=PUT "data_file=$FLEET/bytes" | grep -q '"body": "HEAD\\u0000TAIL-0\{90\}"'
    asked "$WEB/echo" method=POST 'data="a\0b"' | grep -q '"body": "a\\u0000b"'
    asked "$WEB/echo" method=POST 'data={k: "a\0b"}' | grep -q '"body": "k=a%00b"'
}

@test "statuses: an error, or not; redirects" {
    same_as "$(query "$WEB/status/404")" <<<'{"status": 404, "error": "HTTP 404: Not Found"}'
    same_as "$(query "$WEB/status/404" raise_error=False status=True)" <<<'{"body": "body of 404", "status": 404}'
    same_as "$(query "$WEB/to?/plain" status=True)" <<<'{"body": "just text", "status": 200}'
    query "$WEB/to?file:///etc/passwd" | grep -q '"error"'
    query http://127.0.0.1:9/ status=True | grep -q '"status": 0, "error": "Failed to connect'
    run query ftp://127.0.0.1/
    [ "$status" -ne 0 ]
    # Nothing that is one line or one word of the request becomes two.
    for arg in 'header_dict={X: "a\r\nInjected: b"}' 'header_dict={"X: a\r\nInjected": b}' 'header_list=["X: a\nInjected: b"]' \
        'agent="a\r\nInjected: b"' 'method="GET / HTTP/1.1\r\nInjected: b\r\nX:"' 'method=GET /other' 'method=""'; do
        run query "$WEB/echo" "$arg"
        [ "$status" -ne 0 ]
        [[ $output == *'A header has one line'* || $output == *'is not the name of a method'* ]]
    done
}

@test "an answer has a limit, whether its length is said before or not" {
    limit='{http_max_body: 1024, http_request_timeout: 10}'
    for path in status/404 chunks/1; do
        query "$WEB/$path" raise_error=False "opts=$limit" | grep -q '"body"'
    done
    for path in chunks/2 flood deep/513; do
        query "$WEB/$path" "opts=$limit" >"$FLEET/answer"
        grep -q '"error": "The answer has more than 1024 bytes (option http_max_body)"' "$FLEET/answer"
    done
}

@test "an answer that is packed is not more than its limit allows" {
    query "$WEB/bomb" 'opts={http_max_body: 4096}' >"$FLEET/answer"
    grep -q '"body"' "$FLEET/answer"
    [ "$(wc -c <"$FLEET/answer")" -lt 40960 ]
    query "$WEB/bomb" 'opts={http_max_body: 512}' | grep -q '"error": "The answer has more than 512 bytes'
}

@test "a login is sent, and by no other program" {
    asked "$WEB/echo" username=u password=geheim | grep -q '"authorization": "Basic dTpnZWhlaW0="'
    asked "$WEB/echo" 'auth=[u, "ge:heim"]' | grep -q '"authorization": "Basic dTpnZTpoZWlt"'
    # Another host hears neither of them.
    asked "$WEB/to?/echo" username=u password=geheim | grep -q authorization
    asked "$WEB/to?http://localhost:${WEB##*:}/echo" username=u password=geheim >"$FLEET/answer"
    asked "$WEB/to?http://localhost:${WEB##*:}/echo" 'header_dict={Authorization: Bearer geheim}' >>"$FLEET/answer"
    [ "$(grep -c '"path": "/echo"' "$FLEET/answer")" -eq 2 ]
    not grep -q authorization "$FLEET/answer"
    command -v strace >/dev/null || skip "no strace"
    strace -f -qq -e trace=execve -o "$FLEET/execs" "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" -l quiet --out=json \
        http.query "$WEB/echo" username=u password=geheim >"$FLEET/answer"
    grep -q Basic "$FLEET/answer"
    [ "$(grep -c execve "$FLEET/execs")" -eq 1 ] # salt-call itself
}

@test "a proxy, but for the hosts that need none; not the environment's" {
    proxy="proxy_host: 127.0.0.1, proxy_port: ${WEB##*:}, proxy_username: p, proxy_password: geheim"
    asked http://nosuch.invalid/x "opts={$proxy}" >"$FLEET/answer"
    grep -q '"path": "http://nosuch.invalid/x"' "$FLEET/answer"
    grep -q '"proxy-authorization": "Basic cDpnZWhlaW0="' "$FLEET/answer"
    query https://nosuch.invalid/x "opts={$proxy}" | grep -q '"error": ".*CONNECT'
    asked "$WEB/echo" "opts={$proxy, no_proxy: [nosuch.invalid, 127.0.0.1]}" | grep -q '"path": "/echo"'
    export http_proxy=http://127.0.0.1:9
    call() { "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/$1" -l quiet --out=newline_values_only "${@:2}"; }
    call m1 http.query "$WEB/plain" | grep -q 'just text'
    # Files: what is configured, else the environment's.
    run call m1 cp.get_url "$WEB/plain" "$FLEET/got"
    [ "$status" -ne 0 ]
    http_proxy=$WEB call m1 cp.get_url http://nosuch.invalid/plain "$FLEET/got"
    grep -q '"path": "http://nosuch.invalid/plain"' "$FLEET/got"
    minion_conf m2 "proxy_host: 127.0.0.1" "proxy_port: ${WEB##*:}"
    call m2 cp.get_url http://nosuch.invalid/twice "$FLEET/got"
    grep -q '"path": "http://nosuch.invalid/twice"' "$FLEET/got"
}

@test "https: who the server is must be known, unless the caller waives it" {
    command -v openssl >/dev/null || skip "no openssl"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$FLEET/key.pem" 2>/dev/null >"$FLEET/cert.pem"
    cat "$FLEET/cert.pem" "$FLEET/key.pem" >"$FLEET/both.pem"
    daemon listen-tls "$HALITE_SRC/tests/lib/webserver.py" "$FLEET/tls.port" "$FLEET/both.pem"
    until_true 10 test -s "$FLEET/tls.port"
    TLS=https://127.0.0.1:$(cat "$FLEET/tls.port")
    query "$TLS/plain" | grep -qi '"error": .*certificate'
    query "$TLS/plain" "ca_bundle=$FLEET/cert.pem" | grep -q 'just text'
    query "$TLS/plain" verify_ssl=False | grep -q 'just text'
    call() { "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" -l quiet --out=newline_values_only "$@"; }
    run call cp.get_url "$TLS/plain" "$FLEET/tls"
    [ "$status" -ne 0 ]
    grep -qi certificate <<<"$output"
    [ ! -e "$FLEET/tls" ]
    CURL_CA_BUNDLE=$FLEET/cert.pem call cp.get_url "$TLS/plain" "$FLEET/tls"
    [ "$(cat "$FLEET/tls")" = 'just text' ]
    [ "$(cat "$(call cp.cache_file "$TLS/yaml" verify_ssl=False)")" = 'a: [1, two]' ]
}

@test "ftp: a file, its login, and no redirect to it by http.query" {
    daemon listen-ftp "$HALITE_SRC/tests/lib/ftpserver.py" "$FLEET/ftp.port" me 'ge:heim'
    until_true 10 test -s "$FLEET/ftp.port"
    at=127.0.0.1:$(cat "$FLEET/ftp.port")
    call() { "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" -l quiet --out=newline_values_only "$@"; }
    call cp.get_url "ftp://me:ge%3Aheim@$at/file" "$FLEET/ftp"
    [ "$(cat "$FLEET/ftp")" = 'by ftp' ]
    for url in "ftp://me:ge%3Aheim@$at/nosuch" "ftp://me:wrong@$at/file"; do
        run call cp.get_url "$url" "$FLEET/ftp2"
        [ "$status" -ne 0 ]
        grep -q 'Error: .* reading ' <<<"$output"
        not grep -q -e heim -e wrong <<<"$output"
        [ ! -e "$FLEET/ftp2" ]
    done
    query "$WEB/to?ftp://me:ge%3Aheim@$at/file" | grep -q '"error"'
    # A file's redirect may lead there, as with any of the three.
    call cp.get_url "$WEB/to?ftp://me:ge%3Aheim@$at/file" "$FLEET/ftp3"
    [ "$(cat "$FLEET/ftp3")" = 'by ftp' ]
}

@test "without libcurl: one error that names its package; an idle minion does without" {
    mkdir "$FLEET/none"
    touch "$FLEET/none/libcurl.so.4" "$FLEET/none/libcurl-gnutls.so.4"
    for call in "http.query $WEB/plain" "cp.get_url $WEB/plain $FLEET/got2"; do
        # shellcheck disable=SC2086
        LD_LIBRARY_PATH=$FLEET/none run "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" -l quiet $call
        [ "$status" -ne 0 ]
        [ "$(grep -c 'install the package libcurl4' <<<"$output")" -eq 1 ]
    done
    start_minion m1
    accept m1
    wait_connected m1
    "$HALITE_BIN/salt" m1 http.query "$WEB/plain" | grep -q 'just text'
    cat "/proc/$(pid_of m1)/maps" >/dev/null 2>&1 || skip "what the daemons have in memory is root's to see"
    not grep -q libcurl "/proc/$(pid_of m1)/maps" && grep -q libc "/proc/$(pid_of m1)/maps"
}

@test "cookies last from one request to the next" {
    query "$WEB/cookie" cookies=True "cookie_jar=$FLEET/jar" >/dev/null
    asked "$WEB/echo" cookies=True "cookie_jar=$FLEET/jar" | grep -q '"cookie": "flavour=oat"'
}

@test "answers to files; a bundle of certificates" {
    query "$WEB/yaml" "text_out=$FLEET/out" "headers_out=$FLEET/fields" >/dev/null
    same_as "$(cat "$FLEET/out")" <<<'a: [1, two]'
    grep -q '^Content-Type: text/yaml$' "$FLEET/fields"
    printf 'own\n' >"$FLEET/own.pem"
    salt-run http.update_ca_bundle "target=$FLEET/bundle" "source=$WEB/pem" "merge_files=$FLEET/own.pem"
    [ "$(tail -n 1 "$FLEET/bundle")" = own ]
    run salt-run http.update_ca_bundle "target=$FLEET/bundle" "source=$WEB/plain"
    [ "$status" -ne 0 ]
    grep -q 'BEGIN CERTIFICATE' "$FLEET/bundle"
}

@test "on a minion, and in its templates" {
    same_as "$(salt_call m1 --local http.query "$WEB/plain" status=True --out=json --out-indent=-1)" \
        <<<'{"local": {"body": "just text", "status": 200}}'
    same_as "$(salt_call m1 --local http.wait_for_successful_query "$WEB/plain" wait_for=5 --out=json --out-indent=-1)" \
        <<<'{"local": {"body": "just text"}}'
    start=${EPOCHREALTIME/./}
    salt_call m1 --local http.wait_for_successful_query "$WEB/status/500" wait_for=1 request_interval=0.2 --out=json | grep -q 'HTTP 500'
    [ $(((${EPOCHREALTIME/./} - start) / 1000)) -ge 1000 ]
    printf '%s' '{{ ("'"$WEB"'/plain"|http_query).body }}' >"$FLEET/t.j2"
    salt_call m1 --local slsutil.renderer "$FLEET/t.j2" default_renderer=jinja | grep -q 'just text'
}

@test "how deep the answer is, its server chooses: the minion returns it, or why it can't, and goes on" {
    run timeout 30 "$HALITE_BIN/salt" m1 http.query "$WEB/deep/510" decode=True decode_type=json --out=json --out-indent=-1
    [ "$status" -eq 0 ]
    grep -qE '"dict": \[{510}\]{510}' <<<"$output"
    for depth in 511 512; do
        run timeout 30 "$HALITE_BIN/salt" m1 http.query "$WEB/deep/$depth" decode=True decode_type=json
        [ "$status" -eq 1 ]
        grep -q "message 'ret' is nested deeper than the 512 levels allowed; have the function return less" <<<"$output"
    done
    until_true 5 nothing_spooled m1
}

@test "cp with ETags: none of what did not come, none without its file" {
    here() { "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" -l quiet --out=newline_values_only cp.cache_file "$@" use_etag=True; }
    file=$(here "$WEB/tagged")
    [ "$(cat "$file")" = text ]
    [ "$(cat "$file.etag")" = '"one"' ]
    # As it was; then gone, with its ETag left behind.
    echo mine >"$file"
    here "$WEB/tagged"
    [ "$(cat "$file")" = mine ]
    rm "$file"
    here "$WEB/tagged"
    [ "$(cat "$file")" = text ]
    # Torn off: the next one does not take what is there for what the server has.
    torn=${file%tagged}torn
    echo mine >"$torn"
    here "$WEB/torn" || :
    [ "$(cat "$torn")" = mine ]
    [ ! -s "$torn.etag" ]
    # Nothing else is left.
    [ "$(ls -A "${file%/*}" | paste -sd' ')" = "tagged tagged.etag torn" ]
    [ "$(ls -A "${file%/base/*}")" = base ]
}

@test "states compare an answer, and wait for one" {
    state() { "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/m1" -l quiet --out=json state.single "$@"; }
    state http.query "$WEB/plain" status=200 match=just | grep -q 'Match text \\"just\\" was found. Status 200 was found.'
    state http.query "$WEB/plain" status=2.0 status_type=pcre match='^just t' match_type=pcre | grep -q '"text": "just text"'
    state http.query "$WEB/plain" 'status=[201, 200]' status_type=list | grep -q '"comment": "Status 200 was found."'
    run state http.query "$WEB/plain" match=nothing status=200
    [ "$status" -ne 0 ]
    grep -q '"result": false' <<<"$output"
    state http.wait_for_successful_query "$WEB/plain" status=200 wait_for=5 | grep -q '"result": true'
    run state http.wait_for_successful_query "$WEB/plain" status=404 wait_for=0.2 request_interval=0.05
    [ "$status" -ne 0 ]
    grep -q 'Status 404 was not found.' <<<"$output"
}
