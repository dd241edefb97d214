/* iptsaved.c - see iptrules.h: what iptables-save prints. A line's words are put into pairs of option and
 * value, as the program prints several words behind some options and none behind others. */
#include "plugins/lib/net/iptrules.h"

#include "common/base/str.h"
#include "common/host/prog.h"
#include "common/host/rootfs.h"

/* Options of iptables(8), iptables-extensions(8) and xtables-addons(8), in the order of their pages, in which the
 * values of a rule are told. Salt's parser knows these alone, one of them as "source_port" with its underline;
 * options of later extensions are in neither answer. */
static const char *const options[] = { "append",
                                       "delete",
                                       "insert",
                                       "replace",
                                       "list",
                                       "flush",
                                       "zero",
                                       "new-chain",
                                       "delete-chain",
                                       "policy",
                                       "rename-chain",
                                       "protocol",
                                       "source",
                                       "destination",
                                       "jump",
                                       "goto",
                                       "in-interface",
                                       "out-interface",
                                       "fragment",
                                       "set-counters",
                                       "match",
                                       "src-type",
                                       "dst-type",
                                       "limit-iface-in",
                                       "limit-iface-out",
                                       "ahspi",
                                       "ahlen",
                                       "ahres",
                                       "bytecode",
                                       "cgroup",
                                       "cluster-total-nodes",
                                       "cluster-local-node",
                                       "cluster-local-nodemask",
                                       "cluster-hash-seed",
                                       "h-length",
                                       "mangle-mac-s",
                                       "mangle-mac-d",
                                       "comment",
                                       "connbytes",
                                       "connbytes-dir",
                                       "connbytes-mode",
                                       "label",
                                       "connlimit-upto",
                                       "connlimit-above",
                                       "connlimit-mask",
                                       "connlimit-saddr",
                                       "connlimit-daddr",
                                       "mark",
                                       "ctstate",
                                       "ctproto",
                                       "ctorigsrc",
                                       "ctorigdst",
                                       "ctreplsrc",
                                       "ctrepldst",
                                       "ctorigsrcport",
                                       "ctorigdstport",
                                       "ctreplsrcport",
                                       "ctrepldstport",
                                       "ctstatus",
                                       "ctexpire",
                                       "ctdir",
                                       "cpu",
                                       "source_port",
                                       "destination_port",
                                       "dccp-types",
                                       "dccp-option",
                                       "src-group",
                                       "dst-group",
                                       "dscp",
                                       "dscp-class",
                                       "dst-len",
                                       "dst-opts",
                                       "ecn-tcp-cwr",
                                       "ecn-tcp-ece",
                                       "ecn-ip-ect",
                                       "espspi",
                                       "fragid",
                                       "fraglen",
                                       "fragres",
                                       "fragfirst",
                                       "fragmore",
                                       "fraglast",
                                       "hashlimit-upto",
                                       "hashlimit-above",
                                       "hashlimit-burst",
                                       "hashlimit-mode",
                                       "hashlimit-srcmask",
                                       "hashlimit-dstmask",
                                       "hashlimit-name",
                                       "hashlimit-htable-size",
                                       "hashlimit-htable-max",
                                       "hashlimit-htable-expire",
                                       "hashlimit-htable-gcinterval",
                                       "hbh-len",
                                       "hbh-opts",
                                       "helper",
                                       "hl-eq",
                                       "hl-lt",
                                       "hl-gt",
                                       "icmp-type",
                                       "icmpv6-type",
                                       "src-range",
                                       "dst-range",
                                       "soft",
                                       "header",
                                       "ipvs",
                                       "vproto",
                                       "vaddr",
                                       "vport",
                                       "vdir",
                                       "vmethod",
                                       "vportctl",
                                       "length",
                                       "limit",
                                       "limit-burst",
                                       "mac-source",
                                       "mh-type",
                                       "source-ports",
                                       "destination-ports",
                                       "ports",
                                       "nfacct-name",
                                       "genre",
                                       "ttl",
                                       "log",
                                       "uid-owner",
                                       "gid-owner",
                                       "socket-exists",
                                       "physdev-in",
                                       "physdev-out",
                                       "physdev-is-in",
                                       "physdev-is-out",
                                       "physdev-is-bridged",
                                       "pkt-type",
                                       "dir",
                                       "pol",
                                       "strict",
                                       "reqid",
                                       "spi",
                                       "proto",
                                       "mode",
                                       "tunnel-src",
                                       "tunnel-dst",
                                       "next",
                                       "quota",
                                       "rateest",
                                       "rateest1",
                                       "rateest2",
                                       "rateest-delta",
                                       "rateest-bps",
                                       "rateest-bps1",
                                       "rateest-bps2",
                                       "rateest-pps",
                                       "rateest-pps1",
                                       "rateest-pps2",
                                       "rateest-lt",
                                       "rateest-gt",
                                       "rateest-eq",
                                       "rateest-name",
                                       "rateest-interval",
                                       "rateest-ewma",
                                       "realm",
                                       "name",
                                       "set",
                                       "rsource",
                                       "rdest",
                                       "mask",
                                       "rcheck",
                                       "update",
                                       "remove",
                                       "seconds",
                                       "reap",
                                       "hitcount",
                                       "rttl",
                                       "loose",
                                       "validmark",
                                       "accept-local",
                                       "invert",
                                       "rt-type",
                                       "rt-segsleft",
                                       "rt-len",
                                       "rt-0-res",
                                       "rt-0-addrs",
                                       "rt-0-not-strict",
                                       "chunk-types",
                                       "match-set",
                                       "return-nomatch",
                                       "update-counters",
                                       "update-subcounters",
                                       "packets-eq",
                                       "packets-lt",
                                       "packets-gt",
                                       "bytes-eq",
                                       "bytes-lt",
                                       "bytes-gt",
                                       "transparent",
                                       "nowildcard",
                                       "state",
                                       "probability",
                                       "every",
                                       "packet",
                                       "algo",
                                       "from",
                                       "to",
                                       "string",
                                       "hex-string",
                                       "tcp-flags",
                                       "syn",
                                       "tcp-option",
                                       "mss",
                                       "datestart",
                                       "datestop",
                                       "timestart",
                                       "timestop",
                                       "monthdays",
                                       "weekdays",
                                       "contiguous",
                                       "kerneltz",
                                       "utc",
                                       "localtz",
                                       "tos",
                                       "ttl-eq",
                                       "ttl-gt",
                                       "ttl-lt",
                                       "u32",
                                       "condition",
                                       "mac",
                                       "lower-limit",
                                       "upper-limit",
                                       "source-country",
                                       "destination-country",
                                       "enabled",
                                       "disabled",
                                       "iface",
                                       "dev-in",
                                       "dev-out",
                                       "up",
                                       "down",
                                       "broadcast",
                                       "loopback",
                                       "pointtopoint",
                                       "running",
                                       "noarp",
                                       "arp",
                                       "promisc",
                                       "multicast",
                                       "dynamic",
                                       "lower-up",
                                       "dormant",
                                       "edk",
                                       "kazaa",
                                       "gnu",
                                       "dc",
                                       "bit",
                                       "apple",
                                       "soul",
                                       "winmx",
                                       "ares",
                                       "debug",
                                       "flags",
                                       "any",
                                       "layer3",
                                       "layer4",
                                       "layer5",
                                       "stealth",
                                       "synscan",
                                       "cnscan",
                                       "grscan",
                                       "psd-weight-threshold",
                                       "psd-delay-threshold",
                                       "psd-lo-ports-weight",
                                       "psd-hi-ports-weight",
                                       "grow",
                                       "no-change",
                                       "packets",
                                       "knockports",
                                       "time",
                                       "autoclose",
                                       "checkip",
                                       "type",
                                       "checksum-fill",
                                       "set-class",
                                       "new",
                                       "hashmode",
                                       "clustermac",
                                       "total-nodes",
                                       "local-node",
                                       "hash-init",
                                       "set-xmark",
                                       "save-mark",
                                       "restore-mark",
                                       "and-mark",
                                       "or-mark",
                                       "xor-mark",
                                       "set-mark",
                                       "nfmask",
                                       "ctmask",
                                       "save",
                                       "restore",
                                       "notrack",
                                       "ctevents",
                                       "expevents",
                                       "zone",
                                       "timeout",
                                       "to-destination",
                                       "random",
                                       "persistent",
                                       "src-pfx",
                                       "dst-pfx",
                                       "set-dscp",
                                       "set-dscp-class",
                                       "ecn-tcp-remove",
                                       "hl-set",
                                       "hl-dec",
                                       "hl-inc",
                                       "hmark-tuple",
                                       "hmark-mod",
                                       "hmark-offset",
                                       "hmark-src-prefix",
                                       "hmark-dst-prefix",
                                       "hmark-sport-mask",
                                       "hmark-dport-mask",
                                       "hmark-spi-mask",
                                       "hmark-proto-mask",
                                       "hmark-rnd",
                                       "led-trigger-id",
                                       "led-delay",
                                       "led-always-blink",
                                       "log-level",
                                       "log-prefix",
                                       "log-tcp-sequence",
                                       "log-tcp-options",
                                       "log-ip-options",
                                       "log-uid",
                                       "to-ports",
                                       "nflog-group",
                                       "nflog-prefix",
                                       "nflog-range",
                                       "nflog-threshold",
                                       "queue-num",
                                       "queue-balance",
                                       "queue-bypass",
                                       "queue-cpu-fanout",
                                       "rateest-ewmalog",
                                       "reject-with",
                                       "nodst",
                                       "selctx",
                                       "add-set",
                                       "del-set",
                                       "exist",
                                       "to-source",
                                       "set-mss",
                                       "clamp-mss-to-pmtu",
                                       "strip-options",
                                       "gateway",
                                       "set-tos",
                                       "and-tos",
                                       "or-tos",
                                       "xor-tos",
                                       "on-port",
                                       "on-ip",
                                       "tproxy-mark",
                                       "ttl-set",
                                       "ttl-dec",
                                       "ttl-inc",
                                       "ulog-nlgroup",
                                       "ulog-prefix",
                                       "ulog-cprange",
                                       "ulog-qthreshold",
                                       "addr",
                                       "tname",
                                       "delude",
                                       "tarpit",
                                       "set-mac",
                                       "prefix",
                                       "reuse",
                                       "static",
                                       "and-mask",
                                       "or-mask",
                                       "shift",
                                       "honeypot",
                                       "reset" };

