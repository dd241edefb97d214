/* dig.c - execution module `dig`: questions to name servers, by the program dig. The names in the answers are
 * whatever a server says: none becomes an option, and a chain of them is followed a bounded way. dig +short
 * prints one answer a line. An answer of no lines is [""], and a failed dig an empty list with a warning in
 * the log: so Salt's callers know "no such record" from "no server". */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/call/tool.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* RFC 7208, section 4.6.4: lookups that a policy may cause. */
#define SPF_LOOKUPS 10

/* True for an address, or a network with a number of bits that Salt takes: 1 to 32, or 8 to 128. */
static bool
dig_is_address(const char *text)
{
    const char *slash = strrchr(text, '/');
    AUTO_FREE char *address = slash != NULL ? xstrndup(text, (size_t) (slash - text)) : xstrdup(text);
    long long bits = 0;
    ip_t ip;

    if (ip_parse(address, &ip, NULL) < 0)
        return false;
    return slash == NULL || str_to_int(slash + 1, ip.version == 4 ? 1 : 8, ip.version == 4 ? 32 : 128, &bits);
}

/* The record type of a question, and what of the answer counts. */
typedef struct dig_kind {
    const char *type;
    const char *argument;
    bool addresses; /* only lines that are addresses */
    bool whole;     /* the answer is the text, not its lines */
} dig_kind_t;
static const dig_kind_t kind_a = { "A", "host", true, false };
static const dig_kind_t kind_aaaa = { "AAAA", "host", true, false };
static const dig_kind_t kind_ptr = { "PTR", "host", false, false };
static const dig_kind_t kind_cname = { "CNAME", "host", false, true };
static const dig_kind_t kind_txt = { "TXT", "host", false, false };

/* What dig +short prints. NEW; "" and *ret_failed when it can't ask; NULL with *err. PTR is asked by -x,
 * which turns the address around; the others are asked by type behind the name. */
static char *
dig_asked(call_ctx_t *ctx, const char *type, const char *name, const json_t *server, bool *ret_failed,
          fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *at = value_pystr(server);

    if (tool_begin(&prog, "dig", err) < 0)
        return NULL;
    prog_add(&prog, "+short");
    if (strcmp(type, "PTR") == 0)
        prog_add(&prog, "-x");
    if (prog_operand(&prog, "name", name, err) < 0)
        return NULL;
    if (strcmp(type, "PTR") != 0)
        prog_add(&prog, type);
    if (server != NULL && !json_is_null(server))
        prog_addf(&prog, "@%s", at);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return NULL;
    json_int_t code = value_int(ran, "retcode", 0);
    *ret_failed = code != 0;
    if (code != 0)
        log_warning("dig returned exit code '%" JSON_INTEGER_FORMAT "'. Returning empty list as fallback.",
                    code);
    return xstrdup(code == 0 ? value_str(ran, "stdout", "") : "");
}

/* The answer's lines; of nothing one empty line, as Python's split has it. NEW. */
static json_t *
lines_of_answer(const char *text, bool addresses)
{
    char **lines = str_split(text, "\n", false);
    json_t *list = json_array();

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (!addresses || dig_is_address(lines[i]))
            json_array_append_new(list, json_string(lines[i]));
    }
    strv_free(lines);
    return list;
}

/* The answer to a question as a list; [] when it can't be asked. NEW; NULL with *err. */
static json_t *
dig_lines(call_ctx_t *ctx, const char *type, const char *name, const json_t *args, bool addresses,
          fail_t *err)
{
    bool failed = false;
    AUTO_FREE char *text = dig_asked(ctx, type, name, value_get(args, "nameserver"), &failed, err);

    return text == NULL ? NULL : failed ? json_array() : lines_of_answer(text, addresses);
}

/* The record types that need no more than their lines. */
static int
dig_record(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const dig_kind_t *kind = ctx_row(ctx)->data.ptr;
    AUTO_FREE char *name = value_pystr(value_get(args, kind->argument));
    bool failed = false;
    AUTO_FREE char *text = dig_asked(ctx, kind->type, name, value_get(args, "nameserver"), &failed, err);

    if (text == NULL)
        return err->code;
    *ret_value = failed        ? json_array()
                 : kind->whole ? json_string(text)
                               : lines_of_answer(text, kind->addresses);
    return 0;
}

