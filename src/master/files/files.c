/* files.c - the file workers as the front loop uses them: requests are checked, counted and queued for a
 * worker; credit and pushed chunks are handed on; finished messages are fetched. Everything here runs in the
 * front loop and holds `lock` briefly; the work is in files_work.c and files_serve.c. */
#include "master/files/files_int.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

static const char *const ops[] = { "get",   "hash", "files",   "dirs", "empty_dirs",
                                   "links", "envs", "options", "put" };

/* ---- output ---------------------------------------------------------------------------------- */

/* An empty queue clears the eventfd, and sets it again if answers for local connections are still waiting. */
files_out_t *
files_next(files_t *self)
{
    uint64_t n, one = 1;
    (void) pthread_mutex_lock(&self->lock);
    files_out_t *out = self->out;
    if (out != NULL) {
        self->out = out->next;
        if (self->out == NULL)
            self->out_tail = &self->out;
    } else {
        (void) !read(self->fd, &n, sizeof(n)); /* names that came meanwhile are announced again */
        for (const files_names_t *q = self->names; q; q = q->next)
            if (q->state == NAMES_DONE)
                (void) !write(self->fd, &one, sizeof(one));
    }
    (void) pthread_mutex_unlock(&self->lock);
    return out;
}

fileserver_fetch_t
files_fetched(files_t *self)
{
    (void) pthread_mutex_lock(&self->lock);
    fileserver_fetch_t fetch = self->fetch;
    self->fetch = (fileserver_fetch_t){ 0 };
    (void) pthread_mutex_unlock(&self->lock);
    return fetch;
}

