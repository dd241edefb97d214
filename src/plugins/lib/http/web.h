/* web.h - one transfer by libcurl, which is loaded when the first one begins: a process that fetches nothing
 * stays without it, and without the libraries that it needs in turn. All that fetches by http, https or ftp,
 * and all mail, goes through here.
 *
 * The setters remember the first setting that the library refuses, and web_run() then sends nothing: a
 * transfer without a limit that was asked for never happens.
 *
 * Layer      plugins/lib/http
 * Threads    any; one at a time per web_t
 * Ownership  texts are copied
 * Errors     no library: -ENOENT that names its package. What the server or the network does is data:
 *            `trouble`
 * Tests      tests/t/7300-http.bats, tests/t/4000-files.bats
 */
#ifndef PLUGINS_LIB_HTTP_WEB_H
#define PLUGINS_LIB_HTTP_WEB_H

#define CURL_DISABLE_DEPRECATION /* the options that older libraries know too */
#include <curl/curl.h>

#include "common/base/buf.h"
#include "salt/base.h"
#include "salt/value.h"

typedef struct web {
    CURL *easy;
    struct curl_slist *fields; /* of the request's header */
    struct curl_slist *to;     /* of a mail's envelope */
    curl_mime *form;
    CURLcode refused; /* the first setting that was */
    buf_t headers;    /* lines of all answers, those of redirects too */
    buf_t *body;      /* where the answer goes to: here, or into `fd`. BORROWED */
    int fd;
    int fd_errno;       /* why `fd` could not be written; 0: it could */
    uintmax_t limit, n; /* bytes of the answer: at most, and so far. 0: no limit */
    bool too_large;
    long status; /* of the last answer; 0: none came */
    char said[CURL_ERROR_SIZE];
    char *trouble; /* owned: why the transfer failed; NULL: it did not */
} web_t;

#define WEB_INIT   ROW(.fd = -1)
#define web_auto_t __attribute__((cleanup(web_close))) web_t

/* A new transfer; `schemes` are CURLPROTO_ bits, for redirects too. Answers go to `body`, which may be replaced
 * by `fd` afterwards. */
int web_open(web_t *self, long schemes, long redirects, buf_t *body, fail_t *err);
void web_text(web_t *self, CURLoption option, const char *value);
void web_number(web_t *self, CURLoption option, long value);
/* Seconds, with fractions. */
void web_seconds(web_t *self, CURLoption option, double value);
/* At most so many bytes of an answer. */
void web_limit(web_t *self, uintmax_t bytes);
/* A line of the header, as libcurl takes it: "Name: value"; "Name;" is an empty one, "Name:" none. */
void web_field(web_t *self, const char *line);
/* The body that is sent: these bytes, or as a file of a form. */
void web_send(web_t *self, const buf_t *data);
/* The body from an open file, which is BORROWED until web_close(), by POST. */
void web_send_file(web_t *self, FILE *file, intmax_t bytes);
void web_send_form(web_t *self, const char *field, const char *file, const buf_t *data);
/* A mail from an open file, which is BORROWED until web_close(): addresses of its envelope, without names.
 * One recipient that is refused is no failure while another one is taken. */
void web_send_mail(web_t *self, const char *from, const json_t *to, FILE *file, intmax_t bytes);
/* A proxy of http, but for the hosts in the list `without`; `user`, `password` and the list may be NULL. */
void web_proxy(web_t *self, const char *host, json_int_t port, const char *user, const char *password,
               const json_t *without);
/* Any certificate of the server will do. */
void web_insecure(web_t *self);
/* No proxy, whatever the environment says. */
void web_no_proxy(web_t *self);
/* Send it, and receive: 0 also when that fails, see `trouble`. */
int web_run(web_t *self, fail_t *err);
void web_close(web_t *self);

#endif
