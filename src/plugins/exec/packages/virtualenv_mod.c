/* virtualenv_mod.c - execution module `virtualenv`: environments of Python. Where there is no virtualenv and
 * none is named, python3's own venv makes them. The result is cmd.run_all's, whose failure is data. Salt
 * fetches setuptools and pip by scripts from the net; Python has brought them along for long, and nothing is
 * fetched here. */
#include <ctype.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/call/subcall.h"

enum { VENV_TIMEOUT_S = 1800 };

/* A call in work. `line` begins with the program and grows to the whole command. */
typedef struct venv {
    call_ctx_t *ctx;
    const json_t *args;
    json_t *line; /* owned: the command line */
    char *shown;  /* owned: the program as the user wrote it */
    bool own;     /* Python's own venv: pyvenv, python3 -m venv */
} venv_t;

/* As the user of the call, to whom the environment belongs then. */
static json_t *
venv_run(venv_t *v, const json_t *line, fail_t *err)
{
    return sub_call(v->ctx, err, "cmd.run_all", "{s:O, s:O, s:b, s:i}", "cmd", line, "runas",
                    value_get(v->args, "user"), "python_shell", 0, "timeout", VENV_TIMEOUT_S);
}

/* venv_bin: the call's, the option's, the pillar's, a virtualenv on PATH, or python3's own. A text with
 * several words ("python3.11 -m venv") is taken apart as a shell does. */
static int
venv_program(venv_t *v, fail_t *err)
{
    static const char *const known[] = { "virtualenv3", "virtualenv" };
    const char *given = value_str(v->args, "venv_bin", value_str(ctx_opts(v->ctx), "venv_bin", NULL));
    AUTO_FREE char *found = NULL;

    given = given != NULL ? given : value_str(ctx_pillar(v->ctx), "venv_bin", NULL);
    for (size_t i = 0; given == NULL && found == NULL && i < NELEMS(known); i++)
        found = fs_which(known[i]);
    v->shown = xstrdup(given != NULL ? given : found != NULL ? found : "python3 -m venv");
    char **words = prog_split(v->shown, err);
    v->line = json_array();
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(v->line, json_string(words[i]));
    /* The options differ between the two. */
    v->own = strstr(v->shown, "pyvenv") != NULL || str_ends(v->shown, "-m venv");
    strv_free(words);
    return words != NULL ? 0 : err->code;
}

/* NULL for a text of blanks, as Salt tests it. */
static const char *
text_of(const venv_t *v, const char *key)
{
    const char *text = value_str(v->args, key, "");

    return text[strspn(text, " \t\n")] != '\0' ? text : NULL;
}

/* Options that the program does not have. False counts as given, None does not: who says `upgrade: False`
 * expects the program to have it. */
static int
venv_refuse(const venv_t *v, fail_t *err)
{
    static const char *const of_virtualenv[] = { "python", "extra_search_dir", "never_download" };
    static const char *const of_venv[] = { "upgrade", "symlinks" };
    const char *const *list = v->own ? of_virtualenv : of_venv;
    size_t n = v->own ? NELEMS(of_virtualenv) : NELEMS(of_venv);

    for (size_t i = 0; i < n; i++) {
        json_t *given = value_get(v->args, list[i]);
        AUTO_FREE char *option = str_replace(list[i], "_", "-");
        if (given == NULL || json_is_null(given) || (json_is_string(given) && text_of(v, list[i]) == NULL))
            continue;
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "The `%s`(`--%s`) option is not supported by '%s'",
                         list[i], option, v->shown);
    }
    return 0;
}

/* TAKES the word. */
static void
venv_add(venv_t *v, json_t *word)
{
    json_array_append_new(v->line, word);
}

