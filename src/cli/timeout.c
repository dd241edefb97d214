/* timeout.c - see timeout.h. The wait for an answer is told on a terminal; after TRIES timeouts the line
 * gives up. */
#include "cli/timeout.h"

#include <unistd.h>

enum { TRIES = 3 };

static void
say_so(void)
{
    if (isatty(STDERR_FILENO) == 1)
        (void) fputs("The master has not answered yet; waiting.\n", stderr);
}

void
timeout_set(local_client_t *line, int64_t timeout_ms)
{
    local_timeout(line, TRIES * timeout_ms, say_so);
}
