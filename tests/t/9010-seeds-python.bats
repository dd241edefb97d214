#!/usr/bin/env bats
# 9010-seeds-python.bats - the modules in Python of a published text, as it prints them: tests/t/seeds/deepdive/salt. Its paths
# (/opt/apps, /opt/venvs, port 8000) are there in a mount and a network namespace of the test's own. Scripts stand
# for the service manager and for the virtualenv's pip, which would ask the network.

bats_require_minimum_version 1.5.0
load lib

setup() {
    [ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null || skip "can't make a mount and a network namespace"
    [ -e /usr/bin/systemctl ] || skip "the text's module asks for /usr/bin/systemctl, which is not on this machine"
    export HALITE_BIN T=$BATS_TEST_TMPDIR
    mkdir -p "$T/etc" "$T/bin"
    cp -r "$BATS_TEST_DIRNAME/seeds/deepdive/salt" "$T/salt"
    printf '%s\n' "root_dir: $T/root" 'file_client: local' "file_roots: {base: [$T/salt]}" 'id: web1' >"$T/etc/minion"
    cat >"$T/bin/systemctl" <<'SH'
#!/bin/sh
echo "systemctl $*" >>"$T/calls"
case $* in *LoadState*) echo LoadState=loaded ;; esac
SH
    cat >"$T/bin/service" <<'SH'
#!/bin/sh
echo "service $*" >>"$T/calls"
SH
    cat >"$T/bin/pip" <<'SH'
#!/bin/sh
echo "pip $*" >>"$T/calls"
SH
    chmod +x "$T"/bin/*
    mkdir "$T/repo"
    git init -q -b main "$T/repo"
    touch "$T/repo/requirements.txt"
    # shellcheck disable=SC2016
    printf '%s\n' 'import os, sys' 'print(os.environ["DJANGO_SETTINGS_MODULE"], sys.argv[1:])' >"$T/repo/manage.py"
    git -C "$T/repo" add .
    git -C "$T/repo" -c user.name=t -c user.email=t@t commit -qm release
    git -C "$T/repo" tag v2.3.1
    git -C "$T/repo" -c user.name=t -c user.email=t@t commit -q --allow-empty -m next
    git -C "$T/repo" tag v2.4.0
    cat >"$T/health.py" <<'PY'
import http.server, sys


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 8000), Health)
print("listens", flush=True)
server.serve_forever()
PY
}

teardown() { [ -z "${FLEET:-}" ] || fleet_down; }

# inside SCRIPT: in the namespaces, with /opt of its own, the web server, and call() as salt-call.
inside() {
    # shellcheck disable=SC2016
    unshare --mount --net --kill-child --fork bash -euc '
        ip link set lo up
        mount -t tmpfs none /opt
        mount --bind "$T/bin/systemctl" /usr/bin/systemctl
        PATH=$T/bin:$PATH
        mkdir -p /opt/apps /opt/venvs/myapp/bin
        ln -s "$(command -v python3)" /opt/venvs/myapp/bin/python
        ln -s "$T/bin/pip" /opt/venvs/myapp/bin/pip
        coproc python3 "$T/health.py"
        read -r _ <&"${COPROC[0]}"
        trap "kill $COPROC_PID" EXIT
        call() { "$HALITE_BIN/salt-call" --local -c "$T/etc" -l error "$@"; }
        call saltutil.sync_all >/dev/null
        json() { python3 -c "import json, sys; d = json.load(sys.stdin)[\"local\"]; print(eval(sys.argv.pop(1)))" "$@"; }
        eval "$1"' bash "$1"
}

@test "deploy.release: clone, virtualenv, migration, restart and health" {
    inside '
        call deploy.release myapp v2.3.1 "$T/repo" --out=json >"$T/first"
        [ "$(json "d[\"success\"], d[\"version\"], [list(s)[0] for s in d[\"steps\"]]" <"$T/first")" = \
            "(True, '\''v2.3.1'\'', ['\''git'\'', '\''pip'\'', '\''migrate'\'', '\''restart'\'', '\''health'\''])" ]
        [ "$(json "d[\"steps\"][2][\"migrate\"][\"stdout\"].strip()" <"$T/first")" = \
            "myapp.settings.production ['\''migrate'\'', '\''--noinput'\'']" ]
        [ "$(json "d[\"steps\"][4]" <"$T/first")" = "{'\''health'\'': 200}" ]
        grep -q "pip install -r /opt/apps/myapp/requirements.txt --quiet" "$T/calls"
        grep -q "service myapp restart" "$T/calls"
        call deploy.release myapp v2.4.0 "$T/repo" >/dev/null
        [ "$(git -C /opt/apps/myapp describe --tags)" = v2.4.0 ]'
}

@test "python_app.deployed: in test mode, for real, and again" {
    cat >"$T/salt/apps/myapp.sls" <<SLS
myapp:
  python_app.deployed:
    - version: v2.3.1
    - repo_url: $T/repo
    - health_endpoint: /api/health
SLS
    inside '
        state() { call state.apply apps.myapp "$@" --out=json | json "[(s[\"result\"], s[\"comment\"], s[\"changes\"]) for s in d.values()][0]"; }
        [ "$(state test=True)" = "(None, '\''Would update myapp from  to v2.3.1'\'', {'\''old'\'': '\'''\'', '\''new'\'': '\''v2.3.1'\''})" ]
        [ ! -e /opt/apps/myapp ]
        [ "$(state)" = "(True, '\''Deployed myapp v2.3.1 successfully'\'', {'\''old'\'': '\'''\'', '\''new'\'': '\''v2.3.1'\''})" ]
        # cmd.run_stdout of a module has no shell, as in Salt: "|| echo" are words of git, and the version is never known.
        [ "$(state)" = "(True, '\''Deployed myapp v2.3.1 successfully'\'', {'\''old'\'': '\'''\'', '\''new'\'': '\''v2.3.1'\''})" ]'
}

# The runner calls deploy.release without a repository, and two functions that the text does not print: a file of the test has
# these three. Its minute passes in the hundredth part.
canary_fleet() {
    fleet_new
    cat >"$T/bin/python" <<SH
#!/bin/sh
exec env LD_PRELOAD=$BUILD/tests/preload/brief.so $(command -v python3) "\$@"
SH
    chmod +x "$T/bin/python"
    cat >"$T/salt/_modules/deploy.py" <<PY
import os


def _note(what, app_name):
    with open("$T/calls", "a") as calls:
        calls.write(" ".join([what, app_name, __grains__["id"]]) + "\\n")


def release(app_name, version):
    _note("release-" + version, app_name)
    return {"success": not os.path.exists("$T/refused")}


def health_check(app_name):
    _note("look", app_name)
    return {"healthy": not os.path.exists("$T/ill")}


def rollback(app_name):
    _note("back", app_name)
    return True
PY
    start_master "file_roots: {base: [$T/salt]}" "python: $T/bin/python"
    local id
    for id in web-canary1 web1; do
        start_minion "$id"
        accept "$id"
    done
    for id in web-canary1 web1; do wait_connected "$id"; done
    salt-run saltutil.sync_runners >/dev/null
    salt '*' saltutil.sync_modules >/dev/null
}
# canary VERSION: the runner's answer.
canary() { salt-run canary_deploy.execute myapp "$1" --out=json; }
noted() { # WORD...: what the minions were asked for since the last time
    [ "$(sort "$T/calls")" = "$(printf '%s\n' "$@" | sort)" ]
    rm "$T/calls"
}

@test "the canary runner: full rollout, a failed canary, and rollback of an ill one" {
    canary_fleet
    run -0 canary v1
    [ "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["stage"], d["success"], d["canary_hosts"], sorted(d["total_hosts"]), d["version"])' <<<"$output")" = \
        "complete True ['web-canary1'] ['web-canary1', 'web1'] v1" ]
    noted 'release-v1 myapp web-canary1' 'look myapp web-canary1' 'release-v1 myapp web-canary1' 'release-v1 myapp web1'
    touch "$T/ill"
    run canary v2
    [[ $output == *'"stage": "canary_verification"'*'"message": "Canary health check failed, rolled back"'* ]]
    noted 'release-v2 myapp web-canary1' 'look myapp web-canary1' 'back myapp web-canary1'
    touch "$T/refused"
    run canary v3
    [[ $output == *'"stage": "canary"'*'"message": "Canary deployment failed, aborting"'* ]]
    noted 'release-v3 myapp web-canary1'
}

# looks CONFIG: what the beacon says of its configuration, and what it sees; by Salt's own loader of beacons, in a module.
beacon_tree() {
    cat >"$T/salt/_modules/looks.py" <<'PY'
import salt.loader


def through(name, config):
    beacons = salt.loader.beacons(__opts__, __salt__)
    return [beacons[name + ".validate"](config), beacons[name + ".beacon"](config)]
PY
    python3 -m venv --without-pip "$T/python"
    echo "python: $T/python/bin/python3" >>"$T/etc/minion"
}

@test "the beacon: it loads, validates and answers where requests is installed; without it the log names it" {
    beacon_tree
    inside '
        rm -rf "$T/root/var/cache/salt/minion/extmods/beacons"
        call saltutil.sync_beacons >"$T/said" 2>&1
        grep -q "beacons/app_latency.py cannot be loaded: line 2: ModuleNotFoundError: No module named .requests." "$T/said"
        [ "$(call looks.through app_latency "[{\"url\": \"x\"}]" --retcode-passthrough 2>&1 | grep -c KeyError)" != 0 ]'
    cat >"$(echo "$T"/python/lib/python3*/site-packages)/requests.py" <<'PY'
import types
import urllib.request


class RequestException(Exception):
    pass


def get(url, timeout):
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return types.SimpleNamespace(status_code=answer.status)
    except OSError as e:
        raise RequestException(str(e)) from e
PY
    inside '
        look() { call looks.through app_latency "$1" --out=json | json "[d[0], [(e.get(\"tag\"), e.get(\"status_code\"), e[\"url\"]) for e in d[1]]]"; }
        [ "$(look "[{url: \"http://localhost:8000/health\", threshold_ms: 60000}]")" = "[[True, '\''Valid beacon configuration'\''], []]" ]
        [ "$(look "[{url: \"http://localhost:8000/health\", threshold_ms: -1}, {url: \"http://localhost:9/\"}]")" = \
            "[[True, '\''Valid beacon configuration'\''], [('\''high_latency'\'', 200, '\''http://localhost:8000/health'\''), ('\''unreachable'\'', None, '\''http://localhost:9/'\'')]]" ]
        [ "$(call looks.through app_latency "[]" --out=json | json "d[0]")" = "[False, '\''Configuration must be a non-empty list'\'']" ]'
}
