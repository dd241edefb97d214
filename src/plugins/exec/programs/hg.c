/* hg.c - execution module `hg`: Mercurial's repositories on this host, by its program. Results are hg's
 * output, or structures made of it. Options stand before operands, and operands that look like options are
 * refused. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/call/tool.h"

enum { HG_TIMEOUT_S = 2 * 60 * 60 }; /* a clone of a large repository over a slow line */

/* ---- command lines ---------------------------------------------------------------------------- */

/* Adds the words of `opts`, a text with blanks between them; False and None are none. */
static void
hg_add_opts(json_t *line, const json_t *opts)
{
    char **words = json_is_string(opts) ? str_split(json_string_value(opts), " \t\n", true) : NULL;

    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(line, json_string(words[i]));
    strv_free(words);
}

/* Adds an argument's value, which is no option. */
static int
hg_add_operand(json_t *line, const json_t *args, const char *name, fail_t *err)
{
    AUTO_FREE char *word = value_pystr(value_get(args, name));

    json_array_append_new(line, json_string(word));
    return prog_check_operand(name, word, err);
}

/* An address without a password, which would stand in the command line for all users to see. Salt would pass
 * it. */
static int
hg_add_address(json_t *line, const json_t *args, fail_t *err)
{
    const char *url = value_str(args, "repository", "");
    AUTO_FREE char *shown = str_redacted(url);
    /* "scheme://user:password@host/path": the at sign must stand before the first slash. */
    const char *user = strstr(url, "://"), *at = user != NULL ? strchr(user, '@') : NULL;
    const char *colon = at != NULL ? strchr(user + strlen("://"), ':') : NULL;

    if (colon != NULL && colon < at && strcspn(user + strlen("://"), "/") > (size_t) (at - user))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "%s has a password in it, which any user could read in hg's command line; put it "
                         "into a section [auth] of the user's .hgrc",
                         shown);
    return hg_add_operand(line, args, "repository", err);
}

/* Mercurial calls ssh by a shell. The path is quoted for it. */
static void
hg_add_key(json_t *line, const json_t *args)
{
    const char *key = value_str(args, "identity", "");

    if (*key == '\0')
        return;
    AUTO_FREE char *quoted = str_shell_quote(key);
    json_array_append_new(line, json_string("--ssh"));
    json_array_append_new(line, value_fmt("ssh -i %s", quoted));
}

/* Runs hg; {retcode, stdout, stderr} as Salt's cmd.run_all. NEW, or NULL with *err. */
static json_t *
hg_run(call_ctx_t *ctx, const json_t *args, json_t *line, const char *cwd, unsigned flags, fail_t *err)
{
    return tool_words(ctx, line, cwd, value_str(args, "user", NULL), flags, HG_TIMEOUT_S, err);
}

/* Runs hg for its output. A failure is the call's where the row says so. */
static int
hg_output(call_ctx_t *ctx, const json_t *args, json_t *line, const char *cwd, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = hg_run(ctx, args, line, cwd, 0, err);

    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Hg command failed: %s", value_str(ran, "stderr", ""));
    *ret_value = json_incref(value_get(ran, "stdout"));
    return 0;
}

/* ---- functions ---------------------------------------------------------------------------------- */

/* The changeset of a revision, "" when there is none. NEW, or NULL with *err. An unknown revision is an exit
 * code, and Salt tells "". */
static json_t *
changeset(call_ctx_t *ctx, const json_t *args, bool is_short, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "hg", "id");

    if (!is_short)
        json_array_append_new(line, json_string("--debug"));
    json_array_append_new(line, json_string("-i"));
    json_array_append_new(line, json_string("-r"));
    if (hg_add_operand(line, args, "rev", err) < 0)
        return NULL;
    json_auto_t *ran = hg_run(ctx, args, line, value_str(args, "cwd", NULL), 0, err);
    if (ran == NULL)
        return NULL;
    return value_int(ran, "retcode", 1) == 0 ? json_incref(value_get(ran, "stdout")) : json_string("");
}

