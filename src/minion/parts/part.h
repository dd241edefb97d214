/* part.h - a part of the minion's job server: its timer, descriptor, hooks, messages and requests as one
 * descriptor, the last thing in its file. parts.def has a row per part.
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
 * Tests      tests/unit/minion/test_parts.c
 */
#ifndef MINION_PARTS_PART_H
#define MINION_PARTS_PART_H

#include "salt/base.h"

struct jobserver;
struct job_proc;

/* A frame of the networking process, by its "t". Several parts may have a row for the same. */
typedef struct part_message {
    const char *name;
    void (*fn)(void *self, json_t *frame);
} part_message_t;

/* What a job's child may ask, by "op" (ctx_host). One part has the row. `bus`: how a client of the minion's
 * bus writes it, when these may ask it too; `asker` is NULL then. The value is NEW; NULL with *err, or
 * without: job_answer comes later, which only a job can wait for. */
typedef struct part_request {
    const char *op;
    json_t *(*fn)(void *self, struct job_proc *asker, json_t *request, fail_t *err);
    const char *bus;
} part_request_t;

/* An event of event.fire in a job that asks the minion for something, by the beginning of its tag. */
typedef struct part_event {
    const char *tag;
    void (*fn)(void *self, json_t *data);
} part_event_t;

/* The sooner of two times; 0: none. */
static inline int64_t
part_sooner(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

typedef struct minion_part {
    const char *name;
    /* NEW, or NULL with *err: the minion does not start. The signals are set up, no job runs. */
    void *(*start)(struct jobserver *js, fail_t *err);
    void (*destroy)(void *self);
    void (*reload)(void *self); /* the configuration was read again */
    void (*stop)(void *self);   /* the minion ends: so do the part's children */
    /* The minion ends and no job is left: true when the part has done what it has to. It is asked again after
     * each turn, but not for long. While the minion ends a part with this hook is polled, and no other. */
    bool (*leave)(void *self);

    void (*tick)(void *self, int64_t now_ms);    /* before each turn of the loop; monotonic */
    int64_t (*next_ms)(void *self);              /* monotonic: a turn is wanted then; 0: none */
    int (*fd)(const void *self, short *ret_ask); /* and poll's events, POLLIN unless set; -1: none */
    void (*ready)(void *self, short events);

    void (*link_up)(void *self);   /* there is a new networking process */
    void (*link_down)(void *self); /* there is none any more, so there are no masters */
    void (*master_up)(void *self, int master);
    void (*master_down)(void *self, int master); /* -1: none is there */

    void (*send)(void *self, const json_t *frame); /* to the networking process, if there is one */

    void (*job_new)(void *self, json_t *job);          /* it came, and may be refused or wait */
    void (*job_begins)(void *self, const json_t *job); /* before its child is forked */
    void (*job_returned)(void *self, json_t *job, json_t *ret);
    /* Its child is gone, or it could not begin: then `proc` is NULL. */
    void (*job_over)(void *self, json_t *job, const struct job_proc *proc);

    void (*grains_changed)(void *self);                       /* js->grains */
    void (*pillar_changed)(void *self);                       /* js->pillar */
    void (*shown)(void *self, const char *tag, json_t *data); /* to who listens on this minion */
    void (*fired)(void *self, const char *tag, json_t *data); /* by event.fire; data may be NULL */

    /* Each ends with a row without a name; NULL: none. */
    const part_message_t *messages;
    const part_request_t *requests;
    const part_event_t *events;
} minion_part_t;

#endif
