#!/usr/bin/env bats
# 0070-secrets.bats - marked secrets in all that has some: none is in a log, an argument or an environment of a program that
# was not meant to have it; no core file, nobody but root looks into the daemons.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/pillar" "$FLEET/srv"
    echo 'base: {"*": [p]}' >"$FLEET/pillar/top.sls"
    printf 'password: MARK-pillar\nnested: {deep: MARK-deep}\n' >"$FLEET/pillar/p.sls"
    master_conf "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}"
    sed -i 's/^log_level: .*/log_level: trace/' "$MASTER_CONF"
    start_master
    start_minion m1 'log_level: trace' 'cache_jobs: True'
    accept m1
    wait_connected m1
    wait_grains m1
    until_true 10 eval '[ "$(salt m1 pillar.raw password --out=txt)" = "m1: MARK-pillar" ]'
    : >"$FLEET/log/master"
    : >"$FLEET/log/m1"
}

teardown_file() { fleet_down; }

# What every process of the fleet is started with from now on: arguments in execs, until seen_end.
seen_begin() {
    command -v strace >/dev/null || skip "no strace"
    [ "$(id -u)" -eq 0 ] || skip "needs root to look on"
    local pid all=() words=()
    mapfile -t all < <(fleet_processes | cut -d' ' -f1)
    for pid in "${all[@]}"; do words+=(-p "$pid"); done
    strace -f -qq -v -s 100000 -e trace=execve,execveat -o "$FLEET/execs" "${words[@]}" 2>"$FLEET/strace" 3>&- &
    STRACE=$!
    for pid in "${all[@]}"; do until_true 10 is_traced "$pid"; done
}
is_traced() { [ ! -e "/proc/$1" ] || grep -q '^TracerPid:.*[1-9]' "/proc/$1/status"; }
seen_end() {
    kill "$STRACE"
    wait "$STRACE" 2>/dev/null || :
}

# The programs' arguments: what comes before their environment.
arguments() { sed -E 's/\], \[.*//' "$FLEET/execs"; }

nowhere() { # WORD
    not grep -qF -- "$1" "$FLEET/log/master" "$FLEET/log/m1"
}

@test "stdin, environment and password of a program: not in a log, not in arguments" {
    seen_begin
    [ "$(salt m1 cmd.run 'wc -c' stdin=MARK-stdin --out=txt)" = 'm1: 10' ]
    # shellcheck disable=SC2016
    [ "$(salt m1 cmd.run 'echo ${#X}' env='{X: MARK-env}' python_shell=True --out=txt)" = 'm1: 8' ]
    salt m1 shadow.gen_password MARK-password >/dev/null
    salt m1 user.list_users >/dev/null
    seen_end
    grep -qF 'wc -c' "$FLEET/execs"
    for word in MARK-stdin MARK-env MARK-password; do
        nowhere "$word"
        not grep -qF "$word" <(arguments)
    done
    # Only the program that is given it.
    [ "$(grep -c 'MARK-env' "$FLEET/execs")" -le 2 ]
}

@test "pillar: not in a log, whatever works with it" {
    cat >"$FLEET/srv/s.sls" <<SLS
{{ pillar.password | replace('MARK', 'mark') }}: {test.succeed_without_changes: []}
$FLEET/file:
  file.managed:
    - contents_pillar: nested:deep
    - mode: '0600'
    - show_changes: False
who:
  user.present:
    - name: root
    - password: '\$6\$x\$MARK-hash'
    - test: True
SLS
    seen_begin
    salt m1 state.apply s test=False --out=quiet || :
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
    salt m1 pillar.items >/dev/null
    salt-run pillar.show_pillar m1 >/dev/null
    seen_end
    [ "$(cat "$FLEET/file")" = MARK-deep ]
    for word in MARK-pillar MARK-deep MARK-hash; do
        nowhere "$word"
        not grep -qF "$word" "$FLEET/execs"
    done
}

@test "passwords of http and git: in no log; of http in no argument" {
    command -v git curl >/dev/null || skip "no git, no curl"
    seen_begin
    salt m1 http.query http://127.0.0.1:1/ username=me password=MARK-http >/dev/null || :
    salt m1 git.ls_remote remote=https://127.0.0.1:1/x.git https_user=me https_pass=MARK-git >/dev/null || :
    salt m1 http.query http://127.0.0.1:1/ header_dict='{Authorization: MARK-header}' >/dev/null || :
    seen_end
    grep -q '"curl"' "$FLEET/execs" && grep -q '"ls-remote"' "$FLEET/execs"
    nowhere MARK-git # which is a part of the address, as in Salt
    for word in MARK-http MARK-header; do
        nowhere "$word"
        not grep -qF "$word" <(arguments)
    done
}

@test "private keys: in no log" {
    local key
    for key in "$FLEET"/master/etc/salt/pki/master/*.pem "$FLEET"/m1/etc/salt/pki/minion/*.pem; do
        nowhere "$(sed -n 2p "$key")"
    done
}

@test "the daemons leave no core file, and only root looks into them" {
    [ -z "${SAN:-}" ] || skip "a sanitizer looks into its process"
    local pid
    for pid in $(fleet_processes | cut -d' ' -f1); do
        [ "$(stat -c %u "/proc/$pid/mem")" -eq 0 ]
        if [ "$(id -u)" -eq 0 ]; then
            run setpriv --reuid=65534 --regid=65534 --clear-groups cat "/proc/$pid/environ"
            [ "$status" -ne 0 ]
        fi
    done
    # A process of an ordinary user is its user's own, one that hides is root's.
    [ "$(id -u)" -eq 0 ] || return 0
    chmod 0755 "$FLEET/etc" && fleet_open
    mkdir -p "$FLEET/u" && printf 'root_dir: %s\nfile_client: local\n' "$FLEET/u" >"$FLEET/u/minion" && chown -R 65534 "$FLEET/u"
    daemon call setpriv --reuid=65534 --regid=65534 --clear-groups "$HALITE_BIN/salt-call" --local -c "$FLEET/u" test.sleep 20
    until_true 10 eval '[ "$(stat -c %u "/proc/$(pid_of call)/mem")" -eq 0 ]'
    stop call
}
