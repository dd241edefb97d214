/* content.c - new content for a file, from memory or from another file: compares, shows the difference, puts
 * it in place. Comparison and copy work in pieces of 64 KiB; only differences load whole files, which
 * LIMIT_DIFF_FILE bounds. */
#include "plugins/lib/file/content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/data/diff.h"
#include "plugins/lib/file/fileops.h"

enum { PIECE = 64 * 1024, TEXT_PROBE = 512 };

/* ---- reading in pieces ----------------------------------------------------------------------- */

/* Source of bytes: an open file, or a range in memory when fd is -1. */
typedef struct reader {
    int fd; /* -1: the rest of `data` */
    const char *data;
    size_t left;
} reader_t;

static int
reader_open(reader_t *r, const content_t *from, fail_t *err)
{
    struct stat st;

    *r = (reader_t){ -1, from->data, from->len };
    if (from->path == NULL)
        return 0;
    int fd = fop_open_source(from->path, &st, err);
    if (fd < 0)
        return fd;
    r->fd = fd;
    return 0;
}

static void
reader_close(reader_t *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}
#define reader_auto_t __attribute__((cleanup(reader_close))) reader_t

/* As many bytes as there are, up to `n`; less only at the end. */
static ssize_t
reader_take(reader_t *r, char *out, size_t n)
{
    size_t got = 0;

    if (r->fd < 0) {
        got = n < r->left ? n : r->left;
        if (got > 0)
            memcpy(out, r->data, got);
        r->data += got;
        r->left -= got;
        return (ssize_t) got;
    }
    while (got < n) {
        ssize_t k = read(r->fd, out + got, n - got);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -errno;
        if (k == 0)
            break;
        got += (size_t) k;
    }
    return (ssize_t) got;
}

/* Compares piece by piece and stops at the first difference. */
int
content_same(const char *path, const content_t *with, bool *ret_same, fail_t *err)
{
    const content_t here = { .path = path };
    reader_auto_t a = { -1, NULL, 0 }, b = { -1, NULL, 0 };
    char *piece = xcalloc(2, PIECE);
    bool same = true;
    ssize_t n = 1;

    int rc = reader_open(&a, &here, err);
    if (rc == 0)
        rc = reader_open(&b, with, err);
    while (rc == 0 && same && n > 0) {
        n = reader_take(&a, piece, PIECE);
        ssize_t m = reader_take(&b, piece + PIECE, PIECE);
        if (n < 0 || m < 0)
            rc = fop_oserror(err, (int) -(n < 0 ? n : m), path);
        else
            same = n == m && memcmp(piece, piece + PIECE, (size_t) n) == 0;
    }
    free(piece);
    if (rc == 0)
        *ret_same = same;
    return rc;
}

/* ---- differences ----------------------------------------------------------------------------- */

static int
content_size_of(const content_t *c, size_t *ret_size, fail_t *err)
{
    struct stat st;

    *ret_size = c->len;
    if (c->path == NULL)
        return 0;
    if (stat(c->path, &st) != 0)
        return fop_oserror(err, errno, c->path);
    *ret_size = (size_t) st.st_size;
    return 0;
}

/* Decides by the first 512 bytes whether the content is text. */
static int
content_probe(const content_t *c, bool *ret_text, fail_t *err)
{
    char head[TEXT_PROBE];
    reader_auto_t r = { -1, NULL, 0 };
    int rc = reader_open(&r, c, err);

    if (rc != 0)
        return rc;
    ssize_t n = reader_take(&r, head, sizeof(head));
    if (n < 0)
        return fop_oserror(err, (int) -n, c->path);
    *ret_text = fop_is_text(head, (size_t) n);
    return 0;
}

/* The difference of two contents, of which each is a file or in memory. *ret_diff NEW. */
static int
line_diff(const content_t *old, const content_t *new, const char *names[2], char **ret_diff, fail_t *err)
{
    const content_t *both[2] = { old, new };
    buf_t text[2] = { BUF_INIT, BUF_INIT };
    int rc = 0;

    for (size_t i = 0; i < 2 && rc == 0; i++) {
        if (both[i]->path != NULL)
            rc = fop_read(both[i]->path, &text[i], err);
        else if (both[i]->len > 0)
            buf_add(&text[i], both[i]->data, both[i]->len);
    }
    if (rc == 0) {
        /* Lines that are not UTF-8 are shown as Latin-1. */
        char *diff = diff_texts_lf(buf_str(&text[0]), text[0].len, buf_str(&text[1]), text[1].len, names[0],
                                   names[1]);
        buf_t out = BUF_INIT;

        for (char *line = diff; *line != '\0';) {
            size_t n = strcspn(line, "\n");
            n += line[n] == '\n';
            bool utf8 = utf8_valid(line, n);
            for (size_t i = 0; !utf8 && i < n; i++) {
                if ((unsigned char) line[i] < 0x80)
                    buf_putc(&out, line[i]);
                else
                    buf_printf(&out, "%c%c", 0xC0 | ((unsigned char) line[i] >> 6), 0x80 | (line[i] & 0x3F));
            }
            if (utf8)
                buf_add(&out, line, n);
            line += n;
        }
        free(diff);
        *ret_diff = buf_steal(&out);
    }
    buf_free(&text[0]);
    buf_free(&text[1]);
    return rc;
}

