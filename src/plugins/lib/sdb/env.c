/* env.c - driver `env` of sdb: variables of the environment. */
#include "common/py/py_json.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/sdb/driver.h"

static py_t *
sdb_env_get(call_ctx_t *ctx, py_t *profile, const char *key, fail_t *err)
{
    json_auto_t *found = sub_call(ctx, err, "environ.item", "{s:s, s:n}", "keys", key, "default");

    return found != NULL ? py_from_json(value_get(found, key)) : NULL;
}

/* A variable that is there keeps its value, which is the result, as with Python's os.environ.setdefault. */
static py_t *
sdb_env_set(call_ctx_t *ctx, py_t *profile, const char *key, py_t *value, fail_t *err)
{
    AUTO(py) now = sdb_env_get(ctx, profile, key, err);
    json_auto_t *text = py_to_json(value), *done = NULL;

    if (now == NULL || !py_is(now, PY_NONE))
        return STEAL(now);
    if (!json_is_string(text)) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "str expected, not %s", py_type_name(value));
        return NULL;
    }
    done = sub_call(ctx, err, "environ.setval", "{s:s, s:O}", "key", key, "val", text);
    return done != NULL ? py_ref(value) : NULL;
}

const sdb_driver_t sdb_env = { .name = "env", .get = sdb_env_get, .set = sdb_env_set };
