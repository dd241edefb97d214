#!/usr/bin/env bats
# 3075-zygote.bats - the interpreter that stays and forks those of jobs, once files import the package salt.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
    mkdir -p "$FLEET"/srv/_{modules,runners}
    cat >"$FLEET/own.py" <<'PY'
import os, resource, signal, subprocess, sys, time
import salt.utils.files
import salt.utils.json


def where():
    return {"pid": os.getpid(), "parent": os.getppid(), "group": os.getpgrp(), "cwd": os.getcwd(),
            "env": os.environ.get("OWN"), "odd": repr(os.environb.get(b"ODD")), "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
            "as": resource.getrlimit(resource.RLIMIT_AS)[0], "new": sorted(set(sys.modules) - at_import)}


at_import = set(sys.modules)


def work(path):
    """Tells its number, and its program's, and never ends."""
    child = subprocess.Popen(["sleep", "1000"])
    with open(path + ".new", "w") as file:
        file.write("%d %d\n" % (os.getpid(), child.pid))
    os.rename(path + ".new", path)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1000)


def forks(path):
    """Ten processes, each of which goes on as a child of its own, without an end."""
    for _ in range(10):
        if os.fork() == 0:
            while os.fork() == 0:
                pass
            os._exit(0)
    open(path, "w").close()
    signal.pause()


def background(path):
    child = subprocess.Popen(["sleep", "1000"])
    return child.pid


def kill_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    return True


def die():
    os._exit(3)
PY
    echo 'def hello(): return "plain"' >"$FLEET/srv/_modules/plain.py"
    start_master "file_roots: {base: [$FLEET/srv]}"
    OWN=before start_minion m1
    accept m1
    wait_connected m1
    wait_grains m1
}
teardown() { fleet_down; }

sync_own() {
    cp "$FLEET/own.py" "$FLEET/srv/_modules/"
    salt m1 saltutil.sync_modules >/dev/null
}
where() { # KEY of own.where
    salt m1 own.where --out=json --static | python3 -c 'import json, sys; print(json.load(sys.stdin)["m1"][sys.argv[1]])' "$1"
}
zygotes() { # the numbers of the minion's children that are interpreters
    pgrep -P "$(pid_of m1)" python3 || true
}
zygote_is_there() { [[ -n $(zygotes) ]]; }
zygote_is_gone() { [[ -z $(zygotes) ]]; }
gone() { [[ ! -d /proc/$1 ]]; }

@test "one stays once a file has imported the package, and forks the next ones with it" {
    salt m1 saltutil.sync_modules >/dev/null
    [[ $(salt m1 plain.hello --out=newline_values_only) = plain ]]
    zygote_is_gone
    sync_own
    until_true 10 zygote_is_there
    zygote=$(zygotes)
    [[ $(where parent) = "$zygote" && $(zygotes) = "$zygote" ]]
    [[ $(salt m1 plain.hello --out=newline_values_only) = plain ]]
}

@test "a state run of plain files brings one, too, and the next run is its child's" {
    mkdir -p "$FLEET/srv/_states"
    printf 'import os\n\n\ndef done(name):\n    return {"name": name, "result": True, "changes": {}, "comment": str(os.getppid())}\n' >"$FLEET/srv/_states/own.py"
    printf '{%% for i in range(120) %%}\nown_{{ i }}:\n  own.done: []\n{%% endfor %%}\n' >"$FLEET/srv/many.sls"
    salt m1 saltutil.sync_states >/dev/null
    zygote_is_gone
    salt m1 state.apply many >/dev/null
    until_true 10 zygote_is_there
    salt m1 state.apply many | grep -q "Comment: $(zygotes)\$"
}

@test "its children have the job's environment, folder, limits, and no module of a user's from before" {
    case ${SAN:-} in *address* | *thread*) skip "this sanitizer reserves more address space than that" ;; esac
    stop m1
    ODD=$'\xff=' start_minion m1 'job_memory_max: 3000000000'
    wait_connected m1
    sync_own
    until_true 10 zygote_is_there
    salt m1 environ.setenv '{OWN: job}' update_minion=True >/dev/null # in the minion's environment, after the zygote's start
    [[ $(where parent) = "$(zygotes)" ]]
    [[ $(where odd) = "b'\xff='" ]]
    [[ $(where env) = job && $(where core) = 0 && $(where as) = 3000000000 ]]
    # An ordinary user may not look at an undumpable process: the minion's folder is the one that it was started in.
    [ "$(where cwd)" = "$(readlink "/proc/$(pid_of m1)/cwd" || pwd -P)" ]
    [[ $(where new) = '[]' ]]
}

