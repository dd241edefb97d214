#!/usr/bin/env bats
# 3098-returners.bats - built-in returners on the minion: their options, and how they fail.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    start_master
    start_minion m1 "rawfile_json.filename: $FLEET/lines" "other.rawfile_json: {filename: $FLEET/others}" \
        'syslog: {options: [LOG_PERROR], tag: halite}' 'bad.syslog.level: LOG_LOUD'
    accept m1
    wait_connected m1
}
teardown_file() { fleet_down; }

line() { # FILE EXPRESSION: of `d`, the file's last line, which may be still to come
    until_true 10 test -s "$1"
    tail -1 "$1" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$2"
}

@test "rawfile_json has a line for each return, where the options say" {
    [ "$(salt m1 test.arg a 'ü' k=1 --return=rawfile_json --out=txt)" != "" ]
    [ "$(line "$FLEET/lines" '[d["id"], d["fun"], d["fun_args"][:2], d["retcode"], d["success"], d["user"] != ""]')" = \
        "['m1', 'test.arg', ['a', 'ü'], 0, True, True]" ]
    grep -q '"fun": "test.arg"' "$FLEET/lines"
    grep -q 'ü' "$FLEET/lines"
    salt m1 test.ping --return=rawfile_json --return_config=other >/dev/null
    [ "$(line "$FLEET/others" '[d["return"], d["ret_config"]]')" = "[True, 'other']" ]
    salt m1 test.ping --return=rawfile_json --return_kwargs="{filename: $FLEET/third}" >/dev/null
    [ "$(line "$FLEET/third" 'd["return"]')" = True ]
    [ "$(wc -l <"$FLEET/lines")" = 1 ]
}

@test "the job's metadata reaches the returner, and functions that take any keyword" {
    rm -f "$FLEET/lines"
    salt m1 test.kwarg a=1 --metadata='{ticket: 42}' --return=rawfile_json >/dev/null
    [ "$(line "$FLEET/lines" '[d["metadata"], d["return"]["__pub_metadata"], d["return"]["__pub_ret"], "__pub_ret_config" in d["return"]]')" = \
        "[{'ticket': 42}, {'ticket': 42}, 'rawfile_json', False]" ]
    rm -f "$FLEET/lines"
    salt m1 test.kwarg --return=rawfile_json --return_config=other --return_kwargs="{filename: $FLEET/lines}" >/dev/null
    [ "$(line "$FLEET/lines" '[d["return"]["__pub_ret_config"], d["return"]["__pub_ret_kwargs"] == d["ret_kwargs"], "__pub_metadata" in d["return"]]')" = \
        "['other', True, False]" ]
}

@test "syslog has the return as JSON; an unknown level is refused" {
    run --separate-stderr salt_call m1 --local test.echo hello --return=syslog
    [[ $stderr == *'halite: {'*'"return": "hello"'* ]]
    [ "$(salt m1 test.echo hello --return=syslog --return_config=bad --out=newline_values_only)" = hello ]
    until_log "$FLEET/log/m1" 'returner syslog: syslog has no attribute LOG_LOUD'
}

@test "a returner that fails is an event, and the master has the return" {
    [ "$(salt m1 test.echo x --return=rawfile_json --return_kwargs='{filename: /nosuch/place}' --out=newline_values_only)" = x ]
    salt-run state.event 'salt/minion/m1/returner/rawfile_json/*' count=1 since=10m timeout=20 >"$FLEET/event"
    grep -q 'salt/minion/m1/returner/rawfile_json/failed' "$FLEET/event"
    grep -q 'Could not write to rawdata_json file /nosuch/place: No such file or directory' "$FLEET/event"
}

@test "schedule and salt-call use them too" {
    rm -f "$FLEET/lines"
    salt m1 schedule.add once function=test.echo job_args='[f]' seconds=3600 run_on_start=True returner=rawfile_json >/dev/null
    [ "$(line "$FLEET/lines" '[d["return"], d["schedule"]]')" = "['f', 'once']" ]
    salt m1 schedule.delete once >/dev/null
    salt_call m1 --local test.echo g --return=rawfile_json >/dev/null
    [ "$(line "$FLEET/lines" 'd["return"]')" = g ]
}

@test "a returner that disable_returners names is given nothing" {
    rm -f "$FLEET/lines"
    minion_conf m1 "rawfile_json.filename: $FLEET/lines" 'disable_returners: [rawfile_json]'
    run --separate-stderr salt_call m1 --local test.echo h --return=rawfile_json
    [[ $output == *h* && $stderr == *"Returner rawfile_json could not be loaded"*'disable_returners names it'* ]]
    [ ! -e "$FLEET/lines" ]
}
