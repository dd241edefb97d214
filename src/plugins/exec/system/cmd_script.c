/* cmd_script.c - more of execution module `cmd`: scripts, snippets of code, and which programs and shells
 * there are. Scripts and snippets become private temporary files that cmd.run_all executes, with all of its
 * arguments, and that are removed afterwards. */
#include "salt/plugin.h"

#include <fcntl.h>
#include <pwd.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/host/prog.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/cmdrows.h"
#include "plugins/lib/file/source.h"

/* Bytes: of a script, of /etc/shells, of an account's line; milliseconds that a shell may take to tell its
 * version. */
enum {
    SCRIPT_LIMIT = 64 * 1024 * 1024,
    SHELLS_LIMIT = 64 * 1024,
    SHELL_INFO_MS = 10000,
    USER_TEXT = 16 * 1024
};

/* ---- programs ----------------------------------------------------------------------------- */

/* NEW path or NULL. The system's own folders are searched even when PATH lacks them: services are often
 * started with a short one. */
static char *
which(const char *name)
{
    const char *path = getenv("PATH");
    AUTO_FREE char *wide = xasprintf("%s%s/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin",
                                     path != NULL ? path : "", str_empty(path) ? "" : ":");

    return *name != '\0' ? fs_which_on(wide, name) : NULL;
}

/* A path as an answer: None for NULL. NEW. */
static json_t *
path_or_none(const char *path)
{
    return path != NULL ? json_string(path) : json_null();
}

static int
cmd_which(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = which(value_str(args, "cmd", ""));

    *ret_value = path_or_none(path);
    return 0;
}

static int
cmd_has_exec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = which(value_str(args, "cmd", ""));

    *ret_value = json_boolean(path != NULL);
    return 0;
}

/* The path of the first of the programs that is there; None when none is. */
static int
cmd_which_bin(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *found = NULL;
    size_t i;
    json_t *name;

    json_array_foreach (value_get(args, "cmds"), i, name) {
        if (found == NULL && json_is_string(name))
            found = which(json_string_value(name));
    }
    *ret_value = path_or_none(found);
    return 0;
}

/* The lines of /etc/shells without comments (shells(5)); the file need not name shells that are
 * installed. */
static int
cmd_shells(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_t *list = json_array();

    /* A host without the file has no shells to name. */
    (void) fs_read("/etc/shells", SHELLS_LIMIT, &text, NULL);
    char **lines = str_split(buf_str(&text), "\n", true);
    for (char **p = lines; *p != NULL; p++) {
        const char *line = str_trim(*p);
        if (*line != '\0' && *line != '#')
            json_array_append_new(list, json_string(line));
    }
    strv_free(lines);
    *ret_value = list;
    return 0;
}

/* ---- versions of shells ------------------------------------------------------------------- */

/* Shells with the command that prints their version and the expression that finds it. */
static const struct shell_row {
    const char *name, *pattern;
    const char *argv[4];
} shell_rows[] = {
    { "bash", "version ([0-9][^[:space:]]*)", { "bash", "--version" } },
    { "zsh", "^zsh ([0-9][^[:space:]]*)", { "zsh", "--version" } },
    { "tcsh", "^tcsh ([0-9][^[:space:]]*)", { "tcsh", "--version" } },
    { "perl", "^([0-9][^[:space:]]*)", { "perl", "-e", "printf \"%vd\\n\", $^V;" } },
    { "python", "^Python ([0-9][^[:space:]]*)", { "python", "-V" } },
    { "ruby", "^ruby ([0-9][^[:space:]]*)", { "ruby", "-v" } },
    { "php", "^PHP ([0-9][^[:space:]]*)", { "php", "-v" } },
};

/* The first group of the pattern in `text`, which may have several lines. NEW, or NULL. Patterns are those
 * of the table, so a wrong one is a fault of this file. */
static char *
first_group(const char *pattern, const char *text)
{
    regex_t re;
    regmatch_t at[2];
    char *found = NULL;

    salt_assert(regcomp(&re, pattern, REG_EXTENDED | REG_ICASE | REG_NEWLINE) == 0);
    if (regexec(&re, text, 2, at, 0) == 0)
        found = xstrndup(text + at[1].rm_so, (size_t) (at[1].rm_eo - at[1].rm_so));
    regfree(&re);
    return found;
}

