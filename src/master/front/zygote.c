/* zygote.c - the interpreter of Python that forks those of runners, pillars and others
 * (common/python/zygote.h). */
#include "common/python/zygote.h"

#include "common/python/door.h"
#include "master/front/part.h"

static int
master_zygote_start(front_t *front, fail_t *err)
{
    front->own[PART_zygote] = zygote_new(err);
    return front->own[PART_zygote] != NULL ? 0 : -EMFILE;
}

static bool
master_zygote_destroy(front_t *front)
{
    zygote_t *self = STEAL(front->own[PART_zygote]);
    zygote_destroy(&self);
    return true;
}

/* It may be another interpreter that the options name now. */
static void
master_zygote_reload(front_t *front)
{
    door_dismiss();
}

static int
master_zygote_fd(const front_t *front)
{
    return zygote_fd(front->own[PART_zygote]);
}

static void
master_zygote_readable(front_t *front)
{
    zygote_ready(front->own[PART_zygote]);
}

const front_part_t part_zygote = { .name = "zygote",
                                   .start = master_zygote_start,
                                   .destroy = master_zygote_destroy,
                                   .reload = master_zygote_reload,
                                   .fd = master_zygote_fd,
                                   .readable = master_zygote_readable };
