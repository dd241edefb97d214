/* connfail.h - why a minion has no connection: turns facts into one sentence that says what to do about it.
 *
 * The sentences are a table in connfail.c; the log of salt-minion, the error of salt-call and whatever shows
 * the state of a connection take their words from it.
 *
 * Layer      uplink; pure
 * Threads    any; a connfail_log_t is one thread's
 * Ownership  texts of connfail_facts_t are BORROWED for the call
 * Tests      tests/unit/uplink/test_connfail.c */
#ifndef UPLINK_CONNFAIL_H
#define UPLINK_CONNFAIL_H

#include "common/base/rate.h"
#include "common/net/knock.h"
#include "salt/base.h"

typedef enum connfail_why {
    CONNFAIL_NAME,      /* the resolver says that the name does not exist, or fails */
    CONNFAIL_RESOLVER,  /* the resolver does not answer */
    CONNFAIL_NOTHING,   /* no port takes a connection: refused */
    CONNFAIL_TIMEOUT,   /* no answer at all */
    CONNFAIL_NO_ROUTE,  /* no way to the network or the host */
    CONNFAIL_LOCAL,     /* this machine can't try: firewall, descriptors, source address */
    CONNFAIL_NO_HELLO,  /* the master is there, and the port that introduces its key is not */
    CONNFAIL_SILENT,    /* the port connects and then says nothing */
    CONNFAIL_SALT,      /* ZMTP without encryption: a Salt master */
    CONNFAIL_FOREIGN,   /* not ZMTP, or another mechanism of it */
    CONNFAIL_PENDING,   /* the key waits for acceptance */
    CONNFAIL_REJECTED,  /* the welcome says so */
    CONNFAIL_BARRED,    /* the handshake is refused: rejected, or no room */
    CONNFAIL_DENIED,    /* the id has another key, or the key another id */
    CONNFAIL_DUPLICATE, /* two machines have one key */
    CONNFAIL_FULL,      /* too many keys wait */
    CONNFAIL_PROTOCOL,  /* incompatible protocol versions */
    CONNFAIL_STRANGER,  /* the master's key is not the one that is known */
    CONNFAIL_WHYS
} connfail_why_t;

typedef struct connfail_facts {
    connfail_why_t why;
    const char *host;
    int port;
    const char *id;     /* of the minion */
    const char *finger; /* of its key */
    const char *detail; /* ports with their errno, the resolver's or the master's words; NULL: none */
} connfail_facts_t;

/* NEW sentence, to stand behind "master HOST: ". */
char *connfail_sentence(const connfail_facts_t *facts);
/* The reason for the state in a master's `welcome`; CONNFAIL_DENIED for an unknown one. */
connfail_why_t connfail_of_welcome(const char *state);

/* Judges a probe of the ports (request, publish, hello). `asks`: the master's key is needed from the hello
 * port, so it must answer too. False: nothing is wrong. Else true, with `why` and `port` filled in and
 * *ret_detail NEW or NULL. */
bool connfail_of_knock(const knock_said_t *said, const int ports[KNOCK_PORTS], bool asks,
                       connfail_facts_t *facts, char **ret_detail);

/* When a reason is logged: at once when it differs from the last one, then less and less often. */
typedef struct connfail_log {
    char *last; /* owned */
    int64_t next_ms, pause_ms;
    rate_t changes; /* limits the log when two reasons alternate */
} connfail_log_t;
#define CONNFAIL_LOG_INIT ROW(.changes = RATE(1, 300))
/* True when `sentence` is to be logged now. */
bool connfail_log_due(connfail_log_t *self, const char *sentence, int64_t now_ms);
/* A connection was made: the next reason is new again. */
void connfail_log_reset(connfail_log_t *self);

#endif
