/* cppush.h - cp.push: files of the minion to its master.
 *
 * Layer      plugins/lib/transfer
 * Threads    one
 * Errors     false, with the reason in the log, as Salt does
 * Tests      tests/unit/plugins/test_cppush.c, tests/t/4000-files.bats
 */
#ifndef PLUGINS_LIB_TRANSFER_CPPUSH_H
#define PLUGINS_LIB_TRANSFER_CPPUSH_H

#include "salt/plugin.h"

typedef struct cppush {
    const char *path, *upload_path; /* upload_path NULL: as path */
    bool keep_symlinks, remove_source;
} cppush_t;

bool cppush_file(call_ctx_t *ctx, const cppush_t *what);
/* All files below a folder; `glob` over their names, NULL: all. */
bool cppush_dir(call_ctx_t *ctx, const char *path, const char *glob, const char *upload_path);

#endif
