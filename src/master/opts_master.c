/* opts_master.c - options of salt-master. */
#include "master/opts.h"

static const opt_row_t *const tables[] = { opt_common, opt_daemon, opt_logging, NULL };

const opt_spec_t opts_master = {
    .prog = "salt-master",
    .usage = "%prog [options]",
    .description = "Controls Salt minions: hands out commands, files and pillar and keeps what comes back.",
    .tables = tables,
    .bare = true,
    .interspersed = true,
};
