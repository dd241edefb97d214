/* opts_api.c - options of salt-api. */
#include "api/opts.h"

static const opt_row_t *const tables[] = { opt_common, opt_daemon, opt_logging, NULL };

const opt_spec_t opts_api = {
    .prog = "salt-api",
    .usage = "%prog [options]",
    .description = "Serves the REST API of Salt over HTTP.",
    .tables = tables,
    .bare = true,
    .interspersed = true,
};
