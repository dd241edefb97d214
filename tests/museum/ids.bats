#!/usr/bin/env bats
# ids.bats - names that are read as more than one: a stranger names itself so that whoever accepts its key, or means its
# minion, means others too.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

# The shipped reaction, with this fleet's network; and a copy that trusts the name alone and quotes nothing, as people write it.
setup_file() {
    mkdir -p "$BATS_FILE_TMPDIR/reactor"
    sed 's/10\\\.20\\\.30\\\./127\\./' "$HALITE_SRC/srv/reactor/autoscale.sls" >"$BATS_FILE_TMPDIR/reactor/shipped.sls"
    cat >"$BATS_FILE_TMPDIR/reactor/careless.sls" <<'SLS'
{% if data['id'].startswith('careless-') or data['id'].startswith('1') %}
accept it:
  wheel.key.accept:
    - match: {{ data['id'] }}
{% endif %}
SLS
    museum_up "reactor: [{salt/auth: ['$BATS_FILE_TMPDIR/reactor/*.sls']}]"
}
teardown_file() { fleet_down; }
teardown() {
    museum_whole
    unlisten all
}

# waits ID: a stranger whose key waits under that id.
waits() { as "stranger-$1" send "$(hello "$1")" expect '"state":"pending"'; }
# denied ID [REASON]: the hello is refused, counted and told, and nothing is kept.
denied() {
    local before
    before=$(counter refused)
    as "key$RANDOM" send "$(hello "$1")" expect "\"state\":\"denied\".*${2:-an id has letters}"
    [ "$(counter refused)" -eq $((before + 1)) ]
}
pending() { salt-key -l pre --out=json --out-indent=-1; }

@test "H-IDS: a list in an id: web-asg-1,* lets in nobody who waits" {
    listen all
    waits stranger
    for id in 'web-asg-1,*' 'web-asg-1,stranger' 'careless-1,stranger' '*' 'web-asg-*' 'strange?' 'stranger,'; do
        denied "$id"
    done
    wait_event all 'salt/gate/refused.*web-asg-1.*an id has letters'
    # Who has the name by right is accepted, alone.
    as asg send "$(hello web-asg-1)" expect "$WELCOME"
    as careless send "$(hello careless-1)" expect "$WELCOME"
    [ "$(pending)" = '{"minions_pre": ["stranger"]}' ]
    salt-key -y -d 'web-asg-1,careless-1,stranger'
}

@test "H-IDS: targets, options, patterns, commands, paths and look-alikes in an id" {
    listen all
    for id in 'E@.*' 'G@os:Debian' 'N@all' 'L@m1' 'P@id:.*' '--all' '-A' 'm[1-3]' 'm1|m2' '(m1)' 'm1+' '^m1' 'm1 or m2' 'm1;id' \
        '$(id)' '`id`' 'm1&' 'a=b' '~root' '../m1' 'm1/x' 'm{1,2}' '!m1' 'm1#' "m1'" 'mаin' 'm１' 'ｍ1' $'m1\u0301' $'\u202e1m' $'m\u200b1'; do
        denied "$id"
    done
    for id in and OR not; do denied "$id" 'compound targets'; done
    [ "$(pending)" = '{"minions_pre": []}' ]
}

@test "H-IDS: of the same kind: a number in an id is another id for who reads it as YAML" {
    listen all
    waits 16
    # Read as the number 16, and as 10: a reaction that does not quote accepts neither, and says why.
    waits 0x10
    waits 1_6
    wait_event all 'salt/reactor/error.*an id is a text'
    [ "$(pending)" = '{"minions_pre": ["0x10", "16", "1_6"]}' ]
    salt-key -y -d '16,0x10,1_6'
}

@test "H-IDS: of the same kind: a program that deletes or rejects what a minion names, with a pattern in the name" {
    listen all
    for fun in accept reject delete; do
        for match in 'm*' '*' 'm1,m2' 'm[12]' '["m*"]' '["m1", 5]'; do
            run salt-run salt.cmd saltutil.wheel "key.$fun" "$match"
            [ "$status" -ne 0 ]
            [[ $output == *'match: '* ]]
        done
    done
    [ "$(salt-key -l acc --out=json --out-indent=-1)" = '{"minions": ["evil", "m1", "m2"]}' ]
    # Who means several says so.
    waits some-1
    waits some-2
    salt-run salt.cmd saltutil.wheel key.delete 'some-*' glob=True
    [ "$(pending)" = '{"minions_pre": []}' ]
}

@test "H-IDS: of the same kind: a key that waits, or was accepted, under such a name before" {
    listen all
    local pki=$FLEET/master/etc/salt/pki/master
    waits stranger
    cp "$pki/minions_pre/stranger" "$pki/minions_pre/m1,*"
    mv "$pki/minions_pre/stranger" "$pki/minions/*"
    unlisten all
    stop master
    start_master
    listen all
    until_log "$FLEET/log/master" "keys: 2 with a name that is not an id, and that let nobody in: '\\*', 'm1,\\*'"
    wait_connected m1 m2
    as stranger-stranger send "$(hello '*')" expect '"state":"denied"'
    run salt-run salt.cmd saltutil.wheel key.accept 'm1,*'
    [ -e "$pki/minions_pre/m1,*" ]
    salt-key -L | grep -A2 'Names Are No Ids' | grep -qxF 'm1,*'
    salt-key -y -d 'm1,*'
    salt-run salt.cmd saltutil.wheel key.delete '*'
    [ "$(salt-key -L --out=json --out-indent=-1)" = '{"minions": ["evil", "m1", "m2"], "minions_pre": [], "minions_rejected": [], "minions_denied": []}' ]
}

@test "H-IDS: a minion that is given such an id does not start, and says what to change" {
    local id
    listen all
    for id in 'web-asg-1,*' 'E@.*' '--all' 'mаin' not; do
        minion_conf odd "id: '$id'"
        run "$HALITE_BIN/salt-minion" -c "$FLEET/etc/odd"
        [ "$status" -ne 0 ]
        [[ $output == *"option 'id'"*"set another one in $FLEET/etc/odd/minion"* ]]
    done
    minion_conf odd
    run "$HALITE_BIN/salt-call" -c "$FLEET/etc/odd" --local --id='m1|m2' test.ping
    [ "$status" -ne 0 ]
    [[ $output == *"the command line: option 'id'"* ]]
}
