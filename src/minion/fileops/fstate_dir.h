/* fstate_dir.h - what the states file.directory and file.recurse do below a folder.
 *
 * Layer      minion/fileops
 * Threads    a job's child
 * Tests      tests/cases/states-file/file.directory.json, file.recurse.json
 */
#ifndef MINION_FILEOPS_FSTATE_DIR_H
#define MINION_FILEOPS_FSTATE_DIR_H

#include "minion/fileops/fstate.h"

/* Salt's check_include_exclude: patterns are globs or "E@regex", or lists of them; NULL for none. */
bool fstate_included(const char *path, const json_t *include, const json_t *exclude);
/* The part of `path` below `root`. BORROWED. */
const char *fstate_below(const char *root, const char *path);

/* Visit what is below a folder: its files, its folders, then what is in those; links are not followed.
 * `max_depth` 0: only its files; -1: everything. Another return than 0 ends it and is returned. */
typedef int fstate_walk_fn(void *cookie, const char *path, bool is_dir);
int fstate_walk(const char *top, json_int_t max_depth, fstate_walk_fn *visit, void *cookie);

/* Paths that required states keep: of `require` those files at or below the name. NEW array, or NULL. */
json_t *fstate_kept(fstate_t *s, fail_t *err);
/* Remove what is below the name and neither kept nor excluded; in test mode only tell. NEW array of paths, or
 * NULL. */
json_t *fstate_clean(fstate_t *s, const json_t *kept, fail_t *err);
/* What a file.recurse with these arguments keeps below its name. Appends to `kept`. */
int fstate_recurse_kept(call_ctx_t *ctx, json_t *low, json_t *kept, fail_t *err);

#endif
