/* pkgtargets.c - packages as the user names them: a name with a version, names with commas, a list, or
 * package files. Result is {name: version or null}, or a list of paths; null when there is nothing. */
#include <strings.h>

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "plugins/lib/packages/pkg_api.h"
#include "salt/log.h"

/* A list of names and {name: version}, or the YAML text of one. NEW list, NULL when it is neither. */
static json_t *
pkgtargets_as_list(const json_t *v)
{
    fail_auto_t err = FAIL_INIT;

    if (json_is_array(v))
        return json_incref((json_t *) v);
    if (!json_is_string(v))
        return NULL;
    json_auto_t *list = yaml_load(json_string_value(v), json_string_length(v), "packages", NULL, &err);
    return json_is_array(list) ? STEAL(list) : NULL;
}

/* Without the native architecture's suffix when names are normalised. NEW. */
static char *
target_name(call_ctx_t *ctx, const char *name, pkg_normal_fn *normal)
{
    return normal != NULL ? normal(ctx, name) : xstrdup(name);
}

/* Adds one element of `pkgs` to `out`; false when it is neither a name nor {name: version}. */
static bool
take_pkg(call_ctx_t *ctx, json_t *out, json_t *element, pkg_normal_fn *normal)
{
    const char *key = NULL;
    json_t *version = json_null();

    if (json_is_object(element) && json_object_size(element) == 1) {
        key = json_object_iter_key(json_object_iter(element));
        version = json_object_iter_value(json_object_iter(element));
    } else if (!json_is_string(element) && !json_is_number(element)) {
        log_debug("packages must be names or one-element dictionaries of name and version");
        return false;
    }
    AUTO_FREE char *given = key != NULL ? xstrdup(key) : value_pystr(element);
    AUTO_FREE char *name = target_name(ctx, given, normal);
    AUTO_FREE char *text = json_is_null(version) ? NULL : value_pystr(version);
    json_object_set_new(out, name, text != NULL ? json_string(text) : json_null());
    return true;
}

/* Duplicate names are an error, as they can't be told apart afterwards. */
static int
repack(call_ctx_t *ctx, const json_t *pkgs, pkg_normal_fn *normal, json_t **ret_params, fail_t *err)
{
    json_auto_t *list = pkgtargets_as_list(pkgs), *out = json_object();
    json_t *element;
    size_t i;

    json_array_foreach (list, i, element) {
        if (!take_pkg(ctx, out, element, normal)) {
            json_object_clear(out);
            break;
        }
    }
    if (json_object_size(out) != json_array_size(list)) {
        AUTO_FREE char *shown = value_repr(list);
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "You are passing a list of packages that contains duplicated packages names: %s. This "
            "cannot be processed. In case you are targeting different versions of the same "
            "package, please target them individually",
            shown);
    }
    *ret_params = json_object_size(out) > 0 ? STEAL(out) : json_null();
    return 0;
}

/* ---- package files ------------------------------------------------------------------------- */

/* Adds the local path of one {name: source} to `paths`, fetching it when necessary. */
static int
take_source(call_ctx_t *ctx, json_t *paths, const char *name, const char *source, const char *saltenv,
            fail_t *err)
{
    static const char *const protocols[] = { "salt:", "http:", "https:", "ftp:", "s3:", "swift:" };
    bool remote = false;

    for (size_t i = 0; i < NELEMS(protocols); i++)
        remote = remote || strncasecmp(source, protocols[i], strlen(protocols[i])) == 0;
    if (!remote) {
        if (*source != '/')
            return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "Path %s for package %s is either not absolute or an invalid protocol", source,
                             name);
        json_array_append_new(paths, json_string(source));
        return 0;
    }
    AUTO_FREE char *path = pkg_cache_file(ctx, source, saltenv, err);
    if (path == NULL)
        return err->code;
    if (*path == '\0')
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Unable to cache file '%s' for package %s", source,
                         name);
    json_array_append_new(paths, json_string(path));
    return 0;
}

/* Paths of the package files, of which remote ones are fetched into the cache. */
static int
files_of(call_ctx_t *ctx, const json_t *sources, pkg_normal_fn *normal, const char *saltenv,
         json_t **ret_params, fail_t *err)
{
    json_auto_t *list = pkgtargets_as_list(sources), *packed = json_object(), *paths = json_array();
    json_t *element;
    const char *name;
    size_t i;
    int rc = 0;

    json_array_foreach (list, i, element) {
        const char *key = json_object_iter_key(json_object_iter(element));
        if (json_object_size(element) != 1 || !json_is_string(json_object_get(element, key))) {
            log_debug("sources must be a list of one-element dictionaries");
            json_object_clear(packed);
            break;
        }
        AUTO_FREE char *plain = target_name(ctx, key, normal);
        json_object_set(packed, plain, json_object_get(element, key));
    }
    json_object_foreach (packed, name, element) {
        if ((rc = take_source(ctx, paths, name, json_string_value(element), saltenv, err)) < 0)
            return rc;
    }
    *ret_params = json_array_size(paths) > 0 ? STEAL(paths) : json_null();
    return 0;
}

/* `pkgs`, then `sources`, then `name`, as Salt looks at them. */
static int
targets_of(call_ctx_t *ctx, const json_t *args, pkg_normal_fn *normal, json_t **ret_params, bool *ret_files,
           fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *pkgs = pkg_arg(args, "pkgs");
    const json_t *sources = pkg_arg(args, "sources");
    const char *name = value_str(args, "name", "");

    *ret_files = false;
    *ret_params = json_null();
    if (value_truthy(pkgs) && value_truthy(sources)) {
        log_error("Only one of \"pkgs\" and \"sources\" can be used.");
        return 0;
    }
    if (value_truthy(pkgs))
        return repack(ctx, pkgs, normal, ret_params, err);
    if (value_truthy(sources)) {
        *ret_files = true;
        return files_of(ctx, sources, normal,
                        value_str(args, "saltenv", value_str(kwargs, "saltenv", "base")), ret_params, err);
    }
    if (*name != '\0') {
        /* "a,b" with one version for all. */
        const json_t *version = pkg_arg(kwargs, "version");
        json_t *out = json_object();
        AUTO_FREE char *text = version != NULL ? value_pystr(version) : NULL;
        char **names = str_split(name, ",", false);

        for (size_t i = 0; names[i] != NULL; i++) {
            AUTO_FREE char *plain = target_name(ctx, names[i], normal);
            json_object_set_new(out, plain, text != NULL ? json_string(text) : json_null());
        }
        strv_free(names);
        *ret_params = out;
    }
    return 0;
}

/* Names become words of a command line, in front of their versions. */
int
pkg_targets(call_ctx_t *ctx, const json_t *args, pkg_normal_fn *normal, json_t **ret_params, bool *ret_files,
            fail_t *err)
{
    const char *argument = value_truthy(pkg_arg(args, "pkgs")) ? "pkgs" : "name", *name;
    int rc = targets_of(ctx, args, normal, ret_params, ret_files, err);
    json_t *v;

    json_object_foreach (*ret_params, name, v)
        rc = rc == 0 ? pkg_check_name(argument, name, err) : rc;
    if (rc < 0) {
        json_decref(*ret_params);
        *ret_params = NULL;
    }
    return rc;
}
