#!/usr/bin/env bats
# 3050-master-batch.bats - batches that the master drives: they go on without their command, after the master's end
# too, stop when they are told to, and say how far they are.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_up b1 b2 b3
}

teardown_file() {
    fleet_down
}

setup() {
    W=$BATS_TEST_TMPDIR
    listen events 'salt/batch/*'
}

teardown() {
    unlisten events
}

run_cmd() { "$HALITE_BIN/salt-run" "$@" --out=json --out-indent=-1; }
# Each minion that has the job writes began.ID, and ends with the code that the test writes to go.ID.
JOB() { echo "echo x >> $W/began.{{ grains.id }}; until [ -e $W/go.{{ grains.id }} ]; do sleep 0.02; done; exit \$(cat $W/go.{{ grains.id }})"; }
# begin OPTION...: a batch of everybody; its jid in JID.
begin() {
    run --separate-stderr salt -b 1 --async "$@" '*' cmd.run "$(JOB)" template=jinja
    [ "$status" -eq 0 ]
    [[ $output =~ ^'Executed command with job ID: '(20[0-9]{18})$ ]]
    JID=${BASH_REMATCH[1]}
}
has_begun() { [ -e "$W/began.$1" ]; }
go() { echo "${2:-0}" >"$W/.go.$1" && mv "$W/.go.$1" "$W/go.$1"; }
# status_has TEXT: the batch's summary has it.
status_has() { run_cmd batch.status "$JID" | grep -qF -- "$1"; }
over() { status_has '"halted": true' && status_has '"active": 0'; }
is_active() { run_cmd batch.list_active | grep -qF "$1"; }

@test "a batch goes on without its command, one minion after the other, as one job" {
    begin
    until_true 5 has_begun b1
    status_has '"total": 3, "completed": 0, "failed": 0, "active": 1, "pending": 2, "not_begun": 0'
    status_has '"halted": false, "halted_reason": null'
    is_active "$JID"
    not has_begun b2
    go b1
    until_true 5 has_begun b2
    not has_begun b3
    go b2
    until_true 5 has_begun b3
    go b3 7
    until_true 5 over
    status_has '"completed": 2, "failed": 1, "active": 0, "pending": 0, "not_begun": 0'
    not is_active "$JID"
    run --separate-stderr "$HALITE_BIN/salt-run" jobs.lookup_jid "$JID" --out=json --out-indent=-1
    for id in b1 b2 b3; do grep -q "\"$id\"" <<<"$output"; done
    wait_event events "salt/batch/$JID/complete"
    [ "$(heard events "salt/batch/$JID/new")" -eq 1 ]
    [ "$(heard events "salt/batch/$JID/progress")" -eq 3 ]
    [ "$(heard events "salt/batch/$JID/halted")" -eq 0 ]
}

@test "a batch of a part of all, with fewer minions than places" {
    begin -b 50%
    until_true 5 has_begun b1
    not has_begun b2
    for id in b1 b2 b3; do go "$id"; done
    until_true 5 over
    run --separate-stderr salt -b 10 --async 'b1,b2' -L test.ping
    JID=$(grep -oE '[0-9]{20}' <<<"$output")
    until_true 5 status_has '"completed": 2'
}

@test "a master that is killed goes on with the batch, and nobody has the job twice" {
    begin
    until_true 5 has_begun b1
    stop master KILL
    go b1
    start_master
    until_true 40 has_begun b2
    status_has '"total": 3, "completed": 1, "failed": 0, "active": 1, "pending": 1'
    stop master KILL
    start_master
    until_true 40 status_has '"completed": 1, "failed": 0, "active": 1, "pending": 1'
    go b2
    until_true 40 has_begun b3
    go b3
    until_true 5 over
    status_has '"completed": 3'
    for id in b1 b2 b3; do [ "$(wc -l <"$W/began.$id")" -eq 1 ]; done
}

@test "--failhard halts the batch at the first failure, for good" {
    begin --failhard
    until_true 5 has_begun b1
    go b1 3
    until_true 5 over
    status_has '"completed": 0, "failed": 1, "active": 0, "pending": 0, "not_begun": 2'
    status_has '"halted_reason": "a minion failed, and failhard is set"'
    wait_event events "salt/batch/$JID/halted"
    stop master KILL
    start_master
    wait_connected b1 b2 b3
    status_has '"halted_reason": "a minion failed, and failhard is set"'
    not has_begun b2
    not is_active "$JID"
}

@test "batch.stop: those that have the job finish it, nobody else begins" {
    begin
    until_true 5 has_begun b1
    [ "$(run_cmd batch.stop "$JID")" = true ]
    status_has '"active": 1, "pending": 0, "not_begun": 2'
    status_has '"halted": true, "halted_reason": "stopped by hand"'
    [ "$(run_cmd batch.stop "$JID")" = false ]
    go b1
    until_true 5 over
    status_has '"completed": 1, "failed": 0, "active": 0, "pending": 0, "not_begun": 2'
    not has_begun b2
}

@test "batch.stop kill=True ends the job where it runs, too" {
    begin
    until_true 5 has_begun b1
    [ "$(run_cmd batch.stop "$JID" kill=True)" = true ]
    until_true 5 over
    status_has '"completed": 0, "failed": 1, "active": 0, "pending": 0, "not_begun": 2'
}

@test "a minion without a connection is passed over" {
    stop b1
    wait_gone b1
    begin
    until_true 5 has_begun b2
    status_has '"active": 1, "pending": 1, "not_begun": 1'
    go b2
    go b3
    until_true 5 over
    status_has '"completed": 2, "failed": 0, "active": 0, "pending": 0, "not_begun": 1'
    start_minion b1
    wait_connected b1
}

@test "a minion that is gone for longer than the timeout frees its place" {
    begin -t 1
    until_true 5 has_begun b1
    stop b1 KILL
    until_true 10 has_begun b2
    status_has '"completed": 0, "failed": 1, "active": 1, "pending": 1'
    go b1
    start_minion b1
    wait_connected b1
    go b2
    go b3
    until_true 10 over
    status_has '"completed": 2, "failed": 1, "active": 0, "pending": 0, "not_begun": 0'
}

@test "a malformed size, and jids that are no batch's, are refused" {
    run --separate-stderr salt -b many --async '*' test.echo not-begun
    [ "$status" -ne 0 ]
    grep -qF 'Invalid batch data sent: many' <<<"$output$stderr"
    for fun in status stop; do
        run --separate-stderr "$HALITE_BIN/salt-run" "batch.$fun" 20200101000000000000
        [ "$status" -eq 1 ]
        grep -qF "with the jid '20200101000000000000'" <<<"$output$stderr"
    done
    [[ "$("$HALITE_BIN/salt-run" jobs.list_jobs)" != *not-begun* ]]
}
