#!/usr/bin/env bats
# 9200-new.bats - what `make new-exec` and its like write: it compiles, is formatted, and nothing that is there is written over.

bats_require_minimum_version 1.5.0
load lib

setup() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/{src/{plugins/{exec/{system,net},state/system,grain,wheel},runners},tests/{lib,t,cases/{exec,state}}}
    cp "$HALITE_SRC/tests/lib/new.sh" "$tree/tests/lib/"
    cp "$HALITE_SRC/.clang-format" "$tree/"
    new=$tree/tests/lib/new.sh
}

@test "each kind's file compiles, is formatted and ends in its table; what it names is there" {
    for kind in exec state grain runner wheel; do
        run "$new" "$kind" greet
        [ "$status" -eq 0 ]
        for file in $(sed -n 's/^wrote //p' <<<"$output"); do
            [ -s "$tree/$file" ]
            case $file in
            *.c)
                gcc -std=gnu17 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Werror -fsyntax-only -D_GNU_SOURCE -I"$HALITE_SRC/include" -I"$HALITE_SRC/src" "$tree/$file"
                grep -q "^PLUGIN($kind, greet" "$tree/$file"
                if command -v clang-format >/dev/null; then clang-format --dry-run -Werror "$tree/$file"; fi
                ;;
            *.json) python3 -m json.tool "$tree/$file" >/dev/null ;;
            *.bats) bash -n <(grep -v '^@test' "$tree/$file" | sed '/^}$/d; /^teardown_file/d; /^setup_file/d') ;;
            esac
        done
        for file in $(sed -n 's/^read: *//p' <<<"$output" | tr ', ' '\n\n' | grep /); do
            [ -e "$HALITE_SRC/$file" ]
        done
    done
}

@test "a name that is taken, or is none, is refused, and nothing is written" {
    "$new" exec greet >/dev/null
    before=$(find "$tree" -type f -exec sha256sum {} +)
    for args in 'exec greet' 'exec ../greet' 'exec Greet' 'exec' 'beacon greet'; do
        # shellcheck disable=SC2086 # words
        run "$new" $args
        [ "$status" -eq 2 ]
        [ "$(find "$tree" -type f -exec sha256sum {} +)" = "$before" ]
    done
}
