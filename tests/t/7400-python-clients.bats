#!/usr/bin/env bats
# 7400-python-clients.bats - scripts in Python on the master: jobs, runners, wheel functions, events and keys, as they are written for Salt.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    MASTER_LINES=("nodegroups: {all: 'm*'}")
    MINION_LINES=('grains: {role: web}')
    fleet_up m1
}

teardown_file() {
    fleet_down
}

setup() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "python3 is missing or older than 3.8"
}

# A script from standard input, with the package's folder and the fleet's configuration.
script() {
    PYTHONPATH=$BUILD/python run --separate-stderr timeout 60 python3 -B - "$MASTER_CONF" "$@"
    [ "$status" -eq 0 ] || { echo "$stderr" >&2; return 1; }
}

@test "LocalClient: returns of minions" {
    script <<'EOF'
import sys, salt.client
local = salt.client.LocalClient(sys.argv[1])
print(local.cmd('*', 'test.ping'))
print(local.cmd('m1', 'test.arg_clean', [1, 'b=two', 'c d'], kwarg={'e': None})['m1'])
print(local.cmd('role:web', 'test.echo', ['x'], tgt_type='grain', full_return=True)['m1']['retcode'])
print(local.cmd('all', 'test.ping', tgt_type='nodegroup'), local.cmd(['m1'], 'test.ping', tgt_type='list'), local.cmd('none*', 'test.ping'))
print(local.cmd('m1', ['test.ping', 'test.echo'], [[], ['a']]))
print(local.cmd('m1,gone', 'test.ping', tgt_type='list'))
EOF
    same_as "$output" <<'EOF'
{'m1': True}
{'args': [1, 'c d'], 'kwargs': {'b': 'two', 'e': None}}
0
{'m1': True} {'m1': True} {}
{'m1': {'test.ping': True, 'test.echo': 'a'}}
{'m1': True, 'gone': False}
EOF
}

@test "LocalClient: returns as they come, jobs that go on, batches, subsets, what the master keeps" {
    script <<'EOF'
import sys, salt.client, salt.config
local = salt.client.get_local_client(mopts=salt.config.master_config(sys.argv[1]))
for answer in local.cmd_iter('*', 'test.ping'):
    print({id_: (one['ret'], one['retcode'], len(one['jid'])) for id_, one in answer.items()})
seen = [answer for answer in local.cmd_iter_no_block('*', 'test.ping') if answer]
print(seen[0]['m1']['ret'])
jid = local.cmd_async('*', 'test.echo', ['kept'])
print(local.get_returns(jid, ['m1']), next(local.get_iter_returns(jid, ['m1']))['m1']['ret'])
print(local.get_cache_returns(jid))
job = local.run_job('*', 'test.ping')
print(sorted(job), job['minions'], local.cmd_async('none*', 'test.ping'), local.run_job('none*', 'test.ping'))
print(list(local.cmd_batch('*', 'test.ping', batch='50%')), local.cmd_subset('*', 'test.ping', subset=1))
print(list(local.cmd_cli('m1', 'test.false'))[0]['m1']['ret'], local.gather_minions('*', 'glob'))
EOF
    same_as "$output" <<'EOF'
{'m1': (True, 0, 20)}
True
{'m1': 'kept'} kept
{'m1': {'ret': 'kept'}}
['jid', 'minions'] ['m1'] 0 {}
[{'m1': True}] {'m1': True}
False ['m1']
EOF
}

@test "RunnerClient and WheelClient" {
    script <<'EOF'
import sys, salt.config, salt.key, salt.runner, salt.wheel
opts = salt.config.master_config(sys.argv[1])
runner = salt.runner.RunnerClient(opts)
print(runner.cmd('test.arg', ['a', 5], kwarg={'k': [1]}))
print(runner.cmd('manage.up'), runner.cmd_sync({'fun': 'manage.up', 'timeout': 5}), runner.cmd('manage.up', full_return=True)['success'])
print(sorted(runner.cmd_async({'fun': 'manage.up'})))
print('is not available' in runner.cmd('no.such'))
wheel = salt.wheel.WheelClient(opts)
print(wheel.cmd('key.list_all')['minions'], wheel.call_func('key.list', match='acc'))
key = salt.key.Key(opts)
print(key.list_keys()['minions'], key.name_match('m*'), key.list_status('acc'))
EOF
    same_as "$output" <<'EOF'
{'args': ['a', 5], 'kwargs': {'k': [1]}}
['m1'] ['m1'] True
['jid', 'tag']
True
['m1'] {'minions': ['m1']}
['m1'] {'minions': ['m1']} {'minions': ['m1']}
EOF
}

