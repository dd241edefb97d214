/* opts_cp.c - options of salt-cp. */
#include "cli/opts.h"

static const opt_row_t rows[] = {
    { "-t --timeout", OPT_INT,
      .help =
          "Seconds to wait for minions that are silent, counted from the last sign of life. Default: 5." },
    { "--hard-crash", OPT_FLAG, .idle = "an error never ends with a traceback" },
    { "-H --hosts", OPT_FLAG,
      .refused = "there is no salt-ssh, and so no roster; 'salt-key -L' lists the minions" },
    { "File Options", OPT_GROUP, .help = "How files are sent." },
    { "-C --chunked", OPT_FLAG,
      .help = "Send files of any size and content in pieces; folders with all that is in them." },
    { "-n --no-compression", OPT_FLAG, .help = "With --chunked: do not compress the pieces." },
    OPT_ROW_END
};

/* -C is taken: first come, first served. */
static const opt_row_t *const tables[] = { opt_common, rows, opt_targets, opt_output, opt_logging, NULL };

const opt_spec_t opts_cp = {
    .prog = "salt-cp",
    .usage = "%prog [options] '<target>' SOURCE... DEST",
    .description =
        "Copies files from here to many minions at the same time. For large files, and for files that "
        "minions should fetch when they need them, use the file server (cp.get_file).",
    .tables = tables,
    .interspersed = true,
};
