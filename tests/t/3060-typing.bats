#!/usr/bin/env bats
# 3060-typing - typing errors: functions, keywords and targets that are not there get a suggestion, and nothing runs.

bats_require_minimum_version 1.5.0
load lib

setup_file() { fleet_up web1; }
teardown_file() { fleet_down; }

@test "an unknown function: the nearest one, on a minion, in salt-call and in salt-run" {
    run salt web1 tets.ping
    [ "$status" -eq 1 ]
    [[ $output == *"'tets.ping' is not available. Did you mean 'test.ping'?"* ]]
    run salt_call web1 --local tets.ping
    [ "$status" -eq 255 ]
    [[ $output == *"'tets.ping' is not available. Did you mean 'test.ping'?" ]]
    run salt-run jbos.active
    [ "$status" -eq 1 ]
    [ "$output" = "'jbos.active' is not available. Did you mean 'jobs.active'?" ]
}

@test "a function without its module, with its arguments, or in the target's place: how to write it" {
    local words want
    while IFS='|' read -r words want; do
        run $words
        [ "$status" -ne 0 ]
        [[ $output == *"$want"* ]] || { echo "$words: $output" >&2; return 1; }
    done <<'CALLS'
salt web1 ping| or 'test.ping'?
salt web1 file_exists|'file_exists' is not available. Did you mean 'file.file_exists' or
salt-run list_jobs|'list_jobs' is not available. Did you mean 'jobs.list_jobs'?
salt-run nosuch|'nosuch' is not available.
salt test.ping web1|The target comes first: salt 'web1' test.ping
salt test.ping|salt: error: one word is given: salt '*' test.ping runs that function on all minions
salt web1|salt: error: no function is given; for example: salt 'web1' test.ping
salt -C g@os:Debian test.ping|'g@' begins an id here; is 'G@' meant?
salt --timeot=3 web1 test.ping|no such option: --timeot; is '--timeout' meant?
salt web1 state.single file.manged /nosuch|Did you mean 'file.managed'?
salt web1 state.single module.run name=test.pign|Module function test.pign is not available. Did you mean 'test.ping'?
CALLS
    run salt_call web1 --local --out=json cmd
    [ "$status" -eq 1 ]
    [[ $output == *'"cmd": "'"'cmd' is not available.\""* ]] # its functions follow, and no other module's is meant
    run -1 salt web1 'cmd.run echo a'
    [[ $output == *"'cmd.run echo a' is not available. The function is one word, its arguments are the next ones: cmd.run ARGUMENT"* ]]
    run -1 salt web1 state.single test.fail_without_changes x 'retry={attemps: 2, interval: 0}'
    [[ $output == *"'attemps' is an invalid key of 'retry' for 'test.fail_without_changes'; is 'attempts' meant?"* ]]
}

@test "a state, or a minion's function, in the place of a function: how to run it" {
    run salt web1 pkg.installed vim
    [ "$status" -eq 1 ]
    [[ $output == *"It is a state: 'state.single pkg.installed NAME' runs it"* ]]
    run salt-run test.ping
    [ "$status" -eq 1 ]
    [[ $output == *"It is a function of minions: salt TARGET test.ping" ]]
}

@test "a keyword that is mistyped: nothing runs" {
    run salt web1 state.single test.succeed_with_changes x tset=True
    [ "$status" -eq 1 ]
    [[ $output == *"tset=True; is 'test' meant?"* ]]
    run salt-run jobs.lookup_jid jdi=1
    [ "$status" -eq 1 ]
    [[ $output == *"The following keyword arguments are not valid: jdi=1; is 'jid' meant?" ]]
}

@test "a target that the shell has made of *: said so" {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    touch a.txt b.txt
    # shellcheck disable=SC2035
    run salt * test.ping
    [ "$status" -eq 64 ]
    [[ $output == *"'a.txt' and 'b.txt' are files of this folder: the shell expanded the target's"* ]]
    rm b.txt
    # shellcheck disable=SC2035
    run salt * test.ping
    [ "$status" -eq 2 ]
    [[ $output == *"'a.txt' is a file of this folder"* ]]
}

@test "a mistyped minion: the nearest one" {
    run salt wbe1 test.ping
    [ "$status" -eq 2 ]
    [[ $output == *"No minion of the id 'wbe1' is accepted; is 'web1' meant?"* ]]
}

