/* facl.h - changes of access control lists of files, by setfacl.
 *
 * Layer      plugins/lib/file
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     NULL with *err: a word that is no entry or an option, no setfacl. What setfacl says is data
 * Source     setfacl(1): -m ENTRY, -x ENTRY, -b
 * Tests      tests/cases/exec/acl.*.json, tests/cases/state/acl.*.json
 */
#ifndef PLUGINS_LIB_FILE_FACL_H
#define PLUGINS_LIB_FILE_FACL_H

#include "salt/plugin.h"

/* setfacl's entry of a type ("user", "d:g", "default:mask"), a name, and permissions (NULL: an entry to be
 * removed). */
char *facl_entry(const char *type, const char *name, const char *perms, fail_t *err);

enum {
    FACL_RECURSIVE = 1 << 0,
    FACL_DRY = 1 << 1 /* only asks whether setfacl would take it */
};
/* Runs setfacl with `option` ("-m", "-x" with an entry; "-b" with NULL) on a list of paths. {"retcode",
 * "stdout"}, the latter with what it says against it. */
json_t *facl_set(call_ctx_t *ctx, const char *option, const char *entry, const json_t *paths, unsigned flags,
                 fail_t *err);

#endif
