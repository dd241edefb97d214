/* keytar.h - a tar archive of small texts.
 *
 * Format     ustar, POSIX.1-2017, pax(1)
 * Layer      api; pure
 * Threads    any
 * Tests      tests/unit/api/test_api_parts.c
 */
#ifndef API_KEYTAR_H
#define API_KEYTAR_H

#include "common/base/buf.h"
#include "salt/base.h"

/* Appends a file, mode 0600, owner root. */
void keytar_add(buf_t *out, const char *name, const char *text);
void keytar_end(buf_t *out);
/* True for a minion's id; NULL is none. */
bool keytar_id_valid(const char *id, fail_t *err);

#endif
