/* pkg_yum.c - execution module `pkg` on Red Hat and what descends from it, by dnf or yum: the table. The
 * functions stand in plugins/lib/packages/yum*.c and rpm*.c, one theme per file. Functions of both programs
 * differ in a few options, which yumcmd.c knows.
 *
 * Functions by file; those that every provider of `pkg` has come from pkg_api.def:
 *   yumcmd.c      which of the programs runs, and its options; refresh_db
 *   yumlist.c     what is installed, and what repositories have: list_repo_pkgs, list_upgrades,
 *                 latest_version
 *   yuminstall.c  install, upgrade, remove; yumhold.c: holds by the plug-in versionlock
 *   yumgroup.c    group_list, group_info, group_diff, group_install
 *   yumfiles.c    package files: download, diff, list_downloaded, list_patches, services_need_restart
 *   yumrepo.c     repositories: list_repos, get_repo, mod_repo, del_repo
 *   rpm*.c        rpm's database and keys, which SUSE shares: info_installed, verify, modified,
 *                 add_repo_key, version_cmp
 */
#include "common/base/str.h"
#include "plugins/lib/packages/yum.h"
#include "salt/plugin.h"

/* Keywords that choose repositories. */
#define REPO_OPTIONS "fromrepo, repo, enablerepo, disablerepo, disableexcludes, branch, setopt"

static const arg_t latest_version_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "refresh, " REPO_OPTIONS, "*"), ARGS_END
};
static const arg_t install_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("refresh", ARG_ANY, "false", "Refresh the lists first"),
    ARG("skip_verify", ARG_ANY, "false", "Accept unsigned packages"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}; in place of name"),
    ARG("sources", ARG_ANY, "null", "List of {name: package file}"),
    ARG("downloadonly", ARG_ANY, "false", "Only fetch"),
    ARG("reinstall", ARG_ANY, "false", "Install again what is there"),
    ARG("normalize", ARG_ANY, "true", "Leave this host's architecture out of names"),
    ARG("update_holds", ARG_ANY, "false", "Update packages that are held"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"),
    ARG("ignore_epoch", ARG_ANY, "false", "Compare versions without their epochs"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "version, split_arch, diff_attr, advisory_ids, " REPO_OPTIONS, "*"),
    ARGS_END
};
static const arg_t upgrade_args[] = {
    ARG("name", ARG_ANY, "null", "Only this package"),
    ARG("pkgs", ARG_ANY, "null", "Only these packages"),
    ARG("refresh", ARG_ANY, "true", "Refresh the lists first"),
    ARG("skip_verify", ARG_ANY, "false", "Accept unsigned packages"),
    ARG("normalize", ARG_ANY, "true", "Leave this host's architecture out of names"),
    ARG("minimal", ARG_ANY, "false", "Only to the versions that mend faults"),
    ARG("obsoletes", ARG_ANY, "true", "Take packages that replace others"),
    ARG("diff_attr", ARG_ANY, "null", "Members of each version in the changes, a list or all"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, REPO_OPTIONS "; others become options of dnf", "*"),
    ARGS_END
};
static const arg_t update_args[] = {
    ARG("name", ARG_ANY, "null", "Only this package"),
    ARG("pkgs", ARG_ANY, "null", "Only these packages"),
    ARG("refresh", ARG_ANY, "true", "Refresh the lists first"),
    ARG("skip_verify", ARG_ANY, "false", "Accept unsigned packages"),
    ARG("normalize", ARG_ANY, "true", "Leave this host's architecture out of names"),
    ARG("minimal", ARG_ANY, "false", "Only to the versions that mend faults"),
    ARG("obsoletes", ARG_ANY, "false", "Take packages that replace others"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, REPO_OPTIONS "; others become options of dnf", "*"),
    ARGS_END
};
static const arg_t list_repo_pkgs_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Names of packages, with * and ?"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "byrepo, cacheonly, fromrepo, enablerepo, disablerepo", "*"),
    ARGS_END
};
static const arg_t refresh_db_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "check_update, " REPO_OPTIONS, "*"), ARGS_END
};
static const arg_t hold_args[] = { ARG("name", ARG_ANY, "null", "Name of a package"),
                                   ARG("pkgs", ARG_ANY, "null", "List of names"),
                                   ARG("sources", ARG_ANY, "null", "List of {name: source}"),
                                   ARG("normalize", ARG_ANY, "true", "Accepted for Salt's sake"),
                                   PKG_KWARGS_ROW,
                                   ARGS_END };
