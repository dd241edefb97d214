#!/usr/bin/env bats
# 0320-completion.bats - what Tab offers: options from the scripts, names from a running master, and nothing that a shell would
# run.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv/web/ng" "$FLEET/dev"
    touch "$FLEET/srv/top.sls" "$FLEET/srv/web/init.sls" "$FLEET/srv/web/ng/b.sls" "$FLEET/dev/wild.sls"
    GITFS=()
    if command -v git >/dev/null; then
        export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
        git init -q -b branch "$FLEET/git"
        mkdir -p "$FLEET/git/remote"
        touch "$FLEET/git/remote/far.sls"
        git -C "$FLEET/git" add . && git -C "$FLEET/git" -c user.name=t -c user.email=t@t commit -qm one
        GITFS=('fileserver_backend: [roots, gitfs]' "gitfs_remotes: ['file://$FLEET/git']")
    fi
    start_master "file_roots: {base: [$FLEET/srv], dev: [$FLEET/dev]}" "nodegroups: {front: web*}" "${GITFS[@]}"
    start_minion web1
    start_minion web2
    start_minion waits
    accept web1 web2
    wait_key waits pre
    wait_connected web1 web2
    # Words as bash takes them apart, then the function of the script.
    cat >"$FLEET/tab" <<'TAB'
