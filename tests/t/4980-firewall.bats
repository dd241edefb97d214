#!/usr/bin/env bats
# iptables with the kernel's own tables, in a network namespace: a formula's states foretold, applied, and applied again;
# the tables and the saved file are what Salt 3006 leaves by the same formula.

setup() {
    load lib
    [ "$(id -u)" = 0 ] || skip "needs root"
    T=$BATS_TEST_TMPDIR && mkdir -p "$T/etc" "$T/roots"
    printf 'root_dir: %s\nid: minion\nfile_client: local\nfile_roots:\n  base: [%s/roots]\n' "$T" "$T" >"$T/etc/minion"
}

# own_net FILE: runs a script in a network namespace of its own; `call` there is salt-call.
own_net() {
    printf '%s\n' 'set -e' 'ip link set lo up' \
        "call() { '$HALITE_BIN/salt-call' --local -c '$T/etc' --out=json \"\$@\" 2>>'$T/errors'; }" >"$T/script"
    cat >>"$T/script"
    unshare -n sh "$T/script"
}

# results FILE: ID, result and whether it changes, of each state.
results() { python3 -c 'import json, sys
for one in json.load(open(sys.argv[1]))["local"].values(): print(one["__id__"], one["result"], sorted(one["changes"]))' "$1"; }

@test "iptables: a formula is foretold, applied, and then changes nothing" {
    cat >"$T/roots/fw.sls" <<END
CUSTOM:
  iptables.chain_present
web:
  iptables.append:
    - chain: INPUT
    - jump: ACCEPT
    - match: state
    - connstate: NEW
    - dport: 80
    - proto: tcp
    - comment: the web
first:
  iptables.insert:
    - position: 1
    - table: filter
    - chain: INPUT
    - source: '! 10.0.0.0/8'
    - proto: tcp
    - dports: [22, 2222]
    - jump: CUSTOM
masquerade:
  iptables.append:
    - table: nat
    - chain: POSTROUTING
    - out-interface: eth0
    - jump: MASQUERADE
six:
  iptables.append:
    - family: ipv6
    - chain: INPUT
    - protocol: tcp
    - tcp-flags: FIN,SYN SYN
    - match: limit
    - limit: 5/min
    - jump: LOG
    - log-prefix: 'IN: '
forward:
  iptables.set_policy:
    - chain: FORWARD
    - policy: DROP
telnet:
  iptables.delete:
    - chain: INPUT
    - proto: tcp
    - dport: 23
    - jump: ACCEPT
OLD:
  iptables.chain_absent
bad:
  iptables.append:
    - chain: INPUT
    - jump: NOSUCH
saved:
  iptables.append:
    - chain: OUTPUT
    - of: lo
    - jump: ACCEPT
    - save: $T/saved
END
    own_net <<END
iptables -A INPUT -p tcp --dport 23 -j ACCEPT
iptables -N OLD
iptables -A OLD -j DROP
iptables-save | grep -v '^#' >'$T/before'
call state.apply fw test=True >'$T/foretold' || :
iptables-save | grep -v '^#' | diff '$T/before' -
call state.apply fw >'$T/first' || :
call state.apply fw >'$T/second' || :
(iptables-save; ip6tables-save) | grep -v '^#' | sed -E 's/ \\[.*//' >'$T/now'
END
    [ "$(results "$T/foretold" | sed 's/ None / True /')" = "$(results "$T/first" | sed "s/^bad .*/bad True ['locale']/")" ]
    [ "$(results "$T/second" | grep -v '\[\]')" = "" ]
    [ "$(results "$T/second" | grep -v True)" = "bad False []" ]
    diff - "$T/now" <<END
*filter
:INPUT ACCEPT
:FORWARD DROP
:OUTPUT ACCEPT
:CUSTOM -
-A INPUT ! -s 10.0.0.0/8 -p tcp -m multiport --dports 22,2222 -j CUSTOM
-A INPUT -p tcp -m state --state NEW -m tcp --dport 80 -m comment --comment "the web" -j ACCEPT
-A OUTPUT -o lo -j ACCEPT
COMMIT
*nat
:PREROUTING ACCEPT
:INPUT ACCEPT
:OUTPUT ACCEPT
:POSTROUTING ACCEPT
-A POSTROUTING -o eth0 -j MASQUERADE
COMMIT
*filter
:INPUT ACCEPT
:FORWARD ACCEPT
:OUTPUT ACCEPT
-A INPUT -p tcp -m limit --limit 5/min -m tcp --tcp-flags FIN,SYN SYN -j LOG --log-prefix "IN: "
COMMIT
END
    grep -v '^#' "$T/saved" | sed -E 's/ \[.*//' | diff - <(head -n "$(grep -vc '^#' "$T/saved")" "$T/now")
}

@test "iptables: several rules as one, saved once" {
    cat >"$T/roots/agg.sls" <<END
a:
  iptables.append:
    - {chain: INPUT, proto: udp, dport: 53, jump: ACCEPT, save: $T/saved}
b:
  iptables.append:
    - {chain: INPUT, proto: tcp, dport: 53, jump: ACCEPT}
END
    echo 'state_aggregate: True' >>"$T/etc/minion"
    own_net <<END
call state.apply agg >'$T/first'
iptables-save | grep -c -- '--dport 53' >'$T/count'
END
    [ "$(results "$T/first")" = "a True ['locale']
b True []" ]
    [ "$(cat "$T/count")" = 2 ]
    [ "$(grep -c -- '--dport 53' "$T/saved")" = 2 ]
}
