/* reports.h - a child process that waits for something, and writes a line for each thing that happened: for
 * beacons whose source can't be read without waiting.
 *
 * Layer      plugins/lib/beacon
 * Threads    one, which forks
 * Ownership  said per function
 * Errors     a negative errno with *err
 * Tests      tests/cases/beacon/sh.json
 */
#ifndef PLUGINS_LIB_BEACON_REPORTS_H
#define PLUGINS_LIB_BEACON_REPORTS_H

#include "salt/base.h"

typedef struct reports reports_t;

/* In the child, which ends with its parent: writes lines to `out`, and does not return. */
typedef void reports_fn(int out, const void *cookie);
/* Starts the child. `who` names it in errors. NEW, or NULL with *err. */
reports_t *reports_new(const char *who, reports_fn *run, const void *cookie, fail_t *err);
/* `copied` as in beacon_row_t's close(): otherwise the child is ended. */
void reports_destroy(reports_t **self_p, bool copied);
int reports_fd(const reports_t *self);
/* Calls `take` for each whole line that has come, without its end, at most LIMIT_BEACON_READ bytes of them. A
 * line that is longer is left out, to its end. That the child has ended is an error. */
typedef void reports_take_fn(void *cookie, const char *line, size_t len);
int reports_read(reports_t *self, reports_take_fn *take, void *cookie, fail_t *err);

#endif
