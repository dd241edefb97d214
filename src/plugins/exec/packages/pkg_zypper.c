/* pkg_zypper.c - execution module `pkg` on SUSE, by zypper: the table. The functions stand in
 * plugins/lib/packages/zypper*.c and rpm*.c, one theme per file. Rows that all providers of `pkg` have come
 * from pkg_api.def by the names defined above the table, the others follow it.
 *
 * Functions by file:
 *   zyppercmd.c      options, exit codes and waiting for the lock; services_need_restart
 *   zypperlist.c     list_upgrades, list_repo_pkgs, info_available, list_provides, resolve_capabilities
 *   zypperkinds.c    what zypper has beside packages: patterns, patches, products, search
 *   zypperinstall.c  install, upgrade, remove; zypperlock.c: locks as holds
 *   zypperrepo.c     repositories, and package files: list_repos, mod_repo, del_repo, download, diff,
 *                    list_downloaded
 *   rpm*.c           rpm's database and keys, which Red Hat shares
 */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/packages/zypper.h"
#include "salt/plugin.h"

/* zypper and rpm take another root by an option, for chroots and images. */
#define ROOT_ROW    ARG("root", ARG_ANY, "null", "Below this folder")
#define REFRESH_ROW ARG("refresh", ARG_ANY, "false", "Refresh the repositories first")
#define VENDOR_ROWS                                                                                          \
    ARG("novendorchange", ARG_ANY, "true", "Packages stay with their vendor"),                               \
        ARG("allowvendorchange", ARG_ANY, "false", "Packages may go to another vendor")

static const arg_t install_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    REFRESH_ROW,
    ARG("fromrepo", ARG_ANY, "null", "Install from this repository"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}; in place of name"),
    ARG("sources", ARG_ANY, "null", "List of {name: package file}"),
    ARG("downloadonly", ARG_ANY, "null", "Only fetch"),
    ARG("skip_verify", ARG_ANY, "false", "Accept unsigned packages"),
    ARG("version", ARG_ANY, "null", "A version of `name`, with an operator or a glob"),
    ARG("ignore_repo_failure", ARG_ANY, "false", "Go on when zypper fails"),
    ARG("no_recommends", ARG_ANY, "false", "Only what is required"),
    ROOT_ROW,
    ARG("inclusion_detection", ARG_ANY, "false", "Changes tell of patterns, patches and products too"),
    VENDOR_ROWS,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "normalize, diff_attr, advisory_ids, resolve_capabilities", "*"),
    ARGS_END
};
static const arg_t upgrade_args[] = {
    ARG("name", ARG_ANY, "null", "Only this package"),
    ARG("pkgs", ARG_ANY, "null", "Only these packages"),
    ARG("refresh", ARG_ANY, "true", "Refresh the repositories first"),
    ARG("dryrun", ARG_ANY, "false", "Only tell, in zypper's words"),
    ARG("dist_upgrade", ARG_ANY, "false", "Also install and remove packages"),
    ARG("fromrepo", ARG_ANY, "null", "From these repositories"),
    VENDOR_ROWS,
    ARG("skip_verify", ARG_ANY, "false", "Accept unsigned packages"),
    ARG("no_recommends", ARG_ANY, "false", "Only what is required"),
    ROOT_ROW,
    ARG("diff_attr", ARG_ANY, "null", "Members of each version in the changes, a list or all"),
    PKG_KWARGS_ROW,
    ARGS_END
};
static const arg_t latest_version_args[] = { ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
                                             ARG("kwargs", ARG_ANY, ARG_STARSTAR, "refresh, root", "*"),
                                             ARGS_END };
static const arg_t list_pkgs_args[] = { ARG("versions_as_list", ARG_ANY, "false", "Versions as lists"),
                                        ROOT_ROW,
                                        ARG("includes", ARG_ANY, "null", "Also: product, pattern, patch"),
                                        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "attr, use_context", "*"),
                                        ARGS_END };