/* "5.2.15(1)-release" to "5.2.15": at most three numbers, at least two, so that "5" becomes "5.0". NEW. */
static char *
short_version(const char *raw)
{
    size_t len = strspn(raw, "0123456789."), dots = 0, keep = 0;

    for (; keep < len && (raw[keep] != '.' || ++dots < 3); keep++)
        ;
    AUTO_FREE char *version = xstrndup(raw, keep);
    return strchr(version, '.') != NULL ? STEAL(version) : xasprintf("%s.0", version);
}

/* Runs the shell's version command. NEW. `installed` is None when a program is there and its version can't
 * be read: Salt's answers, in all three cases. */
static json_t *
shell_details(const struct shell_row *row)
{
    prog_auto_t cmd = PROG_INIT;
    fail_auto_t why = FAIL_INIT;

    for (size_t i = 0; row->argv[i] != NULL; i++)
        prog_add(&cmd, row->argv[i]);
    /* Some print their version as an error. */
    cmd.merge_stderr = true;
    cmd.timeout_ms = SHELL_INFO_MS;
    AUTO_FREE char *out = prog_stdout(&cmd, NULL, &why);
    if (out == NULL)
        return json_pack("{s:o, s:b}", "error",
                         value_fmt("Unable to run command '%s' Reason: %s", row->argv[0], fail_text(&why)),
                         "installed", 0);
    /* Behind the run, as the answer of a shell that is not there has no path. */
    AUTO_FREE char *path = which(row->argv[0]);
    AUTO_FREE char *raw = first_group(row->pattern, out);
    if (raw == NULL)
        return json_pack(
            "{s:n, s:o, s:o, s:o}", "installed", "path", path_or_none(path), "error",
            value_fmt("The version regex pattern for shell %s, could not find the version string", row->name),
            "stdout", value_utf8(out, strlen(out)));
    AUTO_FREE char *version = short_version(raw);
    return json_pack("{s:b, s:o, s:s, s:s}", "installed", 1, "path", path_or_none(path), "version_raw", raw,
                     "version", version);
}

/* A shell without a row is an answer with an error's text, not an error. */
static int
cmd_shell_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *shell = value_str(args, "shell", "");

    for (size_t i = 0; i < NELEMS(shell_rows); i++) {
        if (strcmp(shell_rows[i].name, shell) == 0) {
            *ret_value = shell_details(&shell_rows[i]);
            return 0;
        }
    }
    *ret_value = json_pack("{s:o, s:n}", "error",
                           value_fmt("Salt does not know how to get the version number for %s", shell),
                           "installed");
    return 0;
}

/* ---- a temporary file that is run --------------------------------------------------------- */

/* Writes the bytes into a new file in `dir`, which the user who runs it owns. NEW path, or NULL with *err.
 * The mode is set before the owner: a file of another user's may not be changed without root's rights. */
static char *
temp_program(const char *dir, const char *suffix, const buf_t *bytes, mode_t mode, const char *runas,
             fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/__salt.tmp.XXXXXX%s", dir, suffix);
    AUTO_FREE char *text = xcalloc(1, USER_TEXT);
    struct passwd pw, *user = NULL;
    AUTO_FD fd = mkostemps(path, (int) strlen(suffix), O_CLOEXEC);

    if (fd < 0) {
        fail_kind(err, FAIL_COMMAND, -errno, "cannot make a file in '%s': %s", dir, strerror(errno));
        return NULL;
    }
    int rc = fs_write_all(fd, buf_str(bytes), bytes->len);
    if (rc == 0 && fchmod(fd, mode) != 0)
        rc = -errno;
    /* A user who is not there is reported by cmd.run_all; the group stays, as in Salt. */
    if (rc == 0 && runas != NULL && getpwnam_r(runas, &pw, text, USER_TEXT, &user) == 0 && user != NULL &&
        fchown(fd, pw.pw_uid, (gid_t) -1) != 0)
        rc = -errno;
    if (rc < 0) {
        unlink(path);
        fail_kind(err, FAIL_COMMAND, rc, "cannot write '%s': %s", path, strerror(-rc));
        return NULL;
    }
    return STEAL(path);
}

/* Arguments that go on to cmd.run_all as they are, those of its own ("ours") and the collected keywords
 * apart, which are laid over them. NEW. */
