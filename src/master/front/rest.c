/* rest.c - return free memory to the system (memory_rest) once the master has been idle for REST_MS, so that
 * the pause that this takes delays no request. */
#include "common/base/memory.h"
#include "master/front/part.h"

#define REST_MS 20000 /* without a message or event */

typedef struct rest {
    int64_t at_ms; /* monotonic: when memory is returned; 0: done */
    uint64_t done; /* the counters at the last tick */
} rest_t;

static void
rest_tick(front_t *front, int64_t now_ms)
{
    rest_t *self = front->own[PART_rest];
    uint64_t done = front->counters.in + front->counters.out + front->counters.events;
    if (done != self->done) {
        self->done = done;
        self->at_ms = now_ms + REST_MS;
    } else if (self->at_ms && now_ms >= self->at_ms) {
        self->at_ms = 0;
        memory_rest();
    }
}

const front_part_t part_rest = { .name = "rest", .size = sizeof(rest_t), .tick = rest_tick };
