/* request.h - the handler of an operator's request: each row of requests.def has one, request_NAME, in the
 * file of the part that answers it. requests.c checks who asks, calls it, and answers.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/t/7000-runners.bats
 */
#ifndef MASTER_FRONT_REQUEST_H
#define MASTER_FRONT_REQUEST_H

#include "master/front/front.h"

/* What a request came to. */
typedef struct request_done {
    const json_t *request;
    const char *jid; /* of the reply; "": none */
    bool again;      /* it had been asked for before, with the same note */
} request_done_t;

typedef struct request_row {
    /* NEW reply without "n" and "ok", or NULL with *err. NULL without: it comes later, by request_answer. */
    json_t *(*fn)(front_t *front, lconn_t *c, const json_t *request, fail_t *err);
    /* The request as text, of root or the master's user, before it is read as a tree: true when it is
     * answered. NULL: never. */
    bool (*text)(front_t *front, lconn_t *c, const char *text, size_t len);
    /* What follows a reply comes after it on the wire. NULL: nothing. */
    void (*answered)(front_t *front, lconn_t *c, const request_done_t *done);
    /* Whether the reply waits for the commit of row_ticket. NULL: never. */
    bool (*waits)(const json_t *request);
} request_row_t;

#define REQUEST(name, access, audit, doc) extern const request_row_t request_##name;
#include "salt/requests.def"
#undef REQUEST

/* NEW message to `n`, the number of a request. TAKES reply; NULL: *err. */
json_t *request_message(json_int_t n, json_t *reply, const fail_t *err);
/* It is sent: TAKES reply; NULL: *err. One that is too large for a message is an error. */
void request_answer(lconn_t *c, json_int_t n, json_t *reply, const fail_t *err);

#endif
