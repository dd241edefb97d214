/* suited.c - functions that have an outputter of their own (Salt's __outputter__ of modules). */
#include "common/output/suited.h"

#include "common/base/str.h"

/* ---- choices --------------------------------------------------------------------------------- */

static const struct {
    const char *fun, *out;
} suited[] = {
    { "state.apply", "highstate" },
    { "state.check_request", "highstate" },
    { "state.highstate", "highstate" },
    { "state.pkg", "highstate" },
    { "state.request", "highstate" },
    { "state.run_request", "highstate" },
    { "state.single", "highstate" },
    { "state.sls", "highstate" },
    { "state.sls_id", "highstate" },
    { "state.template", "highstate" },
    { "state.template_str", "highstate" },
    { "state.test", "highstate" },
    { "state.top", "highstate" },
    { "aliases.get_target", "txt" },
    { "aliases.has_target", "txt" },
    { "aliases.list_aliases", "yaml" },
    { "aliases.rm_alias", "txt" },
    { "aliases.set_target", "txt" },
    { "alternatives.display", "txt" },
    { "alternatives.install", "txt" },
    { "alternatives.remove", "txt" },
    { "runner.state.orch", "highstate" },
    { "runner.state.orchestrate", "highstate" },
};

const char *
output_suited(const char *fun)
{
    for (size_t i = 0; i < NELEMS(suited); i++)
        if (str_eq(suited[i].fun, fun))
            return suited[i].out;
    return NULL;
}

/* Functions of Salt that return a tuple, which is shown with parentheses although the wire has a list. */
bool
output_tuple(const char *fun)
{
    static const char *const tuples[] = { "test.collatz", "test.fib" };

    for (size_t i = 0; i < NELEMS(tuples); i++)
        if (str_eq(tuples[i], fun))
            return true;
    return false;
}
