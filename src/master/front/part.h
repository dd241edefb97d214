/* part.h - a part of the master: its life, its time, its descriptor, and what it wants to hear of.
 *
 * A part is one row of parts.def and one descriptor, part_NAME, at the end of its file. The front loop
 * (front.c) walks the table and knows no part; a part tells the others what has happened by a hook
 * (hooks.h) and knows none of them either. What several build on has functions of its own: bus.h,
 * storage.h, gate.h, acks.h, ...
 *
 * A member that is NULL is nothing to do. Hooks are called in the order of the rows, only those of parts
 * that have started.
 *
 * Layer      master
 * Threads    the front loop's: every function of a descriptor is called by it
 * Ownership  front->own[PART_NAME] is the part's own struct: of `size` bytes, all 0, made before `start` and
 *            freed after `destroy`; or, without a size, whatever `start` puts there and `destroy` frees
 * Tests      tests/unit/master/test_front.c, tests/unit/master/test_parts.c
 */
#ifndef MASTER_FRONT_PART_H
#define MASTER_FRONT_PART_H

#include "master/front/front.h"
#include "master/minions/peers.h"

typedef struct front_part {
    const char *name;
    size_t size; /* of its own struct; 0: it makes it */

    /* ---- life */
    int (*start)(front_t *front, fail_t *err); /* 0, or negative with *err: the master does not start */
    /* The master ends: nothing more is asked for. All parts are still there. */
    void (*stop)(front_t *front);
    /* Also when `start` has failed halfway. False: a thread still uses what it was given. */
    bool (*destroy)(front_t *front);
    void (*reload)(front_t *front); /* the configuration is another */

    /* ---- time: `tick` in each turn of the timer, or after so many milliseconds, or as many as `pause_ms`
     * says. The first one comes at once, and so does the next after a reload. */
    void (*tick)(front_t *front, int64_t now_ms);
    int64_t every_ms;
    int64_t (*pause_ms)(const front_t *front);

    /* ---- a descriptor that is readable when there is something to do */
    int (*fd)(const front_t *front);
    void (*readable)(front_t *front);

    /* ---- hooks: minions. Pointers are BORROWED. */
    /* Nobody speaks on this connection any more; its id is still there. */
    void (*peer_left)(front_t *front, peer_t *peer);
    /* The connection is over, and all of it was read: its entry goes next. */
    void (*peer_ended)(front_t *front, peer_t *peer);
    /* This key's connection to the publish port is up. */
    void (*subscribed)(front_t *front, const char *z85, int fd);
    /* Its hello was answered. */
    void (*greeted)(front_t *front, peer_t *peer);
    /* A minion is here. `hello` NULL: it says nothing of its jobs. */
    void (*connected)(front_t *front, minion_t *m, const json_t *hello, bool rebooted);
    void (*disconnected)(front_t *front, minion_t *m);
    /* Its key is accepted no more. */
    void (*dismissed)(front_t *front, minion_t *m);
    /* Whatever is kept of this id goes, all of it in one commit. */
    void (*forgotten)(front_t *front, const char *id);
    /* What an operator names of a minion goes: 0, also when it is another part's, or negative with *err. */
    int (*forget)(front_t *front, minion_t *m, const char *what, fail_t *err);

    /* ---- hooks: the store and the bus */
    void (*committed)(front_t *front); /* rows are on the disk */
    void (*renewed)(front_t *front);   /* the store has begun anew */
    /* Events up to this one are not read again. */
    uint64_t (*settled)(const front_t *front);
    /* What happened together is over; `events`: some were fired. */
    void (*turn_ended)(front_t *front, bool events);

    /* ---- hooks: operators */
    void (*line_closed)(front_t *front, lconn_t *c);
    /* A function that runs as `within` caused a job or function (its jid, or ""), and events of these
     * numbers. */
    void (*caused)(front_t *front, const char *within, const char *jid, uint64_t first, uint64_t last);
    /* Add figures to the answer of the request `status`, what is under way to that of `active`. */
    void (*status)(front_t *front, json_t *reply);
    void (*active)(front_t *front, json_t *reply);
    /* The request `names`: 1 when it is taken, and answered later; 0: it is not of a kind of this part;
     * negative with *err. */
    int (*names)(front_t *front, lconn_t *c, const json_t *request, fail_t *err);
} front_part_t;

#define PART(name) extern const front_part_t part_##name;
#include "master/front/parts.def"
#undef PART

#endif
