#!/usr/bin/env bats
# 0100-salt-key.bats - salt-key on a root of its own, without a master. The texts are those of Salt 3006, but for the
# differences named in each test.

bats_require_minimum_version 1.5.0
load lib

setup() {
    halite_tmp
    halite_master_conf
}

key() {
    "$HALITE_BIN/salt-key" -c "$CONF" "$@"
}

# new_key STATE_FOLDER ID...
new_key() {
    local state=$1 id
    shift
    mkdir -p -m 0700 "$PKI/$state"
    for id; do
        key --gen-keys="$id" --gen-keys-dir="$ROOT/made" >"$ROOT/finger.$id"
        mv "$ROOT/made/$id.pub" "$PKI/$state/$id"
    done
}

finger() {
    sed -n '2s/^ *//p' "$ROOT/finger.$1"
}

@test "an empty master has four empty lists" {
    run --separate-stderr key -L
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    same_as "$output" <<'EOF'
Accepted Keys:
Denied Keys:
Unaccepted Keys:
Rejected Keys:
EOF
}

@test "-L, -l and no option list the keys by state, sorted" {
    new_key minions m002 m001
    new_key minions_pre m003
    new_key minions_rejected m005
    new_key minions_denied m004
    for option in -L --list-all -lall --list=all ""; do
        run --separate-stderr key $option
        [ "$status" -eq 0 ]
        same_as "$output" <<'EOF'
Accepted Keys:
m001
m002
Denied Keys:
m004
Unaccepted Keys:
m003
Rejected Keys:
m005
EOF
    done
    run key -l acc
    same_as "$output" <<<$'Accepted Keys:\nm001\nm002'
    for word in pre un unaccepted; do
        run key -l "$word"
        same_as "$output" <<<$'Unaccepted Keys:\nm003'
    done
    run key -l rejected
    same_as "$output" <<<$'Rejected Keys:\nm005'
    run key -l den
    same_as "$output" <<<$'Denied Keys:\nm004'
}

@test "-l with another word is a usage error" {
    run --separate-stderr key -l nosuch
    [ "$status" -eq 64 ]
    [ -z "$output" ]
    same_as "$stderr" <<'EOF'
Usage: salt-key [options]

salt-key: error: 'nosuch' is not a valid argument to '--list'
EOF
}

@test "names that are not ids, of an older master: listed apart, deleted by their exact name, never accepted" {
    new_key minions m001
    new_key minions_pre m002 'm001,*' '*' 'm[1-3]' '--all'
    run -0 --separate-stderr key -L
    same_as "$output" <<'EOF'
Accepted Keys:
m001
Denied Keys:
Unaccepted Keys:
m002
Rejected Keys:
Refused, As Their Names Are No Ids:
*
--all
m001,*
m[1-3]
EOF
    run -1 key -y -a 'm[1-3]'
    run -0 key -y -d 'm001,*'
    same_as "$output" <<<$'The following keys are going to be deleted:\nRefused, As Their Names Are No Ids:\nm001,*\nKey for minion m001,* deleted.'
    run -0 key -y -d '*'
    same_as "$output" <<<$'The following keys are going to be deleted:\nRefused, As Their Names Are No Ids:\n*\nKey for minion * deleted.'
    run -0 key -y --delete=--all
    [ "$(cd "$PKI" && echo minions*/*)" = "minions/m001 minions_pre/m002 minions_pre/m[1-3]" ]
    run -0 key -y -A
    [ "$(cd "$PKI" && echo minions*/*)" = "minions/m001 minions/m002 minions_pre/m[1-3]" ]
    run -0 key -y -D
    [ "$(cd "$PKI" && echo minions*/*)" = "minions*/*" ]
}

@test "a name behind an option that takes none, or too many, does nothing: -A web1 is not -a web1" {
    new_key minions m001
    new_key minions_pre p001 p002
    for words in "-A p001" "-R p001" "-D m001" "-a p001 p002" "-F p001"; do
        run -64 --separate-stderr key -y $words
        [ -z "$output" ]
        [ "${stderr_lines[-1]}" = "salt-key: error: unexpected argument: '${words##* }'" ]
    done
    [ "$(cd "$PKI" && echo minions*/*)" = "minions/m001 minions_pre/p001 minions_pre/p002" ]
    run -0 key -F master
}

