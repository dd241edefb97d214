/* selinux_context.c - execution module `selinux`: contexts of files and ports, by semanage and restorecon.
 * The lists of `semanage fcontext -l` and `semanage port -l` are searched by the expressions that Salt
 * uses; answers to changes are cmd.run_all's dicts, which the state reads. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/system/secontext.h"
#include "salt/plugin.h"

/* Runs what `prog` has, unless its words were refused. NEW as cmd.run_all, or NULL with *err. */
static json_t *
context_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err)
{
    prog->timeout_ms = LIMIT_TOOL_MS;
    return err->code == 0 ? tool_run(ctx, prog, flags, err) : NULL;
}

/* What `semanage WHAT -l` prints. NEW text, or NULL with *err. */
static json_t *
semanage_list(call_ctx_t *ctx, const char *what, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *text = NULL;

    if (tool_begin(&prog, "semanage", err) < 0)
        return NULL;
    prog_adds(&prog, what, "-l", NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_text(ctx, &prog, &text, err) == 0 ? text : NULL;
}

/* ---- contexts of files ------------------------------------------------------------------------- */

/* semanage's word for a type of a file, as its list has it, or NULL with *err. BORROWED. */
static const char *
filetype_word(const char *type, fail_t *err)
{
    static const char *const words[][2] = { { "a", "all files" },     { "f", "regular file" },
                                            { "d", "directory" },     { "c", "character device" },
                                            { "b", "block device" },  { "s", "socket" },
                                            { "l", "symbolic link" }, { "p", "named pipe" } };

    for (size_t i = 0; i < NELEMS(words); i++) {
        if (strcmp(words[i][0], type) == 0)
            return words[i][1];
    }
    fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid filetype given: %s", type);
    return NULL;
}

static int
se_filetype(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *word = filetype_word(value_str(args, "filetype", ""), err);

    *ret_value = word != NULL ? json_string(word) : NULL;
    return err->code;
}

/* The first line of a text that the pattern finds, its groups left in `rx`. NEW, or NULL; NULL with *err
 * too. */
static char *
first_line(rx_t *rx, const char *text, fail_t *err)
{
    AUTO_FREE char *copy = xstrdup(text);

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        int found = rx_search(rx, line, strlen(line), 0, err);
        if (found != 0)
            return found > 0 ? xstrdup(line) : NULL;
    }
    return NULL;
}

/* An argument of a pattern: an expression itself, as in Salt; any part of a context when it is not given.
 * BORROWED. */
static const char *
pattern_of(const json_t *args, const char *name)
{
    const char *given = value_str(args, name, "");

    return *given != '\0' ? given : "[^:]+";
}

/* {filespec, filetype, sel_user, sel_role, sel_type, sel_level} of a path's policy, None when there is
 * none. `name` is a file specification, an expression, of which the very text is looked for. */
static int
se_fcontext_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *type = value_str(args, "filetype", "");
    const char *word = *type != '\0' ? filetype_word(type, err) : "[[:alpha:] ]+";
    AUTO_FREE char *escaped = rx_escape(name);
    /* Columns are parted by blanks: specification, type of file (words with blanks), context. */
    AUTO_FREE char *pattern = xasprintf("^(%s)[ ]+(%s)[ ]+((?:%s):[^:]+:(?:%s):(?:%s))[ ]*$", escaped,
                                        word != NULL ? word : "", pattern_of(args, "sel_user"),
                                        pattern_of(args, "sel_type"), pattern_of(args, "sel_level"));

    if (word == NULL)
        return err->code;
    rx_t *rx = rx_new(pattern, 0, err);
    json_auto_t *out = rx != NULL ? semanage_list(ctx, "fcontext", err) : NULL;
    AUTO_FREE char *line = out != NULL ? first_line(rx, json_string_value(out), err) : NULL;
    if (line != NULL) {
        AUTO_FREE char *kind = rx_group_text(rx, line, 2), *context = rx_group_text(rx, line, 3);
        json_auto_t *parts = secontext_of(str_trim(context), err);
        if (parts != NULL) {
            *ret_value = json_pack("{s:s, s:s}", "filespec", name, "filetype", str_trim(kind));
            json_object_update(*ret_value, parts);
        }
    } else if (err->code == 0) {
        *ret_value = json_null();
    }
    rx_destroy(&rx);
    return err->code;
}

