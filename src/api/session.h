/* session.h - who has logged in: ids of sessions, as clients send them, to tokens of the master.
 *
 * The table is in memory alone: after a restart clients log in again.
 *
 * Layer      api
 * Threads    one
 * Ownership  sessions belong to the table; pointers are BORROWED until the next call that changes it
 * Tests      tests/unit/api/test_api_parts.c
 */
#ifndef API_SESSION_H
#define API_SESSION_H

#include "salt/base.h"

#define SESSION_ID_LEN 40    /* hexadecimal digits of 20 random bytes */
#define SESSION_IDLE_S 36000 /* without a request, after which a session ends */
#define SESSIONS_MAX   50000 /* then the one that is idle for longest ends */

typedef struct session {
    char id[SESSION_ID_LEN + 1];
    char *token; /* the master's */
    char *user, *eauth;
    double expire; /* seconds since the epoch */
    double used;
} session_t;

typedef struct sessions sessions_t;

sessions_t *sessions_new(void);
void sessions_destroy(sessions_t **self_p);
/* A session for what the request `login` answered: {token, user, eauth, expire}. `now` in seconds since the
 * epoch. */
session_t *session_begin(sessions_t *self, const json_t *login, double now);
/* The session with this id, which is used by that; NULL: none, or it is over. */
session_t *session_find(sessions_t *self, const char *id, double now);
/* Ends it; nothing happens when there is none. */
void session_leave(sessions_t *self, const char *id);
/* Ends those whose time is over. */
void sessions_sweep(sessions_t *self, double now);
size_t sessions_count(const sessions_t *self);

#endif