/* Values stand behind "=" in one word, so that none is an option of its own. */
static int
venv_options(venv_t *v, fail_t *err)
{
    static const char *const flags[][2] = { { "never_download", "--never-download" },
                                            { "upgrade", "--upgrade" },
                                            { "symlinks", "--symlinks" },
                                            { "clear", "--clear" },
                                            { "system_site_packages", "--system-site-packages" } };
    const char *python = text_of(v, "python"), *prompt = text_of(v, "prompt");
    AUTO_FREE char *path = python != NULL ? fs_which(python) : NULL;
    json_t *dirs = value_get(v->args, "extra_search_dir"), *dir;
    size_t i;

    if (python != NULL && path == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Cannot find requested python (%s).", python);
    if (python != NULL)
        venv_add(v, value_fmt("--python=%s", python));
    json_array_foreach (dirs, i, dir)
        venv_add(v, value_fmt("--extra-search-dir=%s", json_string_value(dir)));
    /* A list, or a text with commas. */
    char **parts = str_split(json_is_string(dirs) ? json_string_value(dirs) : "", ",", true);
    for (i = 0; parts[i] != NULL; i++)
        venv_add(v, value_fmt("--extra-search-dir=%s", str_trim(parts[i])));
    strv_free(parts);
    if (prompt != NULL)
        venv_add(v, value_fmt("--prompt=%s", prompt));
    for (i = 0; i < NELEMS(flags); i++) {
        if (json_is_true(value_get(v->args, flags[i][0])))
            venv_add(v, json_string(flags[i][1]));
    }
    return 0;
}

/* Steps in order, of which the first failure ends the rest: the program, options that it has, its words, the
 * run. */
static int
virtualenv_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    venv_t v = { .ctx = ctx, .args = args };
    const char *path = value_str(args, "path", "");
    int rc = prog_check_operand("path", path, err);

    rc = rc == 0 ? venv_program(&v, err) : rc;
    rc = rc == 0 ? venv_refuse(&v, err) : rc;
    rc = rc == 0 ? venv_options(&v, err) : rc;
    if (rc == 0) {
        venv_add(&v, json_string(path));
        *ret_value = venv_run(&v, v.line, err);
        rc = *ret_value != NULL ? 0 : err->code;
    }
    AUTO_FREE char *pip = fs_join(path, "bin/pip"), *python = fs_join(path, "bin/python");
    if (rc == 0 && value_int(*ret_value, "retcode", 1) == 0 && value_truthy(value_get(args, "pip")) &&
        fs_absent(pip)) {
        /* Python brings pip itself, so that nothing is fetched. */
        json_auto_t *line = json_pack("[s, s, s]", python, "-m", "ensurepip");
        json_decref(STEAL(*ret_value));
        *ret_value = venv_run(&v, line, err);
        rc = *ret_value != NULL ? 0 : err->code;
    }
    json_decref(v.line);
    free(v.shown);
    return rc;
}

/* ---- what is in an environment ---------------------------------------------------------------- */

/* Runs the row's code with the arguments behind it as sys.argv, so that no value is code. The code runs in
 * that environment's python, and its output is the answer. */
static int
virtualenv_tell(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "distribution", "package", "resource" };
    const char *venv = value_str(args, "venv", "");
    AUTO_FREE char *python = fs_join(venv, "bin/python");
    json_auto_t *line = json_pack("[s, s, s]", python, "-c", ctx_row(ctx)->data.text);

    if (fs_absent(python))
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "Path '%s' does not appear to be a virtualenv: bin/python not found.", venv);
    for (size_t i = 0; i < NELEMS(names); i++) {
        if (value_get(args, names[i]) != NULL)
            json_array_append_new(line, json_string(value_str(args, names[i], "")));
    }
    json_auto_t *ran = sub_call(ctx, err, "cmd.run_all", "{s:O, s:b, s:i}", "cmd", line, "python_shell", 0,
                                "timeout", VENV_TIMEOUT_S);
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s\n%s", value_str(ran, "stdout", ""),
                         value_str(ran, "stderr", ""));
    *ret_value = json_incref(value_get(ran, "stdout"));
    return 0;
}

/* "virtualenv 20.17.1+ds from /usr/lib/..." as [20, 17, 1]. NEW; NULL: no number is in it. */
static json_t *
version_numbers(const char *said)
{
    char **words = str_split(said, " \n", true);
    json_t *numbers = json_array();

    for (size_t i = 0; words[i] != NULL; i++) {
        const char *p = words[i];
        if (!isdigit((unsigned char) *p) || json_array_size(numbers) > 0)
            continue;
        /* A suffix (rc1, +ds) ends the numbers. */
        while (isdigit((unsigned char) *p)) {
            char *end;
            json_array_append_new(numbers, json_integer(strtoll(p, &end, 10)));
            p = *end == '.' ? end + 1 : end;
        }
    }
    strv_free(words);
    if (json_array_size(numbers) == 0)
        json_decref(STEAL(numbers));
    return numbers;
}