/* An address of either family, or a network; anything but a text is False. */
static int
dig_check_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *address = value_get(args, "addr");

    *ret_value = json_boolean(json_is_string(address) && dig_is_address(json_string_value(address)));
    return 0;
}

/* Names of servers, or their addresses. An address is asked for each server, and one that has none adds
 * nothing. */
static int
dig_ns(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *domain = value_pystr(value_get(args, "domain"));
    json_auto_t *names = dig_lines(ctx, "NS", domain, args, false, err), *all = json_array();
    json_t *name;
    size_t i;

    if (names == NULL)
        return err->code;
    if (!value_truthy(value_get(args, "resolve"))) {
        *ret_value = json_incref(names);
        return 0;
    }
    json_array_foreach (names, i, name) {
        json_auto_t *some = dig_lines(ctx, "A", json_string_value(name), args, true, err);
        if (some == NULL)
            return err->code;
        json_array_extend(all, some);
    }
    *ret_value = json_incref(all);
    return 0;
}

/* [[preference, host or address]]. A host that has several addresses is told by its first, one that has none
 * by None, where Salt ends with an IndexError. */
static int
dig_mx(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *domain = value_pystr(value_get(args, "domain"));
    json_auto_t *lines = dig_lines(ctx, "MX", domain, args, false, err), *all = json_array();
    json_t *line;
    size_t i;

    if (lines == NULL)
        return err->code;
    json_array_foreach (lines, i, line) {
        char **words = str_split(json_string_value(line), " \t", true);
        json_auto_t *one = json_array(), *some = NULL;
        for (size_t k = 0; words[k] != NULL; k++)
            json_array_append_new(one, json_string(words[k]));
        strv_free(words);
        if (value_truthy(value_get(args, "resolve")) && json_array_size(one) > 1) {
            some = dig_lines(ctx, "A", json_string_value(json_array_get(one, 1)), args, true, err);
            if (some == NULL)
                return err->code;
            json_array_set(one, 1, json_array_size(some) > 0 ? json_array_get(some, 0) : json_null());
        }
        json_array_append(all, one);
    }
    *ret_value = json_incref(all);
    return 0;
}

/* ---- sender policies --------------------------------------------------------------------------- */

static int spf_add(call_ctx_t *ctx, const json_t *args, const char *domain, const char *type, int *left,
                   json_t *into, fail_t *err);

/* Adds what one term allows: "ip4:192.0.2.0/24", "include:DOMAIN", with "+" or "~" before it. Terms with "-"
 * or "?" allow nothing, and those of names (a, mx, exists) would need more questions than Salt asks. */
static int
spf_term(call_ctx_t *ctx, const json_t *args, const char *term, int *left, json_t *into, fail_t *err)
{
    const char *name = term + (*term == '+' || *term == '~'), *colon = strchr(name, ':');
    size_t n = colon != NULL ? (size_t) (colon - name) : 0;

    if (n == 0 || colon[1] == '\0')
        return 0;
    if (strncmp(name, "include", n) == 0 && n == strlen("include"))
        return spf_add(ctx, args, colon + 1, "SPF", left, into, err);
    if (n == strlen("ip4") && strncmp(name, "ip", 2) == 0 && strchr("46", name[2]) != NULL &&
        dig_is_address(colon + 1))
        json_array_append_new(into, json_string(colon + 1));
    return 0;
}

/* Adds what a domain's policy allows. Old domains have a record of the type SPF, others one of the type TXT.
 * `left` counts the domains still to be asked, over the whole tree of includes: a policy may include
 * itself. */
static int
spf_add(call_ctx_t *ctx, const json_t *args, const char *domain, const char *type, int *left, json_t *into,
        fail_t *err)
{
    bool failed = false;

    if (--*left < 0) {
        log_warning("dig.SPF: the policies include more than %d others: the rest is left out", SPF_LOOKUPS);
        return 0;
    }
    AUTO_FREE char *text = dig_asked(ctx, type, domain, value_get(args, "nameserver"), &failed, err);
    if (text == NULL || failed)
        return text == NULL ? err->code : 0;
    if (*text == '\0' && strcmp(type, "SPF") == 0) {
        ++*left; /* one domain, asked twice */
        return spf_add(ctx, args, domain, "TXT", left, into, err);
    }
    AUTO_FREE char *bare = str_replace(text, "\"", "");
    char **terms = str_split(bare, " \t\n", true);
    int rc = 0;
    /* A redirect stands for the whole policy, but only as its first term, as by Salt. */
    if (terms[0] != NULL && strcmp(terms[0], "v=spf1") == 0 && terms[1] != NULL &&
        str_starts(terms[1], "redirect="))
        rc = spf_add(ctx, args, terms[1] + strlen("redirect="), "SPF", left, into, err);
    else if (terms[0] != NULL && strcmp(terms[0], "v=spf1") == 0)
        for (size_t i = 1; rc == 0 && terms[i] != NULL; i++)
            rc = spf_term(ctx, args, terms[i], left, into, err);
    strv_free(terms);
    return rc;
}

