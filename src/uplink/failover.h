/* failover.h - which of several masters a minion talks to (master_type failover): a decision by the clock and
 * by what became of the connections, without any of its own.
 *
 * The first of the list that answers is the one. When it is gone for longer than it may be, the next one is
 * tried, and so on round the list. With failback, the first one is looked for again and again, beside the one
 * that serves meanwhile.
 *
 * Layer      minion
 * Threads    one
 * Tests      tests/unit/uplink/test_failover.c
 */
#ifndef UPLINK_FAILOVER_H
#define UPLINK_FAILOVER_H

#include "salt/base.h"

#define FAILOVER_MAX 16

typedef struct failover_conf {
    int n;         /* masters, at most FAILOVER_MAX */
    int answer_ms; /* for how long one that has never answered is waited for */
    int gone_ms;   /* for how long one that is lost is */
    int back_ms;   /* between two looks for the first one; 0: never */
    bool shuffle;  /* another order than the list's; with back_ms the first one stays the first */
} failover_conf_t;

typedef struct failover {
    failover_conf_t conf;
    int order[FAILOVER_MAX]; /* indices of the list */
    int at;                  /* in `order`: who serves, or is tried */
    bool served;             /* it has answered */
    bool probing;            /* the first one is being tried beside it */
    int64_t since, next;     /* monotonic: it is bad since; 0: it is good. The next step of looking back */
} failover_t;

typedef enum failover_act {
    FAILOVER_STAY,
    FAILOVER_MOVE,      /* to failover_now(), which is another one than before; a probe ends */
    FAILOVER_PROBE,     /* try failover_first() beside the one that serves */
    FAILOVER_PROBE_END, /* it did not answer */
    FAILOVER_BACK,      /* the probe answered: it serves from now on, and is failover_now() */
} failover_act_t;

void failover_init(failover_t *self, const failover_conf_t *conf, int64_t now_ms);
/* `good`: who serves answers. `probe_good`: the probe does. */
failover_act_t failover_step(failover_t *self, int64_t now_ms, bool good, bool probe_good);
/* Milliseconds until the next step at the latest. */
int64_t failover_wait(const failover_t *self, int64_t now_ms);
int failover_now(const failover_t *self);
int failover_first(const failover_t *self);

#endif
