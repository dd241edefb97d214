#!/usr/bin/env bats
# 3090-python-kinds.bats - users' files in Python that are neither modules nor states: external pillars, runners,
# renderers, outputters, drivers of sdb.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET"/srv/_{pillar,modules,runners} "$FLEET"/{pillar,more/pillar}
    export SRV=$FLEET/srv
    echo "base: {'*': [data]}" >"$FLEET/pillar/top.sls"
    echo 'colour: green' >"$FLEET/pillar/data.sls"
    pillars
    runners
    start_master "file_roots: {base: [$SRV]}" "pillar_roots: {base: [$FLEET/pillar]}" "pillar_timeout: 5" \
        "pillar_dirs: [$FLEET/more/pillar]" 'python_run_time: 60' \
        "reactor: [{'mine/run': [$FLEET/reacts.sls]}]" \
        'ext_pillar: [{site: [one, two]}, {keyed: {word: three}}, {plain: four}]'
    start_minion m1 'grains: {role: web}'
    accept m1
    wait_connected m1
    wait_grains m1
}
teardown_file() { fleet_down; }

json() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv.pop(1)))' "$@"; }
call() { # FUN WORD...: m1's return as JSON
    salt m1 "$@" --out=json --static | json 'json.dumps(d["m1"], sort_keys=True)'
}
master_log() { tail -c +"$(($1 + 1))" "$FLEET/log/master"; } # what was written after the first so many bytes
log_size() { stat -c %s "$FLEET/log/master"; }
configured() { # LIST: these are the master's external pillars from now on; JSON
    sed -i "s|^ext_pillar:.*|ext_pillar: $1|" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval '[ "$(salt-run config.get ext_pillar --out=json | json "json.dumps(d)")" = '"'$1' ]"
}

pillars() {
    cat >"$SRV/_pillar/site.py" <<'PY'
def ext_pillar(minion_id, pillar, *args):
    return {"site": {"id": minion_id, "colour": pillar["colour"], "args": list(args), "role": __grains__["role"],
                     "echo": __salt__["test.echo"]("x"), "own": __opts__["id"], 7: "seven",
                     "others": sorted(__ext_pillar__)}}
PY
    cat >"$SRV/_pillar/keyed_file.py" <<'PY'
__virtualname__ = "keyed"


def __virtual__():
    return __virtualname__


def ext_pillar(minion_id, pillar, word=None):
    return {"word": word, "before": pillar["site"]["id"]}
PY
    cat >"$FLEET/more/pillar/plain.py" <<'PY'
def ext_pillar(minion_id, pillar, one):
    return {"plain": one}
PY
    cat >"$SRV/_pillar/bad.py" <<'PY'
import os
import sys
import time


def ext_pillar(minion_id, pillar, how):
    if how == "raise":
        raise ValueError("no such site")
    if how == "exit":
        sys.exit(3)
    if how == "die":
        os._exit(3)
    if how == "list":
        return [1]
    while True:
        time.sleep(1)
PY
    printf 'def __virtual__():\n    return False, "no database here"\n\n\ndef ext_pillar(i, p, x):\n    return {}\n' \
        >"$SRV/_pillar/absent.py"
}

runners() {
    cat >"$SRV/_runners/canary.py" <<'PY'
import os
import sys
import time


def rollout(steps=2):
    for step in range(steps):
        __jid_event__.fire_event({"message": f"step {step}"}, "progress")
    __jid_event__.fire_event({"done": steps, "outputter": "json"}, "canary")
    return [__user__, __tag__ == "salt/run/" + __jid__]


def ends():
    sys.exit(4)


def dies():
    os._exit(4)


def noted(path):
    with open(path, "w") as out:
        out.write(__user__ + " " + __tag__.rpartition("/")[0])
    return True


def grows():
    return len(bytearray(1 << 30))


def hangs():
    time.sleep(600)
PY
    cat >"$SRV/roll.sls" <<'SLS'
roll:
  salt.runner:
    - name: canary.rollout
    - steps: 1
gone:
  salt.runner:
    - name: canary.dies
SLS
    cat >"$FLEET/reacts.sls" <<SLS
note:
  runner.canary.noted:
    - path: $FLEET/noted
SLS
}

