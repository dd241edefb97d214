#!/usr/bin/env bats
# 4100-pillar.bats - pillar from the master: who gets what, fresh or from memory, targets, what goes wrong.

bats_require_minimum_version 1.5.0
load lib

# sls NAME: the pillar file of that name, from stdin.
sls() {
    mkdir -p "$(dirname "$FLEET/pillar/$1")"
    cat >"$FLEET/pillar/$1.sls"
}

setup_file() {
    fleet_new
    sls top <<'SLS'
base:
  '*':
    - common
  'role:web':
    - match: grain
    - web.one
  m002:
    - only
SLS
    sls common <<'SLS'
color: blue
whose: {{ grains.id }}
nested:
  a: 1
  b: [x, y]
7: seven
SLS
    echo 'site: {{ salt["config.get"]("pillar_test", "none") }}' | sls web/one
    echo 'secret: of-m002' | sls only
    start_master "pillar_roots: {base: [$FLEET/pillar]}" 'pillar_timeout: 1' 'renderer_functions_pillar: [py]'
    start_minion m001 'grains: {role: web}'
    start_minion m002 'grains: {role: db}'
    accept m001 m002
    wait_connected m001 m002
    wait_grains m001 m002
    until_true 10 has_pillar m001
    until_true 10 has_pillar m002
}

teardown_file() {
    fleet_down
}

has_pillar() { [ "$(salt "$1" pillar.raw whose --out=txt)" = "$1: $1" ]; }
# value ID FUNCTION ARG...: what that minion returns, as JSON on one line
value() { salt "$@" --out=json --static --out-indent=-1 | sed -E 's/^\{"[^"]*": ?(.*)\}$/\1/'; }

@test "pillar.items: what the top files say for each minion, in Salt's shape" {
    run -0 salt m001 pillar.items
    same_as "$output" <<'OUT'
m001:
    ----------
    7:
        seven
    color:
        blue
    nested:
        ----------
        a:
            1
        b:
            - x
            - y
    site:
        none
    whose:
        m001
OUT
    run -0 salt m002 pillar.items --out=json
    grep -q of-m002 <<<"$output"
}

@test "pillar.get, item, keys, ls, raw, obfuscate, filter_by" {
    [ "$(value m001 pillar.get nested:b)" = '["x", "y"]' ]
    [ "$(value m001 pillar.get nested:b:1)" = '"y"' ]
    [ "$(value m001 pillar.get 7)" = '"seven"' ]
    [ "$(value m001 pillar.get nosuch)" = '""' ]
    [ "$(value m001 pillar.get nosuch other)" = '"other"' ]
    [ "$(value m001 pillar.get 'nested|a' delimiter='|')" = 1 ]
    [ "$(value m001 pillar.get nested '{a: 0, c: 3}' merge=True)" = '{"a": 1, "c": 3, "b": ["x", "y"]}' ]
    [ "$(value m001 pillar.item color nosuch)" = '{"color": "blue", "nosuch": ""}' ]
    [ "$(value m001 pillar.keys nested)" = '["a", "b"]' ]
    [ "$(value m001 pillar.raw nested)" = '{"a": 1, "b": ["x", "y"]}' ]
    [ "$(value m001 pillar.filter_by '{bl*: yes-it-is, default: no}' color)" = '"yes-it-is"' ]
    value m001 pillar.obfuscate | grep -q '"a": "<int>"'
    run ! salt m001 pillar.keys color
}

@test "-I, -J and compounds of them: targets by pillar" {
    [ "$(salt -I color:blue test.ping --out=txt | sort | tr '\n' ' ')" = 'm001: True m002: True ' ]
    [ "$(salt -I secret:of-m002 test.ping --out=txt)" = 'm002: True' ]
    [ "$(salt -J 'whose:m00[1]' test.ping --out=txt)" = 'm001: True' ]
    [ "$(salt -C 'I@nested:b:y and not G@role:db' test.ping --out=txt)" = 'm001: True' ]
    [ "$(salt -C 'J@color:b.+ and m002' test.ping --out=txt)" = 'm002: True' ]
}

