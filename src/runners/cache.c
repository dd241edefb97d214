/* cache.c - runner `cache`: what the master keeps of its minions (grains, pillar, mine), and values in banks.
 * The bank "minions" is a view of the master's store and can be flushed, not written; other banks are files
 * (bank.h). */
#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "runners/lib/bank.h"
#include "runners/lib/cached.h"
#include "runners/lib/refuse.h"

/* ---- looking --------------------------------------------------------------------------------- */

static int
cache_grains(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:O, s:O}", "tgt", value_get(args, "tgt"), "tgt_type",
                               value_get(args, "tgt_type"));
    json_auto_t *reply = ask_master_with(ctx, "grains", &fields, err);

    *ret_value = json_incref(value_get(reply, "grains"));
    return reply != NULL ? 0 : -EIO;
}

static int
cache_pillar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return cached_of(ctx, args, api_pillar, ret_value, err);
}

static int
cache_mine(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return cached_of(ctx, args, api_mine, ret_value, err);
}

REFUSES(cache_cloud, "There is no salt-cloud here, and so no cache of its machines")

/* ---- forgetting ------------------------------------------------------------------------------ */

/* `what` TAKEN; `function` may be NULL. True, as Salt returns it; false without a target. */
static int
cache_forget(call_ctx_t *ctx, const json_t *args, json_t *what, json_t *function, json_t **ret_value,
             fail_t *err)
{
    json_t *fields = json_pack("{s:O, s:O, s:o, s:O*}", "tgt", value_get(args, "tgt"), "tgt_type",
                               value_get(args, "tgt_type"), "what", what, "mine_function", function);

    if (json_is_null(value_get(args, "tgt"))) {
        json_decref(fields);
        *ret_value = json_false();
        return 0;
    }
    json_auto_t *reply = ask_master_with(ctx, "forget", &fields, err);
    if (reply == NULL)
        return -EIO;
    if (json_array_size(value_get(reply, "minions")) == 0) {
        AUTO_FREE char *tgt = value_pystr(value_get(args, "tgt"));
        ctx_absent(ctx, "No accepted minion matches '%s'; 'salt-key -L' lists the minions", tgt);
    }
    *ret_value = json_true();
    return 0;
}

/* Forgets the kinds that the row lists, for the targets. */
static int
cache_clear(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *what = json_array();

    for (const char *const *table = ctx_row(ctx)->data.ptr; *table != NULL; table++)
        json_array_append_new(what, json_string(*table));
    return cache_forget(ctx, args, what, NULL, ret_value, err);
}

static int
cache_clear_mine_func(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return cache_forget(ctx, args, json_array(), value_get(args, "clear_mine_func_flag"), ret_value, err);
}

static bool
serves_gitfs(call_ctx_t *ctx)
{
    json_t *backends = value_get(ctx_opts(ctx), "fileserver_backend");

    return value_lists(backends, "gitfs");
}

