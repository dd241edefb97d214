/* nftables.c - state module `nftables`: tables, chains, policies and rules of the packet filter. The
 * execution module does the work; the state's arguments are the keywords of a rule
 * (plugins/lib/net/nftrules.h). Its functions answer {"result", "comment"}, where a False result is an answer
 * ("there is no such chain") as often as a failure. */
#include <ctype.h>
#include <strings.h>

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/net/filtertext.h"
#include "plugins/lib/net/nftrules.h"
#include "salt/state.h"

/* The request of the SLS. All BORROWED. */
typedef struct wish {
    call_ctx_t *ctx;
    const char *name, *table, *chain, *family;
    json_t *kwargs, *ret;
    fail_t *err;
} wish_t;

/* The request, as the arguments have it. `table` is an argument of some functions and a keyword of others. */
static wish_t
nft_wish(call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs");

    return (wish_t){ .ctx = ctx,
                     .name = value_str(args, "name", ""),
                     .table = value_str(args, "table", value_str(kwargs, "table", "filter")),
                     .chain = value_str(kwargs, "chain", ""),
                     .family = value_str(args, "family", "ipv4"),
                     .kwargs = kwargs,
                     .ret = ret,
                     .err = err };
}

/* Result and comment: a pattern of filtertext.h. Returns 0. */
static int
nft_say(const wish_t *w, state_result_t result, const char *pattern, const char *command, const char *other)
{
    const filter_words_t words = { w->name, command, w->table, w->chain, w->family, other };
    AUTO_FREE char *text = filter_text(pattern, &words);

    return state_ret_set(w->ret, result, "%s", text);
}

/* The change of all functions, {"locale": name}, and its comment. */
static int
nft_changed(const wish_t *w, const char *told, const char *did, const char *command)
{
    state_change(w->ret, "locale", json_string(w->name));
    return ctx_test(w->ctx) ? nft_say(w, STATE_NONE, told, command, NULL)
                            : nft_say(w, STATE_TRUE, did, command, NULL);
}

/* Whether a function's answer is {"result": True}: 1, 0, or negative with *err. TAKES `answer`, NULL for a failure;
 * *ret_comment is NEW, and may be NULL for those who do not ask. */
static int
nft_result(const wish_t *w, json_t *answer, char **ret_comment)
{
    if (answer == NULL)
        return w->err->code;
    int result = value_truthy(value_get(answer, "result"));
    if (ret_comment != NULL) {
        AUTO_FREE char *comment = xstrdup(value_str(answer, "comment", ""));
        *ret_comment = xstrdup(str_trim(comment));
    }
    json_decref(answer);
    return result;
}

/* A function on the chain `chain` of the table. */
static int
chain_fun(const wish_t *w, const char *fun, const char *chain, char **ret_comment)
{
    return nft_result(w,
                      sub_call(w->ctx, w->err, fun, "{s:s, s:s, s:s}", "table", w->table, "chain", chain,
                               "family", w->family),
                      ret_comment);
}

/* The same of a table, without the comment. */
static int
table_fun(const wish_t *w, const char *fun, const char *table)
{
    return nft_result(w, sub_call(w->ctx, w->err, fun, "{s:s, s:s}", "table", table, "family", w->family),
                      NULL);
}

