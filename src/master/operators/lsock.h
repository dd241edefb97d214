/* lsock.h - the local socket. requests.c registers the handlers of requests here, so that this folder does
 * not depend on them.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats
 */
#ifndef MASTER_OPERATORS_LSOCK_H
#define MASTER_OPERATORS_LSOCK_H

#include "master/events/listen.h"
#include "master/front/front.h"

typedef struct lsock_server {
    void (*handle)(front_t *front, lconn_t *c, const json_t *request);
    /* Handle a request as text: true when it was handled and answered. */
    bool (*handle_text)(front_t *front, lconn_t *c, const char *text, size_t len);
    bool (*may_come)(front_t *front, const lconn_t *c); /* true when its user may make requests at all */
    listen_may_fn
        *shows; /* of events, to a connection that has become somebody; the cookie is the connection */
} lsock_server_t;

void lsock_serve(front_t *front, const lsock_server_t *server); /* BORROWED */

#endif
