#!/usr/bin/env bats
# 3085-sls-python.bats - SLS files of the renderers pyobjects and pydsl, and the renderers that an option names.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    export SRV=$FLEET/srv CALL="$FLEET/call"
    mkdir -p "$SRV" "$CALL"
}
setup() { printf 'root_dir: %s\nid: m1\nfile_client: local\nfile_roots: {base: [%s]}\n' "$FLEET" "$SRV" >"$CALL/minion"; }
teardown_file() { fleet_down; }

call() { "$HALITE_BIN/salt-call" -c "$CALL" --local "$@" --out=json; }
json() { python3 -c 'import json, sys; d = json.load(sys.stdin)["local"]; print(eval(sys.argv[1]))' "$1"; }

@test "pyobjects: files as Salt compiles them" {
    python3 "$BATS_TEST_DIRNAME/../lib/sls_cases.py" "$HALITE_BIN/salt-call" "$BATS_TEST_DIRNAME/../cases/sls-python/pyobjects.json"
}

@test "pydsl: files as Salt compiles them" {
    python3 "$BATS_TEST_DIRNAME/../lib/sls_cases.py" "$HALITE_BIN/salt-call" "$BATS_TEST_DIRNAME/../cases/sls-python/pydsl.json"
}

@test "pydsl: cmd.call calls a function of the file when its state runs" {
    cat >"$SRV/calls.sls" <<'PY'
#!pydsl
seen = []


def note(word, *args, **kws):
    seen.append(word)
    return {"result": True, "changes": {"seen": list(seen), "args": list(args), "kws": kws}}


def fails():
    raise ValueError("no good")


state("one").cmd.call(note, "first", 1, two=2)
state("two").cmd.call(note, "second").require(cmd="one")
state("bad").cmd.call(fails)
state("word").cmd.call(lambda: "said")
state("waits").cmd.wait_call(note, "woken").watch(cmd="one")
PY
    run --separate-stderr call state.apply calls
    [ "$status" -ne 0 ]
    [ "$(json '{v["__id__"]: v["changes"] for v in d.values() if v["result"] and v["changes"]}' <<<"$output")" = \
        "{'one': {'seen': ['first'], 'args': [1], 'kws': {'two': 2}}, 'two': {'seen': ['first', 'second'], 'args': [], 'kws': {}}, 'word': {'retval': 'said'}, 'waits': {'seen': ['first', 'second', 'woken'], 'args': [], 'kws': {}}}" ]
    [[ $output == *"pydsl.call: line 11: ValueError: no good"* ]]
}

@test "errors name the line of the file" {
    printf '#!pyobjects\nimport os\nFile.managed("x")\nraise KeyError("gone")\n' >"$SRV/broken.sls"
    run call state.show_sls broken
    [[ $output == *"line 4: KeyError: 'gone'\\nin salt://broken.sls"* ]]
    printf '#!pyobjects\nimport salt://lib.sls\nFile.nosuch("x")\n' >"$SRV/broken.sls"
    echo 'x = 1' >"$SRV/lib.sls"
    run call state.show_sls broken
    [[ $output == *"line 3: InvalidFunction: The function 'nosuch' does not exist in the StateFactory for 'file'\\nin salt://broken.sls"* ]]
    printf '#!pydsl\nstate("x"\n' >"$SRV/broken.sls"
    run call state.show_sls broken
    [[ $output == *"line 2: SyntaxError: "*"in salt://broken.sls"* ]]
    printf '#!pydsl\n\ninclude("broken")\n' >"$SRV/self.sls"
    run call state.show_sls self
    [[ $output == *"line 2: SyntaxError: "*"in salt://broken.sls; line 3\\nin salt://self.sls"* ]]
}

