/* summary.h - what --summary and --progress print at the end.
 *
 * Layer      cli
 * Threads    one
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "common/local/outcome.h"
#include "common/base/buf.h"

typedef struct summary {
    size_t returned, silent;
    buf_t not_connected, no_response, failed; /* ids with a blank in front of each */
    size_t n_failed;
} summary_t;

#define SUMMARY_INIT ROW(0, 0, BUF_INIT, BUF_INIT, BUF_INIT, 0)

void summary_return(summary_t *self, const char *id, int retcode);
void summary_silent(summary_t *self, const char *id, outcome_t outcome);
/* `verbose` names the minions, too. */
void summary_format(const summary_t *self, bool verbose, buf_t *out);
void summary_free(summary_t *self);

#endif
