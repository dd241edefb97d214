/* py_methods.c - the methods of each type in tables sorted by name, and calls through them.
 *
 * A row names the function, its parameters and flags. Markup and OrderedDict have tables of their own that
 * are searched first. A call binds the arguments, escapes them for Markup where markupsafe does, and marks
 * results of peers' data. */
#include "common/py/py_methods.h"

#include "common/py/methods/methods.h"
#include "common/py/py_as.h"

enum {
    MARKS = PY_METHOD_MARKS,
    MUTATES = PY_METHOD_MUTATES,
    PROPERTY = PY_METHOD_PROPERTY,
    SAFE = PY_METHOD_SAFE,
    WRAPPED = PY_METHOD_SAFE | PY_METHOD_ESCAPES,
    PARSE = PY_SIG_PARSE,
    STAR = PY_SIG_STAR,
    STARS = PY_SIG_STAR | PY_SIG_STARKW
};

#define PARAMS(...)                                                                                          \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }
#define CODING  PARAMS("encoding", "errors")
#define CUTTING PARAMS("sep", "maxsplit")

static const py_method_t str_methods[] = {
    { "capitalize", m_str_capitalize, NULL, 0, 0, WRAPPED },
    { "casefold", m_str_casefold, NULL, 0, 0, 0 },
    { "center", m_str_center, NULL, 1, 2, WRAPPED | MARKS },
    { "count", m_str_count, NULL, 1, 3, PARSE },
    { "encode", m_str_encode, CODING, 0, 2, 0 },
    { "endswith", m_str_endswith, NULL, 1, 3, PARSE },
    { "expandtabs", m_str_expandtabs, PARAMS("tabsize"), 0, 1, WRAPPED },
    { "find", m_str_find, NULL, 1, 3, PARSE },
    { "format", m_str_format, NULL, 0, 0, STARS },
    { "format_map", m_str_format_map, NULL, 1, 1, 0 },
    { "index", m_str_index, NULL, 1, 3, PARSE },
    { "isalnum", m_str_isalnum, NULL, 0, 0, 0 },
    { "isalpha", m_str_isalpha, NULL, 0, 0, 0 },
    { "isascii", m_str_isascii, NULL, 0, 0, 0 },
    { "isdecimal", m_str_isdecimal, NULL, 0, 0, 0 },
    { "isdigit", m_str_isdigit, NULL, 0, 0, 0 },
    { "isidentifier", m_str_isidentifier, NULL, 0, 0, 0 },
    { "islower", m_str_islower, NULL, 0, 0, 0 },
    { "isnumeric", m_str_isnumeric, NULL, 0, 0, 0 },
    { "isprintable", m_str_isprintable, NULL, 0, 0, 0 },
    { "isspace", m_str_isspace, NULL, 0, 0, 0 },
    { "istitle", m_str_istitle, NULL, 0, 0, 0 },
    { "isupper", m_str_isupper, NULL, 0, 0, 0 },
    { "join", m_str_join, NULL, 1, 1, SAFE },
    { "ljust", m_str_ljust, NULL, 1, 2, WRAPPED | MARKS },
    { "lower", m_str_lower, NULL, 0, 0, WRAPPED },
    { "lstrip", m_str_lstrip, NULL, 0, 1, WRAPPED | MARKS },
    { "maketrans", m_str_maketrans, NULL, 1, 3, 0 },
    { "partition", m_str_partition, NULL, 1, 1, SAFE | MARKS },
    { "removeprefix", m_str_removeprefix, NULL, 1, 1, MARKS },
    { "removesuffix", m_str_removesuffix, NULL, 1, 1, MARKS },
    { "replace", m_str_replace, NULL, 2, 3, WRAPPED | MARKS },
    { "rfind", m_str_rfind, NULL, 1, 3, PARSE },
    { "rindex", m_str_rindex, NULL, 1, 3, PARSE },
    { "rjust", m_str_rjust, NULL, 1, 2, WRAPPED | MARKS },
    { "rpartition", m_str_rpartition, NULL, 1, 1, SAFE | MARKS },
    { "rsplit", m_str_rsplit, CUTTING, 0, 2, SAFE | MARKS },
    { "rstrip", m_str_rstrip, NULL, 0, 1, WRAPPED | MARKS },
    { "split", m_str_split, CUTTING, 0, 2, SAFE | MARKS },
    { "splitlines", m_str_splitlines, PARAMS("keepends"), 0, 1, SAFE | MARKS },
    { "startswith", m_str_startswith, NULL, 1, 3, PARSE },
    { "strip", m_str_strip, NULL, 0, 1, WRAPPED | MARKS },
    { "swapcase", m_str_swapcase, NULL, 0, 0, WRAPPED },
    { "title", m_str_title, NULL, 0, 0, WRAPPED },
    { "translate", m_str_translate, NULL, 1, 1, WRAPPED },
    { "upper", m_str_upper, NULL, 0, 0, WRAPPED },
    { "zfill", m_str_zfill, NULL, 1, 1, WRAPPED | MARKS },
};

