/* call.c - run a function as Salt's minion does, and word its failure as Salt does.
 *
 * call_run() is the whole of a job: find, ask whether it may run, split and bind the arguments, invoke,
 * derive the retcode. ctx_call() and ctx_state() are calls from other functions: they bind as Python would
 * and keep the error. */
#include "common/plugin/call.h"

#include "common/base/str.h"
#include "common/data/args.h"
#include "common/plugin/ctx.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "salt/log.h"

enum { EX_GENERIC = 1 }; /* salt.defaults.exitcodes */

/* Move the keywords of {"__kwarg__": true, ...}, an element of an argument list, into `kwargs`. */
static void
take_kwargs(json_t *element, json_t *kwargs)
{
    const char *key;
    json_t *v;

    json_object_foreach (element, key, v) {
        if (strcmp(key, "__kwarg__") != 0)
            json_object_set(kwargs, key, v);
    }
}

/* Only the outermost function's arguments come from a peer as a whole: they are marked so. */
static int
invoke_native(call_ctx_t *ctx, const func_t *f, json_t *bound, json_t **ret_value, fail_t *err)
{
    AUTO(py) args = ctx->env.peer_args && ctx->depth == 0 ? py_from_json_peer(bound) : py_from_json(bound);
    AUTO(py) value = native_invoke(ctx, f, args, err);

    if (value == NULL && py_raised() != NULL)
        return native_failed(err);
    if (value == NULL)
        return err != NULL && err->code < 0 ? err->code : -EINVAL;
    *ret_value = ctx->env.wire && ctx->depth == 0 ? py_to_wire(value) : py_to_json(value);
    return *ret_value != NULL ? 0 : native_failed(err);
}

/* Run the function with its bound arguments. 0 with *ret_value NEW, or a negative errno with *err set. */
static int
invoke(call_ctx_t *ctx, const func_t *f, json_t *bound, json_t **ret_value, fail_t *err)
{
    json_t *value = NULL;
    const func_t *before;

    if ((f->flags & FN_NATIVE) != 0)
        return invoke_native(ctx, f, bound, ret_value, err);
    int rc = ctx_enter(ctx, f, &before, err);
    if (rc < 0)
        return rc;
    rc = f->fn(ctx, bound, &value, err);
    ctx_leave(ctx, before);
    if (rc < 0) {
        json_decref(value);
        return fail_set(err, rc, "%s failed: %s", f->name, strerror(-rc));
    }
    *ret_value = value != NULL ? value : json_null();
    return 0;
}

void
call_note(call_ctx_t *ctx, const char *what)
{
    if (ctx->env.called != NULL)
        ctx->env.called(ctx->env.cookie, what);
}

int
ctx_call(call_ctx_t *ctx, const char *fun, json_t *args, json_t *kwargs, json_t **ret_value, fail_t *err)
{
    const func_t *f = ctx_find(ctx, fun, err);

    return f != NULL ? call_row(ctx, f, fun, args, kwargs, ret_value, err) : -ENOENT;
}

int
call_row(call_ctx_t *ctx, const func_t *f, const char *fun, json_t *args, json_t *kwargs, json_t **ret_value,
         fail_t *err)
{
    call_note(ctx, fun);
    json_auto_t *bound = bind_python(f, args, kwargs, NULL, err);
    return bound != NULL ? invoke(ctx, f, bound, ret_value, err) : -EINVAL;
}

const func_t *
ctx_find_state(call_ctx_t *ctx, const char *fun, fail_t *err)
{
    if (ctx->env.states != NULL)
        return registry_find(ctx->env.states, ctx, fun, err);
    (void) fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' is not available.", fun);
    return NULL;
}

int
ctx_state(call_ctx_t *ctx, const char *fun, json_t *kwargs, json_t **ret_value, fail_t *err)
{
    const func_t *f = ctx_find_state(ctx, fun, err);

    if (f == NULL)
        return -ENOENT;
    json_auto_t *bound = bind_python(f, NULL, kwargs, NULL, err);
    return bound != NULL ? invoke(ctx, f, bound, ret_value, err) : -EINVAL;
}

void
call_refresh_modules(call_ctx_t *ctx)
{
    for (plugin_kind_t kind = 0; kind < PLUGIN_KINDS; kind++) {
        fail_auto_t err = FAIL_INIT;
        registry_t *registry = ctx_registry(ctx, kind);
        if (registry != NULL && registry_refresh(registry, ctx, &err) < 0)
            log_warning("modules are not looked for again: %s", fail_text(&err));
    }
}

/* The row's `absent`, when the return says so. */
static void
call_check_absent(call_ctx_t *ctx, const func_t *f, const json_t *bound, const json_t *value)
{
    const char *finds = f->more != NULL ? f->more->finds : NULL;
    json_t *given = value_get(bound, finds != NULL ? finds : ""), *element;
    const arg_t *row = f->args;
    bool nothing = !value_truthy(value);
    size_t i;

    /* A caller that names nothing means all, or what the function does without it. */
    while (row != NULL && row->text != NULL && !str_eq(arg_name(row), finds))
        row++;
    bool optional = row != NULL && row->text != NULL && !arg_is(row, ARG_REQUIRED);
    if (given == NULL || json_is_null(given) || str_eq(json_string_value(given), "*") ||
        (optional && !value_truthy(given)))
        return;

    /* A list of answers, one for each name, tells of absence by any false among them. */
    json_array_foreach (value, i, element)
        nothing = nothing || json_is_false(element);
    if (ctx->retcode != 0 || !nothing)
        return;
    AUTO_FREE char *name = value_joined(given, ", "), *text = str_replace(f->more->absent, "{}", name);
    ctx_absent(ctx, "%s", text);
}

