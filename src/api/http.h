/* http.h - the HTTP server: libmicrohttpd on our own poller, with TLS by GnuTLS, and its bounds.
 *
 * A connection has request_timeout seconds (30) for the head of a request and for a small body, so slow clients
 * and half requests leave. Each answer has HTTP_SEND_S to be read. Bodies of all requests together hold
 * HTTP_BODIES bytes at most; a body before whose head nobody has proved who he is, HTTP_OPEN_BODY.
 *
 * Layer      api; with reply.c and the files of streams the only user of libmicrohttpd
 * Threads    one
 * Errors     negative errno with what is wrong with port, certificate or key
 * Tests      tests/t/6300-api.bats, tests/t/6310-api-strict.bats
 */
#ifndef API_HTTP_H
#define API_HTTP_H

#include "api/api.h"
#include "api/request.h"

#define HTTP_REQUEST_S 30
#define HTTP_BODY_RATE (16 * 1024) /* bytes a second that a large body must arrive with */
#define HTTP_SEND_S    600
#define HTTP_POOL      8192 /* bytes of one connection for heads */
#define HTTP_BODIES    (64 * 1024 * 1024)
#define HTTP_OPEN_BODY (64 * 1024)
#define HTTP_DROPPED   (8 * 1024 * 1024) /* of a body that is read and dropped before the answer */

typedef struct http http_t;

http_t *http_new(api_t *api, fail_t *err); /* NEW; listens when it returns. NULL with *err */
void http_destroy(http_t **self_p);
/* Ends what takes too long. Once a second. */
void http_tick(http_t *self, int64_t now_ms);
/* Lets libmicrohttpd work when something is due; milliseconds until it wants to be called again, -1: whenever
 * a descriptor is ready. */
int http_turn(http_t *self);
/* A request that waited has its answer. */
void http_answered(request_t *request);
/* The connection carries a stream from now on, and may last. */
void http_streams(request_t *request);
/* The same of one whose descriptor is handed over to the request's work. */
void http_hands_over(request_t *request);
/* libmicrohttpd has work: a connection was resumed. */
void http_due(http_t *self);
size_t http_connections(const http_t *self);
/* Opens the access log (rest_cherrypy: log_access_file) anew and reads the certificate again, for connections
 * to come. */
void http_reload(http_t *self);

#endif