@test "external pillars: arguments, what they see, their order; synchronised, or of pillar_dirs" {
    local since
    since=$(log_size)
    [ "$(call pillar.items)" = '{"colour": "green", "plain": "four"}' ]
    master_log "$since" | grep -q 'Specified ext_pillar interface site is unavailable'
    salt-run saltutil.sync_pillar --out=json | grep -q pillar.site
    [ "$(call pillar.items)" = '{"before": "m1", "colour": "green", "plain": "four", "site": {"7": "seven", "args": ["one", "two"], "colour": "green", "echo": "x", "id": "m1", "others": ["bad.ext_pillar", "keyed.ext_pillar", "plain.ext_pillar", "site.ext_pillar"], "own": "m1", "role": "web"}, "word": "three"}' ]
    [ "$(salt-run pillar.show_pillar m1 --out=json | json 'd["site"]["role"]')" = web ]
}

@test "external pillars: a failure harms that one only, and says why" {
    local since
    since=$(log_size)
    configured '[{"bad": "raise"}, {"bad": "exit"}, {"bad": "die"}, {"bad": "list"}, {"absent": "x"}, {"plain": "last"}]'
    [ "$(call pillar.items | json 'd["plain"]')" = last ]
    call pillar.items | json '"\n".join(d["_errors"])' >"$BATS_TEST_TMPDIR/errors"
    same_as "$(cat "$BATS_TEST_TMPDIR/errors")" <<'OUT'
Failed to load ext_pillar bad: no such site
Failed to load ext_pillar bad: bad.ext_pillar called sys.exit(3)
Failed to load ext_pillar bad: python3 has ended before it answered
Failed to load ext_pillar bad: it gave no mapping but list
OUT
    master_log "$since" | grep -q 'Specified ext_pillar interface absent is unavailable: no database here'
    master_log "$since" | grep -q 'bad.py", line [0-9]*, in ext_pillar'
}

@test "external pillars: one that does not end is ended at pillar_timeout" {
    configured '[{"plain": "first"}, {"bad": "hang"}]'
    local said
    said=$(call pillar.items)
    [ "$(json 'd["plain"]' <<<"$said")" = first ]
    same_as "$(json '"\\n".join(d["_errors"])' <<<"$said")" <<<"Failed to load ext_pillar bad: the time for it is over"
}

@test "external pillars: a user's file precedes the built-in source of its name" {
    printf 'def ext_pillar(minion_id, pillar, command):\n    return {"mine": command}\n' >"$SRV/_pillar/cmd_yaml.py"
    salt-run saltutil.sync_pillar >/dev/null
    configured '[{"cmd_yaml": "echo theirs: 1"}]'
    [ "$(call pillar.items)" = '{"colour": "green", "mine": "echo theirs: 1"}' ]
    rm "$SRV/_pillar/cmd_yaml.py"
    salt-run saltutil.sync_pillar >/dev/null
    [ "$(call pillar.items)" = '{"colour": "green", "theirs": 1}' ]
}

@test "external pillars: what comes of the minion's grains stays a value in files that see it" {
    cat >"$SRV/_pillar/echoes.py" <<'PY'
def ext_pillar(minion_id, pillar, key):
    return {"said": __grains__["evil"]}
PY
    printf 'wanted: 1\nsaid: {{ pillar["said"] }}\n' >"$FLEET/pillar/data.sls"
    salt-run saltutil.sync_pillar >/dev/null
    echo 'ext_pillar_first: True' >>"$MASTER_CONF"
    configured '[{"echoes": "x"}]'
    salt m1 grains.setval evil "$(printf 'x\nadmin: True')" >/dev/null
    until_true 10 eval '[[ $(call pillar.items) == *_errors* ]]'
    not grep -q '"admin": true' <<<"$(call pillar.items)"
    echo 'colour: green' >"$FLEET/pillar/data.sls"
    configured '[]'
}