/* Methods that Markup has in addition. */
static const py_method_t markup_methods[] = {
    { "__html__", m_markup_html, NULL, 0, 0, 0 },
    { "escape", m_markup_escape, PARAMS("s"), 1, 1, 0 },
    { "striptags", m_markup_striptags, NULL, 0, 0, 0 },
    { "unescape", m_markup_unescape, NULL, 0, 0, 0 },
};

static const py_method_t bytes_methods[] = {
    { "capitalize", m_bytes_capitalize, NULL, 0, 0, 0 },
    { "center", m_bytes_center, NULL, 1, 2, 0 },
    { "count", m_str_count, NULL, 1, 3, PARSE },
    { "decode", m_bytes_decode, CODING, 0, 2, 0 },
    { "endswith", m_str_endswith, NULL, 1, 3, PARSE },
    { "expandtabs", m_bytes_expandtabs, PARAMS("tabsize"), 0, 1, 0 },
    { "find", m_str_find, NULL, 1, 3, PARSE },
    { "hex", m_bytes_hex, NULL, 0, 0, 0 },
    { "index", m_str_index, NULL, 1, 3, PARSE },
    { "isalnum", m_bytes_isalnum, NULL, 0, 0, 0 },
    { "isalpha", m_bytes_isalpha, NULL, 0, 0, 0 },
    { "isascii", m_bytes_isascii, NULL, 0, 0, 0 },
    { "isdigit", m_bytes_isdigit, NULL, 0, 0, 0 },
    { "islower", m_bytes_islower, NULL, 0, 0, 0 },
    { "isspace", m_bytes_isspace, NULL, 0, 0, 0 },
    { "istitle", m_bytes_istitle, NULL, 0, 0, 0 },
    { "isupper", m_bytes_isupper, NULL, 0, 0, 0 },
    { "join", m_bytes_join, NULL, 1, 1, 0 },
    { "ljust", m_bytes_ljust, NULL, 1, 2, 0 },
    { "lower", m_bytes_lower, NULL, 0, 0, 0 },
    { "lstrip", m_str_lstrip, NULL, 0, 1, MARKS },
    { "partition", m_bytes_partition, NULL, 1, 1, 0 },
    { "removeprefix", m_bytes_removeprefix, NULL, 1, 1, 0 },
    { "removesuffix", m_bytes_removesuffix, NULL, 1, 1, 0 },
    { "replace", m_str_replace, NULL, 2, 3, MARKS },
    { "rfind", m_str_rfind, NULL, 1, 3, PARSE },
    { "rindex", m_str_rindex, NULL, 1, 3, PARSE },
    { "rjust", m_bytes_rjust, NULL, 1, 2, 0 },
    { "rpartition", m_bytes_rpartition, NULL, 1, 1, 0 },
    { "rsplit", m_str_rsplit, CUTTING, 0, 2, MARKS },
    { "rstrip", m_str_rstrip, NULL, 0, 1, MARKS },
    { "split", m_str_split, CUTTING, 0, 2, MARKS },
    { "splitlines", m_bytes_splitlines, PARAMS("keepends"), 0, 1, 0 },
    { "startswith", m_str_startswith, NULL, 1, 3, PARSE },
    { "strip", m_str_strip, NULL, 0, 1, MARKS },
    { "swapcase", m_bytes_swapcase, NULL, 0, 0, 0 },
    { "title", m_bytes_title, NULL, 0, 0, 0 },
    { "upper", m_bytes_upper, NULL, 0, 0, 0 },
    { "zfill", m_bytes_zfill, NULL, 1, 1, 0 },
};

