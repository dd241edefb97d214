/* part.h - the interface of a part of the minion's job server: one descriptor with its timer, file
 * descriptor, hooks, messages and requests, at the end of its file. parts.def has a row per part.
 *
 * The job server walks the parts in the order of parts.def and names none of them, nor does one part name
 * another: what interests several parts is a hook. Every hook may be NULL. `self` is what start returned; a
 * part without start gets the job server itself.
 *
 * A forked child has copies of all descriptors and must not use those of a part. A child for a job or for
 * grains ends by _exit and never returns to the loop. The networking process leaves through destroy, with
 * js->in_session set: it frees memory and closes its copies, and neither unlinks, shuts down nor kills what
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
#include "uplink/jobret.h"

struct jobserver;
struct job_proc;

/* Handles a frame from the networking process, by its "t". Several parts may have a row for one name. */
typedef struct part_message {
    const char *name;
    void (*fn)(void *self, json_t *frame);
} part_message_t;

/* Answers a request of a job's child, by "op" (ctx_host). Only one part has a row for an op. `bus`: the
 * request as shown to clients of the minion's bus, which may send it too (`asker` is NULL then); NULL: jobs
 * only. Returns NEW value; NULL with *err; or NULL without: the part calls job_answer() later, which only a
 * job can wait for. */
typedef struct part_request {
    const char *op;
    json_t *(*fn)(void *self, struct job_proc *asker, json_t *request, fail_t *err);
    const char *bus;
} part_request_t;

/* Handles an event that a job fired to ask the minion for something, by the beginning of its tag. */
typedef struct part_event {
    const char *tag;
    void (*fn)(void *self, json_t *data);
} part_event_t;

/* The earlier of two monotonic times; 0 means none. */
static inline int64_t
part_sooner(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* A part's descriptor. */
typedef struct minion_part {
    const char *name;
    /* NEW, or NULL with *err: the minion does not start. The signals are set up, no job runs. */
    void *(*start)(struct jobserver *js, fail_t *err);
    void (*destroy)(void *self);
    void (*reload)(void *self); /* the configuration was read again: js->conf and js->opts are new */
    void (*stop)(void *self);   /* the minion ends: kill the part's children */
    /* The minion ends and no job is left: true when the part has finished. Asked again after each turn, for
     * STOP_WAIT_MS at most. While the minion ends, only parts with this hook are polled. */
    bool (*leave)(void *self);

    void (*tick)(void *self, int64_t now_ms);    /* before each turn of the loop; monotonic */
    int64_t (*next_ms)(void *self);              /* monotonic: when tick is due; 0: not at all */
    int (*fd)(const void *self, short *ret_ask); /* *ret_ask: poll's events, POLLIN by default; -1: none */
    void (*ready)(void *self, short events);

    void (*link_up)(void *self);   /* a new networking process was started */
    void (*link_down)(void *self); /* it is gone, and with it every master */
    void (*master_up)(void *self, int master);
    void (*master_down)(void *self, int master); /* -1: all are gone */

    /* Send to the networking process, if there is one, with a return behind the frame unless it is NULL. */
    void (*send)(void *self, const json_t *frame, const jobret_t *ret);

    void (*job_new)(void *self, json_t *job);          /* it arrived; it may be refused or wait */
    void (*job_begins)(void *self, const json_t *job); /* before its child is forked */
    void (*job_returned)(void *self, json_t *job, const jobret_t *ret);
    /* Its child has ended; `proc` NULL: it never started. */
    void (*job_over)(void *self, json_t *job, const struct job_proc *proc);

    void (*child_over)(void *self, int pid,
                       int status); /* a child that is no job has ended; waitpid()'s status */

    void (*grains_changed)(void *self);                       /* js->grains was replaced */
    void (*pillar_changed)(void *self);                       /* js->pillar was replaced */
    void (*shown)(void *self, const char *tag, json_t *data); /* an event for listeners on this minion */
    void (*fired)(void *self, const char *tag, json_t *data); /* by event.fire; data may be NULL */

    /* Each ends with a row without a name; NULL: none. */
    const part_message_t *messages;
    const part_request_t *requests;
    const part_event_t *events;
} minion_part_t;

#endif
