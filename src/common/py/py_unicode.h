/* py_unicode.h - properties and case mappings of characters by Unicode 14, as Python 3.11's str methods use
 * them.
 *
 * Layer      common/py
 * Threads    any
 * Tests      tests/unit/common/test_py_cases.c, tests/cases/py/unicode.json */
#ifndef COMMON_PY_PY_UNICODE_H
#define COMMON_PY_PY_UNICODE_H

#include "salt/base.h"

typedef enum py_uni {
    PY_UNI_ALPHA,
    PY_UNI_DECIMAL, /* 0 to 9 of any script */
    PY_UNI_DIGIT,   /* and superscripts */
    PY_UNI_NUMERIC, /* and fractions, Roman and Chinese numbers */
    PY_UNI_SPACE,
    PY_UNI_UPPER,
    PY_UNI_LOWER,
    PY_UNI_TITLE, /* one character that is an upper and a lower letter */
    PY_UNI_ID_START,
    PY_UNI_ID_MORE,
    PY_UNI_IGNORABLE /* between a capital sigma and the letter that decides its form */
} py_uni_t;

bool py_uni_is(uint32_t cp, py_uni_t what);
/* Upper, lower or title case: has case at all. */
bool py_uni_cased(uint32_t cp);
/* Value of a decimal digit, or -1. */
int py_uni_decimal(uint32_t cp);

typedef enum py_case { PY_TO_UPPER, PY_TO_LOWER, PY_TO_TITLE, PY_TO_FOLDED } py_case_t;
enum { PY_CASE_MAX = 3 };
/* Up to three characters for one; their number. */
int py_uni_case(uint32_t cp, py_case_t to, uint32_t out[PY_CASE_MAX]);

#endif
