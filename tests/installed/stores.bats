#!/usr/bin/env bats
# stores.bats - the packages' daemons beside Debian's PostgreSQL, MariaDB and Redis, in a booted Debian: followers and minions' returners
# while servers, followers and master are killed under load, the seeds' beacons and reaction; the modules redis and consul, and values at
# sdb:// addresses in both configurations: `make test-installed`. Consul itself is in no package of Debian: a server plays it.

bats_require_minimum_version 1.5.0

load booted

setup_file() {
    local folder new=${HALITE_DEBS:?the folder of the packages} seed=$HALITE_SRC/tests/t/seeds/deepdive/salt
    export HANDLE='' WHY=''
    WHY=$("$ROOT_SH" can) || return 0
    folder=$(named_root stores $(needs_of "$new") postgresql mariadb-server redis-server libmariadb3 libcurl4 python3-requests)
    HANDLE=$("$ROOT_SH" up "$folder") || return 1
    "$ROOT_SH" in "$HANDLE" "$new"/halite-{common,master,minion}_*.deb /pkg
    "$ROOT_SH" in "$HANDLE" "$HALITE_SRC"/tests/chaos/*.py "$HALITE_SRC/tests/lib/halite.py" "$BATS_TEST_DIRNAME/stores.py" /audit
    put /etc/salt/minion.d/here.conf <<'END'
id: web1
master: 127.0.0.1
mysql.host: 127.0.0.1
redis.host: sdb://secrets/redis_host
consul.url: http://127.0.0.1:8500
consul.token: sdb://secrets/consul_token
secrets: {driver: yaml, files: [/etc/salt/secrets.yaml]}
beacons:
  diskusage: [{/: 0%}, {interval: 1}]
  inotify: [{files: {/srv/watched: {mask: [create]}}}]
  journald: [{services: {told: {SYSLOG_IDENTIFIER: told}}}]
END
    # Of PostgreSQL host, user, password and database are what Salt's returner takes without options.
    put /etc/salt/master.d/here.conf <<'END'
auto_accept: True
event_return: [pgjsonb, mysql]
master_job_cache: redis
mysql: {host: 127.0.0.1, pass: sdb://secrets/mysql_pass}
secrets: {driver: yaml, files: [/etc/salt/secrets.yaml]}
redis: {host: localhost, port: 6379}
reactor: ['salt/beacon/*/diskusage/*': [/srv/reactor/disk_alert.sls]]
END
    put /etc/salt/secrets.yaml <<<'{redis_host: localhost, consul_token: a-token, mysql_pass: salt}'
    put /srv/reactor/disk_alert.sls <<'END'
disk_alert:
  local.cmd.run:
    - tgt: {{ data['id'] }}
    - arg: ['echo disk {{ data["diskusage"] }} {{ data["mount"] }} >/srv/told']
END
    put /srv/salt/_beacons/app_latency.py <"$seed/_beacons/app_latency.py"
    it sh -ec 'mkdir -p /srv/watched
        cd /
        runuser -u postgres -- psql -qc "CREATE USER salt PASSWORD '\''salt'\''"
        runuser -u postgres -- createdb -O salt salt
        mariadb -e "CREATE DATABASE salt DEFAULT CHARACTER SET utf8mb4; CREATE USER salt@127.0.0.1 IDENTIFIED BY '\''salt'\''; GRANT ALL ON salt.* TO salt@127.0.0.1"
        printf "appendonly yes\nappendfsync always\n" >>/etc/redis/redis.conf
        systemctl restart redis-server
        apt-get install -y --no-install-recommends /pkg/*.deb
        python3 /audit/stores.py tables pgjsonb | runuser -u salt -- psql -q -d salt
        python3 /audit/stores.py tables mysql | mariadb salt' >&2
    unit salt-master
    unit salt-minion
    until_it 60 salt web1 test.ping
}
teardown_file() {
    [ ! -e "$HANDLE/group" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

postgres() { it sh -c 'cd / && runuser -u salt -- psql -d salt -Atc "$1"' sh "$1"; }
mariadb_() { it mariadb salt -rNe "$1"; }
# until_says SECONDS WANTED COMMAND...: until it prints this
until_says() {
    local end=$((SECONDS + $1)) wanted=$2
    shift 2
    until [ "$("$@" 2>/dev/null)" = "$wanted" ]; do
        [ "$SECONDS" -lt "$end" ] || { echo "$*: '$("$@")', not '$wanted'" >&2 && return 1; }
        read -rt 0.2 <> <(:) || :
    done
}

@test "the journal: nothing is lost or doubled over a rotation, a vacuum and journald's own end" {
    it sh -c 'grep -q libsystemd /proc/$(pgrep -o -x salt-minion)/maps && ! pgrep -x journalctl'
    it sh -ec 'for n in 1 2 3; do logger -t told "entry $n."; done; journalctl --rotate
        for n in 4 5 6; do logger -t told "entry $n."; done; journalctl --sync --rotate --vacuum-files=1
        logger -t told "entry 7."; systemctl kill -s KILL systemd-journald' >&2
    until_it 20 logger -t told "entry 8."
    until_says 60 "entry 8." postgres "SELECT data->>'MESSAGE' FROM salt_events WHERE tag='salt/beacon/web1/journald/told' ORDER BY id DESC LIMIT 1"
    [ "$(postgres "SELECT string_agg(data->>'MESSAGE', ' ' ORDER BY id) FROM salt_events WHERE tag='salt/beacon/web1/journald/told'")" = \
        "entry 1. entry 2. entry 3. entry 4. entry 5. entry 6. entry 7. entry 8." ]
}

@test "the seed's reaction to diskusage; an event of a watched folder is in both databases" {
    until_it 60 grep -qE '^disk [0-9.]+ /$' /srv/told
    it touch /srv/watched/one
    until_says 30 1 postgres "SELECT count(*) FROM salt_events WHERE tag LIKE 'salt/beacon/web1/inotify/%' AND data->>'path' = '/srv/watched/one'"
    until_says 30 1 mariadb_ "SELECT count(*) FROM salt_events WHERE tag LIKE 'salt/beacon/web1/inotify/%' AND JSON_VALUE(data, '$.path') = '/srv/watched/one'"
}

@test "the seed's beacon in Python, from the file server" {
    it salt web1 saltutil.sync_beacons | grep -q app_latency
    it salt web1 beacons.add app_latency '[{url: "http://localhost:9/"}, {interval: 1}]' | grep -q 'Added beacon: app_latency.'
    it salt-run state.event 'salt/beacon/web1/app_latency/unreachable*' count=1 since=1m timeout=30 | grep -q 'http://localhost:9/'
    it salt web1 beacons.delete app_latency
}

@test "a minion's returners, as the command line asks: a row in each of the three" {
    it salt web1 test.echo direct --return=pgjsonb,mysql,redis >&2
    until_says 30 'web1|"direct"' postgres "SELECT id, return FROM salt_returns WHERE fun = 'test.echo'"
    until_says 30 $'web1\t"direct"' mariadb_ 'SELECT id, `return` FROM salt_returns WHERE fun = "test.echo"'
    until_it 30 sh -c 'redis-cli hget "ret:$(redis-cli get web1:test.echo)" web1 | grep -q direct'
    jid=$(it redis-cli get web1:test.echo)
    until_it 30 redis-cli exists "load:$jid"
    for ask in 'lookup_jid '"$jid" 'print_job '"$jid"; do it salt-run jobs.$ask --out=json | grep -q '"direct"'; done
    it salt-run jobs.list_jobs search_function=test.echo --out=json | grep -q "\"$jid\""
}

@test "values at sdb:// addresses: the follower has logged into MariaDB by one, the minion's modules find theirs" {
    until_says 30 1 mariadb_ 'SELECT count(*) > 0 FROM salt_events'
    it salt web1 sdb.get sdb://secrets/redis_host --out=newline_values_only | grep -qx localhost
    it salt web1 config.get redis.host --out=newline_values_only | grep -qx localhost
}

@test "the module redis and its states against Debian's server" {
    it salt web1 redis.set_key colour red --out=newline_values_only | grep -qx True
    it salt web1 redis.get_key colour --out=newline_values_only | grep -qx red
    [ "$(it redis-cli get colour)" = red ]
    it salt web1 redis.hmset paint name=red shine=1 --out=newline_values_only | grep -qx True
    it salt web1 redis.hgetall paint --out=json | tr -d '[:space:]' | grep -q '"name":"red"'
    it salt web1 state.single redis.string colour value=blue test=True --out=json | grep -q '"result": null'
    it salt web1 state.single redis.string colour value=blue --out=json | grep -q '"result": true'
    [ "$(it redis-cli get colour)" = blue ]
    it salt web1 state.single redis.string colour value=blue --out=json | tr -d '[:space:]' | grep -q '"changes":{}'
    it salt web1 state.single redis.absent colour keys='[colour, paint]' --out=json | grep -q '"result": true'
    [ "$(it redis-cli exists colour paint)" = 0 ] || { it redis-cli keys '*' >&2 && false; }
}

@test "the module consul asks its server with the token of the configuration" {
    put /srv/consul.py <<'END'
import http.server, json
KEPT = {}
class Server(http.server.BaseHTTPRequestHandler):
    def answer(self, body, status=200):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())
    def do_GET(self):
        key = self.path.split("?")[0].removeprefix("/v1/kv/")
        if self.path.startswith("/v1/status/leader"):
            return self.answer("127.0.0.1:8300")
        self.answer([{"Key": key, "Value": KEPT[key], "Flags": 0, "CreateIndex": 1, "ModifyIndex": 1, "LockIndex": 0}] if key in KEPT else [], 200 if key in KEPT else 404)
    def do_PUT(self):
        import base64
        allowed = self.headers.get("X-Consul-Token") == "a-token"
        if allowed:
            KEPT[self.path.split("?")[0].removeprefix("/v1/kv/")] = base64.b64encode(self.rfile.read(int(self.headers["Content-Length"]))).decode()
        self.answer(allowed, 200 if allowed else 403)
http.server.HTTPServer(("127.0.0.1", 8500), Server).serve_forever()
END
    sh_ 'systemd-run -q --unit=consul python3 /srv/consul.py'
    until_it 30 sh -c 'salt web1 consul.status_leader --out=newline_values_only | grep -q 8300'
    it salt web1 consul.put key=web/colour value=red --out=json >&2
    it salt web1 consul.get key=web/colour decode=True --out=json | tr -d '[:space:]' | grep -q '"Value":"red"'
    it systemctl stop consul
}

@test "servers, followers and master are killed under load: the chaos program's audit finds nothing lost, nothing doubled" {
    local round victim
    sh_ 'systemd-run -q --unit=load -p StandardOutput=file:/run/load.said python3 /audit/stores.py load /run/load.stop'
    for round in 1 2; do
        for victim in 'postgresql@*' mariadb redis-server; do
            at=$(postgres 'SELECT max(id) FROM salt_events')
            until_it 60 sh -c 'cd / && [ "$(runuser -u salt -- psql -d salt -Atc "SELECT max(id) FROM salt_events")" -gt '$((at + 300))' ]'
            sh_ "systemctl kill -s KILL '$victim'"
            [ "$round" = 1 ] || sh_ 'pkill -KILL salt-follower'
            sh_ 'systemctl reset-failed; systemctl start "postgresql@$(ls /usr/lib/postgresql)-main" mariadb redis-server'
        done
        sh_ 'systemctl kill -s KILL salt-master'
        unit salt-master
    done
    until_it 60 salt web1 test.ping
    sh_ 'touch /run/load.stop'
    unit load inactive
    it cat /run/load.said >&3
    run it python3 /audit/stores.py audit
    echo "# $output" >&3
    [ "$status" -eq 0 ]
    run it journalctl -u salt-master -u salt-minion -p err -q --no-pager
    [[ $output != *Traceback* && $output != *'not permitted'* && $output != *denied* ]]
}
