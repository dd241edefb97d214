/* watch.h - state.event: write the events of a bus as they come, up to a number of them.
 *
 * The same for `salt-run state.event` (the master's bus), `salt-call state.event` (the minion's) and a runner
 * that waits. If the bus goes away, the watch reconnects and continues where it was.
 *
 * Layer      common/local
 * Threads    one
 * Tests      tests/t/5000-events.bats
 */
#ifndef COMMON_LOCAL_WATCH_H
#define COMMON_LOCAL_WATCH_H

#include <stdio.h>

#include "salt/plugin.h"

/* The function's arguments: tagmatch, count, quiet, sock_dir, pretty, node, since, timeout. */
extern const arg_t watch_args[], watch_args_minion[];

#define WATCH_DOC                                                                                            \
    "Write the events of the bus as they come, a line each: the tag, a tab, the data as JSON. Ends after "   \
    "``count`` "                                                                                             \
    "events; with ``quiet`` nothing is written. ``tagmatch`` is a glob or a regular expression for the "     \
    "whole tag.\n\n"                                                                                         \
    "``since`` writes what was before first: from an event's number on (1234), from a time on "              \
    "(2026-11-20T10:00:00, as in _stamp), or what is younger (10m, 2h, 1d). ``timeout`` ends with a "        \
    "failure when "                                                                                          \
    "the events did not come within so many seconds."

/* `args` as bound to the rows above; `opts` the configuration; `out` NULL: write nothing. 0 when all events
 * came, -ETIME with *err at the deadline, -EPIPE when the reader of `out` has gone, or another negative errno
 * with *err. */
int watch_run(const json_t *args, const json_t *opts, FILE *out, fail_t *err);

/* The program opens lines to the master in its own way, as after a login. */
typedef struct local_client *watch_open_fn(const char *sock_dir, fail_t *err);
void watch_open_by(watch_open_fn *open);

/* Parse "10m", "90s", "2h", "1d" or "1.5h" to seconds; false for other texts. */
bool watch_age(const char *text, double *ret_s);

#endif
