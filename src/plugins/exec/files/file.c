/* file.c - execution module `file`: the table. The functions stand in plugins/lib/file, one theme per file.
 * To add a function: write it there, add its row here, add tests/cases/exec/file.FUNCTION.json. What a
 * function answers and which of Salt's oddities it keeps is told there (fileops.h, edit.h, tree.h, manage.h,
 * perms.c), and what its arguments do stands in the rows below, which --doc prints.
 *
 * The files there, and what each has:
 *   attr.c     owners, modes and status: chown and chgrp, lchown, set_mode, access, stats, lstat, statvfs,
 *              ids to names and back
 *   names.c    questions about paths that change nothing: basename, join, normpath, is_link, file_exists,
 *              readdir, diskusage
 *   perms.c    chattr and lsattr, SELinux labels, and check_perms, which file states use for owner, mode
 *              and attributes
 *   tree.c     whole objects made, linked, moved, copied and removed: mkdir, makedirs, symlink, rename,
 *              copy, remove, mknod
 *   text.c     reading, appending and searching: read, write, append, contains, grep, sed, patch,
 *              seek_read, open_files
 *   replace.c  edits by regular expression: replace, search, psed, comment_line, uncomment
 *   line.c     file.line, one line ensured, inserted, replaced or deleted; block.c: blockreplace between
 *              two markers
 *   find.c     file.find: criteria and actions over a tree
 *   sums.c     digests: get_hash, check_hash, get_source_sum, extract_hash; and get_diff
 *   backup.c   copies that edits left: list_backups, restore_backup, delete_backup
 *   manage.c   what file.managed is made of has its table in file_managed.c beside this file
 */
#include <sys/stat.h>

#include "plugins/lib/file/attr.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/text.h"
#include "plugins/lib/file/tree.h"
#include "plugins/lib/file/source.h"
#include "salt/plugin.h"

/* Rows that several functions share. A default is text in YAML's form; ARG_REQUIRED has none. */
#define PATH_ROW   ARG("path", ARG_STR, ARG_REQUIRED, "The file or folder; ~ is the home folder")
#define FOLLOW_ROW ARG("follow_symlinks", ARG_BOOL, "true", "Look at what a link points to")
#define USER_GROUP_ROWS                                                                                      \
    ARG("user", ARG_ANY, "null", "Owner to set, by name or number"),                                         \
        ARG("group", ARG_ANY, "null", "Group to set, by name or number")
/* Editing functions of Salt have different defaults here (".bak", "" and false), hence the parameter. */
#define BACKUP_ROW(dflt)                                                                                     \
    ARG("backup", ARG_ANY, dflt,                                                                             \
        "Extension of the copy made first; minion for cachedir/file_backup; false for none")
/* A label that is asked for is an error where the host has no SELinux (perms.c). */
#define SELINUX_ROWS                                                                                         \
    ARG("seuser", ARG_ANY, "null", "SELinux user"), ARG("serole", ARG_ANY, "null", "SELinux role"),          \
        ARG("setype", ARG_ANY, "null", "SELinux type"), ARG("serange", ARG_ANY, "null", "SELinux range")

static const arg_t path_args[] = { PATH_ROW, ARGS_END };
static const arg_t name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The file"), ARGS_END };
static const arg_t follow_args[] = { PATH_ROW, FOLLOW_ROW, ARGS_END };
static const arg_t gid_args[] = { ARG("gid", ARG_ANY, ARG_REQUIRED, "Number of a group"), ARGS_END };
static const arg_t group_args[] = { ARG("group", ARG_ANY, ARG_REQUIRED, "Name of a group"), ARGS_END };
static const arg_t uid_args[] = { ARG("uid", ARG_INT, ARG_REQUIRED, "Number of a user"), ARGS_END };
static const arg_t user_args[] = { ARG("user", ARG_ANY, ARG_REQUIRED, "Name of a user; None for our own"),
                                   ARGS_END };
static const arg_t set_mode_args[] = { PATH_ROW, ARG("mode", ARG_STR, ARG_REQUIRED, "Octal mode"), ARGS_END };
static const arg_t chown_args[] = { PATH_ROW, ARG("user", ARG_ANY, ARG_REQUIRED, "Owner, by name or number"),
                                    ARG("group", ARG_ANY, ARG_REQUIRED, "Group, by name or number"),
                                    ARGS_END };
static const arg_t chgrp_args[] = { PATH_ROW, ARG("group", ARG_ANY, ARG_REQUIRED, "Group, by name or number"),
                                    ARGS_END };
static const arg_t stats_args[] = { PATH_ROW, ARG("hash_type", ARG_STR, "null", "Add this digest as `sum`"),
                                    FOLLOW_ROW, ARGS_END };
static const arg_t access_args[] = { PATH_ROW, ARG("mode", ARG_ANY, ARG_REQUIRED, "f, r, w or x"), ARGS_END };
static const arg_t chattr_args[] = { ARG("files", ARG_ANY, ARG_STAR, "Files to change"),
                                     ARG("operator", ARG_STR, "null", "add or remove"),
                                     ARG("attributes", ARG_STR, "null", "Letters of aAcCdDeijPsStTu"),
                                     ARG("flags", ARG_STR, "null", "Letters of RVf"),
                                     ARG("version", ARG_ANY, "null", "Version number to set"),
                                     ARGS_END };
