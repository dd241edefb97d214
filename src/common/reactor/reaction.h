/* reaction.h - an SLS file of the reactor and an event, to the list of what is to be done.
 *
 * The file is rendered as any SLS (common/render) with `data`, `tag` and, for rules of our own form,
 * `events`, `count`, `group` and `missing`; its high data goes through the state compiler (common/state).
 * What Salt's reactor makes of the many layouts of arguments is made here.
 *
 * Layer      common/reactor; knows no bus: who calls runs what it gets
 * Threads    the renderer's
 * Ownership  results are NEW
 * Errors     an error is an object {"file", "line"?, "id"?, "error", "passing": true when the system lacked
 *            something}; what is wrong with one reaction does not stop the file's others, except those that
 *            require it
 * Tests      tests/unit/common/test_reactor.c, tests/cases/reactor
 */
#ifndef COMMON_REACTOR_REACTION_H
#define COMMON_REACTOR_REACTION_H

#include "common/plugin/registry.h"
#include "common/render/render.h"

/* All BORROWED. */
typedef struct reaction_env {
    call_ctx_t *ctx;
    fileclient_t *files;
    render_t *render;
    const registry_t *runners, *wheels; /* of a master; both NULL: a minion, which has `caller` only */
} reaction_env_t;

/* What `firing` (rules.h) sets off, in the order in which it is to begin:
 *   {"file", "id", "part": "FILE#ID", "client": "local"|"runner"|"wheel"|"caller", "fun", "arg": [value],
 *    "kwarg": {}, "require": [index of another one of the list], "broken": true when it requires what can't
 *    be done, "line"?, "ignored"?: [key]}
 * and for local {"tgt", "tgt_type", "ret"?, "timeout"?, "metadata"?, "subset"?}. `errors` is an array that
 * grows. */
json_t *reaction_list(const reaction_env_t *env, const json_t *firing, json_t *errors);

/* "/srv/reactor/x*.sls" or "salt://...": why it can't be read, NULL when it can. NEW text. */
char *reaction_missing(fileclient_t *files, const char *file);

#endif