@test "external pillars: what a file takes of the pillar so far stays the minion's where it was" {
    printf 'def ext_pillar(minion_id, pillar, key):\n    return {"copied": pillar["rendered"]}\n' >"$SRV/_pillar/copies.py"
    rm -f "$SRV/_pillar/echoes.py"
    mv "$SRV/_pillar/site.py" "$FLEET" # which mentions grains
    mkdir -p "$FLEET/tree/hosts/m1"
    echo '{{ grains["evil"] | json }}' >"$FLEET/tree/hosts/m1/rendered"
    printf 'wanted: 1\nsaid: {{ pillar["copied"] }}\n' >"$FLEET/pillar/data.sls"
    salt-run saltutil.sync_pillar >/dev/null
    salt m1 grains.setval evil harmless >/dev/null
    configured "[{\"file_tree\": {\"root_dir\": \"$FLEET/tree\", \"template\": true}}, {\"copies\": \"x\"}]"
    until_true 10 eval '[[ $(call pillar.items) == *"\"said\": \"harmless\""* ]]'
    salt m1 grains.setval evil "$(printf 'x\nadmin: True')" >/dev/null
    until_true 10 eval '[[ $(call pillar.items) == *_errors* ]]'
    not grep -q '"admin": true' <<<"$(call pillar.items)"
    echo 'colour: green' >"$FLEET/pillar/data.sls"
    mv "$FLEET/site.py" "$SRV/_pillar"
    configured '[]'
}

@test "external pillars: a minion without a master has its own" {
    halite_tmp
    mkdir -p "$ROOT"/{srv/_pillar,pillar}
    cp "$SRV/_pillar/site.py" "$ROOT/srv/_pillar"
    echo "base: {'*': [data]}" >"$ROOT/pillar/top.sls"
    echo 'colour: red' >"$ROOT/pillar/data.sls"
    printf '%s\n' "root_dir: $ROOT" 'id: lone' 'file_client: local' "file_roots: {base: [$ROOT/srv]}" \
        "pillar_roots: {base: [$ROOT/pillar]}" 'grains: {role: db}' 'ext_pillar: [{site: [one]}]' >"$CONF/minion"
    "$HALITE_BIN/salt-call" -c "$CONF" --local saltutil.sync_pillar --out=json | grep -q pillar.site
    [ "$("$HALITE_BIN/salt-call" -c "$CONF" --local pillar.get site:role --out=json)" = '{
    "local": "db"
}' ]
}

@test "runners: events of their own reach the bus and the terminal; who runs them" {
    salt-run saltutil.sync_runners --out=json | grep -q runners.canary
    run -0 --separate-stderr salt-run canary.rollout
    same_as "$(sed '/_stamp:/,+1d' <<<"$output")" <<OUT
event:
    ----------
    message:
        step 0
suffix:
    progress
event:
    ----------
    message:
        step 1
suffix:
    progress
{
    "suffix": "canary",
    "event": {
        "done": 2,
        "outputter": "json"
    }
}
- $(id -un)
- True
OUT
}

@test "runners: what ends or kills its interpreter fails alone, and so does what takes too long" {
    run salt-run canary.ends
    [ "$status" -ne 0 ]
    [[ $output == *"Exception occurred in runner canary.ends: "*"RuntimeError: ends called sys.exit(4)"* ]]
    run salt-run canary.dies
    [[ $output == *"Exception occurred in runner canary.dies: python3 has ended before it answered"* ]]
    sed -i 's/^python_run_time:.*/python_run_time: 1/' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval '[ "$(salt-run config.get python_run_time --out=json)" = 1 ]'
    run salt-run canary.hangs
    [ "$status" -ne 0 ]
    [[ $output == *"OutOfTime: the time for it is over"* ]]
    [ "$(salt-run test.arg x --out=json | json 'd["args"]')" = "['x']" ]
}

