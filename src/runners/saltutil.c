/* saltutil.c - runner `saltutil`: copies custom modules from the file server to the master's
 * extension_modules, one function for each of Salt's kinds. */
#include "common/base/str.h"
#include "common/files/extmods.h"
#include "common/masterctx/masterctx.h"
#include "master/api.h"

/* Copies one kind of custom modules from the environments. Names of changed modules are the return. */
static int
sync_one(call_ctx_t *ctx, const char *form, const json_t *args, json_t **ret_value)
{
    json_auto_t *envs = json_array();
    char **words = str_split(value_str(args, "saltenv", "base"), ",", true);
    extmods_t what = { .form = form,
                       .envs = envs,
                       .only = value_get(args, "extmod_whitelist"),
                       .never = value_get(args, "extmod_blacklist") };
    masterctx_env_t env = { .tables = api_host(api_of(ctx)), .opts = ctx_opts(ctx), .jid = ctx_jid(ctx) };
    AUTO(masterctx) master = masterctx_new(&env);

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(envs, json_string(words[i]));
    strv_free(words);
    *ret_value = extmods_sync(masterctx_ctx(master), &what);
    return 0;
}

/* Salt's kinds, in the order of sync_all: function, key in sync_all's return, folder. */
#define SYNC_KINDS                                                                                           \
    SYNC(clouds, "clouds", "clouds")                                                                         \
    SYNC(modules, "modules", "modules")                                                                      \
    SYNC(states, "states", "states")                                                                         \
    SYNC(grains, "grains", "grains")                                                                         \
    SYNC(renderers, "renderers", "renderers")                                                                \
    SYNC(returners, "returners", "returners")                                                                \
    SYNC(output, "output", "output")                                                                         \
    SYNC(proxymodules, "proxymodules", "proxy")                                                              \
    SYNC(runners, "runners", "runners")                                                                      \
    SYNC(wheel, "wheel", "wheel")                                                                            \
    SYNC(engines, "engines", "engines")                                                                      \
    SYNC(thorium, "thorium", "thorium")                                                                      \
    SYNC(queues, "queues", "queues")                                                                         \
    SYNC(pillar, "pillar", "pillar")                                                                         \
    SYNC(utils, "utils", "utils")                                                                            \
    SYNC(sdb, "sdb", "sdb")                                                                                  \
    SYNC(cache, "cache", "cache")                                                                            \
    SYNC(fileserver, "fileserver", "fileserver")                                                             \
    SYNC(tops, "tops", "tops")                                                                               \
    SYNC(eauth_tokens, "tokens", "tokens")                                                                   \
    SYNC(serializers, "serializers", "serializers")                                                          \
    SYNC(executors, "executors", "executors")                                                                \
    SYNC(roster, "roster", "roster")

static int
saltutil_sync(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sync_one(ctx, ctx_row(ctx)->data.text, args, ret_value);
}

#define SYNC(name, key, folder) { key, folder },
static const struct {
    const char *key, *folder;
} kinds[] = { SYNC_KINDS };
#undef SYNC

static int
runners_saltutil_sync_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object();
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        json_t *one = NULL;
        (void) sync_one(ctx, kinds[i].folder, args, &one);
        json_object_set_new(*ret_value, kinds[i].key, one);
    }
    return 0;
}

static const arg_t sync_args[] = {
    ARG("saltenv", ARG_STR, "\"base\"", "The environment, or several with commas between"),
    ARG("extmod_whitelist", ARG_ANY, "null", "Only these: {kind: [name]}"),
    ARG("extmod_blacklist", ARG_ANY, "null", "Not these: {kind: [name]}"), ARGS_END
};

#define SYNC(name, key, folder)                                                                              \
    { "sync_" #name,                                                                                         \
      saltutil_sync,                                                                                         \
      sync_args,                                                                                             \
      FN_ACCESS_ADMIN,                                                                                       \
      "Copy what lies below salt://_" folder                                                                 \
      " to the master's extension_modules, and return what came or changed. The next call loads "            \
      "them." CLI_EXAMPLE("salt-run saltutil.sync_" #name),                                                  \
      .data.text = folder },
static const func_t funcs[] = { { "sync_all", runners_saltutil_sync_all, sync_args, FN_ACCESS_ADMIN,
                                  "Copy custom modules of all kinds to the master's extension_modules, and "
                                  "return what came or changed, by "
                                  "kind. The next call loads them." CLI_EXAMPLE(
                                      "salt-run saltutil.sync_all") },
                                SYNC_KINDS };
#undef SYNC

PLUGIN(runner, saltutil, .doc = "Custom modules from the file server to the master", FUNCS(funcs));
