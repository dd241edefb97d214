/* request.h - the handler of an operator's request: each row of requests.def has one, request_NAME, in the
 * file of the part that answers it. requests.c checks access, calls the handler and sends the reply.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/t/7000-runners.bats
 */
#ifndef MASTER_FRONT_REQUEST_H
#define MASTER_FRONT_REQUEST_H

#include "master/front/front.h"

/* Outcome of a request, for `answered`. */
typedef struct request_done {
    const json_t *request;
    const char *jid; /* of the reply; "": none */
    bool again;      /* a repeated request with the same note */
} request_done_t;

typedef struct request_row {
    /* NEW reply without "n" and "ok", or NULL with *err. NULL without *err: request_answer sends it later. */
    json_t *(*fn)(front_t *front, lconn_t *c, const json_t *request, fail_t *err);
    /* Handle the request as text, before it is parsed; only for administrators. True: it has been answered.
     * NULL member: never. */
    bool (*text)(front_t *front, lconn_t *c, const char *text, size_t len);
    /* Called after the reply is queued, so that what it sends follows the reply on the wire. */
    void (*answered)(front_t *front, lconn_t *c, const request_done_t *done);
    /* True when the reply waits for the commit of row_ticket. NULL member: never. */
    bool (*waits)(const json_t *request);
} request_row_t;

#define REQUEST(name, access, audit, doc) extern const request_row_t request_##name;
#include "salt/requests.def"
#undef REQUEST

/* NEW message for request number `n`. TAKES reply; NULL: made from *err. */
json_t *request_message(json_int_t n, json_t *reply, const fail_t *err);
/* Send it. TAKES reply; NULL: made from *err. A reply that is too large is replaced by an error. */
void request_answer(lconn_t *c, json_int_t n, json_t *reply, const fail_t *err);

#endif
