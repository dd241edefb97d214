#!/usr/bin/env bats
# 3500-schedule.bats - the minion's scheduler, and what it does while no master is there.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

# The jids of a scheduled function's jobs that the master has, oldest first.
jobs_of() {
    salt-run jobs.list_jobs search_function="$1" --out=json | grep -oE '"[0-9]{20}"' | tr -d '"' | sort
}
ran() { [ "$(jobs_of "$1" | wc -l)" -ge "$2" ]; }

@test "a job by seconds returns to the master, under its schedule's name" {
    start_master "auto_accept: True"
    listen ret 'salt/job/*/ret/web'
    start_minion web 'schedule: {beat: {function: test.echo, args: [tick], seconds: 1, metadata: {why: life}}}'
    wait_event ret '"fun":"test.echo","fun_args":\["tick"\].*"schedule":"beat"'
    wait_event ret '"why":"life"'
    until_true 10 ran test.echo 2
    jid=$(jobs_of test.echo | head -n 1)
    run -0 salt-run jobs.lookup_jid "$jid" --out=newline_values_only
    [ "$output" = tick ]
}

@test "the module: what it changes is done, kept, and there after a restart" {
    start_master "auto_accept: True"
    start_minion web
    wait_connected web
    run -0 salt web schedule.add beat function=test.echo job_args='[tock]' seconds=1 --out=json --static
    same_as "$output" <<OUT
{
    "web": {
        "changes": {
            "beat": "added"
        },
        "result": true,
        "comment": "Added job: beat to schedule."
    }
}
OUT
    until_true 10 ran test.echo 1
    run -1 salt web schedule.add beat function=test.echo seconds=1 --out=newline_values_only
    [[ $output == *"Job beat already exists in schedule."* ]]
    run -0 salt web schedule.list --out=newline_values_only
    same_as "$output" <<OUT
schedule:
  beat:
    args:
    - tock
    enabled: true
    function: test.echo
    jid_include: true
    maxrunning: 1
    name: beat
    saved: true
    seconds: 1
OUT
    stop web
    start_minion web
    wait_connected web
    n=$(jobs_of test.echo | wc -l)
    until_true 10 ran test.echo $((n + 1))
    run -0 salt web schedule.disable_job beat --out=newline_values_only
    [[ $output == *"Disabled Job beat in schedule."* ]]
    until_true 10 eval 'salt web schedule.job_status beat | grep -A1 _skip_reason | grep -q disabled'
    run -0 salt web schedule.run_job beat --out=newline_values_only
    [[ $output == *"Job beat is disabled."* ]]
    n=$(jobs_of test.echo | wc -l)
    salt web schedule.run_job beat force=True
    until_true 10 ran test.echo $((n + 1))
    run -0 salt web schedule.delete beat --out=newline_values_only
    [[ $output == *"Deleted Job beat from schedule."* ]]
    grep -q '^schedule: {}' "$FLEET"/etc/web/minion.d/_schedule.conf
}

@test "copied and moved to other minions, as the master's peer allows" {
    start_master "auto_accept: True" "peer: {web: [schedule.add, test.echo]}"
    start_minion web "schedule: {told: {function: test.echo, args: [one, 2], kwargs: {}, days: 1}}"
    start_minion db
    wait_connected web
    wait_connected db
    run -0 salt web schedule.copy told db --out=newline_values_only
    [[ $output == *"Copied Job told from schedule to minion(s)."* ]]
    run -0 salt db schedule.list return_yaml=False --out=json --static --out-indent=-1
    [[ $output == *'"told": {'*'"args": ["one", 2]'* ]]
    run -1 salt web schedule.move told db --out=newline_values_only
    [[ $output == *"the following minions return False"* ]]
    run -0 salt web schedule.list return_yaml=False --out=json --static --out-indent=-1
    [[ $output == *'"told"'* ]]
    run -0 salt db schedule.delete told
    run -0 salt web schedule.move told db --out=newline_values_only
    [[ $output == *"Moved Job told from schedule."* ]]
    run -0 salt web schedule.list return_yaml=False --out=json --static --out-indent=-1
    [[ $output != *'"told"'* ]]
    run -1 salt db schedule.copy told web --out=newline_values_only
    [[ $output == *"no servers answered the published schedule.add command"* ]]
}

@test "salt-call and the state module reach the minion that runs here" {
    start_master "auto_accept: True"
    start_minion web
    wait_connected web
    cat >"$FLEET/s.sls" <<SLS
beat:
  schedule.present:
    - function: test.echo
    - job_args: [told]
    - seconds: 1
SLS
    call() { "$HALITE_BIN/salt-call" -c "$FLEET/etc/web" --local --file-root="$FLEET" "$@"; }
    run -0 call state.apply s
    [[ $output == *"Adding new job beat to schedule"* ]]
    until_true 10 ran test.echo 1
    run -0 call state.apply s
    [[ $output == *"Job beat in correct state"* ]]
    run -0 call schedule.is_enabled beat --out=json
    grep -q '"function": "test.echo"' <<<"$output"
    # Beacons are the running minion's, too.
    run -0 call beacons.add ps '[{processes: {nosuch: stopped}}, {interval: 600}]'
    [[ $output == *"Added beacon: ps."* ]]
    run -0 call beacons.list --out=json
    [[ $output == *'ps:'* ]]
    run -0 call beacons.reset
    stop web
    run call schedule.list
    [[ $output == *"no minion runs here whose schedule that could be"* ]]
    run call beacons.list
    [[ $output == *"no minion runs here whose beacons those could be"* ]]
}

