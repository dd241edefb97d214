"""Packet filters in a network of their own, the network's configuration, exports."""
from draw import some
from rows import Row, When, World

YES = [True, False]
FAMILY = ["ipv4", "ipv6"]
RULE = {"chain": ["INPUT", "FORWARD", "own", "INPUT", "FORWARD", "own", "none"], "jump": ["ACCEPT", "DROP", "own"], "proto": ["tcp", "udp"],
        "dport": [22, "80", "1000:2000"], "source": ["10.0.0.0/8", "10.0.0.1"], "in-interface": ["lo"],
        "comment": ["a b", "it's"], "connstate": ["NEW", "ESTABLISHED,RELATED"], "family": FAMILY[:1]}
RULE_MUST = {"name": "rule", "chain": RULE["chain"], "jump": RULE["jump"], "proto": RULE["proto"]}
RULE_MAY = {k: v for k, v in RULE.items() if k not in RULE_MUST}
NFT_MUST = {"name": "rule", "table": ["filter"] * 5 + ["none"], "chain": ["input", "own", "input", "own", "none"], "jump": ["accept", "drop"],
            "proto": ["tcp", "udp"]}
NFT_MAY = {"dport": [22, "80"], "source": ["10.0.0.0/8"], "counter": [True], "comment": ["a b"], "connstate": ["new", "established,related"],
           "match": ["state"], "family": ["ipv4"]}

