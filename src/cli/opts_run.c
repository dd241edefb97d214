/* opts_run.c - options of salt-run. */
#include "cli/opts.h"

static const opt_row_t rows[] = {
    { "-t --timeout", OPT_INT,
      .help = "Seconds that runners wait for silent minions. Default: 'timeout' of the configuration." },
    { "-d --doc --documentation", OPT_FLAG, .dest = "doc",
      .help = "Print the documentation of a runner or one of its functions, or of all." },
    { "--async", OPT_FLAG, .help = "Start the runner, print its job's id and do not wait." },
    { "--hard-crash", OPT_FLAG, .idle = "an error never ends with a traceback" },
    { "--jid", OPT_STR, .refused = "the master gives each run its jid, and --async prints it" },
    { "--skip-grains", OPT_FLAG, .idle = "the master needs no grains of its host for a runner" },
    { "--enable-profiling", OPT_FLAG, .idle = "there is no Python to profile; perf sees the whole program" },
    { "--profiling-path", OPT_STR, .idle = "there is no Python to profile; perf sees the whole program" },
    OPT_ROW_END
};

static const opt_row_t quiet[] = { { "Result Options", OPT_GROUP, .help = NULL },
                                   { "--quiet", OPT_FLAG, .help = "Do not show the result." },
                                   OPT_ROW_END };

static const opt_row_t *const tables[] = { opt_common, opt_auth, rows,        opt_arguments,
                                           opt_output, quiet,    opt_logging, NULL };

const opt_spec_t opts_run = {
    .prog = "salt-run",
    .usage = "%prog [options] <function> [arguments]",
    .description = "Runs a runner: a function that works on the master instead of on minions.",
    .examples = "  salt-run jobs.list_jobs\n"
                "  salt-run manage.status\n"
                "  salt-run state.orchestrate orch.deploy\n"
                "  salt-run state.event pretty=True\n"
                "  salt-run -d jobs\n"
                "\nRunners ('salt-run -d RUNNER' tells their functions):\n"
#include "gen/runner_names.inc"
    ,
    .tables = tables,
    .interspersed = true,
};