static const arg_t list_upgrades_args[] = { ARG("refresh", ARG_ANY, "true", "Refresh the repositories first"),
                                            ROOT_ROW, ARG("kwargs", ARG_ANY, ARG_STARSTAR, "fromrepo", "*"),
                                            ARGS_END };
static const arg_t remove_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}; in place of name"),
    ROOT_ROW,
    ARG("inclusion_detection", ARG_ANY, "false", "Changes tell of patterns, patches and products too"),
    PKG_KWARGS_ROW,
    ARGS_END
};
static const arg_t refresh_db_args[] = { ARG("force", ARG_ANY, "null", "Also what is new enough"), ROOT_ROW,
                                         ARG("kwargs", ARG_ANY, ARG_STARSTAR, "repos, gpgautoimport", "*"),
                                         ARGS_END };
static const arg_t list_repo_pkgs_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Names of packages, with * and ?"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "byrepo, fromrepo, root", "*"), ARGS_END
};
static const arg_t root_args[] = { ROOT_ROW, PKG_KWARGS_ROW, ARGS_END };
static const arg_t repo_args[] = { ARG("repo", ARG_STR, ARG_REQUIRED, "Alias of the repository"), ROOT_ROW,
                                   PKG_KWARGS_ROW, ARGS_END };
static const arg_t mod_repo_args[] = {
    ARG("repo", ARG_STR, ARG_REQUIRED, "Alias of the repository"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "baseurl, mirrorlist, url, name, enabled, refresh, cache, gpgcheck, priority, gpgautoimport, root",
        "*"),
    ARGS_END
};
static const arg_t hold_args[] = { ARG("name", ARG_ANY, "null", "Name of a package"),
                                   ARG("pkgs", ARG_ANY, "null", "List of names, and of {name: version}"),
                                   ROOT_ROW, PKG_KWARGS_ROW, ARGS_END };
static const arg_t list_holds_args[] = { ARG("pattern", ARG_STR, "null", "Regular expression of names"),
                                         ARG("full", ARG_ANY, "true", "With versions"), ROOT_ROW,
                                         PKG_KWARGS_ROW, ARGS_END };
static const arg_t listing_args[] = { REFRESH_ROW, ROOT_ROW, PKG_KWARGS_ROW, ARGS_END };
static const arg_t products_args[] = { ARG("all", ARG_ANY, "false", "Also what is not installed"),
                                       REFRESH_ROW, ROOT_ROW, ARGS_END };
static const arg_t search_args[] = {
    ARG("criteria", ARG_STR, ARG_REQUIRED, "What to look for"), REFRESH_ROW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "match (exact, words, substrings), provides, recommends, requires, suggests, conflicts, obsoletes, file_list, "
        "search_descriptions, case_sensitive, installed_only, not_installed_only, details, root",
        "*"),
    ARGS_END
};
static const arg_t capabilities_args[] = {
    ARG("pkgs", ARG_ANY, ARG_REQUIRED, "List of names, and of {name: version}"), REFRESH_ROW, ROOT_ROW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "resolve_capabilities", "*"), ARGS_END
};
static const arg_t cmp_args[] = { ARG("ver1", ARG_ANY, ARG_REQUIRED, "A version"),
                                  ARG("ver2", ARG_ANY, ARG_REQUIRED, "Another"),
                                  ARG("ignore_epoch", ARG_ANY, "false", "Compare without epochs"),
                                  PKG_KWARGS_ROW, ARGS_END };
static const arg_t keys_args[] = { ARG("info", ARG_ANY, "false", "What each key is"), ROOT_ROW,
                                   PKG_KWARGS_ROW, ARGS_END };
static const arg_t add_key_args[] = { ARG("path", ARG_ANY, "null", "A key file: a path or a salt:// path"),
                                      ARG("text", ARG_ANY, "null", "The key itself"),
                                      ROOT_ROW,
                                      ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"),
                                      PKG_KWARGS_ROW,
                                      ARGS_END };
static const arg_t del_key_args[] = { ARG("keyid", ARG_STR, ARG_REQUIRED, "gpg-pubkey-ID"), ROOT_ROW,
                                      PKG_KWARGS_ROW, ARGS_END };

