/* resp.c - see resp.h. The protocol of Redis, RESP2, over a socket of its own: no library is needed. Commands
 * are queued and sent together, as a round trip for each would be most of the time. */
#include "plugins/lib/database/resp.h"

#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/limits.h"

enum { RESP_DEPTH = 8, RESP_LINE = 64 * 1024, RESP_CHUNK = 64 * 1024 };

struct resp {
    int fd;
    bool bad;
    int answer_s;
    buf_t out, in;
    size_t waiting; /* commands in `out`, */
    size_t sent;    /* of which so many bytes are on their way */
};

/* ---- replies ------------------------------------------------------------------------------------------- */

/* The end of the line that begins at the reply's type, past its CRLF; 0: not whole yet. A line that goes on
 * for too long is no line of Redis, and memory would grow with it. */
static size_t
resp_line(const char *bytes, size_t len, fail_t *err)
{
    const char *cr = memchr(bytes, '\r', len < RESP_LINE ? len : RESP_LINE);

    if (cr == NULL && len >= RESP_LINE)
        (void) fail_set(err, -EPROTO, "Redis: a line of more than %d bytes", RESP_LINE);
    if (cr == NULL || (size_t) (cr - bytes) + 2 > len)
        return 0;
    if (cr == bytes || cr[1] != '\n')
        (void) fail_set(err, -EPROTO, "Redis: a line without its %s", cr == bytes ? "type" : "end");
    return (size_t) (cr - bytes) + 2;
}

static int parse_nested(const char *bytes, size_t len, int depth, size_t *ret_used, json_t **ret_value,
                        fail_t *err);

/* "$5\r\nhello\r\n": the length tells where it ends, so that any bytes may be in it. More than an answer may
 * hold is refused at its head, before it has come. */
static int
parse_bulk(const char *bytes, size_t len, size_t head, long long n, size_t *ret_used, json_t **ret_value,
           fail_t *err)
{
    if (n > LIMIT_CMD_OUTPUT)
        return fail_set(err, -EFBIG, "Redis: a value of %lld bytes, more than %d", n, LIMIT_CMD_OUTPUT);
    size_t size = (size_t) n;
    if (len - head < size + 2)
        return 0;
    if (memcmp(bytes + head + size, "\r\n", 2) != 0)
        return fail_set(err, -EPROTO, "Redis: a value without its end");
    *ret_value = value_utf8(bytes + head, size);
    *ret_used = head + size + 2;
    return 1;
}

/* "*2\r\n" and its elements. Not whole yet: all of it is read again when more has come, as the answers here
 * are short. */
static int
parse_array(const char *bytes, size_t len, size_t head, long long n, int depth, size_t *ret_used,
            json_t **ret_value, fail_t *err)
{
    json_auto_t *list = json_array();
    size_t at = head;

    for (long long i = 0; i < n; i++) {
        size_t used = 0;
        json_t *one = NULL;
        int rc = parse_nested(bytes + at, len - at, depth + 1, &used, &one, err);
        if (rc <= 0)
            return rc;
        json_array_append_new(list, one);
        at += used;
    }
    *ret_value = json_incref(list);
    *ret_used = at;
    return 1;
}

/* 1 with the value and the bytes that it takes, 0 when more must come, or negative. A refusal of the
 * server's, "-ERR ...", is {"error": text}. "$-1" and "*-1" are null. Depth is bounded, as each array calls
 * this again. */
static int
parse_nested(const char *bytes, size_t len, int depth, size_t *ret_used, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    size_t head = resp_line(bytes, len, &why);
    long long n = 0;

    if (why.code < 0 || depth > RESP_DEPTH)
        return fail_set(err, -EPROTO, "%s",
                        why.code < 0 ? fail_text(&why) : "Redis: a reply nested too deep");
    if (head == 0)
        return 0;
    AUTO_FREE char *text = xstrndup(bytes + 1, head - 3);
    *ret_used = head;
    if (*bytes == '+' || *bytes == '-') {
        json_t *said = value_utf8(text, strlen(text));
        *ret_value = *bytes == '+' ? said : json_pack("{s:o}", "error", said);
        return 1;
    }
    if (strchr(":$*", *bytes) == NULL || !str_to_int(text, LLONG_MIN, LLONG_MAX, &n))
        return fail_set(err, -EPROTO, "Redis: what came is no reply");
    if (*bytes != ':' && n < 0) {
        *ret_value = json_null();
        return 1;
    }
    if (*bytes == ':') {
        *ret_value = json_integer(n);
        return 1;
    }
    return *bytes == '$' ? parse_bulk(bytes, len, head, n, ret_used, ret_value, err)
                         : parse_array(bytes, len, head, n, depth, ret_used, ret_value, err);
}

