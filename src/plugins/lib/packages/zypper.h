/* zypper.h - what the functions of `pkg` on SUSE share: running zypper, and what its exit codes mean.
 *
 * Layer      plugins/lib/packages
 * Threads    one at a time
 * Ownership  json_t returns are NEW
 * Errors     "Zypper command failure: " and what zypper says, as FAIL_COMMAND
 * Tests      tests/cases/exec/pkg.*.json, tests/t/4900-packages.bats
 */
#ifndef PLUGINS_LIB_PACKAGES_ZYPPER_H
#define PLUGINS_LIB_PACKAGES_ZYPPER_H

#include "plugins/lib/packages/pkg_api.h"
#include "plugins/lib/packages/rpm.h"

enum {
    ZYPPER_XML = 1 << 0,
    ZYPPER_READS = 1 << 1,     /* takes no lock */
    ZYPPER_REFRESHES = 1 << 2, /* may refresh repositories */
    ZYPPER_MAY_MISS = 1 << 3,  /* nothing found is an answer */
    ZYPPER_MAY_FAIL = 1 << 4,  /* the exit code is an answer */
    ZYPPER_SCOPE = 1 << 5      /* in a systemd scope of its own */
};

/* Begins the command line; `root` may be NULL. The words of the command follow. */
int zypper_begin(call_ctx_t *ctx, prog_t *prog, unsigned flags, const char *root, fail_t *err);
/* Runs it, again and again while another zypper has the lock: {"retcode", "stdout", "stderr", "pid"}. */
json_t *zypper_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err);
/* All of it for a short command: zypper_elements(ctx, flags, root, err, "se", "-t", "pattern", NULL): the
 * elements of its XML as xmltags_read() gives them. */
json_t *zypper_elements(call_ctx_t *ctx, unsigned flags, const char *root, fail_t *err, ...)
    __attribute__((sentinel));
/* True for an exit code that is no error. */
bool zypper_went_well(int code);
const char *zypper_root(const json_t *args); /* NULL for the host itself */

/* pkg.refresh_db. */
json_t *zypper_refresh(call_ctx_t *ctx, const json_t *args, fail_t *err);
/* pkg.list_pkgs. `includes`: "product", "pattern", "patch" to list them as well, or NULL. */
json_t *zypper_pkgs(call_ctx_t *ctx, const char *root, const json_t *includes, bool as_list,
                    const json_t *attr, fail_t *err);
/* pkg.info_available without its refresh. */
json_t *zypper_info(call_ctx_t *ctx, const json_t *names, const char *root, fail_t *err);
/* What there is of a kind: {name: {"installed", "summary"}}. */
json_t *zypper_kind(call_ctx_t *ctx, const char *kind, const char *root, fail_t *err);
json_t *zypper_installed_patterns(call_ctx_t *ctx, const char *root, fail_t *err);
/* pkg.list_products of what is installed, or of all. */
json_t *zypper_products(call_ctx_t *ctx, bool all, const char *root, fail_t *err);
/* pkg.search: {name: attributes}; FAIL_COMMAND when nothing is found. */
json_t *zypper_search(call_ctx_t *ctx, const char *criteria, const json_t *kwargs, fail_t *err);

func_fn zypper_latest_version, zypper_upgrade_available, zypper_list_pkgs, zypper_list_repo_pkgs,
    zypper_list_upgrades, zypper_list_downloaded, zypper_refresh_db, zypper_install, zypper_upgrade,
    zypper_remove, zypper_info_available, zypper_list_patterns, zypper_list_products, zypper_list_patches,
    zypper_search_call, zypper_list_repos, zypper_get_repo, zypper_del_repo, zypper_mod_repo, zypper_hold,
    zypper_unhold, zypper_list_holds, zypper_list_locks, zypper_clean_locks, zypper_download, zypper_diff,
    zypper_list_provides, zypper_resolve_capabilities, zypper_services_need_restart;

#endif
