#!/usr/bin/env bats
# 2000-target.bats - which minions a target means, on a fleet of three.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    start_master 'nodegroups:' '  web: L@web1,web2' '  front: N@web and not web2' "  data: 'G@role:data'"
    start_minion web1 'grains: {role: web, tier: {zone: a}, list: [one, two]}'
    start_minion web2 'grains: {role: web, tier: {zone: b}}'
    start_minion db1 'grains: {role: data, tier: {zone: b}}'
    accept web1 web2 db1
    wait_connected web1 web2 db1
    wait_grains web1 web2 db1
}

teardown_file() {
    fleet_down
}

# hits IDS OPTION... TARGET: who answers, and that nobody else does.
hits() {
    local want=$1
    shift
    [ "$(salt "$@" test.ping --out=txt 2>/dev/null | sed -n 's/: True$//p' | sort | tr '\n' ' ')" = "${want:+$want }" ]
}

@test "glob" {
    hits 'db1 web1 web2' '*'
    hits 'web1 web2' 'web*'
    hits 'web1 web2' 'web[12]'
    hits 'web2' 'web[!1]'
    hits 'db1' '?b1'
    hits 'web1' web1
}

@test "-L: a list, with commas" {
    hits 'db1 web1' -L web1,db1
}

@test "-L with an id that is unknown: the known ones answer, the other is named, exit code not 0" {
    run --separate-stderr salt -L web1,nosuch test.ping --out=txt
    [ "$status" -ne 0 ]
    grep -q '^web1: True' <<<"$output"
    grep -q nosuch <<<"$output$stderr"
}

@test "-E: a regular expression from the start of the id" {
    hits 'db1 web1' -E '.*1$'
    hits 'web1 web2' -E 'web\d'
    hits '' -E 'eb1'
}

@test "-G and -P: grains, nested ones too" {
    hits 'web1 web2' -G role:web
    hits 'db1 web2' -G tier:zone:b
    hits 'web1' -G list:two
    hits 'db1 web1 web2' -P 'role:(web|data)'
    hits 'db1' -G 'role|data' --delimiter '|'
}

@test "-S: an address or a subnet" {
    hits 'db1 web1 web2' -S 127.0.0.0/8
    hits '' -S 203.0.113.0/24
}

@test "-N: node groups, one within another" {
    hits 'web1 web2' -N web
    hits 'web1' -N front
    hits 'db1' -N data
}

@test "-N with an unknown name fails and says so" {
    run salt -N nosuch test.ping
    [ "$status" -ne 0 ]
    grep -q nosuch <<<"$output"
}

@test "-C: compound" {
    hits 'web1' -C 'G@role:web and not web2'
    hits 'db1 web2' -C 'E@db\d or web2'
    hits 'db1 web2' -C '( G@tier:zone:b and * )'
    hits 'db1 web1' -C 'N@front or L@db1'
    hits 'db1' -C 'not N@web'
}

@test "-N is what the file says at the time, though the master has not read it again" {
    cp "$MASTER_CONF" "$BATS_TEST_TMPDIR/conf"
    sed -i 's/^  web: .*/  web: [web2, db1]/' "$MASTER_CONF"
    hits 'db1 web2' -N web
    hits 'db1' -N front
    run -0 salt -N front --preview-target
    [[ $output == *db1* && $output != *web1* ]]
    echo text >"$BATS_TEST_TMPDIR/text"
    run "$HALITE_BIN/salt-cp" -N front "$BATS_TEST_TMPDIR/text" "$BATS_TEST_TMPDIR/copied"
    [[ $output == *db1:* && $output != *web* ]]
    # What the groups of a compound target are, the master says.
    hits 'web1 web2' -C 'N@web'
    sed -i 's/^  web: .*/  web: N@front/' "$MASTER_CONF"
    run -1 salt -N web test.ping
    [[ $output == *'node group "web" contains itself'* ]]
    cp "$BATS_TEST_TMPDIR/conf" "$MASTER_CONF"
}

@test "-C that is broken: an error, not nobody" {
    for expression in 'web1 and' '( web1' 'and web1' 'Z@x'; do
        run salt -C "$expression" test.ping
        [ "$status" -ne 0 ]
    done
}

@test "nobody matches: said, exit code 2 as Salt's" {
    run --separate-stderr salt nosuch test.ping
    grep -q 'No minions matched the target' <<<"$output$stderr"
    [ "$status" -eq 2 ]
}

@test "--preview-target names the minions and runs nothing" {
    jobs=$(counter jobs)
    run salt --preview-target 'web*' test.ping
    [ "$status" -eq 0 ]
    grep -q web1 <<<"$output"
    grep -q web2 <<<"$output"
    [ "$(counter jobs)" = "$jobs" ]
}

jobs_seen() { grep -cE ' job [0-9]{20}: .* from ' "$FLEET/log/$1" || :; }

@test "a job is seen by its targets only" {
    web=$(jobs_seen web1) db=$(jobs_seen db1)
    hits web1 web1
    hits 'web1 web2' -G role:web
    [ "$(jobs_seen web1)" -eq $((web + 2)) ]
    [ "$(jobs_seen db1)" -eq "$db" ]
    hits 'db1 web1 web2' '*'
    [ "$(jobs_seen db1)" -eq $((db + 1)) ]
}

@test "a grain that is set on a minion can be targeted at once" {
    run salt web1 grains.setval colour red
    [ "$status" -eq 0 ]
    until_true 5 hits web1 -G colour:red
    salt web1 grains.delval colour destructive=True
    until_true 5 hits '' -G colour:red
}

@test "grains in the file /etc/salt/grains are seen after saltutil.refresh_grains" {
    echo 'size: large' >"$FLEET/etc/db1/grains"
    hits '' -G size:large
    salt db1 saltutil.refresh_grains
    until_true 5 hits db1 -G size:large
}

@test "a minion of which nothing is known yet has no grain and no pillar that a target may mean" {
    salt-key --gen-keys=ghost --gen-keys-dir="$FLEET/ghost" >/dev/null
    cp "$FLEET/ghost/ghost.pub" "$FLEET/master/etc/salt/pki/master/minions_pre/ghost"
    salt-key -y -a ghost >/dev/null
    hits 'db1 web1 web2' -G 'os:*'
    salt --preview-target '*' | grep -q ghost
    not grep -q ghost <<<"$(salt --preview-target -G 'os:*')"
    run salt --preview-target -I '*:*'
    [[ $output != *ghost* ]]
    salt-key -y -d ghost >/dev/null
}

@test "without minion_data_cache a target by pillar is refused, in words; one by grains is not" {
    refused() { salt "$@" test.ping 2>&1 | grep -qF "set 'minion_data_cache: True' in its configuration"; }
    not refused -I role:web
    echo 'minion_data_cache: False' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 refused -I role:web
    refused -C 'G@role:data or I@role:web'
    run salt -I role:web test.ping
    [ "$status" -eq 1 ]
    hits 'web1 web2' -G role:web
    sed -i '$d' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 not refused -I role:web
}
