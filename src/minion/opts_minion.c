/* opts_minion.c - options of salt-minion. */
#include "minion/opts.h"

static const opt_row_t *const tables[] = { opt_common, opt_daemon, opt_logging, NULL };

const opt_spec_t opts_minion = {
    .prog = "salt-minion",
    .usage = "%prog [options]",
    .description = "Takes commands from a Salt master and carries them out on this host.",
    .tables = tables,
    .bare = true,
    .interspersed = true,
};
