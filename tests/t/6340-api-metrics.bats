#!/usr/bin/env bats
# GET /metrics: figures under the names of Salt 3008, of salt-exporter and of our own; promtool reads them where it is installed.
load lib
load api

setup_file() {
    export FLEET
    MORE_LINES=("metrics_minions: True")
    mkdir -p "$BATS_FILE_TMPDIR/srv"
    echo 'ok: {test.succeed_without_changes: []}' >"$BATS_FILE_TMPDIR/srv/web.sls"
    MORE_LINES+=("file_roots: {base: [$BATS_FILE_TMPDIR/srv]}" 'event_return: rawfile_json' "rawfile_json.filename: $BATS_FILE_TMPDIR/events"
        'engines: [{script: {cmd: "cat /dev/null"}}]')
    api_up m1 m2
}
teardown_file() { fleet_down; }

figures() { api GET /metrics; }
has() { figures | grep -qF "$1"; }

@test "jobs, returns and durations are counted by function and SLS" {
    login admin
    salt '*' test.ping >/dev/null
    salt m1 test.false >/dev/null || :
    salt m1 state.apply web >/dev/null
    until_true 10 has 'salt_jobs_published_total{fun="test.ping"} 1'
    has 'salt_jobs_completed_total{fun="test.ping",success="true"} 2'
    has 'salt_new_job_total{function="state.apply",state="web"} 1'
    has 'salt_expected_responses_total{function="test.ping",state=""} 2'
    has 'salt_function_responses_total{function="state.apply",state="web",success="true"} 1'
    has 'salt_job_duration_milliseconds_count{fun="test.ping"} 2'
    has 'salt_job_duration_milliseconds_bucket{fun="test.ping",le="+Inf"} 2'
    has 'salt_responses_total{minion="m2",success="true"} 1'
    has 'salt_master_connected_minions_count 2'
    has 'halite_master_up 1'
    has 'halite_api_sessions '
    has 'salt_job_duration_seconds{function="state.apply",state="web"} '
    has 'salt_events_fired_total{tag_prefix="job"} '
    # Keys that waited are accepted without another hello.
    [ $(($(figure 'salt_auth_attempts_total{result="success"}') + $(figure 'salt_auth_attempts_total{result="pending"}'))) -ge 2 ]
    has 'salt_auth_attempts_total{result="invalid_id"} 0'
    has 'salt_master_requests_handled_total{cmd="publish"} 3'
    has 'salt_master_requests_handled_total{cmd="_return"} 4'
    has 'salt_master_requests_handled_total{cmd="_auth"} '
    has 'salt_master_workers_queue_depth{pool="runners"} 0'
    until_true 10 has 'halite_follower_behind{name="event_return.rawfile_json"} '
    has 'halite_follower_failed{name="event_return.rawfile_json"} 0'
    has 'halite_follower_starts_total{name="event_return.rawfile_json"} 1'
    has 'halite_engine_starts_total{name="Engine(script)"} '
    has 'halite_store_commits_total '
    not grep -vE '^([a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? [^ ]+|#.*)$' <<<"$(figures)" >&2
    salt-run metrics.show | grep -F 'salt_jobs_published_total{fun="test.ping"} 1'
}

# figure NAME: its value.
figure() { figures | grep -F "$1 " | sed 's/.* //'; }
more_than() { [ "$(figure "$1")" -gt "$2" ]; }

@test "verdicts: what became of jobs, and what is known of those under way" {
    login admin
    returned=$(figure 'halite_verdicts_total{verdict="returned"}')
    away=$(figure 'halite_verdicts_total{verdict="not_connected"}')
    salt m1 test.ping >/dev/null
    until_true 10 more_than 'halite_verdicts_total{verdict="returned"}' "$returned"
    [ "$(figure 'halite_jobs_minions{verdict="running"}')" = 0 ]
    salt --async m1 test.sleep 3
    until_true 5 has 'halite_jobs_minions{verdict="running"} 1'
    stop m2
    wait_gone m2
    salt '*' test.ping >/dev/null || :
    more_than 'halite_verdicts_total{verdict="not_connected"}' "$away"
    has 'halite_verdicts_total{verdict="lost"} 0'
    start_minion m2
    wait_connected m2
    until_true 10 has 'halite_jobs_minions{verdict="running"} 0'
}

@test "spool: what a minion had kept while the master was away" {
    login admin
    salt --async m1 test.sleep 2
    until_true 5 has 'halite_jobs_minions{verdict="running"} 1'
    stop master
    until_true 20 sh -c "ls '$FLEET/m1/var/cache/salt/minion/spool' | grep -q ret"
    # The minion tells its networking process within a second.
    before=${EPOCHREALTIME/./}
    while [ "$(ms_since "$before")" -lt 2000 ]; do python3 -c 'import select; select.select([], [], [], 0.2)'; done
    start_master
    wait_connected m1 m2
    login admin
    until_true 10 has 'halite_spool_returns_total 1'
    has 'halite_spool_kept{minion="m1",kind="returns"} 1'
    has 'halite_spool_kept{minion="m2",kind="returns"} 0'
    # Who connects again with an empty spool had kept nothing.
    stop m1
    start_minion m1
    wait_connected m1
    until_true 10 has 'halite_spool_kept{minion="m1",kind="returns"} 0'
    has 'halite_spool_returns_total 1'
}

