/* reactor_task.c - the list of all open tasks of the reactor: an intrusive, doubly linked list, so that
 * closing is O(1), with the sum of their events' sizes for backpressure. */
#include "master/reactor/reactor_int.h"

void
rtask_open(rloop_t *self, rtask_t *task)
{
    self->bytes += strlen(task->firing);
    task->open_next = self->open;
    task->open_where = &self->open;
    if (self->open != NULL)
        self->open->open_where = &task->open_next;
    self->open = task;
}

void
rtask_close(rloop_t *self, rtask_t *task)
{
    self->bytes -= strlen(task->firing);
    *task->open_where = task->open_next;
    if (task->open_next != NULL)
        task->open_next->open_where = task->open_where;
}

void
rtask_begun(rloop_t *self, rtask_t *task)
{
    if (!task->snapped)
        return;
    task->snapped = false;
    self->snap_open--;
}

void
rtask_free(rtask_t *task)
{
    for (size_t i = 0; i < json_array_size(task->list); i++) {
        free(task->work[i].jid);
        free(task->work[i].why);
        json_decref(task->work[i].left);
    }
    free(task->work);
    json_decref(task->list);
    json_decref(task->jids);
    free(task->firing);
    free(task->file);
    free(task->outcome);
    free(task);
}
