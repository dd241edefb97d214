/* masterline.h - a module's way to the master on this very host: its local socket, found by its
 * configuration.
 *
 * Layer      plugins/lib/salt
 * Threads    any; blocks until the outcome is whole
 * Errors     negative errno: no master here, or it refused; the text says which
 * Tests      tests/t
 */
#ifndef PLUGINS_LIB_SALT_MASTERLINE_H
#define PLUGINS_LIB_SALT_MASTERLINE_H

#include "salt/base.h"

/* One operation of include/salt/requests.def, to its end: TAKES *request_p, *ret_answer NEW.
 *   publish        {"jid", "returns": {id: {"return", "retcode", "success"}}}; waits while anybody runs, and
 * else at most `timeout` seconds (the request's field, default 5) without news runner, wheel  {"jid", "tag",
 * "fun", "return", "retcode", "success"} anything else  the master's reply */
int masterline_ask(const char *conf_dir, json_t **request_p, json_t **ret_answer, fail_t *err);

#endif
