/* tail.c - see tail.h. */
#include "plugins/lib/beacon/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/beacon/watches.h"
#include "salt/limits.h"
#include "salt/value.h"

enum {
    MARK = 64,       /* bytes by which a file is known again that was cut and has grown since */
    LEFT_MS = 60000, /* for which a file that lost its name is held, while its writer may still have it */
    LEFT_LOOK_MS = 500,
};

struct tail {
    char *path;
    watches_t *watches;
    int fd; /* -1: none is open */
    bool more, moved;
    bool last;       /* what was read is all there will be of this file */
    int64_t left_ms; /* monotonic: the file has lost its name, and is held until then; 0: it has its name */
    char mark[MARK]; /* the end of what was read: n_mark bytes at mark_at */
    size_t n_mark;
    int64_t mark_at;
};

/* Remembers the place: which file it is, and how far it was read. */
static void
tail_keep(json_t *context, const struct stat *st, int64_t at)
{
    json_object_set_new(context, "tail",
                        json_pack("{s:I, s:I, s:I}", "dev", (json_int_t) st->st_dev, "ino",
                                  (json_int_t) st->st_ino, "at", (json_int_t) at));
}

tail_t *
tail_new(const char *path, json_t *context, fail_t *err)
{
    struct stat st = { 0 };
    watches_t *watches = watches_new(err);
    if (watches == NULL)
        return NULL;
    tail_t *self = xcalloc(1, sizeof(*self));
    self->fd = -1;
    self->path = xstrdup(path);
    self->watches = watches;
    const watch_spec_t spec = { .path = path, .mask = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF };
    watches_add(watches, &spec);
    if (value_get(context, "tail") == NULL) {
        if (stat(path, &st) != 0)
            st.st_size = 0;
        tail_keep(context, &st, st.st_size);
    }
    return self;
}

void
tail_destroy(tail_t **self_p)
{
    tail_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    watches_destroy(&self->watches);
    if (self->fd >= 0)
        (void) close(self->fd);
    free(self->path);
    free(self);
}

int
tail_fd(const tail_t *self)
{
    return watches_fd(self->watches);
}

int
tail_again_ms(const tail_t *self)
{
    int again_ms = self->more ? 0 : watches_again_ms(self->watches);
    return self->left_ms == 0 || (again_ms >= 0 && again_ms < LEFT_LOOK_MS) ? again_ms : LEFT_LOOK_MS;
}

static void
tail_event(void *cookie, const watch_event_t *event)
{
    tail_t *self = cookie;
    self->moved |= (event->mask & IN_MOVE_SELF) != 0;
}

static bool
tail_has_place(const struct stat *st, const json_t *place)
{
    return (int64_t) st->st_ino == value_int(place, "ino", 0) &&
           (int64_t) st->st_dev == value_int(place, "dev", 0);
}

/* Opens the file that was read last under the name that it has now, as a rotation adds something to it. -1:
 * it is not there. */
static int
tail_open_renamed(const tail_t *self, const json_t *place)
{
    const char *slash = strrchr(self->path, '/'), *base = slash != NULL ? slash + 1 : self->path;
    AUTO_FREE char *folder = slash != NULL ? xstrndup(self->path, (size_t) (slash - self->path) + 1)
                                           : xstrdup(".");
    fail_auto_t why = FAIL_INIT;
    char **names = NULL;
    int fd = -1;
    if (value_int(place, "ino", 0) == 0 || fs_names(folder, &names, &why) < 0)
        return -1;
    for (size_t i = 0; names[i] != NULL && fd < 0; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]);
        struct stat st;
        if (str_starts(names[i], base) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            tail_has_place(&st, place))
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    }
    strv_free(names);
    return fd;
}

/* Opens the file, or first the one that had its name when it was read last. 1: one is open; 0: there is none;
 * or negative. */
static int
tail_open(tail_t *self, json_t *context, fail_t *err)
{
    struct stat st;
    self->left_ms = 0;
    self->last = false;
    self->fd = open(self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (self->fd < 0)
        return fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "open", self->path);
    if (fstat(self->fd, &st) != 0)
        return fs_fail(err, -errno, "stat", self->path);
    if (tail_has_place(&st, value_get(context, "tail")))
        return 1;
    self->n_mark = 0;
    int old = tail_open_renamed(self, value_get(context, "tail"));
    if (old < 0) {
        tail_keep(context, &st, 0);
        return 1;
    }
    (void) close(self->fd);
    self->fd = old;
    return 1;
}

/* Looks whether the file still has its name. One that lost it is left when another has something to read
 * under the name, or after a while: until then its writer may not know. */
static void
tail_look_name(tail_t *self, const struct stat *st)
{
    struct stat named;
    int64_t now_ms = clock_mono_ms();
    bool there = stat(self->path, &named) == 0;
    if (there && named.st_ino == st->st_ino && named.st_dev == st->st_dev) {
        self->left_ms = 0;
        return;
    }
    if (self->left_ms == 0)
        self->left_ms = now_ms + LEFT_MS;
    self->last = (there && named.st_size > 0) || now_ms >= self->left_ms;
    self->more = self->last;
}

int
tail_read(tail_t *self, json_t *context, buf_t *out, fail_t *err)
{
    struct stat st;
    if (watches_read(self->watches, tail_event, self, err) < 0)
        return err->code;
    if (self->moved)
        watches_again(self->watches, 0);
    self->moved = false;
    self->more = false;
    if (self->last) { /* the next one has nothing of it */
        (void) close(self->fd);
        self->fd = -1;
        json_object_set_new(context, "tail", json_object());
    }
    int rc = self->fd < 0 ? tail_open(self, context, err) : 1;
    if (rc <= 0)
        return rc;
    if (fstat(self->fd, &st) != 0)
        return fs_fail(err, -errno, "stat", self->path);

    int64_t at = value_int(value_get(context, "tail"), "at", 0);
    /* A file that does not have any more what was read of it was cut. */
    char now[MARK];
    if (st.st_size < at ||
        (self->n_mark > 0 && (pread(self->fd, now, self->n_mark, self->mark_at) != (ssize_t) self->n_mark ||
                              memcmp(now, self->mark, self->n_mark) != 0)))
        at = 0;
    buf_reserve(out, LIMIT_BEACON_READ);
    const char *bytes = (const char *) out->data + out->len;
    ssize_t n = pread(self->fd, out->data + out->len, LIMIT_BEACON_READ, at);
    if (n < 0)
        return fs_fail(err, -errno, "read", self->path);
    out->len += (size_t) n;
    if (n > 0) {
        self->n_mark = n < MARK ? (size_t) n : MARK;
        self->mark_at = at + n - (int64_t) self->n_mark;
        memcpy(self->mark, bytes + n - self->n_mark, self->n_mark);
    }
    tail_keep(context, &st, at + n);
    if (n == LIMIT_BEACON_READ)
        self->more = true;
    else
        tail_look_name(self, &st);
    return 0;
}

bool
tail_is_last(const tail_t *self)
{
    return self->last;
}

void
tail_unread(tail_t *self, json_t *context, size_t n)
{
    json_t *place = value_get(context, "tail");
    self->last = self->last && n == 0;
    json_object_set_new(place, "at", json_integer(value_int(place, "at", 0) - (json_int_t) n));
}
