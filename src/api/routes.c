/* routes.c - the table of routes. */
#include "api/route.h"

#define NO_PERMISSION  "No permission -- see authorization schemes"
#define NO_CREDENTIALS "No authentication credentials given"

#define METRICS_ROUTES                                                                                       \
    { .path = "/metrics",                                                                                    \
      .get = metrics_get,                                                                                    \
      .get_auth = ROUTE_SESSION,                                                                             \
      .open_by = "metrics_disable_auth",                                                                     \
      .denied = NO_PERMISSION,                                                                               \
      .html = true },                                                                                        \
        { .path = "/health", .get = health_get, .html = true },                                              \
        { .path = "/ready", .get = ready_get, .html = true },

/* Longer paths precede those that they lie below. */
const route_t route_table[] = {
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
    METRICS_ROUTES{ .path = "/favicon.ico", .get = favicon_get, .serves = "favicon", .html = true },
    { .path = "/static",
      .deep = true,
      .get = static_get,
      .serves = "static",
      .html = true,
      .plain = true,
      .setting = "static_path" },
    { .path = "/page",
      .deep = true,
      .get = page_get,
      .serves = "page",
      .html = true,
      .plain = true,
      .sessions = true },
    { .path = "/app", .deep = true, .get = app_get, .serves = "app", .html = true, .setting = "app_path" },
    { .path = NULL },
};

const route_t route_table_metrics[] = {
    METRICS_ROUTES{ .path = NULL },
};
