/* apache_conf.c - state module `apache_conf`: Debian's parts of Apache's configuration. */
#include "plugins/lib/apache/apachelinks.h"
#include "salt/state.h"

static const apachelinks_t enabled = { "conf", "apache.check_conf_enabled", "apache.a2enconf", "conf", true };
static const apachelinks_t disabled = { "conf", "apache.check_conf_enabled", "apache.a2disconf", "conf",
                                        false };

static const char *
apache_conf_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "apache.a2enconf") ? NULL : "apache module could not be loaded";
}

static const arg_t args_of_all[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Its name in conf-available"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "disabled", apachelinks_state, args_of_all, 0, "Ensure that a part of the configuration is disabled.",
      .data.ptr = &disabled },
    { "enabled", apachelinks_state, args_of_all, 0, "Ensure that a part of the configuration is enabled.",
      .data.ptr = &enabled },
};

PLUGIN(state, apache_conf, .doc = "Debian's parts of Apache's configuration", FUNCS(funcs),
       .unavailable = apache_conf_unavailable);
