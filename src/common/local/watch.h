/* watch.h - state.event: events of a bus, written as they come, until so many have come.
 *
 * The same for `salt-run state.event` (the master's bus), `salt-call state.event` (the minion's) and a runner
 * that waits. A bus that goes away for a moment is waited for, and listened to again from where it was.
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

/* `args` as bound to the rows above; `opts` the configuration; `out` NULL: nothing is written. 0 when all
 * came, -ETIME with *err when time was up, -EPIPE when nobody reads `out` any more, or another negative
 * errno with *err. */
int watch_run(const json_t *args, const json_t *opts, FILE *out, fail_t *err);

/* "10m", "90s", "2h", "1d" or "1.5h" as seconds; false when it is none of these. */
bool watch_age(const char *text, double *ret_s);

#endif
