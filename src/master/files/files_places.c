/* files_places.c - the table of requests: places and bytes of each minion, and the queue of outgoing
 * messages. Every function here needs the lock. */
#include "master/files/files_int.h"

#include <unistd.h>

#include "salt/limits.h"

/* NULL is allowed. */
void
files_out_free(files_out_t *out)
{
    if (out != NULL)
        free(out->data);
    free(out);
}

void
files_put(files_t *self, files_out_t *out)
{
    uint64_t one = 1;
    *self->out_tail = out;
    self->out_tail = &out->next;
    (void) !write(self->fd, &one, sizeof(one));
}

asking_t **
files_bucket(files_t *self, const uint8_t *rid, size_t rid_len)
{
    unsigned h = 0;
    for (size_t i = 0; i < rid_len; i++)
        h = h * 257 + rid[i];
    return &self->buckets[h % FILES_BUCKETS];
}

/* After a shared limit was lifted: any worker may have a request that waited for it. */
void
files_wake_all(files_t *self)
{
    for (size_t i = 0; i < self->n_workers; i++)
        (void) pthread_cond_signal(&self->workers[i].wake);
}

/* Workers are woken only if a limit was reached: then some request may have waited for these bytes. */
void
files_received(files_t *self, asking_t *a, size_t bytes)
{
    bytes = bytes < a->under_way ? bytes : a->under_way;
    if (self->under_way >= LIMIT_FILE_UNDER_WAY || a->share->under_way >= LIMIT_FILE_MINION_BYTES)
        files_wake_all(self);
    a->under_way -= bytes;
    a->share->under_way -= bytes;
    self->under_way -= bytes;
}

bool
files_full(const files_t *self, const asking_t *a)
{
    return self->n_open >= LIMIT_FILE_OPEN || a->share->n_open >= LIMIT_FILE_MINION;
}

void
files_forget(files_t *self, asking_t *a)
{
    asking_t **at = files_bucket(self, a->rid, a->rid_len);
    while (*at != a)
        at = &(*at)->peer_next;
    *at = a->peer_next;
    self->n_asking--;
    if (files_full(self, a)) /* others may have waited for this place */
        files_wake_all(self);
    self->n_open -= a->state != ASKING_NEW;
    a->share->n_open -= a->state != ASKING_NEW;
    files_received(self, a, a->under_way);
    if (--a->share->n_asking == 0)
        (void) map_del(self->shares, a->id);
    a->share = NULL;
}

void
files_give_up(files_t *self, asking_t *a, int code, const char *why)
{
    files_put(self, asking_error(a, true, code, why));
    a->gone = true;
}
