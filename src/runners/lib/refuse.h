/* refuse.h - functions of Salt's that can't be had here: they say so, and what to do instead.
 *
 * Layer      runners
 * Threads    any
 * Tests      tests/t/7010-runners-master.bats
 */
#ifndef RUNNERS_LIB_REFUSE_H
#define RUNNERS_LIB_REFUSE_H

#include "salt/plugin.h"

/* Defines the body `fn`, which fails with `text`. */
#define REFUSES(fn, text)                                                                                    \
    static int fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)                            \
    {                                                                                                        \
        (void) ctx, (void) args, (void) ret_value;                                                           \
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP, "%s", text);                                           \
    }

/* Arguments are taken and not looked at. */
#define REFUSED_ARGS                                                                                         \
    ARG("args", ARG_LIST, ARG_STAR, "Not looked at"), ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Not looked at")

#endif
