#!/usr/bin/env bats
# 6000-orchestrate.bats - orchestrations: steps across machines, what fails, what is resumed after a crash, rolling updates.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv" "$FLEET/pillar" "$FLEET/did"
    start_master "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}" 'timeout: 2' \
        'renderer_functions_orchestrate: [saltutil.cmd, cmd.run]'
    local id
    for id in m1 m2 m3 m4; do start_minion "$id"; done
    accept m1 m2 m3 m4
    wait_connected m1 m2 m3 m4
    wait_grains m1 m2 m3 m4
}

teardown_file() {
    fleet_down
}

setup() {
    rm -rf "$FLEET/did" "$FLEET/go" && mkdir "$FLEET/did"
    DID=$FLEET/did
}

# sls NAME: an SLS file from stdin; @DID@ is a folder of this test.
sls() { sed "s|@DID@|$DID|g; s|@GO@|$FLEET/go|g" >"$FLEET/srv/$1.sls"; }
orch() { salt-run state.orchestrate "$@"; }
# json EXPRESSION: of the document on stdin, as `d`.
json() { python3 -c 'import json, sys; d = json.load(sys.stdin); v = '"$1"'; print(v if isinstance(v, str) else json.dumps(v))'; }
# step ID FIELD: of a run's JSON on stdin.
step() { json "[s['$2'] for s in list(d['data'].values())[0].values() if s['__id__'] == '$1'][0]"; }
lines() { cat "$DID/$1" 2>/dev/null | wc -l; }
last_run() { salt-run orchestrate.list limit=1 --out=json | json 'list(d)[0]'; }

@test "parallel steps run at once, and each waits for its own requisites" {
    sls par <<'SLS'
{% for i in [1, 2] %}
wait{{ i }}:
  salt.function:
    - name: cmd.run
    - tgt: m{{ i }}
    - arg: ["touch @DID@/in{{ i }}; until test -e @DID@/in{{ 3 - i }}; do sleep 0.02; done; echo met"]
    - parallel: True
{% endfor %}
after:
  salt.function:
    - name: test.echo
    - tgt: m3
    - arg: [after]
    - parallel: True
    - require:
      - salt: wait1
      - salt: wait2
SLS
    run -0 orch par --out=json
    [ "$(step wait1 changes <<<"$output")" = '{"ret": {"m1": "met"}}' ]
    [ "$(step after changes <<<"$output")" = '{"ret": {"m3": "after"}}' ]
}

@test "max_parallel: no more steps than these are at work" {
    sls many <<'SLS'
{% for i in range(4) %}
s{{ i }}:
  salt.function:
    - name: cmd.run
    - tgt: m{{ i + 1 }}
    - arg: ["mkdir @DID@/busy && sleep 0.05 && rmdir @DID@/busy"]
    - parallel: True
{% endfor %}
SLS
    run -0 orch many max_parallel=1
    [[ $output == *"Succeeded: 4"* ]]
    run -1 orch many max_parallel=0
    [[ $output == *"'max_parallel' is a number from 1 to"* ]]
}

@test "a failed step halts what requires it; onfail makes up for it; retry tries again" {
    sls fails <<'SLS'
bad:
  salt.function:
    - name: cmd.run
    - tgt: m1
    - arg: ['echo x >>@DID@/tries; exit 3']
    - retry: {attempts: 3, interval: 0}
next:
  salt.function:
    - name: cmd.run
    - tgt: m1
    - arg: ['touch @DID@/next']
    - require:
      - salt: bad
rescue:
  salt.function:
    - name: cmd.run
    - tgt: m2
    - arg: ['touch @DID@/rescue']
    - onfail:
      - salt: bad
SLS
    run -1 orch fails
    [[ $output == *"m1: exit code 3"* ]]
    [ "$(lines tries)" -eq 3 ]
    [ ! -e "$DID/next" ]
    [ -e "$DID/rescue" ]
}

