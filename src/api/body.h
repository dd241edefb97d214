/* body.h - the body of a request as a value: JSON, YAML, a form, or plain text that holds JSON.
 *
 * Format     application/json; application/x-yaml, text/yaml; application/x-www-form-urlencoded (WHATWG URL,
 *            5.1): a name that stands several times is a list, the values of `arg` and `kwarg` are read as
 *            YAML; text/plain: JSON, or else the text
 * Layer      api; pure
 * Threads    any
 * Errors     -EINVAL: not what the type says (400); -ENOTSUP: another type (406); -E2BIG: more than
 *            BODY_VALUES values (413)
 * Tests      tests/unit/api/test_api_parts.c, fuzz target tests/fuzz/fuzz_apibody.c
 */
#ifndef API_BODY_H
#define API_BODY_H

#include "salt/base.h"

#define BODY_VALUES 200000 /* values in one body */
#define BODY_PAIRS  1000   /* pairs of a form */

/* `type` is the header Content-Type, NULL: a form. 0 and *ret NEW, NULL for an empty body; or a negative
 * errno with the text for the client. `bytes` is followed by a NUL. */
int body_parse(const char *type, const char *bytes, size_t len, json_t **ret, fail_t *err);
/* The list of chunks of a body: a single object becomes a list of one, an `arg` that is none a list. TAKES
 * *data_p; NEW, or NULL with *err. */
json_t *body_chunks(json_t **data_p, fail_t *err);

#endif
