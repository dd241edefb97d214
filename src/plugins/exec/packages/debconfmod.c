/* debconfmod.c - execution module `debconf`: answers to the questions of Debian's packages, by
 * debconf-get-selections and debconf-set-selections. An answer, which may be a password, goes to the
 * program's standard input. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "salt/plugin.h"

enum { SELECTION_FIELDS = 3 };

/* "PACKAGE QUESTION TYPE VALUE" into the selections. Fields are parted by tabs or blanks; the value is the
 * rest of the line and may have blanks, or be empty. */
static void
take_selection(char *line, bool empty, json_t *selections)
{
    char *fields[SELECTION_FIELDS], *at = line;

    for (size_t i = 0; i < SELECTION_FIELDS; i++) {
        size_t len = strcspn(at, "\t ");
        if (len == 0 || at[len] == '\0')
            return;
        fields[i] = at;
        at[len] = '\0';
        at += len + 1;
        at += strspn(at, "\t ");
    }
    if (*fields[0] == '#' || (*at == '\0' && !empty))
        return;
    if (value_get(selections, fields[0]) == NULL)
        json_object_set_new(selections, fields[0], json_array());
    json_array_append_new(value_get(selections, fields[0]),
                          json_pack("[s, s, o]", fields[1], fields[2], value_utf8(at, strlen(at))));
}

/* {package: [[question, type, value]]}. NEW, or NULL with *err. debconf knows owners of questions, and Salt
 * calls them packages. */
static json_t *
all_selections(call_ctx_t *ctx, bool empty, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "debconf-get-selections", err);

    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = rc == 0 ? tool_run(ctx, &prog, 0, err) : NULL;
    if (out == NULL)
        return NULL;
    json_t *selections = json_object();
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;)
        take_selection(line, empty, selections);
    return selections;
}

/* {package: [[question, type, value]]}; with fetchempty=False those that have a value. */
static int
debconf_get_selections(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = all_selections(ctx, value_bool(args, "fetchempty", true), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* None for a package without answers. */
static int
debconf_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = all_selections(ctx, true, err);

    if (all == NULL)
        return err->code;
    json_t *one = value_get(all, value_str(args, "name", ""));
    *ret_value = one != NULL ? json_incref(one) : json_null();
    return 0;
}

/* Gives the answers of a text (NULL: of the file) to debconf; what it says against them is in the log. True
 * as well when the program ended badly: Salt's functions do not look. */
static int
answer(call_ctx_t *ctx, const char *text, const char *file, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code, rc = tool_begin(&prog, "debconf-set-selections", err);

    /* A file is named, a line of this module's goes by standard input, since it may hold a password. */
    if (rc == 0 && text == NULL)
        rc = prog_operand(&prog, "path", file, err);
    prog.in = text;
    prog.timeout_ms = LIMIT_TOOL_MS;
    rc = rc == 0 ? tool_retcode(ctx, &prog, 0, &code, err) : rc;
    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* `extra` are the words of a value that a shell took apart; one blank is put between. */
static int
debconf_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const words[] = { "package", "question", "type" };
    AUTO_FREE char *first = value_pystr(value_get(args, "value")),
                   *more = value_joined(value_get(args, "extra"), " ");
    AUTO_FREE char *value = *more != '\0' ? xasprintf("%s %s", first, more) : xstrdup(first);

    for (size_t i = 0; i < NELEMS(words); i++) {
        if (field_check(words[i], value_get(args, words[i]), FIELD_WORD, err) < 0)
            return err->code;
    }
    if (strpbrk(value, "\r\n") != NULL) /* not shown, as it may be a password */
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "value: it may not hold a line break, which would begin another answer");
    AUTO_FREE char *line = xasprintf("%s %s %s %s\n", value_str(args, "package", ""),
                                     value_str(args, "question", ""), value_str(args, "type", ""), value);
    return answer(ctx, line, NULL, ret_value, err);
}

