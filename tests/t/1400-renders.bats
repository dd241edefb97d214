#!/usr/bin/env bats
# 1400-renders.bats - what the master renders: which functions its files may call, and that nothing of a minion's is a template.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv/reactor" "$FLEET/pillar"
    renders_master
    start_minion m1 "grains: {evil: \"{{ salt['test.echo']('rendered') }}\", file: \"{% include 'x' %}\"}"
    accept m1
    wait_connected m1
    wait_grains m1
}

teardown_file() { fleet_down; }

setup() { rm -f "$FLEET/did"; }

# renders_master LINE...: with these options besides.
renders_master() {
    start_master "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}" \
        "reactor: [{'go': [salt://reactor/go.sls]}]" "$@"
}

# again LINE...: the same master with other options.
again() {
    stop master
    rm "$MASTER_CONF"
    renders_master "$@"
    wait_connected m1
}

pillar() {
    echo 'base: {"*": [p]}' >"$FLEET/pillar/top.sls"
    cat >"$FLEET/pillar/p.sls"
    run salt m1 pillar.items --out=json
}
react() {
    cat >"$FLEET/srv/reactor/go.sls"
    salt-run event.send go "$@" >/dev/null
}
orch() {
    cat >"$FLEET/srv/o.sls"
    run salt-run state.orchestrate o
}

# says_no FILE FUNCTION WHAT LINE SLS: the text in FILE tells that.
says_no() {
    grep -qF "salt['$2'] is not allowed in what the master renders ($3): add $2 to the master's option renderer_functions_$3" "$1" &&
        grep -qE "$5, line $4|line $4.*$5" "$1"
}

