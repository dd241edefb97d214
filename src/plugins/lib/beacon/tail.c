/* tail.c - see tail.h. */
#include "plugins/lib/beacon/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "plugins/lib/beacon/watches.h"
#include "salt/limits.h"
#include "salt/value.h"

struct tail {
    char *path;
    watches_t *watches;
    bool more, moved;
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
    return self->more ? 0 : watches_again_ms(self->watches);
}

static void
tail_event(void *cookie, const watch_event_t *event)
{
    tail_t *self = cookie;
    self->moved |= (event->mask & IN_MOVE_SELF) != 0;
}

int
tail_read(tail_t *self, json_t *context, buf_t *out, fail_t *err)
{
    json_t *place = value_get(context, "tail");
    int64_t at = value_int(place, "at", 0);
    struct stat st;
    if (watches_read(self->watches, tail_event, self, err) < 0)
        return err->code;
    self->more = false;
    if (self->moved)
        watches_again(self->watches, 0);
    self->moved = false;
    AUTO_FD fd = open(self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "open", self->path);
    if (fstat(fd, &st) != 0)
        return fs_fail(err, -errno, "stat", self->path);

    /* Another file has the name now, or it was cut: all of it is new. */
    bool same = (int64_t) st.st_ino == value_int(place, "ino", 0) &&
                (int64_t) st.st_dev == value_int(place, "dev", 0);
    if (!same || st.st_size < at)
        at = 0;
    buf_reserve(out, LIMIT_BEACON_READ);
    ssize_t n = pread(fd, out->data + out->len, LIMIT_BEACON_READ, at);
    if (n < 0)
        return fs_fail(err, -errno, "read", self->path);
    out->len += (size_t) n;
    self->more = n == LIMIT_BEACON_READ;
    tail_keep(context, &st, at + n);
    return 0;
}

void
tail_unread(tail_t *self, json_t *context, size_t n)
{
    json_t *place = value_get(context, "tail");
    json_object_set_new(place, "at", json_integer(value_int(place, "at", 0) - (json_int_t) n));
}
