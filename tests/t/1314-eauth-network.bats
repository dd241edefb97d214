#!/usr/bin/env bats
# 1314-eauth-network.bats - logins by a directory (slapd, of the test's own, on loopback) and by a web service.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    export WEB=$((PORT + 3)) LDAP
    fleet_rest
    daemon web python3 -B "$FLEET/web.py" "$WEB"
    until_true 10 curl -s -o "$FLEET/null" "http://127.0.0.1:$WEB/"
    if PATH=$PATH:/usr/sbin command -v slapd >/dev/null; then
        LDAP=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        fleet_ldap
    fi
    start_master "external_auth:" \
        "  rest:" "    ^url: http://127.0.0.1:$WEB/auth" "    ann: [test.ping]" \
        "  ldap:" "    dora: [{'ldap(ou=web,dc=example,dc=org)': [test.echo]}, {w9: [test.arg]}, {'ldap(ou=none,dc=example,dc=org)': [test.ping]}]" "    ann: [test.echo]" "    ops%: ['test.*']" "    none%: ['.*']" \
        "auth.ldap.port: ${LDAP:-1}" "auth.ldap.server: 127.0.0.1" "auth.ldap.basedn: dc=example,dc=org" \
        "auth.ldap.binddn: 'cn=admin,dc=example,dc=org'" "auth.ldap.bindpw: admin-pw" "auth.ldap.filter: 'uid={{ username }}'" \
        "auth.ldap.minion_stripdomains: [.int.example.org, .example.org]"
}
teardown_file() { fleet_down; }

fleet_rest() {
    cat >"$FLEET/web.py" <<'PY'
import http.server, json, signal, sys, urllib.parse
signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        good = self.path == "/auth" and form.get("password") == ["a&b=c d\u00e9"]
        self.send_response(200 if good else 401)
        self.end_headers()
        if good:
            self.wfile.write(json.dumps(None if form["username"] == ["ann"] else [{"w*": ["test.arg"]}, "@jobs"]).encode())
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
PY
}

fleet_ldap() {
    mkdir -p "$FLEET/ldap"
    cat >"$FLEET/slapd.conf" <<CONF
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
objectclass ( 1.3.6.1.4.1.4203.666.11 NAME 'computer' SUP top STRUCTURAL MUST cn )
pidfile $FLEET/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
maxsize 10485760
suffix "dc=example,dc=org"
rootdn "cn=admin,dc=example,dc=org"
rootpw admin-pw
directory $FLEET/ldap
access to * by anonymous auth by * read
CONF
    cat >"$FLEET/tree.ldif" <<'LDIF'
dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
dc: example
o: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=Groups,dc=example,dc=org
objectClass: organizationalUnit
ou: Groups

dn: uid=ann,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: ann
cn: Ann
sn: A
userPassword: ann-pw

dn: uid=bob,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: B
userPassword: bob-pw

dn: cn=ops,ou=Groups,dc=example,dc=org
objectClass: posixGroup
cn: ops
gidNumber: 100
memberUid: ann

dn: cn=none,ou=Groups,dc=example,dc=org
objectClass: posixGroup
cn: none
gidNumber: 101
memberUid: nobody

dn: uid=carl,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: carl
cn: Carl
sn: C
userPassword: carl-pw

dn: uid=dora,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: dora
cn: Dora
sn: D
userPassword: dora-pw

dn: ou=web,dc=example,dc=org
objectClass: organizationalUnit
ou: web

dn: cn=W1.int.example.org,ou=web,dc=example,dc=org
objectClass: computer
cn: W1.int.example.org

dn: ou=more,ou=web,dc=example,dc=org
objectClass: organizationalUnit
ou: more

dn: cn=w2,ou=more,ou=web,dc=example,dc=org
objectClass: computer
cn: w2

dn: cn=d1 or *,ou=web,dc=example,dc=org
objectClass: computer
cn: d1 or *
LDIF
    local long i
    long=$(printf 'x%.0s' {1..400})
    for i in {1..200}; do
        printf '%s\n' '' "dn: cn=$i,ou=Groups,dc=example,dc=org" "objectClass: posixGroup" "cn: $i$long" "cn: $i" \
            "gidNumber: $((200 + i))" "memberUid: carl"
    done >>"$FLEET/tree.ldif"
    /usr/sbin/slapadd -f "$FLEET/slapd.conf" -l "$FLEET/tree.ldif"
    daemon slapd /usr/sbin/slapd -d 0 -h "ldap://127.0.0.1:$LDAP" -f "$FLEET/slapd.conf"
    until_true 10 test -s "$FLEET/slapd.pid"
}
needs_slapd() { [ -n "${LDAP:-}" ] || skip "there is no slapd here"; }

