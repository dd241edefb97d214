/* aliases.c - execution module `aliases`: whom the mail system sends a name's mail, in /etc/aliases or the
 * option aliases.file. Format: aliases(5); a line is "NAME: TARGET # COMMENT". */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"

#define ALIAS(args) value_str(args, "alias", "")

/* Postfix of some systems has the file in a folder of its own. */
static const char *
aliases_path(call_ctx_t *ctx)
{
    return value_str(ctx_opts(ctx), "aliases.file", "/etc/aliases");
}

/* A line as {"alias", "target", "comment"}: the comment has the blanks before it. NEW. */
static json_t *
aliases_line(const char *line)
{
    size_t name = strcspn(line, ":#");
    const char *target = line + name + strspn(line + name, " \t"), *end = target;

    target += *target == ':';
    target += strspn(target, " \t");
    for (end = target + strcspn(target, "#"); end > target && strchr(" \t", end[-1]) != NULL;)
        end--;
    /* A hash without a blank before it begins no comment: the line is no alias. */
    const char *rest = *end == '\0' || (end[0] != '#' && strchr(end, '#') != NULL) ? end : NULL;
    if (rest == NULL)
        return json_pack("{s:s, s:s, s:s}", "alias", "", "target", "", "comment", line);
    const char *comment = strchr(rest, '#') != NULL ? rest : "";
    return json_pack("{s:o, s:o, s:o}", "alias", value_utf8(line, name), "target",
                     value_utf8(target, (size_t) (end - target)), "comment",
                     value_utf8(comment, strlen(comment)));
}

/* The file's lines. NEW list, empty where there is no file; NULL with *err. Empty lines and comments are rows
 * without an alias, so that the file can be written again with them. A line that continues the one before
 * (white space first) is read as one of its own, as by Salt. */
static json_t *
read_aliases(call_ctx_t *ctx, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_t *lines = json_array();

    if (fs_read_any(aliases_path(ctx), LIMIT_HOST_FILE, &text, err) < 0) {
        json_decref(lines);
        return NULL;
    }
    for (char *at = text.len > 0 ? text.data : NULL, *line; at != NULL && (line = line_next(&at)) != NULL;)
        json_array_append_new(lines, aliases_line(line));
    return lines;
}

/* Writes the file whole, and has the mail system read it where it wants to be told. A host without newaliases
 * (a mail system that reads the file itself) is none to complain about. An exit code of it is logged only. */
static int
write_aliases(call_ctx_t *ctx, const json_t *lines, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    prog_auto_t prog = PROG_INIT;
    json_t *line;
    size_t i;

    json_array_foreach (lines, i, line) {
        const char *alias = value_str(line, "alias", ""), *target = value_str(line, "target", "");
        const char *comment = value_str(line, "comment", "");
        if (*alias != '\0' && *target != '\0')
            buf_printf(&text, "%s: %s%s\n", alias, target, comment);
        else
            buf_printf(&text, "%s%s%s\n", alias, *alias != '\0' ? ":" : "", comment);
    }
    if (fs_rewrite(aliases_path(ctx), text.data, text.len, 0644, err) < 0)
        return err->code;
    AUTO_FREE char *newaliases = fs_which("newaliases");
    if (newaliases == NULL)
        return 0;
    prog_add(&prog, newaliases);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, TOOL_MERGE, err);
    return ran != NULL ? 0 : err->code;
}

/* {alias: target}. NEW, or NULL with *err. Of an alias that stands twice the last target counts. */
static json_t *
known_aliases(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *lines = read_aliases(ctx, err);
    json_t *line, *known = lines != NULL ? json_object() : NULL;
    size_t i;

    json_array_foreach (lines, i, line) {
        if (*value_str(line, "alias", "") != '\0')
            json_object_set(known, value_str(line, "alias", ""), value_get(line, "target"));
    }
    return known;
}

/* A target that may be a list, as the file has it. NEW, or NULL with *err. A line break would begin another
 * alias, one that may run a program ("|..."). */
static char *
target_text(const json_t *args, fail_t *err)
{
    json_t *target = value_get(args, "target");
    AUTO_FREE char *text = json_is_array(target) ? value_joined(target, ", ") : value_pystr(target);

    if (*text == '\0') {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "target can not be an empty string");
        return NULL;
    }
    return field_check_text("target", text, FIELD_LINE, err) == 0 ? STEAL(text) : NULL;
}

/* ---- functions ---------------------------------------------------------------------------------- */

