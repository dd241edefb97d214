/* download.c - a list of requests, each a small state machine (stage_t) with the master.
 *
 *   file_open ->  <- file_info  <- file_data ...  file_more (credit) ->  <- file_end     file_stop cancels
 * At most AT_ONCE requests are out at a time; the others wait in order. The part file is locked by flock, so
 * that two processes never write one part. Everything from the master is checked against what was asked:
 * number, position, size. Places in the cache are opened beneath it without links (beneath.h).
 */
#include "uplink/mineask.h"
#include "uplink/upload.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/tag.h"
#include "common/files/putfile.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define AT_ONCE   4                       /* requests to one master at one time; the others wait */
#define GRANT     (LIMIT_FILE_CREDIT / 4) /* chunks are granted in such steps */
#define READ_MAX  (4 * 1024 * 1024)       /* bytes of an existing part that are tagged in one step */
#define AGAIN_MS  1000                    /* until a busy master (EAGAIN) is asked again */
#define NAME_KEEP 200                     /* bytes of a file's name that go into its part's name */

typedef enum stage {
    STAGE_WAITING, /* for the connection, or its turn */
    STAGE_ASKED,   /* file_open is out */
    STAGE_RUNNING, /* file_info has come */
    STAGE_PREFIX   /* the existing part is read for its tag, before the master is asked */
} stage_t;

typedef struct download {
    struct download *next;
    json_int_t id, n;
    json_t *ask; /* owned */
    stage_t stage;
    bool is_file, again; /* again: restarted once, as the part was of another file */
    bool sent;           /* another minion sent it, or some of the names */
    int folder, fd;      /* of the destination, or a negative errno: none yet; the part's, -1: none */
    fail_t why;          /* why `folder` is an errno, or none */
    char *part, *place;  /* owned: the part's name in `folder`; the file's whole path */
    buf_t text;          /* a list, as it comes */
    int64_t have, size;  /* bytes here, bytes in all */
    int64_t tagged;      /* bytes of the existing part that the tag covers */
    int fresh;           /* chunks received since the last grant of credit */
    char key[TAG_KEY_HEX + 1];
    tag_t *tag;
    int64_t until_ms, retry_ms; /* monotonic */
} download_t;

struct downloads {
    download_host_t host;
    download_t *all;
    uploads_t *uploads;
    mineasks_t *mine;
    json_int_t next_n;
    bool ready;
};

/* ---- the end of one -------------------------------------------------------------------------- */

static void
download_free(download_t *d)
{
    if (d->fd >= 0)
        (void) close(d->fd);
    if (d->folder >= 0)
        (void) close(d->folder);
    fail_clear(&d->why);
    tag_destroy(&d->tag);
    buf_free(&d->text);
    json_decref(d->ask);
    free(d->part);
    free(d->place);
    free(d);
}

static void
download_unlink(downloads_t *self, const download_t *d)
{
    download_t **at = &self->all;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
}

/* True while the master works on this request. */
static bool
is_out(const download_t *d)
{
    return d->stage == STAGE_ASKED || d->stage == STAGE_RUNNING;
}

/* Tells the master to stop sending, if it does. */
static void
tell_stop(downloads_t *self, const download_t *d)
{
    json_auto_t *body = json_pack("{s:I}", "n", d->n);
    if (self->ready && is_out(d))
        (void) self->host.send(self->host.cookie, MSG_file_stop, body, NULL, 0);
}

/* Removes the request from the list, answers it and frees it. `answer` is consumed. */
static void
download_finish(downloads_t *self, download_t *d, json_t *answer)
{
    json_auto_t *held = answer;
    download_unlink(self, d);
    self->host.done(self->host.cookie, d->id, held);
    download_free(d);
}

/* Fails a request. `code`: negative errno. `keep`: a part in the cache stays, for the next request to
 * resume. */
static void
download_fail(downloads_t *self, download_t *d, int code, const char *text, bool keep)
{
    if (d->part != NULL && !(keep && value_get(d->ask, "cache") != NULL && d->have > 0))
        (void) unlinkat(d->folder, d->part, 0);
    tell_stop(self, d);
    json_auto_t *words = value_utf8(text, strlen(text));
    download_finish(self, d, json_pack("{s:b, s:O, s:i}", "ok", false, "error", words, "code", -code));
}

