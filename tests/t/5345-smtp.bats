#!/usr/bin/env bats
# 5345-smtp.bats - returner smtp: mails as Salt 3006.0's own sent them (tests/cases/returner/smtp.mails), and servers that refuse, are
# slow or away.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$FLEET/key" -out "$FLEET/cert" 2>/dev/null
    cat "$FLEET/key" "$FLEET/cert" >"$FLEET/both"
    export MAIL_PORT=$PORT
    daemon server python3 "$HALITE_SRC/tests/lib/smtpserver.py" "$MAIL_PORT" "$FLEET/mails" "$FLEET/faults" "$FLEET/both"
    until_true 10 eval 'echo > "/dev/tcp/127.0.0.1/$MAIL_PORT"'
    printf 'Dear {{ id }},\n{%% for a in fun_args %%}- {{ a }}\n{%% endfor %%}{{ return | json }}\n\n' >"$FLEET/mail.j2"
    echo '["returner", {"id": "m1", "jid": "20261126100000000001", "fun": "test.echo", "fun_args": [], "return": "hello", "retcode": 0, "success": true}]' >"$FLEET/one"
}
teardown_file() { fleet_down; }
setup() { rm -f "$FLEET/mails" "$FLEET/faults"; }

fault() { printf '%s\n' "$@" >"$FLEET/faults"; }
opts() { # MORE: options of a mail, with further ones
    python3 -c 'import json, sys; print(json.dumps({"smtp": dict({"from": "salt@example.net", "to": "you@example.com", "host": "localhost", "port": int(sys.argv[1])}, **json.loads(sys.argv[2]))}))' "$MAIL_PORT" "${1:-{\}}"
}
mail() { "$BUILD/tests/unit/plugins/test_returner_cases" smtp "$(opts "$1")" <"${2:-$FLEET/one}"; }
of_mail() { # N EXPRESSION of the mail m
    python3 -c 'import email, email.policy, json, sys; m = json.loads(open(sys.argv[1]).readlines()[int(sys.argv[2])]); t = email.message_from_string(m["text"], policy=email.policy.default); print(eval(sys.argv[3]))' "$FLEET/mails" "$1" "$2"
}

@test "subjects, fields, templates and envelopes are those of Salt's own returner" {
    calls=$HALITE_SRC/tests/cases/returner/mails.jsonl
    mail '{"to": "you@example.com,Other <other@example.org>", "fields": "id,fun", "subject": "{{ id }} did {{ fun }}:"}' "$calls"
    mail '{"from": "Salt <salt@example.net>", "username": "bob", "password": "secret", "template": "'"$FLEET/mail.j2"'"}' "$calls"
    sed -i -E 's/\\r\\nDate: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+-][0-9]{4}//; s/\\r\\nMessage-ID: <[0-9a-f]{40}@example.net>//' "$FLEET/mails"
    diff "$HALITE_SRC/tests/cases/returner/smtp.mails" "$FLEET/mails"
}

@test "what a return holds is no template, no line of the header and no command" {
    cat >"$FLEET/hostile" <<'END'
["returner", {"id": "m1", "jid": "20261126100000000002", "fun": "{{ 7*6 }}", "fun_args": ["{% raw %}"], "return": "{{ 7*6 }}\r\n.\r\nMAIL FROM:<evil@example.org>\r\n", "name": "x\r\nBcc: evil@example.org", "retcode": 0, "success": true}]
["event_return", [{"tag": "t", "data": {"id": "m1", "jid": "1", "fun": "f", "fun_args": [], "return": 1, "ret_kwargs": {"to": "evil@example.org", "template": "/etc/passwd"}, "ret_config": "other"}}]]
END
    mail '{"fields": "fun,name", "subject": "From {{ name | default(id) }}"}' "$FLEET/hostile"
    run mail '{"renderer": "jinja|jinja"}' "$FLEET/hostile"
    [[ $status -eq 1 && $output == *'A value that a peer said is not only a value here'* ]]
    [ "$(grep -c '"to": ."<you@example.com>".' "$FLEET/mails")" -eq 3 ]
    [ "$(of_mail 0 't["subject"]')" = 'From x  Bcc: evil@example.org {{ 7*6 }} x  Bcc: evil@example.org' ]
    [ "$(of_mail 0 't["bcc"]')" = None ]
    [[ "$(of_mail 0 't.get_content()')" == *'return: {{ 7*6 }}'*'MAIL FROM:<evil@example.org>'* ]]
    [ "$(of_mail 1 'm["to"], "root:" in m["text"]')" = "(['<you@example.com>'], False)" ]
}

