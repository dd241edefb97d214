#!/usr/bin/env bats
# 3085-python-extensions.bats - files of installed distributions (entry points of the group salt.loader), in a tree of the test's
# own: beside its interpreter.

bats_require_minimum_version 1.5.0
load lib

setup() {
    export ROOT=$BATS_TEST_TMPDIR/root
    mkdir -p "$ROOT/etc" "$ROOT/srv/_modules"
    python3 -m venv --without-pip "$ROOT/python"
    SITE=$(echo "$ROOT"/python/lib/python3*/site-packages)
    printf '%s\n' "root_dir: $ROOT" 'file_client: local' "file_roots: {base: [$ROOT/srv]}" "python: $ROOT/python/bin/python3" 'id: m1' \
        "states_dirs: [$ROOT/states]" >"$ROOT/etc/minion"
}
teardown() { [ -z "${FLEET:-}" ] || fleet_down; }
call() { "$HALITE_BIN/salt-call" --local -c "$ROOT/etc" -l error "$@"; }
value() { call "$@" --out=newline_values_only; }
distribution() { # NAME ENTRY_POINT...: its description
    mkdir -p "$SITE/$1-1.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n' "$1" >"$SITE/$1-1.0.dist-info/METADATA"
    printf '%s\n' '[console_scripts]' 'x = y:z' '' '[salt.loader]' "${@:2}" >"$SITE/$1-1.0.dist-info/entry_points.txt"
}
file() { mkdir -p "$(dirname "$1")" && printf "${@:2}" >"$1"; }

@test "a package, a function that gives a dict, one that gives a list; a broken one harms none" {
    distribution saltext.frob 'saltext.frob = saltext.frob'
    file "$SITE/saltext/frob/__init__.py" ''
    file "$SITE/saltext/frob/helper.py" 'WORD = "frob"\n'
    file "$SITE/saltext/frob/modules/__init__.py" ''
    file "$SITE/saltext/frob/modules/frobmod.py" \
        'from saltext.frob.helper import WORD\n\n__virtualname__ = "frob"\n\n\ndef __virtual__():\n    return __virtualname__\n\n\ndef now():\n    return [WORD, __salt__["test.echo"](1), __grains__["id"]][0]\n'
    file "$SITE/saltext/frob/grains/frobbed.py" 'def frobbed():\n    return {"frobbed": "yes"}\n'
    distribution dictful 'any = dictful:folders'
    file "$SITE/dictful.py" 'def folders():\n    return {"modules": ["%s"], "nosuch": ["/"]}\n' "$ROOT/dictful"
    file "$ROOT/dictful/dicted.py" 'def ok():\n    return "dicted"\n'
    distribution listful 'states_dirs = listful:states' 'broken = listful:nosuch'
    file "$SITE/listful.py" 'def states():\n    return ["%s"]\n' "$ROOT/listed"
    file "$ROOT/listed/listed.py" 'def done(name):\n    return {"name": name, "changes": {}, "result": True, "comment": "listed"}\n'
    [ "$(value frob.now 2>/dev/null)" = frob ]
    [ "$(value dicted.ok 2>/dev/null)" = dicted ]
    [[ $(call state.single listed.done name=x 2>/dev/null) == *'Comment: listed'* ]]
    [ "$(value grains.get frobbed 2>/dev/null)" = yes ]
    run call frob.now
    [[ $output == *'the extension listful:nosuch is not used: '*AttributeError* ]]
    [ "$(value sys.list_functions frob 2>/dev/null)" = "frob.now" ]
}

@test "options' folders precede extensions', which precede what a sync brought" {
    distribution first 'first = first'
    file "$SITE/first/__init__.py" ''
    file "$SITE/first/modules/both.py" 'def who():\n    return "extension"\n'
    file "$SITE/first/modules/test.py" 'def ping():\n    return "mine"\n'
    file "$SITE/first/states/both.py" 'def who(name):\n    return {"name": name, "changes": {}, "result": True, "comment": "extension"}\n'
    file "$ROOT/states/both.py" 'def who(name):\n    return {"name": name, "changes": {}, "result": True, "comment": "option"}\n'
    file "$ROOT/srv/_modules/both.py" 'def who():\n    return "synchronised"\n'
    [[ $(call saltutil.sync_modules) == *modules.both* ]]
    [ "$(value both.who)" = extension ]
    [ "$(value test.ping)" = mine ]
    [[ $(call state.single both.who name=x) == *'Comment: option'* ]]
}

@test "without such a distribution no interpreter starts" {
    mkdir -p "$SITE/other-1.0.dist-info"
    printf '[console_scripts]\nx = y:z\n' >"$SITE/other-1.0.dist-info/entry_points.txt"
    rm "$ROOT/python/bin/python3"
    [ "$(value test.echo x 2>&1)" = x ]
}

@test "a master calls no name unknown that an installed distribution may bring" {
    fleet_new
    start_master "python: $ROOT/python/bin/python3" 'ext_pillar: [{frobbed: a}]'
    until_log "$FLEET/log/master" "ext_pillar: there is no source 'frobbed'"
    stop master
    : >"$FLEET/log/master"
    distribution saltext.frob 'saltext.frob = saltext.frob'
    file "$SITE/saltext/frob/__init__.py" ''
    file "$SITE/saltext/frob/pillar/frobbed.py" 'def ext_pillar(minion_id, pillar, word):\n    return {"frob": word}\n'
    start_master "python: $ROOT/python/bin/python3" 'ext_pillar: [{frobbed: a}]'
    [ "$(salt-run pillar.show_pillar nobody --out=json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin))')" = "{'frob': 'a'}" ]
    [[ $(cat "$FLEET/log/master") != *'there is no source'* ]]
}
