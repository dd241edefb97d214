#!/usr/bin/env bats
# 1120-audit.bats - the audit log: who did what to keys and with the master, without what may be secret.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

audit() { echo "$FLEET/master/var/log/salt/audit"; }
# line REGEX: a line that matches comes; it is JSON.
line() { until_log "$(audit)" "$1" && grep -E -- "$1" "$(audit)" | head -n 1 | python3 -m json.tool >/dev/null; }
lines() { grep -cE -- "$1" "$(audit)" || :; }

@test "a key's life, and who decided" {
    start_master
    start_minion m1
    line '"minion":"m1","address":"127.0.0.1[^"]*","op":"key","act":"pending","finger":"[0-9a-f:]{95}"'
    accept m1
    line '"op":"key_apply","action":"accept","from":\["minions_pre"\],"allowed":true,"outcome":"ok","uid":'"$(id -u)"',"user":"'"$(id -un)"'","pid":[0-9]+,"program":"salt-key","id":"m1"'
    wait_connected m1
    salt-key -y --rotate-master-key
    line '"op":"key_rotate","allowed":true,"finger":'
    wait_connected m1
    salt-key -y -r m1 --include-accepted
    line '"action":"reject".*"id":"m1"'
    salt-key -y -d m1
    line '"action":"delete".*"id":"m1"'
    [ "$(stat -c %a "$(audit)")" = 640 ]
}

@test "a minion's own wish, and a twin" {
    fleet_down
    fleet_up m1
    mkdir "$FLEET/etc/twin"
    sed "s|^root_dir:.*|root_dir: $FLEET/twin|" "$FLEET/etc/m1/minion" >"$FLEET/etc/twin/minion"
    start_minion twin
    line '"minion":"m1","address":"127.0.0.1[^"]*","op":"key","act":"denied".*"other":"127.0.0.1'
    stop twin
    salt m1 saltutil.revoke_auth >/dev/null || :
    line '"minion":"m1".*"op":"key","act":"revoke"'
}

@test "requests: jobs, runners, what is refused; no argument" {
    fleet_down
    fleet_up m1
    salt m1 cmd.run 'echo SECRET-WORD' env='{A: SECRET-WORD}' >/dev/null
    line '"op":"publish","fun":"cmd.run","tgt_type":"glob","tgt":"m1","allowed":true,"jid":"[0-9]{20}","minions":1,"outcome":"ok".*"program":"salt"'
    salt -I 'pass:SECRET-WORD' test.ping >/dev/null || :
    line '"tgt_type":"pillar.*"tgt":"\(pillar\)"'
    salt-run event.send my/tag '{"x": "SECRET-WORD"}' >/dev/null
    line '"op":"runner","fun":"event.send","allowed":true,"jid":"[0-9]{20}"'
    line '"op":"ended","jid":"[0-9]{20}","fun":"event.send","user":"'"$(id -un)"'","success":true,"retcode":0'
    # What only reads has no line.
    salt-run manage.up >/dev/null
    ask '{"op":"status"}' '{"op":"minions"}' '{"op":"nosuch","fun":"SECRET-WORD"}' >/dev/null 2>&1 || :
    [ "$(lines '"op":"(status|minions|nosuch)"')" -eq 0 ]
    [ "$(lines SECRET)" -eq 0 ]
}

@test "who may not: a line for what was refused, reading too" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
    fleet_open
    start_master 'publisher_acl: {daemon: [test.ping]}'
    chmod -R o+rX "$FLEET/master/var/run"
    for op in status key_apply; do
        run $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" "{\"op\":\"$op\",\"action\":\"accept\",\"ids\":[\"x\"],\"from\":[]}"
        line '"op":"'$op'".*"allowed":false,"outcome":"refused","why":"Authentication failure.*"uid":65534'
    done
}

@test "logrotate: opened again at SIGHUP; the option changed, and switched off" {
    start_master
    salt-run manage.up >/dev/null
    mv "$(audit)" "$(audit).1"
    salt-run manage.up >/dev/null
    kill -HUP "$(pid_of master)"
    until_true 5 test -e "$(audit)"
    salt-run manage.up >/dev/null
    line '"op":"runner"'
    echo "audit_log: ''" >>"$MASTER_CONF"
    n=$(lines .)
    kill -HUP "$(pid_of master)"
    until_true 5 eval '! ls -l /proc/$(pid_of master)/fd | grep -q "$(audit)\$"'
    salt-run manage.up >/dev/null
    [ "$(lines .)" -eq "$n" ]
}

@test "a file that can't be written: the master goes on, and says so; what is missing is counted" {
    mkdir -p "$(audit)"
    start_master
    salt-run manage.up >/dev/null
    until_log "$FLEET/log/master" "the audit log $(audit) can't be written: Is a directory; the master goes on"
    rmdir "$(audit)"
    salt-run manage.up >/dev/null
    line '"op":"lost","lines":2'
    until_log "$FLEET/log/master" "can be written again; 2 lines are missing"
}

@test "salt-key without a master writes its lines itself" {
    start_master
    start_minion m1
    wait_key m1 pre
    stop m1
    stop master
    salt-key -y -a m1
    line '"op":"key_apply","action":"accept","from":\["minions_pre"\],"id":"m1","allowed":true,"outcome":"ok","uid":'"$(id -u)"
    salt-key -y --rotate-master-key
    line '"op":"key_rotate","allowed":true,"finger":"[0-9a-f:]{95}","outcome":"ok","uid"'
    cp "$MASTER_CONF" "$FLEET/before"
    echo 'master_sign_pubkey: False' >>"$MASTER_CONF"
    run -1 salt-key -y --rotate-master-key
    line '"op":"key_rotate","allowed":true,"outcome":"failed","uid"'
    cp "$FLEET/before" "$MASTER_CONF"
    start_master
}
