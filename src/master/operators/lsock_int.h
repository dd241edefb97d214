/* lsock_int.h - what lsock.c and lconn.c share: the local socket, and a connection to it.
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
    LSOCK_CHUNK = 64 * 1024, /* read at once */
    LSOCK_BATCH = 64,        /* connections served in a turn */
    PROGRAM_MAX = 32
};

struct lconn {
    struct lsock *owner;
    lconn_t *prev, *next;
    int fd;
    uid_t uid;
    pid_t pid;
    char *user;                /* its number until its name is known */
    bool named;                /* it is */
    bool asking;               /* nothing is read from it until it is */
    char program[PROGRAM_MAX]; /* what the process called itself when it was first asked; "": not asked yet */
    buf_t in, out;
    size_t out_at;        /* first unsent byte of `out` */
    catchup_t *behind;    /* owned; NULL: it has what was there before it followed */
    listener_t *listener; /* owned; NULL: no events for it */
    bool begun;           /* they may be sent */
    bool due;             /* answers wait for the end of the turn */
    bool waits;           /* a request of a user's is there, and not its turn */
    bool want_write, paused, dead;
};

/* What a user has had in a turn, of whichever of its lines. */
typedef struct share {
    uid_t uid;
    bool asked;  /* a request */
    bool caught; /* a piece of what one of them follows */
} share_t;

typedef struct lsock {
    front_t *front;
    const lsock_server_t *server; /* NULL until lsock_serve is called */
    int listen_fd, epoll_fd;
    int spare_fd; /* given up for a moment to turn somebody away when descriptors have run out */
    int name_fd;  /* of the question for a name that is under way, -1: none */
    uid_t name_uid;
    bool asks;                   /* a name is to be asked for at the end of this turn */
    share_t shares[LSOCK_BATCH]; /* of this turn */
    size_t n_shares;
    char *own_name, *root_name;
    bool due;        /* somebody's answers wait for the end of the turn */
    int64_t full_ms; /* since when somebody waits for a descriptor; 0: nobody, or it is counted anew */
    bool marked;     /* behind those who have waited since then stands a mark */
    bool paused;     /* whoever knocks waits for lsock_tick */
    bool unpolled;   /* and so do connections of which the kernel did not take what they wait for */
    char chunk[LSOCK_CHUNK];
    char *path;
    lconn_t *conns;
    size_t n_conns, n_listeners, n_paused;
} lsock_t;

/* lconn.c: what is in lconn.h, and */
void lconn_poll(lconn_t *c);   /* what it waits for has changed */
void lconn_kill(lconn_t *c);   /* it ends */
void lconn_flush(lconn_t *c);  /* what there is for it, as far as it takes that now and has a turn */
void lconn_frames(lconn_t *c); /* what it has asked is handled, as far as it has a turn */
void lconn_read(lconn_t *c);
bool lsock_is_admin(uid_t uid); /* root, or the master's user */

#endif
