/* route.h - the table of routes: a path, its methods, who may ask, and what answers.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/request.h"

typedef void handler_fn(request_t *request);

typedef enum route_auth {
    ROUTE_OPEN,    /* anybody */
    ROUTE_SESSION, /* a session's id in the header X-Auth-Token; to read events, in the cookie too */
    ROUTE_OWN,     /* the handler looks itself */
} route_auth_t;

struct route {
    const char *path;
    bool deep; /* also for paths below it */
    handler_fn *get, *post;
    route_auth_t get_auth, post_auth;
    const char *open_by; /* a flag of rest_cherrypy that lets anybody ask; NULL: none */
    const char *denied;  /* the text for who has no session */
    bool sessions;       /* not there without enable_sessions */
    bool cookies;        /* a session's cookie is enough */
    bool html;           /* stays what it is for browsers too, when there is an app */
    bool plain;          /* says nothing of methods */
    const char *serves;  /* the setting without which it is not there; NULL: none */
    const char *setting; /* the setting that names another path; NULL: none */
};

/* The rows, longer paths before those that they lie below; the last one has no path. */
extern const route_t route_table[], route_table_metrics[]; /* of the API, and of option metrics_port */

/* The route of a path, and in *ret_rest what follows it; NULL: none. */
const route_t *route_find(const api_t *api, const char *path, const char **ret_rest);
/* The route of option `app`, for browsers; NULL when the option is not set. */
const route_t *route_app(const api_t *api);
/* The route of our own page, for browsers at "/"; NULL when there is an app, or option `page` says no. */
const route_t *route_page(const api_t *api);
/* "GET, HEAD, POST" as far as the route has them. BORROWED. */
const char *route_allows(const route_t *self);
/* The handler of a method, NULL: it has none. HEAD is as GET. */
handler_fn *route_handler(const route_t *self, const char *method);

/* The handlers, each in the file of its name. */
handler_fn root_get, low_post, login_get, login_post, logout_post, token_post, run_post, minions_get,
    minions_post, joblist_get, keys_get, keys_post, events_get, ws_get, hook_post, stats_get, app_get,
    static_get, page_get, metrics_get, health_get, ready_get, favicon_get;

#endif
