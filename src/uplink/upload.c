/* upload.c - a list of which the first is under way.
 *
 *   file_open (op put) ->  <- file_info (credit)  file_part ... ->  <- file_got (credit)  file_done (tag) ->
 *   <- file_end
 * The numbers start at FIRST_N, so that one message handler can tell uploads from downloads. After a lost
 * connection the upload starts over; the file is kept open, so it is the same file.
 */
#include "uplink/upload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/crypto/tag.h"
#include "salt/limits.h"
#include "salt/value.h"

#define IDLE_MS 60000
#define FIRST_N ((json_int_t) 1 << 32) /* above any download's number */

typedef struct upload {
    struct upload *next;
    json_int_t id, n;
    json_t *ask; /* owned */
    bool asked, running;
    int fd;
    int64_t at, size;
    int credit;
    tag_t *tag;
    int64_t until_ms; /* monotonic */
} upload_t;

struct uploads {
    download_host_t host;
    upload_t *all; /* the first is under way */
    json_int_t next_n;
    bool ready;
};

static void
upload_free(upload_t *u)
{
    if (u->fd >= 0)
        (void) close(u->fd);
    tag_destroy(&u->tag);
    json_decref(u->ask);
    free(u);
}

/* Removes the upload from the list, answers it and frees it. `answer` is consumed. */
static void
upload_finish(uploads_t *self, upload_t *u, json_t *answer)
{
    json_auto_t *held = answer;
    upload_t **at = &self->all;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    self->host.done(self->host.cookie, u->id, held);
    upload_free(u);
}

/* Fails an upload; `code`: negative errno. The master is told when it expects more. */
static void
upload_fail(uploads_t *self, upload_t *u, int code, const char *text)
{
    json_auto_t *words = value_utf8(text, strlen(text)), *stop = json_pack("{s:I}", "n", u->n);
    if (self->ready && u->asked)
        (void) self->host.send(self->host.cookie, MSG_file_stop, stop, NULL, 0);
    upload_finish(self, u, json_pack("{s:b, s:O, s:i}", "ok", false, "error", words, "code", -code));
}

/* Asks the master to accept the first upload of the list, unless it was asked. O_NONBLOCK: a FIFO must not
 * block the process before fstat() refuses it. */
