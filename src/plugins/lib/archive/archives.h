/* archives.h - what the functions of `archive` share: the format by a name, the cached copy, the programs.
 *
 * Layer      plugins/lib/archive
 * Ownership  results are NEW; TAKES `words`
 * Errors     negative errno with Salt's texts; a program's exit code is data
 * Tests      tests/cases/exec/archive.*.json, tests/cases/state/archive.extracted.json
 */
#ifndef PLUGINS_LIB_ARCHIVE_ARCHIVES_H
#define PLUGINS_LIB_ARCHIVE_ARCHIVES_H

#include "salt/plugin.h"

#define ARCHIVE_TIMEOUT_S 7200 /* of one program, however large an archive is */

/* "tar", "zip" or "rar" by the end of a name; NULL for another. */
const char *archive_guess(const char *name);
/* The path of args["name"], fetched where it is a URL. NULL with *err. */
char *archive_cache(call_ctx_t *ctx, json_t *args, fail_t *err);
/* Runs the words and then `file`, a path that begins with "/", in the folder `cwd` (NULL: any), quietly:
 * {"retcode", "stdout", "stderr", "pid"}. NULL with *err. */
json_t *archive_run(call_ctx_t *ctx, json_t *words, const char *file, const char *cwd, fail_t *err);
/* Lists the tar archive that a command line makes of `file` on its stdout. */
json_t *archive_run_unpacked(call_ctx_t *ctx, const char *command, const char *file, fail_t *err);
/* The first lines, and a sentence that says so: trim_output is True for 100, or a number. */
json_t *archive_trimmed(json_t *files, const json_t *trim_output);

#endif
