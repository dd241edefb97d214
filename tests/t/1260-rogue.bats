#!/usr/bin/env bats
# 1260-rogue.bats - an accepted minion whose program is another records every byte that reaches it, on both ports and the hello
# port, while a thousand jobs for others run; it asks for all that its key may ask for. Nothing of theirs is there: not what
# they were asked, not what they answered, not their pillar or mine, no jid, not even their ids.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET"/{pillar,keys}
    printf "base:\n  '*': [all]\n  'honest*': [secret]\n" >"$FLEET/pillar/top.sls"
    echo 'common: for-everybody' >"$FLEET/pillar/all.sls"
    echo 'secret: pillar-secret' >"$FLEET/pillar/secret.sls"
    start_master "pillar_roots: {base: [$FLEET/pillar]}"
    start_minion honest1 "mine_functions: {private: [{mine_function: test.echo}, mine-secret, {allow_tgt: 'honest*'}]}"
    start_minion honest2
    accept honest1 honest2
    export SERVER=$FLEET/master/etc/salt/pki/master/master.pub
    rogue dealer $((PORT + 1)) send "$(hello rogue)" expect '"state":"pending"' >/dev/null
    salt-key -y -a rogue >/dev/null
    wait_connected honest1 honest2
    wait_grains honest1 honest2
}
teardown_file() { fleet_down; }

# rogue KIND PORT STEP...: with the rogue's key; all that comes goes to RECORD.
rogue() { "$HALITE_TOOLS/fakepeer" "$1" 127.0.0.1 "$2" "$SERVER" "$FLEET/keys" rogue "${@:3}"; }
hello() { echo "{\"m\":\"hello\",\"id\":\"$1\",\"role\":\"minion\",\"boot\":\"b$RANDOM\",\"proto\":1,\"version\":\"3006.0\",\"pending\":[]}"; }

# As many jobs as JOBS, in requests of the local socket: for one, for a list, for what a grain says, for a compound target.
thousand_jobs() {
    local n targets=('"honest1","tgt_type":"glob"' '"honest2","tgt_type":"glob"' '["honest1","honest2"],"tgt_type":"list"'
        '"id:honest*","tgt_type":"grain"' '"honest* and not G@id:rogue","tgt_type":"compound"' '"secret:pillar-*","tgt_type":"pillar"')
    for n in $(seq "$1"); do
        echo "{\"op\":\"publish\",\"tgt\":${targets[n % ${#targets[@]}]},\"fun\":\"test.echo\",\"arg\":[\"argument-secret-$n\"],\"metadata\":{\"note\":\"metadata-secret\"}}"
    done
}

