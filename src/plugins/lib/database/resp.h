/* resp.h - a connection to a Redis server: its protocol RESP2, of which a client needs little.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time per connection
 * Errors     negative errno: -EREMOTEIO with the server's text; -EPROTO for what is no RESP, -EFBIG for a
 *            reply over LIMIT_CMD_OUTPUT, -ETIMEDOUT, or what a call on the socket said. After any but
 *            -EREMOTEIO the connection is of no use any more
 * Source     https://redis.io/docs/latest/develop/reference/protocol-spec/
 * Tests      tests/unit/plugins/test_resp.c, tests/fuzz/fuzz_resp.c, tests/t/5320-redis.bats,
 *            tests/cases/exec/redis.*.json
 */
#ifndef PLUGINS_LIB_DATABASE_RESP_H
#define PLUGINS_LIB_DATABASE_RESP_H

#include "common/base/buf.h"
#include "salt/value.h"

typedef struct resp resp_t;

/* Connects by TCP, or to the socket `path` when it is not NULL. NEW, or NULL with *err. */
resp_t *resp_open(const char *host, int port, const char *path, fail_t *err);
void resp_close(resp_t **self_p);
bool resp_is_bad(const resp_t *self);
#define resp_auto_t __attribute__((cleanup(resp_close))) resp_t
/* Wait so long for the replies of a run, instead of LIMIT_SQL_STORE_S. */
void resp_patience(resp_t *self, int seconds);

/* Append a command to those that wait: its words, up to NULL. */
void resp_add(resp_t *self, const char *word, ...) __attribute__((sentinel));
/* The same of an array of texts, which may hold any bytes. */
void resp_add_list(resp_t *self, const json_t *words);
/* Sends all that wait, and reads a reply of each: array of texts, integers, nulls and arrays; NEW, or NULL
 * with *err: the first that the server refused, once all are read. */
json_t *resp_run(resp_t *self, fail_t *err);

/* One reply at the front of the bytes: 1 with *ret_value NEW and *ret_used bytes, 0 when more are needed, or
 * negative with *err. An error of the server is {"error": text}. */
int resp_parse(const char *bytes, size_t len, size_t *ret_used, json_t **ret_value, fail_t *err);

#endif