static int
hg_revision(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = changeset(ctx, args, value_truthy(value_get(args, "short")), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* "LATESTTAG-DISTANCE-NODE"; the short changeset where the template gives nothing. */
static int
hg_describe(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s, s, s, s]", "hg", "log", "--template",
                                  "{latesttag}-{latesttagdistance}-{node|short}", "-r");

    if (hg_add_operand(line, args, "rev", err) < 0)
        return err->code;
    json_auto_t *ran = hg_run(ctx, args, line, value_str(args, "cwd", NULL), 0, err);
    if (ran == NULL)
        return err->code;
    *ret_value = *value_str(ran, "stdout", "") != '\0' ? json_incref(value_get(ran, "stdout"))
                                                       : changeset(ctx, args, true, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* A failure is text, as cmd.run tells it, not an error. */
static int
hg_archive(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const options[] = { "fmt", "--type", "prefix", "--prefix" };
    json_auto_t *line = json_pack("[s, s]", "hg", "archive");

    if (hg_add_operand(line, args, "output", err) < 0)
        return err->code;
    json_array_append_new(line, json_string("--rev"));
    if (hg_add_operand(line, args, "rev", err) < 0)
        return err->code;
    for (size_t i = 0; i < NELEMS(options); i += 2) {
        if (!value_truthy(value_get(args, options[i])))
            continue;
        json_array_append_new(line, json_string(options[i + 1]));
        if (hg_add_operand(line, args, options[i], err) < 0)
            return err->code;
    }
    json_auto_t *ran = hg_run(ctx, args, line, value_str(args, "cwd", NULL), TOOL_MERGE, err);
    if (ran == NULL)
        return err->code;
    *ret_value = json_incref(value_get(ran, "stdout"));
    return 0;
}

/* From `repository`, or from where the clone came. */
static int
hg_pull(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "hg", "pull");

    hg_add_key(line, args);
    hg_add_opts(line, value_get(args, "opts"));
    if (!json_is_null(value_get(args, "repository")) && hg_add_address(line, args, err) < 0)
        return err->code;
    return hg_output(ctx, args, line, value_str(args, "cwd", NULL), ret_value, err);
}

/* -C throws local changes away. */
static int
hg_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "hg", "update");

    if (hg_add_operand(line, args, "rev", err) < 0)
        return err->code;
    if (value_truthy(value_get(args, "force")))
        json_array_append_new(line, json_string("-C"));
    return hg_output(ctx, args, line, value_str(args, "cwd", NULL), ret_value, err);
}

/* The target folder is `cwd`; hg runs where the minion stands. */
static int
hg_clone(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "hg", "clone");

    if (hg_add_address(line, args, err) < 0 || hg_add_operand(line, args, "cwd", err) < 0)
        return err->code;
    hg_add_opts(line, value_get(args, "opts"));
    hg_add_key(line, args);
    return hg_output(ctx, args, line, NULL, ret_value, err);
}

/* {kind: [file]} of one repository. NEW, or NULL with *err. Letters are those of `hg help status`; a blank is
 * where the file above was copied from. */
static json_t *
changed_files(call_ctx_t *ctx, const json_t *args, const char *cwd, fail_t *err)
{
    static const char letters[] = "MARC!?I ";
    static const char *const kinds[] = {
        "modified", "added",       "removed", "clean",
        "missing",  "not tracked", "ignored", "origin of the previous file"
    };
    json_auto_t *line = json_pack("[s, s]", "hg", "status");

    hg_add_opts(line, value_get(args, "opts"));
    json_auto_t *ran = hg_run(ctx, args, line, cwd, 0, err);
    if (ran == NULL)
        return NULL;
    json_auto_t *all = json_object();
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    for (size_t i = 0; lines[i] != NULL && err->code == 0; i++) {
        const char *letter = strchr(letters, lines[i][0]);
        if (letter == NULL || lines[i][1] != ' ')
            (void) fail_kind(err, FAIL_COMMAND, -EPROTO, "hg status says '%s', which is no file's status",
                             lines[i]);
        else {
            const char *kind = kinds[letter - letters];
            if (value_get(all, kind) == NULL)
                json_object_set_new(all, kind, json_array());
            json_array_append_new(value_get(all, kind), json_string(lines[i] + 2));
        }
    }
    strv_free(lines);
    return err->code == 0 ? json_incref(all) : NULL;
}

/* Of one folder the object, of a list {folder: object}. */
static int
hg_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *cwd = value_get(args, "cwd"), *one;
    json_auto_t *all = json_object();
    size_t i;

    if (!json_is_array(cwd)) {
        *ret_value = changed_files(ctx, args, json_string_value(cwd), err);
        return *ret_value != NULL ? 0 : err->code;
    }
    json_array_foreach (cwd, i, one) {
        AUTO_FREE char *folder = value_pystr(one);
        json_t *files = changed_files(ctx, args, folder, err);
        if (files == NULL)
            return err->code;
        json_object_set_new(all, folder, files);
    }
    *ret_value = json_incref(all);
    return 0;
}

