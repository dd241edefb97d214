/* stateconf.h - what the renderer `stateconf` does to an SLS file's data, step by step.
 *
 * All steps change `data` in place. A part of a shape that no state has is left alone: the state compiler
 * tells what is wrong with it.
 *
 * Layer      common/render, private to renderer_stateconf.c and stateconf_*.c
 * Threads    as render.h
 * Errors     -EINVAL with Salt's text
 * Tests      tests/cases/state-compile/stateconf.json */
#ifndef COMMON_RENDER_STATECONF_H
#define COMMON_RENDER_STATECONF_H

#include "common/py/py_ops.h"
#include "salt/base.h"

#define STATECONF_SET "stateconf.set"

/* IDs beginning with a dot get the SLS file's name, also in requisites and extensions; so do the files that
 * are included and excluded. */
int stateconf_includes(py_t *data, const char *sls, const char *saltenv, fail_t *err);
int stateconf_names(py_t *data, const char *sls, fail_t *err);
/* Each state requires the one before it. `kept`: what extensions of other files require, as render_source_t
 * has it. */
int stateconf_order(py_t *data, py_t *kept, fail_t *err);
/* The states `.start`, which the file's first state requires, and `.goal`, which requires all of them. */
int stateconf_start(py_t *data, const char *sls, fail_t *err);
int stateconf_goal(py_t *data, fail_t *err);

/* ---- looking at the data ------------------------------------------------------------------------------- */

/* for (stateconf_iter_t it = { .data = data }; stateconf_next(&it);): the states of an SLS file, those of
 * `extend` too (as one ID). BORROWED; the data must not change meanwhile. */
typedef struct stateconf_iter {
    py_t *data;
    size_t id_at, state_at;
    py_t *id, *states, *state, *args;
} stateconf_iter_t;
bool stateconf_next(stateconf_iter_t *it);
/* The same for the {TYPE: ID} of the requisites `names` (ends with NULL) among a state's arguments;
 * `requisites`: "test" and "id". */
typedef struct stateconf_req {
    py_t *args;
    const char *const *names;
    size_t arg_at, at;
    py_t *holder, *type, *id;
} stateconf_req_t;
bool stateconf_next_req(stateconf_req_t *it);

/* "file" of "file.managed". NEW. */
py_t *stateconf_type(const py_t *state);
/* NEW {key: value}. TAKES the value. */
py_t *stateconf_pair(py_t *key, py_t *value);

#endif
