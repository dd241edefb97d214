/* salt_monitor.c - beacon salt_monitor: functions whose return, when it is true, is fired. A function that is
 * the whole configuration, and no list, has its return fired in any case, as in Salt. */
#include "common/base/str.h"
#include "salt/plugin.h"

/* The one key and value of an entry {fun: {args, kwargs}}; a text alone has no value. */
static const char *
salt_monitor_fun(const json_t *entry, json_t **ret_how)
{
    void *at = json_object_iter((json_t *) entry);
    *ret_how = at != NULL ? json_object_iter_value(at) : NULL;
    return at != NULL ? json_object_iter_key(at) : json_string_value(entry);
}

/* What is wrong with the arguments of a function. NEW text, or NULL. */
static char *
salt_monitor_check(const char *fun, const json_t *how)
{
    const char *key;
    json_t *v, *pair;
    size_t i;
    json_object_foreach ((json_t *) how, key, v) {
        if (str_eq(key, "args") && !json_is_array(v))
            return xasprintf("args key for fun %s must be list", fun);
        if (str_eq(key, "kwargs") && !json_is_array(v))
            return xasprintf("kwargs key for fun %s must be list of key value pairs", fun);
        if (!str_eq(key, "args") && !str_eq(key, "kwargs"))
            return xasprintf("key %s not allowed under fun %s", key, fun);
        json_array_foreach (str_eq(key, "kwargs") ? v : NULL, i, pair)
            if (!json_is_object(pair)) {
                AUTO_FREE char *shown = value_pystr(pair);
                return xasprintf("%s is not a key / value pair", shown);
            }
    }
    return NULL;
}

static char *
salt_monitor_validate(const json_t *list, const json_t *config)
{
    json_t *funs = value_get(config, "salt_fun"), *entry, *how;
    size_t i;
    if (!json_is_string(funs) && !json_is_array(funs))
        return xstrdup(
            "Configuration for salt_monitor beacon requires salt_fun, a function or a list of them.");
    json_array_foreach (funs, i, entry) {
        const char *fun = salt_monitor_fun(entry, &how);
        char *why = fun != NULL
                        ? salt_monitor_check(fun, how)
                        : xstrdup("Configuration for salt_monitor beacon: salt_fun is a list of functions.");
        if (why != NULL)
            return why;
    }
    return NULL;
}

static int
salt_monitor_look(beacon_look_t *look, fail_t *err)
{
    json_t *funs = value_get(look->config, "salt_fun"), *entry, *how, *pair;
    json_auto_t *alone = json_is_string(funs) ? json_pack("[O]", funs) : NULL;
    size_t i, k;
    json_array_foreach (alone != NULL ? alone : funs, i, entry) {
        const char *fun = salt_monitor_fun(entry, &how);
        json_t *args = value_get(how, "args");
        json_auto_t *kwargs = json_object(), *ret = NULL;
        json_array_foreach (value_get(how, "kwargs"), k, pair)
            json_object_update(kwargs, pair);
        if (ctx_call(look->ctx, fun, args, kwargs, &ret, err) < 0)
            return err->code;
        if (alone == NULL && !value_truthy(ret))
            continue;
        json_t *event = json_pack("{s:s, s:O}", "salt_fun", fun, "ret", ret);
        if (json_array_size(args) > 0)
            json_object_set(event, "args", args);
        if (json_object_size(kwargs) > 0)
            json_object_set(event, "kwargs", kwargs);
        json_array_append_new(look->events, event);
    }
    return 0;
}

static const beacon_row_t row = { .validate = salt_monitor_validate,
                                  .look = salt_monitor_look,
                                  .every_s = 60,
                                  .calls = true,
                                  .key = "salt_fun" };

PLUGIN(beacon, salt_monitor, .doc = "Functions: fires what each returns, when that is true.", .beacon = &row);
