/* store.c - the queue in front of the writer, and the writer's thread.
 *
 * Adds append rows to a linked list under `lock` and never touch the disk. The thread takes a batch off the
 * front, commits it as one transaction and publishes its last ticket; a batch that fails stays in the
 * thread's hands and is retried with growing pauses, so order and tickets hold. Between batches it expires
 * old rows in steps of milliseconds. Group commit: while rows come in a crowd the thread lingers for more,
 * since a commit costs a sync however few rows it has. */
#include "master/store/store.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <unistd.h>

#include "common/base/clock.h"
#include "master/store/store_write.h"
#include "salt/value.h"

#define BUSY_ROWS   16   /* a commit of more rows than this means that rows arrive in a crowd: then */
#define LINGER_MS   4    /* wait this long for more before the next one, and again while as many come, */
#define LINGER_MAX  20   /* up to so many ms in all: each commit rewrites every page that a row goes to */
#define EXPIRE_US   5000 /* one step of expiry, and the rest after it, while no rows come */
#define EXPIRE_BUSY 2000 /* one step while rows wait */
#define EXPIRE_SIZE (16 * 1024 * 1024) /* bytes added between checks of the size */
#define BACKOFF_MIN 50 /* ms before the first retry of a failed commit; doubled up to the next */
#define BACKOFF_MAX 5000
#define RESTARTS_MAX                                                                                         \
    3 /* damaged databases moved aside per process; a disk that damages more needs a person */

struct store {
    char *path;
    int fd;
    pthread_t thread;
    store_writer_t *writer; /* used by the thread alone */
    _Atomic uint64_t committed;

    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;  /* signalled for rows, expiry or stop; the thread waits */
    pthread_cond_t done;  /* broadcast after a commit; store_wait waits */
    row_t *head, **tail;
    row_t *last;            /* the row at the tail; NULL: the queue is empty */
    size_t n_rows, n_bytes; /* queued or in the writer's hands */
    bool lingering;         /* the writer waits for a full batch: a single row does not wake it */
    uint64_t last_ticket;
    uint64_t held_from; /* rows from this ticket on wait for store_apart; 0: none */
    bool stop;
    bool expire;
    bool wished; /* wanted again since the step under way began */
    store_keep_t keep;
    size_t added; /* bytes committed since the size was last checked */
    char *trouble, *notice;
    int restarts;
    store_stats_t stats;
};

/* ---- adding ---------------------------------------------------------------------------------- */

static row_t *
row_new(row_kind_t kind, const char *text0)
{
    row_t *row = xcalloc(1, sizeof(*row));

    row->kind = kind;
    row->items = 1;
    row->text[0] = text0 != NULL ? xstrdup(text0) : NULL;
    return row;
}

/* Approximate bytes in memory, for the queue's limits. */
static size_t
row_size(const row_t *row)
{
    size_t n = sizeof(*row);

    for (int i = 0; i < ROW_TEXTS; i++)
        n += row->text[i] != NULL ? strlen(row->text[i]) : 0;
    return n;
}

/* Lock held. True when one commit's worth of rows waits: lingering gains nothing more. */
static bool
is_full(const store_t *self)
{
    return self->n_rows >= LIMIT_STORE_BATCH || self->n_bytes >= LIMIT_STORE_BATCH_BYTES;
}

/* Lock held. True when a row of this size fits. An empty queue takes a row of any size, or a large one never
 * got in. */
static bool
store_own_has_room(const store_t *self, size_t size)
{
    return self->n_rows < LIMIT_STORE_QUEUE &&
           (self->n_rows == 0 || self->n_bytes + size <= LIMIT_STORE_BYTES);
}

/* Lock held. True between store_together and store_apart once the first row was taken: the rest must go with
 * it. */
static bool
is_following(const store_t *self)
{
    return self->held_from > 0 && self->last_ticket >= self->held_from;
}

/* Lock held. Append without checking for room. TAKES row; returns its ticket. `follows`: commit it in the
 * transaction of the row before it. The writer is not woken inside store_together, nor for single rows while
 * it lingers. */
static uint64_t
take_in(store_t *self, row_t *row, bool follows)
{
    row->ticket = ++self->last_ticket;
    if (follows)
        self->last->goes_on = true;
    *self->tail = row;
    self->tail = &row->next;
    self->last = row;
    self->n_rows++;
    self->n_bytes += row->size;
    if (self->held_from == 0 && (!self->lingering || is_full(self)))
        pthread_cond_signal(&self->work);
    return row->ticket;
}

