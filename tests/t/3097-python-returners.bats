#!/usr/bin/env bats
# 3097-python-returners.bats - users' returners: who asks for them, what they get, how they fail.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET"/srv/_returners "$FLEET/more"
    export SRV=$FLEET/srv
    cat >"$SRV/_returners/book.py" <<PY
import json


def returner(ret):
    """Write the return into a book."""
    page = {key: ret.get(key) for key in ("id", "fun", "fun_args", "return", "retcode", "success", "ret_config", "ret_kwargs", "schedule")}
    page["sees"] = [__opts__["id"], __salt__["test.echo"]("x")]
    with open("$FLEET/book", "a") as book:
        book.write(json.dumps(page) + "\\n")


def get_load(jid):
    """Return a load."""
    return {}
PY
    cat >"$SRV/_returners/bad.py" <<'PY'
import os
import time


def returner(ret):
    if ret["fun_args"] == ["die"]:
        os._exit(3)
    if ret["fun_args"] == ["hang"]:
        time.sleep(600)
    raise ValueError("the disk is full of " + ret["fun"])
PY
    printf '__virtualname__ = "base"\n\n\ndef __virtual__():\n    return False, "no database here"\n\n\ndef returner(ret):\n    pass\n' \
        >"$SRV/_returners/absent.py"
    printf 'def returner(ret):\n    with open("%s", "a") as book:\n        book.write(ret["jid"] + "\\n")\n' "$FLEET/shelf" >"$FLEET/more/shelf.py"
    start_master "file_roots: {base: [$SRV]}"
    start_minion m1 "returner_dirs: [$FLEET/more]"
    accept m1
    wait_connected m1
}
teardown_file() { fleet_down; }
setup() { rm -f "$FLEET/book"; }

call() { salt m1 "$@" --out=json --static; }
book() { # EXPRESSION: of `d`, the last page of the book, which may be still to come
    until_true 10 test -s "$FLEET/book"
    tail -1 "$FLEET/book" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}
logged() { until_true 10 grep -qF -e "$1" "$FLEET/log/m1"; }

@test "a job's returner gets the return, and the master too" {
    call saltutil.sync_returners | grep -q returners.book
    call test.arg a --return=book | grep -q '"a"'
    [ "$(book '[d[k] for k in ("id", "fun", "fun_args", "retcode", "success", "ret_config", "sees")]')" = \
        "['m1', 'test.arg', ['a'], 0, True, None, ['m1', 'x']]" ]
    rm "$FLEET/book"
    call test.ping --return=book --return_config=other --return_kwargs='{"db": 7}' | grep -q true
    [ "$(book '[d[k] for k in ("return", "ret_config", "ret_kwargs")]')" = "[True, 'other', {'db': 7}]" ]
    call test.ping --return=book,book,shelf >/dev/null
    until_true 10 test -s "$FLEET/shelf"
    [ "$(wc -l <"$FLEET/book")" = 2 ]
}

@test "a returner that fails, ends, hangs or is not there is an error of the log; the master has the return" {
    [ "$(salt m1 test.echo one --return=bad --out=newline_values_only)" = one ]
    logged 'The return failed for job'
    logged 'returner bad: the disk is full of test.echo'
    grep -q 'bad.py", line 10, in returner' "$FLEET/log/m1"
    [ "$(salt m1 test.echo die --return=bad,book --out=newline_values_only)" = die ]
    logged 'returner bad: python3 has ended before it answered'
    [ "$(book 'd["return"]')" = die ]
    [ "$(salt m1 test.echo two --return=base,nosuch,cmd.run --out=newline_values_only)" = two ]
    logged "Returner base could not be loaded: 'base' __virtual__ returned False: no database here"
    logged "Returner nosuch could not be loaded: 'nosuch.returner' is not available."
    logged "Returner cmd.run could not be loaded: 'cmd.run.returner' is not available."
    [ "$(salt m1 test.echo hang --return=bad --out=newline_values_only)" = hang ]
    salt m1 saltutil.kill_all_jobs >/dev/null
}

@test "salt-call --return, with and without a master; the option return" {
    salt_call m1 --local test.arg b --return=book 2>/dev/null | grep -q b
    [ "$(book '[d["id"], d["fun_args"]]')" = "['m1', ['b']]" ]
    rm "$FLEET/book"
    salt_call m1 test.echo c --return=book | grep -q c
    [ "$(book 'd["return"]')" = c ]
    rm "$FLEET/book"
    run salt_call m1 --local test.echo d --return=bad
    [ "$status" -eq 0 ]
    [[ $output == *'returner bad: the disk is full'* ]]
    echo 'return: [book, shelf]' >>"$FLEET/etc/m1/minion"
    rm "$FLEET/shelf"
    salt_call m1 --local test.echo e >/dev/null
    [ "$(book 'd["return"]')" = e ]
    [ -s "$FLEET/shelf" ]
}

@test "jobs of the schedule have returners of their own" {
    salt m1 schedule.add once function=test.echo job_args='[f]' seconds=1 run_on_start=True returner=book \
        return_kwargs='{"x": 1}' >/dev/null
    [ "$(book '[d["return"], d["schedule"], d["ret_kwargs"]]')" = "['f', 'once', {'x': 1}]" ]
    salt m1 schedule.delete once >/dev/null
}

@test "sys tells of returners" {
    [ "$(call sys.list_returners | python3 -c 'import json, sys; print(json.load(sys.stdin)["m1"])')" = "['bad', 'book', 'shelf']" ]
    [ "$(salt m1 sys.list_returners 'b*' --out=txt)" = "m1: ['bad', 'book']" ]
    [ "$(salt m1 sys.list_returner_functions book --out=txt)" = "m1: ['book.get_load', 'book.returner']" ]
    [ "$(salt m1 sys.returner_doc book.returner --out=txt)" = "m1: {'book.returner': 'Write the return into a book.'}" ]
    [ "$(salt m1 sys.returner_argspec shelf --out=txt)" = \
        "m1: {'shelf.returner': {'args': ['ret'], 'defaults': None, 'varargs': None, 'kwargs': None}}" ]
    [ "$(salt m1 sys.returner_doc nosuch --out=txt)" = 'm1: {}' ]
}
