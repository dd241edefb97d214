#!/usr/bin/env bats
# rules.bats - rules that fail open: who writes one that can't be read has none, and nobody tells him.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() {
    museum_up "publisher_acl: {nobody: [{'m1': [test.ping]}]}" "publisher_acl_blacklist: {modules: ['cmd.*']}"
    fleet_open
    chmod o+r "$MASTER_CONF"
    cp "$MASTER_CONF" "$FLEET/good"
}
teardown_file() { fleet_down; }
teardown() {
    cat "$FLEET/good" >"$MASTER_CONF"
    reloaded
    museum_whole
}

nobody() { $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" "$@"; }
publish() { echo "{\"op\":\"publish\",\"tgt\":\"$1\",\"tgt_type\":\"glob\",\"fun\":\"$2\",\"arg\":[]}"; }
# How often the log says that a reload is over, or was refused.
reloads() { grep -cE 'reload: ([0-9]+ options changed|the old configuration stays)' "$FLEET/log/master" || :; }
reloaded() {
    local before
    before=$(reloads)
    kill -HUP "$(pid_of master)"
    until_true 10 eval "[ \"\$(reloads)\" -gt $before ]"
}
# kept LINE REASON: a configuration with this line does not start, and a reload keeps the rules that were good.
kept() {
    { grep -v "^${1%%:*}" "$FLEET/good" && echo "$1"; } >"$MASTER_CONF"
    run "$HALITE_BIN/salt-master" -c "$FLEET/etc"
    [ "$status" -ne 0 ]
    [[ $output == *"$MASTER_CONF, line "*"$2"* ]] || { echo "$output"; return 1; }
    : >"$FLEET/log/master"
    reloaded
    grep -F "reload: the old configuration stays: $MASTER_CONF, line " "$FLEET/log/master" | grep -qF -- "$2"
    run salt m1 cmd.run 'touch '"$FLEET/harm"
    [ "$status" -ne 0 ]
    if [ "$(id -u)" -eq 0 ]; then
        nobody "$(publish m1 test.ping)" | grep -q '"ok":true'
        run -1 nobody "$(publish m2 test.ping)"
        run -1 nobody "$(publish m1 test.arg)"
    fi
}

@test "H-RULES: a blacklist with a broken expression, a misspelt key or a wrong shape" {
    kept "publisher_acl_blacklist: {modules: ['cmd.*(']}" 'modules: item 1: '
    kept "publisher_acl_blacklist: {module: ['cmd.*']}" "is 'modules' meant?"
    kept "publisher_acl_blacklist: {modules: {cmd: run}}" 'wants a list of functions, not a mapping'
    kept "publisher_acl_blacklist: ['cmd.*']" 'wants a mapping'
}

@test "H-RULES: a permission with an empty text is not a permission for everything" {
    kept "publisher_acl: {nobody: ['']}" 'an empty text names nothing'
    kept "publisher_acl: {nobody: [{'m1': ['']}]}" 'an empty text names nothing'
}

@test "H-RULES: of the same kind: an expression that also matches nothing matches everything" {
    kept "publisher_acl: {nobody: ['test.ping|']}" 'matches everything'
    kept "publisher_acl: {nobody: ['t*']}" 'matches everything'
    kept "mine_get: {'.*': ['where|']}" 'matches everything'
}

@test "H-RULES: of the same kind: a module's name that forbids no function, an option whose name is misspelt, a former name" {
    kept 'publisher_acl_blacklist: {modules: [cmd]}' "write 'cmd.*'"
    kept "publisher_acl_blaklist: {modules: ['cmd.*']}" "is 'publisher_acl_blacklist' meant?"
    kept "client_acl_blacklist: {modules: ['cmd.*']}" "option 'client_acl_blacklist' cannot be switched on"
}

@test "H-RULES: of the same kind: an api_acl without users, an address that none is; a denial whose name is misspelt" {
    kept "rest_cherrypy: {api_acl: {user: {nobody: [127.0.0.1]}}}" "is 'users' meant?"
    kept "rest_cherrypy: {authorized_ips: [127.0.0.0/8]}" 'is neither an address'
    kept "rest_cherrypy: {webhook_disable_auth: 'False'}" 'wants true or false'
    kept 'netapi_disable_client: [wheel]' "is 'netapi_disable_clients' meant?"
    kept 'auth.ldap.filtr: (uid=nobody)' "is 'auth.ldap.filter' meant?"
}

@test "H-RULES: of the same kind: autoreject_file with a line that can't be read lets in nobody by itself" {
    printf 'web[0-9]\n(evil.*\n' >"$FLEET/master/reject"
    printf '*\n' >"$FLEET/master/sign"
    chmod 0644 "$FLEET/master/reject" "$FLEET/master/sign"
    kept "autoreject_file: $FLEET/master/reject" "$FLEET/master/reject, line 2: "
    # It was good when the master read it, and is not when somebody comes.
    printf 'web[0-9]\n' >"$FLEET/master/reject"
    { cat "$FLEET/good"; echo "autoreject_file: $FLEET/master/reject"; echo "autosign_file: $FLEET/master/sign"; } >"$MASTER_CONF"
    reloaded
    as good send "$(hello good)" expect "$WELCOME"
    printf 'web[0-9]\n(evil.*\n' >"$FLEET/master/reject"
    as evil-2 send "$(hello evil-2)" expect '"state":"pending"'
    printf 'web[0-9]\n' >"$FLEET/master/reject"
    chmod 0666 "$FLEET/master/reject"
    as web1 send "$(hello web1)" expect '"state":"pending"'
    until_log "$FLEET/log/master" 'minion web1 waits for an operator, as autoreject_file can.t be read'
    rm "$FLEET/master/reject"
    as late send "$(hello late)" expect '"state":"pending"'
    until_log "$FLEET/log/master" 'master/reject is not there'
    cat "$FLEET/good" >"$MASTER_CONF"
    salt-key -y -d good,evil-2,web1,late
}

@test "H-RULES: of the same kind: a minion that is told to forbid what is not a module, or a command that is none" {
    local line
    for line in "disable_modules: ['cmd*']" 'disable_modules: [cmd.run]' 'disable_modul: [cmd]' "cmd_blacklist_glob: ['']" \
        "mine_functions: {test.ping: {allow_tgt: ''}}" 'global_state_conditions: {pkg: []}' 'master_fingr: "00:11"' \
        "x509_signing_policies: {www: {minions: ['web*']}}"; do
        minion_conf odd "$line"
        run "$HALITE_BIN/salt-minion" -c "$FLEET/etc/odd"
        [ "$status" -ne 0 ]
        [[ $output == *"$FLEET/etc/odd/minion, line "* ]]
    done
}