static json_t *
cmd_script_passed_on(json_t *args, const char *const *ours, size_t n)
{
    json_t *kwargs = json_object(), *v;
    const char *key;

    json_object_foreach (args, key, v) {
        bool own = strcmp(key, "kwargs") == 0;
        for (size_t i = 0; i < n; i++)
            own = own || strcmp(key, ours[i]) == 0;
        if (!own)
            json_object_set(kwargs, key, v);
    }
    json_object_update(kwargs, value_get(args, "kwargs"));
    return kwargs;
}

/* ---- exec_code ---------------------------------------------------------------------------- */

/* Writes the code to a file that the interpreter gets as its first argument. It need not be executable, as
 * the interpreter reads it; no shell sees the arguments. */
static int
cmd_exec_code_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const ours[] = { "lang", "code", "args" };
    buf_auto_t code = BUF_INIT;
    json_t *extra = value_get(args, "args");

    buf_puts(&code, value_str(args, "code", ""));
    AUTO_FREE char *path = temp_program(fs_temp_dir(), "", &code, 0600,
                                        value_str(value_get(args, "kwargs"), "runas", NULL), err);
    if (path == NULL)
        return -EIO;
    json_auto_t *kwargs = cmd_script_passed_on(args, ours, NELEMS(ours));
    json_auto_t *call = json_pack("[[s, s]]", value_str(args, "lang", ""), path);
    json_t *cmd = json_array_get(call, 0);
    /* A text is one argument, blanks or not. */
    if (json_is_array(extra))
        json_array_extend(cmd, extra);
    else if (json_is_string(extra))
        json_array_append(cmd, extra);
    json_object_set_new(kwargs, "python_shell", json_false());
    int rc = ctx_call(ctx, "cmd.run_all", call, kwargs, ret_value, err);
    unlink(path);
    return rc;
}

/* The output of the code alone, without what it prints as errors. */
static int
cmd_exec_code(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *all = NULL;
    int rc = cmd_exec_code_all(ctx, args, &all, err);

    if (rc == 0)
        *ret_value = json_incref(value_get(all, "stdout"));
    json_decref(all);
    return rc;
}

/* ---- script ------------------------------------------------------------------------------- */

/* The local file behind a path or URL. 0 and NEW path, or NULL when the file server has no such file;
 * negative with *err. An absolute path is a file of the minion, and is not copied. */
static int
local_source(call_ctx_t *ctx, const char *source, json_t *saltenv, char **ret_path, fail_t *err)
{
    json_auto_t *found = NULL;

    *ret_path = NULL;
    if (str_starts(source, "file://"))
        source += strlen("file://");
    if (*source == '/') {
        int there = fs_look(source, err);
        *ret_path = there > 0 ? xstrdup(source) : NULL;
        return there < 0 ? there : 0;
    }
    /* A minion without a file server, salt-call --local with other roots: named, so that the user knows the
     * way out. */
    if (!ctx_has(ctx, "cp.cache_file"))
        return fail_kind(
            err, FAIL_COMMAND, -ENOTSUP,
            "'%s' can't be fetched: cp.cache_file is not available here; use the absolute path of a "
            "local file",
            source);
    json_auto_t *args = json_pack("[s]", source);
    if (json_is_string(saltenv))
        json_array_append(args, saltenv);
    int rc = ctx_call(ctx, "cp.cache_file", args, NULL, &found, err);
    if (rc == 0 && json_is_string(found) && json_string_length(found) > 0)
        *ret_path = xstrdup(json_string_value(found));
    return rc;
}

/* ".py" of "salt://a/b.py?saltenv=dev": some interpreters look at the suffix. A leading dot is a part of
 * the name. NEW. */
static char *
suffix_of(const char *source)
{
    size_t len = strcspn(source, "?");

    for (size_t i = len; i-- > 0 && source[i] != '/';) {
        if (source[i] == '.' && i > 0 && source[i - 1] != '/')
            return xstrndup(source + i, len - i);
    }
    return xstrdup("");
}

/* With `template` the script is one: `text` becomes what that gives. 0, or negative with *err. */
static int
render_script(call_ctx_t *ctx, json_t *args, const char *local, buf_t *text, fail_t *err)
{
    const char *template = value_str(args, "template", NULL);
    json_t *context = value_get(value_get(args, "kwargs"), "context");
    buf_auto_t out = BUF_INIT;

    if (str_empty(template))
        return 0;
    json_auto_t *call = json_pack("{s:s, s:O, s:s, s:O?}", "template", template, "source",
                                  value_get(args, "source"), "saltenv", value_str(args, "saltenv", "base"),
                                  "context", context);
    int rc = template_render(ctx, call, local, NULL, 0, &out, err);
    if (rc < 0)
        return rc;
    buf_clear(text);
    buf_add(text, buf_str(&out), out.len);
    return 0;
}