/* Python's own virtualenv is asked first, whatever program is named, as in Salt; then that program. */
static int
virtualenv_ver(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    venv_t v = { .ctx = ctx, .args = args };
    json_auto_t *module = json_pack("[s, s, s]", "python3", "-c",
                                    "import virtualenv; print(virtualenv.__version__)");
    json_auto_t *program = json_pack("[s, s]", value_str(args, "venv_bin", ""), "--version");
    const json_t *const lines[] = { module, program };
    json_t *ran = NULL;

    for (size_t i = 0; *ret_value == NULL && i < NELEMS(lines); i++) {
        json_decref(ran);
        ran = venv_run(&v, lines[i], err);
        if (ran == NULL)
            return err->code;
        if (value_int(ran, "retcode", 1) == 0)
            *ret_value = version_numbers(value_str(ran, "stdout", ""));
    }
    AUTO_FREE char *line = value_joined(program, " ");
    int rc = *ret_value != NULL
                 ? 0
                 : fail_kind(err, FAIL_COMMAND, -ENOENT,
                             "Unable to get the virtualenv version output using '%s'. Returned data: %s%s",
                             line, value_str(ran, "stdout", ""), value_str(ran, "stderr", ""));
    json_decref(ran);
    return rc;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define VENV_ROW ARG("venv", ARG_STR, ARG_REQUIRED, "Folder of the environment")

static const arg_t create_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "Folder of the environment"),
    ARG("venv_bin", ARG_STR, "null", "The program: virtualenv, pyvenv, python3 -m venv"),
    ARG("system_site_packages", ARG_ANY, "false", "With the host's packages"),
    ARG("distribute", ARG_ANY, "false", "Accepted for Salt's sake, for virtualenv before 1.10"),
    ARG("clear", ARG_ANY, "false", "Remove what is in it first"),
    ARG("python", ARG_STR, "null", "The interpreter; only virtualenv has this"),
    ARG("extra_search_dir", ARG_ANY, "null", "Folders with wheels; only virtualenv has this"),
    ARG("never_download", ARG_ANY, "null", "Don't ask the network; only virtualenv has this"),
    ARG("prompt", ARG_STR, "null", "Prompt of its shell"),
    ARG("pip", ARG_ANY, "false", "With pip"),
    ARG("symlinks", ARG_ANY, "null", "Links rather than copies; only venv has this"),
    ARG("upgrade", ARG_ANY, "null", "Take over a newer Python; only venv has this"),
    ARG("user", ARG_STR, "null", "User to run as"),
    ARG("use_vt", ARG_ANY, "false", "Accepted for Salt's sake; output is collected either way"),
    ARG("saltenv", ARG_STR, "\"base\"", "Accepted for Salt's sake"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};
static const arg_t ver_args[] = {
    ARG("venv_bin", ARG_STR, ARG_REQUIRED, "The program that is asked where Python has no virtualenv"),
    ARG("user", ARG_STR, "null", "User to run as"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};
static const arg_t venv_args[] = { VENV_ROW, ARGS_END };
static const arg_t distribution_args[] = { VENV_ROW,
                                           ARG("distribution", ARG_STR, ARG_REQUIRED, "Name of the package"),
                                           ARGS_END };
static const arg_t resource_args[] = { VENV_ROW, ARG("package", ARG_STR, ARG_REQUIRED, "Name of the package"),
                                       ARG("resource", ARG_STR, ARG_REQUIRED, "Path of a file in it"),
                                       ARGS_END };

static const func_t funcs[] = {
    { "create", virtualenv_create, create_args, 0,
      "Make an environment." CLI_EXAMPLE("salt '*' virtualenv.create /path/to/new/virtualenv") },
    { "get_distribution_path", virtualenv_tell, distribution_args, FN_READONLY,
      "Return the folder that a package is in." CLI_EXAMPLE(
          "salt '*' virtualenv.get_distribution_path /path/to/my/venv my_distribution"),
      .data.text = "import sys, pkg_resources; print(pkg_resources.get_distribution(sys.argv[1]).location)" },
    { "get_resource_content", virtualenv_tell, resource_args, FN_READONLY,
      "Return the content of a package's file." CLI_EXAMPLE(
          "salt '*' virtualenv.get_resource_content /path/to/my/venv my_package my/resource.xml"),
      .data.text =
          "import sys, pkg_resources; print(pkg_resources.resource_string(sys.argv[1], sys.argv[2]))" },
    { "get_resource_path", virtualenv_tell, resource_args, FN_READONLY,
      "Return the path of a package's file." CLI_EXAMPLE(
          "salt '*' virtualenv.get_resource_path /path/to/my/venv my_package my/resource.xml"),
      .data.text =
          "import sys, pkg_resources; print(pkg_resources.resource_filename(sys.argv[1], sys.argv[2]))" },
    { "get_site_packages", virtualenv_tell, venv_args, FN_READONLY,
      "Return the folder of an environment's packages." CLI_EXAMPLE(
          "salt '*' virtualenv.get_site_packages /path/to/my/venv"),
      .data.text = "import sysconfig; print(sysconfig.get_path('purelib'))" },
    { "virtualenv_ver", virtualenv_ver, ver_args, FN_READONLY,
      "Return virtualenv's version as a list of numbers." CLI_EXAMPLE(
          "salt '*' virtualenv.virtualenv_ver virtualenv") },
};

PLUGIN(exec, virtualenv_mod, .provides = "virtualenv", .doc = "Environments of Python", FUNCS(funcs));
