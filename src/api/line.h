/* line.h - a connection to the master's local socket that never blocks: requests, and what comes back.
 *
 * The protocol is that of common/local/client.h. A line speaks for nobody until the master has answered its
 * request `become`; line_become sends it first.
 *
 * Layer      api
 * Threads    one
 * Ownership  a line belongs to its user, who may destroy it also from within a call
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_LINE_H
#define API_LINE_H

#include "api/poller.h"
#include "salt/base.h"

typedef struct line line_t;

/* Called with each message of the master: a reply, which has the "n" of its request, or a push. NULL: the line
 * is broken, and nothing more comes. `msg` is BORROWED. */
typedef void line_fn(void *cookie, const json_t *msg);

/* The master admits few connections of one system user before they are somebody's, few of each who has logged
 * in, and half of its places to all users together: further lines wait for their turn, in order. */
#define LINES_NEW 48  /* that have no answer yet */
#define LINES_WHO 48  /* of one who has logged in */
#define LINES     768 /* in all */

/* Connects, or waits for its turn: NEW, or NULL with *err. A line that can't connect later is broken. */
typedef struct line_host { /* kept by value */
    poller_t *poller;
    const char *sock_dir; /* BORROWED */
} line_host_t;
/* `who` tells users apart: a token, or a name; it is copied. */
line_t *line_new(line_host_t host, const char *who, line_fn *fn, void *cookie, fail_t *err);
void line_destroy(line_t **self_p);
/* Connects those whose turn it is. In each turn of the loop. */
void lines_turn(void);
/* When no line is left. */
void lines_end(void);
/* Sends a request; its reply has the number that is returned. TAKES *request_p. */
json_int_t line_ask(line_t *self, json_t **request_p);
#endif