/* Locks of git are the kernel's, but for those of fileserver.lock: who dies lets go. */
static int
cache_clear_git_lock(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *role = value_str(args, "role", "");
    json_auto_t *keywords = json_pack("{s:s, s:O}", "backend", "gitfs", "remote", value_get(args, "remote"));

    if (str_eq(role, "gitfs") && serves_gitfs(ctx))
        return ctx_call(ctx, "fileserver.clear_lock", NULL, keywords, ret_value, err);
    if (!str_eq(role, "gitfs") && !str_eq(role, "git_pillar") && !str_eq(role, "winrepo"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid role '%s'", role);
    *ret_value = json_string("No locks were removed");
    return 0;
}

/* ---- banks. The bank "minions" is what the master keeps of them ------------------------------ */

#define MINIONS "minions"
#define DATA    "data"
#define MINE    "mine"

static const char *
cache_cachedir(call_ctx_t *ctx)
{
    return value_str(ctx_opts(ctx), "cachedir", "");
}

static bool
is_minions(const char *bank)
{
    return str_eq(bank, MINIONS) || str_starts(bank, MINIONS "/");
}

/* The id in "minions/ID"; NULL in "minions". */
static const char *
minion_of(const char *bank)
{
    return bank[strlen(MINIONS)] == '/' ? bank + strlen(MINIONS) + 1 : NULL;
}

/* NEW {"data": {"grains", "pillar"}, "mine"}, what there is of it; NULL with *err. */
static json_t *
known_of(call_ctx_t *ctx, const char *id, fail_t *err)
{
    json_auto_t *grains = api_grains(api_of(ctx), id, err), *pillar = api_pillar(api_of(ctx), id, err);
    json_auto_t *mine = api_mine(api_of(ctx), id, err);

    if (grains == NULL || pillar == NULL || mine == NULL)
        return NULL;
    json_t *data = json_pack("{s:O*, s:O*}", "grains", json_object_get(grains, id), "pillar",
                             json_object_get(pillar, id));
    json_t *known = json_object();
    if (json_object_size(data) > 0)
        json_object_set(known, DATA, data);
    json_decref(data);
    if (json_object_get(mine, id) != NULL)
        json_object_set(known, MINE, json_object_get(mine, id));
    return known;
}

/* NEW sorted ids; NULL with *err. */
static json_t *
cache_known_minions(call_ctx_t *ctx, fail_t *err)
{
    json_t *(*const reads[])(master_api_t *, const char *, fail_t *) = { api_grains, api_pillar, api_mine };
    json_auto_t *ids = json_object(), *list = json_array();
    const char *id;
    json_t *one;

    for (size_t i = 0; i < NELEMS(reads); i++) {
        json_auto_t *all = reads[i](api_of(ctx), NULL, err);
        if (all == NULL)
            return NULL;
        json_object_foreach (all, id, one)
            json_object_set_new(ids, id, json_true());
    }
    json_object_foreach (ids, id, one)
        json_array_append_new(list, json_string(id));
    return value_sorted_texts(list);
}

/* Three levels: banks of files, ids below "minions", and below an id the names of what is known of it. */
static int
cache_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *bank = value_str(args, "bank", ""), *key;
    json_t *one;

    if (!is_minions(bank)) {
        *ret_value = bank_list(cache_cachedir(ctx), bank, err);
        return *ret_value != NULL ? 0 : -EIO;
    }
    if (minion_of(bank) == NULL) {
        *ret_value = cache_known_minions(ctx, err);
        return *ret_value != NULL ? 0 : -EIO;
    }
    json_auto_t *known = known_of(ctx, minion_of(bank), err);
    if (known == NULL)
        return -EIO;
    *ret_value = json_array();
    json_object_foreach (known, key, one)
        json_array_append_new(*ret_value, json_string(key));
    return 0;
}

/* {} where nothing is kept, as Salt's cache says. */
static int
cache_fetch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *bank = value_str(args, "bank", ""), *key = value_str(args, "key", "");

    if (!is_minions(bank) || minion_of(bank) == NULL) {
        *ret_value = bank_fetch(cache_cachedir(ctx), bank, key, err);
        return *ret_value != NULL ? 0 : -EIO;
    }
    json_auto_t *known = known_of(ctx, minion_of(bank), err);
    if (known == NULL)
        return -EIO;
    json_t *found = value_get(known, key);
    *ret_value = found != NULL ? json_incref(found) : json_object();
    return 0;
}

static int
cache_store(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *bank = value_str(args, "bank", "");

    if (is_minions(bank))
        return fail_kind(err, FAIL_COMMAND, -EPERM,
                         "The bank 'minions' is what minions have sent; nothing else is stored there");
    *ret_value = json_null();
    return bank_store(cache_cachedir(ctx), bank, value_str(args, "key", ""), value_get(args, "data"), err);
}

/* *ret_value tells whether something was there. */
static int
cache_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *bank = value_str(args, "bank", ""), *key = value_str(args, "key", NULL);

    if (is_minions(bank)) {
        /* Forgets one minion's data, or all minions'; `key` restricts it to data or mine. */
        const char *id = minion_of(bank);
        json_t *what = json_array();
        json_auto_t *tgt = id != NULL ? json_pack("{s:[s], s:s}", "tgt", id, "tgt_type", "list")
                                      : json_pack("{s:s, s:s}", "tgt", "*", "tgt_type", "glob");
        if (key == NULL || str_eq(key, DATA)) {
            json_array_append_new(what, json_string("grains"));
            json_array_append_new(what, json_string("pillar"));
        }
        if (key == NULL || str_eq(key, MINE))
            json_array_append_new(what, json_string("mine"));
        return cache_forget(ctx, tgt, what, NULL, ret_value, err);
    }
    int rc = bank_flush(cache_cachedir(ctx), bank, key, err);
    *ret_value = json_boolean(rc > 0);
    return rc < 0 ? rc : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define TGT_TYPE ARG("tgt_type", ARG_STR, "\"glob\"", "How tgt is meant")
#define KWARGS   ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake")
#define BANK     ARG("bank", ARG_STR, ARG_REQUIRED, "Name of a bank; \"a/b\" is one inside another")
#define CACHEDIR ARG("cachedir", ARG_STR, "null", "Accepted for Salt's sake: banks are below the master's")

static const arg_t grains_args[] = { ARG("tgt", ARG_ANY, ARG_REQUIRED, "Which minions"), TGT_TYPE, KWARGS,
                                     ARGS_END };
static const arg_t look_args[] = { ARG("tgt", ARG_ANY, "null", "Which minions; all when not given"), TGT_TYPE,
                                   KWARGS, ARGS_END };
static const arg_t clear_args[] = { ARG("tgt", ARG_ANY, "null", "Which minions; none when not given"),
                                    TGT_TYPE, ARGS_END };
static const arg_t clear_func_args[] = { ARG("tgt", ARG_ANY, "null", "Which minions; none when not given"),
                                         TGT_TYPE,
                                         ARG("clear_mine_func_flag", ARG_STR, "null", "The name to forget"),
                                         ARGS_END };
static const arg_t lock_args[] = { ARG("role", ARG_STR, ARG_REQUIRED, "gitfs, git_pillar or winrepo"),
                                   ARG("remote", ARG_STR, "null", "Only remotes whose URL this glob fits"),
                                   KWARGS, ARGS_END };