@test "an action for a key without a name is not a list of keys" {
    new_key minions m001
    for option in -a -r -d -p -f -l --gen-keys; do
        run -64 --separate-stderr key -y "$option" ""
        [ -z "$output" ]
        [[ ${stderr_lines[-1]} == "salt-key: error: option --"*": must not be empty" ]]
    done
    [ -e "$PKI/minions/m001" ]
}

@test "two actions at one time: neither is done" {
    new_key minions m001
    new_key minions_pre p001
    run -64 --separate-stderr key -y -a p001 -a p002
    [ "${stderr_lines[-1]}" = "salt-key: error: option -a: given more than once" ]
    run -64 --separate-stderr key -y -a p001 --delete=m001
    [ "${stderr_lines[-1]}" = "salt-key: error: --accept and --delete are two actions: give them one after the other" ]
    [ "$(cd "$PKI" && echo minions*/*)" = "minions/m001 minions_pre/p001" ]
}

@test "-L --out=json and --out=yaml" {
    new_key minions m001 m002
    run --separate-stderr key -L --out=json
    [ "$status" -eq 0 ]
    same_as "$output" <<'EOF'
{
    "minions": [
        "m001",
        "m002"
    ],
    "minions_pre": [],
    "minions_rejected": [],
    "minions_denied": []
}
EOF
    run --separate-stderr key -l acc --out=yaml
    same_as "$output" <<<$'minions:\n- m001\n- m002'
}

@test "--out-file writes there, --out-file-append adds" {
    new_key minions m001
    echo old >"$ROOT/list"
    run key -l acc --out=json --out-file="$ROOT/list"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    diff "$ROOT/list" - <<<$'{\n    "minions": [\n        "m001"\n    ]\n}'
    run key -l acc --out-file="$ROOT/list" --out-file-append
    tail -2 "$ROOT/list" | diff - <(printf 'Accepted Keys:\nm001\n')
}

@test "colours: --force-color in a pipe, none without it" {
    new_key minions_pre m003
    run key -l pre --force-color
    same_as "$output" <<<$'\e[0;1;31mUnaccepted Keys:\e[0;0m\n\e[0;31mm003\e[0;0m'
    run key -l pre --no-color
    same_as "$output" <<<$'Unaccepted Keys:\nm003'
}

@test "-a with -y accepts a pending key" {
    new_key minions_pre m003
    run --separate-stderr key -a m003 -y
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    same_as "$output" <<'EOF'
The following keys are going to be accepted:
Unaccepted Keys:
m003
Key for minion m003 accepted.
EOF
    [ -f "$PKI/minions/m003" ]
    [ ! -e "$PKI/minions_pre/m003" ]
}

@test "the question: yes, no, Enter, and no answer at all" {
    new_key minions_pre m003
    run --separate-stderr key -A <<<n
    [ "$status" -eq 0 ]
    [ "$output" = $'The following keys are going to be accepted:\nUnaccepted Keys:\nm003\nProceed? [n/Y] ' ]
    [ -f "$PKI/minions_pre/m003" ]
    run --separate-stderr key -A </dev/null # the end of input is not a consent
    [ "$status" -eq 1 ]
    [[ $stderr == *"nothing was changed"* ]]
    [ -f "$PKI/minions_pre/m003" ]
    run --separate-stderr key -A <<<""
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "Proceed? [n/Y] Key for minion m003 accepted." ]
    [ -f "$PKI/minions/m003" ]
    run --separate-stderr key -d m003 <<<""
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "Proceed? [N/y] " ]
    [ -f "$PKI/minions/m003" ]
    run --separate-stderr key -d m003 <<<Yes
    [ "${lines[-1]}" = "Proceed? [N/y] Key for minion m003 deleted." ]
    [ ! -e "$PKI/minions/m003" ]
}

@test "reject, accept what was rejected, reject what was accepted" {
    new_key minions_pre m003
    run key -r m003 -y
    same_as "$output" <<'EOF'
The following keys are going to be rejected:
Unaccepted Keys:
m003
Key for minion m003 rejected.
EOF
    run key -a m003 -y
    [ "$status" -eq 1 ]
    same_as "$output" <<<"The key glob 'm003' does not match any unaccepted keys."
    run key -a m003 --include-rejected -y
    [ "$status" -eq 0 ]
    same_as "$output" <<'EOF'
The following keys are going to be accepted:
Rejected Keys:
m003
Key for minion m003 accepted.
EOF
    run key -r m003 --include-accepted -y
    [ "$status" -eq 0 ]
    [ "${lines[1]}" = "Accepted Keys:" ]
    run key -a m003 --include-all -y
    [ "$status" -eq 0 ]
    [ -f "$PKI/minions/m003" ]
    new_key minions_denied m004
    run key -a m004 --include-denied -y
    [ "$status" -eq 0 ]
    [ "${lines[1]}" = "Denied Keys:" ]
    [ -f "$PKI/minions/m004" ]
}

