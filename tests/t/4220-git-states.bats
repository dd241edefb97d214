#!/usr/bin/env bats
# 4220-git-states.bats - the states of git keep what they could not look at.

bats_require_minimum_version 1.5.0
load lib

setup() {
    halite_tmp
    printf 'id: m\nroot_dir: %s/minion\nfile_client: local\n' "$ROOT" >"$CONF/minion"
    export GIT_CONFIG_NOSYSTEM=1 HOME=$ROOT
    git init -q -b main "$ROOT/remote"
    commit v1
    commit v2
    git clone -q -b v1 "$ROOT/remote" "$ROOT/here"
}

commit() {
    echo "$1" >"$ROOT/remote/file"
    git -C "$ROOT/remote" add file
    git -C "$ROOT/remote" -c user.name=t -c user.email=t@t commit -qm "$1"
    git -C "$ROOT/remote" tag "$1"
}
latest() {
    run "$HALITE_BIN/salt-call" --local -c "$CONF" -l quiet --out=json --retcode-passthrough state.single git.latest \
        name="$ROOT/remote" target="$ROOT/here" rev=v2 "$@"
}

@test "git.latest: local changes stay, also where git can't tell that there are some" {
    echo mine >"$ROOT/here/file"
    latest
    [ "$status" -ne 0 ]
    [ "$(cat "$ROOT/here/file")" = mine ]
    # A driver that is not installed: git diff fails.
    echo 'file diff=gone' >"$ROOT/here/.git/info/attributes"
    git -C "$ROOT/here" config diff.gone.textconv "$ROOT/no-such-program"
    latest
    [ "$status" -ne 0 ]
    [ "$(cat "$ROOT/here/file")" = mine ]
    # Who says that they may go needs no look.
    latest force_reset=True
    [ "$status" -eq 0 ]
    [ "$(cat "$ROOT/here/file")" = v2 ]
}
