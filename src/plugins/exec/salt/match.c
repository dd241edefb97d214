/* match.c - execution module `match`: whether this minion is meant by a target. As in Salt, a target that
 * makes no sense matches nobody; the reason is in the log at level debug. Targets are parsed and matched by
 * common/match, as the master does it, so that both mean the same; here they are asked about this minion, or
 * with minion_id about another name with this minion's grains. */
#include "common/match/match.h"

#include "common/base/str.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* ---- one target ------------------------------------------------------------------------------ */

/* Reads grains and pillar only when the target needs them. False for an invalid target. A job that matches a
 * name needs no pillar to be decoded. */
static bool
match_matches(call_ctx_t *ctx, const json_t *tgt, tgt_type_t type, const char *delim, const char *id)
{
    match_subject_t subject = { .id = id != NULL ? id : ctx_id(ctx) };
    fail_auto_t err = FAIL_INIT;
    target_t *target = target_new(tgt, type, value_get(ctx_opts(ctx), "nodegroups"), delim, &err);

    if (target == NULL && type == TGT_COMPOUND) {
        log_error("%s", fail_text(&err)); /* so says Salt, of these alone */
        return false;
    }
    if (target == NULL) {
        log_debug("%s", fail_text(&err));
        return false;
    }
    if (target_needs_grains(target))
        subject.grains = ctx_grains(ctx);
    if (target_needs_pillar(target))
        subject.pillar = ctx_pillar(ctx);
    bool matched = target_match(target, &subject);
    target_destroy(&target);
    return matched;
}

/* match.FUN tgt [minion_id=] [delimiter=]: rows have the arguments that Salt has, and the type of target. */
static int
match_answer(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    tgt_type_t type = (tgt_type_t) ctx_row(ctx)->data.number;

    *ret_value = json_boolean(match_matches(ctx, value_get(args, "tgt"), type,
                                            value_str(args, "delimiter", NULL),
                                            value_str(args, "minion_id", NULL)));
    return 0;
}

/* Salt answers an address that is none with an empty list. False is for an address or network that this
 * minion is not in. */
static int
match_ipcidr_fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *tgt = value_get(args, "tgt");
    target_t *target = target_new(tgt, TGT_IPCIDR, NULL, NULL, NULL);

    *ret_value = target != NULL ? json_boolean(match_matches(ctx, tgt, TGT_IPCIDR, NULL, NULL))
                                : json_array();
    target_destroy(&target);
    return 0;
}

/* ---- the minion's data store ----------------------------------------------------------------- */

/* A list matches by any of its elements, a mapping by a key, a text by a glob; numbers match nothing, as by
 * Salt. */
static bool
data_matches(const json_t *value, const char *pattern)
{
    size_t i;
    json_t *item;

    json_array_foreach (value, i, item) {
        json_auto_t *holder = json_pack("{s:O}", "v", item);
        AUTO_FREE char *expr = xasprintf("v\x01%s", pattern);
        if (match_subdict(holder, expr, "\x01", false, false))
            return true;
    }
    if (json_is_object(value))
        return value_get(value, pattern) != NULL;
    return json_is_string(value) && match_glob(pattern, json_string_value(value));
}

/* "key:pattern" Whatever goes wrong is logged, and the answer is False. */
static int
match_data_fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **parts = str_split(value_str(args, "tgt", ""), ":", false);
    json_auto_t *call = json_pack("[s]", parts[0]);
    json_t *value = NULL;
    fail_auto_t why = FAIL_INIT;

    /* Salt calls a function that its module lacks: a custom module may bring data, else there is none. */
    if (parts[1] != NULL && ctx_call(ctx, "data.getval", call, NULL, &value, &why) < 0)
        log_error("match.data: %s", fail_text(&why));
    *ret_value = json_boolean(value != NULL && data_matches(value, parts[1]));
    json_decref(value);
    strv_free(parts);
    return 0;
}

/* ---- tables of targets ----------------------------------------------------------------------- */

/* Types that need more than a text and this minion (node groups, exact pillar) are refused, as Salt's
 * functions of this name lack them. */
static int
read_type(const json_t *args, tgt_type_t *type, fail_t *err)
{
    const char *name = value_str(args, "tgt_type", "");

    if (tgt_type_parse(str_eq(name, "list_") ? "list" : name, type) && *type != TGT_NODEGROUP &&
        *type != TGT_PILLAR_EXACT)
        return 0;
    return fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "'%s' is not a type of target here: use compound, glob, list, pcre, grain, grain_pcre, pillar, "
        "pillar_pcre or ipcidr",
        name);
}

/* The first target of the table that matches, or NULL. BORROWED. The order is that of the mapping as it was
 * written. */
static const char *
match_first_match(call_ctx_t *ctx, json_t *lookup, tgt_type_t type, const char *id)
{
    const char *key;
    json_t *value;

    json_object_foreach (lookup, key, value) {
        json_auto_t *tgt = json_string(key);
        if (match_matches(ctx, tgt, type, NULL, id))
            return key;
    }
    return NULL;
}

