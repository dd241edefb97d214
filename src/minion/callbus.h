/* callbus.h - what a function called by salt-call asks of the minion that runs on this host, through its bus.
 *
 * Layer      minion
 * Threads    one
 * Errors     FAIL_COMMAND and -ENOTSUP where no minion runs here
 * Tests      tests/t/3300-own-minion.bats
 */
#ifndef MINION_CALLBUS_H
#define MINION_CALLBUS_H

#include "salt/base.h"

/* Sends a host request (common/plugin/ctx.h) to the minion whose socket is in `sock_dir`: one of those that
 * parts offer on the bus, an event, or refresh_pillar, which waits for the pillar. `none`: the error's text
 * where no minion runs. 0 and *ret_value NEW, or a negative errno with *err. */
int callbus_ask(const char *sock_dir, const char *none, json_t *request, json_t **ret_value, fail_t *err);

#endif