/* Writes the rules into a file when the SLS says so: 1 when it did, 0, or negative with *err. */
static int
nft_saved(const wish_t *w)
{
    json_t *file = value_get(w->kwargs, "save_filename");

    if (!value_truthy(value_get(w->kwargs, "save")))
        return 0;
    json_auto_t *said = sub_call(w->ctx, w->err, "nftables.save", "{s:O?, s:s}", "filename", file, "family",
                                 w->family);
    return said != NULL ? 1 : w->err->code;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Patterns of the comments of a function. */
typedef struct rule_say {
    const char *fun, *none, *told, *did, *saved, *failed;
    bool gone; /* the rule is to be absent */
} rule_say_t;

static const rule_say_t appending = {
    .fun = "nftables.append",
    .none = "nftables rule for {n} already set ({c}) for {f}",
    .told = "nftables rule for {n} needs to be set ({c}) for {f}",
    .did = "Set nftables rule for {n} to: {c} for {f}",
    .saved = "Set and Saved nftables rule for {n} to: {c} for {f}",
    .failed = "Failed to set nftables rule for {n}.\nAttempted rule was {c} for {f}.\n{o}"
};
static const rule_say_t inserting = {
    .fun = "nftables.insert",
    .none = "nftables rule for {n} already set for {f} ({c})",
    .told = "nftables rule for {n} needs to be set for {f} ({c})",
    .did = "Set nftables rule for {n} to: {c} for {f}",
    .saved = "Set and Saved nftables rule for {n} to: {c} for {f}",
    .failed = "Failed to set nftables rule for {n}.\nAttempted rule was {c}"
};
static const rule_say_t deleting = {
    .fun = "nftables.delete",
    .none = "nftables rule for {n} already absent for {f} ({c})",
    .told = "nftables rule for {n} needs to be deleted for {f} ({c})",
    .did = "Delete nftables rule for {n} {c}",
    .saved = "Deleted and Saved nftables rule for {n} for {c}{f}",
    .failed = "Failed to delete nftables rule for {n}.\nAttempted rule was {c}",
    .gone = true
};

/* Runs a function on the rule, or on that at `position`: a handle, by which nft names a rule. 1, 0 or
 * negative as nft_result(). */
static int
rule_fun(const wish_t *w, const char *fun, const char *rule, const json_t *position, char **ret_comment)
{
    json_auto_t *call = json_pack("{s:s, s:s, s:s}", "table", w->table, "chain", w->chain, "family",
                                  w->family);
    json_t *answer = NULL;

    if (rule != NULL)
        json_object_set_new(call, "rule", value_utf8(rule, strlen(rule)));
    if (value_truthy(position))
        json_object_set(call, "position", (json_t *) position);
    (void) ctx_call(w->ctx, fun, NULL, call, &answer, w->err);
    return nft_result(w, answer, ret_comment);
}

/* 1 when the chain has the rule, or, when one is to go from a position, a rule with that handle. 0, or
 * negative with *err. Handles are in nft's JSON alone; a number of the SLS file may be a text. */
static int
rule_is_there(const wish_t *w, const rule_say_t *say, const char *rule)
{
    json_t *position = value_get(w->kwargs, "position");

    if (!say->gone || !value_truthy(position))
        return *rule != '\0' ? rule_fun(w, "nftables.check", rule, NULL, NULL) : 0;
    AUTO_FREE char *handle = value_pystr(position);
    json_auto_t *all = sub_call(w->ctx, w->err, "nftables.get_rules_json", "{s:s}", "family", w->family);
    json_t *one;
    size_t i;

    json_array_foreach (all, i, one) {
        json_t *own = value_get(one, "rule");
        AUTO_FREE char *at = value_pystr(value_get(own, "handle"));
        if (own != NULL && strcmp(at, handle) == 0 && strcmp(value_str(own, "table", ""), w->table) == 0 &&
            strcmp(value_str(own, "chain", ""), w->chain) == 0)
            return 1;
    }
    return all != NULL ? 0 : w->err->code;
}

/* All states about one rule are this function; its row has the words and says whether the rule shall be
 * there. A rule that is given by its position alone can be deleted, but not looked up. */
static int
nft_state_rule(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const rule_say_t *say = ctx_row(ctx)->data.ptr;
    wish_t w = nft_wish(ctx, args, *ret_value = state_ret_args(args), err);
    json_t *position = value_get(w.kwargs, "position");
    bool placed = say->gone && value_truthy(position);
    AUTO_FREE char *why = NULL;

    if (*w.chain == '\0')
        return state_ret_set(w.ret, STATE_FALSE, "A rule needs a chain: say chain: input");
    /* The keywords as a rule of nft. A position says where it goes and is no part of it. */
    json_auto_t *call = json_copy(w.kwargs), *built = NULL;
    json_object_del(call, "position");
    json_object_set_new(call, "family", json_string(w.family));
    json_object_set_new(call, "table", json_string(w.table));
    if (ctx_call(ctx, "nftables.build_rule", NULL, call, &built, err) != 0)
        return state_ret_fail(w.ret, err);
    if (!value_truthy(value_get(built, "result"))) {
        fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", value_str(built, "comment", "nftables: no rule"));
        return state_ret_fail(w.ret, err);
    }
    const char *rule = value_str(built, "rule", "");
    if (*rule == '\0' && !placed)
        return state_ret_set(w.ret, STATE_FALSE, "A rule needs parts: say jump: accept, or what it is to do");
    int there = rule_is_there(&w, say, rule);
    if (there < 0)
        return state_ret_fail(w.ret, err);
    if (there == !say->gone)
        return nft_say(&w, STATE_TRUE, say->none, rule, NULL);
    if (ctx_test(ctx))
        return nft_changed(&w, say->told, say->did, rule);
    int done = rule_fun(&w, say->fun, placed ? NULL : rule, say == &appending ? NULL : position, &why);
    if (done <= 0)
        return done < 0 ? state_ret_fail(w.ret, err) : nft_say(&w, STATE_FALSE, say->failed, rule, why);
    /* Rules are saved in the distribution's file only: Salt's states of rules do not pass the file's name
     * on. */
    json_object_del(w.kwargs, "save_filename");
    int saved = nft_saved(&w);
    return saved < 0 ? saved : nft_changed(&w, say->told, saved ? say->saved : say->did, rule);
}

/* ---- tables and chains ----------------------------------------------------------------------- */

/* A chain that is there is not compared: its hook and priority can't be changed anyway. */
static int
nft_chain_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    wish_t w = nft_wish(ctx, args, *ret_value = state_ret_args(args), err);
    AUTO_FREE char *why = NULL;
    int there = chain_fun(&w, "nftables.check_chain", w.name, NULL);

    if (there != 0)
        return there < 0 ? state_ret_fail(w.ret, err)
                         : nft_say(&w, STATE_TRUE, "nftables {n} chain is already exist in {t} table for {f}",
                                   NULL, NULL);
    int done = 1;
    if (!ctx_test(ctx))
        done = nft_result(&w,
                          sub_call(ctx, err, "nftables.new_chain", "{s:s, s:s, s:s, s:O, s:O, s:O}", "table",
                                   w.table, "chain", w.name, "family", w.family, "table_type",
                                   value_get(args, "table_type"), "hook", value_get(args, "hook"), "priority",
                                   value_get(args, "priority")),
                          &why);
    if (done <= 0)
        return done < 0 ? state_ret_fail(w.ret, err)
                        : nft_say(&w, STATE_FALSE, "Failed to create {n} chain in {t} table: {o} for {f}",
                                  NULL, why);
    return nft_changed(&w, "nftables chain {n} would be created in table {t} for family {f}",
                       "nftables {n} chain in {t} table create success for {f}", NULL);
}