/* Other spellings. */
static const char *const spellings[][2] = { { "-A", "append" },
                                            { "-D", "delete" },
                                            { "-I", "insert" },
                                            { "-R", "replace" },
                                            { "-L", "list" },
                                            { "-F", "flush" },
                                            { "-Z", "zero" },
                                            { "-N", "new-chain" },
                                            { "-X", "delete-chain" },
                                            { "-P", "policy" },
                                            { "-E", "rename-chain" },
                                            { "-p", "protocol" },
                                            { "-s", "source" },
                                            { "-d", "destination" },
                                            { "-j", "jump" },
                                            { "-g", "goto" },
                                            { "-i", "in-interface" },
                                            { "-o", "out-interface" },
                                            { "-f", "fragment" },
                                            { "-c", "set-counters" },
                                            { "-m", "match" },
                                            { "--sport", "source_port" },
                                            { "--source-port", "source_port" },
                                            { "--dport", "destination_port" },
                                            { "--destination-port", "destination_port" },
                                            { "--sports", "source-ports" },
                                            { "--dports", "destination-ports" },
                                            { "--src-cc", "source-country" },
                                            { "--dst-cc", "destination-country" } };

/* The option that a word is, also by the beginning of its name where no other has it, as argparse and
 * iptables itself take it; NULL: none of them. */
