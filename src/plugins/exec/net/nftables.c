/* nftables.c - execution module `nftables`: the kernel's packet filter, by nft. Rules are compared in one
 * form (plugins/lib/net/nftrules.h), as nft lists them in its own words. Salt's functions answer with a
 * comment for what is missing or not there, and so do these: only a program that cannot run, or a name that
 * nft cannot take, is an error. The words "--" in a line keep a name from becoming an option of nft. */
#include <stdarg.h>
#include <strings.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/net/nft.h"
#include "plugins/lib/net/nftrules.h"
#include "salt/plugin.h"

/* Salt's answer of most functions: {"result", "comment"}. Returns 0. */
static int PRINTF(3, 4) answer(json_t **ret_value, bool result, const char *fmt, ...)
{
    va_list ap;
    buf_auto_t text = BUF_INIT;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    *ret_value = json_pack("{s:b, s:o}", "result", result, "comment", value_utf8(buf_str(&text), text.len));
    return 0;
}

/* Answers when the place is not whole or not there: 1; 0 when all is there. Negative with *err. The comments
 * name the family as the caller wrote it ("ipv4"), where nft's command line has its own name ("ip"). */
static int
not_there(call_ctx_t *ctx, const nft_place_t *p, bool with_chain, json_t **ret_value, fail_t *err)
{
    int there = nft_table_there(ctx, p, err);

    if (there == 0)
        answer(ret_value, false, "Table %s in family %s does not exist", p->table, p->given);
    if (there <= 0 || !with_chain)
        return there < 0 ? there : !there;
    there = nft_chain_there(ctx, p, err);
    if (there == 0)
        answer(ret_value, false, "Chain %s in table %s in family %s does not exist", p->chain, p->table,
               p->given);
    return there < 0 ? there : !there;
}

/* The same with what is said of arguments that are missing. A chain, and for functions of rules a rule, is
 * asked for before nft is run, so that an incomplete call costs no program. The answer 1 is for the caller to
 * return 0 with what *ret_value has. */
static int
not_whole(call_ctx_t *ctx, const json_t *args, const nft_place_t *p, bool with_rule, json_t **ret_value,
          fail_t *err)
{
    if (*p->chain == '\0')
        return answer(ret_value, false, "Chain needs to be specified") + 1;
    if (with_rule && *value_str(args, "rule", "") == '\0')
        return answer(ret_value, false, "Rule needs to be specified") + 1;
    return not_there(ctx, p, true, ret_value, err);
}

/* nft prints "nftables v1.0.6 (Lester Gooch #5)": the version is the second word, with its "v", as Salt has
 * it. */
static int
nft_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *text = nft_list(ctx, NFT("--version"), err);
    char **words = text != NULL ? str_split(json_string_value(text), " \t\n", true) : NULL;

    if (text == NULL)
        return err->code;
    if (strv_len(words) > 1)
        *ret_value = json_string(words[1]);
    else
        fail_kind(err, FAIL_COMMAND, -EIO, "nft --version tells no version");
    strv_free(words);
    return err->code;
}

/* The state of the table is an answer, not an error: new_table and delete_table stand on it. */
static int
nft_check_table(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    if (*p.table == '\0')
        return answer(ret_value, false, "Table needs to be specified");
    int there = nft_table_there(ctx, &p, err);
    return there < 0 ? there
                     : answer(ret_value, there, "Table %s in family %s %s", p.table, p.given,
                              there ? "exists" : "does not exist");
}

static int
nft_check_chain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    if (*p.chain == '\0')
        return answer(ret_value, false, "Chain needs to be specified");
    int there = nft_chain_there(ctx, &p, err);
    return there < 0 ? there
                     : answer(ret_value, there, "Chain %s in table %s in family %s %s", p.chain, p.table,
                              p.given, there ? "exists" : "does not exist");
}