@test "a thing that is not there: said on stderr, exit code 1, and the return stays as it is" {
    run --separate-stderr salt-run jobs.lookup_jid 123 --out=json
    [ "$status" -eq 1 ]
    [ "$output" = '{}' ]
    [ "$stderr" = "The job store has no return of job 123; 'salt-run jobs.list_jobs' lists the jobs there are" ]
    run --separate-stderr salt-run pillar.show_pillar nosuch
    [ "$status" -eq 1 ]
    [[ $stderr == "No minion 'nosuch' has told its grains here"* ]]
    run --separate-stderr salt-run state.soft_kill 123
    [ "$status" -eq 1 ]
    [[ $stderr == "No orchestration 123 is under way"* ]]
    run --separate-stderr salt_call web1 --local --out=json cp.get_file salt://nosuch "$BATS_TEST_TMPDIR/x"
    [ "$status" -eq 1 ]
    [[ $output == *'"local": ""'* ]]
    [[ $stderr == *"salt://nosuch was not fetched"* ]]
    local words
    while IFS='|' read -r words want; do
        run --separate-stderr salt-run $words
        [ "$status" -eq 1 ] || { echo "salt-run $words: $status" >&2; return 1; }
        [[ $stderr == *"$want"* ]] || { echo "salt-run $words: $stderr" >&2; return 1; }
    done <<'RUNS'
cache.list nosuch|There is no bank 'nosuch', or nothing in it
cache.clear_grains nosuch|No accepted minion matches 'nosuch'
cache.clear_all nosuch|No accepted minion matches 'nosuch'
fileserver.file_list saltenv=nosuch|There is no environment 'nosuch'; 'salt-run fileserver.envs' lists them
fileserver.dir_list saltenv=nosuch|There is no environment 'nosuch'
mine.get nosuch test.ping|No minion of the target has put 'test.ping' into the mine
salt.execute nosuch test.ping|No minion of the target has returned 'test.ping'
survey.hash nosuch test.ping|No minion of the target has returned (nosuch, test.ping)
survey.diff nosuch test.ping|No minion of the target has returned (nosuch, test.ping)
RUNS
    # An environment without such files is there.
    run -0 salt-run fileserver.empty_dir_list
    run -1 --separate-stderr salt_call web1 --local sys.doc nosuch other.*
    [[ $stderr == *"Nothing is called nosuch, other.*; 'sys.list_functions' lists what there is"* ]]
    run -1 --separate-stderr salt_call web1 --local ps.kill_pid 0
    [[ $stderr == *'There is no process 0'* ]]
    run -1 salt web1 saltutil.kill_job 123
    until_log "$FLEET/log/web1" 'saltutil.kill_job: No job 123 runs here'
}

@test "a thing that a minion does not have: the operator reads which" {
    local words want how
    while IFS='|' read -r words want; do
        for how in '' --static -b1; do
            run -1 --separate-stderr salt $how --out=json web1 $words
            [[ $stderr == *"web1: $want"* ]] || { echo "salt $how web1 $words: $stderr" >&2; return 1; }
        done
    done <<'CALLS'
saltutil.kill_job 123|No job 123 runs here; 'saltutil.running' lists the jobs that do
cp.get_file salt://nosuch /nosuch|salt://nosuch was not fetched; 'cp.list_master' lists the file server's files
cp.list_master saltenv=nosuch|There is no environment 'nosuch'; 'cp.envs' lists them
cp.list_states saltenv=nosuch|There is no environment 'nosuch'; 'cp.envs' lists them
mine.send nosuch.fun|Nothing was put into the mine: 'nosuch.fun' is not available.
mine.send tets.ping|Nothing was put into the mine: 'tets.ping' is not available. Did you mean 'test.ping'?
publish.publish web1 test.ping|The master refuses: minion:web1 may not publish 'test.ping' on 'web1': no rule of peer allows it
publish.full_data web1 test.ping|The master refuses: minion:web1 may not publish 'test.ping' on 'web1': no rule of peer allows it
publish.runner manage.up|The master refuses: minion web1 may not run the runner 'manage.up': no rule of peer_run allows it
CALLS
    run -1 --separate-stderr salt web1 saltutil.kill_job,cp.get_file 123 , salt://nosuch /nosuch
    [[ $stderr == *"web1: saltutil.kill_job: No job 123 runs here"*"cp.get_file: salt://nosuch was not fetched"* ]]
}

