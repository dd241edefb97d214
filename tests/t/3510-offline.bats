#!/usr/bin/env bats
# 3510-offline.bats - state runs while no master is there: with the pillar and the files that the minion has.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    mkdir "$FLEET/files" "$FLEET/pillar"
    echo "base: {'*': [p]}" >"$FLEET/pillar/top.sls"
    echo "word: first" >"$FLEET/pillar/p.sls"
    echo "base: {'*': [web]}" >"$FLEET/files/top.sls"
    cat >"$FLEET/files/web.sls" <<SLS
$FLEET/made:
  file.managed:
    - source: salt://page
    - template: jinja
SLS
    echo 'it says {{ pillar.word }}' >"$FLEET/files/page"
    start_master "auto_accept: True" "file_roots: {base: [$FLEET/files]}" "pillar_roots: {base: [$FLEET/pillar]}"
}

# A run that is killed leaves what it was about to render.
teardown() {
    [ ! -e "$FLEET/pids/web" ] || until_true 10 at_rest
    fleet_down
}

# The networking process is its only child.
at_rest() { [ "$(pgrep -c -P "$(<"$FLEET/pids/web")")" -le 1 ]; }

made() { grep -qx "it says $1" "$FLEET/made"; }

@test "a scheduled highstate goes on without a master, and says so" {
    start_minion web "offline_after: 1" "schedule: {high: {function: state.highstate, seconds: 2}}"
    until_true 15 made first
    stop master
    rm "$FLEET/made"
    until_true 20 made first
    until_log "$FLEET/log/web" 'no master was there: pillar and files were taken as they last came from one' 10
    echo "word: second" >"$FLEET/pillar/p.sls"
    start_master
    until_true 20 made second
    until_true 10 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"salt/job/*/ret/web\"]}" | grep -q "\"metadata\":{\"offline\":true}"'
    salt web schedule.disable >/dev/null
}

@test "what is not in the cache is one clear error" {
    start_minion web "offline_after: 1" "minion_pillar_cache: True" "schedule: {high: {function: state.highstate, seconds: 2}}"
    until_true 15 made first
    stop master
    # Also after a start: the pillar is kept.
    stop web KILL
    rm "$FLEET/web/var/cache/salt/minion/files/base/page" "$FLEET/made"
    start_minion web
    until_log "$FLEET/log/web" 'no master was there' 20
    [ ! -e "$FLEET/made" ]
    start_master
    until_true 15 made first
    until_true 10 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"salt/job/*/ret/web\"]}" | grep -q "no master is connected, and it is not in the cache"'
    salt web schedule.disable >/dev/null
}

@test "startup_states without a master: after offline_after, from what is kept" {
    start_minion web "offline_after: 1" "minion_pillar_cache: True" "startup_states: highstate"
    until_true 15 made first
    stop web
    stop master
    rm "$FLEET/made"
    start_minion web
    until_true 15 made first
    until_log "$FLEET/log/web" 'no master was there' 5
    start_master
    wait_connected web
    until_true 10 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"salt/job/*/ret/web\"]}" | grep -q "\"metadata\":{\"offline\":true}"'
    # Once, not again because a master has come.
    [ "$(grep -c 'state.highstate from startup_states' "$FLEET/log/web")" -eq 1 ]
}

@test "the master's options for state runs hold while it is away" {
    # The pillar's top file has that name too.
    mv "$FLEET/files/top.sls" "$FLEET/files/mytop.sls"
    mv "$FLEET/pillar/top.sls" "$FLEET/pillar/mytop.sls"
    stop master
    start_master "auto_accept: True" "state_top: mytop.sls" "file_roots: {base: [$FLEET/files]}" "pillar_roots: {base: [$FLEET/pillar]}"
    start_minion web "offline_after: 1" "minion_pillar_cache: True"
    wait_connected web
    salt web state.apply
    made first
    stop master
    stop web
    rm "$FLEET/made"
    start_minion web "offline_after: 1" "minion_pillar_cache: True" "startup_states: highstate"
    until_true 15 made first
}

@test "what an included top file names counts while no master is there" {
    mkdir "$FLEET/files/tops"
    echo "base: {'*': [web]}" >"$FLEET/files/tops/more.sls"
    echo "{include: [tops.more], base: {nobody: [web]}}" >"$FLEET/files/top.sls"
    start_minion web "offline_after: 1" "minion_pillar_cache: True" "startup_states: highstate"
    until_true 15 made first
    stop web
    stop master
    rm "$FLEET/made"
    start_minion web
    until_true 15 made first
    until_log "$FLEET/log/web" 'no master was there' 5
}
