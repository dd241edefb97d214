/* httpreturn.h - returners that post each return or event to a web server: what differs is a table
 * (httpshape_t).
 *
 * Layer      plugins/lib/returner
 * Threads    one per context
 * Errors     -EBADMSG when the server refuses the post for what it is, -EIO when no answer comes or it is
 *            another failure; the address is told without what follows its host, as hooks are secrets
 * Tests      tests/t/5340-webhooks.bats
 */
#ifndef PLUGINS_LIB_RETURNER_HTTPRETURN_H
#define PLUGINS_LIB_RETURNER_HTTPRETURN_H

#include "common/base/buf.h"
#include "plugins/lib/returner/retopts.h"

/* One request. Zeroed before it is filled; freed by who sends it. */
typedef struct httppost {
    char *url;          /* owned */
    char *header;       /* owned: one line more for the header, such as "Authorization: ..."; NULL: none */
    const char *type;   /* of the body */
    buf_t body;         /* owned */
    bool insecure;      /* any certificate will do */
    const char *answer; /* the text that the answer must be; NULL: any with a status of success */
} httppost_t;

typedef struct httpshape {
    const char *name; /* of the options */
    const retopt_t *options;
    size_t n_options;
    /* Fill the request for a return, or for an event {tag, data}. 1: nothing is to be sent for it. */
    int (*ret)(call_ctx_t *ctx, const json_t *opts, const json_t *ret, httppost_t *post, fail_t *err);
    int (*event)(call_ctx_t *ctx, const json_t *opts, const json_t *event, httppost_t *post, fail_t *err);
    /* For what was published for a job, {jid, load}. */
    int (*load)(call_ctx_t *ctx, const json_t *opts, const json_t *job, httppost_t *post, fail_t *err);
} httpshape_t;

int http_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int http_save_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int http_event_return(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

/* "https://host/a/b" and "c" as urllib.parse.urljoin joins them, for a whole address, a path with "/" before
 * it, or a name. NEW. */
char *httpreturn_join(const char *base, const char *more);
/* Adds "payload=" and the value as JSON, for a form. */
void httpreturn_form(const json_t *payload, httppost_t *post);

#endif
