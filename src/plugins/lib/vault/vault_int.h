/* vault_int.h - private to lib/vault: a request with a given login, and where logins come from.
 *
 * Layer      plugins/lib/vault
 * Threads    as the context
 * Tests      tests/t/7330-vault.bats
 */
#ifndef PLUGINS_LIB_VAULT_VAULT_INT_H
#define PLUGINS_LIB_VAULT_VAULT_INT_H

#include "plugins/lib/vault/vault.h"

/* Refuse "a/../b", which would be another path than the one that a rule has looked at. 0 or -EINVAL. */
int vault_check_path(const char *path, fail_t *err);
/* Sends one request to the server of `conn`: {"url", "namespace", "verify", "token"?}. 0 with any status, or
 * negative with *err. */
int vault_send(call_ctx_t *ctx, const json_t *conn, const char *method, const char *resource,
               const json_t *body, vault_answer_t *ret, fail_t *err);
/* The login by the option's own `auth`: {"url", "token", "namespace", "verify", "issued", "ttl"}. NEW, or NULL
 * with *err. */
json_t *vault_own_login(call_ctx_t *ctx, fail_t *err);
/* The job's login: kept in the context or in a file, else a new one. BORROWED from the context; NULL with
 * *err. */
json_t *vault_login(call_ctx_t *ctx, fail_t *err);
/* Counts a use of the login. */
void vault_used(call_ctx_t *ctx, json_t *conn);

#endif
