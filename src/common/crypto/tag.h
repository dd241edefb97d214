/* tag.h - authentication tag over a long stream of bytes (Poly1305): only a holder of the key can make it, so
 * it proves that the bytes arrived as sent, at memory speed.
 *
 * A key is for one stream only: make a new one each time, or the tag can be forged.
 * Layer      common/crypto
 * Threads    one at a time per object
 * Tests      tests/unit/common/test_tag.c
 */
#ifndef COMMON_CRYPTO_TAG_H
#define COMMON_CRYPTO_TAG_H

#include "salt/base.h"

#define TAG_KEY_HEX 64 /* characters of a key as text */
#define TAG_HEX     32 /* of a tag */

typedef struct tag tag_t;

void tag_key(char key[TAG_KEY_HEX + 1]); /* a new key */
/* NEW, or NULL when `key` is not TAG_KEY_HEX hexadecimal digits. */
tag_t *tag_new(const char *key);
void tag_destroy(tag_t **self_p);
void tag_add(tag_t *self, const void *bytes, size_t n);
/* Finish and write the tag; nothing may be added afterwards. */
void tag_end(tag_t *self, char hex[TAG_HEX + 1]);

#endif
