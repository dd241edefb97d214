/* iptrules.c - see iptrules.h: keywords to arguments. */
#include "plugins/lib/net/iptrules.h"

#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* Arguments of states in general, and those that Salt takes for itself, beside those with "__" before them. */
static const char *const no_rule[] = { "name",          "aggregate",     "state",      "chain",
                                       "save",          "table",         "onchanges",  "onchanges_any",
                                       "onfail",        "onfail_any",    "onfail_all", "onfail_stop",
                                       "prereq",        "prerequired",   "watch",      "watch_any",
                                       "require",       "require_any",   "listen",     "onchanges_in",
                                       "onfail_in",     "prereq_in",     "watch_in",   "require_in",
                                       "listen_in",     "fun",           "check_cmd",  "cmd_opts_exclude",
                                       "failhard",      "onlyif",        "unless",     "creates",
                                       "retry",         "order",         "parallel",   "reload_modules",
                                       "reload_grains", "reload_pillar", "runas",      "runas_password",
                                       "fire_event",    "saltenv",       "umask",      "use",
                                       "use_in" };

/* Arguments of jumps, as iptables(8), iptables-extensions(8) and xtables-addons(8) have them, the jump
 * first. */
static const char *const of_jump[] = { "j",
                                       "jump",
                                       "add-set",
                                       "and-mark",
                                       "and-tos",
                                       "checksum-fill",
                                       "clamp-mss-to-pmtu",
                                       "clustermac",
                                       "ctevents",
                                       "ctmask",
                                       "del-set",
                                       "ecn-tcp-remove",
                                       "exist",
                                       "expevents",
                                       "gateway",
                                       "hash-init",
                                       "hashmode",
                                       "helper",
                                       "label",
                                       "local-node",
                                       "log-ip-options",
                                       "log-level",
                                       "log-prefix",
                                       "log-tcp-options",
                                       "log-tcp-sequence",
                                       "log-uid",
                                       "mask",
                                       "new",
                                       "nfmask",
                                       "nflog-group",
                                       "nflog-prefix",
                                       "nflog-range",
                                       "nflog-threshold",
                                       "nodst",
                                       "notrack",
                                       "on-ip",
                                       "on-port",
                                       "or-mark",
                                       "or-tos",
                                       "persistent",
                                       "queue-balance",
                                       "queue-bypass",
                                       "queue-num",
                                       "random",
                                       "rateest-ewmalog",
                                       "rateest-interval",
                                       "rateest-name",
                                       "reject-with",
                                       "restore",
                                       "restore-mark",
                                       "save-mark",
                                       "selctx",
                                       "set-class",
                                       "set-dscp",
                                       "set-dscp-class",
                                       "set-mark",
                                       "set-mss",
                                       "set-tos",
                                       "set-xmark",
                                       "strip-options",
                                       "timeout",
                                       "to",
                                       "to-destination",
                                       "to-ports",
                                       "to-source",
                                       "total-nodes",
                                       "tproxy-mark",
                                       "ttl-dec",
                                       "ttl-inc",
                                       "ttl-set",
                                       "type",
                                       "ulog-cprange",
                                       "ulog-nlgroup",
                                       "ulog-prefix",
                                       "ulog-qthreshold",
                                       "xor-mark",
                                       "xor-tos",
                                       "zone",
                                       "dst-pfx",
                                       "hl-dec",
                                       "hl-inc",
                                       "hl-set",
                                       "hmark-dport-mask",
                                       "hmark-dst-prefix",
                                       "hmark-mod",
                                       "hmark-offset",
                                       "hmark-proto-mask",
                                       "hmark-rnd",
                                       "hmark-spi-mask",
                                       "hmark-sport-mask",
                                       "hmark-src-prefix",
                                       "hmark-tuple",
                                       "led-always-blink",
                                       "led-delay",
                                       "led-trigger-id",
                                       "queue-cpu-fanout",
                                       "src-pfx",
                                       "to-port",
                                       "addr",
                                       "and-mask",
                                       "delude",
                                       "honeypot",
                                       "or-mask",
                                       "prefix",
                                       "reset",
                                       "reuse",
                                       "set-mac",
                                       "shift",
                                       "static",
                                       "tarpit",
                                       "tname",
                                       "ttl" };

