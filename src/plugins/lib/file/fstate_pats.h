/* fstate_pats.h - patterns that let paths into a state, or keep them out.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Tests      tests/cases/state/file.directory.json, file.recurse.json
 */
#ifndef PLUGINS_LIB_FILE_FSTATE_PATS_H
#define PLUGINS_LIB_FILE_FSTATE_PATS_H

#include <jansson.h>

#include "salt/base.h"

/* Salt's include_pat and exclude_pat: globs or "E@regex". */
typedef struct fstate_pats {
    struct fstate_pat *include, *exclude;
    size_t n_include, n_exclude;
} fstate_pats_t;
/* Each may be one text, a list, or NULL. -EINVAL when one can't be read: it would let through what it is
 * there to stop. */
int fstate_pats_read(fstate_pats_t *self, const json_t *include, const json_t *exclude, fail_t *err);
void fstate_pats_free(fstate_pats_t *self);
/* Salt's check_include_exclude: 1 when the path is included and not excluded, 0 when not, or a negative
 * errno. */
int fstate_pats_let(const fstate_pats_t *self, const char *path, fail_t *err);

#endif
