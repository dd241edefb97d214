/* rt_macro.c - macros and the callers of call blocks.
 *
 * A macro is a host object that keeps its context, the frame it was defined in and its template. A call binds
 * arguments as jinja2.runtime.Macro does, including its error texts, runs the body into a buffer and returns
 * the text. */
#include "common/jinja/eval.h"
#include "common/jinja/run.h"

/* A macro as a value: its node, with the variables of the place where it was defined. */
typedef struct macro {
    jcontext_t *ctx;
    jframe_t *frame;       /* where it was defined */
    jtemplate_t *template; /* a reference: `node` is in its tree, and a macro may outlive the render */
    const jnode_t *node;
} macro_t;

static void
macro_free(void *data)
{
    macro_t *m = data;
    jframe_unref(m->frame);
    jcontext_unref(m->ctx);
    jtemplate_unref(m->template);
    free(m);
}

static py_t *macro_call(py_t *self, const py_args_t *args);
static int macro_repr(py_t *self, buf_t *out);
static int macro_find(py_t *self, py_t *name, py_t **ret);

static const py_class_t macro_class = {
    .name = "Macro",
    .module = "jinja2.runtime",
    .find_attr = macro_find,
    .call = macro_call,
    .repr = macro_repr,
    .free = macro_free,
};

/* The macro keeps references, so it stays valid after the defining function has returned. */
py_t *
jmacro_new(jrun_t *r, const jnode_t *node)
{
    macro_t *m = xcalloc(1, sizeof(*m));
    m->ctx = jcontext_ref(r->ctx);
    m->frame = jframe_ref(r->frame);
    m->template = jtemplate_ref(r->template);
    m->node = node;
    return py_host(&macro_class, m);
}

static int
macro_repr(py_t *self, buf_t *out)
{
    const macro_t *m = py_host_data(self, &macro_class);
    if (m->node->macro.name != NULL)
        buf_printf(out, "<Macro '%s'>", m->node->macro.name->text);
    else
        buf_puts(out, "<Macro anonymous>");
    return 0;
}

static py_t *
rt_macro_name_of(const macro_t *m)
{
    return m->node->macro.name != NULL ? py_ref(m->node->macro.name->str) : py_ref(PY_None);
}

static py_t *
rt_macro_arguments_of(const macro_t *m)
{
    const jsignature_t *sig = m->node->macro.sig;
    py_t *names = py_tuple(sig->nargs);
    for (size_t i = 0; i < sig->nargs; i++)
        py_tuple_set(names, i, sig->args[i]->name.name->str);
    return names;
}

static py_t *
catch_kwargs_of(const macro_t *m)
{
    return py_bool(m->node->macro.sig->kwargs);
}

static py_t *
catch_varargs_of(const macro_t *m)
{
    return py_bool(m->node->macro.sig->varargs);
}

static py_t *
caller_of(const macro_t *m)
{
    return py_bool(m->node->macro.sig->caller);
}

static const struct macro_attr {
    const char *name;
    py_t *(*get)(const macro_t *m);
} macro_attrs[] = {
    { "name", rt_macro_name_of },
    { "arguments", rt_macro_arguments_of },
    { "catch_kwargs", catch_kwargs_of },
    { "catch_varargs", catch_varargs_of },
    { "caller", caller_of },
};

static int
macro_find(py_t *self, py_t *name, py_t **ret)
{
    for (size_t i = 0; i < NELEMS(macro_attrs); i++)
        if (py_str_is(name, macro_attrs[i].name)) {
            *ret = macro_attrs[i].get(py_host_data(self, &macro_class));
            return 1;
        }
    return 0;
}

/* ---- calls -------------------------------------------------------------------------------------------- */

/* Value of the keyword `name`, marked as used; NULL when it was not passed. BORROWED. */
static py_t *
take_kw(const py_args_t *args, bool *used, const jname_t *name)
{
    for (size_t i = 0; i < args->nkw; i++) {
        size_t len;
        const char *text = py_text(args->names[i], &len);
        if (!used[i] && len == name->len && memcmp(text, name->text, len) == 0) {
            used[i] = true;
            return args->kwv[i];
        }
    }
    return NULL;
}

/* Raises for keywords that the macro does not take, with Jinja's special text for a second `caller`. */
static int
surplus_kw(const macro_t *m, const py_args_t *args, const bool *used)
{
    AUTO(py) name = rt_macro_name_of(m);
    AUTO(py) shown = py_repr(name);
    size_t first = args->nkw;
    for (size_t i = args->nkw; i > 0; i--) {
        if (used[i - 1])
            continue;
        first = i - 1;
        if (py_str_is(args->names[first], "caller"))
            return py_raise_int(
                &py_TypeError,
                "macro %s was invoked with two values for the special caller argument. This is "
                "most likely a bug.",
                py_cstr(shown));
    }
    if (first == args->nkw)
        return 0;
    AUTO(py) kw = py_repr(args->names[first]);
    return py_raise_int(&py_TypeError, "macro %s takes no keyword argument %s", py_cstr(shown), py_cstr(kw));
}