/* Lock held. TAKES row; returns its ticket, or 0 (row freed) when the queue is full. */
static uint64_t
store_append(store_t *self, row_t *row)
{
    bool follows = is_following(self);

    /* Rows that belong to a taken row are never refused, or a transaction would be torn. */
    if (!follows && !store_own_has_room(self, row->size)) {
        self->stats.refused += row->items;
        rows_free(row);
        return 0;
    }
    return take_in(self, row, follows);
}

/* TAKES row. Counts the size of the row and of those written with it. */
static uint64_t
store_enqueue(store_t *self, row_t *row)
{
    for (row_t *part = row; part != NULL; part = part->with)
        row->size += row_size(part);
    pthread_mutex_lock(&self->lock);
    uint64_t ticket = store_append(self, row);
    pthread_mutex_unlock(&self->lock);
    return ticket;
}

void
store_together(store_t *self)
{
    pthread_mutex_lock(&self->lock);
    self->held_from = self->last_ticket + 1;
    pthread_mutex_unlock(&self->lock);
}

void
store_apart(store_t *self)
{
    pthread_mutex_lock(&self->lock);
    self->held_from = 0;
    if (self->head != NULL && (!self->lingering || self->n_rows >= LIMIT_STORE_BATCH))
        pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
}

/* NEW text of a member: a string as it is, anything else as JSON ("fun" and "tgt" may be lists), "" when
 * absent. */
static char *
member_text(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);

    if (v == NULL || json_is_null(v))
        return xstrdup("");
    return json_is_string(v) ? xstrdup(json_string_value(v)) : value_dump(v);
}

/* NEW row for a job's note; NULL without one. Written in the job's transaction, and only if the job was
 * new. */
static row_t *
note_row(const json_t *job)
{
    const json_t *note = json_object_get(job, "note");
    row_t *row;

    if (!json_is_object(note))
        return NULL;
    row = row_new(ROW_NOTE, value_str(note, "kind", ""));
    row->text[1] = xstrdup(value_str(note, "ref", ""));
    row->text[2] = xstrdup(value_str(note, "part", ""));
    row->text[3] = xstrdup(value_str(job, "jid", ""));
    return row;
}

/* The list of minions has a column of its own and leaves the document: both may be large, and most readers
 * need only one. */
uint64_t
store_add_job(store_t *self, json_t **job_p)
{
    json_t *job = STEAL(*job_p);
    json_t *minions = json_object_get(job, "minions");
    row_t *row = row_new(ROW_JOB, value_str(job, "jid", ""));

    row->text[1] = member_text(job, "fun");
    row->text[2] = member_text(job, "tgt");
    row->text[4] = minions != NULL ? value_dump(minions) : xstrdup("[]");
    row->num[0] = value_int(job, "start_us", clock_wall_us());
    row->num[1] = (int64_t) json_array_size(minions);
    row->with = note_row(job);
    json_t *rest = json_copy(job);
    json_object_del(rest, "minions");
    row->text[3] = value_dump(rest);
    json_decref(rest);
    json_decref(job);
    return store_enqueue(self, row);
}

/* Queue what is known of a job beside its row, as the note {kind, jid, part}. TAKES part. */
static uint64_t
mark_job(store_t *self, const char *jid, const char *kind, char *part)
{
    row_t *row = row_new(ROW_NOTE, kind);

    row->text[1] = xstrdup(jid);
    row->text[2] = part;
    row->text[3] = xstrdup(jid);
    return store_enqueue(self, row);
}

uint64_t
store_end_job(store_t *self, const char *jid, int64_t end_us)
{
    return mark_job(self, jid, NOTE_ENDED, end_us != 0 ? xasprintf(NOTE_TIME, end_us) : xstrdup(""));
}

uint64_t
store_halt_job(store_t *self, const char *jid, const char *reason)
{
    return mark_job(self, jid, NOTE_HALTED, xstrdup(reason));
}

