/* part.h - a part of the minion's job server: its timer and hooks as one descriptor, the last thing in its file. parts.def has a row per part.
 *
 * The job server walks the parts in the order of parts.def and names none of them; nor does one part name
 * another. What interests several parts is a hook. Each may be NULL. `self` is what start returned; a part
 * without start has the job server itself as `self`.
 *
 * A child has copies of all descriptors, and must not use those of a part. One that is forked for a job or
 * for grains ends by _exit and never comes back to the loop. The networking process leaves by destroy, with
 * js->in_session set: it frees and closes what is its copy, and neither unlinks, shuts down nor ends what
 * belongs to the first process.
 *
 * Layer      minion
 * Threads    the job server's
 * Ownership  arguments are BORROWED for the call
 * Tests      tests/t
 */
#ifndef MINION_PART_H
#define MINION_PART_H

#include "salt/base.h"

struct jobserver;

typedef struct minion_part {
    const char *name;
    /* NEW, or NULL with *err: the minion does not start. */
    void *(*start)(struct jobserver *js, fail_t *err);
    void (*destroy)(void *self);
    void (*tick)(void *self, int64_t now_ms); /* before each turn of the loop; monotonic */
    int64_t (*next_ms)(void *self);           /* monotonic: a turn is wanted then; 0: none */
    void (*master_up)(void *self, int master);
    void (*job_returned)(void *self, json_t *job, json_t *ret);
} minion_part_t;

#endif
