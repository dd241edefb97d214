/* progress.h - a line on the terminal, with others above it if there are some, that shows a waiting user how
 * much is done. Nothing appears in the first second, nor when stderr is not a terminal.
 *
 * Layer      common/cli
 * Threads    one at a time
 * Errors     none: a terminal that cannot be written to gets no more lines
 * Tests      tests/unit/common/test_progress.c
 */
#ifndef COMMON_CLI_PROGRESS_H
#define COMMON_CLI_PROGRESS_H

#include "salt/base.h"

typedef struct progress progress_t;

/* `what` names the counted things: "minions returned". NEW. */
progress_t *progress_new(const char *what);
/* The same on another descriptor; the line appears after `delay_ms`. */
progress_t *progress_new_on(int fd, const char *what, int64_t delay_ms);
/* Erases the line and frees the object. Accepts NULL. */
void progress_destroy(progress_t **self_p);

/* True when an update would draw now. Ask first when the note takes time to make. */
bool progress_due(const progress_t *self);
/* Shows "DONE of TOTAL WHAT", at most ten times a second. `total` 0: unknown, "DONE WHAT" is shown. */
void progress_update(progress_t *self, size_t done, size_t total);
/* Sets the text behind the counts from the next update on; NULL: no text. */
void progress_note(progress_t *self, const char *note);
/* Sets the lines above it from the next update on; "": none. They are no wider than the terminal, hold no
 * control characters, and end in a newline each. */
void progress_above(progress_t *self, const char *lines);
/* Erases the line before other output; the next update draws it again. Accepts NULL. */
void progress_clear(progress_t *self);

#endif