static const py_method_t list_methods[] = {
    { "append", m_list_append, NULL, 1, 1, MUTATES },
    { "clear", m_list_clear, NULL, 0, 0, MUTATES },
    { "copy", m_list_copy, NULL, 0, 0, 0 },
    { "count", m_seq_count, NULL, 1, 1, 0 },
    { "extend", m_list_extend, NULL, 1, 1, MUTATES },
    { "index", m_seq_index, NULL, 1, 3, 0 },
    { "insert", m_list_insert, NULL, 2, 2, MUTATES },
    { "pop", m_list_pop, NULL, 0, 1, MUTATES },
    { "remove", m_list_remove, NULL, 1, 1, MUTATES },
    { "reverse", m_list_reverse, NULL, 0, 0, MUTATES },
    { "sort", m_list_sort, PARAMS("key", "reverse"), 0, 2, MUTATES },
};

static const py_method_t tuple_methods[] = {
    { "count", m_seq_count, NULL, 1, 1, 0 },
    { "index", m_seq_index, NULL, 1, 3, 0 },
};

static const py_method_t range_methods[] = {
    { "count", m_seq_count, NULL, 1, 1, 0 },          { "index", m_seq_index, NULL, 1, 1, 0 },
    { "start", m_range_start, NULL, 0, 0, PROPERTY }, { "step", m_range_step, NULL, 0, 0, PROPERTY },
    { "stop", m_range_stop, NULL, 0, 0, PROPERTY },
};

static const py_method_t slice_methods[] = {
    { "start", m_slice_start, NULL, 0, 0, PROPERTY },
    { "step", m_slice_step, NULL, 0, 0, PROPERTY },
    { "stop", m_slice_stop, NULL, 0, 0, PROPERTY },
};

static const py_method_t dict_methods[] = {
    { "clear", m_dict_clear, NULL, 0, 0, MUTATES },
    { "copy", m_dict_copy, NULL, 0, 0, 0 },
    { "fromkeys", m_dict_fromkeys, NULL, 1, 2, 0 },
    { "get", m_dict_get, NULL, 1, 2, 0 },
    { "items", m_dict_items, NULL, 0, 0, 0 },
    { "keys", m_dict_keys, NULL, 0, 0, 0 },
    { "pop", m_dict_pop, NULL, 1, 2, MUTATES },
    { "popitem", m_dict_popitem, NULL, 0, 0, MUTATES },
    { "setdefault", m_dict_setdefault, NULL, 1, 2, MUTATES },
    { "update", m_dict_update_method, NULL, 0, 0, STARS | MUTATES },
    { "values", m_dict_values, NULL, 0, 0, 0 },
};

/* Methods that OrderedDict defines differently. */
static const py_method_t odict_methods[] = {
    { "fromkeys", m_dict_fromkeys, PARAMS("iterable", "value"), 1, 2, 0 },
    { "move_to_end", m_dict_move_to_end, PARAMS("key", "last"), 1, 2, MUTATES },
    { "pop", m_dict_pop, PARAMS("key", "default"), 1, 2, MUTATES },
    { "popitem", m_dict_popitem_ordered, PARAMS("last"), 0, 1, MUTATES },
    { "setdefault", m_dict_setdefault, PARAMS("key", "default"), 1, 2, MUTATES },
};

