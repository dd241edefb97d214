/* reach.h - why a minion has no connection: turns facts into one sentence that says what to do about it.
 *
 * The sentences are a table in reach.c; the log of salt-minion, the error of salt-call and whatever shows the
 * state of a connection take their words from it.
 *
 * Layer      uplink; pure
 * Threads    any; a reach_told_t is one thread's
 * Ownership  texts of reach_facts_t are BORROWED for the call
 * Tests      tests/unit/uplink/test_reach.c
 */
#ifndef UPLINK_REACH_H
#define UPLINK_REACH_H

#include "common/base/rate.h"
#include "common/net/knock.h"
#include "salt/base.h"

typedef enum reach_why {
    REACH_NAME,      /* the resolver says that the name does not exist, or fails */
    REACH_RESOLVER,  /* the resolver does not answer */
    REACH_NOTHING,   /* no port takes a connection: refused */
    REACH_TIMEOUT,   /* no answer at all */
    REACH_NO_ROUTE,  /* no way to the network or the host */
    REACH_LOCAL,     /* this machine can't try: firewall, descriptors, source address */
    REACH_NO_HELLO,  /* the master is there, and the port that introduces its key is not */
    REACH_SILENT,    /* the port connects and then says nothing */
    REACH_SALT,      /* ZMTP without encryption: a Salt master */
    REACH_FOREIGN,   /* not ZMTP, or another mechanism of it */
    REACH_PENDING,   /* the key waits for acceptance */
    REACH_REJECTED,  /* the welcome says so */
    REACH_BARRED,    /* the handshake is refused: rejected, or no room */
    REACH_DENIED,    /* the id has another key, or the key another id */
    REACH_DUPLICATE, /* two machines have one key */
    REACH_FULL,      /* too many keys wait */
    REACH_PROTOCOL,  /* incompatible protocol versions */
    REACH_STRANGER,  /* the master's key is not the one that is known */
    REACH_WHYS
} reach_why_t;

typedef struct reach_facts {
    reach_why_t why;
    const char *host;
    int port;
    const char *id;     /* of the minion */
    const char *finger; /* of its key */
    const char *detail; /* ports with their errno, the resolver's or the master's words; NULL: none */
} reach_facts_t;

/* NEW sentence, to stand behind "master HOST: ". */
char *reach_sentence(const reach_facts_t *facts);
/* The reason for the state in a master's `welcome`; REACH_DENIED for an unknown one. */
reach_why_t reach_of_welcome(const char *state);

/* Judges a probe of the ports (request, publish, hello). `asks`: the master's key is needed from the hello
 * port, so it must answer too. False: nothing is wrong. Else true, with `why` and `port` filled in and
 * *ret_detail NEW or NULL. */
bool reach_of_knock(const knock_said_t *said, const int ports[KNOCK_PORTS], bool asks, reach_facts_t *facts,
                    char **ret_detail);

/* When a reason is logged: at once when it differs from the last one, then less and less often. */
typedef struct reach_told {
    char *last; /* owned */
    int64_t next_ms, pause_ms;
    rate_t changes; /* limits the log when two reasons alternate */
} reach_told_t;
#define REACH_TOLD_INIT ROW(.changes = RATE(1, 300))
/* True when `sentence` is to be logged now. */
bool reach_tells(reach_told_t *self, const char *sentence, int64_t now_ms);
/* A connection was made: the next reason is new again. */
void reach_over(reach_told_t *self);

#endif
