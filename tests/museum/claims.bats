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
