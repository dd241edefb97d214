/* module.c - state module `module`: call execution functions from a state, in both of Salt's styles. The keys
 * of a chunk tell its style: a key with a dot in it names a function. In the new style a function that fails is
 * told beside the others and the rest still runs; an exception ends the state.
 *
 *   module.run:                     module.run:
 *     - test.echo:                    - name: test.echo
 *       - text: hello                 - text: hello
 *                                     - m_name: for an argument that is itself called `name`
 */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "salt/log.h"
#include "salt/state.h"

/* True for the row of *args or **kwargs, whose default is "*" or "**". */
static bool
module_is_star(const arg_t *row)
{
    return *arg_dflt(row) == '*';
}

/* ---- what a function's return says about the state ------------------------------------------- */

/* A "result" that is False at any depth. */
static bool
says_false(const json_t *node)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) node, key, v) {
        if ((str_eq(key, "result") && json_is_false(v)) || (json_is_object(v) && says_false(v)))
            return true;
    }
    return false;
}

/* Whether a return says success: a boolean itself, a retcode of 0, a result that is True, or a dict without a
 * False result inside. All else is success. */
static bool
module_went_well(const json_t *mret)
{
    const json_t *result = value_get(mret, "result");

    if (json_is_boolean(mret))
        return json_is_true(mret);

    /* A retcode that is there and not the integer 0. */
    const json_t *code = value_get(mret, "retcode");
    if (code != NULL && !(json_is_integer(code) && json_integer_value(code) == 0))
        return false;

    if (json_is_boolean(result))
        return json_is_true(result);
    return !json_is_object(mret) || !says_false(mret);
}

/* ---- the new style ------------------------------------------------------------------------- */

/* "test.echo:again" is another call of test.echo. NEW. */
static char *
module_function_of(const char *key)
{
    return xstrndup(key, strcspn(key, ":"));
}

/* Required arguments without a value: Salt's words. */
static int
module_check_arguments(const func_t *f, const json_t *args, const json_t *kwargs, fail_t *err)
{
    buf_auto_t missing = BUF_INIT;
    size_t i = 0;

    for (const arg_t *row = f->args; row != NULL && row->text != NULL && !module_is_star(row); row++, i++) {
        if (arg_is(row, ARG_REQUIRED) && i >= json_array_size(args) &&
            value_get(kwargs, arg_name(row)) == NULL)
            buf_printf(&missing, "%s%s", missing.len > 0 ? ", " : "", arg_name(row));
    }
    if (missing.len == 0)
        return 0;
    return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Missing arguments: %s", buf_str(&missing));
}

/* Results of the calls of one chunk so far. `changes` is BORROWED from the state's return. */
typedef struct batch {
    json_t *changes;
    buf_t failures, successes;
} batch_t;

/* Appends to a list of messages with commas between. */
static void
module_add_line(buf_t *to, const char *fmt, const char *a, const char *b)
{
    buf_puts(to, to->len > 0 ? ", " : "");
    buf_puts(to, fmt);
    buf_puts(to, a);
    buf_puts(to, *fmt == '\'' ? "'" : "");
    buf_puts(to, b);
}

/* Calls one function and adds its result. 0, or a negative errno for what is an exception of the state: wrong
 * arguments are a failure that is told. */
static int
run_one(call_ctx_t *ctx, batch_t *self, const char *key, json_t *given, fail_t *err)
{
    AUTO_FREE char *fun = module_function_of(key);
    json_auto_t *args = json_array(), *kwargs = json_object(), *mret = NULL;
    fail_auto_t unknown = FAIL_INIT;
    const func_t *f = ctx_find(ctx, fun, &unknown);

    /* Sort what stands below a function into positional and keyword arguments. */
    const char *word;
    json_t *one, *v;
    size_t i;
    if (json_is_object(given))
        json_object_update(kwargs, given);
    else if (!json_is_array(given) && given != NULL && !json_is_null(given))
        json_array_append(args, given);
    json_array_foreach (given, i, one) {
        if (!json_is_object(one))
            json_array_append(args, one);
        json_object_foreach (one, word, v) {
            if (value_get(kwargs, word) == NULL)
                json_object_set(kwargs, word, v);
        }
    }

    if (f == NULL || module_check_arguments(f, args, kwargs, err) < 0 ||
        ctx_call(ctx, fun, args, kwargs, &mret, err) < 0) {
        if (err->kind != FAIL_INVOCATION && err->kind != FAIL_ARGUMENTS)
            return -EIO;
        AUTO_FREE char *text = xasprintf(" failed: %s", fail_text(err));
        module_add_line(&self->failures, "'", key, text);
        fail_clear(err);
        return 0;
    }

    /* A return that went well is the change, and is shown by its comment where it has one. */
    bool dict = json_is_object(mret), well = module_went_well(mret);
    const json_t *comment = value_get(mret, "comment");
    AUTO_FREE char *said = comment != NULL ? value_pystr(comment)
                           : !well         ? xstrdup("(error message N/A)")
                           : dict          ? xstrdup("Success")
                                           : value_pystr(mret);
    AUTO_FREE char *text = well   ? xasprintf(": %s", said)
                           : dict ? xasprintf(" failed: %s", said)
                                  : xstrdup(": False");
    module_add_line(well ? &self->successes : &self->failures, well ? "" : "'", key, text);
    if (well)
        json_object_set(self->changes, key, mret);
    return 0;
}

