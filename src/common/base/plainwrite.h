/* plainwrite.h - the text of values, byte for byte as jansson writes it, at a quarter of what that takes: it
 * has a call for each piece, a table of what it is in, and decodes each byte.
 *
 * Layer      common/base; pure
 * Threads    any
 * Ownership  texts and values are BORROWED
 * Tests      tests/unit/common/test_plainjson.c, fuzz target tests/fuzz/fuzz_plainjson.c
 */
#ifndef COMMON_BASE_PLAINWRITE_H
#define COMMON_BASE_PLAINWRITE_H

#include "common/base/buf.h"
#include "salt/base.h"
#include "salt/value.h"

/* Add a text (UTF-8) as it stands between the quotes of a JSON string. */
void plain_quote(const char *text, buf_t *out);
/* Add a value's text in the compact form, keys in their order. What is too deep is written by jansson.
 * -EINVAL, and nothing is added: it holds what is no UTF-8. */
int plain_add(const json_t *v, buf_t *out);

#endif