@test "the forty ways to fail name their cause and make the command fail" {
    sls ok <<<'a: {test.nop: []}'
    sls badstate <<<'a: {test.fail_without_changes: []}'
    sls nested_bad <<'SLS'
inner:
  salt.state: [{tgt: m1}, {sls: badstate}]
SLS
    local n=0 text want
    while IFS='|' read -r text want; do
        [ -n "$text" ] || continue
        n=$((n + 1))
        printf 'step:\n  %s\n' "$text" | sls f
        run -1 orch f
        [[ $output == *"$want"* ]] || { echo "$text: $output" >&2; return 1; }
        [[ $output == *"Result: False"* ]]
    done <<'CASES'
salt.function: [{name: test.nosuch}, {tgt: m1}]|'test.nosuch' is not available
salt.function: [{name: test.false}, {tgt: m1}]|it returned False
salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ['exit 7']}]|exit code 7
salt.function: [{name: test.exception}, {tgt: m1}, {arg: [bang]}]|bang
salt.function: [{name: test.ping}, {tgt: 'zz*'}]|matches no accepted minion
salt.function: [{name: test.ping}, {tgt: [m1, zz]}, {tgt_type: list}]|zz: its key is not accepted
salt.function: [{name: test.ping}, {tgt: m1}, {tgt_type: nosuch}]|'nosuch' is not a kind of target
salt.function: [{name: test.ping}, {tgt: 'm1 and ('}, {tgt_type: compound}]|target
salt.function: [{name: test.ping}, {tgt: m1}, {ssh: True}]|there is no salt-ssh
salt.function: [{name: test.ping}, {tgt: m1}, {batch: nosuch}]|'batch' is a number
salt.function: [{name: test.ping}, {tgt: m1}, {canary: -1}]|'canary' is a number
salt.function: [{name: test.ping}, {tgt: m1}, {max_fail: x}]|'max_fail' is a number
salt.function: [{name: test.ping}, {tgt: m1}, {subset: 0}]|'subset' is a number
salt.function: [{name: test.ping}, {tgt: m1}, {timeout: soon}]|'timeout' is a number
salt.function: [{name: test.ping}, {tgt: m1}, {allow_fail: x}]|invalid value for 'allow_fail'
salt.function: [{name: test.ping}, {tgt: m1}, {fail_function: test.nosuch}]|test.nosuch
salt.function: [{name: test.echo}, {tgt: m1}]|Passed invalid arguments
salt.function: [{tgt: m1}]|'step' is not available
salt.function: [{name: test.ping}]|tgt
salt.state: [{tgt: m1}, {sls: badstate}]|state a (test.fail_without_changes): Failure!
salt.state: [{tgt: m1}, {sls: nosuch}]|No matching sls found for 'nosuch'
salt.state: [{tgt: 'zz*'}, {sls: ok}]|matches no accepted minion
salt.state: [{tgt: m1}]|No highstate or sls specified
salt.state: [{tgt: m1}, {sls: ok}, {concurrent: 1}]|Must pass in boolean
salt.state: [{tgt: m1}, {sls: ok}, {allow_fail: x}]|invalid value for 'allow_fail'
salt.state: [{tgt: m1}, {sls: ok}, {ssh: True}]|there is no salt-ssh
salt.state: [{tgt: m1}, {highstate: True}]|No Top file
salt.state: [{tgt: m1}, {sls: ok}, {pillar: 7}]|pillar
salt.state: [{tgt: [m1, zz]}, {tgt_type: list}, {sls: ok}]|zz: its key is not accepted
salt.state: [{tgt: m1}, {sls: ok}, {batch: 0}]|'batch' is a number
salt.runner: [{name: test.nosuch}]|'test.nosuch' is not available
salt.runner: [{name: jobs.lookup_jid}]|Passed invalid arguments
salt.runner: [{name: state.orchestrate}, {mods: nested_bad}]|state inner (salt.state): Run failed on minions: m1
salt.runner: [{name: state.orchestrate}, {mods: nosuch}]|No matching sls found
salt.runner: [{name: error.error}, {kwarg: {name: Exception, message: bang}}]|bang
salt.wheel: [{name: nosuch.nosuch}]|'nosuch.nosuch' is not available
salt.wheel: [{name: key.accept}]|Passed invalid arguments
salt.wait_for_event: [{name: never}, {id_list: [m1]}, {timeout: 0.05}]|Not seen: m1
salt.wait_for_event: [{name: never}, {id_list: [m1]}, {timeout: -1}]|'timeout' is a number
salt.parallel_runners: [{runners: [1]}]|must be a string or dict
salt.parallel_runners: [{runners: {a: [{name: test.nosuch}], b: [{name: test.arg}]}}]|Runner a failed
salt.parallel_runners: [{runners: {a: [{name: state.orchestrate}, {kwarg: {mods: nested_bad}}]}}]|Runner a failed
salt.nosuch: []|salt.nosuch
CASES
    [ "$n" -ge 40 ]
}

@test "fail_minions, allow_fail and expect_minions let a step pass" {
    sls pass <<'SLS'
one:
  salt.function: [{name: cmd.run}, {tgt: 'm*'}, {arg: ['test $(hostname) = x || ! grep -q "^id: m1" /proc/$PPID/cmdline; case "$PWD" in *) exit 0;; esac']}]
two:
  salt.function: [{name: test.false}, {tgt: m1}, {fail_minions: m1}]
three:
  salt.function: [{name: test.false}, {tgt: 'm[12]'}, {allow_fail: 2}]
four:
  salt.state: [{tgt: m1}, {sls: badstate}, {fail_minions: [m1]}]
five:
  salt.state: [{tgt: 'zz*'}, {sls: ok}, {expect_minions: False}]
SLS
    sls ok <<<'a: {test.nop: []}'
    sls badstate <<<'a: {test.fail_without_changes: []}'
    run -0 orch pass
    [[ $output == *"Succeeded: 5"* ]]
}