@test "letters of other languages and endless lines arrive; a mail that comes again has the same Message-ID" {
    python3 -c 'import json; print(json.dumps(["returner", {"id": "m1", "jid": "20261126100000000003", "fun": "test.echo", "fun_args": ["ü"], "return": "x" * 5000, "retcode": 0, "success": True}]))' >"$FLEET/long"
    mail '{"subject": "Grüße von {{ id }}", "from": "Jürg <salt@example.net>"}' "$FLEET/long"
    mail '{"subject": "Grüße von {{ id }}", "from": "Jürg <salt@example.net>"}' "$FLEET/long"
    [ "$(of_mail 0 't["subject"], t["from"], "x" * 5000 in t.get_content(), "ü" in t.get_content()')" = "('Grüße von m1', 'Jürg <salt@example.net>', True, True)" ]
    [ "$(of_mail 0 'max(map(len, m["text"].split("\r\n"))) < 999, m["text"].isascii()')" = '(True, True)' ]
    [ "$(of_mail 0 't["message-id"]')" = "$(of_mail 1 't["message-id"]')" ]
}

@test "TLS: by a certificate that holds; one that does not, or a server without it, gets neither mail nor password" {
    CURL_CA_BUNDLE=$FLEET/cert mail '{"tls": true, "username": "bob", "password": "secret"}'
    [ "$(of_mail 0 'm["tls"], m["auth"][1]')" = "(True, 'bob')" ]
    run mail '{"tls": true, "username": "bob", "password": "secret"}'
    [ "$status" -eq 1 ]
    [[ $output == *'certificate verify failed'* && $output != *secret* ]]
    mail '{"tls": true, "tls_insecure": true}'
    fault 'STARTTLS 454 TLS not available'
    CURL_CA_BUNDLE=$FLEET/cert run mail '{"tls": true, "username": "bob", "password": "secret"}'
    [ "$status" -eq 1 ]
    [[ $output == *"the mail server localhost:$MAIL_PORT: "*454* && $output != *secret* ]]
    [ "$(wc -l <"$FLEET/mails")" -eq 2 ]
}

@test "a wrong password, 4xx and 5xx answers and a server that is away are errors that say so" {
    run mail '{"username": "bob", "password": "wrong!"}'
    [[ $status -eq 1 && $output == *'Login denied'*535* && $output != *wrong!* ]]
    for at in 'CONNECT 421 busy' 'EHLO cut' 'MAIL 451 later' 'RCPT 550 nobody' 'DATA 451 later' 'END 452 full' 'END 554 spam' 'END cut'; do
        fault "$at" 'HELO 500 no'
        run mail '{}'
        [ "$status" -eq 1 ]
        [[ $output == *"smtp.returner: the mail server localhost:$MAIL_PORT: "* ]]
    done
    [ ! -e "$FLEET/mails" ]
    fault 'RCPT:<gone@example.com> 550 nobody'
    mail '{"to": "gone@example.com,you@example.com"}'
    [ "$(of_mail 0 'm["to"]')" = "['<you@example.com>']" ]
    run mail '{"port": 1}'
    [[ $status -eq 1 && $output == *'localhost:1: '* ]]
    run mail '{"from": ""}'
    [[ $output == *'smtp.from not defined in salt config'* ]]
    run mail '{"to": "a b@example.com"}'
    [[ $output == *"smtp.to: 'a b@example.com' is no address"* ]]
    run mail '{"template": "/nowhere"}'
    [[ $output == *'Template does not exist: /nowhere'* ]]
}

