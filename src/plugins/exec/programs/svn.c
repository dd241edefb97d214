/* svn.c - execution module `svn`: working copies of Subversion, by its program. A function is a row: its
 * command is the row's text, its arguments say which words follow. plugins/lib/git/svncmd.h runs the program,
 * with the login on standard input and without questions. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/git/svncmd.h"

/* Adds files, folders and addresses: a text that is parted as a shell does. Numbers and lists are taken by
 * their text. */
static int
add_targets(json_t *words, const json_t *args, fail_t *err)
{
    json_t *targets = value_get(args, "targets");
    AUTO_FREE char *text = value_pystr(targets);
    char **each = value_truthy(targets) ? prog_split(text, err) : NULL;

    if (value_truthy(targets) && each == NULL)
        return err->code;
    for (size_t i = 0; each != NULL && each[i] != NULL && err->code == 0; i++) {
        (void) prog_check_operand("targets", each[i], err);
        json_array_append_new(words, json_string(each[i]));
    }
    strv_free(each);
    return err->code;
}

/* Adds an argument's value, when it has one: behind its option, or as a word that is none. */
static int
svn_add_value(json_t *words, const json_t *args, const char *name, const char *option, fail_t *err)
{
    json_t *v = value_get(args, name);
    AUTO_FREE char *text = value_pystr(v);

    if (!value_truthy(v))
        return 0;
    if (option != NULL)
        json_array_append_new(words, json_string(option));
    json_array_append_new(words, json_string(text));
    return option != NULL ? 0 : prog_check_operand(name, text, err);
}

/* Words in the order that Salt's functions have: options of the user's own, the message, the address, the
 * target, further targets, the revision. */
