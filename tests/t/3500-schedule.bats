#!/usr/bin/env bats
# 3500-schedule.bats - the minion's scheduler, and what it does while no master is there.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

# The jids of a scheduled function's jobs that the master has, oldest first.
jobs_of() {
    salt-run jobs.list_jobs search_function="$1" --out=json | grep -oE '"[0-9]{20}"' | tr -d '"' | sort
}
ran() { [ "$(jobs_of "$1" | wc -l)" -ge "$2" ]; }

@test "a job by seconds returns to the master, under its schedule's name" {
    start_master "auto_accept: True"
    listen ret 'salt/job/*/ret/web'
    start_minion web 'schedule: {beat: {function: test.echo, args: [tick], seconds: 1, metadata: {why: life}}}'
    wait_event ret '"fun":"test.echo","fun_args":\["tick"\].*"schedule":"beat"'
    wait_event ret '"why":"life"'
    until_true 10 ran test.echo 2
    jid=$(jobs_of test.echo | head -n 1)
    run -0 salt-run jobs.lookup_jid "$jid" --out=newline_values_only
    [ "$output" = tick ]
}
