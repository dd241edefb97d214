#!/usr/bin/env bats
# 0400-logs.bats - the log: forms, names and levels; and a job, a state run, a reaction and a pillar followed through it.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    SRV=$FLEET/srv
    mkdir -p "$SRV/reactor" "$FLEET/pillar"
    cat >"$FLEET/pillar/top.sls" <<'SLS'
base:
  'web*': [site]
  'db*': [nothing]
SLS
    printf 'token: MARK-pillar\nnested: {deep: MARK-deep}\n' >"$FLEET/pillar/site.sls"
    cat >"$SRV/site.sls" <<SLS
first:
  cmd.run:
    - name: 'true'
    - env: [{X: MARK-env}]
second:
  test.succeed_with_changes:
    - require: [{cmd: first}]
third:
  test.nop:
    - onchanges: [{test: second}]
silent:
  test.nop:
    - onfail: [{cmd: first}]
broken:
  test.fail_without_changes: []
hindered:
  test.nop:
    - require: [{test: broken}]
lost:
  file.managed:
    - name: $FLEET/secret
    - contents_pillar: nested:deep
    - show_changes: False
SLS
    cat >"$SRV/reactor/go.sls" <<'SLS'
greet:
  local.test.echo:
    - tgt: web1
    - args:
      - text: {{ data['word'] }}
SLS
    master_conf "file_roots: {base: [$SRV]}" "pillar_roots: {base: [$FLEET/pillar]}" 'log_format: json' \
        'log_level_logfile: trace' 'reactor:' "  - 'go/*': [salt://reactor/go.sls]" \
        "  - {name: pair, when: {all: [one/*, two/*]}, within: 60, do: salt://reactor/go.sls}" \
        'event_return: rawfile_json' "event_return_whitelist: ['kept/*']" "rawfile_json.filename: $FLEET/kept" \
        'engines:' "  - script: {cmd: 'cat $FLEET/lines', interval: 1}" \
        'external_auth: {sharedsecret: {ann: [test.*]}}' 'sharedsecret: MARK-shared'
    printf '{"tag": "kept/engine", "data": {"word": "MARK-line"}}\n' >"$FLEET/lines"
    sed -i 's/^log_level: .*/log_level: trace/' "$MASTER_CONF"
    start_master
    start_minion web1 'log_format: json' 'log_level: trace' 'log_level_logfile: trace' "rawfile_json.filename: $FLEET/returns" \
        'beacons: {load: [{averages: {1m: [0.0, 0.0]}}, {interval: 1}]}'
    accept web1
    wait_connected web1
    wait_grains web1
}

teardown_file() { fleet_down; }

# Whole lines of a log, "name level message" each; fails when one is not an object of JSON with all fields.
lines() { # FILE
    python3 -B - "$1" <<'PY'
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    o = json.loads(line)
    assert {"time", "level", "name", "program", "process", "file", "line", "message"} <= set(o), line
    print(o["name"], o["level"], o.get("jid", "-"), o["message"].replace("\n", " "))
PY
}
says() { lines "$FLEET/log/$1" | grep -qE -- "$2"; }
until_says() { until_true 10 says "$@" || { lines "$FLEET/log/$1" | tail -n 40 >&2; return 1; }; }
local_call() { "$HALITE_BIN/salt-call" --local -c "$FLEET/etc/call" "$@"; }
call_conf() {
    mkdir -p "$FLEET/etc/call"
    printf '%s\n' "root_dir: $FLEET/call" 'id: caller' 'file_client: local' "file_roots: {base: [$SRV]}" "$@" >"$FLEET/etc/call/minion"
}
setup() { SRV=$FLEET/srv; }