static void
fail_err(downloads_t *self, download_t *d, int code, const fail_t *err)
{
    download_fail(self, d, code, err->text != NULL ? err->text : strerror(-code), false);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Finds the destination's folder without creating anything. A path in the cache comes from the master, so it
 * is opened beneath the cache, without links; `dest` is the caller's own path. */
static void
download_find_place(download_t *d)
{
    const char *cache = value_str(d->ask, "cache", NULL), *name;
    if (cache == NULL) {
        destpath_auto_t resolved = DESTPATH_INIT;
        d->folder = putfile_find(&resolved, value_str(d->ask, "dest", ""), &d->why);
        d->place = destpath_text(&resolved);
        if (d->folder == 0) {
            d->folder = resolved.folder;
            resolved.folder = -1;
        }
        return;
    }
    AUTO_FREE char *rel = putfile_cache_rel(value_str(d->ask, "saltenv", "base"),
                                            value_str(d->ask, "path", ""));
    AUTO_FD base = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d->place = fs_join(cache, rel);
    d->folder = base < 0 ? -errno : beneath_parent(base, rel, BENEATH_NO_LINKS, 0, &name);
}

/* Locks a part and checks that nobody else can write to it: an owner could do so after the check of the tag.
 * Another process that has the lock goes on with it. */
static bool
download_is_ours(int fd)
{
    struct stat st;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_nlink == 1 && st.st_uid == geteuid();
}

/* Opens the existing part or, with `make`, creates one; under a name with pid and id where the usual one is
 * taken. 0 or a negative errno. */
static int
download_open_part(download_t *d, bool make)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    const char *slash = strrchr(d->place, '/');
    AUTO_FREE char *part = xasprintf(".%.*s.part", NAME_KEEP, slash != NULL ? slash + 1 : d->place);
    d->fd = openat(d->folder, part, flags | O_NONBLOCK | (make ? O_CREAT : 0), 0600);
    if (d->fd >= 0 && download_is_ours(d->fd)) {
        d->part = STEAL(part);
        return 0;
    }
    if (d->fd >= 0)
        (void) close(d->fd);
    d->fd = -1;
    if (!make)
        return -ENOENT;
    AUTO_FREE char *own = xasprintf("%s.%d.%lld", part, (int) getpid(), (long long) d->id);
    (void) unlinkat(d->folder, own, 0);
    d->fd = openat(d->folder, own, flags | O_CREAT | O_EXCL, 0600);
    if (d->fd < 0)
        return -errno;
    d->part = STEAL(own);
    return 0;
}

/* Opens the part for writing, and in the cache creates the folders on the way, once the master has said that
 * the file exists. */