@test "a change is seen by pillar.items at once, by pillar.get after refresh_pillar, and by targets then" {
    echo 'late: 1' | sls web/one
    [ "$(value m001 pillar.get late)" = '""' ]
    value m001 pillar.items | grep -q '"late": 1'
    run salt -I late:1 test.ping
    [ "$status" -ne 0 ]
    [ "$(value m001 saltutil.refresh_pillar wait=True)" = true ]
    [ "$(value m001 pillar.get late)" = 1 ]
    [ "$(salt -I late:1 test.ping --out=txt)" = 'm001: True' ]
    echo 'late: 2' | sls web/one
    [ "$(value m001 saltutil.refresh_pillar)" = true ]
    until_true 10 bash -c "$(declare -f value salt); HALITE_BIN=$HALITE_BIN; [ \"\$(value m001 pillar.get late)\" = 2 ]"
}

@test "an override lies over it, for that call only" {
    value m001 pillar.items pillar='{color: red, extra: 5}' | grep -q '"color": "red".*"extra": 5\|"extra": 5.*"color": "red"'
    [ "$(value m001 pillar.get color)" = '"blue"' ]
    run salt -I color:red test.ping
    [ "$status" -ne 0 ]
}

@test "salt-call asks the master too, and gets its own minion's pillar" {
    run -0 --separate-stderr salt_call m001 pillar.get whose --out=txt
    [ "$output" = 'local: m001' ]
    run -0 --separate-stderr salt_call m002 pillar.items --out=json
    grep -q of-m002 <<<"$output"
    run -0 --separate-stderr salt_call m001 pillar.items --out=json
    not grep -q of-m002 <<<"$output"
}

@test "salt-run pillar.show_pillar and show_top" {
    run -0 salt-run pillar.show_pillar m002 --out=json
    grep -q '"secret": "of-m002"' <<<"$output"
    run -0 salt-run pillar.show_top --out=json --out-indent=-1
    grep -q '"m002": \["only"\]' <<<"$output"
    grep -q '{"match": "grain"}' <<<"$output"
}

@test "salt-run cache.pillar: what each was sent last, for the master's own user" {
    run -0 salt-run cache.pillar m002 --out=json
    grep -q '"secret": "of-m002"' <<<"$output"
    not grep -q m001 <<<"$output"
    [ "$(salt-run cache.pillar --out=json | grep -c '"whose"')" = 2 ]
}

@test "a file that is not there and one that fails are told in _errors, without the reason" {
    printf 'x: {{ nosuch.attribute }}\n' | sls web/one
    run salt m001 pillar.items --out=json
    grep -q "Rendering SLS 'web.one' failed. Please see master log for details." <<<"$output"
    not grep -q nosuch <<<"$output"
    until_log "$FLEET/log/master" "'nosuch' is undefined"
    # A run of states with such a pillar is none.
    run --separate-stderr salt_call m001 state.apply any
    [ "$status" -ne 0 ]
    [[ $output == *"Pillar failed to render"* ]]
    printf 'include: [missing.one]\ny: 1\n' | sls web/one
    run salt m001 pillar.items --out=json
    grep -q "Specified SLS 'missing.one' in environment 'base' is not available on the salt master" <<<"$output"
    grep -q '"y": 1' <<<"$output"
    echo 'late: 3' | sls web/one
}

# Each of its steps takes so long that the second of pillar_timeout is over before its steps are, on any machine.
endless() {
    echo '{% for i in range(99999) %}{% for j in range(99999) %}{% if "ab" * (999 + j) == i %}{% endif %}{% endfor %}{% endfor %}'
}

@test "a template without end is stopped; others get theirs meanwhile, and the master goes on" {
    endless | sls web/one
    salt m001 pillar.items --out=json >"$FLEET/endless" &
    salt=$!
    [ "$(salt m002 pillar.items --out=json | grep -c of-m002)" = 1 ]
    wait "$salt"
    grep -q "Rendering SLS 'web.one' failed" "$FLEET/endless"
    grep -q '"color": "blue"' "$FLEET/endless"
    until_log "$FLEET/log/master" 'it takes too long'
    echo 'late: 3' | sls web/one
    [ "$(value m001 saltutil.refresh_pillar wait=True)" = true ]
}

@test "SLS that include each other come to an end" {
    printf 'include: [web.two]\none: 1\n' | sls web/one
    printf 'include: [web.one]\ntwo: 2\n' | sls web/two
    value m001 pillar.items | grep -q '"one": 1'
    value m001 pillar.items | grep -q '"two": 2'
    echo 'late: 3' | sls web/one
}

