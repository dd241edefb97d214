/* sources.h - lists of files as the functions of `archive` take them.
 *
 * Layer      plugins/lib/archive
 * Ownership  results are NEW
 * Tests      tests/cases/exec/archive.tar.json, archive.zip.json
 */
#ifndef PLUGINS_LIB_ARCHIVE_SOURCES_H
#define PLUGINS_LIB_ARCHIVE_SOURCES_H

#include "salt/plugin.h"

/* A list, a text with commas, or a number, as a list of texts; None is an empty one. */
json_t *sources_listed(const json_t *sources);
/* The same, with every glob replaced by what matches it. NULL with *err. */
json_t *sources_expanded(const json_t *sources, fail_t *err);
/* Two arguments, as texts rendered by args["template"] where there is one: {first: ..., second: ...}. */
json_t *sources_rendered(call_ctx_t *ctx, json_t *args, const char *first, const char *second, fail_t *err);

#endif
