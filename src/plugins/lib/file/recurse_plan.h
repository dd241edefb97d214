/* recurse_plan.h - what file.recurse makes of a folder of the file server: the served paths as paths below
 * the name. The state and `clean` of other states, which leave alone what a file.recurse keeps, share it.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Tests      tests/cases/state/file.recurse.json, file.directory.json
 */
#ifndef PLUGINS_LIB_FILE_RECURSE_PLAN_H
#define PLUGINS_LIB_FILE_RECURSE_PLAN_H

#include "common/files/fileclient.h"
#include "plugins/lib/file/fstate_pats.h"
#include "salt/plugin.h"

/* The served folder mapped to paths below the name. Objects keep their order and hold each path once. */
typedef struct recurse_plan {
    char *srcpath, *env;
    json_t *files; /* {path: URL} */
    json_t *dirs;  /* {path: true} */
    json_t *links; /* {path: target} */
    json_t *kept;  /* {path: true} */
    fstate_pats_t pats;
} recurse_plan_t;

/* Lists the served tree once per kind. 0, or a negative errno with *err; the plan is freed in any case. */
int recurse_plan_make(call_ctx_t *ctx, json_t *args, const char *name, const char *source, const char *env,
                      recurse_plan_t *p, fail_t *err);
void recurse_plan_free(recurse_plan_t *p);
#define recurse_plan_auto_t __attribute__((cleanup(recurse_plan_free))) recurse_plan_t

/* Served paths of one kind. NEW, or NULL with *err; empty without a file client. */
json_t *recurse_served(call_ctx_t *ctx, const recurse_plan_t *p, files_kind_t kind, fail_t *err);
/* Sets a member whose key may hold bytes that are not UTF-8. TAKES `value`. */
void recurse_put(json_t *object, const char *path, json_t *value);
/* What a file.recurse with these arguments keeps below its name: {path: true}. NEW, or NULL with *err. */
json_t *recurse_kept(call_ctx_t *ctx, json_t *low, fail_t *err);

#endif