/* False when the file server has no such file. */
static int
debconf_set_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *path = sub_call(ctx, err, "cp.cache_file", "{s:O, s:O}", "path", value_get(args, "path"),
                                 "saltenv", value_get(args, "saltenv"));

    if (path == NULL)
        return err->code;
    if (value_truthy(path))
        return answer(ctx, NULL, json_string_value(path), ret_value, err);
    *ret_value = json_false();
    return 0;
}

/* The rendered text lies in the cache, which only root reads. */
static int
debconf_set_template(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *path = sub_call(ctx, err, "cp.get_template", "{s:O, s:s, s:O, s:O, s:O, s:O}", "path",
                                 value_get(args, "path"), "dest", "", "template", value_get(args, "template"),
                                 "saltenv", value_get(args, "saltenv"), "context", value_get(args, "context"),
                                 "defaults", value_get(args, "defaults"));

    if (path == NULL)
        return err->code;
    if (value_truthy(path))
        return answer(ctx, NULL, json_string_value(path), ret_value, err);
    *ret_value = json_false();
    return 0;
}

static const char *
exec_debconf_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("debconf-get-selections");

    if (!str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Debian"))
        return "The debconfmod module could not be loaded: unsupported OS family";
    return path != NULL ? NULL : "The debconfmod module could not be loaded: debconf-utils is not installed.";
}

#define PATH_ROW   ARG("path", ARG_STR, ARG_REQUIRED, "The file: salt://path/to/selections")
#define ENV_ROW    ARG("saltenv", ARG_STR, "\"base\"", "The environment of the file")
#define KWARGS_ROW ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE)

static const arg_t get_args[] = { ARG("fetchempty", ARG_BOOL, "true", "With questions that have no answer"),
                                  ARGS_END };
static const arg_t show_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The package"), ARGS_END };
static const arg_t set_args[] = { ARG("package", ARG_STR, ARG_REQUIRED, "The package"),
                                  ARG("question", ARG_STR, ARG_REQUIRED, "The question: dash/sh"),
                                  ARG("type", ARG_STR, ARG_REQUIRED,
                                      "boolean, string, select, password, ..."),
                                  ARG("value", ARG_ANY, ARG_REQUIRED, "The answer"),
                                  ARG("extra", ARG_ANY, ARG_STAR, "More words of the answer"),
                                  ARGS_END };
static const arg_t file_args[] = { PATH_ROW, ENV_ROW, KWARGS_ROW, ARGS_END };
static const arg_t template_args[] = { PATH_ROW,
                                       ARG("template", ARG_STR, ARG_REQUIRED, "The engine: jinja"),
                                       ARG("context", ARG_ANY, ARG_REQUIRED, "Variables"),
                                       ARG("defaults", ARG_ANY, ARG_REQUIRED,
                                           "Variables that `context` has not"),
                                       ENV_ROW,
                                       KWARGS_ROW,
                                       ARGS_END };

static const func_t funcs[] = {
    { "get_selections", debconf_get_selections, get_args, FN_READONLY,
      "Return the answers of all packages." CLI_EXAMPLE("salt '*' debconf.get_selections") },
    { "set", debconf_set, set_args, 0,
      "Answer a question of a package." CLI_EXAMPLE("salt '*' debconf.set dash dash/sh boolean false") },
    { "set_file", debconf_set_file, file_args, 0,
      "Answer questions from a file." CLI_EXAMPLE("salt '*' debconf.set_file salt://pathto/pkg.selections") },
    { "set_template", debconf_set_template, template_args, 0,
      "Answer questions from a template." CLI_EXAMPLE(
          "salt '*' debconf.set_template salt://pathto/pkg.selections.jinja jinja None None") },
    { "show", debconf_show, show_args, FN_READONLY,
      "Return the answers of a package, or None." CLI_EXAMPLE("salt '*' debconf.show dash") },
};

PLUGIN(exec, debconfmod, .provides = "debconf", .doc = "Answers to questions of packages", FUNCS(funcs),
       .unavailable = exec_debconf_unavailable);
