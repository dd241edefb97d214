/* ws.c - GET /ws: events by WebSocket (RFC 6455). The client begins them with the text "websocket client
 * ready". With ?format_events they are jobs and minions as they are now (view.h).
 *
 * libmicrohttpd hands the socket over after its answer 101; under TLS that is an end of a pair of sockets. */
#include <microhttpd.h>
#include <strings.h>
#include <sys/socket.h>

#include "api/api.h"
#include "api/http.h"
#include "api/hub.h"
#include "api/origin.h"
#include "api/route.h"
#include "api/stream.h"
#include "api/wsframe.h"
#include "common/base/str.h"

#define READY "websocket client ready"
enum { CLOSE_GOING = 1001, CLOSE_PROTOCOL = 1002, CLOSE_LARGE = 1009, READ_MAX = 4096 };

typedef struct ws {
    listener_t listener;
    request_t *request;                       /* NULL: it has ended */
    char *accept;                             /* owned: Sec-WebSocket-Accept */
    struct MHD_UpgradeResponseHandle *handle; /* NULL: not handed over yet */
    watch_t watch;
    buf_t in, out;
    bool ready, writes;
    uint64_t seen[VIEW_PARTS]; /* of the view */
} ws_t;

static void
ws_free(ws_t *self)
{
    hub_leave(&self->listener);
    buf_free(&self->in);
    buf_free(&self->out);
    free(self->accept);
    free(self);
}

/* Gives the socket back, which ends the request. */
static void
ws_end(ws_t *self)
{
    api_t *api = self->request->api;
    struct MHD_UpgradeResponseHandle *handle = self->handle;

    self->request->work = NULL;
    self->request->drop = NULL;
    poller_remove(api->poller, &self->watch);
    ws_free(self);
    (void) MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
    http_due(api->http);
}

