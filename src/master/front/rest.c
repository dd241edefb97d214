/* rest.c - what busy times have taken goes back to the system when nothing has come or gone for a while:
 * then the pause that it makes is nobody's. */
#include "common/base/memory.h"
#include "master/front/part.h"

#define REST_MS 20000 /* nothing has come or gone */

typedef struct rest {
    int64_t at_ms; /* monotonic: when memory goes back; 0: it has */
    uint64_t done; /* what the counters said at the last look */
} rest_t;

static void
s_tick(front_t *front, int64_t now_ms)
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

const front_part_t part_rest = { .name = "rest", .size = sizeof(rest_t), .tick = s_tick };
