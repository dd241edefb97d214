/* iptables.c - state module `iptables`: rules, chains and policies of the packet filter. The execution module
 * does the work; a rule's words are the state's arguments (plugins/lib/net/iptrules.h). The functions append,
 * insert and delete differ in words alone and share one function. `save` writes the rules of the kernel into
 * the distribution's file, or into a file that it names. Salt's module answers with an empty value for
 * success and with iptables' complaint otherwise, here and there with True: each call says which. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/net/filtertext.h"
#include "plugins/lib/net/iptrules.h"
#include "salt/state.h"

/* What one function says: {n} is the name, {c} the command line, {f} the family, {o} what saving says. */
typedef struct rule_words {
    const char *command, *none, *told, *did, *saved, *failed;
    bool gone; /* the rule is to be absent */
} rule_words_t;

#define DID_SET   "Set iptables rule for {n} to: {c} for {f}"
#define SAVED_SET "Set and saved iptables rule {n} for {f}\n{c}\n{o}"
static const rule_words_t appends = {
    .command = "A",
    .none = "iptables rule for {n} already set ({c}) for {f}",
    .told = "iptables rule for {n} needs to be set ({c}) for {f}",
    .did = DID_SET,
    .saved = SAVED_SET,
    .failed = "Failed to set iptables rule for {n}.\nAttempted rule was {c} "
              "for {f}"
};
static const rule_words_t inserts = {
    .command = "I",
    .none = "iptables rule for {n} already set for {f} ({c})",
    .told = "iptables rule for {n} needs to be set for {f} ({c})",
    .did = DID_SET,
    .saved = SAVED_SET,
    .failed = "Failed to set iptables rule for {n}.\nAttempted rule was {c}"
};
static const rule_words_t deletes = {
    .command = "D",
    .none = "iptables rule for {n} already absent for {f} ({c})",
    .told = "iptables rule for {n} needs to be deleted for {f} ({c})",
    .did = "Delete iptables rule for {n} {c}",
    .saved = "Deleted and saved iptables rule {n} for {f}\n{c}\n{o}",
    .failed = "Failed to delete iptables rule for {n}.\nAttempted rule was {c}",
    .gone = true
};

/* The request of the SLS. All BORROWED but `command`. */
typedef struct want {
    call_ctx_t *ctx;
    const char *name, *table, *family, *chain;
    json_t *kwargs, *ret;
    char *command;
    fail_t *err;
} want_t;

/* The request, as the arguments have it. The chain is a word of the rule, and so in **kwargs. */
static want_t
ipt_want(call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs");

    return (want_t){ .ctx = ctx,
                     .name = value_str(args, "name", ""),
                     .table = value_str(args, "table", "filter"),
                     .family = value_str(args, "family", "ipv4"),
                     .chain = value_str(kwargs, "chain", ""),
                     .kwargs = kwargs,
                     .ret = ret,
                     .err = err };
}

/* Result and comment; `saved` is what saving says, or NULL. */
static int
ipt_say(want_t *w, state_result_t result, const char *pattern, const char *saved)
{
    const filter_words_t words = {
        .name = w->name, .command = w->command, .family = w->family, .other = saved
    };
    AUTO_FREE char *text = filter_text(pattern, &words);

    return state_ret_set(w->ret, result, "%s", text);
}

/* Writes the rules into the file of `save`. NEW answer, or NULL with *err. */
static json_t *
ipt_save_now(want_t *w)
{
    json_t *save = value_get(w->kwargs, "save");

    return json_is_true(save) ? sub_call(w->ctx, w->err, "iptables.save", "{s:s}", "family", w->family)
                              : sub_call(w->ctx, w->err, "iptables.save", "{s:O, s:s}", "filename", save,
                                         "family", w->family);
}

/* 1 when the file has other rules than the kernel, 0, or negative with *err. Only rules are compared, in the
 * order of tables and chains: counters differ always. */