static const char *
exec_hg_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("hg");

    return path != NULL ? NULL : "The hg execution module cannot be loaded: hg unavailable.";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define CWD_ROW       ARG("cwd", ARG_STR, ARG_REQUIRED, "The repository")
#define REV_ROW(dflt) ARG("rev", ARG_STR, dflt, "A changeset, branch, tag or bookmark")
#define USER_ROW      ARG("user", ARG_STR, "null", "User to run hg as")
#define OPTS_ROW      ARG("opts", ARG_ANY, "null", "Further options, as a text")
#define KEY_ROW       ARG("identity", ARG_STR, "null", "Private key for ssh, a file on this host")

static const arg_t revision_args[] = { CWD_ROW, REV_ROW("\"tip\""),
                                       ARG("short", ARG_ANY, "false", "The first 12 digits"), USER_ROW,
                                       ARGS_END };
static const arg_t describe_args[] = { CWD_ROW, REV_ROW("\"tip\""), USER_ROW, ARGS_END };
static const arg_t archive_args[] = {
    CWD_ROW,
    ARG("output", ARG_STR, ARG_REQUIRED, "The archive to write"),
    REV_ROW("\"tip\""),
    ARG("fmt", ARG_STR, "null",
        "tar, tbz2, tgz, txz, zip, uzip or files; by default as the archive's name ends"),
    ARG("prefix", ARG_STR, "null", "Folder in the archive that all files are below"),
    USER_ROW,
    ARGS_END,
};
static const arg_t pull_args[] = { CWD_ROW,
                                   OPTS_ROW,
                                   USER_ROW,
                                   KEY_ROW,
                                   ARG("repository", ARG_STR, "null",
                                       "Where to pull from, by default where it was cloned from"),
                                   ARGS_END };
static const arg_t update_args[] = { CWD_ROW, REV_ROW(ARG_REQUIRED),
                                     ARG("force", ARG_ANY, "false", "Discard changes of files"), USER_ROW,
                                     ARGS_END };
static const arg_t clone_args[] = { ARG("cwd", ARG_STR, ARG_REQUIRED, "The folder to be made"),
                                    ARG("repository", ARG_STR, ARG_REQUIRED, "What to clone"),
                                    OPTS_ROW,
                                    USER_ROW,
                                    KEY_ROW,
                                    ARGS_END };
static const arg_t status_args[] = { ARG("cwd", ARG_ANY, ARG_REQUIRED, "The repository, or a list of them"),
                                     OPTS_ROW, USER_ROW, ARGS_END };

static const func_t funcs[] = {
    { "archive", hg_archive, archive_args, 0,
      "Write an archive of the files of a revision." CLI_EXAMPLE(
          "salt '*' hg.archive /path/to/repo output=/tmp/archive.tgz fmt=tgz") },
    { "clone", hg_clone, clone_args, 0,
      "Clone a repository." CLI_EXAMPLE("salt '*' hg.clone /path/to/repo https://hg.example.org/project") },
    { "describe", hg_describe, describe_args, FN_READONLY,
      "Return the latest tag before a revision, how many changesets lie between, and the revision." CLI_EXAMPLE(
          "salt '*' hg.describe /path/to/repo") },
    { "pull", hg_pull, pull_args, 0,
      "Pull changes; return what hg says." CLI_EXAMPLE("salt '*' hg.pull /path/to/repo opts=-u") },
    { "revision", hg_revision, revision_args, FN_READONLY,
      "Return the changeset of a revision." CLI_EXAMPLE("salt '*' hg.revision /path/to/repo mybranch") },
    { "status", hg_status, status_args, FN_READONLY,
      "Return the changed files by kind." CLI_EXAMPLE("salt '*' hg.status /path/to/repo") },
    { "update", hg_update, update_args, 0,
      "Check a revision out." CLI_EXAMPLE("salt '*' hg.update /path/to/repo somebranch") },
};

PLUGIN(exec, hg, .doc = "Repositories of Mercurial", FUNCS(funcs), .unavailable = exec_hg_unavailable);
