/* http_int.h - private to lib/http: an answer as it came, and the texts of a request.
 *
 * Layer      plugins/lib/http
 * Threads    one
 * Tests      tests/t/7300-http.bats
 */
#ifndef PLUGINS_LIB_HTTP_HTTP_INT_H
#define PLUGINS_LIB_HTTP_HTTP_INT_H

#include "common/base/buf.h"
#include "plugins/lib/http/http.h"

typedef struct http_answer {
    int status;      /* 0: none came */
    char *reason;    /* owned: "Not Found" */
    char *trouble;   /* owned: why none came; NULL: one did */
    json_t *headers; /* owned: {"Content-Type": text} */
    buf_t body;
} http_answer_t;

/* http_request.c: *ret holds what came, or why nothing did; negative with *err for a wrong call, and
 * without libcurl. */
int http_send(call_ctx_t *ctx, const json_t *args, http_answer_t *ret, fail_t *err);
void http_answer_free(http_answer_t *self);
#define http_answer_auto_t __attribute__((cleanup(http_answer_free))) http_answer_t
/* Path of the CA bundle, or NULL. NEW. */
char *http_ca_bundle(json_t *opts);

/* http_text.c */
/* Add "a=1&b=x+y" of an object; the text itself of a text. */
void http_form(const json_t *data, buf_t *out);
/* A path as part of an address: bytes other than letters, digits and `plain` become %XX. NEW. */
#define HTTP_PATH_PLAIN "-._~!$&'()*+,;=:@/" /* RFC 3986, 3.3 */
char *http_quoted(const char *path, const char *plain);
/* Refuse "a/../b", which would be another path than the one that a rule has looked at. `whose`: the server.
 * 0 or -EINVAL. */
int http_check_path(const char *path, const char *whose, fail_t *err);
/* The first line and the fields of the last answer among those in `text` (each redirect has one). */
void http_parse_headers(const char *text, http_answer_t *into);

#endif
