#!/usr/bin/env bats
# 1140-no-connection.bats - who is not connected is told why, and what to do: nobody there, a key that waits, Salt at one end
# or the other.

bats_require_minimum_version 1.5.0
load lib

setup() {
    fleet_new
}

teardown() {
    fleet_down
}

# says ID REGEX: in the log of the minion; a look at the ports comes after 2.5 s.
says() { until_log "$FLEET/log/$1" "master 127\\.0\\.0\\.1: $2" 10; }
times() { grep -cE "$2" "$FLEET/log/$1"; }
call() { "$HALITE_BIN/salt-call" -c "$FLEET/etc/$1" "${@:2}"; }

@test "nothing answers: each port with its errno; said once, and at once when the reason is another" {
    local begin=${EPOCHREALTIME/./}
    start_minion m1
    says m1 "nothing answers at 127\\.0\\.0\\.1:$((PORT + 1)): port $((PORT + 1)): Connection refused \\(ECONNREFUSED\\), port $PORT: .*, port $((PORT + 2)): .*systemctl start salt-master"
    [ "$(ms_since "$begin")" -lt 5000 ]
    start_master
    wait_key m1 pre
    says m1 'this minion.s key waits for acceptance; its fingerprint is [0-9a-f:]{95}\. On the master, compare it by salt-key -f m1 and run: salt-key -a m1$'
    [ "$(times m1 'nothing answers')" -eq 1 ]
    local finger
    finger=$(call m1 --local key.finger --out=newline_values_only)
    grep -qF "its fingerprint is $finger." "$FLEET/log/m1"
    salt-key -y -r m1
    says m1 "the master refuses this minion.s key .*salt-key -a m1 --include-rejected accepts it; its fingerprint is $finger\$"
    run -1 call m1 test.ping
    [[ $output == *"master 127.0.0.1: the master refuses this minion's key before a word is said"*"salt-key -L"* ]]
    salt-key -y -a m1 --include-rejected
    wait_connected m1
    [ "$(times m1 'it was rejected there')" -eq 1 ]
}

@test "salt-call says it in its error: no master, a key that waits, a key that is another's" {
    minion_conf m1
    run -1 call m1 test.ping
    [[ $output == *"Unable to reach the master at 127.0.0.1 within 5 seconds: nothing answers at 127.0.0.1:$((PORT + 1)): port $((PORT + 1)): Connection refused (ECONNREFUSED)"*"(salt-call --local works without a master)"* ]]
    touch "$FLEET/keep-ports"
    start_master
    run -1 call m1 test.ping
    [[ $output == *"master 127.0.0.1: this minion's key waits for acceptance"*"salt-key -a m1"* ]]
    salt-key -y -a m1
    run -0 call m1 test.ping
    rm "$FLEET/m1/etc/salt/pki/minion/minion".*
    run -1 call m1 test.ping
    [[ $output == *"the master denies the id m1 to this minion: another key is known for this id"*"salt-key -d"* ]]
}

@test "the port that introduces the master's key is closed" {
    start_master
    start_minion m1 "hello_port: $((PORT + 3))"
    says m1 "a master answers at 127\\.0\\.0\\.1, but not at the port that introduces its key: port $((PORT + 3)): Connection refused \\(ECONNREFUSED\\)\\. .*master\\.pub"
}

@test "another program at the master's port; and one that says nothing" {
    daemon listen-other python3 -c '
import socket, sys
door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
while True:
    one, _ = door.accept()
    one.sendall(b"220 mail ESMTP\r\n")
    one.close()' $((PORT + 1))
    until_log "$FLEET/log/listen-other" listening
    start_minion m1
    says m1 "no Halite master, but another program answers at 127\\.0\\.0\\.1:$((PORT + 1))\\. "
    stop listen-other
    daemon listen-other python3 -c '
import socket, sys, signal
door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("silent", flush=True)
signal.pause()' $((PORT + 1))
    until_log "$FLEET/log/listen-other" silent
    start_minion m2
    says m2 "127\\.0\\.0\\.1:$((PORT + 1)) takes the connection and then says nothing"
    stop listen-other
}

# A Salt master, as far as a minion sees before it has said a word.
salt_master() {
    echo '{"enc": "clear"}' >"$FLEET/salt-says"
    daemon listen-salt python3 "$HALITE_SRC/tests/lib/wire.py" master $((PORT + 1)) "$FLEET/salt-says"
    until_log "$FLEET/log/listen-salt" listening
}

@test "a Salt master at the other end: before and after a Halite master's key is known" {
    local said="a Salt master, not Halite, answers at 127\\.0\\.0\\.1:$((PORT + 1)): .*Install Halite"
    salt_master
    start_minion m1
    says m1 "$said"
    run -1 call m1 test.ping
    [[ $output == *"a Salt master, not Halite, answers at 127.0.0.1:$((PORT + 1))"* ]]
    stop listen-salt
    start_master
    accept m1
    wait_connected m1
    stop master
    : >"$FLEET/log/m1"
    salt_master
    says m1 "$said"
    run -1 call m1 test.ping
    [[ $output == *"master 127.0.0.1: a Salt master, not Halite, answers at 127.0.0.1:$((PORT + 1))"* ]]
    [ "$(times m1 "$said")" -eq 1 ]
    stop listen-salt
}

knock() { python3 "$HALITE_SRC/tests/lib/wire.py" salt $((PORT + 1)) "$FLEET/auth" >/dev/null; }

@test "a Salt minion at our ports: its address and what to do in the log, once; an event" {
    start_master
    listen all
    start_minion m1
    accept m1
    wait_connected m1
    echo '{"enc": "clear", "load": {"cmd": "_auth", "id": "old"}}' >"$FLEET/auth"
    # A connection may be gone before the master asks the kernel whose it is: Salt's minions come again too.
    until_true 20 eval 'knock && grep -qE "127\.0\.0\.1: a Salt minion, .*, knocks here: this is a Halite master\. Install Halite.s salt-minion there" "$FLEET/log/master"'
    wait_event all '"tag":"salt/gate/refused".*"address":"127.0.0.1","reason":"a Salt minion'
    local refused
    refused=$(counter refused)
    knock && knock
    until_true 5 eval '[ "$(counter refused)" -ge $((refused + 2)) ]'
    [ "$(grep -c '^\[WARNING \] 127\.0\.0\.1: a Salt minion' "$FLEET/log/master")" -eq 1 ]
    ping_ok m1
}

@test "a connection that is cut off in its handshake is nobody of Salt's" {
    start_master
    mkdir "$FLEET/cut"
    printf '\xff\0\0\0\0\0\0\0\x01\x7f\x03\0CURVE' >"$FLEET/recording"
    python3 "$HALITE_SRC/tests/lib/wire.py" cut $((PORT + 1)) "$FLEET/recording" 3 >/dev/null
    until_true 5 eval '[ "$(counter handshakes_failed)" -ge 5 ]'
    not grep -q 'a Salt minion' "$FLEET/log/master"
}
