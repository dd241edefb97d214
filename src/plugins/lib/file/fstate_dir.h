/* fstate_dir.h - what the states file.directory and file.recurse do below a folder.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Tests      tests/cases/state/file.directory.json, file.recurse.json
 */
#ifndef PLUGINS_LIB_FILE_FSTATE_DIR_H
#define PLUGINS_LIB_FILE_FSTATE_DIR_H

#include "common/base/map.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/fstate_pats.h"

/* The part of `path` below `root`. BORROWED. */
const char *fstate_below(const char *root, const char *path);

/* Visit what is below a folder: its files, its folders, then what is in those; links are not followed.
 * `max_depth` 0: only its files; -1: everything. Another return than 0 ends it and is returned; a folder
 * that can't be listed ends it with a negative errno, one that is not there is empty. */
typedef int fstate_walk_fn(void *cookie, const char *path, bool is_dir);
int fstate_walk(const char *top, json_int_t max_depth, fstate_walk_fn *visit, void *cookie, fail_t *err);

/* `clean`: what is below the name and neither kept nor excluded goes. */
typedef struct fstate_broom {
    char *root;  /* the name, normal: what is compared has one spelling */
    map_t *keep; /* normal paths, in bytes, and the folders above them */
    fstate_pats_t pats;
} fstate_broom_t;
/* Reads exclude_pat, and of `require` what those files at or below the name keep. */
int fstate_broom_init(fstate_broom_t *self, fstate_t *s, fail_t *err);
void fstate_broom_free(fstate_broom_t *self);
#define fstate_broom_auto_t __attribute__((cleanup(fstate_broom_free))) fstate_broom_t
void fstate_broom_keep(fstate_broom_t *self, const char *path);
/* 1: a path below the root goes; 0: it stays; or a negative errno. */
int fstate_broom_takes(const fstate_broom_t *self, const char *path, fail_t *err);
/* Remove what goes; `test`: only tell. NEW array of paths, or NULL. */
json_t *fstate_broom_sweep(const fstate_broom_t *self, bool test, fail_t *err);

#endif
