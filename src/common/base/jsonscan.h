/* jsonscan.h - the tokens of JSON (RFC 8259), for the two readers built on them: plainjson.h cuts a text into
 * spans, jsonread.h makes values.
 *
 * A scan stands at a byte. What takes a token steps over it; where another thing stands, `why` says what is
 * wrong there, and stays: the first is the one to tell.
 *
 * Layer      common/base; pure
 * Threads    any
 * Ownership  the text is BORROWED, `why` static
 * Tests      tests/unit/common/test_plainjson.c, tests/unit/common/test_jsonread.c, fuzz target tests/fuzz/fuzz_plainjson.c
 */
#ifndef COMMON_BASE_JSONSCAN_H
#define COMMON_BASE_JSONSCAN_H

#include "salt/base.h"

typedef struct scan {
    const char *at, *end;
    const char *why; /* NULL: all is well so far */
} scan_t;

/* false, for `return scan_fail(...)`. */
bool scan_fail(scan_t *s, const char *why);

/* The byte that comes after white space; 0 at the end and once anything is wrong. */
static inline char
scan_peek(scan_t *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
    return s->at < s->end && !s->why ? *s->at : '\0';
}

/* Step over this byte, if it comes after white space. */
static inline bool
scan_take(scan_t *s, char c)
{
    if (scan_peek(s) != c)
        return false;
    s->at++;
    return true;
}

/* Only white space is left, and all was well. */
bool scan_at_end(scan_t *s);

/* From behind a string's opening quote to behind its closing one; between them is UTF-8 without control
 * characters. Whether there are backslashes; each has a byte behind it, which is not looked at. */
bool scan_string(scan_t *s, bool *ret_escaped);

#define SCAN_INT_DIGITS 18 /* of an integer that 64 bits hold whatever they are */

typedef struct scan_number {
    size_t whole, fraction; /* digits; fraction 0: none */
    bool minus, exponent;
} scan_number_t;

bool scan_number(scan_t *s, scan_number_t *ret);

/* true, false or null. */
bool scan_word(scan_t *s);

/* What a letter behind a backslash stands for; 0: no letter of JSON's, or u. */
char scan_escaped(char letter);
/* From behind "\u" on: the code point of this escape, or of it and the next where they are a surrogate
 * pair. It may be half of a pair. Steps over it; false, and nothing has changed, where four hexadecimal
 * digits do not stand. */
bool scan_unicode(const char **at, const char *end, uint32_t *ret_cp);

#endif