. "$1"
shift
COMP_WORDS=() function=_halite_${1//-/_} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
for word; do
    while [[ $word == *[=:]* ]]; do
        head=${word%%[=:]*}
        [[ -z $head ]] || COMP_WORDS+=("$head")
        COMP_WORDS+=("${word:${#head}:1}")
        word=${word:${#head}+1}
        [[ -n $word ]] || continue 2
    done
    COMP_WORDS+=("$word")
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$function"
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
TAB
    for shell in bash zsh fish; do
        mkdir -p "$FLEET/$shell"
        for program in salt salt-run salt-key salt-call salt-cp salt-master salt-minion; do
            "$BUILD/manual" "$program.$shell" >"$FLEET/$shell/$program"
        done
    done
}

teardown_file() {
    fleet_down
}

setup() {
    export SALT_CONFIG_DIR=$FLEET/etc
    PATH=$HALITE_BIN:$PATH
    cd "$BATS_TEST_TMPDIR" || return 1
}

# tab PROGRAM WORD...: what bash has in COMPREPLY for this command line, the last word being completed.
tab() { bash "$FLEET/tab" "$FLEET/bash/$1" "$@" | sort | paste -sd ' '; }
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" >&2; return 1; }; }

@test "the scripts are whole" {
    for script in "$FLEET"/bash/*; do bash -n "$script"; done
}

@test "options" {
    is "$(tab salt --stati)" '--static'
    is "$(tab salt-key --include-)" '--include-accepted --include-all --include-denied --include-rejected'
    is "$(tab salt-master --pid)" '--pid-file'
    is "$(tab salt --return)" '--return --return-config --return-kwargs --return_config --return_kwargs'
    is "$(tab salt --nosuch)" ''
    [ "$(tab salt-run - | wc -w)" -gt 20 ]
}

@test "values of options" {
    is "$(tab salt --out js)" 'json'
    is "$(tab salt --out=js)" 'json'
    is "$(tab salt -l wa)" 'warning'
    is "$(tab salt-minion --log-level=wa)" 'warning'
    is "$(tab salt-run --state-verbose T)" 'True'
    is "$(tab salt -c /etc)" ''
}

@test "targets" {
    is "$(tab salt w)" 'web1 web2'
    is "$(tab salt -L web1,we)" 'web1,web1 web1,web2'
    is "$(tab salt "'we")" 'web1 web2'
    is "$(tab salt -N '')" 'front'
    is "$(tab salt -G w)" ''
    is "$(tab salt-cp we)" 'web1 web2'
    is "$(tab salt-cp web1 we)" ''
}

@test "functions, runners, jobs" {
    is "$(tab salt web1 test.pi)" 'test.ping'
    is "$(tab salt web1 test.ping,test.ec)" 'test.ping,test.echo'
    is "$(tab salt web1 sys.doc test.halite)" 'test.halite_version'
    is "$(tab salt-call test.halite)" 'test.halite_version'
    is "$(tab salt-run manage.vers)" 'manage.versions'
    is "$(tab salt-run salt.execute we)" 'web1 web2'
    is "$(tab salt-run salt.execute web1 test.pi)" 'test.ping'
    is "$(tab salt-run state.orchestrate_single fun=salt.wheel name=key.list_a)" 'key.list_all'
    jid=$(salt --async web1 test.ping | grep -oE '[0-9]{20}')
    offers() { tab salt-run jobs.lookup_jid 20 | grep -qw "$1"; }
    until_true 5 offers "$jid"
    tab salt web1 saltutil.find_job 20 | grep -qw "$jid"
}

@test "state files and environments" {
    is "$(tab salt web1 state.apply '')" 'top web web.'
    is "$(tab salt web1 state.apply top,web.)" 'top,web.ng.'
    is "$(tab salt web1 state.apply saltenv=dev w)" 'wild'
    is "$(tab salt web1 state.apply top saltenv=d)" 'dev'
    is "$(tab salt-run state.orchestrate web.ng.)" 'web.ng.b'
}

@test "state files and environments of gitfs, which only the master has" {
    command -v git >/dev/null || skip "no git"
    offers_branch() { [ "$(tab salt web1 state.apply top saltenv=)" = 'base branch dev' ]; }
    until_true 20 offers_branch
    is "$(tab salt web1 state.apply saltenv=branch re)" 'remote.'
    is "$(tab salt web1 state.apply saltenv=branch remote.)" 'remote.far'
}

@test "state files: who may read asks the master, for others there are none; without a master those of the folders" {
    local many=() n
    # Many at once are each answered, and one that hangs up before its answer harms nobody.
    for n in {1..30}; do many+=("$(ask '{"op":"names","kind":"sls","prefix":"we"}')"); done
    for n in "${many[@]}"; do [[ $n == *'"names":["web","web."]'* ]]; done
    for n in {1..30}; do timeout -s KILL 0.01 "$HALITE_TOOLS/local" "$SOCK_DIR" '{"op":"names","kind":"sls","prefix":"we"}' >/dev/null || :; done
    [[ $(ask '{"op":"names","kind":"sls","prefix":"","saltenv":"../.."}') == *'"names":[]'* ]]
    [[ $(ask '{"op":"names","kind":"sls","prefix":"","saltenv":"dev"}') == *'"names":["wild"]'* ]]
    mkdir -p alone
    cp "$FLEET/etc/master" alone/
    sed -i "s|^root_dir:.*|root_dir: $PWD/alone|" alone/master
    SALT_CONFIG_DIR=$PWD/alone run --separate-stderr "$HALITE_BIN/salt" --complete web1 state.apply w
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
    is "$(sort <<<"$output" | paste -sd ' ')" 'web web.'
    user=$(halite_unprivileged)
    [ -z "$user" ] || [ -z "$($user "$HALITE_BIN/salt" --complete web1 state.apply w)" ]
}

@test "keys by what an action takes" {
    is "$(tab salt-key -a '')" 'waits'
    is "$(tab salt-key -d '')" 'waits web1 web2'
    is "$(tab salt-key -r '')" 'waits'
    is "$(tab salt-key --include-accepted -r '')" 'waits web1 web2'
    is "$(tab salt-key --finger=we)" 'web1 web2'
    is "$(tab salt-key -l pr)" 'pre'
    is "$(tab salt-key '')" ''
}

@test "a key under a name that a shell would run is never offered" {
    local keys=$FLEET/master/etc/salt/pki/master/minions
    cp "$keys/web1" "$keys/a\$(touch\${IFS}ran)"
    is "$(tab salt a)" ''
    is "$(tab salt-key -d a)" ''
    is "$(tab salt '$(touch')" ''
    [ ! -e ran ]
    rm "$keys/a\$(touch\${IFS}ran)"
}

@test "an answer takes less than 10 ms of a processor" {
    [ -z "${SAN:-}" ] || skip "a sanitizer takes its time"
    "/usr/bin/python3" - "$HALITE_BIN" "$FLEET/etc" <<'PY'
import resource, subprocess, sys
programs, conf = sys.argv[1:]
for words in (["salt", ""], ["salt", "web1", "test."], ["salt", "web1", "state.apply", ""], ["salt-run", "jobs.lookup_jid", ""]):
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for n in range(20):
        subprocess.run([programs + "/" + words[0], "--complete", "-c", conf] + words[1:], stdout=subprocess.PIPE, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    each = (end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime) / 20
    assert each < 0.010, (words, each)
PY
}

@test "no master, no configuration, no permission: nothing, and not a word" {
    quiet() {
        run --separate-stderr "$@"
        [ "$status" -eq 0 ] && [ -z "$output" ] && [ -z "$stderr" ]
    }
    mkdir none broken
    echo 'sock_dir: [' >broken/master
    for dir in none broken nosuch; do
        export SALT_CONFIG_DIR=$PWD/$dir
        quiet salt --complete we
        quiet salt --complete -c "$FLEET/nosuch" we
        quiet salt-run --complete manage.
        quiet salt-key --complete -a ''
        quiet salt-call --complete --local state.apply ''
    done
    export SALT_CONFIG_DIR=$FLEET/etc
    user=$(halite_unprivileged)
    [ -n "$user" ] || skip "needs root, to be somebody else"
    quiet $user "$HALITE_BIN/salt" --complete we
    quiet $user "$HALITE_BIN/salt-key" --complete -d ''
}

@test "zsh" {
    type zsh >/dev/null 2>&1 || skip "zsh is not installed"
    for script in "$FLEET"/zsh/*; do zsh -n "$script"; done
    offered() {
        zsh -fc 'script=$1; shift
            compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- $@ }
            _describe() { print -l -- ${(P)3} }
            _files() { print files }
            words=("$@") CURRENT=$# PREFIX=${@[$#]}
            set --
            source $script' zsh "$FLEET/zsh/$1" "$@" | sort | paste -sd ' '
    }
    is "$(offered salt we)" 'web1 web2'
    is "$(offered salt web1 test.pi)" 'test.ping'
    is "$(offered salt-key -a '')" 'waits'
    is "$(offered salt nosuch)" 'files'
    offered salt -- | grep -qF -- '--static:Show all returns together when the last one is there'
}

@test "fish" {
    type fish >/dev/null 2>&1 || skip "fish is not installed"
    export HOME=$BATS_TEST_TMPDIR
    for script in "$FLEET"/fish/*; do fish --no-execute "$script"; done
    offered() { fish -N -c "source '$FLEET/fish/${1%% *}'; complete -C '$1'" | cut -f1 | sort | paste -sd ' '; }
    is "$(offered 'salt we')" 'web1 web2'
    is "$(offered 'salt web1 test.pi')" 'test.ping'
    is "$(offered 'salt-key -a w')" 'waits'
    is "$(offered 'salt --out=js')" '--out=json'
    is "$(offered 'salt --stat')" '--state-output --state-verbose --state_output --state_verbose --static'
}
