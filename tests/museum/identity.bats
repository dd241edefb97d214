#!/usr/bin/env bats
# identity.bats - a minion that claims to be its neighbour: by its grains, by fields of its messages, by what an earlier build stored,
# by its configuration, by what it asks to have laid over its pillar, or by saying nothing. README.md says which.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

# db1 has what evil wants: a pillar, jobs and mine values that go by its id.
setup_file() {
    museum_up 'ext_pillar_first: True' "ext_pillar: [{cmd_yaml: 'echo site: north'}]" 'allow_minion_key_revoke: True' \
        "publisher_acl: {nobody: [{'G@id:db1': [test.ping]}]}" 'file_recv: True' "nodegroups: {databases: G@id:db1}"
    fleet_open
    chmod o+r "$MASTER_CONF"
    cat >"$FLEET/pillar/top.sls" <<'SLS'
base:
  '*': [one, facts]
  '{{ grains['id'] }}': ["of.{{ grains['id'] }}"]
  'G@id:db1': [secret]
  'id:^db':
    - match: grain_pcre
    - secret
  'databases':
    - match: nodegroup
    - secret
  'G@role:db and not G@id:evil':
    - match: compound
    - secret
  'wanted:db1':
    - match: pillar
    - secret
  'role:claimed':
    - match: grain
    - claimed
{% if grains.id == 'db1' or grains.get('id') in ['db1'] or opts.id == 'db1' %}
  '*1 or evil': [secret]
{% endif %}
SLS
    echo 'secret: secret-of-db1' >"$FLEET/pillar/secret.sls"
    echo 'claimed: what-a-claim-gives' >"$FLEET/pillar/claimed.sls"
    mkdir "$FLEET/pillar/of"
    for id in db1 m1 m2 evil m3; do echo "of: file-of-$id" >"$FLEET/pillar/of/$id.sls"; done
    echo 'secret: secret-of-db1' >>"$FLEET/pillar/of/db1.sls"
    cat >"$FLEET/pillar/facts.sls" <<'SLS'
facts: {{ grains.id }} {{ opts.id }} {{ salt['grains.get']('id') }} {{ salt['match.grain']('id:db1') }} {{ pillar.get('wanted', 'nothing') }}
{% if grains.get('id') == 'db1' or pillar.get('wanted') %}
secret: secret-of-db1
{% endif %}
SLS
    start_minion db1 'grains: {role: db}'
    accept db1
    wait_connected db1
    wait_grains db1
    salt db1 saltutil.refresh_pillar wait=True
    salt db1 mine.send of_id mine_function=test.echo text=mine-of-db1 allow_tgt=id:db1 allow_tgt_type=grain
    salt db1 mine.send of_word mine_function=test.echo text=mine-of-db1 allow_tgt='P@id:db. or N@databases' allow_tgt_type=compound
    export DB1
    DB1=$(salt-run cache.grains db1 --out=json --out-indent=-1 | sed -E 's/^\{"db1": (.*)\}$/\1/')
}
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# A pillar_ask N with these further keys, and its answer.
ask_pillar() { steps+=(send "{\"m\":\"pillar_ask\",\"n\":$1$2}" expect "\"n\":$1,\"pillar\":\{.*\"of\":\"file-of-evil\""); }
# mine_ask get N with this target, and its answer: nothing of what is db1's alone.
ask_mine() { steps+=(send "{\"m\":\"mine_ask\",\"n\":$1,\"op\":\"get\",\"tgt\":\"$2\",\"tgt_type\":\"$3\",\"fun\":[\"of_id\",\"of_word\"],\"id\":\"db1\",\"pillar_exact\":false,\"admin\":true}" expect "\"n\":$1,\"value\":\{\}"); }
# Nothing of the neighbour's reached the file.
nothing_gained() { not grep -aqE 'secret-of-db1|mine-of-db1|job-of-db1|file-of-db1' "$1"; }

