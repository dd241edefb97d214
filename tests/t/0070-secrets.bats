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
    # What the minion's git shall believe of a server here.
    export GIT_SSL_CAINFO=$FLEET/cert.pem GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
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

# A repository by https for who has the login in $FLEET/login: GIT_URL.
git_server() {
    command -v git >/dev/null && command -v openssl >/dev/null || skip "no git, no openssl"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$FLEET/key.pem" 2>/dev/null >"$FLEET/cert.pem"
    cat "$FLEET/key.pem" >>"$FLEET/cert.pem"
    git init -q -b main --bare "$FLEET/git/x.git"
    git init -q -b main "$FLEET/work"
    git_commit
    daemon listen-git python3 -B "$HALITE_SRC/tests/lib/gitserver.py" "$FLEET/web.port" "$FLEET/git" "$FLEET/cert.pem" "$FLEET/login"
    until_true 10 test -s "$FLEET/web.port"
    GIT_URL=https://127.0.0.1:$(cat "$FLEET/web.port")/x.git
}
git_commit() {
    git -C "$FLEET/work" -c user.name=a -c user.email=a@b commit -q --allow-empty -m more
    git -C "$FLEET/work" push -q "$FLEET/git/x.git" main
    git -C "$FLEET/git/x.git" update-server-info
}
# y.git, with x.git in it by a relative address.
git_submodule() {
    git init -q -b main "$FLEET/work2"
    printf '[submodule "x"]\n\tpath = x\n\turl = ../x.git\n' >"$FLEET/work2/.gitmodules"
    git -C "$FLEET/work2" add .gitmodules
    git -C "$FLEET/work2" update-index --add --cacheinfo "160000,$(git -C "$FLEET/git/x.git" rev-parse main),x"
    git -C "$FLEET/work2" -c user.name=a -c user.email=a@b commit -q -m sub
    git clone -q --bare "$FLEET/work2" "$FLEET/git/y.git"
    git -C "$FLEET/git/y.git" update-server-info
}
git_is_up() { [ "$(git -C "$FLEET/$1" rev-parse HEAD)" = "$(git -C "$FLEET/work" rev-parse HEAD)" ]; }
git_latest() { # PASSWORD
    salt m1 state.single git.latest "$GIT_URL" target="$FLEET/c2" rev=main https_user=me https_pass="$1" --out=json --static
}

@test "passwords of http and git: in no log, in no argument" {
    git_server
    echo me:MARK-git@1 >"$FLEET/login"
    seen_begin
    salt m1 http.query http://127.0.0.1:1/ username=me password=MARK-http | grep -q 'Failed to connect'
    salt m1 http.query http://127.0.0.1:1/ header_dict='{Authorization: MARK-header}' | grep -q 'Failed to connect'
    salt m1 git.ls_remote remote="$GIT_URL" https_user=me https_pass=MARK-git@1 | grep -q refs/heads/main
    salt m1 git.ls_remote remote="${GIT_URL/127/me:MARK-git%401@127}" | grep -q refs/heads/main
    run salt m1 git.ls_remote remote="$GIT_URL" https_user=me https_pass=MARK-git-wrong
    [ "$status" -ne 0 ]
    salt m1 git.fetch "$FLEET/work" "${GIT_URL/127/me:MARK-git%401@127}" refspecs=main:refs/heads/new | grep -q new
    # What was cloned with a login is pulled with it: by git.pull, and by anybody who may.
    salt m1 git.clone "$FLEET/c1" "$GIT_URL" https_user=me https_pass=MARK-git@1 | grep -q True
    git_commit
    salt m1 git.pull "$FLEET/c1" | grep -q Fast-forward
    git_is_up c1
    git_commit
    git -C "$FLEET/c1" pull -q
    git_is_up c1
    [ "$(salt m1 git.config_get remote.origin.url cwd="$FLEET/c1" --out=txt)" = "m1: $GIT_URL" ]
    # A state has nothing to do until something is new, or the password is.
    git_latest MARK-git@1 | grep -q "$GIT_URL cloned to $FLEET/c2\""
    git_latest MARK-git@1 | grep -q "Repository $FLEET/c2 is up-to-date\""
    git_commit
    git_latest MARK-git@1 | grep -q '"revision"'
    git_is_up c2
    echo me:MARK-git2 >"$FLEET/login"
    git_latest MARK-git2 | grep -qF "Remote 'origin' changed from $GIT_URL to ${GIT_URL/127/<redacted>@127}"
    git_latest MARK-git2 | grep -q "Repository $FLEET/c2 is up-to-date" # and its branch follows the new remote, as in Salt
    git_latest MARK-git2 | grep -q "Repository $FLEET/c2 is up-to-date\""
    git_commit
    salt m1 git.fetch "$FLEET/c2" | grep -q main
    [ "$(git -C "$FLEET/c2" rev-parse origin/main)" = "$(git -C "$FLEET/work" rev-parse HEAD)" ]
    git_detached() { salt m1 state.single git.detached "$GIT_URL" target="$FLEET/c4" rev=main https_user=me https_pass=MARK-git2; }
    git_detached | grep -q "$GIT_URL cloned to $FLEET/c4"
    git_detached | grep -q 'Already checked out at correct revision'
    git_is_up c4
    # A user who runs git has it to himself.
    if [ "$(id -u)" -eq 0 ]; then
        fleet_open
        install -d -o nobody "$FLEET/nobody"
        git_his() { salt m1 state.single git.latest "$GIT_URL" target="$FLEET/nobody/c" rev=main user=nobody https_user=me https_pass=MARK-git2 --out=json --static; }
        git_his | grep -q "$GIT_URL cloned to"
        git_his | grep -q "Repository $FLEET/nobody/c is up-to-date\""
        [ "$(stat -c %U:%a "$FLEET/nobody/c/.git/halite-credentials")" = nobody:600 ]
    fi
    # Submodules of the same server need it too.
    git_submodule
    salt m1 git.clone "$FLEET/c3" "${GIT_URL/x.git/y.git}" https_user=me https_pass=MARK-git2 | grep -q True
    salt m1 git.submodule "$FLEET/c3" update opts=--init | grep -q 'checked out'
    # And goes with its remote.
    salt m1 git.remote_set "$FLEET/c2" https://127.0.0.1:1/y.git https_user=me https_pass=MARK-git3 >/dev/null
    grep -rq MARK-git3 "$FLEET/c2" && not grep -rq -e MARK-git2 -e x.git "$FLEET/c2/.git/config" "$FLEET/c2/.git/halite-credentials"
    salt m1 git.remote_set "$FLEET/c2" https://127.0.0.1:1/y.git >/dev/null
    not grep -rq MARK-git "$FLEET/c2"
    seen_end
    grep -q '"remote-https"' "$FLEET/execs"
    for word in MARK-http MARK-git MARK-header; do
        nowhere "$word"
        not grep -qF "$word" <(arguments)
    done
    [ "$(grep -rl MARK-git "$FLEET/c1")" = "$FLEET/c1/.git/halite-credentials" ]
    [ "$(stat -c %a "$FLEET/c1/.git/halite-credentials")" = 600 ]
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
    # Not what else runs here, a server of another test or a shell: an ordinary user sees those, and only those, in fleet_processes.
    for pid in "$(pid_of master)" "$(pid_of m1)" "$(session_pid m1)"; do
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
