/* archive.c - execution module `archive`: tar, gzip, zip, unzip and rar as their programs do it, by cmd.run.
 * Files are operands, never options; what the user gives as options is. Each function's answer is the list of
 * lines that the program prints, on stdout or stderr; a failed program is no error but for cmd_unzip. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/archive/archives.h"
#include "plugins/lib/archive/sources.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"

/* ---- command lines ---------------------------------------------------------------------------- */

/* A file's name goes to the end of the line. */
static int
add_file(json_t *line, const json_t *args, const char *key, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(value_get(args, key));

    json_array_append_new(line, json_string(text));
    return prog_check_operand(key, text, err);
}

/* Globs are expanded here, as no shell sees the line. */
static int
add_sources(json_t *line, const json_t *args, fail_t *err)
{
    json_auto_t *sources = sources_expanded(value_get(args, "sources"), err);

    if (sources == NULL)
        return err->code;
    json_array_extend(line, sources);
    return prog_check_operands("sources", sources, err);
}

/* Words of the user's own, split at `white space` alone as Salt does. */
static void
add_words(json_t *line, const char *words)
{
    char **parts = str_split(words, " \t\n\r", true);

    for (size_t i = 0; parts[i] != NULL; i++)
        json_array_append_new(line, json_string(parts[i]));
    strv_free(parts);
}

/* cmd.run_all with what the functions take for it. NEW, or NULL with *err. "Quiet" keeps the line out of the
 * log: it may hold a password. By cmd.run_all and not a program of our own, so that `template` and `runas`
 * mean what they mean there. */
static json_t *
archive_ran(call_ctx_t *ctx, const json_t *args, json_t *line, bool quiet, fail_t *err)
{
    json_t *null = json_null(), *cwd = value_get(args, "cwd");

    return sub_call(ctx, err, "cmd.run_all", "{s:O, s:O, s:O, s:O, s:b, s:b, s:i, s:s}", "cmd", line, "cwd",
                    cwd != NULL ? cwd : null, "template", value_get(args, "template"), "runas",
                    value_get(args, "runas"), "python_shell", 0, "redirect_stderr", 1, "timeout",
                    ARCHIVE_TIMEOUT_S, "output_loglevel", quiet ? "quiet" : "debug");
}

/* Python's str.splitlines of what was printed. NEW. A line break at the end begins no further line. */
static json_t *
lines_of(const json_t *ran)
{
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", false);
    json_t *out = json_array();

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (lines[i + 1] != NULL || *lines[i] != '\0')
            json_array_append_new(out, value_utf8(lines[i], strlen(lines[i])));
    }
    strv_free(lines);
    return out;
}

/* A failed program is its lines and the job's exit code, as by cmd.run. */
static int
archive_lines(call_ctx_t *ctx, const json_t *args, json_t *line, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = archive_ran(ctx, args, line, false, err);

    if (ran == NULL)
        return err->code;
    *ret_value = lines_of(ran);
    return 0;
}

/* ---- functions -------------------------------------------------------------------------------- */

/* Salt passes the user's options first, then the archive, the sources and -C, in this order; the options must
 * end with "f". */
static int
archive_tar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *options = value_str(args, "options", "");
    json_auto_t *line = json_pack("[s]", "tar");

    if (tool_need("tar", err) < 0)
        return err->code;
    if (*options == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Tar options can not be empty");
    add_words(line, options);
    if (add_file(line, args, "tarfile", err) < 0 || add_sources(line, args, err) < 0)
        return err->code;
    /* -C stands behind the sources, as by Salt. */
    if (value_truthy(value_get(args, "dest"))) {
        json_array_append_new(line, json_string("-C"));
        if (add_file(line, args, "dest", err) < 0)
            return err->code;
    }
    return archive_lines(ctx, args, line, ret_value, err);
}

/* gzip and gunzip: the row's program, its options as one word, the file. */
static int
archive_gzip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *program = ctx_row(ctx)->data.text;
    json_auto_t *line = json_pack("[s]", program);

    if (tool_need(program, err) < 0)
        return err->code;
    if (value_truthy(value_get(args, "options")))
        json_array_append(line, value_get(args, "options"));
    if (add_file(line, args, arg_name(ctx_row(ctx)->args), err) < 0)
        return err->code;
    return archive_lines(ctx, args, line, ret_value, err);
}

