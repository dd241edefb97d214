/* filters_sequence.c - filters that read all elements: first, last, order, groups, sums, joins.
 *
 * Sorting computes all keys once (jgetter_keys) and sorts elements by them, stable as Python's sort. */
#include "common/base/pyrandom.h"
#include "common/jinja/filter/filter.h"

/* Reads a single element, so generators are not exhausted. */
static py_t *
do_first(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_iter_t it;
    if (py_iter_start(&it, a[0]) < 0)
        return NULL;
    py_t *v = py_iter_next(&it);
    py_iter_end(&it);
    if (v == NULL && py_raised() == NULL)
        return jundefined(ctx->session, NULL, "No first item, sequence was empty.");
    return v;
}

/* list(filters_sequence_reversed(v)), with Python's TypeError for types that cannot be reversed. NEW list. */
static py_t *
filters_sequence_reversed(py_t *v)
{
    static const bool never[PY_TYPES] = {
        [PY_SET] = true,  [PY_GEN] = true,  [PY_INT] = true,  [PY_FLOAT] = true,
        [PY_BOOL] = true, [PY_NONE] = true, [PY_FUNC] = true, [PY_NAMESPACE] = true
    };
    const py_class_t *cls = py_is(v, PY_HOST) ? py_host_class(v) : NULL;
    if (never[py_type(v)] || (cls != NULL && (cls->len == NULL || cls->find_item == NULL)))
        return py_raise(&py_TypeError, "'%s' object is not reversible", py_type_name(v));
    AUTO(py) list = py_tolist(v);
    py_t *back = list != NULL ? py_list() : NULL;
    bool markup = py_is_markup(v);
    for (size_t i = list != NULL ? py_seq_len(list) : 0; i > 0; i--) {
        py_t *item = py_seq_at(list, i - 1);
        py_append_new(back, markup ? py_markup(item) : py_ref(item));
    }
    return back;
}

/* Needs a sequence that can be reversed; undefined if it is empty. */
static py_t *
do_last(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) back = filters_sequence_reversed(a[0]);
    if (back == NULL)
        return NULL;
    if (py_seq_len(back) == 0)
        return jundefined(ctx->session, NULL, "No last item, sequence was empty.");
    return py_ref(py_seq_at(back, 0));
}

/* Iterator of filters_sequence_reversed(): over the list that is already reversed. */
static py_t *
backwards_next(void *data)
{
    return py_next(data);
}

static void
backwards_free(void *data)
{
    py_unref(data);
}

static void
backwards_walk(void *data, py_visit_fn *visit, void *cookie)
{
    visit(data, cookie);
}

#define BACKWARDS(name) ROW(name, backwards_next, backwards_free, backwards_walk, NULL)

/* Python's name for the reverse iterator of a type. */
static const py_gen_class_t *
reversed_class(const py_t *v)
{
    static const py_gen_class_t other = BACKWARDS("reversed"), classes[PY_TYPES] = {
        [PY_LIST] = BACKWARDS("list_reverseiterator"),
        [PY_RANGE] = BACKWARDS("range_iterator"),
        [PY_DICT] = BACKWARDS("dict_reversekeyiterator"),
        [PY_VIEW] = BACKWARDS("dict_reverseitemiterator"),
    };
    return classes[py_type(v)].name != NULL ? &classes[py_type(v)] : &other;
}

/* Texts are sliced, others reversed by iterator; what cannot be reversed is copied to a list, as in Jinja. */
static py_t *
do_reverse(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    if (py_is(a[0], PY_STR)) {
        AUTO(py) step = py_int(-1);
        AUTO(py) slice = py_slice(NULL, NULL, step);
        return py_getitem(a[0], slice);
    }
    AUTO(py) back = filters_sequence_reversed(a[0]);
    if (back != NULL)
        return py_gen(reversed_class(a[0]), py_iter(back));
    if (!py_raised_is(&py_TypeError))
        return NULL;
    py_clear();
    AUTO(py) list = py_tolist(a[0]);
    if (list == NULL && !py_raised_is(&py_TypeError))
        return NULL;
    py_clear();
    if (list == NULL)
        return py_raise(&jinja_FilterArgumentError, "argument must be iterable");
    return jmethod(list, "reverse", 0) != NULL ? STEAL(list) : NULL;
}

/* Undefined for an empty sequence. */
static py_t *
do_random(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int64_t n = py_len(a[0]);
    if (n < 0)
        return NULL;
    if (n == 0)
        return jundefined(ctx->session, NULL, "No random item, sequence was empty.");
    AUTO(pyrandom) random = pyrandom_new(NULL, NULL);
    AUTO(py) i = py_int((int64_t) pyrandom_below(random, (uint64_t) n));
    return py_getitem(a[0], i);
}

static py_t *
len(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int64_t n = py_len(a[0]);
    return n < 0 ? NULL : py_int(n);
}

static py_t *
do_list(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return py_tolist(a[0]);
}

/* ---- order -------------------------------------------------------------------------------------------- */

