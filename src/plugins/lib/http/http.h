/* http.h - Salt's http.query by libcurl (web.h). No program is started: others may read command lines.
 *
 * An answer has Salt's shape: {"body", "status"?, "headers"?, "dict"?, "text"?}, or {"error",
 * "status"?}.
 *
 * Layer      plugins/lib/http
 * Threads    any
 * Ownership  results are NEW
 * Limits     LIMIT_FILE_READ bytes of an answer
 * Tests      tests/t/7300-http.bats, against a server on loopback
 */
#ifndef PLUGINS_LIB_HTTP_HTTP_H
#define PLUGINS_LIB_HTTP_HTTP_H

#include "salt/plugin.h"

/* The arguments of Salt's http.query. */
extern const arg_t http_query_args[];

/* Sends one request; `args` as bound to these rows. 0 also when the server could not be reached, as in Salt:
 * see "error". Negative with *err for an invalid call. */
int http_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

/* Fetch a bundle of CA certificates, which replaces the one that is there only when it is whole. `args`:
 * target, source, merge_files. */
extern const arg_t http_bundle_args[];
int http_update_ca_bundle(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#endif
