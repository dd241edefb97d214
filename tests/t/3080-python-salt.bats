#!/usr/bin/env bats
# 3080-python-salt.bats - Salt's own modules beside Halite: what is not built in is theirs. A small package of the test's own
# stands for Salt's; with HALITE_SALT=FOLDER, which has a real one, its modules are called too.

bats_require_minimum_version 1.5.0
load lib

setup() {
    export ROOT=$BATS_TEST_TMPDIR/root
    export PKG=$BATS_TEST_TMPDIR/pkg
    mkdir -p "$ROOT/etc" "$ROOT/srv/_modules" "$PKG"/salt/{modules,states,utils,client}
    touch "$PKG"/salt/{,modules/,states/,utils/,client/}__init__.py
    config "python_salt: $PKG"
    cat >"$PKG/salt/utils/frob.py" <<'PY'
def frob(text):
    return "frob " + text
PY
    cat >"$PKG/salt/modules/frobmod.py" <<'PY'
"""Frobs."""
import salt.utils.frob

__virtualname__ = "frob"


def __virtual__():
    return __virtualname__


def now(text):
    """Frob it."""
    return [salt.utils.frob.frob(text), __salt__["test.echo"](text), __utils__["frob.frob"](text), __salt__["frob.same"](text)]


def same(text):
    return text
PY
    cat >"$PKG/salt/modules/test.py" <<'PY'
def ping():
    return "Salt's"


def only_salts():
    return "only Salt's"
PY
    cat >"$PKG/salt/modules/cp.py" <<'PY'
def only_salts():
    return "never"
PY
    cat >"$PKG/salt/modules/lacking.py" <<'PY'
import nosuch_library


def call():
    return 1
PY
    cat >"$PKG/salt/states/frob.py" <<'PY'
def frobbed(name):
    return {"name": name, "changes": {}, "result": True, "comment": __salt__["frob.same"](name)}
PY
}

config() { # LINE...
    printf '%s\n' "root_dir: $ROOT" 'file_client: local' "file_roots: {base: [$ROOT/../srv]}" 'id: m1' "$@" >"$ROOT/etc/minion"
}
call() { "$HALITE_BIN/salt-call" --local -c "$ROOT/etc" -l error "$@"; }
json() { python3 -c 'import json, sys; d = json.load(sys.stdin)["local"]; print(eval(sys.argv.pop(1)))' "$@"; }

@test "a module of Salt's, found by the name that it takes, with its own helpers and built-in functions" {
    [ "$(call frob.now x --out=json | json d)" = "['frob x', 'x', 'frob x', 'x']" ]
    call sys.doc frob.now | grep -q 'Frob it.'
    [ "$(call sys.list_functions frob --out=json | json d)" = "['frob.now', 'frob.same']" ]
    run -0 call state.single frob.frobbed thing --out=json
    [ "$(json 'list(d.values())[0]["comment"]' <<<"$output")" = thing ]
}

@test "a helper of Salt's that calls itself otherwise than its file" {
    cat >"$PKG/salt/utils/knobmod.py" <<'PY'
import sys

__virtualname__ = "knob"


def __virtual__():
    return __virtualname__


def assign(module, name):
    setattr(sys.modules[module], name, lambda text: name + " " + text)
PY
    mkdir "$PKG/salt/utils/dialmod"
    printf '__virtualname__ = "dial"\n\n\ndef dial():\n    return "dialled"\n' >"$PKG/salt/utils/dialmod/__init__.py"
    cat >"$PKG/salt/modules/turned.py" <<'PY'
def __init__(opts):
    __utils__["knob.assign"](__name__, "_turn")


def call(text):
    return [_turn(text), __utils__["dial.dial"](), "knobmod.assign" in __utils__, "knob.nosuch" in __utils__, "nosuch.call" in __utils__]
PY
    [ "$(call turned.call x --out=json | json d)" = "['_turn x', 'dialled', True, False, False]" ]
}