static const arg_t check_perms_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The file or folder"),
    ARG("ret", ARG_ANY, ARG_REQUIRED, "A state's return to go on with, or None"),
    ARG("user", ARG_ANY, ARG_REQUIRED, "Owner"),
    ARG("group", ARG_ANY, ARG_REQUIRED, "Group"),
    ARG("mode", ARG_ANY, ARG_REQUIRED, "Octal mode"),
    ARG("attrs", ARG_ANY, "null", "Attribute letters, as chattr"),
    ARG("follow_symlinks", ARG_BOOL, "false", "Change what a link points to"),
    SELINUX_ROWS,
    ARGS_END
};
static const arg_t restorecon_args[] = { PATH_ROW, ARG("recursive", ARG_BOOL, "false", "Also what is below"),
                                         ARGS_END };
static const arg_t set_selinux_args[] = { PATH_ROW,
                                          ARG("user", ARG_ANY, "null", "SELinux user"),
                                          ARG("role", ARG_ANY, "null", "SELinux role"),
                                          ARG("type", ARG_ANY, "null", "SELinux type"),
                                          ARG("range", ARG_ANY, "null", "SELinux range"),
                                          ARG("persist", ARG_BOOL, "false", "Also in the policy"),
                                          ARGS_END };

static const arg_t join_args[] = { ARG("args", ARG_ANY, ARG_STAR, "Parts of a path"), ARGS_END };
static const arg_t readlink_args[] = { PATH_ROW, ARG("canonicalize", ARG_BOOL, "false", "Follow every link"),
                                       ARGS_END };
static const arg_t link_args[] = { ARG("src", ARG_STR, ARG_REQUIRED, "The file that exists"),
                                   ARG("path", ARG_STR, ARG_REQUIRED, "Its further name"), ARGS_END };
static const arg_t symlink_args[] = { ARG("src", ARG_STR, ARG_REQUIRED, "What the link points to"),
                                      ARG("path", ARG_STR, ARG_REQUIRED, "The link"),
                                      ARG("force", ARG_BOOL, "false", "Replace what is there"),
                                      ARG("atomic", ARG_BOOL, "false", "Replace it in one step"), ARGS_END };
static const arg_t mkdir_args[] = { ARG("dir_path", ARG_STR, ARG_REQUIRED, "The folder"), USER_GROUP_ROWS,
                                    ARG("mode", ARG_ANY, "null", "Octal mode"), ARGS_END };
static const arg_t makedirs_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A path; the folders above it are made"), USER_GROUP_ROWS,
    ARG("mode", ARG_ANY, "null", "Octal mode"), ARGS_END
};
static const arg_t makedirs_perms_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The folder"),
                                             USER_GROUP_ROWS, ARG("mode", ARG_ANY, "\"0755\"", "Octal mode"),
                                             ARGS_END };
static const arg_t rmdir_args[] = {
    PATH_ROW, ARG("recurse", ARG_BOOL, "false", "Also empty folders below"),
    ARG("verbose", ARG_BOOL, "false", "Tell what was deleted and what failed"),
    ARG("older_than", ARG_ANY, "null", "Only what is older than this many days"), ARGS_END
};
static const arg_t remove_args[] = {
    PATH_ROW, ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE), ARGS_END
};
static const arg_t rename_args[] = { ARG("src", ARG_STR, ARG_REQUIRED, "What to rename"),
                                     ARG("dst", ARG_STR, ARG_REQUIRED, "Its new name"), ARGS_END };
static const arg_t move_args[] = {
    ARG("src", ARG_STR, ARG_REQUIRED, "What to move"),
    ARG("dst", ARG_STR, ARG_REQUIRED, "Where to; into it when it is a folder"),
    ARG("disallow_copy_and_unlink", ARG_BOOL, "false", "Fail where a rename is not possible"), ARGS_END
};
static const arg_t copy_args[] = {
    ARG("src", ARG_STR, ARG_REQUIRED, "What to copy"), ARG("dst", ARG_STR, ARG_REQUIRED, "The copy"),
    ARG("recurse", ARG_BOOL, "false", "Folders too"),
    ARG("remove_existing", ARG_BOOL, "false", "Remove the target folder first"), ARGS_END
};
static const arg_t touch_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The file"),
                                    ARG("atime", ARG_ANY, "null", "Access time, seconds since 1970"),
                                    ARG("mtime", ARG_ANY, "null", "Modification time, seconds since 1970"),
                                    ARGS_END };
static const arg_t mknod_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The node"),
                                    ARG("ntype", ARG_STR, ARG_REQUIRED, "c, b or p"),
                                    ARG("major", ARG_INT, "0", "Major number"),
                                    ARG("minor", ARG_INT, "0", "Minor number"),
                                    USER_GROUP_ROWS,
                                    ARG("mode", ARG_ANY, "\"0600\"", "Octal mode"),
                                    ARGS_END };
static const arg_t mknod_dev_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The device"),    ARG("major", ARG_INT, ARG_REQUIRED, "Major number"),
    ARG("minor", ARG_INT, ARG_REQUIRED, "Minor number"), USER_GROUP_ROWS,
    ARG("mode", ARG_ANY, "\"0660\"", "Octal mode"),      ARGS_END
};
static const arg_t mknod_fifo_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The pipe"), USER_GROUP_ROWS,
                                         ARG("mode", ARG_ANY, "\"0660\"", "Octal mode"), ARGS_END };

static const arg_t lines_args[] = { PATH_ROW, ARG("args", ARG_ANY, ARG_STAR, "Lines of text"),
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "args=: the lines as a list"),
                                    ARGS_END };
static const arg_t read_args[] = { PATH_ROW, ARG("binary", ARG_BOOL, "false", "Take bytes as they are"),
                                   ARGS_END };
static const arg_t truncate_args[] = { PATH_ROW, ARG("length", ARG_INT, ARG_REQUIRED, "New size"), ARGS_END };
static const arg_t seek_read_args[] = { PATH_ROW, ARG("size", ARG_INT, ARG_REQUIRED, "Bytes to read"),
                                        ARG("offset", ARG_INT, ARG_REQUIRED, "Where to start"), ARGS_END };