@test "events: fired, waited for, walked through" {
    script <<'EOF'
import sys, salt.client, salt.config, salt.utils.event
opts = salt.config.client_config(sys.argv[1])
with salt.utils.event.get_event('master', opts=opts, listen=True) as bus:
    print(bus.fire_event({'n': 1}, 'my/first'), bus.fire_event({'n': 2}, 'my/second'))
    print(bus.get_event(wait=10, tag='my/second')['n'])
    print(bus.get_event(wait=0.01, tag='my/none'), bus.get_event(no_block=True, tag='my/none'))
    jid = salt.client.LocalClient(sys.argv[1]).cmd_async('*', 'test.ping')
    for event in bus.iter_events(tag='salt/job/%s/ret/' % jid, full=True):
        print(event['tag'].rsplit('/', 1)[1], event['data']['return'])
        break
    bus.fire_event({'n': 3}, 'other/tag')
    print(bus.get_event(wait=10, tag='*/tag', match_type='fnmatch', full=True)['data']['n'])
EOF
    same_as "$output" <<'EOF'
True True
2
None None
m1 True
3
EOF
}

@test "Caller: functions of the minion, by salt-call" {
    PYTHONPATH=$BUILD/python run --separate-stderr timeout 60 python3 -B - "$FLEET/etc/m1/minion" <<'EOF'
import sys, salt.client, salt.config
caller = salt.client.Caller(sys.argv[1])
print(caller.cmd('test.arg_clean', 'a', 'b=5', c=['x']))
print(caller.cmd('grains.get', 'role'), salt.config.minion_config(sys.argv[1])['id'])
EOF
    same_as "$output" <<'EOF'
{'args': ['a'], 'kwargs': {'b': 5, 'c': ['x']}}
web m1
EOF
}

@test "modules that the minion runs have the same package, and its functions by it" {
    local dir=$BATS_TEST_TMPDIR
    mkdir -p "$dir/etc" "$dir/base/_modules"
    printf 'root_dir: %s\nid: alone\nfile_client: local\nfile_roots: {base: [%s]}\n' "$dir" "$dir/base" >"$dir/etc/minion"
    cat >"$dir/base/_modules/mine.py" <<'EOF'
import salt.client
import salt.config
import salt.loader
import salt.modules.cmdmod
import salt.modules.test
import salt.utils
import salt.utils.templates
from salt.exceptions import CommandExecutionError
from salt.ext import six
from salt.utils.decorators import depends


def show():
    names = {"grains": __grains__, "pillar": __pillar__, "opts": __opts__, "salt": __salt__, "saltenv": "base"}
    return [
        salt.config.minion_config("/etc/salt/minion")["id"],
        salt.client.Caller().cmd("test.echo", "called"),
        salt.modules.cmdmod._run_quiet("echo run"),
        salt.modules.test.echo("imported"),
        "mine.show" in salt.loader.minion_mods(__opts__),
        salt.utils.templates.JINJA("{{ grains.id }} {{ x }}", from_str=True, to_str=True, x=5, **names)["data"],
        [name for name in six.itervalues({"a": salt.utils.which("sh") is not None})],
        salt.version.__version__ == __salt__["test.version"](),
    ]


@depends("no_such_name")
def gone():
    return True


def fails():
    raise CommandExecutionError("bad", info=["why"])
EOF
    "$HALITE_BIN/salt-call" --local -c "$dir/etc" saltutil.sync_modules >/dev/null
    run --separate-stderr "$HALITE_BIN/salt-call" --local -c "$dir/etc" --out=json --out-indent=-1 mine.show
    same_as "$output" <<'EOF'
{"local": ["alone", "called", "run", "imported", true, "alone 5", [true], true]}
EOF
    run "$HALITE_BIN/salt-call" --local -c "$dir/etc" mine.gone
    [[ $output == *"'mine.gone' is not available."* ]]
    run "$HALITE_BIN/salt-call" --local -c "$dir/etc" mine.fails
    [[ $output == *"bad. Additional info follows:"*"- why"* ]]
}

