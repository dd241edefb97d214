/* saltutil_sync.c - more of execution module `saltutil`: copies custom modules from the file server, one
 * function for each of Salt's kinds, from the environments of the call or those whose top file targets this
 * minion. Modules that changed are the return; afterwards the minion is told to reload. */
#include "salt/plugin.h"

#include <dirent.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/extmods.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/log.h"

/* ---- environments ------------------------------------------------------------------------- */

#define ENVS_KEY "saltutil._top_file_envs"
#define KEEP_KEY "saltutil._top_file_unsure" /* true: the pillar has errors */

/* NEW {environment: [SLS]} of this minion, whatever state runs are under way; empty when there is no top
 * file. NULL with *err when it can't be known: what is in the environments that were not seen is not to be
 * cleaned away. A state run under way does not hinder it. With errors in the pillar, which a module that is synchronised
 * may mend, the top file may target less than it should, so that nothing is removed then. */
static json_t *
read_top(call_ctx_t *ctx, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    fail_auto_t why = FAIL_INIT;

    if (stateopts_open(&opts, ctx, NULL, NULL, &why) < 0) {
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "Unable to render top file(s): %s", fail_text(&why));
        return NULL;
    }
    if (json_array_size(opts.pillar_errors) > 0) {
        log_warning("The pillar has errors, so that no custom module is removed: %s",
                    json_string_value(json_array_get(opts.pillar_errors, 0)));
        json_object_set_new(ctx_context(ctx), KEEP_KEY, json_true());
    }
    json_auto_t *top = highstate_top(opts.high, errors);
    const char *problem = highstate_top_problem(opts.high);
    if (problem == NULL && json_array_size(errors) == 0)
        return json_incref(top);
    if (problem != NULL)
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", problem);
    else
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "Unable to render top file(s): %s",
                         json_string_value(json_array_get(errors, 0)));
    return NULL;
}

/* NEW list: what was asked for, as text with commas or a list. A job that syncs several kinds renders the top
 * file once. */
static json_t *
wanted_envs(call_ctx_t *ctx, json_t *given, fail_t *err)
{
    if (given == NULL || json_is_null(given)) {
        /* Environments of the top file that target this minion, or base; computed once per job. */
        json_t *known = value_get(ctx_context(ctx), ENVS_KEY), *v;
        const char *env;
        if (known != NULL)
            return json_incref(known);
        json_auto_t *top = read_top(ctx, err);
        if (top == NULL)
            return NULL;
        json_t *envs = json_array();
        json_object_foreach (top, env, v)
            json_array_append_new(envs, json_string(env));
        if (json_array_size(envs) == 0)
            json_array_append_new(envs, json_string("base"));
        json_object_set(ctx_context(ctx), ENVS_KEY, envs);
        return envs;
    }
    if (json_is_array(given))
        return json_incref(given);
    AUTO_FREE char *text = value_pystr(given);
    json_t *envs = json_array();
    char **parts = str_split(text, ",", false);
    for (char **p = parts; *p != NULL; p++)
        json_array_append_new(envs, json_string(*p));
    strv_free(parts);
    return envs;
}

/* ---- one kind ----------------------------------------------------------------------------- */

typedef enum after { NOTHING, MODULES, BEACONS, PILLAR, GRAINS } after_t;

/* Salt's functions after a sync; who has nobody to tell is not the worse for it. The functions are called by
 * name, so that a user's own of that name takes part. */
static void
saltutil_sync_refresh(call_ctx_t *ctx, after_t after)
{
    static const char *const funs[] = { NULL, "saltutil.refresh_modules", "saltutil.refresh_beacons",
                                        "saltutil.refresh_pillar", "saltutil.refresh_grains" };
    fail_auto_t why = FAIL_INIT;
    json_auto_t *ret = NULL;

    if (funs[after] != NULL)
        (void) ctx_call(ctx, funs[after], NULL, NULL, &ret, &why);
}

/* Synchronises one kind from the environments. *ret_value NEW list of names that changed. */
static int
sync_form(call_ctx_t *ctx, const json_t *args, const char *form, json_t **ret_value, fail_t *err)
{
    json_auto_t *envs = wanted_envs(ctx, value_get(args, "saltenv"), err);
    extmods_t what = { .form = form,
                       .envs = envs,
                       .only = value_get(args, "extmod_whitelist"),
                       .never = value_get(args, "extmod_blacklist"),
                       .keep = json_is_true(value_get(ctx_context(ctx), KEEP_KEY)) };

    if (envs == NULL)
        return -EIO;
    *ret_value = extmods_sync(ctx, &what);
    return 0;
}

