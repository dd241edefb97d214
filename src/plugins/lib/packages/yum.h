/* yum.h - what the functions of `pkg` on Red Hat's descendants share: running dnf or yum, and reading their
 * lists.
 *
 * Layer      plugins/lib/packages
 * Threads    one at a time
 * Ownership  json_t returns are NEW
 * Errors     Salt's texts
 * Tests      tests/cases/exec/pkg.*.json, tests/t/4900-packages.bats
 */
#ifndef PLUGINS_LIB_PACKAGES_YUM_H
#define PLUGINS_LIB_PACKAGES_YUM_H

#include "plugins/lib/packages/pkg_api.h"
#include "plugins/lib/packages/rpm.h"

/* "dnf", "tdnf" or "yum", whatever comes first on PATH; NULL for none. */
const char *yum_bin(void);
bool yum_is_dnf(void);

/* Begins a command line with the program, in a systemd scope where the configuration wants it. */
int yum_begin(call_ctx_t *ctx, prog_t *prog, fail_t *err);
/* Options from the keywords: fromrepo, repo, disablerepo, enablerepo, disableexcludes, branch, setopt; with
 * `extra` all others as --key or --key=value. */
int yum_options(prog_t *prog, const json_t *kwargs, bool extra, fail_t *err);
/* What a short command prints on stdout: yum_stdout(ctx, err, "grouplist", "hidden", NULL). NEW, or NULL with
 * *err. */
char *yum_stdout(call_ctx_t *ctx, fail_t *err, ...) __attribute__((sentinel));
/* The packages of what `list` prints, in its order: [{"name", "version", "arch", "repoid", ...}]. */
json_t *yum_listed(call_ctx_t *ctx, const char *text);

/* pkg.refresh_db: True, None or False, as check-update says; `check` false: only what is kept counts as old. */
int yum_refresh(call_ctx_t *ctx, const json_t *kwargs, bool check, json_t **ret_value, fail_t *err);
/* pkg.list_repo_pkgs: {name: [versions]}, newest first; with `by_repo` {repo: that}. */
json_t *yum_repo_pkgs(call_ctx_t *ctx, const json_t *names, const json_t *kwargs, bool by_repo, fail_t *err);
/* pkg.list_holds: the names of the locked packages, or with `full` what locks them. A missing plug-in is
 * FAIL_INVOCATION. */
json_t *yum_holds(call_ctx_t *ctx, const char *pattern, bool full, fail_t *err);
/* pkg.hold and pkg.unhold of names. */
json_t *yum_set_hold(call_ctx_t *ctx, const json_t *targets, bool hold, fail_t *err);
/* pkg.install of `pkgs`, for groups. */
int yum_install_names(call_ctx_t *ctx, json_t *pkgs, json_t *kwargs, json_t **ret_value, fail_t *err);
/* pkg.list_repos: {name: options and "file"}. `basedir` may be NULL. */
json_t *yum_repos(call_ctx_t *ctx, const json_t *basedir, fail_t *err);
/* pkg.list_patches. */
json_t *yum_patches(call_ctx_t *ctx, bool installed_only, fail_t *err);
/* pkg.list_downloaded. */
json_t *yum_downloaded(call_ctx_t *ctx, fail_t *err);

func_fn yum_latest_version, yum_upgrade_available, yum_list_pkgs, yum_list_repo_pkgs, yum_list_upgrades,
    yum_list_downloaded, yum_refresh_db, yum_install, yum_upgrade, yum_remove, yum_list_holds, yum_hold_call,
    yum_group_list, yum_group_info, yum_group_diff, yum_group_install, yum_list_repos, yum_get_repo,
    yum_del_repo, yum_mod_repo, yum_download, yum_diff, yum_list_patches, yum_services_need_restart;

#endif
