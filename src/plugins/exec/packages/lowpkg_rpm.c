/* lowpkg_rpm.c - execution module `lowpkg` on systems of rpm: its database and its files, without
 * repositories: the table. The functions stand in plugins/lib/packages/rpm*.c. `pkg` on the same systems
 * shares the functions; `root` of kwargs is rpm's --root. */
#include "common/base/fs.h"
#include "plugins/lib/packages/rpm.h"
#include "salt/plugin.h"

#define ROOT_KWARGS(help) ARG("kwargs", ARG_ANY, ARG_STARSTAR, "root: below this folder" help, "*")

static const arg_t bin_pkg_info_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A package file: a path or an address"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path"), ARGS_END
};
static const arg_t packages_args[] = { ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"),
                                       ROOT_KWARGS(""), ARGS_END };
static const arg_t paths_args[] = { ARG("paths", ARG_ANY, ARG_STAR, "Paths of files"), ROOT_KWARGS(""),
                                    ARGS_END };
static const arg_t diff_args[] = { ARG("package_path", ARG_STR, ARG_REQUIRED, "Package file"),
                                   ARG("path", ARG_STR, ARG_REQUIRED, "Path of the file"), ARGS_END };
static const arg_t info_args[] = { ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"),
                                   ROOT_KWARGS("; attr, all_versions"), ARGS_END };
static const arg_t verify_args[] = { ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"),
                                     ROOT_KWARGS("; ignore_types, verify_options"), ARGS_END };
static const arg_t modified_args[] = {
    ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"),
    ROOT_KWARGS("; size, mode, checksum, device, symlink, owner, group, time, capabilities"), ARGS_END
};
static const arg_t cmp_args[] = { ARG("ver1", ARG_ANY, ARG_REQUIRED, "A version"),
                                  ARG("ver2", ARG_ANY, ARG_REQUIRED, "Another"),
                                  ARG("ignore_epoch", ARG_ANY, "false", "Compare without epochs"), ARGS_END };
static const arg_t key_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "The key: its text, or gpg-pubkey-ID"),
                                  ARG("root", ARG_ANY, "null", "Below this folder"), ARGS_END };
static const arg_t keys_args[] = { ARG("info", ARG_ANY, "false", "What each key is"),
                                   ARG("root", ARG_ANY, "null", "Below this folder"), ARGS_END };

static const func_t funcs[] = {
    { "bin_pkg_info", rpm_bin_pkg_info, bin_pkg_info_args, FN_READONLY,
      "Return name, version and architecture of a package file." CLI_EXAMPLE(
          "salt '*' lowpkg.bin_pkg_info /root/salt-2015.5.1-2.el7.noarch.rpm") },
    { "checksum", rpm_checksum, paths_args, FN_READONLY,
      "Return whether package files are whole." CLI_EXAMPLE(
          "salt '*' lowpkg.checksum /path/to/package1.rpm") },
    { "diff", rpm_diff, diff_args, FN_READONLY,
      "Return how a file differs from the one in a package file." CLI_EXAMPLE(
          "salt '*' lowpkg.diff /path/to/package.rpm /etc/sudoers") },
    { "file_dict", rpm_file_dict, packages_args, FN_READONLY,
      "List the files of packages, by package." CLI_EXAMPLE("salt '*' lowpkg.file_dict httpd") },
    { "file_list", rpm_file_list, packages_args, FN_READONLY,
      "List the files of packages." CLI_EXAMPLE("salt '*' lowpkg.file_list httpd") },
    { "import_gpg_key", rpm_import_gpg_key, key_args, 0,
      "Import a key that packages are signed with." CLI_EXAMPLE(
          "salt '*' lowpkg.import_gpg_key '-----BEGIN ... BLOCK-----'") },
    { "info", rpm_info_call, info_args, FN_READONLY,
      "Return what is known of installed packages." CLI_EXAMPLE(
          "salt '*' lowpkg.info apache2 bash\n    salt '*' lowpkg.info apache2 bash attr=version,edition") },
    { "info_gpg_key", rpm_info_gpg_key, key_args, FN_READONLY,
      "Return what is known of a key." CLI_EXAMPLE(
          "salt '*' lowpkg.info_gpg_key gpg-pubkey-39db7c82-5847eb1f") },
    { "list_gpg_keys", rpm_list_gpg_keys, keys_args, FN_READONLY,
      "List the keys that packages are signed with." CLI_EXAMPLE("salt '*' lowpkg.list_gpg_keys") },
    { "list_pkgs", rpm_list_pkgs, packages_args, FN_READONLY,
      "List installed packages with their versions." CLI_EXAMPLE("salt '*' lowpkg.list_pkgs") },
    { "modified", rpm_modified, modified_args, FN_READONLY,
      "List the files of packages that were changed since." CLI_EXAMPLE("salt '*' lowpkg.modified httpd") },
    { "owner", rpm_owner, paths_args, FN_READONLY,
      "Return the package that owns a file, or an empty text." CLI_EXAMPLE(
          "salt '*' lowpkg.owner /usr/bin/basename") },
    { "remove_gpg_key", rpm_remove_gpg_key, key_args, 0,
      "Remove a key." CLI_EXAMPLE("salt '*' lowpkg.remove_gpg_key gpg-pubkey-39db7c82-5847eb1f") },
    { "verify", rpm_verify, verify_args, FN_READONLY,
      "Return the files of packages that are not as rpm has them." CLI_EXAMPLE(
          "salt '*' lowpkg.verify httpd") },
    { "version_cmp", rpm_version_cmp, cmp_args, FN_READONLY,
      "Compare two versions: -1, 0 or 1." CLI_EXAMPLE(
          "salt '*' lowpkg.version_cmp '0.2-001' '0.2.0.1-002'") },
};

/* Other systems may have rpm as a tool for foreign packages, and it is not theirs. */
static const char *
lowpkg_rpm_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *rpm = fs_which("rpm");

    if (rpm == NULL)
        return "The rpm execution module failed to load: rpm binary is not in the path.";
    return rpm_is_system(ctx, true)
               ? NULL
               : "The rpm execution module failed to load: only available on redhat/suse type "
                 "systems or amazon, xcp, xenserver, virtuozzolinux, virtuozzo, issabel pbx or "
                 "openeuler.";
}

PLUGIN(exec, lowpkg_rpm, .provides = "lowpkg", .doc = "rpm's database", FUNCS(funcs),
       .unavailable = lowpkg_rpm_unavailable);
