#!/usr/bin/env bats
# 3070-python-modules.bats - users' modules in Python: execution modules, states, grains, utils and runners.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET"/srv/_{modules,states,grains,utils,runners} "$FLEET/pillar"
    export SRV=$FLEET/srv
    echo "base: {'*': [data]}" >"$FLEET/pillar/top.sls"
    echo 'colour: green' >"$FLEET/pillar/data.sls"
    modules
    start_master "file_roots: {base: [$SRV]}" "pillar_roots: {base: [$FLEET/pillar]}"
    start_minion m1
    accept m1
    wait_connected m1
    wait_grains m1
}
teardown_file() { fleet_down; }

json() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv.pop(1)))' "$@"; }
call() { # FUN WORD...: m1's return as JSON
    salt m1 "$@" --out=json --static | json 'json.dumps(d["m1"], sort_keys=True)'
}
said() { # FUN WORD...: m1's return as text, of a job that may fail
    run --separate-stderr salt m1 "$@" --out=json --static
    json 'd["m1"]' <<<"$output"
}

modules() {
    cat >"$SRV/_utils/shared.py" <<'PY'
def greeting(name):
    return "hello " + name
PY
    cat >"$SRV/_modules/greet.py" <<'PY'
"""Greetings."""
import shared

__func_alias__ = {"list_": "list"}
__opts__ = {"greet.word": "well"}


def __init__(opts):
    __context__["started"] = opts["id"]


def hello(name="you", *args, **kwargs):
    """Greets.

    CLI Example::

        salt '*' greet.hello
    """
    named = {key: value for key, value in kwargs.items() if not key.startswith("__")}
    return {"said": shared.greeting(name), "again": __utils__["shared.greeting"](name), "args": args, "named": named}


def seen():
    return [__grains__["id"], __pillar__.value()["colour"], __opts__["greet.word"], __opts__["test"],
            __context__["started"], __opts__["id"], sorted(k for k in __salt__ if k.startswith("greet."))]


def kinds():
    echo = __salt__["test.echo"]
    return [echo((1, 2)), echo(b"ab") == b"ab", __salt__.test.ping(), "nosuch.fun" in __salt__,
            __salt__.get("nosuch.fun"), __salt__["other.kind"]((1, 2), {3: 4})]


def caught():
    from salt.exceptions import CommandExecutionError

    try:
        __salt__["test.raise_exception"]("salt.exceptions.CommandExecutionError", "as asked")
    except CommandExecutionError as e:
        return str(e)


def list_():
    return [1]


def _private():
    return 1


def syncs():
    before = __salt__["greet.two"](1, 2)
    __salt__["saltutil.sync_modules"]()
    return [before, __salt__["fresh.added"]()]


def state():
    __context__["retcode"] = 7
    return "seven"


def raises():
    raise ValueError("no such luck")


def raises_below():
    try:
        __import__("json").loads("{")
    except ValueError as e:
        raise KeyError("no such word") from e


def gives_up():
    from salt.exceptions import CommandExecutionError

    raise CommandExecutionError("the work failed")


def two(a, b):
    return [a, b]


def prints():
    print("a printed line")
    return True


def ends():
    import sys

    sys.exit(5)


def dies():
    import os

    os._exit(5)


def odd():
    return {"o": object, 1: {2}, "f": 1e400}


def wait(path):
    import time

    open(path, "w").close()
    time.sleep(600)
PY
    cat >"$SRV/_modules/other.py" <<'PY'
def kind(a, b):
    return [type(a).__name__, type(list(b)[0]).__name__]
PY
    cat >"$SRV/_modules/more_cmd.py" <<'PY'
__virtualname__ = "cmd"


def __virtual__():
    return __virtualname__


def run(cmd):
    return "never"


def shout(text):
    return text.upper()
PY
    cat >"$SRV/_modules/absent.py" <<'PY'
def __virtual__():
    return False, "there is no frobnicator here"


def call():
    pass
PY
    printf 'def x(:\n' >"$SRV/_modules/broken.py"
    cat >"$SRV/_states/thing.py" <<'PY'
def made(name, colour="red", **kwargs):
    """Makes a thing."""
    ret = {"name": name, "changes": {}, "result": None, "comment": "would be made"}
    if __opts__["test"]:
        return ret
    ret["result"] = __states__["file.managed"](name, contents=colour)["result"]
    ret["changes"] = {"id": __low__["__id__"], "env": __env__, "rest": sorted(kwargs), "ran": len(__running__)}
    ret["comment"] = "made"
    return ret


def mod_watch(name, sfun=None, **kwargs):
    return {"name": name, "changes": {"watched by": sfun}, "result": True, "comment": "looked"}


def raises(name):
    raise ValueError("out of things")
PY
    cat >"$SRV/_grains/place.py" <<'PY'
def place(grains):
    return {"place": "rack of " + grains["id"]}


def broken():
    raise KeyError("shelf")
PY
    cat >"$SRV/_runners/fleet.py" <<'PY'
def size(extra=0):
    return len(__salt__["manage.up"]()) + extra
PY
}