/* Salt takes "!x", "! x" and "not x" for the same. */
static bool
is_negated(const char *value)
{
    return *value == '!' || str_starts(value, "not");
}

/* Without each "!" and "not", and one white space behind it. NEW. */
static char *
affirmed(const char *value)
{
    buf_auto_t out = BUF_INIT;

    while (*value != '\0') {
        size_t skip = *value == '!' ? 1 : str_starts(value, "not") ? strlen("not") : 0;
        if (skip == 0)
            buf_putc(&out, *value++);
        else
            value += skip + (isspace((unsigned char) value[skip]) ? 1 : 0);
    }
    return xstrdup(buf_str(&out));
}

/* The rule so far: its parts, and the keywords that are left. */
typedef struct making {
    json_t *rule, *left;
    bool protocol;
} making_t;

/* Takes a keyword away; NULL when there is none. NEW. */
static json_t *
taken(making_t *m, const char *key)
{
    json_t *value = json_incref(json_object_get(m->left, key));

    json_object_del(m->left, key);
    return value;
}

/* A part is one or several words, which are joined at the end. */
static void
add_part(making_t *m, const char *text)
{
    json_array_append_new(m->rule, value_utf8(text, strlen(text)));
}

/* Adds "OPTION VALUE", with "! " before it where the value says so. */
static void
rule_option_add(making_t *m, const char *option, const json_t *value)
{
    AUTO_FREE char *text = value_pystr(value), *plain = is_negated(text) ? affirmed(text) : xstrdup(text);
    AUTO_FREE char *part = xasprintf("%s%s %s", is_negated(text) ? "! " : "", option, plain);

    add_part(m, part);
}

/* The same for a keyword, when there is one. */
static void
move_option(making_t *m, const char *key, const char *option)
{
    json_auto_t *value = taken(m, key);

    if (value != NULL)
        rule_option_add(m, option, value);
}

/* "-m state" and the like, once: the user may have named it in `match` already. */
static void
need_match(making_t *m, const char *match)
{
    if (!value_lists(m->rule, match))
        add_part(m, match);
}

/* match: a list, or names with commas. Some take --name, and policy takes --proto. */
static void
move_matches(making_t *m)
{
    json_auto_t *value = taken(m, "match"), *list = NULL;
    bool policy = str_eq(json_string_value(value), "policy");
    json_t *one;
    size_t i;

    if (value == NULL)
        return;
    if (json_is_array(value)) {
        list = json_incref(value);
    } else {
        AUTO_FREE char *text = value_pystr(value);
        char **names = str_split(text, ",", false);
        list = json_array();
        for (i = 0; names[i] != NULL; i++)
            json_array_append_new(list, json_string(names[i]));
        strv_free(names);
    }
    json_array_foreach (list, i, one) {
        AUTO_FREE char *name = value_pystr(one), *part = xasprintf("-m %s", name);
        const char *word = str_trim(name);
        add_part(m, part);
        if (strcmp(word, "pknock") == 0 || strcmp(word, "quota2") == 0 || strcmp(word, "recent") == 0) {
            json_auto_t *own = taken(m, "name_");
            AUTO_FREE char *text = own != NULL ? value_pystr(own) : NULL;
            AUTO_FREE char *more = own != NULL ? xasprintf("--name %s", text) : NULL;
            if (more != NULL)
                add_part(m, more);
        }
    }
    if (policy)
        move_option(m, "proto", "--proto");
}

/* False when no protocol is given. The list is negated as a whole when one of its ports is, as iptables has
 * no other way to write that. */
static bool
move_ports(making_t *m, const char *key)
{
    json_auto_t *value = taken(m, key), *list = json_array();
    bool negated = false;
    json_t *one;
    size_t i;

    if (value == NULL)
        return true;
    if (!value_lists(m->rule, "-m multiport")) {
        add_part(m, "-m multiport");
        if (!m->protocol)
            return false;
    }
    json_auto_t *all = json_is_array(value) ? json_incref(value) : json_pack("[O]", value);
    json_array_foreach (all, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        negated = negated || is_negated(text);
    }
    json_array_foreach (all, i, one) {
        AUTO_FREE char *text = value_pystr(one), *plain = negated ? affirmed(text) : NULL;
        json_array_append_new(list, json_string(plain != NULL ? plain : text));
    }
    if (negated)
        add_part(m, "!");
    AUTO_FREE char *ports = value_joined(list, ","), *part = xasprintf("--%s %s", key, ports);
    add_part(m, part);
    return true;
}