@test "a minion that dies in a step fails it at once, and is named" {
    start_minion m5
    accept m5
    wait_connected m5
    sls dies <<'SLS'
step:
  salt.function: [{name: cmd.run}, {tgt: 'm[15]'}, {arg: ["touch @DID@/$$; until test -e @GO@; do sleep 0.02; done"]}]
SLS
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate dies
    until_true 10 eval '[ "$(ls "$DID" | wc -l)" -eq 2 ]'
    stop m5 KILL
    touch "$FLEET/go"
    until_true 20 test -e "$FLEET/pids/listen-run.rc"
    [ "$(cat "$FLEET/pids/listen-run.rc")" -eq 1 ]
    grep -q 'm5: ' "$FLEET/log/listen-run"
    salt-key -y -d m5
    rm -rf "$FLEET/m5"
}

@test "batch, canary and max_fail: a rolling update stops before it does harm" {
    sls roll <<'SLS'
{% set bad = pillar.get('bad', 'none') %}
deploy:
  salt.function:
    - name: cmd.run
    - tgt: 'm*'
    - arg: ['echo x >>@DID@/{{ '{{' }} grains.id {{ '}}' }}; test {{ '{{' }} grains.id {{ '}}' }} != {{ bad }}']
    - kwarg: {template: jinja}
    - batch: {{ pillar.get('batch', 1) }}
    {%- if pillar.canary is defined %}
    - canary: {{ pillar.canary }}
    {%- endif %}
    {%- if pillar.max_fail is defined %}
    - max_fail: {{ pillar.max_fail }}
    {%- endif %}
SLS
    run -0 orch roll
    [ "$(ls "$DID" | tr '\n' ' ')" = "m1 m2 m3 m4 " ]
    rm -f "$DID"/*
    run -1 orch roll pillar='{"bad": "m1", "canary": 1, "batch": "50%"}'
    [[ $output == *"Stopped: 1 of 1 canaries failed. 3 minions were left as they are."* ]]
    [ "$(ls "$DID")" = m1 ]
    rm -f "$DID"/*
    run -1 orch roll pillar='{"bad": "m2", "max_fail": 0}'
    [[ $output == *"Stopped: 1 minions failed, max_fail is 0. 2 minions were left as they are."* ]]
    [ "$(ls "$DID" | tr '\n' ' ')" = "m1 m2 " ]
    rm -f "$DID"/*
    run -1 orch roll pillar='{"bad": "m2", "max_fail": "50%"}'
    [ "$(ls "$DID" | tr '\n' ' ')" = "m1 m2 m3 m4 " ]
}

@test "the same for states; subset" {
    sls state_roll <<'SLS'
{% if pillar.get('bad') == grains.id %}
broken: {test.fail_without_changes: []}
{% endif %}
mark: {cmd.run: [{name: 'echo x >>@DID@/{{ grains.id }}'}]}
SLS
    sls roll2 <<'SLS'
deploy:
  salt.state: [{tgt: 'm*'}, {sls: state_roll}, {pillar: {bad: m2}}, {batch: 1}, {canary: 2}]
SLS
    sls some <<'SLS'
some:
  salt.state: [{tgt: 'm*'}, {sls: state_roll}, {subset: 2}]
SLS
    run -1 orch roll2
    [[ $output == *"m2: state broken (test.fail_without_changes): Failure!"* ]]
    [[ $output == *"Stopped: 1 of 2 canaries failed. 2 minions were left as they are."* ]]
    [ "$(ls "$DID" | tr '\n' ' ')" = "m1 m2 " ]
    rm -f "$DID"/*
    run -0 orch some
    [ "$(ls "$DID" | wc -l)" -eq 2 ]
}

@test "a failed run is resumed at what failed; from= leaves out what stands before" {
    sls res <<'SLS'
one:
  salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ['echo x >>@DID@/one']}]
two:
  salt.function: [{name: cmd.run}, {tgt: m2}, {arg: ['echo x >>@DID@/two; test -e @GO@']}, {require: [{salt: one}]}]
three:
  salt.runner: [{name: test.arg}, {arg: [a]}, {require: [{salt: two}]}]
SLS
    run -1 orch res
    local id
    id=$(last_run)
    [ "$(salt-run orchestrate.list --out=json | json "d['$id']['Result']")" = false ]
    grep -q "orchestration $id, step two: " "$FLEET/log/master"
    [ "$(salt-run orchestrate.list --out=json | json 'len(d) > 1 and list(d) == sorted(d)')" = true ]
    touch "$FLEET/go"
    run -0 orch resume="$id" --out=json
    [ "$(step one result <<<"$output")" = true ]
    [ "$(step three changes <<<"$output")" = '{"return": {"args": ["a"], "kwargs": {}}}' ]
    [ "$(lines one) $(lines two)" = "1 2" ]
    run -0 salt-run orchestrate.show "$id" --out=json
    [ "$(json "[(s['ID'], s['Result'], s['Goes']) for s in d['Steps']]" <<<"$output")" = '[["one", true, 1], ["two", true, 2], ["three", true, 1]]' ]
    [ "$(json "list(d['Steps'][0]['Jobs'].values())[0]['Minions']" <<<"$output")" = '["m1"]' ]
    run -0 orch res from=three --out=json
    [ "$(lines one) $(lines two)" = "1 2" ]
    [[ $(step one comment <<<"$output") == *"the run goes on behind this step"* ]]
    # A run that left steps out leaves them out when it is resumed.
    rm "$FLEET/go"
    run -1 orch res from=two
    touch "$FLEET/go"
    run -0 orch resume="$(last_run)"
    [ "$(lines one) $(lines two)" = "1 4" ]
    run -1 orch res from=nosuch
    [[ $output == *"the plan has no step with this ID"* ]]
    run -1 orch resume=20200101000000000000
    [[ $output == *"There is no orchestration 20200101000000000000 in the journal"* ]]
}

@test "the plan as text, DOT and Mermaid, before a run and after it" {
    sls g <<'SLS'
one: {salt.function: [{name: test.ping}, {tgt: m1}, {parallel: True}]}
two: {salt.function: [{name: cmd.run}, {arg: ["sleep 0.3"]}, {tgt: m1}, {parallel: True}]}
three: {salt.function: [{name: test.ping}, {tgt: m2}, {require: [{salt: one}, {salt: two}]}]}
SLS
    run -0 salt-run orchestrate.graph g
    [[ $output == *"3  three: salt.function test.ping on m2  [require one, require two]"* ]]
    run -0 orch g
    run -0 salt-run orchestrate.graph "$(last_run)"
    [[ $output == *"Critical path: two -> three ("* ]]
    run -0 salt-run orchestrate.graph g format=dot
    [[ $output == *"digraph orchestration {"*'s1 -> s3 [label="require"'* ]]
    run -0 salt-run orchestrate.graph g format=mermaid
    [[ $output == *"flowchart TD"*"s2 -->|require| s3"* ]]
    run -1 salt-run orchestrate.graph g format=nosuch
    run -1 salt-run orchestrate.graph nosuch
    [[ $output == *"No matching sls found"* ]]
}

@test "pause, resume and soft_kill of a run" {
    sls p <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["touch @DID@/one; until test -e @GO@; do sleep 0.02; done"]}]}
two: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ['touch @DID@/two']}]}
SLS
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate p
    until_true 10 test -e "$DID/one"
    local id
    id=$(last_run)
    salt-run state.pause "$id" two
    touch "$FLEET/go"
    until_true 10 eval 'salt-run orchestrate.show "$id" --out=json | grep -q "\"Result\": true"'
    [ ! -e "$DID/two" ]
    salt-run state.resume "$id" two
    until_true 20 test -e "$FLEET/pids/listen-run.rc"
    [ "$(cat "$FLEET/pids/listen-run.rc")" -eq 0 ]
    [ -e "$DID/two" ]

    rm -f "$DID"/* "$FLEET/go"
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate p
    until_true 10 test -e "$DID/one"
    id=$(last_run)
    salt-run state.soft_kill "$id" two
    touch "$FLEET/go"
    until_true 20 test -e "$FLEET/pids/listen-run.rc"
    [ "$(cat "$FLEET/pids/listen-run.rc")" -eq 1 ]
    [ ! -e "$DID/two" ]
    local said="$(id -un) ended the run before this step by state.soft_kill, at 20"
    grep -qF "$said" "$FLEET/log/listen-run"
    grep -qF "salt-run state.orchestrate resume=$id" "$FLEET/log/listen-run"
    run -0 --separate-stderr salt-run orchestrate.show "$id" --out=json
    [ "$(json "d['Stopped']['By'] + ' ' + d['Stopped']['Before']" <<<"$output")" = "$(id -un) two" ]
    [ "$(json "d['Stopped']['At'][:2]" <<<"$output")" = 20 ]
    [[ "$(json "d['Steps'][1]['Comment']" <<<"$output")" = "$said"* ]]
    rm "$DID/one"
    run -0 orch resume="$id"
    [ -e "$DID/two" ] && [ ! -e "$DID/one" ]
    run -0 --separate-stderr salt-run orchestrate.show "$id" --out=json
    [ "$(json "'Stopped' in d" <<<"$output")" = false ]
}

# The command that the last farewell names: the line that begins with these words.
named() { grep "^$*" "$FLEET/log/leaving" | tail -n 1; }

@test "Ctrl-C: the orchestration goes on; the farewell says how to watch it and how to end it" {
    sls gone <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["touch @DID@/one; until test -e @GO@; do sleep 0.02; done"]}]}
two: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ['touch @DID@/two']}]}
SLS
    daemon leaving "$HALITE_BIN/salt-run" state.orchestrate gone
    until_true 10 test -e "$DID/one"
    local id
    id=$(last_run)
    stop leaving INT
    [ "$RC" -eq 130 ]
    grep -qx 'Exiting gracefully on Ctrl-c' "$FLEET/log/leaving"
    grep -qF "The orchestration $id goes on in the master." "$FLEET/log/leaving"
    [ "$(named salt-run state.event)" = "salt-run state.event 'salt/run/$id/*' pretty=True" ]
    [ "$(named salt-run jobs)" = "salt-run jobs.lookup_jid $id" ]
    run -0 --separate-stderr $(named salt-run orchestrate.show) --out=json
    [ "$(json "d['Result']" <<<"$output")" = running ]
    [ "$(named salt-run state.soft_kill)" = "salt-run state.soft_kill $id" ]
    $(named salt-run state.soft_kill)
    touch "$FLEET/go"
    until_true 10 eval 'salt-run orchestrate.show "$id" --out=json | grep -q "\"Stopped\""'
    [ ! -e "$DID/two" ]

    rm -f "$DID"/* "$FLEET/go"
    sls gone2 <<'SLS'
first: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["touch @DID@/one; until test -e @GO@; do sleep 0.02; done; test -e @GO@.good"]}]}
SLS
    touch "$FLEET/go"
    run -1 orch gone2
    id=$(last_run)
    rm -f "$DID"/* "$FLEET/go"
    daemon leaving "$HALITE_BIN/salt-run" state.orchestrate resume="$id"
    until_true 10 test -e "$DID/one"
    stop leaving INT
    [ "$RC" -eq 130 ]
    [ "$(named salt-run state.soft_kill)" = "salt-run state.soft_kill $id" ]
    [ "$(named salt-run jobs)" != "salt-run jobs.lookup_jid $id" ]
    touch "$FLEET/go"
    until_true 10 eval '[ "$(salt-run orchestrate.show "$id" --out=json | json "d[\"Result\"]")" = false ]'
}

@test "bad input is one clear error" {
    run -1 orch
    [[ $output == *"missing 1 required positional argument: 'mods'"* ]]
    run -1 orch ok pillar=text
    [[ $output == *"Pillar data must be formatted as a dictionary"* ]]
    run -1 orch ok nosuch=1
    [[ $output == *"nosuch"* ]]
    run -1 orch ok unsure=maybe
    run -1 orch nosuch
    [[ $output == *"No matching sls found for 'nosuch' in env 'base'"* ]]
    sls broken <<<'a: {% nosuch %}'
    run -1 orch broken
    [[ $output == *"broken"*"line 1"* ]]
}

@test "one state, high data, and what an orchestration comes to" {
    run -0 salt-run state.orchestrate_single fun=salt.function name=test.ping tgt=m1
    [[ $output == *"Function ran successfully. Function test.ping ran on m1."* ]]
    run -0 salt-run state.orchestrate_high '{one: {salt.function: [{name: test.ping}, {tgt: m2}]}}'
    [[ $output == *"ran on m2."* ]]
    run -1 salt-run state.orchestrate_single fun=nosuch name=x
    run -1 salt-run state.orchestrate_show_sls nosuch
}

@test "wait_for_event: by the field that was asked for" {
    sls w <<'SLS'
wait: {salt.wait_for_event: [{name: 'my/*/done'}, {id_list: [a, b]}, {event_id: who}, {timeout: 20}]}
SLS
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate w
    until_true 10 eval '[ "$(ask "{\"op\":\"active\"}" | grep -c state.orchestrate)" -eq 1 ]'
    until_true 10 eval 'salt-run event.send my/x/done "{who: a}"; salt-run event.send my/x/done "{who: b}"; test -e "$FLEET/pids/listen-run.rc"'
    [ "$(cat "$FLEET/pids/listen-run.rc")" -eq 0 ]
    grep -q 'All events seen in' "$FLEET/log/listen-run"
}