/* cmd_zip and rar: the row has the program and its options. */
static int
archive_pack(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_array();

    add_words(line, ctx_row(ctx)->data.text);
    if (tool_need(json_string_value(json_array_get(line, 0)), err) < 0 ||
        add_file(line, args, arg_name(ctx_row(ctx)->args), err) < 0 || add_sources(line, args, err) < 0)
        return err->code;
    return archive_lines(ctx, args, line, ret_value, err);
}

/* The one function that fails with the program: its output is the error. */
static int
archive_cmd_unzip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s]", "unzip"), *excludes = sources_listed(value_get(args, "excludes"));
    bool secret = value_truthy(value_get(args, "password"));
    AUTO_FREE char *password = value_pystr(value_get(args, "password"));

    if (tool_need("unzip", err) < 0)
        return err->code;
    if (secret) {
        json_array_append_new(line, json_string("-P"));
        json_array_append_new(line, json_string(password));
    }
    /* The user's own options, split as a shell does. */
    char **words = prog_split(value_str(args, "options", ""), err);
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(line, json_string(words[i]));
    strv_free(words);
    if (words == NULL || add_file(line, args, "zip_file", err) < 0)
        return err->code;
    json_array_append_new(line, json_string("-d"));
    if (add_file(line, args, "dest", err) < 0 || prog_check_operands("excludes", excludes, err) < 0)
        return err->code;
    if (json_array_size(excludes) > 0)
        json_array_append_new(line, json_string("-x"));
    json_array_extend(line, excludes);
    /* With a password the log tells nothing of the line, which holds it: unzip has no other way to take
     * one. */
    json_auto_t *ran = archive_ran(ctx, args, line, secret, err);
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ran, "stdout", ""));
    json_auto_t *files = lines_of(ran);
    *ret_value = archive_trimmed(files, value_get(args, "trim_output"));
    return 0;
}

/* "-idp" turns percentages off. Either of the two programs will do. */
static int
archive_unrar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *unrar = fs_which("unrar"), *rar = fs_which("rar");
    const char *program = unrar != NULL ? unrar : rar;
    json_auto_t *excludes = sources_listed(value_get(args, "excludes"));
    json_t *exclude;
    size_t i;

    if (program == NULL)
        return fail_kind(err, FAIL_PROGRAM, -ENOENT,
                         "None of provided binaries (('unrar', 'rar')) were found in $PATH.");
    json_auto_t *line = json_pack("[s, s, s]", program, "x", "-idp");
    if (add_file(line, args, "rarfile", err) < 0 || prog_check_operands("excludes", excludes, err) < 0)
        return err->code;
    json_array_foreach (excludes, i, exclude) {
        json_array_append_new(line, json_string("-x"));
        json_array_append(line, exclude);
    }
    if (add_file(line, args, "dest", err) < 0)
        return err->code;
    json_auto_t *ran = archive_ran(ctx, args, line, false, err);
    if (ran == NULL)
        return err->code;
    json_auto_t *files = lines_of(ran);
    *ret_value = archive_trimmed(files, value_get(args, "trim_output"));
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define RUN_ROWS                                                                                             \
    ARG("template", ARG_STR, "null", "Render the command line with this engine first: jinja"),               \
        ARG("runas", ARG_STR, "null", "User to run as")
#define CWD_ROW  ARG("cwd", ARG_STR, "null", "Folder to run in")
#define FILES    "Files and folders: a list, or a text with commas; globs are expanded"
#define EXCLUDES ARG("excludes", ARG_ANY, "null", "Members to leave out: a list, or a text with commas")
#define TRIM_ROW                                                                                             \
    ARG("trim_output", ARG_ANY, "false", "Return the first lines only: True for 100, or a number")

