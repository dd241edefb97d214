/* pkg_pacman.c - execution module `pkg` on Arch, by pacman: the table. The functions stand in
 * plugins/lib/packages/pacman.c. */
#include "common/base/str.h"
#include "plugins/lib/packages/pacman.h"
#include "salt/plugin.h"

/* pacman's --root, with the database below it. */
#define ROOT_ROW ARG("root", ARG_ANY, "null", "Below this folder")

static const arg_t install_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("refresh", ARG_ANY, "false", "Refresh the lists first"),
    ARG("sysupgrade", ARG_ANY, "null", "Upgrade all packages too; None: when the lists are refreshed"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}"),
    ARG("sources", ARG_ANY, "null", "List of {name: package file}"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "version, root", "*"),
    ARGS_END
};
static const arg_t upgrade_args[] = { ARG("refresh", ARG_ANY, "false", "Refresh the lists first"), ROOT_ROW,
                                      PKG_KWARGS_ROW, ARGS_END };
static const arg_t refresh_db_args[] = { ROOT_ROW, PKG_KWARGS_ROW, ARGS_END };
static const arg_t latest_version_args[] = { ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
                                             ARG("kwargs", ARG_ANY, ARG_STARSTAR, "refresh, root", "*"),
                                             ARGS_END };
static const arg_t list_repo_pkgs_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Names of packages, with * and ?"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "byrepo, fromrepo, refresh", "*"), ARGS_END
};

#define version_args           pkg_names_args
#define list_pkgs_args         pkg_list_pkgs_args
#define list_upgrades_args     upgrade_args
#define upgrade_available_args pkg_upgradable_args
#define remove_args            pkg_targets_args
#define purge_args             pkg_targets_args
#define file_list_args         pkg_packages_args
#define file_dict_args         pkg_packages_args
#define owner_args             pkg_paths_args

/* Its row tells a function which of them runs. */
#define pacman_remove pacman_uninstall
#define pacman_purge  pacman_uninstall

static const func_t funcs[] = {
#define PKG_ROW(name, fn, flags, doc) { #name, pacman_##fn, fn##_args, flags, doc },
#include "plugins/lib/packages/pkg_api.def"
#undef PKG_ROW
    { "group_diff", pacman_group_diff, pkg_name_args, FN_READONLY,
      "Return which packages of a group are installed, and which are not." CLI_EXAMPLE(
          "salt '*' pkg.group_diff 'xorg'") },
    { "group_info", pacman_group_info, pkg_name_args, FN_READONLY,
      "Return the packages of a group." CLI_EXAMPLE("salt '*' pkg.group_info 'xorg'") },
    { "group_list", pacman_group_list, NULL, FN_READONLY,
      "List the groups of packages." CLI_EXAMPLE("salt '*' pkg.group_list") },
    { "list_repo_pkgs", pacman_list_repo_pkgs, list_repo_pkgs_args, FN_READONLY,
      "List the versions that repositories have, the newest first." CLI_EXAMPLE(
          "salt '*' pkg.list_repo_pkgs foo bar\n    salt '*' pkg.list_repo_pkgs 'samba4*' fromrepo=base,updates") },
    { "version_cmp", pacman_version_cmp, pkg_cmp_args, FN_READONLY,
      "Compare two versions as pacman does: -1, 0 or 1." CLI_EXAMPLE(
          "salt '*' pkg.version_cmp '0.2-1' '0.2.0.1-2'") },
};

static const char *
pkg_pacman_unavailable(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Arch")
               ? NULL
               : "The pacman module could not be loaded: unsupported OS family.";
}

PLUGIN(exec, pkg_pacman, .provides = "pkg", .doc = "Packages by pacman", FUNCS(funcs),
       .unavailable = pkg_pacman_unavailable);
