/* route.c - see route.h. */
#include "api/route.h"

#include "api/api.h"
#include "common/base/str.h"

static const char *
route_path(const api_t *api, const route_t *route)
{
    const char *own = route->setting != NULL ? settings_str(api->set, route->setting) : "";

    return *own == '/' ? own : route->path;
}

/* A route without what it serves does not exist. */
static bool
route_is_there(const api_t *api, const route_t *route)
{
    if (route->sessions && !settings_flag(api->set, "enable_sessions"))
        return false;
    return route->serves == NULL || settings_flag(api->set, route->serves) ||
           *settings_str(api->set, route->serves) != '\0';
}

const route_t *
route_find(const api_t *api, const char *path, const char **ret_rest)
{
    for (const route_t *row = api->routes; row->path != NULL; row++) {
        const char *own = route_path(api, row);
        size_t len = strlen(own);
        if (!str_starts(path, own) || !route_is_there(api, row))
            continue;
        if (path[len] != '\0' && (!row->deep || path[len] != '/'))
            continue;
        *ret_rest = path + len + (path[len] == '/' ? 1 : 0);
        return row;
    }
    return NULL;
}

static const route_t *
route_serving(const api_t *api, const char *setting)
{
    for (const route_t *row = api->routes; row->path != NULL; row++)
        if (row->serves != NULL && str_eq(row->serves, setting))
            return route_is_there(api, row) ? row : NULL;
    return NULL;
}

const route_t *
route_app(const api_t *api)
{
    return route_serving(api, "app");
}

const route_t *
route_page(const api_t *api)
{
    return route_app(api) == NULL ? route_serving(api, "page") : NULL;
}

const char *
route_allows(const route_t *self)
{
    if (self->get == NULL)
        return "POST";
    return self->post != NULL ? "GET, HEAD, POST" : "GET, HEAD";
}

handler_fn *
route_handler(const route_t *self, const char *method)
{
    if (str_eq(method, "GET") || str_eq(method, "HEAD"))
        return self->get;
    return str_eq(method, "POST") ? self->post : NULL;
}