@test "a job that is killed takes its interpreter and what that runs along, whatever it ignores" {
    sync_own
    until_true 10 zygote_is_there
    jid=$(salt --async m1 own.work "$FLEET/numbers" --out=newline_values_only | grep -oE '[0-9]{20}' | head -n 1)
    until_true 10 test -s "$FLEET/numbers"
    read -r interpreter program <"$FLEET/numbers"
    [[ $(ps -o ppid= -p "$interpreter" | tr -d ' ') = "$(zygotes)" ]]
    salt m1 saltutil.kill_job "$jid" >/dev/null
    until_true 10 gone "$interpreter"
    until_true 10 gone "$program"
    [[ $(where parent) = "$(zygotes)" ]]
}

@test "processes of its that fork for ever end with the job" {
    sync_own
    until_true 10 zygote_is_there
    jid=$(salt --async m1 own.forks "$FLEET/forks" --out=newline_values_only | grep -oE '[0-9]{20}' | head -n 1)
    until_true 10 test -e "$FLEET/forks"
    salt m1 saltutil.kill_job "$jid" >/dev/null
    until_true 10 eval '[[ $(fleet_processes | grep -c python3) = 1 ]]'
    [[ $(where parent) = "$(zygotes)" ]]
}

@test "a program that a file leaves in the background outlives the job" {
    sync_own
    until_true 10 zygote_is_there
    program=$(salt m1 own.background x --out=newline_values_only)
    [[ $(where parent) = "$(zygotes)" ]]
    pid_alive "$program"
    kill "$program"
}

@test "an interpreter that ends harms its job alone; without the zygote, another one is started" {
    sync_own
    until_true 10 zygote_is_there
    run -1 salt m1 own.die
    [[ $output == *'python3 has ended before it answered'* ]]
    zygote=$(zygotes)
    run salt m1 own.kill_parent
    until_true 10 gone "$zygote"
    [[ $(salt m1 plain.hello --out=newline_values_only) = plain ]]
    where pid # which imports the package: another one stays
    until_true 10 zygote_is_there
    [[ $(where parent) = "$(zygotes)" ]]
    kill -STOP "$(zygotes)"
    zygote=$(zygotes)
    [[ $(salt m1 plain.hello --out=newline_values_only) = plain ]] # it does not answer: the job starts one itself
    kill -KILL "$zygote"
}

@test "a sync ends it, as does the end of the minion" {
    sync_own
    until_true 10 zygote_is_there
    zygote=$(zygotes)
    salt m1 saltutil.refresh_modules >/dev/null
    until_true 10 gone "$zygote"
    where pid
    until_true 10 zygote_is_there
    zygote=$(zygotes)
    stop m1
    until_true 10 gone "$zygote"
}

@test "one that a sync has told to leave waits for a long job, while the next one serves others" {
    local old new jid
    sync_own
    until_true 10 zygote_is_there
    old=$(zygotes)
    jid=$(salt --async m1 own.work "$FLEET/numbers" --out=newline_values_only | grep -oE '[0-9]{20}' | head -n 1)
    until_true 10 test -s "$FLEET/numbers"
    read -r interpreter program <"$FLEET/numbers"
    salt m1 saltutil.refresh_modules >/dev/null
    next_is_there() { where pid >/dev/null && new=$(zygotes | grep -vx "$old"); }
    until_true 10 next_is_there
    [[ $(where parent) = "$new" ]]
    pid_alive "$old" && pid_alive "$interpreter" && pid_alive "$program"
    salt m1 saltutil.kill_job "$jid" >/dev/null
    until_true 10 gone "$interpreter"
    until_true 10 gone "$program"
    until_true 10 gone "$old"
    [[ $(zygotes) = "$new" ]]
}

@test "the master has one for runners, too" {
    cat >"$FLEET/srv/_runners/mine.py" <<'PY'
import os
import salt.utils.files


def parent():
    return os.getppid()
PY
    salt-run saltutil.sync_runners >/dev/null
    [[ $(salt-run mine.parent) = "$(pid_of master)" ]] || pgrep -P "$(pid_of master)" python3
    master_has_one() { [[ -n $(pgrep -P "$(pid_of master)" python3) ]]; }
    until_true 10 master_has_one
    [[ $(salt-run mine.parent) = "$(pgrep -P "$(pid_of master)" python3)" ]]
}
