/* state.h - everything that the author of a state module needs besides plugin.h.
 *
 * A state module is a file below plugins/state that ends in `PLUGIN(state, file, .doc = ..., FUNCS(funcs))`.
 * A state function is a func_fn. Its rows declare `name` first, then its own arguments.
 *
 * Arguments
 *   The function gets the chunk's arguments that it declares, bound and converted. The runner itself handles
 *   requisites and the arguments of every state (require, watch, order, unless, onlyif, check_cmd, creates,
 *   retry, failhard, parallel, fire_event, reload_*, umask, runas, use, saltenv, fun, state, __id__, __sls__,
 *   __env__) and leaves them out. A row that declares one of these names gets it too (cmd.run's `runas`),
 *   except `umask`, which the process has while the function runs. A **kwargs row (ARG_STARSTAR) gets every
 *   other argument; without one they fail the state, in Salt's words, as missing ones do.
 *
 * Return
 *   0 and {name, changes, result, comment}, made by state_ret(). A failed state: result False and a comment.
 *   fail_set()/fail_kind() stand for an exception in Salt: result False, "An exception occurred in this
 *   state: TEXT". With ctx_test() a function changes nothing: result None (STATE_NONE) when it would change
 *   something, else the result that it would have.
 *
 * Special names in the table, never called as a state
 *   mod_watch      runs instead of the function when a watched state has changed. Arguments: name, sfun (the
 *                  function that the chunk names), **kwargs.
 *   mod_init       runs before the module's first state, and before later ones until it returns True.
 *                  Arguments: low (the chunk).
 *   mod_aggregate  runs when the option or the chunk's `aggregate` asks for it. Arguments: low, chunks,
 *                  running. Returns the chunk to run instead.
 *
 * Layer      any code may use it
 * Tests      tests/unit/common/test_state_run.c
 */
#ifndef SALT_STATE_H
#define SALT_STATE_H

#include "salt/plugin.h"

/* A state's "result". */
typedef enum state_result { STATE_FALSE, STATE_TRUE, STATE_NONE } state_result_t;

/* NEW {name, changes: {}, result: True, comment: ""}. */
json_t *state_ret(const char *name);
/* The same with the name from a function's arguments. */
json_t *state_ret_args(const json_t *args);

/* Sets result and comment. Returns 0, so that `return state_ret_set(...)` ends a function. */
int state_ret_set(json_t *ret, state_result_t result, const char *fmt, ...) PRINTF(3, 4);
/* Sets only the comment. TAKES `comment`, a string or a list of lines. */
void state_ret_comment(json_t *ret, json_t *comment);
/* Adds a line to the comment. */
void state_ret_add(json_t *ret, const char *fmt, ...) PRINTF(2, 3);
/* Adds a warning; the outputter shows `warnings` below the comment. */
void state_ret_warn(json_t *ret, const char *fmt, ...) PRINTF(2, 3);
/* Reports a helper's failure `err`: result False, its text as the comment. Clears *err. Returns 0. */
int state_ret_fail(json_t *ret, fail_t *err);

/* Sets changes[key] to `value`. TAKES `value`. */
void state_change(json_t *ret, const char *key, json_t *value);
/* Sets changes[key] to {"old": before, "new": after}. TAKES both; NULL is None. */
void state_change_from(json_t *ret, const char *key, json_t *before, json_t *after);
/* Sets all changes at once. TAKES the object. */
void state_change_set(json_t *ret, json_t *changes);
bool state_changed(const json_t *ret);

/* ---- the run around a state: Salt's __low__, __lowstate__, __running__, __env__ -------------- */

/* The running chunk with all its keys: state, fun, name, __id__, __sls__, __env__, order, and __reqs__
 * ({"watch": [chunk]}: the reason for a mod_watch). BORROWED; an empty object outside of a run. */
json_t *ctx_chunk(call_ctx_t *ctx);
/* The chunk's argument as Python's value when JSON can't express it (bytes, keys that are not text, tuples):
 * NEW. NULL when `args` has the full value. */
struct py *ctx_native_arg(call_ctx_t *ctx, const char *name);
/* All chunks of the run, in order. BORROWED array. */
json_t *ctx_chunks(call_ctx_t *ctx);
/* The returns of the states that have run: {tag: return}, by state_tag(). BORROWED object. */
json_t *ctx_running(call_ctx_t *ctx);
/* The environment of the state's files: its `saltenv`, or the one of its SLS ("base"). BORROWED. */
const char *ctx_saltenv(call_ctx_t *ctx);
/* Salt's __instance_id__, different in each run. BORROWED; "" outside of a run. Data that a run collects for
 * its later states (file.accumulated) is kept in ctx_context() or in files named after this. */
const char *ctx_run_id(call_ctx_t *ctx);
/* Appends to the list ctx_context()[key] of the run, also from the process of a parallel state. `item`
 * BORROWED. */
int ctx_share(call_ctx_t *ctx, const char *key, json_t *item, fail_t *err);
/* The key of a chunk in ctx_running(): "file_|-ID_|-NAME_|-managed". NEW. */
char *state_tag(const json_t *chunk);

#endif
