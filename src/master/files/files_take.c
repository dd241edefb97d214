/* files_take.c - cp.push: store a file that a minion sends under cachedir/minions/ID/files, if file_recv
 * allows it.
 *
 * The path is resolved beneath that folder by the kernel, without following links. A file grows in
 * cachedir/minions/.parts, a name that no id can have, and is renamed into place when it is complete and its
 * tag is right. */
#include "master/files/files_int.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define PARTS     "minions/.parts"
#define GRANT     4
#define MEGABYTE  (1024 * 1024)
#define NAME_KEEP 200

/* ---- the place ------------------------------------------------------------------------------- */

/* Open cachedir/minions/ID/files and the path's folder in it; sets a->folder and a->name. Folders are made.
 * 0, or a negative errno. */
static int
files_take_find_place(asking_t *a, const char *cachedir)
{
    AUTO_FREE char *below = str_replace(a->path, "//", "/");
    AUTO_FREE char *place = xasprintf("minions/%s/files/%s", a->id, below);
    const char *name;
    AUTO_FD base = open(cachedir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = base < 0 ? -errno : beneath_check(below);
    if (rc == 0)
        rc = beneath_parent(base, place, BENEATH_NO_LINKS, 0700, &name);
    if (rc >= 0 && strlen(name) > NAME_KEEP) {
        (void) close(rc);
        rc = -ENAMETOOLONG;
    }
    if (rc < 0)
        return rc;
    a->folder = rc;
    a->name = xstrdup(name);
    return 0;
}

/* file_recv and file_recv_max_size (megabytes), as in Salt. */
static int
files_take_check(const asking_t *a, json_t *opts, fail_t *err)
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

/* The part's name is our serial: a minion and a salt-call on its host may push the same file, and both number
 * from one. */
static int
files_take_open_part(asking_t *a, const char *cachedir)
{
    AUTO_FREE char *parts = fs_join(cachedir, PARTS);
    int rc = fs_mkdirs(parts, 0700, NULL);
    if (rc < 0)
        return rc;
    a->part = xasprintf("%s/%llx", parts, (unsigned long long) a->serial);
    (void) unlink(a->part); /* take_begin emptied the cachedir of the start alone */
    a->taken = open(a->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return a->taken < 0 ? -errno : 0;
}

static int
files_take_open(asking_t *a, json_t *opts, fail_t *err)
{
    const char *cachedir = value_str(opts, "cachedir", "");
    int rc = files_take_check(a, opts, err);
    if (rc == 0)
        rc = files_take_find_place(a, cachedir);
    if (rc == 0)
        rc = files_take_open_part(a, cachedir);
    return rc < 0 ? fail_set(err, rc, "'%s' can't be put there: %s", a->path, strerror(-rc)) : 0;
}

void
take_open(asking_t *self, json_t *opts, files_out_t ***out_tail)
{
    fail_auto_t err = FAIL_INIT;
    int rc = files_take_open(self, opts, &err);
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

/* Unfinished pushes of an earlier process can't be resumed. */
void
take_begin(const json_t *opts)
{
    AUTO_FREE char *parts = fs_join(value_str(opts, "cachedir", ""), PARTS);
    fail_auto_t err = FAIL_INIT;
    if (fs_remove_tree(parts, &err) < 0)
        log_warning("what pushes left that a master's end cut off: %s", fail_text(&err));
}

/* Also frees chunks that were not written. */
void
take_free(asking_t *self)
{
    for (files_in_t *in; (in = self->in);) {
        self->in = in->next;
        free(in->tag);
        free(in);
    }
    if (self->part != NULL && self->taken >= 0)
        (void) unlink(self->part);
    if (self->taken >= 0)
        (void) close(self->taken);
    if (self->folder >= 0)
        (void) close(self->folder);
    free(self->name);
    free(self->part);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Write one chunk, which must continue where the last ended; grant more for every GRANT chunks. */
void
take_step(asking_t *self, files_out_t ***out_tail)
{
    const files_in_t *in = self->in;
    fail_auto_t err = FAIL_INIT;
    if (in->tag != NULL) {
        /* Compare size and tag, then rename into place. */
        fail_auto_t why = FAIL_INIT;
        char hex[TAG_HEX + 1];
        tag_end(self->tag, hex);
        int code = self->at != self->size || !str_eq(hex, in->tag)
                       ? fail_set(&why, -EBADMSG, "'%s' did not arrive as it was sent", self->path)
                       : 0;
        if (code == 0 && renameat(AT_FDCWD, self->part, self->folder, self->name) != 0)
            code = fail_set(&why, -errno, "'%s' can't be put there: %s", self->path, strerror(errno));
        if (code < 0) {
            asking_fail(self, true, code, &why, out_tail);
            return;
        }
        free(STEAL(self->part));
        self->state = ASKING_DONE;
        asking_put(out_tail, asking_message(self, MSG_file_end, json_pack("{s:s}", "tag", hex)));

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
    if (++self->to_grant < GRANT)
        return;
    self->regranted = self->to_grant;
    self->to_grant = 0;
    asking_put(out_tail, asking_message(self, MSG_file_got, json_pack("{s:i}", "credit", self->regranted)));
}
