/* extmods.h - custom modules: from the file server's _modules, _states, ... into the folder
 * extension_modules.
 *
 * Layer      common/files
 * Threads    one
 * Tests      tests/cases/exec/saltutil.sync_*.json
 */
#ifndef COMMON_FILES_EXTMODS_H
#define COMMON_FILES_EXTMODS_H

#include "salt/plugin.h"

typedef struct extmods {
    const char *form; /* "modules", "states", ... */
    json_t *envs;     /* environments; a later one's file wins. BORROWED */
    json_t *only;     /* {form: [names]}, "a,b", or NULL: option extmod_whitelist. BORROWED */
    json_t *never;    /* the same: option extmod_blacklist */
    bool keep;        /* nothing is removed, for envs may be too few */
} extmods_t;

/* Sync and list what is new or changed: NEW list of "FORM.NAME". A failure is logged and leaves the rest as
 * it is. */
json_t *extmods_sync(call_ctx_t *ctx, const extmods_t *what);
/* The folder of a form. NEW. */
char *extmods_dir(call_ctx_t *ctx, const char *form);

#endif