static int
ipt_unsaved(want_t *w)
{
    json_t *save = value_get(w->kwargs, "save");
    json_auto_t *file = json_is_true(save) ? json_null() : json_incref(save);
    json_auto_t *kept = sub_call(w->ctx, w->err, "iptables.get_saved_rules", "{s:O, s:s}", "conf_file", file,
                                 "family", w->family);
    json_auto_t *now = kept != NULL
                           ? sub_call(w->ctx, w->err, "iptables.get_rules", "{s:s}", "family", w->family)
                           : NULL;

    if (now == NULL)
        return w->err->code;
    json_auto_t *all_kept = ipt_all_rules(kept), *all_now = ipt_all_rules(now);
    return json_equal(all_kept, all_now) ? 0 : 1;
}

/* The whole command line as comments show it, without white space around it. NEW, or NULL with *err. */
static char *
ipt_command(want_t *w, const char *command)
{
    json_auto_t *call = json_copy(w->kwargs), *line = NULL;

    json_object_set_new(call, "full", json_true());
    json_object_set_new(call, "family", json_string(w->family));
    json_object_set_new(call, "table", json_string(w->table));
    json_object_set_new(call, "command", json_string(command));
    if (ctx_call(w->ctx, "iptables.build_rule", NULL, call, &line, w->err) != 0)
        return NULL;
    AUTO_FREE char *text = value_pystr(line);
    return xstrdup(str_trim(text));
}

/* Brings one rule into its state, from the look at the chain to the return. */
static int
ipt_one(want_t *w, const rule_words_t *words)
{
    bool save = value_truthy(value_get(w->kwargs, "save"));
    json_t *position = value_get(w->kwargs, "position");

    if (*w->chain == '\0')
        return state_ret_set(w->ret, STATE_FALSE, "A rule needs a chain: say chain: INPUT");
    if (words == &inserts && !value_truthy(position))
        return state_ret_set(w->ret, STATE_FALSE, "insert needs a position: say position: 1, or use append");
    json_auto_t *keywords = json_copy(w->kwargs);
    json_object_del(keywords, "position");
    AUTO_FREE char *rule = ipt_rule(keywords), *command = w->command = ipt_command(w, words->command);
    if (command == NULL)
        return w->err->code;
    int there = sub_call_bool(w->ctx, w->err, "iptables.check", "{s:s, s:s, s:s, s:s}", "table", w->table,
                              "chain", w->chain, "rule", rule, "family", w->family);
    if (there < 0)
        return there;
    /* Already so. The file may still lack the rule: a run with `save` writes it then, and a test does not
     * look. A rule that is to go from a place is never missing: iptables knows what is there. */
    if (words->gone ? there == 0 && position == NULL : there == 1) {
        int unsaved = save && !words->gone && !ctx_test(w->ctx) ? ipt_unsaved(w) : 0;
        json_auto_t *said = unsaved > 0 ? ipt_save_now(w) : NULL;
        ipt_say(w, STATE_TRUE, words->none, NULL);
        if (said != NULL)
            state_ret_comment(w->ret, value_fmt("%s\nSaved iptables rule %s for %s\n%s\n%s",
                                                value_str(w->ret, "comment", ""), w->name, w->family, command,
                                                json_string_value(said)));
        return w->err->code;
    }
    /* iptables.append answers True when all went well, the other two with iptables' complaint when not. */
    if (!ctx_test(w->ctx)) {
        json_auto_t *call = json_pack("{s:s, s:s, s:s}", "table", w->table, "chain", w->chain, "family",
                                      w->family),
                    *failure = NULL;
        if (!words->gone || position == NULL)
            json_object_set_new(call, "rule", value_utf8(rule, strlen(rule)));
        if (position != NULL && words != &appends)
            json_object_set(call, "position", position);
        const char *fun = words == &appends   ? "iptables.append"
                          : words == &inserts ? "iptables.insert"
                                              : "iptables.delete";
        if (ctx_call(w->ctx, fun, NULL, call, &failure, w->err) != 0)
            return w->err->code;
        if (value_truthy(failure) != (words == &appends))
            return ipt_say(w, STATE_FALSE, words->failed, NULL);
    }
    state_change(w->ret, "locale", json_string(w->name));
    if (ctx_test(w->ctx))
        return ipt_say(w, STATE_NONE, words->told, NULL);
    json_auto_t *said = save ? ipt_save_now(w) : NULL;
    if (save && said == NULL)
        return w->err->code;
    return ipt_say(w, STATE_TRUE, save ? words->saved : words->did, json_string_value(said));
}