@test "built-in functions come first, a user's file before both" {
    [ "$(call test.ping --out=json | json d)" = True ]
    [ "$(call test.only_salts --out=json | json d)" = "only Salt's" ]
    mkdir -p "$ROOT/../srv/_modules"
    printf 'def same(text):\n    return "mine"\n' >"$ROOT/../srv/_modules/frob.py"
    call saltutil.sync_modules >/dev/null
    [ "$(call frob.same x --out=json | json d)" = mine ]
    run call frob.now x
    [ "$status" -ne 0 ]
    [[ $output == *"'frob.now' is not available."* ]]
}

@test "modules that speak to Salt's daemons are not taken; one that lacks a library says so" {
    run call cp.only_salts
    [[ $output == *"'cp.only_salts' is not available."* ]]
    run call lacking.call
    [[ $output == *"lacking.py: line 1: ModuleNotFoundError: No module named 'nosuch_library'"* ]]
}

@test "lists have all of Salt's functions, and what hides them hides them there" {
    [ "$(call sys.list_modules 'fro*' --out=json | json d)" = "['frob']" ]
    [ "$(call sys.list_functions --out=json | json '[f for f in d if f[:4] in ("frob", "lack") or f.endswith("only_salts")]')" = \
        "['frob.now', 'frob.same', 'test.only_salts']" ]
    [ "$(call sys.list_state_functions --out=json | json '[f for f in d if f.startswith("frob")]')" = "['frob.frobbed']" ]
    mkdir -p "$PKG/salt/returners"
    printf 'def returner(ret):\n    """Keep it."""\n' >"$PKG/salt/returners/frob_return.py"
    [ "$(call sys.returner_doc --out=json | json d)" = "{'frob_return.returner': 'Keep it.'}" ]
}

@test "an error names what would bring the function" {
    config 'python_salt: off'
    run call junos.cli
    same_as "$output" <<<"'junos.cli' is not available. Salt's own junos is a file in Python, which is used where Salt's package is on the host: see the option python_salt."
    run call nosuch.thing
    [[ $output != *python_salt* ]]
    run call test.nosuch
    [[ $output != *python_salt* ]]
}

@test "what the grains tell of Python, which is not started for them, is what the interpreter says" {
    config 'python_salt: off' "module_dirs: [$ROOT/own]"
    mkdir -p "$ROOT/own/modules"
    printf 'def told():\n    return dict(__grains__)\n' >"$ROOT/own/modules/pytold.py"
    PATH=/usr/bin:/bin call grains.items --out=json >"$ROOT/found"
    PATH=/usr/bin:/bin call pytold.told --out=json >"$ROOT/said"
    for name in pythonexecutable pythonpath saltpath; do
        [ "$(json "d['$name']" <"$ROOT/found")" = "$(json "d['$name']" <"$ROOT/said")" ]
    done
    [ "$(json 'd["pythonversion"]' <"$ROOT/found")" = "$(json 'd["pythonversion"][:2]' <"$ROOT/said")" ]
    [ "$(json 'len(d["pythonversion"])' <"$ROOT/said")" = 5 ]
}

@test "python_salt: off; an interpreter that is not there" {
    mkdir -p "$ROOT/python/lib/python3.9" "$ROOT/python/bin"
    ln -s "$PKG" "$ROOT/python/lib/python3.9/site-packages"
    ln -s "$(command -v python3)" "$ROOT/python/bin/python3"
    config "python: $ROOT/python/bin/python3"
    [ "$(call frob.same y --out=json | json d)" = y ]
    config "python: $ROOT/python/bin/python3" 'python_salt: off'
    run call frob.now x
    [[ $output == *"'frob.now' is not available."* ]]
    config "python_salt: $PKG" 'python: /nonexistent/python3'
    run call frob.now x
    [[ $output == *"cannot run /nonexistent/python3: No such file or directory"* ]]
    [ "$(call test.ping --out=json | json d)" = True ]
}

