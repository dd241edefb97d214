#!/usr/bin/env bats
# 4210-full-disk.bats - a full disk, or another file system, takes nothing away: what a state of `file` can't replace stays
# as it was.

bats_require_minimum_version 1.5.0
load lib

setup() {
    unshare --mount true 2>/dev/null || skip "can't make a mount namespace"
    halite_tmp
    export ROOT CONF HALITE_BIN DISK=$ROOT/disk AWAY=$ROOT/away
    mkdir "$DISK" "$AWAY"
    printf 'id: m\nroot_dir: %s/minion\nfile_client: local\n' "$ROOT" >"$CONF/minion"
}

# on_disk SCRIPT: in $DISK, which has room for 64 kB; $AWAY is another file system. In it: `bytes N LETTER`; `state NAME ARGS...`,
# whose answer is then in $ROOT/said; `failed WORDS`: it did, and said so; `alone FILE...`: nothing else is in the folder.
on_disk() {
    unshare --mount bash -euc '
        mount --make-rprivate /
        mount -t tmpfs -o size=64k,mode=0755 halite "$DISK"
        cd "$DISK"
        bytes() { head -c "$1" /dev/zero | tr "\0" "$2" | fold -w 79; }
        state() { "$HALITE_BIN/salt-call" --local -c "$CONF" -l quiet --out=json state.single "$@" >"$ROOT/said" || :; }
        failed() { grep -q "\"result\": false" "$ROOT/said" && grep -qF -- "$1" "$ROOT/said"; }
        alone() { diff <(printf "%s\n" "$@") <(ls -A); }
        trap "cut -c1-300 \"$ROOT/said\"; ls -lA" ERR
        set -E
        '"$1"
}

@test "file.copy: the old file or folder stays when the new one does not fit" {
    on_disk '
        bytes 30000 a >old; cp old "$AWAY/old"; bytes 70000 b >"$AWAY/big"
        state file.copy name="$DISK/old" source="$AWAY/big" force=True
        failed "No space left on device"
        cmp old "$AWAY/old"; alone old
        mkdir "$AWAY/tree"; mv "$AWAY/big" "$AWAY/tree"
        state file.copy name="$DISK/old" source="$AWAY/tree" force=True
        failed "No space left on device"
        cmp old "$AWAY/old"; alone old
        state file.copy name="$DISK/new" source="$AWAY/tree"
        failed "No space left on device"
        alone old'
}

@test "file.rename from another file system: source and target stay when there is no room" {
    on_disk '
        bytes 30000 a >old; cp old "$AWAY/old"; bytes 70000 b >"$AWAY/big"
        state file.rename name="$DISK/old" source="$AWAY/big" force=True
        failed "No space left on device"
        cmp old "$AWAY/old"; alone old
        [ "$(wc -c <"$AWAY/big")" -gt 70000 ]
        state file.rename name="$DISK/new" source="$AWAY/big"
        failed "No space left on device"
        alone old
        [ "$(wc -c <"$AWAY/big")" -gt 70000 ]
        rm "$AWAY/big"; mkdir "$AWAY/tree"; echo x >"$AWAY/tree/x"
        state file.rename name="$DISK/old" source="$AWAY/tree" force=True
        grep -q "\"result\": true" "$ROOT/said"
        [ -e old/x ]; [ ! -e "$AWAY/tree" ]; alone old'
}

@test "file.hardlink to another file system: the old name stays" {
    on_disk '
        echo old >a; ln a b; echo new >"$AWAY/t"
        state file.hardlink name="$DISK/b" target="$AWAY/t"
        failed "Invalid cross-device link"
        [ b -ef a ]; alone a b
        rm b; echo old >b
        state file.hardlink name="$DISK/b" target="$AWAY/t" force=True
        failed "Invalid cross-device link"
        [ "$(cat b)" = old ]; alone a b
        [ -z "$(sed -n /forced/p "$ROOT/said")" ]'
}

@test "file.symlink with a backup: file and older backup stay when the link or the backup can't be made" {
    on_disk '
        long=/$(bytes 200 x | tr -d "\n")
        echo file >f; mkdir b; : >b/older # which takes no room
        bytes 70000 a >fill 2>/dev/null || :
        state file.symlink name="$DISK/f" target="$long" backupname=b force=True
        failed "No space left on device"
        [ "$(cat f)" = file ]; [ -e b/older ]; alone b f fill
        rm fill; echo away >"$AWAY/b"
        state file.symlink name="$DISK/f" target=/t backupname="$AWAY/b" force=True disallow_copy_and_unlink=True
        failed "Unable to rename $DISK/f to backup $AWAY/b"
        [ "$(cat f)" = file ]; [ "$(cat "$AWAY/b")" = away ]; alone b f
        diff <(echo b) <(ls -A "$AWAY")
        state file.symlink name="$DISK/f" target=/t backupname="$DISK/f" force=True
        failed "Unable to rename"
        [ "$(cat f)" = file ]; alone b f
        state file.symlink name="$DISK/f" target=/t backupname="$AWAY/b" force=True
        grep -q "\"result\": true" "$ROOT/said"
        [ "$(readlink f)" = /t ]; [ "$(cat "$AWAY/b")" = file ]; alone b f
        diff <(echo b) <(ls -A "$AWAY")'
}