static const py_method_t set_methods[] = {
    { "add", m_set_add, NULL, 1, 1, MUTATES },
    { "clear", m_set_clear, NULL, 0, 0, MUTATES },
    { "copy", m_set_copy, NULL, 0, 0, 0 },
    { "difference", m_set_difference, NULL, 0, 0, STAR },
    { "difference_update", m_set_difference_update, NULL, 0, 0, STAR | MUTATES },
    { "discard", m_set_discard, NULL, 1, 1, MUTATES },
    { "intersection", m_set_intersection, NULL, 0, 0, STAR },
    { "intersection_update", m_set_intersection_update, NULL, 0, 0, STAR | MUTATES },
    { "isdisjoint", m_set_isdisjoint, NULL, 1, 1, 0 },
    { "issubset", m_set_issubset, NULL, 1, 1, 0 },
    { "issuperset", m_set_issuperset, NULL, 1, 1, 0 },
    { "pop", m_set_pop, NULL, 0, 0, MUTATES },
    { "remove", m_set_remove, NULL, 1, 1, MUTATES },
    { "symmetric_difference", m_set_symmetric_difference, NULL, 1, 1, 0 },
    { "symmetric_difference_update", m_set_symmetric_difference_update, NULL, 1, 1, MUTATES },
    { "union", m_set_union, NULL, 0, 0, STAR },
    { "update", m_set_update, NULL, 0, 0, STAR | MUTATES },
};

static const py_method_t view_methods[] = {
    { "isdisjoint", m_view_isdisjoint, NULL, 1, 1, 0 },
};

static const py_method_t int_methods[] = {
    { "as_integer_ratio", m_int_as_integer_ratio, NULL, 0, 0, 0 },
    { "bit_count", m_int_bit_count, NULL, 0, 0, 0 },
    { "bit_length", m_int_bit_length, NULL, 0, 0, 0 },
    { "conjugate", m_int_conjugate, NULL, 0, 0, 0 },
    { "denominator", m_int_one, NULL, 0, 0, PROPERTY },
    { "imag", m_int_zero, NULL, 0, 0, PROPERTY },
    { "numerator", m_int_conjugate, NULL, 0, 0, PROPERTY },
    { "real", m_int_conjugate, NULL, 0, 0, PROPERTY },
    { "to_bytes", m_int_to_bytes, PARAMS("length", "byteorder", "signed"), 0, 3, 0 },
};

static const py_method_t float_methods[] = {
    { "as_integer_ratio", m_float_as_integer_ratio, NULL, 0, 0, 0 },
    { "conjugate", m_float_conjugate, NULL, 0, 0, 0 },
    { "hex", m_float_hex, NULL, 0, 0, 0 },
    { "imag", m_float_zero, NULL, 0, 0, PROPERTY },
    { "is_integer", m_float_is_integer, NULL, 0, 0, 0 },
    { "real", m_float_conjugate, NULL, 0, 0, PROPERTY },
};

/* Methods of a type, sorted by name. */
typedef struct table {
    const py_method_t *rows;
    size_t n;
} table_t;

#define TABLE(rows) ROW(rows, NELEMS(rows))
static const table_t tables[PY_TYPES] = {
    [PY_BOOL] = TABLE(int_methods),    [PY_INT] = TABLE(int_methods),     [PY_FLOAT] = TABLE(float_methods),
    [PY_STR] = TABLE(str_methods),     [PY_BYTES] = TABLE(bytes_methods), [PY_LIST] = TABLE(list_methods),
    [PY_TUPLE] = TABLE(tuple_methods), [PY_SET] = TABLE(set_methods),     [PY_DICT] = TABLE(dict_methods),
    [PY_RANGE] = TABLE(range_methods), [PY_SLICE] = TABLE(slice_methods), [PY_VIEW] = TABLE(view_methods),
};
static const table_t markup_table = TABLE(markup_methods), odict_table = TABLE(odict_methods);

/* ---- lookup ----------------------------------------------------------------------------------- */

