/* parts.c - walk the table of parts. n_started counts the parts to undo: it grows before a part's start is
 * called, so a part that fails halfway is destroyed as well. */
#include "master/front/parts.h"

#include "master/front/part.h"

/* ---- start ----------------------------------------------------------------------------------- */

/* Find the part by its descriptor; there are few. */
static int
front_parts_readable(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *front = arg;
    const front_part_t *part;
    for (size_t i = 0; i < front->n_started; i++)
        if ((part = front->parts[i])->fd != NULL && part->fd(front) == item->fd)
            part->readable(front);
    return 0;
}

int
parts_start(front_t *front, fail_t *err)
{
    int rc = 0;
    for (size_t i = 0; i < front->n_parts && rc == 0; i++) {
        /* Starts each part in the table's order. */
        const front_part_t *part = front->parts[i];
        if (part->size > 0)
            front->own[i] = xcalloc(1, part->size);
        front->n_started++; /* before start: a part that fails halfway is destroyed too */
        rc = part->start != NULL ? part->start(front, err) : 0;
        if (rc == 0 && part->fd != NULL) {
            /* Watches the part's descriptor. */
            int fd = part->fd(front);
            zmq_pollitem_t item = { NULL, fd, ZMQ_POLLIN, 0 };
            (void) zloop_poller(front->loop, &item, front_parts_readable, front);
            zloop_poller_set_tolerant(front->loop, &item);
        }
    }
    return rc;
}

/* ---- while it runs --------------------------------------------------------------------------- */

void
parts_tick(front_t *front, int64_t now_ms)
{
    for (size_t i = 0; i < front->n_started; i++) {
        const front_part_t *part = front->parts[i];
        if (part->tick == NULL || now_ms < front->next_ms[i])
            continue;
        front->next_ms[i] = now_ms + (part->pause_ms != NULL ? part->pause_ms(front) : part->every_ms);
        part->tick(front, now_ms);
    }
}

void
parts_reload(front_t *front)
{
    for (size_t i = 0; i < front->n_started; i++) {
        front->next_ms[i] = 0; /* its interval may have changed: tick at once */
        if (front->parts[i]->reload != NULL)
            front->parts[i]->reload(front);
    }
}

/* ---- end ------------------------------------------------------------------------------------- */

/* `destroy` may set own[] to NULL to keep a thread's data from being freed. */
static bool
front_parts_end(front_t *front, size_t i)
{
    const front_part_t *part = front->parts[i];
    bool ended = part->destroy == NULL || part->destroy(front);
    if (part->size > 0)
        free(front->own[i]);
    front->own[i] = NULL;
    front->n_started--;
    return ended;
}

bool
parts_end(front_t *front)
{
    bool ended = true;
    for (size_t i = 0; i < front->n_started; i++)
        if (front->parts[i]->stop != NULL)
            front->parts[i]->stop(front);
    while (front->n_started > 0)
        ended = front_parts_end(front, front->n_started - 1) && ended;
    return ended;
}