#define version_args           pkg_names_args
#define upgrade_available_args pkg_upgradable_args
#define purge_args             remove_args
#define file_list_args         pkg_packages_args
#define file_dict_args         pkg_packages_args
#define owner_args             pkg_paths_args

/* rpm keeps no configuration of removed packages: to purge is to remove. */
#define zypper_purge     zypper_remove
#define zypper_version   rpm_version
#define zypper_file_list rpm_file_list
#define zypper_file_dict rpm_file_dict
#define zypper_owner     rpm_owner

static const func_t funcs[] = {
#define PKG_ROW(name, fn, flags, doc) { #name, zypper_##fn, fn##_args, flags, doc },
#include "plugins/lib/packages/pkg_api.def"
#undef PKG_ROW
    { "add_repo_key", rpm_add_repo_key, add_key_args, 0,
      "Import a key that packages are signed with." CLI_EXAMPLE(
          "salt '*' pkg.add_repo_key path=salt://apps/repo.key") },
    { "clean_locks", zypper_clean_locks, root_args, 0,
      "Remove locks that lock nothing." CLI_EXAMPLE("salt '*' pkg.clean_locks") },
    { "del_repo", zypper_del_repo, repo_args, 0,
      "Remove a repository." CLI_EXAMPLE("salt '*' pkg.del_repo alias") },
    { "del_repo_key", rpm_remove_gpg_key, del_key_args, 0,
      "Remove a key." CLI_EXAMPLE("salt '*' pkg.del_repo_key keyid=gpg-pubkey-3dbdc284-53674dd4") },
    { "diff", zypper_diff, pkg_paths_args, 0,
      "Return how files differ from those of their packages." CLI_EXAMPLE("salt '*' pkg.diff /etc/sudoers") },
    { "download", zypper_download, pkg_packages_args, 0,
      "Fetch packages, without installing them." CLI_EXAMPLE("salt '*' pkg.download httpd postfix") },
    { "get_repo", zypper_get_repo, repo_args, FN_READONLY,
      "Return the options of a repository." CLI_EXAMPLE("salt '*' pkg.get_repo alias") },
    { "get_repo_keys", rpm_list_gpg_keys, keys_args, FN_READONLY,
      "List the keys that packages are signed with." CLI_EXAMPLE("salt '*' pkg.get_repo_keys") },
    { "hold", zypper_hold, hold_args, 0,
      "Lock packages." CLI_EXAMPLE(
          "salt '*' pkg.hold <package name>\n    salt '*' pkg.hold pkgs='[\"foo\", {\"bar\": \"1.2-3\"}]'") },
    { "info_available", zypper_info_available, latest_version_args, 0,
      "Return what repositories tell of packages." CLI_EXAMPLE("salt '*' pkg.info_available <package1>") },
    { "info_installed", rpm_info_installed, latest_version_args, FN_READONLY,
      "Return what is known of installed packages." CLI_EXAMPLE(
          "salt '*' pkg.info_installed <package1>\n    salt '*' pkg.info_installed <package1> attr=version,vendor") },
    { "list_downloaded", zypper_list_downloaded, root_args, FN_READONLY,
      "List the packages in the cache." CLI_EXAMPLE("salt '*' pkg.list_downloaded") },
    { "list_holds", zypper_list_holds, list_holds_args, FN_READONLY,
      "List the installed packages that are locked." CLI_EXAMPLE(
          "salt '*' pkg.list_holds\n    salt '*' pkg.list_holds full=False") },
    { "list_installed_patches", zypper_list_patches, listing_args, FN_READONLY,
      "List the patches that are installed." CLI_EXAMPLE("salt '*' pkg.list_installed_patches") },
    { "list_installed_patterns", zypper_list_patterns, root_args, FN_READONLY,
      "List the patterns that are installed." CLI_EXAMPLE("salt '*' pkg.list_installed_patterns") },
    { "list_locks", zypper_list_locks, root_args, FN_READONLY,
      "List the locks." CLI_EXAMPLE("salt '*' pkg.list_locks") },
    { "list_patches", zypper_list_patches, listing_args, 0,
      "List the known patches." CLI_EXAMPLE("salt '*' pkg.list_patches") },
    { "list_patterns", zypper_list_patterns, listing_args, 0,
      "List the known patterns." CLI_EXAMPLE("salt '*' pkg.list_patterns") },
    { "list_products", zypper_list_products, products_args, 0,
      "List the products of SUSE." CLI_EXAMPLE(
          "salt '*' pkg.list_products\n    salt '*' pkg.list_products all=True") },
    { "list_provides", zypper_list_provides, root_args, FN_READONLY,
      "List what installed packages provide beside their names." CLI_EXAMPLE("salt '*' pkg.list_provides") },
    { "list_repo_pkgs", zypper_list_repo_pkgs, list_repo_pkgs_args, FN_READONLY,
      "List the versions that repositories have, the newest first." CLI_EXAMPLE(
          "salt '*' pkg.list_repo_pkgs foo bar\n    salt '*' pkg.list_repo_pkgs 'python2-*' byrepo=True") },
    { "list_repos", zypper_list_repos, root_args, FN_READONLY,
      "List the repositories with their options." CLI_EXAMPLE("salt '*' pkg.list_repos") },
    { "list_updates", zypper_list_upgrades, list_upgrades_args, 0,
      "The same as list_upgrades." CLI_EXAMPLE("salt '*' pkg.list_updates") },
    { "mod_repo", zypper_mod_repo, mod_repo_args, 0,
      "Change a repository, or add one." CLI_EXAMPLE(
          "salt '*' pkg.mod_repo alias alias=newalias\n    salt '*' pkg.mod_repo alias baseurl=http://host.com/") },
    { "modified", rpm_modified, pkg_packages_args, FN_READONLY,
      "List the files of packages that were changed since." CLI_EXAMPLE("salt '*' pkg.modified httpd") },
    { "normalize_name", rpm_normalize_name, pkg_name_args, FN_READONLY,
      "Return the name without an architecture that is the host's own." CLI_EXAMPLE(
          "salt '*' pkg.normalize_name zsh.x86_64") },
    { "parse_arch", rpm_parse_arch, pkg_name_args, FN_READONLY,
      "Split a name into the package's name and its architecture." CLI_EXAMPLE(
          "salt '*' pkg.parse_arch zsh.x86_64") },
    { "resolve_capabilities", zypper_resolve_capabilities, capabilities_args, FN_READONLY,
      "Replace names that are no package's by the package that provides them." CLI_EXAMPLE(
          "salt '*' pkg.resolve_capabilities resolve_capabilities=True w3m_ssl") },
    { "search", zypper_search_call, search_args, FN_READONLY,
      "Look for packages." CLI_EXAMPLE("salt '*' pkg.search <criteria>") },
    { "services_need_restart", zypper_services_need_restart, root_args, FN_READONLY,
      "List services that run on files which packages have replaced." CLI_EXAMPLE(
          "salt '*' pkg.services_need_restart") },
    { "unhold", zypper_unhold, hold_args, 0,
      "Remove the locks of packages." CLI_EXAMPLE("salt '*' pkg.unhold <package name>") },
    { "verify", rpm_verify, pkg_names_args, FN_READONLY,
      "Return the files of packages that are not as rpm has them." CLI_EXAMPLE("salt '*' pkg.verify httpd") },
    { "version_cmp", rpm_version_cmp, cmp_args, FN_READONLY,
      "Compare two versions: -1, 0 or 1." CLI_EXAMPLE("salt '*' pkg.version_cmp '0.2-001' '0.2.0.1-002'") },
};

/* A system of the family may lack the program. */
static const char *
pkg_zypper_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *zypper = fs_which("zypper");

    if (!str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Suse"))
        return "Module zypper: non SUSE OS not supported by zypper package manager";
    return zypper == NULL ? "Module zypper: zypper package manager not found" : NULL;
}

PLUGIN(exec, pkg_zypper, .provides = "pkg", .doc = "Packages by zypper", FUNCS(funcs),
       .unavailable = pkg_zypper_unavailable);
