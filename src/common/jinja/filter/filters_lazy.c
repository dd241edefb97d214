/* filters_lazy.c - filters that return a generator: map, select and relatives, unique, items, batch, slice.
 *
 * All share one generator (lazy_t): its step function gets each element and returns a value, or NULL and
 * whether to go on. Arguments are checked at the first element, as in Python's generators. A generator holds
 * its context and ends with its session. */
#include "common/jinja/filter/filter.h"
#include "common/py/py_mem.h"

typedef struct lazy lazy_t;
/* NEW element, or NULL: *ret_more tells whether to go on with the next one. */
typedef py_t *lazy_step_fn(lazy_t *z, py_t *item, bool *ret_more);

/* A filter that yields its elements when they are asked for. */
struct lazy {
    jcontext_t *ctx;
    py_t *value;
    lazy_step_fn *step;
    int (*prepare)(lazy_t *z);
    py_iter_t it;
    bool started, over, check_truth;
    bool negate, attribute;  /* of select and its relatives */
    py_t *pos, *names, *kwv; /* lists of what the filter was given */
    py_t *name;              /* of the filter or test to apply; NULL: none */
    const jfilter_t *row;    /* its row; NULL: there is none */
    jgetter_t getter;
    bool has_getter;
    py_t *dflt, *seen, *batch;
    int64_t n, i;
};

/* Releases all that a generator holds; it may not have started. */
static void
lazy_free(void *data)
{
    lazy_t *z = data;
    if (z->started)
        py_iter_end(&z->it);
    if (z->has_getter)
        jgetter_free(&z->getter);
    py_t *values[] = { z->value, z->pos, z->names, z->kwv, z->name, z->dflt, z->seen, z->batch };
    for (size_t i = 0; i < NELEMS(values); i++)
        py_unref(values[i]);
    jcontext_unref(z->ctx);
    free(z);
}

/* At the first element: an empty value ends, arguments are prepared. 1, 0 at the end, or -1 raised. */
static int
lazy_start(lazy_t *z)
{
    int any = z->check_truth ? py_truth(z->value) : 1;
    if (any <= 0) {
        z->over = true;
        return any;
    }
    if (z->prepare != NULL && z->prepare(z) < 0)
        return -1;
    if (py_iter_start(&z->it, z->value) < 0)
        return -1;
    z->started = true;
    return 1;
}

/* py_gen_class_t's next: NEW element, or NULL at the end or raised. */
static py_t *
lazy_next(void *data)
{
    lazy_t *z = data;
    if (z->ctx->session == NULL || z->over)
        return NULL;
    if (!z->started && lazy_start(z) <= 0) {
        z->over = true;
        return NULL;
    }
    for (;;) {
        bool more = false;
        py_t *item = py_iter_next(&z->it);
        if (item == NULL) {
            z->over = true;
            return py_raised() == NULL && z->batch != NULL ? z->step(z, NULL, &more) : NULL;
        }
        py_t *v = z->step(z, item, &more);
        py_unref(item);
        if (v != NULL || !more || py_tick() < 0) {
            z->over = v == NULL;
            return v;
        }
    }
}

#define LAZY(fn) ROW(.name = "generator", .next = lazy_next, .free = lazy_free, .function = fn)
static const py_gen_class_t map_class = LAZY("sync_do_map"), select_class = LAZY("select_or_reject"),
                            unique_class = LAZY("do_unique"), items_class = LAZY("do_items"),
                            batch_class = LAZY("do_batch"), slice_class = LAZY("sync_do_slice");

static lazy_t *
lazy_new(jcontext_t *ctx, py_t *value, lazy_step_fn *step)
{
    lazy_t *z = xcalloc(1, sizeof(*z));
    z->ctx = jcontext_ref(ctx);
    z->value = py_ref(value);
    z->step = step;
    return z;
}

/* ---- map, select, reject ------------------------------------------------------------------------------ */

