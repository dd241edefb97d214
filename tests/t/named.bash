# named.bash - a name server of BIND for tests of dynamic updates. `load named` beside `load lib`.

NAMED=$(PATH=$PATH:/usr/sbin type -P named || :)
has_named() { [ -n "$NAMED" ] && type -P dig nsupdate >/dev/null; }
NAMED_MISSING="named, dig or nsupdate is not installed (packages bind9 and bind9-dnsutils)"

look() { dig -r -p "$DNS_PORT" "@$DNS" +time=1 +tries=1 +short -t "$1" -q "$2" | grep -v '^;'; }

# start_named ADDRESS PORT ZONE...: zones that anybody on this machine may change, and signed.test, which wants the key
# `halite` (hmac-sha256, SECRET).
start_named() {
    local dir=$FLEET/named zone first=$3
    export DNS=$1 DNS_PORT=$2 SECRET=c2VjcmV0LW9mLXRoZS10ZXN0LTEyMzQ1
    shift 2
    mkdir -p "$dir"
    {
        echo "options { directory \"$dir\"; listen-on port $DNS_PORT { $DNS; }; listen-on-v6 { none; };"
        echo "  pid-file \"$dir/run\"; session-keyfile \"$dir/session\"; recursion no; dnssec-validation no; };"
        echo "controls { };"
        echo "key halite { algorithm hmac-sha256; secret \"$SECRET\"; };"
        for zone; do echo "zone $zone { type primary; file \"$zone\"; allow-update { 127.0.0.0/8; }; };"; done
        echo "zone signed.test { type primary; file \"signed.test\"; allow-update { key halite; }; };"
    } >"$dir/named.conf"
    for zone in "$@" signed.test; do
        printf '$TTL 60\n@ IN SOA ns.%s. root.%s. (1 60 60 60 60)\n IN NS ns.%s\n' "$zone" "$zone" "$first." >"$dir/$zone"
    done
    echo "ns IN A 127.0.0.1" >>"$dir/$first"
    daemon listen-named "$NAMED" -g -c "$dir/named.conf" -n 1
    until_true 10 eval 'look SOA "$first" | grep -q .'
}
