/* selinux.c - execution module `selinux`: mode, booleans and modules of SELinux, by semanage, setsebool and
 * semodule; contexts are in selinux_context.c. The mode is read from and written to the kernel's own file
 * (selinuxfs), and to /etc/selinux/config for the next boot. */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

#define CONFIG "/etc/selinux/config"

/* ---- programs --------------------------------------------------------------------------------- */

/* Runs the words of `prog`, unless one was refused before (*err). NEW as cmd.run_all, or NULL with *err. */
static json_t *
se_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err)
{
    prog->timeout_ms = LIMIT_TOOL_MS;
    return err->code == 0 ? tool_run(ctx, prog, flags, err) : NULL;
}

/* All that a program prints, stderr too. `b` may be NULL. NEW text, or NULL with *err. */
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

/* Answers True or False: whether the program ended well. */
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

/* The folder of the kernel's files, which older systems mount at the root; NULL: SELinux is disabled, or
 * *err. BORROWED. */
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

/* "Enforcing", "Permissive", or "Disabled" where the kernel has no such file. A constant, or NULL with
 * *err. */
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

/* Writes the mode ("1" or "0") into the kernel's file; where SELinux is disabled there is none, and nothing
 * to do. 0, or negative with *err. */
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

/* Sets the mode now and for the next boot, and returns the one that is in force. "Disabled" is in force
 * only after the next boot: until then it is permissive. */
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
    /* Read before the kernel's file is written, so that a host without a configuration is left as it is. */
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

/* {boolean: {State, Default, Description}} of `semanage boolean -l`, whose lines are "NAME  (on   ,   on)
 * text" below a heading. */
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

/* An entry of what the row's function lists; {} when it is not there. */
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

/* `persist` writes the policy, which takes seconds; without it the boolean holds until the next boot. */
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

/* Several booleans in one run, which is one change of the policy; anything but a dict is {}, as in Salt. */
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
        /* Newer programs know -lfull, and their help says so. */
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

/* Runs semodule with an option and its operand. True or False. */
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

/* A state that is neither of the two is an error that names both. */
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

/* A path of the minion, or a file of the file server, which is fetched first. */
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

#define BOOLEAN_ROW ARG("boolean", ARG_STR, ARG_REQUIRED, "The boolean")
#define PERSIST_ROW ARG("persist", ARG_BOOL, "false", "Keep it over restarts")
#define MODULE_ROW  ARG("module", ARG_STR, ARG_REQUIRED, "The module")

static const arg_t mode_args[] = { ARG("mode", ARG_ANY, ARG_REQUIRED, "enforcing, permissive, disabled"),
                                   ARGS_END };
static const arg_t boolean_args[] = { BOOLEAN_ROW, ARGS_END };
static const arg_t setsebool_args[] = { BOOLEAN_ROW, ARG("value", ARG_ANY, ARG_REQUIRED, "on or off"),
                                        PERSIST_ROW, ARGS_END };
static const arg_t setsebools_args[] = { ARG("pairs", ARG_ANY, ARG_REQUIRED, "{boolean: on or off}"),
                                         PERSIST_ROW, ARGS_END };
static const arg_t module_args[] = { MODULE_ROW, ARGS_END };
static const arg_t setsemod_args[] = { MODULE_ROW, ARG("state", ARG_STR, ARG_REQUIRED, "Enabled or Disabled"),
                                       ARGS_END };
static const arg_t install_args[] = {
    ARG("module_path", ARG_STR, ARG_REQUIRED, "Its file: salt://... or a path"), ARGS_END
};

#define EXAMPLE(call) CLI_EXAMPLE("salt '*' selinux." call)

static const func_t funcs[] = {
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