static int
ipt_rules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const rule_words_t *words = ctx_row(ctx)->data.ptr;
    want_t w = ipt_want(ctx, args, *ret_value = state_ret_args(args), err);
    const json_t *rules = value_get(w.kwargs, "rules");

    if (!json_is_array(rules))
        return ipt_one(&w, words);
    /* The rules that mod_aggregate has put together, in one state; they are saved once, at the end. */
    json_auto_t *names = json_array(), *comments = json_array(), *save = NULL;
    state_result_t result = STATE_TRUE;
    json_t *one;
    size_t i;

    json_array_foreach (rules, i, one) {
        json_auto_t *kwargs = json_copy(one), *ret = state_ret(value_str(one, "name", w.name));
        json_t *own = value_get(one, "save");
        if (value_truthy(own) && save == NULL)
            save = json_incref(own);
        json_object_del(kwargs, "save");
        json_object_del(kwargs, "family");
        json_auto_t *call = json_pack("{s:s, s:s, s:s, s:O}", "name", value_str(one, "name", w.name), "table",
                                      value_str(one, "table", "filter"), "family",
                                      value_str(one, "family", "ipv4"), "kwargs", kwargs);
        want_t part = ipt_want(w.ctx, call, ret, w.err);
        if (ipt_one(&part, words) != 0)
            return w.err->code;
        if (state_changed(ret))
            json_array_append(names, value_get(value_get(ret, "changes"), "locale"));
        json_array_append(comments, value_get(ret, "comment"));
        json_t *said = value_get(ret, "result");
        if (json_is_false(said))
            result = STATE_FALSE;
        else if (json_is_null(said) && result == STATE_TRUE)
            result = STATE_NONE;
    }
    if (json_array_size(names) > 0)
        state_change(w.ret, "locale", json_incref(names));
    if (save != NULL && !ctx_test(w.ctx)) {
        json_object_set(w.kwargs, "save", save);
        json_auto_t *said = ipt_save_now(&w);
        if (said == NULL)
            return w.err->code;
    }
    AUTO_FREE char *text = value_joined(comments, "\n");
    return state_ret_set(w.ret, result, "%s", text);
}

/* ---- chains, policies ------------------------------------------------------------------------ */

/* The change of all other functions: {"locale": name}. */
static int
ipt_done(want_t *w, const char *comment)
{
    state_change(w->ret, "locale", json_string(w->name));
    return state_ret_set(w->ret, ctx_test(w->ctx) ? STATE_NONE : STATE_TRUE, "%s", comment);
}

/* Words of a function about a chain: patterns of filtertext.h, and the verb of its failure. */
typedef struct chain_words {
    bool present;
    const char *fun, *none, *told, *did, *failed;
} chain_words_t;

static const chain_words_t makes = { true,
                                     "iptables.new_chain",
                                     "iptables {n} chain is already exist in {t} table for {f}",
                                     "iptables {n} chain in {t} table needs to be set for {f}",
                                     "iptables {n} chain in {t} table create success for {f}",
                                     "create" };
static const chain_words_t unmakes = { false,
                                       "iptables.delete_chain",
                                       "iptables {n} chain is already absent in {t} table for {f}",
                                       "iptables {n} chain in {t} table needs to be removed {f}",
                                       "iptables {n} chain in {t} table delete success for {f}",
                                       "delete" };

/* Runs a function on the chain. NEW answer, or NULL with *err. */
static json_t *
chain_call(want_t *w, const char *fun)
{
    return sub_call(w->ctx, w->err, fun, "{s:s, s:s, s:s}", "table", w->table, "chain", w->name, "family",
                    w->family);
}

