/* mzygote.c - the interpreter of Python that forks those of jobs (common/python/zygote.h). */
#include "minion/jobs/jobserver.h"

#include "common/python/door.h"
#include "common/python/userfile.h"
#include "common/python/zygote.h"

static void *
mzygote_start(jobserver_t *js, fail_t *err)
{
    (void) userfile_extended(js->opts); /* before jobs are forked, which would each look */
    return zygote_new(err);
}

static void
mzygote_destroy(void *part)
{
    zygote_t *self = part;
    zygote_destroy(&self);
}

/* Files have changed, or the options: they may name another interpreter now. */
static void
mzygote_reload(void *part)
{
    door_dismiss();
}

static void
mzygote_refreshed(void *part, json_t *data)
{
    door_dismiss();
}

static int
mzygote_fd(const void *part, short *ret_ask)
{
    return zygote_fd(part);
}

static void
mzygote_ready(void *part, short events)
{
    zygote_ready(part);
}

static const part_event_t mzygote_events[] = { { "module_refresh", mzygote_refreshed }, { 0 } };

const minion_part_t minion_part_zygote = { .name = "zygote",
                                           .start = mzygote_start,
                                           .destroy = mzygote_destroy,
                                           .reload = mzygote_reload,
                                           .fd = mzygote_fd,
                                           .ready = mzygote_ready,
                                           .events = mzygote_events };