/* The arguments behind the script's name: a text as it is, which the shell splits, each word of a list in
 * quotes. NEW. */
static char *
script_words(const json_t *extra)
{
    buf_auto_t line = BUF_INIT;
    json_t *word;
    size_t i;

    if (!json_is_array(extra))
        return value_truthy(extra) ? value_pystr(extra) : xstrdup("");
    json_array_foreach (extra, i, word) {
        AUTO_FREE char *text = value_pystr(word), *quoted = str_shell_quote(text);
        buf_printf(&line, "%s%s", i > 0 ? " " : "", quoted);
    }
    return buf_steal(&line);
}

/* Without a file the answer is that of a failed command, with cache_error, and no error. */
static int
cmd_script(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *template = value_str(args, "template", NULL);
    AUTO_FREE char *local = NULL;

    /* An engine that is missing is found before the file is fetched. */
    if (!str_empty(template) && !template_known(template))
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                         "the script can't be rendered: template engine %s is not available", template);
    int rc = local_source(ctx, value_str(args, "source", ""), value_get(args, "saltenv"), &local, err);
    if (rc < 0)
        return rc;
    if (local != NULL) {
        /* Writes the rendered script to a private file and runs it. A script in the background is not
         * removed, as it may still be read. */
        static const char *const ours[] = { "source", "args", "template" };
        bool bg = value_bool(args, "bg", false) || value_truthy(value_get(value_get(args, "kwargs"), "bg"));
        const char *cwd = value_str(args, "cwd", NULL);
        AUTO_FREE char *suffix = suffix_of(value_str(args, "source", ""));
        buf_auto_t bytes = BUF_INIT;
        if (fs_read(local, SCRIPT_LIMIT, &bytes, err) < 0) {
            err->kind = FAIL_COMMAND;
            return err->code;
        }
        if (render_script(ctx, args, local, &bytes, err) < 0)
            return err->code;
        /* The copy lies in the folder to run in, as in Salt: a temporary folder may forbid programs
         * (noexec). */
        AUTO_FREE char *path = temp_program(cwd != NULL ? cwd : fs_temp_dir(), suffix, &bytes, 0500,
                                            value_str(args, "runas", NULL), err);
        if (path == NULL)
            return -EIO;
        json_auto_t *kwargs = cmd_script_passed_on(args, ours, NELEMS(ours));

        /* The command line for the copied script. With `bg` nobody else could remove the copy. */
        AUTO_FREE char *quoted = str_shell_quote(path);
        json_t *extra = value_get(args, "args");
        AUTO_FREE char *words = script_words(extra);
        AUTO_FREE char *line = xasprintf("%s%s%s", quoted, *words != '\0' ? " " : "", words);
        json_auto_t *call = bg ? json_pack("[o]", value_fmt("%s; rm -f %s", line, quoted))
                               : json_pack("[s]", line);

        json_object_del(kwargs, "__env__");
        json_object_del(kwargs, "context");
        if (bg)
            json_object_set_new(kwargs, "python_shell", json_true());
        rc = ctx_call(ctx, "cmd.run_all", call, kwargs, ret_value, err);
        /* In the background the shell removes the copy, when the script has ended. */
        if (!bg || rc < 0)
            unlink(path);
        return rc;
    }
    *ret_value = json_pack("{s:i, s:i, s:s, s:s, s:b}", "pid", 0, "retcode", 1, "stdout", "", "stderr", "",
                           "cache_error", 1);
    return 0;
}

/* The exit code of cmd.script alone; the script is a Jinja template by default, which the row says. */
static int
cmd_script_retcode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *all = NULL;
    int rc = cmd_script(ctx, args, &all, err);

    if (rc == 0)
        *ret_value = json_incref(value_get(all, "retcode"));
    json_decref(all);
    return rc;
}

/* ---- tty ---------------------------------------------------------------------------------- */

/* A terminal is "ttyNAME", "ptsN" or "pts/N" below /dev; no dots, so that no other file is written. Answers
 * are Salt's {Success: ...} or {Error: ...}. O_NOCTTY: the minion gets no terminal by it. */
