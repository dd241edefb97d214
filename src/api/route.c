/* route.c - see route.h. */
#include "api/route.h"

#include "api/api.h"
#include "common/base/str.h"

#define NO_PERMISSION  "No permission -- see authorization schemes"
#define NO_CREDENTIALS "No authentication credentials given"

/* Longer paths precede those that they lie below. */
static const route_t routes[] = {
    { .path = "", .get = root_get, .post = low_post, .post_auth = ROUTE_SESSION, .denied = NO_PERMISSION },
    { .path = "/login", .get = login_get, .post = login_post, .sessions = true },
    { .path = "/logout",
      .post = logout_post,
      .post_auth = ROUTE_SESSION,
      .denied = NO_PERMISSION,
      .sessions = true },
    { .path = "/token", .get = root_get, .post = token_post },
    { .path = "/run", .get = root_get, .post = run_post },
    { .path = "/minions",
      .deep = true,
      .get = minions_get,
      .post = minions_post,
      .get_auth = ROUTE_SESSION,
      .post_auth = ROUTE_SESSION,
      .denied = NO_PERMISSION,
      .sessions = true },
    { .path = "/jobs",
      .deep = true,
      .get = joblist_get,
      .post = low_post,
      .get_auth = ROUTE_SESSION,
      .post_auth = ROUTE_SESSION,
      .denied = NO_PERMISSION,
      .sessions = true },
    { .path = "/keys",
      .deep = true,
      .get = keys_get,
      .post = keys_post,
      .get_auth = ROUTE_SESSION,
      .denied = NO_CREDENTIALS },
    { .path = "/events", .get = events_get, .get_auth = ROUTE_OWN, .denied = NO_PERMISSION, .cookies = true },
    { .path = "/ws",
      .deep = true,
      .get = ws_get,
      .html = true,
      .get_auth = ROUTE_OWN,
      .denied = NO_PERMISSION,
      .cookies = true },
    { .path = "/hook",
      .deep = true,
      .post = hook_post,
      .post_auth = ROUTE_SESSION,
      .open_by = "webhook_disable_auth",
      .denied = NO_PERMISSION,
      .html = true,
      .setting = "webhook_url" },
    { .path = "/stats",
      .get = stats_get,
      .get_auth = ROUTE_SESSION,
      .open_by = "stats_disable_auth",
      .denied = NO_PERMISSION },
    { .path = "/metrics",
      .get = metrics_get,
      .get_auth = ROUTE_SESSION,
      .open_by = "metrics_disable_auth",
      .denied = NO_PERMISSION,
      .html = true },
    { .path = "/health", .get = health_get, .html = true },
    { .path = "/ready", .get = ready_get, .html = true },
    { .path = "/favicon.ico", .get = favicon_get, .html = true },
    { .path = "/static", .deep = true, .get = static_get, .html = true, .setting = "static_path" },
    { .path = "/app", .deep = true, .get = app_get, .html = true, .setting = "app_path" },
};

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
    if (route->get == app_get)
        return *settings_str(api->set, "app") != '\0';
    if (route->get == static_get)
        return *settings_str(api->set, "static") != '\0';
    return route->get != favicon_get || *settings_str(api->set, "favicon") != '\0';
}

const route_t *
route_find(const api_t *api, const char *path, const char **ret_rest)
{
    for (size_t i = 0; i < NELEMS(routes); i++) {
        const char *own = route_path(api, &routes[i]);
        size_t len = strlen(own);
        if (!str_starts(path, own) || !route_is_there(api, &routes[i]))
            continue;
        if (path[len] != '\0' && (!routes[i].deep || path[len] != '/'))
            continue;
        *ret_rest = path + len + (path[len] == '/' ? 1 : 0);
        return &routes[i];
    }
    return NULL;
}

const route_t *
route_app(const api_t *api)
{
    for (size_t i = 0; i < NELEMS(routes); i++)
        if (routes[i].get == app_get)
            return route_is_there(api, &routes[i]) ? &routes[i] : NULL;
    return NULL;
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
