/* alternatives.c - execution module `alternatives`: the links of /etc/alternatives, by
 * update-alternatives(1), or alternatives(8) of Red Hat. Links are read from the folder itself, as in Salt;
 * "auto", priorities and slaves are the program's affair. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "salt/plugin.h"

#define LINKS "/etc/alternatives"

/* ---- the program ------------------------------------------------------------------------------ */

/* Runs an option and the values of the arguments behind it; `names` end with NULL, one that the function
 * does not have is left out. NEW as cmd.run_all, or NULL with *err. */
static json_t *
exec_alternatives_run(call_ctx_t *ctx, const char *option, const json_t *args, const char *const *names,
                      fail_t *err)
{
    bool redhat = str_eq(value_str(ctx_grains(ctx), "os_family", ""), "RedHat");
    prog_auto_t prog = PROG_INIT;

    prog_add(&prog, redhat ? "alternatives" : "update-alternatives");
    prog_add(&prog, option);
    for (; *names != NULL; names++) {
        const json_t *value = value_get(args, *names);
        if (value != NULL && prog_operands(&prog, *names, value, err) < 0)
            return NULL;
    }
    json_t *out = prog_run_all(&prog, err);
    if (out == NULL && err->kind == FAIL_GENERIC)
        err->kind = FAIL_COMMAND;
    return out;
}

/* Runs the program and returns its output, or its errors when it failed: a text in both cases. */
static int
exec_alternatives_tell(call_ctx_t *ctx, const char *option, const json_t *args, const char *const *names,
                       json_t **ret_value, fail_t *err)
{
    json_auto_t *out = exec_alternatives_run(ctx, option, args, names, err);

    if (out == NULL)
        return err->code;
    bool failed = value_int(out, "retcode", 0) != 0 && *value_str(out, "stderr", "") != '\0';
    *ret_value = json_incref(value_get(out, failed ? "stderr" : "stdout"));
    return 0;
}

/* The path behind "Link:" in the first paragraph of `--query`. NEW text, or NULL. */
static char *
link_of(const char *text)
{
    char **lines = str_split(text, "\n", false);
    char *link = NULL;

    for (size_t i = 0; link == NULL && lines[i] != NULL && *lines[i] != '\0'; i++)
        link = str_starts(lines[i], "Link:") ? xstrdup(str_trim(lines[i] + strlen("Link:"))) : NULL;
    strv_free(lines);
    return link;
}

/* The target of the name's link in *ret_target. NEW, NULL where there is none; a name with a slash is none.
 * 0, or negative with *err. */
static int
exec_alternatives_current(const char *name, char **ret_target, fail_t *err)
{
    AUTO_FREE char *path = fs_join(LINKS, name);
    char target[4096];

    *ret_target = NULL;
    if (strchr(name, '/') != NULL)
        return 0;
    ssize_t n = readlink(path, target, sizeof(target));
    if (n < 0)
        return errno == EINVAL || fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "read the link", path);
    *ret_target = n < (ssize_t) sizeof(target) ? xstrndup(target, (size_t) n) : NULL;
    return 0;
}

/* ---- functions -------------------------------------------------------------------------------- */

#define NAME(args) value_str(args, "name", "")
#define PATH(args) value_str(args, "path", "")

static const char *const name_only[] = { "name", NULL };

/* auto, remove and set: the row has the option, and the arguments say how many words follow. */
static int
alternatives_tell(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "name", "path", NULL };

    return exec_alternatives_tell(ctx, ctx_row(ctx)->data.text, args, names, ret_value, err);
}

/* The link that the alternatives stand behind (/usr/bin/editor); False for a name without any. */
static int
alternatives_show_link(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = exec_alternatives_run(ctx, "--query", args, name_only, err);

    if (out == NULL)
        return err->code;
    AUTO_FREE char *link = value_int(out, "retcode", 0) == 0 ? link_of(value_str(out, "stdout", "")) : NULL;
    *ret_value = link != NULL ? value_utf8(link, strlen(link)) : json_false();
    return 0;
}

