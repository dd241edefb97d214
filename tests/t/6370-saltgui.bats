#!/usr/bin/env bats
# SaltGUI as a user walks through it, in a headless Chromium (lib/saltgui_walk.py). HALITE_SALTGUI names a folder with the tree of
# github.com/erwindon/SaltGUI, HALITE_SALTGUI_SHOTS one for pictures of its pages; 6350-api-clients.bats runs its own tests.
load lib
load api

setup_file() {
    export FLEET
    [ -d "${HALITE_SALTGUI:-}/saltgui" ] || return 0
    mkdir -p "$BATS_FILE_TMPDIR/srv"
    printf 'base:\n  "*": [walked]\n' >"$BATS_FILE_TMPDIR/srv/top.sls"
    echo 'walked: {test.succeed_with_changes: []}' >"$BATS_FILE_TMPDIR/srv/walked.sls"
    mkdir -p "$BATS_FILE_TMPDIR/pillar"
    printf 'base:\n  "*": [web]\n' >"$BATS_FILE_TMPDIR/pillar/top.sls"
    printf 'colour: green\nschedule: {ping: {function: test.ping, hours: 5}}\nbeacons: {load: [{averages: {1m: [0.0, 2000.0]}}, {interval: 3600}]}\n' >"$BATS_FILE_TMPDIR/pillar/web.sls"
    cp -r "$HALITE_SALTGUI/saltgui" "$BATS_FILE_TMPDIR/gui"
    printf 'CLEAR\nsharedsecret\n' >"$BATS_FILE_TMPDIR/gui/static/salt-auth.txt"
    API_LINES=("app: $BATS_FILE_TMPDIR/gui/index.html" "static: $BATS_FILE_TMPDIR/gui/static")
    MORE_LINES=("file_roots: {base: [$BATS_FILE_TMPDIR/srv]}" "pillar_roots: {base: [$BATS_FILE_TMPDIR/pillar]}" "nodegroups: {web: m1, others: 'E@x.*'}")
    api_up m1
    start_minion m2
}
teardown_file() { [ -z "${FLEET:-}" ] || fleet_down; }

@test "SaltGUI: log in, accept a key, run, jobs, a highstate, events, beacons, schedules, pillar, node groups, log out" {
    [ -d "${HALITE_SALTGUI:-}/saltgui" ] || skip "HALITE_SALTGUI names no tree of SaltGUI"
    command -v chromium >/dev/null || skip "chromium is not installed"
    command -v chromedriver >/dev/null || skip "chromedriver is not installed (Debian: chromium-driver)"
    until_true 20 eval "'$HALITE_BIN/salt-key' -c '$FLEET/etc' -l un | grep -q m2"
    mkdir -p "$BATS_TEST_TMPDIR/work"
    python3 -B "$HALITE_SRC/tests/lib/saltgui_walk.py" "$API" admin "$SECRET" "$BATS_TEST_TMPDIR/work" || {
        [ ! -d "${HALITE_SALTGUI_SHOTS:-}" ] || cp "$BATS_TEST_TMPDIR"/work/*.png "$HALITE_SALTGUI_SHOTS"
        return 1
    }
    [ ! -d "${HALITE_SALTGUI_SHOTS:-}" ] || cp "$BATS_TEST_TMPDIR"/work/*.png "$HALITE_SALTGUI_SHOTS"
}
