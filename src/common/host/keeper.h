/* keeper.h - keeps programs running: starts each, and starts it again when it has ended, after a pause that
 * doubles.
 *
 * The programs end with their keeper, however that ends (PR_SET_PDEATHSIG of the thread that calls
 * keeper_tick()).
 *
 * Layer      common/host
 * Threads    one, which lives as long as the process
 * Tests      tests/unit/common/test_keeper.c
 */
#ifndef COMMON_HOST_KEEPER_H
#define COMMON_HOST_KEEPER_H

#include "salt/base.h"

typedef struct keeper keeper_t;

keeper_t *keeper_new(void); /* NEW */
/* Ends all: SIGTERM, and after two seconds SIGKILL. */
void keeper_destroy(keeper_t **self_p);
/* Run `path` with one argument, from the next tick on. Texts are copied. */
void keeper_add(keeper_t *self, const char *name, const char *path, const char *argument);
/* End all of them, and forget them. */
void keeper_clear(keeper_t *self);
/* Forget all of them, and leave them as they are: in a process that has a copy. */
void keeper_forget(keeper_t *self);
/* Start those that are due, and see who has ended: call it every few hundred milliseconds. */
void keeper_tick(keeper_t *self, int64_t now_ms);
/* For who waits for all children of the process: how one ended, by waitpid()'s status. True when it is one of
 * these. */
bool keeper_ended(keeper_t *self, int pid, int status);
/* NEW {name: {"pid": 0 while it pauses, "starts": N, "ended"?: "exit code 1" or "signal 9 (Killed)"}}. */
json_t *keeper_status(const keeper_t *self);
bool keeper_is_empty(const keeper_t *self);

/* The path of a private program of Halite: beside this one, or in ../lib/halite. NEW; NULL: it is not there. */
char *keeper_program(const char *name);

#endif
