/* main_agent.c - plug-ins of salt-minion and salt-call. A file without its descriptor fails at link time. */
#include "plugins/builtin.h"

#include "gen/builtin_agent.inc"

const plugin_t *const *
builtin_plugins(plugin_kind_t kind, size_t *ret_n)
{
    *ret_n = builtins[kind].n;
    return builtins[kind].rows;
}
