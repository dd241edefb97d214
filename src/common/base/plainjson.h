/* plainjson.h - checks JSON as programs write it and cuts it into spans, without building values.
 *
 * Plain JSON means the same to every reader: no key twice in an object, no escapes in keys, no \u, no numbers
 * that could lose digits, nesting of at most PLAIN_DEPTH. Any other JSON may be legal and is left to value_parse:
 * "not plain" is not an error. Keys of large objects take memory, up to 96 bytes each, while the object is read:
 * PLAIN_KEYS bounds it.
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
#define PLAIN_KEYS  65536 /* in all objects of a text that have more than some dozens */

typedef struct jtext {
    const char *at;
    size_t len;
} jtext_t;

bool jtext_is(jtext_t piece, const char *text);

/* A walk over one object or array, made by plain_enter; each level has its own. */
typedef struct plain {
    scan_t scan;   /* once it has a reason (not plain, or not JSON) every function returns false */
    bool opened;   /* the next member is the first */
    size_t hashed; /* keys that took memory so far */
} plain_t;

plain_t plain_new(const char *text, size_t len);
bool plain_fine(const plain_t *p);
/* Steps into '{' or '['; false when something else comes. */
bool plain_enter(plain_t *p, char open);
/* The next member's key (between its quotes); false at the end of the object, which is stepped over. Take the
 * value before the next call. Repeated keys are for the caller to refuse. */
bool plain_key(plain_t *p, jtext_t *ret_key);
/* True when another element comes; false at the end of the array, which is stepped over. */
bool plain_item(plain_t *p);
/* Takes one whole value and checks it at any depth; the span is its text. */
bool plain_value(plain_t *p, jtext_t *ret_value);
/* Takes a string without any escape; the span lies between its quotes. */
bool plain_string(plain_t *p, jtext_t *ret_text);
bool plain_int(plain_t *p, int64_t *ret_value);
/* Takes an object and checks it at any depth. *ret_has: it has this key at its top level. */
bool plain_object(plain_t *p, const char *key, jtext_t *ret_value, bool *ret_has, bool *ret_empty);
/* True when only white space is left and all was plain. */
bool plain_end(plain_t *p);

#endif
