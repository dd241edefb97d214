/* vault.h - requests to a HashiCorp Vault server, with the token of the job.
 *
 * The option `vault` says where the server is and how one logs in. A minion asks its master for a token (the
 * runner vault.generate_token, which peer_run must allow), unless it runs without one or `config_location` is
 * local. On the master, where pillars are compiled, a token is made for the minion whose pillar it is, so that
 * Vault's policies decide what that minion gets. Source: https://developer.hashicorp.com/vault/api-docs.
 *
 * Layer      plugins/lib/vault
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     no server, no login: *err. What the server says of a request is data: an answer's status
 * Limits     LIMIT_FILE_READ bytes of an answer
 * Tests      tests/t/7330-vault.bats, against a server on loopback
 */
#ifndef PLUGINS_LIB_VAULT_VAULT_H
#define PLUGINS_LIB_VAULT_VAULT_H

#include "salt/plugin.h"

typedef struct vault_answer {
    int status;
    char *reason, *url; /* owned: "Not Found"; without a login */
    json_t *body;       /* owned; NULL: none, or no JSON */
} vault_answer_t;

void vault_answer_free(vault_answer_t *self);
#define vault_answer_auto_t __attribute__((cleanup(vault_answer_free))) vault_answer_t

/* Where a key-value store has a secret. Of a store of version 1 all are the path itself, and `destroy` is
 * NULL. */
typedef struct vault_path {
    bool v2;
    char *data, *metadata, *destroy; /* owned */
} vault_path_t;

void vault_path_free(vault_path_t *self);
#define vault_path_auto_t __attribute__((cleanup(vault_path_free))) vault_path_t

/* Sends a request to `resource` ("v1/secret/a"); `body` BORROWED, NULL for none. A token that the server does not
 * take is replaced once. 0 with any status, or negative with *err. */
int vault_ask(call_ctx_t *ctx, const char *method, const char *resource, const json_t *body,
              vault_answer_t *ret, fail_t *err);
/* The same to the path of a secret: "secret/a". */
int vault_ask_path(call_ctx_t *ctx, const char *method, const char *path, const json_t *body,
                   vault_answer_t *ret, fail_t *err);
/* Ask which version the store of a path has; where the server does not say, it is 1. */
int vault_find(call_ctx_t *ctx, const char *path, vault_path_t *ret, fail_t *err);
/* Fails in the words of Python's requests: "404 Client Error: Not Found for url: http://...". -ENOENT for
 * what is not there, else -EBADMSG. */
int vault_refused(const vault_answer_t *answer, fail_t *err);
/* Forget the token: 1, or 0 when none was kept in a file; negative with *err. */
int vault_forget(call_ctx_t *ctx, fail_t *err);

/* Make a token for a minion by the master's own login, with the policies that `config` (the option) names.
 * `audit` tells Vault who asks. NEW {"token", "lease_duration", "renewable", "issued", "url", "verify",
 * "token_backend", "namespace", "uses"}, or NULL with *err. */
json_t *vault_make_token(call_ctx_t *ctx, const char *id, const json_t *policies, const json_t *ttl,
                         const json_t *uses, const json_t *audit, fail_t *err);
/* The names of policies for a minion: the patterns of the option, with {minion}, {grains[...]} and
 * {pillar[...]} filled in. NEW list. */
json_t *vault_policies(const json_t *config, const char *id, const json_t *grains, const json_t *pillar);

#endif
