#!/usr/bin/env bats
# minion.bats - published attacks on Salt's minion and on what it renders, runs and writes: README.md says which.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() { museum_up; }
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# call WORD...: without a master.
call() { salt_call m1 --local "$@"; }

@test "CVE-2016-1866, CVE-2022-22935: a false master in the clear, and one with another key: nothing runs, the minion lives" {
    pid=$(pid_of m1)
    stop master
    for load in '{"fun": "cmd.run", "arg": ["touch '"$FLEET"'/harm"], "tgt": "*", "tgt_type": "glob", "jid": "20160101000000000001", "ret": "", "user": "root"}' \
        '{"ret": {"stop": true}}'; do
        echo "{\"enc\": \"clear\", \"load\": $load}"
    done >"$BATS_TEST_TMPDIR/jobs"
    for port in "$PORT" $((PORT + 1)); do
        "${WIRE[@]}" master "$port" "$BATS_TEST_TMPDIR/jobs" >"$BATS_TEST_TMPDIR/clear.$port" 2>&1 3>&- &
        pids+=($!)
        until_true 10 grep -q listening "$BATS_TEST_TMPDIR/clear.$port"
    done
    tries() { ss -tn state all "( dport = :$((PORT + 1)) )" | wc -l; }
    until_true 10 eval '[ "$(tries)" -gt 1 ]'
    pid_alive "$pid"
    kill "${pids[@]}"
    wait "${pids[@]}" || :
    (peer master $((PORT + 1)) $((PORT + 2)) "$FLEET/keys" other wait "$BATS_TEST_TMPDIR/go" drain) >"$BATS_TEST_TMPDIR/other" 2>&1 3>&- &
    other=$!
    until_log "$FLEET/log/m1" 'the master.s key has changed' 20
    touch "$BATS_TEST_TMPDIR/go"
    wait "$other"
    not grep -q '"m":' "$BATS_TEST_TMPDIR/other"
    pid_alive "$pid"
    start_master
    wait_connected m1 m2
}

@test "CVE-2022-22934: what is changed on its way to a minion is not an answer" {
    mkdir "$BATS_TEST_TMPDIR/in"
    "${WIRE[@]}" proxy $((PORT + 1)) "$BATS_TEST_TMPDIR/in" 500 >"$BATS_TEST_TMPDIR/port" 3>&- &
    proxy=$!
    until_true 10 test -s "$BATS_TEST_TMPDIR/port"
    at=$(cat "$BATS_TEST_TMPDIR/port")
    # Through it nothing is heard; the master hears.
    DEADLINE=2 run peer dealer 127.0.0.1 "$at" "$SERVER" "$FLEET/keys" evil send "$(hello evil)" send '{"m":"pillar_ask","n":1}' expect '"n":1'
    [ "$status" -ne 0 ]
    not grep -q pillar-of <<<"$output"
    start_minion m3 "master_port: $at"
    wait_key m3 pre
    salt-key -y -a m3 >/dev/null
    until_true 20 test -e "$BATS_TEST_TMPDIR/in/4"
    pid_alive "$(pid_of m3)"
    stop m3
    kill "$proxy"
    wait "$proxy" || :
    salt-key -y -d m3 >/dev/null
}

