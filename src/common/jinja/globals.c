/* globals.c - global functions and classes: range, dict, namespace, cycler, joiner, lipsum.
 *
 * Functions are rows of `globals`; the classes cycler and joiner are host objects. Error texts are Python's.
 * lipsum and ranges are bounded. */
#include "common/base/pyrandom.h"
#include "common/jinja/filter/filter.h"
#include "common/jinja/globals.h"

enum { MAX_RANGE = 100000 };

/* ---- range, dict, namespace --------------------------------------------------------------------------- */

/* Python's range(); arguments are converted as indices, so 1.0 is refused. */
static py_t *
call_range(void *data, const py_args_t *args)
{
    int64_t v[3] = { 0, 0, 1 };
    if (args->nkw > 0)
        return py_raise(&py_TypeError, "range() takes no keyword arguments");
    if (args->n == 0)
        return py_raise(&py_TypeError, "range expected at least 1 argument, got 0");
    if (args->n > 3)
        return py_raise(&py_TypeError, "range expected at most 3 arguments, got %zu", args->n);
    for (size_t i = 0; i < args->n; i++)
        if (py_index(args->v[i], &v[i]) < 0)
            return NULL;
    if (args->n == 1) {
        v[1] = v[0];
        v[0] = 0;
    }
    if (v[2] == 0)
        return py_raise(&py_ValueError, "range() arg 3 must not be zero");
    return py_range(v[0], v[1], v[2]);
}

/* The sandbox's range: at most MAX_RANGE elements. */
static py_t *
call_safe_range(void *data, const py_args_t *args)
{
    AUTO(py) range = call_range(NULL, args);
    if (range != NULL && py_len(range) > MAX_RANGE)
        return py_raise(&py_OverflowError,
                        "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", MAX_RANGE);
    return STEAL(range);
}

/* dict()'s arguments: one mapping or sequence of pairs, then keywords, into `dict`. 0, or -1 raised. */
static int
globals_fill_dict(py_t *dict, const char *name, const py_args_t *args)
{
    if (args->n > 1)
        return py_raise_int(&py_TypeError, "%s expected at most 1 argument, got %zu", name, args->n);
    if (args->n == 1 && py_dict_update(dict, args->v[0]) < 0)
        return -1;
    for (size_t i = 0; i < args->nkw; i++)
        if (py_dict_set(dict, args->names[i], args->kwv[i]) < 0)
            return -1;
    return 0;
}

static py_t *
call_dict(void *data, const py_args_t *args)
{
    AUTO(py) dict = py_dict();
    return globals_fill_dict(dict, "dict", args) == 0 ? STEAL(dict) : NULL;
}

static py_t *
call_odict(void *data, const py_args_t *args)
{
    AUTO(py) dict = py_odict();
    return globals_fill_dict(dict, "OrderedDict", args) == 0 ? STEAL(dict) : NULL;
}

static py_t *
call_namespace(void *data, const py_args_t *args)
{
    AUTO(py) ns = py_namespace();
    return globals_fill_dict(py_namespace_dict(ns), "dict", args) == 0 ? STEAL(ns) : NULL;
}

/* ---- cycler ------------------------------------------------------------------------------------------- */

/* cycler(): goes through its items again and again. */
typedef struct cycler {
    py_t *items; /* tuple */
    int64_t pos;
} cycler_t;

static void
cycler_free(void *data)
{
    cycler_t *c = data;
    py_unref(c->items);
    free(c);
}

static py_t *
cycler_current(cycler_t *c)
{
    return py_ref(py_seq_at(c->items, (size_t) c->pos));
}

static py_t *
cycler_next(cycler_t *c)
{
    py_t *v = cycler_current(c);
    c->pos = (c->pos + 1) % (int64_t) py_seq_len(c->items);
    return v;
}

static py_t *
cycler_reset(cycler_t *c)
{
    c->pos = 0;
    return py_ref(PY_None);
}