static void
upload_begin(uploads_t *self)
{
    upload_t *u = self->all;
    char key[TAG_KEY_HEX + 1];
    struct stat st;
    if (u == NULL || u->asked || !self->ready)
        return;
    if (u->fd < 0)
        u->fd = open(value_str(u->ask, "local", ""), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (u->fd < 0 || fstat(u->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        upload_fail(self, u, u->fd < 0 ? -errno : -EINVAL,
                    u->fd < 0 ? strerror(errno) : "it is not a regular file");
        return;
    }
    tag_key(key);
    tag_destroy(&u->tag);
    u->tag = tag_new(key);
    u->at = 0;
    u->size = st.st_size;
    u->n = FIRST_N + ++self->next_n;
    json_auto_t *body = json_pack("{s:I, s:s, s:s, s:I, s:s}", "n", u->n, "op", "put", "path",
                                  value_str(u->ask, "path", ""), "size", (json_int_t) u->size, "key", key);
    u->asked = self->host.send(self->host.cookie, MSG_file_open, body, NULL, 0) == 0;
}

/* Sends chunks while there is credit. A send that fails is not an error: the session reports the lost
 * connection. */
static void
send_parts(uploads_t *self, upload_t *u)
{
    AUTO_FREE char *piece = malloc(LIMIT_FILE_CHUNK);
    if (piece == NULL)
        salt_no_memory(LIMIT_FILE_CHUNK);
    while (u->running && u->credit > 0 && u->at < u->size) {
        int64_t left = u->size - u->at;
        ssize_t n = pread(u->fd, piece, left < LIMIT_FILE_CHUNK ? (size_t) left : LIMIT_FILE_CHUNK, u->at);
        if (n <= 0) {
            upload_fail(self, u, n < 0 ? -errno : -ESTALE,
                        n < 0 ? strerror(errno) : "it became shorter while it was read");
            return;
        }
        json_auto_t *body = json_pack("{s:I, s:I}", "n", u->n, "at", (json_int_t) u->at);
        if (self->host.send(self->host.cookie, MSG_file_part, body, piece, (size_t) n) < 0)
            return; /* the loss of the connection is told */
        tag_add(u->tag, piece, (size_t) n);
        u->at += n;
        u->credit--;
    }
    if (u->running && u->at == u->size) {
        /* Sends the tag of all bytes, by which the master verifies what it got. */
        char hex[TAG_HEX + 1];
        tag_end(u->tag, hex);
        json_auto_t *body = json_pack("{s:I, s:s}", "n", u->n, "tag", hex);
        u->running = false;
        (void) self->host.send(self->host.cookie, MSG_file_done, body, NULL, 0);
    }
}

void
uploads_message(uploads_t *self, wire_msg_t msg, const json_t *body)
{
    upload_t *u = self->all;
    json_int_t more = value_int(body, "credit", 0);
    if (u == NULL || !u->asked || u->n != value_int(body, "n", 0))
        return;
    u->until_ms = clock_mono_ms() + LIMIT_FILE_STALL;
    if (value_get(body, "error") != NULL) {
        json_int_t code = value_int(body, "code", EIO);
        u->asked = false; /* the master has ended it */
        upload_fail(self, u, code > 0 && code < 4096 ? -(int) code : -EIO, value_str(body, "error", ""));
    } else if (msg == MSG_file_end) {
        upload_finish(self, u, json_pack("{s:b, s:b}", "ok", true, "value", true));
    } else if (msg == MSG_file_info || msg == MSG_file_got) {
        u->running = u->running || msg == MSG_file_info;
        u->credit += more > 0 && more <= LIMIT_FILE_CREDIT ? (int) more : 0;
        send_parts(self, u);
    }
    upload_begin(self);
}

void
uploads_ask(uploads_t *self, json_int_t id, const json_t *ask)
{
    upload_t *u = xcalloc(1, sizeof(*u)), **end = &self->all;
    u->id = id;
    u->ask = json_deep_copy(ask);
    u->fd = -1;
    u->until_ms = clock_mono_ms() + LIMIT_FILE_STALL;
    while (*end)
        end = &(*end)->next;
    *end = u;
    upload_begin(self);
}

void
uploads_cancel(uploads_t *self, json_int_t id)
{
    for (upload_t **at = &self->all; *at; at = &(*at)->next) {
        upload_t *u = *at;
        if (u->id != id)
            continue;
        json_auto_t *stop = json_pack("{s:I}", "n", u->n);
        if (self->ready && u->asked)
            (void) self->host.send(self->host.cookie, MSG_file_stop, stop, NULL, 0);
        *at = u->next;
        upload_free(u);
        break;
    }
    upload_begin(self);
}

void
uploads_ready(uploads_t *self)
{
    self->ready = true;
    upload_begin(self);
}

void
uploads_lost(uploads_t *self)
{
    self->ready = false;
    for (upload_t *u = self->all; u; u = u->next) {
        u->asked = u->running = false;
        u->credit = 0;
    }
}

void
uploads_take(uploads_t *self, uploads_t *from)
{
    upload_t **end = &self->all;
    while (*end)
        end = &(*end)->next;
    *end = STEAL(from->all);
    for (upload_t *u = *end; u; u = u->next)
        u->until_ms = clock_mono_ms() + LIMIT_FILE_STALL;
    upload_begin(self);
}

int
uploads_step(uploads_t *self)
{
    int64_t now = clock_mono_ms(), next = now + IDLE_MS;
    upload_t *first = self->all;
    for (upload_t *u = first != NULL ? first->next : NULL; u; u = u->next)
        u->until_ms = now + LIMIT_FILE_STALL; /* waits for its turn */
    if (first != NULL && now >= first->until_ms)
        upload_fail(self, first, -ETIMEDOUT, "the master has not answered for a long time");
    else if (first != NULL && first->until_ms < next)
        next = first->until_ms;
    upload_begin(self);
    return (int) (next - now);
}

uploads_t *
uploads_new(const download_host_t *host)
{
    uploads_t *self = xcalloc(1, sizeof(*self));
    self->host = *host;
    return self;
}

void
uploads_destroy(uploads_t **self_p)
{
    uploads_t *self = STEAL(*self_p);
    while (self != NULL && self->all != NULL) {
        upload_t *u = self->all;
        self->all = u->next;
        upload_free(u);
    }
    free(self);
}