# Salt exits 0 here and speaks of unaccepted keys for -d too.
@test "a glob that matches nothing fails and says so" {
    new_key minions m001
    for option in -a -r; do
        run --separate-stderr key "$option" nosuch -y
        [ "$status" -eq 1 ]
        [ "$output" = "The key glob 'nosuch' does not match any unaccepted keys." ]
    done
    run --separate-stderr key -a nosuch --include-rejected --include-denied -y
    [ "$output" = "The key glob 'nosuch' does not match any unaccepted, rejected or denied keys." ]
    run --separate-stderr key -d nosuch -y
    [ "$status" -eq 1 ]
    [ "$output" = "The key glob 'nosuch' does not match any keys." ]
    for option in -f -p; do
        run --separate-stderr key "$option" nosuch
        [ "$status" -eq 1 ]
        [ -z "$output" ]
        [ "$stderr" = "The key glob 'nosuch' does not match any keys." ]
    done
}

@test "-A, -R and -D with nothing to do are not failures" {
    for option in -A -R; do
        run key "$option" -y
        [ "$status" -eq 0 ]
        [ "$output" = "The key glob '*' does not match any unaccepted keys." ]
    done
    run key -D -y
    [ "$status" -eq 0 ]
    [ "$output" = "The key glob '*' does not match any keys." ]
}

@test "globs: one, several with commas, all" {
    new_key minions_pre web1 web2 db1 mail
    run key -a 'web?,db*' -y
    [ "$status" -eq 0 ]
    [ "$(cd "$PKI/minions" && echo *)" = "db1 web1 web2" ]
    run key -d 'web[2-9]' -y
    [ "$status" -eq 0 ]
    [ "$(cd "$PKI/minions" && echo *)" = "db1 web1" ]
    new_key minions_rejected bad
    new_key minions_denied odd
    run key -D -y
    [ "$status" -eq 0 ]
    same_as "$output" <<'EOF'
The following keys are going to be deleted:
Accepted Keys:
db1
web1
Denied Keys:
odd
Unaccepted Keys:
mail
Rejected Keys:
bad
Key for minion db1 deleted.
Key for minion web1 deleted.
Key for minion mail deleted.
Key for minion bad deleted.
Key for minion odd deleted.
EOF
    [ -z "$(find "$PKI" -type f)" ]
}

# Salt mixes prose with JSON.
@test "--out=json leaves stdout to the program that reads it" {
    new_key minions_pre m003
    run --separate-stderr key -a m003 -y --out=json
    [ "$status" -eq 0 ]
    same_as "$output" <<<$'{\n    "minions_pre": [\n        "m003"\n    ]\n}'
    same_as "$stderr" <<<$'The following keys are going to be accepted:\nKey for minion m003 accepted.'
    run --separate-stderr key -d nosuch -y --out=json
    [ "$status" -eq 1 ]
    [ "$output" = "{}" ]
    [ "$stderr" = "The key glob 'nosuch' does not match any keys." ]
}

@test "-p and -f of a glob that matches nothing: an empty table for a program, which is its answer" {
    new_key minions m001
    for option in -p -f; do
        for out in json yaml raw; do
            run --separate-stderr key "$option" nosuch --out="$out"
            [ "$status" -eq 0 ]
            [ "$output" = "{}" ]
            [ "$stderr" = "The key glob 'nosuch' does not match any keys." ]
        done
        run --separate-stderr key "$option" nosuch
        [ "$status" -eq 1 ]
    done
}

