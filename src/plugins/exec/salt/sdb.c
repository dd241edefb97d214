/* sdb.c - execution module `sdb`: values of stores, by addresses like sdb://PROFILE/KEY. A profile is a
 * mapping in the configuration or the pillar that names a driver; plugins/lib/sdb finds it. What is no such
 * address is returned as it is, as by Salt. */
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "plugins/lib/sdb/sdb.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/call/subcall.h"

#define HASH_CHARS "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"

/* An unknown profile gives the address back, or with `strict` an error. */
static py_t *
exec_sdb_get(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return sdb_get(ctx, py_dict_gets(args, "uri"), pyarg_flag(args, "strict"), err);
}

/* The row's own name is the driver's function too. */
static py_t *
exec_sdb_change(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return sdb_change(ctx, ctx_row(ctx)->name, py_dict_gets(args, "uri"), py_dict_gets(args, "value"), err);
}

/* Characters are taken from `chars` by random.get_str, `length` of them. NEW, or NULL with *err. */
static py_t *
sdb_new_hash(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    json_auto_t *length = py_to_json(py_dict_gets(args, "length"));
    json_auto_t *text = length == NULL ? NULL
                                       : sub_call(ctx, err, "random.get_str", "{s:O, s:s}", "length", length,
                                                  "chars", pyarg_text(args, "chars", HASH_CHARS));

    return text != NULL ? py_from_json(text) : NULL;
}

/* A value that is there is returned; else one is made, kept and returned. Two minions at once may both make
 * one: no store here has a way to compare and set. */
static py_t *
sdb_get_or_set_hash(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *uri = py_dict_gets(args, "uri");

    if (!py_is(uri, PY_STR) || !str_starts(py_cstr(uri), "sdb://"))
        return py_bool(false);
    AUTO(py) kept = sdb_get(ctx, uri, false, err);
    if (kept == NULL || !py_is(kept, PY_NONE))
        return STEAL(kept);
    AUTO(py) fresh = sdb_new_hash(ctx, args, err);
    AUTO(py) done = fresh != NULL ? sdb_change(ctx, "set", uri, fresh, err) : NULL;
    return done != NULL ? STEAL(fresh) : NULL;
}

#define URI_ROW                                                                                              \
    ROW("uri", ARG_ANY, ARG_REQUIRED, "sdb://PROFILE/KEY; the profile is an option, or of the pillar")
static const arg_t get_args[] = {
    URI_ROW,
    { "strict", ARG_ANY, "false", "What is no address is an error; else it is the result" },
    ARGS_END,
};
static const arg_t set_args[] = { URI_ROW, { "value", ARG_ANY, ARG_REQUIRED, "What to keep" }, ARGS_END };
static const arg_t delete_args[] = { URI_ROW, ARGS_END };
static const arg_t hash_args[] = {
    URI_ROW,
    { "length", ARG_ANY, "8", "Characters of a new value" },
    { "chars", ARG_ANY, "\"" HASH_CHARS "\"", "The characters to choose from" },
    ARGS_END,
};

static const func_t funcs[] = {
    { "delete", NATIVE(exec_sdb_change), delete_args, FN_NATIVE,
      "Delete a value from a store." CLI_EXAMPLE("salt '*' sdb.delete sdb://mymemcached/foo") },
    { "get", NATIVE(exec_sdb_get), get_args, FN_NATIVE,
      "Get a value from a store." CLI_EXAMPLE("salt '*' sdb.get sdb://mymemcached/foo strict=True") },
    { "get_or_set_hash", NATIVE(sdb_get_or_set_hash), hash_args, FN_NATIVE,
      "Get a value; where it is None, keep a random one first." CLI_EXAMPLE(
          "salt '*' sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50") },
    { "set", NATIVE(exec_sdb_change), set_args, FN_NATIVE,
      "Set a value in a store." CLI_EXAMPLE("salt '*' sdb.set sdb://mymemcached/foo bar") },
};

PLUGIN(exec, sdb, .doc = "Values of stores", FUNCS(funcs));
