/* eframe.h - the frame of an event: the message of the local socket, made once and used for listeners and the
 * journal alike.
 *
 *   4 bytes of length, {"push":"event","seq":N,"tag":"T","data":{..., "_stamp":"2026-11-20T10:00:00.123456"}}
 *
 * The length is in network order. The keys have this order and the stamp comes last in the data, so number,
 * tag and time are read without parsing the rest.
 *
 * Layer      master; pure
 * Threads    any
 * Tests      tests/unit/master/test_ring.c
 */
#ifndef MASTER_EVENTS_EFRAME_H
#define MASTER_EVENTS_EFRAME_H

#include "salt/base.h"
#include "salt/limits.h"

#define EFRAME_STAMP 26 /* bytes of a stamp: ISO 8601, microseconds, no zone */

typedef struct eframe {
    const char *at; /* first byte; all pointers are BORROWED from the bytes read */
    size_t len;     /* of the whole frame, its length included */
    uint64_t seq;
    const char *tag; /* JSON text without quotes */
    size_t tag_len;
    const char *data; /* as JSON text */
    size_t data_len;
    const char *stamp;
} eframe_t;

/* Upper bound of the bytes that eframe_write writes. */
size_t eframe_room(size_t tag_len, size_t data_len);
/* Write a frame. `tag` and `data` are JSON text: a string without quotes, an object without "_stamp". Returns
 * the bytes written. */
size_t eframe_write(char *out, uint64_t seq, const char *tag, size_t tag_len, const char *data,
                    size_t data_len, const char *stamp);
/* Read the frame at the front of `bytes`; false when there is no complete one. */
bool eframe_read(const char *bytes, size_t len, eframe_t *ret);
/* Unescape the tag; returns its length. */
size_t eframe_tag(const eframe_t *self, char out[LIMIT_TAG_LEN + 1]);
/* NEW {"seq", "tag", "data"}; NULL when the data is not JSON. */
json_t *eframe_value(const eframe_t *self);

#endif
