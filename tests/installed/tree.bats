#!/usr/bin/env bats
# tree.bats - `make install PREFIX=/opt/halite` in a booted Debian, beside packages that have Salt's places: both at work under
# their units at the same time, each with its own configuration, user, keys and logs: `make test-installed`.

bats_require_minimum_version 1.5.0

load booted

OPT=/opt/halite

setup_file() {
    local folder new=${HALITE_DEBS:?the folder of the packages} tree=$BATS_FILE_TMPDIR/build
    export HANDLE='' WHY=''
    WHY=$("$ROOT_SH" can) || return 0
    # The programs for another PREFIX differ by one file, of which the folder of the build is not to know.
    mkdir "$tree"
    cp -a --reflink=auto "$BUILD/obj" "$BUILD"/*.a "$BUILD/gen" "$tree"
    rm -rf "$tree/obj/tests"
    folder=$(named_root outside $(needs_of "$new") libmicrohttpd12 openssl libpam-modules passwd curl logrotate)
    HANDLE=$("$ROOT_SH" up "$folder") || return 1
    make -C "$HALITE_SRC" --no-print-directory -j2 install BUILD="$tree" PREFIX=$OPT DESTDIR="$BATS_FILE_TMPDIR/to" >&2
    tar -C "$BATS_FILE_TMPDIR/to" -c . | "$ROOT_SH" run "$HANDLE" tar --no-same-owner --no-overwrite-dir --keep-directory-symlink -C / -x
    rm -rf "$tree" "$BATS_FILE_TMPDIR/to"
    "$ROOT_SH" in "$HANDLE" "$new"/halite-{common,master,minion}_*.deb /pkg
    put /etc/salt/minion.d/here.conf <<<'{id: theirs, master: 127.0.0.1}'
    put /etc/salt/master.d/here.conf <<<'{auto_accept: True}'
    put $OPT/etc/salt/master.d/here.conf <<END2
{auto_accept: True, log_level_logfile: info, publish_port: 4605, ret_port: 4606, hello_port: 4607, file_roots: {base: [/srv/tree]},
 external_auth: {sharedsecret: {jane: ['test.*']}}, sharedsecret: a-secret-of-twenty-and-more,
 netapi_enable_clients: [local], rest_cherrypy: {port: 8001, disable_ssl: True, host: 127.0.0.1}}
END2
    put $OPT/etc/salt/minion.d/here.conf <<<'{id: ours, master: 127.0.0.1, publish_port: 4605, master_port: 4606, hello_port: 4607}'
    put /srv/tree/one.sls <<<'/srv/one: {file.managed: [{contents: of the tree}]}'
    sh_ 'apt-get install -y --no-install-recommends /pkg/*.deb; systemd-sysusers; systemd-tmpfiles --create
        systemctl daemon-reload; systemctl start halite-master halite-minion halite-api' >&2
}
teardown_file() {
    [ ! -e "$HANDLE/group" ] || "$ROOT_SH" down "$HANDLE"
}
setup() {
    [ -z "$WHY" ] || skip "$WHY"
}

@test "both masters, both minions and the tree's API run, each as its user" {
    local name
    for name in salt-master salt-minion halite-master halite-minion halite-api; do unit $name; done
    for name in salt-master:salt halite-master:halite halite-api:salt-api; do
        [ "$(it stat -c %U /proc/"$(it systemctl show -P MainPID "${name%:*}")")" = "${name#*:}" ]
    done
    [ "$(it readlink "/proc/$(it systemctl show -P MainPID halite-master)/exe")" = $OPT/bin/salt-master ]
}

@test "each command reaches its own fleet, and a state run works under the tree's sandbox" {
    until_it 60 salt theirs test.ping
    until_it 60 $OPT/bin/salt ours test.ping
    [ "$(it salt '*' test.ping --out=txt)" = 'theirs: True' ]
    [ "$(it $OPT/bin/salt '*' test.ping --out=txt)" = 'ours: True' ]
    it $OPT/bin/salt ours state.apply one >&2
    it grep -qx 'of the tree' /srv/one
    it $OPT/bin/salt-run jobs.list_jobs search_function=state.apply --out=json | grep -q StartTime
    not it sh -c 'salt-run jobs.list_jobs search_function=state.apply --out=json | grep -q StartTime'
}

@test "the tree's API logs in and asks the tree's master" {
    local token
    token=$(it curl -s http://127.0.0.1:8001/login -H 'Accept: application/json' -d eauth=sharedsecret -d username=jane \
        -d sharedsecret=a-secret-of-twenty-and-more -d password=a-secret-of-twenty-and-more | sed -n 's/.*"token": *"\([0-9a-f]*\)".*/\1/p')
    [ -n "$token" ]
    it curl -s http://127.0.0.1:8001/ -H 'Accept: application/json' -H "X-Auth-Token: $token" -d client=local -d 'tgt=*' -d fun=test.ping |
        grep -qF '{"return": [{"ours": true}]}'
}

@test "logrotate takes the tree's logs, a reload and a restart keep it" {
    it logrotate -f /etc/logrotate.conf
    it test -s $OPT/var/log/salt/master.1
    sh_ 'systemctl reload halite-master halite-minion halite-api; systemctl restart halite-master'
    unit halite-master
    until_it 60 $OPT/bin/salt ours test.ping
    until_it 10 test -s $OPT/var/log/salt/master
}

@test "make uninstall leaves what was written there and all of the packages" {
    sh_ "systemctl stop halite-api halite-minion halite-master"
    (cd "$HALITE_SRC" && tar -c conf) | "$ROOT_SH" run "$HANDLE" sh -c 'mkdir /src && tar --no-same-owner -C /src -x'
    sh_ "cd /src && BUILD=build PREFIX=$OPT SYSCONF=$OPT/etc/salt UNITS=/lib/systemd/system conf/package/install.sh uninstall"
    run it find $OPT /etc/sysusers.d /etc/tmpfiles.d /etc/logrotate.d /lib/systemd/system -name '*halite*' ! -path "$OPT"
    [[ $output != *halite-* && $output != *lib/halite* ]] || { echo "$output" && false; }
    it test -e $OPT/etc/salt/pki/master/master.pem
    it salt theirs test.ping
}
