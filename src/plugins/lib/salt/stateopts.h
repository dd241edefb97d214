/* stateopts.h - what the keywords of a state function mean: environment, pillar, and the compilation to work
 * on.
 *
 * Layer      plugins/lib/salt
 * Threads    the context's
 * Errors     *err in Salt's words: FAIL_INVOCATION, FAIL_COMMAND
 * Tests      tests/cases/state-compile
 */
#ifndef PLUGINS_LIB_SALT_STATEOPTS_H
#define PLUGINS_LIB_SALT_STATEOPTS_H

#include "common/state/compile.h"

typedef struct stateopts {
    char *saltenv;         /* Salt's opts["saltenv"]; NULL: none */
    json_t *ask;           /* how the pillar was asked for: ctx_compile_pillar() */
    json_t *pillar_errors; /* array of texts; NULL: the pillar is sound, or `force` was given */
    render_t *render;
    highstate_t *high;
    call_ctx_t *ctx; /* BORROWED */
    json_t *own;     /* the context's options as they were, for its end */
} stateopts_t;

/* Lay the master's options over the context's, read the keywords `saltenv`, `pillarenv`, `pillar`,
 * `pillar_enc` and `force` from `kwargs` (absent and null are not given), compile the pillar if they ask
 * for another one, make it the context's, and start a compilation. `dflt`: environment when none is
 * configured (NULL: none). 0, or a negative errno with *err. */
int stateopts_open(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *dflt, fail_t *err);
/* The same for functions that raise when the pillar has errors. */
int stateopts_open_sound(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *dflt,
                         fail_t *err);
/* The same with another top file. */
int stateopts_open_top(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *state_top,
                       fail_t *err);
void stateopts_close(stateopts_t *self);
#define stateopts_auto_t __attribute__((cleanup(stateopts_close))) stateopts_t

/* Salt's split_input(): "a, b" or a list or a number. NEW array. */
json_t *stateopts_split(const json_t *mods);
/* For functions that raise: "Pillar failed to render. Additional info follows: ...". */
int stateopts_pillar_fail(const stateopts_t *self, call_ctx_t *ctx, fail_t *err);

/* What the functions that run states read of **kwargs, and those of state.apply as well: `takes` of a row. */
#define STATE_RUN_WORDS                                                                                       \
    "saltenv env pillarenv pillar pillar_enc force concurrent terse mock cache cache_name whitelist exclude " \
    "localconfig orchestration_jid"
#define STATE_APPLY_WORDS STATE_RUN_WORDS " mods test queue sync_mods state_events"

/* Salt's exit codes of state functions. */
enum { STATE_COMPILER_ERROR = 1, STATE_FAILURE = 2, STATE_PILLAR_FAILURE = 5 };

#endif
