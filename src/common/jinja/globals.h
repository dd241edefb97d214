/* globals.h - functions and classes that every template has.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  NEW values
 * Errors     none
 * Tests      tests/cases/jinja
 */
#ifndef COMMON_JINJA_GLOBALS_H
#define COMMON_JINJA_GLOBALS_H

#include "common/jinja/run.h"

/* Adds ifelse, raise and show_full_context. */
void jglobals_add_salt(py_t *globals);

#endif
