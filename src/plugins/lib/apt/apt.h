/* apt.h - what the functions of `pkg` share: running apt, the packages of this job, targets, changes.
 *
 * The host's files are read below $DPKG_ROOT, which dpkg itself knows, so that tests bring their own host.
 *
 * Layer      plugins/lib/apt
 * Threads    one at a time
 * Ownership  json_t returns are NEW
 * Errors     Salt's texts
 * Tests      tests/unit/plugins/test_apt.c, tests/cases/exec/pkg.*.json
 */
#ifndef PLUGINS_LIB_APT_APT_H
#define PLUGINS_LIB_APT_APT_H

#include "common/host/prog.h"
#include "plugins/lib/apt/dpkg.h"
#include "plugins/lib/packages/pkg_api.h"

const char *apt_root(void);
/* The database. NEW, or NULL with *err. */
dpkg_t *apt_dpkg(fail_t *err);
/* ---- programs ------------------------------------------------------------------------------ */

/* Begin a command: the environment that keeps apt quiet, and a systemd scope of its own when `scope`, so that
 * a restart of the minion does not take dpkg with it. */
void apt_prog(call_ctx_t *ctx, prog_t *prog, bool scope);
/* Additions to its environment: {name: value}, or a list of these. */
void apt_env(prog_t *prog, const json_t *env);
/* cmd.run_all, again and again while another apt holds the lock. */
json_t *apt_run(const prog_t *prog, fail_t *err);
/* Both for one short command: apt_output(ctx, err, "apt-cache", "show", NULL). */
json_t *apt_output(call_ctx_t *ctx, fail_t *err, ...) __attribute__((sentinel));
/* ---- packages ------------------------------------------------------------------------------ */

enum { PKGS_AS_LIST = 1, PKGS_REMOVED = 2, PKGS_PURGE_DESIRED = 4, PKGS_FRESH = 8 };
/* pkg.list_pkgs: read once per job, until apt_forget. */
json_t *apt_pkgs(call_ctx_t *ctx, unsigned flags, fail_t *err);
void apt_forget(call_ctx_t *ctx);
/* The grain osarch, or what dpkg says. NEW text. */
char *apt_osarch(call_ctx_t *ctx);
/* pkg.normalize_name. NEW text. */
char *apt_normal_name(call_ctx_t *ctx, const char *name);
/* pkg.refresh_db. */
json_t *apt_refresh(call_ctx_t *ctx, const json_t *cache_valid_time, bool failhard, fail_t *err);
/* pkg.latest_version for one package: NEW "" when there is nothing newer. `installed` is of PKGS_AS_LIST. */
json_t *apt_latest(call_ctx_t *ctx, const char *name, const char *fromrepo, bool show_installed,
                   const json_t *installed, fail_t *err);
/* pkg.list_repo_pkgs: {name: [versions]}; all packages when `names` is empty. */
json_t *apt_repo_pkgs(call_ctx_t *ctx, const json_t *names, fail_t *err);
/* pkg.get_selections; patterns and states may be NULL. */
json_t *apt_selections(const char *pattern, const char *state, fail_t *err);
/* pkg.hold and pkg.unhold of a list of names. */
json_t *apt_set_hold(call_ctx_t *ctx, const json_t *targets, bool hold, fail_t *err);

/* pkg_targets() with apt's names: *ret_params is NEW {name: version or None}, or for files a list of paths;
 * None when there is nothing to do. */
int apt_targets(call_ctx_t *ctx, const json_t *args, json_t **ret_params, bool *ret_files, fail_t *err);
/* Calls `pick` for each package that the patterns mean (all when there are none) until one is not 0, which it
 * returns. *ret_missing is NEW text, what dpkg-query says about patterns that find nothing, NULL when there
 * are none. */
typedef int apt_pick_fn(dpkg_t *db, const dpkg_pkg_t *pkg, void *cookie);
int apt_pick(dpkg_t *db, const json_t *patterns, apt_pick_fn *pick, void *cookie, char **ret_missing);
/* lowpkg.bin_pkg_info: {"name", "version", "arch"} of a package file. */
json_t *apt_deb_info(call_ctx_t *ctx, const char *path, fail_t *err);
/* ---- the functions of the module ----------------------------------------------------------- */

func_fn apt_version, apt_latest_version, apt_upgrade_available, apt_list_pkgs, apt_list_upgrades,
    apt_list_repo_pkgs, apt_version_cmp, apt_normalize_name, apt_parse_arch, apt_refresh_db;
func_fn apt_install, apt_autoremove, apt_upgrade;
func_fn apt_uninstall; /* the name of its row: "remove" or "purge" */
func_fn apt_hold_call; /* .data.number: whether it holds, or lets go */
func_fn apt_get_selections, apt_set_selections;
func_fn apt_file_list, apt_file_dict, apt_owner, apt_show, apt_info_installed, apt_list_downloaded,
    apt_services_need_restart;
func_fn apt_list_repos, apt_get_repo, apt_del_repo, apt_mod_repo, apt_expand_repo_def;
func_fn apt_low_bin_pkg_info, apt_low_info, apt_low_list_pkgs, apt_low_unpurge; /* of lowpkg */
func_fn apt_get_repo_keys, apt_add_repo_key, apt_del_repo_key;

#endif