/* `given` is what the chunk says beside its name. */
static int
run_batch(call_ctx_t *ctx, json_t *given, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = json_array(), *calls = json_object();
    batch_t batch = { .failures = BUF_INIT, .successes = BUF_INIT };
    const char *key;
    bool go_on;
    json_t *v;
    int rc = 0;

    json_object_foreach (given, key, v) {
        json_array_append_new(names, json_string(key));
        if (strchr(key, '.') != NULL)
            json_object_set(calls, key, v);
    }
    json_auto_t *ret = state_ret("");
    json_object_set(ret, "name", names);

    /* Salt's text about functions that are missing, and in test mode about those that would run. */
    buf_auto_t missing = BUF_INIT, tests = BUF_INIT, text = BUF_INIT, meant = BUF_INIT;
    const char *word;
    json_t *value;
    size_t n_missing = 0, n_tests = 0;
    json_object_foreach ((json_t *) calls, word, value) {
        AUTO_FREE char *fun = module_function_of(word);
        if (!ctx_has(ctx, fun)) {
            buf_printf(&missing, "%s%s", n_missing++ > 0 ? ", " : "", fun);

            /* " Did you mean 'test.ping'?" */
            AUTO_FREE char *why = call_missing(ctx, fun);
            const char *near = strstr(why, " Did you mean");
            buf_puts(&meant, near != NULL ? near : "");
        } else if (ctx_test(ctx))
            buf_printf(&tests, "%s%s", n_tests++ > 0 ? ", " : "", fun);
    }
    go_on = n_missing == 0 && n_tests == 0;
    if (n_missing > 0)
        buf_printf(&text, "Unavailable function%s: %s.%s", n_missing > 1 ? "s" : "", buf_str(&missing),
                   buf_str(&meant));
    if (n_tests > 0)
        buf_printf(&text, "%sFunction%s %s to be executed.", n_missing > 0 ? " " : "", n_tests > 1 ? "s" : "",
                   buf_str(&tests));
    (void) state_ret_set(ret, n_missing > 0 ? STATE_FALSE : STATE_NONE, "%s", buf_str(&text));

    if (json_object_size(calls) == 0)
        (void) state_ret_set(ret, STATE_FALSE, "No function provided.");
    batch.changes = value_get(ret, "changes");
    json_object_foreach (go_on &&json_object_size(calls) > 0 ? calls : NULL, key, v)
        rc = rc < 0 ? rc : run_one(ctx, &batch, key, v, err);
    if (go_on && json_object_size(calls) > 0)
        (void) state_ret_set(
            ret, batch.failures.len > 0 ? STATE_FALSE : STATE_TRUE, "%s%s%s", buf_str(&batch.failures),
            batch.failures.len > 0 && batch.successes.len > 0 ? ", " : "", buf_str(&batch.successes));
    buf_free(&batch.failures);
    buf_free(&batch.successes);
    if (rc == 0)
        *ret_value = json_incref(ret);
    return rc;
}

/* ---- the old style ------------------------------------------------------------------------- */

/* Arguments that a chunk has itself are called m_NAME here. NEW. */
static char *
prefixed(const char *arg)
{
    static const char *const own[] = { "name", "fun", "names", "state", "saltenv" };

    for (size_t i = 0; i < NELEMS(own); i++) {
        if (str_eq(arg, own[i]))
            return xasprintf("m_%s", arg);
    }
    return xstrdup(arg);
}

