/* jsonscan.h - tokens of JSON (RFC 8259), for the two readers on top: plainjson.h cuts a text into spans,
 * jsonread.h makes values.
 *
 * A scan stands at a byte. A function that takes a token steps over it; when something else comes, `why` gets
 * the reason. The first reason stays, as later ones follow from it.
 *
 * Layer      common/base; pure
 * Threads    any
 * Ownership  the text is BORROWED, `why` static
 * Tests      tests/unit/common/test_plainjson.c, tests/unit/common/test_jsonread.c,
 *            fuzz target tests/fuzz/fuzz_plainjson.c
 */
#ifndef COMMON_BASE_JSONSCAN_H
#define COMMON_BASE_JSONSCAN_H

#include "salt/base.h"

typedef struct scan {
    const char *at, *end;
    const char *why; /* NULL: all is well so far */
} scan_t;

/* Records the reason and returns false, for `return scan_fail(...)`. */
bool scan_fail(scan_t *s, const char *why);

/* The next byte behind white space, not taken; 0 at the end and after a failure. */
static inline char
scan_peek(scan_t *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
    return s->at < s->end && !s->why ? *s->at : '\0';
}

/* Takes this byte behind white space if it comes next. */
static inline bool
scan_take(scan_t *s, char c)
{
    if (scan_peek(s) != c)
        return false;
    s->at++;
    return true;
}

/* True when only white space is left and nothing has failed. */
bool scan_at_end(scan_t *s);

/* Takes a string from behind its opening quote to behind its closing one, and checks that it is UTF-8 without
 * control characters. *ret_escaped: it has backslashes. The byte behind each of them is skipped unchecked. */
bool scan_string(scan_t *s, bool *ret_escaped);

#define SCAN_INT_DIGITS 18 /* any integer with so many digits fits into 64 bits */

typedef struct scan_number {
    size_t whole, fraction; /* digits; fraction 0: none */
    bool minus, exponent;
} scan_number_t;

bool scan_number(scan_t *s, scan_number_t *ret);

/* Takes true, false or null. */
bool scan_word(scan_t *s);

/* The character of a letter behind a backslash; 0 for u and for letters that JSON does not know. */
char scan_escaped(char letter);
/* Reads an escape from behind its "\u": the code point of this one, or of a surrogate pair with the next one.
 * A half of a pair is returned as it is. Steps over it; false without four hexadecimal digits, and nothing
 * changes then. */
bool scan_unicode(const char **at, const char *end, uint32_t *ret_cp);

#endif