@test "a pillar of a megabyte" {
    { echo 'big:'; for i in {1..10000}; do printf '  - "%0100d"\n' "$i"; done; } | sls web/one
    value m001 pillar.items | grep -q '0000009999"'
    [ "$(value m001 saltutil.refresh_pillar wait=True)" = true ]
    [ "$(value m001 pillar.get big:9999)" = "\"$(printf '%0100d' 10000)\"" ]
    echo 'late: 3' | sls web/one
    [ "$(value m001 saltutil.refresh_pillar wait=True)" = true ]
}

is_running() { ask '{"op":"active"}' | grep -q "$1"; }

@test "a master that is killed in the middle: asked again, and what targets knew is still known" {
    endless | sls web/one
    salt m001 pillar.items >/dev/null 2>&1 &
    local client=$!
    until_true 10 is_running pillar.items
    stop master KILL
    wait "$client" || :
    echo 'late: 4' | sls web/one
    start_master
    wait_connected m001 m002
    [ "$(salt -I secret:of-m002 test.ping --out=txt)" = 'm002: True' ]
    until_true 10 bash -c "$(declare -f value salt); HALITE_BIN=$HALITE_BIN; [ \"\$(value m001 pillar.get late)\" = 4 ]"
}

@test "a minion that is deleted leaves no pillar behind for targets" {
    start_minion m003
    accept m003
    wait_connected m003
    until_true 10 has_pillar m003
    stop m003
    salt-key -y -d m003
    run ! salt -I whose:m003 test.ping
}

# ---- external sources, without a master ---------------------------------------------------------------------------

# local_conf LINE...: a minion without a master in $BATS_TEST_TMPDIR; here: salt-call there.
local_conf() {
    ROOT=$BATS_TEST_TMPDIR
    mkdir -p "$ROOT/etc" "$ROOT/pillar"
    printf '%s\n' 'id: m001' "root_dir: $ROOT" 'file_client: local' "pillar_roots: {base: [$ROOT/pillar]}" \
        'log_level_logfile: quiet' "$@" >"$ROOT/etc/minion"
}
here() { "$HALITE_BIN/salt-call" --local -c "$BATS_TEST_TMPDIR/etc" "$@" --out=json --out-indent=-1 2>/dev/null | sed -E 's/^\{"local": ?(.*)\}$/\1/'; }

@test "cmd_yaml, cmd_json: the minion's id wherever the command has it, failures are in _errors" {
    local_conf 'ext_pillar:' '  - cmd_yaml: "echo who: %s"' '  - cmd_json: "echo '\''{\"j\": [1, 2]}'\''"'
    [ "$(here pillar.items)" = '{"who": "m001", "j": [1, 2]}' ]
    echo 'a: 1' >"$ROOT/m001.yaml"
    for quote in '' "'" '\"'; do
        local_conf 'ext_pillar:' "  - cmd_yaml: \"cat $quote$ROOT/%s.yaml$quote\""
        [ "$(here pillar.items)" = '{"a": 1}' ]
    done
    local_conf 'ext_pillar:' '  - cmd_yaml: "echo [a"' '  - cmd_json: "false"' '  - cmd_yaml: "echo a: 1; exit 3"'
    here pillar.items | grep -q '"a": 1'
    here pillar.items | grep -q "Failed to load ext_pillar cmd_yaml: what 'echo \[a' printed: "
    here pillar.items | grep -q "Failed to load ext_pillar cmd_json: "
}

@test "git: branches are environments, root and env, what is new is fetched, errors name the remote" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/repo
    git init -q -b master "$repo"
    git -C "$repo" config user.email t@example.org
    git -C "$repo" config user.name t
    mkdir "$repo/sub"
    printf "base:\n  '*': [one]\n" >"$repo/top.sls"
    echo 'from: master' >"$repo/one.sls"
    printf "base:\n  '*': [deep]\n" >"$repo/sub/top.sls"
    echo 'deep: 1' >"$repo/sub/deep.sls"
    git -C "$repo" add . && git -C "$repo" commit -qm one
    git -C "$repo" checkout -q -b dev
    printf "dev:\n  '*': [one]\n" >"$repo/top.sls"
    echo 'br: dev' >"$repo/one.sls"
    git -C "$repo" commit -qam two
    local_conf 'git_pillar_update_interval: 0' 'ext_pillar:' '  - git:' "    - master $repo" "    - dev $repo" "    - master $repo:" '      - root: sub'
    [ "$(here pillar.items)" = '{"from": "master", "br": "dev", "deep": 1}' ]
    echo 'pillarenv: dev' >>"$ROOT/etc/minion"
    [ "$(here pillar.items)" = '{"br": "dev"}' ]
    sed -i '$d' "$ROOT/etc/minion"
    git -C "$repo" checkout -q master
    echo 'from: again' >"$repo/one.sls"
    git -C "$repo" commit -qam three
    here pillar.items | grep -q '"from": "again"'
    local_conf 'ext_pillar:' '  - git:' "    - nosuch $repo" "    - master $BATS_TEST_TMPDIR/nowhere"
    here pillar.items | grep -q "has no branch or tag 'nosuch'"
    here pillar.items | grep -q 'nowhere'
    local_conf 'ext_pillar:' '  - git:' "    - master -oProxyCommand=x"
    here pillar.items | grep -q "may begin with '-'"
}

