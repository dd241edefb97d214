#!/usr/bin/env bats
# 4215-master-tops.bats - the option master_tops: what its sources say joins what the top file says, in jobs, in salt-call, without
# a master; a source that fails; what sources get to know. The answers are those of Salt's _master_tops() for the same files.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree
    mkdir -p "$TREE/_tops"
    echo "base: {'*': [n, own]}" >"$TREE/top.sls"
    for sls in web n own z m1 a; do printf '%s-%s:\n  test.nop: []\n' "$sls" "{{ sls }}" >"$TREE/$sls.sls"; done
    cat >"$TREE/nodes" <<'SH'
#!/bin/sh
echo "classes: [n, z]"
SH
    chmod +x "$TREE/nodes"
    cat >"$TREE/_tops/zeta.py" <<'PY'
def top(**kwargs):
    return {"base": ["z", kwargs["opts"]["id"]]}
PY
    cat >"$TREE/_tops/alpha_file.py" <<'PY'
__virtualname__ = "alpha"


def __virtual__():
    return __virtualname__ if "alpha" in __opts__["master_tops"] else False


def top(**kwargs):
    return {"base": [kwargs["grains"]["role"], "z"]}
PY
    printf 'def top(**kwargs):\n    raise ValueError("no such node")\n' >"$TREE/_tops/bad.py"
    printf 'def top(**kwargs):\n    return {"base": [{"a": 1}]}\n' >"$TREE/_tops/odd.py"
    printf 'def top(**kwargs):\n    import time\n    time.sleep(60)\n' >"$TREE/_tops/slow.py"
    cat >"$TREE/_tops/spy.py" <<'PY'
def top(**kwargs):
    return {"base": sorted(kwargs["opts"]) + [kwargs["opts"]["grains"]["id"], str(kwargs["opts"].get("saltenv"))]}
PY
    MASTER_LINES=("file_roots: {base: [$TREE]}" "pillar_timeout: 5")
    MINION_LINES=("grains: {role: web}")
    fleet_up m1
    salt-run saltutil.sync_tops >/dev/null
}

teardown_file() { fleet_down; }

with_tops() { # JSON: the master's sources from now on
    master_conf "file_roots: {base: [$TREE]}" "pillar_timeout: 5" "master_tops: $1"
    : >"$FLEET/log/master"
    kill -HUP "$(pid_of master)"
    until_log "$FLEET/log/master" 'reload: [0-9]+ options? changed$'
}
top_of() { "$@" state.show_top --out=json | tr -d '\n '; }

