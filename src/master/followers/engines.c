/* engines.c - the part that runs the engines of the master: a process for each (src/engine), started again
 * when it ends. */
#include "common/base/clock.h"
#include "common/conf/engines.h"
#include "common/host/keeper.h"
#include "master/front/part.h"
#include "salt/log.h"

#define ENGINES_TICK_MS 250

typedef struct engines {
    keeper_t *keeper;
} engines_t;

static void
engines_begin(front_t *front)
{
    static const char *const own[] = { "log_level", "log_file", "log_level_logfile" };
    engines_t *self = front->own[PART_engines];
    AUTO_FREE char *program = keeper_program("salt-engine");
    json_auto_t *all = engines_of(front->opts), *overrides = json_object();
    const char *name;
    json_t *engine;

    keeper_clear(self->keeper);
    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_set(overrides, own[i], value_get(front->opts, own[i]));
    json_object_foreach (all, name, engine) {
        json_auto_t *told = json_pack("{s:s, s:s, s:s, s:O}", "conf",
                                      value_str(front->opts, "config_dir", ""), "side", "master", "name",
                                      name, "overrides", overrides);
        AUTO_FREE char *argument = value_dump(told), *shown = xasprintf("Engine(%s)", name);
        keeper_add(self->keeper, shown, program != NULL ? program : "salt-engine", argument);
    }
    if (program == NULL && !keeper_is_empty(self->keeper))
        log_error("the program salt-engine is not beside this one: no engine runs");
}

static int
engines_start(front_t *front, fail_t *err)
{
    ((engines_t *) front->own[PART_engines])->keeper = keeper_new();
    engines_begin(front);
    return 0;
}

static void
engines_stop(front_t *front)
{
    keeper_clear(((engines_t *) front->own[PART_engines])->keeper);
}

static bool
engines_destroy(front_t *front)
{
    keeper_destroy(&((engines_t *) front->own[PART_engines])->keeper);
    return true;
}

static void
engines_tick(front_t *front, int64_t now_ms)
{
    keeper_tick(((engines_t *) front->own[PART_engines])->keeper, now_ms);
}

static int64_t
engines_pause(const front_t *front)
{
    const engines_t *self = front->own[PART_engines];

    return keeper_is_empty(self->keeper) ? 24 * 3600 * 1000 : ENGINES_TICK_MS;
}

static void
engines_status(front_t *front, json_t *reply)
{
    json_object_set_new(reply, "engines", keeper_status(((engines_t *) front->own[PART_engines])->keeper));
}

const front_part_t part_engines = { .name = "engines",
                                    .size = sizeof(engines_t),
                                    .start = engines_start,
                                    .stop = engines_stop,
                                    .destroy = engines_destroy,
                                    .reload = engines_begin,
                                    .tick = engines_tick,
                                    .pause_ms = engines_pause,
                                    .status = engines_status };