uint64_t
store_add_return(store_t *self, const char *jid, const char *id, char **raw_p, int retcode, bool success)
{
    /* Allocate a row and its two short texts in one block; for returns, which come in crowds. */
    size_t len0 = strlen(jid) + 1, len1 = strlen(id) + 1;
    row_t *row = xcalloc(1, sizeof(*row) + len0 + len1);
    row->kind = ROW_RETURN;
    row->items = 1;
    row->inside = 2;
    row->text[0] = memcpy(row->own, jid, len0);
    row->text[1] = memcpy(row->own + len0, id, len1);

    row->text[2] = STEAL(*raw_p);
    row->num[0] = retcode;
    row->num[1] = success;
    row->num[2] = clock_wall_us();
    return store_enqueue(self, row);
}

/* Append frames to a waiting row of events; the buffer doubles, so n events cost O(n) copying. */
static void
grow_events(row_t *row, uint64_t first, uint64_t last, int64_t wall_us, const char *frames, size_t len)
{
    if (row->len + len > row->cap) {
        row->cap = row->len > 0 ? (row->len + len) * 2 : len;
        row->text[0] = xrealloc(row->text[0], row->cap);
    }
    memcpy(row->text[0] + row->len, frames, len);
    row->len += len;
    row->num[1] = (int64_t) last;
    row->num[3] = wall_us;
    row->items += (size_t) (last - first + 1);
    row->size += len;
}

uint64_t
store_add_events(store_t *self, uint64_t first, uint64_t last, int64_t wall_us, const char *frames,
                 size_t len)
{
    uint64_t ticket;

    pthread_mutex_lock(&self->lock);
    row_t *row = self->last;
    /* Merge with the row at the queue's tail, so that a flood of events makes few rows; but not across
     * store_together, whose rows are a transaction of their own. */
    if (row != NULL && row->kind == ROW_EVENTS && row->ticket >= self->held_from &&
        row->len + len <= EVENT_BLOCK && self->n_bytes + len <= LIMIT_STORE_BYTES) {
        grow_events(row, first, last, wall_us, frames, len);
        self->n_bytes += len;
        ticket = row->ticket;
    } else {
        row = row_new(ROW_EVENTS, NULL);
        row->size = sizeof(*row);
        row->items = 0;
        row->num[0] = (int64_t) first;
        row->num[2] = wall_us;
        grow_events(row, first, last, wall_us, frames, len);
        ticket = store_append(self, row);
    }
    pthread_mutex_unlock(&self->lock);
    return ticket;
}

static uint64_t
put_doc(store_t *self, row_kind_t kind, const char *id, char **doc_p)
{
    row_t *row = row_new(kind, id);

    row->text[1] = STEAL(*doc_p);
    row->num[0] = clock_wall_us();
    return store_enqueue(self, row);
}

uint64_t
store_put_grains(store_t *self, const char *id, char **grains_p)
{
    return put_doc(self, ROW_GRAINS, id, grains_p);
}

uint64_t
store_put_pillar(store_t *self, const char *id, char **pillar_p)
{
    return put_doc(self, ROW_PILLAR, id, pillar_p);
}

uint64_t
store_put_mine(store_t *self, const char *id, char **mine_p)
{
    return put_doc(self, ROW_MINE, id, mine_p);
}

static const row_kind_t forgets[STORE_DOCS] = {
    [STORE_GRAINS] = ROW_FORGET, [STORE_PILLAR] = ROW_FORGET_PILLAR, [STORE_MINE] = ROW_FORGET_MINE
};

uint64_t
store_forget(store_t *self, const char *id, store_doc_t what)
{
    return store_enqueue(self, row_new(forgets[what], id));
}

/* Bypasses the limits: a deleted minion's documents must not survive, however full the queue. */
uint64_t
store_del_minion(store_t *self, const char *id)
{
    uint64_t ticket = 0;

    pthread_mutex_lock(&self->lock);
    for (store_doc_t what = 0; what < STORE_DOCS; what++) {
        row_t *row = row_new(forgets[what], id);
        row->size = row_size(row);
        ticket = take_in(self, row, what > 0 || is_following(self));
    }
    pthread_mutex_unlock(&self->lock);
    return ticket;
}

uint64_t
store_put_meta(store_t *self, const char *key, const char *value)
{
    row_t *row = row_new(ROW_META, key);

    row->text[1] = xstrdup(value);
    return store_enqueue(self, row);
}

uint64_t
store_del_meta(store_t *self, const char *key)
{
    return store_enqueue(self, row_new(ROW_FORGET_META, key));
}

uint64_t
store_add_run(store_t *self, const char *run, const char *doc, const char *plan, int64_t start_us)
{
    row_t *row = row_new(ROW_RUN, run);

    row->text[1] = xstrdup(doc);
    row->text[2] = xstrdup(plan);
    row->num[0] = start_us;
    return store_enqueue(self, row);
}

