#!/usr/bin/env bats
# values.bats - a value that a minion says never becomes structure of a file that the master renders: reactor, pillar, top
# and orchestration files. README.md says which attacks these are.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() { museum_up "reactor:" "  - 'site/*': [salt://reactor/it.sls]" "  - 'rest/now': [salt://reactor/rest.sls]"; }
teardown_file() { fleet_down; }
setup() {
    mkdir -p "$FLEET/srv/reactor" "$FLEET/srv/orch"
    printf 'tell:\n  runner.event.send:\n    - args:\n      - tag: rest/heard/{{ data.n }}\n' >"$FLEET/srv/reactor/rest.sls"
}
teardown() { museum_whole; }

reaction() { cat >"$FLEET/srv/reactor/it.sls"; }
# The reactor has looked at all that was fired before, and is done with it.
status_of() { ask '{"op":"status"}' | python3 -c "import json, sys; s = json.load(sys.stdin); r = s['reactor']; print($1)"; }
reactor_rests() {
    local n=$((++RESTS))
    salt-run event.send rest/now "{\"n\": $BATS_TEST_NUMBER$n}" >/dev/null
    until_true 20 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"rest/heard/'$BATS_TEST_NUMBER$n'\"]}" | grep -q "\"tag\":\"rest/heard"'
    until_true 20 eval '[ "$(status_of "r[\"waiting\"] == r[\"under_way\"] == 0")" = True ]'
}
RESTS=0
# An accepted minion fires an event with this value.
fires() { evil_says send "{\"m\":\"event\",\"n\":$((++N)),\"tag\":\"site/said\",\"data\":{\"v\":$1,\"id\":\"evil\"}}"; reactor_rests; }
N=0
journal() { ask '{"op":"journal","from":1,"tags":["salt/gate/value"]}'; }
is_refused() { WANTED=$1; until_true 10 eval 'journal | grep -qF -- "$WANTED"'; }
HARM() { echo "touch $FLEET/harm"; }
# A value that would add a reaction which runs a command.
adds() { printf '"x\\n\\nmore:\\n  runner.salt.cmd:\\n    - args:\\n      - fun: cmd.run\\n      - cmd: %s"' "$(HARM)"; }

@test "H-VALUES: event data cannot add a reaction: plain, in quotes, in a list, in a comment" {
    for place in '- tag: {{ data.data.v }}' '- tag: "{{ data.data.v }}"' "- tag: '{{ data.data.v }}'" '- tag: [{{ data.data.v }}]' '- tag: ok # {{ data.data.v }}'; do
        printf 'tell:\n  runner.event.send:\n    - args:\n      %s\n' "$place" | reaction
        fires "$(adds)"
        fires "\"x\\\"\\n\\nmore:\\n  runner.salt.cmd:\\n    - args: [{fun: cmd.run}, {cmd: '$(HARM)'}]\\n#\""
        fires "\"x'\\n\\nmore:\\n  runner.salt.cmd:\\n    - args: [{fun: cmd.run}, {cmd: '$(HARM)'}]\\n#\""
        fires "\"x], more: {runner.salt.cmd: {args: [{fun: cmd.run}, {cmd: '$(HARM)'}]}}, a: [\""
    done
    is_refused '"becomes"'
    grep -q 'A value that a peer said is not only a value here' "$FLEET/log/master"
    grep -q 'salt://reactor/it.sls, line 4' "$FLEET/log/master"
}

@test "H-VALUES: event data cannot be an anchor, an alias, a tag or a merge key" {
    printf 'tell:\n  runner.event.send:\n    - args: &mine\n      - tag: {{ data.data.v }}\n' | reaction
    for v in '"*mine"' '"&a b"' '"!!python/object/apply:os.system [id]"' '"<<: *mine"' '"{a: b}"' '"[a, b]"' '"a: b"' '"? a"' '"- a"' '"|\\n  a"'; do
        before=$(journal | grep -o '"becomes"' | wc -l)
        fires "$v"
        until_true 10 eval '[ "$(journal | grep -o "\"becomes\"" | wc -l)" -gt "$before" ]'
    done
}

@test "H-VALUES: what a value may be: any text in quotes by json, a list, words, numbers" {
    printf 'tell:\n  runner.event.send:\n    - args:\n      - tag: heard/it\n      - data: {{ {"v": data.data.v} | json }}\n' | reaction
    before=$(journal | grep -o '"becomes"' | wc -l)
    for v in "$(adds)" '"*a &b !c {d: e}"' '"it'"'"'s \"so\""' '["a", {"b": "c: d"}]' '7' 'null' '"yes"' '""'; do
        fires "$v"
    done
    [ "$(journal | grep -o '"becomes"' | wc -l)" -eq "$before" ]
    [ "$(ask '{"op":"journal","from":1,"tags":["heard/it"]}' | grep -o '"tag":"heard/it"' | wc -l)" -eq 8 ]
}

@test "H-VALUES: a grain cannot add an include or a target to pillar files" {
    printf "base:\n  '*': [one]\n  'cloud:{{ grains.get(\"cloud\") }}':\n    - match: grain\n    - one\n" >"$FLEET/pillar/top.sls"
    printf 'include:\n  - parts.{{ grains.get("part", "none") }}\nwhose: {{ opts.id }}\nsecret: pillar-of-{{ opts.id }}\n' >"$FLEET/pillar/one.sls"
    mkdir -p "$FLEET/pillar/parts" "$FLEET/pillar/secrets"
    echo 'part: none' >"$FLEET/pillar/parts/none.sls"
    echo 'password: of-db1' >"$FLEET/pillar/secrets/db1.sls"
    asks() { evil send "$(hello evil)" expect "$WELCOME" send "{\"m\":\"grains\",\"n\":1,\"grains\":{\"id\":\"evil\",$1}}" \
        send '{"m":"pillar_ask","n":1}' expect '"m":"pillar"'; }
    run asks '"part":"none\n  - secrets.db1","cloud":"x"'
    not grep -q of-db1 <<<"$output"
    run asks '"part":"none","cloud":"x'"'"':\n    - secrets.db1\n  '"'"'*"'
    not grep -q of-db1 <<<"$output"
    is_refused '"id":"evil"'
    printf "base:\n  '*': [one]\n" >"$FLEET/pillar/top.sls"
    printf 'whose: {{ opts.id }}\nsecret: pillar-of-{{ opts.id }}\n' >"$FLEET/pillar/one.sls"
}

