# api.bash - a master with external_auth, and salt-api in front of it. `load lib; load api`.

# The password of all users.
SECRET=secret

# The master's configuration; further lines are arguments. API_LINES (array): of the section rest_cherrypy.
api_master_lines() {
    cat <<CONF
sharedsecret: $SECRET
external_auth:
  sharedsecret:
    admin: ['.*', '@runner', '@wheel', '@jobs']
    limited: [test.ping, {m1: ['test.*']}, '@jobs']
    looker: [{'@runner': ['overview\..*', 'orchestrate\.(list|show|graph)', 'jobs\.list_job', 'cache\.grains']}]
netapi_enable_clients: [local, local_async, local_batch, local_subset, runner, runner_async, wheel, wheel_async]
rest_cherrypy:
  port: $API_PORT
  host: 127.0.0.1
CONF
    grep -qs ssl_crt <(printf '%s\n' "${API_LINES[@]}") || echo "  disable_ssl: True"
    [ ${#API_LINES[@]} -eq 0 ] || printf '  %s\n' "${API_LINES[@]}"
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# api_up ID...: a fleet with salt-api.
api_up() {
    local id
    fleet_new
    API_PORT=$((PORT + 3))
    API=${API_SCHEME:-http}://127.0.0.1:$API_PORT
    export API API_PORT
    mapfile -t MASTER_LINES < <(api_master_lines "${MORE_LINES[@]}")
    start_master "${MASTER_LINES[@]}"
    for id; do start_minion "$id"; done
    [ $# -eq 0 ] || accept "$@"
    wait_connected "$@"
    wait_grains "$@"
    start_api
}

api_listens() { curl -sk -o /dev/null --max-time 2 "$API/health" || [ -e "$FLEET/pids/api.rc" ]; }
# start_api [WORD...]: words before its command line.
start_api() {
    : >"$FLEET/log/api"
    daemon api "$@" "$HALITE_BIN/salt-api" -c "$FLEET/etc" -l info --pid-file="$FLEET/tmp/api.pid"
    until_true 10 api_listens
    [ ! -e "$FLEET/pids/api.rc" ] || { cat "$FLEET/log/api" >&2; return 1; }
}

# login USER: its session in TOKEN. After failures the master lets a user wait.
login() { until_true 20 login_once "$1"; }
login_once() {
    TOKEN=$(curl -sk "$API/login" -H 'Accept: application/json' -d eauth=sharedsecret -d username="$1" -d password="$SECRET" | field token)
    [ ${#TOKEN} -eq 40 ]
}

# api METHOD PATH [JSON] [CURL-OPTION...]: with the session's header; the answer on stdout, its status in STATUS_FILE.
api() {
    local method=$1 path=$2 body=${3:-}
    shift 2
    [ $# -eq 0 ] || shift
    curl -sk --max-time 60 -X "$method" "$API$path" -H "X-Auth-Token: $TOKEN" -H 'Accept: application/json' \
        ${body:+-H 'Content-Type: application/json' --data-binary "$body"} "$@"
}
# status METHOD PATH ...: the status alone.
status_of() { api "$@" -o /dev/null -w '%{http_code}'; }
