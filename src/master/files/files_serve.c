/* files_serve.c - one step of a request: open a file, read or digest a chunk, make a list. A step reads at
 * most READ_MAX bytes, so that a large file delays other requests little. Runs without the lock. */
#include "master/files/files_int.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/rate.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/net/wire.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define HEAD_MAX 128                    /* JSON in front of a chunk */
#define READ_MAX (4 * LIMIT_FILE_CHUNK) /* bytes per step of a file that is only read, not sent */

/* The caller has removed the request from ring, buckets and counts. */
void
asking_free(asking_t *self)
{
    take_free(self);
    served_clear(&self->file);
    buf_free(&self->text);
    tag_destroy(&self->tag);
    digest_destroy(&self->digest);
    free(self->id);
    free(self->op);
    free(self->path);
    free(self->saltenv);
    free(self);
}

bool
asking_can_step(const asking_t *self, const files_t *files)
{
    if (self->busy || self->gone || self->state == ASKING_DONE)
        return false;
    if (self->state == ASKING_NEW)
        return !files_full(files, self);
    if (self->state == ASKING_TAKE)
        return self->in != NULL;
    if (self->state != ASKING_DATA || self->at >= self->size)
        return true;
    return self->credit > 0 && files->under_way < LIMIT_FILE_UNDER_WAY &&
           self->share->under_way < LIMIT_FILE_MINION_BYTES;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Log errors of the host, not missing files: the operator must know. Rate-limited, as minions may ask again
 * and again. */
static void
log_trouble(const asking_t *a, int code, const char *text)
{
    static _Thread_local rate_t lines = RATE(1, 10);
    if (code != -ENOENT && code != -E2BIG && code != -EFBIG && rate_spare(&lines, clock_mono_ms()))
        log_error("minion %s asks for '%s' (environment '%s', '%s'): %s", a->id, a->path, a->saltenv, a->op,
                  text);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void
files_serve_info(asking_t *a, json_t *more, files_out_t ***tail)
{
    json_auto_t *body = more;
    json_object_set_new(body, "size", json_integer(a->size));
    json_object_set_new(body, "mode", json_integer(a->file.mode));
    if (a->sent)
        json_object_set_new(body, "sent", json_true());
    asking_put(tail, asking_message(a, MSG_file_info, json_incref(body)));
}

/* A resumed transfer first digests the part that the receiver has (ASKING_PREFIX). */
static void
start_data(asking_t *a, files_out_t ***tail)
{
    /* A receiver that has more than the file: its copy is another file's, start over. */
    a->start = a->start > a->size ? 0 : a->start;
    a->at = 0;
    a->state = a->start > 0 ? ASKING_PREFIX : ASKING_DATA;
    if (a->state == ASKING_DATA)
        files_serve_info(a, json_pack("{s:i}", "at", 0), tail);
}

static const struct {
    const char *op;
    files_kind_t kind;
} lists[] = { { "files", FILES_FILES },
              { "dirs", FILES_DIRS },
              { "empty_dirs", FILES_EMPTYDIRS },
              { "links", FILES_SYMLINKS } };

/* NEW, or NULL with *err. files_open has refused unknown operations. */
static json_t *
files_serve_list(const asking_t *a, const files_worker_t *worker, fail_t *err)
{
    if (str_eq(a->op, "envs"))
        return fileserver_envs(worker->server, err);
    if (str_eq(a->op, "options"))
        return conf_master_opts(worker->opts);
    for (size_t i = 0; i < NELEMS(lists); i++)
        if (str_eq(a->op, lists[i].op))
            return fileserver_list(worker->server, lists[i].kind, a->saltenv, a->path, err);
    return NULL;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Read up to `max` bytes at the request's position. 0 with *ret_n > 0, or a negative errno; -ESTALE: the file
 * became shorter. */
static int
files_serve_read(asking_t *a, char *into, size_t max, size_t *ret_n)
{
    size_t left = (size_t) (a->size - a->at), want = left < max ? left : max;
    ssize_t n;
    if (a->is_text) {
        memcpy(into, a->text.data + a->at, want);
        *ret_n = want;
        return 0;
    }
    do
        n = pread(a->file.fd, into, want, a->at);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 ? -errno : -ESTALE;
    *ret_n = (size_t) n;
    return 0;
}

/* End a request with an error and log it. */
static void
files_serve_broken(asking_t *a, int code, files_out_t ***tail)
{
    fail_auto_t err = FAIL_INIT;
    if (code == -ESTALE)
        (void) fail_set(&err, code, "%s: it became shorter while it was read", a->path);
    else
        (void) fs_fail(&err, code, "read", a->is_text ? a->path : a->file.path);
    log_trouble(a, code, fail_text(&err));
    asking_fail(a, a->state == ASKING_DATA, code, &err, tail);
}

/* Feed the part that the receiver has to the tag; with the whole of it, the receiver can compare and
 * resume. */
static void
files_serve_prefix(asking_t *a, files_out_t ***tail)
{
    AUTO_FREE char *piece = malloc(READ_MAX);
    size_t left = (size_t) (a->start - a->at), n = 0;
    int rc = piece != NULL ? files_serve_read(a, piece, left < READ_MAX ? left : READ_MAX, &n) : -ENOMEM;
    if (rc < 0) {
        files_serve_broken(a, rc, tail);
        return;
    }
    tag_add(a->tag, piece, n);
    a->at += (int64_t) n;
    if (a->at < a->start)
        return;
    char hex[TAG_HEX + 1];
    tag_end(a->tag, hex);
    a->state = ASKING_DATA;
    files_serve_info(a, json_pack("{s:I, s:s}", "at", (json_int_t) a->start, "tag", hex), tail);
}

/* Send a chunk, read straight into its frame to avoid a copy. */
static void
files_serve_data(asking_t *a, files_out_t ***tail)
{
    size_t n = 0;
    if (a->at >= a->size) {
        asking_put(tail, asking_message(a, MSG_file_end, json_object()));
        a->state = ASKING_DONE;
        return;
    }
    AUTO_FREE char *frame = malloc(HEAD_MAX + LIMIT_FILE_CHUNK);
    if (frame == NULL) {
        files_serve_broken(a, -ENOMEM, tail);
        return;
    }
    int head = snprintf(frame, HEAD_MAX, "{\"m\":\"%s\",\"n\":%lld,\"at\":%lld}", wire_name(MSG_file_data),
                        (long long) a->n, (long long) a->at);
    salt_assert(head > 0 && head < HEAD_MAX);
    int rc = files_serve_read(a, frame + head + 1, LIMIT_FILE_CHUNK, &n);
    if (rc < 0) {
        files_serve_broken(a, rc, tail);
        return;
    }
    a->at += (int64_t) n;
    asking_put(tail, asking_frame(a, &frame, (size_t) head + 1 + n));
}

/* Digest a chunk; at the end answer, and cache the hash. */
static void
files_serve_hash(asking_t *a, fileserver_t *server, files_out_t ***tail)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *piece = malloc(READ_MAX);
    size_t n = 0;
    if (a->digest == NULL)
        a->digest = digest_new(fileserver_hash_type(server), &err);
    int rc = piece == NULL       ? -ENOMEM
             : a->digest == NULL ? err.code
             : a->at < a->size   ? files_serve_read(a, piece, READ_MAX, &n)
                                 : 0;
    if (rc < 0) {
        files_serve_broken(a, rc, tail);
        return;
    }
    digest_add(a->digest, piece, n);
    a->at += (int64_t) n;
    if (a->at < a->size)
        return;
    AUTO_FREE char *hex = digest_hex(a->digest);
    fileserver_learn_hash(server, &a->file, hex);
    files_serve_info(a, json_pack("{s:s, s:s}", "hash_type", fileserver_hash_type(server), "hsum", hex),
                     tail);
    a->state = ASKING_DONE;
}

/* The first step of each operation. */
static void
files_serve_open(asking_t *a, const files_worker_t *worker, files_out_t ***tail)
{
    uint64_t sent = files_sent();
    if (str_eq(a->op, "put"))
        take_open(a, worker->opts, tail);
    else if (str_eq(a->op, "get") || str_eq(a->op, "hash")) {
        /* "get" starts sending; "hash" answers at once when the hash is cached or the size differs
         * already. */
        fileserver_t *server = worker->server;
        fail_auto_t err = FAIL_INIT;
        int rc = fileserver_find(server, a->path, a->saltenv, &a->file, &err);
        if (rc < 0) {
            log_trouble(a, rc, fail_text(&err));
            asking_fail(a, false, rc, &err, tail);
            return;
        }
        a->sent = files_sent() != sent;
        log_debug("minion %s asks for %s of salt://%s in saltenv '%s': %lld bytes", a->id, a->op, a->path,
                  a->saltenv, (long long) a->file.size);
        a->size = a->file.size;
        if (str_eq(a->op, "get")) {
            start_data(a, tail);
            return;
        }
        a->at = 0;
        a->state = ASKING_HASH;
        const char *known = fileserver_known_hash(server, &a->file);
        bool other = a->known_size >= 0 && a->known_size != a->size;
        if (known == NULL && !other)
            return;
        files_serve_info(
            a,
            json_pack("{s:s, s:s*}", "hash_type", fileserver_hash_type(server), "hsum", other ? NULL : known),
            tail);
        a->state = ASKING_DONE;
    } else {
        /* Serve a list as a file whose bytes are its JSON. */
        fail_auto_t err = FAIL_INIT;
        json_auto_t *list = files_serve_list(a, worker, &err);
        AUTO_FREE char *text = list != NULL ? value_dump(list) : NULL;
        if (text != NULL && strlen(text) > LIMIT_FILE_TEXT)
            (void) fail_set(&err, -EFBIG, "the answer to '%s' (environment '%s') is longer than %d bytes",
                            a->op, a->saltenv, LIMIT_FILE_TEXT);
        if (err.text != NULL || text == NULL) {
            log_trouble(a, err.code ? err.code : -EIO, fail_text(&err));
            asking_fail(a, false, err.code ? err.code : -EIO, &err, tail);
            return;
        }
        buf_puts(&a->text, text);
        a->sent = files_sent() != sent;
        a->is_text = true;
        a->size = (int64_t) a->text.len;
        a->start = 0;
        start_data(a, tail);
    }
}

/* Errors set ASKING_DONE. The file is closed as soon as it is not needed, not when the request is freed. */
void
asking_step(asking_t *self, const files_worker_t *worker, files_out_t ***out_tail)
{
    switch (self->state) {
    case ASKING_NEW:
        files_serve_open(self, worker, out_tail);
        break;
    case ASKING_PREFIX:
        files_serve_prefix(self, out_tail);
        break;
    case ASKING_DATA:
        files_serve_data(self, out_tail);
        break;
    case ASKING_HASH:
        files_serve_hash(self, worker->server, out_tail);
        break;
    case ASKING_TAKE:
        take_step(self, out_tail);
        break;
    case ASKING_DONE:
        break;
    }
    if (self->state == ASKING_DONE)
        served_clear(&self->file);
}
