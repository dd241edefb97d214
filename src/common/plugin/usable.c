/* usable.c - see usable.h. A name in the options matches a module by its own name or by its file's name in
 * Salt. */
#include "common/plugin/usable.h"

#include "common/base/str.h"
#include "common/plugin/ctx.h"

/* Modules whose file in Salt has another name than the one that users type. */
static const struct {
    const char *file, *module;
} salt_files[] = {
    { "aptpkg", "pkg" },
    { "cmdmod", "cmd" },
    { "debian_service", "service" },
    { "groupadd", "group" },
    { "linux_shadow", "shadow" },
    { "logmod", "log" },
    { "mod_random", "random" },
    { "systemd_service", "service" },
    { "useradd", "user" },
};

static bool
lists(const json_t *names, const char *module)
{
    for (size_t i = 0; i < NELEMS(salt_files); i++)
        if (str_eq(salt_files[i].module, module) && value_lists(names, salt_files[i].file))
            return true;
    return value_lists(names, module);
}

bool
plugin_is_disabled(call_ctx_t *ctx, const plugin_t *p)
{
    return p->kind == PLUGIN_EXEC && lists(value_get(ctx->opts, "disable_modules"), plugin_name(p));
}

bool
plugin_may_be_named(call_ctx_t *ctx, const char *fun)
{
    json_t *only = value_get(ctx->opts, "whitelist_modules");
    AUTO_FREE char *module = xstrndup(fun, strcspn(fun, "."));

    return json_array_size(only) == 0 || lists(only, module);
}