@test "H-VALUES: a value is marked through macros, set, filters, load_yaml and a second template" {
    for body in \
        "{% macro m(x) %}      - tag: {{ x }}{% endmacro %}tell:\n  runner.event.send:\n    - args:\n{{ m(data.data.v) }}\n" \
        "{% set x = 'a' ~ data.data.v %}{% set y %}- tag: {{ x | replace('q', 'r') }}{% endset %}tell:\n  runner.event.send:\n    - args:\n      {{ y | indent(6) }}\n" \
        "{% set l = [] %}{% do l.append(data.data.v) %}tell:\n  runner.event.send:\n    - args:\n      - tag: {{ l | join(',') }}\n" \
        "{% load_yaml as x %}\na: {{ data.data.v }}\n{% endload %}{{ x | json }}\n" \
        "#!jinja|jinja|yaml\ntell:\n  runner.event.send:\n    - args:\n      - tag: {{ data.data.v }}\n"; do
        printf '%b' "$body" | reaction
        before=$(grep -c 'A value that a peer said' "$FLEET/log/master" || :)
        fires "$(adds)"
        [ "$(grep -c 'A value that a peer said' "$FLEET/log/master")" -gt "$before" ]
    done
    printf "#!jinja|jinja|yaml\ntell:\n  runner.event.send:\n    - args:\n      - tag: '{{ data.data.v }}'\n" | reaction
    fires '"{{ salt.cmd.run(1) }}"'
    fires '"{% set x = 1 %}"'
    is_refused 'a template'
    # In raw text it is the same value; in a tag, whose value has no marks, it is refused.
    printf '%s\n' '#!jinja|jinja|yaml' 'tell:' '  runner.event.send:' '    - args:' "      - tag: {{ '{% raw %}' }}raw/{{ data.data.v }}/{% raw %}{{ 1 + 1 }}{% endraw %}{{ '{% endraw %}' }}" | reaction
    fires '"a b"'
    ask '{"op":"journal","from":1,"tags":["raw/*"]}' | grep -qF '"tag":"raw/a b/{{ 1 + 1 }}"'
    before=$(grep -c 'A value that a peer said' "$FLEET/log/master" || :)
    fires "$(adds)"
    printf '%s\n' '#!jinja|jinja|yaml' 'tell:' '  runner.event.send:' '    - args:' "      - tag: {{ '{{ \"' }}{{ data.data.v }}{{ '\" }}' }}" | reaction
    fires '"a"'
    [ "$(grep -c 'A value that a peer said' "$FLEET/log/master")" -eq $((before + 2)) ]
}

@test "H-VALUES: a reaction's pillar stays marked in the orchestration that it begins, and when that is resumed" {
    printf 'go:\n  runner.state.orchestrate:\n    - args:\n      - mods: orch.it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    printf "say:\n  test.configurable_test_state:\n    - changes: False\n    - result: True\n    - comment: {{ pillar.v }}\n" >"$FLEET/srv/orch/it.sls"
    fires "\"x\\n\\nmore:\\n  module.run:\\n    - name: cmd.run\\n    - cmd: $(HARM)\""
    until_true 20 eval 'journal | grep -qF "salt://orch/it.sls"'
    is_refused 'orch/it.sls'
}

@test "H-VALUES: what minions put into the mine, and files they sent, cannot become states of an orchestration" {
    printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["mine.get"]("evil", "x").get("evil") }}\n' >"$FLEET/srv/orch/it.sls"
    evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\"}}" expect '"n":9'
    run salt-run state.orchestrate orch.it
    [ "$status" -ne 0 ]
    grep -q 'A value that a peer said is not only a value here' <<<"$output"
    name=$'a\n\nmore:\n  cmd.run:\n    - name: harm'
    mkdir -p "$FLEET/master/var/cache/salt/master/minions/evil/files"
    touch "$FLEET/master/var/cache/salt/master/minions/evil/files/$name" 2>/dev/null || skip "no such place"
    printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["file.readdir"]("%s") | last }}\n' "$FLEET/master/var/cache/salt/master/minions/evil/files" >"$FLEET/srv/orch/it.sls"
    run salt-run state.orchestrate orch.it
    [ "$status" -ne 0 ]
    grep -q 'A value that a peer said is not only a value here' <<<"$output"
    rm -r "$FLEET/master/var/cache/salt/master/minions/evil/files"
}

@test "H-VALUES: a file that a minion sent is its word, however its path is written" {
    files=$FLEET/master/var/cache/salt/master/minions/evil/files
    mkdir -p "$files"
    printf 'a\n\nmore:\n  cmd.run:\n    - name: %s' "$(HARM)" >"$files/said"
    for path in "$files/said" "${files/cache/cache//}/said" "${files/cache/.\/cache}//./said"; do
        printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["file.read"]("%s") }}\n' "$path" >"$FLEET/srv/orch/it.sls"
        run salt-run state.orchestrate orch.it
        grep -q 'A value that a peer said is not only a value here' <<<"$output"
    done
    rm -r "$files"
}

@test "H-VALUES: peer_data: warn lets it be, and says so; a command without quote is warned of once" {
    printf 'tell:\n  local.cmd.run:\n    - tgt: nobody\n    - arg:\n      - echo {{ data.data.v }}\n' | reaction
    fires '"a"'
    fires '"b"'
    [ "$(grep -c 'part of a command' "$FLEET/log/master")" -eq 1 ]
    grep -q 'it.sls, line 5: a value that a peer said is part of a command' "$FLEET/log/master"
    printf 'tell:\n  local.cmd.run:\n    - tgt: nobody\n    - arg:\n      - echo {{ data.data.v | quote }} # again\n' | reaction
    fires '"a; b"'
    [ "$(grep -c 'part of a command' "$FLEET/log/master")" -eq 1 ]
}

# The pillar that the turned minion gets with these grains, and what more it asks.
pillar_with() { evil send "$(hello evil)" expect "$WELCOME" send "{\"m\":\"grains\",\"n\":1,\"grains\":{\"id\":\"evil\",$1}}" send "{\"m\":\"pillar_ask\",\"n\":1${2:+,$2}}" expect '"m":"pillar"'; }
# db1's secrets; one.sls is stdin.
pillar_one() {
    mkdir -p "$FLEET/pillar/secrets"
    echo 'password: of-db1' >"$FLEET/pillar/secrets/db1.sls"
    printf "base:\n  '*': [one]\n" >"$FLEET/pillar/top.sls"
    cat >"$FLEET/pillar/one.sls"
}
pillar_again() { printf 'whose: {{ opts.id }}\nsecret: pillar-of-{{ opts.id }}\n' | pillar_one; }

@test "H-VALUES: a grain's key does not become the word include of a pillar file" {
    for body in '{% for k, v in grains.get("tags", {}).items() %}\n{{ k }}: {{ v | json }}\n{% endfor %}' '{{ grains.get("tags", {}) | json }}' '#!jinja|json\n{{ grains.get("tags", {}) | json }}'; do
        printf '%b' "$body" | pillar_one
        run pillar_with '"tags":{"include":["secrets.db1"]}'
        not grep -q of-db1 <<<"$output"
        run pillar_with '"tags":{"includes":["a"],"color":"include","deep":{"include":["a"]}}'
        grep -q '"includes":\["a"\]' <<<"$output"
    done
    is_refused "a word of the file's own"
    pillar_again
}

# The turned minion has this in its mine, as x.
mines() { evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":$1}}" expect '"n":9'; }

