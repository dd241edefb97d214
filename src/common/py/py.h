/* py.h - Python's values in C, on which YAML and Jinja compute. One pointer type, reference counts, and
 * exceptions as data.
 *
 * A small integer lives in the pointer itself (lowest bit set); everything else on the heap of the thread. A
 * function that may raise returns NULL (or -1) with the exception in the thread's state, see py_raised(), and
 * must be called with a clean state. Constructors of small values never fail: a render over its budget is
 * told at the next py_tick(), or before something large is made.
 *
 * Layer      common/py; salt/, common/base, common/data. jansson and libyaml stay in py_json.h and py_yaml.h
 * Threads    a value belongs to the thread that made it; counts are not atomic
 * Ownership  NEW, BORROWED and TAKES as in base.h; AUTO(py) v = ... drops its reference at the end of the
 *            scope
 * Errors     an exception: type and message as Python 3.11 prints them
 * Tests      tests/unit/common/test_py_*.c, tests/cases/py */
#ifndef COMMON_PY_PY_H
#define COMMON_PY_PY_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef enum py_type {
    PY_NONE,
    PY_BOOL,
    PY_INT, /* of any size */
    PY_FLOAT,
    PY_STR, /* UTF-8; indexed by code point. Markup is a str with a flag */
    PY_BYTES,
    PY_LIST,
    PY_TUPLE,
    PY_SET,  /* frozen ones have a flag */
    PY_DICT, /* OrderedDict is a dict with a flag */
    PY_RANGE,
    PY_SLICE,
    PY_VIEW, /* dict.keys(), .values(), .items() */
    PY_GEN,  /* any iterator: yields each element once */
    PY_FUNC, /* C function, bound method, or a class such as `dict` */
    PY_NAMESPACE,
    PY_UNDEFINED,
    PY_HOST, /* an object of the engine's: see py_class_t in py_host.h */
    PY_TYPES
} py_type_t;

typedef struct py {
    int32_t refs; /* negative: never freed */
    uint8_t type;
    uint8_t flags;
    uint16_t aux;
} py_t;

/* ---- references ------------------------------------------------------------------------------ */

static inline bool
py_small(const py_t *v)
{
    return ((uintptr_t) v & 1) != 0;
}

static inline py_type_t
py_type(const py_t *v)
{
    return py_small(v) ? PY_INT : (py_type_t) v->type;
}

void py_free_(py_t *v);

/* The same value, one reference more. Accepts NULL. */
static inline py_t *
py_ref(py_t *v)
{
    if (v != NULL && !py_small(v) && v->refs >= 0)
        v->refs++;
    return v;
}

static inline void
py_unref(py_t *v)
{
    if (v != NULL && !py_small(v) && v->refs >= 0 && --v->refs == 0)
        py_free_(v);
}

/* For AUTO(py). */
static inline void
py_destroy(py_t **v_p)
{
    py_unref(*v_p);
    *v_p = NULL;
}

/* ---- constructors: NEW ----------------------------------------------------------------------- */

extern py_t py_none_, py_true_, py_false_;
#define PY_None  (&py_none_)
#define PY_True  (&py_true_)
#define PY_False (&py_false_)

/* These never raise; see above for the budget. */
py_t *py_bool(bool v);
py_t *py_int(int64_t v);
/* Any number of decimal digits with a sign; NULL only when it is not that, without raising. */
py_t *py_int_digits(const char *digits, size_t len);
py_t *py_float(double v);
/* `text` must be UTF-8 (ours or checked). py_str_utf8() replaces what is not by U+FFFD. */
py_t *py_str(const char *text, size_t len);
py_t *py_strz(const char *text);
py_t *py_str_utf8(const char *bytes, size_t len);
py_t *py_strf(const char *fmt, ...) PRINTF(1, 2);
py_t *py_char(uint32_t cp);
/* TAKES the buffer's bytes; it is empty afterwards. */
py_t *py_str_buf(buf_t *text);
/* The same text as Markup; a Markup as it is. */
py_t *py_markup(py_t *text);
py_t *py_bytes(const void *bytes, size_t len);
py_t *py_list(void);
/* A tuple of `n` Nones; set its elements with py_tuple_set before it is shared. */
py_t *py_tuple(size_t n);
/* BORROWED elements: py_tuple_of(2, a, b). */
py_t *py_tuple_of(size_t n, ...);
/* Jinja's _GroupTuple: a tuple (grouper, list) whose elements are attributes too. BORROWED elements. */
py_t *py_group(py_t *grouper, py_t *list);
/* An OrderedDict compares by its order too, and has methods of its own. */
py_t *py_dict(void);
py_t *py_odict(void);
/* Makes OrderedDicts of all dicts in lists, tuples and dicts that nobody else has yet, as YAML's are in an
 * SLS. */
void py_order_dicts(py_t *v);
py_t *py_set(bool frozen);
py_t *py_range(int64_t start, int64_t stop, int64_t step);
/* NULL for an omitted part. BORROWED. */
py_t *py_slice(py_t *start, py_t *stop, py_t *step);
py_t *py_namespace(void);

/* ---- reading: BORROWED, for a value of that type only ---------------------------------------- */

static inline bool
py_is(const py_t *v, py_type_t type)
{
    return py_type(v) == type;
}

bool py_is_markup(const py_t *v);
bool py_is_odict(const py_t *v);
bool py_is_group(const py_t *v);
/* int or bool that fits. */
bool py_to_int64(const py_t *v, int64_t *ret_v);
double py_float_value(const py_t *v);
/* UTF-8 of a str, bytes of bytes; a NUL follows. */
const char *py_text(const py_t *v, size_t *ret_len);
/* The same for text without NUL inside; "" for what is not a str. */
const char *py_cstr(const py_t *v);
bool py_str_is(const py_t *v, const char *text);
/* list and tuple */
size_t py_seq_len(const py_t *v);
py_t *py_seq_at(const py_t *v, size_t i);
/* "str", "dict", "NoneType", "Markup", ... as type(v).__name__ */
const char *py_type_name(const py_t *v);

/* ---- lists, tuples, dicts, sets -------------------------------------------------------------- */

/* `item` is BORROWED, also below: containers take their own reference. */
void py_append(py_t *list, py_t *item);
void py_tuple_set(py_t *tuple, size_t i, py_t *item);
/* TAKES the reference, for `py_append_new(list, py_int(1))`. */
void py_append_new(py_t *list, py_t *item);

size_t py_dict_len(const py_t *dict); /* sets too */
/* BORROWED value, or NULL: absent, or raised for an unhashable key (py_raised() tells). */
py_t *py_dict_get(const py_t *dict, py_t *key);
py_t *py_dict_gets(const py_t *dict, const char *key);
/* 0, or -1 raised: unhashable. */
int py_dict_set(py_t *dict, py_t *key, py_t *value);
void py_dict_sets(py_t *dict, const char *key, py_t *value);
void py_dict_sets_new(py_t *dict, const char *key, py_t *value);
/* 1 removed, 0 absent, -1 raised. */
int py_dict_del(py_t *dict, py_t *key);
void py_dict_clear(py_t *dict);
/* for (size_t i = 0; py_dict_next(d, &i, &key, &value);): BORROWED; removing is allowed, adding is not.
 * Sets give NULL values. */
bool py_dict_next(const py_t *dict, size_t *iter, py_t **ret_key, py_t **ret_value);
/* 0, or -1 raised. */
int py_set_add(py_t *set, py_t *item);
/* BORROWED dict of a namespace's attributes. */
py_t *py_namespace_dict(const py_t *ns);

#endif