/* Sends what lies in `out`: 0; -EAGAIN: the client does not read now; another negative errno: it has gone. */
static int
ws_flush(ws_t *self)
{
    int rc = 0;

    while (self->out.len > 0) {
        ssize_t n = send(self->watch.fd, self->out.data, self->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            rc = errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
            break;
        }
        buf_consume(&self->out, (size_t) n);
    }
    bool more = self->out.len > 0;
    if (more != self->writes) {
        self->writes = more;
        (void) poller_change(self->request->api->poller, &self->watch, more ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
    if (!more)
        buf_free(&self->out);
    return rc;
}

static void
ws_close(ws_t *self, int code)
{
    wsframe_head(&self->out, WS_CLOSE, 2);
    buf_putc(&self->out, (char) (code >> 8));
    buf_putc(&self->out, (char) code);
    (void) ws_flush(self);
    ws_end(self);
}

/* Sends parts of the view that the client has not seen, one after the other. */
static int
ws_show(ws_t *self)
{
    int rc = 0;

    for (int part = 0; part < VIEW_PARTS && rc == 0 && self->ready; part++) {
        view_t *view = hub_view(&self->listener);
        if (view == NULL || self->seen[part] == view_number(view, part))
            continue;
        size_t len;
        const char *text = view_text(view, part, &len);
        self->seen[part] = view_number(view, part);
        wsframe_head(&self->out, WS_TEXT, len);
        buf_add(&self->out, text, len);
        rc = ws_flush(self);
    }
    return rc;
}

/* Sends events as long as the client reads. False: it has ended. */
static bool
ws_pump(ws_t *self)
{
    size_t len, data;
    const char *text;
    int rc = ws_flush(self);

    if (rc == 0 && self->listener.views)
        rc = ws_show(self);
    while (rc == 0 && self->ready && (text = hub_read(&self->listener, &len, &data)) != NULL) {
        wsframe_head(&self->out, WS_TEXT, len - data);
        buf_add(&self->out, text + data, len - data);
        hub_took(&self->listener, len);
        rc = ws_flush(self);
    }
    if (rc < 0 && rc != -EAGAIN) {
        ws_end(self);
        return false;
    }
    if (self->listener.hub == NULL && self->out.len == 0) {
        ws_close(self, CLOSE_GOING);
        return false;
    }
    return true;
}

/* Takes the frames that lie in `in`. False: it has ended. */
static bool
ws_take(ws_t *self)
{
    for (;;) {
        buf_auto_t message = BUF_INIT;
        wsop_t op;
        int rc = wsframe_take(&self->in, &op, &message);
        if (rc == 0)
            return true;
        if (rc < 0) {
            ws_close(self, rc == -EMSGSIZE ? CLOSE_LARGE : CLOSE_PROTOCOL);
            return false;
        }
        /* The client closes, pings, or says that it is ready for events; other texts have no meaning. */
        if (op == WS_CLOSE) {
            ws_close(self, 1000);
            return false;
        }
        if (op == WS_PING && self->out.len < READ_MAX) {
            wsframe_head(&self->out, WS_PONG, message.len);
            buf_add(&self->out, buf_str(&message), message.len);
        }
        if (op == WS_TEXT && str_eq(buf_str(&message), READY))
            self->ready = true;
        if (!ws_pump(self))
            return false;
    }
}

static void
ws_socket(void *cookie, uint32_t events)
{
    ws_t *self = cookie;
    char room[READ_MAX];

    if ((events & ~(uint32_t) EPOLLOUT) != 0) {
        ssize_t n = recv(self->watch.fd, room, sizeof(room), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            ws_end(self);
            return;
        }
        if (n > 0)
            buf_add(&self->in, room, (size_t) n);
        if (!ws_take(self))
            return;
    }
    if ((events & EPOLLOUT) != 0)
        (void) ws_pump(self);
}

/* The socket is ours. */
static void
ws_upgraded(void *cookie, struct MHD_Connection *link, void *context, const char *extra, size_t extra_len,
            MHD_socket fd, struct MHD_UpgradeResponseHandle *handle)
{
    ws_t *self = cookie;

    self->handle = handle;
    self->watch = (watch_t){ fd, ws_socket, self };
    if (poller_add(self->request->api->poller, &self->watch, EPOLLIN) != 0) {
        ws_end(self);
        return;
    }
    buf_add(&self->in, extra, extra_len);
    if (ws_take(self))
        (void) ws_pump(self);
}

static void
ws_news(listener_t *listener)
{
    ws_t *self = (ws_t *) listener; /* its first member */

    if (self->handle != NULL)
        (void) ws_pump(self);
}

/* The client has gone before the socket was handed over. */
static void
ws_dropped(void *work)
{
    ws_free(work);
}

static void
ws_begun(listener_t *listener, bool lets)
{
    ws_t *self = (ws_t *) listener;
    request_t *request = self->request;

    if (!lets) {
        request->work = NULL;
        request->drop = NULL;
        reply_error(request, MHD_HTTP_UNAUTHORIZED, request->route->denied);
        ws_free(self);
        return;
    }
    for (int part = 0; self->listener.views && part < VIEW_PARTS; part++)
        self->seen[part] = view_number(hub_view(listener), part);
    struct MHD_Response *response = MHD_create_response_for_upgrade(ws_upgraded, self);
    (void) MHD_add_response_header(response, "Upgrade", "websocket");
    (void) MHD_add_response_header(response, "Sec-WebSocket-Accept", self->accept);
    http_hands_over(request);
    reply_response(request, MHD_HTTP_SWITCHING_PROTOCOLS, &response);
}

/* request_each_fn: *cookie becomes true. */
static void
ws_argument(void *cookie, const char *name, const char *value)
{
    bool *views = cookie;

    *views = *views || str_eq(name, "format_events");
}

/* Pages of other sites may open a WebSocket with the cookie of this one: their Origin tells. */
void
ws_get(request_t *request)
{
    const char *token = stream_token(request, *request->rest != '\0' ? request->rest : NULL);
    /* A handshake, by RFC 6455, has these four; NULL: this is none. */
    const char *upgrade = request_header(request, "Upgrade"),
               *connection = request_header(request, "Connection"),
               *version = request_header(request, "Sec-WebSocket-Version"),
               *key = request_header(request, "Sec-WebSocket-Key");
    AUTO_FREE char *accept = upgrade == NULL || strcasecmp(upgrade, "websocket") != 0 || connection == NULL ||
                                     strcasestr(connection, "upgrade") == NULL || version == NULL ||
                                     !str_eq(version, "13") || key == NULL
                                 ? NULL
                                 : wsframe_accept(key);
    const char *origin = request_header(request, "Origin");

    if (origin != NULL && !origin_admitted(request, origin)) {
        reply_error(request, MHD_HTTP_FORBIDDEN, "Pages of this origin are not in cors_origin");
        return;
    }
    if (token == NULL) {
        reply_error(request, MHD_HTTP_UNAUTHORIZED, request->route->denied);
        return;
    }
    if (accept == NULL || !str_eq(request->method, "GET")) {
        reply_error(request, MHD_HTTP_BAD_REQUEST, "A WebSocket's handshake of version 13 is wanted");
        return;
    }
    if (!settings_admits(request->api->set, request->user, request->address)) {
        reply_error(request, MHD_HTTP_FORBIDDEN, "Bad IP");
        return;
    }
    ws_t *self = xcalloc(1, sizeof(*self));
    self->listener.begun = ws_begun;
    self->listener.news = ws_news;
    request_query_each(request, ws_argument, &self->listener.views);
    self->accept = STEAL(accept);
    self->request = request;
    request->work = self;
    request->drop = ws_dropped;
    if (hub_join(request->api->hubs, token, &self->listener))
        return;
    request->work = NULL;
    request->drop = NULL;
    ws_free(self);
    reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                "Salt request timed out. The master is not responding.");
}