@test "documentation of nothing: said, exit code 1" {
    run -1 --separate-stderr salt web1 sys.doc tets.ping
    [ -z "$output" ]
    [ "$stderr" = "Nothing is called tets.ping; 'sys.list_functions' lists what there is" ]
    run -1 --separate-stderr salt -d web1 tets.ping
    [[ $stderr == "Nothing is called tets.ping"* ]]
    run -1 --separate-stderr salt-run -d nosuch
    [ "$stderr" = "No runner is called 'nosuch'; 'salt-run -d' lists what there is" ]
    run -0 salt-run -d jobs.active
    run -0 salt web1 sys.doc test.ping
}

@test "Salt's other options: taken with the reason why they do nothing, or refused with what to do" {
    run --separate-stderr salt --hard-crash web1 test.ping --out=txt
    [ "$status" -eq 0 ]
    [ "$output" = 'web1: True' ]
    [ "$stderr" = 'salt: --hard-crash has no effect in Halite: an error never ends with a traceback' ]
    run salt --module-executors=sudo web1 test.ping
    [ "$status" -eq 64 ]
    [[ $output == *'error: --module-executors: every job runs in a process of its own'* ]]
    run --separate-stderr salt-key --preserve-minions=True -L
    [ "$status" -eq 0 ]
    [[ $stderr == *"--preserve-minions has no effect in Halite: "* ]]
}

@test "a Saltfile: options of a program, which the command line overrides; one that others may write is left out" {
    own=$BATS_TEST_TMPDIR/own
    mkdir -p "$own/home/.salt" "$own/open"
    cd "$own"
    cat >Saltfile <<YAML
salt: {output: txt, list: True, timeout: 7}
salt-call: {config_dir: $own, local: True, out: json}
salt-key: {none_such: 1}
salt-cp: [a]
salt-run: {timeout: long}
YAML
    run -0 salt web1 test.ping
    [ "$output" = 'web1: True' ]
    run -0 salt -G 'id:web1' test.ping --out=newline_values_only
    [ "$output" = True ]
    printf 'id: of-the-saltfile\n' >minion
    run -0 "$HALITE_BIN/salt-call" config.get id
    [[ $output == *of-the-saltfile* ]]
    run -64 salt-key -L
    [[ $output == *"$own/Saltfile: salt-key has no option 'none_such'"* ]]
    run -64 "$HALITE_BIN/salt-cp" web1 a b
    [[ $output == *'a Saltfile is a mapping of programs'* ]]
    run -64 salt-run manage.up
    [[ $output == *'option --timeout: invalid integer value'*"That is of the Saltfile $own/Saltfile" ]]
    mv Saltfile home/.salt/Saltfile
    HOME=$own/home run -0 salt web1 test.ping
    [ "$output" = 'web1: True' ]
    cp home/.salt/Saltfile open/Saltfile
    run -0 salt web1 test.ping --saltfile="$own/open/Saltfile"
    [ "$output" = 'web1: True' ]
    cd open
    for made in 'chmod 666 Saltfile' 'chmod 644 Saltfile; chmod 777 .' 'chmod 755 .; rm Saltfile; ln -s ../home/.salt/Saltfile Saltfile'; do
        eval "$made"
        run --separate-stderr -0 salt web1 test.ping
        [ "$output" != 'web1: True' ]
        [[ $stderr == *"$own/open/Saltfile is left out: "*"--saltfile=$own/open/Saltfile takes it all the same"* ]]
    done
    SALT_SALTFILE=$own/open/Saltfile run -0 salt web1 test.ping
    [ "$output" = 'web1: True' ]
    run -64 salt --saltfile="$own/none" web1 test.ping
    [[ $output == *"'$own/none' file does not exist."* ]]
    for program in salt salt-run salt-key salt-cp salt-call salt-master salt-minion salt-api; do
        run -64 "$HALITE_BIN/$program" --saltfile="$own/none"
    done
}

@test "--help: examples, and salt-run's names the runners that the master has" {
    for program in salt salt-run salt-key salt-call; do
        "$HALITE_BIN/$program" --help | grep -q '^Examples:$'
    done
    runners=$(salt-run --help | sed -n '/^Runners/,$ { /^  / p }' | tr -s ' ' '\n' | grep .)
    diff <(echo "$runners") <(salt-run -d | sed -n 's/^\([a-z_]*\)\.[a-z_]*:$/\1/p' | sort -u)
}
