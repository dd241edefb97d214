#!/usr/bin/env bats
# 4205-saltcheck.bats - tests of states on a real minion: files and pillar of the master, states that set a test up, tests in
# children, exit codes and what is said of tests that make no sense.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree MARK=$BATS_FILE_TMPDIR/mark PILLAR=$BATS_FILE_TMPDIR/pillar
    mkdir -p "$TREE"/{app,many,odd}/saltcheck-tests "$PILLAR" "$MARK"
    printf "base:\n  '*': [p]\n" >"$PILLAR/top.sls"
    echo 'color: blue' >"$PILLAR/p.sls"
    printf "base:\n  '*': [app]\n" >"$TREE/top.sls"
    cat >"$TREE/app/init.sls" <<SLS
$MARK/{{ pillar['color'] }}:
  file.managed:
    - contents: {{ pillar['color'] }}
SLS
    # The pillar that a test is given does not stay for those after it.
    cat >"$TREE/app/saltcheck-tests/init.tst" <<TST
setup:
  module_and_function: saltcheck.state_apply
  args: [app]
  pillar_data: {color: red}
made:
  module_and_function: file.read
  args: ['$MARK/red']
  assertion: assertEqual
  expected_return: "red\n"
own_pillar:
  module_and_function: pillar.get
  args: [color]
  assertion: assertEqual
  expected_return: {{ pillar['color'] }}
own_state:
  module_and_function: state.show_low_sls
  args: [app]
  assertion: assertEqual
  assertion_section: 0:name
  expected_return: $MARK/blue
TST
    # Each of them asks the master for a file.
    local i
    for i in 1 2 3 4 5 6 7 8; do
        printf 'same_%s:\n  module_and_function: cp.get_file_str\n  args: [salt://many/text%s]\n  assertion: assertEqual\n  expected_return: text %s\n' "$i" "$i" "$i"
        printf 'text %s' "$i" >"$TREE/many/text$i"
    done >"$TREE/many/saltcheck-tests/init.tst"
    printf 'typo:\n  module_and_function: test.pingg\n  assertion: assertTrue\nsetup:\n  module_and_function: saltcheck.state_apply\n  args: [nosuch]\n' \
        >"$TREE/odd/saltcheck-tests/init.tst"
    MASTER_LINES=("file_roots: {base: [$TREE]}" "pillar_roots: {base: [$PILLAR]}")
    fleet_up web1
}
teardown_file() { fleet_down; }
setup() { rm -rf "${MARK:?}"/*; }

# passed N: that many tests have passed, and none has failed.
passed() { [[ $output == *'"Passed": '"$1,"*'"Failed": 0,'* ]]; }

@test "the tests of a highstate: states set them up with a pillar of their own" {
    run -0 --separate-stderr salt web1 saltcheck.run_highstate_tests --out=json
    passed 4
    [ "$(cat "$MARK/red")" = red ] && [ ! -e "$MARK/blue" ]
    run -0 --separate-stderr salt web1 saltcheck.report_highstate_tests --out=json
    [[ $output == *'"Missing Tests": 0'* ]]
    run -0 --separate-stderr salt_call web1 saltcheck.run_state_tests app --out=json
    passed 4
}

@test "tests at the same time, each of which asks the master" {
    local conf=$FLEET/web1/etc/salt/minion.d
    run -0 --separate-stderr salt web1 saltcheck.run_state_tests many --out=json
    passed 8
    mkdir -p "$conf"
    printf 'saltcheck_parallel: true\nsaltcheck_processes: 4\n' >"$conf/saltcheck.conf"
    run -0 --separate-stderr salt_call web1 saltcheck.run_state_tests many --out=json
    passed 8
    # The pillar may say so as well, to a minion that runs.
    echo 'saltcheck_parallel: true' >>"$PILLAR/p.sls"
    run -0 --separate-stderr salt web1 saltcheck.run_state_tests many --out=json
    passed 8
}

@test "what makes no sense fails, and the minion's log says what and where" {
    run --separate-stderr salt web1 saltcheck.run_state_tests odd --out=json
    [ "$status" -eq 1 ]
    [[ $output == *'"typo": {'*'"status": "Fail - invalid test"'* ]]
    until_log "$FLEET/log/web1" "salt://odd/saltcheck-tests/init.tst: test 'typo': 'test.pingg' is not available"
    until_log "$FLEET/log/web1" "salt://odd/saltcheck-tests/init.tst: test 'setup': its states have failed"
    run --separate-stderr salt web1 saltcheck.run_state_tests nosuch --out=json
    [ "$status" -eq 1 ]
    [[ $output == *'"nosuch": {}'*'"Missing Tests": 1'* ]]
    [[ $stderr == *"There is neither an SLS nor a file of tests 'nosuch' in the environment base"* ]]
    run --separate-stderr salt_call web1 saltcheck.run_state_tests odd
    [ "$status" -eq 1 ]
    [[ $stderr == *"salt://odd/saltcheck-tests/init.tst: test 'typo': 'test.pingg' is not available"* ]]
}
