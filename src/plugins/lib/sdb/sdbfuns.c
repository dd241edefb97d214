/* sdbfuns.c - see sdbfuns.h. What is no address is returned as it is, as by Salt. */
#include "plugins/lib/sdb/sdbfuns.h"

#include "common/base/secrettext.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/sdb/sdb.h"

enum { HASH_MAX = 1024 * 1024 };
#define HASH_CHARS "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"

/* An unknown profile gives the address back, or with `strict` an error. */
py_t *
sdb_fn_get(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return sdb_get(ctx, py_dict_gets(args, "uri"), pyarg_flag(args, "strict"), err);
}

/* The row's own name is the driver's function too. */
py_t *
sdb_fn_change(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return sdb_change(ctx, ctx_row(ctx)->name, py_dict_gets(args, "uri"), py_dict_gets(args, "value"), err);
}

/* NEW, or NULL with *err. */
static py_t *
sdb_new_hash(py_t *args, fail_t *err)
{
    json_auto_t *length = py_to_json(py_dict_gets(args, "length"));
    const char *chars = pyarg_text(args, "chars", HASH_CHARS);
    json_int_t n = json_integer_value(length);

    if (!json_is_integer(length) || n > HASH_MAX || *chars == '\0') {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "length is a number up to %d, and there must be characters to choose from",
                         HASH_MAX);
        return NULL;
    }
    AUTO_FREE char *text = secret_text(chars, n > 0 ? (size_t) n : 0);
    return py_str(text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

/* A value that is there is returned; else one is made, kept and returned. Two minions at once may both make
 * one: no store here has a way to compare and set. */
py_t *
sdb_fn_hash(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *uri = py_dict_gets(args, "uri");

    if (!py_is(uri, PY_STR) || !str_starts(py_cstr(uri), "sdb://"))
        return py_bool(false);
    AUTO(py) kept = sdb_get(ctx, uri, false, err);
    if (kept == NULL || !py_is(kept, PY_NONE))
        return STEAL(kept);
    AUTO(py) fresh = sdb_new_hash(args, err);
    AUTO(py) done = fresh != NULL ? sdb_change(ctx, "set", uri, fresh, err) : NULL;
    return done != NULL ? STEAL(fresh) : NULL;
}

#define URI_ROW                                                                                              \
    ARG("uri", ARG_ANY, ARG_REQUIRED, "sdb://PROFILE/KEY; the profile is an option, or of the pillar")
const arg_t sdb_get_args[] = {
    URI_ROW,
    ARG("strict", ARG_ANY, "false", "What is no address is an error; else it is the result"),
    ARGS_END,
};
const arg_t sdb_set_args[] = { URI_ROW, ARG("value", ARG_ANY, ARG_REQUIRED, "What to keep"), ARGS_END };
const arg_t sdb_uri_args[] = { URI_ROW, ARGS_END };
const arg_t sdb_hash_args[] = {
    URI_ROW,
    ARG("length", ARG_ANY, "8", "Characters of a new value"),
    ARG("chars", ARG_ANY, "\"" HASH_CHARS "\"", "The characters to choose from"),
    ARGS_END,
};
