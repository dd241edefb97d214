/* selinux.c - execution module `selinux`: mode, booleans, modules and file and port contexts of SELinux, by semanage,
 * setsebool, semodule and restorecon. */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/sub.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/system/secontext.h"
#include "salt/plugin.h"

#define CONFIG "/etc/selinux/config"

/* ---- programs --------------------------------------------------------------------------------- */

/* Runs what `prog` has. NEW as cmd.run_all, or NULL with *err. */
static json_t *
se_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err)
{
    prog->timeout_ms = LIMIT_TOOL_MS;
    return err->code == 0 ? tool_run(ctx, prog, flags, err) : NULL;
}

/* All that a program prints. NEW text, or NULL with *err. */
static json_t *
se_text(call_ctx_t *ctx, const char *program, const char *a, const char *b, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, program, err) < 0)
        return NULL;
    prog_adds(&prog, a, b, NULL);
    json_auto_t *out = se_run(ctx, &prog, TOOL_MERGE, err);
    return out != NULL ? json_incref(value_get(out, "stdout")) : NULL;
}

/* Answers whether the program ended well. */
static int
se_worked(call_ctx_t *ctx, prog_t *prog, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = se_run(ctx, prog, 0, err);

    if (out == NULL)
        return err->code;
    *ret_value = json_boolean(value_int(out, "retcode", -1) == 0);
    return 0;
}

/* ---- mode ------------------------------------------------------------------------------------- */

/* The folder of the kernel's files; NULL: SELinux is disabled. BORROWED. */
static const char *
se_folder(fail_t *err)
{
    if (fs_look_file("/sys/fs/selinux/enforce", err) > 0)
        return "/sys/fs/selinux";
    return err->code == 0 && fs_look_file("/selinux/enforce", err) > 0 ? "/selinux" : NULL;
}

static int
se_fs_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *folder = se_folder(err);

    *ret_value = folder != NULL ? json_string(folder) : json_null();
    return err->code;
}

/* BORROWED, or NULL with *err. */
static const char *
mode_now(fail_t *err)
{
    const char *folder = se_folder(err);
    AUTO_FREE char *path = folder != NULL ? fs_join(folder, "enforce") : NULL;
    buf_auto_t text = BUF_INIT;

    if (folder == NULL || fs_read_any(path, LIMIT_HOST_FILE, &text, err) <= 0)
        return err->code == 0 ? "Disabled" : NULL;
    return strcmp(str_trim(text.data != NULL ? text.data : (char[]){ "" }), "0") == 0 ? "Permissive"
                                                                                      : "Enforcing";
}

static int
se_getenforce(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *mode = mode_now(err);

    *ret_value = mode != NULL ? json_string(mode) : NULL;
    return err->code;
}

/* The mode of the file, its first letter large; None when it has none. */
static int
se_getconfig(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fs_read_any(CONFIG, LIMIT_HOST_FILE, &text, err) < 0)
        return err->code;
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char *trimmed = str_trim(line);
        if (!str_starts(trimmed, "SELINUX="))
            continue;
        char *mode = str_trim(trimmed + strlen("SELINUX="));
        for (char *c = mode; *c != '\0'; c++) {
            if (c == mode && *c >= 'a' && *c <= 'z')
                *c = (char) (*c - 'a' + 'A');
            else if (c != mode && *c >= 'A' && *c <= 'Z')
                *c = (char) (*c - 'A' + 'a');
        }
        *ret_value = json_string(mode);
        return 0;
    }
    *ret_value = json_null();
    return 0;
}

/* Writes the mode into the kernel's file, where SELinux is not disabled. */
static int
se_enforce(const char *mode, fail_t *err)
{
    const char *folder = se_folder(err);
    AUTO_FREE char *path = folder != NULL ? fs_join(folder, "enforce") : NULL;

    if (folder == NULL)
        return err->code;
    AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd < 0 ? -errno : fs_write_all(fd, mode, 1);
    return rc == 0 ? 0
                   : fail_kind(err, FAIL_COMMAND, rc, "Could not write SELinux enforce file: %s: '%s'",
                               strerror(-rc), path);
}