static const arg_t list_holds_args[] = { ARG("pattern", ARG_STR, "null", "Regular expression of names"),
                                         ARG("full", ARG_ANY, "true", "Whole locks, not names"), ARGS_END };
static const arg_t group_info_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name or id of the group"),
    ARG("expand", ARG_ANY, "false", "Packages of an environment's groups"),
    ARG("ignore_groups", ARG_ANY, "null", "Groups to leave out then"), ARGS_END
};
static const arg_t group_install_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "Groups: a list, or separated by commas"),
    ARG("skip", ARG_ANY, "[]", "Default packages to leave out"),
    ARG("include", ARG_ANY, "[]", "Optional packages to install too"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Arguments of pkg.install", "*"), ARGS_END
};
static const arg_t list_repos_args[] = {
    ARG("basedir", ARG_ANY, "null", "Folders of the files"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "strict_config: False lets sections come twice", "*"), ARGS_END
};
static const arg_t repo_args[] = {
    ARG("repo", ARG_STR, ARG_REQUIRED, "Id of the repository, or copr:OWNER/PROJECT"),
    ARG("basedir", ARG_ANY, "null", "Folders of the files"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "strict_config: False lets sections come twice", "*"), ARGS_END
};
static const arg_t mod_repo_args[] = {
    ARG("repo", ARG_STR, ARG_REQUIRED, "Id of the repository, or copr:OWNER/PROJECT"),
    ARG("basedir", ARG_ANY, "null", "Folders of the files"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options of the repository; an empty one is removed", "*"), ARGS_END
};
static const arg_t patches_args[] = { ARG("refresh", ARG_ANY, "false", "Refresh the lists first"),
                                      PKG_KWARGS_ROW, ARGS_END };
static const arg_t modified_args[] = {
    ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "size, mode, checksum, device, symlink, owner, group, time, capabilities: whether a file must be changed in it",
        "*"),
    ARGS_END
};
static const arg_t verify_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "ignore_types, verify_options", "*"), ARGS_END
};
static const arg_t info_installed_args[] = { ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
                                             ARG("kwargs", ARG_ANY, ARG_STARSTAR, "attr, all_versions", "*"),
                                             ARGS_END };
static const arg_t keys_args[] = { ARG("info", ARG_ANY, "false", "What each key is"),
                                   ARG("root", ARG_ANY, "null", "Below this folder"), PKG_KWARGS_ROW,
                                   ARGS_END };
static const arg_t add_key_args[] = { ARG("path", ARG_ANY, "null", "A key file: a path or a salt:// path"),
                                      ARG("text", ARG_ANY, "null", "The key itself"),
                                      ARG("root", ARG_ANY, "null", "Below this folder"),
                                      ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"),
                                      PKG_KWARGS_ROW,
                                      ARGS_END };
static const arg_t del_key_args[] = { ARG("keyid", ARG_STR, ARG_REQUIRED, "gpg-pubkey-ID"),
                                      ARG("root", ARG_ANY, "null", "Below this folder"), PKG_KWARGS_ROW,
                                      ARGS_END };

#define version_args           pkg_names_args
#define list_pkgs_args         pkg_list_pkgs_args
#define upgrade_available_args pkg_upgradable_args
#define list_upgrades_args     pkg_refresh_args
#define remove_args            pkg_targets_args
#define purge_args             pkg_targets_args
#define file_list_args         pkg_packages_args
#define file_dict_args         pkg_packages_args
#define owner_args             pkg_paths_args

/* rpm keeps no configuration of removed packages: to purge is to remove. */
#define yum_purge     yum_remove
#define yum_version   rpm_version
#define yum_file_list rpm_file_list
#define yum_file_dict rpm_file_dict
#define yum_owner     rpm_owner

