/* run_verify.c - verify a chunk before it is called: required keys, types, umask, the function and its
 * required arguments. Salt's verify_data(). */
#include "common/state/run_call.h"

char *
state_full_name(const json_t *low)
{
    return xasprintf("%s.%s", value_str(low, "state", ""), value_str(low, "fun", ""));
}

/* Special functions (mod_init, mod_watch, mod_aggregate ...) are rows of the module's table like any
 * other. */
bool
state_has(call_ctx_t *ctx, const json_t *low, const char *special)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *fun = xasprintf("%s.%s", value_str(low, "state", ""), special);

    return ctx_find_state(ctx, fun, &err) != NULL;
}

json_t *
state_verify(call_ctx_t *ctx, json_t *chunk)
{
    json_t *errors = json_array();

    /* Checks that the chunk has its keys. */
    static const char *const needed[] = { "state", "fun", "name" };
    for (size_t i = 0; i < NELEMS(needed); i++) {
        if (value_get(chunk, needed[i]) == NULL)
            json_array_append_new(errors, value_fmt("Missing \"%s\" data", needed[i]));
    }

    /* Refuses a name that is not a text, such as a number that YAML made of it. */
    const json_t *name = value_get(chunk, "name");
    const char *sls = value_str(chunk, "__sls__", NULL);
    if (name != NULL && !json_is_string(name) && value_truthy(name)) {
        static const char *const types[] = {
            [JSON_OBJECT] = "dict", [JSON_ARRAY] = "list", [JSON_STRING] = "str", [JSON_INTEGER] = "int",
            [JSON_REAL] = "float",  [JSON_TRUE] = "bool",  [JSON_FALSE] = "bool", [JSON_NULL] = "NoneType",
        };
        AUTO_FREE char *text = value_pystr(name),
                       *where = sls != NULL ? xasprintf("in SLS '%s' ", sls) : NULL;
        json_array_append_new(errors, value_fmt("ID '%s' %sis not formed as a string, but is a %s", text,
                                                where != NULL ? where : "", types[json_typeof(name)]));
    }

    /* Parse umask as octal from the text as written: YAML may have made 022 a decimal number. */
    const json_t *umask_given = value_get(chunk, "umask");
    if (umask_given != NULL) {
        AUTO_FREE char *text = value_pystr(umask_given);
        char *end;
        long mask = strtol(text, &end, 8);
        if (end == text || *end != '\0' || mask < 0 || mask > 0777)
            json_array_append_new(errors, value_fmt("Invalid umask: %s", text));
        else
            json_object_set_new(chunk, "__umask__", json_integer(mask));
        json_object_del(chunk, "umask");
    }

    if (json_array_size(errors) == 0) {
        /* Checks that a chunk's state function exists here and gets its required arguments, before it is
         * called. */
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *full = state_full_name(chunk);
        const func_t *f = ctx_find_state(ctx, full, &err);
        sls = value_str(chunk, "__sls__", NULL);
        if (f == NULL && sls != NULL) {
            json_array_append_new(errors, value_fmt("State '%s' was not found in SLS '%s'", full, sls));
            AUTO_FREE char *why = call_missing_state(ctx, full);
            json_array_append_new(errors, value_fmt("Reason: %s", why));
        } else if (f == NULL) {
            AUTO_FREE char *why = call_missing_state(ctx, full);
            const char *near = strstr(why, " Did you mean");
            json_array_append_new(errors, value_fmt("Specified state '%s' was not found%s%s", full,
                                                    near != NULL ? "\n   " : "", near != NULL ? near : ""));
        }
        for (const arg_t *row = f != NULL ? f->args : NULL; row != NULL && row->text != NULL; row++) {
            if (arg_is(row, ARG_REQUIRED) && value_get(chunk, arg_name(row)) == NULL)
                json_array_append_new(errors,
                                      value_fmt("Missing parameter %s for state %s", arg_name(row), full));
        }
    }
    return errors;
}