@test "what is synchronised is there at once, with its documentation and arguments" {
    local all='["modules.absent", "modules.broken", "modules.greet", "modules.more_cmd", "modules.other"]'
    [ "$(said greet.hello)" = "'greet.hello' is not available." ]
    [ "$(salt m1 saltutil.sync_all --out=json --static | json 'json.dumps(sorted(d["m1"]["modules"]))')" = "$all" ]
    [ "$(call greet.hello bob 1 2 a=3)" = \
        '{"again": "hello bob", "args": [1, 2], "named": {"a": 3}, "said": "hello bob"}' ]
    [ "$(call greet.list)" = '[1]' ]
    [[ $(said greet._private) == *"not available"* ]]
    [ "$(call sys.argspec greet.hello)" = \
        '{"greet.hello": {"args": ["name"], "defaults": ["you"], "kwargs": true, "varargs": true}}' ]
    salt m1 sys.doc greet.hello | grep -q "salt '\*' greet.hello"
    salt m1 sys.list_functions greet | grep -q greet.seen
    not grep -q 'greet._private' <<<"$(salt m1 sys.list_functions)"
}

@test "files see options, grains, pillar, context and functions of both kinds" {
    [ "$(call greet.seen | json 'd[:6]')" = "['m1', 'green', 'well', False, 'm1', 'm1']" ]
    [ "$(call greet.seen | json '"greet.seen" in d[6]')" = True ]
    [ "$(call greet.kinds)" = '[[1, 2], true, true, false, null, ["tuple", "int"]]' ]
    [ "$(call greet.caught)" = '"as asked"' ]
    [ "$(call slsutil.renderer string='{{ salt["greet.two"](1, 2)[1] + 1 }}' default_renderer=jinja)" = '"3"' ]
}

@test "a file of a module's name replaces it whole; a module's name elsewhere adds to it" {
    cat >"$SRV/_modules/test.py" <<'PY'
def ping():
    return "mine"
PY
    salt m1 saltutil.sync_modules >/dev/null
    [ "$(call test.ping)" = '"mine"' ]
    [[ $(said test.echo x) == *"'test.echo' is not available."* ]]
    [ "$(call cmd.shout hush)" = '"HUSH"' ]
    [ "$(call cmd.run 'echo real')" = '"real"' ]
    rm "$SRV/_modules/test.py"
    salt m1 saltutil.sync_modules >/dev/null
    [ "$(call test.ping)" = true ]
}

@test "a module in a built-in's place that answers something else fails the states that ask it, and is named" {
    printf 'def list_():\n    return ["a"]\n__func_alias__ = {"list_": "list"}\ndef active():\n    return {"no": 1}\n' >"$SRV/_modules/tuned.py"
    printf 'def config(*args, **kwargs):\n    return None\n' >"$SRV/_modules/apache.py"
    salt m1 saltutil.sync_modules >/dev/null
    said state.single tuned.profile a
    [[ $output == *"tuned.active answers {'no': 1}, and not a text"* ]]
    said state.single apache.configfile "$FLEET/site.conf" 'config=[]'
    [[ $output == *'apache.config answers None, and not a text'* ]]
    rm "$SRV/_modules/"{tuned,apache}.py
    salt m1 saltutil.sync_modules >/dev/null
}

@test "a function that synchronises goes on, with what came" {
    printf 'def added():\n    return "new"\n' >"$SRV/_modules/fresh.py"
    [ "$(call greet.syncs)" = '[[1, 2], "new"]' ]
}