/* Keeps the arguments after context and value, as references. */
static void
keep_args(lazy_t *z, const py_args_t *args)
{
    z->pos = py_list();
    z->names = py_list();
    z->kwv = py_list();
    for (size_t i = 2; i < args->n; i++)
        py_append(z->pos, args->v[i]);
    for (size_t i = 0; i < args->nkw; i++) {
        py_append(z->names, args->names[i]);
        py_append(z->kwv, args->kwv[i]);
    }
}

/* Looks the filter or test up once for all elements. */
static void
apply_by(lazy_t *z, bool test, py_t *name)
{
    const jinja_t *engine = z->ctx->session->engine;
    z->name = py_ref(name);
    if (py_is(name, PY_STR))
        z->row = test ? jtest_find(engine, py_cstr(name)) : jfilter_find(engine, py_cstr(name));
}

/* Applies the filter or test to an element. The first `skip` kept arguments are the lazy filter's own. */
static py_t *
filters_lazy_apply(const lazy_t *z, bool test, py_t *item, size_t skip)
{
    size_t n = py_seq_len(z->pos), nkw = py_seq_len(z->names);
    size_t used = 0, bytes = (n + 2 * nkw + 1) * sizeof(py_t *);
    py_t *few[8], **room = bytes > sizeof(few) ? py_alloc_room(bytes) : few;
    if (room == NULL)
        return NULL;
    room[used++] = item;
    for (size_t i = skip; i < n; i++)
        room[used++] = py_seq_at(z->pos, i);
    for (size_t i = 0; i < nkw; i++) {
        room[used + i] = py_seq_at(z->names, i);
        room[used + nkw + i] = py_seq_at(z->kwv, i);
    }
    const py_args_t args = { used, room, nkw, room + used, room + used + nkw };
    py_t *v = z->row != NULL ? jfilter_call(z->ctx, z->row, &args)
                             : jcall_named(z->ctx, test, z->name, &args);
    if (room != few)
        py_release(room, bytes);
    return v;
}

/* prepare_map of Jinja: an attribute with default, or a filter name. */
static int
prepare_map(lazy_t *z)
{
    py_t *attribute = NULL;
    for (size_t i = 0; py_seq_len(z->pos) == 0 && i < py_seq_len(z->names); i++)
        if (py_str_is(py_seq_at(z->names, i), "attribute"))
            attribute = py_seq_at(z->kwv, i);
    if (attribute == NULL) {
        if (py_seq_len(z->pos) == 0)
            return py_raise_int(&jinja_FilterArgumentError, "map requires a filter argument");
        apply_by(z, false, py_seq_at(z->pos, 0));
        return 0;
    }
    for (size_t i = 0; i < py_seq_len(z->names); i++) {
        py_t *name = py_seq_at(z->names, i);
        if (py_str_is(name, "default") && !py_is(py_seq_at(z->kwv, i), PY_NONE))
            z->dflt = py_ref(py_seq_at(z->kwv, i));
        if (py_str_is(name, "default") || py_str_is(name, "attribute"))
            continue;
        AUTO(py) shown = py_repr(name);
        return py_raise_int(&jinja_FilterArgumentError, "Unexpected keyword argument %s", py_cstr(shown));
    }
    jgetter_init(&z->getter, z->ctx, attribute, false, false);
    z->getter.dflt = z->dflt;
    z->has_getter = true;
    return 0;
}

static py_t *
step_map(lazy_t *z, py_t *item, bool *ret_more)
{
    return z->has_getter ? jgetter_get(&z->getter, item) : filters_lazy_apply(z, false, item, 1);
}

static py_t *
sync_do_map(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    lazy_t *z = lazy_new(ctx, a[0], step_map);
    z->check_truth = true;
    z->prepare = prepare_map;
    keep_args(z, args);
    return py_gen(&map_class, z);
}

static int
prepare_select(lazy_t *z)
{
    size_t skip = z->attribute ? 1 : 0;
    if (z->attribute && py_seq_len(z->pos) == 0)
        return py_raise_int(&jinja_FilterArgumentError, "Missing parameter for attribute name");
    if (z->attribute) {
        jgetter_init(&z->getter, z->ctx, py_seq_at(z->pos, 0), false, false);
        z->has_getter = true;
    }
    if (py_seq_len(z->pos) > skip)
        apply_by(z, true, py_seq_at(z->pos, skip));
    return 0;
}

