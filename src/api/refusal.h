/* refusal.h - what kind of a refusal a text of the master's is.
 *
 * Layer      api; pure
 * Threads    any
 * Tests      tests/unit/api/test_api_parts.c
 */
#ifndef API_REFUSAL_H
#define API_REFUSAL_H

#include "salt/base.h"

/* True when the user's rules do not let him. */
bool refusal_is_denial(const char *text);
/* The HTTP status of another refusal: 400 for a mistake of the caller, 503 when the master is busy. */
unsigned refusal_status(const char *text);

#endif
