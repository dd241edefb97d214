#!/usr/bin/env bats
# logins.bats - published ways past Salt's logins. PAM: passwords, accounts and groups of a host of the test's own (files over /etc
# in a mount namespace that the master alone has).

bats_require_minimum_version 1.5.0
load ../t/lib

setup_file() {
    [ "$(id -u)" -eq 0 ] && unshare -m true || return 0
    fleet_new
    mkdir -p "$FLEET/pam.d" "$FLEET/bin"
    printf 'auth required pam_unix.so\naccount required pam_unix.so\n' >"$FLEET/pam.d/salt-test"
    printf 'auth required pam_permit.so\naccount required pam_permit.so\n' >"$FLEET/pam.d/open"
    printf 'auth required pam_exec.so %s\naccount required pam_permit.so\n' "$FLEET/sleep" >"$FLEET/pam.d/slow"
    printf 'auth required pam_deny.so\naccount required pam_deny.so\n' | tee "$FLEET/pam.d/other" >"$FLEET/pam.d/login"
    printf '#!/bin/sh\nsleep 600\n' >"$FLEET/sleep"
    chmod +x "$FLEET/sleep"
    local hash today
    hash=$(openssl passwd -6 secret)
    today=$(($(date +%s) / 86400))
    {
        cat /etc/passwd
        printf '%s:x:%s:61000::/nonexistent:/bin/sh\n' pamann 61001 pamold 61002 pamlock 61003
    } >"$FLEET/passwd"
    {
        cat /etc/shadow
        echo "pamann:$hash:$today:0:99999:7:::"
        echo "pamold:$hash:$today:0:99999:7::1:"
        echo "pamlock:!$hash:$today:0:99999:7:::"
    } >"$FLEET/shadow"
    { cat /etc/group && echo 'pamops:x:61000:' && echo 'pammore:x:61009:pamann'; } >"$FLEET/group"
    ln -s "$HALITE_BIN"/* "$FLEET/bin"
    rm "$FLEET/bin/salt-master"
    {
        echo '#!/bin/sh'
        echo 'mount --make-rprivate /'
        echo "mount --bind '$FLEET/pam.d' /etc/pam.d"
        for file in passwd shadow group; do echo "mount --bind '$FLEET/$file' /etc/$file"; done
        echo "exec '$HALITE_BIN/salt-master' \"\$@\""
    } >"$FLEET/inside"
    printf "#!/bin/sh\nexec unshare -m sh '%s' \"\$@\"\n" "$FLEET/inside" >"$FLEET/bin/salt-master"
    chmod +x "$FLEET/bin/salt-master"
    HALITE_BIN=$FLEET/bin start_master "auth.pam.service: salt-test" "token_expire_user_override: {pam: [pamann]}" "external_auth:" "  pam:" "    pamops%: [test.ping]" "    pammore%: ['@jobs']" "    pamold: ['.*']" "    pamlock: ['.*']" "    root: ['.*']"
}
teardown_file() { [ -z "${FLEET:-}" ] || fleet_down; }
setup() {
    [ "$(id -u)" -eq 0 ] || skip "private files over /etc need root"
    unshare -m true || skip "there are no mount namespaces here"
}

login() { echo "{\"op\":\"login\",\"eauth\":\"pam\",\"username\":\"$1\",\"password\":\"$2\"${3:-}}"; }
refused() {
    run ask "$1"
    [ "$status" -eq 1 ]
    [[ $output == *'Authentication failure of type "eauth"'* ]]
}

@test "a password of the host's; rules by its groups" {
    run ask "$(login pamann secret)"
    [ "$status" -eq 0 ]
    [[ $output == *'"groups":["pamops","pammore"]'*'"perms":["@jobs","test.ping"]'* ]]
    refused "$(login pamann wrong)"
    refused "$(login pamann '')"
    refused "$(login nosuchuser secret)"
    until_log "$FLEET/log/master" "login of 'pamann' by pam has failed: pam_authenticate: "
}

@test "CVE-2022-22967: an account that has expired or is locked has a right password, and no login" {
    refused "$(login pamold secret)"
    until_log "$FLEET/log/master" "login of 'pamold' by pam has failed: pam_acct_mgmt: "
    refused "$(login pamlock secret)"
}

@test "CVE-2016-3176: the caller does not choose the service" {
    refused "$(login pamann wrong ',"service":"open"')"
    refused "$(login pamann wrong ',"options":{"auth.pam.service":"open"},"config":{"service":"open"}')"
}

@test "CVE-2021-3144: a token that has expired works no more, nor does a connection that speaks by it" {
    run ask "$(login pamann secret ',"token_expire":1')"
    token=$(field token <<<"$output")
    [ -n "$token" ]
    is_over() { not ask "{\"op\":\"become\",\"token\":\"$token\"}"; }
    until_true 10 is_over
    # Others' choice of a time does not count.
    run ask '{"op":"become","token":"'"$token"'"}'
    [[ $output == *'Authentication failure of type "token" occurred'* ]]
}

@test "CVE-2020-25592: only a token that the master has given, only credentials that a system takes" {
    for request in '{"op":"become","token":""}' '{"op":"become","token":"0000000000000000000000000000000000000000000000000000000000000000"}' '{"op":"become","token":null}' '{"op":"become","token":["x"]}' \
        '{"op":"become"}' '{"op":"become","eauth":"pam"}' '{"op":"become","eauth":"../pam","username":"pamann","password":"secret"}' '{"op":"become","eauth":"no","username":"pamann","password":"secret"}' \
        '{"op":"login","eauth":"pam","username":["pamann"],"password":"secret"}' '{"op":"login","eauth":"pam","username":"pamann","password":["secret"]}' '{"op":"login","eauth":"pam","username":"pamann","password":true}' \
        '{"op":"login","eauth":"pam","username":"pamann\\u0000","password":"secret"}' '{"op":"login","eauth":{"pam":1},"username":"pamann","password":"secret"}' '{"op":"login","key":"x","user":"root","username":"root","eauth":"pam","password":""}'; do
        run ask "$request"
        [ "$status" -ne 0 ]
    done
    ask '{"op":"status"}' | grep -q '"ok":true'
}

@test "a system that hangs stops neither the master nor others' logins" {
    sed -i 's/^auth.pam.service:.*/auth.pam.service: slow/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval "ask '{\"op\":\"status\"}' && ! timeout 2 '$HALITE_TOOLS/local' '$SOCK_DIR' '$(login pamann secret)'"
    sed -i 's/^auth.pam.service:.*/auth.pam.service: salt-test/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    back() { timeout 3 "$HALITE_TOOLS/local" "$SOCK_DIR" "$(login pamann secret)"; }
    until_true 20 back
    ask '{"op":"status"}' | grep -q '"ok":true'
}
