/* beacon_run.h - beacons that look in a child: built-in ones that may wait, and those in Python.
 *
 * Layer      minion
 * Threads    the child's
 * Tests      tests/t/5600-beacons.bats, tests/unit/plugins/test_beacon_cases.c
 */
#ifndef MINION_PARTS_BEACON_RUN_H
#define MINION_PARTS_BEACON_RUN_H

#include "salt/plugin.h"

/* BORROWED row of a module; NULL: it is not built in. */
const beacon_row_t *beacon_run_row(const plugin_t *const *plugins, size_t n, const char *module);
/* One look, of {name, module, list, config, context}. NEW {events, context, error?}. */
json_t *beacon_run_look(call_ctx_t *ctx, const beacon_row_t *row, json_t *asked);
/* Looks of beacons in Python, one after the other in one interpreter, as the part gives them ({op:
 * "beacon_next", did}), until it gives no more. */
void beacon_run_python(call_ctx_t *ctx);

#endif