@test "CVE-2013-4438, CVE-2025-62348: tags of YAML make no objects" {
    mkdir -p "$FLEET/srv/yaml"
    for tag in '!!python/object/apply:os.system ["touch HARM"]' '!!python/object/new:os.system ["touch HARM"]' '!!python/name:os.system ""' \
        '!!python/module:os ""' '!!python/object/apply:subprocess.check_output [[touch, HARM]]' '!!python/object/new:type {args: [x, !!python/tuple [], {}]}' \
        '!!ruby/object:Gem x' '!<tag:yaml.org,2002:python/object/apply:os.system> ["touch HARM"]'; do
        tag=${tag//HARM/$FLEET/harm}
        call test.echo "$tag" >/dev/null 2>&1 || :
        call pillar.items pillar="{x: $tag}" >/dev/null 2>&1 || :
        call slsutil.renderer string="x: $tag" default_renderer=yaml >/dev/null 2>&1 || :
        echo "x: $tag" >"$FLEET/srv/yaml/init.sls"
        salt m1 state.show_sls yaml >/dev/null 2>&1 || :
        [ ! -e "$FLEET/harm" ]
    done
}

@test "CVE-2021-25283: templates reach no object of the program, and data is not a template" {
    for text in "{{ ''.__class__.__mro__[1].__subclasses__() }}" "{{ cycler.__init__.__globals__.os.popen('touch HARM').read() }}" \
        "{{ lipsum.__globals__['os'].system('touch HARM') }}" "{{ self._TemplateReference__context.environment }}" "{{ namespace.__init__.__globals__ }}" \
        "{{ ().__class__.__base__.__subclasses__()[0] }}" "{{ ''|attr('__class__') }}" "{{ ''['__class__'] }}" "{{ range.__self__ }}" "{{ '{0.__class__}'.format(1) }}" \
        "{{ salt.__init__.__globals__ }}" "{% set x = salt.cmd.run.__globals__ %}{{ x }}" "{{ {}.__class__.__init__.__globals__ }}" "{{ joiner.__init__.__globals__ }}"; do
        run call slsutil.renderer string="${text//HARM/$FLEET/harm}" default_renderer=jinja
        not grep -qE "<class|<module|<function|<built-in|<type|<object" <<<"$output" || { echo "$text: $output" >&2; return 1; }
    done
    # On the master: what a minion says of itself is text, and stays it.
    printf 'motd: {{ grains.motd | default("") | json }}\n' >>"$FLEET/pillar/one.sls"
    for payload in "{{ salt['cmd.run']('touch $FLEET/harm') }}" "{% set x = salt.cmd.run('touch $FLEET/harm') %}" '#!py\nimport os' "\$(touch $FLEET/harm)"; do
        evil_says send "{\"m\":\"pillar_ask\",\"n\":1,\"grains\":{\"id\":\"evil\",\"motd\":\"$payload\"},\"pillar\":{\"x\":\"$payload\"}}" expect '"n":1' >"$BATS_TEST_TMPDIR/said"
        grep -qF "${payload:0:12}" "$BATS_TEST_TMPDIR/said"
    done
}

@test "CVE-2020-28243, CVE-2021-31607: names with a shell's words in them are names" {
    bad="x; touch $FLEET/harm \$(touch $FLEET/harm) \`touch $FLEET/harm\` | touch $FLEET/harm '& touch $FLEET/harm &' \"|| touch $FLEET/harm\""
    for fun in pkg.version pkg.owner pkg.file_list service.status service.available service.enabled user.info user.list_groups \
        group.info file.stats file.get_hash file.get_mode file.find file.grep disk.usage disk.fstype disk.blkid network.ping \
        network.interface ps.pgrep status.pid shadow.info sysctl.get alternatives.display git.version git.current_branch git.ls_remote cron.ls ssh.user_keys \
        cp.hash_file cmd.which cmd.has_exec grains.get config.get hashutil.digest_file system.get_computer_name match.glob; do
        call "$fun" "$bad" "$bad" >/dev/null 2>&1 || call "$fun" "$bad" >/dev/null 2>&1 || :
        [ ! -e "$FLEET/harm" ] || { echo "$fun" >&2; return 1; }
    done
}

@test "CVE-2015-4017, CVE-2020-28972, CVE-2020-35662: a certificate that nobody vouches for is refused" {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$BATS_TEST_TMPDIR/key" -out "$BATS_TEST_TMPDIR/cert" -days 1 -subj /CN=localhost 2>/dev/null
    python3 -B - "$BATS_TEST_TMPDIR" 3>&- >/dev/null 2>&1 <<'PY' &
import http.server, os, ssl, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/cert", sys.argv[1] + "/key")
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(sys.argv[1] + "/new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[1] + "/new", sys.argv[1] + "/port")
server.serve_forever()
PY
    server=$!
    until_true 10 test -s "$BATS_TEST_TMPDIR/port"
    at=https://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")/x
    run call http.query "$at" status=True
    grep -qi 'certificate' <<<"$output"
    not grep -qE 'status: *5?4?0' <<<"$output"
    # The server is there: it is the certificate.
    run call http.query "$at" status=True verify_ssl=False
    grep -q 501 <<<"$output"
    kill "$server"
    wait "$server" || :
}

@test "CVE-2021-25284, CVE-2015-6941: what is secret is in no log" {
    salt m1 cmd.run 'test -n "$P"' env='{"P": "SECRETWORD"}' >/dev/null
    salt m1 cmd.run 'cat >/dev/null' stdin=SECRETWORD >/dev/null
    salt m1 cmd.run 'exit 3' env='{"P": "SECRETWORD"}' output_loglevel=quiet >/dev/null || :
    salt m1 shadow.gen_password SECRETWORD >/dev/null || :
    salt m1 cmd.run nosuchprogram env='{"P": "SECRETWORD"}' >/dev/null || :
    salt m1 http.query http://user:SECRETWORD@127.0.0.1:1/ >/dev/null || :
    grep -rl SECRETWORD "$FLEET/log" "$FLEET/m1/var/log" "$FLEET/master/var/log" 2>/dev/null | tee "$BATS_TEST_TMPDIR/found"
    [ ! -s "$BATS_TEST_TMPDIR/found" ]
}

@test "CVE-2015-8034, CVE-2020-17490: what a minion and a master keep is their own to read" {
    echo 'secret: {test.nop: [{name: x}]}' >"$FLEET/srv/secret.sls"
    (umask 0 && start_minion m4)
    accept m4
    wait_connected m4
    salt m4 state.sls secret >/dev/null
    salt m4 state.apply secret test=True >/dev/null
    salt m4 cp.cache_file salt://file >/dev/null
    stop m4
    salt-key -y -d m4 >/dev/null
    find "$FLEET/m4" "$FLEET/master" "$FLEET/m1" -name '*.pem' -perm /077 >"$BATS_TEST_TMPDIR/open"
    # Below a folder that is its owner's alone nobody else reads anything.
    find "$FLEET/m4/var/cache" "$FLEET/master/var/cache" -type d ! -perm /007 -prune -o -type f -perm /007 -print >>"$BATS_TEST_TMPDIR/open"
    [ ! -s "$BATS_TEST_TMPDIR/open" ] || { cat "$BATS_TEST_TMPDIR/open" >&2; return 1; }
}

@test "CVE-2021-33226: names of any length" {
    for n in 1000 100000 4000000; do
        ask "{\"op\":\"publish\",\"tgt\":\"m1\",\"tgt_type\":\"glob\",\"fun\":\"status.$(head -c "$n" /dev/zero | tr '\0' x)\",\"arg\":[]}" >/dev/null 2>&1 || :
    done 2>/dev/null
    salt m1 "status.$(head -c 100000 /dev/zero | tr '\0' x)" >/dev/null 2>&1 || :
    salt m1 status.procs "$(head -c 100000 /dev/zero | tr '\0' x)" >/dev/null 2>&1 || :
}
