/* reaction.h - from an SLS file of the reactor and an event to the list of reactions.
 *
 * The file is rendered as any SLS (common/render) with `data`, `tag` and, for rules of our own form,
 * `events`, `count`, `group` and `missing`; its high data goes through the state compiler (common/state).
 * The many layouts of arguments that Salt's reactor accepts are normalised here.
 *
 * Layer      common/reactor; knows no bus: the caller runs the reactions
 * Threads    the renderer's
 * Ownership  results are NEW
 * Errors     an error is an object {"file", "line"?, "id"?, "error", "passing": true when the system lacked
 *            something}; an error in one reaction does not stop the file's others, except those that
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

/* List the reactions to `firing` (rules.h), in the order in which they start:
 * {"file", "id", "part": "FILE#ID", "client": "local"|"runner"|"wheel"|"caller", "fun", "arg": [value],
 * "kwarg": {}, "require": [index in this list], "broken": true when a requirement can't be met, "line"?,
 * "ignored"?: [key]}
 * and for local {"tgt", "tgt_type", "ret"?, "timeout"?, "metadata"?, "subset"?}. Errors are appended to
 * `errors`. */
json_t *reaction_list(const reaction_env_t *env, const json_t *firing, json_t *errors);

/* Check that a file ("/srv/reactor/x*.sls" or "salt://...") can be read: NULL when it can, else NEW text. */
char *reaction_missing(fileclient_t *files, const char *file);

#endif
