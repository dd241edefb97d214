/* file_managed.c - more of execution module `file`: the parts of which the state file.managed is made. The
 * functions stand in plugins/lib/file.
 *
 * These rows take what the state hands from step to step, so that their arguments are required even where
 * they may be None.
 *   source.c        source_list: which of several sources exists
 *   managed.c       get_managed: the source fetched, verified and rendered; apply_template_on_contents
 *   manage.c        manage_file: the file brought to contents, owner and mode
 *   manage_check.c  check_managed, check_managed_changes, check_file_meta: the same, told only
 */
#include "plugins/lib/file/manage.h"
#include "salt/plugin.h"

#define NAME_ROW     ARG("name", ARG_STR, ARG_REQUIRED, "The file")
#define SOURCE_ROW   ARG("source", ARG_ANY, ARG_REQUIRED, "URL or path of the content, or None")
#define TEMPLATE_ROW ARG("template", ARG_ANY, ARG_REQUIRED, "Template engine, or None")
#define VARIABLE_ROWS                                                                                        \
    ARG("context", ARG_ANY, ARG_REQUIRED, "Variables of the template"),                                      \
        ARG("defaults", ARG_ANY, ARG_REQUIRED, "Variables that context overrides")
#define ENV_ROW ARG("saltenv", ARG_STR, ARG_REQUIRED, "Environment of salt:// URLs")
#define HASH_ROWS                                                                                            \
    ARG("source_hash", ARG_ANY, ARG_REQUIRED, "Digest, TYPE=DIGEST, or a file of sums"),                     \
        ARG("source_hash_name", ARG_ANY, ARG_REQUIRED, "Name to look for in a file of sums")
#define OWNER_ROWS                                                                                           \
    ARG("user", ARG_ANY, ARG_REQUIRED, "Owner"), ARG("group", ARG_ANY, ARG_REQUIRED, "Group"),               \
        ARG("mode", ARG_ANY, ARG_REQUIRED, "Octal mode"),                                                    \
        ARG("attrs", ARG_ANY, ARG_REQUIRED, "Attribute letters, as chattr")
#define CONTENTS_ROW  ARG("contents", ARG_ANY, "null", "The content itself")
#define SKIP_ROW      ARG("skip_verify", ARG_BOOL, "false", "Take a source from outside without a digest")
#define SSL_ROW       ARG("verify_ssl", ARG_BOOL, "true", "Check the server's certificate")
#define ETAG_ROW      ARG("use_etag", ARG_BOOL, "false", "Ask a web server whether its file has changed")
#define KEEP_ROW      ARG("keep_mode", ARG_BOOL, "false", "The source's mode")
#define FOLLOW_ROW(d) ARG("follow_symlinks", ARG_BOOL, d, "Look at what a link points to")
#define LABEL_ROWS                                                                                           \
    ARG("seuser", ARG_ANY, "null", "SELinux user"), ARG("serole", ARG_ANY, "null", "SELinux role"),          \
        ARG("setype", ARG_ANY, "null", "SELinux type"), ARG("serange", ARG_ANY, "null", "SELinux range")
#define KWARGS_ROW   ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further variables of the template", "*")
#define FETCHED_ROWS ARG("sfn", ARG_STR, ARG_REQUIRED, "Local copy of the source, or an empty text")
#define SUM_ROW      ARG("source_sum", ARG_ANY, ARG_REQUIRED, "hash_type and hsum of the source")

static const arg_t source_list_args[] = { SOURCE_ROW, ARG("source_hash", ARG_ANY, ARG_REQUIRED, "Its digest"),
                                          ENV_ROW, ARGS_END };
static const arg_t apply_template_args[] = { ARG("contents", ARG_STR, ARG_REQUIRED, "The template's text"),
                                             TEMPLATE_ROW, VARIABLE_ROWS, ENV_ROW, ARGS_END };
static const arg_t get_managed_args[] = { NAME_ROW,   TEMPLATE_ROW, SOURCE_ROW,         HASH_ROWS,
                                          OWNER_ROWS, ENV_ROW,      VARIABLE_ROWS,      SKIP_ROW,
                                          SSL_ROW,    ETAG_ROW,     SOURCE_SIGNER_ROWS, KWARGS_ROW,
                                          ARGS_END };
