#!/usr/bin/env bats
# open.bats - attacks that still work: each test fails until its hole is closed, and moves to the file of its kind then.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() { museum_up "file_recv: True"; }
teardown_file() { fleet_down; }
setup() { echo 'whose: {{ opts.id }}' >"$FLEET/pillar/one.sls"; }

@test "H-VALUES: open: a mine value in the contents of a file with template: jinja is a template on another minion" {
    evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":\"{{ salt['cmd.run']('touch $FLEET/harm') }}\"}}" expect '"n":9'
    printf "say:\n  file.managed:\n    - name: $FLEET/out\n    - template: jinja\n    - contents: {{ salt['mine.get']('evil', 'x').evil | json }}\n" >"$FLEET/srv/it.sls"
    run salt m1 state.apply it
    [ ! -e "$FLEET/harm" ]
}

@test "H-VALUES: open: marks do not reach a minion by its pillar" {
    evil_says send "{\"m\":\"grains\",\"n\":1,\"grains\":{\"id\":\"evil\",\"v\":\"a\\n\\nmore:\\n  cmd.run:\\n    - name: touch $FLEET/harm2\"}}"
    echo 'v: {{ salt["saltutil.runner"]("cache.grains", "evil").evil.v | json }}' >"$FLEET/pillar/one.sls"
    printf 'say:\n  test.succeed_without_changes:\n    - name: {{ pillar.v }}\n' >"$FLEET/srv/it.sls"
    run salt m1 state.apply it
    grep -q 'say' <<<"$output"
    [ ! -e "$FLEET/harm2" ]
}

@test "H-VALUES: open: a file that a minion sent is a template when a file root, or slsutil.renderer, names it" {
    files=$FLEET/master/var/cache/salt/master/minions/evil/files
    mkdir -p "$files"
    printf 'a: {{ 6 * 7 }}' >"$files/said"
    printf 'say:\n  test.succeed_without_changes:\n    - name: "{{ salt["slsutil.renderer"]("%s").a }}"\n' "$files/said" >"$FLEET/srv/it.sls"
    run salt-run state.orchestrate it
    not grep -q 'Name: 42' <<<"$output"
}

@test "H-VALUES: open: a value in raw text of a second template is printed, and compares equal in its tags" {
    printf '#!jinja|jinja|yaml\nk: "{{ "{%% raw %%}" }}{{ grains.v }}{{ "{%% endraw %%}" }}"\n{{ "{%% if grains.v == " }}"{{ grains.v }}"{{ " %%}" }}same: 1{{ "{%% endif %%}" }}\n' >"$FLEET/pillar/one.sls"
    run evil send "$(hello evil)" expect "$WELCOME" send '{"m":"grains","n":1,"grains":{"id":"evil","v":"abc"}}' send '{"m":"pillar_ask","n":1}' expect '"m":"pillar"'
    grep -q '"k":"abc"' <<<"$output"
    grep -q '"same":1' <<<"$output"
}