@test "modules of a real Salt" {
    [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no folder with Salt's package"
    config "python_salt: $HALITE_SALT" "python: ${HALITE_SALT_PYTHON:-/usr/bin/python3}"
    [ "$(call mount.active --out=json | json '"/" in d or list(d)[0][0]')" != '' ]
    [ "$(call hashutil.base64_b64encode hello --out=json | json d)" = aGVsbG8= ]
    [ "$(call hosts.list_hosts --out=json | json '"127.0.0.1" in d')" = True ]
}

@test "options that only a file of a real Salt's reads reach it, without a word of having no effect" {
    [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no folder with Salt's package"
    mkdir "$ROOT/bin" "$ROOT/../srv"
    printf '#!/bin/sh\necho "$* of $PASSWORD_STORE_DIR"\n' >"$ROOT/bin/pass"
    chmod +x "$ROOT/bin/pass"
    config "python_salt: $HALITE_SALT" "python: ${HALITE_SALT_PYTHON:-/usr/bin/python3}" 'pass_variable_prefix: "pass:"' "pass_dir: $ROOT/store"
    printf '%s\n' '#!yaml|pass' 'a:' '  test.configurable_test_state:' '    - comment: "pass:web/db"' '    - result: True' '    - changes: False' >"$ROOT/../srv/secret.sls"
    PATH=$ROOT/bin:$PATH run call state.apply secret --out=json -l info
    [[ $output == *"show web/db of $ROOT/store"* ]]
    [[ $output != *"no effect"* ]]
}

@test "calls of a real Salt's modules, and their names, are those of its own loader" {
    [ -n "${HALITE_SALT:-}" ] || skip "HALITE_SALT names no folder with Salt's package"
    python3 "$BATS_TEST_DIRNAME/../oracle/python_calls.py" >&2
}

@test "a file whose __virtual__ asks for functions, its own and others', is loaded once" {
    mkdir -p "$ROOT/../srv/_modules"
    cat >"$ROOT/../srv/_modules/asks.py" <<'PY'
__virtualname__ = "asked"


def __virtual__():
    return "asked.call" not in __salt__ and "frob.now" in __salt__ and "later.call" in __salt__


def call():
    return [__salt__["asked.other"](), __salt__["later.call"]()]


def other():
    return "other"
PY
    cat >"$ROOT/../srv/_modules/later.py" <<'PY'
def __virtual__():
    return "asked.call" not in __salt__


def call():
    return "asked.call" in __salt__
PY
    printf 'def __virtual__():\n    return False\n' >"$ROOT/../srv/_modules/mute.py"
    call saltutil.sync_modules >/dev/null
    [ "$(call asked.call --out=json | json d)" = "['other', True]" ]
    run call mute.call
    [[ $output == "'mute' __virtual__ returned False"* ]]
    not grep -q 'returned False:' <<<"$output"
}

@test "make coverage counts what is built in, and what a real Salt's files bring" {
    printf '#!/bin/sh\necho file.managed cmd.run\n' >"$ROOT/tables"
    chmod +x "$ROOT/tables"
    printf '%s\n' '# corpus, repository, number, functions' $'one\tA\t1\tfile.managed=2 cmd.run=1' $'one\tB\t1\tfrob.frobbed=1' \
        $'two\tC\t1\tcmd.run=3 nosuch.there=1' $'two\tD\t1\tknob.turned=1' >"$ROOT/list"
    HALITE_SALT='' run -0 "$BATS_TEST_DIRNAME/../lib/coverage.py" "$ROOT/tables" "$ROOT/list" "$HALITE_BIN/salt-call"
    [[ $output == *'all        2 of 5 (40.0 %)      6 of 9 (66.7 %)            1 of 4 (25.0 %)            1 of 4 (25.0 %)'* ]]
    [[ $output == *"with Salt's own files on this machine: skipped: HALITE_SALT names no folder"* ]]
    echo '{"local": ["knob.turned"]}' >"$ROOT/also"
    HALITE_SALT=$PKG HALITE_SALT_PYTHON='' run -0 "$BATS_TEST_DIRNAME/../lib/coverage.py" "$ROOT/tables" "$ROOT/list" "$HALITE_BIN/salt-call" --also "$ROOT/also"
    # B is whole by the file of this machine, D by that of the other's list.
    [ "$(grep -c 'all .* 2 of 4 (50.0 %)$' <<<"$output")" = 2 ]
    [[ $output == *'missing in most repositories: nosuch.there (1), knob.turned (1)'*'missing in most repositories: frob.frobbed (1), nosuch.there (1)'* ]]
    run "$BATS_TEST_DIRNAME/../lib/coverage.py" "$ROOT/tables" "$ROOT/nosuch"
    [[ $output == *"coverage: skipped: $ROOT/nosuch is not there"* ]]
}
