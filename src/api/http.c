/* http.c - see http.h. libmicrohttpd calls http_take once with the head of a request, then with pieces of its
 * body, and at last with none. What is refused by the head alone is answered at once when a large body would
 * follow; a small one is read and dropped, so that the connection can be kept. */
#include "api/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/access.h"
#include "api/body.h"
#include "api/cert.h"
#include "api/admit.h"
#include "api/route.h"
#include "api/stats.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

enum { TURNS = 16, AGAIN = 3, HTTP_WAIT_MS = 1000 };

struct conn {
    conn_t *next, *prev;
    watch_t watch; /* tells that the client has gone while its request waits or streams */
    http_t *http;
    int64_t until_ms; /* then it ends; 0: never */
    request_t *request;
    bool watched, streams;
};

struct http {
    api_t *api;
    struct MHD_Daemon *daemon;
    watch_t watch;
    access_t *access;
    conn_t *conns; /* a ring's head is not needed: the list ends with NULL */
    size_t n_conns;
    size_t bodies;      /* bytes that all requests hold */
    int64_t request_ms; /* for a head and a small body */
    int again;          /* so often it is to be called in a row */
    bool due;           /* libmicrohttpd has work without a descriptor that is ready */
};

/* ---- connections ------------------------------------------------------------------------------- */

static int
conn_fd(struct MHD_Connection *link)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info != NULL ? info->connect_fd : -1;
}

/* The client has hung up: ends what its request waits for. Its answer, which nobody reads, ends the
 * connection. */
static void
conn_gone(void *cookie, uint32_t events)
{
    conn_t *self = cookie;
    request_t *request = self->request;

    poller_remove(self->http->api->poller, &self->watch);
    self->watched = false;
    (void) shutdown(self->watch.fd, SHUT_RDWR);
    self->http->due = true;
    if (request == NULL)
        return;
    if (request->drop != NULL)
        request->drop(STEAL(request->work));
    request->drop = NULL;
    if (request->response == NULL)
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "The client has gone");
}

static void
conn_unwatch(conn_t *self)
{
    if (self->watched)
        poller_remove(self->http->api->poller, &self->watch);
    self->watched = false;
}

static void
conn_look_for_end(conn_t *self, struct MHD_Connection *link)
{
    self->watch = (watch_t){ conn_fd(link), conn_gone, self };
    self->watched = self->watch.fd >= 0 && poller_add(self->http->api->poller, &self->watch, EPOLLRDHUP) == 0;
}

/* libmicrohttpd's notice that a connection begins or ends. Its entry lives as long as the connection, and so
 * over several requests. */
static void
conn_changes(void *cookie, struct MHD_Connection *link, void **context,
             enum MHD_ConnectionNotificationCode code)
{
    http_t *http = cookie;
    conn_t *self = *context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        self = xcalloc(1, sizeof(*self));
        self->http = http;
        self->until_ms = clock_mono_ms() + http->request_ms;
        self->watch.fd = conn_fd(link);
        self->next = http->conns;
        if (self->next != NULL)
            self->next->prev = self;
        http->conns = self;
        http->n_conns++;
        *context = self;
        return;
    }
    if (self == NULL)
        return;
    conn_unwatch(self);
    if (self->prev != NULL)
        self->prev->next = self->next;
    else
        http->conns = self->next;
    if (self->next != NULL)
        self->next->prev = self->prev;
    http->n_conns--;
    free(self);
    *context = NULL;
}

void
http_tick(http_t *self, int64_t now_ms)
{
    cert_tick(now_ms);
    for (conn_t *conn = self->conns; conn != NULL; conn = conn->next) {
        if (conn->until_ms == 0 || now_ms < conn->until_ms)
            continue;
        log_debug("a connection took too long and is closed");
        conn->until_ms = 0;
        (void) shutdown(conn->watch.fd, SHUT_RDWR);
        self->due = true;
    }
}

/* ---- requests ---------------------------------------------------------------------------------- */

