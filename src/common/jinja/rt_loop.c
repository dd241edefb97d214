/* rt_loop.c - `for`: plain loops, loops with a condition, recursive loops, and the variable `loop`.
 *
 * A loop without `loop` in its body just iterates. Otherwise a loop_t, a host object, reads one element ahead
 * on demand and its length only when asked: an iterator is then read to its end and kept in `rest`. A
 * recursive loop is a function with a frame of its own. */
#include "common/jinja/eval.h"
#include "common/jinja/exec.h"

/* Source of elements: an iterable, filtered by the loop's condition. */
typedef struct source {
    jrun_t *r;
    const jnode_for_t *loop;
    py_iter_t it;
    bool started;
} source_t;

/* The variable `loop`. An iterator's length is learned by reading ahead. */
typedef struct loop {
    source_t *source; /* NULL when the loop is over */
    py_t *iterable;   /* NULL when its length is not known beforehand */
    py_t *rest;       /* elements read ahead to learn the length */
    size_t rest_at;
    int64_t length; /* -1: not known yet */
    int64_t index0;
    int64_t depth0;
    py_t *before, *current, *after, *changed;
    const jnode_t *node;
    jframe_t *frame; /* of a recursive loop: where it was defined */
    jcontext_t *ctx;
    jtemplate_t *template;
} loop_t;

/* ---- elements ----------------------------------------------------------------------------------------- */

/* Sets the condition's own copies of the target's variables; *at counts them. 0, or -1 raised. */
static int
bind_test(source_t *s, const jnode_t *target, py_t *value, size_t *at)
{
    if (target->kind == N_NAME) {
        jframe_set(s->r->frame, s->loop->test_refs[(*at)++], py_ref(value));
        return 0;
    }
    AUTO(py) items = py_is(value, PY_TUPLE) || py_is(value, PY_LIST) ? py_ref(value) : NULL;
    if (items == NULL && !py_iterable(value) && !py_is(value, PY_UNDEFINED))
        return py_raise_int(&py_TypeError, "cannot unpack non-iterable %s object", py_type_name(value));
    if (items == NULL && (items = py_totuple(value)) == NULL)
        return -1;
    size_t n = target->list.n, have = py_seq_len(items);
    if (have > n)
        return py_raise_int(&py_ValueError, "too many values to unpack (expected %zu)", n);
    if (have < n)
        return py_raise_int(&py_ValueError, "not enough values to unpack (expected %zu, got %zu)", n, have);
    for (size_t i = 0; i < n; i++)
        if (bind_test(s, target->list.v[i], py_seq_at(items, i), at) < 0)
            return -1;
    return 0;
}

/* The element as the condition saw it: unpacked targets come as tuples, as in Jinja's generated filter
 * function. NEW. */
static py_t *
bound_test(source_t *s, const jnode_t *target, size_t *at)
{
    if (target->kind == N_NAME)
        return py_ref(*jframe_at(s->r->frame, s->loop->test_refs[(*at)++]));
    py_t *tuple = py_tuple(target->list.n);
    for (size_t i = 0; i < target->list.n; i++) {
        AUTO(py) v = bound_test(s, target->list.v[i], at);
        py_tuple_set(tuple, i, v);
    }
    return tuple;
}

/* Next element that meets the condition. NEW; NULL at the end or raised. */
static py_t *
source_next(source_t *s)
{
    for (;;) {
        py_t *v = py_iter_next(&s->it);
        if (v == NULL || s->loop->test == NULL)
            return v;
        size_t at = 0;
        int line = s->r->line;
        s->r->line = s->loop->test->run_line;
        int truth = bind_test(s, s->loop->target, v, &at) == 0 ? jtruth(s->r, s->loop->test) : -1;
        if (truth > 0) {
            s->r->line = line;
            if (s->loop->target->kind != N_TUPLE)
                return v;
            at = 0;
            py_unref(v);
            return bound_test(s, s->loop->target, &at);
        }
        py_unref(v);
        if (truth < 0)
            return NULL;
        s->r->line = line;
    }
}

/* Next element: from those read ahead, else from the source. NEW; NULL at the end or raised. */
static py_t *
pull(loop_t *l)
{
    if (l->rest != NULL)
        return l->rest_at < py_seq_len(l->rest) ? py_ref(py_seq_at(l->rest, l->rest_at++)) : NULL;
    return l->source != NULL ? source_next(l->source) : NULL;
}

/* ---- the variable `loop` ------------------------------------------------------------------------------ */

