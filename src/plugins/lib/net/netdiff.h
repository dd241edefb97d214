/* netdiff.h - differences between lists of lines as the states of network show them: Python's unified_diff of
 * lines with their ends, joined by line breaks, so that each line is followed by an empty one.
 *
 * Layer      plugins/lib/net
 * Ownership  results are NEW
 * Tests      tests/cases/state/network.managed.json
 */
#ifndef PLUGINS_LIB_NET_NETDIFF_H
#define PLUGINS_LIB_NET_NETDIFF_H

#include "salt/value.h"

/* The difference of two lists of lines. */
char *netdiff_of(const json_t *before, const json_t *after);
/* The lines of a text, their ends kept: Python's readlines(). */
json_t *netdiff_lines(const char *text);
/* The same by text.split("\n"), with an end added to each, the last one too. */
json_t *netdiff_split(const char *text);

#endif