/* Refreshes only when the call asks for it. New grains without a change need no reading again, but the pillar
 * may use what else came. */
static int
sync_and_refresh(call_ctx_t *ctx, json_t *args, const char *form, after_t after, json_t **ret_value,
                 fail_t *err)
{
    int rc = sync_form(ctx, args, form, ret_value, err);

    if (rc == 0 && value_bool(args, "refresh", false))
        saltutil_sync_refresh(ctx, after == GRAINS && json_array_size(*ret_value) == 0 ? PILLAR : after);
    return rc;
}

/* Folder, function, whether it refreshes unless told otherwise, and what. In Salt's order of sync_all. */
#define FORMS(X)                                                                                             \
    X(clouds, MODULES)                                                                                       \
    X(beacons, BEACONS)                                                                                      \
    X(modules, MODULES)                                                                                      \
    X(states, MODULES)                                                                                       \
    X(sdb, NOTHING)                                                                                          \
    X(grains, GRAINS)                                                                                        \
    X(renderers, MODULES)                                                                                    \
    X(returners, MODULES)                                                                                    \
    X(output, MODULES)                                                                                       \
    X(utils, MODULES)                                                                                        \
    X(log_handlers, MODULES)                                                                                 \
    X(executors, MODULES)                                                                                    \
    X(proxymodules, MODULES)                                                                                 \
    X(engines, MODULES)                                                                                      \
    X(thorium, MODULES)                                                                                      \
    X(serializers, MODULES)                                                                                  \
    X(matchers, MODULES)

/* Maps a kind to its folder on the minion where both names differ. */
static const char *
saltutil_sync_folder_of(const char *kind)
{
    return strcmp(kind, "proxymodules") == 0 ? "proxy" : kind;
}

typedef struct form {
    const char *kind;
    after_t after;
} form_t;
#define FORM(kind, after) static const form_t form_##kind = { #kind, after };
FORMS(FORM)
#undef FORM

/* The row has the kind. *ret_value is the list of names. */
static int
saltutil_sync_form(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const form_t *form = ctx_row(ctx)->data.ptr;

    return sync_and_refresh(ctx, args, saltutil_sync_folder_of(form->kind), form->after, ret_value, err);
}

/* The file server of this minion is its own. */
static bool
is_masterless(call_ctx_t *ctx)
{
    return strcmp(value_str(ctx_opts(ctx), "file_client", "remote"), "local") == 0;
}

/* Pillar modules run where pillars are compiled, which is the master unless there is none. */
static int
saltutil_sync_pillar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (!is_masterless(ctx))
        return fail_kind(err, FAIL_COMMAND, -EPERM,
                         "Pillar modules can only be synced to masterless minions");
    return sync_and_refresh(ctx, args, "pillar", PILLAR, ret_value, err);
}

/* {kind: [names]} of all kinds; one refresh at the end covers what each would ask for. A kind that can't be
 * fetched ends the call, and those before it have been synchronised. */
static int
saltutil_sync_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
#define NAME(kind, after) #kind,
    static const char *const kinds[] = { FORMS(NAME) "pillar" };
#undef NAME
    json_auto_t *all = json_object();
    size_t n = is_masterless(ctx) ? NELEMS(kinds) : NELEMS(kinds) - 1;

    for (size_t i = 0; i < n; i++) {
        json_t *one = NULL;
        int rc = sync_form(ctx, args, saltutil_sync_folder_of(kinds[i]), &one, err);
        if (rc < 0)
            return rc;
        json_object_set_new(all, kinds[i], one);
    }
    if (value_bool(args, "refresh", true))
        saltutil_sync_refresh(ctx, json_array_size(value_get(all, "grains")) > 0 ? GRAINS : PILLAR);
    *ret_value = json_incref(all);
    return 0;
}

/* ---- what there is ------------------------------------------------------------------------ */

/* Names of modules below a folder, without their suffixes. Packages are folders, whose files count one by
 * one; names are cut at the first dot, as by Salt. */
static int
add_stems(const char *dir, json_t *stems, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(dir, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(dir, names[i]);
        json_auto_t *stem = value_utf8(names[i], strcspn(names[i], "."));
        int folder = fs_look_dir(path, err);
        if (folder == 0)
            json_object_set_new(stems, json_string_value(stem), json_null());
        rc = folder > 0 ? add_stems(path, stems, err) : folder;
    }
    strv_free(names);
    return rc;
}