/* A chain goes only without its rules: nft refuses to delete one that has some. */
static int
nft_chain_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    wish_t w = nft_wish(ctx, args, *ret_value = state_ret_args(args), err);
    const char *failed = "Failed to flush {n} chain in {t} table: {o} for {f}";
    AUTO_FREE char *why = NULL;
    int there = chain_fun(&w, "nftables.check_chain", w.name, NULL);

    if (there <= 0)
        return there < 0 ? state_ret_fail(w.ret, err)
                         : nft_say(&w, STATE_TRUE,
                                   "nftables {n} chain is already absent in {t} table for {f}", NULL, NULL);
    int done = ctx_test(ctx) ? 1 : chain_fun(&w, "nftables.flush", w.name, &why);
    if (done > 0 && !ctx_test(ctx)) {
        free(STEAL(why));
        failed = "Failed to delete {n} chain in {t} table: {o} for {f}";
        done = chain_fun(&w, "nftables.delete_chain", w.name, &why);
    }
    if (done <= 0)
        return done < 0 ? state_ret_fail(w.ret, err) : nft_say(&w, STATE_FALSE, failed, NULL, why);
    return nft_changed(&w, "nftables chain {n} would be deleted from table {t} for family {f}",
                       "nftables {n} chain in {t} table delete success for {f}", NULL);
}