/* The row's option: --add or --delete. The answer is cmd.run_all's. */
static int
se_fcontext_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const options[][2] = { { "sel_type", "--type" },
                                              { "sel_user", "--seuser" },
                                              { "sel_level", "--range" } };
    const char *type = value_str(args, "filetype", "a");
    prog_auto_t prog = PROG_INIT;

    if (filetype_word(type, err) == NULL || tool_begin(&prog, "semanage", err) < 0)
        return err->code;
    prog_adds(&prog, "fcontext", ctx_row(ctx)->data.text, NULL);
    /* All files is semanage's default. */
    if (strcmp(type, "a") != 0)
        prog_adds(&prog, "--ftype", type, NULL);
    for (size_t i = 0; i < NELEMS(options); i++) {
        const json_t *value = value_get(args, options[i][0]);
        if (value != NULL && !json_is_null(value))
            prog_add_option(&prog, options[i][1], value);
    }
    (void) prog_operand(&prog, "name", value_str(args, "name", ""), err);
    *ret_value = context_run(ctx, &prog, 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Runs restorecon with "-n", which tells what it would do, or "-F", which does it. NEW as cmd.run_all, or
 * NULL with *err. */
static json_t *
restorecon(call_ctx_t *ctx, const json_t *args, const char *option, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "restorecon", err) < 0)
        return NULL;
    if (strcmp(option, "-n") == 0)
        prog_adds(&prog, "-n", "-v", NULL);
    else
        prog_adds(&prog, "-v", option, NULL);
    if (value_bool(args, "recursive", false))
        prog_add(&prog, "-R");
    (void) prog_operand(&prog, "name", value_str(args, "name", ""), err);
    return context_run(ctx, &prog, 0, err);
}

/* What restorecon would change, a text: empty when everything is as the policy says. */
static int
se_fcontext_is_applied(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = restorecon(ctx, args, "-n", err);

    *ret_value = out != NULL ? json_incref(value_get(out, "stdout")) : NULL;
    return out != NULL ? 0 : err->code;
}

/* restorecon's answer, with `changes` {file: {old, new}}, which the run without changes has told. */
static int
se_fcontext_apply(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *told = restorecon(ctx, args, "-n", err);
    json_auto_t *did = told != NULL ? restorecon(ctx, args, "-F", err) : NULL;

    if (did == NULL)
        return err->code;
    if (value_int(did, "retcode", -1) == 0) {
        json_auto_t *changes = secontext_relabels(value_str(told, "stdout", ""), err);
        if (err->code != 0)
            return err->code;
        /* A line of another shape: what has been done can't be told, so it counts as a failure. */
        if (changes == NULL) {
            json_object_set_new(did, "retcode", json_integer(1));
            json_object_set_new(did, "error", json_string("Unrecognized response from restorecon command."));
        } else if (json_object_size(changes) > 0) {
            json_object_set(did, "changes", changes);
        }
    }
    *ret_value = json_incref(did);
    return 0;
}

/* ---- contexts of ports ------------------------------------------------------------------------- */

/* Protocol and port of "tcp/8080", or else of their own arguments; a port may be a range. NEW texts. 0, or
 * negative with *err. */
static int
port_of(const json_t *args, char **ret_protocol, char **ret_port, fail_t *err)
{
    AUTO_FREE char *protocol = value_pystr(value_get(args, "protocol")),
                   *port = value_pystr(value_get(args, "port"));
    AUTO_FREE char *both = xasprintf("%s/%s", protocol, port);
    const char *tries[] = { value_str(args, "name", ""), both };
    rx_t *rx = rx_new("^(tcp|udp)/([0-9]+(?:-[0-9]+)?)$", 0, err);
    int found = rx != NULL ? 0 : err->code;

    for (size_t i = 0; i < NELEMS(tries) && found == 0; i++) {
        found = rx_match(rx, tries[i], strlen(tries[i]), 0, err);
        if (found > 0) {
            *ret_protocol = rx_group_text(rx, tries[i], 1);
            *ret_port = rx_group_text(rx, tries[i], 2);
        }
    }
    rx_destroy(&rx);
    if (found == 0)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "Invalid name \"%s\" format and protocol and port not provided or invalid: \"%s\" \"%s\".",
            tries[0], protocol, port);
    return found > 0 ? 0 : found;
}

static int
se_port_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *type = value_str(args, "sel_type", "");
    AUTO_FREE char *protocol = NULL, *port = NULL;

    if (port_of(args, &protocol, &port, err) != 0)
        return err->code;
    /* A port is one word of a list "80, 443, 8000-8010": a comma or the end of the line follows it. */
    AUTO_FREE char *pattern = xasprintf("^(%s)[ ]+(%s)[ ]+(?=.*(?<![^ ])%s($|,))([0-9, -]+)",
                                        *type != '\0' ? type : "\\w+", protocol, port);
    rx_t *rx = rx_new(pattern, 0, err);
    json_auto_t *out = rx != NULL ? semanage_list(ctx, "port", err) : NULL;
    AUTO_FREE char *line = out != NULL ? first_line(rx, json_string_value(out), err) : NULL;
    if (line != NULL) {
        AUTO_FREE char *found = rx_group_text(rx, line, 1), *ports = rx_group_text(rx, line, 4);
        *ret_value = json_pack("{s:s, s:s, s:s}", "sel_type", found, "protocol", protocol, "port",
                               str_trim(ports));
    } else if (err->code == 0) {
        *ret_value = json_null();
    }
    rx_destroy(&rx);
    return err->code;
}

