/* nftrules.c - see nftrules.h: keywords to a rule, and what a value may hold. */
#include "plugins/lib/net/nftrules.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* iptables' names of families are taken for nft's. */
const char *
nft_family(const char *given, fail_t *err)
{
    static const char *const rows[][2] = {
        { "ipv4", "ip" },   { "ip4", "ip" },  { "ip", "ip" },         { "ipv6", "ip6" },     { "ip6", "ip6" },
        { "inet", "inet" }, { "arp", "arp" }, { "bridge", "bridge" }, { "netdev", "netdev" }
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (strcmp(given, rows[i][0]) == 0)
            return rows[i][1];
    }
    fail_kind(err, FAIL_COMMAND, -EINVAL,
              "nftables has no family '%s': use ipv4, ipv6, inet, arp, bridge or netdev", given);
    return NULL;
}

/* A name becomes a word of the command: "-" at the front would be an option. */
int
nft_need_name(const char *what, const char *value, fail_t *err)
{
    bool ok = *value != '-';

    for (const char *at = value; *at != '\0'; at++)
        ok = ok && (isalnum((unsigned char) *at) || strchr("_./-", *at) != NULL);
    return ok ? 0
              : fail_kind(err, FAIL_COMMAND, -EINVAL,
                          "nftables: %s '%s' is no name: use letters, digits, and _ . / - behind the first",
                          what, value);
}

/* ---- statements of users --------------------------------------------------------------------- */

/* The reason and the rule; always negative. */
static int
refuse_rule(const char *rule, const char *why, fail_t *err)
{
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "nftables: %s, so this is no single rule: %s", why, rule);
}

/* Moves *at behind a quoted text: "text", 'text' or \"text\". */
static int
take_quoted(const char **at, buf_t *out, const char *rule, fail_t *err)
{
    const char *mark = **at == '\\' ? "\\\"" : **at == '"' ? "\"" : "'";
    const char *from = *at + strlen(mark), *end = strstr(from, mark);
    size_t len = end != NULL ? (size_t) (end - from) : 0;

    bool plain = len > 0 && isalpha((unsigned char) *from);

    if (end == NULL)
        return refuse_rule(rule, "a quotation has no end", err);
    for (size_t i = 0; i < len; i++) {
        if (iscntrl((unsigned char) from[i]) || from[i] == '"' || from[i] == '\\')
            return refuse_rule(rule, "a quotation holds a quote, a backslash or a line break", err);
        plain = plain && (isalnum((unsigned char) from[i]) || strchr("_.-", from[i]) != NULL);
    }
    /* A text that nft takes for one word stands without quotes, as in rules that were written for a shell's words. */
    const char *quote = plain ? "" : "\"";
    buf_puts(out, quote);
    buf_add(out, from, len);
    buf_puts(out, quote);
    *at = end + strlen(mark);
    return 0;
}

/* Quotes of a shell's line become nft's own, and all that would end the statement is refused. */
char *
nft_statement(const char *rule, fail_t *err)
{
    buf_auto_t out = BUF_INIT;
    int depth = 0;

    for (const char *at = rule; *at != '\0';) {
        if (*at == '"' || *at == '\'' || str_starts(at, "\\\"")) {
            if (take_quoted(&at, &out, rule, err) < 0)
                return NULL;
            continue;
        }
        /* "\{" is how a rule on a shell's command line has its braces. */
        if (*at == '\\' && (at[1] == '{' || at[1] == '}'))
            at++;
        const char *why = *at == ';'                     ? "it holds a semicolon"
                          : *at == '#'                   ? "it holds a comment"
                          : *at == '\\'                  ? "it holds a backslash"
                          : *at == '$'                   ? "it holds a variable"
                          : *at == '\t'                  ? NULL
                          : iscntrl((unsigned char) *at) ? "it holds a line break"
                                                         : NULL;
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (why == NULL && depth < 0)
            why = "a brace closes that none opens";
        if (why != NULL) {
            refuse_rule(rule, why, err);
            return NULL;
        }
        buf_putc(&out, *at++);
    }
    if (depth != 0) {
        refuse_rule(rule, "a brace is not closed", err);
        return NULL;
    }
    AUTO_FREE char *text = buf_steal(&out);
    return xstrdup(text != NULL ? str_trim(text) : "");
}

/* ---- keywords -------------------------------------------------------------------------------- */

/* Shapes of a keyword's value. */
typedef enum shape {
    SHAPE_SET,     /* words with commas; the braces are ours */
    SHAPE_PORTS,   /* the same, with "1:9" for "1-9" */
    SHAPE_NUMBERS, /* ports, the highest first */
    SHAPE_WORD,    /* one word, behind "!=" too */
    SHAPE_ADDRESS, /* the same, or a set with its braces */
    SHAPE_PHRASE   /* several words */
} shape_t;

