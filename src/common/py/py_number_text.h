/* py_number_text.h - shared by format(), % and str.format.
 *
 * Layer      common/py; for the files of this folder
 * Errors     0, or -1 raised */
#ifndef COMMON_PY_PY_NUMBER_TEXT_H
#define COMMON_PY_PY_NUMBER_TEXT_H

#include "common/py/py_obj.h"

/* Digits of a finite or infinite double without a sign: `type` is one of eEfFgG, or r for repr. */
int py_double_text(buf_t *out, double d, char type, int64_t precision, bool alternate);

/* A width or precision in a format: digits at *p. -1 in *ret_v when there are none; -1 raised when too many.
 */
int py_format_number(const char **p, const char *end, int64_t *ret_v);

/* ascii(): repr() with everything that is not ASCII escaped. */
int py_ascii_to(buf_t *out, py_t *v);

#endif