@test "CLAIM-id: all the grains of a neighbour, and grains called id in every shape, give nothing of what is the neighbour's" {
    # The attack's own words are right: it is all that db1 says, and db1 has by it what evil is after.
    grep -q '"id": "db1"' <<<"$DB1"
    salt db1 pillar.items | grep -q secret-of-db1
    salt db1 mine.get db1 of_id | grep -q mine-of-db1
    shapes=("$DB1" '{"id":{"db1":{"db1":1}},"id:db1":"db1"}' '{"id":["db1","evil"]}' '{"ID":"db1","Id":"db1","id ":"db1"}' '{"id":"db1\u0000"}'
        '{"\u0069d":"db1"}' '{"id":null,"role":"db"}' '{"*":{"id":"db1"},"grains":{"id":"db1"},"opts":{"id":"db1"},"minion_id":"db1"}' '{"role":"db"}' '{}')
    record=$BATS_TEST_TMPDIR/record
    n=0
    for shape in "${shapes[@]}"; do
        steps=(send "{\"m\":\"grains\",\"grains\":$shape}")
        ask_pillar $((n += 1)) ',"keep":true'
        ask_pillar $((n += 1)) ",\"grains\":$shape,\"clean\":true"
        ask_mine $((n += 1)) db1 glob
        ask_mine $((n += 1)) id:db1 grain
        (RECORD=$record.$n evil_says "${steps[@]}" wait "$BATS_TEST_TMPDIR/go.$n" drain) >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
        peer=$!
        until_true 20 eval '[ "$(grep -c "done: expect" "$BATS_TEST_TMPDIR/out")" -eq 5 ]'
        for tgt in '-G id:db1' '-P id:db' '-C G@id:db1' '-C P@id:^db' '-N databases' '-C *1 and not G@id:m1' '-L db1'; do
            [ "$(salt "${tgt%% *}" "${tgt#* }" test.echo job-of-db1 --out=txt)" = 'db1: job-of-db1' ]
        done
        salt -C '* and not G@id:evil' test.echo job-of-db1 --out=txt | grep -q '^db1: job-of-db1$'
        [ "$(salt-run cache.grains evil --out=json | grep -c '"id": "evil"')" -eq 1 ]
        touch "$BATS_TEST_TMPDIR/go.$n"
        wait "$peer"
        nothing_gained "$record.$n"
        if [ "$(id -u)" -eq 0 ]; then
            nobody_pings db1
            not nobody_pings evil
        fi
    done
    [ "$(ask '{"op":"match","tgt":"secret:secret-of-*","tgt_type":"pillar"}' | grep -oE '"minions":\[[^]]*\]')" = '"minions":["db1"]' ]
    until_log "$FLEET/log/master" "minion evil: its grains call it 'db1'; the grain 'id' stays the id of its key" 10
}

# The user nobody, whom publisher_acl lets ping what G@id:db1 means, may ping this minion.
nobody_pings() { $(halite_unprivileged) "$HALITE_TOOLS/local" "$SOCK_DIR" "{\"op\":\"publish\",\"tgt\":\"$1\",\"tgt_type\":\"glob\",\"fun\":\"test.ping\",\"arg\":[]}" | grep -q '"ok":true'; }

@test "CLAIM-id: what another grain gives is what a claim gives, and the master's log says where, once" {
    evil_says send '{"m":"grains","grains":{"role":"claimed"}}' send '{"m":"pillar_ask","n":1}' expect '"n":1,"pillar":\{.*"claimed":"what-a-claim-gives"'
    line=$(grep -n "'role:claimed'" "$FLEET/pillar/top.sls" | cut -d: -f1)
    until_log "$FLEET/log/master" "top.sls:$line: the pillar's target 'role:claimed' goes by a grain" 10
    evil_says send '{"m":"grains","grains":{"role":"claimed","more":1}}' send '{"m":"pillar_ask","n":1}' expect '"n":1,"pillar":\{'
    [ "$(grep -c "'role:claimed' goes by a grain" "$FLEET/log/master")" -eq 1 ]
    [ "$(grep -c "'G@role:db and not G@id:evil' goes by a grain" "$FLEET/log/master")" -eq 1 ]
    [ "$(grep -cE "'(G@id:db1|id:\^db|databases|wanted:db1|\*|evil|db1)' goes by a grain" "$FLEET/log/master")" -eq 0 ]
}

@test "CLAIM-fields: fields that name a neighbour, in every message, are nobody's word" {
    listen all
    jid=$(salt db1 test.echo mine -v | grep -oE '[0-9]{20}' | head -n 1)
    salt db1 cp.push "$FLEET/etc/db1/minion" >/dev/null
    find "$FLEET/master/var/cache/salt/master/minions" -type f | sort | xargs sha256sum >"$BATS_TEST_TMPDIR/before"
    names='"id":"db1","minion":"db1","minion_id":"db1","name":"db1","user":"root","nodename":"db1","host":"db1","fqdn":"db1","role":"minion"'
    who="$names,\"key\":\"db1\""
    RECORD=$BATS_TEST_TMPDIR/record evil_says send "{\"m\":\"started\",\"jid\":\"$jid\",\"pid\":7,$who}" send "{\"m\":\"elsewhere\",\"jid\":\"$jid\",$who}" \
        send "{\"m\":\"ret\",\"jid\":\"$jid\",\"fun\":\"test.echo\",\"fun_args\":[],\"return\":\"forged\",\"retcode\":0,\"success\":true,$who}" expect '"jids"' \
        send "{\"m\":\"event\",\"n\":1,\"tag\":\"claims\",\"data\":{$who},\"more\":{$who,\"tag\":\"salt/auth\",\"data\":{},\"cmd\":\"x\",\"_stamp\":\"x\"}}" expect '"events":\[1\]' \
        send "{\"m\":\"grains\",\"grains\":{\"role\":\"x\"},$who}" \
        send "{\"m\":\"pillar_ask\",\"n\":2,$who,\"grains\":{$who},\"minion_opts\":{$who},\"opts\":{$who},\"load\":{$who},\"keep\":true}" expect '"n":2,"pillar":\{.*"of":"file-of-evil"' \
        send "{\"m\":\"mine_ask\",\"n\":3,\"op\":\"send\",\"data\":{\"of_id\":\"forged\"},\"clear\":true,$who}" expect '"n":3' \
        send "{\"m\":\"mine_ask\",\"n\":4,\"op\":\"delete\",\"fun\":\"of_word\",$who}" expect '"n":4' \
        send "{\"m\":\"mine_ask\",\"n\":5,\"op\":\"flush\",$who}" expect '"n":5' \
        send "{\"m\":\"file_open\",\"n\":6,\"op\":\"get\",\"path\":\"../minions/db1/files/$FLEET/etc/db1/minion\",\"saltenv\":\"base\",\"credit\":4,\"key\":\"$(printf '0%.0s' {1..64})\",$names}" expect '"error":.*"n":6' \
        send "{\"m\":\"hello\",\"id\":\"db1\",\"role\":\"minion\",\"boot\":\"b\",\"proto\":1,\"pending\":[\"$jid\"],\"elsewhere\":[\"$jid\"]}" expect '"state":"denied"'
    as evil send "$(hello db1 | sed 's/"minion"/"call"/')" expect '"state":"denied"'
    wait_event all '"tag":"claims","data":\{"id":"evil","tag":"claims"'
    [ "$(heard all 'ret/db1.*forged|"id":"db1","tag":"claims"')" -eq 0 ]
    unlisten all
    [ "$(salt-run jobs.lookup_jid "$jid" --out=json --out-indent=-1)" = '{"db1": "mine"}' ]
    salt db1 mine.get db1 of_id,of_word | grep -c mine-of-db1 | grep -qx 2
    find "$FLEET/master/var/cache/salt/master/minions" -type f | sort | xargs sha256sum >"$BATS_TEST_TMPDIR/after"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    nothing_gained "$BATS_TEST_TMPDIR/record"
    # What it asks for its key to be, is so for its key.
    as passing send "$(hello passing)" expect '"state":"pending"'
    salt-key -y -a passing >/dev/null
    as passing send "$(hello passing)" expect "$WELCOME" send "{\"m\":\"revoke\",\"preserve_minion_cache\":false,$who}" closed
    [ -e "$MINIONS/db1" ] && [ ! -e "$MINIONS/passing" ]
    ping_ok db1
}

@test "CLAIM-override: what a minion has laid over its pillar decides nothing of it" {
    RECORD=$BATS_TEST_TMPDIR/record evil_says \
        send '{"m":"pillar_ask","n":1,"pillar":{"wanted":"db1","site":"south","id":"db1"},"keep":true}' expect '"n":1,"pillar":\{.*"facts":"evil evil evil False nothing"' \
        send '{"m":"pillar_ask","n":2,"pillar":{"wanted":"db1","include":["secret"]},"saltenv":"base","pillarenv":"base","ext":{"cmd_yaml":"echo wanted: db1"}}' expect '"n":2,"pillar":\{.*"of":"file-of-evil"' \
        send '{"m":"pillar_ask","n":3,"pillarenv":"../base"}' expect '"n":3'
    nothing_gained "$BATS_TEST_TMPDIR/record"
    [ "$(ask '{"op":"match","tgt":"wanted:db1","tgt_type":"pillar"}' | grep -oE '"minions":\[[^]]*\]')" = '"minions":[]' ]
}

@test "CLAIM-silence: a minion that tells no grains is who it is" {
    RECORD=$BATS_TEST_TMPDIR/record
    export RECORD
    salt-run cache.clear_grains evil >/dev/null
    (evil send "$(hello evil)" expect "$WELCOME" wait "$BATS_TEST_TMPDIR/go" drain) >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    peer=$!
    until_true 20 is_connected evil
    [ "$(salt-run cache.grains evil --out=json --out-indent=-1)" = '{}' ]
    [ "$(salt -C 'not G@id:evil and not P@id:^m' test.echo job-of-db1 --out=txt)" = 'db1: job-of-db1' ]
    [ "$(ask '{"op":"match","tgt":"id:evil","tgt_type":"grain"}' | grep -oE '"minions":\[[^]]*\]')" = '"minions":["evil"]' ]
    touch "$BATS_TEST_TMPDIR/go"
    wait "$peer"
    nothing_gained "$BATS_TEST_TMPDIR/record"
}

@test "CLAIM-store: what an earlier build stored as a minion's grains is corrected when it is read" {
    evil_says send '{"m":"grains","grains":{"role":"x"}}'
    stop master
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE grains SET doc = ? WHERE id = ?", (sys.argv[2], "evil"))
db.commit()
assert db.total_changes == 1' "$FLEET/master/var/cache/salt/master/jobs.db" "$DB1"
    start_master
    [ "$(ask '{"op":"match","tgt":"id:db1","tgt_type":"grain"}' | grep -oE '"minions":\[[^]]*\]')" = '"minions":["db1"]' ]
    [ "$(salt-run cache.grains evil --out=json | grep -c '"id": "evil"')" -eq 1 ]
    salt-run pillar.show_pillar evil --out=json >"$BATS_TEST_TMPDIR/shown"
    grep -q file-of-evil "$BATS_TEST_TMPDIR/shown"
    salt-run cache.fetch minions/evil data --out=json >"$BATS_TEST_TMPDIR/fetched"
    grep -q '"id": "evil"' "$BATS_TEST_TMPDIR/fetched"
    RECORD=$BATS_TEST_TMPDIR/record evil_says send '{"m":"pillar_ask","n":1}' expect '"n":1,"pillar":\{.*"of":"file-of-evil"' \
        send "{\"m\":\"grains\",\"grains\":$DB1}" send '{"m":"pillar_ask","n":2}' expect '"n":2,"pillar":\{.*"of":"file-of-evil"'
    [ "$(ask '{"op":"match","tgt":"id:db1","tgt_type":"grain"}' | grep -oE '"minions":\[[^]]*\]')" = '"minions":["db1"]' ]
    nothing_gained "$BATS_TEST_TMPDIR/record"
    nothing_gained "$BATS_TEST_TMPDIR/shown"
    wait_connected m1 m2 db1
}

@test "CLAIM-config: a minion whose configuration, grains file or functions say another id stays itself" {
    mkdir -p "$FLEET/etc/m3"
    printf 'role: db\nid: db1\n' >"$FLEET/etc/m3/grains"
    start_minion m3 'grains: {id: db1, role: db}' 'grains_blacklist: [id]'
    accept m3
    wait_connected m3
    wait_grains m3
    until_log "$FLEET/log/m3" "option 'grains': its 'id' is ignored" 10
    until_log "$FLEET/log/m3" "etc/m3/grains:2: the grain 'id' is ignored: it is always the minion's id \('m3'\)" 10
    [ "$(salt m3 grains.get id --out=txt)" = 'm3: m3' ]
    [ "$(salt_call m3 --local grains.get id --out=txt 2>/dev/null)" = 'local: m3' ]
    [ "$(salt -G id:db1 test.echo job-of-db1 --out=txt)" = 'db1: job-of-db1' ]
    salt m3 saltutil.refresh_pillar wait=True
    salt m3 pillar.items >"$BATS_TEST_TMPDIR/pillar"
    grep -q file-of-m3 "$BATS_TEST_TMPDIR/pillar"
    run -1 salt m3 mine.get db1 of_id,of_word # nothing of the kind is in the mine
    echo "$output" >"$BATS_TEST_TMPDIR/mine"
    for call in 'grains.setval id db1' 'grains.set id db1 force=True' "grains.setvals {'id':'db1'}" 'grains.append id db1 convert=True'; do
        # shellcheck disable=SC2086
        run -1 salt m3 $call
        [[ $output == *"the grain 'id' can't be set: it is always the minion's id"* ]]
    done
    # What stands in the file can be taken out.
    salt m3 grains.delkey id >/dev/null
    [ "$(cat "$FLEET/etc/m3/grains")" = 'role: db' ]
    [ "$(salt m3 grains.get id --out=txt)" = 'm3: m3' ]
    # role:db is a claim that the top file above believes: this minion has by it what evil, which it excepts, has not.
    grep -q secret-of-db1 "$BATS_TEST_TMPDIR/pillar"
    not grep -qE 'file-of-db1|mine-of-db1' "$BATS_TEST_TMPDIR/pillar" "$BATS_TEST_TMPDIR/mine"
    stop m3
    salt-key -y -d m3 >/dev/null
}
