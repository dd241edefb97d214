/* mengines.c - runs the engines of the minion: a process for each (src/engine), started again when it ends. */
#include "common/base/clock.h"
#include "common/conf/engines.h"
#include "common/host/keeper.h"
#include "minion/jobs/jobserver.h"
#include "salt/log.h"
#include "salt/value.h"

#define MENGINES_TICK_MS 250

typedef struct mengines {
    jobserver_t *js;
    keeper_t *keeper;
    int64_t next_ms; /* monotonic; 0: there is none */
} mengines_t;

static void
mengines_begin(void *part)
{
    static const char *const own[] = { "log_level", "log_file", "log_level_logfile" };
    mengines_t *self = part;
    AUTO_FREE char *program = keeper_program("salt-engine");
    json_auto_t *all = engines_of(self->js->opts), *overrides = json_object();
    const char *name;
    json_t *engine;

    keeper_clear(self->keeper);
    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_set(overrides, own[i], value_get(self->js->opts, own[i]));
    json_object_foreach (all, name, engine) {
        json_auto_t *told = json_pack("{s:s, s:s, s:s, s:O}", "conf",
                                      value_str(self->js->opts, "config_dir", ""), "side", "minion", "name",
                                      name, "overrides", overrides);
        AUTO_FREE char *argument = value_dump(told), *shown = xasprintf("Engine(%s)", name);
        keeper_add(self->keeper, shown, program != NULL ? program : "salt-engine", argument);
    }
    if (program == NULL && !keeper_is_empty(self->keeper))
        log_error("the program salt-engine is not beside this one: no engine runs");
    self->next_ms = keeper_is_empty(self->keeper) ? 0 : clock_mono_ms();
}

static void *
mengines_start(jobserver_t *js, fail_t *err)
{
    mengines_t *self = xcalloc(1, sizeof(*self));

    self->js = js;
    self->keeper = keeper_new();
    mengines_begin(self);
    return self;
}

static void
mengines_tick(void *part, int64_t now_ms)
{
    mengines_t *self = part;

    if (self->next_ms == 0 || now_ms < self->next_ms)
        return;
    keeper_tick(self->keeper, now_ms);
    self->next_ms = now_ms + MENGINES_TICK_MS;
}

static void
mengines_child_over(void *part, int pid, int status)
{
    (void) keeper_ended(((mengines_t *) part)->keeper, pid, status);
}

static int64_t
mengines_next_ms(void *part)
{
    return ((mengines_t *) part)->next_ms;
}

static void
mengines_stop(void *part)
{
    mengines_t *self = part;

    keeper_clear(self->keeper);
    self->next_ms = 0;
}

/* The networking process has copies alone: the engines are the first process's. */
static void
mengines_destroy(void *part)
{
    mengines_t *self = part;

    if (self->js->in_session)
        keeper_forget(self->keeper);
    keeper_destroy(&self->keeper);
    free(self);
}

const minion_part_t minion_part_engines = { .name = "engines",
                                            .start = mengines_start,
                                            .destroy = mengines_destroy,
                                            .reload = mengines_begin,
                                            .stop = mengines_stop,
                                            .tick = mengines_tick,
                                            .child_over = mengines_child_over,
                                            .next_ms = mengines_next_ms };