/* filters_sequence_sorted(value, key=...). NEW list. */
static py_t *
filters_sequence_sorted(jcontext_t *ctx, py_t *value, py_t *attribute, bool ignore_case, bool several,
                        bool reverse, py_t *dflt)
{
    AUTO(py) list = py_tolist(value);
    jgetter_t g;
    if (list == NULL || jgetter_init(&g, ctx, attribute, several, ignore_case) < 0)
        return NULL;
    g.dflt = dflt;
    AUTO(py) keys = jgetter_keys(&g, list);
    jgetter_free(&g);
    return keys != NULL && py_sort(list, keys, reverse) == 0 ? STEAL(list) : NULL;
}

static py_t *
do_sort(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int reverse = jflag(a[1], false), sensitive = jflag(a[2], false);
    if (reverse < 0 || sensitive < 0)
        return NULL;
    return filters_sequence_sorted(ctx, a[0], a[3], !sensitive, true, reverse, NULL);
}

/* Sorts the pairs by key or value, by an element getter on 0 or 1. */
static py_t *
do_dictsort(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    bool by_value = a[2] != NULL && py_str_is(a[2], "value");
    int sensitive = jflag(a[1], false), reverse = jflag(a[3], false);
    if (sensitive < 0 || reverse < 0)
        return NULL;
    if (a[2] != NULL && !by_value && !py_str_is(a[2], "key"))
        return py_raise(&jinja_FilterArgumentError, "You can only sort by either \"key\" or \"value\"");
    AUTO(py) items = jmethod(a[0], "items", 0);
    AUTO(py) at = py_int(by_value ? 1 : 0);
    return items != NULL ? filters_sequence_sorted(ctx, items, at, !sensitive, false, reverse, NULL) : NULL;
}

/* The first of equal elements wins, as Python's min and max. */
static py_t *
min_or_max(jcontext_t *ctx, py_t *const *a, py_cmp_t op)
{
    int sensitive = jflag(a[1], false);
    py_iter_t it;
    if (sensitive < 0 || py_iter_start(&it, a[0]) < 0)
        return NULL;
    jgetter_t g;
    jgetter_init(&g, ctx, a[2], false, !sensitive);
    AUTO(py) best = NULL;
    AUTO(py) best_key = NULL;
    for (py_t *item; (item = py_iter_next(&it)) != NULL; py_unref(item)) {
        AUTO(py) key = jgetter_get(&g, item);
        int better = key == NULL ? -1 : best == NULL ? 1 : py_compare(key, best_key, op);
        if (better > 0) {
            py_unref(best);
            py_unref(best_key);
            best = py_ref(item);
            best_key = STEAL(key);
        } else if (better < 0) {
            py_unref(item);
            break;
        }
    }
    py_iter_end(&it);
    jgetter_free(&g);
    if (py_raised() != NULL)
        return NULL;
    return best != NULL ? STEAL(best)
                        : jundefined(ctx->session, NULL, "No aggregated item, sequence was empty.");
}

static py_t *
do_min(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return min_or_max(ctx, a, PY_LT);
}

static py_t *
do_max(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return min_or_max(ctx, a, PY_GT);
}

/* ---- groups ------------------------------------------------------------------------------------------- */

/* Adds (key, members), with the key as it is shown, not as it was compared. */
static int
filters_sequence_add_group(py_t *out, const jgetter_t *shown, py_t *members)
{
    AUTO(py) key = jgetter_get(shown, py_seq_at(members, 0));
    if (key == NULL)
        return -1;
    py_append_new(out, py_group(key, members));
    return py_tick();
}

/* Groups runs of equal keys in a sorted list. The shown key is the first member's, in its own case. */
static py_t *
filters_sequence_group(const jgetter_t *by, const jgetter_t *shown, py_t *list)
{
    AUTO(py) out = py_list();
    AUTO(py) keys = jgetter_keys(by, list);
    for (size_t i = 0; keys != NULL && i < py_seq_len(list);) {
        AUTO(py) members = py_list();
        py_t *key = py_seq_at(keys, i);
        int same = 1;
        while (i < py_seq_len(list) &&
               (same = py_same(py_seq_at(keys, i), key) ? 1 : py_eq(py_seq_at(keys, i), key)) > 0)
            py_append(members, py_seq_at(list, i++));
        if (same < 0 || filters_sequence_add_group(out, shown, members) < 0)
            return NULL;
    }
    return keys != NULL ? STEAL(out) : NULL;
}

/* Sorts by the attribute, then groups equal neighbours. */
static py_t *
sync_do_groupby(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int sensitive = jflag(a[3], false);
    py_t *dflt = a[2] != NULL && !py_is(a[2], PY_NONE) ? a[2] : NULL;
    AUTO(py)
    list = sensitive >= 0 ? filters_sequence_sorted(ctx, a[0], a[1], !sensitive, false, false, dflt) : NULL;
    if (list == NULL)
        return NULL;
    jgetter_t by, shown;
    jgetter_init(&by, ctx, a[1], false, !sensitive);
    jgetter_init(&shown, ctx, a[1], false, false);
    by.dflt = shown.dflt = dflt;
    py_t *out = filters_sequence_group(&by, &shown, list);
    jgetter_free(&by);
    jgetter_free(&shown);
    return out;
}

