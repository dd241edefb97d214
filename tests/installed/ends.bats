#!/usr/bin/env bats
# ends.bats - what root.sh runs in a folder ends with root.sh, and root.sh with its caller: `make test-installed`.

bats_require_minimum_version 1.5.0
load booted

setup() {
    local why
    why=$("$ROOT_SH" can) || skip "$why"
    # Its own words, by which its process is found from outside: 3600 seconds and a number of this run.
    WORD=3600.$$$BATS_TEST_NUMBER
}
teardown() {
    [ -z "${WORD:-}" ] || ! runs || kill -KILL $(pids) || :
}
pids() { pgrep -fx "sleep $WORD"; }
runs() { pids >/dev/null; }
is_over() { ! runs; }
becomes() { # COMMAND: within ten seconds
    local end=$((SECONDS + 10))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        read -rt 0.1 <> <(:) || :
    done
}

@test "its exit code, its input and its output are the command's" {
    run -7 "$ROOT_SH" fresh / sh -c 'read -r word; echo "said $word"; exit 7' <<<hello
    [ "$output" = 'said hello' ]
}

@test "a command hears an interrupt that is sent to it" {
    run -0 "$ROOT_SH" fresh / sh -c 'trap "echo heard; exit 0" INT; kill -INT $$; echo deaf'
    [ "$output" = heard ]
}

@test "a signal to root.sh ends what it runs" {
    local signal pid
    for signal in TERM INT HUP KILL; do
        # As a shell with job control: what is in the background of another ignores interrupts, and below nohup all do.
        env --default-signal=INT,HUP "$ROOT_SH" fresh / sleep "$WORD" 3>&- &
        pid=$!
        becomes runs
        kill -"$signal" "$pid"
        becomes is_over || { echo "SIG$signal does not end it" >&2; return 1; }
        wait "$pid" || [ $? -gt 128 ]
    done
}

@test "when its caller is killed it ends" {
    sh -c '"$0" fresh / sleep "$1"; exit' "$ROOT_SH" "$WORD" 3>&- &
    local pid=$!
    becomes runs
    kill -KILL "$pid"
    becomes is_over
    wait "$pid" || [ $? -eq 137 ]
}