/* Words with commas between, white space only behind a comma. */
static bool
is_word_list(const char *text, size_t len)
{
    bool begun = false;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char) text[i];
        if (c == ' ' && i > 0 && text[i - 1] == ',' && i + 1 < len)
            continue;
        if (isspace(c) || iscntrl(c) || strchr("{};\"'#\\$", c) != NULL || (c == ',' && !begun))
            return false;
        begun = c != ',';
    }
    return begun;
}

/* One word, behind "!= " too; with `set` a set in braces as well. */
static bool
is_operand(const char *text, bool set)
{
    const char *from = str_starts(text, "!= ") ? text + strlen("!= ") : text;
    size_t len = strlen(from);

    if (set && len > 2 && *from == '{' && from[len - 1] == '}') {
        AUTO_FREE char *inner = xstrndup(from + 1, len - 2);
        const char *list = str_trim(inner);
        return is_word_list(list, strlen(list));
    }
    return is_word_list(from, len) && strchr(from, ',') == NULL;
}

/* For qsort(): falling. */
static int
by_port(const void *a, const void *b)
{
    long left = strtol(*(char *const *) a, NULL, 10), right = strtol(*(char *const *) b, NULL, 10);

    return left < right ? 1 : left > right ? -1 : 0;
}

/* The keyword's value as text; a list's elements have commas between. NULL with *err when it is more than that, and
 * without *err when there is none. NEW. */
static char *
worded(const json_t *keywords, const char *key, shape_t shape, fail_t *err)
{
    const json_t *value = value_get(keywords, key);
    AUTO_FREE char *text = NULL;
    bool ok = true;

    if (value == NULL)
        return NULL;
    AUTO_FREE char *given = json_is_array(value) ? value_joined(value, ",") : value_pystr(value);
    switch (shape) {
    case SHAPE_SET:
        ok = is_word_list(given, strlen(given));
        break;
    case SHAPE_PORTS:
    case SHAPE_NUMBERS:
        text = str_replace(given, ":", "-");
        ok = is_word_list(text, strlen(text));
        break;
    case SHAPE_WORD:
    case SHAPE_ADDRESS:
        ok = is_operand(given, shape == SHAPE_ADDRESS);
        break;
    case SHAPE_PHRASE:
        text = nft_statement(given, err);
        ok = text != NULL && strpbrk(text, "{}") == NULL;
        break;
    }
    if (ok && shape == SHAPE_NUMBERS) {
        /* Ports with commas, the highest first, as Salt writes them. */
        char **list = str_split(text, ", ", true);
        buf_auto_t out = BUF_INIT;
        qsort(list, strv_len(list), sizeof *list, by_port);
        for (size_t i = 0; list[i] != NULL; i++)
            buf_printf(&out, "%s%s", i > 0 ? ", " : "", list[i]);
        strv_free(list);
        return xstrdup(buf_str(&out));
    }
    if (ok)
        return xstrdup(shape == SHAPE_PORTS ? text : given);
    /* nft_statement() has said more already. */
    if (err->code == 0)
        fail_kind(err, FAIL_COMMAND, -EINVAL,
                  "nftables: %s: '%s' is more than a value: white space, quotes, braces, semicolons and "
                  "comments have no place in it",
                  key, given);
    return NULL;
}

/* A part of a rule: what stands for a keyword, with {} for its value. */
typedef struct part {
    const char *key;
    shape_t shape;
    const char *text; /* "saddr", "daddr": an address; "dport", "sport": behind the protocol */
} part_t;

/* The order is that of the parts in the rule. */
static const part_t parts[] = {
    { "if", SHAPE_WORD, "meta iifname {} " },
    { "of", SHAPE_WORD, "meta oifname {} " },
    { "connstate", SHAPE_SET, "ct state { {} } " },
    { "icmp-type", SHAPE_SET, "icmp type { {} } " },
    { "icmpv6-type", SHAPE_SET, "icmpv6 type { {} } " },
    { "pkttype", SHAPE_SET, "meta pkttype { {} } " },
    { "counter", SHAPE_PHRASE, "counter " },
    { "saddr", SHAPE_ADDRESS, "saddr" },
    { "source", SHAPE_ADDRESS, "saddr" },
    { "daddr", SHAPE_ADDRESS, "daddr" },
    { "destination", SHAPE_ADDRESS, "daddr" },
    { "dport", SHAPE_PORTS, "dport" },
    { "sport", SHAPE_PORTS, "sport" },
    { "dports", SHAPE_NUMBERS, "dport" },
    { "sports", SHAPE_NUMBERS, "sport" },
    { "target", SHAPE_PHRASE, "{} " },
    { "jump", SHAPE_PHRASE, "{} " },
    { "j", SHAPE_PHRASE, "{} " },
    { "redirect-to", SHAPE_PHRASE, "redirect to {} " },
    { "to-port", SHAPE_PHRASE, "redirect to {} " },
    { "to-ports", SHAPE_PHRASE, "--to-ports {} " },
    { "to-source", SHAPE_PHRASE, "{} " },
    { "to-destination", SHAPE_PHRASE, "{} " },
    { "reject-with", SHAPE_PHRASE, "reject with {} " },
};