/* The path behind root_prefix, without slashes at its end; NULL when it is not below the prefix. NEW. */
static char *
path_below_prefix(const api_t *api, const char *url)
{
    size_t len = strlen(api->set->prefix);

    if (!str_starts(url, api->set->prefix) || (url[len] != '/' && url[len] != '\0'))
        return NULL;
    char *path = xstrdup(url + len);
    for (len = strlen(path); len > 0 && path[len - 1] == '/'; len--)
        path[len - 1] = '\0';
    return path;
}

static request_t *
request_new(http_t *http, struct MHD_Connection *link, const char *url, const char *method)
{
    request_t *self = xcalloc(1, sizeof(*self));
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    self->api = http->api;
    self->link = link;
    self->wake = http_answered;
    self->conn = info != NULL ? info->socket_context : NULL;
    self->method = method;
    self->began_ms = clock_mono_ms();
    self->path = path_below_prefix(http->api, url);
    self->rest = "";
    /* The client's address as text, by which guesses and connections are counted. */
    const union MHD_ConnectionInfo *client = MHD_get_connection_info(link,
                                                                     MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *addr = client != NULL ? client->client_addr : NULL;
    socklen_t len = addr != NULL && addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                                : sizeof(struct sockaddr_in);

    self->address[0] = '\0';
    if (addr != NULL)
        (void) getnameinfo(addr, len, self->address, (socklen_t) sizeof(self->address), NULL, 0,
                           NI_NUMERICHOST);
    if (self->conn != NULL) {
        json_int_t bytes = 0;
        const char *length = request_header(self, "Content-Length");
        if (length != NULL)
            bytes = strtoll(length, NULL, 10);
        bytes = bytes < HTTP_BODIES ? bytes : HTTP_BODIES; /* a longer one is refused */
        self->conn->request = self;
        self->conn->until_ms = self->began_ms + http->request_ms + bytes * 1000 / HTTP_BODY_RATE;
    }
    return self;
}

/* Passwords and tokens are wiped, not only freed. A connection that stays gets a new deadline for its next
 * request. */
static void
request_free(http_t *http, request_t *self)
{
    if (self->drop != NULL)
        self->drop(STEAL(self->work));
    if (self->conn != NULL) {
        conn_unwatch(self->conn);
        self->conn->request = NULL;
        self->conn->streams = false;
        self->conn->until_ms = clock_mono_ms() + http->request_ms;
    }
    if (self->response != NULL)
        MHD_destroy_response(self->response);
    http->bodies -= self->body.cap;
    if (self->body.data != NULL)
        explicit_bzero(self->body.data, self->body.len); /* passwords come in bodies */
    buf_free(&self->body);
    json_decref(self->data);
    free(self->path);
    free(self->user);
    if (self->token != NULL)
        explicit_bzero(self->token, strlen(self->token));
    free(self->token);
    free(self->new_cookie);
    free(self->new_token);
    free(self);
}

/* The end of a request, whether it was answered or its client has gone: counted and logged in both cases. */
static void
http_completed(void *cookie, struct MHD_Connection *link, void **context,
               enum MHD_RequestTerminationCode code)
{
    http_t *http = cookie;
    request_t *request = STEAL(*context);

    if (request == NULL)
        return;
    stats_count(http->api->stats, request, clock_mono_ms());
    access_write(http->access, request, clock_mono_ms() - request->began_ms);
    request_free(http, request);
}

/* request->wake: an answer is there. A suspended connection is resumed, and the daemon run again, as it does
 * not notice by itself. */
void
http_answered(request_t *self)
{
    if (!self->waits)
        return;
    self->waits = false;
    MHD_resume_connection(self->link);
    self->api->http->due = true;
}

/* A connection that ends under TLS takes more than one call. */
void
http_due(http_t *self)
{
    self->due = true;
    self->again = AGAIN;
}

/* A stream has no deadline; its client's end is seen by the descriptor, as nothing is read from it. */
void
http_streams(request_t *self)
{
    if (self->conn == NULL)
        return;
    self->conn->until_ms = 0;
    self->conn->streams = true;
    if (!self->conn->watched)
        conn_look_for_end(self->conn, self->link);
}

/* After an upgrade the descriptor is the web socket's: neither deadline nor poller act on it here. */
void
http_hands_over(request_t *self)
{
    if (self->conn == NULL)
        return;
    conn_unwatch(self->conn);
    self->conn->until_ms = 0;
    self->conn->streams = true;
}

/* ---- one call of libmicrohttpd ----------------------------------------------------------------- */

static enum MHD_Result
http_queue(request_t *request)
{
    if (request->conn != NULL && !request->conn->streams)
        request->conn->until_ms = clock_mono_ms() + HTTP_SEND_S * 1000;
    return MHD_queue_response(request->link, request->status, request->response);
}

/* Adds a piece of the body. False: the connection ends. */
static bool
http_take_body(http_t *http, request_t *request, const char *bytes, size_t len)
{
    size_t max = request->token != NULL || http->api->set->body_max < HTTP_OPEN_BODY
                     ? http->api->set->body_max
                     : HTTP_OPEN_BODY;

    if (request->response != NULL)
        return (request->dropped += len) < HTTP_DROPPED;
    if (request->body.len + len > max) {
        reply_error(request, MHD_HTTP_CONTENT_TOO_LARGE, "The body is larger than max_request_body_size");
        return true;
    }
    size_t before = request->body.cap;
    if (http->bodies + len > HTTP_BODIES) {
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many large requests at one time");
        return true;
    }
    buf_add(&request->body, bytes, len);
    http->bodies += request->body.cap - before;
    return true;
}

/* The whole request is here. */
static void
http_handle(request_t *request)
{
    handler_fn *handler = route_handler(request->route, request->method);
    fail_auto_t err = FAIL_INIT;

    request->begun = true;
    if (str_eq(request->method, "POST")) {
        const char *bytes = buf_str(&request->body);
        int rc = body_parse(request_header(request, "Content-Type"), bytes, request->body.len, &request->data,
                            &err);
        if (rc < 0) {
            unsigned status = rc == -ENOTSUP ? MHD_HTTP_NOT_ACCEPTABLE
                              : rc == -E2BIG ? MHD_HTTP_CONTENT_TOO_LARGE
                                             : MHD_HTTP_BAD_REQUEST;
            reply_error(request, status, fail_text(&err));
            return;
        }
    }
    handler(request);
}

static enum MHD_Result
http_take(void *cookie, struct MHD_Connection *link, const char *url, const char *method, const char *version,
          const char *upload, size_t *upload_len, void **context)
{
    http_t *http = cookie;
    request_t *request = *context;

    if (request == NULL) {
        *context = request = request_new(http, link, url, method);
        admit_request(request);
        if (request->response != NULL && request->early)
            return http_queue(request);
        return MHD_YES;
    }
    if (*upload_len > 0) {
        /* A piece of the body: all of it is taken, so that *upload_len is 0, or the connection ends. */
        bool goes_on = http_take_body(http, request, upload, *upload_len);
        *upload_len = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    if (request->response == NULL && !request->begun) {
        if (request->conn != NULL)
            request->conn->until_ms = 0;
        http_handle(request);
    }
    if (request->response != NULL) {
        if (request->conn != NULL && !request->conn->streams)
            conn_unwatch(request->conn);
        return http_queue(request);
    }
    request->waits = true;
    if (request->conn != NULL)
        conn_look_for_end(request->conn, link);
    MHD_suspend_connection(link);
    return MHD_YES;
}

/* ---- the server --------------------------------------------------------------------------------- */

static void http_log(void *cookie, const char *format, va_list ap) PRINTF(2, 0);

static void
http_log(void *cookie, const char *format, va_list ap)
{
    AUTO_FREE char *text = xvasprintf(format, ap);

    log_debug("%s", str_trim(text));
}

static void
http_ready(void *cookie, uint32_t events)
{
    http_t *self = cookie;

    self->due = true;
}

/* Run the daemon while it has work, a bounded number of times, so that the poller's other descriptors have
 * their turn. The milliseconds until it wants to run again; -1: at an event. */
int
http_turn(http_t *self)
{
    for (int i = 0; i < TURNS; i++) {
        MHD_UNSIGNED_LONG_LONG wait = 0;
        bool timed = MHD_get_timeout(self->daemon, &wait) == MHD_YES;
        if (!self->due && !(timed && wait == 0))
            return timed ? (int) (wait > HTTP_WAIT_MS ? HTTP_WAIT_MS : wait) : -1;
        self->due = self->again > 0 && self->again-- > 0;
        (void) MHD_run(self->daemon);
    }
    return 0;
}

size_t
http_connections(const http_t *self)
{
    return self->n_conns;
}

/* An own socket instead of libmicrohttpd's: `host` may be a name or either family, and an error names the
 * address. */
static int
listen_at(const api_t *api, fail_t *err)
{
    const char *host = settings_str(api->set, "host");
    int port = (int) value_int(api->set->rest, "port", 0), yes = 1;
    const struct addrinfo hints = { .ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    AUTO_FREE char *service = xasprintf("%d", port);
    int rc = getaddrinfo(host, service, &hints, &found);

    if (rc != 0)
        return fail_set(err, -EINVAL, "rest_cherrypy: host %s: %s", host, gai_strerror(rc));
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = fd < 0 ? -errno : 0;
    if (rc == 0)
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (rc == 0 && (bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
                    listen(fd, (int) value_int(api->set->rest, "socket_queue_size", 128)) != 0))
        rc = -errno;
    freeaddrinfo(found);
    if (rc == 0)
        return fd;
    if (fd >= 0)
        (void) close(fd);
    return fail_set(err, rc, "rest_cherrypy: cannot listen on %s, port %d: %s", host, port, strerror(-rc));
}

static int
http_start(http_t *self, int fd, fail_t *err)
{
    const json_t *rest = self->api->set->rest;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG |
                     (self->api->set->tls ? MHD_USE_TLS : 0);
    /* Certificates come by a callback, so that a reload changes them without a restart. */
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_CERT_CALLBACK, 0, cert_callback() },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
        { MHD_OPTION_END, 0, NULL },
    };
    if (!self->api->set->tls)
        tls[0].option = MHD_OPTION_END;
    self->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, http_take, self, MHD_OPTION_EXTERNAL_LOGGER, http_log, self,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t) HTTP_POOL,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t) 1024, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned) value_int(rest, "connections", 0), MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned) value_int(rest, "connections_per_address", 0), MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, http_completed, self, MHD_OPTION_NOTIFY_CONNECTION, conn_changes, self,
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (self->daemon == NULL)
        return fail_set(err, -EINVAL, "the HTTP server cannot start");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    self->watch = (watch_t){ info->epoll_fd, http_ready, self };
    return poller_add(self->api->poller, &self->watch, EPOLLIN);
}

