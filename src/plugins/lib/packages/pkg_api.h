/* pkg_api.h - the one interface of the module `pkg`, which has a provider for each package manager: what the
 * providers share. The rows that all of them have stand in pkg_api.def.
 *
 * Shapes: a list of packages is {name: version}, or {name: [version]}; changes are {name: {"old", "new"}}.
 *
 * Layer      plugins/lib/packages
 * Threads    a call belongs to one thread
 * Ownership  json_t returns are NEW
 * Errors     as Salt's package modules raise them
 * Tests      tests/cases/exec/pkg.*.json, tests/t/4900-packages.bats
 */
#ifndef PLUGINS_LIB_PACKAGES_PKG_API_H
#define PLUGINS_LIB_PACKAGES_PKG_API_H

#include "common/host/prog.h"
#include "salt/plugin.h"

/* salt.utils.data.is_true. */
bool pkg_true(const json_t *v);
/* An argument, NULL when it is absent or None. BORROWED. */
json_t *pkg_arg(const json_t *args, const char *name);
bool pkg_arg_true(const json_t *args, const char *name);
/* "a,b" or a list, without white space at the ends. NEW list; NULL for None. */
json_t *pkg_words(const json_t *v);

/* systemd.scope of the configuration, where systemd runs: so that a restart of the minion does not take the
 * package manager with it. */
bool pkg_wants_scope(call_ctx_t *ctx);
/* CommandExecutionError with its info: "text. Additional info follows:\n\n" and the info as nested shows it.
 */
int pkg_fail_info(fail_t *err, const char *text, const json_t *info);
/* -EINVAL with *err for a name that would be an option, or more than one word of a list. */
int pkg_check_name(const char *argument, const char *name, fail_t *err);
/* cp.cache_file: a local path; "" when it can't be had. NEW text, or NULL with *err. */
char *pkg_cache_file(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err);
/* Arguments `path` and `saltenv` of lowpkg.bin_pkg_info: *ret_path is NEW, the path of a file that is there,
 * fetched when it was an address. */
int pkg_local_file(call_ctx_t *ctx, const json_t *args, char **ret_path, fail_t *err);

/* The systemd service that a process belongs to. NEW text, or NULL. */
char *pkg_service_of(const char *pid);

/* A provider's pkg.normalize_name. NEW text. */
typedef char *pkg_normal_fn(call_ctx_t *ctx, const char *name);
/* pkg_resource.parse_targets: *ret_params is NEW {name: version or None}, or for files a list of paths; None
 * when there is nothing to do. `normal` may be NULL. */
int pkg_targets(call_ctx_t *ctx, const json_t *args, pkg_normal_fn *normal, json_t **ret_params,
                bool *ret_files, fail_t *err);

/* ---- lists of packages ----------------------------------------------------------------------- */

/* Members of a version in a list that keeps them apart: {name: [{"epoch", "version", "release", "arch",
 * "install_date", "install_date_time_t"}]}. */
/* pkg_resource.format_pkg_list: versions as one text, as lists, or with `attr` ("all", or a list) as
 * members. */
json_t *pkg_format(call_ctx_t *ctx, const json_t *known, bool as_list, const json_t *attr);
/* pkg_resource.add_pkg. TAKES version. */
void pkg_add(json_t *pkgs, const char *name, json_t *version);
/* pkg_resource.stringify. */
void pkg_stringify(json_t *pkgs);
/* pkg_resource.version: of `names` in {name: [version]}. Globs give a dict. */
json_t *pkg_versions(const json_t *pkgs, const json_t *names, bool as_list);
/* salt.utils.data.compare_dicts. */
json_t *pkg_changes(const json_t *old, const json_t *now);

/* Order of two versions: -1, 0 or 1. */
typedef int pkg_cmp_fn(const char *a, const char *b, bool ignore_epoch);
/* True when the comparison holds: "<", "<=", "==", ">=", ">", "!=". */
bool pkg_holds(pkg_cmp_fn *cmp, const char *a, const char *oper, const char *b, bool ignore_epoch);
/* salt.utils.pkg.match_version: the first of `versions` that a wish such as ">=1.2" accepts. BORROWED, or
 * NULL. */
const char *pkg_match(pkg_cmp_fn *cmp, const char *wish, const json_t *versions, bool ignore_epoch);
/* Texts with the greatest first, each once. NEW. */
json_t *pkg_newest_first(pkg_cmp_fn *cmp, const json_t *versions);

/* The rows of arguments that several providers have. */
extern const arg_t pkg_no_args[], pkg_kwargs_args[], pkg_names_args[], pkg_paths_args[], pkg_packages_args[];
extern const arg_t pkg_targets_args[], pkg_list_pkgs_args[], pkg_upgradable_args[], pkg_cmp_args[];
extern const arg_t pkg_name_args[], pkg_refresh_args[];
#define PKG_KWARGS_ROW ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*")

#endif