login() { echo "{\"op\":\"login\",\"eauth\":\"$1\",\"username\":\"$2\",\"password\":\"$3\"}"; }
refused() {
    run ask "$1"
    [ "$status" -eq 1 ]
    [[ $output == *'Authentication failure of type "eauth"'* || $output == *'too many failed logins'* ]]
}

@test "rest: the service's word, and the rules that it sends" {
    ask "$(login rest ann 'a&b=c dé')" | grep -q '"perms":\["test.ping"\]'
    ask "$(login rest eve 'a&b=c dé')" | grep -q '"perms":\["@jobs",{"w\*":\["test.arg"\]}\]'
    refused "$(login rest ann wrong)"
    until_log "$FLEET/log/master" "login of 'ann' by rest has failed: http://127.0.0.1:$WEB/auth answers with status 401"
}

@test "rest: a service that is not there lets nobody in" {
    stop web
    refused "$(login rest ann 'a&b=c dé')"
    daemon web python3 -B "$FLEET/web.py" "$WEB"
    until_true 10 curl -s -o "$FLEET/null" "http://127.0.0.1:$WEB/"
}

@test "ldap: the user's entry is looked for and bound, his groups have rules" {
    needs_slapd
    run ask "$(login ldap ann ann-pw)"
    [ "$status" -eq 0 ]
    [[ $output == *'"groups":["ops"]'*'"perms":["test.*","test.echo"]'* ]]
    ask "$(login ldap bob bob-pw)" | grep -q '"perms":{}'
    refused "$(login ldap ann wrong)"
    refused "$(login ldap ann '')"
    refused "$(login ldap '*' ann-pw)"
    refused "$(login ldap 'ann)(uid=*' ann-pw)"
    refused "$(login ldap nosuch ann-pw)"
    run grep -E 'ann-pw|admin-pw' "$FLEET/log/master"
    [ -z "$output" ]
}

@test "ldap: a user with more groups than an answer holds is refused, others log in" {
    needs_slapd
    refused "$(login ldap carl carl-pw)"
    until_log "$FLEET/log/master" "login of 'carl' by ldap has failed: the user has more groups than an answer"
    ask "$(login ldap ann ann-pw)" | grep -q '"groups":\["ops"\]'
    run grep 'salt-auth has ended' "$FLEET/log/master"
    [ -z "$output" ]
}

# Where the master has the minion w1 and nobody else of the directory's.
@test "ldap: ldap(...) in the place of a target stands for the computers below it" {
    needs_slapd
    local token
    run ask "$(login ldap dora dora-pw)"
    [ "$status" -eq 0 ]
    [[ $output == *'"L@w1,w2":["test.echo"]'* ]]
    [[ $output == *'"ldap(ou=none,dc=example,dc=org)":["test.ping"]'* ]]
    [[ $output != *'*'* ]]
    token=$(field token <<<"$output")
    lets() { ask "{\"op\":\"become\",\"token\":\"$token\"}" "{\"op\":\"publish\",\"fun\":\"$1\",\"tgt\":\"$2\",\"tgt_type\":\"list\"}"; }
    start_minion w1
    start_minion d1
    accept w1 d1
    wait_connected w1 d1
    lets test.echo w1 | grep -q '"jid"'
    for words in 'test.echo d1' 'test.ping w1' 'test.ping d1' 'test.arg w1'; do
        # shellcheck disable=SC2086
        run lets $words
        [[ $output == *'uthorization'* ]]
    done
}

@test "ldap: the user's own name in binddn" {
    needs_slapd
    sed -i -e "s/^auth.ldap.binddn:.*/auth.ldap.binddn: 'uid={{ username }},ou=people,dc=example,dc=org'/" -e '/^auth.ldap.bindpw/d' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'configuration.*read|reload'
    good() { ask "$(login ldap ann ann-pw)" | grep -q '"groups":\["ops"\]'; }
    until_true 20 good
    refused "$(login ldap ann wrong)"
    refused "$(login ldap 'ann,ou=people' ann-pw)"
}

@test "ldap: a server that is not there lets nobody in" {
    needs_slapd
    stop slapd
    refused "$(login ldap ann ann-pw)"
    until_log "$FLEET/log/master" "login of 'ann' by ldap has failed: ldap: bind: Can't contact LDAP server"
}
