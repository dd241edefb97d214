#!/usr/bin/env bats
# 3095-python-hostile.bats - custom modules that do harm: to their own job, and to nothing else.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    mkdir -p "$FLEET/srv/_modules"
    cat >"$FLEET/srv/_modules/hostile.py" <<'PY'
import json
import os
import signal
import socket
import sys
import threading


def writes_the_line(message):
    text = message if isinstance(message, str) else json.dumps(message)
    os.write(3, text.encode() + b"\n")
    return True


def takes_the_line():
    with socket.socket(fileno=os.dup(3)) as line:
        line.setblocking(False)
        try:
            line.recv(65536)
        except BlockingIOError:
            pass
        line.shutdown(socket.SHUT_RD)
    return "taken"


def closes_all():
    os.closerange(0, 256)
    return True


def returns_much(megabytes):
    return "x" * (megabytes * 1024 * 1024)


def returns_deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def returns_itself():
    value = {}
    value["again"] = value
    return value


def prints_much(lines):
    for number in range(lines):
        print("line", number, "x" * 200)
    return lines


def leaves_a_thread():
    threading.Thread(target=threading.Event().wait).start()
    return "threaded"


def recurses(depth=0):
    return recurses(depth + 1)


def kills(sig):
    os.kill(os.getpid(), getattr(signal, sig))
    signal.pause()


def stays(path):
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    open(path, "w").close()
    while True:
        signal.pause()


def forks(path):
    """Ten processes, each of which goes on as a child of its own, without an end."""
    for _ in range(10):
        if os.fork() == 0:
            while os.fork() == 0:
                pass
            os._exit(0)
    open(path, "w").close()
    while True:
        signal.pause()


def takes_memory():
    held = []
    while len(held) < 64:
        held.append(bytearray(1024 * 1024))
    raise MemoryError("enough")


def breaks_python():
    sys.modules.clear()
    sys.path[:] = []
    del sys.modules
    return "broken"
PY
    start_master "file_roots: {base: [$FLEET/srv]}"
    start_minion m1
    accept m1
    wait_connected m1
    salt m1 saltutil.sync_modules >/dev/null
}
teardown_file() { fleet_down; }

json() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv.pop(1)))' "$@"; }
said() { # FUN WORD...: m1's return as text, of a job that may fail; the minion works on after it
    run --separate-stderr salt m1 "$@" --out=json --static
    json 'd["m1"]' <<<"$output"
    [ "$(salt m1 test.ping --out=txt)" = 'm1: True' ]
    until_true 10 eval '! fleet_processes | grep -q python3'
}

@test "the line to the program: written to, taken, closed" {
    [[ $(said hostile.writes_the_line 'no message') == *"what python3 said"* ]]
    [[ $(said hostile.writes_the_line '{"find": "x"}') == True ]]
    [[ $(said hostile.writes_the_line '{"call": [1, 2, 3]}') == True ]]
    [[ $(said hostile.writes_the_line '{"nosuch": 1}') == *"means anything here"* ]]
    [ "$(said hostile.takes_the_line)" = taken ]
    [[ $(said hostile.closes_all) == *"python3 has ended before it answered"* ]]
}

@test "returns that are too long, too deep or endless" {
    [[ $(said hostile.returns_much 65) == *"python3 said more than 67108864 bytes at once"* ]]
    [[ $(said hostile.returns_deep 100000) == *"RecursionError"* ]]
    [[ $(said hostile.returns_itself) == *"RecursionError"* ]]
    [ "$(said hostile.returns_deep 50 | tr -d ' ' | head -c 40)" = '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[' ]
}

@test "much output, threads, recursion, memory" {
    [ "$(said hostile.prints_much 5000)" = 5000 ]
    [ "$(said hostile.leaves_a_thread)" = threaded ]
    [[ $(said hostile.recurses) == *"RecursionError"* ]]
    [[ $(said hostile.takes_memory) == *"MemoryError: enough" ]]
    said hostile.breaks_python
}

@test "processes that fork for ever end with the job" {
    local jid
    salt --async m1 hostile.forks "$FLEET/forks" >/dev/null
    until_true 10 test -e "$FLEET/forks"
    jid=$(salt m1 saltutil.running --out=json --static | json '[j["jid"] for j in d["m1"] if j["fun"] == "hostile.forks"][0]')
    salt m1 saltutil.kill_job "$jid" >/dev/null
    until_true 10 eval '! fleet_processes | grep -q python3'
    [ "$(salt m1 test.ping --out=txt)" = 'm1: True' ]
}

@test "signals: to itself; none of them saves it from the end of its job" {
    local sig jid
    for sig in SIGKILL SIGSEGV SIGTERM SIGABRT; do
        [[ $(said hostile.kills "$sig") == *"python3 has ended before it answered"* ]]
    done
    salt --async m1 hostile.stays "$FLEET/stays" >/dev/null
    until_true 10 test -e "$FLEET/stays"
    jid=$(salt m1 saltutil.running --out=json --static | json '[j["jid"] for j in d["m1"] if j["fun"] == "hostile.stays"][0]')
    salt m1 saltutil.kill_job "$jid" >/dev/null
    until_true 10 eval '! fleet_processes | grep -q python3'
    [ "$(salt m1 test.ping --out=txt)" = 'm1: True' ]
}