static void
loop_free(void *data)
{
    loop_t *l = data;
    py_unref(l->iterable);
    py_unref(l->rest);
    py_unref(l->before);
    py_unref(l->current);
    py_unref(l->after);
    py_unref(l->changed);
    jframe_unref(l->frame);
    jcontext_unref(l->ctx);
    free(l);
}

/* Length of the iterable. Without one (a condition, an iterator) the rest is read and counted. -1 raised. */
static int64_t
loop_length(loop_t *l)
{
    if (l->length >= 0)
        return l->length;
    if (l->iterable != NULL) {
        l->length = py_len(l->iterable);
        if (l->length >= 0 || !py_raised_is(&py_TypeError))
            return l->length;
        py_clear();
    }
    py_t *rest = py_list();
    for (py_t *v; (v = pull(l)) != NULL;)
        py_append_new(rest, v);
    if (py_raised() != NULL) {
        py_unref(rest);
        return -1;
    }
    py_unref(l->rest);
    l->rest = rest;
    l->rest_at = 0;
    l->length = (int64_t) py_seq_len(rest) + l->index0 + 1 + (l->after != NULL);
    return l->length;
}

static py_t *
int_or_raise(int64_t length, int64_t minus)
{
    return length < 0 ? NULL : py_int(length - minus);
}

/* Reads one element ahead. BORROWED; NULL at the end or raised. */
static py_t *
rt_loop_peek(loop_t *l)
{
    if (l->after == NULL)
        l->after = pull(l);
    return l->after;
}

static py_t *
get_index(loop_t *l)
{
    return py_int(l->index0 + 1);
}
static py_t *
get_index0(loop_t *l)
{
    return py_int(l->index0);
}
static py_t *
get_length(loop_t *l)
{
    return int_or_raise(loop_length(l), 0);
}
static py_t *
get_revindex(loop_t *l)
{
    return int_or_raise(loop_length(l), l->index0);
}
static py_t *
get_revindex0(loop_t *l)
{
    return int_or_raise(loop_length(l), l->index0 + 1);
}
static py_t *
get_first(loop_t *l)
{
    return py_bool(l->index0 == 0);
}
/* Reads an element ahead to know whether this is the last. */
static py_t *
get_last(loop_t *l)
{
    const py_t *next = rt_loop_peek(l);
    return next == NULL && py_raised() != NULL ? NULL : py_bool(next == NULL);
}
static py_t *
get_depth(loop_t *l)
{
    return py_int(l->depth0 + 1);
}
static py_t *
get_depth0(loop_t *l)
{
    return py_int(l->depth0);
}
/* A loop variable that outlives its template can no longer evaluate anything. */
static py_t *
rt_loop_ended(void)
{
    return py_raise(&py_RuntimeError, "the loop's template has ended");
}
/* Undefined value for an item that does not exist, with Jinja's hint. */
static py_t *
no_item(const loop_t *l, const char *hint)
{
    return l->ctx->session != NULL ? jundefined(l->ctx->session, NULL, hint) : rt_loop_ended();
}
static py_t *
get_previtem(loop_t *l)
{
    return l->index0 == 0 ? no_item(l, "there is no previous item") : py_ref(l->before);
}
static py_t *
get_nextitem(loop_t *l)
{
    py_t *next = rt_loop_peek(l);
    if (next == NULL && py_raised() != NULL)
        return NULL;
    return next != NULL ? py_ref(next) : no_item(l, "there is no next item");
}

/* ---- its methods */

/* Argument by the loop's index, modulo their number. */
static py_t *
call_cycle(loop_t *l, const py_args_t *args)
{
    if (args->n == 0)
        return py_raise(&py_TypeError, "no items for cycling given");
    return py_ref(args->v[l->index0 % (int64_t) args->n]);
}

/* True when the arguments differ from those of the last call. */
static py_t *
call_changed(loop_t *l, const py_args_t *args)
{
    AUTO(py) now = py_tuple(args->n);
    for (size_t i = 0; i < args->n; i++)
        py_tuple_set(now, i, args->v[i]);
    int same = l->changed != NULL ? py_eq(l->changed, now) : 0;
    if (same < 0)
        return NULL;
    if (same == 0) {
        py_unref(l->changed);
        l->changed = STEAL(now);
    }
    return py_bool(same == 0);
}

/* An attribute of `loop`: a value, or a method. */
typedef struct loop_attr {
    const char *name;
    py_t *(*get)(loop_t *l);
    py_t *(*call)(loop_t *l, const py_args_t *args);
} loop_attr_t;