/* Cheap answers first: equal, binary, too large; only then the line difference. */
int
content_diff(const char *path, const content_t *with, const char *names[2], char **ret_diff, fail_t *err)
{
    static const char *no_names[2] = { "", "" };
    const content_t here = { .path = path };
    bool same = false, old_text = false, new_text = false;
    size_t old_size = 0, new_size = 0;
    int rc = content_same(path, with, &same, err);

    if (rc == 0 && same) {
        *ret_diff = xstrdup("");
        return 0;
    }
    if (rc != 0 || (rc = content_probe(&here, &old_text, err)) != 0 ||
        (rc = content_probe(with, &new_text, err)) != 0 ||
        (rc = content_size_of(&here, &old_size, err)) != 0 ||
        (rc = content_size_of(with, &new_size, err)) != 0)
        return rc;
    if (!old_text || !new_text) {
        *ret_diff = xstrdup(old_text   ? "Replace text file with binary file"
                            : new_text ? "Replace binary file with text file"
                                       : "Replace binary file");
        return 0;
    }
    if (old_size > LIMIT_DIFF_FILE || new_size > LIMIT_DIFF_FILE) {
        *ret_diff = xasprintf("Replace text of %zu bytes by one of %zu bytes (too large to compare by lines)",
                              old_size, new_size);
        return 0;
    }
    return line_diff(&here, with, names != NULL ? names : no_names, ret_diff, err);
}

char *
content_unreadable(const char *path, const fail_t *why)
{
    return xasprintf("Failed to read %s: %s", path, strerror(why->code < 0 ? -why->code : EIO));
}

/* ---- to disk --------------------------------------------------------------------------------- */

static int
pour(reader_t *r, int to)
{
    AUTO_FREE char *piece = xcalloc(1, PIECE);
    ssize_t n;

    while ((n = reader_take(r, piece, PIECE)) > 0) {
        int rc = fs_write_all(to, piece, (size_t) n);
        if (rc != 0)
            return rc;
    }
    return (int) n;
}

/* An owner that we may not give is left to the check that follows, which tells the user. */
static int
content_dress(int fd, const landing_t *as)
{
    if ((as->uid != (uid_t) -1 || as->gid != (gid_t) -1) && fchown(fd, as->uid, as->gid) != 0 &&
        errno != EPERM)
        return -errno;
    if (fchmod(fd, as->mode) != 0)
        return -errno;
    if (as->like != NULL) {
        AUTO_FD like = open(as->like, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        int rc = like >= 0 ? fop_copy_xattrs(like, fd) : 0;
        if (rc != 0)
            return rc;
    }
    return fsync(fd) != 0 ? -errno : 0;
}

/* Renames over the target; a mount point, such as a file that a container gets from its host, refuses a
 * rename and is written in place. */
static int
rename_or_write(const char *temp, const char *dst)
{
    view_auto_t whole = { 0 };

    if (rename(temp, dst) == 0)
        return 0;
    if (errno != EBUSY)
        return -errno;
    AUTO_FD held = open(dst, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int rc = held < 0 ? -errno : fop_view(temp, &whole);
    if (rc == 0)
        rc = fop_overwrite(held, whole.data, whole.len);
    unlink(temp);
    return rc;
}

/* Gives the temporary file its owner, mode and attributes while nobody knows its name, then renames it. The
 * temporary file is gone afterwards, in any case. */
int
content_land(const char *dst, int fd, const char *temp, const landing_t *as)
{
    int rc = content_dress(fd, as);

    if (rc == 0)
        rc = rename_or_write(temp, dst);
    if (rc != 0)
        unlink(temp);
    return rc;
}

int
content_commit(const char *dst, const content_t *from, const landing_t *as, fail_t *err)
{
    AUTO_FREE char *folder = fop_dirname(dst);
    AUTO_FREE char *base = xasprintf(".%.200s.XXXXXX", fop_basename(dst));
    AUTO_FREE char *temp = fop_join2(folder, base);
    reader_auto_t r = { -1, NULL, 0 };

    if (fs_is_device(dst))
        return fail_set(err, -EINVAL, "%s is a device, and is not replaced by a file", dst);
    int rc = reader_open(&r, from, err);
    if (rc != 0)
        return rc;
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return fop_oserror(err, errno, folder);
    rc = pour(&r, fd);
    if (rc != 0)
        unlink(temp);
    else
        rc = content_land(dst, fd, temp, as);
    close(fd);
    return rc == 0 ? 0 : fop_oserror(err, -rc, dst);
}

/* Creates a private temporary file with `data`. NEW path, or NULL with *err; the caller unlinks it. */
char *
content_temp(const char *dir, const char *suffix, const void *data, size_t len, fail_t *err)
{
    const char *folder = !str_empty(dir) ? dir : fs_temp_dir();
    const char *end = suffix != NULL ? suffix : "";
    AUTO_FREE char *path = xasprintf("%s/__salt.tmp.XXXXXX%s", folder, end);
    AUTO_FD fd = mkostemps(path, (int) strlen(end), O_CLOEXEC);

    if (fd < 0) {
        fop_oserror(err, errno, path);
        return NULL;
    }
    int rc = fs_write_all(fd, data, len);
    if (rc != 0) {
        unlink(path);
        fop_oserror(err, -rc, path);
        return NULL;
    }
    return STEAL(path);
}