/* The element itself passes, by the test of the element or of its attribute. */
static py_t *
step_select(lazy_t *z, py_t *item, bool *ret_more)
{
    AUTO(py) looked_at = z->has_getter ? jgetter_get(&z->getter, item) : py_ref(item);
    if (looked_at == NULL)
        return NULL;
    AUTO(py)
    answer = z->name != NULL ? filters_lazy_apply(z, true, looked_at, z->attribute ? 2 : 1)
                             : py_ref(looked_at);
    int truth = answer != NULL ? py_truth(answer) : -1;
    *ret_more = truth >= 0;
    return truth >= 0 && (truth > 0) != z->negate ? py_ref(item) : NULL;
}

static py_t *
select_or_reject(jcontext_t *ctx, py_t *value, const py_args_t *args, bool attribute, bool negate)
{
    lazy_t *z = lazy_new(ctx, value, step_select);
    z->check_truth = true;
    z->prepare = prepare_select;
    z->attribute = attribute;
    z->negate = negate;
    keep_args(z, args);
    return py_gen(&select_class, z);
}

static py_t *
sync_do_select(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return select_or_reject(ctx, a[0], args, false, false);
}

static py_t *
sync_do_reject(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return select_or_reject(ctx, a[0], args, false, true);
}

static py_t *
sync_do_selectattr(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return select_or_reject(ctx, a[0], args, true, false);
}

static py_t *
sync_do_rejectattr(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return select_or_reject(ctx, a[0], args, true, true);
}

/* ---- unique, items, batch, slice ---------------------------------------------------------------------- */

static py_t *
step_unique(lazy_t *z, py_t *item, bool *ret_more)
{
    AUTO(py) key = jgetter_get(&z->getter, item);
    int seen = key != NULL ? py_in(key, z->seen) : -1;
    if (seen < 0 || (seen == 0 && py_set_add(z->seen, key) < 0))
        return NULL;
    *ret_more = true;
    return seen == 0 ? py_ref(item) : NULL;
}

/* Keys are remembered in a set, so elements must be hashable, as in Jinja. */
static py_t *
do_unique(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int sensitive = jflag(a[1], false);
    if (sensitive < 0)
        return NULL;
    lazy_t *z = lazy_new(ctx, a[0], step_unique);
    jgetter_init(&z->getter, ctx, a[2], false, !sensitive);
    z->has_getter = true;
    z->pos = py_list();
    if (a[2] != NULL)
        py_append(z->pos, a[2]);
    z->seen = py_set(false);
    return py_gen(&unique_class, z);
}

/* An undefined value has no pairs; other values must be dicts. */
static int
prepare_items(lazy_t *z)
{
    if (py_is(z->value, PY_UNDEFINED)) {
        py_unref(z->value);
        z->value = py_list();
        return 0;
    }
    if (!py_is(z->value, PY_DICT))
        return py_raise_int(&py_TypeError, "Can only get item pairs from a mapping.");
    py_t *items = jmethod(z->value, "items", 0);
    if (items == NULL)
        return -1;
    py_unref(z->value);
    z->value = items;
    return 0;
}

static py_t *
step_same(lazy_t *z, py_t *item, bool *ret_more)
{
    return py_ref(item);
}

static py_t *
do_items(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    lazy_t *z = lazy_new(ctx, a[0], step_same);
    z->prepare = prepare_items;
    return py_gen(&items_class, z);
}

/* Collects a row. At the end (item NULL) the last row is filled with the default. */
static py_t *
step_batch(lazy_t *z, py_t *item, bool *ret_more)
{
    py_t *full = NULL;
    int64_t have = (int64_t) py_seq_len(z->batch);
    if (item == NULL) {
        for (; have > 0 && z->dflt != NULL && have < z->n; have++) {
            if (py_tick() < 0)
                return NULL;
            py_append(z->batch, z->dflt);
        }
        full = STEAL(z->batch);
        if (have > 0)
            return full;
        py_unref(full);
        return NULL;
    }
    if (have == z->n) {
        full = z->batch;
        z->batch = py_list();
    }
    py_append(z->batch, item);
    *ret_more = true;
    return full;
}