static const loop_attr_t loop_attrs[] = {
    { "index", get_index, NULL },         { "index0", get_index0, NULL },
    { "first", get_first, NULL },         { "last", get_last, NULL },
    { "length", get_length, NULL },       { "revindex", get_revindex, NULL },
    { "revindex0", get_revindex0, NULL }, { "depth", get_depth, NULL },
    { "depth0", get_depth0, NULL },       { "previtem", get_previtem, NULL },
    { "nextitem", get_nextitem, NULL },   { "cycle", NULL, call_cycle },
    { "changed", NULL, call_changed },
};

/* A bound method: the loop and its row. */
typedef struct loop_method {
    py_t *loop;
    const loop_attr_t *row;
} loop_method_t;

static void
method_free(void *data)
{
    loop_method_t *m = data;
    py_unref(m->loop);
    free(m);
}

static py_t *method_call(void *data, const py_args_t *args);
static const py_fn_class_t method_class = {
    .name = "LoopContext.method", .fn = method_call, .is_method = true, .free = method_free
};

static int loop_find(py_t *self, py_t *name, py_t **ret);
static py_t *loop_call(py_t *self, const py_args_t *args);
static int64_t loop_len(py_t *self);
static int loop_repr(py_t *self, buf_t *out);

static const py_class_t loop_class = {
    .name = "LoopContext",
    .module = "jinja2.runtime",
    .find_attr = loop_find,
    .call = loop_call,
    .len = loop_len,
    .repr = loop_repr,
    .free = loop_free,
};

static py_t *
method_call(void *data, const py_args_t *args)
{
    loop_method_t *m = data;
    return m->row->call(py_host_data(m->loop, &loop_class), args);
}

/* Attributes are computed on access; methods are bound objects that keep the loop alive. */
static int
loop_find(py_t *self, py_t *name, py_t **ret)
{
    loop_t *l = py_host_data(self, &loop_class);
    const char *text = py_cstr(name);
    for (size_t i = 0; i < NELEMS(loop_attrs); i++) {
        if (strcmp(loop_attrs[i].name, text) != 0)
            continue;
        if (loop_attrs[i].get != NULL) {
            *ret = loop_attrs[i].get(l);
            return *ret != NULL ? 1 : -1;
        }
        loop_method_t *m = xcalloc(1, sizeof(*m));
        m->loop = py_ref(self);
        m->row = &loop_attrs[i];
        *ret = py_func(&method_class, m);
        return 1;
    }
    return 0;
}

static int64_t
loop_len(py_t *self)
{
    return loop_length(py_host_data(self, &loop_class));
}

static int
loop_repr(py_t *self, buf_t *out)
{
    loop_t *l = py_host_data(self, &loop_class);
    int64_t n = loop_length(l);
    if (n < 0)
        return -1;
    buf_printf(out, "<LoopContext %lld/%lld>", (long long) l->index0 + 1, (long long) n);
    return 0;
}

/* ---- running ------------------------------------------------------------------------------------------ */

/* Runs the body for an element. The scope's variables start anew for each turn. */
static int
body_turn(jrun_t *r, const jnode_t *node, py_t *item)
{
    const jnode_for_t *loop = node->loop;
    if (loop->body_scope.entered > 0)
        jenter(r, &loop->body_scope);
    if (loop->target->kind == N_NAME)
        jframe_set(r->frame, loop->target->name.ref, py_ref(item));
    else if (jassign(r, loop->target, item) < 0)
        return -1;
    return jexec(r, &loop->body);
}

/* Runs the body for each element. Ends with JX_OK, JX_BREAK or -1; *ret_any: a turn ran to its end. */
static int
turns(jrun_t *r, const jnode_t *node, source_t *s, loop_t *l, py_t *loop_var, bool *ret_any)
{
    const jnode_for_t *loop = node->loop;
    for (;;) {
        r->line = node->line;
        py_t *item;
        if (l == NULL) {
            item = loop->test == NULL ? py_iter_next(&s->it) : source_next(s);
        } else {
            item = l->after != NULL ? STEAL(l->after) : pull(l);
            if (item != NULL) {
                l->index0++;
                py_unref(l->before);
                l->before = l->current;
                l->current = py_ref(item);
            }
        }
        if (item == NULL)
            return py_raised() != NULL ? -1 : JX_OK;
        int rc = py_tick();
        if (rc == 0 && l != NULL)
            jframe_set(r->frame, loop->loop_ref, py_ref(loop_var));
        if (rc == 0)
            rc = body_turn(r, node, item);
        py_unref(item);
        if (rc < 0)
            return -1;
        if (rc == JX_BREAK)
            return JX_BREAK;
        *ret_any = *ret_any || rc == JX_OK;
    }
}