@test "git: a remote as an URL alone has the branch git_pillar_branch, and one remote may be a text" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/repo
    git init -q -b master "$repo"
    git -C "$repo" config user.email t@example.org
    git -C "$repo" config user.name t
    printf "base:\n  '*': [one]\n" >"$repo/top.sls"
    echo 'from: master' >"$repo/one.sls"
    git -C "$repo" add . && git -C "$repo" commit -qm one
    git -C "$repo" checkout -q -b dev
    printf "dev:\n  '*': [one]\n" >"$repo/top.sls"
    echo 'from: dev' >"$repo/one.sls"
    git -C "$repo" commit -qam two
    local_conf 'ext_pillar:' '  - git:' "    - $repo"
    [ "$(here pillar.items)" = '{"from": "master"}' ]
    local_conf 'ext_pillar:' "  - git: $repo" 'git_pillar_branch: dev'
    [ "$(here pillar.items)" = '{"from": "dev"}' ]
    local_conf 'ext_pillar:' "  - git: 'dev $repo'"
    [ "$(here pillar.items)" = '{"from": "dev"}' ]
    local_conf 'ext_pillar:' '  - git:' "    - $repo:" '      - env: base' 'git_pillar_branch: nosuch'
    here pillar.items | grep -q "has no branch or tag 'nosuch'"
    local_conf 'ext_pillar:' '  - git: -oProxyCommand=x'
    here pillar.items | grep -q "may begin with '-'"
}

@test "cmd_yaml, cmd_json: an id that means something to a shell is in no command, however the command is quoted" {
    local id quote owned=$BATS_TEST_TMPDIR/OWNED before
    local ids=('x;touch${IFS}OWNED;y' 'x$(touch${IFS}OWNED)' "x';touch\${IFS}OWNED;'" 'x"|touch${IFS}OWNED;"' -rf 'x*')
    # No minion has such an id; an operator may ask for the pillar of one.
    for id in "${ids[@]}"; do
        local_conf "ext_pillar: [{cmd_yaml: 'echo a: b'}]"
        sed -i '/^id:/d' "$ROOT/etc/minion"
        run "$HALITE_BIN/salt-call" --local -c "$ROOT/etc" pillar.items --id="$id"
        [ "$status" -ne 0 ]
        [[ $output == *"option 'id'"* ]]
    done
    cp "$MASTER_CONF" "$BATS_TEST_TMPDIR/before"
    {
        echo 'ext_pillar:'
        for quote in '' "'" '"'; do
            printf '  - cmd_yaml: |-\n      cd %s; echo a: %sb %%s%s\n' "$BATS_TEST_TMPDIR" "$quote" "$quote"
        done
    } >>"$MASTER_CONF"
    before=$(reloads)
    kill -HUP "$(pid_of master)"
    until_true 10 eval "[ \"\$(reloads)\" -gt $before ]"
    salt-run pillar.show_pillar m002 | grep -q 'b m002'
    for id in "${ids[@]}"; do
        run salt-run pillar.show_pillar minion="$id"
        [ "$(grep -c 'Failed to load ext_pillar cmd_yaml: it does not go into a command: the id ' <<<"$output")" -eq 3 ]
        [ ! -e "$owned" ]
    done
    cat "$BATS_TEST_TMPDIR/before" >"$MASTER_CONF"
    before=$(reloads)
    kill -HUP "$(pid_of master)"
    until_true 10 eval "[ \"\$(reloads)\" -gt $before ]"
}
reloads() { grep -cE 'reload: [0-9]+ options changed' "$FLEET/log/master" || :; }