/* Value of the first matching target, else the default, with `merge` laid over it. `dflt` NULL: None when
 * nothing matches. Without a match nothing is merged. `lookup` stays as it was. */
static int
match_choose(call_ctx_t *ctx, json_t *args, json_t *lookup, const char *dflt, json_t **ret_value, fail_t *err)
{
    json_t *merge = value_get(args, "merge");
    tgt_type_t type;
    int rc = read_type(args, &type, err);

    if (rc < 0)
        return rc;
    const char *key = match_first_match(ctx, lookup, type, value_str(args, "minion_id", NULL));
    json_t *found = key != NULL ? value_get(lookup, key) : dflt != NULL ? value_get(lookup, dflt) : NULL;
    if (key == NULL || !value_truthy(merge)) {
        *ret_value = found != NULL ? json_incref(found) : json_null();
        return 0;
    }
    if (!json_is_object(merge))
        return fail_set(err, -EINVAL, "filter_by merge argument must be a dictionary.");
    if (!json_is_null(found) && !json_is_object(found))
        return fail_set(err, -EINVAL, "Cannot update using non-dict types in dictupdate.update()");
    *ret_value = json_deep_copy(json_is_null(found) ? merge : found);
    value_merge(*ret_value, merge, value_bool(args, "merge_lists", false));
    return 0;
}

/* Patterns are tried in order; the first one that fits decides. */
static int
match_filter_by_fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *lookup = value_get(args, "lookup");
    const char *id = value_str(args, "minion_id", value_str(ctx_opts(ctx), "id", "")),
               *type = value_str(args, "tgt_type", "compound");
    bool named = value_get(lookup, id) != NULL && (str_eq(type, "compound") || str_eq(type, "glob"));
    /* The minion's own name goes before patterns. */
    json_auto_t *alone = named ? json_pack("{s:O}", id, value_get(lookup, id)) : NULL;

    return match_choose(ctx, args, named ? alone : lookup, value_str(args, "default", NULL), ret_value, err);
}

/* Keys of all targets that match, or None. A key has one target or a list of them, and is told once for each
 * that matches, as by Salt. */
static int
match_search_by_fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *key, *id = value_str(args, "minion_id", NULL);
    json_t *targets, *tgt;
    tgt_type_t type;
    int rc = read_type(args, &type, err);

    if (rc < 0)
        return rc;
    json_t *found = json_array();
    json_object_foreach (value_get(args, "lookup"), key, targets) {
        size_t i;
        json_auto_t *one = json_is_array(targets) ? json_incref(targets) : json_pack("[O]", targets);
        json_array_foreach (one, i, tgt) {
            if (match_matches(ctx, tgt, type, NULL, id))
                json_array_append_new(found, json_string(key));
        }
    }
    *ret_value = json_array_size(found) > 0 ? found : json_null();
    if (found != *ret_value)
        json_decref(found);
    return 0;
}

/* match.ifelse TARGET VALUE [TARGET VALUE]... DEFAULT: a table of targets written as a list. Conditions may
 * also be True and False, which a template computed. */
static int
match_ifelse_fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char dflt[] = "SALT_IFELSE_FUNCTION_DEFAULT";
    json_t *list = value_get(args, "args");
    size_t n = json_array_size(list);
    json_auto_t *lookup = json_object();

    if (n % 2 == 0)
        return fail_set(err, -EINVAL, "The ifelse function must have an odd number of arguments!");
    for (size_t i = 0; i + 1 < n; i += 2) {
        const json_t *tgt = json_array_get(list, i);
        AUTO_FREE char *key = json_is_true(tgt)    ? xstrdup("*")
                              : json_is_false(tgt) ? xstrdup("SALT_IFELSE_MATCH_NOTHING")
                                                   : value_pystr(tgt);
        json_object_set(lookup, key, json_array_get(list, i + 1));
    }
    json_object_set(lookup, dflt, json_array_get(list, n - 1));
    return match_choose(ctx, args, lookup, dflt, ret_value, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define TGT_ROW       ARG("tgt", ARG_ANY, ARG_REQUIRED, "The target")
#define MINION_ID_ROW ARG("minion_id", ARG_STR, "null", "Ask for this id instead of the minion's own")
#define DELIMITER_ROW ARG("delimiter", ARG_STR, "\":\"", "What separates keys and value")
#define TGT_TYPE_ROW  ARG("tgt_type", ARG_STR, "\"compound\"", "The type of the targets")
#define MERGE_ROW     ARG("merge", ARG_ANY, "null", "A mapping laid over the value that is found")
#define MERGE_LISTS_ROW                                                                                      \
    ARG("merge_lists", ARG_BOOL, "false", "Lists of the merged mapping are appended, not put in place")

static const arg_t id_args[] = { TGT_ROW, MINION_ID_ROW, ARGS_END };
static const arg_t data_args[] = { TGT_ROW, DELIMITER_ROW, ARGS_END };
static const arg_t plain_args[] = { TGT_ROW, ARGS_END };
static const arg_t text_args[] = { ARG("tgt", ARG_STR, ARG_REQUIRED, "KEY:PATTERN"), ARGS_END };
static const arg_t filter_by_args[] = {
    ARG("lookup", ARG_DICT, ARG_REQUIRED, "Values by target"),
    TGT_TYPE_ROW,
    MINION_ID_ROW,
    MERGE_ROW,
    MERGE_LISTS_ROW,
    ARG("default", ARG_STR, "\"default\"", "The key of the value when no target matches"),
    ARGS_END,
};
static const arg_t search_by_args[] = {
    ARG("lookup", ARG_DICT, ARG_REQUIRED, "Lists of targets by name"),
    TGT_TYPE_ROW,
    MINION_ID_ROW,
    ARGS_END,
};
static const arg_t ifelse_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Targets, each with its value, then a default"),
    TGT_TYPE_ROW,
    MINION_ID_ROW,
    MERGE_ROW,
    MERGE_LISTS_ROW,
    ARGS_END,
};