static const arg_t manage_file_args[] = {
    NAME_ROW,
    FETCHED_ROWS,
    ARG("ret", ARG_ANY, ARG_REQUIRED, "A state's return to go on with, or None"),
    SOURCE_ROW,
    SUM_ROW,
    OWNER_ROWS,
    ENV_ROW,
    ARG("backup", ARG_ANY, ARG_REQUIRED, "minion: keep a copy in cachedir/file_backup"),
    ARG("makedirs", ARG_BOOL, "false", "Make the folders above it"),
    ARG("template", ARG_STR, "null", "The content came from a template"),
    ARG("show_changes", ARG_BOOL, "true", "Show the difference"),
    CONTENTS_ROW,
    ARG("dir_mode", ARG_ANY, "null", "Octal mode of the folders made"),
    FOLLOW_ROW("true"),
    SKIP_ROW,
    KEEP_ROW,
    ARG("encoding", ARG_STR, "null", "Encoding of the file, when not UTF-8"),
    ARG("encoding_errors", ARG_STR, "\"strict\"",
        "What to do with other characters: strict, ignore, replace"),
    LABEL_ROWS,
    SSL_ROW,
    ETAG_ROW,
    SOURCE_SIGNATURE_ROW,
    SOURCE_SIGNER_ROWS,
    KWARGS_ROW,
    ARGS_END
};
static const arg_t check_managed_args[] = {
    NAME_ROW,     SOURCE_ROW, HASH_ROWS,  OWNER_ROWS,          TEMPLATE_ROW,       VARIABLE_ROWS, ENV_ROW,
    CONTENTS_ROW, SKIP_ROW,   LABEL_ROWS, FOLLOW_ROW("false"), SOURCE_SIGNER_ROWS, KWARGS_ROW,    ARGS_END
};
static const arg_t check_managed_changes_args[] = {
    NAME_ROW,     SOURCE_ROW, HASH_ROWS, OWNER_ROWS, TEMPLATE_ROW, VARIABLE_ROWS,       ENV_ROW,
    CONTENTS_ROW, SKIP_ROW,   KEEP_ROW,  LABEL_ROWS, SSL_ROW,      FOLLOW_ROW("false"), SOURCE_SIGNER_ROWS,
    KWARGS_ROW,   ARGS_END
};
static const arg_t check_file_meta_args[] = {
    NAME_ROW,   FETCHED_ROWS, SOURCE_ROW,          SUM_ROW, OWNER_ROWS, ENV_ROW, CONTENTS_ROW,
    LABEL_ROWS, SSL_ROW,      FOLLOW_ROW("false"), ARGS_END
};

static const func_t funcs[] = {
    { "apply_template_on_contents", file_apply_template_on_contents, apply_template_args,
      FN_READONLY | FN_PEER_FILES,
      "Render a text as a template." CLI_EXAMPLE(
          "salt '*' file.apply_template_on_contents contents='This is a {{ template }} string.' "
          "template=jinja "
          "\"context={}\" \"defaults={'template': 'cool'}\" saltenv=base") },
    { "check_file_meta", file_check_file_meta, check_file_meta_args, FN_READONLY,
      "Return what would change if a file were brought to what is asked." CLI_EXAMPLE(
          "salt '*' file.check_file_meta /etc/httpd/conf.d/httpd.conf None salt://http/httpd.conf "
          "'{hash_type: 'md5', 'hsum': <md5sum>}' root root '755' None base") },
    { "check_managed", file_check_managed, check_managed_args, FN_READONLY,
      "Say whether a file is as asked, with a sentence about what would change." CLI_EXAMPLE(
          "salt '*' file.check_managed /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: "
          "'md5', 'hsum': <md5sum>}' root, root, '755' jinja True None None base") },
    { "check_managed_changes", file_check_managed_changes, check_managed_changes_args, FN_READONLY,
      "Return what would change if a file were brought to what is asked, its content fetched and "
      "rendered." CLI_EXAMPLE("salt '*' file.check_managed_changes /etc/httpd/conf.d/httpd.conf "
                              "salt://http/httpd.conf '{hash_type: "
                              "'md5', 'hsum': <md5sum>}' root, root, '755' jinja True None None base") },
    { "get_managed", file_get_managed, get_managed_args, 0,
      "Fetch, verify and render the content of a file.\n\nReturns its local copy, its digest and what is "
      "wrong." CLI_EXAMPLE(
          "salt '*' file.get_managed /etc/httpd/conf.d/httpd.conf jinja salt://http/httpd.conf "
          "'{hash_type: 'md5', 'hsum': <md5sum>}' None root root '755' base None None") },
    { "manage_file", file_manage_file, manage_file_args, 0,
      "Bring a file to a content, owner and mode, in one step.\n\nReturns a state's return." CLI_EXAMPLE(
          "salt '*' file.manage_file /etc/httpd/conf.d/httpd.conf '' '{}' salt://http/httpd.conf "
          "'{hash_type: 'md5', 'hsum': <md5sum>}' root root '755' '' base ''") },
    { "source_list", file_source_list, source_list_args, FN_READONLY,
      "Return the first of several sources that exists, and its digest." CLI_EXAMPLE(
          "salt '*' file.source_list salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' base") },
};

PLUGIN(exec, file_managed, .provides = "file", .doc = "Manage files and folders on the minion", FUNCS(funcs));