/* A module answers True, or the text of iptables. */
static int
ipt_state_chain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const chain_words_t *words = ctx_row(ctx)->data.ptr;
    want_t w = ipt_want(ctx, args, *ret_value = state_ret_args(args), err);
    const filter_words_t about = { .name = w.name, .table = w.table, .family = w.family };
    AUTO_FREE char *none = filter_text(words->none, &about), *told = filter_text(words->told, &about),
                   *did = filter_text(words->did, &about);
    const char *failed = words->failed;
    json_auto_t *there = chain_call(&w, "iptables.check_chain"), *said = NULL;

    if (there == NULL)
        return err->code;
    if (json_is_true(there) == words->present)
        return state_ret_set(w.ret, STATE_TRUE, "%s", none);
    if (ctx_test(ctx))
        return ipt_done(&w, told);
    /* iptables refuses to delete a chain that has rules. */
    if (!words->present) {
        if ((said = chain_call(&w, "iptables.flush")) == NULL)
            return err->code;
        if (value_truthy(said))
            failed = "flush";
    }
    if (!value_truthy(said)) {
        json_decref(STEAL(said));
        if ((said = chain_call(&w, words->fun)) == NULL)
            return err->code;
    }
    if (json_is_true(said))
        return ipt_done(&w, did);
    AUTO_FREE char *text = value_pystr(said);
    return state_ret_set(w.ret, STATE_FALSE, "Failed to %s %s chain in %s table: %s for %s", failed, w.name,
                         w.table, str_trim(text), w.family);
}

/* The kernel's policy is compared; the saved one only follows from it. */
static int
ipt_state_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    want_t w = ipt_want(ctx, args, *ret_value = state_ret_args(args), err);
    const char *policy = value_str(w.kwargs, "policy", "");
    bool save = value_truthy(value_get(w.kwargs, "save"));

    if (*w.chain == '\0' || *policy == '\0')
        return state_ret_set(w.ret, STATE_FALSE,
                             "A policy needs a chain and itself: chain: INPUT, policy: DROP");
    json_auto_t *now = sub_call(ctx, err, "iptables.get_policy", "{s:s, s:s, s:s}", "table", w.table, "chain",
                                w.chain, "family", w.family);
    if (now == NULL)
        return err->code;
    if (str_eq(json_string_value(now), policy))
        return state_ret_set(w.ret, STATE_TRUE,
                             "iptables default policy for chain %s on table %s for %s already set to %s",
                             w.chain, w.table, w.family, policy);
    AUTO_FREE char *told = xasprintf(
        "iptables default policy for chain %s on table %s for %s needs to be set to %s", w.chain, w.table,
        w.family, policy);
    if (ctx_test(ctx))
        return ipt_done(&w, told);
    json_auto_t *said = sub_call(ctx, err, "iptables.set_policy", "{s:s, s:s, s:s, s:s}", "table", w.table,
                                 "chain", w.chain, "policy", policy, "family", w.family);
    if (said == NULL)
        return err->code;
    /* An empty answer is success. */
    if (value_truthy(said))
        return state_ret_set(w.ret, STATE_FALSE, "Failed to set iptables default policy");
    json_auto_t *saved = save ? ipt_save_now(&w) : NULL;
    if (save && saved == NULL)
        return err->code;
    AUTO_FREE char *did = xasprintf("Set %sdefault policy for %s to %s family %s", save ? "and saved " : "",
                                    w.chain, policy, w.family);
    return ipt_done(&w, did);
}

/* There is nothing to compare: the run always flushes and reports a change. The arguments of the told comment
 * are in Salt's order, which names the table in the chain's place. */
static int
ipt_state_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    want_t w = ipt_want(ctx, args, *ret_value = state_ret_args(args), err);
    AUTO_FREE char *told = xasprintf("iptables rules in %s table %s chain %s family needs to be flushed",
                                     w.name, w.table, w.family),
                   *did = xasprintf("Flush iptables rules in %s table %s chain %s family", w.table, w.chain,
                                    w.family);

    if (ctx_test(ctx))
        return ipt_done(&w, told);
    json_auto_t *said = sub_call(ctx, err, "iptables.flush", "{s:s, s:s, s:s}", "table", w.table, "chain",
                                 w.chain, "family", w.family);
    if (said == NULL)
        return err->code;
    if (value_truthy(said))
        return state_ret_set(w.ret, STATE_FALSE, "Failed to flush iptables rules");
    return ipt_done(&w, did);
}