static const char *
ipt_option(const char *word, fail_t *err)
{
    const char *near = NULL;

    for (size_t i = 0; i < NELEMS(spellings); i++) {
        if (strcmp(word, spellings[i][0]) == 0)
            return spellings[i][1];
    }
    if (!str_starts(word, "--") || word[2] == '\0')
        return NULL;
    for (size_t i = 0; i < NELEMS(options); i++) {
        if (strcmp(word + 2, options[i]) == 0)
            return options[i];
    }
    for (size_t i = 0; i < NELEMS(options); i++) {
        if (str_starts(options[i], word + 2) && near != NULL) {
            fail_set(err, -EINVAL, "%s may be --%s or --%s", word, near, options[i]);
            return NULL;
        }
        if (str_starts(options[i], word + 2))
            near = options[i];
    }
    return near;
}

/* The values of a line by option, in the order of `options`. NEW, or NULL with *err. */
static json_t *
ipt_line(char **words, fail_t *err)
{
    json_auto_t *found = json_object();
    json_t *ordered = json_object();
    size_t n = strv_len(words);

    for (size_t i = 0; i < n && err->code == 0;) {
        /* "! -s 10.0.0.1" is "-s !10.0.0.1" in Salt's answer: the sign goes into the value of the option
         * behind it. */
        bool swapped = strcmp(words[i], "!") == 0 && i + 1 < n && *words[i + 1] == '-';
        const char *word = words[i + (swapped ? 1 : 0)];
        buf_auto_t value = BUF_INIT;
        i += swapped ? 2 : 1;
        if (*word != '-')
            continue;
        if (swapped)
            buf_putc(&value, '!');
        for (bool first = !swapped; i < n && *words[i] != '-' && strcmp(words[i], "!") != 0;
             i++, first = false)
            buf_printf(&value, "%s%s", first ? "" : " ", words[i]);
        const char *option = ipt_option(word, err);
        if (option == NULL)
            continue;
        if (value_get(found, option) == NULL)
            json_object_set_new(found, option, json_array());
        json_array_append_new(value_get(found, option), value_utf8(buf_str(&value), value.len));
    }
    for (size_t i = 0; i < NELEMS(options); i++) {
        if (value_get(found, options[i]) != NULL)
            json_object_set(ordered, options[i], value_get(found, options[i]));
    }
    return ordered;
}