/* Keywords of which the second has no place beside the first. */
static const char *const instead[][2] = {
    { "source", "saddr" }, { "destination", "daddr" }, { "jump", "target" }, { "to-port", "redirect-to" }
};

char *
nft_rule(const json_t *keywords, const char *family, fail_t *err)
{
    buf_auto_t rule = BUF_INIT;
    AUTO_FREE char *proto = worded(keywords, "proto", SHAPE_WORD, err);

    for (size_t i = 0; i < NELEMS(parts) && err->code == 0; i++) {
        const char *key = parts[i].key, *text = parts[i].text;
        /* `jump` gives way to a target that is there at all, the others to one that is true: Salt's tests differ so. */
        bool replaced = false;
        for (size_t k = 0; k < NELEMS(instead); k++) {
            json_t *other = value_get(keywords, instead[k][1]);
            if (strcmp(key, instead[k][0]) == 0)
                replaced = strcmp(key, "jump") == 0 ? other != NULL : value_truthy(other);
        }
        AUTO_FREE char *value = replaced ? NULL : worded(keywords, key, parts[i].shape, err);
        if (value == NULL)
            continue;
        if (str_ends(text, "addr")) {
            /* Tables of inet hold both kinds: the address itself tells which. */
            bool six = strcmp(family, "ip6") == 0 || strchr(value, ':') != NULL;
            buf_printf(&rule, "%s %s %s ", six ? "ip6" : "ip", text, value);
        } else if (str_ends(text, "port") && proto == NULL) {
            fail_kind(err, FAIL_COMMAND, -EINVAL, "nftables: %s needs a protocol: say proto: tcp", key);
        } else if (str_ends(text, "port")) {
            buf_printf(&rule, "%s %s { %s } ", proto, text, value);
        } else {
            AUTO_FREE char *words = str_replace(text, "{}", value);
            buf_puts(&rule, words);
        }
    }
    if (err->code != 0)
        return NULL;
    while (rule.len > 0 && rule.data[rule.len - 1] == ' ')
        rule.data[--rule.len] = '\0';
    return xstrdup(buf_str(&rule));
}

/* ---- base chains ----------------------------------------------------------------------------- */

/* A number, or a name with a number added or taken: "-150", "filter", "filter + 10". */
static bool
is_priority(const char *text)
{
    if (!isalpha((unsigned char) *text)) {
        text += *text == '-' ? 1 : 0;
        return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
    }
    text += strspn(text, "abcdefghijklmnopqrstuvwxyz");
    const char *sign = text + strspn(text, " ");
    if (*sign != '+' && *sign != '-')
        return *text == '\0';
    const char *number = sign + 1 + strspn(sign + 1, " ");
    return *number != '\0' && number[strspn(number, "0123456789")] == '\0';
}

/* A priority becomes words of the command, so it is checked to be one; type and hook are names. */
char *
nft_base(const json_t *args, bool *ret_whole, fail_t *err)
{
    const char *type = value_str(args, "table_type", ""), *hook = value_str(args, "hook", "");
    const json_t *given = value_get(args, "priority");
    AUTO_FREE char *priority = given == NULL || json_is_null(given) ? xstrdup("") : value_pystr(given);

    *ret_whole = true;
    if (*type == '\0' && *hook == '\0' && !value_truthy(given))
        return xstrdup("");
    *ret_whole = *type != '\0' && *hook != '\0' && *priority != '\0';
    if (nft_need_name("table_type", type, err) < 0 || nft_need_name("hook", hook, err) < 0)
        return NULL;
    if (*ret_whole && !is_priority(priority)) {
        fail_kind(err, FAIL_COMMAND, -EINVAL,
                  "nftables: priority '%s' is none: use a number, or a name like filter, or filter + 10",
                  priority);
        return NULL;
    }
    return xasprintf("{ type %s hook %s priority %s; }", type, hook, priority);
}
