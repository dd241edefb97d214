/* pkg.c - beacon pkg: packages that were installed or removed, or have an upgrade now, by functions of the
 * module `pkg`. The state of each package is kept between looks; the first look only learns it. */
#include "common/base/str.h"
#include "salt/plugin.h"

static char *
beacon_pkg_validate(const json_t *list, const json_t *config)
{
    if (!json_is_array(value_get(config, "pkgs")))
        return xstrdup("Configuration for pkg beacon requires list of pkgs.");
    return NULL;
}

/* NEW return of a function of the module `pkg` on one package, or NULL with *err. */
static json_t *
beacon_pkg_ask(beacon_look_t *look, const char *fun, const char *name, const char *key, bool value,
               fail_t *err)
{
    json_auto_t *args = json_pack("[s]", name), *kwargs = json_pack("{s:b}", key, value);
    json_t *said = NULL;
    return ctx_call(look->ctx, fun, args, kwargs, &said, err) == 0 ? said : NULL;
}

static int
beacon_pkg_look(beacon_look_t *look, fail_t *err)
{
    bool refresh = value_bool(look->config, "refresh", false);
    json_t *one;
    size_t i;
    json_array_foreach (value_get(look->config, "pkgs"), i, one) {
        const char *name = json_is_string(one) ? json_string_value(one) : "";
        json_auto_t *version = beacon_pkg_ask(look, "pkg.version", name, "use_context", false, err);
        if (version == NULL)
            return err->code;
        const char *state = "not-installed";
        json_auto_t *shown = json_null();
        if (value_truthy(version)) {
            json_auto_t *latest = beacon_pkg_ask(look, "pkg.latest_version", name, "refresh", refresh, err);
            if (latest == NULL)
                return err->code;
            refresh = false; /* one refresh of the lists is enough for all packages of a look */
            state = value_truthy(latest) ? "upgrade" : "installed";
            shown = json_incref(value_truthy(latest) ? latest : version);
        }
        const char *before = value_str(look->context, name, NULL);
        if (before != NULL && !str_eq(before, state))
            json_array_append_new(
                look->events, json_pack("{s:s, s:O, s:s}", "pkg", name, "version", shown, "status", state));
        json_object_set_new(look->context, name, json_string(state));
    }
    return 0;
}

static const beacon_row_t row = {
    .validate = beacon_pkg_validate, .look = beacon_pkg_look, .every_s = 3600, .calls = true, .edges = true
};

PLUGIN(beacon, pkg, .doc = "Packages: fires when one was installed or removed, or when an upgrade appears.",
       .beacon = &row);
