#!/usr/bin/env bats
# 8000-transcripts.bats - what Salt 3006 printed, command by command, against what we print: see tests/lib/replay.py and
# tests/DIFFERENCES.md. HALITE_REFERENCE names the folder of transcripts; without it these tests are skipped.

bats_require_minimum_version 1.5.0
load lib

REFERENCE=${HALITE_REFERENCE:-$HALITE_SRC/../shared/reference/transcripts}

setup_file() {
    [ -d "$REFERENCE" ] || return 0
    fleet_new
    # Its states write below the fleet's folder.
    mkdir -p "$FLEET/out"
    cp -r "$REFERENCE/../srv" "$FLEET/srv"
    grep -rl REF/out "$FLEET/srv" | xargs sed -i "s|REF/out|$FLEET/out|g"
    # Salt's master had no signing key.
    start_master "file_roots: {base: [$FLEET/srv/salt]}" "pillar_roots: {base: [$FLEET/srv/pillar]}" \
        "master_sign_pubkey: False"
    # salt-call speaks for m001: its configuration lies where the master's is.
    minion_conf m001 'grains: {role: web, idx: "001"}' 'log_level: warning'
    cp "$FLEET/etc/m001/minion" "$FLEET/etc/minion"
    start_minion m001
    start_minion m002 'grains: {role: web, idx: "002"}'
    accept m001 m002
    wait_connected m001 m002
    wait_grains m001 m002
    export PATH=$HALITE_BIN:$PATH HALITE_TOOLS
}

teardown_file() {
    fleet_down
}

replay() {
    [ -d "$REFERENCE" ] || skip "no transcripts at $REFERENCE"
    "$HALITE_SRC/tests/lib/replay.py" "$REFERENCE" "$HALITE_SRC/tests/DIFFERENCES.md" "$@"
}

@test "salt" {
    replay 'cli_*'
}

@test "salt-call" {
    replay 'call_*'
}

@test "salt-run" {
    replay run_active_none run_active 'run_l*[!ns]' run_print_job run_last_run 'run_*'
}

@test "orchestrate" {
    replay 'orch_*'
}

@test "salt, slow jobs" {
    replay 'slow_*'
}

@test "states" {
    replay st_ok_test st_ok st_ok_again st_ok_two_minions st_ok_json st_ok_local st_ok_diff_test st_ok_diff 'st_*'
}

@test "events" {
    [ -d "$REFERENCE" ] || skip "no transcripts at $REFERENCE"
    "$HALITE_SRC/tests/lib/replay_events.py" "$REFERENCE" "$HALITE_SRC/tests/DIFFERENCES.md" 'ev_*'
}

@test "salt-key" {
    replay 'key_*'
}

@test "salt-key, with one minion less" {
    [ -d "$REFERENCE" ] || skip
    stop m002
    salt-key -y -d m002
    replay 'key2_*'
}

@test "a dead minion" {
    [ -d "$REFERENCE" ] || skip
    salt-key -y -d m003
    start_minion m002
    accept m002
    wait_connected m002
    stop m002
    replay 'dead_*'
}
