/* request.h - one HTTP request, from its head to its answer, as the handlers of routes see it.
 *
 * A handler either answers at once by one of the reply functions, or keeps work of its own in `work` and
 * answers later; `drop` ends that work when the client goes away.
 *
 * Layer      api
 * Threads    one
 * Ownership  a request belongs to http.c; handlers may use it until they have answered
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api/accept.h"
#include "api/session.h"
#include "common/base/buf.h"
#include "salt/base.h"

struct MHD_Connection;
struct MHD_Response;
typedef struct api api_t;
typedef struct route route_t;
typedef struct conn conn_t; /* http.c: a TCP connection */

typedef struct request {
    api_t *api;
    struct MHD_Connection *link;
    conn_t *conn;
    const route_t *route;
    const char *method;
    char *path;       /* owned: decoded, without root_prefix and without a slash at its end */
    const char *rest; /* what follows the route's path, without a slash in front; BORROWED from `path` */
    char address[64]; /* of the client */
    buf_t body;
    json_t *data;                 /* owned: the body as a value; NULL for none */
    char sid[SESSION_ID_LEN + 1]; /* the session that the request came with, "" for none, */
    char *user;                   /* and whose it is: owned */
    char *token;                  /* owned */
    bool private_answer;          /* made with a session's rights */
    char *new_cookie;             /* owned: Set-Cookie of the answer; NULL: none */
    char *new_token;              /* owned: X-Auth-Token of the answer; NULL: none */
    const char *challenge;        /* WWW-Authenticate of the answer; NULL: none */
    unsigned status;
    struct MHD_Response *response;      /* NULL: no answer yet */
    void (*wake)(struct request *self); /* the answer is there: http.c sends it */
    int64_t began_ms;
    size_t dropped; /* bytes of the body that came after the answer */
    bool begun, waits;
    bool early;               /* answered before the body has come */
    void *work;               /* of a handler that answers later */
    void (*drop)(void *work); /* NULL: there is no such work */
} request_t;

/* A header of the request, NULL when it has none. BORROWED. A name that stands twice gives the first. */
const char *request_header(const request_t *self, const char *name);
/* An argument of the query, NULL for none. BORROWED. */
const char *request_query(const request_t *self, const char *name);
const char *request_cookie(const request_t *self, const char *name);
typedef void request_each_fn(void *cookie, const char *name, const char *value);
void request_headers_each(const request_t *self, request_each_fn *fn, void *cookie);
void request_query_each(const request_t *self, request_each_fn *fn, void *cookie);

/* ---- answers: each request gets one; the first counts -------------------------------------------- */

/* `value` in the form that the client takes. TAKES *value_p. */
void reply_value(request_t *self, unsigned status, json_t **value_p);
/* {"return": [...]}. TAKES *list_p. */
void reply_return(request_t *self, json_t **list_p);
/* An error's text: JSON or YAML for clients that name them, else a page. */
void reply_error(request_t *self, unsigned status, const char *text);
/* The bytes of `body`, which is emptied. */
void reply_bytes(request_t *self, unsigned status, const char *type, buf_t *body);
/* A response that its caller has made. TAKES *response_p. */
void reply_response(request_t *self, unsigned status, struct MHD_Response **response_p);

#endif