static int
se_setenforce(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[][2] = { { "Enforcing", "1" },
                                            { "Permissive", "0" },
                                            { "Disabled", "0" } };
    json_t *given = value_get(args, "mode");
    AUTO_FREE char *mode = value_pystr(given);
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    size_t row = 0;

    if (json_is_integer(given) || json_is_boolean(given)) {
        row = value_truthy(given) ? 0 : 1;
    } else {
        while (row < NELEMS(names) && strcasecmp(names[row][0], mode) != 0)
            row++;
    }
    if (row == NELEMS(names)) {
        *ret_value = value_fmt("Invalid mode %s", mode);
        return 0;
    }
    if (fs_read(CONFIG, LIMIT_HOST_FILE, &before, err) < 0) {
        AUTO_FREE char *why = xstrdup(fail_text(err));
        fail_clear(err);
        return fail_kind(err, FAIL_COMMAND, -EIO, "Could not read SELinux config file: %s", why);
    }
    if (se_enforce(names[row][1], err) != 0)
        return err->code;
    for (char *at = before.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        if (str_starts(line, "SELINUX="))
            buf_printf(&after, "SELINUX=%s\n", names[row][0]);
        else
            buf_printf(&after, "%s\n", line);
    }
    if (fs_rewrite(CONFIG, buf_str(&after), after.len, 0644, err) < 0)
        return err->code;
    return se_getenforce(ctx, args, ret_value, err);
}

/* ---- booleans --------------------------------------------------------------------------------- */

static int
se_list_sebool(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = se_text(ctx, "semanage", "boolean", "-l", err), *all = json_object();
    AUTO_FREE char *text = xstrdup(out != NULL ? json_string_value(out) : "");
    char *at = text;

    if (out == NULL)
        return err->code;
    (void) line_next(&at);
    for (char *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t\r", true);
        if (strv_len(words) >= 4 && strlen(words[1]) > 1 && *words[3] != '\0') {
            json_auto_t *rest = json_array();
            for (size_t i = 4; words[i] != NULL; i++)
                json_array_append_new(rest, json_string(words[i]));
            AUTO_FREE char *about = value_joined(rest, " ");
            json_object_set_new(all, words[0],
                                json_pack("{s:s, s:s%, s:s}", "State", words[1] + 1, "Default", words[3],
                                          strlen(words[3]) - 1, "Description", about));
        }
        strv_free(words);
    }
    *ret_value = json_incref(all);
    return 0;
}

/* One of what the row's function lists; {} when it is not there. */
static int
se_one_of(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool module = value_get(args, "module") != NULL;
    json_auto_t *all = sub_call(ctx, err, ctx_row(ctx)->data.text, NULL);
    json_t *one = value_get(all, value_str(args, module ? "module" : "boolean", ""));

    if (all == NULL)
        return err->code;
    *ret_value = one != NULL ? json_incref(one) : json_object();
    return 0;
}

static int
se_setsebool(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *value = value_pystr(value_get(args, "value"));

    if (tool_begin(&prog, "setsebool", err) < 0)
        return err->code;
    if (value_bool(args, "persist", false))
        prog_add(&prog, "-P");
    (void) prog_operand(&prog, "boolean", value_str(args, "boolean", ""), err);
    (void) prog_operand(&prog, "value", value, err);
    return se_worked(ctx, &prog, ret_value, err);
}

static int
se_setsebools(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *pairs = value_get(args, "pairs"), *value;
    const char *name;

    if (!json_is_object(pairs)) {
        *ret_value = json_object();
        return 0;
    }
    if (tool_begin(&prog, "setsebool", err) < 0)
        return err->code;
    if (value_bool(args, "persist", false))
        prog_add(&prog, "-P");
    json_object_foreach (pairs, name, value) {
        AUTO_FREE char *text = value_pystr(value), *word = xasprintf("%s=%s", name, text);
        (void) prog_operand(&prog, "pairs", word, err);
    }
    return se_worked(ctx, &prog, ret_value, err);
}

