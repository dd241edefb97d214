#!/usr/bin/env bats
# followers.bats - what an accepted minion that was turned sends, so that what all others say is stored nowhere any more.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() {
    museum_up 'event_return: rawfile_json' "rawfile_json.filename: $BATS_FILE_TMPDIR/events" \
        'event_return_whitelist: ["evil/*", "good/*"]'
}
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# event NUMBER TAG DATA: the message of an event.
event() { echo "{\"m\":\"event\",\"n\":$1,\"tag\":\"$2\",\"data\":$3}"; }
# deep N: N lists, one in the other.
deep() { python3 -c 'import sys; n = int(sys.argv[1]); print("[" * n + "]" * n)' "$1"; }

@test "H-FOLLOWERS: an event as deep as a message may be is stored, and those after it" {
    local n
    for n in 300 395 405 450 500 506; do
        evil_says send "$(event "$n" "evil/$n" "{\"d\":$(deep "$n")}")" expect '"events":\['
    done
    ask '{"op": "fire", "kept": true, "tag": "good/1", "data": {}}'
    until_true 10 grep -q '"good/1"' "$BATS_FILE_TMPDIR/events"
    for n in 300 395 405 450 500 506; do
        grep -q "\"evil/$n\"" "$BATS_FILE_TMPDIR/events"
    done
}
