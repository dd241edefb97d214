/* colour.h - terminal colours by Salt's names.
 *
 * Layer      common/output
 * Threads    any
 * Tests      tests/unit/common/test_output.c
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

/* The escape sequence, or "" when `on` is false. BORROWED. */
const char *colour_code(colour_t c, bool on);
/* Append text between a colour and the reset. */
void colour_add(buf_t *out, colour_t c, bool on, const char *text);

#endif