@test "beacons: events by name, and how many were merged" {
    login admin
    mkdir -p "$FLEET/etc/m1/minion.d" "$FLEET/watched"
    echo "beacons: {files: [beacon_module: inotify, files: {$FLEET/watched: {mask: [create]}}]}" >"$FLEET/etc/m1/minion.d/beacons.conf"
    kill -HUP "$(pid_of m1)"
    until_true 10 sh -c "touch '$FLEET/watched/'\$(date +%N); curl -s '$API/metrics' -H 'X-Auth-Token: $TOKEN' | grep -q 'halite_beacon_events_total{beacon=\"files\"}'"
    has 'halite_beacon_merged_total{beacon="files"} 0'
    python3 - "$FLEET/watched" <<'PY'
import os, sys
for i in range(5000):
    os.close(os.open(f"{sys.argv[1]}/f{i}", os.O_CREAT | os.O_WRONLY))
PY
    all_counted() {
        [ $(($(figure 'halite_beacon_events_total{beacon="files"}') + $(figure 'halite_beacon_merged_total{beacon="files"}'))) -ge 5000 ]
    }
    until_true 15 all_counted
    more_than 'halite_beacon_merged_total{beacon="files"}' 0
    # A minion's heart, as salt-exporter sees it.
    echo "beacons: {status: [interval: 1, time: [all]]}" >"$FLEET/etc/m1/minion.d/beacons.conf"
    kill -HUP "$(pid_of m1)"
    until_true 10 has 'salt_health_last_heartbeat{minion="m1"} '
    # What somebody fires under such a tag is no beacon's.
    salt-call event.send "salt/beacon/m1/forged/x" >/dev/null || :
    not has 'beacon="forged"'
}

@test "promtool has nothing to say against them but for names of others" {
    command -v promtool >/dev/null || skip "promtool is not installed (Debian: prometheus)"
    login admin
    figures >"$BATS_TEST_TMPDIR/metrics"
    run promtool check metrics <"$BATS_TEST_TMPDIR/metrics"
    # Names of Salt's and of salt-exporter's are as they are.
    not grep -vE '^salt_(health_minions_total|job_duration_milliseconds|master_connected_minions_count|events_fired_total) ' <<<"$output" >&2
}

names() { python3 -B "$HALITE_SRC/tests/lib/metric_names.py" "$BATS_TEST_TMPDIR/metrics" "$@"; }

@test "the dashboard and the alerts of conf/metrics ask for figures that are there" {
    login admin
    salt m1 state.apply >/dev/null || :
    figures >"$BATS_TEST_TMPDIR/metrics"
    names "$HALITE_SRC/conf/metrics/dashboard.json" "$HALITE_SRC/conf/metrics/alerts.yml"
    grep -F 'salt_function_status{minion="m1",function="state.highstate",state="highstate"} ' "$BATS_TEST_TMPDIR/metrics"
    command -v promtool >/dev/null || skip "promtool is not installed (Debian: prometheus)"
    promtool check rules "$HALITE_SRC/conf/metrics/alerts.yml"
    promtool check config "$HALITE_SRC/conf/metrics/prometheus.yml"
}

# Its alert asks for salt_function_health, which salt-exporter itself calls salt_function_status by now.
@test "salt-exporter's dashboard and alerts find theirs" {
    [ -d "${HALITE_SALT_EXPORTER:-}" ] || skip "HALITE_SALT_EXPORTER names no tree of github.com/kpetremann/salt-exporter"
    login admin
    figures >"$BATS_TEST_TMPDIR/metrics"
    names "$HALITE_SALT_EXPORTER"/grafana/*.json
    run names "$HALITE_SALT_EXPORTER"/prometheus_alerts/*
    not grep -vE ': salt_function_health$' <<<"$output"
}

@test "who has no session sees none, unless metrics_disable_auth says so" {
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/metrics")" = 401 ]
    stop api
    sed -i 's/^  disable_ssl: True/&\n  metrics_disable_auth: True\n  webhook_disable_auth: True/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    start_api
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/metrics")" = 200 ]
    [ "$(curl -s "$API/hook/ci" -d a=1)" = '{"success": true}' ]
    [ "$(curl -s "$API/hook" -d a=1)" = '{"success": true}' ]
}

@test "a master that is away is a figure, too" {
    stop master
    curl -s "$API/metrics" | grep -x 'halite_master_up 0'
    start_master
}

@test "metrics_port shows them on loopback without the API" {
    stop api
    sed -i '/^rest_cherrypy:/,/^[^ ]/{/^rest_cherrypy:/d; /^  /d}' "$MASTER_CONF"
    echo "metrics_port: $API_PORT" >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    start_api
    curl -s "$API/metrics" | grep -x 'halite_master_up 1'
    [ "$(curl -s "$API/ready")" = '{"status": "ok"}' ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$API/login")" = 404 ]
}
