/* svncmd.h - the system's svn, as the module and the states call it: it never asks, and has passwords by a
 * pipe.
 *
 * Layer      plugins/lib/git
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND: what svn said, an empty line, the command line
 * Tests      tests/cases/exec/svn.info.json, tests/cases/state/svn.latest.json
 */
#ifndef PLUGINS_LIB_GIT_SVNCMD_H
#define PLUGINS_LIB_GIT_SVNCMD_H

#include "salt/plugin.h"

/* `svn COMMAND WORDS` with cwd, user, username and password of `args`. TAKES `words`. Its output. */
json_t *svn_run(call_ctx_t *ctx, const json_t *args, const char *command, json_t *words, fail_t *err);
/* "Revision: 7" and the like of svn info, as [[key, value]]. */
json_t *svn_pairs(const char *text);
/* The value of a key of svn info's output; NULL where it has none. */
char *svn_value(const char *text, const char *key);

#endif