@test "errors are Salt's, and name the user's file and line" {
    [ "$(said absent.call)" = "'absent' __virtual__ returned False: there is no frobnicator here" ]
    [[ $(said broken.x) == *"/modules/broken.py: line 1: SyntaxError: "* ]]
    [[ $(said greet.raises) == "The minion function caused an exception: Traceback "*"/greet.py\", line "*", in raises"*"ValueError: no such luck" ]]
    not grep -q 'loader.py' <<<"$(said greet.raises)"
    below=$(said greet.raises_below)
    [[ $below == *"in raises_below"*"JSONDecodeError: "*"direct cause"*"in raises_below"*"KeyError: 'no such word'" ]]
    not grep -q 'json/decoder.py' <<<"$below"
    grep -q 'json/decoder.py' "$FLEET/log/m1"
    [ "$(said greet.gives_up)" = 'ERROR: the work failed' ]
    [[ $(said greet.two 1) == "Passed invalid arguments to greet.two: two() missing 1 required positional argument: 'b'"* ]]
    [[ $(said greet.two 1 2 c=3) == *"The following keyword arguments are not valid: c=3"* ]]
    [[ $(said greet.helo) == *"Did you mean 'greet.hello'?"* ]]
    [[ $(said greet.ends) == *"RuntimeError: ends called sys.exit(5)" ]]
    [[ $(said greet.dies) == *"python3 has ended before it answered"* ]]
    run --separate-stderr salt m1 greet.state --out=json --static
    [ "$status" -ne 0 ]
    [ "$(json 'd["m1"]' <<<"$output")" = seven ]
    salt m1 greet.odd --out=txt >&2
    [ "$(salt m1 greet.odd --out=json --static | json 'd["m1"]["o"]')" = "<class 'object'>" ]
}

@test "a printed line is one of the log; a killed job leaves no interpreter" {
    [ "$(call greet.prints)" = true ]
    until_true 5 grep -q 'greet: a printed line' "$FLEET/log/m1"
    local jid
    salt --async m1 greet.wait "$FLEET/waits" >/dev/null
    until_true 10 test -e "$FLEET/waits"
    jid=$(salt m1 saltutil.running --out=json --static | json '[j["jid"] for j in d["m1"] if j["fun"] == "greet.wait"][0]')
    salt m1 saltutil.kill_job "$jid" >/dev/null
    until_true 10 not pgrep -s "$(pid_of m1)" python3 || until_true 10 eval '[ -z "$(fleet_processes | grep python3)" ]'
}

@test "grains: gathered at the sync, after the others; one that fails loses its own" {
    until_true 10 eval '[ "$(call grains.get place)" = "\"rack of m1\"" ]'
    grep -q "place.py are missing: broken(): line [0-9]*: KeyError: 'shelf'" "$FLEET/log/m1"
    [ "$(salt -G 'place:rack of m1' test.ping --out=txt)" = 'm1: True' ]
}

@test "states: run, test mode, watch, failures; a highstate synchronises first" {
    cat >"$SRV/top.sls" <<SLS
base: {'*': [things]}
SLS
    cat >"$SRV/things.sls" <<SLS
{{ salt['greet.two']('one', 2)[0] }}:
  thing.made:
    - name: $FLEET/thing
    - size: 3
other:
  thing.made:
    - name: $FLEET/other
    - watch:
      - thing: one
bad:
  thing.raises: []
SLS
    printf '\n\ndef fresh():\n    return "fresh"\n' >>"$SRV/_modules/greet.py"
    run --separate-stderr salt m1 state.apply test=True --out=json --static
    [ "$(json '[s["result"] for s in d["m1"].values()]' <<<"$output")" = '[None, True, False]' ]
    [ ! -e "$FLEET/thing" ]
    [ "$(call greet.fresh)" = '"fresh"' ]
    run --separate-stderr salt m1 state.apply --out=json --static
    [ "$(json 'sorted([s["changes"] for s in d["m1"].values()][0].items())' <<<"$output")" = \
        "[('env', 'base'), ('id', 'one'), ('ran', 0), ('rest', ['size'])]" ]
    [[ $(json 'list(d["m1"].values())[2]["comment"]' <<<"$output") == "An exception occurred in this state: Traceback"*"/thing.py\", line "*"ValueError: out of things" ]]
    [ "$(cat "$FLEET/thing")" = red ]
}

@test "grains that come with a highstate are there for the modules that come with it" {
    printf 'def late():\n    return {"late": "grain"}\n' >"$SRV/_grains/late.py"
    printf 'def seen():\n    return __grains__.get("late")\n' >"$SRV/_modules/later.py"
    printf '%s\n' 'seen:' '  test.configurable_test_state:' '    - comment: {{ salt["later.seen"]() }} {{ grains.late }}' >"$SRV/things.sls"
    salt m1 state.apply --out=json --static | json '[s["comment"] for s in d["m1"].values()]' >"$FLEET/late"
    [ "$(cat "$FLEET/late")" = "['grain grain']" ]
}

