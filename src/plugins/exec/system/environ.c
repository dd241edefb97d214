/* environ.c - execution module `environ`: environment variables of this job, and of the minion where asked
 * for. A job is a process of its own, so a variable that is set here ends with it; update_minion asks the
 * running minion, whose later jobs inherit it. `permanent` is Windows' registry alone. */
#include "salt/plugin.h"

#include "salt/log.h"

extern char **environ;

/* A variable's value, or the default for one that is not set and for a name that is no text, as
 * os.environ.get does. NEW. */
static json_t *
lookup(const json_t *key, json_t *dflt)
{
    const char *v = json_is_string(key) ? getenv(json_string_value(key)) : NULL;

    return v != NULL ? value_utf8(v, strlen(v)) : json_incref(dflt);
}

/* Sets or removes a variable. NEW: the new value, None when unset, False when that is not possible. The
 * value False is the text "", or with false_unsets removes the variable. */
static json_t *
exec_environ_set_one(const char *name, const json_t *val, bool false_unsets)
{
    const char *text = json_is_string(val) ? json_string_value(val) : "";

    if (*name == '\0' || strchr(name, '=') != NULL)
        return json_false();
    if ((!json_is_string(val) && !json_is_false(val)))
        return json_false();
    if (json_is_false(val) && false_unsets)
        return unsetenv(name) == 0 ? json_null() : json_false();
    return setenv(name, text, 1) == 0 ? json_string(text) : json_false();
}

/* A name or a value that is no text is False, and nothing is changed. */
static int
environ_setval(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *key = value_get(args, "key");
    const char *name = json_is_string(key) ? json_string_value(key) : "";

    *ret_value = exec_environ_set_one(name, value_get(args, "val"), value_bool(args, "false_unsets", false));
    return 0;
}

/* A value that is neither text nor False ends the call with False, as in Salt. */
static int
exec_environ_setenv(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "environ"), *ret, *v;
    bool unsets = value_bool(args, "false_unsets", false);
    json_auto_t *no = json_false();
    const char *name;

    if (!json_is_object(given)) {
        *ret_value = json_false();
        return 0;
    }
    ret = json_object();
    if (value_bool(args, "clear_all", false)) {
        /* Variables that the call does not name go, but not while the list is walked, which they are in. */
        json_auto_t *gone = json_object();
        for (char **line = environ; line != NULL && *line != NULL; line++) {
            AUTO_FREE char *named = xstrndup(*line, strcspn(*line, "="));
            if (*named != '\0' && value_get(given, named) == NULL)
                json_object_set_new(gone, named, json_null());
        }

        json_object_foreach (gone, name, v)
            json_object_set_new(ret, name, exec_environ_set_one(name, no, unsets));
    }
    json_object_foreach (given, name, v) {
        if (!json_is_string(v) && !json_is_false(v)) {
            json_decref(ret);
            *ret_value = json_false();
            return 0;
        }
        json_object_set_new(ret, name, exec_environ_set_one(name, v, unsets));
    }
    if (value_bool(args, "update_minion", false)) {
        /* The job server is asked to do the same, so that later jobs see it too. */
        static const char *const fields[] = { "environ", "false_unsets", "clear_all", "permanent" };
        fail_auto_t why = FAIL_INIT;
        json_auto_t *data = json_object();
        json_auto_t *answer = NULL;
        for (size_t i = 0; i < NELEMS(fields); i++)
            json_object_set(data, fields[i], value_get(args, fields[i]));
        json_auto_t *request = json_pack("{s:s, s:s, s:O}", "op", "event", "tag", "environ_setenv", "data",
                                         data);
        if (ctx_host(ctx, request, &answer, &why) < 0)
            log_error("environ.setenv: the minion's own environment stays as it is: %s", fail_text(&why));
    }
    *ret_value = ret;
    return 0;
}

/* False for a key that is no text. */
static int
environ_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *key = value_get(args, "key");

    *ret_value = json_is_string(key) ? lookup(key, value_get(args, "default")) : json_false();
    return 0;
}