static const func_t funcs[] = {
    { "compound", match_answer, id_args, FN_READONLY,
      "Return True if the minion matches a compound target." CLI_EXAMPLE(
          "salt '*' match.compound 'L@cheese,foo and *'"),
      .data.number = TGT_COMPOUND, UNDEFINED("false") },
    { "data", match_data_fn, text_args, FN_READONLY,
      "Return True if a value of the minion's data store matches." CLI_EXAMPLE(
          "salt '*' match.data 'spam:eggs'"),
      UNDEFINED("false") },
    { "filter_by", match_filter_by_fn, filter_by_args, FN_READONLY,
      "Return the value of the first target in a mapping that matches the minion." CLI_EXAMPLE(
          "salt '*' match.filter_by '{foo*: Foo!, bar*: Bar!}' minion_id=bar03") },
    { "glob", match_answer, id_args, FN_READONLY,
      "Return True if the minion's id matches a glob." CLI_EXAMPLE("salt '*' match.glob 'web*'"),
      .data.number = TGT_GLOB, UNDEFINED("false") },
    { "grain", match_answer, data_args, FN_READONLY,
      "Return True if a grain matches a glob." CLI_EXAMPLE("salt '*' match.grain 'os:Ubuntu'"),
      .data.number = TGT_GRAIN, UNDEFINED("false") },
    { "grain_pcre", match_answer, data_args, FN_READONLY,
      "Return True if a grain matches a regular expression." CLI_EXAMPLE(
          "salt '*' match.grain_pcre 'os:Fedo.*'"),
      .data.number = TGT_GRAIN_PCRE, UNDEFINED("false") },
    { "ifelse", match_ifelse_fn, ifelse_args, FN_READONLY,
      "Return the value behind the first target that matches, else the last argument." CLI_EXAMPLE(
          "salt '*' match.ifelse 'foo*' 'Foo!' 'bar*' 'Bar!' 'Neither!'") },
    { "ipcidr", match_ipcidr_fn, plain_args, FN_READONLY,
      "Return True if the minion has the address, or one in the network." CLI_EXAMPLE(
          "salt '*' match.ipcidr '192.168.44.0/24'"),
      UNDEFINED("[]") },
    { "list", match_answer, id_args, FN_READONLY,
      "Return True if the minion's id is in a list." CLI_EXAMPLE("salt '*' match.list 'server1,server2'"),
      .data.number = TGT_LIST, UNDEFINED("false") },
    { "pcre", match_answer, id_args, FN_READONLY,
      "Return True if the minion's id matches a regular expression." CLI_EXAMPLE("salt '*' match.pcre '.*'"),
      .data.number = TGT_PCRE, UNDEFINED("false") },
    { "pillar", match_answer, data_args, FN_READONLY,
      "Return True if a value of the pillar matches a glob." CLI_EXAMPLE(
          "salt '*' match.pillar 'cheese:foo'"),
      .data.number = TGT_PILLAR, UNDEFINED("false") },
    { "pillar_pcre", match_answer, data_args, FN_READONLY,
      "Return True if a value of the pillar matches a regular expression." CLI_EXAMPLE(
          "salt '*' match.pillar_pcre 'cheese:(swiss|american)'"),
      .data.number = TGT_PILLAR_PCRE, UNDEFINED("false") },
    { "search_by", match_search_by_fn, search_by_args, FN_READONLY,
      "Return the names in a mapping that have a target which matches the minion." CLI_EXAMPLE(
          "salt '*' match.search_by '{web: [node1, node2], db: [node2, node]}'") },
};

PLUGIN(exec, match, .doc = "Whether this minion is meant by a target", FUNCS(funcs));
