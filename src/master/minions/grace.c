/* grace.c - see grace.h. The time grows with the fleet: a base plus GRACE_EACH_MS per accepted key. */
#include "master/minions/grace.h"

#include "common/base/clock.h"
#include "master/front/part.h"

/* Time after a start in which minions are expected back, and the extra time for each of them. */
#define GRACE_MS      15000
#define GRACE_EACH_MS 2

typedef struct grace {
    int64_t from_ms; /* monotonic: minions are expected from then on */
} grace_t;

void
grace_begin(front_t *front, int64_t now_ms)
{
    ((grace_t *) front->own[PART_grace])->from_ms = now_ms;
}

int64_t
grace_ms(const front_t *front)
{
    return GRACE_MS + (int64_t) peers_count(front->peers, KEY_ACCEPTED) * GRACE_EACH_MS;
}

static int64_t
grace_left(const front_t *front)
{
    const grace_t *self = front->own[PART_grace];
    return self->from_ms + grace_ms(front) - clock_mono_ms();
}

bool
grace_expects(const front_t *front, const minion_t *m)
{
    return !m->seen && grace_left(front) > 0;
}

int64_t
grace_awaits_ms(const front_t *front, const minion_t *m)
{
    return m->peer == NULL && grace_expects(front, m) ? grace_left(front) : 0;
}

static int
grace_start(front_t *front, fail_t *err)
{
    grace_begin(front, front->started_ms);
    return 0;
}

const front_part_t part_grace = { .name = "grace", .size = sizeof(grace_t), .start = grace_start };
