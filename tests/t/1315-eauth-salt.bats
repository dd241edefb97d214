#!/usr/bin/env bats
# 1315-eauth-salt.bats - log-ins by Salt's own systems (salt/auth), in Python's host, where HALITE_SALT names a real Salt, and
# eauth_acl_module. What a system needs further (a server, a library) is real where Debian has it.

bats_require_minimum_version 1.5.0
load lib


setup() { [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no folder with Salt's package"; }
setup_file() {
    [ -n "${HALITE_SALT:-}" ] || return 0
    fleet_new
    export CLOUD PYTHON SITE
    # An environment of its own, which has what that Python has.
    "${HALITE_SALT_PYTHON:-/usr/bin/python3}" -m venv --without-pip --system-site-packages "$FLEET/venv"
    PYTHON=$FLEET/venv/bin/python3
    SITE=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    CLOUD=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    eauth_cloud
    # A certificate authority, ann's certificate, and one of another authority.
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$FLEET/ca.key" -out "$FLEET/ca.pem" -days 9 -subj /CN=ca 2>/dev/null
    openssl req -newkey rsa:2048 -nodes -keyout "$FLEET/ann.key" -out "$FLEET/ann.csr" -subj /CN=ann 2>/dev/null
    openssl x509 -req -in "$FLEET/ann.csr" -CA "$FLEET/ca.pem" -CAkey "$FLEET/ca.key" -CAcreateserial -out "$FLEET/ann.pem" -days 9 2>/dev/null
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$FLEET/no.key" -out "$FLEET/no.pem" -days 9 -subj /CN=ann 2>/dev/null
    mkdir -p "$SITE/yubico_client" "$FLEET/site/own" "$FLEET/auth"
    eauth_site
    printf 'ann:ann-pw\n' >"$FLEET/users"
    start_master "python_salt: $HALITE_SALT" "python: $PYTHON" "auth_dirs: [$FLEET/auth]" \
        "mysql_auth: {hostname: localhost, username: root, password: '', database: login, auth_sql: \"SELECT username FROM users WHERE username = '{0}' AND password = SHA2('{1}', 256)\"}" \
        "keystone.auth_url: http://127.0.0.1:$CLOUD/v2.0" \
        "yubico_users: {ann: {id: '12', key: a2V5}}" \
        "django_auth_path: $FLEET/site" "django_auth_settings: own.settings" \
        "sharedsecret: the-shared-one" \
        "external_auth:" \
        "  pki: {ca_file: $FLEET/ca.pem, ann: [test.ping]}" \
        "  mysql: {ann: [test.ping]}" \
        "  keystone: {ann: [test.ping]}" \
        "  yubico: {ann: [test.ping]}" \
        "  django: {^model: own.models.Rule, ann: [test.version]}" \
        "  file: {^filename: $FLEET/users, ann: [test.ping], '*': [test.arg]}" \
        "  rest: {^url: 'http://127.0.0.1:$CLOUD/auth', ann: [test.echo], 'a.*': [test.version]}" \
        "  sharedsecret: {ann: [test.ping]}"
}
teardown_file() {
    [ -n "${HALITE_SALT:-}" ] || return 0
    if [ -e "$FLEET/my.pid" ]; then
        kill "$(cat "$FLEET/my.pid")"
        until_true 20 pid_gone "$(cat "$FLEET/my.pid")"
        rm "$FLEET/my.pid"
    fi
    fleet_down
}

# A service that plays Keystone's tokens (v2.0), and one for the system rest.
eauth_cloud() {
    cat >"$FLEET/cloud.py" <<'PY'
import http.server, json, signal, sys, urllib.parse
signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))
class Cloud(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/auth":
            right = urllib.parse.parse_qs(body).get("password") == ["cloud-pw"]
            said = ["test.arg"]
        else:
            asked = json.loads(body)["auth"]
            right = asked in ({"passwordCredentials": {"username": "ann", "password": "cloud-pw"}}, {"token": {"id": "t"}})
            said = {"access": {"token": {"id": "t", "expires": "2100-01-01T00:00:00Z"}, "user": {"id": "1", "name": "ann", "roles": []}, "serviceCatalog": []}}
        text = json.dumps(said if right else {"error": {"message": "no", "code": 401}}).encode()
        self.send_response(200 if right else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Cloud).serve_forever()
PY
    daemon cloud python3 -B "$FLEET/cloud.py" "$CLOUD"
}

# Debian has no yubico-client: its two names are played. Django gets a database of its own.
eauth_site() {
    cat >"$SITE/yubico_client/__init__.py" <<'PY'
from . import yubico_exceptions
class Yubico:
    def __init__(self, client_id, key):
        assert (client_id, key) == ("12", "a2V5")
    def verify(self, otp):
        if otp != "one-time":
            raise yubico_exceptions.StatusCodeError("REPLAYED_OTP")
        return True
PY
    echo 'class StatusCodeError(Exception): pass' >"$SITE/yubico_client/yubico_exceptions.py"
    : >"$FLEET/site/own/__init__.py"
    cat >"$FLEET/site/own/settings.py" <<PY
SECRET_KEY = "x"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "own"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "$FLEET/django.db"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = True
PY
    cat >"$FLEET/site/own/models.py" <<'PY'
from django.contrib.auth.models import User
from django.db import models
class Rule(models.Model):
    user_fk = models.ForeignKey(User, on_delete=models.CASCADE)
    minion_or_fn_matcher = models.CharField(max_length=255)
    minion_fn = models.CharField(max_length=255)
PY
}
eauth_mysql() {
    mkdir "$FLEET/my"
    AS=$(halite_unprivileged)
    [ -z "$AS" ] || chown 65534:65534 "$FLEET/my"
    fleet_open
    $AS mariadb-install-db --no-defaults --datadir="$FLEET/my/data" --auth-root-authentication-method=normal --skip-test-db >"$FLEET/log/my-install" 2>&1
    $AS mariadbd --no-defaults --datadir="$FLEET/my/data" --socket="$FLEET/my/s" --skip-networking >"$FLEET/log/my" 2>&1 3>&- &
    echo $! >"$FLEET/my.pid"
    until_true 30 mariadb --no-defaults -uroot -S "$FLEET/my/s" -e 'SELECT 1'
    mariadb --no-defaults -uroot -S "$FLEET/my/s" -e "CREATE DATABASE login; USE login; CREATE TABLE users (username varchar(25), password varchar(70)); INSERT INTO users VALUES ('ann', SHA2('sql-pw', 256))"
}

has_module() { "$PYTHON" -c "import $1" 2>/dev/null || skip "there is no $1 for $PYTHON"; }
login() { python3 -c 'import json, sys; print(json.dumps(dict(zip(("op", "eauth", "username", "password"), ("login", *sys.argv[1:])))))' "$@"; }
perms() { ask "$(login "$@")" | grep -oE '"perms":(\[[^]]*\]|\{\})' || { tail -n 2 "$FLEET/log/master" >&2; return 1; }; }
refused() {
    run ask "$(login "$@")"
    [ "$status" -eq 1 ]
    [[ $output == *'Authentication failure of type'* ]]
}
# What one of Salt's systems says through the host, also one that Halite has of its own: salts SYSTEM USER PASSWORD.
salts() {
    python3 -c 'import json, sys; print(json.dumps(dict(zip(("system", "username", "password"), sys.argv[1:]))))' "$@" |
        "$HALITE_BIN/salt-engine" "{\"conf\": \"$FLEET/etc\", \"side\": \"master\", \"login\": true, \"overrides\": {}}"
}

@test "pki: a certificate of the authority" {
    has_module M2Crypto
    [ "$(perms pki ann "$(cat "$FLEET/ann.pem")")" = '"perms":["test.ping"]' ]
    refused pki ann "$(cat "$FLEET/no.pem")"
    refused pki ann nonsense
}

@test "mysql: a table of a server" {
    has_module MySQLdb # pymysql takes no arguments by place any more, which Salt gives
    command -v mariadbd >/dev/null || skip "mariadbd is not installed"
    eauth_mysql
    # Salt connects without a port or a socket of its own: the library's options say where it is.
    stop master
    sed -i "s|hostname: localhost|hostname: localhost, x: 1|" "$MASTER_CONF"
    MYSQL_UNIX_PORT="$FLEET/my/s" start_master
    [ "$(perms mysql ann sql-pw)" = '"perms":["test.ping"]' ]
    refused mysql ann wrong
}

@test "keystone: a service's token" {
    has_module keystoneclient.v2_0
    [ "$(perms keystone ann cloud-pw)" = '"perms":["test.ping"]' ]
    refused keystone ann wrong
}

@test "yubico: a one-time password" {
    [ "$(perms yubico ann one-time)" = '"perms":["test.ping"]' ]
    refused yubico ann again
    # Nobody's key: Salt's system fails for him.
    refused yubico bob one-time
}

@test "django: users of its database, and their rules, which hold instead of the configuration's" {
    has_module django
    PYTHONPATH=$FLEET/site DJANGO_SETTINGS_MODULE=own.settings "$PYTHON" -B - <<'PY'
import django
django.setup()
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0, run_syncdb=True)
from django.contrib.auth.models import User
from own.models import Rule
ann = User.objects.create_user("ann", password="web-pw")
User.objects.create_user("bob", password="web-pw", is_active=False)
Rule.objects.create(user_fk=ann, minion_or_fn_matcher="", minion_fn="test.arg")
PY
    [ "$(perms django ann web-pw)" = '"perms":["test.arg"]' ]
    refused django ann wrong
    refused django bob web-pw
}