/* Binary search; the tables are sorted by name. */
static const py_method_t *
py_methods_find_in(const table_t *t, const char *name, size_t len)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        size_t n = strlen(t->rows[mid].name);
        int order = memcmp(name, t->rows[mid].name, len < n ? len : n);
        order = order != 0 ? order : (len > n) - (len < n);
        if (order == 0)
            return &t->rows[mid];
        if (order > 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* Methods of Markup and OrderedDict stand before those of str and dict. */
const py_method_t *
py_method_find(const py_t *v, const char *name, size_t len)
{
    const py_method_t *m = NULL;

    if (py_is_markup(v))
        m = py_methods_find_in(&markup_table, name, len);
    else if (py_is_odict(v))
        m = py_methods_find_in(&odict_table, name, len);
    if (m == NULL)
        m = py_methods_find_in(&tables[py_type(v)], name, len);
    /* A frozenset has the methods of sets that change nothing, and a view of values none of the views'. */
    if (m != NULL && py_is(v, PY_SET) && (v->flags & PY_F_FROZEN) != 0 && (m->flags & MUTATES) != 0)
        return NULL;
    if (m != NULL && py_is(v, PY_VIEW) && ((const pyview_t *) v)->kind == PY_VALUES)
        return NULL;
    return m;
}

const char *
py_method_name(const py_t *v, size_t i)
{
    const table_t *t = &tables[py_type(v)];

    return i < t->n ? t->rows[i].name : NULL;
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* Turns texts in the result of a Markup's method into Markup. TAKES `v`. */
static py_t *
py_methods_mark(py_t *v)
{
    if (v == NULL || (!py_is(v, PY_STR) && !py_is(v, PY_LIST) && !py_is(v, PY_TUPLE)))
        return v;
    if (py_is(v, PY_STR)) {
        py_t *marked = py_markup(v);
        py_unref(v);
        return marked;
    }
    py_t **items = py_is(v, PY_LIST) ? py_as_list(v)->v : py_as_tuple(v)->v;
    for (size_t i = 0; i < py_seq_len(v); i++)
        items[i] = py_methods_mark(items[i]);
    return v;
}

/* Text arguments are escaped and text results are Markup, where the method's row says so. */
static py_t *
call_markup(const py_method_t *m, py_t *self, py_t **slots, const py_args_t *args)
{
    py_t *held[PY_MAX_SLOTS] = { NULL };
    bool failed = false;

    for (int i = 0; (m->flags & PY_METHOD_ESCAPES) != 0 && i < m->max; i++) {
        if (slots[i] == NULL || !py_is(slots[i], PY_STR))
            continue;
        slots[i] = held[i] = py_escape(slots[i]);
        failed = failed || slots[i] == NULL;
    }
    py_t *v = failed ? NULL : m->fn(self, slots, args);
    for (int i = 0; i < m->max; i++)
        py_unref(held[i]);
    return (m->flags & PY_METHOD_SAFE) != 0 ? py_methods_mark(v) : v;
}

/* Marks a result when `self` or an argument is a peer's, unless the method keeps marks itself. TAKES `v`;
 * NEW. */
static py_t *
made(const py_method_t *m, py_t *v, py_t *self, const py_args_t *args)
{
    if (!py_state.peers || (m->flags & PY_METHOD_MARKS) != 0)
        return v;
    v = py_peer_like(py_peer_like(v, &self, 1), args->v, args->n);
    return args->nkw > 0 ? py_peer_like(v, args->kwv, args->nkw) : v;
}

py_t *
py_method_call(const py_method_t *method, py_t *self, const py_args_t *args)
{
    py_t *slots[PY_MAX_SLOTS];

    if (args->n == 0 && args->nkw == 0 && method->max == 0)
        return made(method,
                    py_is_markup(self) ? call_markup(method, self, slots, args)
                                       : method->fn(self, slots, args),
                    self, args);
    const py_sig_t sig = { method->name, method->params, method->min, method->max, PY_SIG_C | method->flags };
    if (py_bind_method(args, &sig, py_is_markup(self) ? "str" : py_type_name(self), slots) < 0)
        return NULL;
    return made(method,
                py_is_markup(self) ? call_markup(method, self, slots, args) : method->fn(self, slots, args),
                self, args);
}