/* ":INPUT ACCEPT [5:420]" */
static int
ipt_chain(const char *line, json_t *table, fail_t *err)
{
    char **words = str_split(line + 1, " \t\r", true);
    const char *counters = strv_len(words) > 2 ? words[2] : "";
    const char *colon = strchr(counters, ':');
    int rc = 0;

    if (table == NULL || *counters != '[' || colon == NULL || !str_ends(counters, "]"))
        rc = fail_set(err, -EINVAL, "this is no line of a chain: %s", line);
    else
        json_object_set_new(table, words[0],
                            json_pack("{s:s, s:s#, s:s#, s:[], s:{}}", "policy", words[1], "packet count",
                                      counters + 1, (int) (colon - counters - 1), "byte count", colon + 1,
                                      (int) (strlen(colon) - 2), "rules", "rules_comment"));
    strv_free(words);
    return rc;
}

/* "-A CHAIN ...": a rule, which is in rules_comment too when it has a comment. Of two rules with one comment
 * the last is there. */
static int
ipt_add_rule(const char *line, json_t *table, fail_t *err)
{
    char **words = prog_split(line, err);
    json_auto_t *rule = words != NULL ? ipt_line(words, err) : NULL;
    const char *name = json_string_value(json_array_get(value_get(rule, "append"), 0));
    json_t *chain = name != NULL ? value_get(table, name) : NULL;

    strv_free(words);
    if (rule == NULL || err->code != 0)
        return err->code;
    if (chain == NULL)
        return fail_set(err, -EINVAL, "this rule's chain has no line of its own before it: %s", line);
    json_object_del(rule, "append");
    const char *comment = json_string_value(json_array_get(value_get(rule, "comment"), 0));
    if (comment != NULL) {
        size_t from = strspn(comment, "\""), len = strlen(comment);
        while (len > from && comment[len - 1] == '"')
            len--;
        AUTO_FREE char *plain = xstrndup(comment + from, len - from);
        json_object_set(value_get(chain, "rules_comment"), plain, rule);
    }
    json_array_append(value_get(chain, "rules"), rule);
    return 0;
}

/* Lines of comments, COMMIT and lines that are none of a table are passed over. */
json_t *
ipt_saved(const char *text, fail_t *err)
{
    json_auto_t *tables = json_object();
    AUTO_FREE char *copy = xstrdup(text);
    json_t *table = NULL;

    for (char *at = copy, *line; err->code == 0 && (line = line_next(&at)) != NULL;) {
        if (*line == '*') {
            AUTO_FREE char *name = str_replace(line, "*", "");
            json_object_set_new(tables, name, table = json_object());
        } else if (*line == ':') {
            (void) ipt_chain(line, table, err);
        } else if (str_starts(line, "-A")) {
            (void) ipt_add_rule(line, table, err);
        }
    }
    return err->code == 0 ? json_incref(tables) : NULL;
}

/* A list for each chain, in the order of the tables. */
json_t *
ipt_all_rules(const json_t *tables)
{
    json_t *all = json_array(), *table, *chain;
    const char *name;

    json_object_foreach ((json_t *) tables, name, table) {
        const char *inner;
        json_object_foreach (table, inner, chain)
            json_array_append(all, value_get(chain, "rules"));
    }
    return all;
}
