/* failover.h - which of several masters a minion talks to (master_type failover): a decision by the clock and
 * by the state of the connections, without any of its own.
 *
 * The first master of the list that answers serves. When it is lost for longer than gone_ms, the next is
 * tried, and so on round the list. With failback (back_ms) the first is probed again and again, beside the
 * one that serves meanwhile.
 *
 * Layer      uplink
 * Threads    one
 * Tests      tests/unit/uplink/test_failover.c
 */
#ifndef UPLINK_FAILOVER_H
#define UPLINK_FAILOVER_H

#include "salt/base.h"
#include "salt/limits.h"

typedef struct failover_conf {
    int n;         /* masters, at most LIMIT_MASTERS */
    int answer_ms; /* patience with a master that has never answered */
    int gone_ms;   /* patience with one that served and is lost */
    int back_ms;   /* between two probes of the first one; 0: never */
    bool shuffle;  /* random order; with back_ms the first one stays the first */
} failover_conf_t;

typedef struct failover {
    failover_conf_t conf;
    int order[LIMIT_MASTERS]; /* indices of the list */
    int at;                   /* index in `order`: the one that serves, or is tried */
    bool served;              /* it has answered */
    bool probing;             /* the first one is being probed beside it */
    int64_t since, next; /* monotonic. since: when it became bad, 0: it is good; next: step of failback */
} failover_t;

typedef enum failover_act {
    FAILOVER_STAY,
    FAILOVER_MOVE,      /* switch to failover_now(), another one than before; a probe ends */
    FAILOVER_PROBE,     /* connect to failover_first() beside the one that serves */
    FAILOVER_PROBE_END, /* disconnect from failover_first(): it did not answer */
    FAILOVER_BACK,      /* the probe answered: it serves from now on and is failover_now() */
} failover_act_t;

/* 1 to LIMIT_MASTERS masters. Starts with the first of the (shuffled) order. */
void failover_init(failover_t *self, const failover_conf_t *conf, int64_t now_ms);
/* Decides the next act. `good`: the serving master answers. `probe_good`: the probed one does. The caller
 * carries out the act before the next step. */
failover_act_t failover_step(failover_t *self, int64_t now_ms, bool good, bool probe_good);
/* Milliseconds until the next step at the latest. */
int64_t failover_wait(const failover_t *self, int64_t now_ms);
/* Index in the list of masters, not in the order. */
int failover_now(const failover_t *self);
int failover_first(const failover_t *self);

#endif
