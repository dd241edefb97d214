/* cptemplate.h - templates of the module `cp`: paths as templates, and a template's text as a file.
 *
 * Layer      plugins/lib/transfer
 * Threads    one
 * Ownership  texts are NEW
 * Errors     the renderer's words in *err
 * Tests      tests/cases/exec/cp.get_file.json, cp.get_template.json
 */
#ifndef PLUGINS_LIB_TRANSFER_CPTEMPLATE_H
#define PLUGINS_LIB_TRANSFER_CPTEMPLATE_H

#include "common/base/buf.h"
#include "salt/plugin.h"

/* True when the engine exists. */
bool cptemplate_known(const char *engine);
/* Render `text`; `args` are the call's: saltenv, and in kwargs more variables, context, pillar, pillarenv. */
int cptemplate_render(call_ctx_t *ctx, json_t *args, const char *engine, const char *path, const char *text,
                      size_t len, buf_t *out, fail_t *err);

/* `template`: the arguments `path` and `dest` of a call are templates themselves. `args` is changed. */
int cptemplate_paths(call_ctx_t *ctx, json_t *args, fail_t *err);

#endif