static const arg_t seek_write_args[] = { PATH_ROW, ARG("data", ARG_STR, ARG_REQUIRED, "What to write"),
                                         ARG("offset", ARG_INT, ARG_REQUIRED, "Where to"), ARGS_END };
static const arg_t contains_args[] = { PATH_ROW, ARG("text", ARG_ANY, ARG_REQUIRED, "What to look for"),
                                       ARGS_END };
static const arg_t contains_regex_args[] = {
    PATH_ROW, ARG("regex", ARG_STR, ARG_REQUIRED, "Regular expression"),
    ARG("lchar", ARG_STR, "\"\"", "Characters to drop from a line's start"), ARGS_END
};
static const arg_t contains_glob_args[] = {
    PATH_ROW, ARG("glob_expr", ARG_STR, ARG_REQUIRED, "Glob for the whole text"), ARGS_END
};
static const arg_t grep_args[] = { PATH_ROW, ARG("pattern", ARG_STR, ARG_REQUIRED, "grep's pattern"),
                                   ARG("opts", ARG_ANY, ARG_STAR, "grep's options, one per argument"),
                                   ARGS_END };
static const arg_t sed_args[] = { PATH_ROW,
                                  ARG("before", ARG_STR, ARG_REQUIRED, "sed's pattern"),
                                  ARG("after", ARG_STR, ARG_REQUIRED, "The replacement"),
                                  ARG("limit", ARG_ANY, "\"\"", "Only in lines that this pattern finds"),
                                  ARG("backup", ARG_ANY, "\".bak\"", "Extension of the copy made first"),
                                  ARG("options", ARG_STR, "\"-r -e\"", "sed's options"),
                                  ARG("flags", ARG_STR, "\"g\"", "sed's flags"),
                                  ARG("escape_all", ARG_BOOL, "false", "Take every character as itself"),
                                  ARG("negate_match", ARG_BOOL, "false", "Only in the other lines"),
                                  ARGS_END };
static const arg_t sed_contains_args[] = { PATH_ROW, ARG("text", ARG_STR, ARG_REQUIRED, "sed's pattern"),
                                           ARG("limit", ARG_ANY, "\"\"",
                                               "Only in lines that this pattern finds"),
                                           ARG("flags", ARG_STR, "\"g\"", "sed's flags"), ARGS_END };
static const arg_t psed_args[] = { PATH_ROW,
                                   ARG("before", ARG_ANY, ARG_REQUIRED, "Regular expression"),
                                   ARG("after", ARG_ANY, ARG_REQUIRED, "The replacement"),
                                   ARG("limit", ARG_ANY, "\"\"", "Start behind what this expression finds"),
                                   BACKUP_ROW("\".bak\""),
                                   ARG("flags", ARG_STR, "\"gMS\"",
                                       "g: all; I, L, M, S, U, X: Python's flags"),
                                   ARG("escape_all", ARG_BOOL, "false", "Take every character as itself"),
                                   ARG("multi", ARG_BOOL, "false", "Line by line"),
                                   ARGS_END };
static const arg_t patch_args[] = { ARG("originalfile", ARG_STR, ARG_REQUIRED, "The file or folder to patch"),
                                    ARG("patchfile", ARG_STR, ARG_REQUIRED, "The patch"),
                                    ARG("options", ARG_STR, "\"\"", "patch's options"),
                                    ARG("dry_run", ARG_BOOL, "false", "Only say whether it would apply"),
                                    ARGS_END };
static const arg_t open_files_args[] = { ARG("by_pid", ARG_BOOL, "false", "Processes with their files"),
                                         ARGS_END };