@test "runners of _runners, from salt-run" {
    salt-run saltutil.sync_runners --out=json | grep -q runners.fleet
    [ "$(salt-run fleet.size extra=2 --out=json)" = 3 ]
    run salt-run fleet.nosuch
    [ "$status" -ne 0 ]
}

@test "values that look like tags of the conversation: in a state's chunk, in what ran before, in a state's return" {
    cat >"$SRV/_states/tagged.py" <<'PY'
def seen(name, **kwargs):
    before = [state["changes"]["new"] for state in __running__.values()]
    return {"name": name, "result": True, "changes": {"new": {"$py": ["int", "none"]}}, "comment": repr([__low__.get("odd"), before])}


def called(name):
    return dict(__states__["tagged.seen"](name, test=False), comment="called")
PY
    cat >"$SRV/tagged.sls" <<'SLS'
first:
  tagged.seen:
    - odd: {"$py": [dict, [[[], 1]]]}
second:
  tagged.seen: []
third:
  tagged.called: []
SLS
    salt m1 saltutil.sync_states >/dev/null
    said state.apply tagged
    [ "$(json '[s["comment"] for s in sorted(d["m1"].values(), key=lambda s: s["__run_num__"])]' <<<"$output")" = \
        "[\"[{'\$py': ['dict', [[[], 1]]]}, []]\", \"[None, [{'\$py': ['int', 'none']}]]\", 'called']" ]
}

@test "a state after one that ended the interpreter: it is given what it is of" {
    cat >"$SRV/_states/ends.py" <<'PY'
import os


def here(name):
    os._exit(3)


def seen(name):
    return {"name": name, "result": True, "changes": {}, "comment": __low__["__id__"] + " after " + ",".join(__running__)}
PY
    cat >"$SRV/ends.sls" <<'SLS'
first:
  ends.here: []
second:
  ends.seen: []
SLS
    salt m1 saltutil.sync_states >/dev/null
    said state.apply ends
    [ "$(json '[s["comment"] for s in d["m1"].values() if s["result"]]' <<<"$output")" = "['second after ends_|-first_|-first_|-here']" ]
}

@test "texts that are no UTF-8 harm nothing else: a file's name, a reason, a name that is asked for" {
    local folder=$FLEET/m1/var/cache/salt/minion/extmods/modules
    printf '__virtualname__ = "named"\n\n\ndef __virtual__():\n    return __virtualname__\n\n\ndef here():\n    return True\n' >"$SRV/_modules/under_another.py"
    printf 'def __virtual__():\n    return False, "no \\udcff here"\n' >"$SRV/_modules/absent.py"
    printf 'def asks():\n    return "x.\\udcff" in __salt__\n' >"$SRV/_modules/asking.py"
    salt m1 saltutil.sync_modules >/dev/null
    cp "$SRV/_modules/greet.py" "$folder"/$'odd\xff.py'
    [ "$(call named.here)" = true ]
    grep -q "is not used: its name is not UTF-8" "$FLEET/log/m1"
    [ "$(call asking.asks)" = false ]
    rm "$folder"/$'odd\xff.py'
}

@test "dicts with keys of several kinds keep them, their values and their order on the way there and back" {
    cat >"$SRV/_modules/mixed.py" <<'PY'
class Text(str):
    pass


def there_and_back():
    value = {"z": 1, 2: "b", "a": {None: [True, (1.5, b"x")]}, Text("t"): Text("v"), "odd\udcff": "\ud83d\ude00\udcff", "q": iter("xy")}
    return repr(__salt__["test.echo"](value))
PY
    salt m1 saltutil.sync_modules >/dev/null
    said mixed.there_and_back
    [ "$(json 'd["m1"]' <<<"$output")" = "{'z': 1, 2: 'b', 'a': {None: [True, (1.5, b'x')]}, 't': 'v', 'odd�': '😀�', 'q': ['x', 'y']}" ]
}

@test "bytecode that can't be kept leaves no file behind" {
    local kept=$FLEET/m1/var/cache/salt/minion/python file
    salt m1 greet.hello >/dev/null
    for file in "$kept"/*.py.*; do
        rm "$file" && mkdir "$file" # which no file replaces
    done
    salt m1 saltutil.refresh_modules >/dev/null # none stays that has read them
    salt m1 greet.hello >/dev/null
    [ -z "$(find "$kept" -maxdepth 1 -type f)" ]
    rmdir "$kept"/*.py.*
}
