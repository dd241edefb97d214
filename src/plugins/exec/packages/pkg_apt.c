/* pkg_apt.c - execution module `pkg` on Debian and what descends from it: the table. The functions stand in
 * plugins/lib/apt/apt*.c, one theme per file. To add a function: write it there, add its row here, add
 * tests/cases/exec/pkg.FUNCTION.json. Rows are in the order of their names. Where Salt's module takes
 * keywords of other package managers and ignores them, the row for kwargs says so.
 *
 * Functions by file; those that every provider of `pkg` has come from pkg_api.def:
 *   aptlist.c     installed packages, and available versions from apt-cache: list_pkgs, version,
 *                 latest_version, list_repo_pkgs
 *   aptdb.c       lists refreshed, upgrades told, versions compared: refresh_db, list_upgrades,
 *                 version_cmp, normalize_name
 *   aptinstall.c  install; aptremove.c: remove, purge, autoremove, upgrade
 *   aptselect.c   dpkg's selections: hold, unhold, get_selections, set_selections
 *   aptinfo.c     what is known about packages: info_installed, show, file_list, file_dict, owner
 *   aptcache.c    list_downloaded, and services_need_restart
 *   aptrepo.c     sources told and removed: list_repos, get_repo, del_repo, expand_repo_def; aptmod.c:
 *                 mod_repo
 *   aptkeys.c     keys that apt trusts: get_repo_keys, add_repo_key, del_repo_key
 */
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"
#include "salt/plugin.h"