uint64_t
store_end_run(store_t *self, const char *run, const char *result, int64_t end_us)
{
    row_t *row = row_new(ROW_RUN_END, run);

    row->text[1] = xstrdup(result);
    row->num[0] = end_us;
    return store_enqueue(self, row);
}

uint64_t
store_put_step(store_t *self, const char *run, const char *tag, int64_t go, int64_t begin_us, int64_t end_us,
               const char *doc)
{
    row_t *row = row_new(ROW_STEP, run);

    row->text[1] = xstrdup(tag);
    row->text[2] = xstrdup(doc);
    row->num[0] = go;
    row->num[1] = begin_us;
    row->num[2] = end_us;
    return store_enqueue(self, row);
}

void
store_expire(store_t *self, const store_keep_t *keep)
{
    pthread_mutex_lock(&self->lock);
    self->expire = self->wished = true;
    self->keep = *keep;
    pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
}

/* ---- the writer's thread --------------------------------------------------------------------- */

/* Make the eventfd readable. */
static void
wake_owner(store_t *self)
{
    uint64_t one = 1;

    /* Fails only when the counter is full; the reader wakes then anyway. */
    if (write(self->fd, &one, sizeof(one)) < 0)
        return;
}

/* Lock held. Wait for `cond` at most `ms`, without limit below 0. The conditions use CLOCK_MONOTONIC. */
static void
wait_work(store_t *self, pthread_cond_t *cond, int64_t ms)
{
    struct timespec until;

    if (ms < 0) {
        pthread_cond_wait(cond, &self->lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(cond, &self->lock, &until);
}

/* Lock held. True when the writer may take this row: it is not inside an open store_together. */
static bool
store_is_free(const store_t *self, const row_t *row)
{
    return row != NULL && (self->held_from == 0 || row->ticket < self->held_from);
}

/* Lock held. Detach a batch from the queue's front, within LIMIT_STORE_BATCH and _BATCH_BYTES except for rows
 * that must be committed together. NULL when none may be taken. */
static row_t *
take_rows(store_t *self)
{
    row_t *first = self->head, **link = &self->head;
    size_t bytes = 0;
    bool more = true;

    if (!store_is_free(self, first))
        return NULL;
    for (int n = 1; more && store_is_free(self, *link); n++) {
        bytes += (*link)->size;
        more = (*link)->goes_on || (n < LIMIT_STORE_BATCH && bytes < LIMIT_STORE_BATCH_BYTES);
        link = &(*link)->next;
    }
    if (*link == NULL) {
        self->head = self->last = NULL;
        self->tail = &self->head;
        return first;
    }
    self->head = *link;
    *link = NULL;
    return first;
}

/* TAKES *text_p (may be NULL: no error). Wakes the owner only when an error begins or ends. */
static void
set_trouble(store_t *self, char **text_p)
{
    pthread_mutex_lock(&self->lock);
    bool changed = (self->trouble == NULL) != (*text_p == NULL);
    free(self->trouble);
    self->trouble = STEAL(*text_p);
    pthread_mutex_unlock(&self->lock);
    if (changed)
        wake_owner(self);
}

/* Move a notice of the writer's to where store_notice finds it. */
static void
pass_notice(store_t *self)
{
    pthread_mutex_lock(&self->lock);
    /* Keep an unread notice; the writer's waits its turn. */
    char *text = self->notice == NULL ? store_writer_notice(self->writer) : NULL;
    self->notice = text != NULL ? text : self->notice;
    pthread_mutex_unlock(&self->lock);
    if (text != NULL)
        wake_owner(self);
}

/* Handle a failed commit or step. After damage, begin a new database: true, retry at once. Otherwise record
 * the error as `trouble`: false, back off. */
static bool
handle_failure(store_t *self, const fail_t *err)
{
    fail_auto_t again = FAIL_INIT;

    if (err->code == -EUCLEAN && self->restarts < RESTARTS_MAX) {
        self->restarts++;
        int rc = store_writer_restart(self->writer, fail_text(err), &again);
        pass_notice(self);
        if (rc == 0)
            return true;
        err = &again;
    }
    char *text = xstrdup(fail_text(err));
    set_trouble(self, &text);
    return false;
}

/* Pause after the n-th failure, doubling up to BACKOFF_MAX. False when the store stops: give up. */
static bool
back_off(store_t *self, int failures)
{
    int64_t ms = failures < 8 ? (int64_t) BACKOFF_MIN << failures : BACKOFF_MAX;
    int64_t until = clock_mono_ms() + (ms < BACKOFF_MAX ? ms : BACKOFF_MAX);

    pthread_mutex_lock(&self->lock);
    for (int64_t left; !self->stop && (left = until - clock_mono_ms()) > 0;)
        wait_work(self, &self->work, left);
    bool stop = self->stop;
    pthread_mutex_unlock(&self->lock);
    return !stop;
}

/* Run one step of expiry if it is wanted. True when there is more to do. */
static bool
expire_step(store_t *self)
{
    fail_auto_t err = FAIL_INIT;
    bool more = false;

    pthread_mutex_lock(&self->lock);
    bool wanted = self->expire;
    self->wished = false;
    store_keep_t keep = self->keep;
    int64_t for_us = self->head != NULL ? EXPIRE_BUSY : EXPIRE_US;
    pthread_mutex_unlock(&self->lock);
    if (!wanted)
        return false;
    int n = store_writer_expire(self->writer, &keep, for_us, &more, &err);
    if (n < 0)
        handle_failure(self, &err);
    pthread_mutex_lock(&self->lock);
    /* A failed step is dropped, as queued rows matter more and store_expire is called again. A wish that came
     * during the step may be for more than the step knew of, so it stays. */
    if (n < 0 || !more) {
        self->expire = self->wished;
        self->added = 0;
    }
    self->stats.expired += n > 0 ? (uint64_t) n : 0;
    pthread_mutex_unlock(&self->lock);
    return n >= 0 && more;
}

/* Retry a batch until it is committed; give up only when the store stops while the disk still fails. Returns
 * its number of rows. Frees the batch. */
static size_t
commit_batch(store_t *self, row_t *batch)
{
    uint64_t duplicates;
    size_t n = 0;

    for (int failures = 0;; failures++) {
        fail_auto_t err = FAIL_INIT;
        char *fine = NULL;
        if (store_writer_commit(self->writer, batch, &duplicates, &err) == 0) {
            pass_notice(self);
            set_trouble(self, &fine);

            /* Release the batch's share of the queue, publish its ticket and wake the waiters. */
            uint64_t last = 0;

            pthread_mutex_lock(&self->lock);
            for (const row_t *row = batch; row != NULL; row = row->next) {
                last = row->ticket;
                self->n_rows--;
                self->n_bytes -= row->size;
                self->added += row->size;
                self->stats.rows += row->items;
            }
            if (self->keep.bytes > 0 && self->added >= EXPIRE_SIZE)
                self->expire = true;
            self->stats.commits++;
            self->stats.duplicates += duplicates;
            atomic_store(&self->committed, last);
            pthread_cond_broadcast(&self->done);
            pthread_mutex_unlock(&self->lock);
            wake_owner(self);

            break;
        }
        if (!handle_failure(self, &err) && !back_off(self, failures))
            break;
    }
    for (const row_t *row = batch; row != NULL; row = row->next)
        n++;
    rows_free(batch);
    return n;
}

static void *
writer_main(void *arg)
{
    store_t *self = arg;
    size_t last_rows = 0;
    bool stop = false;

    prctl(PR_SET_NAME, "store");
    while (!stop) {
        /* The next batch, or NULL when there is none and expiry or a stop is due. Lingers only after a large
         * batch, so a lone row is committed at once. */
        pthread_mutex_lock(&self->lock);
        while (!store_is_free(self, self->head) && !self->stop && !self->expire)
            wait_work(self, &self->work, -1);
        if (last_rows >= BUSY_ROWS && self->head != NULL) {
            /* Lock held. Wait for more rows while at least BUSY_ROWS come in each LINGER_MS, up to
             * LINGER_MAX. Ends early with a full batch or a stop. */
            int64_t until = clock_mono_ms() + LINGER_MAX;
            size_t had;

            self->lingering = true;
            do {
                int64_t step = clock_mono_ms() + LINGER_MS, left;
                had = self->n_rows;
                while (!is_full(self) && !self->stop && (left = step - clock_mono_ms()) > 0)
                    wait_work(self, &self->work, left);
            } while (!is_full(self) && !self->stop && self->n_rows - had > BUSY_ROWS &&
                     clock_mono_ms() < until);
            self->lingering = false;
        }
        row_t *batch = take_rows(self);
        pthread_mutex_unlock(&self->lock);

        last_rows = batch != NULL ? commit_batch(self, batch) : 0;
        pthread_mutex_lock(&self->lock);
        /* On stop, write the queue first, unless the disk fails. */
        stop = self->stop && (self->head == NULL || self->trouble != NULL);
        pthread_mutex_unlock(&self->lock);
        if (!stop && expire_step(self)) {
            /* Pause between steps of expiry while no rows come, to leave the disk to others. */
            pthread_mutex_lock(&self->lock);
            if (self->head == NULL && self->expire && !self->stop)
                wait_work(self, &self->work, EXPIRE_US / 1000);
            pthread_mutex_unlock(&self->lock);
        }
    }
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Block all signals in the new thread; the main thread handles them. */
static int
store_start_thread(store_t *self)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&self->thread, NULL, writer_main, self);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

static void
free_store(store_t *self)
{
    rows_free(self->head);
    store_writer_destroy(&self->writer);
    pthread_cond_destroy(&self->work);
    pthread_cond_destroy(&self->done);
    pthread_mutex_destroy(&self->lock);
    if (self->fd >= 0)
        close(self->fd);
    free(self->trouble);
    free(self->notice);
    free(self->path);
    free(self);
}

/* The conditions use the monotonic clock, so that a step of the wall clock neither wakes nor delays the
 * writer. On failure nothing stays behind. */
store_t *
store_new(const char *path, fail_t *err)
{
    store_t *self = xcalloc(1, sizeof(*self));
    pthread_condattr_t attr;
    int rc = 0;

    self->path = xstrdup(path);
    self->tail = &self->head;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&self->work, &attr);
    pthread_cond_init(&self->done, &attr);
    pthread_condattr_destroy(&attr);
    self->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (self->fd < 0)
        fail_set(err, -errno, "the job store's eventfd: %s", strerror(errno));
    else
        self->writer = store_writer_new(path, err);
    if (self->writer != NULL)
        pass_notice(self);
    if (self->writer != NULL && (rc = store_start_thread(self)) == 0)
        return self;
    if (self->writer != NULL)
        fail_set(err, rc, "the job store's thread: %s", strerror(-rc));
    free_store(self);
    return NULL;
}

void
store_destroy(store_t **self_p)
{
    store_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    free_store(self);
}

/* ---- asking ---------------------------------------------------------------------------------- */

const char *
store_path(const store_t *self)
{
    return self->path;
}

int
store_fd(const store_t *self)
{
    return self->fd;
}

uint64_t
store_committed(const store_t *self)
{
    return atomic_load(&self->committed);
}

bool
store_wait(store_t *self, uint64_t ticket, int timeout_ms)
{
    int64_t until = clock_mono_ms() + timeout_ms, left;

    pthread_mutex_lock(&self->lock);
    while (store_committed(self) < ticket && (left = until - clock_mono_ms()) > 0)
        wait_work(self, &self->done, left);
    pthread_mutex_unlock(&self->lock);
    return store_committed(self) >= ticket;
}

char *
store_trouble(store_t *self)
{
    pthread_mutex_lock(&self->lock);
    char *text = self->trouble != NULL ? xstrdup(self->trouble) : NULL;
    pthread_mutex_unlock(&self->lock);
    return text;
}

char *
store_notice(store_t *self)
{
    pthread_mutex_lock(&self->lock);
    char *text = STEAL(self->notice);
    pthread_mutex_unlock(&self->lock);
    return text;
}

bool
store_has_room(store_t *self, size_t bytes)
{
    pthread_mutex_lock(&self->lock);
    bool room = store_own_has_room(self, sizeof(row_t) + bytes);
    pthread_mutex_unlock(&self->lock);
    return room;
}

size_t
store_waiting(store_t *self)
{
    pthread_mutex_lock(&self->lock);
    size_t bytes = self->n_bytes;
    pthread_mutex_unlock(&self->lock);
    return bytes;
}

void
store_get_stats(store_t *self, store_stats_t *ret_stats)
{
    pthread_mutex_lock(&self->lock);
    *ret_stats = self->stats;
    ret_stats->queued = self->n_rows;
    ret_stats->expiring = self->expire;
    pthread_mutex_unlock(&self->lock);
}
