/* digest.h - message digests by Python's names: md5, sha1, sha224, sha256, sha384, sha512.
 *
 * Layer      common/base; the only user of libmd (libsodium has neither md5 nor sha1)
 * Threads    one at a time per digest
 * Errors     -EINVAL "Invalid hash type: x" for an unknown name
 * Tests      tests/unit/common/test_digest.c
 */
#ifndef COMMON_BASE_DIGEST_H
#define COMMON_BASE_DIGEST_H

#include "salt/base.h"

typedef struct digest digest_t;

/* NEW, or NULL with *err for an unknown name. */
digest_t *digest_new(const char *name, fail_t *err);
void digest_destroy(digest_t **self_p);
void digest_add(digest_t *self, const void *bytes, size_t n);
/* The rest of an open file. 0, or a negative errno. */
int digest_add_fd(digest_t *self, int fd);
/* NEW lower-case hexadecimal text. Nothing may be added afterwards. */
char *digest_hex(digest_t *self);

/* Of a whole file, in pieces; NEW text in *ret_hex. A path that can't be read gives Python's wording. */
int digest_file(const char *path, const char *name, char **ret_hex, fail_t *err);
/* Of an open file from its start; the caller puts the path before the error. Leaves the position at the end.
 */
int digest_fd(int fd, const char *name, char **ret_hex, fail_t *err);
/* NEW text; NULL with *err for an unknown name. */
char *digest_bytes(const char *name, const void *bytes, size_t n, fail_t *err);

/* Hexadecimal digits of a digest, 0 for an unknown name; and the name with that many, or NULL. */
size_t digest_hex_len(const char *name);
const char *digest_of_len(size_t hex_len);

#endif
