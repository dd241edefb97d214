/* py_host.h - values defined by an engine: functions, iterators, objects with behaviour, undefined values.
 *
 * Layer      common/py
 * Threads    as py.h
 * Ownership  a value owns its `data` and frees it by the class's function
 * Tests      tests/unit/common/test_py_host.c */
#ifndef COMMON_PY_PY_HOST_H
#define COMMON_PY_PY_HOST_H

#include "common/py/py_error.h"
#include "common/py/py_ops.h"

/* Calls `visit` for each value that `data` holds, so that scopes can find cycles. NULL in classes that hold
 * none. */
typedef void py_visit_fn(py_t *v, void *cookie);
typedef void py_walk_fn(void *data, py_visit_fn *visit, void *cookie);

/* ---- functions ------------------------------------------------------------------------------- */

typedef py_t *py_fn(void *data, const py_args_t *args);
typedef struct py_fn_class {
    const char *name; /* "range" */
    py_fn *fn;
    bool is_class;            /* repr is "<class 'dict'>" rather than "<function ...>" */
    void (*free)(void *data); /* may be NULL */
    py_walk_fn *walk;
    unsigned marks; /* the engine's own: wants the context, unsafe, ... */
    bool is_method; /* of an object: its type is "method" */
} py_fn_class_t;
/* NEW function; TAKES `data`, which the class frees. */
py_t *py_func(const py_fn_class_t *cls, void *data);
/* BORROWED class and data; NULL when `v` is not such a function. */
const py_fn_class_t *py_func_class(const py_t *v, void **ret_data);

/* ---- iterators ------------------------------------------------------------------------------- */

typedef struct py_gen_class {
    const char *name;          /* type name: "generator", "list_iterator" */
    py_t *(*next)(void *data); /* NEW; NULL at the end or raised */
    void (*free)(void *data);
    py_walk_fn *walk;
    const char *function; /* of a generator, for repr(): "do_batch"; NULL: none */
} py_gen_class_t;
/* NEW iterator; TAKES `data`, which the class frees. */
py_t *py_gen(const py_gen_class_t *cls, void *data);
/* BORROWED data when `v` is an iterator of that class, or NULL. */
void *py_gen_data(const py_t *v, const py_gen_class_t *cls);

/* ---- objects --------------------------------------------------------------------------------- */

/* Absent rows mean what Python does without the method: TypeError in its words, true, identity. Functions
 * return NEW or NULL raised; find_* 1, 0 or -1 as py_find_attr. */
typedef struct py_class {
    const char *name;   /* type(v).__name__ */
    const char *module; /* "jinja2.runtime"; NULL: builtins */
    int (*find_attr)(py_t *self, py_t *name, py_t **ret_v);
    int (*find_item)(py_t *self, py_t *key, py_t **ret_v);
    int (*set_attr)(py_t *self, py_t *name, py_t *value);
    int (*set_item)(py_t *self, py_t *key, py_t *value);
    py_t *(*call)(py_t *self, const py_args_t *args);
    py_t *(*iter)(py_t *self);
    int64_t (*len)(py_t *self);
    int (*truth)(py_t *self);
    int (*contains)(py_t *self, py_t *item);
    int (*eq)(py_t *self, py_t *other);
    int (*compare)(py_t *self, py_t *other, py_cmp_t op); /* -2: not comparable with that */
    int (*hash)(py_t *self, uint64_t *ret_hash);
    int (*repr)(py_t *self, buf_t *out);
    int (*str)(py_t *self, buf_t *out);
    py_t *(*html)(py_t *self); /* __html__ */
    py_t *(*binary)(py_op_t op, py_t *a, py_t *b, bool *ret_not_mine);
    void (*free)(void *data);
    py_walk_fn *walk;
} py_class_t;
/* NEW object; TAKES `data`, which the class frees. */
py_t *py_host(const py_class_t *cls, void *data);
/* BORROWED; NULL when `v` is not of that class. */
void *py_host_data(const py_t *v, const py_class_t *cls);
const py_class_t *py_host_class(const py_t *v);

/* ---- undefined ------------------------------------------------------------------------------- */

enum {
    PY_UNDEF_STR = 1 << 0,   /* str() raises */
    PY_UNDEF_TRUTH = 1 << 1, /* so do truth, iteration, ==, `in` and hash */
    PY_UNDEF_CHAIN = 1 << 2, /* an attribute or element of it is itself */
    PY_UNDEF_DEBUG = 1 << 3  /* str() is "{{ name }}" or a hint */
};
typedef struct py_undef_class {
    const char *name; /* "StrictUndefined" */
    unsigned flags;
    void (*used)(py_t *self, bool fatal); /* called before it raises or prints as nothing; may be NULL */
} py_undef_class_t;
extern const py_undef_class_t py_Undefined, py_ChainableUndefined, py_DebugUndefined, py_StrictUndefined;

/* Makes an undefined value. All but `cls` may be NULL: `obj` is the value that lacked `name`; `hint` the
 * whole message; `exc` replaces UndefinedError. BORROWED. */
py_t *py_undefined(const py_undef_class_t *cls, py_t *obj, py_t *name, const char *hint, const py_exc_t *exc);
const py_undef_class_t *py_undef_class(const py_t *v);
/* Raises what any forbidden use of it raises: "'x' is undefined". NULL. */
void *py_undef_raise(py_t *v);
/* NEW text of that message. */
char *py_undef_message(const py_t *v);
/* BORROWED name or NULL. */
py_t *py_undef_name(const py_t *v);
/* BORROWED; what lacked the name, or NULL. */
py_t *py_undef_obj(const py_t *v);

#endif