@test "by default no file runs a command: pillar, its top file, reactor, orchestration" {
    run="{{ salt['cmd.run']('touch $FLEET/did') }}"
    pillar <<<$'a: 1\nb: "'"$run"'"'
    [[ $output == *"Rendering SLS 'p' failed. Please see master log for details."* ]]
    says_no "$FLEET/log/master" cmd.run pillar 2 "in $FLEET/pillar/p.sls"

    : >"$FLEET/log/master"
    echo "base: {'*': [p], 'x$run': [p]}" >"$FLEET/pillar/top.sls"
    run salt m1 pillar.items
    says_no "$FLEET/log/master" cmd.run pillar 1 'top.sls'
    rm "$FLEET"/pillar/*.sls

    listen all 'salt/reactor/error'
    react <<<$'x:\n  runner.test.arg: [{arg: ["'"$run"'"]}]'
    wait_event all "cmd.run.* is not allowed in what the master renders .reactor.: add cmd.run to the master's option renderer_functions_reactor.*reactor/go.sls, line 2.*\"line\":2"
    unlisten all

    orch <<<$'\nx: {test.succeed_without_changes: [{name: "'"$run"'"}]}'
    [ "$status" -ne 0 ]
    echo "$output" >"$FLEET/said"
    says_no "$FLEET/said" cmd.run orchestrate 2 'salt://o.sls'
    [ ! -e "$FLEET/did" ]
}

@test "the ways around: attributes, filters, calls within calls, files that are fetched or imported, Python" {
    local call
    echo text >"$FLEET/srv/to-be-copied"
    while read -r call; do
        pillar <<<"a: {{ $call }}"
        [[ $output == *"Rendering SLS 'p' failed"* ]]
        [ ! -e "$FLEET/did" ]
    done <<CALLS
salt.cmd.run('touch $FLEET/did')
salt['cmd.run_all']('touch $FLEET/did')
salt.get('cmd.shell')('touch $FLEET/did')
(['touch $FLEET/did'] | map('apply', salt['cmd.retcode']) | list) if false else salt.cmd.retcode('touch $FLEET/did')
salt['saltutil.runner']('salt.cmd', arg=['cmd.run', 'touch $FLEET/did'])
salt['saltutil.runner'](name='salt.cmd', arg=['cmd.run', 'touch $FLEET/did'])
salt['saltutil.wheel']('pillar_roots.write', 'x', '$FLEET/did')
salt['saltutil.cmd']('m1', 'cmd.run', arg=['touch $FLEET/did'])
salt['state.single']('file.touch', '$FLEET/did')
salt['file.touch']('$FLEET/did')
salt['file.find']('/etc/passwd', exec='touch $FLEET/did')
salt['git.clone']('$FLEET', 'ext::touch $FLEET/did')
salt['slsutil.renderer'](string="{{ '{{' }} salt['cmd.run']('touch $FLEET/did') {{ '}}' }}", default_renderer='jinja')
salt['slsutil.renderer'](string="#!py\ndef run():\n    open('$FLEET/did', 'w')\n    return {}")
salt['test.cross_test']('cmd.run', ['touch $FLEET/did'])
salt['test.cross_test'](func='test.cross_test', args=['cmd.run', ['touch $FLEET/did']])
salt['test.try']('cmd.run', cmd='touch $FLEET/did')
salt['test.try'](module='cmd.run', cmd='touch $FLEET/did')
salt['test.try']('cmd.run' | escape, cmd='touch $FLEET/did')
salt['saltutil.runner']('salt.cmd' | escape, arg=['cmd.run', 'touch $FLEET/did'])
salt['saltutil.runner'](['salt.cmd'], arg=['cmd.run', 'touch $FLEET/did'])
salt['saltutil.runner']('manage.down', removekeys=true)
salt['cp.get_url']('salt://to-be-copied', '$FLEET/did')
salt['cp.get_url']('$FLEET/srv/to-be-copied', dest='$FLEET/did')
salt['http.query']('file://$FLEET/srv/to-be-copied', text_out='$FLEET/did')
CALLS
    echo "{% macro m() %}{{ salt['cmd.run']('touch $FLEET/did') }}{% endmacro %}" >"$FLEET/pillar/lib.jinja"
    pillar <<<$'{% from "lib.jinja" import m %}\na: {{ m() }}'
    [[ $output == *"Rendering SLS 'p' failed"* ]]
    pillar <<<$'#!py\ndef run():\n    open("'"$FLEET"$'/did", "w")\n    return {}'
    [[ $output == *"Rendering SLS 'p' failed"* ]]
    grep -qF 'Python (#!py) is not allowed in what the master renders (pillar): add py to the master'"'"'s option renderer_functions_pillar' "$FLEET/log/master"
    [ ! -e "$FLEET/did" ]
}

@test "what public trees call in such files is allowed" {
    local call
    {
        while read -r call; do
            echo "- {{ ($call) | tojson }}"
        done <<'CALLS'
salt['pillar.get']('x', 'y')
salt.grains.get('kernel')
salt['grains.filter_by']({'default': 1})
salt['config.get']('timeout', 0)
salt['saltutil.runner']('mine.get', tgt='*', fun='x', tgt_type='glob')
salt['saltutil.runner']('manage.up')
salt['saltutil.runner']('jobs.active')
salt['mine.get']('*', 'x')
salt['file.join']('a', 'b')
salt['file.file_exists']('/etc/passwd')
salt['file.grep']('/etc/passwd', '^root').stdout
salt['file.read']('/etc/passwd')
salt['environ.get']('HOME', '')
salt['log.debug']('x')
salt['log.warning']('x')
salt['status.time']()
salt['random.get_str'](8)
salt['network.ip_in_subnet']('127.0.0.1', '127.0.0.0/8')
salt['network.is_loopback']('127.0.0.1')
salt['network.ifacestartswith']('lo')
salt['hashutil.digest']('a')
salt['slsutil.merge']({}, {})
salt['slsutil.serialize']('json', {})
salt['slsutil.renderer'](string='a: 1')
salt['defaults.merge']({}, {})
salt['match.compound']('*')
salt['pkg.version_cmp']('1', '2')
salt['pillar.file_exists']('p.sls')
salt['cp.get_file_str']('salt://o.sls')
salt['cp.cache_file']('salt://o.sls')
salt['saltutil.wheel']('key.list', 'accepted')
CALLS
    } >"$FLEET/calls"
    { echo 'p:' && sed 's/^/  /' "$FLEET/calls"; } >"$FLEET/pillar/p.sls"
    pillar <"$FLEET/pillar/p.sls"
    [[ $output != *_errors* ]] || { tail -n 30 "$FLEET/log/master" >&2; false; }
    orch <<<$'x:\n  test.configurable_test_state:\n    - changes: false\n    - result: true\n    - comment:\n'"$(sed 's/^/      /' "$FLEET/calls")"
    [ "$status" -eq 0 ] || { echo "$output" >&2; false; }
}

@test "what is cached lies in the cache, whatever its path says" {
    pillar <<<"a: {{ salt['cp.cache_local_file']('/../../etc/passwd') }}"
    [[ $output == *'/localfiles/etc/passwd"'* ]]
    mkfifo "$FLEET/fifo"
    pillar <<<"a: {{ salt['cp.cache_local_file']('$FLEET/fifo') }}"
    [[ $output == *"Rendering SLS 'p' failed"* ]]
    grep -qF "$FLEET/fifo is a named pipe" "$FLEET/log/master"
    rm "$FLEET"/pillar/*.sls
}

@test "the lists: more, less, per kind of file, the last entry decides" {
    local echo_a="a: {{ salt['cmd.run']('echo ran') }}"
    again 'renderer_functions_pillar: [cmd.*, not cmd.shell]' "renderer_functions_orchestrate: ['not grains.*', grains.get]"
    pillar <<<"$echo_a"
    [[ $output == *'"a": "ran"'* ]]
    pillar <<<"a: {{ salt['cmd.shell']('echo ran') }}"
    [[ $output == *"Rendering SLS 'p' failed"* ]]
    rm "$FLEET"/pillar/*.sls
    orch <<<"x: {test.succeed_without_changes: [{name: '{{ salt['grains.get']('kernel') }}'}]}"
    [ "$status" -eq 0 ]
    orch <<<"x: {test.succeed_without_changes: [{name: '{{ salt['grains.item']('kernel') }}'}]}"
    [[ $output == *"salt['grains.item'] is not allowed"* ]]
    orch <<<"x: {test.succeed_without_changes: [{name: '{{ salt['cmd.run']('echo ran') }}'}]}"
    [[ $output == *"salt['cmd.run'] is not allowed"* ]]
    again 'renderer_functions: ["*"]'
    pillar <<<"$echo_a"
    [[ $output == *'"a": "ran"'* ]]
    rm "$FLEET"/pillar/*.sls
    orch <<<"x: {test.succeed_without_changes: [{name: '{{ salt['cmd.run']('echo ran') }}'}]}"
    [ "$status" -eq 0 ]
    again 'renderer_functions: []'
    pillar <<<"a: {{ salt['grains.get']('kernel') }}"
    [[ $output == *"Rendering SLS 'p' failed"* ]]
    again
}

@test "what minions say is never a template: grains, event data, the mine" {
    pillar <<'SLS'
evil: {{ grains.evil | tojson }}
text: "{{ grains.evil | replace("'", "") }}"
file: {{ grains.file | tojson }}
SLS
    [[ $output == *"\"evil\": \"{{ salt['test.echo']('rendered') }}\""* ]]
    [[ $output == *'"text": "{{ salt[test.echo](rendered) }}"'* ]]
    [[ $output == *"\"file\": \"{% include 'x' %}\""* ]]
    rm "$FLEET"/pillar/*.sls
    listen all 'salt/run/*/new'
    react "{\"text\": \"{{ 6 * 7 }}\", \"id\": \"{{ salt['test.echo']('rendered') }}\"}" <<'SLS'
x:
  runner.test.arg: [{arg: [{{ data.text | tojson }}, {{ data.id | tojson }}]}]
SLS
    wait_event all "[{][{] 6 [*] 7 [}][}]\",\"[{][{] salt\\['test.echo'\\]\\('rendered'\\) [}][}]\""
    [ "$(heard all '"42"')" -eq 0 ]
    unlisten all
}

@test "a minion renders what it likes" {
    echo "a: {test.succeed_without_changes: [{name: '{{ salt['cmd.run']('echo ran') }}'}]}" >"$FLEET/srv/s.sls"
    run -0 salt m1 state.apply s
    [[ $output == *"Name: ran"* ]]
}