/* Without a value, true when the variable is set. */
static int
environ_has_value(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *key = value_get(args, "key"), *value = value_get(args, "value");
    json_auto_t *absent = json_null();
    json_auto_t *have = lookup(key, absent);

    *ret_value = json_boolean(json_is_string(have) && (json_is_null(value) || value_equal(have, value)));
    return 0;
}

/* {key: value} of a key or a list; those that are not set have the default. */
static int
environ_item(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *keys = value_get(args, "keys"), *dflt = value_get(args, "default"), *ret = json_object(), *key;
    size_t i;

    if (json_is_string(keys))
        json_object_set_new(ret, json_string_value(keys), lookup(keys, dflt));
    json_array_foreach (keys, i, key) {
        AUTO_FREE char *name = value_pystr(key);
        json_object_set_new(ret, name, lookup(key, dflt));
    }
    *ret_value = ret;
    return 0;
}

static int
environ_items(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = json_object();

    for (char **line = environ; line != NULL && *line != NULL; line++) {
        const char *eq = strchr(*line, '=');
        json_auto_t *name = value_utf8(*line, strcspn(*line, "="));
        if (eq != NULL && eq != *line)
            json_object_set_new(ret, json_string_value(name), value_utf8(eq + 1, strlen(eq + 1)));
    }
    *ret_value = ret;
    return 0;
}

static const arg_t setval_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "Name of the variable"),
    ARG("val", ARG_ANY, ARG_REQUIRED, "Text, or False"),
    ARG("false_unsets", ARG_BOOL, "false", "False removes the variable instead of emptying it"),
    ARG("permanent", ARG_ANY, "false", "Windows only"),
    ARGS_END,
};
static const arg_t setenv_args[] = {
    ARG("environ", ARG_ANY, ARG_REQUIRED, "Dictionary of variables: texts, or False"),
    ARG("false_unsets", ARG_BOOL, "false", "False removes a variable instead of emptying it"),
    ARG("clear_all", ARG_BOOL, "false", "Also clear the variables that are not named"),
    ARG("update_minion", ARG_BOOL, "false", "Change the minion's own environment too"),
    ARG("permanent", ARG_ANY, "false", "Windows only"),
    ARGS_END,
};
static const arg_t get_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "Name of the variable"),
    ARG("default", ARG_ANY, "\"\"", "What to return when it is not set"),
    ARGS_END,
};
static const arg_t has_value_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "Name of the variable"),
    ARG("value", ARG_ANY, "null", "Value that it must have"),
    ARGS_END,
};
static const arg_t item_args[] = {
    ARG("keys", ARG_ANY, ARG_REQUIRED, "A name, or a list of names"),
    ARG("default", ARG_ANY, "\"\"", "What to return for those that are not set"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "get", environ_get, get_args, FN_READONLY,
      "Return one environment variable." CLI_EXAMPLE("salt '*' environ.get foo\n    "
                                                     "salt '*' environ.get baz default=False"),
      UNDEFINED("false") },
    { "has_value", environ_has_value, has_value_args, FN_READONLY,
      "Whether a variable is set, and to this value when one is given." CLI_EXAMPLE(
          "salt '*' environ.has_value foo"),
      UNDEFINED("false") },
    { "item", environ_item, item_args, FN_READONLY,
      "Return one or more variables as a dictionary." CLI_EXAMPLE(
          "salt '*' environ.item foo\n    salt '*' environ.item '[foo, baz]' default=None"),
      UNDEFINED("{}") },
    { "items", environ_items, NULL, FN_READONLY,
      "Return the whole environment." CLI_EXAMPLE("salt '*' environ.items") },
    { "setenv", exec_environ_setenv, setenv_args, 0,
      "Set several variables. They live as long as this job, unless ``update_minion=True``." CLI_EXAMPLE(
          "salt '*' environ.setenv '{\"foo\": \"bar\", \"baz\": \"quux\"}'\n    "
          "salt '*' environ.setenv '{\"a\": \"b\", \"c\": False}' false_unsets=True") },
    { "setval", environ_setval, setval_args, 0,
      "Set one variable for as long as this job lives, and return its value." CLI_EXAMPLE(
          "salt '*' environ.setval foo bar\n    salt '*' environ.setval baz val=False false_unsets=True") },
};

PLUGIN(exec, environ, .doc = "Environment variables", FUNCS(funcs));
