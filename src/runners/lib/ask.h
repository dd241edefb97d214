/* ask.h - what most runners need: ask the master, resolve a target, tell how far one has come.
 *
 * Layer      runners; uses master/api.h only
 * Threads    the worker's that runs the runner
 * Ownership  results are NEW
 * Errors     NULL or a negative errno with *err set; the master's refusals keep its words
 * Tests      tests/unit/runners/test_manage.c
 */
#ifndef RUNNERS_LIB_ASK_H
#define RUNNERS_LIB_ASK_H

#include "salt/plugin.h"

/* Calls one local operation without, or with, fields (an object; TAKES *fields_p). The reply. */
json_t *ask_master(call_ctx_t *ctx, const char *op, fail_t *err);
json_t *ask_master_with(call_ctx_t *ctx, const char *op, json_t **fields_p, fail_t *err);
/* The accepted minions that `args` ("tgt", "tgt_type") names: sorted array of ids. */
json_t *ask_targets(call_ctx_t *ctx, json_t *args, fail_t *err);
/* Run `fun` on minions and wait: api_execute's answer. `arg` BORROWED, may be NULL. `timeout` in seconds, 0:
 * the configuration's. */
json_t *ask_execute(call_ctx_t *ctx, const json_t *tgt, const char *tgt_type, const char *fun, json_t *arg,
                    json_int_t timeout, fail_t *err);
/* Extracts from ask_execute's answer NEW {id: return} of the minions that returned. */
json_t *ask_returns(json_t *minions);
/* Event salt/run/JID/progress. */
int ask_progress(call_ctx_t *ctx, const char *text, fail_t *err);
/* Salt's split_input: a list stays one, text is split at commas and trimmed. NULL and None give NULL. */
json_t *ask_split(const json_t *v);
/* A list's elements with commas between them. NEW. */
char *ask_joined(const json_t *list);
/* Text split at white space, as Python's split(). */
json_t *ask_words(const char *text);

#endif