/* Patterns of a function about a table. */
typedef struct table_say {
    bool present;
    const char *fun, *none, *told, *did, *failed;
} table_say_t;

static const table_say_t making = { true,
                                    "nftables.new_table",
                                    "nftables table {n} already exists in family {f}",
                                    "nftables table {n} would be created in family {f}",
                                    "nftables table {n} successfully created in family {f}",
                                    "Failed to create table {n} for family {f}" };
static const table_say_t unmaking = { false,
                                      "nftables.delete_table",
                                      "nftables table {n} is already absent from family {f}",
                                      "nftables table {n} would be deleted from family {f}",
                                      "nftables table {n} successfully deleted from family {f}",
                                      "Failed to delete table {n} from family {f}" };

/* Two states, one for each wish; the row says which. */
static int
nft_state_table(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const table_say_t *say = ctx_row(ctx)->data.ptr;
    wish_t w = nft_wish(ctx, args, *ret_value = state_ret_args(args), err);
    int there = table_fun(&w, "nftables.check_table", w.name);

    if (there < 0)
        return state_ret_fail(w.ret, err);
    if ((there != 0) == say->present)
        return nft_say(&w, STATE_TRUE, say->none, NULL, NULL);
    int done = ctx_test(ctx) ? 1 : table_fun(&w, say->fun, w.name);
    if (done <= 0)
        return done < 0 ? state_ret_fail(w.ret, err) : nft_say(&w, STATE_FALSE, say->failed, NULL, NULL);
    return nft_changed(&w, say->told, say->did, NULL);
}

/* ---- policies, flush ------------------------------------------------------------------------- */

/* A policy is a property of a base chain. */
static int
nft_state_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    wish_t w = nft_wish(ctx, args, *ret_value = state_ret_args(args), err);
    const char *policy = value_str(w.kwargs, "policy", "");

    if (*w.chain == '\0' || *policy == '\0')
        return state_ret_set(w.ret, STATE_FALSE,
                             "A policy needs a chain and itself: chain: input, policy: drop");
    json_auto_t *now = sub_call(ctx, err, "nftables.get_policy", "{s:s, s:s, s:s}", "table", w.table, "chain",
                                w.chain, "family", w.family);
    if (now == NULL)
        return state_ret_fail(w.ret, err);
    /* nft prints policies in small letters; ACCEPT, as iptables has it, is the same. */
    if (json_is_string(now) && strcasecmp(json_string_value(now), policy) == 0)
        return nft_say(&w, STATE_TRUE,
                       "nftables default policy for chain {h} on table {t} for {f} already set to {o}", NULL,
                       policy);
    AUTO_FREE char *lower = xstrdup(policy);
    for (char *at = lower; *at != '\0'; at++)
        *at = (char) tolower((unsigned char) *at);
    int done = ctx_test(ctx) ? 1
                             : sub_call_bool(ctx, err, "nftables.set_policy", "{s:s, s:s, s:s, s:s}", "table",
                                             w.table, "chain", w.chain, "policy", lower, "family", w.family);
    int saved = done > 0 && !ctx_test(ctx) ? nft_saved(&w) : 0;
    if (done < 0 || saved < 0)
        return state_ret_fail(w.ret, err);
    if (done == 0)
        return nft_say(&w, STATE_FALSE, "Failed to set nftables default policy", NULL, NULL);
    return nft_changed(&w,
                       "nftables default policy for chain {h} on table {t} for {f} needs to be set to {c}",
                       saved ? "Set and saved default policy for {h} to {c} family {f}"
                             : "Set default policy for {h} to {c} family {f}",
                       policy);
}

/* The run always flushes and reports a change: nft is not asked for rules. A table or chain that is not there
 * fails, unless `ignore_absence`. */