static int
call_found(call_ctx_t *ctx, const func_t *f, json_t *arg, json_t *pub, json_t **ret_value, fail_t *err)
{
    json_t *args, *kwargs;

    ctx->retcode = 0;

    /* Split Salt's list of arguments into positional and keyword ones. */
    json_t *given = json_array(), *named = json_object(), *element;
    size_t i;
    json_array_foreach (arg, i, element) {
        const char *word = json_string_value(element);
        if (value_bool(element, "__kwarg__", false)) {
            take_kwargs(element, named);
            continue;
        }

        /* "key=value" in a text is a keyword: API callers send their words unparsed. */
        char *words[] = { xstrdup(word != NULL ? word : ""), NULL };
        json_auto_t *parsed = strchr(words[0], '=') != NULL ? args_parse(words, 1, NULL) : NULL;
        json_t *last = json_array_get(parsed, json_array_size(parsed) - 1);
        free(words[0]);
        if (value_bool(last, "__kwarg__", false))
            take_kwargs(last, named);
        else
            json_array_append(given, element);
    }
    args = given;
    kwargs = named;

    json_auto_t *bound = bind_args(f, args, kwargs, pub, err);
    json_decref(args);
    json_decref(kwargs);
    int rc = bound != NULL ? invoke(ctx, f, bound, ret_value, err) : -EINVAL;
    if (rc == 0)
        call_check_absent(ctx, f, bound, *ret_value);
    return rc;
}

int
call_function(call_ctx_t *ctx, const char *fun, json_t *arg, json_t *pub, json_t **ret_value, fail_t *err)
{
    const func_t *f = ctx_find_named(ctx, fun, err);

    return f != NULL ? call_found(ctx, f, arg, pub, ret_value, err) : -ENOENT;
}

/* Salt's text for each kind of failure. NEW. */
static json_t *
failure_text(const func_t *f, const char *fun, const fail_t *err)
{
    AUTO_FREE char *doc = NULL;

    switch (err->kind) {
    case FAIL_COMMAND:
        return value_fmt("ERROR: %s", fail_text(err));
    case FAIL_PROGRAM:
        return value_fmt("Command required for '%s' not found: %s", fun, fail_text(err));
    case FAIL_INVOCATION:
        return value_fmt("ERROR executing '%s': %s", fun, fail_text(err));
    case FAIL_ARGUMENTS:
        doc = func_docstring(f);
        return value_fmt("Passed invalid arguments to %s: %s\n%s", fun, fail_text(err), doc);
    case FAIL_GENERIC:
    case FAIL_UNAVAILABLE:
        break;
    }
    return value_fmt("The minion function caused an exception: %s", fail_text(err));
}

typedef struct beginning {
    const char *fun;
    json_t *docs; /* of the functions whose names begin so */
} beginning_t;

static void
add_beginning(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    beginning_t *self = cookie;

    if (!str_starts(name, self->fun))
        return;
    AUTO_FREE char *doc = func_doc(f);
    json_object_set_new(self->docs, name, json_string(doc));
}

json_t *
call_unavailable(call_ctx_t *ctx, const char *fun, const fail_t *err)
{
    AUTO_FREE char *text = call_unknown(ctx, fun, err);
    json_auto_t *docs = json_object();

    registry_each(ctx->env.registry, ctx, add_beginning, &(beginning_t){ fun, docs });
    if (json_object_size(docs) == 0)
        return json_string(text);
    json_object_set_new(docs, fun, json_string(text));
    return json_incref(docs);
}

void
call_run(call_ctx_t *ctx, const char *fun, json_t *arg, json_t *pub, call_result_t *res)
{
    fail_auto_t err = FAIL_INIT;
    const func_t *f = ctx_find_named(ctx, fun, &err);

    *res = (call_result_t){ .retcode = EX_GENERIC };
    if (f == NULL) {
        res->value = call_unavailable(ctx, fun, &err);
        res->failed = FAIL_UNAVAILABLE;
        return;
    }
    if ((ctx->env.may != NULL && ctx->env.may(ctx->env.cookie, fun, &err) < 0) ||
        call_found(ctx, f, arg, pub, &res->value, &err) < 0) {
        res->value = failure_text(f, fun, &err);
        res->failed = err.kind;
        return;
    }
    res->out = f->more != NULL ? f->more->out : NULL;
    res->retcode = ctx->retcode;

    /* Without a code of its own, {"result": false} and {"success": false} are failures, as Salt derives
     * it. */
    static const char *const keys[] = { "result", "success" };
    for (size_t i = 0; i < NELEMS(keys) && res->retcode == 0; i++) {
        const json_t *said = json_object_get(res->value, keys[i]);
        if (said != NULL && !value_truthy(said))
            res->retcode = EX_GENERIC;
    }
    res->success = res->retcode == 0;
}

void
call_result_free(call_result_t *res)
{
    json_decref(res->value);
    res->value = NULL;
}