int
files_fd(const files_t *self)
{
    return self->fd;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool
is_of(const asking_t *a, const void *rid, size_t rid_len)
{
    return !a->gone && a->rid_len == rid_len && memcmp(a->rid, rid, rid_len) == 0;
}

/* Lock held. Call `fn` (may be NULL) with each request of a connection; returns their number. */
static size_t
each(files_t *self, const void *rid, size_t rid_len,
     void (*fn)(files_t *self, asking_t *a, const json_t *body), const json_t *body)
{
    size_t n = 0;
    for (asking_t *a = *files_bucket(self, rid, rid_len); a; a = a->peer_next)
        if (is_of(a, rid, rid_len)) {
            n++;
            if (fn != NULL)
                fn(self, a, body);
        }
    return n;
}

/* A member as a string without NUL bytes, on which C and JSON agree; "" for any other. */
static const char *
files_text(const json_t *body, const char *key, const char *dflt)
{
    const char *text = value_str(body, key, dflt);
    json_t *v = value_get(body, key);
    return json_is_string(v) && strlen(text) != json_string_length(v) ? "" : text;
}

/* Why a request is refused, with *ret_code; NULL: accepted. */
static const char *
files_refusal(files_t *self, const asking_t *a, size_t n_peer, int *ret_code)
{
    *ret_code = -EAGAIN;
    if (n_peer >= LIMIT_FILE_PEER)
        return "too many requests for files on one connection";
    if (self->n_asking >= LIMIT_FILE_WAITING)
        return "too many requests for files wait on this master";
    *ret_code = -EINVAL;
    if (a->op == NULL)
        return "no such operation on files";
    bool moves = str_eq(a->op, "get") || str_eq(a->op, "put");
    return moves && (a->tag == NULL || a->at < 0) ? "a request for a file without its key" : NULL;
}

/* Queue a request with its worker, or answer why it is refused. */
void
files_open(files_t *self, const peer_t *peer, const json_t *body)
{
    /* Build a request from a message. Numbers are clamped to limits; a missing or unknown `op` leaves op
     * NULL. */
    const char *op = value_str(body, "op", "");
    asking_t *a = xcalloc(1, sizeof(*a));
    json_int_t credit = value_int(body, "credit", 0);
    memcpy(a->rid, peer->rid, peer->rid_len);
    a->rid_len = peer->rid_len;
    a->id = xstrdup(peer->minion != NULL ? peer->minion->id : "");
    a->in_tail = &a->in;
    a->granted = LIMIT_FILE_CREDIT;
    a->folder = a->taken = -1;
    a->n = value_int(body, "n", 0);
    a->path = xstrdup(files_text(body, "path", ""));
    a->saltenv = xstrdup(files_text(body, "saltenv", "base"));
    a->start = a->at = value_int(body, "at", 0);
    a->known_size = value_int(body, "size", -1);
    a->credit = credit > LIMIT_FILE_CREDIT ? LIMIT_FILE_CREDIT : credit < 0 ? 0 : (int) credit;
    a->heard_ms = clock_mono_ms();
    a->file = (served_t) SERVED_INIT;
    a->tag = tag_new(value_str(body, "key", ""));
    for (size_t i = 0; i < NELEMS(ops); i++)
        if (str_eq(op, ops[i]))
            a->op = xstrdup(op);

    int code;
    (void) pthread_mutex_lock(&self->lock);
    const char *why = files_refusal(self, a, each(self, peer->rid, peer->rid_len, NULL, NULL), &code);
    if (why != NULL) {
        files_put(self, asking_error(a, false, code, why));
        asking_free(a);
    } else {
        /* The worker of a path, by a hash (djb2): one worker per file, so that each caches its hashes. */
        unsigned h = 5381;
        for (const char *p = a->path; *p; p++)
            h = h * 33 + (unsigned char) *p;
        files_worker_t *w = &self->workers[h % self->n_workers];

        asking_t **bucket = files_bucket(self, a->rid, a->rid_len);
        a->peer_next = *bucket;
        *bucket = a;
        a->worker = w;
        a->serial = ++self->serial;

        /* The minion's share, made with its first request; files_forget frees it with the last. */
        const char *id = a->id;
        files_share_t *share = map_get(self->shares, id);
        if (share == NULL)
            map_set(self->shares, id, share = xcalloc(1, sizeof(*share)));
        share->n_asking++;
        a->share = share;

        *w->tail = a;
        w->tail = &a->next;
        self->n_asking++;
        (void) pthread_cond_signal(&w->wake);
    }
    (void) pthread_mutex_unlock(&self->lock);
}

/* Credit from the receiver: its chunks have arrived, and so many more may be sent. */
static void
files_grant(files_t *self, asking_t *a, const json_t *body)
{
    json_int_t more = value_int(body, "credit", 0);
    if (a->n != value_int(body, "n", 0) || more <= 0)
        return;
    a->heard_ms = clock_mono_ms();
    more = more > LIMIT_FILE_CREDIT ? LIMIT_FILE_CREDIT : more;
    a->credit = a->credit + more > LIMIT_FILE_CREDIT ? LIMIT_FILE_CREDIT : a->credit + (int) more;
    files_received(self, a, (size_t) more * LIMIT_FILE_CHUNK);
    (void) pthread_cond_signal(&a->worker->wake);
}

/* End a request; the worker frees it. `body` NULL: the connection is gone, end all. */
static void
files_end(files_t *self, asking_t *a, const json_t *body)
{
    if (body != NULL && a->n != value_int(body, "n", 0))
        return;
    a->gone = true;
    files_received(self, a, a->under_way);
    (void) pthread_cond_signal(&a->worker->wake);
}

void
files_more(files_t *self, const peer_t *peer, const json_t *body)
{
    (void) pthread_mutex_lock(&self->lock);
    (void) each(self, peer->rid, peer->rid_len, files_grant, body);
    (void) pthread_mutex_unlock(&self->lock);
}

/* A pushed chunk, or with `tag` the end. A chunk beyond the granted ones, or after the end, fails the
 * request. */
static void
files_push(files_t *self, const peer_t *peer, const json_t *body, const void *bytes, size_t n,
           const char *tag)
{
    json_int_t which = value_int(body, "n", 0);
    (void) pthread_mutex_lock(&self->lock);
    asking_t *a = *files_bucket(self, peer->rid, peer->rid_len);
    while (a != NULL && !(is_of(a, peer->rid, peer->rid_len) && a->n == which && str_eq(a->op, "put")))
        a = a->peer_next;
    if (a != NULL && (n > LIMIT_FILE_CHUNK || a->all_came || (tag == NULL && (n == 0 || a->granted <= 0)))) {
        files_give_up(self, a, -EPROTO, "more than was granted");
    } else if (a != NULL) {
        files_in_t *in = xcalloc(1, sizeof(*in) + n);
        in->at = value_int(body, "at", 0);
        in->tag = tag != NULL ? xstrdup(tag) : NULL;
        in->n = n;
        memcpy(in->bytes, bytes, n);
        *a->in_tail = in;
        a->in_tail = &in->next;
        a->granted -= tag == NULL;
        a->all_came = tag != NULL;
        a->heard_ms = clock_mono_ms();
        (void) pthread_cond_signal(&a->worker->wake);
    }
    (void) pthread_mutex_unlock(&self->lock);
}

void
files_part(files_t *self, const peer_t *peer, const json_t *body, const void *bytes, size_t n)
{
    files_push(self, peer, body, bytes, n, NULL);
}

void
files_done(files_t *self, const peer_t *peer, const json_t *body)
{
    files_push(self, peer, body, "", 0, value_str(body, "tag", ""));
}

void
files_stop(files_t *self, const peer_t *peer, const json_t *body)
{
    (void) pthread_mutex_lock(&self->lock);
    (void) each(self, peer->rid, peer->rid_len, files_end, body);
    (void) pthread_mutex_unlock(&self->lock);
}

void
files_gone(files_t *self, const void *rid, size_t rid_len)
{
    (void) pthread_mutex_lock(&self->lock);
    (void) each(self, rid, rid_len, files_end, NULL);
    (void) pthread_mutex_unlock(&self->lock);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The i-th thread: workers, then the updater; NULL behind the last. */
static files_worker_t *
files_nth(files_t *self, size_t i)
{
    return i < self->n_workers                                   ? &self->workers[i]
           : i == self->n_workers && self->updater.owner != NULL ? &self->updater
                                                                 : NULL;
}

void
files_reload(files_t *self, json_t *opts)
{
    (void) pthread_mutex_lock(&self->lock);
    files_worker_t *w;
    for (size_t i = 0; (w = files_nth(self, i)); i++) {
        free(w->fresh_opts);
        w->fresh_opts = value_dump(opts);
        (void) pthread_cond_signal(&w->wake);
    }
    (void) pthread_mutex_unlock(&self->lock);
}

/* Workers and the updater read their first configuration like a reload. 0, or a negative errno. */
static int
start_worker(files_t *self, files_worker_t *w, void *(*fn)(void *), json_t *opts)
{
    pthread_condattr_t attr;
    w->owner = self;
    w->tail = &w->ring;
    w->fresh_opts = value_dump(opts);
    (void) pthread_condattr_init(&attr);
    (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&w->wake, &attr);
    (void) pthread_condattr_destroy(&attr);
    int rc = pthread_create(&w->thread, NULL, fn, w);
    if (rc != 0) {
        free(w->fresh_opts);
        w->owner = NULL;
    }
    return -rc;
}

files_t *
files_new(json_t *opts, fail_t *err)
{
    files_t *self = xcalloc(1, sizeof(*self));
    (void) pthread_mutex_init(&self->lock, NULL);
    self->shares = map_new(free);
    self->out_tail = &self->out;
    self->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = self->fd < 0 ? -errno : 0;
    take_begin(opts);
    /* Held so that no worker reads n_workers while it still changes. */
    (void) pthread_mutex_lock(&self->lock);
    for (size_t i = 0; rc == 0 && i < FILES_WORKERS; i++)
        if ((rc = start_worker(self, &self->workers[i], files_work, opts)) == 0)
            self->n_workers++;
    if (rc == 0)
        rc = start_worker(self, &self->updater, files_update, opts);
    (void) pthread_mutex_unlock(&self->lock);
    if (rc == 0)
        return self;
    (void) fail_set(err, rc, "the file workers can't be started: %s", strerror(-rc));
    (void) files_destroy(&self);
    return NULL;
}

/* Tell all threads to stop. False when a fetch from a remote is under way, which can't be interrupted. */
static bool
end_threads(files_t *self)
{
    files_worker_t *w;
    (void) pthread_mutex_lock(&self->lock);
    self->stop = true;
    bool soon = !self->fetching;
    for (size_t i = 0; (w = files_nth(self, i)); i++)
        (void) pthread_cond_signal(&w->wake);
    (void) pthread_mutex_unlock(&self->lock);
    return soon;
}

/* Joins the threads unless a fetch is under way; then everything stays allocated for it. */
bool
files_destroy(files_t **self_p)
{
    files_t *self = STEAL(*self_p);
    files_worker_t *w;
    if (self == NULL)
        return true;
    if (!end_threads(self))
        return false;
    for (size_t i = 0; (w = files_nth(self, i)); i++) {
        /* Requests in the ring are freed with their files and unfinished pushes. */
        (void) pthread_join(w->thread, NULL);
        for (asking_t *a; (a = w->ring);) {
            w->ring = a->next;
            asking_free(a);
        }
        fileserver_destroy(&w->server);
        json_decref(w->opts);
        free(w->fresh_opts);
        (void) pthread_cond_destroy(&w->wake);
    }
    for (files_out_t *out; (out = self->out);) {
        self->out = out->next;
        files_out_free(out);
    }
    for (files_names_t *q; (q = self->names);) {
        self->names = q->next;
        files_names_free(q);
    }
    if (self->fd >= 0)
        (void) close(self->fd);
    map_destroy(&self->shares);
    (void) pthread_mutex_destroy(&self->lock);
    free(self);
    return true;
}