@test "git: an environment is a branch or a tag, not a way back into what was withdrawn" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/repo env
    git init -q -b main "$repo"
    git -C "$repo" config user.email t@example.org
    git -C "$repo" config user.name t
    printf "'{{ saltenv }}':\n  '*': [p]\n" >"$repo/top.sls"
    echo 'password: withdrawn' >"$repo/p.sls"
    git -C "$repo" add . && git -C "$repo" commit -qm one
    echo 'password: new' >"$repo/p.sls"
    git -C "$repo" commit -qam two
    git -C "$repo" tag -a -m t v1
    git -C "$repo" branch a/b
    local_conf 'git_pillar_update_interval: 0' 'git_pillar_base: main' 'ext_pillar:' '  - git:' "    - __env__ $repo"
    for env in main v1 a/b; do
        run -0 here pillar.items pillarenv="$env"
        [ "$output" = '{"password": "new"}' ] || { echo "$env: $output"; return 1; }
    done
    for env in main~1 'main^' 'main@{0}' 'main^{/one}' 'v1^{}~1' a 'm*' '../heads/main'; do
        run -0 here pillar.items pillarenv="$env"
        [[ $output == *"has no branch or tag '$env'"* ]]
    done
}

@test "git: mount points, all_saltenvs, what can't be used to reach a remote" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/top web=$BATS_TEST_TMPDIR/web
    for r in "$repo" "$web"; do
        git init -q -b master "$r"
        git -C "$r" config user.email t@example.org
        git -C "$r" config user.name t
        mkdir "$r/in"
    done
    printf "'{{ saltenv }}':\n  '*': [web.server.nginx, own]\n" >"$repo/top.sls"
    echo 'own: {{ saltenv }}' >"$repo/own.sls"
    echo 'nginx: {{ sls }}' >"$web/nginx.sls"
    echo 'nginx: deep' >"$web/in/nginx.sls"
    printf "base:\n  '*': [nosuch]\n" >"$web/top.sls"
    for r in "$repo" "$web"; do git -C "$r" add . && git -C "$r" commit -qm one; done
    local_conf 'git_pillar_update_interval: 0' 'ext_pillar:' '  - git:' "    - master $repo" "    - master $web:" \
        '      - mountpoint: /web/server/' '      - name: nginx'
    [ "$(here pillar.items)" = '{"nginx": "web.server.nginx", "own": "base"}' ]
    sed -i 's/- name: nginx/- root: in/' "$ROOT/etc/minion"
    [ "$(here pillar.items)" = '{"nginx": "deep", "own": "base"}' ]
    local_conf 'ext_pillar:' '  - git:' "    - __env__ $repo:" '      - all_saltenvs: master' "    - master $web:" \
        '      - mountpoint: web/server' '      - env: qa'
    here pillar.items saltenv=qa pillarenv=qa | grep -q '"own": "qa"'
    local_conf 'ext_pillar:' '  - git:' "    - master $web:" '      - mountpoint: ../x'
    here pillar.items | grep -q "mountpoint '../x' leads elsewhere"
    local_conf 'ext_pillar:' '  - git:' "    - master $web:" '      - mount: x'
    here pillar.items | grep -q "'mount' can't be set for a remote"
    local_conf 'ext_pillar:' '  - git:' '    - master http://127.0.0.1:1/x.git:' '      - user: u' '      - password: p'
    here pillar.items | grep -q 'would be sent in the clear'
    local_conf 'ext_pillar:' '  - git:' '    - master git@127.0.0.1:x.git:' '      - privkey: /k' '      - passphrase: p'
    here pillar.items | grep -q 'a key with a passphrase'
}