@test "a job: target, publishing, delivery, run, return, acknowledgement" {
    local jid
    salt -L 'web1,gone' test.ping >/dev/null || :
    jid=$(salt-run jobs.list_jobs --out=json | grep -oE '"[0-9]{20}"' | tail -n 1 | tr -d '"')
    until_says master "^salt.matchers debug - Target '\['web1', 'gone'\]' \(list\): 1 of 1 minions in [0-9.]+ s"
    until_says master "^salt.master info - User .* Published command test.ping with jid $jid"
    until_says master "^salt.master debug - job $jid: for 1 minions; 1 that were named are not there"
    until_says master "^salt.master (debug|trace) - job $jid: (published to all|sent to minion web1)"
    until_says web1 "^salt.minion debug - master 127.0.0.1: job $jid arrives"
    until_says web1 "^salt.minion info - Starting a new job $jid PID [0-9]+"
    until_says web1 "^salt.minion info - Returning information for job: $jid"
    until_says master "^salt.master debug - Got return from web1 for job $jid"
    until_says master "^salt.master trace - job $jid: the return of minion web1 is on the disk, and acknowledged"
    until_says master "^salt.master debug - job $jid: each of its 1 minions has a verdict"
    until_says web1 "^salt.minion debug - job $jid: its return is acknowledged"
}

@test "around the daemons: a beacon, a returner, a follower, an engine and log-ins have names and lines of their own" {
    until_says web1 '^salt.beacons debug - beacon load: 1 events'
    until_says master '^salt.engines debug - Engine script starts, by the module script'
    until_says master '^salt.returners debug - follower event_return.rawfile_json: what it wants of the events up to [0-9]+ is stored'
    until_says master "^salt.master trace - follower event_return.rawfile_json: event [0-9]+ '.*' is not among those that it wants"
    grep -q 'MARK-line' "$FLEET/kept"
    salt web1 test.echo MARK-returned --return=rawfile_json >/dev/null
    until_says web1 '^salt.returners debug [0-9]{20} The returner rawfile_json has the return of job [0-9]{20}'
    salt -a sharedsecret --username ann --password MARK-shared web1 test.ping >/dev/null
    until_says master "^salt.auth info - login of 'ann' by sharedsecret"
    run salt -a sharedsecret --username ann --password MARK-login web1 test.ping
    [ "$status" -ne 0 ]
    until_says master "^salt.auth warning - login of 'ann' by sharedsecret has failed"
}

@test "a state run: files, what waits for what, why it ran or did not" {
    salt web1 state.apply site --out=quiet || :
    until_says web1 "^salt.state debug [0-9]{20} SLS site in saltenv 'base': salt://site.sls from .*/site.sls rendered in"
    until_says web1 "^salt.template profile [0-9]+ Time \(in seconds\) to render '.*site.sls' using 'jinja' renderer"
    until_says web1 "^salt.fileclient debug [0-9]+ salt://site.sls in saltenv 'base': it is fetched from the master"
    until_says master "^salt.fileserver debug - minion web1 asks for get of salt://site.sls in saltenv 'base'"
    until_says master "^salt.fileserver debug - salt://site.sls in saltenv 'base': $SRV/site.sls"
    until_says web1 "State cmd.run 'first' \(SLS site\): it has no requisites: it is called"
    until_says web1 "State test.succeed_with_changes 'second' \(SLS site\): require cmd.run 'first' \(SLS site\), which has changes"
    until_says web1 "State test.succeed_with_changes 'second' \(SLS site\): its requisites are met: it is called"
    until_says web1 "State test.nop 'third' .*: onchanges test.succeed_with_changes 'second' .* which has changes"
    until_says web1 "State test.nop 'silent' .*: nothing of onfail has failed: it is not called"
    until_says web1 "State test.nop 'hindered' .*: a requisite has failed: it is not called"
    until_says web1 "State test.nop 'third' \(SLS site\): result True, no changes in [0-9.]+ ms"
    : >"$FLEET/log/web1"
    salt web1 state.show_sls site --out=quiet
    until_says web1 "salt://site.sls in saltenv 'base': what is in the cache is what the master has"
}

@test "a pillar: targets of the top file, files, cached or compiled" {
    salt web1 saltutil.refresh_pillar wait=True >/dev/null
    until_says master "^salt.pillar trace [0-9]{20} pillar of web1: the top file's target 'web\*' in environment 'base' matches"
    until_says master "^salt.pillar trace [0-9]{20} pillar of web1: the top file's target 'db\*' in environment 'base' does not match"
    until_says master "^salt.pillar debug [0-9]{20} pillar of web1: SLS site in environment 'base' from $FLEET/pillar/site.sls rendered in"
    until_says master "^salt.pillar debug [0-9]{20} pillar of web1: compiled in"
    until_says master "^salt.utils.jinja trace [0-9]{20} $FLEET/pillar/site.sls: its template is (cached|compiled)"
    salt web1 pillar.items >/dev/null
    salt web1 pillar.items >/dev/null
    until_says master "^salt.pillar debug [0-9]{20} pillar of web1: nothing that it is made of has changed: it is the cached one"
}

