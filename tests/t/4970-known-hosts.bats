#!/usr/bin/env bats
# ssh_known_hosts against a private sshd on loopback, in mount and network namespaces of its own: its keys are asked by
# ssh-keyscan, foretold, written, found again, and removed.

setup() {
    load lib
    [ "$(id -u)" = 0 ] || skip "needs root"
    [ -x /usr/sbin/sshd ] || skip "sshd is not installed"
    T=$BATS_TEST_TMPDIR && mkdir -p "$T/etc"
    printf 'root_dir: %s\nid: minion\nfile_client: local\n' "$T" >"$T/etc/minion"
    ssh-keygen -q -t ed25519 -N '' -f "$T/host_key"
    printf 'HostKey %s\nListenAddress 127.0.0.1:2200\nPidFile none\n' "$T/host_key" >"$T/sshd.conf"
    # A run of three: test mode, the run, and again. Arguments: the state's.
    cat >"$T/steps" <<END
set -e
mount -t tmpfs none /run && mkdir /run/sshd
ip link set lo up
/usr/sbin/sshd -D -e -f '$T/sshd.conf' 2>'$T/log' &
sshd=\$!
trap 'kill \$sshd' EXIT
until ssh-keyscan -p 2200 127.0.0.1 >/dev/null 2>&1 && grep -q listening '$T/log'; do kill -0 \$sshd; done
for mode in True False False; do
    '$HALITE_BIN/salt-call' --local -c '$T/etc' --out=json state.single ssh_known_hosts.present 127.0.0.1 \
        config='$T/kh' port=2200 test=\$mode "\$@" 2>>"$T/errors" || :
done
END
}

# The three answers, one a line: result, number of new keys.
answers() { python3 -c 'import json, sys
text, at, d = sys.stdin.read(), 0, json.JSONDecoder()
while text[at:].strip():
    v, n = d.raw_decode(text[at:].lstrip()); at = len(text) - len(text[at:].lstrip()) + n
    for one in v["local"].values(): print(one["result"], len(one["changes"].get("new", [])))'; }

@test "a host's own keys: test mode, the run, and again" {
    print=$(cut -d' ' -f2 "$T/host_key.pub" | base64 -d | sha256sum | cut -c1-64 | sed 's/../&:/g; s/:$//')
    run unshare -m -n sh "$T/steps" hash_known_hosts=False "fingerprint=$print" enc=ed25519
    [ "$status" = 0 ]
    [ "$(answers <<<"$output")" = "None 1
True 1
True 0" ]
    grep -qF "[127.0.0.1]:2200 $(cut -d' ' -f1,2 "$T/host_key.pub")" "$T/kh"
    [ "$(stat -c %a "$T/kh")" = 600 ]
}

@test "another fingerprint than the host's: nothing is written" {
    run unshare -m -n sh "$T/steps" hash_known_hosts=False fingerprint=aa:bb
    [ "$status" = 0 ]
    [ "$(answers <<<"$output")" = "False 0
False 0
False 0" ]
    [ ! -e "$T/kh" ]
}