@test "Salt's file, rest, sharedsecret and auto answer as those that are built in do" {
    for words in 'file ann ann-pw' 'sharedsecret ann the-shared-one' 'rest ann cloud-pw'; do
        # shellcheck disable=SC2086
        salts $words | grep -q '"ok":true'
        # shellcheck disable=SC2086
        perms $words >&2
    done
    salts auto ann x | grep -q '"ok":true' # and is refused by salt-auth
    refused auto ann x
    for words in 'file ann wrong' 'sharedsecret ann wrong' 'rest ann wrong' 'file bob ann-pw'; do
        # shellcheck disable=SC2086
        salts $words | grep -q '"ok":false'
        # shellcheck disable=SC2086
        refused $words
    done
    # The service's rules and the user's own entry, and no other one's.
    salts rest ann cloud-pw | grep -q '"rules":\["test.echo","test.arg"\]'
    perms rest ann cloud-pw | grep -qE '"perms":\["test.(arg","test.echo|echo","test.arg)"\]'
}

@test "eauth_acl_module: another system says what the user may do" {
    printf 'def acl(username, **kwargs):\n    return [kwargs["eauth"], "test.arg"] if username == "ann" else None\n' >"$FLEET/auth/house.py"
    echo 'eauth_acl_module: house' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 acl_is sharedsecret the-shared-one '"perms":["sharedsecret","test.arg"]'
    sed -i 's/^eauth_acl_module: .*/eauth_acl_module: rest/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    # The password is for the service, too: here it knows another one, and says nothing.
    until_true 10 acl_is sharedsecret the-shared-one '"perms":["test.ping"]'
    printf 'ann:cloud-pw\n' >"$FLEET/users"
    until_true 10 acl_is file cloud-pw '"perms":["test.arg","test.echo"]'
    refused file ann wrong
    # A system without acl() leaves it to the configuration.
    sed -i 's/^eauth_acl_module: .*/eauth_acl_module: pam/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 acl_is file cloud-pw '"perms":["test.ping"]'
}
acl_is() { [ "$(perms "$1" ann "$2")" = "$3" ]; }
