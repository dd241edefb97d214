/* data.c - execution module `data`: values that this minion keeps between jobs, in the file of datastore.h.
 * Salt keeps them in msgpack below cachedir; here it is JSON in one file, which is replaced whole. Two jobs
 * that write at once may lose one of the changes, as by Salt, but never the file. */
#include "common/jinja/jinja.h"
#include "common/py/py_json.h"
#include "plugins/lib/salt/datastore.h"
#include "salt/value.h"

/* The truth as return when rc is 0; returns rc. On a failure *ret_value stays as it is. */
static int
data_said(int rc, bool truth, json_t **ret_value)
{
    if (rc == 0)
        *ret_value = json_boolean(truth);
    return rc;
}

/* True also when there was nothing. */
static int
data_clear(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return data_said(datastore_clear(ctx, err), true, ret_value);
}

/* {} when nothing was ever kept. */
static int
data_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = datastore_load(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The mapping that a text writes as Python does, as what it evaluates to without any function; another value
 * is returned as it is. NEW, or NULL with *err. Salt evaluates literals (ast.literal_eval); the sandbox here
 * has no names, no calls and no filters that reach out. */
static json_t *
data_read_mapping(json_t *given, fail_t *err)
{
    static const jinja_options_t plain = { .sandboxed = true, .immutable = true };
    const char *text = json_string_value(given);
    if (text == NULL)
        return json_incref(given);
    const jinja_source_t source = { .text = text, .len = json_string_length(given) };
    jinja_error_t e = JINJA_ERROR_INIT;
    jinja_t *engine = jinja_new(&plain, NULL);
    AUTO(py) value = jinja_evaluate(engine, &source, NULL, NULL, &e);
    json_t *data = value != NULL ? py_to_json(value) : NULL;

    if (data == NULL)
        (void) fail_set(err, -EINVAL, "ValueError: malformed node or string: %s", text);
    jinja_error_free(&e);
    jinja_destroy(&engine);
    return data;
}

/* Replaces all that is kept; what is no mapping is False and changes nothing. */
static int
data_dump(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = data_read_mapping(value_get(args, "new_data"), err);

    if (data == NULL)
        return err->code;
    if (!json_is_object(data))
        return data_said(0, false, ret_value);
    return data_said(datastore_save(ctx, data, err), true, ret_value);
}

/* One key; other ones stay. */
static int
data_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return data_said(datastore_set(ctx, value_str(args, "key", ""), value_get(args, "value"), err), true,
                     ret_value);
}

/* Compare and swap, but not atomic against other jobs. False when the key is missing or has another value. */
static int
data_cas(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);
    const json_t *old = value_get(data, value_str(args, "key", ""));

    if (data == NULL)
        return err->code;
    if (old == NULL || !value_equal(old, value_get(args, "old_value")))
        return data_said(0, false, ret_value);
    return data_update(ctx, args, ret_value, err);
}

/* The value, taken away; a missing one is the default, and the file is written even so. */
static int
data_pop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);
    const char *key = value_str(args, "key", "");
    json_auto_t *found = json_incref(value_get(data, key));

    if (data == NULL)
        return err->code;
    json_object_del(data, key);
    int rc = datastore_save(ctx, data, err);
    if (rc == 0)
        *ret_value = json_incref(found != NULL ? found : value_get(args, "default"));
    return rc;
}

/* One value, or of a list of names a list: missing ones have the default, and are left out when that is
 * None. */
static int
data_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);
    json_t *key = value_get(args, "key"), *dflt = value_get(args, "default"), *each;
    size_t i;

    if (data == NULL)
        return err->code;
    if (!json_is_array(key)) {
        AUTO_FREE char *name = value_pystr(key);
        json_t *found = value_get(data, name);
        *ret_value = json_incref(found != NULL ? found : dflt);
        return 0;
    }
    *ret_value = json_array();
    json_array_foreach (key, i, each) {
        AUTO_FREE char *name = value_pystr(each);
        json_t *found = value_get(data, name);
        if (found != NULL || !json_is_null(dflt))
            json_array_append(*ret_value, found != NULL ? found : dflt);
    }
    return 0;
}