static const arg_t cloud_args[] = { REFUSED_ARGS, ARGS_END };
static const arg_t list_args[] = { BANK, CACHEDIR, ARGS_END };
static const arg_t fetch_args[] = { BANK, ARG("key", ARG_STR, ARG_REQUIRED, "The value's name"), CACHEDIR,
                                    ARGS_END };
static const arg_t flush_args[] = {
    BANK, ARG("key", ARG_STR, "null", "The value's name; the whole bank when not given"), CACHEDIR, ARGS_END
};
static const arg_t store_args[] = { BANK, ARG("key", ARG_STR, ARG_REQUIRED, "The value's name"),
                                    ARG("data", ARG_ANY, ARG_REQUIRED, "The value"), CACHEDIR, ARGS_END };

/* `what` of the minions, and the names that the master has for it. */
#define CLEAR(name, what, ...)                                                                               \
    ROW("clear_" name, cache_clear, clear_args, FN_ACCESS_ADMIN,                                             \
        "Forget " what " of the targeted minions. ``False`` without a target." CLI_EXAMPLE(                  \
            "salt-run cache.clear_" name " '*'"),                                                            \
        .data.ptr = (const char *const[]){ __VA_ARGS__, NULL })

static const func_t funcs[] = {
    CLEAR("all", "grains, pillar and mine", "pillar", "grains", "mine"),
    { "clear_git_lock", cache_clear_git_lock, lock_args, FN_ACCESS_ADMIN,
      "Remove the locks that keep remotes from being fetched." CLI_EXAMPLE(
          "salt-run cache.clear_git_lock gitfs\n    salt-run cache.clear_git_lock git_pillar") },
    CLEAR("grains", "the grains", "grains"),
    CLEAR("mine", "the mine", "mine"),
    { "clear_mine_func", cache_clear_mine_func, clear_func_args, FN_ACCESS_ADMIN,
      "Forget one name in the mine of the targeted minions." CLI_EXAMPLE(
          "salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'") },
    CLEAR("pillar", "the pillar", "pillar"),
    { "cloud", cache_cloud, cloud_args, FN_READONLY | FN_ACCESS_READ,
      "Refuse: there is no salt-cloud." CLI_EXAMPLE("salt-run cache.cloud 'salt*'") },
    { "fetch", cache_fetch, fetch_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return a value of a bank; an empty dictionary when there is none. The bank ``minions/ID`` has "
      "``data`` (grains and pillar) and ``mine``." CLI_EXAMPLE(
          "salt-run cache.fetch mycache mykey\n    salt-run cache.fetch minions/web1 data"),
      ABSENT("bank", "The bank '{}' has no such key; 'salt-run cache.list BANK' lists its keys") },
    { "flush", cache_flush, flush_args, FN_ACCESS_ADMIN,
      "Remove a value, or a whole bank with the banks inside." CLI_EXAMPLE(
          "salt-run cache.flush mycache mykey\n    salt-run cache.flush mycache"),
      ABSENT("bank", "The bank '{}' has nothing to remove; 'salt-run cache.list BANK' lists its keys") },
    { "grains", cache_grains, grains_args, FN_READONLY | FN_ACCESS_READ,
      "Return the grains that the targeted minions sent last, also of minions that are away.\n\ntgt\n    "
      "Which minions.\n\ntgt_type : glob\n    How ``tgt`` is meant: ``glob``, ``list``, "
      "``grain``, ..." CLI_EXAMPLE("salt-run cache.grains '*'"),
      ABSENT("tgt",
             "The master keeps no grains of a minion that matches '{}'; 'salt-key -L' lists the minions") },
    { "list", cache_list, list_args, FN_READONLY | FN_ACCESS_READ,
      "List the keys of a bank, and the banks inside." CLI_EXAMPLE(
          "salt-run cache.list mycache\n    salt-run cache.list minions"),
      ABSENT("bank", "There is no bank '{}', or nothing in it") },
    { "mine", cache_mine, look_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return what the targeted minions have put into the mine, as they sent it." CLI_EXAMPLE(
          "salt-run cache.mine"),
      ABSENT("tgt",
             "The master keeps no mine of a minion that matches '{}'; 'salt-key -L' lists the minions") },
    { "pillar", cache_pillar, look_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the pillars that the targeted minions were sent last, also of minions that are "
      "away.\n\nTargets by pillar look at these. pillar.show_pillar compiles one anew." CLI_EXAMPLE(
          "salt-run cache.pillar"),
      ABSENT("tgt",
             "The master keeps no pillar of a minion that matches '{}'; 'salt-key -L' lists the minions") },
    { "store", cache_store, store_args, FN_ACCESS_ADMIN,
      "Keep a value under a key of a bank." CLI_EXAMPLE(
          "salt-run cache.store mycache mykey 'The time has come the walrus said'") },
};

PLUGIN(runner, cache, .doc = "What the master keeps of its minions, and values in banks", FUNCS(funcs));
