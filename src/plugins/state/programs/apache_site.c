/* apache_site.c - state module `apache_site`: Debian's sites for Apache. */
#include "plugins/lib/apache/apachelinks.h"
#include "salt/state.h"

static const apachelinks_t enabled = { "site", "apache.check_site_enabled", "apache.a2ensite", "site", true };
static const apachelinks_t disabled = { "site", "apache.check_site_enabled", "apache.a2dissite", "site",
                                        false };

static const char *
apache_site_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "apache.a2ensite") ? NULL : "apache module could not be loaded";
}

static const arg_t args_of_all[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Its name in sites-available"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "disabled", apachelinks_state, args_of_all, 0, "Ensure that a site is disabled.",
      .data.ptr = &disabled },
    { "enabled", apachelinks_state, args_of_all, 0, "Ensure that a site is enabled.", .data.ptr = &enabled },
};

PLUGIN(state, apache_site, .doc = "Debian's sites for Apache", FUNCS(funcs),
       .unavailable = apache_site_unavailable);
