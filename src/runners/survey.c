/* survey.c - runner `survey`: runs a function on minions and groups them by equal returns ("pools"); `diff`
 * also shows how each group differs from the first. Silent minions are left out. */
#include "common/base/str.h"
#include "common/data/diff.h"
#include "runners/lib/ask.h"
#include "runners/lib/fleet.h"
#include "salt/plugin.h"

/* NEW api_execute's answer. */
static json_t *
survey_answers(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *given = value_get(args, "args"), *kwargs = value_get(args, "kwargs");
    const char *type = value_str(kwargs, "tgt_type", "");
    /* survey_sort, tgt_type and Salt's own __ keywords stay here; the rest are the function's. */
    json_auto_t *plain = json_array(), *passed = json_object();
    const char *key;
    json_t *v;

    json_object_foreach (kwargs, key, v)
        if (!str_eq(key, "survey_sort") && !str_eq(key, "tgt_type") && key[0] != '_')
            json_object_set(passed, key, v);
    if (json_array_size(given) < 2 || !json_is_string(json_array_get(given, 1))) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "A target and a function are needed");
        return NULL;
    }
    for (size_t i = 2; i < json_array_size(given); i++)
        json_array_append(plain, json_array_get(given, i));
    json_auto_t *arg = fleet_args(plain, passed);
    return ask_execute(ctx, json_array_get(given, 0), str_eq(type, "pcre") ? "pcre" : "compound",
                       json_string_value(json_array_get(given, 1)), arg, 0, err);
}

/* The pool of this result; made where there is none. BORROWED. */
static json_t *
pool_of(json_t *pools, const char *result)
{
    json_t *pool;
    size_t i;

    json_array_foreach (pools, i, pool)
        if (str_eq(value_str(pool, "result", NULL), result))
            return value_get(pool, "pool");
    pool = json_array();
    json_array_append_new(pools, json_pack("{s:o, s:s}", "pool", pool, "result", result));
    return pool;
}

/* By size, the largest first unless `up`; of one size in the order in which they came. NEW. */
static json_t *
survey_by_size(json_t *pools, bool up)
{
    json_t *sorted = json_array(), *pool;
    size_t i;

    json_array_foreach (pools, i, pool) {
        size_t size = json_array_size(value_get(pool, "pool")), at = json_array_size(sorted);
        for (; at > 0; at--) {
            size_t before = json_array_size(value_get(json_array_get(sorted, at - 1), "pool"));
            if (up ? before <= size : before >= size)
                break;
        }
        json_array_insert(sorted, at, pool);
    }
    return sorted;
}

/* NEW [{"pool": [id], "result": text}], or NULL with *err. */
static json_t *
survey_pools_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *minions = survey_answers(ctx, args, err), *ids = json_array(), *pools = json_array();
    const char *id;
    json_t *value, *name;
    size_t i;

    if (minions == NULL)
        return NULL;
    json_auto_t *returns = ask_returns(minions);
    json_object_foreach (returns, id, value)
        json_array_append_new(ids, json_string(id));
    json_auto_t *sorted = value_sorted_texts(ids);
    json_array_foreach (sorted, i, name) {
        AUTO_FREE char *result = value_pystr(value_get(returns, json_string_value(name)));
        json_array_append(pool_of(pools, result), name);
    }
    return survey_by_size(pools, str_eq(value_str(value_get(args, "kwargs"), "survey_sort", "down"), "up"));
}

static int
survey_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = survey_pools_of(ctx, args, err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* Unified differences of the returns as texts. */
static int
survey_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *pools = survey_pools_of(ctx, args, err), *pool, *first = json_array_get(pools, 0);
    const char *old = value_str(first, "result", "");
    size_t i;

    if (pools == NULL)
        return -EIO;
    json_array_foreach (pools, i, pool) {
        const char *text = value_str(pool, "result", "");
        AUTO_FREE char *diff = diff_texts(old, strlen(old), text, strlen(text),
                                          json_string_value(json_array_get(value_get(first, "pool"), 0)),
                                          json_string_value(json_array_get(value_get(pool, "pool"), 0)));
        if (pool != first)
            json_object_set_new(pool, "diff", json_string(diff));
    }
    *ret_value = pools;
    return 0;
}

static const arg_t survey_args[] = {
    ARG("args", ARG_LIST, ARG_STAR, "A target, a function and its positional arguments"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,
        "survey_sort (down or up), tgt_type (compound or pcre), the function's own"),
    ARGS_END
};

#define NOBODY                                                                                               \
    ABSENT("args", "No minion of the target has returned ({}); 'salt-run manage.status' tells which are up")

static const func_t funcs[] = {
    { "diff", survey_diff, survey_args, FN_ACCESS_ADMIN,
      "As survey.hash; each pool but the first also shows how its result differs from the first's, as a "
      "unified diff." CLI_EXAMPLE(
          "salt-run survey.diff survey_sort=up '*' cp.get_file_str file:///etc/hosts"),
      NOBODY },
    { "hash", survey_hash, survey_args, FN_ACCESS_ADMIN,
      "Run a function on minions and return the pools of minions that answered alike, the largest "
      "first.\n\nsurvey_sort : down\n    ``up``: the smallest first.\n\ntgt_type : compound\n    Or "
      "``pcre``." CLI_EXAMPLE(
          "salt-run survey.hash '*' test.ping\n    salt-run survey.hash '*' file.get_hash "
          "/etc/salt/minion survey_sort=up"),
      NOBODY },
};

PLUGIN(runner, survey, .doc = "Which minions answer alike, and how the others differ", FUNCS(funcs));
