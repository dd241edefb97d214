/* cprecv.c - see cprecv.h. */
#include "minion/modlib/cprecv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/gzip.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"

static const char *
name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* NEW folder of a path, "" for none. */
static char *
folder_of(const char *path)
{
    return xstrndup(path, (size_t) (name_of(path) - path));
}

/* Where one file goes: to `dest`, or into it. NEW; NULL: there is no such folder. */
static char *
place_of(const char *path, const char *dest)
{
    AUTO_FREE char *above = folder_of(dest);

    if (str_eq(name_of(path), name_of(dest)) && !fs_is_dir(dest))
        return xstrdup(dest);
    if (fs_is_dir(dest))
        return fs_join(dest, name_of(path));
    return fs_is_dir(above) ? xstrdup(dest) : NULL;
}

static int
write_to(const char *path, int flags, const void *bytes, size_t n)
{
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);

    return fd < 0 ? -errno : fs_write_all(fd, bytes, n);
}

json_t *
cprecv_files(json_t *files, const char *dest, bool *ret_failed)
{
    json_auto_t *done = json_object();
    const char *path;
    json_t *text;

    *ret_failed = false;
    json_object_foreach (files, path, text) {
        AUTO_FREE char *place = place_of(path, dest);
        if (place == NULL) {
            *ret_failed = true;
            return json_string("Destination unavailable");
        }
        int rc = json_is_string(text)
                     ? write_to(place, O_TRUNC, json_string_value(text), json_string_length(text))
                     : -EINVAL;
        json_object_set_new(done, place, json_boolean(rc == 0));
        *ret_failed = *ret_failed || rc != 0;
    }
    return json_incref(done);
}

/* As Python words an OSError. NEW. */
static json_t *
os_error(int code, const char *path, bool *ret_failed)
{
    *ret_failed = true;
    return value_fmt("[Errno %d] %s: '%s'", -code, strerror(-code), path);
}

static json_t *
make_folder(const char *dest, bool *ret_failed)
{
    struct stat st;
    bool there = stat(dest, &st) == 0;

    if (there) {
        *ret_failed = !S_ISDIR(st.st_mode);
        return *ret_failed ? json_string("Path exists and is a file") : json_true();
    }
    int rc = fs_mkdirs(dest, 0777, NULL);
    return rc == 0 ? json_true() : os_error(rc, dest, ret_failed);
}

static json_t *
put(const cprecv_chunk_t *piece, const buf_t *bytes, bool *ret_failed)
{
    int flags = piece->append ? O_APPEND : O_TRUNC;
    int rc = write_to(piece->dest, flags, buf_str(bytes), bytes->len);

    if (rc == -ENOENT) {
        AUTO_FREE char *above = folder_of(piece->dest);
        rc = fs_mkdirs(above, 0777, NULL);
        if (rc == 0)
            rc = write_to(piece->dest, flags, buf_str(bytes), bytes->len);
    }
    if (rc == 0 && !piece->append && piece->mode >= 0 &&
        chmod(piece->dest, (mode_t) piece->mode & 07777) != 0)
        rc = -errno;
    return rc == 0 ? json_true() : os_error(rc, piece->dest, ret_failed);
}

json_t *
cprecv_piece(const cprecv_chunk_t *piece, bool *ret_failed, fail_t *err)
{
    buf_auto_t bytes = BUF_INIT;
    size_t n = 0;

    *ret_failed = false;
    if (piece->chunk == NULL)
        return make_folder(piece->dest, ret_failed);
    AUTO_FREE char *why = NULL;
    AUTO_FREE char *raw = yaml_from_base64(piece->chunk, strlen(piece->chunk), &n, &why);
    if (raw == NULL) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "'chunk' is no base64 text: %s", why);
        return NULL;
    }
    if (!piece->compressed)
        buf_add(&bytes, raw, n);
    else if (gzip_unpack(raw, n, LIMIT_FILE_READ, &bytes, err) < 0)
        return NULL;
    return put(piece, &bytes, ret_failed);
}