/* {kind: [names]} of the synchronised custom modules. What was synchronised, whether or not it can be
 * loaded. */
static int
saltutil_list_extmods(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "extmods");
    char **names = NULL;
    int rc = fs_names(dir, &names, err);
    json_auto_t *ret = json_object();
    const char *stem;
    json_t *v;

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(dir, names[i]);
        json_auto_t *stems = json_object(), *list = json_array();
        if (names[i][0] == '.')
            continue;
        rc = add_stems(path, stems, err);
        json_object_foreach (stems, stem, v)
            json_array_append_new(list, json_string(stem));
        json_object_set(ret, names[i], list);
    }
    strv_free(names);
    if (rc == 0)
        *ret_value = json_incref(ret);
    return rc;
}

/* ---- table -------------------------------------------------------------------------------- */

#define ROW_ENV                                                                                              \
    ARG("saltenv", ARG_ANY, "null", "Environments of the file server; by default those of the top file")
#define ROWS_LISTS                                                                                           \
    ARG("extmod_whitelist", ARG_ANY, "null", "Only these: names with commas, or lists by kind"),             \
        ARG("extmod_blacklist", ARG_ANY, "null", "Not these: names with commas, or lists by kind")
#define ROW_CLEAN                                                                                            \
    ARG("clean_pillar_cache", ARG_BOOL, "false", "Accepted: a refresh compiles the pillar anew in any case")
static const arg_t sync_args[] = {
    ROW_ENV, ARG("refresh", ARG_BOOL, "true", "Refresh afterwards"), ROWS_LISTS, ROW_CLEAN, ARGS_END,
};
static const arg_t sync_quiet_args[] = {
    ROW_ENV, ARG("refresh", ARG_BOOL, "false", "Refresh afterwards"), ROWS_LISTS, ROW_CLEAN, ARGS_END,
};
static const arg_t sync_sdb_args[] = {
    ROW_ENV,
    ROWS_LISTS,
    ARGS_END,
};

#define SYNC_BY(fn, form, name, folder, args)                                                                \
    ROW("sync_" name, fn, args, 0,                                                                           \
        "Copy custom modules from ``salt://_" folder                                                         \
        "`` to this minion and return the names of those that came or changed. What the file server "        \
        "has no longer is removed (option ``clean_dynamic_modules``)." CLI_EXAMPLE(                          \
            "salt '*' saltutil.sync_" name "\n    salt '*' saltutil.sync_" name " saltenv=dev"),             \
        .data.ptr = form)
#define SYNC_FROM(name, kind, folder, args) SYNC_BY(saltutil_sync_form, &form_##kind, name, folder, args)
#define SYNC(kind, args)                    SYNC_FROM(#kind, kind, #kind, args)

static const func_t funcs[] = {
    { "list_extmods", saltutil_list_extmods, NULL, FN_READONLY,
      "List the custom modules in the minion's cache." CLI_EXAMPLE("salt '*' saltutil.list_extmods") },
    { "sync_all", saltutil_sync_all, sync_args, 0,
      "Copy custom modules of every kind and refresh the pillar. Returns what came or changed, by "
      "kind." CLI_EXAMPLE("salt '*' saltutil.sync_all\n    salt '*' saltutil.sync_all saltenv=base,dev") },
    SYNC(beacons, sync_args),
    SYNC(clouds, sync_args),
    SYNC(engines, sync_quiet_args),
    SYNC(executors, sync_args),
    SYNC(grains, sync_args),
    SYNC(log_handlers, sync_args),
    SYNC(matchers, sync_quiet_args),
    SYNC(modules, sync_args),
    SYNC(output, sync_args),
    SYNC_FROM("outputters", output, "output", sync_args),
    SYNC_BY(saltutil_sync_pillar, NULL, "pillar", "pillar", sync_args),
    SYNC_FROM("proxymodules", proxymodules, "proxy", sync_quiet_args),
    SYNC(renderers, sync_args),
    SYNC(returners, sync_args),
    SYNC(sdb, sync_sdb_args),
    SYNC(serializers, sync_args),
    SYNC(states, sync_args),
    SYNC(thorium, sync_quiet_args),
    SYNC(utils, sync_args),
};

PLUGIN(exec, saltutil_sync, .provides = "saltutil", .doc = "Custom modules of this minion", FUNCS(funcs));