static int
cmd_tty(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", ""), *echo = value_str(args, "echo", "");
    AUTO_FREE char *path = NULL;

    if (str_starts(device, "tty"))
        path = xasprintf("/dev/%s", device);
    else if (str_starts(device, "pts"))
        path = str_starts(device, "pts/") ? xasprintf("/dev/%s", device)
                                          : xasprintf("/dev/pts/%s", device + 3);
    if (path == NULL || strstr(path, "..") != NULL) {
        *ret_value = json_pack("{s:s}", "Error", "The specified device is not a valid TTY");
        return 0;
    }
    AUTO_FD fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fs_write_all(fd, echo, strlen(echo)) == 0)
        *ret_value = json_pack("{s:o}", "Success", value_fmt("Message was successfully echoed to %s", path));
    else
        *ret_value = json_pack("{s:o}", "Error", value_fmt("Echoing to %s returned error", path));
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t program_args[] = {
    ARG("cmd", ARG_STR, ARG_REQUIRED, "Name of a program"),
    ARGS_END,
};
static const arg_t which_bin_args[] = {
    ARG("cmds", ARG_LIST, ARG_REQUIRED, "Names of programs; the first that exists counts"),
    ARGS_END,
};
static const arg_t shell_info_args[] = {
    ARG("shell", ARG_STR, ARG_REQUIRED, "bash, zsh, tcsh, perl, python, ruby or php"),
    ARG("list_modules", ARG_BOOL, "false", "Windows only"),
    ARGS_END,
};
static const arg_t exec_args[] = {
    ARG("lang", ARG_STR, ARG_REQUIRED, "The interpreter, such as python3"),
    ARG("code", ARG_STR, ARG_REQUIRED, "The program's text"),
    ARG("cwd", ARG_ANY, "null", "Folder to run in"),
    ARG("args", ARG_ANY, "null", "Arguments: a list, or a text for one"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "As for cmd.run_all",
        CMD_WORDS
        " runas group env clean_env template rstrip output_encoding output_loglevel "
        "log_callback hide_output timeout reset_system_locale ignore_retcode success_retcodes success_stdout "
        "success_stderr"),
    ARGS_END,
};
static const arg_t tty_args[] = {
    ARG("device", ARG_STR, ARG_REQUIRED, "A terminal, such as tty0 or pts3"),
    ARG("echo", ARG_STR, "\"\"", "What to write to it"),
    ARGS_END,
};

#define SCRIPT_WHO                                                                                           \
    ARG("source", ARG_STR, ARG_REQUIRED, "Path or URL of the script"),                                       \
        ARG("args", ARG_ANY, "null", "Text after the script's name, or a list of its words"),                \
        ARG("cwd", ARG_STR, "null", "Folder to run in; the script is copied there"),                         \
        ARG("stdin", ARG_ANY, "null", "Text for standard input"),                                            \
        ARG("runas", ARG_STR, "null", "User to run as"), ARG("group", ARG_STR, "null", "Group to run as"),   \
        ARG("shell", ARG_STR, "null", "Shell; by default $SHELL, or /bin/sh"),                               \
        ARG("python_shell", ARG_BOOL, "null", "True: by the shell; by default for calls from outside"),      \
        ARG("env", ARG_ANY, "null", "Environment: a dictionary, or a list of them")
#define SCRIPT_LOG                                                                                           \
    ARG("output_encoding", ARG_STR, "null", "Encoding of the output; by default UTF-8"),                     \
        ARG("output_loglevel", ARG_STR, "\"debug\"", "Log level of the output; quiet: never"),               \
        ARG("log_callback", ARG_ANY, "null", "Accepted for Salt's sake; functions can't be passed")
#define SCRIPT_SUCCESS                                                                                       \
    ARG("password", ARG_STR, "null", "Windows only"),                                                        \
        ARG("success_retcodes", ARG_ANY, "null", "Exit codes that count as 0"),                              \
        ARG("success_stdout", ARG_ANY, "null", "Texts in stdout that mean success"),                         \
        ARG("success_stderr", ARG_ANY, "null", "Texts in stderr that mean success"),                         \
        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further arguments of cmd.run_all",                             \
            CMD_WORDS " clean_env rstrip reset_system_locale ignore_retcode")

