/* apache_module.c - state module `apache_module`: Debian's modules for Apache. */
#include "plugins/lib/apache/apachelinks.h"
#include "salt/state.h"

static const apachelinks_t enabled = { "module", "apache.check_mod_enabled", "apache.a2enmod", "mod", true };
static const apachelinks_t disabled = { "module", "apache.check_mod_enabled", "apache.a2dismod", "mod",
                                        false };

static const char *
apache_module_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "apache.a2enmod") ? NULL : "apache module could not be loaded";
}

static const arg_t args_of_all[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Its name in mods-available"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "disabled", apachelinks_state, args_of_all, 0, "Ensure that a module is disabled.",
      .data.ptr = &disabled },
    { "enabled", apachelinks_state, args_of_all, 0, "Ensure that a module is enabled.",
      .data.ptr = &enabled },
};

PLUGIN(state, apache_module, .doc = "Debian's modules for Apache", FUNCS(funcs),
       .unavailable = apache_module_unavailable);