static int cycler_find(py_t *self, py_t *name, py_t **ret);
static const py_class_t cycler_class = {
    .name = "Cycler", .module = "jinja2.utils", .find_attr = cycler_find, .free = cycler_free
};

/* A method of a cycler, bound to it. */
typedef struct cycler_method {
    py_t *cycler;
    py_t *(*fn)(cycler_t *c);
} cycler_method_t;

static void
cycler_method_free(void *data)
{
    cycler_method_t *m = data;
    py_unref(m->cycler);
    free(m);
}

/* Bound methods of a cycler take no arguments. */
static py_t *
cycler_method_call(void *data, const py_args_t *args)
{
    cycler_method_t *m = data;
    if (args->n + args->nkw > 0)
        return py_raise(&py_TypeError, "Cycler.next() takes 1 positional argument but %zu were given",
                        args->n + 1);
    return m->fn(py_host_data(m->cycler, &cycler_class));
}

static const py_fn_class_t cycler_method_class = {
    .name = "Cycler.next", .fn = cycler_method_call, .is_method = true, .free = cycler_method_free
};

/* Attribute `current`, and the bound methods next() and reset(). */
static int
cycler_find(py_t *self, py_t *name, py_t **ret)
{
    cycler_t *c = py_host_data(self, &cycler_class);
    if (py_str_is(name, "current")) {
        *ret = cycler_current(c);
        return 1;
    }
    bool next = py_str_is(name, "next");
    if (!next && !py_str_is(name, "reset"))
        return 0;
    cycler_method_t *m = xcalloc(1, sizeof(*m));
    m->cycler = py_ref(self);
    m->fn = next ? cycler_next : cycler_reset;
    *ret = py_func(&cycler_method_class, m);
    return 1;
}

/* At least one item is required, so cycler_next never divides by zero. */
static py_t *
call_cycler(void *data, const py_args_t *args)
{
    if (args->n == 0)
        return py_raise(&py_RuntimeError, "at least one item has to be provided");
    cycler_t *c = xcalloc(1, sizeof(*c));
    c->items = py_tuple(args->n);
    for (size_t i = 0; i < args->n; i++)
        py_tuple_set(c->items, i, args->v[i]);
    return py_host(&cycler_class, c);
}

/* ---- joiner ------------------------------------------------------------------------------------------- */

/* joiner(): empty at the first call, the separator at each later one. */
typedef struct joiner {
    py_t *sep;
    bool used;
} joiner_t;

static void
joiner_free(void *data)
{
    joiner_t *j = data;
    py_unref(j->sep);
    free(j);
}

static py_t *joiner_call(py_t *self, const py_args_t *args);
static const py_class_t joiner_class = {
    .name = "Joiner", .module = "jinja2.utils", .call = joiner_call, .free = joiner_free
};

/* Empty text the first time, the separator afterwards. */
static py_t *
joiner_call(py_t *self, const py_args_t *args)
{
    joiner_t *j = py_host_data(self, &joiner_class);
    if (j->used)
        return py_ref(j->sep);
    j->used = true;
    return py_str("", 0);
}

static const py_sig_t joiner_sig = { "Joiner.__init__", JP("sep"), 0, 1, 0 };

static py_t *
call_joiner(void *data, const py_args_t *args)
{
    py_t *slots[1];
    if (py_bind(args, &joiner_sig, slots) < 0)
        return NULL;
    joiner_t *j = xcalloc(1, sizeof(*j));
    j->sep = slots[0] != NULL ? py_ref(slots[0]) : py_str(", ", 2);
    return py_host(&joiner_class, j);
}

/* ---- lipsum ------------------------------------------------------------------------------------------- */

static const char *const latin[] = {
    "lorem", "ipsum", "dolor", "sit",  "amet",   "consectetuer", "adipiscing", "elit",  "morbi",   "nulla",
    "quam",  "massa", "vitae", "eros", "tellus", "sapien",       "ligula",     "felis", "pretium", "aenean",
};