/* The path in force, read from the link, so that a broken one is shown as well. */
static int
alternatives_show_current(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    int rc = exec_alternatives_current(NAME(args), &path, err);

    if (rc < 0)
        return rc;
    *ret_value = path != NULL ? value_utf8(path, strlen(path)) : json_false();
    return 0;
}

/* True when the path is one of those that the name may have: lines of `--display` begin with them. */
static int
alternatives_check_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = exec_alternatives_run(ctx, "--display", args, name_only, err);
    bool found = false;

    if (out == NULL)
        return err->code;
    char **lines = str_split(value_str(out, "stdout", ""), "\n", true);
    for (size_t i = 0; value_int(out, "retcode", 0) == 0 && lines[i] != NULL; i++)
        found = found || str_starts(lines[i], PATH(args));
    strv_free(lines);
    *ret_value = json_boolean(found);
    return 0;
}

/* True when the path is the one in force. */
static int
alternatives_check_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    int rc = exec_alternatives_current(NAME(args), &path, err);

    if (rc < 0)
        return rc;
    *ret_value = json_boolean(path != NULL && strcmp(path, PATH(args)) == 0);
    return 0;
}

static int
exec_alternatives_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "link", "name", "path", "priority", NULL };

    return exec_alternatives_tell(ctx, "--install", args, names, ret_value, err);
}

static const char *
exec_alternatives_unavailable(call_ctx_t *ctx)
{
    return fs_is_dir(LINKS) ? NULL : "Cannot load alternatives module: " LINKS " dir not found";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The name: editor")
#define PATH_ROW ARG("path", ARG_STR, ARG_REQUIRED, "The program that it stands for")

static const arg_t name_args[] = { NAME_ROW, ARGS_END };
static const arg_t path_args[] = { NAME_ROW, PATH_ROW, ARGS_END };
static const arg_t install_args[] = {
    NAME_ROW, ARG("link", ARG_STR, ARG_REQUIRED, "Where it is called: /usr/bin/editor"), PATH_ROW,
    ARG("priority", ARG_ANY, ARG_REQUIRED, "The highest one is taken"), ARGS_END
};

static const func_t funcs[] = {
    { "auto", alternatives_tell, name_args, 0,
      "Take the program of the highest priority." CLI_EXAMPLE("salt '*' alternatives.auto editor"),
      .data.text = "--auto" },
    { "check_exists", alternatives_check_exists, path_args, FN_READONLY,
      "Return whether a program is one of a name's." CLI_EXAMPLE(
          "salt '*' alternatives.check_exists editor /usr/bin/vi") },
    { "check_installed", alternatives_check_installed, path_args, FN_READONLY,
      "Return whether a name stands for a program now." CLI_EXAMPLE(
          "salt '*' alternatives.check_installed editor /usr/bin/vi") },
    { "display", alternatives_tell, name_args, FN_READONLY,
      "Return what update-alternatives says of a name." CLI_EXAMPLE("salt '*' alternatives.display editor"),
      .data.text = "--display" },
    { "install", exec_alternatives_install, install_args, 0,
      "Add a program to a name." CLI_EXAMPLE(
          "salt '*' alternatives.install editor /usr/bin/editor /usr/bin/vi 50") },
    { "remove", alternatives_tell, path_args, 0,
      "Take a program away from a name." CLI_EXAMPLE("salt '*' alternatives.remove editor /usr/bin/vi"),
      .data.text = "--remove" },
    { "set", alternatives_tell, path_args, 0,
      "Have a name stand for a program, whatever the priorities." CLI_EXAMPLE(
          "salt '*' alternatives.set editor /usr/bin/vi"),
      .data.text = "--set" },
    { "show_current", alternatives_show_current, name_args, FN_READONLY,
      "Return the program that a name stands for." CLI_EXAMPLE("salt '*' alternatives.show_current editor") },
    { "show_link", alternatives_show_link, name_args, FN_READONLY,
      "Return where a name is called." CLI_EXAMPLE("salt '*' alternatives.show_link editor") },
};

PLUGIN(exec, alternatives, .doc = "Programs that a name may stand for", FUNCS(funcs),
       .unavailable = exec_alternatives_unavailable);
