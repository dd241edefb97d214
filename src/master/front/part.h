/* part.h - the descriptor of a part of the master: start and end, ticks, a polled descriptor, and hooks.
 *
 * A part is one row of parts.def and one descriptor, part_NAME, at the end of its file. The front loop
 * (front.c) walks the table and names no part; a part reports to the others through hooks (hooks.h) and names
 * none of them either. Modules that several parts build on have functions of their own: bus.h, storage.h,
 * gate.h, acks.h, ...
 *
 * Members may be NULL. Hooks are called in the order of the rows, for parts that have started. Pointers are
 * BORROWED for the call.
 *
 * Layer      master
 * Threads    the front loop's calls every function of a descriptor
 * Ownership  front->own[PART_NAME] is the part's own struct: `size` zeroed bytes, allocated before `start`
 *            and freed after `destroy`; with size 0, whatever `start` puts there and `destroy` frees
 * Tests      tests/unit/master/test_front.c, tests/unit/master/test_parts.c
 */
#ifndef MASTER_FRONT_PART_H
#define MASTER_FRONT_PART_H

#include "master/front/front.h"
#include "master/minions/peers.h"

struct ret; /* master/jobs/ret.h */

typedef struct front_part {
    const char *name;
    size_t size; /* of its own struct; 0: the part allocates it */

    /* ---- life */
    int (*start)(front_t *front, fail_t *err); /* 0, or negative with *err: the master does not start */
    /* The master is about to end; every part is still there. Stop accepting work. */
    void (*stop)(front_t *front);
    /* Called in reverse order, also when `start` failed halfway. False: a thread still uses the part's
     * data. */
    bool (*destroy)(front_t *front);
    void (*reload)(front_t *front); /* conf has been replaced; pointers into the old one are gone */

    /* ---- time: `tick` runs in each turn of the timer, or every `every_ms`, or after `pause_ms` if that is
     * set. The first tick comes at once, and so does the next one after a reload. */
    void (*tick)(front_t *front, int64_t now_ms);
    int64_t every_ms;
    int64_t (*pause_ms)(const front_t *front);

    /* ---- a descriptor to poll, fixed after `start`, and its handler */
    int (*fd)(const front_t *front);
    void (*readable)(front_t *front);

    /* ---- hooks: minions */
    /* The peer has left this connection; peer->minion is still set. */
    void (*peer_left)(front_t *front, peer_t *peer);
    /* The connection is closed and all its messages were read; its entry is removed next. */
    void (*peer_ended)(front_t *front, peer_t *peer);
    /* The key's connection to the publish port is up. */
    void (*subscribed)(front_t *front, const char *z85, int fd);
    /* The connection's hello was answered. */
    void (*greeted)(front_t *front, peer_t *peer);
    /* A minion has connected. `hello` NULL: it says nothing of its jobs. `rebooted`: it started anew since
     * its last connection. */
    void (*connected)(front_t *front, minion_t *m, const json_t *hello, bool rebooted);
    void (*disconnected)(front_t *front, minion_t *m);
    /* The minion's key is no longer accepted. */
    void (*dismissed)(front_t *front, minion_t *m);
    /* Delete all that is kept of this id; called between store_together and store_apart, so in one commit. */
    void (*forgotten)(front_t *front, const char *id);
    /* Each target of a job has a final verdict, or the job was given up; returns may wait for their commit.
     */
    void (*job_ended)(front_t *front, const char *jid);
    /* A runner or wheel function has ended; `ret` is the JSON of its return, secret or not. */
    void (*run_ended)(front_t *front, const char *jid, const char *ret);
    /* Drop what an operator names of a minion, such as its grains: 0, also when `what` is another part's;
     * negative with *err. */
    int (*forget)(front_t *front, minion_t *m, const char *what, fail_t *err);

    /* ---- hooks: jobs */
    /* A job is in the table and about to be sent. */
    void (*published)(front_t *front, const job_t *job);
    /* A return was stored; `job` NULL: it is not under way. */
    void (*returned)(front_t *front, const minion_t *m, const job_t *job, const struct ret *ret);

    /* A minion's event was fired; `data` as the minion sent it. `bare`: its beacon's, under
     * salt/beacon/ID/NAME/. */
    void (*minion_event)(front_t *front, const minion_t *m, const char *tag, const json_t *data, bool bare);

    /* ---- hooks: the store and the bus */
    void (*committed)(front_t *front); /* rows were committed, see store_committed */
    void (*renewed)(front_t *front);   /* the store began a new file: write again what must be in it */
    /* Number of the last event that this part will not read again; the lowest of all bounds expiry. */
    uint64_t (*settled)(const front_t *front);
    /* A group of changes is complete: deliver. `events`: some were fired. */
    void (*turn_ended)(front_t *front, bool events);

    /* ---- hooks: operators */
    /* The connection closes; drop every pointer to it. */
    void (*line_closed)(front_t *front, lconn_t *c);
    /* A function running as job `within` caused a job or function (its jid, or "") and the events
     * first..last. */
    void (*caused)(front_t *front, const char *within, const char *jid, uint64_t first, uint64_t last);
    /* Add counters to the reply of `status`, work under way to that of `active`. */
    void (*status)(front_t *front, json_t *reply);
    void (*active)(front_t *front, json_t *reply);
    /* Add lines to /metrics (figures.h); `minions`: those of each minion, too. */
    void (*figures)(front_t *front, buf_t *out, bool minions);
    /* The request `names`: 1: taken, will be answered later; 0: not of this part's kind; negative with
     * *err. */
    int (*names)(front_t *front, lconn_t *c, const json_t *request, fail_t *err);
} front_part_t;

#define PART(name) extern const front_part_t part_##name;
#include "master/front/parts.def"
#undef PART

#endif
