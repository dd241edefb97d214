/* py_methods.h - the methods of Python's types by name: a sorted table per type; and the binding of
 * arguments.
 *
 * Layer      common/py
 * Threads    as py.h; the tables are constant
 * Ownership  a method returns a NEW value, or NULL raised; arguments are BORROWED
 * Tests      tests/unit/common/test_py_cases.c, tests/cases/py/methods-*.json
 */
#ifndef COMMON_PY_PY_METHODS_H
#define COMMON_PY_PY_METHODS_H

#include "common/py/py_ops.h"

/* Kinds of signatures, which decide how arguments are bound and how errors are worded. */
enum {
    PY_SIG_C = 1 << 0,      /* as a built-in of CPython's; else as a `def` */
    PY_SIG_STAR = 1 << 1,   /* further positional arguments are allowed (see py_bind) */
    PY_SIG_STARKW = 1 << 2, /* unknown keywords are allowed */
    PY_SIG_PARSE = 1 << 3   /* with PY_SIG_C: an older kind of built-in, which says "takes at least" */
};

typedef struct py_sig {
    const char *name;          /* for messages: "split" */
    const char *const *params; /* names, NULL at the end; NULL: positional only */
    int min, max;              /* positional arguments; `max` slots */
    unsigned flags;
} py_sig_t;

/* Puts arguments into slots[sig->max], BORROWED, NULL where not given. 0, or -1 with TypeError in Python's
 * words. With PY_SIG_STAR, the surplus is args->v[sig->max...]; with PY_SIG_STARKW, unknown keywords are
 * skipped. */
int py_bind(const py_args_t *args, const py_sig_t *sig, py_t **slots);

/* `slots` are the bound arguments; `args` is what was passed, for methods with stars. */
typedef py_t *py_method_fn(py_t *self, py_t *const *slots, const py_args_t *args);

enum {
    PY_METHOD_PROPERTY = 1 << 8, /* no call: int.real */
    PY_METHOD_MUTATES = 1 << 9,  /* changes self: an immutable sandbox refuses it */
    PY_METHOD_ESCAPES = 1 << 10, /* of a Markup: text arguments are escaped */
    PY_METHOD_SAFE = 1 << 11,    /* of a Markup: texts that come back are Markup */
    PY_METHOD_MARKS =
        1 << 12 /* it cuts and joins: a peer's bytes keep their marks (py_peer.h), and where none
                                  * are left, nothing is a peer's */
};

typedef struct py_method {
    const char *name;
    py_method_fn *fn;
    const char *const *params; /* as in py_sig_t */
    int8_t min, max;
    unsigned flags;
} py_method_t;

enum { PY_MAX_SLOTS = 8 };

/* BORROWED row, or NULL: this type has no such method. Cheap enough to do once per call. */
const py_method_t *py_method_find(const py_t *v, const char *name, size_t len);
/* Names of a type's methods, for i = 0, 1, ...; NULL behind the last one. */
const char *py_method_name(const py_t *v, size_t i);
/* NEW result. */
py_t *py_method_call(const py_method_t *method, py_t *self, const py_args_t *args);
/* NEW bound method: "<built-in method upper of str object at 0x...>". */
py_t *py_method_bind(const py_method_t *method, py_t *self);
/* The row of a bound method with its BORROWED self; NULL when `v` is none. */
const py_method_t *py_method_of(const py_t *v, py_t **ret_self);

#endif
