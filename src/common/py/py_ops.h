/* py_ops.h - Python's operators and built-in functions on values.
 *
 * Unless stated otherwise, a function returns a NEW value, or NULL raised; an int is 0 or 1, or -1 raised.
 *
 * Layer      common/py
 * Threads    as py.h
 * Errors     Python 3.11's exception and message
 * Tests      tests/unit/common/test_py_cases.c, tests/cases/py */
#ifndef COMMON_PY_PY_OPS_H
#define COMMON_PY_PY_OPS_H

#include "common/py/py.h"

/* ---- truth, comparison, hash ----------------------------------------------------------------- */

/* An undefined value may raise: -1. */
int py_truth(py_t *v);
int py_eq(py_t *a, py_t *b);

typedef enum py_cmp { PY_LT, PY_LE, PY_EQ, PY_NE, PY_GT, PY_GE } py_cmp_t;
int py_compare(py_t *a, py_t *b, py_cmp_t op);
/* `is` */
bool py_same(const py_t *a, const py_t *b);
/* `item in container` */
int py_in(py_t *item, py_t *container);
/* 0 with the hash, or -1 raised: "unhashable type: 'list'". */
int py_hash(py_t *v, uint64_t *ret_hash);
/* In place, stable, as list.sort: `keys` (as many as the list has) may be NULL. 0 or -1. */
int py_sort(py_t *list, py_t *keys, bool reverse);

/* ---- arithmetic ------------------------------------------------------------------------------ */

typedef enum py_op {
    PY_ADD,
    PY_SUB,
    PY_MUL,
    PY_DIV,
    PY_FLOORDIV,
    PY_MOD, /* also the formatting of str and bytes */
    PY_POW,
    PY_OR, /* int, set, dict */
    PY_AND,
    PY_XOR,
    PY_LSHIFT,
    PY_RSHIFT
} py_op_t;
/* `a op b`, with Python's rules for mixed types and its TypeError for all other pairs. */
py_t *py_binary(py_op_t op, py_t *a, py_t *b);
py_t *py_add(py_t *a, py_t *b);
typedef enum py_unary { PY_NEG, PY_POS, PY_INVERT } py_unary_t;
py_t *py_unary(py_unary_t op, py_t *v);
py_t *py_abs(py_t *v);
/* round(v, digits); `digits` may be NULL. */
py_t *py_round(py_t *v, py_t *digits);

/* ---- attributes, elements, iteration --------------------------------------------------------- */

/* `name` is a str. The attribute of a value is a method of its type, a namespace's or a host's own. */
py_t *py_getattr(py_t *v, py_t *name);
py_t *py_getattrs(py_t *v, const char *name);
/* v[key]; `key` may be a slice. */
py_t *py_getitem(py_t *v, py_t *key);
/* The same without an exception for absence (AttributeError; LookupError and TypeError for elements): 1 with
 * a NEW value, 0, or -1 raised for anything else. */
int py_find_attr(py_t *v, py_t *name, py_t **ret_v);
int py_find_item(py_t *v, py_t *key, py_t **ret_v);
/* Namespaces, lists, dicts and hosts: 0 or -1. */
int py_setattr(py_t *v, py_t *name, py_t *value);
int py_setitem(py_t *v, py_t *key, py_t *value);
int py_delitem(py_t *v, py_t *key);

/* len(v), or -1 raised. */
int64_t py_len(py_t *v);

/* py_iter_t it; if (py_iter_start(&it, v) < 0) ...; while ((x = py_iter_next(&it)) != NULL) ...;
 * py_iter_end(&it). py_iter_next gives NEW elements; NULL at the end, or raised. End it also after an error
 * or early. */
typedef struct py_iter {
    py_t *source;
    size_t i;
    size_t size; /* of a dict when it started */
    int kind;
} py_iter_t;
int py_iter_start(py_iter_t *it, py_t *v);
py_t *py_iter_next(py_iter_t *it);
void py_iter_end(py_iter_t *it);
/* True if py_iter_start() accepts the value; an undefined one counts as iterable. */
bool py_iterable(const py_t *v);
/* iter(v) and next(): py_next returns NULL without raising at the end. */
py_t *py_iter(py_t *v);
py_t *py_next(py_t *iter);

/* ---- calls ----------------------------------------------------------------------------------- */

/* BORROWED; names are str. */
typedef struct py_args {
    size_t n;
    py_t *const *v;
    size_t nkw;
    py_t *const *names;
    py_t *const *kwv;
} py_args_t;
/* An undefined value counts as callable: its call raises its own error. */
bool py_callable(const py_t *v);
py_t *py_call(py_t *callee, const py_args_t *args);
/* v.name(...) without making the bound method. */
py_t *py_call_method(py_t *v, py_t *name, const py_args_t *args);

/* ---- text ------------------------------------------------------------------------------------ */

/* repr(v) and str(v). A container within itself is shown as "...". */
py_t *py_repr(py_t *v);
py_t *py_tostr(py_t *v);
/* Append to `out`: 0 or -1. */
int py_repr_to(buf_t *out, py_t *v);
int py_str_to(buf_t *out, py_t *v);
/* format(v, spec) */
py_t *py_format(py_t *v, const char *spec, size_t len);
int py_format_to(buf_t *out, py_t *v, const char *spec, size_t len);
/* template % values */
py_t *py_percent(py_t *tmpl, py_t *values);
/* template.format(*args, **kwargs). `field` looks {0.name} and {0[name]} up, as a sandbox needs; NULL:
 * Python's own rules. */
typedef py_t *py_field_fn(void *cookie, py_t *obj, py_t *name, bool is_attr);
py_t *py_format_str(py_t *tmpl, const py_args_t *args, py_field_fn *field, void *cookie);
/* template.format_map(mapping) */
py_t *py_format_map(py_t *tmpl, py_t *mapping, py_field_fn *field, void *cookie);
/* &amp; &lt; &gt; &#34; &#39; as Markup; a Markup as it is. */
py_t *py_escape(py_t *v);
/* True when it has __html__: it is safe, or knows how to escape itself. */
bool py_has_html(const py_t *v);

/* ---- conversion ------------------------------------------------------------------------------ */

/* int(v), int(v, base); `base` 0..36, or -1 for none. */
py_t *py_toint(py_t *v, int base);
py_t *py_tofloat(py_t *v);
py_t *py_tolist(py_t *iterable);
py_t *py_totuple(py_t *iterable);
py_t *py_toset(py_t *iterable, bool frozen);
/* dict(v): a dict, or pairs. */
py_t *py_todict(py_t *v);
/* 0 or -1: dict.update(v). */
int py_dict_update(py_t *dict, py_t *v);
int py_extend(py_t *list, py_t *iterable);
/* A number for an index, as __index__: 0 or -1 raised ("'str' object cannot be interpreted as an integer").
 */
int py_index(py_t *v, int64_t *ret_v);
/* Code points of a str: the part [from, to), both within its length. */
py_t *py_substr(py_t *text, size_t from, size_t to);

/* list(reversed(v)), sum, min and max are loops over the above. */

#endif
