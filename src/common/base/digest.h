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

/* A digest by its name. NEW, or NULL with *err for an unknown name. */
digest_t *digest_new(const char *name, fail_t *err);
void digest_destroy(digest_t **self_p);
void digest_add(digest_t *self, const void *bytes, size_t n);
/* Adds the rest of an open file. 0, or a negative errno. */
int digest_add_fd(digest_t *self, int fd);
/* The result as lower-case hexadecimal text, NEW. Nothing may be added afterwards. */
char *digest_hex(digest_t *self);

/* The digest of a whole file, read in pieces; *ret_hex is NEW. An unreadable path gives Python's error
 * text. */
int digest_file(const char *path, const char *name, char **ret_hex, fail_t *err);
/* The digest of an open file from its start; its position is at the end afterwards. The caller adds the path
 * to the error. */
int digest_fd(int fd, const char *name, char **ret_hex, fail_t *err);
/* The digest of bytes, NEW text; NULL with *err for an unknown name. */
char *digest_bytes(const char *name, const void *bytes, size_t n, fail_t *err);

/* The number of hexadecimal digits of a digest, 0 for an unknown name; and the name for a number, or NULL. */
size_t digest_hex_len(const char *name);
const char *digest_of_len(size_t hex_len);

#endif
