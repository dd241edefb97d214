/* keyboard.c - execution module `keyboard`: the layout of the console, by localectl or the family's file,
 * and of X, by setxkbmap. A layout's name is not checked against a list: the console and X have different
 * ones. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

/* Where a family without localectl keeps the layout: the file, and the variable in it. */
static const struct keyboard_file {
    const char *family, *file, *key;
} keyboard_files[] = {
    { "RedHat", "/etc/sysconfig/keyboard", "LAYOUT" },
    { "Debian", "/etc/default/keyboard", "XKBLAYOUT" },
    { "Gentoo", "/etc/conf.d/keymaps", "keymap" },
};

/* The row of the host's family; NULL: it has none. A constant. */
static const struct keyboard_file *
keyboard_file(call_ctx_t *ctx)
{
    const char *family = value_str(ctx_grains(ctx), "os_family", "");

    for (size_t i = 0; i < NELEMS(keyboard_files); i++) {
        if (strstr(family, keyboard_files[i].family) != NULL)
            return &keyboard_files[i];
    }
    return NULL;
}

/* True when there is such a program, as in Salt, which does not ask whether systemd runs. */
static bool
has_localectl(void)
{
    AUTO_FREE char *path = fs_which("localectl");

    return path != NULL;
}

/* The value behind the first line that has `word` and is no comment; `between` parts the two. `text` is
 * cut. NEW, or NULL with *err. */
static json_t *
layout_in(char *text, const char *word, char between, fail_t *err)
{
    for (char *at = text, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        if (*line == '#' || strstr(line, word) == NULL)
            continue;
        const char *value = line_value(line, between);
        AUTO_FREE char *layout = str_replace(value != NULL ? value : "", "\"", "");
        return json_string(layout);
    }
    fop_failed(err, "no line with %s says what the keyboard layout is", word);
    return NULL;
}

/* The layout that a program prints on the line with `word`. `option` may be NULL. NEW, or NULL with
 * *err. */
static json_t *
layout_of_program(call_ctx_t *ctx, const char *program, const char *option, const char *word, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, program, err);

    if (option != NULL)
        prog_add(&prog, option);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = rc == 0 ? tool_run(ctx, &prog, TOOL_MERGE, err) : NULL;
    if (out == NULL)
        return NULL;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    return layout_in(text, word, ':', err);
}

/* The console's layout, by localectl ("VC Keymap: us") or from the family's file. */
static int
keyboard_get_sys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const struct keyboard_file *row = keyboard_file(ctx);
    buf_auto_t text = BUF_INIT;

    if (has_localectl())
        *ret_value = layout_of_program(ctx, "localectl", NULL, "Keymap", err);
    else
        *ret_value = row != NULL && fs_read_any(row->file, LIMIT_HOST_FILE, &text, err) >= 0
                         ? layout_in(text.data, row->key, '=', err)
                         : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

static int
keyboard_get_x(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = layout_of_program(ctx, "setxkbmap", "-query", "layout", err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Sets the layout by a program, and returns it in any case: a failure is in the log and in the job's exit
 * code, as Salt's. */
static int
layout_by(call_ctx_t *ctx, json_t *args, const char *program, const char *verb, json_t **ret_value,
          fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code, rc = tool_begin(&prog, program, err);

    if (verb != NULL)
        prog_add(&prog, verb);
    prog.timeout_ms = LIMIT_TOOL_MS;
    rc = rc == 0 ? prog_operand(&prog, "layout", value_str(args, "layout", ""), err) : rc;
    rc = rc == 0 ? tool_retcode(ctx, &prog, TOOL_MERGE, &code, err) : rc;
    *ret_value = rc == 0 ? json_incref(value_get(args, "layout")) : NULL;
    return rc;
}

/* By localectl, else in the family's file, whose line must be there: file.sed adds none. */
static int
keyboard_set_sys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const struct keyboard_file *row = keyboard_file(ctx);

    if (has_localectl())
        return layout_by(ctx, args, "localectl", "set-keymap", ret_value, err);
    if (row == NULL || field_check_text("layout", value_str(args, "layout", ""), FIELD_SHELL, err) < 0)
        return err->code;
    AUTO_FREE char *before = xasprintf("^%s=.*", row->key),
                   *after = xasprintf("%s=%s", row->key, value_str(args, "layout", ""));
    json_auto_t *done = sub_call(ctx, err, "file.sed", "{s:s, s:s, s:s}", "path", row->file, "before", before,
                                 "after", after);
    *ret_value = done != NULL ? json_incref(value_get(args, "layout")) : NULL;
    return done != NULL ? 0 : err->code;
}

static int
keyboard_set_x(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return layout_by(ctx, args, "setxkbmap", NULL, ret_value, err);
}

/* Salt's condition: a family with a file, or localectl. */
static const char *
exec_keyboard_unavailable(call_ctx_t *ctx)
{
    return has_localectl() || keyboard_file(ctx) != NULL
               ? NULL
               : "The keyboard exeuction module cannot be loaded: only works on Redhat, Debian or Gentoo systems or if "
                 "localectl binary in path.";
}

static const arg_t layout_args[] = { ARG("layout", ARG_STR, ARG_REQUIRED, "The layout: dvorak"), ARGS_END };

static const func_t funcs[] = {
    { "get_sys", keyboard_get_sys, NULL, FN_READONLY,
      "Return the layout of the console." CLI_EXAMPLE("salt '*' keyboard.get_sys") },
    { "get_x", keyboard_get_x, NULL, FN_READONLY,
      "Return the layout of X." CLI_EXAMPLE("salt '*' keyboard.get_x") },
    { "set_sys", keyboard_set_sys, layout_args, 0,
      "Set the layout of the console." CLI_EXAMPLE("salt '*' keyboard.set_sys dvorak") },
    { "set_x", keyboard_set_x, layout_args, 0,
      "Set the layout of X." CLI_EXAMPLE("salt '*' keyboard.set_x dvorak") },
};

PLUGIN(exec, keyboard, .doc = "Keyboard layouts", FUNCS(funcs), .unavailable = exec_keyboard_unavailable);