@test "a minion's own bus" {
    PYTHONPATH=$BUILD/python run --separate-stderr timeout 60 python3 -B - "$FLEET/etc/m1/minion" <<'EOF'
import sys, salt.config, salt.utils.event
with salt.utils.event.get_event('minion', opts=salt.config.minion_config(sys.argv[1])) as bus:
    print(bus.fire_event({'n': 1}, 'my/own'), bus.get_event(wait=10, tag='my/own')['n'])
EOF
    same_as "$output" <<'EOF'
True 1
EOF
}

@test "without PyYAML the clients work: what they need of the configuration is plain" {
    script <<'EOF'
import sys
sys.modules['yaml'] = None
import salt.client, salt.config, salt.runner, salt.utils.event
local = salt.client.LocalClient(sys.argv[1])
print(local.cmd('*', 'test.arg_clean', ['a', 'b=5', '[1, 2]'])['m1'])
print(salt.runner.RunnerClient(local.opts).cmd('manage.up'), salt.utils.event.get_event('master', opts=local.opts).fire_event({}, 'x'))
EOF
    same_as "$output" <<'EOF'
{'args': ['a', [1, 2]], 'kwargs': {'b': 5}}
['m1'] True
EOF
}

@test "the options are those of the programs: defaults, folders, paths below root_dir" {
    script <<'EOF'
import os, sys, salt.config, salt.minion, salt.utils.minions, salt.utils.master
opts = salt.config.master_config(sys.argv[1])
print(opts['sock_dir'] == os.environ['SOCK_DIR'], opts['nodegroups'], opts['timeout'])
os.environ['SALT_MASTER_CONFIG'] = sys.argv[1]
print(salt.config.master_config('/etc/salt/master')['sock_dir'] == opts['sock_dir'], salt.config.DEFAULT_MASTER_OPTS['sock_dir'])
found = salt.utils.minions.CkMinions(opts)
print(found.check_minions('m*'), sorted(found.connected_ids()))
print(salt.utils.master.MasterPillarUtil('*', opts=opts).get_minion_grains()['m1']['role'])
EOF
    same_as "$output" <<'EOF'
True {'all': 'm*'} 5
True /var/run/salt/master
{'minions': ['m1'], 'missing': []} ['m1']
web
EOF
}

@test "salt.cache: values in the master's banks" {
    script <<'EOF'
import sys, salt.cache, salt.config
cache = salt.cache.factory(salt.config.master_config(sys.argv[1]))
cache.store('mine/deep', 'k', {'a': [1, None]})
print(cache.fetch('mine/deep', 'k'), cache.list('mine/deep'), cache.contains('mine/deep', 'k'), cache.contains('mine/deep', 'no'))
made = []
print([cache.cache('mine/deep', 'c', lambda: made.append(1) or 5) for _ in range(3)], len(made))
cache.flush('mine/deep', 'k')
print(cache.fetch('mine/deep', 'k'))
EOF
    same_as "$output" <<'EOF'
{'a': [1, None]} ['k'] True False
[5, 5, 5] 1
{}
EOF
}

@test "without a master the error names the socket" {
    script <<'EOF'
import salt.client, salt.exceptions
try:
    salt.client.LocalClient(mopts={'sock_dir': '/nonexistent', 'timeout': 5}).cmd('*', 'test.ping')
except salt.exceptions.SaltClientError as exc:
    print(exc)
EOF
    same_as "$output" <<'EOF'
The salt master could not be contacted at /nonexistent/master.sock (No such file or directory). Is salt-master running, with this configuration?
EOF
}

@test "whom the rules do not allow gets Salt's exception" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    fleet_open
    local python
    python=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3 for another user"
    cp -r "$BUILD/python" "$FLEET" # where that user finds it
    run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups env PYTHONPATH="$FLEET/python" "$python" -B - "$SOCK_DIR" <<'EOF'
import sys, salt.client, salt.exceptions
try:
    salt.client.LocalClient(mopts={'sock_dir': sys.argv[1], 'timeout': 5}).cmd('*', 'test.ping')
except salt.exceptions.EauthAuthenticationError as exc:
    print('refused')
EOF
    same_as "$output" <<'EOF'
refused
EOF
}