http_t *
http_new(api_t *api, fail_t *err)
{
    http_t *self = xcalloc(1, sizeof(*self));
    int fd = -1;

    self->api = api;
    self->request_ms = value_int(api->set->rest, "request_timeout", 0) * 1000;
    self->access = access_new(settings_str(api->set, "log_access_file"), err);
    int rc = self->access == NULL ? err->code : 0;
    if (rc == 0 && api->set->tls)
        rc = cert_load(api->set, err);
    if (rc == 0)
        rc = fd = listen_at(api, err);
    if (rc >= 0)
        rc = http_start(self, fd, err);
    if (rc >= 0)
        return self;
    if (fd >= 0 && self->daemon == NULL)
        (void) close(fd);
    http_destroy(&self);
    return NULL;
}

/* A log that was rotated is opened anew; a certificate that can't be read leaves the former one in force. */
void
http_reload(http_t *self)
{
    fail_auto_t err = FAIL_INIT;

    access_reopen(self->access);
    if (!self->api->set->tls)
        return;
    if (cert_load(self->api->set, &err) == 0)
        log_info("new connections get the certificate of %s", settings_str(self->api->set, "ssl_crt"));
    else
        log_error("%s. The certificate of before stays", fail_text(&err));
}

void
http_destroy(http_t **self_p)
{
    http_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->daemon != NULL) {
        poller_remove(self->api->poller, &self->watch);
        /* Nobody may be suspended when the daemon stops. */
        for (conn_t *conn = self->conns; conn != NULL; conn = conn->next)
            if (conn->request != NULL && conn->request->waits)
                reply_error(conn->request, MHD_HTTP_SERVICE_UNAVAILABLE, "salt-api ends");
        MHD_stop_daemon(self->daemon);
    }
    access_destroy(&self->access);
    if (self->api->set->tls)
        cert_end();
    free(self);
}
