/* args.h - the arguments of a call while it is made.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  evaluated arguments belong to the jcallargs_t
 * Errors     -1 raised
 * Tests      tests/cases/jinja
 */
#ifndef COMMON_JINJA_ARGS_H
#define COMMON_JINJA_ARGS_H

#include "common/jinja/run.h"

/* Evaluated arguments: positional in v[0..n), keywords in names[] and kwv[] of nkw each. `room` serves the
 * first positional ones without allocation. */
typedef struct jcallargs {
    py_t **v, **names, **kwv;
    size_t n, nkw, cap, capkw;
    py_t *room[12];
} jcallargs_t;
void jargs_add_kw(jcallargs_t *a, py_t *name, py_t *v); /* TAKES both */
/* Evaluates the arguments after `first` (TAKES; may be NULL). 0, or -1 raised; call jargs_free in any case.
 */
int jargs_eval(jrun_t *r, const jargs_t *args, py_t *first, jcallargs_t *ret);
void jargs_free(jcallargs_t *a);
/* The arguments as py_call wants them. BORROWED. */
static inline py_args_t
jargs_view(const jcallargs_t *a)
{
    return (py_args_t){ a->n, a->v, a->nkw, a->names, a->kwv };
}

#endif
