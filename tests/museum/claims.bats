#!/usr/bin/env bats
# claims.bats - what an accepted minion that was turned says of jobs, of states and by events: it stays its own word.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() { museum_up; }
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# ret JID FUN REST: the message of a return.
ret() { echo "{\"m\":\"ret\",\"jid\":\"$1\",\"fun\":\"$2\",\"fun_args\":[],$3}"; }

@test "H-JIDS: no minion tells of jobs to come" {
    local ahead soon before
    ahead=$(date -u -d '+2 hours' +%Y%m%d%H%M%S)000001 soon=$(date -u -d '+10 minutes' +%Y%m%d%H%M%S)000001 before=$(counter refused)
    evil_says send "$(ret "$ahead" test.innocent '"return":"a story","retcode":0,"success":true')" expect "\"$ahead\"" \
        send "$(ret "$soon" test.innocent '"return":"a story","retcode":0,"success":true')" expect "\"$soon\""
    [ "$(counter refused)" -eq $((before + 1)) ]
    until_log "$FLEET/log/master" "minion evil returns for a job of its own, $ahead, that begins in 7[12][0-9][0-9] s by the master's clock"
    # Within an hour it is a clock's error: a job of the minion's own.
    [[ $(salt-run jobs.list_job "$soon" --out=json) == *'test.innocent'* ]]
    [[ $(salt-run jobs.list_job "$ahead" --out=json) != *'test.innocent'* ]]
}

# event NUMBER TAG REST: the message of an event.
event() { echo "{\"m\":\"event\",\"n\":$1,\"tag\":\"$2\",$3}"; }

@test "H-FACTS: a failed state has the id of who tells of it, and beside an event stands no fact of the master's" {
    local jid lie='"id":"m1","user":"root","minions":["m1"],"jid":"1","tag":"salt/key","cmd":"_return","fun":"x.y","success":true'
    listen facts
    jid=$(ask '{"op":"publish","tgt":"evil","tgt_type":"glob","fun":"state.sls","arg":["x"],"wait_ms":60000}' | grep -oE '[0-9]{20}' | head -n 1)
    evil_says send "$(ret "$jid" state.sls "\"return\":{\"cmd_|-a_|-b_|-run\":{\"result\":false,\"name\":\"n\",$lie}},\"retcode\":2,\"success\":false")" \
        expect "\"$jid\"" send "$(event 1 evil/tag "\"data\":{},\"more\":{\"mine\":1,$lie}")" expect '"events":\[1\]'
    wait_event facts '"tag":"cmd.run"' >"$BATS_TEST_TMPDIR/events"
    wait_event facts '"tag":"salt/job/[0-9]*/sub/evil/error/state.sls"' >>"$BATS_TEST_TMPDIR/events"
    [ "$(grep -c '"name":"n"' "$BATS_TEST_TMPDIR/events")" -eq 2 ]
    [ "$(grep -c '"id":"evil"' "$BATS_TEST_TMPDIR/events")" -eq 2 ]
    [ "$(grep -c "\"jid\":\"$jid\"" "$BATS_TEST_TMPDIR/events")" -eq 2 ]
    wait_event facts '"tag":"evil/tag"' >>"$BATS_TEST_TMPDIR/events"
    grep -q '"mine":1' "$BATS_TEST_TMPDIR/events"
    not grep -qE '"id":"m1"|"minions"|"x.y"|"success":true|salt/key|"cmd":"_return"' "$BATS_TEST_TMPDIR/events"
    unlisten facts
}

@test "H-TAGS: no tag of a minion's looks like one of the master's or of another's" {
    local n=100 tag steps=() jid=20260101000000000001 before
    before=$(counter refused)
    listen tags
    for tag in "salt/job/$jid/prog/evil/new" "salt/job/$jid/prog/evil/ret/m1" "salt/state_result/$jid/m1/done" salt/keyx salt/auth. salt/authx/m1 \
        salt/run salt/job salt/minion/evil/../m1/start salt/cloud/m1/destroyed key; do
        n=$((n + 1))
        steps+=(send "$(event $n "$tag" '"data":{}')" expect "\"events\":\\[$n\\]")
    done
    evil_says "${steps[@]}" send "$(event 200 "salt/job/$jid/prog/evil/3" '"data":{}')" send "$(event 201 "salt/state_result/$jid/evil//etc/x" '"data":{}')" \
        send "$(event 202 evil/end '"data":{}')"
    wait_event tags '"tag":"evil/end"' >/dev/null
    [ "$(counter refused)" -eq $((before + 11)) ]
    [ "$(heard tags '"cmd":"_minion_event"')" -eq 3 ]
    unlisten tags
}

@test "H-OUTPUT: no return hides itself or others" {
    local jid
    jid=$(ask '{"op":"publish","tgt":"*","tgt_type":"glob","fun":"test.echo","arg":["said"],"wait_ms":60000}' | grep -oE '[0-9]{20}' | head -n 1)
    evil_says send "$(ret "$jid" test.echo '"return":"mine","retcode":0,"success":true,"out":"quiet"')" expect "\"$jid\""
    until_true 10 eval "[ \"\$(salt-run jobs.lookup_jid $jid --out=json | grep -c '\"m[12]\"')\" -eq 2 ]"
    salt-run jobs.lookup_jid "$jid" >"$BATS_TEST_TMPDIR/all"
    [ "$(grep -cE 'said|mine' "$BATS_TEST_TMPDIR/all")" -eq 3 ]
    # Of one minion alone, and as it comes.
    jid=$(ask '{"op":"publish","tgt":"evil","tgt_type":"glob","fun":"test.echo","arg":["x"],"wait_ms":60000}' | grep -oE '[0-9]{20}' | head -n 1)
    evil_says send "$(ret "$jid" test.echo '"return":"mine","retcode":0,"success":true,"out":"newline_values_only"')" expect "\"$jid\""
    salt-run jobs.lookup_jid "$jid" | grep -q 'evil:'
}

# ask_mine NUMBER TERMS: a question by so many comparisons with pillars.
ask_mine() {
    local terms
    terms=$(printf ' or I@secret:no%s' $(seq "$2"))
    echo "{\"m\":\"mine_ask\",\"n\":$1,\"op\":\"get\",\"tgt\":\"${terms# or }\",\"tgt_type\":\"compound\",\"fun\":\"test.ping\"}"
}

@test "H-GUESS: a pillar's value is not found out by trying all of them" {
    local n steps=()
    evil_says send "$(ask_mine 1 17)" expect 'compares with the pillar 17 times: at most 16' send "$(ask_mine 2 16)" expect '"n":2,"value"'
    # A second's share is a hundred of them; what was asked in vain counts.
    for n in {3..12}; do steps+=(send "$(ask_mine "$n" 16)" expect "\"n\":$n"); done
    run evil_says "${steps[@]}"
    [ "$status" -eq 0 ]
    [[ $output == *'questions to the mine; ask again'* ]]
}
