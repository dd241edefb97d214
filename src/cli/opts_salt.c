/* opts_salt.c - options of salt. */
#include "cli/opts.h"

static const opt_row_t rows[] = {
    { "-t --timeout", OPT_INT,
      .help =
          "Seconds to wait for minions that are silent, counted from the last sign of life. Default: 5." },
    { "-s --static", OPT_FLAG, .help = "Show all returns together when the last one is there." },
    { "-p --progress", OPT_FLAG, .help = "Show on the terminal how many minions have returned." },
    { "--failhard", OPT_FLAG, .help = "In batch mode: start no further minion once one has failed." },
    { "--async", OPT_FLAG,
      .help =
          "Start the job, print its id and do not wait; with --batch the master begins one minion after the other." },
    { "--subset", OPT_INT,
      .help = "Run on this many of the targeted minions, chosen at random; with --batch, in batches." },
    { "-v --verbose", OPT_FLAG,
      .help = "Say more: the job's id and what is known of minions that are silent." },
    { "--hide-timeout", OPT_UNFLAG, .dest = "show_timeout",
      .help = "Do not mention minions that did not return." },
    { "--show-jid", OPT_FLAG, .help = "Print the job's id, without the rest of --verbose." },
    { "-b --batch --batch-size", OPT_STR, .dest = "batch",
      .help = "Run on so many minions at a time: a number, or a part of all in percent (\"10%\")." },
    { "--batch-wait", OPT_FLOAT,
      .help = "In batch mode: seconds to wait after a minion is done before the next one starts." },
    { "--batch-safe-limit", OPT_INT,
      .help = "Use batch mode by itself when the target has at least so many minions." },
    { "--batch-safe-size", OPT_STR, .help = "Batch size for --batch-safe-limit. Default: 8." },
    { "--return", OPT_STR,
      .help = "Returners, files in Python on the minions, that get each return too: NAME,NAME." },
    { "--return-config --return_config", OPT_STR, .dest = "return_config",
      .help = "Name of the configuration that they use in the place of their own." },
    { "--return-kwargs --return_kwargs", OPT_STR, .dest = "return_kwargs",
      .help = "Options for them (YAML): '{host: db1}'." },
    { "-d --doc --documentation", OPT_FLAG, .dest = "doc",
      .help = "Print the documentation of a module or function, or of all." },
    { "--args-separator", OPT_STR,
      .help = "What stands between the arguments of several functions (fun1,fun2). Default: ','." },
    { "--summary", OPT_FLAG, .dest = "cli_summary",
      .help = "Print at the end how many minions were targeted, returned, failed or stayed silent." },
    { "--metadata", OPT_STR, .help = "Data (YAML) to keep with the job; jobs can be searched for them." },
    { "--output-diff", OPT_FLAG, .dest = "state_output_diff",
      .help = "Show only states that changed something or failed." },
    { "--config-dump", OPT_FLAG, .help = "Print the master's configuration, defaults included, and end." },
    { "--preview-target", OPT_FLAG, .help = "Print which minions the target matches and run nothing." },
    OPT_ROW_END
};

static const opt_row_t needless[] = {
    { "--hard-crash", OPT_FLAG, .idle = "an error never ends with a traceback" },
    { "--module-executors", OPT_STR,
      .refused = "every job runs in a process of its own, with the limits of the minion's configuration" },
    { "--executor-opts", OPT_STR,
      .refused = "every job runs in a process of its own, with the limits of the minion's configuration" },
    { "-H --hosts", OPT_FLAG,
      .refused = "there is no salt-ssh, and so no roster; 'salt-key -L' lists the minions" },
    OPT_ROW_END
};

static const opt_row_t *const tables[] = { needless,    opt_auth,   opt_common,  opt_arguments, rows,
                                           opt_targets, opt_output, opt_logging, NULL };

const opt_spec_t opts_salt = {
    .prog = "salt",
    .usage = "%prog [options] '<target>' <function> [arguments]",
    .description = "Runs a function on many minions at the same time and shows what each of them returns.",
    .examples = "  salt '*' test.ping\n"
                "  salt -G os:Debian cmd.run uptime\n"
                "  salt 'web*' state.apply nginx test=True\n"
                "  salt -L db1,db2 pkg.version openssl --out=json\n"
                "  salt '*' sys.doc cmd.run\n",
    .tables = tables,
    .interspersed = true,
};
