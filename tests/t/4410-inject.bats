#!/usr/bin/env bats
# 4410-inject.bats - a part of `make inject` with a fixed seed: one call after the other fails, once, in commands and in
# daemons; each ends well or says why, no file is half-written, and what comes after works.

bats_require_minimum_version 1.5.0
load lib

setup() {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
}

inject() { /usr/bin/python3 -B "$HALITE_SRC/tests/inject/inject.py" "$BUILD" --places --seed 1 "$@"; }
# nothing_wrong LEAST: all that was tried went well, and it was so much at least.
nothing_wrong() {
    local n
    n=$(sed -nE 's/^0 wrong of ([0-9]+) faults.*/\1/p' <<<"$output")
    [ "${n:-0}" -ge "$1" ]
}

@test "salt-key without memory: one message, keys whole, the next call works" {
    run -0 inject --scenario 'key-[adg]*' --kind alloc --sample 25
    nothing_wrong 60
}

@test "salt-call while files can't be opened, written, synchronised or renamed" {
    run -0 inject --scenario call-grain --kind '[wsnom]*' --sample 8
    nothing_wrong 40
}

@test "a job while the minion's job server and its child can't fork, make sockets, open or write" {
    run -0 inject --scenario 'job-[sc]*[rd]' --kind '[wsfno]*' --sample 3
    nothing_wrong 30
}

@test "daemons that end while memory runs out" {
    run -0 inject --scenario 'stop-*' --kind alloc
    nothing_wrong 40
}

@test "a job while the master's disk fails" {
    run -0 inject --scenario job-master --kind sync
    nothing_wrong 2
}