@test "H-VALUES: a value does not become a slot of a state, in quotes neither: master and minion" {
    printf 'say:\n  test.configurable_test_state:\n    - changes: False\n    - result: True\n    - comment: {{ salt["mine.get"]("evil","x").evil | json }}\n' >"$FLEET/srv/orch/it.sls"
    mines "\"__slot__:salt:cmd.run('$(HARM)')\""
    run salt-run state.orchestrate orch.it
    grep -q 'a slot, which calls a function' <<<"$output"
    evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":\"__slot__:salt:cmd.run('$(HARM)')\"}}" expect '"n":9'
    printf 'say:\n  test.configurable_test_state:\n    - changes: False\n    - result: True\n    - comment: {{ salt["mine.get"]("evil","x").evil | json }}\n' >"$FLEET/srv/slot.sls"
    run salt m1 state.apply slot
    grep -q 'a slot, which calls a function' <<<"$output"
}

@test "H-VALUES: a value does not become a slot or a template of the one state that a reaction applies" {
    local says='comment: {{ data.data.v | json }}' of='changes: False' ok='result: True'
    for body in "local.state.single:\n    - tgt: m1\n    - args:\n      - fun: test.configurable_test_state\n      - name: x\n      - $of\n      - $ok\n      - $says" \
        "local.state.low:\n    - tgt: m1\n    - args:\n      - data: {state: test, fun: configurable_test_state, name: x, $of, $ok, $says}" \
        "local.state.high:\n    - tgt: m1\n    - args:\n      - data: {x: {test: [configurable_test_state, {$of}, {$ok}, {$says}]}}" \
        "runner.state.orchestrate_single:\n    - args:\n      - fun: test.configurable_test_state\n      - name: x\n      - $of\n      - $ok\n      - $says" \
        "runner.state.orchestrate_high:\n    - args:\n      - data: {x: {test.configurable_test_state: [{$of}, {$ok}, {$says}]}}"; do
        before=$(journal | grep -o 'a slot, which' | wc -l)
        printf 'x:\n  %b\n' "$body" | reaction
        fires "\"__slot__:salt:cmd.run('$(HARM)')\""
        until_true 10 eval '[ "$(journal | grep -o "a slot, which" | wc -l)" -gt "$before" ]'
    done
    printf 'x:\n  local.state.single:\n    - tgt: m1\n    - args:\n      - fun: file.managed\n      - name: %s\n      - template: jinja\n      - contents: {{ data.data.v | json }}\n' "$FLEET/out" | reaction
    fires "\"{{ salt['cmd.run']('$(HARM)') }}\""
    is_refused 'becomes a template, which a state renders'
}

@test "H-VALUES: environments that a minion asks for, and functions that make JSON of what it said, keep marks" {
    mkdir -p "$FLEET/pillar/app"
    echo '{% set map = {"v": grains.get("v")} %}' | tee "$FLEET/pillar/app/map.jinja" >"$FLEET/srv/map.jinja"
    for value in 'opts.saltenv' 'salt["test.opts_pkg"]().grains.v' 'salt["test.get_opts"]().grains.v' 'salt["test.attr_call"]().v' 'salt["jinja.load_map"]("map.jinja", "map").v' 'salt["slsutil.renderer"](string="#!yaml\nv: \"" ~ grains.v ~ "\"").v'; do
        echo "k: {{ $value }}" | pillar_one
        run pillar_with '"v":"base\ninclude: [secrets.db1]"' '"saltenv":"base\ninclude: [secrets.db1]"'
        grep -q '"m":"pillar"' <<<"$output"
        not grep -q of-db1 <<<"$output"
    done
    is_refused 'base\\ninclude: [secrets.db1]'
    pillar_again
}

@test "H-VALUES: a file of data that prints a grain is the minion's word when it is imported" {
    for kind in yaml json; do
        echo '{"v": {{ grains.v | json }}}' >"$FLEET/pillar/data.$kind"
        printf '{%% import_%s "data.%s" as d with context %%}\nk: {{ d.v }}\n' $kind $kind | pillar_one
        run pillar_with '"v":"a\ninclude: [secrets.db1]"'
        grep -q '"m":"pillar"' <<<"$output"
        not grep -q of-db1 <<<"$output"
        run pillar_with '"v":"plain"'
        grep -q '"k":"plain"' <<<"$output"
    done
    pillar_again
}

@test "H-VALUES: a text that a minion said is not a template for slsutil.renderer, and names no renderer" {
    echo 'k: {{ salt["slsutil.renderer"](string=grains.v, default_renderer="jinja") | json }}' | pillar_one
    run pillar_with '"v":"#!jinja\n{{ 617 * 3001 }}"'
    not grep -q 1851617 <<<"$output"
    run pillar_with '"v":"plain"'
    grep -q '"k":"plain"' <<<"$output"
    pillar_again
}

@test "H-VALUES: config.option and config.merge of a reaction's pillar keep marks" {
    printf 'go:\n  runner.state.orchestrate:\n    - args:\n      - mods: orch.it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    for fun in option merge; do
        printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["config.%s"]("v") }}\n' $fun >"$FLEET/srv/orch/it.sls"
        fires "\"$fun\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
        is_refused "'$fun"
    done
}

@test "H-VALUES: a value that an orchestration hands on to another one stays marked, whoever began it" {
    printf 'say:\n  test.succeed_without_changes:\n    - name: {{ pillar.v }}\n' >"$FLEET/srv/orch/inner.sls"
    evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\"}}" expect '"n":9'
    for step in 'salt.runner:\n    - name: state.orchestrate\n    - mods: orch.inner\n    - pillar: {v: VALUE}' 'module.run:\n    - name: saltutil.runner\n    - m_name: state.orchestrate\n    - kwargs: {mods: orch.inner, pillar: {v: VALUE}}'; do
        printf 'in:\n  %b\n' "${step/VALUE/'{{ salt["mine.get"]("evil", "x").evil | json \}\}'}" | sed 's/\\}/}/g' >"$FLEET/srv/orch/it.sls"
        run salt-run state.orchestrate orch.it
        grep -q 'A value that a peer said is not only a value here' <<<"$output"
    done
}

@test "H-VALUES: a mapping of an event becomes no keywords of the function that a reaction calls" {
    printf 'x:\n  local.cmd.run:\n    - tgt: m1\n    - arg:\n      - pwd\n      - {{ data.data.v | json }}\n' | reaction
    fires '{"__kwarg__":true,"cwd":"/tmp"}'
    until_log "$FLEET/log/master" 'a mapping with __kwarg__ is not a positional argument'
    not grep -q "'pwd' in directory '/tmp'" "$FLEET/log/m1"
}

