/* request.c - see request.h: what the head of a request holds. */
#include "api/request.h"

#include <microhttpd.h>

const char *
request_header(const request_t *self, const char *name)
{
    return MHD_lookup_connection_value(self->link, MHD_HEADER_KIND, name);
}

const char *
request_query(const request_t *self, const char *name)
{
    return MHD_lookup_connection_value(self->link, MHD_GET_ARGUMENT_KIND, name);
}

const char *
request_cookie(const request_t *self, const char *name)
{
    return MHD_lookup_connection_value(self->link, MHD_COOKIE_KIND, name);
}

typedef struct each {
    request_each_fn *fn;
    void *cookie;
} each_t;

static enum MHD_Result
call_each(void *cookie, enum MHD_ValueKind kind, const char *name, const char *value)
{
    each_t *each = cookie;

    each->fn(each->cookie, name, value != NULL ? value : "");
    return MHD_YES;
}

void
request_headers_each(const request_t *self, request_each_fn *fn, void *cookie)
{
    each_t each = { fn, cookie };

    (void) MHD_get_connection_values(self->link, MHD_HEADER_KIND, call_each, &each);
}

void
request_query_each(const request_t *self, request_each_fn *fn, void *cookie)
{
    each_t each = { fn, cookie };

    (void) MHD_get_connection_values(self->link, MHD_GET_ARGUMENT_KIND, call_each, &each);
}
