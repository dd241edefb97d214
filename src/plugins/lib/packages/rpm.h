/* rpm.h - rpm's database and package files, by the program `rpm`: what the providers of `pkg` on Red Hat and
 * SUSE share, and the module `lowpkg` there.
 *
 * Shape of a package: {"name", "version", "arch", "repoid", "install_date", "install_date_time_t"}; the
 * version has the epoch and the release; a foreign architecture is part of the name ("zlib.i686").
 *
 * Layer      plugins/lib/packages
 * Threads    one at a time
 * Ownership  json_t returns are NEW
 * Errors     Salt's texts
 * Tests      tests/cases/exec/lowpkg.*.json, tests/t/4900-packages.bats
 */
#ifndef PLUGINS_LIB_PACKAGES_RPM_H
#define PLUGINS_LIB_PACKAGES_RPM_H

#include "plugins/lib/packages/pkg_api.h"

/* True on systems whose packages are rpm's. */
bool rpm_is_system(call_ctx_t *ctx, bool suse);
/* True for what rpm has as an architecture. */
bool rpm_is_arch(const char *arch);
/* True when both are 32-bit x86, or both 32-bit ARM: their packages need no suffix. */
bool rpm_both_32(const char *arch, const char *osarch);
/* The name with its architecture unless that is usual here. NEW text. */
char *rpm_full_name(const char *name, const char *arch, const char *osarch);
/* The same the other way: pkg.normalize_name. NEW text. */
pkg_normal_fn rpm_normal_name;
/* Cuts "name.arch" for a package's word of a command line: the arch with its dot, "" for none. NEW name.
 * `split`: also where it is this system's. */
char *rpm_split_arch(const char *name, const char *osarch, bool split, const char **ret_arch);
const char *rpm_osarch(call_ctx_t *ctx);

/* `rpm`, below the argument `root` of `kwargs`, which may be NULL. */
int rpm_begin(prog_t *prog, const json_t *kwargs, fail_t *err);
/* All it prints, both streams: cmd.run. NEW text, or NULL with *err. */
char *rpm_text(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err);

/* The package of a line in RPM_FORMAT. NULL when it is none. */
#define RPM_FORMAT(repo) "%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-" repo "_|-%{INSTALLTIME}"
json_t *rpm_package(const char *line, const char *osarch);
/* The installed packages, once per job: {name: [members]} as pkg_format() takes them. `fresh`: read again.
 * BORROWED, or NULL with *err. */
const json_t *rpm_packages(call_ctx_t *ctx, const json_t *kwargs, bool fresh, fail_t *err);
void rpm_forget(call_ctx_t *ctx);
/* pkg.list_pkgs in its forms; attr may be NULL. */
json_t *rpm_pkgs(call_ctx_t *ctx, const json_t *kwargs, bool as_list, const json_t *attr, fail_t *err);
/* lowpkg.bin_pkg_info of a local file: None when it is no package. */
json_t *rpm_file_info(call_ctx_t *ctx, const char *path, fail_t *err);
/* Adds the package files below a folder: {name: {version: {"path", "size", "creation_date_time_t",
 * "creation_date_time"}}}. */
int rpm_downloaded_in(call_ctx_t *ctx, const char *folder, json_t *found, fail_t *err);
/* lowpkg.info: {name: members}. */
json_t *rpm_info(call_ctx_t *ctx, const json_t *names, const json_t *kwargs, fail_t *err);
/* lowpkg.owner of one path: "" for none. NEW text. */
char *rpm_owner_of(call_ctx_t *ctx, const char *path, const json_t *kwargs, fail_t *err);
/* lowpkg.diff: how a file differs from its package's; "" when it does not. NEW text. */
char *rpm_difference(call_ctx_t *ctx, const char *package, const char *path, fail_t *err);

func_fn rpm_bin_pkg_info, rpm_list_pkgs, rpm_verify, rpm_modified, rpm_file_list, rpm_file_dict, rpm_owner,
    rpm_diff, rpm_info_call, rpm_version_cmp, rpm_checksum, rpm_list_gpg_keys, rpm_info_gpg_key,
    rpm_import_gpg_key, rpm_remove_gpg_key;
/* The same for `pkg`, whose names for them differ. */
func_fn rpm_normalize_name, rpm_parse_arch, rpm_version, rpm_add_repo_key, rpm_info_installed;

#endif