/* Assigns the arguments to the macro's variables. 0, or -1 raised. */
static int
rt_macro_bind(jrun_t *r, const macro_t *m, const py_args_t *args, bool *used)
{
    const jsignature_t *sig = m->node->macro.sig;
    for (size_t i = 0; i < sig->nargs; i++) {
        const jnode_t *arg = sig->args[i];
        py_t *v = i < args->n ? args->v[i] : take_kw(args, used, arg->name.name);
        jframe_set(r->frame, arg->name.ref, py_ref(v));
    }
    if (sig->caller) {
        /* `caller` of a call block, or an undefined value that says there is none. */
        static const jname_t caller = { .text = "caller", .len = 6 };
        py_t *v = py_ref(take_kw(args, used, &caller));
        if (v == NULL || py_is(v, PY_NONE)) {
            AUTO(py) name = py_strz("caller");
            py_unref(v);
            v = jundefined(r->s, name, "No caller defined");
        }
        jframe_set(r->frame, sig->caller_ref, v);
    }
    if (sig->kwargs) {
        /* Keywords that no parameter took, as a dict for `kwargs`. */
        py_t *kwargs = py_dict();
        for (size_t i = 0; i < args->nkw; i++)
            if (!used[i])
                py_dict_set(kwargs, args->names[i], args->kwv[i]);
        jframe_set(r->frame, sig->kwargs_ref, kwargs);
    } else if (surplus_kw(m, args, used) < 0) {
        return -1;
    }
    if (sig->varargs) {
        size_t n = args->n > sig->nargs ? args->n - sig->nargs : 0;
        if (py_room(n * sizeof(py_t *)) < 0)
            return -1;
        py_t *rest = py_tuple(n);
        for (size_t i = 0; i < n; i++)
            py_tuple_set(rest, i, args->v[sig->nargs + i]);
        jframe_set(r->frame, sig->varargs_ref, rest);
    } else if (args->n > sig->nargs) {
        AUTO(py) name = rt_macro_name_of(m);
        AUTO(py) shown = py_repr(name);
        return py_raise_int(&py_TypeError, "macro %s takes not more than %zu argument(s)", py_cstr(shown),
                            sig->nargs);
    }
    return 0;
}

/* Defaults are evaluated in order, so later ones see earlier parameters. Missing parameters become undefined
 * values. */
static int
set_defaults(jrun_t *r, const jsignature_t *sig)
{
    size_t required = sig->nargs - sig->ndefaults;
    for (size_t i = 0; i < sig->nargs; i++) {
        const jnode_t *arg = sig->args[i];
        if (*jframe_at(r->frame, arg->name.ref) != NULL)
            continue;
        py_t *v = NULL;
        if (i >= required) {
            v = jeval(r, sig->defaults[i - required]);
        } else {
            char *hint AUTO_FREE = xasprintf("parameter '%s' was not provided", arg->name.name->text);
            v = jundefined(r->s, arg->name.name->str, hint);
        }
        if (v == NULL)
            return -1;
        jframe_set(r->frame, arg->name.ref, v);
    }
    return 0;
}

/* py_class_t's call. Escaping of the result follows the calling context's setting. */
static py_t *
macro_call(py_t *self, const py_args_t *args)
{
    const macro_t *m = py_host_data(self, &macro_class);
    jsession_t *s = m->ctx->session;
    const jsignature_t *sig = m->node->macro.sig;
    if (s == NULL)
        return py_raise(&py_RuntimeError, "the macro's template has ended");
    if (py_enter() < 0)
        return NULL;
    bool escape = s->run->ctx->autoescape;
    bool few[16] = { false }, *used = args->nkw > NELEMS(few) ? xcalloc(args->nkw, sizeof(bool)) : few;
    buf_t text = BUF_INIT;
    jrun_t r;
    /* Wrong arguments are the caller's error: until they are bound, the macro does not appear in the
     * trace. */
    jrun_push(&r, s, m->ctx, m->template, FUNC_MACRO, jframe_new(s, sig->func, m->frame), &text);
    r.label = m->node->macro.name != NULL ? m->node->macro.name->text : NULL;
    bool bound = rt_macro_bind(&r, m, args, used) == 0;
    int rc = -1;
    if (bound) {
        r.line = m->node->line;
        jenter(&r, &sig->func->scope);
        rc = set_defaults(&r, sig) < 0 ? -1 : jexec(&r, &m->node->macro.body);
    }
    jrun_pop(&r, bound && rc < 0);
    if (used != few)
        free(used);
    py_leave();
    if (rc < 0) {
        buf_free(&text);
        return NULL;
    }
    AUTO(py) v = py_str_buf(&text);
    return escape ? py_markup(v) : STEAL(v);
}