@test "runners: what takes more memory than python_run_memory fails alone" {
    case ${SAN:-} in ?*) skip "a sanitizer reserves more address space than that" ;; esac
    echo 'python_run_memory: 300000000' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_true 10 eval '[ "$(salt-run config.get python_run_memory --out=json)" = 300000000 ]'
    run salt-run canary.grows
    [ "$status" -ne 0 ]
    [[ $output == *"MemoryError"* ]]
    [ "$(salt-run test.arg x --out=json | json 'd["args"]')" = "['x']" ]
}

@test "runners: from an orchestration and from a reaction" {
    run --separate-stderr salt-run state.orchestrate roll --out=json
    [ "$status" -ne 0 ]
    [ "$(json '[(s["__id__"], s["result"]) for s in list(d["data"].values())[0].values()]' <<<"$output")" = "[('roll', True), ('gone', False)]" ]
    salt-run event.send mine/run '{}' >/dev/null
    until_true 10 test -s "$FLEET/noted"
    [ "$(cat "$FLEET/noted")" = 'Reactor salt/run' ]
}

@test "renderers: in a pipeline and alone, what they get, how they fail" {
    mkdir -p "$SRV/_renderers"
    cat >"$SRV/_renderers/mine.py" <<'PY'
def render(data, saltenv="base", sls="", argline="", **kwargs):
    if hasattr(data, "read"):
        data = "# of a template\n" + data.read()
    return data.replace("NAME", f"{saltenv}-{sls}-{argline}-" + str("tmplpath" in kwargs and "renderers" in kwargs))
PY
    cat >"$SRV/_renderers/rows.py" <<'PY'
def render(data, saltenv="base", sls="", **kwargs):
    return {line: {"test.nop": []} for line in data.splitlines()[1:] if line}


def odd():
    pass
PY
    printf 'def render(data, *args, **kwargs):\n    raise ValueError("no good")\n' >"$SRV/_renderers/bad.py"
    printf 'def __virtual__():\n    return False, "no library"\n\n\ndef render(data, *args, **kwargs):\n    return data\n' \
        >"$SRV/_renderers/absent.py"
    printf '#!mine word|yaml\nNAME:\n  test.nop\n' >"$SRV/one.sls"
    printf '#!jinja|mine|yaml\nNAME-{{ 1 + 1 }}:\n  test.nop\n' >"$SRV/two.sls"
    printf '#!rows\na\nb\n' >"$SRV/three.sls"
    local name
    for name in bad absent mien; do printf '#!%s\na: 1\n' $name >"$SRV/$name.sls"; done
    sls() { salt m1 state.show_sls "$1" --out=json --static | json 'list(d["m1"])'; }
    [ "$(call saltutil.sync_renderers)" = '["renderers.absent", "renderers.bad", "renderers.mine", "renderers.rows"]' ]
    [ "$(sls one)" = "['base-one-word-True']" ]
    [ "$(sls two)" = "['base-two--True-2']" ]
    [ "$(sls three)" = "['a', 'b']" ]
    run salt m1 state.show_sls bad --out=json --static
    [[ $output == *"bad.render: line 2: ValueError: no good\\nin salt://bad.sls"* ]]
    run salt m1 state.show_sls absent --out=json --static
    [[ $output == *'The renderer \"absent\" is not available: no library'* ]]
    run salt m1 state.show_sls mien --out=json --static
    [[ $output == *'The renderer \"mien\" is not available; there are '* ]]
}

