/* mpillar.h - the minion's pillar over time: asked of a master when it connects and when somebody wants it
 * fresh, kept for the jobs. Without a master each job compiles its own (pillar_local.h).
 *
 * Layer      minion
 * Threads    the job server's
 * Ownership  said per function
 * Tests      tests/t/4100-pillar.bats
 */
#ifndef MINION_MPILLAR_H
#define MINION_MPILLAR_H

#include "minion/job.h"
#include "salt/base.h"

struct jobserver;
typedef struct mpillar mpillar_t;

mpillar_t *mpillar_new(void); /* NEW */
void mpillar_destroy(mpillar_t **self_p);

/* The pillar in memory, as py_wire.h has it. BORROWED; NULL while none has come. */
json_t *mpillar_known(const mpillar_t *self);

/* Ask for it anew. `asker` (a child that waits; NULL: nobody) is told when it has come or `timeout_ms` has
 * passed. */
void mpillar_refresh(struct jobserver *js, const job_proc_t *asker, bool clean, int timeout_ms);
/* A child wants one compiled for itself: `ask` as ctx_compile_pillar's. It is answered later. */
void mpillar_ask(struct jobserver *js, const job_proc_t *asker, json_t *ask);
void mpillar_master(struct jobserver *js, int master, bool ready);
void mpillar_answered(struct jobserver *js, json_t *frame);
/* minion_pillar_cache: the pillar of before this start. */
void mpillar_restore(struct jobserver *js);
void mpillar_tick(struct jobserver *js, int64_t now_ms);
int64_t mpillar_next_ms(const struct jobserver *js); /* monotonic; 0: nothing to wait for */

#endif