static const py_sig_t lipsum_sig = { "generate_lorem_ipsum", JP("n", "html", "min", "max"), 0, 4, 0 };

/* Bounded in paragraphs and words, as the result is otherwise unlimited. Reported as changing by itself. */
static py_t *
call_lipsum(void *data, const py_args_t *args)
{
    const jrun_t *r = data;
    py_t *slots[4];
    int64_t n, min, max;
    if (py_bind(args, &lipsum_sig, slots) < 0)
        return NULL;
    int html = jflag(slots[1], true);
    if (html < 0 || jindex(slots[0], 5, &n) < 0 || jindex(slots[2], 20, &min) < 0 ||
        jindex(slots[3], 100, &max) < 0)
        return NULL;
    if (n > 1000 || max > 10000)
        return py_raise(&py_LimitError, "lipsum makes at most 1000 paragraphs of 10000 words");
    if (max <= min)
        return py_raise(&py_ValueError, "empty range for randrange() (%lld, %lld, %lld)", (long long) min,
                        (long long) max, (long long) (max - min));
    if (r != NULL)
        jlooked(r->ctx, "lipsum");
    AUTO(pyrandom) random = pyrandom_new(NULL, NULL);
    buf_auto_t b = BUF_INIT;
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            buf_puts(&b, html ? "\n" : "\n\n");
        buf_puts(&b, html ? "<p>" : "");

        /* Random words in sentences, as jinja2.utils.generate_lorem_ipsum in shape only: results are
         * random anyway. */
        int64_t words = min + (int64_t) pyrandom_below(random, (uint64_t) (max - min));
        bool start = true;
        for (int64_t j = 0; j < words; j++) {
            const char *word = latin[pyrandom_below(random, NELEMS(latin))];
            if (j > 0)
                buf_putc(&b, ' ');
            buf_putc(&b, start ? (char) (word[0] - 'a' + 'A') : word[0]);
            buf_puts(&b, word + 1);
            start = j + 1 < words && pyrandom_below(random, 12) == 0;
            if (start)
                buf_putc(&b, '.');
        }
        buf_putc(&b, '.');

        buf_puts(&b, html ? "</p>" : "");
    }
    AUTO(py) text = py_str_buf(&b);
    return html ? py_markup(text) : STEAL(text);
}

/* ---- tables ------------------------------------------------------------------------------------------- */

static const py_fn_class_t range_class = { .name = "range", .fn = call_range, .is_class = true };
static const py_fn_class_t safe_range_class = { .name = "safe_range", .fn = call_safe_range };

typedef struct global {
    const char *name;
    py_fn_class_t cls;
} global_t;

static const global_t globals[] = {
    { "dict", { .name = "dict", .fn = call_dict, .is_class = true } },
    { "lipsum", { .name = "generate_lorem_ipsum", .fn = call_lipsum, .marks = JFN_CONTEXT } },
    { "cycler", { .name = "jinja2.utils.Cycler", .fn = call_cycler, .is_class = true } },
    { "joiner", { .name = "jinja2.utils.Joiner", .fn = call_joiner, .is_class = true } },
    { "namespace", { .name = "jinja2.utils.Namespace", .fn = call_namespace, .is_class = true } },
};
static const py_fn_class_t odict_class = { .name = "collections.OrderedDict",
                                           .fn = call_odict,
                                           .is_class = true };

/* The sandbox's range is limited; Salt's environment adds odict and its own functions. */
py_t *
jinja_globals(const jinja_t *self)
{
    py_t *dict = py_dict();
    py_dict_sets_new(dict, "range",
                     py_func(self->options.sandboxed ? &safe_range_class : &range_class, NULL));
    for (size_t i = 0; i < NELEMS(globals); i++)
        py_dict_sets_new(dict, globals[i].name, py_func(&globals[i].cls, NULL));
    if (self->options.salt) {
        py_dict_sets_new(dict, "odict", py_func(&odict_class, NULL));
        jglobals_add_salt(dict);
    }
    return dict;
}
