/* yaml_scalar.h - what a YAML 1.1 scalar means: PyYAML's resolver and its number constructors, as pure
 * functions.
 *
 * Layer      common/data
 * Threads    any
 * Ownership  NEW where a text is returned
 * Errors     false, 0 or NULL when the text does not say such a value
 * Tests      tests/unit/common/test_yaml.c, tests/cases/yaml/scalars.json
 */
#ifndef COMMON_DATA_YAML_SCALAR_H
#define COMMON_DATA_YAML_SCALAR_H

#include "salt/base.h"

typedef enum yaml_kind {
    YAML_IS_STR,
    YAML_IS_NULL,
    YAML_IS_BOOL,
    YAML_IS_INT,
    YAML_IS_FLOAT,
    YAML_IS_TIMESTAMP,
    YAML_IS_MERGE, /* << */
    YAML_IS_VALUE, /* = */
    YAML_IS_BINARY,
    YAML_IS_SEQ,
    YAML_IS_MAP,
    YAML_IS_SET,
    YAML_IS_PAIRS,
    YAML_IS_UNKNOWN /* a tag without a constructor */
} yaml_kind_t;

/* The type of an unquoted scalar. */
yaml_kind_t yaml_resolve(const char *text, size_t len);
/* The type that a full tag such as "tag:yaml.org,2002:int" names. */
yaml_kind_t yaml_kind_of_tag(const char *tag);

/* True when a scalar tagged as a timestamp is a valid one. Without a tag a date needs two digits for month
 * and day. */
bool yaml_is_timestamp(const char *text, size_t len);
/* Value of a scalar of the type, in any spelling that PyYAML accepts; false when there is none. */
bool yaml_to_bool(const char *text, size_t len, bool *ret_v);
bool yaml_to_float(const char *text, size_t len, double *ret_v);

typedef enum yaml_int { YAML_INT_BAD, YAML_INT_64, YAML_INT_BIG, YAML_INT_HUGE } yaml_int_t;
/* An integer in any of YAML 1.1's notations, leading zeros dropped as Salt does. YAML_INT_BIG: beyond 64
 * bits, then *ret_digits is NEW decimal text. YAML_INT_HUGE: more digits than Python converts (4300). */
yaml_int_t yaml_to_int(const char *text, size_t len, json_int_t *ret_v, char **ret_digits);

/* Python's base64.decodebytes. NEW bytes; NULL with *ret_why set to NEW text. */
char *yaml_from_base64(const char *text, size_t len, size_t *ret_len, char **ret_why);

#endif
