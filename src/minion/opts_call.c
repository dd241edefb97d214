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
    { "--hard-crash", OPT_FLAG, .idle = "an error never ends with a traceback" },
    { "--return", OPT_STR, .help = "Returners, files in Python, that get the return too: NAME,NAME." },
    { "-m --module-dirs", OPT_STR, .refused = "modules of one's own are not run here" },
    { "--states-dir", OPT_STR, .refused = "modules of one's own are not run here" },
    { "--set-metadata", OPT_STR, .idle = "a return of salt-call carries no metadata" },
    { "--module-executors", OPT_STR,
      .refused = "the function runs in a process of its own, with the limits of the minion's configuration" },
    { "--executor-opts", OPT_STR,
      .refused = "the function runs in a process of its own, with the limits of the minion's configuration" },
    { "--proxyid", OPT_STR, .refused = "there are no proxy minions" },
    { "--enable-profiling", OPT_FLAG, .idle = "there is no Python to profile; perf sees the whole program" },
    { "--profiling-path", OPT_STR, .idle = "there is no Python to profile; perf sees the whole program" },
    OPT_ROW_END
};

static const opt_row_t *const tables[] = { opt_common, opt_arguments, rows, opt_output, opt_logging, NULL };

const opt_spec_t opts_call = {
    .prog = "salt-call",
    .usage = "%prog [options] <function> [arguments]",
    .description = "Runs a function on this host, as a minion would.",
    .examples = "  salt-call test.ping\n"
                "  salt-call state.apply nginx test=True\n"
                "  salt-call --local --file-root=/srv/salt state.apply nginx\n"
                "  salt-call --local key.finger\n"
                "  salt-call -l debug pillar.items\n",
    .tables = tables,
    .interspersed = true,
};