/* The row's option: --add, which needs a type, or --delete. The answer is cmd.run_all's. */
static int
se_port_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *action = ctx_row(ctx)->data.text;
    AUTO_FREE char *protocol = NULL, *port = NULL;
    prog_auto_t prog = PROG_INIT;

    if (strcmp(action, "--add") == 0 && !value_truthy(value_get(args, "sel_type")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "SELinux Type is required to add a policy");
    if (port_of(args, &protocol, &port, err) != 0 || tool_begin(&prog, "semanage", err) < 0)
        return err->code;
    prog_adds(&prog, "port", action, "--proto", protocol, NULL);
    if (value_truthy(value_get(args, "sel_type")))
        prog_add_option(&prog, "--type", value_get(args, "sel_type"));
    if (value_truthy(value_get(args, "sel_range")))
        prog_add_option(&prog, "--range", value_get(args, "sel_range"));
    prog_add(&prog, port);
    *ret_value = context_run(ctx, &prog, 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- table ------------------------------------------------------------------------------------- */

static const char *
context_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("semanage");

    return path != NULL ? NULL : "semanage is not in the path";
}

#define SPEC_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The files, a regular expression: /srv/www(/.*)?")
#define SPEC_ROWS                                                                                            \
    SPEC_ROW, ARG("filetype", ARG_STR, "null", "a, f, d, c, b, s, l, p; by default a: all files"),           \
        ARG("sel_type", ARG_STR, "null", "Type of the context"),                                             \
        ARG("sel_user", ARG_STR, "null", "Its user"), ARG("sel_level", ARG_STR, "null", "Its level")
#define PORT_ROW ARG("name", ARG_STR, ARG_REQUIRED, "tcp/8080, udp/20-21")
#define PROTO_ROWS                                                                                           \
    ARG("protocol", ARG_STR, "null", "tcp or udp, when the name does not say"),                              \
        ARG("port", ARG_ANY, "null", "The port, when the name does not say")
#define TYPE_ROW ARG("sel_type", ARG_STR, "null", "Type of the context")

static const arg_t filetype_args[] = { ARG("filetype", ARG_STR, "\"a\"", "a, f, d, c, b, s, l or p"),
                                       ARGS_END };
static const arg_t fcontext_args[] = { SPEC_ROWS, ARGS_END };
static const arg_t apply_args[] = { SPEC_ROW, ARG("recursive", ARG_BOOL, "false", "What is below, too"),
                                    ARGS_END };
static const arg_t port_args[] = { PORT_ROW, TYPE_ROW, PROTO_ROWS, ARGS_END };
static const arg_t port_add_args[] = { PORT_ROW, TYPE_ROW, PROTO_ROWS,
                                       ARG("sel_range", ARG_STR, "null", "Its range"), ARGS_END };
static const arg_t port_delete_args[] = { PORT_ROW, PROTO_ROWS, ARGS_END };

#define EXAMPLE(call) CLI_EXAMPLE("salt '*' selinux." call)

static const func_t funcs[] = {
    { "fcontext_add_policy", se_fcontext_change, fcontext_args, 0,
      "Set the context of files." EXAMPLE(
          "fcontext_add_policy '/srv/www(/.*)?' sel_type=httpd_sys_content_t"),
      .data.text = "--add" },
    { "fcontext_apply_policy", se_fcontext_apply, apply_args, 0,
      "Give files their contexts." EXAMPLE("fcontext_apply_policy /srv/www recursive=True") },
    { "fcontext_delete_policy", se_fcontext_change, fcontext_args, 0,
      "Delete the context of files." EXAMPLE("fcontext_delete_policy '/srv/www(/.*)?'"),
      .data.text = "--delete" },
    { "fcontext_get_policy", se_fcontext_get, fcontext_args, FN_READONLY,
      "Return the context that files are to have." EXAMPLE("fcontext_get_policy '/srv/www(/.*)?'") },
    { "fcontext_policy_is_applied", se_fcontext_is_applied, apply_args, FN_READONLY,
      "Return which files have another context." EXAMPLE(
          "fcontext_policy_is_applied /srv/www recursive=True") },
    { "filetype_id_to_string", se_filetype, filetype_args, FN_READONLY,
      "Return the name of a type of files." EXAMPLE("filetype_id_to_string f") },
    { "port_add_policy", se_port_change, port_add_args, 0,
      "Set the context of a port." EXAMPLE("port_add_policy tcp/8080 http_port_t"), .data.text = "--add" },
    { "port_delete_policy", se_port_change, port_delete_args, 0,
      "Delete the context of a port." EXAMPLE("port_delete_policy tcp/8080"), .data.text = "--delete" },
    { "port_get_policy", se_port_get, port_args, FN_READONLY,
      "Return the context of a port." EXAMPLE("port_get_policy tcp/80") },
};

PLUGIN(exec, selinux_context, .provides = "selinux", .doc = "Contexts of files and ports", FUNCS(funcs),
       .unavailable = context_unavailable);