/* ---- modules ---------------------------------------------------------------------------------- */

/* {module: {Enabled, Version}}; semodule 2.4 and later tells no version, but whether a module is disabled. */
static int
se_list_semod(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *help = se_text(ctx, "semodule", "-h", NULL, err), *out = NULL, *all = json_object();
    bool fresh = false;

    if (help == NULL)
        return err->code;
    AUTO_FREE char *help_text = xstrdup(json_string_value(help));
    for (char *at = help_text, *line; (line = line_next(&at)) != NULL;)
        fresh = fresh || str_starts(str_trim(line), "full");
    if ((out = se_text(ctx, "semodule", fresh ? "-lfull" : "-l", NULL, err)) == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(json_string_value(out));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t\r", true);
        size_t n = strv_len(words);
        if (fresh && n >= 2)
            json_object_set_new(all, words[1], json_pack("{s:b, s:n}", "Enabled", n != 4, "Version"));
        else if (!fresh && n >= 2)
            json_object_set_new(all, words[0],
                                json_pack("{s:b, s:s}", "Enabled", n != 3, "Version", words[1]));
        strv_free(words);
    }
    *ret_value = json_incref(all);
    return 0;
}

/* Runs semodule with an option and its operand. */
static int
se_semodule(call_ctx_t *ctx, const char *option, const char *operand, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "semodule", err) < 0)
        return err->code;
    prog_add(&prog, option);
    (void) prog_operand(&prog, "module", operand, err);
    return se_worked(ctx, &prog, ret_value, err);
}

static int
se_setsemod(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *state = value_str(args, "state", "");
    bool on = strcasecmp(state, "enabled") == 0;

    if (!on && strcasecmp(state, "disabled") != 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s is no state of a module: say enabled or disabled",
                         state);
    return se_semodule(ctx, on ? "-e" : "-d", value_str(args, "module", ""), ret_value, err);
}

static int
se_install_semod(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "module_path", "");
    json_auto_t *cached = str_starts(given, "salt://")
                              ? sub_call(ctx, err, "cp.cache_file", "{s:s}", "path", given)
                              : json_string(given);

    if (cached == NULL)
        return err->code;
    if (!json_is_string(cached))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s is not on the file server", given);
    return se_semodule(ctx, "-i", json_string_value(cached), ret_value, err);
}

static int
se_remove_semod(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return se_semodule(ctx, "-r", value_str(args, "module", ""), ret_value, err);
}

/* ---- contexts of files ------------------------------------------------------------------------- */

/* semanage's word for a type of a file, or NULL with *err. BORROWED. */
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

/* The first line of a text that the pattern finds, its groups left in `rx`. NEW, or NULL; NULL with *err too. */
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

/* An argument of a pattern: it is one, as in Salt; any part of a context when it is not given. BORROWED. */
static const char *
pattern_of(const json_t *args, const char *name)
{
    const char *given = value_str(args, name, "");

    return *given != '\0' ? given : "[^:]+";
}

