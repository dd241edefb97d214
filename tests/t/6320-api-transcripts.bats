#!/usr/bin/env bats
# What Salt's own salt-api answered, asked of ours: status, types, headers, keys and types of values.
load lib
load api

setup_file() {
    export FLEET
    API_LINES=("app: $BATS_FILE_TMPDIR/app.html" "static: $BATS_FILE_TMPDIR/static")
    mkdir -p "$BATS_FILE_TMPDIR/static/stylesheets"
    head -c 5619 /dev/zero | tr '\0' 'x' >"$BATS_FILE_TMPDIR/app.html"
    head -c 5477 /dev/zero | tr '\0' 'x' >"$BATS_FILE_TMPDIR/static/stylesheets/main.css"
    api_up m1
}
teardown_file() { fleet_down; }

@test "71 recorded requests have the answers that Salt gave" {
    jid=$(ask '{"op":"publish","tgt":"m1","tgt_type":"list","fun":"test.ping","arg":[]}' | field jid)
    until_true 10 grep -q true <(salt-run jobs.lookup_jid "$jid" --out=json)
    python3 -B "$HALITE_SRC/tests/lib/api_replay.py" "$API" "$HALITE_SRC/tests/cases/api/replay.json" "$jid"
}