/* ---- several in one -------------------------------------------------------------------------- */

/* The chunk's rule and those of later ones of the same function, as `rules`. */
static int
ipt_mod_aggregate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *low = *ret_value = json_deep_copy(value_get(args, "low")), *chunk;
    const char *fun = value_str(low, "fun", "");
    json_t *rules = json_is_array(value_get(low, "rules")) ? value_get(low, "rules") : json_array();
    AUTO_FREE char *own = state_tag(low);
    size_t i;

    if (strcmp(fun, "append") != 0 && strcmp(fun, "insert") != 0) {
        if (rules != value_get(low, "rules"))
            json_decref(rules);
        return 0;
    }
    json_array_append_new(rules, json_deep_copy(low));
    json_object_del(json_array_get(rules, json_array_size(rules) - 1), "rules");
    json_array_foreach (value_get(args, "chunks"), i, chunk) {
        AUTO_FREE char *tag = state_tag(chunk);
        if (strcmp(tag, own) == 0 || value_get(chunk, "__agg__") != NULL ||
            value_get(value_get(args, "running"), tag) != NULL ||
            strcmp(value_str(chunk, "state", ""), "iptables") != 0 ||
            strcmp(value_str(chunk, "fun", ""), fun) != 0)
            continue;
        json_array_append_new(rules, json_deep_copy(chunk));
        json_object_set_new(chunk, "__agg__", json_true());
    }
    if (rules != value_get(low, "rules"))
        json_object_set_new(low, "rules", rules);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define COMMON_ROWS                                                                                          \
    ARG("table", ARG_STR, "\"filter\"", "The table"),                                                        \
        ARG("family", ARG_STR, "\"ipv4\"", "ipv4, or ipv6: ip6tables")
#define NAME_ROW  ARG("name", ARG_STR, ARG_REQUIRED, "A name for the rule, which is no part of it")
#define CHAIN_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The chain")

static const arg_t chain_args[] = { CHAIN_ROW, COMMON_ROWS, ARGS_END };
static const arg_t rule_args[] = { NAME_ROW, COMMON_ROWS,
                                   ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                       "chain, position, save, rules; iptables' options by their long names"),
                                   ARGS_END };
static const arg_t policy_args[] = { NAME_ROW, COMMON_ROWS,
                                     ARG("kwargs", ARG_ANY, ARG_STARSTAR, "chain, policy, save"), ARGS_END };
static const arg_t flush_args[] = { NAME_ROW, COMMON_ROWS,
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "chain; by default all"), ARGS_END };
static const arg_t aggregate_args[] = { ARG("low", ARG_ANY, ARG_REQUIRED, "This chunk"),
                                        ARG("chunks", ARG_ANY, ARG_REQUIRED, "Those that may run now"),
                                        ARG("running", ARG_ANY, ARG_REQUIRED, "What has run"), ARGS_END };

static const char *
state_iptables_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "iptables.version") ? NULL : "iptables module could not be loaded";
}

static const func_t funcs[] = {
    { "append", ipt_rules, rule_args, 0, "Ensure that a chain has a rule; a new one comes to its end.",
      .data.ptr = &appends },
    { "chain_absent", ipt_state_chain, chain_args, 0, "Ensure that a table has no such chain.",
      .data.ptr = &unmakes },
    { "chain_present", ipt_state_chain, chain_args, 0, "Ensure that a table has a chain.",
      .data.ptr = &makes },
    { "delete", ipt_rules, rule_args, 0, "Ensure that a chain has no such rule.", .data.ptr = &deletes },
    { "flush", ipt_state_flush, flush_args, 0, "Delete all rules of a chain, or of a table." },
    { "insert", ipt_rules, rule_args, 0, "Ensure that a chain has a rule; a new one comes to a place.",
      .data.ptr = &inserts },
    { "mod_aggregate", ipt_mod_aggregate, aggregate_args, 0,
      "Do the rules of later states along with this one." },
    { "set_policy", ipt_state_policy, policy_args, 0, "Ensure that a chain has a policy." },
};

PLUGIN(state, iptables, .doc = "The packet filter", FUNCS(funcs), .unavailable = state_iptables_unavailable);
