/* fuzz_optparse.c - command lines, one argument a line; the first byte is the help's width. Only the known
 * exit codes, and a result that can be freed in any case.
 */
#include "common/base/str.h"
#include "common/cli/optparse.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 16 * 1024 };

static const opt_row_t rows[] = { { "-t --timeout", OPT_INT, .help = "Seconds." },
                                  { "-r --ratio", OPT_FLOAT, .metavar = "R", .help = "A number." },
                                  { "-v --verbose", OPT_COUNT, .help = "More." },
                                  { "--no-wait", OPT_UNFLAG, .dest = "wait", .help = "At once." },
                                  OPT_ROW_END };

/* opt_arguments is left out for its --args-stdin: standard input is the fuzzer's. */
static const opt_row_t *const tables[] = { opt_common, rows,        opt_targets, opt_output,
                                           opt_daemon, opt_logging, NULL };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool quiet;
    opt_spec_t spec = { .prog = "prog", .usage = "%prog [options]", .tables = tables, .interspersed = true };

    if (size < 1 || size > MAX_INPUT)
        return 0;
    if (!quiet) {
        quiet = freopen("/dev/null", "w", stdout) != NULL;
        salt_assert(quiet && dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO);
    }
    AUTO_FREE char *text = xstrndup((const char *) data + 1, size - 1);
    char **args = str_split(text, "\n", false);
    opt_result_t res;
    spec.description = text;
    spec.interspersed = size % 2 == 0;
    int rc = optparse_run(&spec, (int) strv_len(args), args, &res);
    salt_assert(rc == -1 || rc == 0 || rc == 64);
    salt_assert(json_is_object(res.values) && res.args[res.n_args] == NULL);
    opt_result_free(&res);
    strv_free(args);
    buf_auto_t help = BUF_INIT;
    optparse_help(&spec, data[0], &help);
    salt_assert(help.len > 0);
    return 0;
}