static int
svn_command(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_copy(value_get(args, "opts"));

    if (svn_add_value(words, args, "msg", "-m", err) < 0 ||
        svn_add_value(words, args, "remote", NULL, err) < 0 ||
        svn_add_value(words, args, "target", NULL, err) < 0 || add_targets(words, args, err) < 0 ||
        svn_add_value(words, args, "revision", "-r", err) < 0)
        return err->code;
    *ret_value = svn_run(ctx, args, ctx_row(ctx)->data.text, json_incref(words), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Pairs of an entry, as a list or a dictionary. NEW. svn prints "Key: value" lines. */
static json_t *
svn_entry(const char *text, bool as_dict)
{
    json_auto_t *pairs = svn_pairs(text), *dict = json_object();
    json_t *pair;
    size_t i;

    json_array_foreach (as_dict ? pairs : NULL, i, pair)
        json_object_set(dict, json_string_value(json_array_get(pair, 0)), json_array_get(pair, 1));
    return json_incref(as_dict ? dict : pairs);
}

/* Entries are parted by empty lines. `fmt` str is the text, xml svn's own XML; any other word but list and
 * dict gives None, as by Salt. */
static int
svn_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fmt = value_str(args, "fmt", "");
    json_auto_t *words = json_array(), *text = NULL;

    if (strcmp(fmt, "xml") == 0)
        json_array_append_new(words, json_string("--xml"));
    if (add_targets(words, args, err) < 0 ||
        (text = svn_run(ctx, args, "info", json_incref(words), err)) == NULL)
        return err->code;
    if (strcmp(fmt, "list") != 0 && strcmp(fmt, "dict") != 0) {
        *ret_value = strcmp(fmt, "str") == 0 || strcmp(fmt, "xml") == 0 ? json_incref(text) : json_null();
        return 0;
    }
    *ret_value = json_array();
    AUTO_FREE char *copy = xstrdup(json_string_value(text));
    for (char *at = copy; at != NULL;) {
        char *end = strstr(at, "\n\n");
        if (end != NULL)
            *end = '\0';
        json_array_append_new(*ret_value, svn_entry(at, strcmp(fmt, "dict") == 0));
        at = end != NULL ? end + 2 : NULL;
    }
    return 0;
}

static const char *
exec_svn_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("svn");

    return path != NULL ? NULL
                        : "The svn execution module failed to load: the svn binary is not in the path.";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define CWD_ROW    ARG("cwd", ARG_STR, ARG_REQUIRED, "Folder to work in")
#define REMOTE_ROW ARG("remote", ARG_STR, ARG_REQUIRED, "Address")
#define TARGET_ROW ARG("target", ARG_STR, "null", "Name of the copy, by default the address's last part")
#define TARGETS_ROW(dflt)                                                                                    \
    ARG("targets", ARG_ANY, dflt, "Files, folders, addresses; with blanks between, in quotes")
#define MSG_ROW ARG("msg", ARG_STR, "null", "Message of the commit")
#define LOGIN_ROWS                                                                                           \
    ARG("user", ARG_STR, "null", "User to run svn as"),                                                      \
        ARG("username", ARG_STR, "null", "Login at the server"),                                             \
        ARG("password", ARG_ANY, "null", "Password at the server")
#define OPTS_ROW ARG("opts", ARG_ANY, ARG_STAR, "Options of svn")

static const arg_t info_args[] = { CWD_ROW, TARGETS_ROW("null"), LOGIN_ROWS,
                                   ARG("fmt", ARG_STR, "\"str\"", "str, xml, list or dict"), ARGS_END };
static const arg_t remote_args[] = { CWD_ROW, REMOTE_ROW, TARGET_ROW, LOGIN_ROWS, OPTS_ROW, ARGS_END };
static const arg_t export_args[] = {
    CWD_ROW,  REMOTE_ROW, TARGET_ROW, LOGIN_ROWS, ARG("revision", ARG_ANY, "\"HEAD\"", "Which revision"),
    OPTS_ROW, ARGS_END
};
static const arg_t targets_args[] = { CWD_ROW, TARGETS_ROW("null"), LOGIN_ROWS, OPTS_ROW, ARGS_END };
static const arg_t add_args[] = { CWD_ROW, TARGETS_ROW(ARG_REQUIRED), LOGIN_ROWS, OPTS_ROW, ARGS_END };
static const arg_t commit_args[] = { CWD_ROW, TARGETS_ROW("null"), MSG_ROW, LOGIN_ROWS, OPTS_ROW, ARGS_END };
static const arg_t remove_args[] = { CWD_ROW, TARGETS_ROW(ARG_REQUIRED), MSG_ROW, LOGIN_ROWS, OPTS_ROW,
                                     ARGS_END };

#define SVN_ROW(name, args, flags, doc, example)                                                             \
    {                                                                                                        \
        name, svn_command, args, flags, doc CLI_EXAMPLE("salt '*' svn." example), .data.text = name          \
    }

static const func_t funcs[] = {
    SVN_ROW("add", add_args, 0, "Add files to a working copy.", "add /path/to/repo /path/to/new/file"),
    SVN_ROW("checkout", remote_args, 0, "Check a repository out.",
            "checkout /path/to/repo svn://remote/repo"),
    SVN_ROW("commit", commit_args, 0, "Commit changes.", "commit /path/to/repo msg='what it is about'"),
    SVN_ROW("diff", targets_args, FN_READONLY, "Return the changes.", "diff /path/to/repo"),
    SVN_ROW("export", export_args, 0, "Write a copy of a tree that is no working copy.",
            "export /path/to/repo svn://remote/repo"),
    { "info", svn_info, info_args, FN_READONLY,
      "Return what svn knows of a working copy, or of an address." CLI_EXAMPLE(
          "salt '*' svn.info /path/to/repo") },
    SVN_ROW("remove", remove_args, 0, "Remove files from a working copy, or from a repository.",
            "remove /path/to/repo /path/to/repo/remove"),
    SVN_ROW("status", targets_args, FN_READONLY, "Return which files have changes.", "status /path/to/repo"),
    SVN_ROW("switch", remote_args, 0, "Have a working copy follow another address.",
            "switch /path/to/repo svn://remote/repo"),
    SVN_ROW("update", targets_args, 0, "Bring the repository's changes into a working copy.",
            "update /path/to/repo"),
};

PLUGIN(exec, svn, .doc = "Working copies of Subversion", FUNCS(funcs), .unavailable = exec_svn_unavailable);