@test "renderers: on the master where Python is allowed; what minions say is no part of their text" {
    salt-run saltutil.sync_renderers --out=json | grep -q renderers.mine
    printf '#!jinja|mine|yaml\nNAME: 1\n' >"$FLEET/pillar/data.sls"
    [ "$(call pillar.items | json 'sorted(d)')" = "['_errors']" ]
    grep -q "Python (#!py) is not allowed in what the master renders" "$FLEET/log/master"
    sed -i 's/^python_run_time:.*/renderer_functions_pillar: [py]/' "$MASTER_CONF"
    configured '[{"plain": "p"}]'
    [ "$(call pillar.items)" = '{"base-data--True": 1, "plain": "p"}' ]
    printf '#!jinja|mine|yaml\nNAME: {{ grains.id }}\n' >"$FLEET/pillar/data.sls"
    [[ $(call pillar.items) == *_errors* ]]
    until_true 5 grep -q 'a part of a program in Python' "$FLEET/log/master"
}

@test "outputters: of salt-call; one that fails or is not there" {
    echo 'colour: green' >"$FLEET/pillar/data.sls"
    mkdir -p "$SRV/_output"
    cat >"$SRV/_output/shout.py" <<'PY'
def output(data, **kwargs):
    return "SAID " + repr(data) + " " + __salt__["plain.output"](data)
PY
    printf 'def output(data, **kwargs):\n    return str(len(data))\n' >"$SRV/_output/plain.py"
    printf 'def output(data, **kwargs):\n    return data["nosuch"]\n' >"$SRV/_output/bad.py"
    salt m1 saltutil.sync_output --out=json | grep -q output.shout
    [ "$(salt_call m1 --local test.echo x --out=shout 2>/dev/null)" = "SAID {'local': 'x'} 1" ]
    run salt_call m1 --local test.ping --out=bad
    [[ $output == *"outputter bad: "*"nosuch"*"fall back to nested"*"local:"* ]]
    run salt m1 test.ping --out=shout
    [[ $output == *"Invalid outputter shout specified, fall back to nested"* ]]
    run salt_call m1 --local test.ping --out=nosuch
    [[ $output == *"option 'output' is 'nosuch'; known are "* ]]
}

@test "a state's umask holds for states in Python, and ends with them" {
    mkdir -p "$SRV/_states"
    cat >"$SRV/_states/masks.py" <<'PY'
import os


def done(name):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o666))
    return {"name": name, "result": True, "changes": {}, "comment": oct(os.stat(name).st_mode & 0o777)}
PY
    cat >"$SRV/masks.sls" <<SLS
$FLEET/first: {masks.done: [{umask: '077'}]}
$FLEET/then: {masks.done: []}
SLS
    (umask 022 && salt_call m1 --local --file-root="$SRV" saltutil.sync_states >/dev/null)
    output=$(umask 022 && salt_call m1 --local --file-root="$SRV" state.apply masks --out=json 2>/dev/null)
    [ "$(json '[s["comment"] for s in sorted(d["local"].values(), key=lambda s: s["__run_num__"])]' <<<"$output")" = "['0o600', '0o644']" ]
}

@test "a driver is looked for in the file of its name alone, where that has it" {
    mkdir -p "$FLEET/more/sdb"
    printf 'def get(key, profile=None):\n    return key\n' >"$FLEET/more/sdb/exact.py"
    printf 'open("%s", "w").close()\n\n\ndef get(key, profile=None):\n    return 1\n' "$FLEET/other-was-loaded" >"$FLEET/more/sdb/aaa.py"
    echo "sdb_dirs: [$FLEET/more/sdb]" >>"$FLEET/etc/m1/minion"
    echo 'mine: {driver: exact}' >>"$FLEET/etc/m1/minion"
    [ "$(salt_call m1 --local sdb.get sdb://mine/word --out=newline_values_only)" = word ]
    [ ! -e "$FLEET/other-was-loaded" ]
}