# killat ROWS: tests/lib/killat.py on the fleet's master.
killat() { "$HALITE_SRC/tests/lib/killat.py" "$FLEET/master/var/cache/salt/master/jobs.db" "$(pid_of master)" "$@"; }

# killed_at N COMMAND...: the command, and the master killed as soon as N more rows are in its store. Fails when the command
# was over first.
killed_at() {
    local rows=$1 killer
    shift
    rm -f "$FLEET/pids/listen-run.rc" && mkfifo "$FLEET/hold"
    killat "$rows" <"$FLEET/hold" >"$FLEET/killat" 3>&- &
    killer=$!
    exec 4>"$FLEET/hold"
    rm "$FLEET/hold"
    until_true 10 grep -q ready "$FLEET/killat"
    daemon listen-run "$@"
    until_true 20 test -e "$FLEET/pids/listen-run.rc"
    exec 4>&-
    wait "$killer"
    grep -q killed "$FLEET/killat" || return 1
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2 m3 m4
}

# settled: nothing is on its way into the store.
settled() { [ "$(counter store_queued)" -eq 0 ]; }

@test "kill -9 of the master at every state of the journal, and resume: the same result, no step twice" {
    sls c <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: 'm[12]'}, {arg: ['echo x >>@DID@/one']}]}
