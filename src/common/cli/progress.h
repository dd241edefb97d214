/* progress.h - one line on the terminal for who waits: how much is done. Nothing for the first second,
 * nothing when stderr is no terminal.
 *
 * Layer      common/cli
 * Threads    one at a time
 * Errors     none: a terminal that can't be written to is left alone
 * Tests      tests/unit/common/test_progress.c
 */
#ifndef COMMON_CLI_PROGRESS_H
#define COMMON_CLI_PROGRESS_H

#include "salt/base.h"

typedef struct progress progress_t;

/* `what` names the counted things: "minions returned". NEW. */
progress_t *progress_new(const char *what);
/* The same on another descriptor, from `delay_ms` after now. */
progress_t *progress_new_on(int fd, const char *what, int64_t delay_ms);
/* Clears the line, too. Accepts NULL. */
void progress_destroy(progress_t **self_p);

/* Whether an update would draw now: what goes into its note may take time to find out. */
bool progress_due(const progress_t *self);
/* Show "DONE of TOTAL WHAT", drawn anew at most ten times a second. `total` 0: not known. */
void progress_update(progress_t *self, size_t done, size_t total);
/* What stands behind the counts from the next update on; NULL: nothing. */
void progress_note(progress_t *self, const char *note);
/* Erase the line before other output; the next update draws it again. Accepts NULL. */
void progress_clear(progress_t *self);

#endif