/* The record's type becomes a word of dig's line, and is refused when it looks like an option. */
static int
dig_spf(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *domain = value_pystr(value_get(args, "domain"));
    json_auto_t *all = json_array();
    int left = SPF_LOOKUPS;
    int rc = prog_check_operand("record", value_str(args, "record", "SPF"), err);

    rc = rc == 0 ? spf_add(ctx, args, domain, value_str(args, "record", "SPF"), &left, all, err) : rc;
    *ret_value = rc == 0 ? json_incref(all) : NULL;
    return rc;
}

static const char *
dig_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *program = fs_which("dig");

    return program != NULL ? NULL
                           : "The dig execution module cannot be loaded: the dig binary is not in the path.";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define SERVER_ROW ARG("nameserver", ARG_ANY, "null", "The server to ask; by default the host's")
#define HOST_ROW   ARG("host", ARG_ANY, ARG_REQUIRED, "The name")
#define DOMAIN_ROW ARG("domain", ARG_ANY, ARG_REQUIRED, "The domain")

static const arg_t check_args[] = { ARG("addr", ARG_ANY, ARG_REQUIRED, "The text"), ARGS_END };
static const arg_t host_args[] = { HOST_ROW, SERVER_ROW, ARGS_END };
static const arg_t ns_args[] = { DOMAIN_ROW,
                                 ARG("resolve", ARG_ANY, "true", "Return addresses; False: names"),
                                 SERVER_ROW, ARGS_END };
static const arg_t mx_args[] = { DOMAIN_ROW,
                                 ARG("resolve", ARG_ANY, "false", "Return an address in place of each name"),
                                 SERVER_ROW, ARGS_END };
static const arg_t spf_args[] = {
    DOMAIN_ROW, ARG("record", ARG_STR, "\"SPF\"", "Type of the record: SPF, then TXT; or TXT"), SERVER_ROW,
    ARGS_END
};

/* Salt has each function by its name in small letters, too. */
#define DIG(upper, lower, fn, rows, what, ...)                                                               \
    { upper, fn, rows, FN_READONLY, what CLI_EXAMPLE("salt '*' dig." upper " example.com"), __VA_ARGS__ },   \
    {                                                                                                        \
        lower, fn, rows, FN_READONLY, what CLI_EXAMPLE("salt '*' dig." lower " example.com"), __VA_ARGS__    \
    }

static const func_t funcs[] = {
    DIG("A", "a", dig_record, host_args, "Return a name's addresses of IPv4.", .data.ptr = &kind_a),
    DIG("AAAA", "aaaa", dig_record, host_args, "Return a name's addresses of IPv6.", .data.ptr = &kind_aaaa),
    DIG("CNAME", "cname", dig_record, host_args, "Return the name that a name stands for.",
        .data.ptr = &kind_cname),
    DIG("MX", "mx", dig_mx, mx_args, "Return who takes a domain's mail.", .data.ptr = NULL),
    DIG("NS", "ns", dig_ns, ns_args, "Return a domain's name servers.", .data.ptr = NULL),
    DIG("PTR", "ptr", dig_record, host_args, "Return the names of an address.", .data.ptr = &kind_ptr),
    DIG("SPF", "spf", dig_spf, spf_args, "Return the networks that may send a domain's mail.",
        .data.ptr = NULL),
    { "TXT", dig_record, host_args, FN_READONLY,
      "Return a name's texts." CLI_EXAMPLE("salt '*' dig.TXT example.com"), .data.ptr = &kind_txt },
    { "check_ip", dig_check_ip, check_args, FN_READONLY,
      "Return whether a text is an address." CLI_EXAMPLE("salt '*' dig.check_ip 127.0.0.1") },
};

PLUGIN(exec, dig, .doc = "Questions to name servers", FUNCS(funcs), .unavailable = dig_unavailable);