static int
se_fcontext_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *type = value_str(args, "filetype", "");
    const char *word = *type != '\0' ? filetype_word(type, err) : "[[:alpha:] ]+";
    AUTO_FREE char *escaped = rx_escape(name);
    AUTO_FREE char *pattern = xasprintf("^(%s)[ ]+(%s)[ ]+((?:%s):[^:]+:(?:%s):(?:%s))[ ]*$", escaped,
                                        word != NULL ? word : "", pattern_of(args, "sel_user"),
                                        pattern_of(args, "sel_type"), pattern_of(args, "sel_level"));

    if (word == NULL)
        return err->code;
    rx_t *rx = rx_new(pattern, 0, err);
    json_auto_t *out = rx != NULL ? se_text(ctx, "semanage", "fcontext", "-l", err) : NULL;
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
    if (strcmp(type, "a") != 0)
        prog_adds(&prog, "--ftype", type, NULL);
    for (size_t i = 0; i < NELEMS(options); i++) {
        const json_t *value = value_get(args, options[i][0]);
        if (value != NULL && !json_is_null(value))
            prog_add_option(&prog, options[i][1], value);
    }
    (void) prog_operand(&prog, "name", value_str(args, "name", ""), err);
    *ret_value = se_run(ctx, &prog, 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Runs restorecon, for real or to tell what it would do. NEW, or NULL with *err. */
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
    return se_run(ctx, &prog, 0, err);
}

static int
se_fcontext_is_applied(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = restorecon(ctx, args, "-n", err);

    *ret_value = out != NULL ? json_incref(value_get(out, "stdout")) : NULL;
    return out != NULL ? 0 : err->code;
}

/* restorecon's answer, with what it changed. */
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

