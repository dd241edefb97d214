/* plainwrite.h - writes values as JSON, as jansson does, in a quarter of its time. jansson makes a call for each
 * piece, keeps a table of open containers and decodes each byte. It also writes a double with 17 digits, which
 * plainjson.h refuses; here one has as few as read back as the same number.
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

/* Appends a text (UTF-8) as it stands between the quotes of a JSON string. */
void plain_quote(const char *text, buf_t *out);
/* Appends a value in the compact form, keys in their order. Returns -EINVAL and appends nothing when it holds
 * invalid UTF-8. */
int plain_add(const json_t *v, buf_t *out);
/* The same with a blank behind commas and colons, as Python writes JSON. */
int plain_add_blanks(const json_t *v, buf_t *out);

#endif