# Who writes to a repository chooses its links: what they name outside of it is no pillar of anybody.
@test "git: links stay in the repository" {
    command -v git >"$BATS_TEST_TMPDIR/have" || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/links outside=$BATS_TEST_TMPDIR/outside
    mkdir -p "$outside" && echo 'key: secret' | tee "$outside/key.sls" >"$BATS_TEST_TMPDIR/key.sls"
    git init -q -b master "$repo"
    git -C "$repo" config user.email t@example.org
    git -C "$repo" config user.name t
    mkdir -p "$repo/in/deep"
    printf "base:\n  '*': [ours, deep.up]\n" >"$repo/in/top.sls"
    echo 'ours: {{ "x" if not salt["cp.get_file_str"]("salt://none") else "y" }}' >"$repo/ours.sls"
    ln -s ../ours.sls "$repo/in/ours.sls"
    echo 'up: 1' >"$repo/in/up.sls"
    ln -s ../up.sls "$repo/in/deep/up.sls"
    git -C "$repo" add . && git -C "$repo" commit -qm one
    local_conf 'git_pillar_update_interval: 0' 'ext_pillar:' '  - git:' "    - master $repo:" '      - root: in'
    [ "$(here pillar.items)" = '{"ours": "x", "up": 1}' ]
    for link in "$outside/key.sls" ../../../../../../../../../../../../../../../../../../../..$outside/key.sls loop.sls; do
        ln -sfn "$link" "$repo/in/ours.sls"
        git -C "$repo" add . && git -C "$repo" commit -qm "$link"
        run here pillar.items
        [[ $output == *"Specified SLS 'ours' in environment 'base' is not available"* ]]
        [[ $output != *secret* ]]
    done
    ln -sfn "$outside" "$repo/in/deep/more"
    printf "base:\n  '*': [deep.more.key]\n" >"$repo/in/top.sls"
    git -C "$repo" add . && git -C "$repo" commit -qm folder
    run here pillar.items
    [[ $output != *secret* ]]
    # Nor where the folder lies elsewhere in the environment, so that another number of steps leads out.
    ln -sfn ../../../key.sls "$repo/in/ours.sls"
    printf "base:\n  '*': [web.ours]\n" >"$repo/in/top.sls"
    git -C "$repo" add . && git -C "$repo" commit -qm mounted
    local_conf 'git_pillar_update_interval: 0' 'ext_pillar:' '  - git:' "    - master $repo:" '      - root: in' '      - mountpoint: web'
    run here pillar.items
    [[ $output != *secret* ]]
}

# A server that wants user and password: git gets them from its environment.
@test "git: user and password reach the remote, and no command line" {
    command -v git python3 >"$BATS_TEST_TMPDIR/have" || skip "no git, or no python3"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    cat >"$BATS_TEST_TMPDIR/server.py" <<'PY'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "a") as f:
            print(self.headers.get("Authorization"), file=f)
        self.send_response(401 if self.headers.get("Authorization") is None else 404)
        self.send_header("WWW-Authenticate", "Basic realm=x")
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[2], "w") as f:
    print(server.server_port, file=f)
server.serve_forever()
PY
    python3 "$BATS_TEST_TMPDIR/server.py" "$BATS_TEST_TMPDIR/asked" "$BATS_TEST_TMPDIR/port" &
    local server=$!
    until_true 20 [ -s "$BATS_TEST_TMPDIR/port" ]
    local_conf 'ext_pillar:' '  - git:' "    - master http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")/x.git:" \
        '      - user: me' '      - password: se cret' '      - insecure_auth: True'
    here pillar.items >"$BATS_TEST_TMPDIR/out"
    local_conf 'ext_pillar:' '  - git:' "    - master http://you:se%40cret@127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")/x.git"
    here pillar.items >"$BATS_TEST_TMPDIR/out"
    kill "$server"
    grep -qx "Basic $(printf 'me:se cret' | base64)" "$BATS_TEST_TMPDIR/asked"
    grep -qx "Basic $(printf 'you:se@cret' | base64)" "$BATS_TEST_TMPDIR/asked"
}

# sources LINE...: the master's external sources from now on.
sources() {
    sed -i '/^# sources$/,$d' "$MASTER_CONF"
    printf '%s\n' '# sources' "$@" >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
}

both_started() { [ "$(wc -l <"$FLEET/started")" = 2 ]; }

@test "a master that ends takes along what the commands of its pillars have started" {
    local pid client runner
    printf 'echo $$ >>%s\nexec sleep 300\n' "$FLEET/started" >"$FLEET/slow"
    sed -i 's/^pillar_timeout: 1$/pillar_timeout: 300/' "$MASTER_CONF"
    sources 'ext_pillar:' "  - cmd_yaml: 'sh $FLEET/slow; echo a'"
    salt m001 pillar.items >/dev/null 2>&1 3>&- &
    client=$!
    salt-run pillar.show_pillar m002 >/dev/null 2>&1 3>&- &
    runner=$!
    until_true 20 both_started
    stop master
    for pid in $(cat "$FLEET/started"); do
        until_true 10 pid_gone "$pid"
    done
    wait "$client" "$runner" || :
    sed -i -e '/^# sources$/,$d' -e 's/^pillar_timeout: 300$/pillar_timeout: 1/' "$MASTER_CONF"
    start_master
    wait_connected m001 m002
}