static py_t *
do_batch(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    /* A length that is not an int never equals the number of elements, so all go into one row. */
    int64_t n = -1;
    if (py_is(a[1], PY_INT) || py_is(a[1], PY_BOOL))
        py_to_int64(a[1], &n);
    lazy_t *z = lazy_new(ctx, a[0], step_batch);
    z->n = n;
    z->dflt = a[2] != NULL && !py_is(a[2], PY_NONE) ? py_ref(a[2]) : NULL;
    z->batch = py_list();
    return py_gen(&batch_class, z);
}

/* Cuts the elements into columns at once, as Jinja's do_slice; the generator then gives them one by one. */
static int
prepare_slice(lazy_t *z)
{
    AUTO(py) all = py_tolist(z->value);
    if (all == NULL)
        return -1;
    if (z->n == 0)
        return py_raise_int(&py_ZeroDivisionError, "integer division or modulo by zero");
    int64_t length = (int64_t) py_seq_len(all), per = length / z->n, extra = length % z->n, offset = 0;
    AUTO(py) columns = py_list();
    for (int64_t i = 0; i < z->n; i++) {
        int64_t start = offset + i * per;
        if (i < extra)
            offset++;
        py_t *column = py_list();
        for (int64_t k = start; k < offset + (i + 1) * per; k++)
            py_append(column, py_seq_at(all, (size_t) k));
        if (z->dflt != NULL && i >= extra)
            py_append(column, z->dflt);
        py_append_new(columns, column);
        if (py_tick() < 0)
            return -1;
    }
    py_unref(z->value);
    z->value = STEAL(columns);
    return 0;
}

static py_t *
sync_do_slice(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int64_t n;
    if (jindex(a[1], 0, &n) < 0)
        return NULL;
    if (n > 1000000)
        return py_raise(&py_LimitError, "slice into more than 1000000 columns");
    lazy_t *z = lazy_new(ctx, a[0], step_same);
    z->prepare = prepare_slice;
    z->n = n;
    z->dflt = a[2] != NULL && !py_is(a[2], PY_NONE) ? py_ref(a[2]) : NULL;
    return py_gen(&slice_class, z);
}

static const jfilter_t rows[] = {
    { JROW("batch", do_batch, JP("value", "linecount", "fill_with"), 2, 3, 0), 0, "Rows of `linecount`." },
    { JROW("items", do_items, JP("value"), 1, 1, 0), 0, "Pairs of a dict." },
    { JROW("map", sync_do_map, JP("context", "value"), 2, 2, PY_SIG_STAR | PY_SIG_STARKW), JF_CONTEXT,
      "A filter or an attribute of each element." },
    { JROW("reject", sync_do_reject, JP("context", "value"), 2, 2, PY_SIG_STAR | PY_SIG_STARKW), JF_CONTEXT,
      "Elements that fail a test." },
    { JROW("rejectattr", sync_do_rejectattr, JP("context", "value"), 2, 2, PY_SIG_STAR | PY_SIG_STARKW),
      JF_CONTEXT, "Elements whose attribute fails a test." },
    { JROW("select", sync_do_select, JP("context", "value"), 2, 2, PY_SIG_STAR | PY_SIG_STARKW), JF_CONTEXT,
      "Elements that pass a test." },
    { JROW("selectattr", sync_do_selectattr, JP("context", "value"), 2, 2, PY_SIG_STAR | PY_SIG_STARKW),
      JF_CONTEXT, "Elements whose attribute passes a test." },
    { JROW("slice", sync_do_slice, JP("value", "slices", "fill_with"), 2, 3, 0), 0, "`slices` columns." },
    { JROW("unique", do_unique, JP("environment", "value", "case_sensitive", "attribute"), 2, 4, 0),
      JF_CONTEXT, "Each element once." },
};

const jfilter_table_t jfilters_lazy = JTABLE(rows);
