/* accept.h - which form of an answer a client's header Accept asks for.
 *
 * Format     RFC 9110, 12.5.1: media ranges with weights; at most ACCEPT_MAX are read
 * Layer      api; pure
 * Threads    any
 * Tests      tests/unit/api/test_api_parts.c, fuzz target tests/fuzz/fuzz_apibody.c
 */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

#include "salt/base.h"

#define ACCEPT_MAX 32

typedef enum form { FORM_JSON, FORM_YAML, FORM_NONE } form_t;

/* The form of an answer; FORM_NONE: the client takes neither. NULL or "" takes all. */
form_t accept_form(const char *accept);
/* True for a browser: text/html is named, and wanted no less than JSON. */
bool accept_wants_html(const char *accept);
/* The form in which the client reads the text of an error: FORM_NONE, a page in HTML, unless JSON or YAML is
 * named. */
form_t accept_error_form(const char *accept);

#endif