static const arg_t add_repo_key_args[] = {
    ARG("path", ARG_ANY, "null", "A key file: a path or a salt:// path"),
    ARG("text", ARG_ANY, "null", "The key itself"),
    ARG("keyserver", ARG_ANY, "null", "Server to get the key from"),
    ARG("keyid", ARG_ANY, "null", "Which key to get"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"),
    ARG("aptkey", ARG_ANY, "true", "Use apt-key, if there is one"),
    ARG("keydir", ARG_ANY, "null", "Folder of the keys; /etc/apt/keyrings unless given"),
    ARG("keyfile", ARG_ANY, "null", "Name of the file to write, without apt-key"),
    ARGS_END
};
static const arg_t autoremove_args[] = { ARG("list_only", ARG_ANY, "false", "Only tell what would go"),
                                         ARG("purge", ARG_ANY, "false", "Also their configuration files"),
                                         ARGS_END };
static const arg_t latest_version_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("refresh", ARG_ANY, "true", "Refresh the lists first"),
    ARG("show_installed", ARG_ANY, "false", "Tell the candidate also when it is installed"),
    ARG("fromrepo", ARG_ANY, "null", "Look in this release only"),
    ARG("cache_valid_time", ARG_ANY, "0", "Do not refresh when the lists are younger than this many seconds"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"),
    ARGS_END
};
static const arg_t del_repo_args[] = {
    ARG("repo", ARG_STR, ARG_REQUIRED, "The source as one line: deb http://host/path suite component"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t del_repo_key_args[] = {
    ARG("name", ARG_ANY, "null", "A PPA, with keyid_ppa"),
    ARG("aptkey", ARG_ANY, "true", "Use apt-key, if there is one"),
    ARG("keydir", ARG_ANY, "null", "Folder of the keys; /etc/apt/keyrings unless given"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "keyid: the key; keyid_ppa: it is that of the PPA", "*"), ARGS_END
};
static const arg_t expand_repo_def_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "repo and what changes it: uri, dist, comps, architectures, disabled, signedby", "*"),
    ARGS_END
};
static const arg_t get_repo_keys_args[] = {
    ARG("aptkey", ARG_ANY, "true", "Use apt-key, if there is one"),
    ARG("keydir", ARG_ANY, "null", "Folder of the keys; /etc/apt/keyrings unless given"), ARGS_END
};
static const arg_t get_selections_args[] = {
    ARG("pattern", ARG_ANY, "null", "Names with * and ?"),
    ARG("state", ARG_ANY, "null", "Only this state: install, hold, deinstall, purge"), ARGS_END
};
static const arg_t hold_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package"), ARG("pkgs", ARG_ANY, "null", "List of names"),
    ARG("sources", ARG_ANY, "null", "List of {name: source}"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t info_installed_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("failhard", ARG_ANY, "true", "Fail when a package is not installed"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t install_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("refresh", ARG_ANY, "false", "Refresh the lists first"),
    ARG("fromrepo", ARG_ANY, "null", "Install from this release"),
    ARG("skip_verify", ARG_ANY, "false", "Accept unsigned packages"),
    ARG("debconf", ARG_ANY, "null", "File of debconf answers, set first"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}; in place of name"),
    ARG("sources", ARG_ANY, "null", "List of {name: package file}"),
    ARG("reinstall", ARG_ANY, "false", "Install again what is there"),
    ARG("downloadonly", ARG_ANY, "false", "Only fetch"),
    ARG("ignore_epoch", ARG_ANY, "false", "Compare versions without their epochs"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "version, cache_valid_time, force_yes, force_conf_new, install_recommends, only_upgrade, "
        "allow_downgrades, env",
        "*"),
    ARGS_END
};
static const arg_t list_downloaded_args[] = {
    ARG("root", ARG_ANY, "null", "Look below this folder"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t list_pkgs_args[] = {
    ARG("versions_as_list", ARG_ANY, "false", "Versions as lists"),
    ARG("removed", ARG_ANY, "false", "Only removed packages whose configuration is left"),
    ARG("purge_desired", ARG_ANY, "false", "Only packages that are to be purged but are needed"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t list_repo_pkgs_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t list_repos_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t list_upgrades_args[] = {
    ARG("refresh", ARG_ANY, "true", "Refresh the lists first"),
    ARG("dist_upgrade", ARG_ANY, "true", "As dist-upgrade would do"),
    ARG("cache_valid_time", ARG_ANY, "0", "Do not refresh when the lists are younger than this many seconds"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t mod_repo_args[] = { ARG("repo", ARG_STR, ARG_REQUIRED,
                                           "The source as one line: deb http://host/path suite component"),
                                       ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"),
                                       ARG("aptkey", ARG_ANY, "true", "Use apt-key, if there is one"),
                                       ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                           "architectures, comps, dist, uri, file, disabled, comments, "
                                           "keyserver, keyid, key_url, key_text, consolidate, refresh",
                                           "*"),
                                       ARGS_END };
static const arg_t normalize_name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name of a package"),
                                             ARGS_END };
static const arg_t owner_args[] = {
    ARG("paths", ARG_ANY, ARG_STAR, "Paths of files"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t remove_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}; in place of name"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t refresh_db_args[] = {
    ARG("cache_valid_time", ARG_ANY, "0", "Do not refresh when the lists are younger than this many seconds"),
    ARG("failhard", ARG_ANY, "false", "Fail when a list can not be had"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t set_selections_args[] = {
    ARG("path", ARG_ANY, "null", "File of lines \"name state\""),
    ARG("selection", ARG_ANY, "null", "Dictionary of states and lists of names"),
    ARG("clear", ARG_ANY, "false", "First set all packages to deinstall"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"), ARGS_END
};
static const arg_t show_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("filter", ARG_ANY, "null", "Names of the fields to show"),
    ARG("refresh", ARG_ANY, "false", "Refresh the lists first"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t upgrade_args[] = {
    ARG("refresh", ARG_ANY, "true", "Refresh the lists first"),
    ARG("dist_upgrade", ARG_ANY, "false", "Also install and remove packages"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "cache_valid_time, force_yes, skip_verify, download_only, force_conf_new, allow_downgrades", "*"),
    ARGS_END
};
static const arg_t upgrade_available_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "Name of a package"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};
static const arg_t version_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names of packages"),
    ARG("versions_as_list", ARG_ANY, "false", "Versions as lists"),
    ARG("removed", ARG_ANY, "false", "Only removed packages whose configuration is left"),
    ARG("purge_desired", ARG_ANY, "false", "Only packages that are to be purged but are needed"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"),
    ARGS_END
};
static const arg_t version_cmp_args[] = {
    ARG("pkg1", ARG_ANY, ARG_REQUIRED, "A version"), ARG("pkg2", ARG_ANY, ARG_REQUIRED, "Another"),
    ARG("ignore_epoch", ARG_ANY, "false", "Compare without the epochs"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for other package managers", "*"), ARGS_END
};

#define purge_args     remove_args
#define file_dict_args pkg_packages_args
#define file_list_args pkg_packages_args
/* Its row tells a function which of them runs. */
#define apt_remove     apt_uninstall
#define apt_purge      apt_uninstall

static const func_t funcs[] = {
#define PKG_ROW(name, fn, flags, doc) { #name, apt_##fn, fn##_args, flags, doc },
#include "plugins/lib/packages/pkg_api.def"
#undef PKG_ROW
    { "add_repo_key", apt_add_repo_key, add_repo_key_args, 0,
      "Add a key that apt trusts.\n\nReturns whether it is there now." CLI_EXAMPLE(
          "salt '*' pkg.add_repo_key 'salt://apt/sources/test.key'\n    salt '*' pkg.add_repo_key "
          "text=\"'$KEY1'\"\n    salt '*' pkg.add_repo_key keyserver='keyserver.example' keyid='0000AAAA'") },
    { "autoremove", apt_autoremove, autoremove_args, 0,
      "Remove packages that nothing needs any more." CLI_EXAMPLE(
          "salt '*' pkg.autoremove\n    salt '*' pkg.autoremove list_only=True\n    salt '*' pkg.autoremove "
          "purge=True") },
    { "del_repo", apt_del_repo, del_repo_args, 0,
      "Delete a source from the lists of sources.\n\nA file of sources.list.d that has nothing else goes "
      "away." CLI_EXAMPLE("salt '*' pkg.del_repo \"myrepo definition\"") },
    { "del_repo_key", apt_del_repo_key, del_repo_key_args, 0,
      "Remove a key that apt trusts." CLI_EXAMPLE("salt '*' pkg.del_repo_key keyid=0123ABCD\n    salt '*' "
                                                  "pkg.del_repo_key name='ppa:foo/bar' keyid_ppa=True") },
    { "expand_repo_def", apt_expand_repo_def, expand_repo_def_args, FN_READONLY,
      "Return the whole description of a source, for comparison in states." CLI_EXAMPLE(
          "salt '*' pkg.expand_repo_def repo='deb http://host/path suite main'") },
    { "get_repo", apt_get_repo, del_repo_args, FN_READONLY,
      "Show one source of the lists of sources; an empty dictionary when it is not there." CLI_EXAMPLE(
          "salt '*' pkg.get_repo \"myrepo definition\"") },
    { "get_repo_keys", apt_get_repo_keys, get_repo_keys_args, FN_READONLY,
      "List the keys that apt trusts." CLI_EXAMPLE("salt '*' pkg.get_repo_keys") },
    { "get_selections", apt_get_selections, get_selections_args, FN_READONLY,
      "Show what dpkg is told to do with packages, by state." CLI_EXAMPLE(
          "salt '*' pkg.get_selections\n    salt '*' pkg.get_selections 'python-*'\n    salt '*' "
          "pkg.get_selections state=hold\n    salt '*' pkg.get_selections 'openssh*' state=hold") },
    { "hold", apt_hold_call, hold_args, 0,
      "Keep packages at their version." CLI_EXAMPLE(
          "salt '*' pkg.hold <package name>\n    salt '*' pkg.hold pkgs='[\"foo\", \"bar\"]'"),
      .data.number = true },
    { "info_installed", apt_info_installed, info_installed_args, FN_READONLY,
      "Describe installed packages." CLI_EXAMPLE(
          "salt '*' pkg.info_installed <package1>\n    salt '*' pkg.info_installed <package1> <package2> "
          "<package3> ...\n    salt '*' pkg.info_installed <package1> failhard=false") },
    { "list_downloaded", apt_list_downloaded, list_downloaded_args, FN_READONLY,
      "List the package files that apt has fetched." CLI_EXAMPLE("salt '*' pkg.list_downloaded") },
    { "list_repo_pkgs", apt_list_repo_pkgs, list_repo_pkgs_args, FN_READONLY,
      "List the packages that can be installed, with all their versions." CLI_EXAMPLE(
          "salt '*' pkg.list_repo_pkgs\n    salt '*' pkg.list_repo_pkgs foo bar baz") },
    { "list_repos", apt_list_repos, list_repos_args, FN_READONLY,
      "List the sources of packages, by address." CLI_EXAMPLE(
          "salt '*' pkg.list_repos\n    salt '*' pkg.list_repos disabled=True") },
    { "mod_repo", apt_mod_repo, mod_repo_args, 0,
      "Change a source, or add it." CLI_EXAMPLE(
          "salt '*' pkg.mod_repo 'myrepo definition' uri=http://new/uri\n    salt '*' pkg.mod_repo 'myrepo "
          "definition' comps=main,universe") },
    { "normalize_name", apt_normalize_name, normalize_name_args, FN_READONLY,
      "Return the name without an architecture that is the host's own." CLI_EXAMPLE(
          "salt '*' pkg.normalize_name zsh:amd64") },
    { "parse_arch", apt_parse_arch, normalize_name_args, FN_READONLY,
      "Split a name into the package's name and its architecture." CLI_EXAMPLE(
          "salt '*' pkg.parse_arch zsh:amd64") },
    { "services_need_restart", apt_services_need_restart, list_repos_args, FN_READONLY,
      "List services that run on files which packages have replaced.\n\nNeeds checkrestart of the package "
      "debian-goodies." CLI_EXAMPLE("salt '*' pkg.services_need_restart") },
    { "set_selections", apt_set_selections, set_selections_args, 0,
      "Tell dpkg what to do with packages." CLI_EXAMPLE(
          "salt '*' pkg.set_selections selection='{\"install\": [\"netcat\"]}'\n    salt '*' "
          "pkg.set_selections selection='{\"hold\": [\"openssh-server\", \"openssh-client\"]}'\n    salt '*' "
          "pkg.set_selections salt://path/to/file\n    salt '*' pkg.set_selections salt://path/to/file "
          "clear=True") },
    { "show", apt_show, show_args, FN_READONLY,
      "Show what apt knows of packages, by name and version." CLI_EXAMPLE(
          "salt '*' pkg.show gawk\n    salt '*' pkg.show 'nginx-*'\n    salt '*' pkg.show 'nginx-*' "
          "filter=description,provides") },
    { "unhold", apt_hold_call, hold_args, 0,
      "Let held packages be upgraded again." CLI_EXAMPLE(
          "salt '*' pkg.unhold <package name>\n    salt '*' pkg.unhold pkgs='[\"foo\", \"bar\"]'"),
      .data.number = false },
    { "version_cmp", apt_version_cmp, version_cmp_args, FN_READONLY,
      "Compare two versions: -1, 0 or 1; None when they can not be compared." CLI_EXAMPLE(
          "salt '*' pkg.version_cmp '0.2.4-0ubuntu1' '0.2.4.1-0ubuntu1'") },
};

/* By the family, so that Ubuntu, Mint and their like count. */
static const char *
pkg_apt_unavailable(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Debian")
               ? NULL
               : "The pkg module could not be loaded: unsupported OS family";
}

PLUGIN(exec, pkg_apt, .provides = "pkg", .doc = "Packages by apt and dpkg", FUNCS(funcs),
       .unavailable = pkg_apt_unavailable);
