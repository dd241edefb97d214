/* access.c - see access.h. */
#include "api/access.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "salt/log.h"
#include "salt/value.h"

struct access {
    char *path;
    int fd; /* -1: none */
};

access_t *
access_new(const char *path, fail_t *err)
{
    access_t *self = xcalloc(1, sizeof(*self));

    self->path = xstrdup(path);
    self->fd = *path != '\0' ? fs_open_log(path, 0) : -1;
    if (*path == '\0' || self->fd >= 0)
        return self;
    fail_set(err, self->fd, "rest_cherrypy: log_access_file %s: %s", path, strerror(-self->fd));
    self->fd = -1;
    access_destroy(&self);
    return NULL;
}

void
access_destroy(access_t **self_p)
{
    access_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->fd >= 0)
        (void) close(self->fd);
    free(self->path);
    free(self);
}

void
access_reopen(access_t *self)
{
    if (self->fd < 0)
        return;
    int fd = fs_open_log(self->path, 0);
    if (fd < 0) {
        log_error("%s: %s", self->path, strerror(-fd));
        return;
    }
    (void) close(self->fd);
    self->fd = fd;
}

/* Whatever bytes a client sends, the line is written: a text cut within a character, too. NEW. */
static json_t *
access_text(const char *text)
{
    return text != NULL ? value_utf8(text, strlen(text)) : json_string("");
}

void
access_write(access_t *self, const request_t *request, int64_t took_ms)
{
    char stamp[CLOCK_STAMP_LEN];
    /* The first functions that the request asks for, as "local test.ping, runner jobs.active". */
    buf_auto_t out = BUF_INIT;
    const json_t *chunk = request->data;

    for (size_t i = 0; i < 8; i++) {
        const json_t *one = json_is_array(chunk) ? json_array_get(chunk, i) : i == 0 ? chunk : NULL;
        const char *client = value_str(one, "client", ""), *fun = value_str(one, "fun", "");
        if (one == NULL)
            break;
        if (*client != '\0' || *fun != '\0')
            buf_printf(&out, "%s%.40s %.80s", out.len > 0 ? ", " : "", client, fun);
    }
    AUTO_FREE char *funs = buf_steal(&out);

    if (self->fd < 0 && !log_wants(LEVEL_INFO))
        return;
    clock_stamp(stamp, clock_wall_us());
    /* A session's id may stand in a path: /ws/ID. */
    const char *path = request->path == NULL || *request->path == '\0' ? "/" : request->path;
    path = strncmp(path, "/ws/", 4) == 0 ? "/ws" : path;
    json_auto_t *line = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:i, s:I, s:o}", "at", stamp, "address", request->address, "user",
        access_text(request->user), "method", access_text(request->method), "path", access_text(path),
        "status", (int) request->status, "ms", (json_int_t) took_ms, "asks", access_text(funs));
    AUTO_FREE char *text = json_dumps(line, JSON_COMPACT);
    if (text == NULL)
        return;
    if (self->fd < 0) {
        log_info("%s", text);
        return;
    }
    AUTO_FREE char *whole = xasprintf("%s\n", text);
    (void) fs_write_all(self->fd, whole, strlen(whole));
}