static int
aliases_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = known_aliases(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* "" for a name that has no alias. */
static int
aliases_get_target(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *known = known_aliases(ctx, err);

    *ret_value = known != NULL ? json_string(value_str(known, ALIAS(args), "")) : NULL;
    return known != NULL ? 0 : err->code;
}

/* True only for the whole target: one of several addresses is not the target. */
static int
aliases_has_target(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *target = target_text(args, err);
    json_auto_t *known = target != NULL ? known_aliases(ctx, err) : NULL;

    *ret_value = known != NULL ? json_boolean(str_eq(value_str(known, ALIAS(args), NULL), target)) : NULL;
    return known != NULL ? 0 : err->code;
}

/* The lines with the alias's first one set to the target, NULL: without the alias. NEW. Further lines of the
 * same alias go, and a new alias is the last line. */
static json_t *
lines_with(const json_t *lines, const char *alias, const char *target)
{
    json_t *out = json_array(), *line;
    size_t i;

    json_array_foreach (lines, i, line) {
        bool its = str_eq(value_str(line, "alias", NULL), alias);
        if (!its)
            json_array_append(out, line);
        else if (target != NULL)
            json_array_append_new(out, json_pack("{s:s, s:s, s:O}", "alias", alias, "target", target,
                                                 "comment", value_get(line, "comment")));
        target = its ? NULL : target;
    }
    if (target != NULL)
        json_array_append_new(out,
                              json_pack("{s:s, s:s, s:s}", "alias", alias, "target", target, "comment", ""));
    return out;
}

/* The file is written only when the target differs, so that newaliases does not run for nothing. */
static int
aliases_set_target(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *alias = ALIAS(args);

    if (*alias == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "alias can not be an empty string");
    if (field_check_text("alias", alias, FIELD_LINE, err) < 0)
        return err->code;
    if (alias[strcspn(alias, ":#")] != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "alias: '%s' has a ':' or '#', which end a name in the file", alias);
    AUTO_FREE char *target = target_text(args, err);
    json_auto_t *lines = target != NULL ? read_aliases(ctx, err) : NULL;
    json_auto_t *known = lines != NULL ? known_aliases(ctx, err) : NULL;
    if (known == NULL)
        return err->code;
    json_auto_t *out = lines_with(lines, alias, target);
    int rc = str_eq(value_str(known, alias, NULL), target) ? 0 : write_aliases(ctx, out, err);
    *ret_value = rc == 0 ? json_true() : NULL;
    return rc;
}

/* True as well when the alias was not there. */
static int
aliases_rm_alias(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *lines = read_aliases(ctx, err), *known = lines != NULL ? known_aliases(ctx, err) : NULL;

    if (known == NULL)
        return err->code;
    json_auto_t *out = lines_with(lines, ALIAS(args), NULL);
    int rc = str_empty(value_str(known, ALIAS(args), NULL)) ? 0 : write_aliases(ctx, out, err);
    *ret_value = rc == 0 ? json_true() : NULL;
    return rc;
}

#define ALIAS_ROW  ARG("alias", ARG_STR, ARG_REQUIRED, "The name")
#define TARGET_ROW ARG("target", ARG_ANY, ARG_REQUIRED, "Where its mail goes: a text, or a list")

static const arg_t alias_args[] = { ALIAS_ROW, ARGS_END };
static const arg_t target_args[] = { ALIAS_ROW, TARGET_ROW, ARGS_END };

static const func_t funcs[] = {
    { "get_target", aliases_get_target, alias_args, FN_READONLY,
      "Return where a name's mail goes." CLI_EXAMPLE("salt '*' aliases.get_target alias") },
    { "has_target", aliases_has_target, target_args, FN_READONLY,
      "Return whether a name's mail goes there." CLI_EXAMPLE("salt '*' aliases.has_target alias target") },
    { "list_aliases", aliases_list, NULL, FN_READONLY,
      "Return all names with where their mail goes." CLI_EXAMPLE("salt '*' aliases.list_aliases") },
    { "rm_alias", aliases_rm_alias, alias_args, 0,
      "Remove a name." CLI_EXAMPLE("salt '*' aliases.rm_alias alias") },
    { "set_target", aliases_set_target, target_args, 0,
      "Set where a name's mail goes." CLI_EXAMPLE("salt '*' aliases.set_target alias target") },
};

PLUGIN(exec, aliases, .doc = "Names of mail", FUNCS(funcs));