static int
nft_state_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    wish_t w = nft_wish(ctx, args, *ret_value = state_ret_args(args), err);
    bool ignore = value_truthy(value_get(args, "ignore_absence"));
    static const char did[] = "Flush nftables rules in {t} table {h} chain {f} family",
                      told[] = "nftables flush not performed in test mode.";

    if (ctx_test(ctx))
        return nft_changed(&w, told, did, NULL);
    int table = table_fun(&w, "nftables.check_table", w.table),
        chain = table > 0 && *w.chain != '\0' ? chain_fun(&w, "nftables.check_chain", w.chain, NULL) : table;
    if (table < 0 || chain < 0)
        return state_ret_fail(w.ret, err);
    if (chain == 0 && !ignore)
        return nft_say(&w, STATE_FALSE,
                       table == 0
                           ? "Failed to flush table {t} in family {f}, table does not exist."
                           : "Failed to flush chain {h} in table {t} in family {f}, chain does not exist.",
                       NULL, NULL);
    int done = chain == 0 ? 1 : chain_fun(&w, "nftables.flush", w.chain, NULL);
    if (done <= 0)
        return done < 0 ? state_ret_fail(w.ret, err)
                        : nft_say(&w, STATE_FALSE, "Failed to flush nftables rules", NULL, NULL);
    return nft_changed(&w, told, did, NULL);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define FAMILY_ROW ARG("family", ARG_STR, "\"ipv4\"", "ipv4, ipv6, inet, arp, bridge or netdev")
#define TABLE_ROW  ARG("table", ARG_STR, "\"filter\"", "The table")
#define NAME_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "A name for the rule, which is no part of it")
#define CHAIN_ROW  ARG("name", ARG_STR, ARG_REQUIRED, "The chain")

static const arg_t rule_args[] = { NAME_ROW, FAMILY_ROW,
                                   ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                       "table, chain, position, save, and what nftables.build_rule takes",
                                       NFT_KEYWORDS " position"),
                                   ARGS_END };
static const arg_t present_args[] = { CHAIN_ROW,
                                      TABLE_ROW,
                                      ARG("table_type", ARG_STR, "null", "filter, nat or route"),
                                      ARG("hook", ARG_STR, "null", "input, output, forward, ..."),
                                      ARG("priority", ARG_ANY, "null", "A number, or a name of nft's"),
                                      FAMILY_ROW,
                                      ARGS_END };
static const arg_t absent_args[] = { CHAIN_ROW, TABLE_ROW, FAMILY_ROW, ARGS_END };
static const arg_t table_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The table"), FAMILY_ROW,
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Without effect", TAKES_NONE),
                                    ARGS_END };
static const arg_t policy_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "A name for the state"), TABLE_ROW,
                                     FAMILY_ROW,
                                     ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                         "chain, policy, save, save_filename",
                                         "chain policy save save_filename"),
                                     ARGS_END };
static const arg_t flush_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A name for the state"), FAMILY_ROW,
    ARG("ignore_absence", ARG_BOOL, "false", "What is not there needs no flush"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "table; chain, by default all", "table chain"), ARGS_END
};

static const char *
state_nftables_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "nftables.version") ? NULL : "nftables module could not be loaded";
}

static const func_t funcs[] = {
    { "append", nft_state_rule, rule_args, 0, "Ensure that a chain has a rule; a new one comes to its end.",
      .data.ptr = &appending },
    { "chain_absent", nft_chain_absent, absent_args, 0, "Ensure that a table has no such chain." },
    { "chain_present", nft_chain_present, present_args, 0, "Ensure that a table has a chain." },
    { "delete", nft_state_rule, rule_args, 0, "Ensure that a chain has no such rule.",
      .data.ptr = &deleting },
    { "flush", nft_state_flush, flush_args, 0, "Delete all rules of a chain, or of a table." },
    { "insert", nft_state_rule, rule_args, 0,
      "Ensure that a chain has a rule; a new one comes to its beginning, or before another.",
      .data.ptr = &inserting },
    { "set_policy", nft_state_policy, policy_args, 0, "Ensure that a base chain has a policy." },
    { "table_absent", nft_state_table, table_args, 0, "Ensure that there is no such table.",
      .data.ptr = &unmaking },
    { "table_present", nft_state_table, table_args, 0, "Ensure that there is a table.", .data.ptr = &making },
};

PLUGIN(state, nftables, .doc = "The packet filter nftables", FUNCS(funcs),
       .unavailable = state_nftables_unavailable);