static const func_t funcs[] = {
#define PKG_ROW(name, fn, flags, doc) { #name, yum_##fn, fn##_args, flags, doc },
#include "plugins/lib/packages/pkg_api.def"
#undef PKG_ROW
    { "add_repo_key", rpm_add_repo_key, add_key_args, 0,
      "Import a key that packages are signed with." CLI_EXAMPLE(
          "salt '*' pkg.add_repo_key path=salt://apps/repo.key") },
    { "clean_metadata", yum_refresh_db, refresh_db_args, 0,
      "The same as refresh_db." CLI_EXAMPLE("salt '*' pkg.clean_metadata") },
    { "del_repo", yum_del_repo, repo_args, 0,
      "Remove a repository, with its file when it was the last in it." CLI_EXAMPLE(
          "salt '*' pkg.del_repo myrepo") },
    { "del_repo_key", rpm_remove_gpg_key, del_key_args, 0,
      "Remove a key." CLI_EXAMPLE("salt '*' pkg.del_repo_key keyid=gpg-pubkey-3dbdc284-53674dd4") },
    { "diff", yum_diff, pkg_paths_args, 0,
      "Return how files differ from those of their packages." CLI_EXAMPLE("salt '*' pkg.diff /etc/sudoers") },
    { "download", yum_download, pkg_packages_args, 0,
      "Fetch packages to /var/cache/yum/packages, without installing them." CLI_EXAMPLE(
          "salt '*' pkg.download httpd\n    salt '*' pkg.download httpd postfix") },
    { "get_locked_packages", yum_list_holds, list_holds_args, FN_READONLY,
      "The same as list_holds." CLI_EXAMPLE("salt '*' pkg.get_locked_packages") },
    { "get_repo", yum_get_repo, repo_args, FN_READONLY,
      "Return the options of a repository." CLI_EXAMPLE("salt '*' pkg.get_repo myrepo") },
    { "get_repo_keys", rpm_list_gpg_keys, keys_args, FN_READONLY,
      "List the keys that packages are signed with." CLI_EXAMPLE("salt '*' pkg.get_repo_keys") },
    { "group_diff", yum_group_diff, pkg_name_args, FN_READONLY,
      "Return which packages of a group are installed, and which are not." CLI_EXAMPLE(
          "salt '*' pkg.group_diff 'Perl Support'") },
    { "group_info", yum_group_info, group_info_args, FN_READONLY,
      "Return the packages of a group." CLI_EXAMPLE("salt '*' pkg.group_info 'Perl Support'") },
    { "group_install", yum_group_install, group_install_args, 0,
      "Install the mandatory and default packages of groups." CLI_EXAMPLE(
          "salt '*' pkg.group_install 'My Group' include='[\"foo\"]'") },
    { "group_list", yum_group_list, NULL, FN_READONLY,
      "List the groups of packages." CLI_EXAMPLE("salt '*' pkg.group_list") },
    { "groupinstall", yum_group_install, group_install_args, 0,
      "The same as group_install." CLI_EXAMPLE("salt '*' pkg.groupinstall 'My Group'") },
    { "hold", yum_hold_call, hold_args, 0,
      "Keep packages at their versions, by the plug-in versionlock." CLI_EXAMPLE(
          "salt '*' pkg.hold <package name>\n    salt '*' pkg.hold pkgs='[\"foo\", \"bar\"]'") },
    { "info_installed", rpm_info_installed, info_installed_args, FN_READONLY,
      "Return what is known of installed packages." CLI_EXAMPLE(
          "salt '*' pkg.info_installed <package1>\n    salt '*' pkg.info_installed <package1> attr=version,vendor") },
    { "list_downloaded", yum_list_downloaded, pkg_kwargs_args, FN_READONLY,
      "List the packages in the cache." CLI_EXAMPLE("salt '*' pkg.list_downloaded") },
    { "list_holds", yum_list_holds, list_holds_args, FN_READONLY,
      "List what is kept at its version." CLI_EXAMPLE(
          "salt '*' pkg.list_holds\n    salt '*' pkg.list_holds full=False") },
    { "list_installed_patches", yum_list_patches, patches_args, FN_READONLY,
      "List the advisories that are installed." CLI_EXAMPLE("salt '*' pkg.list_installed_patches") },
    { "list_patches", yum_list_patches, patches_args, 0,
      "List the known advisories." CLI_EXAMPLE("salt '*' pkg.list_patches") },
    { "list_repo_pkgs", yum_list_repo_pkgs, list_repo_pkgs_args, FN_READONLY,
      "List the versions that repositories have, the newest first." CLI_EXAMPLE(
          "salt '*' pkg.list_repo_pkgs\n    salt '*' pkg.list_repo_pkgs foo bar fromrepo=updates\n    salt '*' "
          "pkg.list_repo_pkgs 'samba4*' byrepo=True") },
    { "list_repos", yum_list_repos, list_repos_args, FN_READONLY,
      "List the repositories with their options." CLI_EXAMPLE("salt '*' pkg.list_repos") },
    { "list_updates", yum_list_upgrades, list_upgrades_args, 0,
      "The same as list_upgrades." CLI_EXAMPLE("salt '*' pkg.list_updates") },
    { "mod_repo", yum_mod_repo, mod_repo_args, 0,
      "Change a repository, or add one." CLI_EXAMPLE(
          "salt '*' pkg.mod_repo reponame enabled=1 gpgcheck=1\n    salt '*' pkg.mod_repo reponame mirrorlist=None "
          "baseurl=http://host.com/") },
    { "modified", rpm_modified, modified_args, FN_READONLY,
      "List the files of packages that were changed since." CLI_EXAMPLE(
          "salt '*' pkg.modified\n    salt '*' pkg.modified httpd checksum=True") },
    { "normalize_name", rpm_normalize_name, pkg_name_args, FN_READONLY,
      "Return the name without an architecture that is the host's own." CLI_EXAMPLE(
          "salt '*' pkg.normalize_name zsh.x86_64") },
    { "parse_arch", rpm_parse_arch, pkg_name_args, FN_READONLY,
      "Split a name into the package's name and its architecture." CLI_EXAMPLE(
          "salt '*' pkg.parse_arch zsh.x86_64") },
    { "services_need_restart", yum_services_need_restart, pkg_kwargs_args, FN_READONLY,
      "List services that run on files which packages have replaced." CLI_EXAMPLE(
          "salt '*' pkg.services_need_restart") },
    { "unhold", yum_hold_call, hold_args, 0,
      "Let held packages be upgraded again." CLI_EXAMPLE(
          "salt '*' pkg.unhold <package name>\n    salt '*' pkg.unhold pkgs='[\"foo\", \"bar\"]'") },
    { "update", yum_upgrade, update_args, 0,
      "Upgrade as upgrade does, without what replaces packages." CLI_EXAMPLE("salt '*' pkg.update") },
    { "verify", rpm_verify, verify_args, FN_READONLY,
      "Return the files of packages that are not as rpm has them." CLI_EXAMPLE(
          "salt '*' pkg.verify\n    salt '*' pkg.verify httpd ignore_types='[config,doc]'") },
    { "version_cmp", rpm_version_cmp, pkg_cmp_args, FN_READONLY,
      "Compare two versions: -1, 0 or 1." CLI_EXAMPLE("salt '*' pkg.version_cmp '0.2-001' '0.2.0.1-002'") },
};

/* Fedora's and Amazon's systems count, SUSE's do not: rpm_is_system(). */
static const char *
pkg_yum_unavailable(call_ctx_t *ctx)
{
    if (!rpm_is_system(ctx, false))
        return "Module yumpkg: no yum based system detected";
    return yum_bin() == NULL ? "DNF nor YUM found" : NULL;
}

PLUGIN(exec, pkg_yum, .provides = "pkg", .doc = "Packages by dnf or yum", FUNCS(funcs),
       .unavailable = pkg_yum_unavailable);