/* Protocol and port of "tcp/8080", or else of their own arguments. NEW texts. */
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
    AUTO_FREE char *pattern = xasprintf("^(%s)[ ]+(%s)[ ]+(?=.*(?<![^ ])%s($|,))([0-9, -]+)",
                                        *type != '\0' ? type : "\\w+", protocol, port);
    rx_t *rx = rx_new(pattern, 0, err);
    json_auto_t *out = rx != NULL ? se_text(ctx, "semanage", "port", "-l", err) : NULL;
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
    *ret_value = se_run(ctx, &prog, 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- table ------------------------------------------------------------------------------------- */

static const char *
selinux_unavailable(call_ctx_t *ctx)
{
    static const char *const needed[][2] = { { "semanage", "semanage is not in the path" },
                                             { "setsebool", "setsebool is not in the path" },
                                             { "semodule", "semodule is not in the path" } };

    for (size_t i = 0; i < NELEMS(needed); i++) {
        AUTO_FREE char *path = fs_which(needed[i][0]);
        if (path == NULL)
            return needed[i][1];
    }
    return NULL;
}

#define BOOLEAN_ROW ROW("boolean", ARG_STR, ARG_REQUIRED, "The boolean")
#define PERSIST_ROW ROW("persist", ARG_BOOL, "false", "Keep it over restarts")
#define MODULE_ROW  ROW("module", ARG_STR, ARG_REQUIRED, "The module")
#define SPEC_ROW    ROW("name", ARG_STR, ARG_REQUIRED, "The files, a regular expression: /srv/www(/.*)?")
#define SPEC_ROWS                                                                                            \
    SPEC_ROW, ROW("filetype", ARG_STR, "null", "a, f, d, c, b, s, l, p; by default a: all files"),           \
        ROW("sel_type", ARG_STR, "null", "Type of the context"),                                             \
        ROW("sel_user", ARG_STR, "null", "Its user"), ROW("sel_level", ARG_STR, "null", "Its level")
#define PORT_ROW ROW("name", ARG_STR, ARG_REQUIRED, "tcp/8080, udp/20-21")
#define PROTO_ROWS                                                                                           \
    ROW("protocol", ARG_STR, "null", "tcp or udp, when the name does not say"),                              \
        ROW("port", ARG_ANY, "null", "The port, when the name does not say")
#define TYPE_ROW ROW("sel_type", ARG_STR, "null", "Type of the context")

static const arg_t mode_args[] = { { "mode", ARG_ANY, ARG_REQUIRED, "enforcing, permissive, disabled" },
                                   ARGS_END };
static const arg_t boolean_args[] = { BOOLEAN_ROW, ARGS_END };
static const arg_t setsebool_args[] = {
    BOOLEAN_ROW, { "value", ARG_ANY, ARG_REQUIRED, "on or off" }, PERSIST_ROW, ARGS_END
};
static const arg_t setsebools_args[] = { { "pairs", ARG_ANY, ARG_REQUIRED, "{boolean: on or off}" },
                                         PERSIST_ROW,
                                         ARGS_END };
static const arg_t module_args[] = { MODULE_ROW, ARGS_END };
static const arg_t setsemod_args[] = { MODULE_ROW,
                                       { "state", ARG_STR, ARG_REQUIRED, "Enabled or Disabled" },
                                       ARGS_END };
static const arg_t install_args[] = {
    { "module_path", ARG_STR, ARG_REQUIRED, "Its file: salt://... or a path" }, ARGS_END
};
static const arg_t filetype_args[] = { { "filetype", ARG_STR, "\"a\"", "a, f, d, c, b, s, l or p" },
                                       ARGS_END };
static const arg_t fcontext_args[] = { SPEC_ROWS, ARGS_END };
static const arg_t apply_args[] = { SPEC_ROW,
                                    { "recursive", ARG_BOOL, "false", "What is below, too" },
                                    ARGS_END };
static const arg_t port_args[] = { PORT_ROW, TYPE_ROW, PROTO_ROWS, ARGS_END };
static const arg_t port_add_args[] = {
    PORT_ROW, TYPE_ROW, PROTO_ROWS, { "sel_range", ARG_STR, "null", "Its range" }, ARGS_END
};
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
    { "getconfig", se_getconfig, NULL, FN_READONLY,
      "Return the mode of the configuration." EXAMPLE("getconfig") },
    { "getenforce", se_getenforce, NULL, FN_READONLY, "Return the mode that runs." EXAMPLE("getenforce") },
    { "getsebool", se_one_of, boolean_args, FN_READONLY,
      "Return all about a boolean." EXAMPLE("getsebool virt_use_usb"), .data.text = "selinux.list_sebool" },
    { "getsemod", se_one_of, module_args, FN_READONLY, "Return all about a module." EXAMPLE("getsemod mysql"),
      .data.text = "selinux.list_semod" },
    { "install_semod", se_install_semod, install_args, 0,
      "Install a module from a file." EXAMPLE("install_semod salt://mine.pp") },
    { "list_sebool", se_list_sebool, NULL, FN_READONLY, "Return all booleans." EXAMPLE("list_sebool") },
    { "list_semod", se_list_semod, NULL, FN_READONLY, "Return all modules." EXAMPLE("list_semod") },
    { "port_add_policy", se_port_change, port_add_args, 0,
      "Set the context of a port." EXAMPLE("port_add_policy tcp/8080 http_port_t"), .data.text = "--add" },
    { "port_delete_policy", se_port_change, port_delete_args, 0,
      "Delete the context of a port." EXAMPLE("port_delete_policy tcp/8080"), .data.text = "--delete" },
    { "port_get_policy", se_port_get, port_args, FN_READONLY,
      "Return the context of a port." EXAMPLE("port_get_policy tcp/80") },
    { "remove_semod", se_remove_semod, module_args, 0, "Remove a module." EXAMPLE("remove_semod mine") },
    { "selinux_fs_path", se_fs_path, NULL, FN_READONLY,
      "Return the folder of the kernel's files." EXAMPLE("selinux_fs_path") },
    { "setenforce", se_setenforce, mode_args, 0,
      "Set the mode, in the kernel and in the configuration." EXAMPLE("setenforce enforcing") },
    { "setsebool", se_setsebool, setsebool_args, 0, "Set a boolean." EXAMPLE("setsebool virt_use_usb off") },
    { "setsebools", se_setsebools, setsebools_args, 0,
      "Set booleans." EXAMPLE("setsebools '{virt_use_usb: on, squid_use_tproxy: off}'") },
    { "setsemod", se_setsemod, setsemod_args, 0,
      "Enable or disable a module." EXAMPLE("setsemod nagios Enabled") },
};

PLUGIN(exec, selinux, .doc = "SELinux", FUNCS(funcs), .unavailable = selinux_unavailable);