@test "H-VALUES: a message that a minion says is not decrypted for it, and what gpg changes moves no marks" {
    command -v gpg >/dev/null || skip "needs gpg"
    keys=$FLEET/etc/gpgkeys
    mkdir -m 700 "$keys"
    gpg --homedir "$keys" --batch --quiet --passphrase '' --quick-gen-key salt default default never
    cipher=$(echo of-db1 | gpg --homedir "$keys" --batch --armor --trust-model always -r salt -e | sed ':a;N;$!ba;s/\n/\\n/g')
    printf '#!jinja|yaml|gpg\nk: {{ grains.get("v") | json }}\nown: "%s"\n' "$cipher" | pillar_one
    run pillar_with "\"v\":\"$cipher\""
    not grep -q of-db1 <<<"$output"
    run pillar_with '"v":"a"'
    grep -q '"own":"of-db1"' <<<"$output"
    printf '#!jinja|gpg|yaml\nown: "%s"\nk: {{ grains.get("v") }}\n' "$cipher" | pillar_one
    run pillar_with '"v":"a"'
    grep -q '"k":"a"' <<<"$output"
    run pillar_with '"v":"a\nown2: b"'
    grep -q _errors <<<"$output"
    gpgconf --homedir "$keys" --kill all
    pillar_again
}

@test "H-VALUES: a mapping of the mine becomes no keywords of the function that a step calls" {
    evil_says send '{"m":"mine_ask","n":9,"op":"send","clear":false,"data":{"x":{"__kwarg__":true,"cwd":"/tmp"}}}' expect '"n":9'
    printf 'f:\n  salt.function:\n    - name: test.arg\n    - tgt: m1\n    - arg:\n      - a\n      - {{ salt["mine.get"]("evil", "x").evil | json }}\n' >"$FLEET/srv/orch/it.sls"
    run salt-run state.orchestrate orch.it --out=json
    tr -d ' \n' <<<"$output" | grep -qF '"args":["a",{"cwd":"/tmp"}]'
}

@test "H-VALUES: a mine value is not a template in the contents of a file that a state renders" {
    evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":\"{{ salt['cmd.run']('touch $FLEET/harm') }}\"}}" expect '"n":9'
    printf "say:\n  file.managed:\n    - name: $FLEET/out\n    - template: jinja\n    - contents: {{ salt['mine.get']('evil', 'x').evil | json }}\n" >"$FLEET/srv/it.sls"
    run salt m1 state.apply it
    grep -q "becomes a template, which a state renders" <<<"$output"
    [ ! -e "$FLEET/harm" ]
}

@test "H-VALUES: a file that a minion sent is not a template for slsutil.renderer" {
    files=$FLEET/master/var/cache/salt/master/minions/evil/files
    mkdir -p "$files"
    printf 'a: {{ 6 * 7 }}' >"$files/said"
    printf 'say:\n  test.succeed_without_changes:\n    - name: "{{ salt["slsutil.renderer"]("%s").a }}"\n' "$files/said" >"$FLEET/srv/it.sls"
    run salt-run state.orchestrate it
    not grep -q 'Name: 42' <<<"$output"
}

@test "H-VALUES: a file that a minion sent is its word where minionfs serves it, however it is fetched, and so are the names" {
    files=$FLEET/master/var/cache/salt/master/minions/evil/files
    mkdir -p "$files"
    cp "$MASTER_CONF" "$FLEET/etc/master.was"
    printf '%s\n' 'file_recv: true' 'fileserver_backend: [roots, minionfs]' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    printf 'a\n\nmore:\n  cmd.run:\n    - name: %s' "$(HARM)" >"$files/said"
    printf 'v: "{{ 6 * 7 }}"\nw: "a\\n\\nmore: {cmd.run: [{name: %s}]}"\n' "$(HARM)" >"$files/said.yaml"
    cp "$files/said.yaml" "$files/defaults.yaml"
    printf 'ran:\n  cmd.run:\n    - name: %s\n' "$(HARM)" >"$files/it.sls"
    touch "$files/x"$'\n\nmore:\n  cmd.run:\n    - name: touch harm'
    until_true 10 eval 'salt-run fileserver.file_list --out=json | grep -q evil/said'
    for call in 'cp.get_file_str("salt://evil/said")' 'cp.get_file_str("salt://evil/said", "base")' 'cp.get_file_str("salt://|evil/./said?saltenv=base")' \
        'file.read(salt["cp.cache_file"]("salt://evil/said"))' 'cp.list_master(prefix="evil/x") | first' 'cp.list_master(prefix="evil") | last' \
        'slsutil.renderer("salt://evil/said.yaml").w' 'slsutil.renderer(salt["cp.cache_file"]("salt://evil/said.yaml")).w' 'defaults.get("evil:w")' \
        'saltutil.runner("fileserver.file_list") | select("match", "evil/x") | first' 'hashutil.base64_decodestring(salt["hashutil.base64_encodestring"](salt["cp.get_file_str"]("salt://evil/said")))'; do
        printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["%s"]%s }}\n' "${call%%(*}" "(${call#*(}" >"$FLEET/srv/orch/it.sls"
        run salt-run state.orchestrate orch.it
        grep -qE 'A value that a peer said is not only a value here|what a minion says is not a template' <<<"$output" || { echo "$call: $output"; return 1; }
    done
    for line in '{% import_yaml "evil/said.yaml" as d %}{# #}' '{% from "evil/said" import w %}' '{% include "evil/said" %}' 'include: [evil.it]'; do
        printf '%s\nsay:\n  test.succeed_without_changes: []\n' "$line" >"$FLEET/srv/orch/it.sls"
        run salt-run state.orchestrate orch.it
        grep -qE 'A value that a peer said is not only a value here|what a minion says is not a template' <<<"$output" || { echo "$line: $output"; return 1; }
    done
    printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["slsutil.renderer"]("salt://evil/said.yaml").v }}\n' >"$FLEET/srv/orch/it.sls"
    run salt-run state.orchestrate orch.it
    not grep -q 'Name: 42' <<<"$output"
    mv "$FLEET/etc/master.was" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    rm -r "$files"
}