static const arg_t find_args[] = { PATH_ROW, ARG("args", ARG_ANY, ARG_STAR, "print or delete"),
                                   ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Criteria and actions"), ARGS_END };

static const arg_t get_hash_args[] = {
    PATH_ROW, ARG("form", ARG_STR, "\"sha256\"", "md5, sha1, sha224, sha256, sha384, sha512"),
    ARG("chunk_size", ARG_INT, "65536", "Accepted; pieces are 64 kB"), ARGS_END
};
static const arg_t get_sum_args[] = {
    PATH_ROW, ARG("form", ARG_STR, "\"sha256\"", "md5, sha1, sha224, sha256, sha384, sha512"), ARGS_END
};
static const arg_t check_hash_args[] = { PATH_ROW,
                                         ARG("file_hash", ARG_ANY, ARG_REQUIRED, "DIGEST or TYPE=DIGEST"),
                                         ARGS_END };
static const arg_t source_sum_args[] = {
    ARG("file_name", ARG_STR, "\"\"", "File the digest is for"),
    ARG("source", ARG_STR, "\"\"", "Where it comes from"),
    ARG("source_hash", ARG_STR, "null", "A digest, TYPE=DIGEST, a file or a URL"),
    ARG("source_hash_name", ARG_STR, "null", "Name to look for in a file of sums"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of salt:// URLs"),
    ARG("verify_ssl", ARG_BOOL, "true", "Check the server's certificate"),
    SOURCE_SIGNER_ROWS,
    ARGS_END
};
static const arg_t extract_hash_args[] = {
    ARG("hash_fn", ARG_STR, ARG_REQUIRED, "A file of sums"),
    ARG("hash_type", ARG_STR, "\"sha256\"", "Type to look for; empty for any"),
    ARG("file_name", ARG_STR, "\"\"", "File the digest is for"),
    ARG("source", ARG_STR, "\"\"", "Where it comes from"),
    ARG("source_hash_name", ARG_STR, "null", "Name to look for, before the others"),
    ARGS_END
};
static const arg_t get_diff_args[] = {
    ARG("file1", ARG_STR, ARG_REQUIRED, "Path or URL"),
    ARG("file2", ARG_STR, ARG_REQUIRED, "Path or URL"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of salt:// URLs"),
    ARG("show_filenames", ARG_BOOL, "true", "Name the files in the difference"),
    ARG("show_changes", ARG_BOOL, "true", "False: only say that there are some"),
    ARG("template", ARG_BOOL, "false", "The files came from a template"),
    ARG("source_hash_file1", ARG_ANY, "null", "Expected digest of file1"),
    ARG("source_hash_file2", ARG_ANY, "null", "Expected digest of file2"),
    ARGS_END
};
static const arg_t list_backups_args[] = { PATH_ROW, ARG("limit", ARG_ANY, "null", "At most this many"),
                                           ARGS_END };
static const arg_t backup_id_args[] = {
    PATH_ROW, ARG("backup_id", ARG_ANY, ARG_REQUIRED, "Number from file.list_backups"), ARGS_END
};

static const arg_t replace_args[] = {
    PATH_ROW,
    ARG("pattern", ARG_STR, ARG_REQUIRED, "Regular expression"),
    ARG("repl", ARG_ANY, ARG_REQUIRED, "The replacement; \\1 and \\g<name> are groups"),
    ARG("count", ARG_INT, "0", "At most this many replacements; 0: all"),
    ARG("flags", ARG_ANY, "8", "Number, name or list of names of Python's flags"),
    ARG("bufsize", ARG_ANY, "1", "Accepted; the file is read whole"),
    ARG("append_if_not_found", ARG_BOOL, "false", "Else add the text at the end"),
    ARG("prepend_if_not_found", ARG_BOOL, "false", "Else add the text at the start"),
    ARG("not_found_content", ARG_ANY, "null", "Text to add, when it is not repl"),
    BACKUP_ROW("\".bak\""),
    ARG("dry_run", ARG_BOOL, "false", "Only show the difference"),
    ARG("search_only", ARG_BOOL, "false", "Only say whether the pattern is found"),
    ARG("show_changes", ARG_BOOL, "true", "Return the difference instead of a boolean"),
    ARG("ignore_if_missing", ARG_BOOL, "false", "A missing file is not a failure"),
    ARG("preserve_inode", ARG_BOOL, "true", "Keep hard links together"),
    ARG("backslash_literal", ARG_BOOL, "false", "Backslashes in repl are themselves"),
    ARGS_END
};
static const arg_t search_args[] = {
    PATH_ROW,
    ARG("pattern", ARG_STR, ARG_REQUIRED, "Regular expression"),
    ARG("flags", ARG_ANY, "8", "Number, name or list of names of Python's flags"),
    ARG("bufsize", ARG_ANY, "1", "Accepted; the file is read whole"),
    ARG("ignore_if_missing", ARG_BOOL, "false", "A missing file is not a failure"),
    ARG("multiline", ARG_BOOL, "false", "Add MULTILINE to the flags"),
    ARGS_END
};
static const arg_t comment_args[] = {
    PATH_ROW, ARG("regex", ARG_STR, ARG_REQUIRED, "Finds the lines, from their start"),
    ARG("char", ARG_ANY, "\"#\"", "What makes a line a comment"), BACKUP_ROW("\".bak\""), ARGS_END
};
static const arg_t comment_line_args[] = { PATH_ROW,
                                           ARG("regex", ARG_STR, ARG_REQUIRED,
                                               "Finds the lines, from their start"),
                                           ARG("char", ARG_ANY, "\"#\"", "What makes a line a comment"),
                                           ARG("cmnt", ARG_BOOL, "true", "False: uncomment"),
                                           BACKUP_ROW("\".bak\""),
                                           ARGS_END };
static const arg_t line_args[] = { PATH_ROW,
                                   ARG("content", ARG_STR, "null", "The line"),
                                   ARG("match", ARG_STR, "null", "Finds the line to replace or delete"),
                                   ARG("mode", ARG_STR, "null", "insert, ensure, replace or delete"),
                                   ARG("location", ARG_ANY, "null", "start or end, for insert"),
                                   ARG("before", ARG_STR, "null", "Finds the line that comes after"),
                                   ARG("after", ARG_STR, "null", "Finds the line that comes before"),
                                   ARG("show_changes", ARG_BOOL, "true",
                                       "Return the difference instead of a boolean"),
                                   ARG("backup", ARG_ANY, "false", "Keep a copy with the time in its name"),
                                   ARG("quiet", ARG_BOOL, "false", "A missing file is not a failure"),
                                   ARG("indent", ARG_BOOL, "true", "Take the neighbour's indentation"),
                                   ARGS_END };
static const arg_t blockreplace_args[] = {
    PATH_ROW,
    ARG("marker_start", ARG_STR, "\"#-- start managed zone --\"", "Line that the block starts with"),
    ARG("marker_end", ARG_STR, "\"#-- end managed zone --\"", "Line that the block ends with"),
    ARG("content", ARG_STR, "\"\"", "What stands between"),
    ARG("append_if_not_found", ARG_BOOL, "false", "Without markers: add the block at the end"),
    ARG("prepend_if_not_found", ARG_BOOL, "false", "Without markers: add the block at the start"),
    BACKUP_ROW("\".bak\""),
    ARG("dry_run", ARG_BOOL, "false", "Only show the difference"),
    ARG("show_changes", ARG_BOOL, "true", "Return the difference instead of a boolean"),
    ARG("append_newline", ARG_ANY, "false", "End the content with a line end; None: if it has none"),
    ARG("insert_before_match", ARG_ANY, "null", "Without markers: before the line this expression finds"),
    ARG("insert_after_match", ARG_ANY, "null", "Without markers: behind the line this expression finds"),
    ARGS_END
};

static const func_t funcs[] = {
    { "access", file_access, access_args, FN_READONLY,
      "Say whether we may read (r), write (w) or execute (x) a file, or whether it exists (f)." CLI_EXAMPLE(
          "salt '*' file.access /path/to/file f\n    salt '*' file.access /path/to/file x") },
    { "append", file_append, lines_args, 0,
      "Append lines to the end of a file that exists.\n\nA last line without an end gets one first. With "
      "``args=`` the lines are given as a list." CLI_EXAMPLE(
          "salt '*' file.append /etc/motd \"With all thine offerings\" \"thou "
          "shalt offer salt.\"") },
    { "basename", file_basename, path_args, FN_READONLY,
      "Return the last part of a path." CLI_EXAMPLE("salt '*' file.basename 'test/test.config'") },
    { "blockreplace", file_blockreplace, blockreplace_args, 0,
      "Replace the text between two marker lines.\n\nWithout markers in the file the block can be added at "
      "its start or end, or beside a line. The difference is returned." CLI_EXAMPLE(
          "salt '*' file.blockreplace /etc/hosts '#-- start managed zone foobar : DO NOT EDIT --' \\\\\n"
          "    '#-- end managed zone foobar --' $'10.0.1.1 foo.foobar\\\\n10.0.1.2 bar.foobar' True") },
    { "chattr", file_chattr, chattr_args, 0,
      "Add or remove attributes of files, as the program chattr does." CLI_EXAMPLE(
          "salt '*' file.chattr foo1.txt foo2.txt operator=add attributes=ai") },
    { "check_hash", file_check_hash, check_hash_args, FN_READONLY,
      "Say whether a file has a digest.\n\nThe digest is given bare, as TYPE:DIGEST or as "
      "TYPE=DIGEST." CLI_EXAMPLE("salt '*' file.check_hash /etc/fstab md5:<md5sum>") },
    { "check_perms", file_check_perms, check_perms_args, 0,
      "Bring owner, group, mode, attributes and SELinux label of a path to what is asked.\n\nReturns a "
      "state's return "
      "and what was before." CLI_EXAMPLE("salt '*' file.check_perms /etc/sudoers '{}' root root 400 ai") },
    { "chgrp", file_chgrp, chgrp_args, 0,
      "Change the group of a file." CLI_EXAMPLE("salt '*' file.chgrp /etc/passwd root") },
    { "chown", file_chown, chown_args, 0,
      "Change owner and group of a file." CLI_EXAMPLE("salt '*' file.chown /etc/passwd root root") },
    { "comment", file_comment_matching, comment_args, 0,
      "Comment out the lines that an expression finds." CLI_EXAMPLE(
          "salt '*' file.comment /etc/modules pcspkr"),
      .data.number = true },
    { "comment_line", file_comment_line, comment_line_args, 0,
      "Comment or uncomment the lines that an expression finds.\n\nReturns False when there is none, else "
      "the difference." CLI_EXAMPLE("salt '*' file.comment_line /etc/modules pcspkr\n    "
                                    "salt '*' file.comment_line /etc/modules pcspkr cmnt=False") },
    { "contains", file_contains, contains_args, FN_READONLY,
      "Say whether a file contains a text." CLI_EXAMPLE(
          "salt '*' file.contains /etc/crontab 'mymaintenance.sh'") },
    { "contains_glob", file_contains_glob, contains_glob_args, FN_READONLY,
      "Say whether a glob matches what a file holds." CLI_EXAMPLE(
          "salt '*' file.contains_glob /etc/foobar '*cheese*'") },
    { "contains_regex", file_contains_regex, contains_regex_args, FN_READONLY,
      "Say whether a regular expression finds something in a line of a file." CLI_EXAMPLE(
          "salt '*' file.contains_regex /etc/crontab '^\\\\s*root'") },
    { "copy", file_copy, copy_args, 0,
      "Copy a file, or with ``recurse=True`` a folder.\n\nOwner, group and mode are those of the "
      "source." CLI_EXAMPLE(
          "salt '*' file.copy /path/to/src /path/to/dst\n    "
          "salt '*' file.copy /path/to/src_dir /path/to/dst_dir recurse=True remove_existing=True") },
    { "delete_backup", file_delete_backup, backup_id_args, 0,
      "Delete a copy that an earlier change left behind, by its number." CLI_EXAMPLE(
          "salt '*' file.delete_backup /var/cache/salt/minion/file_backup/home/foo/bar/baz.txt 0") },
    { "directory_exists", file_directory_exists, path_args, FN_READONLY,
      "Say whether a path is a folder." CLI_EXAMPLE("salt '*' file.directory_exists /etc") },
    { "dirname", file_dirname, path_args, FN_READONLY,
      "Return the folder part of a path." CLI_EXAMPLE("salt '*' file.dirname 'test/path/filename.config'") },
    { "diskusage", file_diskusage, path_args, FN_READONLY,
      "Return the bytes that a file, or everything below a folder, holds.\n\nFiles with several names count "
      "once." CLI_EXAMPLE("salt '*' file.diskusage /path/to/check") },
    { "expanduser", file_expanduser, path_args, FN_READONLY,
      "Return a path with ~ replaced by the home folder." CLI_EXAMPLE("salt '*' file.expanduser '~/.ssh'") },
    { "extract_hash", file_extract_hash, extract_hash_args, FN_READONLY,
      "Return the digest that a file of sums holds for a name, as ``hsum`` and ``hash_type``." CLI_EXAMPLE(
          "salt '*' file.extract_hash /path/to/hash/file sha512 /etc/foo") },
    { "file_exists", file_file_exists, path_args, FN_READONLY,
      "Say whether a path is a file." CLI_EXAMPLE("salt '*' file.file_exists /etc/passwd") },
    { "find", file_find, find_args, 0,
      "Return the paths below a folder that fit all criteria.\n\nCriteria: ``name``, ``iname`` (globs), "
      "``regex``, ``iregex``, ``type`` (letters of bcdflps), ``owner``, ``group``, ``size`` "
      "([+-]N[bkmgt]), ``mtime`` ([+-]NwNdNhNmNs), ``grep``. Depth: ``mindepth``, ``maxdepth``. Actions: "
      "``print`` (words of path, name, size, type, mode, mtime, user, group, md5), ``delete`` (types, or a "
      "for all), ``exec`` (a command with {}); with ``test`` nothing is deleted." CLI_EXAMPLE(
          "salt '*' file.find / type=f name=\\\\*.bak size=+10m\n    "
          "salt '*' file.find /var mtime=+30d size=+10m print=path,size,mtime\n"
          "    salt '*' file.find /var/log name=\\\\*.[0-9] mtime=+30d "
          "size=+10m delete") },
    { "get_devmm", file_get_devmm, name_args, FN_READONLY,
      "Return major and minor number of a device." CLI_EXAMPLE("salt '*' file.get_devmm /dev/chr") },
    { "get_diff", file_get_diff, get_diff_args, FN_READONLY,
      "Return the unified difference of two files, which may be URLs." CLI_EXAMPLE(
          "salt '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc") },
    { "get_gid", file_get_stat, follow_args, FN_READONLY,
      "Return the number of a file's group." CLI_EXAMPLE("salt '*' file.get_gid /etc/passwd"),
      .data.text = "gid" },
    { "get_group", file_get_stat, follow_args, FN_READONLY,
      "Return the name of a file's group." CLI_EXAMPLE("salt '*' file.get_group /etc/passwd"),
      .data.text = "group" },
    { "get_hash", file_get_hash, get_hash_args, FN_READONLY,
      "Return the digest of a file." CLI_EXAMPLE("salt '*' file.get_hash /etc/shadow") },
    { "get_mode", file_get_stat, follow_args, FN_READONLY,
      "Return the mode of a file, such as 0644." CLI_EXAMPLE("salt '*' file.get_mode /etc/passwd"),
      .data.text = "mode" },
    { "get_selinux_context", file_get_selinux_context, path_args, FN_READONLY,
      "Return the SELinux label of a file." CLI_EXAMPLE("salt '*' file.get_selinux_context /etc/hosts") },
    { "get_source_sum", file_get_source_sum, source_sum_args, FN_READONLY,
      "Return the digest that a ``source_hash`` stands for, as ``hsum`` and ``hash_type``." CLI_EXAMPLE(
          "salt '*' file.get_source_sum /tmp/foo.tar.gz source=http://mydomain.tld/foo.tar.gz "
          "source_hash=499ae16dcae71eeb7c3a30c75ea7a1a6") },
    { "get_sum", file_get_sum, get_sum_args, FN_READONLY,
      "Return the digest of a file, or \"File not found\"." CLI_EXAMPLE(
          "salt '*' file.get_sum /etc/passwd sha512") },
    { "get_uid", file_get_stat, follow_args, FN_READONLY,
      "Return the number of a file's owner." CLI_EXAMPLE("salt '*' file.get_uid /etc/passwd"),
      .data.text = "uid" },
    { "get_user", file_get_stat, follow_args, FN_READONLY,
      "Return the name of a file's owner." CLI_EXAMPLE("salt '*' file.get_user /etc/passwd"),
      .data.text = "user" },
    { "gid_to_group", file_gid_to_group, gid_args, FN_READONLY,
      "Return the name of a group." CLI_EXAMPLE("salt '*' file.gid_to_group 0") },
    { "grep", file_grep, grep_args, FN_READONLY,
      "Run grep on a file or on what a glob finds.\n\nReturns ``pid``, ``retcode``, ``stdout`` and "
      "``stderr``. Each "
      "option is an argument of its own." CLI_EXAMPLE(
          "salt '*' file.grep /etc/passwd nobody\n    salt '*' file.grep "
          "/etc/sysconfig/network-scripts/ifcfg-eth0 "
          "ipaddr -- -i\n    salt '*' file.grep \"/etc/sysconfig/network-scripts/*\" ipaddr -- -i -l") },
    { "group_to_gid", file_group_to_gid, group_args, FN_READONLY,
      "Return the number of a group, or an empty text." CLI_EXAMPLE("salt '*' file.group_to_gid root") },
    { "is_blkdev", file_is_type, name_args, FN_READONLY,
      "Say whether a path is a block device." CLI_EXAMPLE("salt '*' file.is_blkdev /dev/blk"),
      .data.number = S_IFBLK },
    { "is_chrdev", file_is_type, name_args, FN_READONLY,
      "Say whether a path is a character device." CLI_EXAMPLE("salt '*' file.is_chrdev /dev/chr"),
      .data.number = S_IFCHR },
    { "is_fifo", file_is_type, name_args, FN_READONLY,
      "Say whether a path is a named pipe." CLI_EXAMPLE("salt '*' file.is_fifo /dev/fifo"),
      .data.number = S_IFIFO },
    { "is_hardlink", file_is_hardlink, path_args, FN_READONLY,
      "Say whether a file has more than one name." CLI_EXAMPLE("salt '*' file.is_hardlink /path/to/link") },
    { "is_link", file_is_link, path_args, FN_READONLY,
      "Say whether a path is a symbolic link." CLI_EXAMPLE("salt '*' file.is_link /path/to/link") },
    { "join", file_join, join_args, FN_READONLY,
      "Join parts of a path." CLI_EXAMPLE("salt '*' file.join '/' 'usr' 'local' 'bin'") },
    { "lchown", file_lchown, chown_args, 0,
      "Change owner and group of a path without following a link." CLI_EXAMPLE(
          "salt '*' file.lchown /etc/passwd root root") },
    { "line", file_line, line_args, 0,
      "Edit one line of a text file.\n\nModes: ``ensure`` that a line is there before or after another, "
      "``insert`` it, ``replace`` or ``delete`` the lines that ``match`` finds. Returns the difference." CLI_EXAMPLE(
          "salt '*' file.line /etc/nsswitch.conf \"networks:\\\\tfiles dns\" after=\"hosts:.*?\" "
          "mode='ensure'") },
    { "link", file_link, link_args, 0,
      "Make a hard link." CLI_EXAMPLE("salt '*' file.link /path/to/file /path/to/link") },
    { "list_backup", file_list_backups, list_backups_args, FN_READONLY,
      "The same as file.list_backups." CLI_EXAMPLE("salt '*' file.list_backup /foo/bar/baz.txt") },
    { "list_backups", file_list_backups, list_backups_args, FN_READONLY,
      "List the copies that earlier changes of a file left behind, the newest first." CLI_EXAMPLE(
          "salt '*' file.list_backups /foo/bar/baz.txt") },
    { "list_backups_dir", file_list_backups_dir, list_backups_args, FN_READONLY,
      "List the copies of all files of a folder." CLI_EXAMPLE(
          "salt '*' file.list_backups_dir /foo/bar/baz/") },
    { "lsattr", file_lsattr, path_args, FN_READONLY,
      "Return the attributes of a file, or of what is in a folder, as lists of letters." CLI_EXAMPLE(
          "salt '*' file.lsattr foo1.txt") },
    { "lstat", file_lstat, path_args, FN_READONLY,
      "Return what lstat(2) tells of a path; empty when there is nothing." CLI_EXAMPLE(
          "salt '*' file.lstat /path/to/file") },
    { "makedirs", file_makedirs, makedirs_args, 0,
      "Make the folders above a path.\n\nA path that ends in a slash is made itself." CLI_EXAMPLE(
          "salt '*' file.makedirs /opt/code/") },
    { "makedirs_perms", file_makedirs_perms, makedirs_perms_args, 0,
      "Make a folder and those above it, with owner, group and mode." CLI_EXAMPLE(
          "salt '*' file.makedirs_perms /opt/code") },
    { "mkdir", file_mkdir, mkdir_args, 0,
      "Make a folder if it is not there." CLI_EXAMPLE("salt '*' file.mkdir /opt/jetty/context") },
    { "mknod", file_mknod, mknod_args, 0,
      "Make a character device, a block device or a named pipe." CLI_EXAMPLE(
          "salt '*' file.mknod /dev/chr c 180 31\n    salt '*' file.mknod /dev/blk b 8 999\n    "
          "salt '*' file.mknod /dev/fifo p") },
    { "mknod_blkdev", file_mknod_kind, mknod_dev_args, 0,
      "Make a block device." CLI_EXAMPLE("salt '*' file.mknod_blkdev /dev/blk 8 999"), .data.text = "b" },
    { "mknod_chrdev", file_mknod_kind, mknod_dev_args, 0,
      "Make a character device." CLI_EXAMPLE("salt '*' file.mknod_chrdev /dev/chr 180 31"),
      .data.text = "c" },
    { "mknod_fifo", file_mknod_kind, mknod_fifo_args, 0,
      "Make a named pipe." CLI_EXAMPLE("salt '*' file.mknod_fifo /dev/fifo"), .data.text = "p" },
    { "move", file_move, move_args, 0,
      "Move a file or folder, over file systems if need be." CLI_EXAMPLE(
          "salt '*' file.move /path/to/src /path/to/dst") },
    { "normpath", file_normpath, path_args, FN_READONLY,
      "Return a path without double slashes, . and .." CLI_EXAMPLE("salt '*' file.normpath 'a/b/c/..'") },
    { "open_files", file_open_files, open_files_args, FN_READONLY,
      "Return the files that are open, each with the processes that have it open." CLI_EXAMPLE(
          "salt '*' file.open_files\n    salt '*' file.open_files by_pid=True") },
    { "pardir", file_pardir, NULL, FN_READONLY,
      "Return the name of the parent folder, \"..\"." CLI_EXAMPLE("salt '*' file.pardir") },
    { "patch", file_patch, patch_args, 0,
      "Apply a patch to a file or folder with the program patch." CLI_EXAMPLE(
          "salt '*' file.patch /opt/file.txt /tmp/file.txt.patch") },
    { "path_exists_glob", file_path_exists_glob, path_args, FN_READONLY,
      "Say whether a glob finds a path." CLI_EXAMPLE("salt '*' file.path_exists_glob /etc/pam*/pass*") },
    { "prepend", file_prepend, lines_args, 0,
      "Put lines at the start of a file." CLI_EXAMPLE(
          "salt '*' file.prepend /etc/motd \"With all thine offerings\" \"thou shalt offer salt.\"") },
    { "psed", file_psed, psed_args, 0,
      "Replace text by a regular expression, within the whole file." CLI_EXAMPLE(
          "salt '*' file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'") },
    { "read", file_read, read_args, FN_READONLY,
      "Return what a file holds." CLI_EXAMPLE("salt '*' file.read /path/to/file") },
    { "readdir", file_readdir, path_args, FN_READONLY,
      "Return the names in a folder, . and .. included." CLI_EXAMPLE("salt '*' file.readdir /path/to/dir/") },
    { "readlink", file_readlink, readlink_args, FN_READONLY,
      "Return what a symbolic link points to." CLI_EXAMPLE("salt '*' file.readlink /path/to/link") },
    { "remove", file_remove, remove_args, 0,
      "Remove a file, or a folder with all that is in it.\n\nReturns False when there is nothing to "
      "remove." CLI_EXAMPLE("salt '*' file.remove /tmp/foo") },
    { "remove_backup", file_delete_backup, backup_id_args, 0,
      "The same as file.delete_backup." CLI_EXAMPLE("salt '*' file.remove_backup /home/foo/bar/baz.txt 0") },
    { "rename", file_rename, rename_args, 0,
      "Rename a file or folder." CLI_EXAMPLE("salt '*' file.rename /path/to/src /path/to/dst") },
    { "replace", file_replace, replace_args, 0,
      "Replace what a regular expression finds in a text file.\n\nThe difference is returned. A file with "
      "several hard links keeps them; any other is replaced in one step." CLI_EXAMPLE(
          "salt '*' file.replace /etc/httpd/httpd.conf pattern='LogLevel warn' repl='LogLevel info'\n    "
          "salt '*' file.replace /some/file 'before' 'after' flags='[MULTILINE, IGNORECASE]'") },
    { "restore_backup", file_restore_backup, backup_id_args, 0,
      "Bring back a copy that an earlier change left behind.\n\nWhat is there now becomes a backup "
      "itself." CLI_EXAMPLE("salt '*' file.restore_backup /foo/bar/baz.txt 0") },
    { "restorecon", file_restorecon, restorecon_args, 0,
      "Reset the SELinux label of a path to the policy's." CLI_EXAMPLE(
          "salt '*' file.restorecon /home/user/.ssh/authorized_keys") },
    { "rmdir", file_rmdir, rmdir_args, 0,
      "Remove an empty folder, with ``recurse=True`` also the empty ones below." CLI_EXAMPLE(
          "salt '*' file.rmdir /tmp/foo/") },
    { "search", file_search, search_args, FN_READONLY,
      "Say whether a regular expression finds something in a file." CLI_EXAMPLE(
          "salt '*' file.search /etc/crontab 'mymaintenance.sh'") },
    { "sed", file_sed, sed_args, 0,
      "Edit a file with the program sed.\n\nReturns False when the file is missing, else what sed "
      "returned." CLI_EXAMPLE("salt '*' file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'") },
    { "sed_contains", file_sed_contains, sed_contains_args, FN_READONLY,
      "Say whether sed's pattern finds something in a file." CLI_EXAMPLE(
          "salt '*' file.sed_contains /etc/crontab 'mymaintenance.sh'") },
    { "seek_read", file_seek_read, seek_read_args, FN_READONLY,
      "Read some bytes from a place in a file." CLI_EXAMPLE("salt '*' file.seek_read /path/to/file 4096 0") },
    { "seek_write", file_seek_write, seek_write_args, 0,
      "Write some bytes to a place in a file." CLI_EXAMPLE(
          "salt '*' file.seek_write /path/to/file 'some data' 4096") },
    { "set_mode", file_set_mode, set_mode_args, 0,
      "Set the mode of a file and return it." CLI_EXAMPLE("salt '*' file.set_mode /etc/passwd 0644") },
    { "set_selinux_context", file_set_selinux_context, set_selinux_args, 0,
      "Set parts of the SELinux label of a path." CLI_EXAMPLE(
          "salt '*' file.set_selinux_context path <user> <role> <type> <range>") },
    { "stats", file_stats, stats_args, FN_READONLY,
      "Return owner, mode, size, times, type and target of a path." CLI_EXAMPLE(
          "salt '*' file.stats /etc/passwd") },
    { "statvfs", file_statvfs, path_args, FN_READONLY,
      "Return what statvfs(3) tells of the file system that holds a path." CLI_EXAMPLE(
          "salt '*' file.statvfs /path/to/file") },
    { "symlink", file_symlink, symlink_args, 0,
      "Make a symbolic link.\n\n``force`` and ``atomic`` replace what is there, in one step." CLI_EXAMPLE(
          "salt '*' file.symlink /path/to/file /path/to/link") },
    { "touch", file_touch, touch_args, 0,
      "Make a file if it is not there, and set its times." CLI_EXAMPLE(
          "salt '*' file.touch /var/log/emptyfile") },
    { "truncate", file_truncate, truncate_args, 0,
      "Cut or extend a file to a size." CLI_EXAMPLE("salt '*' file.truncate /path/to/file 512") },
    { "uid_to_user", file_uid_to_user, uid_args, FN_READONLY,
      "Return the name of a user." CLI_EXAMPLE("salt '*' file.uid_to_user 0") },
    { "uncomment", file_comment_matching, comment_args, 0,
      "Take the comment mark from the lines that an expression finds." CLI_EXAMPLE(
          "salt '*' file.uncomment /etc/hosts.deny 'ALL: PARANOID'"),
      .data.number = false },
    { "user_to_uid", file_user_to_uid, user_args, FN_READONLY,
      "Return the number of a user, or an empty text." CLI_EXAMPLE("salt '*' file.user_to_uid root") },
    { "write", file_write, lines_args, 0,
      "Write lines to a file, in place of what it holds." CLI_EXAMPLE(
          "salt '*' file.write /etc/motd \"With all thine offerings\" \"thou shalt offer salt.\"") },
};

PLUGIN(exec, file, .doc = "Manage files and folders on the minion", FUNCS(funcs));
