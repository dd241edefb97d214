/* opts_call.c - options of salt-call. */
#include "minion/opts.h"

static const opt_row_t rows[] = {
    { "--cachedir", OPT_STR,
      .help = "Folder for what the minion keeps. Default: 'cachedir' of the configuration." },
    { "-g --grains", OPT_FLAG, .help = "Print the grains." },
    { "-d --doc --documentation", OPT_FLAG, .dest = "doc",
      .help = "Print the documentation of a module or function, or of all." },
    { "--master", OPT_STR,
      .help = "Master to use instead of the configured one. It must know this minion's key." },
    { "--local", OPT_FLAG, .help = "Work without a master: files and pillar come from this host." },
    { "--file-root", OPT_STR, .help = "Folder of state files instead of the configured 'file_roots'." },
    { "--pillar-root", OPT_STR, .help = "Folder of pillar files instead of the configured 'pillar_roots'." },
    { "--retcode-passthrough", OPT_FLAG, .help = "End with the function's return code." },
    { "--metadata", OPT_FLAG, .help = "Print the whole reply: outputter, return code and return." },
    { "--id", OPT_STR, .help = "Minion id to use instead of the configured one." },
    { "--skip-grains", OPT_FLAG, .help = "Do not collect grains." },
    { "--refresh-grains-cache", OPT_FLAG, .help = "Collect also those grains again that are kept on disk." },
    { "--no-return-event", OPT_FLAG, .help = "Do not send the result to the master." },
    { "-t --timeout", OPT_INT, .dest = "auth_timeout",
      .help = "Seconds to wait for the master's answer. Default: 'auth_timeout' of the configuration." },
    { "--output-diff", OPT_FLAG, .dest = "state_output_diff",
      .help = "Show only states that changed something or failed." },
    OPT_ROW_END
};

static const opt_row_t *const tables[] = { opt_common, opt_arguments, rows, opt_output, opt_logging, NULL };

const opt_spec_t opts_call = {
    .prog = "salt-call",
    .usage = "%prog [options] <function> [arguments]",
    .description = "Runs a function on this host, as a minion would.",
    .tables = tables,
    .interspersed = true,
};
