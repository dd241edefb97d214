/* refusal.c - see refusal.h. */
#include "api/refusal.h"

#include <microhttpd.h>

#include "common/base/str.h"

bool
refusal_is_denial(const char *text)
{
    return str_starts(text, "Authorization error occurred") ||
           str_starts(text, "Authentication failure of type") || strstr(text, "publisher_acl") != NULL;
}

static const struct {
    const char *part;
    unsigned status;
} busy[] = {
    { "wait for one of", MHD_HTTP_SERVICE_UNAVAILABLE },
    { "takes no more", MHD_HTTP_SERVICE_UNAVAILABLE },
    { "too many", MHD_HTTP_SERVICE_UNAVAILABLE },
    { "larger than", MHD_HTTP_CONTENT_TOO_LARGE },
};

unsigned
refusal_status(const char *text)
{
    for (size_t i = 0; i < NELEMS(busy); i++)
        if (strstr(text, busy[i].part) != NULL)
            return busy[i].status;
    return MHD_HTTP_BAD_REQUEST;
}