int
resp_parse(const char *bytes, size_t len, size_t *ret_used, json_t **ret_value, fail_t *err)
{
    return len == 0 ? 0 : parse_nested(bytes, len, 0, ret_used, ret_value, err);
}

/* ---- the socket ---------------------------------------------------------------------------------------- */

/* Waits until the socket is ready: 0, -ETIMEDOUT or another negative errno. */
static int
resp_wait(int fd, short events, int64_t until_ms)
{
    for (;;) {
        struct pollfd one = { .fd = fd, .events = events };
        int64_t left_ms = until_ms - clock_mono_ms();
        int n = left_ms > 0 ? poll(&one, 1, (int) left_ms) : 0;
        if (n > 0 || (n < 0 && errno != EINTR))
            return n > 0 ? 0 : -errno;
        if (n == 0)
            return -ETIMEDOUT;
    }
}

/* A connected socket, or a negative errno. */
static int
resp_dial(int family, const struct sockaddr *address, socklen_t len, int64_t until_ms)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), code = 0;
    socklen_t code_len = sizeof(code);

    if (fd < 0)
        return -errno;
    int rc = connect(fd, address, len) == 0 ? 0 : -errno;
    if (rc == -EINPROGRESS)
        rc = resp_wait(fd, POLLOUT, until_ms);
    if (rc == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &code_len) == 0)
        rc = -code;
    if (rc == 0)
        return fd;
    (void) close(fd);
    return rc;
}

/* All addresses of the name in turn, within one time for all of them. */
static int
resp_dial_host(const char *host, int port, int64_t until_ms, fail_t *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    char service[16];
    int fd = -EHOSTUNREACH;

    (void) snprintf(service, sizeof(service), "%d", port);
    int code = getaddrinfo(host, service, &hints, &found);
    if (code != 0)
        return fail_kind(err, FAIL_COMMAND, -EHOSTUNREACH, "Redis: %s: %s", host, gai_strerror(code));
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = resp_dial(a->ai_family, a->ai_addr, a->ai_addrlen, until_ms);
    freeaddrinfo(found);
    return fd >= 0 ? fd
                   : fail_kind(err, FAIL_COMMAND, fd, "Redis: %s, port %d: %s", host, port, strerror(-fd));
}

/* Over the socket of a path when there is one, else over TCP. NULL with *err. */
resp_t *
resp_open(const char *host, int port, const char *path, fail_t *err)
{
    int64_t until_ms = clock_mono_ms() + LIMIT_SQL_CONNECT_S * 1000;
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (path != NULL && !str_copy(address.sun_path, sizeof(address.sun_path), path)) {
        (void) fail_kind(err, FAIL_INVOCATION, -ENAMETOOLONG, "Redis: the path of the socket is too long: %s",
                         path);
        return NULL;
    }
    int fd = path != NULL ? resp_dial(AF_UNIX, (const struct sockaddr *) &address, sizeof(address), until_ms)
                          : resp_dial_host(host, port, until_ms, err);
    if (fd < 0 && path != NULL)
        (void) fail_kind(err, FAIL_COMMAND, fd, "Redis: %s: %s", path, strerror(-fd));
    if (fd < 0)
        return NULL;
    resp_t *self = xcalloc(1, sizeof(*self));
    self->fd = fd;
    self->answer_s = LIMIT_SQL_STORE_S;
    return self;
}

void
resp_close(resp_t **self_p)
{
    resp_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    (void) close(self->fd);
    buf_free(&self->out);
    buf_free(&self->in);
    free(self);
}

/* After a failure the replies can't be told apart any more, so another connection is made. */
bool
resp_is_bad(const resp_t *self)
{
    return self->bad;
}

void
resp_patience(resp_t *self, int seconds)
{
    self->answer_s = seconds;
}

/* ---- commands ------------------------------------------------------------------------------------------ */

