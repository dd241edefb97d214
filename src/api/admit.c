/* admit.c - see admit.h. */
#include "api/admit.h"

#include <microhttpd.h>
#include <strings.h>

#include "api/api.h"
#include "api/cookie.h"
#include "api/http.h"
#include "api/origin.h"
#include "api/route.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "salt/value.h"

static void
admit_refuse(request_t *request, unsigned status, const char *text)
{
    /* A body that is too large to be read and dropped: the connection ends with the answer. */
    const char *length = request_header(request, "Content-Length");
    request->early = length != NULL ? strtoull(length, NULL, 10) > HTTP_DROPPED : false;
    reply_error(request, status, text);
}

bool
admit_session(request_t *request, bool cookies)
{
    const char *id = request_header(request, "X-Auth-Token");
    double now = api_now();

    if (id == NULL && cookies)
        id = request_cookie(request, COOKIE_NAME);
    const session_t *session = session_find(request->api->sessions, id, now);
    if (session == NULL)
        return false;
    (void) str_copy(request->sid, sizeof(request->sid), session->id);
    request->user = xstrdup(session->user);
    request->token = xstrdup(session->token);
    request->private_answer = true;
    request->new_cookie = cookie_of(request->api, session->id);
    return true;
}

static void
admit_count_length(void *cookie, const char *name, const char *value)
{
    int *n = cookie;
    bool coded = strcasecmp(name, "Transfer-Encoding") == 0;

    *n += coded || strcasecmp(name, "Content-Length") == 0;
    *n += coded && strcasecmp(value, "chunked") != 0;
}

static void
admit_count_odd(void *cookie, const char *name, const char *value)
{
    int *n = cookie;

    *n += !utf8_valid(name, strlen(name)) || !utf8_valid(value, strlen(value));
}

/* Pages of other sites can make a browser send a request without asking first, as a form does: those get no
 * answer that has an effect. */
static bool
is_foreign(const request_t *request)
{
    const char *origin = request_header(request, "Origin");

    return origin != NULL && !str_eq(request->method, "GET") && !str_eq(request->method, "HEAD") &&
           !origin_admitted(request, origin);
}

/* The request's session and its sender's address are checked against what the route asks for. */
static void
admit_check_user(request_t *request)
{
    const route_t *route = request->route;
    route_auth_t auth = str_eq(request->method, "POST") ? route->post_auth : route->get_auth;

    if (route->open_by != NULL && settings_flag(request->api->set, route->open_by))
        auth = ROUTE_OPEN;
    if (auth == ROUTE_SESSION && !admit_session(request, route->cookies)) {
        admit_refuse(request, MHD_HTTP_UNAUTHORIZED, route->denied);
        return;
    }
    if (!settings_admits(request->api->set, request->user, request->address))
        admit_refuse(request, MHD_HTTP_FORBIDDEN, "Bad IP");
}

/* A preflight: what pages of other sites may send. */
static void
admit_preflight(request_t *request)
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

void
admit_request(request_t *request)
{
    const char *accept = request_header(request, "Accept");
    bool reads = str_eq(request->method, "GET") || str_eq(request->method, "HEAD");
    const route_t *app = route_app(request->api), *page = route_page(request->api);

    request->route = request->path != NULL ? route_find(request->api, request->path, &request->rest) : NULL;
    /* Where several headers give the body's length, or one gives it in a form that isn't read here, a proxy
     * in front may see another request than we do. */
    int n = 0;
    request_headers_each(request, admit_count_length, &n);
    if (n > 1) {
        admit_refuse(request, MHD_HTTP_BAD_REQUEST, "How long the request is, is said twice or is not clear");
        request->early = true; /* which ends the connection */
        return;
    }
    /* A message to the master is UTF-8, so path and query are too. */
    int odd = 0;
    request_query_each(request, admit_count_odd, &odd);
    if (odd > 0 || (request->path != NULL && !utf8_valid(request->path, strlen(request->path)))) {
        admit_refuse(request, MHD_HTTP_BAD_REQUEST, "Path and query are wanted as UTF-8");
        return;
    }
    if (!settings_admits(request->api->set, NULL, request->address)) {
        admit_refuse(request, MHD_HTTP_FORBIDDEN, "Bad IP");
        return;
    }
    if (app != NULL && reads && (request->route == NULL || !request->route->html) &&
        accept_wants_html(accept)) {
        request->route = app;
        request->rest = "";
    } else if (page != NULL && reads && request->path != NULL && *request->path == '\0' &&
               accept_wants_html(accept)) {
        request->route = page;
        request->rest = "";
    }
    if (request->route == NULL) {
        AUTO_FREE char *text = xasprintf("The path '%s' was not found.",
                                         request->path != NULL ? request->path : "");
        admit_refuse(request, MHD_HTTP_NOT_FOUND, text);
    } else if (str_eq(request->method, "OPTIONS")) {
        admit_preflight(request);
    } else if (route_handler(request->route, request->method) == NULL) {
        admit_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, "Specified method is invalid for this resource");
    } else if (is_foreign(request)) {
        admit_refuse(request, MHD_HTTP_FORBIDDEN, "Pages of this origin are not in cors_origin");
    } else {
        admit_check_user(request);
        if (request->response == NULL) {
            const char *length = request_header(request, "Content-Length");
            size_t max = request->token != NULL || request->api->set->body_max < HTTP_OPEN_BODY
                             ? request->api->set->body_max
                             : HTTP_OPEN_BODY;

            if (length != NULL && strtoull(length, NULL, 10) > max)
                admit_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
                             "The body is larger than max_request_body_size");
        }
    }
}
