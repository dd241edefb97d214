/* subcall.h - a module's or state's way to call another function: Salt's __salt__["mod.fun"](key=value).
 *
 * Layer      plugins/lib/call
 * Threads    as the context
 * Ownership  results are NEW; what json_pack's "o" takes is taken even when the call fails
 * Errors     NULL with *err: what the function said
 * Tests      through the states that use it
 */
#ifndef PLUGINS_LIB_CALL_SUBCALL_H
#define PLUGINS_LIB_CALL_SUBCALL_H

#include "salt/plugin.h"

/* `fmt` and what follows are json_pack's for an object: the keyword arguments; NULL for none. */
json_t *sub_call(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, ...);
/* The same for functions whose answer is a text: a module of the user's own, of the same name, may answer
 * anything, which is an error. */
json_t *sub_call_text(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, ...);
/* The same for functions whose answer is a truth: 1, 0, or negative with *err. */
int sub_call_bool(call_ctx_t *ctx, fail_t *err, const char *fun, const char *fmt, ...);

#endif
