/* lowpkg_dpkg.c - execution module `lowpkg` on Debian: dpkg's database and its files, without apt: the table.
 * The functions stand in plugins/lib/apt; `pkg` shares some. */
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"

static const arg_t bin_pkg_info_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A package file: a path or an address"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"), ARGS_END
};
static const arg_t packages_args[] = { ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"), ARGS_END };
static const arg_t info_args[] = { ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"),
                                   ARG("failhard", ARG_ANY, "true", "Fail when a package is not known"),
                                   ARG("kwargs", ARG_ANY, ARG_STARSTAR, "No other keyword is valid", "*"),
                                   ARGS_END };

static const func_t funcs[] = {
    { "bin_pkg_info", apt_low_bin_pkg_info, bin_pkg_info_args, FN_READONLY,
      "Return name, version and architecture of a package file." CLI_EXAMPLE(
          "salt '*' lowpkg.bin_pkg_info /root/foo-1.2.3-1ubuntu1_all.deb") },
    { "file_dict", apt_file_dict, pkg_packages_args, FN_READONLY,
      "List the files of packages, by package." CLI_EXAMPLE("salt '*' lowpkg.file_dict hostname") },
    { "file_list", apt_file_list, pkg_packages_args, FN_READONLY,
      "List the files of packages." CLI_EXAMPLE("salt '*' lowpkg.file_list hostname") },
    { "info", apt_low_info, info_args, FN_READONLY,
      "Return what dpkg knows of packages, of all when none is named." CLI_EXAMPLE(
          "salt '*' lowpkg.info apache2 bash\n    salt '*' lowpkg.info 'php5*' failhard=false") },
    { "list_pkgs", apt_low_list_pkgs, pkg_packages_args, FN_READONLY,
      "List installed packages with their versions." CLI_EXAMPLE(
          "salt '*' lowpkg.list_pkgs hostname mount") },
    { "unpurge", apt_low_unpurge, packages_args, 0,
      "Want packages that are to be purged again. Returns what is no longer to be purged." CLI_EXAMPLE(
          "salt '*' lowpkg.unpurge curl") },
};

static const char *
lowpkg_dpkg_unavailable(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Debian")
               ? NULL
               : "The dpkg execution module cannot be loaded: only works on Debian family systems.";
}

PLUGIN(exec, lowpkg_dpkg, .provides = "lowpkg", .doc = "dpkg's database", FUNCS(funcs),
       .unavailable = lowpkg_dpkg_unavailable);