@test "what a source could not give is asked for again, with pillar_cache too" {
    sources 'pillar_cache: true' "ext_pillar: [{cmd_json: 'cat $FLEET/late.json'}]"
    until_true 20 items_have m001 'Failed to load ext_pillar cmd_json'
    [ "$(value m001 saltutil.refresh_pillar clean_cache=False wait=True)" = true ]
    echo '{"late": 1}' >"$FLEET/late.json"
    [ "$(value m001 saltutil.refresh_pillar clean_cache=False wait=True)" = true ]
    [ "$(value m001 pillar.get late)" = 1 ]
    # What it could give is kept.
    echo '{"late": 2}' >"$FLEET/late.json"
    [ "$(value m001 saltutil.refresh_pillar clean_cache=False wait=True)" = true ]
    [ "$(value m001 pillar.get late)" = 1 ]
    sources
}

# git_repo FOLDER TEXT: a repository whose pillar for everybody is that text, or its next commit; for servers that only know files.
git_repo() {
    [ -d "$1" ] || git init -q -b master "$1"
    printf "base:\n  '*': [p]\n" >"$1/top.sls"
    echo "$2" >"$1/p.sls"
    git -C "$1" add . && git -C "$1" -c user.email=t@example.org -c user.name=t commit -qm x
    git -C "$1" update-server-info
}

# git_server FOLDER: serves it, at $GIT_URL, until there is a file `silent` in it: then it takes requests, and answers none.
git_server() {
    cat >"$BATS_TEST_TMPDIR/server.py" <<'PY'
import http.server, os, sys, threading
folder = sys.argv[1]
class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=folder)
    def do_GET(self):
        if not os.path.exists(folder + "/silent"):
            return super().do_GET()
        with open(folder + "/asked", "a") as f:
            print(self.path, file=f, flush=True)
        threading.Event().wait()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(folder + "/port.new", "w") as f:
    print(server.server_port, file=f)
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
PY
    python3 "$BATS_TEST_TMPDIR/server.py" "$1" 3>&- &
    GIT_SERVER=$!
    until_true 20 [ -s "$1/port" ]
    GIT_URL=http://127.0.0.1:$(cat "$1/port")
}

items_have() { value "$1" pillar.items | grep -qF "$2"; }

@test "git: a server that falls silent stops no pillar of the master's: what was fetched last is used" {
    command -v git python3 >"$BATS_TEST_TMPDIR/have" || skip "no git, or no python3"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local www=$BATS_TEST_TMPDIR/www id
    git_repo "$www/one" 'from: first'
    git_repo "$www/two" 'two: 2'
    git_server "$www"
    sources 'git_pillar_update_interval: 1' "ext_pillar: [{git: ['master $GIT_URL/one/.git']}]"
    until_true 20 items_have m001 '"from": "first"'
    git_repo "$www/one" 'from: second'
    until_true 20 items_have m001 '"from": "second"'
    sources 'git_pillar_update_interval: 1' 'on_demand_ext_pillar: [git]'
    asked() { value m001 pillar.ext "{git: ['master $GIT_URL/two/.git']}" | grep -q "$1"; }
    asked '"two": 2'
    git_repo "$www/two" 'two: 3'
    until_true 20 asked '"two": 3'
    git_repo "$www/three" 'three: 3'
    sources 'git_pillar_update_interval: 1' "ext_pillar: [{git: ['master $GIT_URL/one/.git']}]"
    touch "$www/silent"
    until_true 20 grep -q one "$www/asked"
    for id in m001 m002 m001; do
        timed value "$id" pillar.items
        [[ $output == *'"from": "second"'* ]]
        [ "$MS" -lt 15000 ]
    done
    # What was never fetched is waited for as long as the pillar may take, and once.
    sources 'git_pillar_update_interval: 1' "ext_pillar: [{git: ['master $GIT_URL/one/.git', 'master $GIT_URL/three/.git']}]"
    for id in m001 m002 m001; do
        timed value "$id" pillar.items
        [ "$MS" -lt 15000 ]
    done
    [[ $output == *'"from": "second"'* && $output == *"$GIT_URL/three/.git: "* ]]
    sources
    kill "$GIT_SERVER"
}

