/* fieldpattern.h - patterns with fields in braces, as Python's str.format has them: "roles/{grains[role]}".
 * Pure.
 *
 * Layer      common/data
 * Threads    any
 * Tests      tests/unit/common/test_fieldpattern.c
 */
#ifndef COMMON_DATA_FIELDPATTERN_H
#define COMMON_DATA_FIELDPATTERN_H

#include "salt/value.h"

/* The pattern with its fields filled from the object `values`: "{a}", "{a[b]}", "{a[b][0]}"; "{{" and "}}" are
 * braces. A field whose value is a list gives a text for each element; it is the same in all places of the field,
 * and two such fields give each combination. NEW list of texts, of LIMIT_FIELD_TEXTS at most; NULL when a field has no value or is none. */
json_t *fieldpattern_fill(const char *pattern, const json_t *values);

#endif