@test "a thousand jobs for others leave no trace with a rogue minion" {
    record=$BATS_TEST_TMPDIR/record go=$BATS_TEST_TMPDIR/go
    mkdir "$record"
    # What it asks for meanwhile, all with the names of others in it.
    asks=()
    n=0
    for fun in '"private"' '["private","test.echo","grains.items"]' '"*"'; do
        for tgt in '"*","tgt_type":"glob"' '"secret:pillar-secret","tgt_type":"pillar"' '"secret:p.*","tgt_type":"pillar_pcre"' '"honest1","tgt_type":"glob"' '"I@secret:*","tgt_type":"compound"'; do
            asks+=(send "{\"m\":\"mine_ask\",\"n\":$((n += 1)),\"op\":\"get\",\"tgt\":$tgt,\"fun\":$fun}" expect "\"n\":$n[,}]")
        done
    done
    for more in '' ',"id":"honest1"' ',"grains":{"id":"honest1","host":"honest1"}' ',"pillar":{"own":1}' ',"saltenv":"base","pillarenv":"base","keep":true'; do
        asks+=(send "{\"m\":\"pillar_ask\",\"n\":$((n += 1))$more}" expect "\"n\":$n[,}]")
    done
    for op in files dirs links envs empty_dirs; do
        asks+=(send "{\"m\":\"file_open\",\"n\":$((n += 1)),\"op\":\"$op\",\"path\":\"\",\"saltenv\":\"base\",\"credit\":4}")
    done
    (RECORD=$record/dealer DEADLINE=120 rogue dealer $((PORT + 1)) send "$(hello rogue)" expect '"state":"accepted"' "${asks[@]}" until "$go" \
        send "$(hello rogue)" expect '"state":"accepted"' drain) >"$BATS_TEST_TMPDIR/dealer" 2>&1 3>&- &
    dealer=$!
    (RECORD=$record/call DEADLINE=120 rogue dealer $((PORT + 1)) send "$(hello rogue | sed 's/"minion"/"call"/')" expect '"state":"accepted"' until "$go") >/dev/null 2>&1 3>&- &
    call=$!
    (RECORD=$record/sub DEADLINE=120 rogue sub "$PORT" topics 1 until "$go" drain) >"$BATS_TEST_TMPDIR/sub" 2>&1 3>&- &
    sub=$!
    (RECORD=$record/sub2 DEADLINE=120 rogue sub "$PORT" until "$go" drain) >/dev/null 2>&1 3>&- &
    sub2=$!
    (RECORD=$record/hello DEADLINE=120 "$HALITE_TOOLS/fakepeer" null 127.0.0.1 $((PORT + 2)) send '{"m":"pillar_ask","id":"honest1"}' expect pub until "$go") >/dev/null 2>&1 3>&- &
    question=$!
    until_true 20 grep -q 'done: expect' "$BATS_TEST_TMPDIR/dealer"
    until_true 20 is_subscribed rogue
    before=$(counter returns)
    thousand_jobs 1000 >"$BATS_TEST_TMPDIR/jobs"
    mapfile -t jobs <"$BATS_TEST_TMPDIR/jobs"
    for at in 0 200 400 600 800; do
        ask "${jobs[@]:at:200}" >>"$BATS_TEST_TMPDIR/replies"
        # While these run it returns and marks jobs of others as begun: theirs is what counts.
        want=$(grep -o '"minions":\[[^]]*\]' "$BATS_TEST_TMPDIR/replies" | grep -o honest | wc -l)
        until_true 60 eval '[ "$(counter returns)" -ge $((before + want)) ]'
    done
    [ "$(grep -c '"ok":true' "$BATS_TEST_TMPDIR/replies")" -eq 1000 ]
    [ "$want" -gt 1300 ]
    # One for everybody, so that silence means something.
    salt '*' test.echo for-everybody --async >/dev/null
    until_true 10 grep -q for-everybody "$record/sub2"
    touch "$go"
    for one in $dealer $call $sub2 $question; do wait "$one"; done
    wait $sub || :
    for file in "$record"/*; do echo "$file: $(wc -c <"$file") bytes" >&2; done
    [ "$(wc -c <"$record/dealer")" -gt 1000 ]
    not grep -raE 'secret|honest|metadata' "$record" >&2
    # Nor any jid but that of the job for all.
    grep -oE '"jid":"[0-9]{20}"' "$BATS_TEST_TMPDIR/replies" | cut -d'"' -f4 | sort >"$BATS_TEST_TMPDIR/jids"
    not grep -raFf "$BATS_TEST_TMPDIR/jids" "$record" >&2
}

@test "what it says of others' jobs changes nothing" {
    jid=$(salt honest1 test.echo truth -v | grep -oE '[0-9]{20}' | head -n 1)
    under_way=$(salt honest1 cmd.run "until test -e $BATS_TEST_TMPDIR/go; do sleep 0.02; done; echo truth" --async | grep -oE '[0-9]{20}')
    until_true 10 eval 'salt-run jobs.active --out=json | grep -q "$under_way"'
    listen all
    for one in "$jid" "$under_way"; do
        rogue dealer $((PORT + 1)) send "$(hello rogue)" expect '"state":"accepted"' send "{\"m\":\"started\",\"jid\":\"$one\",\"pid\":1}" \
            send "{\"m\":\"ret\",\"jid\":\"$one\",\"id\":\"honest1\",\"fun\":\"test.echo\",\"fun_args\":[],\"return\":\"lie\",\"retcode\":0,\"success\":true}" expect '"jids"' \
            send "$(hello rogue)" expect '"state":"accepted"' >/dev/null
    done
    touch "$BATS_TEST_TMPDIR/go"
    wait_event all "$under_way/ret/honest1"
    [ "$(heard all 'ret/honest1.*lie')" -eq 0 ]
    unlisten all
    for one in "$jid" "$under_way"; do
        until_true 10 eval 'salt-run jobs.lookup_jid "$one" --out=json | grep -q "\"honest1\": \"truth\""'
    done
}
