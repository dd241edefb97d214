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

/* Connects at once or fails: NEW, or NULL with *err; -EAGAIN: the master is there and takes no more now. */
line_t *line_new(poller_t *poller, const char *sock_dir, line_fn *fn, void *cookie, fail_t *err);
void line_destroy(line_t **self_p);
/* Sends a request; its reply has the number that is returned. TAKES *request_p. */
json_int_t line_ask(line_t *self, json_t **request_p);
/* The next user of a line that is kept. */
void line_hand_over(line_t *self, line_fn *fn, void *cookie);

#endif
