/* colour.h - terminal colours by Salt's names.
 *
 * A value may hold the same sequences as Halite writes. Where a terminal's filter (common/cli/ttyfilter.h)
 * reads the text, our own colours are written as marks that only this process can make: the filter writes
 * the sequence, and knows that it is not a value's.
 *
 * Layer      common/output
 * Threads    any
 * Tests      tests/unit/common/test_output.c, tests/unit/common/test_ttyfilter.c
 */
#ifndef COMMON_OUTPUT_COLOUR_H
#define COMMON_OUTPUT_COLOUR_H

#include "common/base/buf.h"
#include "salt/base.h"

/* COLOUR(name, SGR codes) */
#define COLOURS(COLOUR)                                                                                      \
    COLOUR(BLACK, "0;30")                                                                                    \
    COLOUR(DARK_GRAY, "0;1;30")                                                                              \
    COLOUR(RED, "0;31")                                                                                      \
    COLOUR(LIGHT_RED, "0;1;31")                                                                              \
    COLOUR(GREEN, "0;32")                                                                                    \
    COLOUR(LIGHT_GREEN, "0;1;32")                                                                            \
    COLOUR(YELLOW, "0;33")                                                                                   \
    COLOUR(LIGHT_YELLOW, "0;1;33")                                                                           \
    COLOUR(BLUE, "0;34")                                                                                     \
    COLOUR(LIGHT_BLUE, "0;1;34")                                                                             \
    COLOUR(MAGENTA, "0;35")                                                                                  \
    COLOUR(LIGHT_MAGENTA, "0;1;35")                                                                          \
    COLOUR(CYAN, "0;36")                                                                                     \
    COLOUR(LIGHT_CYAN, "0;1;36")                                                                             \
    COLOUR(LIGHT_GRAY, "0;37")                                                                               \
    COLOUR(WHITE, "0;1;37")                                                                                  \
    COLOUR(DEFAULT_COLOR, "0;39")                                                                            \
    COLOUR(ENDC, "0;0")

#define COLOUR_ENUM(name, codes) COLOUR_##name,
typedef enum colour { COLOURS(COLOUR_ENUM) COLOUR_COUNT } colour_t;
#undef COLOUR_ENUM

/* The form of colours in the output. */
typedef enum paint {
    PAINT_NONE,   /* not at all */
    PAINT_PLAIN,  /* as sequences: into pipes and files */
    PAINT_MARKED, /* as marks, for the filter */
    PAINT_BOUNDS  /* as marks that only delimit values: a terminal without colours */
} paint_t;

/* The sequence or its mark, "" where there is none. BORROWED. */
const char *colour_code(colour_t c, paint_t how);
/* Delimiter between a value and text on the same line: there the filter ends the value's attributes. "" where
 * no filter reads. BORROWED. */
const char *colour_bound(paint_t how);
/* Append text between a colour and the reset. */
void colour_add(buf_t *out, colour_t c, paint_t how, const char *text);

/* Parse a mark at the start of `s`: its bytes and *ret_colour, COLOUR_COUNT for a bound. 0: no mark;
 * negative: more bytes are needed. */
int colour_mark(const char *s, size_t len, colour_t *ret_colour);

#endif
