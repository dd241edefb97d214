/* lsock_int.h - shared by lsock.c and lconn.c: the local socket and a connection.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/t/5000-events.bats, tests/t/7000-runners.bats
 */
#ifndef MASTER_OPERATORS_LSOCK_INT_H
#define MASTER_OPERATORS_LSOCK_INT_H

#include <sys/types.h>

#include "master/jobs/catchup.h"
#include "master/operators/lconn.h"
#include "master/events/listen.h"
#include "master/operators/lsock.h"

enum {
    LSOCK_CHUNK = 64 * 1024, /* bytes per recv */
    LSOCK_BATCH = 64,        /* connections served per turn */
    PROGRAM_MAX = 32
};

struct lconn {
    struct lsock *owner;
    lconn_t *prev, *next;
    int fd;
    uid_t uid;
    pid_t pid;
    char *user;                /* the uid until the name is known */
    bool named;                /* the name is known */
    json_t *as;                /* owned: who it has become; NULL: it speaks for its uid */
    bool asking;               /* the name is looked up; nothing is read meanwhile */
    char program[PROGRAM_MAX]; /* name of the process at its first audited request; "": not read */
    buf_t in, out;
    size_t out_at;        /* first unsent byte of `out` */
    catchup_t *behind;    /* owned: jobs to replay; NULL: none */
    listener_t *listener; /* owned; NULL: no subscription */
    bool begun;           /* events may be sent */
    bool due;             /* answers wait for the turn's end */
    bool waits;           /* a user's request is buffered and waits for its turn */
    bool want_write, paused, dead;
};

/* A user's part of this turn, over all connections. */
typedef struct share {
    uid_t uid;
    const json_t *as; /* BORROWED from a connection, which lives until the turn ends */
    bool asked;       /* a request */
    bool caught;      /* a replay piece */
} share_t;

typedef struct lsock {
    front_t *front;
    const lsock_server_t *server; /* NULL until lsock_serve is called */
    int listen_fd, epoll_fd;
    int spare_fd; /* given up for a moment to turn a client away when descriptors run out */
    int name_fd;  /* socket of the name lookup under way; -1: none */
    uid_t name_uid;
    bool asks;                   /* look a name up at the turn's end */
    share_t shares[LSOCK_BATCH]; /* of this turn */
    size_t n_shares;
    char *own_name, *root_name;
    bool due;        /* some connection's answers wait for the turn's end */
    int64_t full_ms; /* monotonic: since when clients wait for a descriptor; 0: none, or count anew */
    bool marked;     /* a mark stands in the backlog behind those */
    bool paused;     /* not listening until lsock_tick */
    bool unpolled;   /* epoll_ctl failed for a connection; lsock_tick repeats it */
    char chunk[LSOCK_CHUNK];
    char *path;
    lconn_t *conns;
    size_t n_conns, n_listeners, n_paused;
} lsock_t;

/* lconn.c: besides lconn.h */
void lconn_poll(lconn_t *c);   /* update epoll */
void lconn_kill(lconn_t *c);   /* end it */
void lconn_flush(lconn_t *c);  /* send what there is, within its turn */
void lconn_frames(lconn_t *c); /* handle buffered requests, within its turn */
void lconn_read(lconn_t *c);
/* True for connections of one process owner that speak for the same user: they share turns and bounds, so
 * that a program that serves many users is not held up by one of them. */
bool lconn_is_kin(const lconn_t *c, uid_t uid, const json_t *as);
bool lsock_is_admin(uid_t uid); /* root, or the master's user */

#endif
