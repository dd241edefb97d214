/* eauth.h - the line to the master, and in whose name: that of the process, of -a's login, or of the token in
 * token_file.
 *
 * Root and the master's user speak for themselves unless -a is given, whatever token there is. A token older
 * than token_expire is none.
 *
 * Layer      cli
 * Threads    one
 * Errors     the master's words, -EREMOTEIO, when it refuses the login
 * Tests      tests/t/1310-eauth.bats
 */
#ifndef CLI_EAUTH_H
#define CLI_EAUTH_H

#include "common/local/client.h"

/* What options and configuration say, BORROWED until the program ends. The first line asks for what is
 * missing. */
void eauth_set(const json_t *values, const json_t *opts);
/* A line to the master on which the user is who he says; each request waits as timeout.h says. NEW, or NULL
 * with *err. */
local_client_t *eauth_connect(const char *sock_dir, int64_t timeout_ms, fail_t *err);
/* True when -a is given, or a token is used. */
bool eauth_is_set(const char *sock_dir);

#endif
