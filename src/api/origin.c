/* origin.c - see origin.h. */
#include "api/origin.h"

#include <microhttpd.h>
#include <strings.h>

#include "api/api.h"
#include "common/base/str.h"
#include "salt/value.h"

bool
origin_admitted(const request_t *request, const char *origin)
{
    const json_t *list = value_get(request->api->set->rest, "cors_origin");
    const char *host = request_header(request, "Host"), *site = strstr(origin, "://");

    if (value_lists(list, origin) || value_lists(list, "*"))
        return true;
    return host != NULL && site != NULL && strcasecmp(site + 3, host) == 0;
}

void
origin_preflight(request_t *request)
{
    const char *origin = request_header(request, "Origin");
    struct MHD_Response *response = MHD_create_response_from_buffer(0, (void *) "", MHD_RESPMEM_PERSISTENT);

    if (origin != NULL && origin_admitted(request, origin)) {
        (void) MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST");
        (void) MHD_add_response_header(response, "Access-Control-Allow-Headers",
                                       "Content-Type, X-Auth-Token, X-Requested-With");
        (void) MHD_add_response_header(response, "Access-Control-Max-Age", "1400");
    }
    reply_response(request, MHD_HTTP_OK, &response);
}