/* ---- sums and joins ----------------------------------------------------------------------------------- */

/* Starts from `start`; texts are refused as by Python's sum(). */
static py_t *
sync_do_sum(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_t *sum = py_ref(jarg(a[2], NULL));
    if (sum == NULL)
        sum = py_int(0);
    jgetter_t g;
    py_iter_t it;
    jgetter_init(&g, ctx, a[1], false, false);
    if (py_iter_start(&it, a[0]) < 0) {
        py_unref(sum);
        sum = NULL;
    } else if (py_is(sum, PY_STR)) {
        py_raise(&py_TypeError, "sum() can't sum strings [use ''.join(seq) instead]");
        py_iter_end(&it);
        py_unref(sum);
        sum = NULL;
    }
    for (py_t *item; sum != NULL && (item = py_iter_next(&it)) != NULL; py_unref(item)) {
        AUTO(py) v = jgetter_get(&g, item);
        py_t *next = v != NULL ? py_add(sum, v) : NULL;
        py_unref(sum);
        sum = next;
    }
    if (sum != NULL || py_raised() != NULL)
        py_iter_end(&it);
    jgetter_free(&g);
    if (py_raised() != NULL) {
        py_unref(sum);
        return NULL;
    }
    return sum;
}

static py_t *
sync_do_join(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) empty = py_str("", 0);
    py_t *d = jarg(a[1], empty);
    bool html = py_has_html(d), any = false;

    /* Elements for a join: texts, or with autoescape values that have __html__(). */
    py_t *value = a[0];
    py_t *attribute = a[2];
    AUTO(py) list = py_tolist(value);
    if (list == NULL)
        return NULL;
    jgetter_t g;
    jgetter_init(&g, ctx, attribute, false, false);
    AUTO(py) out = py_list();
    bool failed = false;
    for (size_t i = 0; !failed && i < py_seq_len(list); i++) {
        AUTO(py) v = jgetter_get(&g, py_seq_at(list, i));
        py_t *text = v == NULL ? NULL : ctx->autoescape && py_has_html(v) ? py_ref(v) : py_tostr(v);
        any = any || (v != NULL && py_has_html(v));
        failed = text == NULL;
        if (!failed)
            py_append_new(out, text);
    }
    jgetter_free(&g);
    AUTO(py) items = failed ? NULL : STEAL(out);

    if (items == NULL)
        return NULL;
    AUTO(py) delimiter = ctx->autoescape && (html || any) ? py_escape(d) : py_tostr(d);
    return delimiter != NULL ? jmethod(delimiter, "join", 1, items) : NULL;
}

static const jfilter_t rows[] = {
    { JROW("count", len, NULL, 1, 1, PY_SIG_C), 0, "Number of elements." },
    { JROW("dictsort", do_dictsort, JP("value", "case_sensitive", "by", "reverse"), 1, 4, 0), 0,
      "Pairs of a dict in order." },
    { JROW("first", do_first, JP("environment", "seq"), 2, 2, 0), JF_CONTEXT, "The first element." },
    { JROW("groupby", sync_do_groupby, JP("environment", "value", "attribute", "default", "case_sensitive"),
           3, 5, 0),
      JF_CONTEXT, "Groups of elements by an attribute." },
    { JROW("join", sync_do_join, JP("eval_ctx", "value", "d", "attribute"), 2, 4, 0), JF_CONTEXT,
      "One text of all elements." },
    { JROW("last", do_last, JP("environment", "seq"), 2, 2, 0), JF_CONTEXT, "The last element." },
    { JROW("length", len, NULL, 1, 1, PY_SIG_C), 0, "Number of elements." },
    { JROW("list", do_list, JP("value"), 1, 1, 0), 0, "A list of the elements." },
    { JROW("max", do_max, JP("environment", "value", "case_sensitive", "attribute"), 2, 4, 0), JF_CONTEXT,
      "The largest element." },
    { JROW("min", do_min, JP("environment", "value", "case_sensitive", "attribute"), 2, 4, 0), JF_CONTEXT,
      "The smallest element." },
    { JROW("random", do_random, JP("context", "seq"), 2, 2, 0), JF_CONTEXT | JF_WORLD, "Any element." },
    { JROW("reverse", do_reverse, JP("value"), 1, 1, 0), 0, "From the end to the beginning." },
    { JROW("sort", do_sort, JP("environment", "value", "reverse", "case_sensitive", "attribute"), 2, 5, 0),
      JF_CONTEXT, "In order." },
    { JROW("sum", sync_do_sum, JP("environment", "iterable", "attribute", "start"), 2, 4, 0), JF_CONTEXT,
      "The sum of the elements." },
};

const jfilter_table_t jfilters_sequence = JTABLE(rows);
