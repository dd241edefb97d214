/* pillar.c - runner `pillar`: compiles a minion's pillar and top file in this process, with the grains that
 * the minion sent last. */
#include "common/base/str.h"
#include "common/pillar/pillar.h"
#include "common/py/py_json.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "runners/lib/cached.h"
#include "salt/plugin.h"
#include "salt/log.h"

/* The grains that a minion sent last, changed by keywords; where it never sent any, Salt's stand-in. NEW, or
 * NULL with *err. */
static json_t *
grains_of(call_ctx_t *ctx, const char *id, json_t *changes, fail_t *err)
{
    json_auto_t *known = api_grains(api_of(ctx), id, err);
    json_t *grains = json_object_get(known, id), *v;
    const char *key;

    if (known == NULL)
        return NULL;
    if (!json_is_object(grains) && *id != '\0' && !str_eq(id, "*"))
        ctx_absent(
            ctx,
            "No minion '%s' has told its grains here: this is what one without grains would get; 'salt-key -L' "
            "lists the minions",
            id);
    grains = json_is_object(grains) ? json_deep_copy(grains) : json_pack("{s:s}", "fqdn", id);
    json_object_foreach (changes, key, v)
        if (strcmp(key, "saltenv") != 0 && strcmp(key, "pillarenv") != 0 && !str_starts(key, "__"))
            json_object_set(grains, key, v);
    return grains;
}

/* Compiles the pillar as for the minion itself; its grains count as a minion's words. */
static int
pillar_show_pillar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs");
    const char *id = value_str(args, "minion", "*");
    json_auto_t *grains = grains_of(ctx, id, kwargs, err);
    pillar_env_t env = { .opts = ctx_opts(ctx),
                         .registry = api_modules(api_of(ctx)),
                         .id = id,
                         .grains = grains,
                         .peer_grains = true,
                         .saltenv = value_str(kwargs, "saltenv", "base"),
                         .pillarenv = value_str(kwargs, "pillarenv", NULL) };
    log_for_minion(id);
    AUTO(py) pillar = grains != NULL ? pillar_compile(&env, err) : NULL;

    log_for_minion("");
    if (pillar == NULL)
        return -EIO;
    *ret_value = py_to_json(pillar);
    if (*ret_value != NULL)
        return 0;
    int rc = fail_set(err, -EINVAL, "the pillar can't be shown: %s", py_raised_text());
    py_clear();
    return rc;
}

static int
pillar_show_top(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *id = value_str(args, "minion", "");
    json_auto_t *grains = grains_of(ctx, id, NULL, err);
    json_auto_t *errors = NULL;
    pillar_env_t env = { .opts = ctx_opts(ctx),
                         .registry = api_modules(api_of(ctx)),
                         .id = id,
                         .grains = grains,
                         .peer_grains = true,
                         .saltenv = value_str(args, "saltenv", "base") };
    json_auto_t *top = grains != NULL ? pillar_top(&env, &errors, err) : NULL;

    if (top == NULL)
        return -EIO;
    if (json_array_size(errors) > 0) {
        ctx_set_retcode(ctx, 1);
        *ret_value = STEAL(errors);
    } else {
        *ret_value = STEAL(top);
    }
    return 0;
}

/* Shows the master's cached pillars of the targets: as cache.pillar, when the option pillar_cache is on. */
static int
pillar_show_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *tgt = json_pack("{s:O, s:s}", "tgt", value_get(args, "minion"), "tgt_type", "glob");

    if (value_bool(ctx_opts(ctx), "pillar_cache", false))
        return cached_of(ctx, tgt, api_pillar, ret_value, err);
    *ret_value = json_false();
    return 0;
}

/* Salt returns what is left in the cache: nothing. */
static int
pillar_clear_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *request = json_pack("{s:O, s:s, s:[s]}", "tgt", value_get(args, "minion"), "tgt_type", "glob",
                                "what", "kept_pillar");

    if (!value_bool(ctx_opts(ctx), "pillar_cache", false)) {
        json_decref(request);
        *ret_value = json_false();
        return 0;
    }
    json_auto_t *reply = ask_master_with(ctx, "forget", &request, err);
    *ret_value = json_object();
    return reply != NULL ? 0 : -EIO;
}

static const arg_t cache_args[] = {
    ARG("minion", ARG_STR, "\"*\"", "Whose pillars: a glob"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "saltenv and pillarenv; accepted for Salt's sake"),
    ARGS_END,
};

static const arg_t show_pillar_args[] = {
    ARG("minion", ARG_STR, "\"*\"", "Whose pillar; * is one of no minion, without grains"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "saltenv and pillarenv; others are grains for this call"),
    ARGS_END,
};

static const arg_t show_top_args[] = {
    ARG("minion", ARG_STR, "null", "With whose grains the top file is rendered"),
    ARG("saltenv", ARG_STR, "\"base\"", "The environment"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "clear_pillar_cache", pillar_clear_cache, cache_args, FN_ACCESS_ADMIN,
      "Forget the compiled pillars of the minions that a glob matches, so that the next question compiles "
      "them anew. ``False`` unless the option pillar_cache is on: without it nothing is kept longer than "
      "its sources stay as they are." CLI_EXAMPLE("salt-run pillar.clear_pillar_cache 'minion'") },
    { "show_pillar_cache", pillar_show_cache, cache_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the pillars as they were compiled last. ``False`` unless the option pillar_cache is "
      "on." CLI_EXAMPLE("salt-run pillar.show_pillar_cache 'minion'") },
    { "show_pillar", pillar_show_pillar, show_pillar_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the pillar of a minion, compiled for this call with the grains that it sent "
      "last.\n\nFurther keywords are grains of this call." CLI_EXAMPLE(
          "salt-run pillar.show_pillar\n    salt-run pillar.show_pillar 'www.example.com'\n    "
          "salt-run pillar.show_pillar os=Fedora") },
    { "show_top", pillar_show_top, show_top_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the pillar's top files as they come to after merging." CLI_EXAMPLE(
          "salt-run pillar.show_top\n    salt-run pillar.show_top 'www.example.com'") },
};

PLUGIN(runner, pillar, .doc = "Pillar as the master compiles it", FUNCS(funcs));
