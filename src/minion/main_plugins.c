/* main_plugins.c - the tables of what is built in. A file without its descriptor fails at link time. */
#include "minion/plugins.h"

#define PLUGIN_ROW(id) extern const plugin_t exec_##id;
#include "gen/exec.def"
#undef PLUGIN_ROW
#define PLUGIN_ROW(id) extern const plugin_t grain_##id;
#include "gen/grain.def"
#undef PLUGIN_ROW
#define PLUGIN_ROW(id) extern const plugin_t state_##id;
#include "gen/state.def"
#undef PLUGIN_ROW

/* The NULL keeps a folder without files legal. */
#define PLUGIN_ROW(id) &exec_##id,
static const plugin_t *const execs[] = {
#include "gen/exec.def"
    NULL
};
#undef PLUGIN_ROW
#define PLUGIN_ROW(id) &grain_##id,
static const plugin_t *const grains[] = {
#include "gen/grain.def"
    NULL
};
#undef PLUGIN_ROW

#define PLUGIN_ROW(id) &state_##id,
static const plugin_t *const states[] = {
#include "gen/state.def"
    NULL
};
#undef PLUGIN_ROW

const plugin_t *const *
minion_exec_plugins(size_t *n)
{
    *n = NELEMS(execs) - 1;
    return execs;
}

const plugin_t *const *
minion_grain_plugins(size_t *n)
{
    *n = NELEMS(grains) - 1;
    return grains;
}

const plugin_t *const *
minion_state_plugins(size_t *n)
{
    *n = NELEMS(states) - 1;
    return states;
}