@test "H-VALUES: a file that another minion sent is its word in a minion's states, with a master and without" {
    files=$FLEET/master/var/cache/salt/master/minions/evil/files
    mkdir -p "$files"
    cp "$MASTER_CONF" "$FLEET/etc/master.was"
    printf '%s\n' 'file_recv: true' 'fileserver_backend: [roots, minionfs]' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    printf 'a\n\nmore:\n  cmd.run:\n    - name: %s' "$(HARM)" >"$files/said"
    printf 'v: "{{ 6 * 7 }}"\nw: "a\\n\\nmore: {cmd.run: [{name: %s}]}"\n' "$(HARM)" >"$files/said.yaml"
    printf 'ran:\n  cmd.run:\n    - name: %s\n' "$(HARM)" >"$files/it.sls"
    printf '{{ salt["cmd.run"]("%s") }}' "$(HARM)" >"$files/template"
    touch "$files/x"$'\n\nmore:\n  cmd.run:\n    - name: touch harm'
    until_true 10 eval 'salt m1 cp.list_master --out=json | grep -q evil/said'
    refused() {
        run "$@" state.apply own
        grep -qE 'A value that a peer said is not only a value here|what a minion says is not a template' <<<"$output" || { echo "$(cat "$FLEET/srv/own.sls"): $output"; return 1; }
    }
    for call in 'cp.get_file_str("salt://evil/said")' 'file.read(salt["cp.cache_file"]("salt://evil/said"))' 'cp.list_master(prefix="evil/x") | first' \
        'slsutil.renderer("salt://evil/said.yaml").w' 'defaults.get("evil:w")'; do
        [ "$call" != 'defaults.get("evil:w")' ] || cp "$files/said.yaml" "$files/defaults.yaml"
        printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["%s"]%s }}\n' "${call%%(*}" "(${call#*(}" >"$FLEET/srv/own.sls"
        refused salt m1
        refused salt_call m1
    done
    for line in '{% import_yaml "evil/said.yaml" as d %}{# #}' '{% from "evil/said" import w %}' '{% include "evil/said" %}' 'include: [evil.it]'; do
        printf '%s\nsay:\n  test.succeed_without_changes: []\n' "$line" >"$FLEET/srv/own.sls"
        refused salt m1
    done
    # As a template of a file it is a text, in a parallel step as well, which asks its run for files.
    for parallel in False True; do
        printf 'say:\n  file.managed:\n    - name: %s/m1/made\n    - source: salt://evil/template\n    - template: jinja\n    - parallel: %s\n' "$FLEET" "$parallel" >"$FLEET/srv/own.sls"
        salt m1 state.apply own >"$FLEET/out" || :
        [ ! -e "$FLEET/m1/made" ] || cmp "$FLEET/m1/made" "$files/template"
        rm -f "$FLEET/m1/made"
        printf 'go:\n  module.run:\n    - parallel: %s\n    - state.apply: [{mods: own}]\n' "$parallel" >"$FLEET/srv/outer.sls"
        for call in 'cp.list_master(prefix="evil/x") | first' 'cp.get_file_str("salt://evil/said")'; do
            printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["%s"]%s }}\n' "${call%%(*}" "(${call#*(}" >"$FLEET/srv/own.sls"
            run salt m1 state.apply outer
            grep -q 'A value that a peer said is not only a value here' <<<"$output" || { echo "parallel: $parallel, $call: $output"; return 1; }
        done
    done
    rm -f "$FLEET/srv/outer.sls"
    # Its copies are known without a master, too.
    copy=$FLEET/m1/var/cache/salt/minion/files/base/evil/said
    cmp "$copy" "$files/said"
    for path in "$copy" "${copy/cache/.\/cache}"; do
        printf 'say:\n  test.succeed_without_changes:\n    - name: {{ salt["file.read"]("%s") }}\n' "$path" >"$FLEET/srv/own.sls"
        refused salt_call m1 --local --file-root="$FLEET/srv"
    done
    mv "$FLEET/etc/master.was" "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    rm -r "$files"
    rm "$FLEET/srv/own.sls"
}

# A state of m1 that prints this of its pillar.
prints() { printf 'say:\n  test.configurable_test_state:\n    - changes: False\n    - result: True\n    - comment: %s\n' "$1" >"$FLEET/srv/it.sls"; }
# m1's pillar, in which this is `said`.
says() { printf 'whose: {{ opts.id }}\nsecret: pillar-of-{{ opts.id }}\n%s\n' "${1:+said: $1}" >"$FLEET/pillar/one.sls"; }
refused_at_m1() { grep -q 'A value that a peer said is not only a value here' <<<"$output"; }