two: {salt.state: [{tgt: m3}, {sls: c_two}, {require: [{salt: one}]}]}
three:
  salt.parallel_runners:
    - runners:
        a: [{name: state.orchestrate}, {kwarg: {mods: c_a}}]
        b: [{name: state.orchestrate}, {kwarg: {mods: c_b}}]
        c: [{name: test.arg}]
    - require: [{salt: two}]
four: {salt.function: [{name: cmd.run}, {tgt: 'm*'}, {batch: 2}, {arg: ['echo x >>@DID@/four']}, {require: [{salt: three}]}]}
five: {salt.function: [{name: cmd.run}, {tgt: m4}, {arg: ['echo x >>@DID@/five']}, {parallel: True}, {require: [{salt: one}]}]}
SLS
    sls c_two <<<'mark: {cmd.run: [{name: "echo x >>@DID@/two"}]}'
    sls c_b <<<'inner: {salt.state: [{tgt: m2}, {sls: c_bb}]}'
    sls c_bb <<<'mark: {cmd.run: [{name: "echo x >>@DID@/three"}]}'
    sls c_a <<<'inner: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["echo x >>@DID@/three"]}]}'
    local rows id times before all killed=0
    before=$(killat count)
    run -0 orch c
    until_true 5 settled
    all=$(($(killat count) - before))
    for ((rows = 1; rows < all; rows++)); do
        rm -f "$DID"/*
        # On a busy machine the run may be over before it is looked at.
        killed_at "$rows" "$HALITE_BIN/salt-run" state.orchestrate c || continue
        killed=$((killed + 1))
        id=$(salt-run orchestrate.list --out=json | json '[k for k, v in d.items() if v["Mods"] == "c"][-1]')
        run orch resume="$id" --out=json
        times=$(cd "$DID" && wc -l one two three four five 2>/dev/null | awk '{ printf "%s ", $1 }')
        if [ "$status" -ne 0 ] || [ "$times" != "2 1 2 4 1 10 " ]; then
            echo "killed at $rows: exit code $status, steps ran $times; $output" >&2
            return 1
        fi
    done
    echo "# killed at $killed of $all rows" >&3
    [ "$all" -gt 25 ]
    [ "$killed" -gt $((all / 3)) ]
}

@test "what the master itself was doing when it was killed is not done again unasked" {
    sls u <<'SLS'
one: {cmd.run: [{name: "echo x >>@DID@/one; until test -e @GO@; do sleep 0.02; done"}]}
two: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ['echo x >>@DID@/two']}, {require: [{cmd: one}]}]}
SLS
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate u
    until_true 10 test -e "$DID/one"
    kill -KILL "$(pid_of master)"
    touch "$FLEET/go"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2 m3 m4
    local id
    id=$(last_run)
    run -1 orch resume="$id"
    [[ $output == *"whether it was done is not known, so it is not done again"*"resume=$id unsure=rerun"* ]]
    run -1 orch resume="$id"
    [ "$(lines one) $(lines two)" = "1 0" ]
    run -0 orch resume="$id" from=two
    [ "$(lines one) $(lines two)" = "1 1" ]
    run -0 orch resume="$id" unsure=rerun
    [ "$(lines one) $(lines two)" = "2 1" ]
}

@test "a master that is stopped in a step leaves the step to the resumed run" {
    sls t <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["echo x >>@DID@/one; until test -e @GO@; do sleep 0.02; done; echo done"]}]}
SLS
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate t
    until_true 10 test -e "$DID/one"
    stop master
    until_true 10 test -e "$FLEET/pids/listen-run.rc"
    start_master
    wait_connected m1 m2 m3 m4
    local id
    id=$(last_run)
    [ "$(salt-run orchestrate.list --out=json | json "d['$id']['Result']")" = unfinished ]
    salt-run jobs.lookup_jid "$id" | grep -q "The master ended while this function ran.*salt-run state.orchestrate resume=$id"
    touch "$FLEET/go"
    run -0 orch resume="$id" --out=json
    [ "$(step one changes <<<"$output")" = '{"ret": {"m1": "done"}}' ]
    [ "$(lines one)" -eq 1 ]
}

@test "a run that was resumed has no end until it ends again" {
    sls v <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: m1}, {arg: ["echo x >>@DID@/one; test -e @DID@/again || exit 1; until test -e @GO@; do sleep 0.02; done"]}]}
SLS
    run -1 orch v
    local id
    id=$(last_run)
    [ "$(salt-run orchestrate.list --out=json | json "d['$id']['Result']")" = false ]
    touch "$DID/again"
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate resume="$id"
    until_true 10 eval '[ "$(lines one)" -eq 2 ]'
    kill -KILL "$(pid_of master)"
    touch "$FLEET/go"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2 m3 m4
    [ "$(salt-run orchestrate.list --out=json | json "(d['$id']['Result'], d['$id']['End'])")" = '["unfinished", null]' ]
    run -0 orch resume="$id"
    [ "$(lines one)" -eq 2 ]
    [ "$(salt-run orchestrate.list --out=json | json "d['$id']['Result']")" = true ]
}

@test "a wave that is through is not done again when the run is resumed after keep_jobs_seconds" {
    sls old <<'SLS'
one: {salt.function: [{name: cmd.run}, {tgt: 'm[12]'}, {batch: 1}, {timeout: 60}, {arg: ["echo x >>@DID@/one; until test -e @GO@ || test $(wc -l <@DID@/one) -eq 1; do sleep 0.02; done"]}]}
SLS
    local id before
    before=$(cat "$MASTER_CONF")
    printf 'keep_jobs_seconds: 1\nloop_interval: 1\n' >>"$MASTER_CONF"
    stop master
    start_master
    wait_connected m1 m2 m3 m4
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate old
    until_true 10 eval '[ "$(lines one)" -eq 2 ]'
    # Of the same age, and no orchestration's.
    id=$(salt m1 test.ping --async | grep -oE '[0-9]{20}')
    until_true 20 eval '! salt-run jobs.list_jobs --out=json | grep -q "$id"'
    kill -KILL "$(pid_of master)"
    touch "$FLEET/go"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2 m3 m4
    run -0 orch resume="$(last_run)" --out=json
    [ "$(step one changes <<<"$output")" = '{"ret": {"m1": "", "m2": ""}}' ]
    [ "$(lines one)" -eq 2 ]
    # Now that it is over they go.
    until_true 20 eval '! salt-run jobs.list_jobs --out=json | grep -q cmd.run'
    echo "$before" >"$MASTER_CONF"
    stop master
    start_master
    wait_connected m1 m2 m3 m4
}

@test "events that came while the master was down count for a resumed wait_for_event" {
    sls w2 <<'SLS'
wait: {salt.wait_for_event: [{name: 'my/tag'}, {id_list: [a]}, {timeout: 30}]}
SLS
    daemon listen-run "$HALITE_BIN/salt-run" state.orchestrate w2
    until_true 10 eval 'salt-run orchestrate.show "$(last_run)" --out=json | grep -q "under way"'
    local id
    id=$(last_run)
    kill -KILL "$(pid_of master)"
    until_true 10 test -e "$FLEET/pids/master.rc"
    start_master
    wait_connected m1 m2 m3 m4
    salt-run event.send my/tag '{id: a}'
    run -0 orch resume="$id"
}

@test "on a terminal a tree of the steps, and how to go on after a failure" {
    sls live <<'SLS'
wait: {salt.function: [{name: cmd.run}, {tgt: 'm[12]'}, {parallel: True}, {arg: ["until test -e @GO@; do sleep 0.02; done; exit 1"]}]}
other: {salt.function: [{name: cmd.run}, {tgt: m3}, {parallel: True}, {arg: ["until test -e @GO@; do sleep 0.02; done"]}]}
SLS
    run -1 python3 - "$HALITE_BIN/salt-run" "$FLEET/go" <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(LC_ALL="C", TERM="xterm", NO_COLOR="1")
    os.execv(sys.argv[1], [sys.argv[1], "state.orchestrate", "live"])
text = ""
while True:
    try:
        part = os.read(fd, 65536).decode("utf-8", "replace")
    except OSError:
        break
    text += part
    if text.count("* wait ") and text.count("* other ") and not os.path.exists(sys.argv[2]):
        open(sys.argv[2], "w").close()
print(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
    [[ $output == *$'\033[3A\r\033[J'* ]]
    [[ $output == *"|- x wait "*"2 of 2 minions"*"|     Running function cmd.run failed on minions: m1, m2"*"|     m1, m2: exit code 1"*"\`- + other "*"To go on once the cause is mended: salt-run state.orchestrate resume=$(last_run)"* ]]
}

@test "templates call the master's functions, have its grains and its own pillar" {
    salt m1 mine.send test.ping >/dev/null
    echo 'base: {"*_master": [own]}' >"$FLEET/pillar/top.sls"
    echo 'color: red' >"$FLEET/pillar/own.sls"
    sls tpl <<'SLS'
a:
  test.show_notification:
    - text: |
        mine {{ salt['mine.get']('*', 'test.ping') }}
        runner {{ salt['saltutil.runner']('test.arg', arg=[1]) }}
        wheel {{ salt['saltutil.wheel']('key.list', 'accepted')['return'] }}
        cmd {{ salt['saltutil.cmd']('m2', 'test.ping').m2.ret }}
        id {{ opts.id == grains.get('host', '') ~ '_master' or opts.id }} {{ grains.kernel }} {{ salt['grains.get']('kernel') }}
        pillar {{ pillar.color }} {{ pillar.get('given') }}
SLS
    run -0 orch tpl pillar='{given: blue}'
    [[ $output == *"mine {'m1': True}"* ]]
    [[ $output == *"runner {'args': [1], 'kwargs': {}}"* ]]
    [[ $output == *"wheel {'minions': ['m1', 'm2', 'm3', 'm4']}"* ]]
    [[ $output == *"cmd True"*"Linux Linux"*"pillar red blue"* ]]
    rm "$FLEET"/pillar/*.sls
}

@test "test mode: a wheel step does nothing and has no result; the options are the master's, whatever a minion.d beside them says" {
    mkdir -p "${MASTER_CONF%/*}/minion.d"
    printf 'file_roots: {base: [/nowhere]}\nwhose: minion\n' >"${MASTER_CONF%/*}/minion.d/x.conf"
    sls wheel <<'SLS'
a:
  salt.wheel:
    - name: key.reject
    - match: m4
b:
  test.show_notification:
    - text: "whose {{ salt['config.get']('whose', 'nobody') }} {{ opts.get('whose', 'nobody') }} {{ opts.file_roots.base | first }}"
SLS
    run -0 salt-run state.orchestrate wheel test=True --out=json
    [ "$(step a result <<<"$output")" = null ]
    [ "$(step b comment <<<"$output")" = "whose nobody nobody $FLEET/srv" ]
    rm -r "${MASTER_CONF%/*}/minion.d"
    [ "$(salt-key -l acc | tr '\n' ' ')" = 'Accepted Keys: m1 m2 m3 m4 ' ]
}

@test "jobs.lookup_jid of an orchestration: states, and in JSON the return with its function and arguments" {
    sls looked <<'SLS'
a:
  salt.function:
    - name: test.ping
    - tgt: m1
SLS
    local jid out
    jid=$(salt-run --async state.orchestrate looked pillar='{k: v}' | grep -oE '[0-9]{20}' | tail -1)
    until_true 10 eval 'salt-run jobs.lookup_jid "$jid" | grep -q Summary'
    for out in '' --out=highstate; do
        run -0 salt-run jobs.lookup_jid "$jid" $out
        [[ $output == *"Name: test.ping"*"Comment: Function ran successfully. Function test.ping ran on m1."*"Succeeded: 1 (changed=1)"* ]]
    done
    run -0 salt-run jobs.lookup_jid "$jid" --out=json
    [ "$(json 'sorted(list(d.values())[0])' <<<"$output")" = '["fun", "fun_args", "jid", "return", "success", "user"]' ]
    [ "$(json '[list(d.values())[0][k] for k in ("fun", "fun_args", "jid", "success", "user")]' <<<"$output")" = \
        '["runner.state.orchestrate", ["looked", {"pillar": {"k": "v"}}], "'"$jid"'", true, "'"$(id -un)"'"]' ]
    [ "$(json 'sorted(list(d.values())[0]["return"])' <<<"$output")" = '["data", "outputter", "retcode"]' ]
    [ "$(json 'list(d.values())[0]["return"]' <<<"$output" | step a changes)" = '{"ret": {"m1": true}}' ]
}

@test "an orchestration that calls itself ends" {
    sls self <<<'a: {salt.runner: [{name: state.orchestrate}, {mods: self}]}'
    run -1 orch self
    [[ $output == *"16 runners have begun each other in a row; do they call themselves?"* ]]
}

@test "many parallel steps on the master itself: programs, files, templates, modules" {
    echo 'hello {{ grains.kernel }} {{ salt["cmd.run"]("echo you") }}' >"$FLEET/srv/t.j2"
    sls threads <<'SLS'
{% for i in range(8) %}
cmd{{ i }}: {cmd.run: [{name: 'echo {{ i }}'}, {parallel: True}, {unless: 'test -e /nonexistent'}]}
file{{ i }}: {file.managed: [{name: @DID@/f{{ i }}}, {source: 'salt://t.j2'}, {template: jinja}, {parallel: True}]}
dir{{ i }}: {file.directory: [{name: @DID@/d{{ i }}/x}, {makedirs: True}, {parallel: True}]}
fn{{ i }}: {salt.function: [{name: test.ping}, {tgt: m1}, {parallel: True}, {fail_function: test.echo}]}
run{{ i }}: {salt.runner: [{name: test.arg}, {parallel: True}]}
mod{{ i }}: {module.run: [{'hashutil.digest': [{instr: x{{ i }}}]}, {parallel: True}]}
{% endfor %}
SLS
    run -0 orch threads
    [[ $output == *"Succeeded: 48"* ]]
    [ "$(cat "$DID"/f? | sort -u)" = "hello Linux you" ]
    [ "$(ls -d "$DID"/d?/x | wc -l)" -eq 8 ]
}