# about FILE NAME: the lines of that name in the master's log, "minion jid message" each.
about() {
    python3 -B - "$FLEET/log/$1" "$2" <<'PY'
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    o = json.loads(line)
    if o["name"] == sys.argv[2]:
        print(o.get("minion_id", "-"), o.get("jid", "-"), o["message"])
PY
}
about_says() { about "$1" "$2" | grep -qE -- "$3"; }

@test "a pillar's lines name its minion, and the job that it is compiled for" {
    : >"$FLEET/log/master"
    local jid
    jid=$(salt --show-jid web1 pillar.items --out=json | grep -oE '[0-9]{20}')
    until_true 10 about_says master salt.pillar "^web1 $jid pillar of web1: (compiled in|nothing that)"
    "$HALITE_BIN/salt-call" -c "$FLEET/etc/web1" pillar.items >/dev/null
    jobs_named() { [ "$(about master salt.pillar | grep -oE '^web1 [0-9]{20} pillar of web1: (compiled|nothing)' | sort -u | wc -l)" -eq 2 ]; }
    until_true 10 jobs_named
    salt-run pillar.show_pillar web1 >/dev/null
    until_true 10 about_says master salt.pillar '^web1 [0-9]{20} pillar of web1: SLS site '
    # Other lines are about no minion, those of the same thread after it too.
    salt-run test.arg x >/dev/null
    not about_says master salt.master '^web1 '
    # For no job: a minion that has just connected.
    stop web1
    : >"$FLEET/log/master"
    start_minion web1
    wait_connected web1
    until_true 10 about_says master salt.pillar '^web1 - pillar of web1: '
}

@test "parallel states: one that waits for another says so" {
    mkfifo "$FLEET/go"
    cat >"$SRV/parallel.sls" <<SLS
slow:
  cmd.run: [{name: 'cat $FLEET/go'}, {parallel: True}]
after:
  test.nop: [{parallel: True}, {require: [{cmd: slow}]}]
starter:
  cmd.run: [{name: 'echo go >$FLEET/go'}]
SLS
    salt web1 state.apply parallel --out=quiet
    until_says web1 "^salt.state debug [0-9]{20} State test.nop 'after' \(SLS parallel\): a requisite is under way: it waits"
    until_says web1 "State test.nop 'after' \(SLS parallel\): its requisites are met: it is called"
}

@test "a reaction: which rules an event meets, why one is silent, the job that it becomes" {
    salt-run event.send go/now '{word: MARK-event}' >/dev/null
    until_says master "^salt.reactor trace - reactor: event [0-9]+ 'go/now' is one of 'go/\*'"
    until_says master "^salt.reactor trace - reactor: event [0-9]+ 'go/now' is none of 'pair'"
    until_says master "^salt.reactor debug - reactor: event [0-9]+ 'go/now' sets off 1 files"
    until_says master "^salt.reactor debug - reactor: event [0-9]+ 'go/now': salt://reactor/go.sls has 1 reactions, rendered in"
    until_says master "reactor: event [0-9]+, salt://reactor/go.sls 'greet': local.test.echo is asked for"
    until_says master "reactor: event [0-9]+, salt://reactor/go.sls 'greet': it is job [0-9]{20}"
    salt-run event.send one/x '{word: MARK-event}' >/dev/null
    until_says master "^salt.reactor debug - reactor: rule 'pair' still waits for an event 'two/\*'"
}

@test "secrets: none in all that was written at level trace" {
    salt web1 cmd.run 'wc -c' stdin=MARK-stdin env='{X: MARK-env}' >/dev/null
    salt -I 'token:MARK-pillar' test.ping >/dev/null
    until_says master "Target '\(by pillar\)' \(pillar\): 1 of 1 minions"
    salt web1 pillar.items >/dev/null
    salt web1 shadow.gen_password MARK-password >/dev/null
    [ "$(cat "$FLEET/secret")" = MARK-deep ]
    local word
    for word in pillar deep env stdin password event line returned shared login; do
        not grep -rqF "MARK-$word" "$FLEET/log" "$FLEET/master/var/log" "$FLEET/web1/var/log"
    done
}

