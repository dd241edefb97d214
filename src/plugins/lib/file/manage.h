/* manage.h - bring a file to what is asked, or tell what that would change: what file.managed and
 * file.serialize are built on.
 *
 * Arguments as in source.h, and: contents (text, py_wire's bytes, or None), encoding, encoding_errors,
 * backup, makedirs, dir_mode, show_changes, follow_symlinks, keep_mode, seuser, serole, setype, serange.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Errors     as Salt's functions raise them; a state that failed is in `ret`
 * Tests      tests/cases/state, tests/cases/exec/file.manage_file.json
 */
#ifndef PLUGINS_LIB_FILE_MANAGE_H
#define PLUGINS_LIB_FILE_MANAGE_H

#include "common/base/buf.h"
#include "plugins/lib/file/source.h"
#include "salt/plugin.h"

/* file.manage_file: `m` is what managed_get found, and may get its local copy here. `ret` is changed. */
int manage_file(call_ctx_t *ctx, json_t *args, managed_t *m, json_t *ret, fail_t *err);
/* file.check_managed_changes: *ret_changes NEW object; or *ret_comment NEW with what is wrong. */
int manage_changes(call_ctx_t *ctx, json_t *args, json_t **ret_changes, char **ret_comment, fail_t *err);
/* args["contents"]: a text, or py_wire's bytes. Appends; false for None. */
bool manage_contents(const json_t *args, buf_t *out);
/* UTF-8 to another encoding by Python's names: "utf-16", "latin-1"; `errors` is strict, ignore or replace.
 * Appends. */
int manage_encode(const char *text, size_t len, const char *encoding, const char *errors, buf_t *out,
                  fail_t *err);

func_fn file_manage_file, file_check_managed, file_check_managed_changes, file_check_file_meta;

#endif