@test "file.symlink with a backup: whichever step fails, file and older backup are as they were" {
    [ -z "${SAN:-}" ] || skip "a sanitizer's library must be the first one"
    on_disk '
        for ((n = 1; ; n++)); do
            rm -rf ./* ./.[bf].* "$ROOT/hit"; mkdir f b; echo file >f/f; echo older >b/o
            export FAULT=5:$n FAULT_ROOT=$DISK FAULT_HIT=$ROOT/hit LD_PRELOAD=$BUILD/tests/preload/fault.so
            state file.symlink name="$DISK/f" target=/t backupname=b force=True
            unset LD_PRELOAD
            [ -e "$ROOT/hit" ] || break
            if [ -L f ]; then [ "$(cat b/f)" = file ]; else [ "$(cat f/f)" = file ]; [ "$(cat b/o)" = older ]; fi
        done
        [ "$(readlink f)" = /t ]; [ "$(cat b/f)" = file ]; alone b f
        [ "$n" -gt 6 ]'
}

@test "a file with two names, and one that is a mount point, hold what they held when there is no room for more" {
    on_disk '
        bytes 30000 a >one; cp one "$AWAY/one"; ln one two
        state file.replace name="$DISK/one" pattern="a{79}" repl="$(bytes 200 B | tr -d "\n")" backup=False
        failed "No space left on device"
        cmp one "$AWAY/one"; [ one -ef two ]; alone one two
        state file.managed name="$DISK/one" contents="short"
        [ "$(cat one)" = short ]; [ ! two -ef one ]
        state file.replace name="$DISK/two" pattern="a{79}" repl=b backup=False
        grep -q "\"result\": true" "$ROOT/said"; [ "$(head -n 1 two)" = b ]; [ "$(wc -c <two)" -lt 1000 ]
        bytes 30000 a >one; cp one "$AWAY/one"; : >"$AWAY/mounted"
        mount --bind one "$AWAY/mounted"
        state file.managed name="$AWAY/mounted" contents="$(bytes 70000 b | tr -d "\n")"
        failed "No space left on device"
        cmp one "$AWAY/one"
        state file.managed name="$AWAY/mounted" contents="short"
        grep -q "\"result\": true" "$ROOT/said"; [ "$(cat one)" = short ]'
}

@test "file.append: no half of a line is left on a full disk" {
    on_disk '
        bytes 50000 a >one; cp one "$AWAY/one"
        state file.append name="$DISK/one" text="[$(bytes 30000 B | sed "s/.*/\"line &\"/" | paste -sd,)]"
        failed "No space left on device"
        cmp one "$AWAY/one"'
}

@test "cp: the old file stays when what is sent or fetched does not fit, and nothing else is left" {
    printf 'file_roots: {base: [%s]}\n' "$AWAY" >>"$CONF/minion"
    on_disk '
        call() { "$HALITE_BIN/salt-call" --local -c "$CONF" -l quiet --out=json "$@" >"$ROOT/said" 2>&1 || :; }
        piece() { call cp.recv_chunked dest="$DISK/old" compressed=False copy=c1 at="$1" last="$2" chunk="$(bytes "$3" c | base64 -w0)"; }
        notes() { find "$ROOT/minion" -path "*/cp_parts/*"; }
        bytes 30000 a >old; chmod 604 old; cp old "$AWAY/old"; bytes 70000 b >"$AWAY/big"
        mkdir "$AWAY/dir"; cp "$AWAY/big" "$AWAY/dir/old"
        call cp.recv "{\"/src/old\": \"$(bytes 70000 c | tr -d "\n")\"}" "$DISK/old"
        grep -q "$DISK/old\": false" "$ROOT/said"
        cmp old "$AWAY/old"; alone old
        piece 0 False 20000
        grep -q "local\": true" "$ROOT/said"; alone .old.c1.m.part old; [ -n "$(notes)" ]
        piece "$(wc -c <.old.c1.m.part)" True 60000
        grep -q "No space left on device" "$ROOT/said"
        cmp old "$AWAY/old"; alone old; [ -z "$(notes)" ]
        piece 0 True 60000
        grep -q "No space left on device" "$ROOT/said"
        cmp old "$AWAY/old"; alone old
        for fetch in "cp.get_file salt://big $DISK/old" "cp.get_dir salt://dir $AWAY/.." "cp.get_url salt://big $DISK/old" \
            "cp.get_url file://$AWAY/big $DISK/old" "cp.get_template salt://big $DISK/old" "cp.get_url $AWAY/big $DISK/old"; do
            [[ $fetch == *get_dir* ]] && mkdir -p "$ROOT/up" && ln -sfn "$DISK" "$ROOT/up/dir" && fetch="cp.get_dir salt://dir $ROOT/up"
            # shellcheck disable=SC2086
            call $fetch
            cmp old "$AWAY/old"; alone old; [ "$(stat -c %a old)" = 604 ]
        done
        # A file with another name is written over, and gets back what it held.
        ln old two; piece 0 True 80000
        grep -q "No space left on device" "$ROOT/said"
        cmp old "$AWAY/old"; [ old -ef two ]; alone old two'
}

@test "without /proc a file stays as it was, and that is said" {
    on_disk '
        echo old >old
        mount -t tmpfs halite /proc
        state file.managed name="$DISK/old" contents=new
        failed "without /proc: mount it"
        state file.keyvalue name="$DISK/old" key=old value=new
        failed "without /proc: mount it"
        umount /proc
        [ "$(cat old)" = old ]; alone old'
}
