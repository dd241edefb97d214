#!/usr/bin/env bats
# 0080-chroot.bats - cmd.run_chroot in a tree that is another's: what is mounted for it stays inside.

bats_require_minimum_version 1.5.0
load lib

setup() {
    unshare --mount true 2>/dev/null || skip "can't make a mount namespace"
    halite_tmp
    export ROOT CONF HALITE_BIN JAIL=$ROOT/jail VICTIM=$ROOT/victim
    mkdir -p "$JAIL"/{dev,proc,sys} "$VICTIM/below"
    printf 'id: m\nroot_dir: %s/minion\nfile_client: local\n' "$ROOT" >"$CONF/minion"
}

# refused WORDS ARGS...: the answer has the words, and nothing is mounted anywhere.
refused() {
    run -1 unshare --mount bash -euc '
        mount --make-rprivate /
        before=$(cat /proc/self/mounts)
        rc=0
        "$HALITE_BIN/salt-call" --local -c "$CONF" -l quiet cmd.run_chroot "$JAIL" true "$@" || rc=$?
        diff <(echo "$before") /proc/self/mounts
        exit $rc' refused "${@:2}"
    [[ "$output" == *"$1"* ]]
}

@test "a link in the jail has nothing mounted where it leads" {
    for point in dev proc sys; do
        rmdir "$JAIL/$point"
        ln -s "$VICTIM" "$JAIL/$point"
        refused "$JAIL/$point leads over a link"
        rm "$JAIL/$point"
        ln -s ../victim "$JAIL/$point"
        refused "$JAIL/$point leads over a link"
        rm "$JAIL/$point"
        mkdir "$JAIL/$point"
    done
}

@test "neither has one on the way to a folder that is to be bound" {
    mkdir -p "$JAIL$ROOT"
    ln -s "$ROOT/victim" "$JAIL$VICTIM"
    refused "$JAIL$VICTIM/below leads over a link" "binds=[$VICTIM/below]"
}