@test "gpgowner: the text is for the recipient's key alone, and nothing is sent in the clear" {
    command -v gpg >/dev/null || skip "gpg is not installed"
    user=$(id -un)
    home=$(getent passwd "$user" | cut -d: -f6)
    run mail '{"gpgowner": "nobody-of-that-name"}'
    [[ $status -eq 1 && $output == *"there is no user 'nobody-of-that-name'"* ]]
    mkdir -p "$FLEET/bin"
    printf '#!/bin/sh\necho "$@" >"%s/gpg.args"\nexec %s --homedir "%s/ring" --batch --trust-model always --armor --encrypt --recipient you@example.com\n' "$FLEET" "$(command -v gpg)" "$FLEET" >"$FLEET/bin/gpg"
    chmod +x "$FLEET/bin/gpg"
    mkdir -m 700 "$FLEET/ring"
    GPG=$(command -v gpg)
    PATH=$FLEET/bin:$PATH mail '{"gpgowner": "'"$user"'"}'
    [[ "$(of_mail 0 't.get_content()')" == 'Encryption failed, the return data was not sent.'* ]]
    of_mail 0 'm["text"]' | grep -q hello && false
    "$GPG" --homedir "$FLEET/ring" --batch --passphrase '' --quick-generate-key you@example.com default default 1d
    PATH=$FLEET/bin:$PATH mail '{"gpgowner": "'"$user"'"}'
    grep -q -- "--homedir $home/.gnupg --armor --encrypt --recipient you@example.com" "$FLEET/gpg.args"
    of_mail 1 't.get_content()' | "$GPG" --homedir "$FLEET/ring" --batch --decrypt 2>/dev/null | grep -q '^return: hello'
    gpgconf --homedir "$FLEET/ring" --kill all
}

@test "event_return: events wait for a server that is slow or says 4xx, each comes once, one that fits no template is left out" {
    fleet_ports
    start_master 'event_return: smtp' 'event_return_whitelist: ["test/*"]' "smtp: {from: salt@example.net, to: you@example.com, host: localhost, port: $MAIL_PORT, subject: 'n {{ n }}', template: $FLEET/event.j2}"
    echo '{{ n }}' >"$FLEET/event.j2"
    fault 'END 451 later'
    ask '{"op": "fire", "kept": true, "events": [{"tag": "test/1", "data": {"n": 1}}, {"tag": "test/2", "data": {"other": 2}}, {"tag": "test/3", "data": {"n": 3}}]}'
    until_log "$FLEET/log/master" 'follower event_return.smtp: the mail server localhost:'
    rm "$FLEET/faults"
    until_true 40 eval 'grep -q "Subject: n 3" "$FLEET/mails"'
    [ "$(of_mail 0 't["subject"]') $(of_mail 1 't["subject"]')" = 'n 1 n 3' ]
    [ "$(wc -l <"$FLEET/mails")" -eq 2 ]
    until_log "$FLEET/log/master" 'smtp: no mail for the event test/2: '
}

@test "a server that accepts and says nothing: the deadline holds, the follower goes on, no return of a job is lost" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    stop master
    slow() { LD_PRELOAD=$BUILD/tests/preload/hurry.so "$@"; } # half a minute in three seconds
    mails="from: salt@example.net, to: you@example.com, host: localhost, port: $MAIL_PORT"
    for at in CONNECT EHLO DATA END; do
        fault "$at slow"
        slow start_master 'auto_accept: True' 'event_return: smtp' 'event_return_whitelist: ["slow/*"]' "smtp: {$mails, subject: 'n {{ n }}', template: $FLEET/event.j2}"
        slow start_minion m1 "smtp: {$mails}"
        wait_connected m1
        listen all
        [ "$(salt m1 test.echo "in spite of $at" --return=smtp --out=newline_values_only)" = "in spite of $at" ]
        ask '{"op": "fire", "kept": true, "events": [{"tag": "slow/'"$at"'", "data": {"n": "'"$at"'"}}]}'
        until_log "$FLEET/log/m1" "returner smtp: .*the mail server localhost:$MAIL_PORT: .*([Tt]imed out|[Tt]imeout)" 30
        wait_event all 'salt/minion/m1/returner/smtp/failed'
        until_log "$FLEET/log/master" "follower event_return.smtp: the mail server localhost:$MAIL_PORT: .*([Tt]imed out|[Tt]imeout)" 30
        [ "$(salt m1 test.echo again --out=newline_values_only)" = again ]
        rm "$FLEET/faults"
        until_true 40 grep -q "Subject: n $at" "$FLEET/mails"
        stop listen-all
        stop m1
        stop master
    done
    [ "$(grep -c 'Subject: n ' "$FLEET/mails")" -eq 4 ]
}
