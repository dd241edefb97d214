/* main_plugins.c - the tables of what is built in. A file without its descriptor fails at link time. */
#include "master/plugins.h"

#define PLUGIN_ROW(id) extern const plugin_t runner_##id;
#include "gen/runner.def"
#undef PLUGIN_ROW
#define PLUGIN_ROW(id) extern const plugin_t wheel_##id;
#include "gen/wheel.def"
#undef PLUGIN_ROW
#define PLUGIN_ROW(id) extern const plugin_t state_##id;
#include "gen/orchestate.def"
#include "gen/state.def"
#undef PLUGIN_ROW

/* The NULL keeps a folder without files legal. */
#define PLUGIN_ROW(id) &runner_##id,
static const plugin_t *const runners[] = {
#include "gen/runner.def"
    NULL
};
#undef PLUGIN_ROW
#define PLUGIN_ROW(id) &wheel_##id,
static const plugin_t *const wheels[] = {
#include "gen/wheel.def"
    NULL
};
#undef PLUGIN_ROW

#define PLUGIN_ROW(id) &state_##id,
static const plugin_t *const states[] = {
#include "gen/orchestate.def"
#include "gen/state.def"
    NULL
};
#undef PLUGIN_ROW

const plugin_t *const *
master_runner_plugins(size_t *n)
{
    *n = NELEMS(runners) - 1;
    return runners;
}

const plugin_t *const *
master_wheel_plugins(size_t *n)
{
    *n = NELEMS(wheels) - 1;
    return wheels;
}

const plugin_t *const *
master_state_plugins(size_t *n)
{
    *n = NELEMS(states) - 1;
    return states;
}