/* The row's flag: the answer is the handle. nft lists rules in its own words, so that the text given is never
 * compared with them as it is: nft_rule_handle() compares one normal form of both. */
static int
nft_check(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *rule = value_str(args, "rule", "");
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    int rc = not_whole(ctx, args, &p, true, ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    AUTO_FREE char *handle = nft_rule_handle(ctx, &p, rule, err);
    if (handle == NULL)
        return err->code;
    if (*handle != '\0' && ctx_row(ctx)->data.number != 0) {
        *ret_value = json_pack("{s:b, s:s}", "result", 1, "handle", handle);
        return 0;
    }
    return answer(ret_value, *handle != '\0', "Rule %s in chain %s in table %s in family %s %s", rule,
                  p.chain, p.table, p.given, *handle != '\0' ? "exists" : "does not exist");
}

/* ---- tables and chains ----------------------------------------------------------------------- */

/* The row's verb: add or delete. check_table's answer stays where nothing is to be done: for a table that is
 * there already, "exists" with True, and for one that is not there, "does not exist" with False. */
static int
nft_change_table(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *verb = ctx_row(ctx)->data.text;
    bool make = strcmp(verb, "add") == 0;
    nft_place_t p;

    if (nft_check_table(ctx, args, ret_value, err) < 0)
        return err->code;
    if (*value_str(args, "table", "") == '\0' || json_is_true(value_get(*ret_value, "result")) == make)
        return 0;
    json_decref(STEAL(*ret_value));
    (void) nft_place(args, &p, err);
    int done = nft_change(ctx, NFT("--", verb, "table", p.family, p.table), err);
    return done < 0 ? done
                    : answer(ret_value, done, "Table %s in family %s %s%s", p.table, p.given,
                             done ? "" : "could not be ", make ? "created" : "deleted");
}

/* Without table_type, hook and priority a plain chain is made, which packets reach by jumps only. With all
 * three of them it is a base chain; with some of them nft could not tell which is meant, and Salt refuses. */
static int
nft_new_chain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool whole = true;
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    if (*p.chain == '\0')
        return answer(ret_value, false, "Chain needs to be specified");
    int rc = not_there(ctx, &p, false, ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    /* A chain that is there is a failure, other than a table with new_table: that is how Salt tells the
     * two. */
    if ((rc = nft_chain_there(ctx, &p, err)) != 0)
        return rc < 0 ? rc
                      : answer(ret_value, false, "Chain %s in table %s in family %s already exists", p.chain,
                               p.table, p.given);
    AUTO_FREE char *base = nft_base(args, &whole, err);
    if (base == NULL)
        return err->code;
    if (!whole)
        return answer(ret_value, false, "Table_type, hook, and priority required.");
    int done = nft_change(ctx, NFT("--", "add", "chain", p.family, p.table, p.chain, base), err);
    return done < 0 ? done
                    : answer(ret_value, done, "Chain %s in table %s in family %s %s", p.chain, p.table,
                             p.given, done ? "created" : "could not be created");
}

/* nft refuses to delete a chain that has rules or is jumped to; that is "could not be deleted", and why is in
 * the log. */
static int
nft_delete_chain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    int rc = not_whole(ctx, args, &p, false, ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    int done = nft_change(ctx, NFT("--", "delete", "chain", p.family, p.table, p.chain), err);
    return done < 0 ? done
                    : answer(ret_value, done, "Chain %s in table %s in family %s %s", p.chain, p.table,
                             p.given, done ? "deleted" : "could not be deleted");
}

/* Without a chain all rules of the table go; the chains themselves stay in either case. */
static int
nft_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    int rc = not_there(ctx, &p, *p.chain != '\0', ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    int done = nft_change(
        ctx, NFT("--", "flush", *p.chain != '\0' ? "chain" : "table", p.family, p.table, p.chain), err);
    if (done < 0)
        return done;
    const char *did = done ? "Flushed" : "Failed to flush";
    return *p.chain != '\0'
               ? answer(ret_value, done, "%s rules from chain %s in table %s in family %s.", did, p.chain,
                        p.table, p.given)
               : answer(ret_value, done, "%s rules from table %s in family %s.", did, p.table, p.given);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* build_rule's answer, which always has the rule beside the comment: also one that is not whole yet. */
static int
built(json_t **ret_value, bool result, const char *comment, const char *rule)
{
    *ret_value = json_pack("{s:b, s:s, s:s}", "result", result, "comment", comment, "rule", rule);
    return 0;
}

/* The rule alone, or with `full` the whole command line. The line is text for people and for states; nothing
 * here runs it. A rule of no keywords is the empty text without a comment. */
static int
nft_build_rule(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *command = value_str(args, "command", "");
    AUTO_FREE char *position = value_pystr(value_get(args, "position"));
    const json_t *given = value_get(args, "full");
    bool full = json_is_true(given) || str_eq(json_string_value(given), "True") ||
                str_eq(json_string_value(given), "true");
    nft_place_t p;

    if (nft_place(args, &p, err) < 0 || nft_need_name("command", command, err) < 0 ||
        nft_need_name("position", position, err) < 0)
        return err->code;
    AUTO_FREE char *rule = nft_rule(value_get(args, "kwargs"), p.family, err);
    if (rule == NULL)
        return err->code;
    if (!full)
        return built(ret_value, true, *rule != '\0' ? "Successfully built rule" : "", rule);
    /* Only a whole line needs a place. The first thing that is missing is named, in Salt's order. */
    const char *missing = *p.table == '\0'   ? "Table needs to be specified"
                          : *p.chain == '\0' ? "Chain needs to be specified"
                          : *command == '\0' ? "Command needs to be specified"
                                             : NULL;
    if (missing != NULL)
        return built(ret_value, false, missing, rule);
    /* "Insert" in any case of letters is nft's "insert"; other commands stay as they are. A position counts
     * for insert alone. */
    bool insert = strcasecmp(command, "insert") == 0,
         placed = insert && value_truthy(value_get(args, "position"));
    AUTO_FREE char *line = xasprintf("nft %s rule %s %s %s %s%s%s%s", insert ? "insert" : command, p.family,
                                     p.table, p.chain, placed ? "position " : "", placed ? position : "",
                                     placed ? " " : "", rule);
    return built(ret_value, true, "Successfully built rule", line);
}

/* Appends or, as the row says, inserts. A rule that is there in whatever words is a failure, as by Salt;
 * states ask nftables.check first. `position` is the handle of the rule behind (add) or before (insert) which
 * the new one goes. */
static int
nft_add_rule(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *rule = value_str(args, "rule", ""), *verb = ctx_row(ctx)->data.text;
    const json_t *given = value_get(args, "position");
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    int rc = not_whole(ctx, args, &p, true, ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    AUTO_FREE char *there = nft_rule_handle(ctx, &p, rule, err);
    if (there == NULL)
        return err->code;
    if (*there != '\0')
        return answer(ret_value, false, "Rule %s chain %s in table %s in family %s already exists", rule,
                      p.chain, p.table, p.given);
    AUTO_FREE char *statement = nft_statement(rule, err),
                   *position = value_truthy(given) ? value_pystr(given) : xstrdup("");
    if (statement == NULL || nft_need_name("position", position, err) < 0)
        return err->code;
    int done = nft_change(ctx,
                          NFT("--", verb, "rule", p.family, p.table, p.chain,
                              *position != '\0' ? "position" : "", position, statement),
                          err);
    return done < 0 ? done
                    : answer(ret_value, done, "%s rule \"%s\" chain %s in table %s in family %s.",
                             done ? "Added" : "Failed to add", rule, p.chain, p.table, p.given);
}

/* nft deletes by handle: that is the position, or the rule's. A position that is no rule's handle in this
 * chain is told as a rule that does not exist; nft would have told of a failure of its own. */
static int
nft_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *rule = value_str(args, "rule", "");
    bool placed = value_truthy(value_get(args, "position"));
    AUTO_FREE char *position = value_pystr(value_get(args, "position"));
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    if (placed && *rule != '\0')
        return answer(ret_value, false, "Only specify a position or a rule, not both");
    int rc = *p.chain == '\0' ? answer(ret_value, false, "Chain needs to be specified") + 1
                              : not_there(ctx, &p, true, ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    const char *which = *rule != '\0' ? rule : position;
    AUTO_FREE char *handle = placed          ? nft_handle_there(ctx, &p, position, err)
                             : *rule != '\0' ? nft_rule_handle(ctx, &p, rule, err)
                                             : xstrdup("");
    if (handle == NULL)
        return err->code;
    if (*handle == '\0')
        return answer(ret_value, false, "Rule %s chain %s in table %s in family %s does not exist", which,
                      p.chain, p.table, p.given);
    int done = nft_change(ctx, NFT("--", "delete", "rule", p.family, p.table, p.chain, "handle", handle),
                          err);
    return done < 0 ? done
           : done
               ? answer(ret_value, true, "Deleted rule \"%s\" in chain %s in table %s in family %s.", which,
                        p.chain, p.table, p.given)
               : answer(ret_value, false, "Failed to delete rule \"%s\" in chain %s  table %s in family %s",
                        which, p.chain, p.table, p.given);
}

/* ---- all that is there ----------------------------------------------------------------------- */

/* The row says which list of a family is meant. */
enum { LIST_TABLES, LIST_TEXTS, LIST_OBJECTS };

/* The three functions differ in what nft is asked: names of tables, their texts (`nft list table`), or
 * objects of its JSON. */
static int
nft_listing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *family = nft_family(value_str(args, "family", "ipv4"), err);
    intptr_t which = ctx_row(ctx)->data.number;

    if (family == NULL)
        return err->code;
    *ret_value = which == LIST_TABLES  ? nft_tables(ctx, family, err)
                 : which == LIST_TEXTS ? nft_texts(ctx, family, err)
                                       : nft_ruleset(ctx, family, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* None for a chain that is not there or is no base chain, since only base chains have a policy. */
static int
nft_get_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    nft_place_t p;

    if (nft_place(args, &p, err) < 0)
        return err->code;
    if (*p.chain == '\0') {
        *ret_value = json_string("Error: Chain needs to be specified");
        return 0;
    }
    json_auto_t *chain = nft_chain(ctx, &p, err);
    if (chain == NULL)
        return err->code;
    const char *policy = value_str(chain, "policy", NULL);
    *ret_value = policy != NULL ? json_string(policy) : json_null();
    return 0;
}

/* Only a base chain has a policy: nft wants what makes it one again. So type, hook, device and priority are
 * read from the kernel first and written again with the new policy. False for a chain without them. */
static int
nft_set_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *policy = value_str(args, "policy", "");
    nft_place_t p;

    if (nft_place(args, &p, err) < 0 || nft_need_name("policy", policy, err) < 0)
        return err->code;
    if (*p.chain == '\0' || *policy == '\0') {
        *ret_value = value_fmt("Error: %s needs to be specified", *p.chain == '\0' ? "Chain" : "Policy");
        return 0;
    }
    json_auto_t *chain = nft_chain(ctx, &p, err);
    if (chain == NULL)
        return err->code;
    const char *type = value_str(chain, "type", NULL), *hook = value_str(chain, "hook", NULL),
               *device = value_str(chain, "dev", "");
    if (type == NULL || hook == NULL || value_get(chain, "prio") == NULL) {
        *ret_value = json_false();
        return 0;
    }
    AUTO_FREE char *priority = value_pystr(value_get(chain, "prio"));
    /* Chains of the family netdev are bound to a device, whose name nft wants quoted. */
    AUTO_FREE char *base = xasprintf("{ type %s hook %s %s%s%s priority %s; policy %s; }", type, hook,
                                     *device != '\0' ? "device \"" : "", device, *device != '\0' ? "\"" : "",
                                     priority, policy);
    int done = nft_change(ctx, NFT("--", "add", "chain", p.family, p.table, p.chain, base), err);
    *ret_value = done >= 0 ? json_boolean(done) : NULL;
    return done < 0 ? done : 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The file of a call: the one that it names, or the distribution's; in a folder, a file of our own. NEW, or
 * NULL with *err. */
static char *
saved_path(call_ctx_t *ctx, const char *given, fail_t *err)
{
    static const char *const known[][2] = {
        { "os_family", "RedHat" }, { "os_family", "Arch" }, { "os_family", "Debian" }, { "os", "Gentoo" }
    };
    const char *path = given;

    /* These distributions have the folder /etc/nftables by Salt's table; on others the caller names the
     * file. */
    for (size_t i = 0; *path == '\0' && i < NELEMS(known); i++) {
        if (strcmp(value_str(ctx_grains(ctx), known[i][0], ""), known[i][1]) == 0)
            path = "/etc/nftables";
    }
    if (*path == '\0') {
        fail_kind(err, FAIL_COMMAND, -ENOTSUP, "nftables: no file for rules is known on %s: name one",
                  value_str(ctx_grains(ctx), "os", "this system"));
        return NULL;
    }
    int folder = fs_look_dir(path, err);
    if (folder < 0)
        return NULL;
    return folder > 0 ? xasprintf("%s/salt-all-in-one.nft", path) : xstrdup(path);
}

/* The lines of the file that are neither empty nor comments. Lines keep their ends, as Python's readlines()
 * leaves them. */
static int
nft_get_saved_rules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = saved_path(ctx, value_str(args, "conf_file", ""), err);
    buf_auto_t text = BUF_INIT;

    if (path == NULL || fs_read(path, LIMIT_FILE_READ, &text, err) < 0)
        return err->code;
    *ret_value = json_array();
    for (const char *at = buf_str(&text); *at != '\0';) {
        size_t len = strcspn(at, "\n"), from = strspn(at, " \t\r\v\f");
        if (from < len && at[from] != '#')
            json_array_append_new(*ret_value, value_utf8(at, len + (at[len] == '\n' ? 1 : 0)));
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    return 0;
}

/* Writes the rules of all families; the file is whole or as before. The answer is the text that was written.
 * "#! nft -f" is its first line so that the file can be run as a script. */
static int
nft_save(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const families[] = { "ip", "ip6", "inet", "arp", "bridge", "netdev" };
    AUTO_FREE char *path = saved_path(ctx, value_str(args, "filename", ""), err);
    buf_auto_t rules = BUF_INIT;

    if (path == NULL)
        return err->code;
    buf_puts(&rules, "#! nft -f\n");
    for (size_t i = 0; i < NELEMS(families); i++) {
        json_auto_t *texts = nft_texts(ctx, families[i], err);
        if (texts == NULL)
            return err->code;
        AUTO_FREE char *all = value_joined(texts, "\n");
        buf_printf(&rules, "%s%s", json_array_size(texts) > 0 ? "\n" : "", all);
    }
    buf_putc(&rules, '\n');
    fail_auto_t why = FAIL_INIT;
    if (fs_rewrite(path, rules.data, rules.len, 0644, &why) < 0)
        return fail_kind(err, FAIL_COMMAND, why.code, "Problem writing to configuration file: %s",
                         fail_text(&why));
    *ret_value = value_utf8(rules.data, rules.len);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const char *
nftables_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("nft");

    return path != NULL ? NULL : "The nftables execution module failed to load: nftables is not installed.";
}

#define FAMILY_ROW ARG("family", ARG_STR, "\"ipv4\"", "ipv4, ipv6, inet, arp, bridge or netdev")
#define TABLE_ROW  ARG("table", ARG_STR, "\"filter\"", "The table")
#define CHAIN_ROW  ARG("chain", ARG_STR, "null", "The chain")
#define RULE_ROW   ARG("rule", ARG_STR, "null", "The rule as on nft's command line, behind the chain")
#define POS_ROW    ARG("position", ARG_ANY, "null", "The handle of a rule of the chain")

static const arg_t none_args[] = { ARGS_END };
static const arg_t family_args[] = { FAMILY_ROW, ARGS_END };
static const arg_t build_args[] = {
    ARG("table", ARG_STR, "null", "The table"),
    CHAIN_ROW,
    ARG("command", ARG_STR, "null", "add, insert or delete"),
    ARG("position", ARG_ANY, "\"\"", "The handle of a rule, to insert before"),
    ARG("full", ARG_ANY, "null", "True: with the program and the chain"),
    FAMILY_ROW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Parts of the rule: proto, dport, connstate, source, jump, ...",
        NFT_KEYWORDS),
    ARGS_END
};
static const arg_t table_args[] = { ARG("table", ARG_STR, "null", "The table"), FAMILY_ROW, ARGS_END };
static const arg_t own_table_args[] = { ARG("table", ARG_STR, ARG_REQUIRED, "The table"), FAMILY_ROW,
                                        ARGS_END };
static const arg_t chain_args[] = { TABLE_ROW, CHAIN_ROW, FAMILY_ROW, ARGS_END };
static const arg_t new_chain_args[] = { TABLE_ROW,
                                        CHAIN_ROW,
                                        ARG("table_type", ARG_STR, "null", "filter, nat or route"),
                                        ARG("hook", ARG_STR, "null", "input, output, forward, ..."),
                                        ARG("priority", ARG_ANY, "null", "A number, or a name of nft's"),
                                        FAMILY_ROW,
                                        ARGS_END };
static const arg_t policy_args[] = { TABLE_ROW, CHAIN_ROW, ARG("policy", ARG_STR, "null", "accept or drop"),
                                     FAMILY_ROW, ARGS_END };
static const arg_t rule_args[] = { TABLE_ROW, CHAIN_ROW, RULE_ROW, FAMILY_ROW, ARGS_END };
static const arg_t insert_args[] = { TABLE_ROW, CHAIN_ROW, POS_ROW, RULE_ROW, FAMILY_ROW, ARGS_END };
static const arg_t delete_args[] = {
    ARG("table", ARG_STR, ARG_REQUIRED, "The table"), CHAIN_ROW, POS_ROW, RULE_ROW, FAMILY_ROW, ARGS_END
};
static const arg_t flush_args[] = { TABLE_ROW, ARG("chain", ARG_STR, "\"\"", "The chain; by default all"),
                                    FAMILY_ROW, ARGS_END };
static const arg_t saved_args[] = {
    ARG("conf_file", ARG_STR, "null", "The file; by default the distribution's"), ARGS_END
};
static const arg_t save_args[] = {
    ARG("filename", ARG_STR, "null", "The file; by default the distribution's"),
    ARG("family", ARG_STR, "\"ipv4\"", "Without effect: all families are saved"), ARGS_END
};

static const func_t funcs[] = {
    { "append", nft_add_rule, rule_args, 0,
      "Add a rule at the end of a chain that has it not." CLI_EXAMPLE(
          "salt '*' nftables.append filter input rule='tcp dport 22 log accept'"),
      .data.text = "add" },
    { "build_rule", nft_build_rule, build_args, FN_READONLY,
      "Return the rule that keywords make." CLI_EXAMPLE(
          "salt '*' nftables.build_rule connstate=related,established jump=accept") },
    { "check", nft_check, rule_args, FN_READONLY,
      "Return whether a chain has a rule." CLI_EXAMPLE(
          "salt '*' nftables.check filter input rule='tcp dport 22 log accept'") },
    { "check_chain", nft_check_chain, chain_args, FN_READONLY,
      "Return whether a table has a chain." CLI_EXAMPLE("salt '*' nftables.check_chain filter input") },
    { "check_table", nft_check_table, table_args, FN_READONLY,
      "Return whether a table is there." CLI_EXAMPLE("salt '*' nftables.check_table nat") },
    { "delete", nft_delete, delete_args, 0,
      "Delete a rule, given or by its handle." CLI_EXAMPLE(
          "salt '*' nftables.delete filter input rule='tcp dport 22 log accept'") },
    { "delete_chain", nft_delete_chain, chain_args, 0,
      "Delete a chain." CLI_EXAMPLE("salt '*' nftables.delete_chain filter foo") },
    { "delete_table", nft_change_table, own_table_args, 0,
      "Delete a table." CLI_EXAMPLE("salt '*' nftables.delete_table nat"), .data.text = "delete" },
    { "flush", nft_flush, flush_args, 0,
      "Delete all rules of a chain, or of a table." CLI_EXAMPLE("salt '*' nftables.flush filter input") },
    { "get_policy", nft_get_policy, chain_args, FN_READONLY,
      "Return the policy of a chain." CLI_EXAMPLE("salt '*' nftables.get_policy filter input") },
    { "get_rule_handle", nft_check, rule_args, FN_READONLY,
      "Return the handle of a rule." CLI_EXAMPLE(
          "salt '*' nftables.get_rule_handle filter input rule='tcp dport 22 log accept'"),
      .data.number = 1 },
    { "get_rules", nft_listing, family_args, FN_READONLY,
      "Return the tables of a family, as nft prints them." CLI_EXAMPLE(
          "salt '*' nftables.get_rules family=ipv6"),
      .data.number = LIST_TEXTS },
    { "get_rules_json", nft_listing, family_args, FN_READONLY,
      "Return what a family has, as nft's JSON." CLI_EXAMPLE("salt '*' nftables.get_rules_json family=ipv6"),
      .data.number = LIST_OBJECTS },
    { "get_saved_rules", nft_get_saved_rules, saved_args, FN_READONLY,
      "Return the lines of a file of rules." CLI_EXAMPLE("salt '*' nftables.get_saved_rules") },
    { "insert", nft_add_rule, insert_args, 0,
      "Put a rule before another, or before all, of a chain that has it not." CLI_EXAMPLE(
          "salt '*' nftables.insert filter input rule='tcp dport 22 log accept'"),
      .data.text = "insert" },
    { "list_tables", nft_listing, family_args, FN_READONLY,
      "Return the tables of a family." CLI_EXAMPLE("salt '*' nftables.list_tables family=ipv6"),
      .data.number = LIST_TABLES },
    { "new_chain", nft_new_chain, new_chain_args, 0,
      "Make a chain; with type, hook and priority one that packets pass." CLI_EXAMPLE(
          "salt '*' nftables.new_chain filter input table_type=filter hook=input priority=0") },
    { "new_table", nft_change_table, own_table_args, 0,
      "Make a table." CLI_EXAMPLE("salt '*' nftables.new_table filter"), .data.text = "add" },
    { "save", nft_save, save_args, 0,
      "Write the rules in the kernel into a file." CLI_EXAMPLE("salt '*' nftables.save /etc/nftables") },
    { "set_policy", nft_set_policy, policy_args, 0,
      "Set the policy of a base chain." CLI_EXAMPLE("salt '*' nftables.set_policy filter input accept") },
    { "version", nft_version, none_args, FN_READONLY,
      "Return the version of nft." CLI_EXAMPLE("salt '*' nftables.version") },
};

PLUGIN(exec, nftables, .doc = "The packet filter nftables", FUNCS(funcs),
       .unavailable = nftables_unavailable);