/* The `loop` object. A condition makes the length unknown until asked for. */
static py_t *
loop_new(jrun_t *r, const jnode_t *node, py_t *iterable, source_t *s, int64_t depth0)
{
    loop_t *l = xcalloc(1, sizeof(*l));
    l->source = s;
    l->iterable = node->loop->test == NULL ? py_ref(iterable) : NULL;
    l->length = -1;
    l->index0 = -1;
    l->depth0 = depth0;
    l->node = node;
    l->ctx = jcontext_ref(r->ctx);
    l->template = r->template;
    if (node->loop->recursive)
        l->frame = jframe_ref(r->frame->outer);
    return py_host(&loop_class, l);
}

/* Runs the statement in the frame that holds its variables. `var` may outlive the loop, so its source is
 * cleared. */
static int
run_loop(jrun_t *r, const jnode_t *node, py_t *iterable, int64_t depth0)
{
    const jnode_for_t *loop = node->loop;
    source_t s;
    bool any = false;

    /* Starts the iteration; a condition's variables get their initial loads. */
    s = (source_t){ .r = r, .loop = loop };
    if (py_iter_start(&s.it, iterable) < 0)
        return -1;
    s.started = true;
    if (loop->test != NULL)
        jenter(r, &loop->test_scope);

    AUTO(py) var = loop->extended ? loop_new(r, node, iterable, &s, depth0) : NULL;
    loop_t *l = var != NULL ? py_host_data(var, &loop_class) : NULL;
    int rc = turns(r, node, &s, l, var, &any);
    if (s.started)
        py_iter_end(&s.it);
    s.started = false;
    if (l != NULL)
        l->source = NULL;
    jleave(r, &loop->body_scope);
    if (rc < 0)
        return -1;
    /* Jinja's flag for `else` is cleared at the end of a turn, so turns that all end by `break` or `continue`
     * count as none. */
    if (!any && loop->otherwise.n > 0) {
        jenter(r, &loop->else_scope);
        rc = jexec(r, &loop->otherwise);
        jleave(r, &loop->else_scope);
        return rc;
    }
    return JX_OK;
}

/* Runs a recursive loop as a function; appends to `out`. 0, or -1 raised. */
static int
run_recursive(jsession_t *s, jcontext_t *ctx, jtemplate_t *t, jframe_t *outer, const jnode_t *node,
              py_t *iterable, int64_t depth0, buf_t *out)
{
    jrun_t r;
    if (py_enter() < 0)
        return -1;
    jrun_push(&r, s, ctx, t, FUNC_LOOP, jframe_new(s, node->loop->func, outer), out);
    r.line = node->line;
    int rc = run_loop(&r, node, iterable, depth0);
    jrun_pop(&r, rc < 0);
    py_leave();
    return rc < 0 ? -1 : 0;
}

/* `loop(items)` within a recursive loop: runs the loop again one level deeper and returns its text. */
static py_t *
loop_call(py_t *self, const py_args_t *args)
{
    loop_t *l = py_host_data(self, &loop_class);
    if (args->n != 1 || args->nkw != 0)
        return py_raise(&py_TypeError,
                        "LoopContext.__call__() takes 2 positional arguments but %zu were given",
                        args->n + 1);
    if (l->frame == NULL)
        return py_raise(&py_TypeError, "The loop must have the 'recursive' marker to be called recursively.");
    if (l->ctx->session == NULL)
        return rt_loop_ended();
    buf_t text = BUF_INIT;
    if (run_recursive(l->ctx->session, l->ctx, l->template, l->frame, l->node, args->v[0], l->depth0 + 1,
                      &text) < 0) {
        buf_free(&text);
        return NULL;
    }
    AUTO(py) v = py_str_buf(&text);
    return l->ctx->autoescape ? py_markup(v) : STEAL(v);
}

/* The iterable is evaluated before the loop's scope is entered. */
int
jexec_for(jrun_t *r, const jnode_t *node)
{
    r->line = node->line;
    AUTO(py) iterable = jeval(r, node->loop->iter);
    if (iterable == NULL)
        return -1;
    if (!node->loop->recursive)
        return run_loop(r, node, iterable, 0);
    return run_recursive(r->s, r->ctx, r->template, r->frame, node, iterable, 0, r->out);
}