@test "__outputter__ of a module, by the function's own name; __func_alias__; __proxyenabled__ is for proxies" {
    cat >"$SRV/_modules/shows.py" <<'PY'
__outputter__ = {"run_": "highstate", "plain": "txt", "odd": "nosuch"}
__func_alias__ = {"run_": "run"}
__proxyenabled__ = ["rest"]


def run_():
    return {"test_|-a_|-a_|-nop": {"result": True, "comment": "well", "name": "a", "changes": {}, "__run_num__": 0, "__id__": "a"}}


def plain():
    return {"a": 1}


def odd():
    return {"a": 1}
PY
    salt m1 saltutil.sync_modules >/dev/null
    [[ $(salt m1 shows.run) == *'Succeeded: 1'* ]]
    [[ $(salt_call m1 --local shows.run) == *'Succeeded: 1'* ]]
    [ "$(salt m1 shows.plain)" = "m1: {'a': 1}" ]
    [ "$(salt_call m1 --local shows.plain)" = "local: {'a': 1}" ]
    [ "$(salt m1 shows.plain --out=json --static | json 'd["m1"]["a"]')" = 1 ]
    [[ $(salt m1 shows.odd 2>&1) == *'a:'* ]]
    [[ $(salt m1 shows.run_ 2>&1) == *"'shows.run_' is not available."* ]]
}

@test "a sync tells at once which files can not be loaded; those that did not change are not looked at" {
    printf 'def x(:\n' >"$SRV/_modules/broken.py"
    printf 'import nosuch_library\n' >"$SRV/_modules/lacks.py"
    printf 'def __virtual__():\n    return False, "no such device"\n' >"$SRV/_modules/unfit.py"
    printf 'import sys\n\nsys.exit(3)\n' >"$SRV/_modules/exits.py"
    printf 'def ok():\n    return "ok"\n' >"$SRV/_modules/fine.py"
    [ "$(call saltutil.sync_modules)" = '["modules.broken", "modules.exits", "modules.fine", "modules.lacks", "modules.unfit"]' ]
    local log=$FLEET/log/m1
    until_true 5 grep -qE "ERROR.*/modules/broken.py cannot be loaded: line 1: SyntaxError: " "$log"
    grep -qE "ERROR.*/modules/lacks.py cannot be loaded: line 1: ModuleNotFoundError: No module named 'nosuch_library'" "$log"
    grep -qE "WARNING.*/modules/unfit.py is not loaded: no such device" "$log"
    grep -qE "ERROR.*/modules/exits.py cannot be loaded: line 3: SystemExit: 3" "$log"
    not grep -q '/modules/fine.py' <<<"$(grep -E 'cannot be loaded|not loaded' "$log")"
    [ "$(call fine.ok)" = '"ok"' ]
    : >"$log"
    [ "$(call saltutil.sync_modules)" = '[]' ]
    not grep -qE 'cannot be loaded|is not loaded' "$log"
    mkdir -p "$SRV/_beacons"
    printf 'def validate(config):\n    return True, "fine"\n' >"$SRV/_beacons/half.py"
    [ "$(call saltutil.sync_beacons)" = '["beacons.half"]' ]
    until_true 5 grep -qE "WARNING.*/beacons/half.py is of no use: it defines no function beacon\(\)" "$log"
    printf 'def render(:\n' >"$SRV/_pillar/broken.py"
    salt-run saltutil.sync_pillar --out=json | grep -q pillar.broken
    grep -qE "ERROR.*/pillar/broken.py cannot be loaded: line 1: SyntaxError: " "$FLEET/log/master"
}