# Where no master fetches, each compile does, at the interval; also after a time that the clock has not reached.
@test "git: without a master a failed fetch waits for the interval; a stamp from the future is old" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/repo
    git_repo "$repo" 'from: first'
    local_conf 'git_pillar_update_interval: 3600' 'ext_pillar:' '  - git:' "    - master $repo"
    [ "$(here pillar.items)" = '{"from": "first"}' ]
    git_repo "$repo" 'from: second'
    [ "$(here pillar.items)" = '{"from": "first"}' ]
    touch -d tomorrow "$ROOT"/var/cache/salt/minion/git_pillar/*/fetched
    [ "$(here pillar.items)" = '{"from": "second"}' ]
    mv "$repo" "$repo.away"
    touch -d '2 hours ago' "$ROOT"/var/cache/salt/minion/git_pillar/*/fetched
    [ "$(here pillar.items)" = '{"from": "second"}' ]
    mv "$repo.away" "$repo"
    git_repo "$repo" 'from: third'
    [ "$(here pillar.items)" = '{"from": "second"}' ]
    touch -d '2 hours ago' "$ROOT"/var/cache/salt/minion/git_pillar/*/tried
    [ "$(here pillar.items)" = '{"from": "third"}' ]
    [ ! -e "$ROOT"/var/cache/salt/minion/git_pillar/*/tried ]
}

# A program's death ends its git wherever that was.
@test "git: what a git that was killed has left locks nothing" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/repo copy
    git_repo "$repo" 'from: first'
    git -C "$repo" branch gone
    local_conf 'git_pillar_update_interval: 0' 'ext_pillar:' '  - git:' "    - master $repo"
    [ "$(here pillar.items)" = '{"from": "first"}' ]
    copy=$(echo "$ROOT"/var/cache/salt/minion/git_pillar/*/)
    git -C "$copy" pack-refs --all
    touch "$copy"/{index.lock,packed-refs.lock,packed-refs.new,HEAD.lock,config.lock,refs/heads/master.lock}
    git -C "$repo" branch -D gone
    git_repo "$repo" 'from: second'
    [ "$(here pillar.items)" = '{"from": "second"}' ]
    [ ! -e "$copy/tried" ]
    # A branch's name is not a lock.
    git -C "$repo" branch packed-refs.new
    git_repo "$repo" 'from: third'
    here pillar.items
    git_repo "$repo" 'from: fourth'
    [ "$(here pillar.items)" = '{"from": "fourth"}' ]
    [ -e "$copy/refs/heads/packed-refs.new" ]
}

# What can't be told is no "there is none", in whose place the fallback stands.
@test "git: a git that fails is an error, and no branch that is missing" {
    command -v git || skip "no git"
    export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
    local repo=$BATS_TEST_TMPDIR/repo word
    git_repo "$repo" 'which: fallback'
    git -C "$repo" branch -m fb
    git -C "$repo" checkout -q -b main
    git_repo "$repo" 'which: main'
    mkdir "$BATS_TEST_TMPDIR/bin"
    # After each fetch git fails once where the word in the file `fail` is one of its arguments.
    cat >"$BATS_TEST_TMPDIR/bin/git" <<SH
#!/bin/sh
for w; do
    [ "\$w" != fetch ] || cp "\$HOME/fail" "\$HOME/armed"
    [ "\$w" != "\$(cat "\$HOME/armed")" ] || { rm "\$HOME/armed"; echo "no \$w" >&2; exit 128; }
done
exec $(command -v git) "\$@"
SH
    chmod +x "$BATS_TEST_TMPDIR/bin/git"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    local_conf 'git_pillar_update_interval: 0' 'git_pillar_base: main' 'ext_pillar:' '  - git:' "    - main $repo:" '      - fallback: fb'
    [ "$(here pillar.items)" = '{"which": "main"}' ]
    for word in for-each-ref rev-parse; do
        echo "$word" >"$HOME/fail"
        run here pillar.items
        [[ $output == *'"_errors": '*"no $word"* && $output != *fallback* ]] || { echo "$word: $output"; return 1; }
        rm "$HOME/fail" "$HOME/armed" || :
        [ "$(here pillar.items)" = '{"which": "main"}' ]
    done
    git -C "$repo" branch -m gone
    sed -i "s|main $repo|missing $repo|; s|^git_pillar_base: main|git_pillar_base: missing|" "$ROOT/etc/minion"
    [ "$(here pillar.items)" = '{"which": "fallback"}' ]
}

@test "a file in Python makes pillar on the master" {
    command -v python3 || skip "no python3"
    sls only <<'PY'
#!py
def run():
    return {"secret": "of-m002", "made": {"for": __grains__["id"], 7: __salt__["test.echo"](__opts__["id"])}}
PY
    made() { value m002 pillar.items | grep -qF '"made": {"for": "m002", "7": "m002"}'; }
    until_true 20 made
    echo 'secret: of-m002' | sls only
}
