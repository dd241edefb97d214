/* files_take.c - cp.push: a file that a minion sends goes to cachedir/minions/ID/files, if file_recv says so.
 *
 * The kernel keeps every step of the way inside that folder, links are not followed, and a file is there only
 * when all of it has come. */
#include "master/files_int.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

#define GRANT     4
#define MEGABYTE  (1024 * 1024)
#define NAME_KEEP 200

/* ---- the place ------------------------------------------------------------------------------- */

/* The folder `name` in `dir`, made if need be; never through a link. */
static int
s_enter(int dir, const char *name)
{
    struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
    if (mkdirat(dir, name, 0700) != 0 && errno != EEXIST)
        return -errno;
    long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
    return fd < 0 ? -errno : (int) fd;
}

static bool
s_is_plain(const char *part)
{
    return !str_eq(part, ".") && !str_eq(part, "..") && strlen(part) <= NAME_KEEP;
}

/* Opens the folder of the path and sets the name in it. */
static int
s_find_place(asking_t *a, const char *base)
{
    char **parts = str_split(a->path, "/", true);
    size_t n = strv_len(parts);
    int rc = n > 0 && n <= LIMIT_FILE_DEPTH ? 0 : -EINVAL;
    for (size_t i = 0; i < n; i++)
        rc = rc == 0 && !s_is_plain(parts[i]) ? -EINVAL : rc;
    int dir = rc == 0 ? open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rc == 0 && dir < 0)
        rc = -errno;
    for (size_t i = 0; rc == 0 && i + 1 < n; i++) {
        int next = s_enter(dir, parts[i]);
        (void) close(dir);
        dir = next;
        rc = next < 0 ? next : 0;
    }
    if (rc == 0) {
        a->folder = dir;
        a->name = xstrdup(parts[n - 1]);
    } else if (dir >= 0) {
        (void) close(dir);
    }
    strv_free(parts);
    return rc;
}

static int
s_check(const asking_t *a, json_t *opts, fail_t *err)
{
    json_int_t max = value_int(opts, "file_recv_max_size", 100);
    if (!value_bool(opts, "file_recv", false))
        return fail_set(err, -EACCES, "the master takes no files: file_recv is not set there");
    if (a->known_size < 0 || a->known_size > max * MEGABYTE)
        return fail_set(err, -EFBIG,
                        "the file is larger than the %lld megabytes of the master's file_recv_max_size",
                        (long long) max);
    return 0;
}

static int
s_open(asking_t *a, json_t *opts, fail_t *err)
{
    AUTO_FREE char *base = xasprintf("%s/minions/%s/files", value_str(opts, "cachedir", ""), a->id);
    int rc = s_check(a, opts, err);
    if (rc == 0)
        rc = fs_mkdirs(base, 0700, err);
    if (rc == 0)
        rc = s_find_place(a, base);
    if (rc == 0) {
        a->part = xasprintf(".%s.%llx.part", a->name, (unsigned long long) a->n);
        (void) unlinkat(a->folder, a->part, 0);
        a->taken = openat(a->folder, a->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        rc = a->taken < 0 ? -errno : 0;
    }
    return rc < 0 ? fail_set(err, rc, "'%s' can't be put there: %s", a->path, strerror(-rc)) : 0;
}

void
take_open(asking_t *self, json_t *opts, files_out_t ***out_tail)
{
    fail_auto_t err = FAIL_INIT;
    int rc = s_open(self, opts, &err);
    if (rc < 0) {
        asking_fail(self, false, rc, &err, out_tail);
        return;
    }
    self->at = 0;
    self->size = self->known_size;
    self->state = ASKING_TAKE;
    asking_put(out_tail, asking_message(self, MSG_file_info,
                                        json_pack("{s:I, s:i}", "size", (json_int_t) self->size, "credit",
                                                  LIMIT_FILE_CREDIT)));
}

void
take_free(asking_t *self)
{
    for (files_in_t *in; (in = self->in);) {
        self->in = in->next;
        free(in->tag);
        free(in);
    }
    if (self->part && self->folder >= 0)
        (void) unlinkat(self->folder, self->part, 0);
    if (self->taken >= 0)
        (void) close(self->taken);
    if (self->folder >= 0)
        (void) close(self->folder);
    free(self->name);
    free(self->part);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void
s_end(asking_t *a, const char *tag, files_out_t ***tail)
{
    fail_auto_t err = FAIL_INIT;
    char hex[TAG_HEX + 1];
    tag_end(a->tag, hex);
    int rc = a->at != a->size || !str_eq(hex, tag)
                 ? fail_set(&err, -EBADMSG, "'%s' did not arrive as it was sent", a->path)
                 : 0;
    if (rc == 0 && renameat(a->folder, a->part, a->folder, a->name) != 0)
        rc = fail_set(&err, -errno, "'%s' can't be put there: %s", a->path, strerror(errno));
    if (rc < 0) {
        asking_fail(a, true, rc, &err, tail);
        return;
    }
    free(STEAL(a->part));
    a->state = ASKING_DONE;
    asking_put(tail, asking_message(a, MSG_file_end, json_pack("{s:s}", "tag", hex)));
}

void
take_step(asking_t *self, files_out_t ***out_tail)
{
    const files_in_t *in = self->in;
    fail_auto_t err = FAIL_INIT;
    if (in->tag) {
        s_end(self, in->tag, out_tail);
        return;
    }
    int rc = in->at != self->at || (int64_t) in->n > self->size - self->at ? -EPROTO : 0;
    if (rc == 0)
        rc = fs_write_all(self->taken, in->bytes, in->n);
    if (rc < 0) {
        (void) fail_set(&err, rc, "'%s': %s", self->path, strerror(-rc));
        asking_fail(self, true, rc, &err, out_tail);
        return;
    }
    tag_add(self->tag, in->bytes, in->n);
    self->at += (int64_t) in->n;
    if (++self->unsaid < GRANT)
        return;
    self->told = self->unsaid;
    self->unsaid = 0;
    asking_put(out_tail, asking_message(self, MSG_file_got, json_pack("{s:i}", "credit", self->told)));
}
