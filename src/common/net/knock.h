/* knock.h - probe a host's ports without libzmq, which reports no errno: the resolver's answer,
 * the result of each connection, and the ZMTP mechanism with which the first port greets.
 *
 * A separate thread does it, because a resolver may block. The thread ends by itself, so the object may
 * be destroyed before. Nothing but the start of a greeting is sent on the connections, which are then
 * closed.
 *
 * Layer      common/net
 * Threads    the object belongs to one thread; the look runs beside it
 * Errors     of the look: in knock_said_t
 * Tests      tests/unit/common/test_knock.c
 */
#ifndef COMMON_NET_KNOCK_H
#define COMMON_NET_KNOCK_H

#include "salt/base.h"

#define KNOCK_PORTS     3
#define KNOCK_MECHANISM 21 /* the longest of ZMTP, and a NUL */

typedef struct knock_conf {
    const char *host,
        *source; /* `source`: the address to connect from; NULL or "": the system's choice. BORROWED */
    int ports[KNOCK_PORTS]; /* 0: not this one */
    int timeout_ms;         /* for the ports, all at once */
} knock_conf_t;

/* The first port's greeting. */
typedef enum knock_greets {
    KNOCK_NOT,     /* not connected, or not a byte came in time */
    KNOCK_ZMTP,    /* by ZMTP 3: `mechanism` */
    KNOCK_FOREIGN, /* by something else */
} knock_greets_t;

typedef struct knock_said {
    int name;              /* of getaddrinfo, EAI_*; 0: there is an address */
    int code[KNOCK_PORTS]; /* errno; 0: it took the connection, or was not asked */
    knock_greets_t greets;
    char mechanism[KNOCK_MECHANISM];
} knock_said_t;

typedef struct knock knock_t;

/* NEW, and under way; NULL with *err. */
knock_t *knock_new(void *zctx, const knock_conf_t *conf, fail_t *err);
/* To poll for reading. BORROWED */
void *knock_sock(const knock_t *self);
/* Fetch the result. False while the look is still running. */
bool knock_take(knock_t *self, knock_said_t *out);
void knock_destroy(knock_t **self_p);

#endif