/* In the order in which they were first kept. */
static int
data_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);
    const char *key;
    json_t *v;

    if (data == NULL)
        return err->code;
    *ret_value = json_array();
    json_object_foreach (data, key, v)
        json_array_append_new(*ret_value, json_string(key));
    return 0;
}

static int
data_values(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);
    const char *key;
    json_t *v;

    if (data == NULL)
        return err->code;
    *ret_value = json_array();
    json_object_foreach (data, key, v)
        json_array_append(*ret_value, v);
    return 0;
}

/* A value of None counts. */
static int
data_has_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);

    if (data == NULL)
        return err->code;
    return data_said(0, value_get(data, value_str(args, "key", "")) != NULL, ret_value);
}

#define KEY_ROW   ARG("key", ARG_STR, ARG_REQUIRED, "The name")
#define VALUE_ROW ARG("value", ARG_ANY, ARG_REQUIRED, "Its new value")
static const arg_t key_args[] = { KEY_ROW, ARGS_END };
static const arg_t dump_args[] = { ARG("new_data", ARG_ANY, ARG_REQUIRED, "A mapping, or the text of one"),
                                   ARGS_END };
static const arg_t update_args[] = { KEY_ROW, VALUE_ROW, ARGS_END };
static const arg_t cas_args[] = { KEY_ROW, VALUE_ROW,
                                  ARG("old_value", ARG_ANY, ARG_REQUIRED, "What it must be now"), ARGS_END };
static const arg_t pop_args[] = { KEY_ROW, ARG("default", ARG_ANY, "null", "When there is none"), ARGS_END };
static const arg_t get_args[] = { ARG("key", ARG_ANY, ARG_REQUIRED, "The name, or a list of names"),
                                  ARG("default", ARG_ANY, "null", "When there is none"), ARGS_END };

static const func_t funcs[] = {
    { "cas", data_cas, cas_args, 0,
      "Set a value if it is what is expected; ``False`` when it is not." CLI_EXAMPLE(
          "salt '*' data.cas key value old_value") },
    { "clear", data_clear, NULL, 0, "Forget everything." CLI_EXAMPLE("salt '*' data.clear") },
    { "dump", data_dump, dump_args, 0,
      "Replace everything by a mapping." CLI_EXAMPLE("salt '*' data.dump '{eggs: spam}'") },
    { "get", data_get, get_args, FN_READONLY,
      "Return a value, or those of several names." CLI_EXAMPLE(
          "salt '*' data.get key\n    salt '*' data.get '[\"key1\", \"key2\"]'") },
    { "has_key", data_has_key, key_args, FN_READONLY,
      "Whether there is a value of this name." CLI_EXAMPLE("salt '*' data.has_key mykey") },
    { "items", data_load, NULL, FN_READONLY, "The same as data.load." CLI_EXAMPLE("salt '*' data.items") },
    { "keys", data_keys, NULL, FN_READONLY, "Return all names." CLI_EXAMPLE("salt '*' data.keys") },
    { "load", data_load, NULL, FN_READONLY, "Return everything." CLI_EXAMPLE("salt '*' data.load") },
    { "pop", data_pop, pop_args, 0,
      "Return a value and forget it." CLI_EXAMPLE("salt '*' data.pop key 'there was no val'") },
    { "update", data_update, update_args, 0, "Set a value." CLI_EXAMPLE("salt '*' data.update key value") },
    { "values", data_values, NULL, FN_READONLY, "Return all values." CLI_EXAMPLE("salt '*' data.values") },
};

PLUGIN(exec, data, .doc = "Values that this minion keeps between jobs", FUNCS(funcs));
