/* row.h - filters and tests as rows: their function, their parameters, what they are for.
 *
 * Layer      common/jinja, private
 * Threads    any; rows are constant
 * Ownership  results are NEW, arguments BORROWED
 * Errors     NULL raised
 * Tests      tests/cases/jinja
 */
#ifndef COMMON_JINJA_ROW_H
#define COMMON_JINJA_ROW_H

#include "common/jinja/jinja.h"
#include "common/py/py_methods.h"

typedef struct jcontext jcontext_t;

typedef py_t *jfilter_fn(jcontext_t *ctx, py_t *const *a, const py_args_t *args);
/* 1, 0, or -1 raised. */
typedef int jtest_fn(jcontext_t *ctx, py_t *const *a);
enum {
    JF_CONTEXT = 1 << 0,  /* a parameter in front that the template does not pass */
    JF_SALT = 1 << 1,     /* only with Salt's additions */
    JF_TEST = 1 << 2,     /* a test: `test` is set, not `fn` */
    JF_WORLD = 1 << 3,    /* its answer may change: clock, random numbers, a file, the host */
    JF_MARKS = 1 << 4,    /* as PY_METHOD_MARKS */
    JF_UNDEFINED = 1 << 5 /* of Salt's: has an answer, or an error of its own, for an undefined value */
};
typedef struct jfilter {
    const char *name;
    union {
        jfilter_fn *fn;
        jtest_fn *test;
    };
    py_sig_t sig;
    unsigned flags;
    const char *doc;
} jfilter_t;
/* py_fn_class_t.marks: when a template calls the function, it gets the jrun_t as data. */
enum { JFN_CONTEXT = 1 };
/* Rows by name for the engine's environment. BORROWED; NULL: unknown. */
const jfilter_t *jfilter_find(const jinja_t *engine, const char *name);
const jfilter_t *jtest_find(const jinja_t *engine, const char *name);
/* True when the answer depends on the arguments alone, so that constant calls may be folded. */
bool jfilter_is_pure(const jfilter_t *f);
/* True for a filter of Salt's; without JF_UNDEFINED it takes no undefined value. */
bool jfilter_is_salts(const jfilter_t *f);
/* Reports a use to jinja_options' `looked`. */
void jlooked(const jcontext_t *ctx, const char *what);
/* Binds the arguments and calls a filter or test. NEW, or NULL raised. */
py_t *jfilter_call(jcontext_t *ctx, const jfilter_t *f, const py_args_t *args);

#endif