@test "every line is an object of JSON, whatever is said; on the terminal and in the file" {
    run salt web1 log.warning $'"}\n{"level": "critical"\x1b[31m \\ \xff é'
    until_says web1 '^salt.modules.log warning [0-9]{20} "} \{"level": "critical"'
    salt web1 cmd.run $'printf \'\\001"\\\\\\377\'; exit 3' >/dev/null || :
    run salt $'we"b\\*\x01' test.ping
    local file
    for file in "$FLEET/log/master" "$FLEET/log/web1" "$FLEET/master/var/log/salt/master" "$FLEET/web1/var/log/salt/minion"; do
        lines "$file" >/dev/null
        [ "$(wc -l <"$file")" -gt 5 ]
    done
}

@test "log_granular_levels: a name, and what is below it; a name that nothing has is said" {
    call_conf 'log_level: warning' 'log_granular_levels: {salt.state: debug, salt.modules.log: error, salt.stat: info}'
    run local_call state.apply site test=True
    grep -qE "^\[DEBUG   \] State cmd.run 'first'" <<<"$output"
    not grep -qE '^\[(DEBUG|PROFILE|TRACE) *\].*(renderer|salt://)' <(grep -v 'SLS' <<<"$output")
    grep -qF "log_granular_levels: nothing logs as 'salt.stat'" <<<"$output"
    run local_call log.warning loud
    not grep -q loud <<<"$output"
    run local_call log.error loud
    grep -qF '[ERROR   ] loud' <<<"$output"
}

@test "log_granular_levels is heeded by a reload" {
    printf 'log_granular_levels: {salt.matchers: error}\n' >>"$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_says master 'reload: 1 options changed'
    : >"$FLEET/log/master"
    salt web1 test.ping >/dev/null
    until_says master 'Got return from web1'
    not says master '^salt.matchers'
    sed -i '/^log_granular_levels/d' "$MASTER_CONF"
    kill -HUP "$(pid_of master)"
    until_says master 'reload: 1 options changed'
    salt web1 test.ping >/dev/null
    until_says master '^salt.matchers debug'
}

@test "log_fmt_*, log_datefmt*: fields; a wrong one is refused with its line" {
    call_conf 'log_fmt_console: "%(name)s|%(levelname)-9s|%(minion_id)s|%(jid)s|%(message)s"' 'log_fmt_jid: "<%(jid)s>"' \
        'log_fmt_logfile: "%(asctime)s %(process)d %(module)s %(message)s"' 'log_datefmt_logfile: "%Y"'
    run local_call log.warning text
    grep -qE '^salt\.modules\.log\|WARNING  \|caller\|<[0-9]{20}>\|text$' <<<"$output"
    grep -qE "^$(date +%Y) [0-9]+ log text$" "$FLEET/call/var/log/salt/minion"
    call_conf 'log_fmt_console: "%(level)s"'
    run local_call test.ping
    [ "$status" -ne 0 ]
    grep -qE "minion, line 5: option 'log_fmt_console': there is no field 'level'; there are asctime, " <<<"$output"
}

@test "salt-call writes the minion's log file; one that can't be written is one warning" {
    call_conf 'log_level_logfile: info'
    local_call log.info told --out=quiet
    grep -qE '^[0-9-]+ [0-9:]+,[0-9]{3} \[salt.modules.log *:[0-9]+ *\]\[INFO    \]\[[0-9]+\] told$' "$FLEET/call/var/log/salt/minion"
    call_conf "log_file: $FLEET/call/var/log/salt/minion/below"
    run local_call test.ping --out=txt
    [ "$status" -eq 0 ]
    [ "$(grep -c 'WARNING' <<<"$output")" -eq 1 ]
    grep -qF "cannot open the log file $FLEET/call/var/log/salt/minion/below: Not a directory" <<<"$output"
    grep -qF 'local: True' <<<"$output"
}
