#!/usr/bin/env bats
# templates.bats - what a minion's grains make of the templates that the master renders for it: numbers and texts that are
# widths, counts and formats there. README.md says which.

bats_require_minimum_version 1.5.0
load ../t/lib
load museum

setup_file() {
    museum_up
    printf "base:\n  '*': [one]\n  evil: [formats]\n" >"$FLEET/pillar/top.sls"
    cat >"$FLEET/pillar/formats.sls" <<'SLS'
shown: "{{ ('{:' ~ grains.spec ~ '}').format(1.5) }}"
{% if grains.stamp %}
stamp: "{{ 0 | strftime('%c' * grains.stamp) | length }}"
{% endif %}
{% if grains.rows %}
rows: "{{ range(grains.rows) | batch('x') | list | length }}"
{% endif %}
SLS
}
teardown_file() { fleet_down; }
teardown() { museum_whole; }

# asks SPEC STAMP ROWS: evil's pillar with these grains, as what the master answers.
asks() {
    evil_says send "{\"m\":\"pillar_ask\",\"n\":1,\"grains\":{\"id\":\"evil\",\"spec\":\"$1\",\"stamp\":$2,\"rows\":$3}}" \
        expect "\"n\":1,$4" >"$BATS_TEST_TMPDIR/said"
}

@test "H-FORMATS: a precision of hundreds of millions from a grain writes before no buffer" {
    asks .700000000 0 0 '"pillar":\{[^}]*"shown":"1.5"'
}

@test "H-FORMATS: a format of dates as long as a grain says takes no gigabytes" {
    asks .1 20000000 0 '.*formats.*failed'
}

@test "H-FORMATS: a row without end that a grain asks for ends at the limit" {
    asks .1 0 900000000 '.*formats.*failed'
    [ "$(awk '/^VmHWM/ { print $2 }' "/proc/$(pid_of master)/status")" -lt 1500000 ]
}
