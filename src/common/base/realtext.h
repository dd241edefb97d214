/* realtext.h - a double as the shortest decimal that reads back as the same number, in Python's layout: 0.074,
 * 3.0, 1e-05, 1e+16 (exponents below 1e-4 and from 1e16 on), -0.0, nan, inf. A finite one is also JSON.
 *
 * Layer      common/base; pure
 * Threads    any
 * Tests      tests/unit/common/test_plainjson.c, tests/cases/py/floats.json, tests/cases/value/repr.json
 */
#ifndef COMMON_BASE_REALTEXT_H
#define COMMON_BASE_REALTEXT_H

#include "common/base/buf.h"

void realtext_add(buf_t *out, double d);

#endif
