/* stream.c - GET /events: events as they happen, as server-sent events (WHATWG HTML, 9.2).
 *
 * A stream that has nothing to send is suspended: libmicrohttpd does not look at it until there are news. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/admit.h"
#include "api/http.h"
#include "api/hub.h"
#include "api/route.h"
#include "api/stream.h"
#include "common/base/str.h"

#define RETRY "retry: 400\n"
enum { BLOCK = 1024 };

typedef struct stream {
    listener_t listener;
    request_t *request; /* NULL: it has ended */
    size_t head;        /* bytes of RETRY that are sent */
    bool suspended;
} stream_t;

static stream_t *
stream_of(listener_t *listener)
{
    return (stream_t *) listener; /* its first member */
}

static void
stream_wake(stream_t *self)
{
    if (!self->suspended || self->request == NULL)
        return;
    self->suspended = false;
    MHD_resume_connection(self->request->link);
    http_due(self->request->api->http);
}

/* libmicrohttpd wants the next bytes. */
static ssize_t
stream_fill(void *cookie, uint64_t pos, char *room, size_t max)
{
    stream_t *self = cookie;
    size_t len, data;

    if (self->head < strlen(RETRY)) {
        len = strlen(RETRY) - self->head;
        len = len < max ? len : max;
        memcpy(room, &RETRY[self->head], len);
        self->head += len;
        return (ssize_t) len;
    }
    if (self->listener.hub == NULL || self->request == NULL)
        return MHD_CONTENT_READER_END_OF_STREAM;
    const char *text = hub_read(&self->listener, &len, &data);
    if (text == NULL) {
        self->suspended = true;
        MHD_suspend_connection(self->request->link);
        return 0;
    }
    len = len < max ? len : max;
    memcpy(room, text, len);
    hub_took(&self->listener, len);
    return (ssize_t) len;
}

/* The response is not used any more. */
static void
stream_free(void *cookie)
{
    stream_t *self = cookie;

    hub_leave(&self->listener);
    free(self);
}

/* The client has gone, or the connection ends: what is suspended has to be woken for that. */
static void
stream_gone(void *work)
{
    stream_t *self = work;

    hub_leave(&self->listener);
    stream_wake(self);
    self->request = NULL;
}

/* Before there is a response, the work is a stream of its own. */
static void
stream_dropped(void *work)
{
    stream_free(work);
}

static void
stream_news(listener_t *listener)
{
    stream_wake(stream_of(listener));
}

static void
stream_begun(listener_t *listener, bool lets)
{
    stream_t *self = stream_of(listener);
    request_t *request = self->request;

    request->work = NULL;
    request->drop = NULL;
    if (!lets) {
        reply_error(request, MHD_HTTP_UNAUTHORIZED, request->route->denied);
        stream_free(self);
        return;
    }
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, stream_fill,
                                                                      self, stream_free);
    if (response == NULL) {
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "No memory for a stream");
        stream_free(self);
        return;
    }
    (void) MHD_add_response_header(response, "Content-Type", "text/event-stream;charset=utf-8");
    (void) MHD_add_response_header(response, "Cache-Control", "no-cache");
    (void) MHD_add_response_header(response, "Connection", "close");     /* with the stream */
    (void) MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* for nginx in front */
    request->private_answer = false;
    request->work = self;
    request->drop = stream_gone;
    http_streams(request);
    reply_response(request, MHD_HTTP_OK, &response);
}

const char *
stream_token(request_t *request, const char *given)
{
    static const char *const names[] = { "token", "salt_token" };

    for (size_t i = 0; given == NULL && i < NELEMS(names); i++)
        given = request_query(request, names[i]);
    if (given == NULL)
        return admit_session(request, true) ? request->token : NULL;
    const session_t *session = session_find(request->api->sessions, given, api_now());
    free(request->user);
    request->user = session != NULL ? xstrdup(session->user) : NULL;
    request->token = xstrdup(session != NULL ? session->token : given);
    return request->token;
}

void
events_get(request_t *request)
{
    const char *token = stream_token(request, NULL);

    if (token == NULL) {
        reply_error(request, MHD_HTTP_UNAUTHORIZED, request->route->denied);
        return;
    }
    if (!settings_admits(request->api->set, request->user, request->address)) {
        reply_error(request, MHD_HTTP_FORBIDDEN, "Bad IP");
        return;
    }
    stream_t *self = xcalloc(1, sizeof(*self));
    self->listener.begun = stream_begun;
    self->listener.news = stream_news;
    self->request = request;
    request->work = self;
    request->drop = stream_dropped;
    if (hub_join(request->api->hubs, token, &self->listener))
        return;
    request->work = NULL;
    request->drop = NULL;
    free(self);
    reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                "Salt request timed out. The master is not responding.");
}