# An operator's files, say of the keys that a Salt master had: they are nobody's, and can be seen and removed.
@test "keys of Salt beside ours: listed, printed and deleted, and never accepted" {
    new_key minions m001
    rsa=$'-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----'
    for name in minions/old minions_pre/late; do
        printf '%s\n' "$rsa" >"$PKI/$name"
        run key -p "${name#*/}" --out=json
        [ "$status" -eq 0 ]
        [[ $output == *"\"${name%/*}\": {"*"BEGIN PUBLIC KEY"* ]]
    done
    run --separate-stderr key -a late -y
    [ "$status" -eq 1 ]
    [[ $stderr == *late* ]]
    [ -f "$PKI/minions_pre/late" ]
    for name in minions/old minions_pre/late; do
        run key -d "${name#*/}" -y
        [ "$status" -eq 0 ]
        [ ! -e "$PKI/$name" ]
    done
    [ -f "$PKI/minions/m001" ]
}

@test "-q says nothing when all goes well" {
    new_key minions_pre m003
    run key -q -y -a m003
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ -f "$PKI/minions/m003" ]
}

@test "-f and -F show fingerprints, the master's own too" {
    new_key minions m001
    new_key minions_pre m003
    key --gen-keys=master --gen-keys-dir="$PKI" >"$ROOT/finger.master"
    run --separate-stderr key -f m003
    [ "$status" -eq 0 ]
    [ "$output" = "Unaccepted Keys:
m003:  $(finger m003)" ]
    run --separate-stderr key -F
    [ "${lines[0]}" = "Local Keys:" ]
    [[ ${lines[1]} == "master.pem:  "??:*:?? ]]
    [ "${lines[2]}" = "master.pub:  $(finger master)" ]
    [ "${lines[3]}" = "Accepted Keys:" ]
    [ "${lines[4]}" = "m001:  $(finger m001)" ]
    [ "${lines[5]}" = "Unaccepted Keys:" ]
    run --separate-stderr key -f master.pub --out=json
    same_as "$output" <<EOF
{
    "local": {
        "master.pub": "$(finger master)"
    }
}
EOF
}

@test "-p and -P print the keys" {
    new_key minions m001
    new_key minions_pre m003
    run --separate-stderr key -p m003
    [ "$status" -eq 0 ]
    [ "$output" = "Unaccepted Keys:
m003:  $(cat "$PKI/minions_pre/m003")" ]
    run --separate-stderr key -P
    [ "${lines[0]}" = "Accepted Keys:" ]
    [ "${lines[1]}" = "m001:  -----BEGIN PUBLIC KEY-----" ]
    [ "${lines[4]}" = "Unaccepted Keys:" ]
}

@test "--gen-keys makes a pair that openssl reads, and keeps one that is there" {
    run --separate-stderr key --gen-keys=foo --gen-keys-dir="$ROOT/new/dir"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "return:" ]
    [[ ${lines[1]} =~ ^\ \ \ \ ([0-9a-f]{2}:){31}[0-9a-f]{2}$ ]]
    [ "$(stat -c %a "$ROOT/new/dir/foo.pem")" = 400 ]
    first=$output
    run --separate-stderr key --gen-keys=foo --gen-keys-dir="$ROOT/new/dir"
    [ "$output" = "$first" ]
    run --separate-stderr key --gen-keys=../foo --gen-keys-dir="$ROOT/new/dir"
    [ "$status" -eq 1 ]
    command -v openssl >/dev/null || skip "openssl is not installed"
    openssl pkey -in "$ROOT/new/dir/foo.pem" -pubout | diff - "$ROOT/new/dir/foo.pub"
}

@test "the folder for new keys is made for new keys alone" {
    key -L --gen-keys-dir="$ROOT/never"
    [ ! -e "$ROOT/never" ]
}

@test "--gen-keys in the current folder, keysize checked" {
    cd "$ROOT"
    run --separate-stderr key --gen-keys=foo
    [ "$status" -eq 0 ]
    [ -f foo.pem ] && [ -f foo.pub ]
    run --separate-stderr key --gen-keys=foo2 --keysize=1024
    [ "$status" -eq 64 ]
    [ "${stderr_lines[-1]}" = "salt-key: error: The minimum value for keysize is 2048" ]
    run --separate-stderr key --gen-keys=foo2 --keysize=65536
    [ "${stderr_lines[-1]}" = "salt-key: error: The maximum value for keysize is 32768" ]
    [ ! -e foo2.pem ]
}

@test "a file that holds no key is not accepted, but can be rejected and deleted" {
    new_key minions_pre good
    echo garbage >"$PKI/minions_pre/broken"
    run --separate-stderr key -A -y
    [ "$status" -eq 1 ]
    [[ $stderr == *"Unable to accept invalid key for broken."* ]]
    [ "${lines[-1]}" = "Key for minion good accepted." ]
    [ -f "$PKI/minions/good" ]
    [ -f "$PKI/minions_pre/broken" ]
    run key -R -y
    [ "$status" -eq 0 ]
    run key -d broken -y
    [ "$status" -eq 0 ]
    [ ! -e "$PKI/minions_rejected/broken" ]
}

@test "files that are not keys of minions are not listed" {
    new_key minions m001
    touch "$PKI/minions/.hidden" "$PKI/minions/with space"
    ln -s /etc/passwd "$PKI/minions/link"
    mkdir "$PKI/minions/folder"
    run key -l acc
    same_as "$output" <<<$'Accepted Keys:\nm001'
    # Nor are those beside the master's own, some of which have no end.
    mkdir "$PKI/folder.pub"
    mkfifo "$PKI/pipe.pem"
    ln -s /dev/zero "$PKI/zero.pub"
    run timeout 20 "$HALITE_BIN/salt-key" -c "$CONF" -F
    [ "$status" -eq 0 ]
    [[ $output == *m001:* && $output != *folder* && $output != *pipe* && $output != *zero* ]]
}

@test "who may not read the key folder is told which and what to do" {
    new_key minions m001
    chmod 0700 "$PKI"
    chmod -R a+rX "$BATS_TEST_TMPDIR" "$CONF"
    chmod 0 "$PKI"
    for dir in "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$(dirname "$(dirname "$BATS_TEST_TMPDIR")")"; do
        chmod a+x "$dir"
    done
    run --separate-stderr $(halite_unprivileged) "$HALITE_BIN/salt-key" -c "$CONF" -L
    chmod 0700 "$PKI"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [[ $stderr == *"$PKI/minions"*"Permission denied"*"run this as root"* ]]
}

@test "root works as the master's user" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    chmod a+x "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$(dirname "$(dirname "$BATS_TEST_TMPDIR")")"
    chmod -R a+rX "$ROOT"
    mkdir -p "$PKI"
    chown nobody "$PKI"
    run --separate-stderr key -u nobody -L
    [ "$status" -eq 0 ]
    [ "$(stat -c %U "$PKI/minions_pre")" = nobody ]
    rm -r "$PKI" && mkdir "$PKI" && chown nobody "$PKI" # no `user`: who has the keys
    run --separate-stderr key -L
    [ "$status" -eq 0 ]
    [ "$(stat -c %U "$PKI/minions_pre")" = nobody ]
}

