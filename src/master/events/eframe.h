/* eframe.h - an event as it goes to listeners and lies in the journal: one frame of the local socket, made
 * once.
 *
 *   4 bytes of length, {"push":"event","seq":N,"tag":"T","data":{..., "_stamp":"2026-11-20T10:00:00.123456"}}
 *
 * The keys stand in this order and the stamp is the last of the data, so that number, tag and time are read
 * without parsing the rest.
 *
 * Layer      master; pure
 * Threads    any
 * Tests      tests/unit/master/test_ring.c
 */
#ifndef MASTER_EVENTS_EFRAME_H
#define MASTER_EVENTS_EFRAME_H

#include "salt/base.h"
#include "salt/limits.h"

#define EFRAME_STAMP 26 /* bytes of a stamp */

typedef struct eframe {
    const char *at; /* its first byte; all BORROWED from the bytes it was read from */
    size_t len;     /* of the whole frame */
    uint64_t seq;
    const char *tag; /* as JSON text, without its quotes */
    size_t tag_len;
    const char *data; /* as JSON text */
    size_t data_len;
    const char *stamp;
} eframe_t;

/* Room that eframe_write needs at most. */
size_t eframe_room(size_t tag_len, size_t data_len);
/* `tag` and `data` are JSON text: a string without its quotes, an object without a "_stamp". Returns the
 * bytes written. */
size_t eframe_write(char *out, uint64_t seq, const char *tag, size_t tag_len, const char *data,
                    size_t data_len, const char *stamp);
/* The frame at the front of these bytes; false when they don't begin with a whole one. */
bool eframe_read(const char *bytes, size_t len, eframe_t *ret);
/* Its tag as text; the length. */
size_t eframe_tag(const eframe_t *self, char out[LIMIT_TAG_LEN + 1]);
/* NEW {"seq", "tag", "data"}, or NULL when the data is no JSON. */
json_t *eframe_value(const eframe_t *self);

#endif