/* "*3\r\n": a hundred thousand a second, which printf has no time for. Written from its end, backwards. */
static void
resp_count(buf_t *out, char type, size_t n)
{
    char text[24], *at = text + sizeof(text);

    *--at = '\n';
    *--at = '\r';
    do
        *--at = (char) ('0' + n % 10);
    while ((n /= 10) > 0);
    *--at = type;
    buf_add(out, at, (size_t) (text + sizeof(text) - at));
}

static void
resp_word(buf_t *out, const char *word, size_t len)
{
    resp_count(out, '$', len);
    buf_add(out, word, len);
    buf_add(out, "\r\n", 2);
}

/* Counts the command whose words are there. The server begins while the rest is still being written. What goes
 * wrong, goes wrong again in resp_run(). */
static void
resp_queued(resp_t *self)
{
    self->waiting++;
    if (self->out.len - self->sent < RESP_CHUNK)
        return;
    ssize_t said = send(self->fd, self->out.data + self->sent, self->out.len - self->sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    self->sent += said > 0 ? (size_t) said : 0;
}

/* Words up to NULL are one command. It is only queued; resp_run() awaits the replies of all. */
void
resp_add(resp_t *self, const char *word, ...)
{
    va_list ap, again;
    size_t n = 1;

    va_start(ap, word);
    va_copy(again, ap);
    while (va_arg(ap, const char *) != NULL)
        n++;
    va_end(ap);
    resp_count(&self->out, '*', n);
    for (const char *one = word; one != NULL; one = va_arg(again, const char *))
        resp_word(&self->out, one, strlen(one));
    va_end(again);
    resp_queued(self);
}

void
resp_add_list(resp_t *self, const json_t *words)
{
    json_t *word;
    size_t i;

    resp_count(&self->out, '*', json_array_size(words));
    json_array_foreach (words, i, word)
        resp_word(&self->out, json_string_value(word), json_string_length(word));
    resp_queued(self);
}

/* Sends some of what waits, and reads what is there. 0 or a negative errno. Both ways in one turn: a server
 * whose replies nobody reads stops reading. */
static int
resp_turn(resp_t *self, int64_t until_ms)
{
    bool more = self->sent < self->out.len;
    int rc = resp_wait(self->fd, (short) (POLLIN | (more ? POLLOUT : 0)), until_ms);

    if (rc < 0)
        return rc;
    if (more) {
        ssize_t n = send(self->fd, self->out.data + self->sent, self->out.len - self->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        self->sent += n > 0 ? (size_t) n : 0;
    }
    buf_reserve(&self->in, RESP_CHUNK);
    ssize_t n = recv(self->fd, self->in.data + self->in.len, RESP_CHUNK, MSG_DONTWAIT);
    if (n == 0)
        return -ECONNRESET;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    self->in.len += (size_t) n;
    return self->in.len > LIMIT_CMD_OUTPUT ? -EFBIG : 0;
}

/* The replies to all commands so far, one for each, NEW; NULL with *err when the connection broke or one of
 * them was refused. The others have run all the same. */
json_t *
resp_run(resp_t *self, fail_t *err)
{
    int64_t until_ms = clock_mono_ms() + self->answer_s * INT64_C(1000);
    json_auto_t *replies = json_array();
    size_t at = 0;
    int rc = 0;

    while (rc >= 0 && json_array_size(replies) < self->waiting) {
        size_t used = 0;
        json_t *one = NULL;
        rc = at < self->in.len ? resp_parse(self->in.data + at, self->in.len - at, &used, &one, err) : 0;
        if (rc == 0) { /* what was read moves once, before more comes */
            buf_consume(&self->in, at);
            at = 0;
            rc = resp_turn(self, until_ms);
        }
        if (one == NULL)
            continue;
        at += used;
        if (value_get(one, "error") != NULL)
            (void) fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Redis: %s", value_str(one, "error", "refused"));
        json_array_append_new(replies, one);
    }
    buf_consume(&self->in, at);
    self->waiting = self->sent = 0;
    buf_clear(&self->out);
    self->bad = rc < 0;
    if (rc < 0)
        (void) fail_kind(err, FAIL_COMMAND, rc, "Redis: %s", strerror(-rc));
    return rc < 0 || (err != NULL && err->code < 0) ? NULL : STEAL(replies);
}
