/* saltutil.c - runner `saltutil`: modules from the file server to the master. Everything is built in, so that
 * there is nothing to load; what lies in the folders is named in the log. */
#include "common/files/fileserver.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* Each kind of Salt's: the key in sync_all's return, and the folder. */
typedef struct kind {
    const char *key, *folder;
} kind_t;

/* Says which files are there in vain. */
static int
warn_of(call_ctx_t *ctx, const kind_t *kind, const char *saltenv, fail_t *err)
{
    AUTO(fileserver) server = fileserver_new(ctx_opts(ctx), NULL);
    json_auto_t *files = fileserver_list(server, FILES_FILES, saltenv, kind->folder, err);
    json_t *file;
    size_t i;

    if (files == NULL)
        return -EIO;
    json_array_foreach (files, i, file)
        log_warning("salt://%s is not loaded: modules are built in, Python's can't be",
                    json_string_value(file));
    return 0;
}

static int
sync_one(call_ctx_t *ctx, const kind_t *kind, const json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_array();
    return warn_of(ctx, kind, value_str(args, "saltenv", "base"), err);
}

#define SYNC(name, key, folder)                                                                              \
    static int saltutil_sync_##name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)          \
    {                                                                                                        \
        static const kind_t kind = { key, folder };                                                          \
        return sync_one(ctx, &kind, args, ret_value, err);                                                   \
    }
#define SYNC_KINDS                                                                                           \
    SYNC(clouds, "clouds", "_clouds/")                                                                       \
    SYNC(modules, "modules", "_modules/")                                                                    \
    SYNC(states, "states", "_states/")                                                                       \
    SYNC(grains, "grains", "_grains/")                                                                       \
    SYNC(renderers, "renderers", "_renderers/")                                                              \
    SYNC(returners, "returners", "_returners/")                                                              \
    SYNC(output, "output", "_output/")                                                                       \
    SYNC(proxymodules, "proxymodules", "_proxy/")                                                            \
    SYNC(runners, "runners", "_runners/")                                                                    \
    SYNC(wheel, "wheel", "_wheel/")                                                                          \
    SYNC(engines, "engines", "_engines/")                                                                    \
    SYNC(thorium, "thorium", "_thorium/")                                                                    \
    SYNC(queues, "queues", "_queues/")                                                                       \
    SYNC(pillar, "pillar", "_pillar/")                                                                       \
    SYNC(utils, "utils", "_utils/")                                                                          \
    SYNC(sdb, "sdb", "_sdb/")                                                                                \
    SYNC(cache, "cache", "_cache/")                                                                          \
    SYNC(fileserver, "fileserver", "_fileserver/")                                                           \
    SYNC(tops, "tops", "_tops/")                                                                             \
    SYNC(eauth_tokens, "tokens", "_tokens/")                                                                 \
    SYNC(serializers, "serializers", "_serializers/")                                                        \
    SYNC(executors, "executors", "_executors/")                                                              \
    SYNC(roster, "roster", "_roster/")
SYNC_KINDS
#undef SYNC

#define SYNC(name, key, folder) { key, folder },
static const kind_t kinds[] = { SYNC_KINDS };
#undef SYNC

static int
saltutil_sync_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = json_object();

    for (size_t i = 0; i < NELEMS(kinds); i++) {
        json_t *one = NULL;
        int rc = sync_one(ctx, &kinds[i], args, &one, err);
        json_object_set_new(all, kinds[i].key, one);
        if (rc < 0)
            return rc;
    }
    *ret_value = json_incref(all);
    return 0;
}

static const arg_t sync_args[] = { { "saltenv", ARG_STR, "\"base\"", "The environment to look at" },
                                   { "extmod_whitelist", ARG_ANY, "null", "Accepted for Salt's sake" },
                                   { "extmod_blacklist", ARG_ANY, "null", "Accepted for Salt's sake" },
                                   ARGS_END };

#define SYNC(name, key, folder)                                                                              \
    { "sync_" #name, saltutil_sync_##name, sync_args, FN_ACCESS_ADMIN,                                       \
      "Return an empty list: modules are built in. What lies below salt://" folder                           \
      " is named in the log." CLI_EXAMPLE("salt-run saltutil.sync_" #name) },
static const func_t funcs[] = {
    { "sync_all", saltutil_sync_all, sync_args, FN_ACCESS_ADMIN,
      "Return an empty list for each kind of module: modules are built in. What lies in the folders for such "
      "modules is named in the log." CLI_EXAMPLE("salt-run saltutil.sync_all") },
    SYNC_KINDS
};
#undef SYNC

PLUGIN(runner, saltutil, .doc = "Modules from the file server to the master", FUNCS(funcs));