WORLDS = {
    "iptables": World(
        needs="iptables ip6tables", start="iptables -N own; iptables -A INPUT -p tcp --dport 22 -j ACCEPT; iptables -A INPUT -s 10.0.0.1 -j DROP; iptables -A own -j ACCEPT", look="iptables-save | grep -v '^#' | sed 's/\\[.*//'; ip6tables-save | grep -v '^#' | sed 's/\\[.*//'",
        rows={
            "iptables.append": Row(RULE_MUST, RULE_MAY, nasty=0.05, weight=2, unforeseen="iptables refuses the rule"),
            "iptables.insert": Row({**RULE_MUST, "position": [1, 2, -1]}, RULE_MAY, nasty=0.05, unforeseen="iptables refuses the rule"),
            "iptables.delete": Row(RULE_MUST, RULE_MAY, never=("position",), nasty=0.05, unforeseen="iptables refuses the rule"),
            "iptables.chain_present": Row({"name": ["own", "new", "INPUT"]}, {"family": FAMILY, "table": ["filter", "nat"]},
                                          unforeseen="iptables refuses the name"),
            "iptables.chain_absent": Row({"name": ["own", "new"]}, {"family": FAMILY, "table": ["filter", "nat"]}, unforeseen="the chain is in use"),
            "iptables.flush": Row({"name": "f"}, {"chain": ["INPUT", "own"], "family": FAMILY, "table": ["filter", "nat"]},
                                  again="Salt flushes each time", hollow="Salt flushes what is empty", untold="Salt's words"),
            "iptables.set_policy": Row({"name": "p", "chain": ["INPUT", "FORWARD", "own"], "policy": ["ACCEPT", "DROP"]},
                                       {"family": FAMILY, "table": ["filter"]}, unforeseen="a chain that is not built in has no policy"),
        }),
    "nftables": World(
        needs="nft", start="nft add table ip filter; nft 'add chain ip filter input { type filter hook input priority 0 ; }'; nft add chain ip filter own; nft add rule ip filter input tcp dport 22 accept", look="nft list ruleset",
        rows={
            "nftables.append": Row(NFT_MUST, NFT_MAY, nasty=0.05, weight=2, unforeseen="nft refuses the rule"),
            "nftables.insert": Row(NFT_MUST, {**NFT_MAY, "position": [1]}, nasty=0.05, unforeseen="nft refuses the rule"),
            "nftables.delete": Row(NFT_MUST, NFT_MAY, nasty=0.05, unforeseen="nft refuses the rule"),
            "nftables.chain_present": Row({"name": ["own", "new", "input"], "table": ["filter"] * 3 + ["none"]},
                                          {"family": FAMILY[:1], "table_type": ["filter"], "hook": ["output"], "priority": [0]},
                                          unforeseen="nft refuses the chain"),
            "nftables.chain_absent": Row({"name": ["own", "new", "input"], "table": ["filter"] * 3 + ["none"]}, {"family": FAMILY[:1]},
                                         unforeseen="the chain is in use"),
            "nftables.table_present": Row({"name": ["filter", "new"]}, {"family": FAMILY}, unforeseen="nft refuses the name"),
            "nftables.table_absent": Row({"name": ["filter", "new"]}, {"family": FAMILY}, unforeseen="nft refuses the name"),
            "nftables.flush": Row({"name": "f"}, {"table": ["filter"], "chain": ["input", "own"], "family": FAMILY[:1]},
                                  again="Salt flushes each time", hollow="Salt flushes what is empty", untold="Salt's words"),
            "nftables.set_policy": Row({"name": "p", "table": "filter", "chain": ["input", "own"], "policy": ["accept", "drop"]},
                                       {"family": FAMILY[:1]}, unforeseen="a chain that is not built in has no policy"),
        }),
    "ipset": World(
        needs="ipset", start="ipset create t1 bitmap:ip range 192.168.0.0/16 comment; ipset create s1 hash:ip; ipset add s1 10.0.0.2", look="ipset list",
        rows={
            "ipset.set_present": Row({"name": ["s1", "new"], "set_type": ["hash:ip", "hash:net", "bitmap:port", "nosuch"]},
                                     {"family": FAMILY, "range": ["1-9"], "comment": [True]}, unforeseen="ipset refuses the set"),
            "ipset.set_absent": Row({"name": ["s1", "none"]}, {"family": FAMILY}),
            "ipset.present": Row({"name": "e", "set_name": ["t1", "s1", "none"], "entry": ["192.168.0.3", "10.0.0.2", ["10.0.0.2", "10.0.0.3"]]},
                                 {"family": FAMILY[:1], "comment": ["Hello"]}, unforeseen="a set that is not there yet, or not for this entry"),
            "ipset.absent": Row({"name": "e", "set_name": ["t1", "s1", "none"], "entry": ["192.168.0.3", "10.0.0.2", ["10.0.0.2", "10.0.0.3"]]},
                                {"family": FAMILY[:1]}),
            "ipset.flush": Row({"name": ["s1", "t1", "none"]}, {"family": FAMILY},
                               again="Salt flushes each time", hollow="Salt flushes what is empty", untold="Salt's words"),
        }),
    "interfaces": World(
        played="debian-interfaces", start="ip link add eth0 type veth peer name eth1",
        setup="printf '#!/bin/sh\\nip link set $1 up\\n' >/usr/local/sbin/ifup; printf '#!/bin/sh\\nip link set $1 down\\n' >/usr/local/sbin/ifdown",
        rows={
            "network.managed": Row({"name": ["eth0", "eth1", "lo"], "type": ["eth", "eth", "eth", "bridge", "vlan", "nosuch"],
                                    "proto": ["dhcp", "static", "none", "manual"]},
                                   {"enabled": YES, "ipaddr": ["10.0.0.5"], "netmask": ["255.255.255.0", 24], "gateway": ["10.0.0.1"],
                                    "dns": [["1.1.1.1"]], "mtu": [1400], "ports": ["eth1 eth2"],
                                    "noifupdown": [True], "ipv6proto": ["static"], "ipv6ipaddr": ["2001:db8::5"], "ipv6netmask": [64]}, weight=2,
                                   untold="the run tells that it went up", unforeseen="values of the interface",
                                   again=When("Salt writes no stanza of an interface without address or dhcp",
                                              lambda t: t.args.get("proto") in ("none", "manual", None))),
            "network.routes": Row({"name": ["eth0", "eth1"], "routes": [[{"name": "a", "ipaddr": "10.2.0.0", "netmask": "255.255.0.0",
                                                                          "gateway": "10.1.0.1"}], [{"ipaddr": "10.3.0.0", "netmask": 16,
                                                                              "gateway": "10.1.0.2"}], []]}, unforeseen="values of the routes"),
            "network.system": Row({"name": "n"}, {"enabled": YES, "hostname": ["web2", "web1.example.org"], "gateway": ["10.0.0.1"],
                                                  "nozeroconf": [True], "apply_hostname": YES, "require_reboot": YES, "search": ["a.b"],
                                                  "nameservers": [["1.1.1.1"]]},
                                  never=("apply_hostname", "require_reboot"), unforeseen="values of the network",
                                  silent="Salt writes the file in a layout of its own"),
        }),
    "exports": World(
        played="nfs-exports", setup="cp /srv/played/exports /etc/exports",
        rows={
            "nfs_export.present": Row({"name": ["/srv/a", "/srv/b", "/srv/new", "/srv/d"]},
                                      {"clients": [[{"hosts": "10.0.0.0/8", "options": ["rw", "sync"]}, {"hosts": "*", "options": ["ro"]}]],
                                       "hosts": ["*", "10.0.0.0/8", "192.0.2.1"],
                                      "options": [["rw"], ["ro", "sync"], [""]], "exports": ["/etc/exports"]},
                                      unforeseen="the line can't be written"),
            "nfs_export.absent": Row({"name": ["/srv/a", "/srv/b", "/srv/new", "/srv/d"]}, {"exports": ["/etc/exports"]}),
        }),
    "firewalld": World(
        played="firewalld", setup="cd /srv/played; mkdir -p z/public z/home s/ssh s/http",
        rows={
            "firewalld.present": Row({"name": ["public", "dmz"]}, {"masquerade": YES, "ports": some("80/tcp", "81/udp"), "prune_ports": YES,
                                                                   "services": some("ssh", "http"), "prune_services": YES,
                                                                   "interfaces": some("eth0", "eth1"), "prune_interfaces": YES,
                                      "sources": some("10.0.0.0/8"), "prune_sources": YES,
                                                                   "rich_rules": some("rule family=ipv4 source address=\"1.1.1.1\" accept"),
                                                                   "prune_rich_rules": YES, "port_fwd": some("9:10:tcp"), "prune_port_fwd": YES,
                                      "block_icmp": some("echo-request", "nosuch"), "prune_block_icmp": YES, "default": YES}, weight=3,
                                     tame=("name",), unforeseen="firewalld's own refusal"),
            "firewalld.service": Row({"name": ["ssh", "web"]}, {"ports": some("80/tcp", "81/udp"), "protocols": some("igmp", "esp")},
                                     unforeseen="firewalld's own refusal"),
        }),
}