@test "users' files go first, by name, then ext_nodes; the top file's matches stay before theirs" {
    with_tops "{zeta: 1, ext_nodes: $TREE/nodes, alpha: 2}"
    [ "$(top_of salt m1)" = '{"m1":{"base":["n","own","web","z","m1"]}}' ]
    [ "$(top_of salt_call m1)" = '{"local":{"base":["n","own","web","z","m1"]}}' ]
    run salt m1 state.highstate --out=json --static
    [ "$(grep -oE '"__sls__": "[^"]*"' <<<"$output" | sort -u | wc -l)" = 5 ]
}

@test "master_tops_first is the minion's" {
    run salt_call m1 state.show_top --out=json
    minion_conf m1 "grains: {role: web}" "master_tops_first: True"
    [ "$(top_of salt_call m1)" = '{"local":{"base":["web","z","m1","n","own"]}}' ]
    minion_conf m1 "grains: {role: web}"
}

@test "other environments are added; one that the run is not of, too" {
    printf 'def top(**kwargs):\n    return {"dev": ["a"]}\n' >"$TREE/_tops/dev.py"
    salt-run saltutil.sync_tops >/dev/null
    with_tops '{dev: 1}'
    [ "$(top_of salt m1)" = '{"m1":{"base":["n","own"],"dev":["a"]}}' ]
    [ "$(salt m1 state.show_top saltenv=base --out=json | tr -d '\n ')" = '{"m1":{"base":["n","own"],"dev":["a"]}}' ]
}

@test "without a top file the sources' answer is all; without both, Salt's comment" {
    mv "$TREE/top.sls" "$TREE/none.sls"
    with_tops '{zeta: 1}'
    [ "$(top_of salt m1)" = '{"m1":{"base":["z","m1"]}}' ]
    with_tops '{}'
    run salt m1 state.highstate
    mv "$TREE/none.sls" "$TREE/top.sls"
    [[ $output == *"No Top file or master_tops data matches found."* ]]
}

@test "a source that fails, hangs, says no states, or is missing is named in the log, and the others count" {
    with_tops '{bad: 1, odd: 1, nosuch: 1, slow: 1, zeta: 1}'
    # The sources share pillar_timeout: slow comes before zeta, and leaves it no time.
    [ "$(top_of salt m1)" = '{"m1":{"base":["n","own"]}}' ]
    grep -q 'Top function bad failed with error .*no such node for minion m1: its states are left out' "$FLEET/log/master"
    grep -q "Top function odd failed with error environment base names as an SLS what is no text" "$FLEET/log/master"
    grep -q 'Top function nosuch is not available: a file of that name is missing in _tops' "$FLEET/log/master"
    grep -q 'Top function slow failed with error .* for minion m1' "$FLEET/log/master"
    with_tops '{bad: 1, odd: 1, nosuch: 1, zeta: 1}'
    [ "$(top_of salt m1)" = '{"m1":{"base":["n","own","z","m1"]}}' ]
}

@test "a source hears of a minion its id, its environments and its grains; the id is the key's" {
    with_tops '{spy: 1}'
    minion_conf m1 "grains: {role: web, id: other}"
    [ "$(top_of salt_call m1)" = '{"local":{"base":["n","own","grains","id","minion_id","pillarenv","saltenv","m1","None"]}}' ]
    minion_conf m1 "grains: {role: web}"
}

@test "minions learn which sources there are, not what they are configured with" {
    with_tops '{ext_nodes: /bin/echo secret-word}'
    run salt m1 state.show_top
    until_true 5 test -s "$FLEET/m1/var/cache/salt/minion/master_options"
    grep -q '"ext_nodes": *true' "$FLEET/m1/var/cache/salt/minion/master_options"
    not grep -rq secret-word "$FLEET/m1/var/cache"
}

@test "without a master the minion's own option counts; with one it does not" {
    mkdir -p "$FLEET/alone/etc"
    minion_conf alone "file_client: local" "file_roots: {base: [$TREE]}" "master_tops: {ext_nodes: $TREE/nodes}"
    [ "$("$HALITE_BIN/salt-call" -c "$FLEET/etc/alone" --local state.show_top --out=json | tr -d '\n ')" = \
        '{"local":{"base":["n","own","z"]}}' ]
    with_tops '{}'
    minion_conf m1 "master_tops: {ext_nodes: $TREE/nodes}"
    [ "$(top_of salt_call m1)" = '{"local":{"base":["n","own"]}}' ]
    minion_conf m1 "grains: {role: web}"
}

@test "while no master is there, the last answer counts" {
    with_tops '{zeta: 1}'
    stop m1
    start_minion m1 "offline_after: 1" "minion_pillar_cache: True" "schedule: {top: {function: state.show_top, seconds: 2}}"
    wait_connected m1
    [ "$(top_of salt m1)" = '{"m1":{"base":["n","own","z","m1"]}}' ]
    stop master
    until_log "$FLEET/log/m1" 'no master was there: pillar and files were taken'
    start_master
    wait_connected m1
    until_true 20 eval 'ask "{\"op\":\"journal\",\"from\":1,\"tags\":[\"salt/job/*/ret/m1\"]}" | grep "\"offline\":true" | grep -q "\"z\",\"m1\""'
}
