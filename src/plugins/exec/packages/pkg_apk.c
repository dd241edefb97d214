/* pkg_apk.c - execution module `pkg` on Alpine, by apk: the table. The functions stand in
 * plugins/lib/packages/apk.c; they are those of Salt's module for apk, which has no repositories, holds or
 * downloads. */
#include "common/base/str.h"
#include "plugins/lib/packages/apk.h"
#include "salt/plugin.h"

static const arg_t install_args[] = { ARG("name", ARG_ANY, "null",
                                          "Name of a package, or several, separated by commas"),
                                      ARG("refresh", ARG_ANY, "false", "Refresh the lists first"),
                                      ARG("pkgs", ARG_ANY, "null", "List of names; in place of name"),
                                      ARG("sources", ARG_ANY, "null", "Refused: apk has none"),
                                      PKG_KWARGS_ROW,
                                      ARGS_END };
static const arg_t upgrade_args[] = { ARG("name", ARG_ANY, "null", "Only this package"),
                                      ARG("pkgs", ARG_ANY, "null", "Only these packages"),
                                      ARG("refresh", ARG_ANY, "true", "Refresh the lists first"),
                                      PKG_KWARGS_ROW, ARGS_END };
static const arg_t remove_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("pkgs", ARG_ANY, "null", "List of names"),
    ARG("purge", ARG_ANY, "false", "Also their configuration files"), PKG_KWARGS_ROW, ARGS_END
};
static const arg_t latest_version_args[] = { ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
                                             ARG("kwargs", ARG_ANY, ARG_STARSTAR, "refresh", "*"), ARGS_END };

#define version_args           pkg_names_args
#define list_pkgs_args         pkg_list_pkgs_args
#define list_upgrades_args     pkg_refresh_args
#define upgrade_available_args pkg_upgradable_args
#define purge_args             pkg_targets_args
#define refresh_db_args        pkg_kwargs_args
#define file_list_args         pkg_packages_args
#define file_dict_args         pkg_packages_args
#define owner_args             pkg_paths_args

/* Which of them runs is told by its row. Files are told by package in both lists, as Salt does. */
#define apk_remove    apk_uninstall
#define apk_purge     apk_uninstall
#define apk_file_list apk_file_dict

static const func_t funcs[] = {
#define PKG_ROW(name, fn, flags, doc) { #name, apk_##fn, fn##_args, flags, doc },
#include "plugins/lib/packages/pkg_api.def"
#undef PKG_ROW
    { "version_cmp", apk_version_cmp, pkg_cmp_args, FN_READONLY,
      "Compare two versions as apk does: -1, 0 or 1." CLI_EXAMPLE(
          "salt '*' pkg.version_cmp '0.2-r1' '0.2.0.1-r2'") },
};

static const char *
pkg_apk_unavailable(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Alpine")
               ? NULL
               : "Module apk only works on Alpine Linux based systems";
}

PLUGIN(exec, pkg_apk, .provides = "pkg", .doc = "Packages by apk", FUNCS(funcs),
       .unavailable = pkg_apk_unavailable);
