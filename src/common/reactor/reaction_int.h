/* reaction_int.h - internals shared by reaction.c (declarations) and reaction_args.c (their arguments).
 *
 * Layer      common/reactor
 * Threads    the renderer's
 * Tests      tests/unit/common/test_reactor.c
 */
#ifndef COMMON_REACTOR_REACTION_INT_H
#define COMMON_REACTOR_REACTION_INT_H

#include "common/reactor/reaction.h"

/* Key of a chunk for texts that stand in a body without a key. */
#define REACTION_WORDS "__words__"

/* The reaction of a low chunk: client, function, target and arguments. NEW, or NULL with *err. */
json_t *reaction_of(const reaction_env_t *env, const json_t *chunk, fail_t *err);
/* "cmd" is an old name of "local". */
const char *reaction_client(const char *state);

#endif
