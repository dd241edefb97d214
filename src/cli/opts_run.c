/* opts_run.c - options of salt-run. */
#include "cli/opts.h"

static const opt_row_t rows[] = {
    { "-t --timeout", OPT_INT,
      .help = "Seconds that runners wait for silent minions. Default: 'timeout' of the configuration." },
    { "-d --doc --documentation", OPT_FLAG, .dest = "doc",
      .help = "Print the documentation of a runner or one of its functions, or of all." },
    { "--async", OPT_FLAG, .help = "Start the runner, print its job's id and do not wait." },
    OPT_ROW_END
};

static const opt_row_t quiet[] = { { "Result Options", OPT_GROUP, .help = NULL },
                                   { "--quiet", OPT_FLAG, .help = "Do not show the result." },
                                   OPT_ROW_END };

static const opt_row_t *const tables[] = { opt_common, rows,        opt_arguments, opt_output,
                                           quiet,      opt_logging, NULL };

const opt_spec_t opts_run = {
    .prog = "salt-run",
    .usage = "%prog [options] <function> [arguments]",
    .description = "Runs a runner: a function that works on the master instead of on minions.",
    .tables = tables,
    .interspersed = true,
};
