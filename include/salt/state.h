/* state.h - what the author of a state module needs beside plugin.h.
 *
 * A state module is one file below plugins/state that ends in `PLUGIN(state, file, .doc = ..., FUNCS(funcs))`. A
 * state function is a func_fn. Its rows declare `name` first, then its own arguments.
 *
 * What it gets
 *   The chunk's arguments that it declares, bound and converted. Requisites and the arguments that belong to
 *   every state (require, watch, order, unless, onlyif, check_cmd, creates, retry, failhard, parallel,
 *   fire_event, reload_*, umask, runas, use, saltenv, fun, state, __id__, __sls__, __env__) are done by the
 *   runner and left out, but a row that declares one of these names gets it too (cmd.run's `runas`), except
 *   `umask`, which holds for the process while the function runs. A **kwargs row (ARG_STARSTAR) gets every
 *   other argument; without one they fail the state, in Salt's words, as missing ones do.
 *
 * What it returns
 *   0 and {name, changes, result, comment}, made by state_ret(). A failed state is result False and a comment.
 *   fail_set()/fail_kind() are what an exception is in Salt: result False, "An exception occurred in this state:
 *   TEXT". With ctx_test() a function changes nothing: result None (STATE_NONE) when it would change something,
 *   else what it would be.
 *
 * Special names in the table, never called as a state
 *   mod_watch      instead of the function, when a state it watches has changed. Arguments: name, sfun (the
 *                  function that the chunk names), **kwargs.
 *   mod_init       once per run before the first state of the module. Arguments: low (the chunk). Returns bool.
 *   mod_aggregate  where the option or the chunk's `aggregate` asks for it. Arguments: low, chunks, running.
 *                  Returns the chunk to run instead.
 *
 * Layer      may be used by everybody
 * Tests      tests/unit/common/test_state_run.c
 */
#ifndef SALT_STATE_H
#define SALT_STATE_H

#include "salt/plugin.h"

/* A state's "result". */
typedef enum state_result { STATE_FALSE, STATE_TRUE, STATE_NONE } state_result_t;

/* NEW {name, changes: {}, result: True, comment: ""}. */
json_t *state_ret(const char *name);
/* The same from a function's arguments. */
json_t *state_ret_args(const json_t *args);

/* Set result and comment. Returns 0, so that `return state_ret_set(...)` ends a function. */
int state_ret_set(json_t *ret, state_result_t result, const char *fmt, ...) PRINTF(3, 4);
/* The comment alone. TAKES `comment`, a string or a list of lines. */
void state_ret_comment(json_t *ret, json_t *comment);
/* Another line of the comment. */
void state_ret_add(json_t *ret, const char *fmt, ...) PRINTF(2, 3);
/* Another of the `warnings` that the outputter shows below the comment. */
void state_ret_warn(json_t *ret, const char *fmt, ...) PRINTF(2, 3);
/* As a helper returned `err`: result False, its text as the comment. Clears *err. Returns 0. */
int state_ret_fail(json_t *ret, fail_t *err);

/* changes[key] = value. TAKES `value`. */
void state_change(json_t *ret, const char *key, json_t *value);
/* changes[key] = {"old": before, "new": after}. TAKES both; NULL is None. */
void state_change_from(json_t *ret, const char *key, json_t *before, json_t *after);
/* All changes at once. TAKES the object. */
void state_change_set(json_t *ret, json_t *changes);
bool state_changed(const json_t *ret);

/* ---- the run around a state: Salt's __low__, __lowstate__, __running__, __env__ -------------- */

/* The chunk that runs, with all its keys: state, fun, name, __id__, __sls__, __env__, order, and __reqs__
 * ({"watch": [chunk]}: what made mod_watch run). BORROWED; an empty object outside of a run. */
json_t *ctx_chunk(call_ctx_t *ctx);
/* The chunk's argument as Python's value, where it holds what JSON can't say (bytes, keys that are no text,
 * tuples): NEW, or NULL when `args` says it all. */
struct py *ctx_native_arg(call_ctx_t *ctx, const char *name);
/* All chunks of the run, in order. BORROWED array. */
json_t *ctx_chunks(call_ctx_t *ctx);
/* What has run: {tag: return}. BORROWED object. The keys are state_tag()'s. */
json_t *ctx_running(call_ctx_t *ctx);
/* Where the state's files are: its `saltenv`, or where its SLS came from ("base"). BORROWED. */
const char *ctx_saltenv(call_ctx_t *ctx);
/* Salt's __instance_id__: another one for each run. BORROWED; "" outside of a run. What a run collects for
 * its later states (file.accumulated) lives in ctx_context() or in files named after this. */
const char *ctx_run_id(call_ctx_t *ctx);
/* Append to the list ctx_context()[key] of the run: also from the process of a parallel state. `item`
 * BORROWED. */
int ctx_share(call_ctx_t *ctx, const char *key, json_t *item, fail_t *err);
/* The key of a chunk in ctx_running(): "file_|-ID_|-NAME_|-managed". NEW. */
char *state_tag(const json_t *chunk);

#endif
