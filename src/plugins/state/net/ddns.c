/* ddns.c - state module `ddns`: records of a name server that takes dynamic updates (RFC 2136), by the module
 * of that name. The server is not asked beforehand: ddns.update and ddns.delete find out whether there is
 * anything to do, so that a test can only say what would be sent. */
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Calls the function with the named arguments and those of **kwargs. Its answer: True, False, or None when
 * there was nothing to change. NEW; NULL with *err. */
static json_t *
asked(call_ctx_t *ctx, const char *fun, const json_t *args, const char *const *names, fail_t *err)
{
    json_t *more = value_get(args, "kwargs"), *status = NULL;
    json_auto_t *kwargs = more != NULL ? json_copy(more) : json_object();

    for (; *names != NULL; names++)
        json_object_set(kwargs, *names, value_get(args, *names));
    return ctx_call(ctx, fun, NULL, kwargs, &status, err) < 0 ? NULL : status;
}

/* Test mode can't ask the server without changing it, so it foretells an update always, as Salt does. */
static int
ddns_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "zone", "name", "ttl", "rdtype", "data", NULL };
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *type = value_str(args, "rdtype", "");
    AUTO_FREE char *ttl = value_pystr(value_get(args, "ttl"));

    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s record \"%s\" will be updated", type, name);
    json_auto_t *status = asked(ctx, "ddns.update", args, names, err);
    if (status == NULL)
        return err->code;
    if (json_is_null(status))
        return state_ret_set(ret, STATE_TRUE, "%s record \"%s\" already present with ttl of %s", type, name,
                             ttl);
    if (!value_truthy(status))
        return state_ret_set(ret, STATE_FALSE, "Failed to create or update %s record for \"%s\"", type, name);
    /* Every argument is a change, under its own name. */
    for (size_t i = 0; names[i] != NULL; i++)
        state_change(ret, names[i], json_incref(value_get(args, names[i])));
    return state_ret_set(ret, STATE_TRUE, "Updated %s record for \"%s\"", type, name);
}

/* The module says None where nothing matched. */
static int
ddns_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "zone", "name", "rdtype", "data", NULL };
    json_t *ret = *ret_value = state_ret_args(args), *type = value_get(args, "rdtype");
    AUTO_FREE char *type_text = value_pystr(type != NULL ? type : json_null());

    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s record \"%s\" will be deleted", type_text,
                             value_str(args, "name", ""));
    json_auto_t *status = asked(ctx, "ddns.delete", args, names, err);
    if (status == NULL)
        return err->code;
    if (json_is_null(status))
        return state_ret_set(ret, STATE_TRUE, "No matching DNS record(s) present");
    if (!value_truthy(status))
        return state_ret_set(ret, STATE_FALSE, "Failed to delete DNS record(s)");
    state_change(ret, "Deleted",
                 json_pack("{s:O, s:O}", "name", value_get(args, "name"), "zone", value_get(args, "zone")));
    return state_ret_set(ret, STATE_TRUE, "Deleted DNS record(s)");
}

#define ZONE_ROWS                                                                                            \
    ARG("name", ARG_STR, ARG_REQUIRED, "The name"),                                                          \
        ARG("zone", ARG_STR, ARG_REQUIRED, "The zone that it is in")
#define REST_ROW                                                                                             \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "nameserver, port, timeout, keyfile, ...: what ddns.update takes",  \
        "*")

static const arg_t present_args[] = { ZONE_ROWS,
                                      ARG("ttl", ARG_INT, ARG_REQUIRED, "Seconds that others may keep it"),
                                      ARG("data", ARG_STR, ARG_REQUIRED, "Data of the record"),
                                      ARG("rdtype", ARG_STR, "\"A\"", "Type of the record"),
                                      REST_ROW,
                                      ARGS_END };
static const arg_t absent_args[] = { ZONE_ROWS,
                                     ARG("data", ARG_STR, "null", "Data of the record; by default any"),
                                     ARG("rdtype", ARG_STR, "null", "Type of the records; by default all"),
                                     REST_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", ddns_absent, absent_args, 0, "Ensure that a name has no such record." },
    { "present", ddns_present, present_args, 0, "Ensure that a name has this record." },
};

PLUGIN(state, ddns, .doc = "Dynamic updates of name servers", FUNCS(funcs));