static int
make_part(download_t *d, fail_t *err)
{
    const char *cache = value_str(d->ask, "cache", NULL);
    if (d->fd >= 0)
        return 0;
    if (cache != NULL) {
        if (d->folder >= 0)
            (void) close(d->folder);
        d->folder = -1;
        free(STEAL(d->place));
        int rc = putfile_cache_folder(cache, value_str(d->ask, "saltenv", "base"),
                                      value_str(d->ask, "path", ""), &d->folder, &d->place, err);
        if (rc < 0)
            return rc;
    }
    if (d->why.text != NULL)
        return fail_kind(err, d->why.kind, d->folder, "%s", fail_text(&d->why));
    int rc = d->folder < 0 ? d->folder : download_open_part(d, true);
    return rc < 0 ? fail_set(err, rc, "cannot write %s: %s", d->place, strerror(-rc)) : 0;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The master or the disk made progress: the time-out starts again. */
static void
download_heard(download_t *d)
{
    d->until_ms = clock_mono_ms() + LIMIT_FILE_STALL;
}

/* Starts the tag anew under a fresh random key: a Poly1305 key may tag one run of bytes only (tag.h). */
static void
download_new_key(download_t *d)
{
    tag_destroy(&d->tag);
    tag_key(d->key);
    d->tag = tag_new(d->key);
    d->tagged = 0;
    d->stage = d->have > 0 ? STAGE_PREFIX : STAGE_WAITING;
}

/* Sends file_open under a new number, so that late messages of the request before are not mistaken for
 * answers. */
static void
send_open(downloads_t *self, download_t *d)
{
    const char *op = value_str(d->ask, "op", "");
    json_auto_t *body = json_pack("{s:I, s:s, s:s, s:s, s:i}", "n", ++self->next_n, "op", op, "path",
                                  value_str(d->ask, "path", ""), "saltenv",
                                  value_str(d->ask, "saltenv", "base"), "credit", LIMIT_FILE_CREDIT);
    d->n = self->next_n;
    d->fresh = 0;
    json_t *size = value_get(d->ask, "size");
    if (size != NULL)
        json_object_set(body, "size", size);
    if (d->is_file) {
        json_object_set_new(body, "at", json_integer(d->have));
        json_object_set_new(body, "key", json_string(d->key));
    } else {
        buf_clear(&d->text);
        d->have = 0;
    }
    d->stage = self->host.send(self->host.cookie, MSG_file_open, body, NULL, 0) == 0 ? STAGE_ASKED
                                                                                     : STAGE_WAITING;
}

static int
download_busy(const downloads_t *self)
{
    int busy = 0;
    for (const download_t *d = self->all; d; d = d->next)
        busy += is_out(d);
    return busy;
}

/* Sends waiting requests, up to AT_ONCE at a time. */
static void
download_pump(downloads_t *self)
{
    int busy = download_busy(self);
    int64_t now = clock_mono_ms();
    for (download_t *d = self->all; self->ready && d != NULL && busy < AT_ONCE; d = d->next) {
        if (d->stage != STAGE_WAITING || now < d->retry_ms)
            continue;
        send_open(self, d);
        busy++;
    }
}

void
downloads_ask(downloads_t *self, json_int_t id, const json_t *ask)
{
    const char *what = value_str(ask, "what", "");
    if (str_eq(what, "mine") || str_eq(what, "peer")) {
        mineasks_ask(self->mine, id, ask);
        return;
    }
    if (str_eq(value_str(ask, "op", ""), "put")) {
        uploads_ask(self->uploads, id, ask);
        return;
    }
    download_t *d = xcalloc(1, sizeof(*d)), **end = &self->all;
    d->id = id;
    d->ask = json_deep_copy(ask);
    d->fd = d->folder = -1;
    d->is_file = str_eq(value_str(ask, "op", ""), "get");
    download_heard(d);
    while (*end)
        end = &(*end)->next;
    *end = d;
    if (d->is_file) {
        /* Finds the part that an earlier download left, and how much it has. */
        struct stat st;
        download_find_place(d);
        if (d->folder >= 0 && download_open_part(d, false) == 0 && fstat(d->fd, &st) == 0)
            d->have = st.st_size;

        download_new_key(d);
    }
    download_pump(self);
}

void
downloads_cancel(downloads_t *self, json_int_t id)
{
    download_t *d = self->all;
    while (d != NULL && d->id != id)
        d = d->next;
    if (d == NULL) {
        uploads_cancel(self->uploads, id);
        mineasks_cancel(self->mine, id);
        return;
    }
    if (d->part != NULL && value_get(d->ask, "cache") == NULL)
        (void) unlinkat(d->folder, d->part, 0);
    tell_stop(self, d);
    download_unlink(self, d);
    download_free(d);
    download_pump(self);
}

void
downloads_ready(downloads_t *self)
{
    self->ready = true;
    uploads_ready(self->uploads);
    mineasks_ready(self->mine);
    download_pump(self);
}

void
downloads_lost(downloads_t *self)
{
    self->ready = false;
    uploads_lost(self->uploads);
    mineasks_lost(self->mine);
    for (download_t *d = self->all; d; d = d->next) {
        if (!is_out(d))
            continue;
        d->stage = STAGE_WAITING;
        if (d->is_file)
            download_new_key(d);
    }
}

/* Each request gets its full time again, and may start anew once more, as another master may have another
 * file. */
void
downloads_take(downloads_t *self, downloads_t *from)
{
    download_t **end = &self->all;
    while (*end)
        end = &(*end)->next;
    *end = STEAL(from->all);
    for (download_t *d = *end; d; d = d->next) {
        d->again = false;
        d->retry_ms = 0;
        download_heard(d);
    }
    uploads_take(self->uploads, from->uploads);
    mineasks_take(self->mine, from->mine);
    download_pump(self);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Starts over from the first byte: the part was of another file. Done once per request. */
static void
anew(downloads_t *self, download_t *d)
{
    log_info("%s: what was here is of another file; it is fetched from its start",
             value_str(d->ask, "path", ""));
    tell_stop(self, d);
    d->again = true;
    d->have = 0;
    download_new_key(d);
    send_open(self, d);
}

/* The master ended the request. EAGAIN: ask again later; ESTALE: the part no longer fits, start over once;
 * else fail. */
static void
download_error(downloads_t *self, download_t *d, const json_t *body)
{
    json_int_t code = value_int(body, "code", EIO);
    code = code > 0 && code < 4096 ? code : EIO;
    d->retry_ms = code == EAGAIN ? clock_mono_ms() + AGAIN_MS : 0;
    if (code == ESTALE && d->is_file && !d->again) {
        anew(self, d);
        return;
    }
    d->stage = STAGE_WAITING; /* the master has ended it */
    if (code != EAGAIN)
        download_fail(self, d, -(int) code, value_str(body, "error", ""), false);
}

/* True when the existing part equals the beginning of the master's file. */
static bool
prefix_fits(download_t *d, const json_t *body)
{
    char hex[TAG_HEX + 1];
    tag_end(d->tag, hex);
    return str_eq(hex, value_str(body, "tag", ""));
}

/* Handles file_info: the answer to "hash", or how the transfer begins. `at` is where the master starts: our
 * length, or 0 if it has a shorter file. */
static void
download_info(downloads_t *self, download_t *d, const json_t *body)
{
    fail_auto_t err = FAIL_INIT;
    json_int_t at = value_int(body, "at", 0);
    d->size = value_int(body, "size", 0);
    d->sent = value_bool(body, "sent", false);
    if (str_eq(value_str(d->ask, "op", ""), "hash")) {
        json_auto_t *value = json_pack("{s:s*, s:s*}", "hash_type", value_str(body, "hash_type", NULL),
                                       "hsum", value_str(body, "hsum", NULL));
        json_object_set_new(value, "mode", json_integer(value_int(body, "mode", 0)));
        json_object_set_new(value, "size", json_integer(d->size));
        if (d->sent)
            json_object_set_new(value, "sent", json_true());
        download_finish(self, d, json_pack("{s:b, s:O}", "ok", true, "value", value));
        return;
    }
    if (d->size < 0 || (!d->is_file && d->size > LIMIT_FILE_TEXT) || (at != d->have && at != 0)) {
        download_fail(self, d, -EPROTO, "the master answers what was not asked", false);
        return;
    }
    d->have = at;
    if (at > 0 && !prefix_fits(d, body)) {
        if (!d->again)
            anew(self, d);
        else
            download_fail(self, d, -EBADMSG, "the file changes while it is fetched", false);
        return;
    }
    int rc = d->is_file ? make_part(d, &err) : 0;
    if (rc == 0 && d->is_file && ftruncate(d->fd, d->have) != 0)
        rc = fail_set(&err, -errno, "cannot write %s: %s", d->part, strerror(errno));
    if (rc < 0)
        fail_err(self, d, rc, &err);
    else
        d->stage = STAGE_RUNNING;
}

/* Appends bytes to the part, or to the text of a list. */
static int
download_keep(download_t *d, const void *bytes, size_t n, fail_t *err)
{
    if (!d->is_file) {
        buf_add(&d->text, bytes, n);
        return 0;
    }
    if (lseek(d->fd, d->have, SEEK_SET) < 0 || fs_write_all(d->fd, bytes, n) < 0)
        return fail_set(err, -errno, "cannot write %s: %s", d->place, strerror(errno));
    return 0;
}

/* Handles one chunk. It must continue at our length and stay within the announced size. Credit is granted in
 * steps of GRANT chunks. */
static void
download_data(downloads_t *self, download_t *d, const json_t *body, const void *bytes, size_t n)
{
    fail_auto_t err = FAIL_INIT;
    if (d->stage != STAGE_RUNNING || value_int(body, "at", -1) != d->have ||
        (int64_t) n > d->size - d->have) {
        download_fail(self, d, -EPROTO, "the master sends what was not asked", false);
        return;
    }
    if (download_keep(d, bytes, n, &err) < 0) {
        fail_err(self, d, err.code, &err);
        return;
    }
    d->have += (int64_t) n;
    if (++d->fresh < GRANT)
        return;
    json_auto_t *more = json_pack("{s:I, s:i}", "n", d->n, "credit", d->fresh);
    d->fresh = 0;
    (void) self->host.send(self->host.cookie, MSG_file_more, more, NULL, 0);
}

/* Handles file_end: only valid when every byte has come. The part is renamed into place. */
static void
download_end(downloads_t *self, download_t *d)
{
    fail_auto_t err = FAIL_INIT;
    if (d->stage != STAGE_RUNNING || d->have != d->size) {
        download_fail(self, d, -EPROTO, "the master ended before all was sent", false);
        return;
    }
    if (!d->is_file) {
        /* The list is complete. */
        json_t *value = value_parse(buf_str(&d->text), d->text.len, LIMIT_FILE_TEXT, "the master's list",
                                    &err);
        d->stage = STAGE_WAITING;
        if (value != NULL)
            download_finish(
                self, d,
                d->sent ? json_pack("{s:b, s:{s:o, s:b}}", "ok", true, "value", "list", value, "sent", true)
                        : json_pack("{s:b, s:o}", "ok", true, "value", value));
        else
            fail_err(self, d, -EPROTO, &err);

        return;
    }
    d->stage = STAGE_WAITING;
    int rc = putfile_rename(d->fd, d->folder, d->part, d->place,
                            value_get(d->ask, "cache") != NULL ? PUTFILE_PRIVATE : PUTFILE_UMASK, &err);
    if (rc < 0)
        fail_err(self, d, rc, &err);
    else
        download_finish(self, d,
                        json_pack("{s:b, s:{s:s, s:I, s:b}}", "ok", true, "value", "path", d->place, "size",
                                  (json_int_t) d->size, "sent", d->sent));
}

/* Finds the request by its number; a number that no download has may be an upload's. */
void
downloads_message(downloads_t *self, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    download_t *d = self->all;
    json_int_t which = value_int(body, "n", -1);
    if (msg == MSG_mine || msg == MSG_peer) {
        mineasks_message(self->mine, body);
        return;
    }
    while (d != NULL && (d->n != which || !is_out(d)))
        d = d->next;
    if (d == NULL) {
        uploads_message(self->uploads, msg, body);
        return;
    }
    download_heard(d);
    if (msg == MSG_file_data)
        download_data(self, d, body, bytes, n);
    else if (value_get(body, "error") != NULL)
        download_error(self, d, body);
    else if (msg == MSG_file_info && d->stage == STAGE_ASKED)
        download_info(self, d, body);
    else if (msg == MSG_file_end)
        download_end(self, d);
    download_pump(self);
}

/* ---- time ------------------------------------------------------------------------------------ */

int
downloads_step(downloads_t *self)
{
    int uploads_ms = uploads_step(self->uploads), mine_ms = mineasks_step(self->mine);
    int64_t now = clock_mono_ms(), next = now + (mine_ms < uploads_ms ? mine_ms : uploads_ms);
    bool full = self->ready && download_busy(self) >= AT_ONCE;
    for (download_t *d = self->all, *after; d; d = after) {
        after = d->next;
        if (d->stage == STAGE_PREFIX) {
            /* Adds up to READ_MAX bytes of the existing part to its tag, in steps, so that other sessions
             * are not starved. */
            AUTO_FREE char *piece = malloc(READ_MAX);
            int64_t left = d->have - d->tagged;
            if (piece == NULL)
                salt_no_memory(READ_MAX);
            ssize_t n = pread(d->fd, piece, left < READ_MAX ? (size_t) left : READ_MAX, d->tagged);
            if (n <= 0) {
                d->have = 0;
            } else {
                tag_add(d->tag, piece, (size_t) n);
                d->tagged += n;
            }
            if (d->tagged >= d->have)
                d->stage = STAGE_WAITING;
            download_heard(d);
        }
        if (d->stage == STAGE_PREFIX)
            next = now;
        else if (full && d->stage == STAGE_WAITING)
            download_heard(d); /* waits for its turn */
        else if (now >= d->until_ms)
            download_fail(self, d, -ETIMEDOUT, "the master has not answered for a long time", true);
        else if (d->until_ms < next)
            next = d->until_ms;
    }
    download_pump(self);
    for (const download_t *d = self->all; d; d = d->next)
        if (d->stage == STAGE_WAITING && d->retry_ms > now && d->retry_ms < next)
            next = d->retry_ms;
    return (int) (next - now);
}

/* ---- life ------------------------------------------------------------------------------------ */

downloads_t *
downloads_new(const download_host_t *host)
{
    downloads_t *self = xcalloc(1, sizeof(*self));
    self->host = *host;
    self->uploads = uploads_new(host);
    self->mine = mineasks_new(host);
    return self;
}

void
downloads_destroy(downloads_t **self_p)
{
    downloads_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    while (self->all != NULL) {
        download_t *d = self->all;
        self->all = d->next;
        if (d->part != NULL && value_get(d->ask, "cache") == NULL)
            (void) unlinkat(d->folder, d->part, 0);
        download_free(d);
    }
    uploads_destroy(&self->uploads);
    mineasks_destroy(&self->mine);
    free(self);
}