/* Positional arguments and keywords for `f`. 0, or 1 with the failed return in `ret`. */
static int
old_arguments(const func_t *f, const json_t *given, json_t *args, json_t *kwargs, json_t *ret)
{
    buf_auto_t missing = BUF_INIT;
    const arg_t *row = f->args;

    for (; row != NULL && row->text != NULL && !module_is_star(row); row++) {
        /* Appends one declared argument's value, or its default, to `args`. */
        AUTO_FREE char *key = prefixed(arg_name(row));
        json_t *v = value_get(given, key);
        if (v == NULL && !arg_is(row, ARG_REQUIRED) && str_eq(arg_name(row), "names"))
            v = value_get(given, arg_name(row));
        if (v != NULL)
            json_array_append(args, v);
        else if (arg_is(row, ARG_REQUIRED))
            buf_printf(&missing, " %s", key);
        else
            json_array_append_new(args, json_loads(arg_dflt(row), JSON_DECODE_ANY, NULL));
    }
    if (missing.len > 0)
        return state_ret_set(ret, STATE_FALSE, "The following arguments are missing:%s", buf_str(&missing)),
               1;
    for (; row != NULL && row->text != NULL; row++) {
        bool keywords = module_is_star(row) && arg_is(row, ARG_STARSTAR);
        AUTO_FREE char *key = keywords ? xstrdup(arg_name(row)) : prefixed(arg_name(row));
        json_t *v = value_get(given, key);
        if (v == NULL)
            continue;
        if (!module_is_star(row))
            json_object_set(kwargs, arg_name(row), v);
        else if (keywords ? !json_is_object(v) : !json_is_array(v))
            return state_ret_set(ret, STATE_FALSE, "'%s' must be a %s.", arg_name(row),
                                 keywords ? "dict" : "list"),
                   1;
        else if (keywords)
            json_object_update(kwargs, v);
        else
            json_array_extend(args, v);
    }
    return 0;
}

/* An exception fails the state, and its text is the comment. */
static int
run_old(call_ctx_t *ctx, const json_t *chunk_name, json_t *given, json_t **ret_value)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *name = value_pystr(chunk_name);
    json_auto_t *args = json_array(), *kwargs = json_object(), *mret = NULL;
    json_t *ret = *ret_value = state_ret(name);
    fail_auto_t unknown = FAIL_INIT;
    const func_t *f = ctx_find(ctx, name, &unknown);

    if (f == NULL) {
        AUTO_FREE char *why = call_missing(ctx, name);
        const char *near = strstr(why, " Did you mean");
        return state_ret_set(ret, STATE_FALSE, "Module function %s is not available%s%s", name,
                             near != NULL ? "." : "", near != NULL ? near : "");
    }
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Module function %s is set to execute", name);
    if (old_arguments(f, given, args, kwargs, ret) != 0)
        return 0;
    if (ctx_call(ctx, name, args, kwargs, &mret, &err) < 0) {
        /* Salt shows the exception without its class. */
        const char *text = fail_text(&err), *colon = strstr(text, "Error: ");
        size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        bool class = colon != NULL && text + word == colon + strlen("Error");
        return state_ret_set(ret, STATE_FALSE, "Module function %s threw an exception. Exception: %s", name,
                             class ? colon + strlen("Error: ") : text);
    }
    state_change(ret, "ret", json_incref(mret));
    return state_ret_set(ret, module_went_well(mret) ? STATE_TRUE : STATE_FALSE,
                         "Module function %s executed", name);
}

/* ---- functions ----------------------------------------------------------------------------- */

/* New style when every key names a function (has a dot). */
static int
module_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *given = json_copy(value_get(args, "kwargs"));
    const char *key;
    json_t *v;
    bool old;

    json_object_del(given, "sfun");
    old = json_object_size(given) == 0;
    json_object_foreach (given, key, v)
        old = old || strchr(key, '.') == NULL;
    return old ? run_old(ctx, value_get(args, "name"), given, ret_value)
               : run_batch(ctx, given, ret_value, err);
}

static int
module_wait(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return 0;
}

static const arg_t run_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "The function in the old style; any text in the new one"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Functions with their arguments, or the function's arguments"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "mod_watch", module_run, run_args, 0,
      "Call because something watched has changed. Not to be called as a state." },
    { "run", module_run, run_args, 0, "Call execution functions." },
    { "wait", module_wait, run_args, 0, "Call execution functions when something watched has changed." },
    { "watch", module_wait, run_args, 0, "Another name of module.wait." },
};

PLUGIN(state, module, .doc = "Execution functions as states", FUNCS(funcs));
