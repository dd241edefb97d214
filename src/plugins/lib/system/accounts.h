/* accounts.h - users and groups, of this host or below another root, in the shapes that `user` and `group`
 * return.
 *
 * Layer      plugins/lib/system
 * Threads    one at a time (the C library's getpwent)
 * Ownership  results are NEW
 * Errors     an unknown name is NULL, one that can't be looked up NULL with *err; missing programs are
 *            CommandExecutionErrors
 * Tests      tests/cases/exec/user.*.json, group.*.json
 */
#ifndef PLUGINS_LIB_SYSTEM_ACCOUNTS_H
#define PLUGINS_LIB_SYSTEM_ACCOUNTS_H

#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* `root` NULL is this host, by its name services; else ROOT/etc/passwd and ROOT/etc/group are read. */

/* {"name", "passwd", "uid", "gid", "home", "shell", "groups", "fullname", ...}, or NULL: no such user, or
 * *err. */
json_t *account_user(const char *root, const char *name, fail_t *err);
/* All of them, in file order; NULL with *err. */
json_t *account_users(const char *root, fail_t *err);
/* Names of the groups that a user is in, sorted; NULL with *err. */
json_t *account_groups_of(const char *root, const char *name, fail_t *err);
/* {"name", "passwd", "gid", "members"}, or NULL: no such group, or *err. */
json_t *account_group(const char *root, const char *name, fail_t *err);
json_t *account_groups(const char *root, fail_t *err);

/* True when login.defs gives each user a group of its own name (USERGROUPS_ENAB). */
bool account_own_groups(const char *root);

/* Starts a command line: the program, and "-R ROOT" (by the option's name) when there is a root.
 * CommandExecutionError when the program is missing. */
int account_prog(prog_t *prog, const char *program, const char *root_option, const char *root, fail_t *err);
/* Run it: 0 with the exit code in *ret_code, or a negative errno. What it complains about is logged. */
int account_run(call_ctx_t *ctx, prog_t *prog, int *ret_code, fail_t *err);
/* SaltInvocationError for a name that a program would take for an option, or that would break the files'
 * lines. */
int account_check_name(const char *name, fail_t *err);

/* ---- what `user` and `group` do alike ---- */

/* The argument `root`; NULL for this host. BORROWED. */
const char *account_root(const json_t *args);
/* The argument `key`, which names a user or a group. BORROWED. */
int account_arg_name(const json_t *args, const char *key, const char **ret_name, fail_t *err);
/* user.info, group.info: {} for nobody. */
typedef json_t *account_find_fn(const char *root, const char *name, fail_t *err);
int account_info(account_find_fn *find, const json_t *args, json_t **ret_value, fail_t *err);
/* user.getent, group.getent: kept for the job under `key`, for this host only. */
typedef json_t *account_all_fn(const char *root, fail_t *err);
int account_getent(call_ctx_t *ctx, const char *key, account_all_fn *all, const json_t *args,
                   json_t **ret_value, fail_t *err);

#endif
