/* follow.h - a follower of the master's journal of events: reads it in order from a durable cursor, and gives
 * what it wants to a returner in batches. One process per follower; the master (master/followers) starts it
 * again when it ends.
 *
 * A batch that the target refuses for the moment is given again until it is taken, so the target may be away
 * for as long as the journal reaches. Returners with `batch` keep the cursor beside what they write: each
 * event comes exactly once. Those without, and those whose `cursor` says None, have it in the follower's
 * file: an event may come again after a kill.
 *
 * Layer      follower
 * Threads    one
 * Tests      tests/unit/follower/test_writes.c, tests/t/5300-followers.bats
 */
#ifndef FOLLOWER_FOLLOW_H
#define FOLLOWER_FOLLOW_H

#include "common/plugin/call.h"

typedef struct follow_spec {
    const char
        *kind; /* "event_return": all events; "master_job_cache": jobs and returns; "ext_job_cache": jobs */
    const char *returner; /* module's name */
    const char *name;     /* KIND.RETURNER */
    uint64_t since;       /* where one begins that has stored nothing yet */
    json_t *opts;         /* the master's. BORROWED */
} follow_spec_t;

/* Runs until the process is ended. Returns with *err when it can't go on: started again, it may. */
int follow_run(call_ctx_t *ctx, const follow_spec_t *spec, fail_t *err);

/* True when `event_return_whitelist` and `event_return_blacklist` let the tag through. */
bool writes_wanted(const json_t *opts, const char *tag);
/* The request `events` of a follower: what it may want after the event `after`. NEW. */
json_t *writes_request(const follow_spec_t *spec, uint64_t after);
/* About how many bytes a write takes where it is stored. */
size_t writes_weight(const json_t *write);
/* The write of one event for a follower of the kind, as `batch` takes it. NEW; NULL: nothing of this event.
 * *load_p, owned by the caller and NULL at first, is the load of the last return: others of its job share it,
 * as only the first is ever stored. */
json_t *writes_of(const char *kind, const char *tag, json_t *data, json_t **load_p);
/* The load of a job as Salt's master keeps it, from the event of a new job, or from a return without one.
 * NEW. */
json_t *writes_load(const json_t *data);

/* Opens and locks the follower's file in `dir`, so that it has no second process. A descriptor, or negative
 * with *err. */
int cursor_lock(const char *dir, const char *name, fail_t *err);
/* The follower's file. `seq`: the last event that is stored; `seen`: nothing is wanted between it and this one,
 * 0 or less than `seq`: as that. */
typedef struct cursor {
    uint64_t seq, seen;
} cursor_t;
/* 1 and *ret, 0 when there is none yet, or negative with *err. */
int cursor_read(const char *dir, const char *name, cursor_t *ret, fail_t *err);
/* `failed` NULL: all is well. `durable`: the file is the cursor, and is on the disk afterwards. */
int cursor_write(const char *dir, const char *name, const cursor_t *at, const char *failed, bool durable,
                 fail_t *err);

#endif