@test "pyobjects: states of users' files are classes, and a user's renderer of its name precedes" {
    mkdir -p "$SRV/_states" "$SRV/_renderers"
    printf 'def green(name, **kwargs):\n    return {"name": name, "result": True, "changes": {}, "comment": ""}\n' \
        >"$SRV/_states/traffic_light.py"
    printf '#!pyobjects\nTrafficLight.green("north")\n' >"$SRV/light.sls"
    call saltutil.sync_states
    [ "$(call state.show_low_sls light | json '[(c["state"], c["fun"], c["name"]) for c in d]')" = \
        "[('traffic_light', 'green', 'north')]" ]
    printf 'def render(text, *args, **kwargs):\n    return {"mine": {"test.nop": []}}\n' >"$SRV/_renderers/pyobjects.py"
    call saltutil.sync_renderers
    [ "$(call state.show_low_sls light | json '[c["name"] for c in d]')" = "['mine']" ]
    rm "$SRV/_renderers/pyobjects.py"
    call saltutil.sync_renderers
}

@test "the option renderer: users' files, pyobjects, stateconf; a renderer that is not there or not allowed" {
    mkdir -p "$SRV/_renderers"
    printf 'def render(text, *args, **kwargs):\n    return text.replace("NAME", "named")\n' >"$SRV/_renderers/upper.py"
    call saltutil.sync_renderers
    shown() { # RENDERER TEXT: names of the states
        printf '%b' "$2" >"$SRV/plain.sls"
        setup
        printf 'renderer: %s\n' "$1" >>"$CALL/minion"
        call state.show_low_sls plain | json '[c["name"] for c in d]'
    }
    [ "$(shown 'upper | yaml' 'NAME:\n  test.nop: []\n')" = "['named']" ]
    [ "$(shown pyobjects 'Test.nop("seen")\n')" = "['seen']" ]
    [ "$(shown 'stateconf -G yaml . jinja' '.x:\n  test.nop\n')" = "['x']" ]
    [ "$(shown 'pydsl|stateconf -pG' 'state(".x").test.nop()\n')" = "['_slsmod_plain', 'x']" ]
    setup
    printf 'renderer: nosuch|yaml\n' >>"$CALL/minion"
    run call state.show_low_sls plain
    [[ $output == *"Rendering SLS 'base:plain' failed: The renderer"*"is not available: there is no"*nosuch* ]]
    setup
    printf 'renderer: upper|yaml\nrenderer_blacklist: [upper]\n' >>"$CALL/minion"
    printf 'NAME:\n  test.nop: []\n' >"$SRV/plain.sls"
    [ "$(call state.show_low_sls plain | json '[c["name"] for c in d]')" = "['NAME']" ]
}

@test "a renderer that does not exist is an error in SLS files, pillar, top files and orchestrations" {
    printf '#!nosuch\nx: 1\n' >"$SRV/wrong.sls"
    run call state.apply wrong
    [[ $output == *"Rendering SLS 'base:wrong' failed: The renderer"*nosuch*'is not available; there are gpg, jinja'* ]]
    mkdir -p "$FLEET/pillar"
    printf "#!nosuch\nbase: {'*': [x]}\n" >"$FLEET/pillar/top.sls"
    printf 'pillar_roots: {base: [%s]}\n' "$FLEET/pillar" >>"$CALL/minion"
    run call pillar.items
    [[ $output == *nosuch*'is not available; there are gpg, jinja'* ]]
    printf "base: {'*': [data]}\n" >"$FLEET/pillar/top.sls"
    printf '#!nosuch\nx: 1\n' >"$FLEET/pillar/data.sls"
    run call pillar.items
    [[ $output == *nosuch*'is not available; there are gpg, jinja'* ]]
    rm -r "$FLEET/pillar"
    printf "#!nosuch\nbase: {'*': [wrong]}\n" >"$SRV/top.sls"
    run call state.show_top
    [[ $output == *nosuch*'is not available; there are gpg, jinja'* ]]
    rm "$SRV/top.sls"
}

@test "a renderer that does not exist is an error in reactions and orchestrations" {
    printf '#!nosuch\nx: 1\n' >"$SRV/wrong.sls"
    start_master "file_roots: {base: [$SRV]}" "reactor:" "  - go: [salt://wrong.sls]"
    run salt-run state.orchestrate wrong
    [[ $output == *"Rendering SLS 'base:wrong' failed: The renderer"*nosuch*'is not available; there are gpg, jinja'* ]]
    salt-run event.send go >/dev/null
    until_log "$FLEET/log/master" 'nosuch.* is not available; there are gpg, jinja'
}