@test "a user that does not exist is an error, not root instead" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    new_key minions_pre p001
    run -1 --separate-stderr key -u nosuchuser -y -A
    [ -z "$output" ]
    [ "$stderr" = "salt-key: user: there is no user 'nosuchuser' on this machine" ]
    echo 'user: nosuchuser' >>"$CONF/master"
    run -1 --separate-stderr key -L
    [ "$stderr" = "salt-key: user: there is no user 'nosuchuser' on this machine" ]
    [ -e "$PKI/minions_pre/p001" ]
}

@test "a reader that goes away and a full disk are failures" {
    new_key minions m001
    [ -w /dev/full ] || skip "no /dev/full"
    run --separate-stderr bash -c '"$1" -c "$2" -L >/dev/full' - "$HALITE_BIN/salt-key" "$CONF"
    [ "$status" -eq 1 ]
    [ "$stderr" = "Standard output can't be written: No space left on device" ]
    for program in salt salt-run salt-cp salt-key salt-call salt-master salt-minion; do
        for option in --help --version --versions-report; do
            run -1 --separate-stderr bash -c '"$1" "$2" >/dev/full' - "$HALITE_BIN/$program" $option
            [ "$stderr" = "Standard output can't be written: No space left on device" ]
        done
    done
}

@test "thousands of keys at once" {
    new_key minions_pre k
    for i in $(seq -w 2000); do
        echo "$PKI/minions_pre/k$i"
    done | xargs -n 500 sh -c 'for f; do ln "$0" "$f"; done' "$PKI/minions_pre/k"
    run key -A -y
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "Key for minion k2000 accepted." ]
    [ "$(ls "$PKI/minions" | wc -l)" -eq 2001 ]
    run key -D -y --out=quiet
    [ "$status" -eq 0 ]
    [ -z "$(ls "$PKI/minions")" ]
}
