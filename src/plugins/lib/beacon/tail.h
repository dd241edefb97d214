/* tail.h - what is appended to a file, as it comes: also after the file was replaced or cut. A file that lost
 * its name, as logs do when they are rotated, is read to its end before the one that has its name now.
 *
 * Layer      plugins/lib/beacon
 * Threads    one
 * Ownership  said per function
 * Errors     a negative errno with *err
 * Tests      tests/unit/plugins/test_beacon_cases.c
 */
#ifndef PLUGINS_LIB_BEACON_TAIL_H
#define PLUGINS_LIB_BEACON_TAIL_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct tail tail_t;

/* Begins at the file's present end; a file that is not there yet is read from its beginning. `context`: keeps
 * the place from one tail to the next, in "tail". NEW, or NULL with *err. */
tail_t *tail_new(const char *path, json_t *context, fail_t *err);
void tail_destroy(tail_t **self_p);
int tail_fd(const tail_t *self);
/* beacon_row_t's again_ms. */
int tail_again_ms(const tail_t *self);
/* Appends what is new, at most LIMIT_BEACON_READ bytes, all of one file. */
int tail_read(tail_t *self, json_t *context, buf_t *out, fail_t *err);
/* What was read just now ends with the end of a file that is left. */
bool tail_is_last(const tail_t *self);
/* The last `n` bytes that were read are to be read again: they are no whole line or record. */
void tail_unread(tail_t *self, json_t *context, size_t n);

#endif