@test "sdb: get, set, delete and a random value by a user's driver; config.get; strict" {
    mkdir -p "$SRV/_sdb"
    cat >"$SRV/_sdb/shelf.py" <<'PY'
import json
import os


def _all(profile):
    return json.load(open(profile["file"])) if os.path.exists(profile["file"]) else {}


def get(key, profile=None):
    if key == "bad":
        raise ValueError("locked")
    return _all(profile).get(key)


def set(key, value, profile=None):
    kept = _all(profile)
    kept[key] = value
    json.dump(kept, open(profile["file"], "w"))
    return value


def delete(key, profile=None):
    kept = _all(profile)
    gone = kept.pop(key, None)
    json.dump(kept, open(profile["file"], "w"))
    return gone is not None
PY
    printf 'def __virtual__():\n    return False, "no vault here"\n\n\ndef get(key, profile=None):\n    return 1\n' >"$SRV/_sdb/vaulted.py"
    cat >"$SRV/_modules/asks.py" <<'PY'
import salt.utils.sdb as sdb


def ask(uri):
    return [sdb.sdb_get(uri, __opts__), sdb.sdb_set(uri, 5, __opts__), sdb.sdb_get(uri, __opts__), sdb.sdb_delete(uri, __opts__)]
PY
    printf 'pshelf: {driver: shelf, file: %s}\nsecret: sdb://pshelf/from_pillar\npvault: {driver: vaulted}\npnone: {driver: nosuch}\n' \
        "$FLEET/shelf.json" >"$FLEET/pillar/data.sls"
    salt m1 saltutil.sync_sdb --out=json | grep -q sdb.shelf
    salt m1 saltutil.sync_modules >/dev/null
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
    [ "$(call sdb.get sdb://pshelf/a)" = null ]
    [ "$(call sdb.set sdb://pshelf/a '{k: [1]}')" = '{"k": [1]}' ]
    [ "$(call sdb.get sdb://pshelf/a)" = '{"k": [1]}' ]
    [ "$(call sdb.delete sdb://pshelf/a)" = true ]
    [ "$(call sdb.get sdb://pshelf/a)" = null ]
    # A random value is made once.
    hash=$(call sdb.get_or_set_hash sdb://pshelf/h length=12 chars=xyz)
    [[ $hash =~ ^\"[xyz]{12}\"$ ]]
    [ "$(call sdb.get_or_set_hash sdb://pshelf/h)" = "$hash" ]
    # config.get gives the value behind an address of any place.
    call sdb.set sdb://pshelf/from_pillar deep
    [ "$(call config.get secret)" = '"deep"' ]
    [ "$(call config.get secret merge=recurse)" = '"deep"' ]
    # Templates, and files in Python.
    [ "$(call slsutil.renderer string="{{ salt['sdb.get']('sdb://pshelf/from_pillar') }}" default_renderer=jinja)" = '"deep"' ]
    [ "$(call asks.ask sdb://pshelf/n)" = '[null, 5, 5, true]' ]
    [ "$(call asks.ask sdb://nosuch/n)" = '["sdb://nosuch/n", false, "sdb://nosuch/n", false]' ]
    # What is no address.
    [ "$(call sdb.get plain)" = '"plain"' ]
    [ "$(call sdb.get sdb://pshelf)" = '"sdb://pshelf"' ]
    [ "$(call sdb.get sdb://nosuch/a)" = '"sdb://nosuch/a"' ]
    [ "$(call sdb.set sdb://nosuch/a 1)" = false ]
    [ "$(call sdb.delete plain)" = false ]
    [[ $(call sdb.get plain strict=True) == *'SDB uri must start with'* ]]
    [[ $(call sdb.get sdb://pshelf strict=True) == *'SDB uri must have a profile name as a first part of the uri before the /'* ]]
    [[ $(call sdb.get sdb://nosuch/a strict=True) == *'SDB profile \"nosuch\" wasnt found in the minion configuration'* ]]
    # Drivers that fail, or are not there.
    [[ $(call sdb.get sdb://pshelf/bad) == *'sdb driver shelf: locked'* ]]
    [[ $(call sdb.get sdb://pvault/a) == *"'vaulted' __virtual__ returned False: no vault here"* ]]
    [[ $(call sdb.get sdb://pnone/a) == *"'nosuch.get' is not available."* ]]
}

@test "sdb: an address that a minion says in a grain is not looked up where the master renders" {
    printf 'pshelf: {driver: shelf, file: %s}\nsaid: "{{ salt["config.get"]("lure") }}"\n' "$FLEET/shelf.json" >"$FLEET/pillar/data.sls"
    echo '{"master_only": "leaked"}' >"$FLEET/shelf.json"
    call grains.set lure sdb://pshelf/master_only force=True
    wait_grains m1
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
    [ "$(call pillar.get said)" = '"sdb://pshelf/master_only"' ]
}