static const arg_t script_args[] = {
    SCRIPT_WHO,
    ARG("template", ARG_STR, "null", "Template engine for the script"),
    ARG("umask", ARG_ANY, "null", "umask in octal"),
    SCRIPT_LOG,
    ARG("hide_output", ARG_BOOL, "false", "Return no output"),
    ARG("timeout", ARG_ANY, "null", "Seconds until the script and its children are killed"),
    ARG("reset_system_locale", ARG_BOOL, "true", "Set the locale C"),
    ARG("saltenv", ARG_STR, "null", "Environment of the file server"),
    ARG("use_vt", ARG_BOOL, "false", "Accepted for Salt's sake; output is collected either way"),
    ARG("bg", ARG_BOOL, "false", "Start it and return at once"),
    SCRIPT_SUCCESS,
    ARGS_END,
};
static const arg_t script_retcode_args[] = {
    SCRIPT_WHO,
    ARG("template", ARG_STR, "\"jinja\"", "Template engine for the script"),
    ARG("umask", ARG_ANY, "null", "umask in octal"),
    ARG("timeout", ARG_ANY, "null", "Seconds until the script and its children are killed"),
    ARG("reset_system_locale", ARG_BOOL, "true", "Set the locale C"),
    ARG("saltenv", ARG_STR, "null", "Environment of the file server"),
    SCRIPT_LOG,
    ARG("use_vt", ARG_BOOL, "false", "Accepted for Salt's sake; output is collected either way"),
    SCRIPT_SUCCESS,
    ARGS_END,
};

static const func_t funcs[] = {
    { "exec_code", cmd_exec_code, exec_args, FN_RAW_KWARGS,
      "Run a piece of code with an interpreter and return what it prints to standard output." CLI_EXAMPLE(
          "salt '*' cmd.exec_code ruby 'puts \"cheese\"'\n    "
          "salt '*' cmd.exec_code python3 'import sys; print(sys.argv[1])' args='[arg1, arg2]'") },
    { "exec_code_all", cmd_exec_code_all, exec_args, FN_RAW_KWARGS,
      "Run a piece of code with an interpreter and return ``pid``, ``retcode``, ``stdout`` and "
      "``stderr``." CLI_EXAMPLE("salt '*' cmd.exec_code_all ruby 'puts \"cheese\"'") },
    { "has_exec", cmd_has_exec, program_args, FN_READONLY,
      "Whether a program is on PATH." CLI_EXAMPLE("salt '*' cmd.has_exec cat") },
    { "script", cmd_script, script_args, FN_RAW_KWARGS,
      "Copy a script to the minion, run it, and return ``pid``, ``retcode``, ``stdout`` and "
      "``stderr``.\n\nA URL such as ``salt://scripts/runme.sh`` is fetched from the file server; an "
      "absolute path is a file of the minion." CLI_EXAMPLE(
          "salt '*' cmd.script salt://scripts/runme.sh\n    "
          "salt '*' cmd.script salt://scripts/runme.sh 'arg1 arg2 \"arg 3\"'") },
    { "script_retcode", cmd_script_retcode, script_retcode_args, FN_RAW_KWARGS,
      "Run a script as cmd.script does and return its exit code." CLI_EXAMPLE(
          "salt '*' cmd.script_retcode salt://scripts/runme.sh") },
    { "shell_info", cmd_shell_info, shell_info_args, FN_READONLY,
      "Return the version and path of a shell or an interpreter." CLI_EXAMPLE(
          "salt '*' cmd.shell_info bash") },
    { "shells", cmd_shells, NULL, FN_READONLY,
      "List the valid shells of this host, as /etc/shells has them." CLI_EXAMPLE("salt '*' cmd.shells") },
    { "tty", cmd_tty, tty_args, 0,
      "Write a text to a terminal." CLI_EXAMPLE("salt '*' cmd.tty tty0 'This is a test'\n    "
                                                "salt '*' cmd.tty pts3 'This is a test'") },
    { "which", cmd_which, program_args, FN_READONLY,
      "Return the path of a program, or None." CLI_EXAMPLE("salt '*' cmd.which cat") },
    { "which_bin", cmd_which_bin, which_bin_args, FN_READONLY,
      "Return the path of the first of several programs that exists, or None." CLI_EXAMPLE(
          "salt '*' cmd.which_bin '[pip2, pip, pip-python]'") },
};

PLUGIN(exec, cmd_script, .provides = "cmd", .doc = "Scripts, code, programs and shells", FUNCS(funcs));
