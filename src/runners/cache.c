/* cache.c - runner `cache`: what the master keeps of its minions. */
#include "master/api.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

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
    json_auto_t *ids = ask_targets(ctx, args, err);
    json_auto_t *all = ids != NULL ? api_pillar(api_of(ctx), NULL, err) : NULL;
    json_t *out, *id, *one;
    size_t i;

    if (all == NULL)
        return -EIO;
    out = json_object();
    json_array_foreach (ids, i, id)
        if ((one = json_object_get(all, json_string_value(id))) != NULL)
            json_object_set(out, json_string_value(id), one);
    *ret_value = out;
    return 0;
}

static const arg_t target_args[] = { { "tgt", ARG_ANY, ARG_REQUIRED, "Which minions" },
                                     { "tgt_type", ARG_STR, "\"glob\"", "How tgt is meant" },
                                     { "kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake" },
                                     ARGS_END };

static const arg_t pillar_args[] = { { "tgt", ARG_ANY, "\"*\"", "Which minions" },
                                     { "tgt_type", ARG_STR, "\"glob\"", "How tgt is meant" },
                                     { "kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake" },
                                     ARGS_END };

static const func_t funcs[] = {
    { "grains", cache_grains, target_args, FN_READONLY | FN_ACCESS_READ,
      "Return the grains that the targeted minions sent last, also of minions that are away.\n\ntgt\n    "
      "Which "
      "minions.\n\ntgt_type : glob\n    How ``tgt`` is meant: ``glob``, ``list``, "
      "``grain``, ..." CLI_EXAMPLE("salt-run cache.grains '*'") },
    { "pillar", cache_pillar, pillar_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the pillars that the targeted minions were sent last, also of minions that are "
      "away.\n\nTargets "
      "by pillar look at these. pillar.show_pillar compiles one anew." CLI_EXAMPLE("salt-run cache.pillar") },
};

PLUGIN(runner, cache, .doc = "What the master keeps of its minions", FUNCS(funcs));
