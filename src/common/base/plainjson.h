/* plainjson.h - JSON as programs write it, checked and cut into spans without building values.
 *
 * What is plain means the same to every reader: no key twice in an object, no escapes in keys, no \u, no
 * numbers that could lose digits, nesting of at most PLAIN_DEPTH, at most PLAIN_KEYS keys in an object.
 * Whatever else is legal JSON is left to value_parse: "not plain" is not an error.
 *
 * Layer      common/base; pure
 * Threads    any
 * Ownership  spans point into the text
 * Tests      tests/unit/common/test_plainjson.c, fuzz target tests/fuzz/fuzz_plainjson.c
 */
#ifndef COMMON_BASE_PLAINJSON_H
#define COMMON_BASE_PLAINJSON_H

#include "common/base/jsonscan.h"
#include "salt/base.h"

#define PLAIN_DEPTH 32
#define PLAIN_KEYS  64

typedef struct jtext {
    const char *at;
    size_t len;
} jtext_t;

bool jtext_is(jtext_t piece, const char *text);

/* Walks one object or array from its first byte on: a walk per level, made by plain_enter. */
typedef struct plain {
    scan_t scan; /* with a reason: not plain, or not JSON: every question is answered by false from now on */
    bool opened; /* the next member is the first */
} plain_t;

plain_t plain_new(const char *text, size_t len);
bool plain_fine(const plain_t *p);
/* Step into '{' or '['; false when something else comes. */
bool plain_enter(plain_t *p, char open);
/* The next member's key (between its quotes); false at the end of the object, which is stepped over. The
 * value must be taken before the next question. Keys that come twice are the caller's to refuse. */
bool plain_key(plain_t *p, jtext_t *ret_key);
/* Whether another element comes; false at the end of the array, which is stepped over. */
bool plain_item(plain_t *p);
/* One whole value, checked in depth; the span is its text. */
bool plain_value(plain_t *p, jtext_t *ret_value);
/* A string without any escape; the span lies between its quotes. */
bool plain_string(plain_t *p, jtext_t *ret_text);
bool plain_int(plain_t *p, int64_t *ret_value);
/* An object, checked in depth; *ret_has: whether it has this key itself. */
bool plain_object(plain_t *p, const char *key, jtext_t *ret_value, bool *ret_has, bool *ret_empty);
/* Nothing but white space is left, and all was plain. */
bool plain_end(plain_t *p);

#endif
