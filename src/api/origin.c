/* origin.c - see origin.h. */
#include "api/origin.h"

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
