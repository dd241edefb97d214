#!/usr/bin/env bats
# libraries.bats - state functions that are Salt's own files, called in Python, where Debian's packages of the libraries and
# programs are that those files ask for: in a Debian of its own. `make test-installed`; HALITE_SALT is a folder with Salt's package.
# The list of all functions there is left in BUILD/coverage.json, which `make coverage` reads.

bats_require_minimum_version 1.5.0

load booted

# A package and a function that is there with it alone.
WANTED='
certbot                 acme.cert
composer                composer.installed
glusterfs-cli           glusterfs.peered
lxc                     lxc.present
openvswitch-switch      openvswitch_bridge.present
php-pear                pecl.installed
python3-augeas          augeas.change
python3-boto            boto_secgroup.present
python3-boto3           boto3_elasticache.cache_cluster_absent
python3-etcd            etcd.set
python3-influxdb        influxdb_database.present
python3-keystoneclient  keystone.user_present
python3-ldap            ldap.managed
python3-libvirt         virt.running
python3-pymongo         mongodb_user.present
rbenv                   rbenv.installed
samba                   pdbedit.managed
'
# Salt's own files import these.
SALTS='python3 python3-distro python3-jinja2 python3-msgpack python3-psutil python3-requests python3-tornado python3-yaml python3-zmq'

setup_file() {
    local debs=${HALITE_DEBS:?the folder of the packages}
    export WHY='' FOLDER=''
    [ -n "${HALITE_SALT:-}" ] || { WHY="HALITE_SALT names no folder with Salt's package" && return 0; }
    WHY=$("$ROOT_SH" can "${HALITE_SUITE:-bookworm}") || return 0
    mapfile -t needs < <(needs_of "$debs")
    FOLDER=$(named_root libraries $SALTS $(awk '{ print $1 }' <<<"$WANTED") "${needs[@]}")
    mkdir "$BATS_FILE_TMPDIR/all"
    for name in common minion; do dpkg-deb -x "$debs/halite-$name"_*.deb "$BATS_FILE_TMPDIR/all"; done
    # Modules of one file that lie beside the package are those that it wants and Debian has not.
    mkdir "$BATS_FILE_TMPDIR/all/salts"
    tar -C "$HALITE_SALT" -h --exclude='*.pyc' -c salt $(cd "$HALITE_SALT" && ls -- *.py 2>/dev/null) | tar -C "$BATS_FILE_TMPDIR/all/salts" -x
    tar -C "$BATS_FILE_TMPDIR/all" -c usr salts >"$BATS_FILE_TMPDIR/all.tar"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

@test "every function is there whose library or program is" {
    "$ROOT_SH" fresh "$FOLDER" sh -ec 'tar --no-same-owner --keep-directory-symlink -C / -x
        printf "file_client: local\npython_salt: /salts\n" >/tmp/minion
        salt-call -c /tmp --local -l error --out=json sys.list_state_functions' <"$BATS_FILE_TMPDIR/all.tar" >"$BATS_TEST_TMPDIR/list"
    cp "$BATS_TEST_TMPDIR/list" "$BUILD/coverage.json"
    python3 - "$BATS_TEST_TMPDIR/list" $(awk '{ print $2 }' <<<"$WANTED") <<'PY'
import json, sys
with open(sys.argv[1]) as file:
    there = json.load(file)["local"]
missing = [name for name in sys.argv[2:] if name not in there]
sys.exit(f"not there: {missing}" if missing else 0)
PY
}