/* True for None and "", which stand for an option without an argument. */
static bool
has_no_value(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0);
}

/* What follows all others: the jump and its arguments. Quoted where there is white space. NEW list. */
static json_t *
take_jump(making_t *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NELEMS(of_jump); i++) {
        json_auto_t *value = taken(m, of_jump[i]);
        AUTO_FREE char *text = value != NULL ? value_pystr(value) : NULL;
        if (value != NULL && has_no_value(value))
            json_array_append_new(list, value_fmt("--%s", of_jump[i]));
        else if (value != NULL)
            json_array_append_new(list,
                                  value_fmt(strpbrk(text, " \t\n\r\v\f") != NULL ? "--%s \"%s\"" : "--%s %s",
                                            of_jump[i], text));
    }
    return list;
}

/* What is left: options of the same name. */
static void
move_others(making_t *m)
{
    const char *key;
    json_t *value;

    json_object_foreach (m->left, key, value) {
        AUTO_FREE char *option = xasprintf("%s%s", strlen(key) == 1 ? "-" : "--", key);
        AUTO_FREE char *text = value_pystr(value), *plain = is_negated(text) ? affirmed(text) : NULL;
        if (has_no_value(value) || str_eq(plain, "")) {
            AUTO_FREE char *part = xasprintf("%s%s", plain != NULL ? "! " : "", option);
            add_part(m, part);
        } else {
            rule_option_add(m, option, value);
        }
    }
}

/* The order of the parts is Salt's; iptables wants an option behind the match or the jump that it belongs
 * to. */
char *
ipt_rule(const json_t *keywords)
{
    json_auto_t *rule = json_array(), *left = json_copy((json_t *) keywords);
    making_t m = { .rule = rule, .left = left };
    json_auto_t *target = taken(&m, "target");
    const char *key;
    json_t *value;
    void *next;

    if (target != NULL)
        json_object_set(left, "jump", target);
    for (size_t i = 0; i < NELEMS(no_rule); i++)
        json_object_del(left, no_rule[i]);
    json_object_foreach_safe (left, next, key, value) {
        if (str_starts(key, "__"))
            json_object_del(left, key);
    }

    move_option(&m, "if", "-i");
    move_option(&m, "of", "-o");
    /* With the match policy `proto` is IPsec's, which move_matches() writes. */
    if (value_get(left, "proto") != NULL && !str_eq(value_str(left, "match", NULL), "policy")) {
        json_auto_t *proto = taken(&m, "proto");
        json_object_set(left, "protocol", proto);
    }
    m.protocol = value_get(left, "protocol") != NULL;
    move_option(&m, "protocol", "-p");
    move_matches(&m);
    if (value_get(left, "match-set") != NULL) {
        /* Each set is a match of its own, "-m set --match-set NAME src". The parts that were just added are the last. */
        json_auto_t *given = taken(&m, "match-set");
        json_auto_t *all = json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
        size_t n = json_array_size(all);
        for (size_t i = 0; i < n; i++)
            rule_option_add(&m, "--match-set", json_array_get(all, i));
        for (size_t i = json_array_size(rule) - n; i < json_array_size(rule); i++)
            json_array_set_new(rule, i, value_fmt("-m set %s", json_string_value(json_array_get(rule, i))));
    }
    if (value_get(left, "connstate") != NULL)
        need_match(&m, "-m state");
    move_option(&m, "connstate", "--state");
    move_option(&m, "dport", "--dport");
    move_option(&m, "sport", "--sport");
    if (!move_ports(&m, "dports") || !move_ports(&m, "sports"))
        return xstrdup("Error: protocol must be specified");
    json_auto_t *comment = taken(&m, "comment");
    if (comment != NULL) {
        AUTO_FREE char *text = value_pystr(comment), *part = xasprintf("--comment \"%s\"", text);
        need_match(&m, "-m comment");
        add_part(&m, part);
    }
    if (value_truthy(value_get(left, "set")))
        move_option(&m, "set", "--match-set");
    /* Taken before the others and written behind them: iptables reads the arguments of a target only after
     * the target. */
    json_auto_t *jump = take_jump(&m);
    move_others(&m);
    json_array_extend(rule, jump);
    return value_joined(rule, " ");
}