static const arg_t tar_args[] = {
    ARG("options", ARG_STR, ARG_REQUIRED, "Options of tar: xvf"),
    ARG("tarfile", ARG_STR, ARG_REQUIRED, "Path of the archive"),
    ARG("sources", ARG_ANY, "null", FILES),
    ARG("dest", ARG_STR, "null", "Folder to go to before it starts: -C"),
    CWD_ROW,
    RUN_ROWS,
    ARGS_END,
};
static const arg_t gzip_args[] = {
    ARG("sourcefile", ARG_STR, ARG_REQUIRED, "Path of the file"),
    RUN_ROWS,
    ARG("options", ARG_STR, "null", "Options of gzip, as one word"),
    ARGS_END,
};
static const arg_t gunzip_args[] = {
    ARG("gzipfile", ARG_STR, ARG_REQUIRED, "Path of the file"),
    RUN_ROWS,
    ARG("options", ARG_STR, "null", "Options of gunzip, as one word"),
    ARGS_END,
};
static const arg_t cmd_zip_args[] = {
    ARG("zip_file", ARG_STR, ARG_REQUIRED, "Path of the archive"),
    ARG("sources", ARG_ANY, ARG_REQUIRED, FILES),
    ARG("template", ARG_STR, "null", "Render the command line with this engine first: jinja"),
    CWD_ROW,
    ARG("runas", ARG_STR, "null", "User to run as"),
    ARGS_END,
};
static const arg_t rar_args[] = {
    ARG("rarfile", ARG_STR, ARG_REQUIRED, "Path of the archive"),
    ARG("sources", ARG_ANY, ARG_REQUIRED, FILES),
    ARG("template", ARG_STR, "null", "Render the command line with this engine first: jinja"),
    CWD_ROW,
    ARG("runas", ARG_STR, "null", "User to run as"),
    ARGS_END,
};
static const arg_t cmd_unzip_args[] = {
    ARG("zip_file", ARG_STR, ARG_REQUIRED, "Path of the archive"),
    ARG("dest", ARG_STR, ARG_REQUIRED, "Folder to unpack to"),
    EXCLUDES,
    ARG("options", ARG_STR, "null", "Options of unzip: -o"),
    RUN_ROWS,
    TRIM_ROW,
    ARG("password", ARG_ANY, "null", "Of an encrypted archive; archive.unzip shows it to no process list"),
    ARGS_END,
};
static const arg_t unrar_args[] = {
    ARG("rarfile", ARG_STR, ARG_REQUIRED, "Path of the archive"),
    ARG("dest", ARG_STR, ARG_REQUIRED, "Folder to unpack to"),
    EXCLUDES,
    RUN_ROWS,
    TRIM_ROW,
    ARGS_END,
};

static const func_t funcs[] = {
    { "cmd_unzip", archive_cmd_unzip, cmd_unzip_args, 0,
      "Unpack a zip archive by the program unzip." CLI_EXAMPLE(
          "salt '*' archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2") },
    { "cmd_zip", archive_pack, cmd_zip_args, 0,
      "Make a zip archive by the program zip." CLI_EXAMPLE(
          "salt '*' archive.cmd_zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2"),
      .data.text = "zip -r" },
    { "gunzip", archive_gzip, gunzip_args, 0,
      "Unpack a gzip file." CLI_EXAMPLE("salt '*' archive.gunzip /tmp/sourcefile.txt.gz options='--keep'"),
      .data.text = "gunzip" },
    { "gzip", archive_gzip, gzip_args, 0,
      "Pack a file by gzip." CLI_EXAMPLE("salt '*' archive.gzip /tmp/sourcefile.txt options='--keep'"),
      .data.text = "gzip" },
    { "rar", archive_pack, rar_args, 0,
      "Make a rar archive." CLI_EXAMPLE(
          "salt '*' archive.rar /tmp/rarfile.rar /tmp/sourcefile1,/tmp/sourcefile2"),
      .data.text = "rar a -idp" },
    { "tar", archive_tar, tar_args, 0,
      "Run tar." CLI_EXAMPLE("salt '*' archive.tar cjvf /tmp/tarfile.tar.bz2 /tmp/file_1,/tmp/file_2") },
    { "unrar", archive_unrar, unrar_args, 0,
      "Unpack a rar archive." CLI_EXAMPLE(
          "salt '*' archive.unrar /tmp/rarfile.rar /home/strongbad/ excludes=file_1,file_2") },
};

PLUGIN(exec, archive, .doc = "Archives and compressed files", FUNCS(funcs));
