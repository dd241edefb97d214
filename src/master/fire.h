/* fire.h - the operation `fire`: {tag, data} or {events: [{tag, data}, ...]}, all of them or none.
 *
 * Whoever fires much sends many at one time, in plain JSON: such a request is checked and cut up as text, and
 * its events go to listeners and journal as they came, with a stamp put in.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/5000-events.bats
 */
#ifndef MASTER_FIRE_H
#define MASTER_FIRE_H

#include "master/bus.h"

/* The request as a tree: NEW {seq}: of the last; or NULL with *err. *ret_ticket: the store's, of the last. */
json_t *fire_request(front_t *self, const json_t *request, uint64_t *ret_ticket, fail_t *err);
/* The request as text: NEW {seq}. NULL without *err: not plain, nothing was done. *ret_n is its number. */
json_t *fire_text(front_t *self, const char *text, size_t len, int64_t *ret_n, fail_t *err);

#endif
