/* reach.h - why a minion has no connection: from facts to one sentence, which says what to do about it.
 *
 * The rows are a table in reach.c; the log of salt-minion, the error of salt-call and whatever shows the
 * state of a connection have their words from it.
 *
 * Layer      minion; pure
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
    REACH_NAME,      /* the resolver's answer */
    REACH_RESOLVER,  /* it gives none */
    REACH_NOTHING,   /* no port takes a connection: refused */
    REACH_TIMEOUT,   /* no answer at all */
    REACH_NO_ROUTE,  /* no way to the network or the host */
    REACH_LOCAL,     /* this machine can't even try */
    REACH_NO_HELLO,  /* the master is there, and the port that introduces its key is not */
    REACH_SILENT,    /* connects, and then nothing comes */
    REACH_SALT,      /* ZMTP without encryption: a Salt master */
    REACH_FOREIGN,   /* not ZMTP, or another mechanism of it */
    REACH_PENDING,   /* the key waits */
    REACH_REJECTED,  /* the master said so */
    REACH_BARRED,    /* the handshake is refused: rejected, or no room */
    REACH_DENIED,    /* the id has another key, or the key another id */
    REACH_DUPLICATE, /* two machines have one key */
    REACH_FULL,      /* too many keys wait */
    REACH_PROTOCOL,  /* the versions of the two do not fit */
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

/* The sentence, to stand behind "master HOST: ". NEW */
char *reach_sentence(const reach_facts_t *facts);
/* The row for the state of a master's `welcome`; REACH_DENIED for one that is not known. */
reach_why_t reach_of_welcome(const char *state);

/* What a look at the ports (request, publish, hello) means. `asks`: the master's key is wanted from the
 * last of them. False: nothing is wrong with them. Fills `why` and `port`; *ret_detail NEW, or NULL. */
bool reach_of_knock(const knock_said_t *said, const int ports[KNOCK_PORTS], bool asks, reach_facts_t *facts,
                    char **ret_detail);

/* When a reason is told: at once when it is another one than before, then less and less often. */
typedef struct reach_told {
    char *last; /* owned */
    int64_t next_ms, pause_ms;
    rate_t changes; /* two reasons in turn are not told for ever */
} reach_told_t;
#define REACH_TOLD_INIT ROW(.changes = RATE(1, 300))
bool reach_tells(reach_told_t *self, const char *sentence, int64_t now_ms);
/* There is a connection: the next reason is news. */
void reach_over(reach_told_t *self);

#endif
