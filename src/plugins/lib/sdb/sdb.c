/* sdb.c - see sdb.h. */
#include "plugins/lib/sdb/sdb.h"

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_ops.h"
#include "common/python/userfile.h"
#include "plugins/lib/sdb/driver.h"

#define SCHEME "sdb://"

/* The profile and the key of an address. 0 with NEW *profile, or a negative errno with Salt's words for what
 * is none. */
static int
sdb_parse(call_ctx_t *ctx, py_t *uri, py_t **profile, const char **key, fail_t *err)
{
    const char *text = py_is(uri, PY_STR) ? py_cstr(uri) : "";

    if (!str_starts(text, SCHEME))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "SDB uri must start with \"" SCHEME "\"");
    text += strlen(SCHEME);
    *key = strchr(text, '/');
    if (*key == NULL || (*key)[1] == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "SDB uri must have a profile name as a first part of the uri before the /");
    AUTO_FREE char *name = xstrndup(text, (size_t) (*key - text));
    json_t *own = value_get(ctx_opts(ctx), name);
    AUTO(py)
    found = value_truthy(own) ? py_from_json(own) : py_ref(py_dict_gets(ctx_native_pillar(ctx), name));
    (*key)++;
    py_t *driver = found != NULL && py_is(found, PY_DICT) ? py_dict_gets(found, "driver") : NULL;
    if (driver == NULL || !py_is(driver, PY_STR))
        return fail_kind(err, FAIL_INVOCATION, -ENOENT,
                         "SDB profile \"%s\" wasnt found in the minion configuration", name);
    *profile = STEAL(found);
    return 0;
}

static const sdb_driver_t *const drivers[] = {
#define DRIVER(name) &sdb_##name,
#include "plugins/lib/sdb/drivers.def"
#undef DRIVER
};

static py_t *
sdb_call(call_ctx_t *ctx, const char *fun, py_t *profile, const char *key, py_t *value, fail_t *err)
{
    const char *driver = py_cstr(py_dict_gets(profile, "driver"));
    const userfile_t what = { .kind = "sdb", .module = driver, .fun = fun, .unlimited = true };
    AUTO(py) args = py_list();
    AUTO(py) kwargs = py_dict();
    const sdb_driver_t *built_in = NULL;
    fail_auto_t why = FAIL_INIT;

    /* A user's file goes before the driver of its name that is built in. */
    for (size_t i = 0; built_in == NULL && i < NELEMS(drivers); i++)
        built_in = strcmp(drivers[i]->name, driver) == 0 ? drivers[i] : NULL;
    if (built_in != NULL && userfile_is_named(ctx, "sdb", driver))
        built_in = NULL;
    if (built_in != NULL) {
        sdb_get_fn *look = strcmp(fun, "get") == 0      ? built_in->get
                           : strcmp(fun, "delete") == 0 ? built_in->delete
                                                        : NULL;
        py_t *said = look != NULL    ? look(ctx, profile, key, err)
                     : value != NULL ? built_in->set(ctx, profile, key, value, err)
                                     : NULL;
        if (said == NULL && err->code == 0 && py_raised() == NULL)
            (void) fail_set(err, -ENOTSUP, "'%s.%s' is not available.", built_in->name, fun);
        return said;
    }
    py_append_new(args, py_strz(key));
    if (value != NULL)
        py_append_new(args, py_ref(value));
    py_dict_sets_new(kwargs, "profile", py_ref(profile));
    py_t *said = userfile_call(ctx, &what, args, kwargs, NULL, &why);
    if (said != NULL)
        return said;
    if (why.kind != FAIL_UNAVAILABLE)
        (void) fail_set(err, why.code, "sdb driver %s: %s", driver, fail_text(&why));
    else if (*fail_text(&why) != '\0')
        (void) fail_set(err, why.code, "'%s' __virtual__ returned False: %s", driver, fail_text(&why));
    else
        (void) fail_set(err, why.code, "'%s.%s' is not available.", driver, fun);
    return NULL;
}

py_t *
sdb_get(call_ctx_t *ctx, py_t *uri, bool strict, fail_t *err)
{
    AUTO(py) profile = NULL;
    fail_auto_t why = FAIL_INIT;
    const char *key = NULL;

    if (sdb_parse(ctx, uri, &profile, &key, strict ? err : &why) == 0)
        return sdb_call(ctx, "get", profile, key, NULL, err);
    return strict ? NULL : py_ref(uri);
}

py_t *
sdb_change(call_ctx_t *ctx, const char *fun, py_t *uri, py_t *value, fail_t *err)
{
    AUTO(py) profile = NULL;
    fail_auto_t why = FAIL_INIT;
    const char *key = NULL;

    if (sdb_parse(ctx, uri, &profile, &key, &why) < 0)
        return py_bool(false);
    return sdb_call(ctx, fun, profile, key, value, err);
}