@test "the pillar's schedule runs too, and is not to be changed; what can't be understood is told" {
    start_master "auto_accept: True" "pillar_roots: {base: [$FLEET/pillar]}"
    mkdir "$FLEET/pillar"
    echo "base: {'*': [s]}" >"$FLEET/pillar/top.sls"
    echo "schedule: {beat: {function: test.echo, args: [pillar], seconds: 1}}" >"$FLEET/pillar/s.sls"
    start_minion web 'schedule: {wrong: {function: test.ping, when: tea time}, odd: {function: test.ping, days: 1, dayz: x}}'
    until_true 10 ran test.echo 1
    until_log "$FLEET/log/web" "job wrong is ignored: 'tea time' is not a date" 1
    until_log "$FLEET/log/web" 'job odd: without effect here: dayz' 1
    run salt web schedule.delete beat --out=newline_values_only
    [[ $output == *"Failed to delete job beat from schedule."* ]]
    # Told once for each change.
    before=$(refusals)
    salt web schedule.postpone_job beat 2030-01-01T00:00:00 2030-01-02T00:00:00
    [ "$(refusals)" -eq $((before + 1)) ]
    # A pillar without it: the job ends.
    echo "{}" >"$FLEET/pillar/s.sls"
    salt web saltutil.refresh_pillar wait=True
    run -0 salt web schedule.list show_all=True return_yaml=False --out=json --static
    not grep -q beat <<<"$output"
}

refusals() { grep -c "schedule: job beat can't be changed: it is in the pillar" "$FLEET/log/web" || :; }

# The master's events of a tag, as it numbered them.
told() { ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"$1\"]}"; }

@test "no master: jobs and events go on, and reach it in order and once when it is there, also after kill -9" {
    start_master "auto_accept: True"
    : >"$FLEET/n"
    start_minion web "schedule: {count: {function: cmd.run, args: ['echo x >>$FLEET/n; wc -l <$FLEET/n'], seconds: 1}, fire: {function: event.send, args: [my/beat, {a: 1}], seconds: 1, return_job: False}}"
    wait_connected web
    stop master
    before=$(wc -l <"$FLEET/n")
    until_true 15 eval '[ "$(wc -l <"$FLEET/n")" -ge $((before + 3)) ]'
    stop web KILL
    before=$(wc -l <"$FLEET/n")
    start_minion web
    until_true 15 eval '[ "$(wc -l <"$FLEET/n")" -ge $((before + 2)) ]'
    kept=$(find "$FLEET/web" -name '*.ret' | wc -l)
    fired=$(find "$FLEET/web" -name '*.ev' | wc -l)
    [ "$kept" -ge 4 ] && [ "$fired" -ge 3 ]
    start_master
    until_true 15 eval '[ "$(find "$FLEET/web" -name "*.ret" -o -name "*.ev" | wc -l)" -le 1 ]'
    # What the store has: each job once, though two daemons died meanwhile.
    n=$(wc -l <"$FLEET/n")
    until_true 10 eval '[ "$(jobs_of cmd.run | wc -l)" -ge "$n" ]'
    [ "$(told my/beat | grep -o '"tag":"my/beat"' | wc -l)" -ge "$fired" ]
    # In order, each once.
    told 'salt/job/*/ret/web' | grep -oE '"return":"[0-9]+"' | grep -oE '[0-9]+' >"$FLEET/order"
    [ "$(wc -l <"$FLEET/order")" -ge "$before" ]
    sort -nu "$FLEET/order" | cmp - "$FLEET/order"
}

@test "two masters: the one that asked is dead: its return goes to the other" {
    touch "$FLEET/keep-ports"
    for n in 1 2; do
        mkdir -p "$FLEET/etc$n"
        on $n
        master_conf "auto_accept: True" "id: boss$n"
        sed -i "s/^interface:.*/interface: 127.0.0.$n/; s|^root_dir:.*|root_dir: $FLEET/master$n|" "$MASTER_CONF"
        : >"$FLEET/log/master$n"
        daemon "master$n" "$HALITE_BIN/salt-master" -c "$FLEET/etc$n"
        until_log "$FLEET/log/master$n" 'the master is ready' 10
    done
    start_minion web 'master: [127.0.0.1, 127.0.0.2]' "return_to_other_after: 1" "schedule: {beat: {function: test.echo, args: [both], seconds: 1}}"
    on 2
    wait_connected web
    on 1
    wait_connected web
    # Who asks gets the return, the other one does not.
    salt web test.arg mine
    until_true 10 ran test.echo 1
    on 2
    until_true 10 ran test.echo 1
    [ -z "$(jobs_of test.arg)" ]
    on 1
    jid=$(salt web cmd.run "until [ -e $FLEET/go ]; do sleep 0.05; done; echo over" --async --out=txt | grep -oE '[0-9]{20}')
    until_true 10 eval 'salt web saltutil.running --out=json --static | grep -q "$jid"'
    stop master1 KILL
    touch "$FLEET/go"
    on 2
    until_true 15 eval 'salt-run jobs.lookup_jid "$jid" | grep -q over'
    rm "$FLEET"/master1/var/run/salt-master.pid "$FLEET"/master1/var/run/salt/master/master.sock
}

on() {
    SALT_CONFIG_DIR=$FLEET/etc$1 MASTER_CONF=$FLEET/etc$1/master SOCK_DIR=$FLEET/master$1/var/run/salt/master
    export SALT_CONFIG_DIR MASTER_CONF SOCK_DIR
}
