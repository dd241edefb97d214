#!/usr/bin/env bats
# outside.bats - what is around the daemons, in a booted Debian under the units' sandboxes: salt-api over TLS with logins of PAM,
# a follower, an engine and a beacon: `make test-installed`.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local folder new=${HALITE_DEBS:?the folder of the packages}
    export HANDLE='' WHY=''
    WHY=$("$ROOT_SH" can) || return 0
    folder=$(named_root outside $(needs_of "$new") libmicrohttpd12 openssl libpam-modules passwd curl logrotate)
    HANDLE=$("$ROOT_SH" up "$folder") || return 1
    "$ROOT_SH" in "$HANDLE" "$new"/halite-{common,master,minion,api}_*.deb /pkg
    put /etc/salt/minion.d/here.conf <<'END'
id: web1
master: 127.0.0.1
beacons:
  service:
    - services: {cron: {onchangeonly: true}}
    - interval: 1
  load: [{averages: {1m: [0.0, 0.0]}}, {interval: 1}, {emitatstartup: true}]
END
    put /etc/salt/master.d/here.conf <<'END'
auto_accept: True
external_auth:
  pam: {jane: ['test.*', '@jobs'], ops%: ['.*']}
netapi_enable_clients: [local, local_async, runner]
rest_cherrypy: {port: 8000, ssl_crt: /etc/salt/api.crt, ssl_key: /etc/salt/api.key}
event_return: rawfile_json
event_return_whitelist: ['outside/*']
rawfile_json.filename: /var/log/salt/events
engines:
  - script: {cmd: 'cat /srv/lines', interval: 1, onchange: True}
END
    it sh -ec 'mkdir -p /etc/systemd/system/salt-master.service.d
        printf "[Service]\nSupplementaryGroups=shadow\n" >/etc/systemd/system/salt-master.service.d/pam.conf
        useradd -m jane && echo jane:jane-pw | chpasswd
        printf "{\"tag\": \"outside/script\", \"data\": {\"n\": 1}}\n" >/srv/lines
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout /etc/salt/api.key -out /etc/salt/api.crt 2>/dev/null
        apt-get install -y --no-install-recommends /pkg/*.deb
        chown salt-api /etc/salt/api.key; install -m 0600 -o salt /dev/null /var/log/salt/events; systemctl restart salt-api' >&2
    unit salt-master
    unit salt-minion
    unit salt-api
    until_it 60 salt web1 test.ping
}
teardown_file() {
    [ ! -e "$HANDLE/group" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

# login PASSWORD: prints the body, and on the last line the status
login() {
    it curl -sk -w '\n%{http_code}' https://localhost:8000/login -H 'Accept: application/json' -d eauth=pam -d username=jane -d password="$1"
}
token() { login jane-pw | sed -n 's/.*"token": *"\([0-9a-f]*\)".*/\1/p'; }
post() { it curl -sk https://localhost:8000/ -H 'Accept: application/json' -H "X-Auth-Token: $1" -d client=local -d tgt=web1 -d fun="$2"; }

@test "salt-api serves TLS as a user without rights, and PAM's users log in" {
    [ "$(it stat -c %U /proc/"$(it systemctl show -P MainPID salt-api)")" = salt-api ]
    run login jane-pw
    [ "${lines[-1]}" = 200 ]
    [[ $output == *'"perms"'*'"@jobs"'*'"test.*"'* || $output == *'"perms"'*'"test.*"'*'"@jobs"'* ]]
    run login wrong
    [ "${lines[-1]}" = 401 ]
}

@test "the rules of the login hold: a function of them runs, another one does not" {
    local token
    token=$(token)
    [ -n "$token" ]
    post "$token" test.ping | grep -qF '{"return": [{"web1": true}]}'
    run post "$token" cmd.run
    [[ $output != *web1* ]]
}

@test "an ordinary user logs in on the command line" {
    run it runuser -u jane -- salt -a pam --username jane --password jane-pw web1 test.ping --out=txt
    [ "$status" -eq 0 ]
    [ "$output" = 'web1: True' ]
    run it runuser -u jane -- salt -a pam --username jane --password wrong web1 test.ping
    [ "$status" -ne 0 ]
    run it runuser -u jane -- salt web1 test.ping
    [ "$status" -ne 0 ]
}

@test "an engine's event is stored by a follower" {
    until_it 30 grep -q '"tag": "outside/script"' /var/log/salt/events
    it salt-run follower.status | grep -q 'event_return.rawfile_json'
}

@test "a beacon of the minion is an event" {
    it salt-run state.event 'salt/beacon/web1/load/*' count=1 since=10m timeout=30 | grep -q '"1m"'
}

@test "browsers get the page, and the examples of metrics are there" {
    it curl -sk https://localhost:8000/ -H 'Accept: text/html' | grep -qF 'page/app.js'
    [ "$(it curl -sk -o /dev/null -w '%{http_code}' https://localhost:8000/page/app.js)" = 200 ]
    for name in metrics/{alerts.yml,dashboard.json,prometheus.yml} schemas/{pgjsonb,postgres,postgres_local_cache,mysql}.sql; do
        it test -s /usr/share/doc/halite/examples/$name
    done
}

@test "a new certificate is served after a reload" {
    made=$(it openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=renewed -keyout /etc/salt/api.key -out /etc/salt/api.crt 2>/dev/null && it openssl x509 -in /etc/salt/api.crt -noout -subject)
    [[ $made == *renewed* ]]
    sh_ 'systemctl reload salt-api'
    until_it 20 sh -c 'openssl s_client -connect 127.0.0.1:8000 </dev/null 2>/dev/null | grep -q "CN *= *renewed"'
    run login jane-pw
    [ "${lines[-1]}" = 200 ]
}

@test "an upgrade restarts salt-api" {
    local pid
    pid=$(it systemctl show -P MainPID salt-api)
    sh_ 'apt-get install -y --reinstall --no-install-recommends /pkg/halite-api_*.deb' >&2
    unit salt-api
    [ "$(it systemctl show -P MainPID salt-api)" != "$pid" ]
}

@test "a reload keeps all of it; what the daemons have started ends with them" {
    sh_ 'systemctl reload salt-master salt-api salt-minion'
    run login jane-pw
    [ "${lines[-1]}" = 200 ]
    sh_ 'systemctl stop salt-api salt-minion salt-master; ! pgrep -l "^salt-"'
    run it journalctl -u salt-master -u salt-api -u salt-minion -p err -q --no-pager
    [[ $output != *denied* && $output != *'not permitted'* ]]
}

@test "a purge leaves nothing but the follower's file and what somebody wrote into /etc/salt" {
    sh_ 'systemctl start salt-api'
    unit salt-api
    sh_ 'apt-get purge -y halite-api halite-master halite-minion halite-common' >&2
    [ -z "$(it pgrep -x salt-api || :)" ]
    run it find /etc/salt /var/cache/salt /var/lib/salt /var/log/salt /run/salt-api /lib/systemd/system/salt-api.service -type f
    [ "$(grep '^/' <<<"$output" | sort)" = "/etc/salt/api.crt
/etc/salt/api.key
/etc/salt/master.d/here.conf
/etc/salt/minion.d/here.conf
/var/log/salt/events" ] || { echo "$output" && false; }
}
