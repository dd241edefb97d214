/* cprecv.c - see cprecv.h. A file that comes in one message is placed at once; pieces of a larger one gather
 * by cpparts.h when the sender names the copy, or are appended directly when it does not. */
#include "plugins/lib/transfer/cprecv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/gzip.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/files/destpath.h"
#include "plugins/lib/transfer/cpparts.h"
#include "salt/log.h"

static const char *
cprecv_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* NEW folder of a path, "" for none. */
static char *
cprecv_folder_of(const char *path)
{
    return xstrndup(path, (size_t) (cprecv_name_of(path) - path));
}

/* Destination of one file: `dest` itself, or a name in it. NEW; NULL when the folder is missing, or *err says
 * why that can't be decided. */
static char *
cprecv_place_of(const char *path, const char *dest, fail_t *err)
{
    AUTO_FREE char *above = cprecv_folder_of(dest);
    int into = fs_look_dir(dest, err);

    if (into > 0)
        return fs_join(dest, cprecv_name_of(path));
    bool fits = into == 0 &&
                (str_eq(cprecv_name_of(path), cprecv_name_of(dest)) || fs_look_dir(above, err) > 0);
    return fits ? xstrdup(dest) : NULL;
}

/* Ends at the first file whose destination is missing; other failures are false in the answer. */
json_t *
cprecv_files(json_t *files, const char *dest, bool *ret_failed)
{
    json_auto_t *done = json_object();
    const char *path;
    json_t *text;

    *ret_failed = false;
    json_object_foreach (files, path, text) {
        fail_auto_t why = FAIL_INIT;
        AUTO_FREE char *place = cprecv_place_of(path, dest, &why);
        if (place == NULL) {
            *ret_failed = true;
            return json_string(why.code != 0 ? fail_text(&why) : "Destination unavailable");
        }

        /* A failure is logged, as the answer only says false. */
        partfile_auto_t file = PARTFILE_INIT;
        fail_auto_t failed = FAIL_INIT;
        int rc = json_is_string(text) ? partfile_find(&file, place, PARTFILE_SPECIAL, &failed)
                                      : fail_set(&failed, -EINVAL, "%s: its content is not text", place);
        if (rc == 0)
            rc = fop_rewrite(&file, json_string_value(text), json_string_length(text), true, &failed);
        if (rc != 0)
            log_warning("cp.recv: %s", fail_text(&failed));

        json_object_set_new(done, place, json_boolean(rc == 0));
        *ret_failed = *ret_failed || rc != 0;
    }
    return json_incref(done);
}

/* Creates the missing parts of a folder; `dest` is the path that the caller gave. */
static json_t *
make_folders(const char *folder, const char *dest, bool *ret_failed)
{
    fail_auto_t why = FAIL_INIT;
    int rc = destpath_make_folder(folder, 0, &destpath_made_ours, &why);

    if (rc == 0)
        return json_true();
    if (rc != -EPERM) {
        /* As Python words an OSError. */
        *ret_failed = true;
        return value_fmt("[Errno %d] %s: '%s'", -rc, strerror(-rc), dest);
    }
    *ret_failed = true;
    return value_utf8(fail_text(&why), strlen(fail_text(&why)));
}

/* Behind what is there: all of the piece, or none. */
static int
cprecv_append_to(const partfile_t *to, const content_t *piece, fail_t *err)
{
    if (to->file < 0)
        return cpparts_put(to, piece, -1, err);
    AUTO_FD fd = fop_open_to_write(to->at, O_APPEND);
    if (fd < 0)
        return fop_oserror(err, errno, to->resolved.asked);
    off_t end = lseek(fd, 0, SEEK_END);
    int rc = fs_write_all(fd, piece->data, piece->len);
    if (rc != 0 && end >= 0 && ftruncate(fd, end) != 0)
        rc = -errno;
    return rc == 0 ? 0 : fop_oserror(err, -rc, to->resolved.asked);
}

static int
cprecv_place(const cprecv_chunk_t *piece, const partfile_t *to, const content_t *bytes, fail_t *err)
{
    const cppart_t part = { .cachedir = piece->cachedir, .id = piece->id, .copy = piece->copy, .to = to };
    int mode = piece->mode >= 0 ? piece->mode & 07777 : -1;

    /* Pipes and devices take pieces as they come. */
    if (piece->copy == NULL || to->special)
        return piece->append || piece->at > 0 ? cprecv_append_to(to, bytes, err)
                                              : cpparts_put(to, bytes, mode, err);
    if (piece->at == 0 && piece->last)
        return cpparts_put(to, bytes, mode, err);
    int rc = cpparts_add(&part, piece->at, bytes->data, bytes->len, err);
    return rc == 0 && piece->last ? cpparts_land(&part, mode, err) : rc;
}

/* A message without a chunk creates a folder. */
json_t *
cprecv_piece(const cprecv_chunk_t *piece, bool *ret_failed, fail_t *err)
{
    buf_auto_t bytes = BUF_INIT;
    size_t n = 0;

    *ret_failed = false;
    if (piece->copy != NULL && (!cpparts_is_name(piece->copy) || piece->at < 0)) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "'copy' takes letters and digits, and 'at' no negative number");
        return NULL;
    }
    if (piece->chunk == NULL) {
        /* Makes the folders of the path. */
        const char *dest = piece->dest;
        struct stat st;
        bool there = stat(dest, &st) == 0;
        if (there) {
            *ret_failed = !S_ISDIR(st.st_mode);
            return *ret_failed ? json_string("Path exists and is a file") : json_true();
        }
        return make_folders(dest, dest, ret_failed);
    }
    AUTO_FREE char *why = NULL;
    AUTO_FREE char *raw = yaml_from_base64(piece->chunk, strlen(piece->chunk), &n, &why);
    if (raw == NULL) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "'chunk' is not base64 text: %s", why);
        return NULL;
    }
    if (!piece->compressed)
        buf_add(&bytes, raw, n);
    else if (gzip_unpack(raw, n, LIMIT_FILE_READ, &bytes, err) < 0)
        return NULL;

    /* Creates the missing folder of the destination, then places the piece. */
    const content_t what = { .data = buf_str(&bytes), .len = bytes.len };
    partfile_auto_t to = PARTFILE_INIT;
    fail_auto_t failed = FAIL_INIT;
    int rc = partfile_find(&to, piece->dest, PARTFILE_SPECIAL, &failed);
    if (rc == -ENOENT) {
        AUTO_FREE char *above = cprecv_folder_of(piece->dest);
        json_auto_t *made = make_folders(above, piece->dest, ret_failed);
        if (*ret_failed)
            return json_incref(made);
        fail_clear(&failed);
        rc = partfile_find(&to, piece->dest, PARTFILE_SPECIAL, &failed);
    }
    if (rc == 0)
        rc = cprecv_place(piece, &to, &what, &failed);
    *ret_failed = rc != 0;
    return rc == 0 ? json_true() : value_utf8(fail_text(&failed), strlen(fail_text(&failed)));
}