@test "H-VALUES: what another minion said stays marked in the pillar that a minion gets" {
    evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\"}}" expect '"n":9'
    for row in '{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}|pillar.said' '{{ ("a " ~ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil) | json }}|pillar.said' \
        '{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x") | json }}|pillar.said.evil' '[{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").values() | first | yaml_dquote }}]|pillar.said | first' \
        '{v: {{ {salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil: 1} | json }}}|pillar.said.v.keys() | first' '{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}|salt["pillar.get"]("said") | replace("q", "r")'; do
        says "${row%%|pillar*}"
        [[ $row == *'|pillar'* ]] || says "${row%%|salt*}"
        print=${row#*'}}'}
        print=${print#*|}
        prints "{{ $print }}"
        run salt m1 state.apply it pillarenv=base
        refused_at_m1
        prints "{{ $print | json }}"
        run salt m1 state.apply it pillarenv=base
        [ "$status" -eq 0 ]
    done
    # Its own words are the minion's, and what an operator lays over the pillar is the operator's.
    says '{{ (grains.id ~ "\n    - warnings: [its own]") | json }}'
    prints '{{ pillar.said }}'
    run salt m1 state.apply it pillarenv=base
    grep -q 'its own' <<<"$output"
    run salt m1 state.apply it pillar='{"said": "x\n    - warnings: [an operator]"}'
    grep -q 'an operator' <<<"$output"
    says ''
}

@test "H-VALUES: what another minion said stays marked in what a state or a template hands on: a pillar, contents, JSON" {
    local harms="\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    prints '{{ pillar.v }}'
    mv "$FLEET/srv/it.sls" "$FLEET/srv/inner.sls"
    printf 'other:\n  test.nop:\n    - name: {{ pillar.said | json }}\n' >"$FLEET/srv/other.sls"
    mines "$harms"
    said='{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}'
    says "$said
master: {m.said: $said}"
    for body in 'module.run:\n    - state.apply:\n      - mods: inner\n      - pillar: {v: {{ pillar.said | json }}}' \
        'module.run:\n    - name: state.sls\n    - mods: inner\n    - kwargs: {pillar: {v: {{ pillar.said | json }}}}' \
        'test.nop:\n    - name: {{ salt["state.apply"]("inner", pillar={"v": pillar.said}) | string | json }}'; do
        printf 'say:\n  %b\n' "$body" >"$FLEET/srv/it.sls"
        run salt m1 state.apply it pillarenv=base
        refused_at_m1
    done
    for value in 'salt["pillar.items"](pillar={"v": pillar.said}).v' 'salt["file.apply_template_on_contents"]("{{ pillar.said }}", "jinja", {}, {}, "base")' \
        'salt["state.show_low_sls"]("other")[0].name' 'salt["state.show_sls"]("other").other.test[0].name' 'salt["config.dot_vals"]("m")["m.said"]'; do
        prints "{{ $value }}"
        run salt m1 state.apply it pillarenv=base
        refused_at_m1
    done
    says ''
}

# deep LEVELS KEY [LEAF]: a value of the mine with so many mappings of this key (JSON) in each other.
deep() { python3 -c 'import sys; n = int(sys.argv[1]); print(("{" + sys.argv[2] + ":") * n + sys.argv[3] + "}" * n)' "$1" "$2" "${3:-1}"; }

@test "H-VALUES: a value of the mine that is nested deep does not keep a minion from its pillar" {
    says '{a: [{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}]}'
    for key in '"k"' '"$py"'; do
        mines "$(deep 100 "$key" '"leaf"')"
        run salt m1 pillar.items pillarenv=base --out=json
        grep -q leaf <<<"$output"
        grep -q pillar-of-m1 <<<"$output"
        run evil_says send "{\"m\":\"mine_ask\",\"n\":9,\"op\":\"send\",\"clear\":false,\"data\":{\"x\":$(deep 101 "$key")}}" expect '"n":9'
        grep -q 'nested at most 100 levels deep' <<<"$output"
    done
    says ''
}

@test "H-VALUES: what another minion said is not a template in contents, wherever they come from" {
    mines "\"{{ salt['cmd.run']('$(HARM)') }}\""
    says '{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}'
    printf "say:\n  file.managed:\n    - name: $FLEET/out\n    - template: jinja\n    - contents_pillar: said\n" >"$FLEET/srv/it.sls"
    run salt m1 state.apply it pillarenv=base
    refused_at_m1
    printf "as:\n  file.managed:\n    - name: $FLEET/out2\n    - contents: a\n    - template: jinja\n" >"$FLEET/srv/as.sls"
    printf "include: [as]\nsay:\n  file.managed:\n    - name: $FLEET/out\n    - contents: {{ pillar.said | json }}\n    - use:\n      - file: as\n" >"$FLEET/srv/it.sls"
    run salt m1 state.apply it pillarenv=base
    refused_at_m1
    # A value without a tag is written as it is, and what the machine or an operator said is rendered.
    mines '"a certificate\nof two lines"'
    run salt m1 state.apply it pillarenv=base
    [ "$(cat "$FLEET/out")" = $'a certificate\nof two lines' ]
    says '"{{ "{{ grains.id }}" }}"'
    run salt m1 state.apply it pillarenv=base
    [ "$(cat "$FLEET/out")" = m1 ]
    says ''
}

@test "H-VALUES: what another minion said stays marked in the jobs of a pillar's schedule" {
    prints '{{ pillar.v }}'
    mines "\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    says '1
schedule: {j: {function: state.apply, args: [it], seconds: 1, kwargs: {pillar: {v: {{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}}}}}'
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
    until_log "$FLEET/log/m1" 'job [0-9]*: state.apply from schedule'
    says ''
    salt m1 saltutil.refresh_pillar wait=True >/dev/null
    jid=$(sed -n 's/.*job \([0-9]*\): state.apply from schedule.*/\1/p' "$FLEET/log/m1" | head -n 1)
    until_true 20 eval 'salt-run jobs.lookup_jid '"$jid"' --out=json | grep -q "A value that a peer said"'
}

# The newest job of this function has been refused at m1.
last_is_refused() {
    local fun=$1
    until_true 20 eval 'salt-run jobs.list_jobs search_function='"$fun"' --out=json | grep -q Function'
    jid=$(salt-run jobs.list_jobs search_function="$fun" --out=json | python3 -c 'import json, sys; print(max(json.load(sys.stdin)))')
    until_true 20 eval 'salt-run jobs.lookup_jid '"$jid"' --out=json | grep -q "A value that a peer said"'
}

@test "H-VALUES: a reaction's pillar stays marked in the states that a minion applies for it" {
    prints '{{ pillar.v }}'
    printf 'go:\n  local.state.apply:\n    - tgt: m1\n    - args:\n      - mods: it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    fires "\"x\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    last_is_refused state.apply
    printf 'go:\n  runner.state.orchestrate:\n    - args:\n      - mods: orch.it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    printf 'say:\n  salt.state:\n    - tgt: m1\n    - sls: it\n    - pillar: {{ {"v": pillar.v} | json }}\n' >"$FLEET/srv/orch/it.sls"
    fires "\"x\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    last_is_refused state.sls
}

# A job of a schedule on m1, of this name, has begun and was refused there.
scheduled_is_refused() {
    NAME=$1
    until_log "$FLEET/log/m1" "schedule: job $NAME: state.apply with jid"
    jid=$(sed -n "s/.*schedule: job $NAME: state.apply with jid \([0-9]*\).*/\1/p" "$FLEET/log/m1" | tail -n 1)
    until_true 20 eval 'salt-run jobs.lookup_jid '"$jid"' --out=json | grep -q "A value that a peer said"'
}

@test "H-VALUES: a reaction's pillar stays marked in what a minion keeps to run later" {
    local harms="\"x\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    prints '{{ pillar.v }}'
    # A request for a state run, which the minion's own administrator starts.
    printf 'go:\n  local.state.request:\n    - tgt: m1\n    - args:\n      - mods: it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    fires '"plain"'
    until_true 20 eval 'salt m1 state.check_request --out=json | grep -q plain'
    run salt m1 state.run_request
    grep -q 'Comment: plain' <<<"$output"
    fires "$harms"
    until_true 20 eval 'salt m1 state.check_request --out=json | grep -q more:'
    run salt m1 state.run_request
    refused_at_m1
    # A job of the schedule: as it is added, and as it is read from its file by the next program.
    printf 'go:\n  local.schedule.add:\n    - tgt: m1\n    - args:\n      - name: later\n      - function: state.apply\n      - hours: 90\n      - job_args: [it]\n      - job_kwargs: {{ {"pillar": {"v": data.data.v}} | json }}\n' | reaction
    fires "$harms"
    until_true 20 eval 'salt m1 schedule.list | grep -q later'
    salt m1 schedule.run_job later >/dev/null
    scheduled_is_refused later
    not grep -q _peer <<<"$(salt m1 schedule.list)"
    stop m1
    start_minion m1
    wait_connected m1
    salt m1 schedule.run_job later >/dev/null
    scheduled_is_refused later
    # An operator's arguments in its place are the operator's.
    salt m1 schedule.modify later function=state.apply hours=90 job_args='[it]' job_kwargs='{"pillar": {"v": "own"}}' >/dev/null
    not grep -q _peer "$FLEET/etc/m1/minion.d/_schedule.conf"
    salt m1 schedule.delete later >/dev/null
}

@test "H-VALUES: what another minion said stays marked in the high data that a minion keeps" {
    mines "\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    says '{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}'
    prints '{{ pillar.v }}'
    printf 'say:\n  module.run:\n    - state.apply:\n      - mods: it\n      - pillar: {v: {{ pillar.said | json }}}\n' >"$FLEET/srv/kept.sls"
    printf "base:\n  '*': [kept]\n" >"$FLEET/srv/top.sls"
    run salt m1 state.highstate pillarenv=base
    refused_at_m1
    rm "$FLEET/srv/top.sls"
    run salt m1 state.highstate cache=True
    refused_at_m1
    says ''
}

@test "H-VALUES: what another minion said stays marked in what a minion's own reactor begins" {
    prints '{{ pillar.v }}'
    printf 'x:\n  caller.state.apply:\n    - args:\n      - mods: it\n      - pillar: {v: {{ data.v | json }}}\n' >"$FLEET/told.sls"
    start_minion m3 "reactor: [{told: [$FLEET/told.sls]}]"
    accept m3
    wait_connected m3
    printf 'go:\n  local.event.fire:\n    - tgt: m3\n    - args:\n      - data: {{ {"v": data.data.v} | json }}\n      - tag: told\n' | reaction
    fires "\"x\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    until_log "$FLEET/log/m3" "Rendering SLS 'base:it' failed: A value that a peer said is not only a value here"
    stop m3
    salt-key -y -d m3 >/dev/null
}

@test "H-VALUES: what another minion said is not a template for a function that a template calls" {
    mines "\"{{ salt[\\\"cmd.run\\\"](\\\"touch $FLEET/harm\\\") }}\""
    for value in 'salt["file.apply_template_on_contents"](SAID, "jinja", {}, {}, "base")' \
        'salt["file.apply_template_on_contents"](contents=SAID, template="jinja", context={}, defaults={}, saltenv="base")' \
        'salt["cmd.run"]("echo " ~ (SAID | quote), template="jinja")' 'salt["cmd.run"]("pwd", cwd="/" ~ SAID, template="jinja")' \
        'salt["cp.get_file"]("salt://" ~ SAID, "/nowhere", template="jinja")'; do
        prints "{{ ${value//SAID/'salt["mine.get"]("evil", "x").evil'} | json }}"
        run salt m1 state.apply it
        refused_at_m1
    done
    # A variable of the template may be anything.
    prints '{{ salt["file.apply_template_on_contents"]("{{ v | length }}", "jinja", {"v": salt["mine.get"]("evil", "x").evil}, {}, "base") | json }}'
    run salt m1 state.apply it
    grep -q 'Comment: [0-9][0-9]' <<<"$output"
}

@test "H-VALUES: what another minion said is not a template for a state that has it from a slot or beside a use" {
    mines "\"{{ salt[\\\"cmd.run\\\"](\\\"touch $FLEET/harm\\\") }}\""
    says '{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}'
    for slot in 'mine.get(evil, x).evil' 'pillar.get(said)' 'mine.get(evil, x).evil ~ more'; do
        printf "say:\n  file.managed:\n    - name: $FLEET/out\n    - template: jinja\n    - contents: __slot__:salt:$slot\n" >"$FLEET/srv/it.sls"
        run salt m1 state.apply it pillarenv=base
        refused_at_m1
    done
    printf "as:\n  cmd.run:\n    - name: echo a\n    - template: jinja\n" >"$FLEET/srv/as.sls"
    printf 'include: [as]\nsay:\n  cmd.run:\n    - name: {{ ("echo " ~ (pillar.said | quote)) | json }}\n    - use:\n      - cmd: as\n' >"$FLEET/srv/it.sls"
    run salt m1 state.apply it pillarenv=base
    refused_at_m1
    # The file's own template is one, with a slot whose answer is nobody's.
    printf "say:\n  file.managed:\n    - name: $FLEET/out\n    - template: jinja\n    - contents: __slot__:salt:test.echo('{{ grains.id }}')\n" >"$FLEET/srv/it.sls"
    run salt m1 state.apply it pillarenv=base
    [ "$(cat "$FLEET/out")" = m1 ]
    says ''
}

# The master's own log says that a value was refused, once more than before.
refusals() { grep -c 'A value that a peer said' "$FLEET/log/master" || :; }

@test "H-VALUES: what the master does for itself keeps marks: steps, their threads, and salt.cmd" {
    local harms="\"a\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\"" template="\"{{ 617 * 3001 }}\"" parallel
    prints '{{ pillar.v }}'
    mines "$harms"
    for parallel in False True; do
        printf "go:\n  module.run:\n    - parallel: $parallel\n    - state.apply:\n      - mods: it\n      - pillar: {v: {{ salt['mine.get']('evil', 'x').evil | json }}}\n" >"$FLEET/srv/orch/it.sls"
        run salt-run state.orchestrate orch.it
        refused_at_m1
    done
    printf 'go:\n  runner.salt.cmd:\n    - args:\n      - fun: state.apply\n      - mods: it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    before=$(refusals)
    fires "$harms"
    until_true 20 eval '[ "$(refusals)" -gt "$before" ]'
    mines "$template"
    printf "as:\n  file.managed:\n    - name: $FLEET/as\n    - contents: a\n    - template: jinja\n" >"$FLEET/srv/as.sls"
    printf "include: [as]\nsay:\n  file.managed:\n    - name: $FLEET/out\n    - contents: {{ salt['mine.get']('evil', 'x').evil | json }}\n    - use:\n      - file: as\n" >"$FLEET/srv/orch/it.sls"
    run salt-run state.orchestrate orch.it
    refused_at_m1
    printf 'go:\n  runner.state.orchestrate:\n    - args:\n      - mods: orch.it\n      - pillar: {{ {"v": data.data.v} | json }}\n' | reaction
    for parallel in False True; do
        printf "say:\n  file.managed:\n    - name: $FLEET/out\n    - parallel: $parallel\n    - template: jinja\n    - contents_pillar: v\n" >"$FLEET/srv/orch/it.sls"
        before=$(journal | grep -o 'a template' | wc -l)
        fires "$template"
        until_true 20 eval '[ "$(journal | grep -o "a template" | wc -l)" -gt "$before" ]'
    done
    not grep -q 1851617 "$FLEET/out"
}

# Another job of state.sls_id has begun since there were so many.
jobs_of_id() { salt-run jobs.list_jobs search_function=state.sls_id --out=json | grep -c '"Function"' || :; }

@test "H-VALUES: saltutil.cmd of a step or of a reaction hands the mark on to the jobs that it publishes" {
    local harms="\"x\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\"" go='runner.state.orchestrate:\n    - args:\n      - mods: orch.it\n      - pillar: {{ {"v": data.data.v} | json }}' before
    prints '{{ pillar.v }}'
    for fun in cmd cmd_iter salt.cmd; do
        printf "go:\n  module.run:\n    - saltutil.$fun:\n      - tgt: m1\n      - fun: state.sls_id\n      - kwarg: {id_: say, mods: it, pillar: {v: {{ pillar.v | json }}}}\n" >"$FLEET/srv/orch/it.sls"
        [ "$fun" != salt.cmd ] || go='runner.salt.cmd:\n    - args:\n      - saltutil.cmd\n      - m1\n      - state.sls_id\n      - kwarg: {id_: say, mods: it, pillar: {{ {"v": data.data.v} | json }}}'
        printf 'go:\n  %b\n' "$go" | reaction
        before=$(jobs_of_id)
        fires "$harms"
        until_true 20 eval '[ "$(jobs_of_id)" -gt "$before" ]'
        last_is_refused state.sls_id
    done
}

# How many values became keywords.
keywords() { journal | grep -o '"becomes":"a keyword of' | wc -l; }

@test "H-VALUES: a text or a mapping of an event becomes no keyword of the function that a reaction calls" {
    local fun='local.test.arg:\n    - tgt: m1' before
    for body in "$fun\n    - arg:\n      - a\n      - VALUE" "$fun\n    - args: [a, VALUE]" "$fun\n    - VALUE" "$fun\n    - arg: VALUE" "local.test.arg: {tgt: m1, arg: [VALUE]}" \
        'runner.test.arg:\n    - args: [VALUE]' 'runner.test.arg:\n    - arg: [a, VALUE]' "runner.salt.cmd: [{args: [test.arg, VALUE]}]"; do
        printf 'x:\n  %b\n' "${body//VALUE/'{{ data.data.v | json \}\}'}" | sed 's/\\}/}/g' | reaction
        before=$(keywords)
        fires '"cwd=/tmp"'
        until_true 10 eval '[ "$(keywords)" -gt "$before" ]'
        fires '"cwd==a"'
        fires '"a cwd=a"'
        [ "$(keywords)" -eq $((before + 1)) ]
    done
    printf 'x:\n  runner.test.arg:\n    - args:\n      - a\n      - {{ data.data.v | json }}\n' | reaction
    before=$(keywords)
    fires '{"cwd":"/tmp"}'
    until_true 10 eval '[ "$(keywords)" -gt "$before" ]'
    # A keyword that the file writes has any value.
    printf "x:\n  runner.event.send:\n    - arg:\n      - kw/heard\n      - 'data={\"v\": {{ data.data.v | json }}}'\n" | reaction
    fires '"a=b"'
    until_true 10 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"kw/heard\"]}" | grep -q "a=b"'
    [ "$(keywords)" -eq $((before + 1)) ]
}

@test "H-VALUES: a text of the mine becomes no keyword of the function that a step calls" {
    mines '"cwd=/tmp"'
    for step in 'salt.function:\n    - name: test.arg\n    - tgt: m1\n    - arg:\n      - a\n      - VALUE' 'salt.function:\n    - name: test.arg\n    - tgt: m1\n    - arg: VALUE' \
        'salt.runner:\n    - name: test.arg\n    - arg: [VALUE]' 'module.run:\n    - saltutil.cmd:\n      - tgt: m1\n      - fun: test.arg\n      - arg: [VALUE]'; do
        printf 'f:\n  %b\n' "${step//VALUE/'{{ salt["mine.get"]("evil", "x").evil | json \}\}'}" | sed 's/\\}/}/g' >"$FLEET/srv/orch/it.sls"
        run salt-run state.orchestrate orch.it
        grep -q 'a keyword of the function' <<<"$output"
    done
    printf 'f:\n  test.nop:\n    - name: {{ salt["saltutil.runner"]("test.arg", ["a", salt["mine.get"]("evil", "x").evil]) | string | json }}\n' >"$FLEET/srv/orch/it.sls"
    run salt-run state.orchestrate orch.it
    grep -q 'is not a positional argument' <<<"$output"
    mines '"cwd = /tmp"'
    run salt-run state.orchestrate orch.it
    grep -q 'cwd = /tmp' <<<"$output"
}

@test "H-VALUES: a mapping of the mine gives a name of a state no arguments, and a text of a job none" {
    mines "{\"$FLEET/no\":[{\"onlyif\":\"touch $FLEET/harm\"}]}"
    for names in '{{ salt["mine.get"]("evil", "x").values() | list | json }}' '[a, {{ salt["mine.get"]("evil", "x").evil | json }}]'; do
        printf 'say:\n  file.absent:\n    - names: %s\n' "$names" >"$FLEET/srv/it.sls"
        run salt m1 state.apply it
        grep -q 'a keyword of the function' <<<"$output"
    done
    # A name with arguments that the file gives it.
    mines "\"$FLEET/no\""
    printf 'say:\n  file.absent:\n    - names:\n      - {{ salt["mine.get"]("evil", "x").evil }}:\n        - require: []\n' >"$FLEET/srv/it.sls"
    salt m1 state.apply it | grep -q "Name: $FLEET/no"
    mines '"pillar=a"'
    printf 'say:\n  schedule.present:\n    - function: test.arg\n    - hours: 90\n    - job_args: [{{ salt["mine.get"]("evil", "x").evil | json }}]\n' >"$FLEET/srv/it.sls"
    run salt m1 state.apply it
    grep -q 'a keyword of the function' <<<"$output"
    mines '{"cwd":"/tmp"}'
    for run in 'module.run:\n    - test.arg:\n      - a\n      - VALUE' 'module:\n    - run\n    - test.arg: [VALUE]'; do
        printf 'say:\n  %b\n' "${run//VALUE/'{{ salt["mine.get"]("evil", "x").evil | json \}\}'}" | sed 's/\\}/}/g' >"$FLEET/srv/it.sls"
        run salt m1 state.apply it
        grep -q 'a keyword of the function' <<<"$output"
    done
    printf 'say:\n  module.run:\n    - test.arg:\n      - a: {{ salt["mine.get"]("evil", "x").evil | json }}\n' >"$FLEET/srv/it.sls"
    salt m1 state.apply it | grep -q 'Result: True'
    # Of a pillar the schedule has arguments; all else is data.
    mines '"pillar=a"'
    says '{a.b: [{{ {salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil: 1} | json }}], args: [{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}]}'
    salt m1 pillar.items pillarenv=base | grep -q 'pillar=a'
    says '1
schedule: {j: {function: test.arg, hours: 90, args: [{{ salt["saltutil.runner"]("mine.get", tgt="evil", fun="x").evil | json }}]}}'
    salt m1 pillar.items pillarenv=base | grep -q _errors
    is_refused 'a keyword of the function'
    says ''
}

@test "H-VALUES: what a reaction gave a job is another's word where a template reads of jobs" {
    local harms="\"x\\n\\nmore:\\n  cmd.run:\\n    - name: $(HARM)\""
    printf 'go:\n  local.state.request:\n    - tgt: m1\n    - args:\n      - mods: it\n      - pillar: {{ {"v": data.data.v} | json }}\nlater:\n  local.schedule.add:\n    - tgt: m1\n    - args:\n      - name: later\n      - function: test.arg\n      - hours: 90\n      - job_kwargs: {{ {"v": data.data.v} | json }}\n' | reaction
    fires "$harms"
    until_true 20 eval 'salt m1 state.check_request --out=json | grep -q more:'
    until_true 20 eval 'salt m1 schedule.list | grep -q later'
    for value in 'salt["state.check_request"]().values() | first | attr("get")("kwargs") | attr("get")("pillar") | attr("get")("v")' 'salt["schedule.list"](return_yaml=False).later.kwargs.v' 'salt["schedule.job_status"]("later").kwargs.v'; do
        prints "{{ $value }}"
        run salt m1 state.apply it
        refused_at_m1
    done
    salt m1 schedule.delete later >/dev/null
}

@test "H-VALUES: many values of a minion in commands do not keep the thread that renders them" {
    printf 'cmd.run:\n{%% for x in grains.get("l", []) %%}\n- {{ x }}\n{%% endfor %%}\n' | pillar_one
    python3 -c 'import json; print(json.dumps({"m": "grains", "n": 1, "grains": {"id": "evil", "l": ["ab%d" % i for i in range(80000)]}}, separators=(",", ":")), end="")' >"$FLEET/many.json"
    # Four minutes of a processor when each value is looked up from the text's beginning, less than a second else.
    DEADLINE=$((10 * SLOW)) evil send "$(hello evil)" expect "$WELCOME" file "$FLEET/many.json" send '{"m":"pillar_ask","n":1}' expect '"m":"pillar".*ab79999' >/dev/null
    grep -q 'one.sls, line [0-9]*: a value that a peer said is part of a command' "$FLEET/log/master"
    pillar_again
}
