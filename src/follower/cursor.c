/* cursor.c - the follower's file: {"seq", "seen"?, "at", "failed"?}: how far it has come, for itself and for
 * who asks the master. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "follower/follow.h"

enum { CURSOR_FILE_MAX = 64 * 1024 };

static char *
cursor_path(const char *dir, const char *name, const char *ending)
{
    return xasprintf("%s/%s.%s", dir, name, ending);
}

int
cursor_lock(const char *dir, const char *name, fail_t *err)
{
    AUTO_FREE char *path = cursor_path(dir, name, "lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return fs_fail(err, -errno, "open", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int rc = fail_set(err, -errno, "another process follows: %s is locked: %s", path, strerror(errno));
    (void) close(fd);
    return rc;
}

int
cursor_read(const char *dir, const char *name, cursor_t *ret, fail_t *err)
{
    AUTO_FREE char *path = cursor_path(dir, name, "json");
    buf_auto_t text = BUF_INIT;
    int rc = fs_read_any(path, CURSOR_FILE_MAX, &text, err);

    if (rc <= 0)
        return rc;
    json_auto_t *kept = value_parse(buf_str(&text), text.len, CURSOR_FILE_MAX, path, err);
    if (kept == NULL)
        return -EBADMSG;
    *ret = (cursor_t){ (uint64_t) value_int(kept, "seq", 0), (uint64_t) value_int(kept, "seen", 0) };
    return 1;
}

int
cursor_write(const char *dir, const char *name, const cursor_t *at, const char *failed, bool durable,
             fail_t *err)
{
    AUTO_FREE char *path = cursor_path(dir, name, "json");
    json_t *seen = at->seen > at->seq ? json_integer((json_int_t) at->seen) : NULL;
    json_auto_t *kept = json_pack("{s:I, s:o*, s:I, s:s*}", "seq", (json_int_t) at->seq, "seen", seen, "at",
                                  (json_int_t) (clock_wall_us() / 1000000), "failed", failed);
    AUTO_FREE char *text = value_dump(kept);

    return durable ? fs_write_atomic(path, text, strlen(text), 0600, err)
                   : fs_write_quick(path, text, strlen(text), 0600, err);
}
