/* kmod.c - execution module `kmod`: kernel modules, by lsmod, modprobe and rmmod, and the file that names
 * those to be loaded at the next start: /etc/modules-load.d/salt_managed.conf with systemd
 * (modules-load.d(5)), else /etc/modules. A module's name has underscores where its file may have hyphens.
 * Answers to changes are lists of names, since one module brings others. */
#include <sys/utsname.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

#define MODULES      "/lib/modules/"
#define MODULES_CONF "/etc/modules"
#define SYSTEMD_CONF "/etc/modules-load.d/salt_managed.conf"
#define MOD(args)    value_str(args, "mod", "")

enum { MODULES_DEPTH = 16 };

/* The file that names the modules of the next start. A constant. */
static const char *
conf_file(call_ctx_t *ctx)
{
    return value_get(ctx_grains(ctx), "systemd") != NULL ? SYSTEMD_CONF : MODULES_CONF;
}

/* The first word: "bonding mode=4" is the module bonding with an option. NEW. */
static char *
kmod_name(const char *mod)
{
    const char *from = mod + strspn(mod, " \t\r\n");

    return xstrndup(from, strcspn(from, " \t\r\n"));
}

/* ---- what there is -------------------------------------------------------------------------- */

/* Adds the names of all files NAME.ko, NAME.ko.xz and the like below a folder. Links (build, source) are
 * not followed: they lead to the kernel's source. 0, or negative with *err. */
static int
collect_modules(const char *folder, int depth, json_t *into, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(folder, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]);
        char *end = strstr(names[i], ".ko");
        if (fs_is_dir(path) && depth < MODULES_DEPTH && !fop_lexists_as(path, S_IFLNK, err))
            rc = collect_modules(path, depth + 1, into, err);
        else if (end != NULL) {
            *end = '\0';
            AUTO_FREE char *name = str_replace(names[i], "-", "_");
            json_array_append_new(into, json_string(name));
        }
    }
    strv_free(names);
    return rc;
}

/* All modules of the running kernel, sorted, also those that are part of it (modules.builtin). NEW, or NULL
 * with *err. */
static json_t *
available_modules(fail_t *err)
{
    struct utsname host;
    json_auto_t *all = json_array();
    buf_auto_t text = BUF_INIT;

    salt_assert(uname(&host) == 0);
    AUTO_FREE char *folder = xasprintf(MODULES "%s", host.release),
                   *builtin = fs_join(folder, "modules.builtin");
    if (fs_read_any(builtin, LIMIT_HOST_FILE, &text, err) < 0)
        return NULL;
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        const char *base = fop_basename(line);
        size_t len = strlen(base);
        if (len > strlen(".ko"))
            json_array_append_new(all, json_stringn(base, len - strlen(".ko")));
    }
    return collect_modules(folder, 0, all, err) == 0 ? value_sorted_texts(all) : NULL;
}

/* lsmod's lines: [{size, module, depcount, deps}]. NEW, or NULL with *err. */
static json_t *
loaded_modules(call_ctx_t *ctx, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "lsmod", err);

    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = rc == 0 ? tool_run(ctx, &prog, TOOL_MERGE, err) : NULL;
    if (out == NULL)
        return NULL;
    json_t *list = json_array();
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        size_t n = strv_len(words);
        json_t *deps = json_array();
        char **names = n > 3 ? str_split(words[3], ",", false) : NULL;
        for (size_t i = 0; names != NULL && names[i] != NULL; i++)
            json_array_append_new(deps, json_string(names[i]));
        if (n > 2 && strcmp(words[0], "Module") != 0)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:O}", "size", words[1], "module",
                                                  words[0], "depcount", words[2], "deps", deps));
        json_decref(deps);
        strv_free(names);
        strv_free(words);
    }
    return list;
}

/* The names sorted, each once. NEW. */
static json_t *
sorted_once(const json_t *names)
{
    json_auto_t *once = json_array();
    json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        if (!value_has(once, name))
            json_array_append(once, name);
    }
    return value_sorted_texts(once);
}

/* Names of what lsmod lists. NEW, or NULL with *err. */
static json_t *
loaded_names(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *list = loaded_modules(ctx, err), *names = json_array();
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one)
        json_array_append(names, value_get(one, "module"));
    return list != NULL ? sorted_once(names) : NULL;
}

/* Names in the file. NEW, or NULL with *err. */
static json_t *
kept_names(call_ctx_t *ctx, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_auto_t *names = json_array();

    if (fs_read_any(conf_file(ctx), LIMIT_HOST_FILE, &text, err) < 0)
        return NULL;
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        AUTO_FREE char *name = kmod_name(line);
        if (*name != '\0' && *name != '#')
            json_array_append_new(names, json_string(name));
    }
    return sorted_once(names);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Names the module in the file: 1 when it does now and did not before, 0, or negative with *err. A module
 * that the kernel does not have is not named; a line that is a comment is taken back into use. */
static int
keep_module(call_ctx_t *ctx, const char *mod, fail_t *err)
{
    const char *conf = conf_file(ctx);
    AUTO_FREE char *name = kmod_name(mod), *escaped = rx_escape(mod),
                   *commented = xasprintf("^#[\t ]*%s[\t ]*$", escaped);
    json_auto_t *kept = kept_names(ctx, err), *all = kept != NULL ? available_modules(err) : NULL,
                *done = NULL;

    if (all == NULL)
        return err->code;
    if (fs_absent(conf) && (done = sub_call(ctx, err, "file.touch", "{s:s}", "name", conf)) == NULL)
        return err->code;
    if (value_lists(kept, name) || !value_lists(all, name))
        return 0;
    int found = sub_call_bool(ctx, err, "file.search", "{s:s, s:s, s:b}", "path", conf, "pattern", commented,
                              "multiline", 1);
    if (found < 0)
        return found;
    json_decref(STEAL(done));
    done = found > 0 ? sub_call(ctx, err, "file.uncomment", "{s:s, s:s}", "path", conf, "regex", escaped)
                     : sub_call(ctx, err, "file.append", "{s:s, s:[s]}", "path", conf, "args", mod);
    return done != NULL ? 1 : err->code;
}

/* Takes the module out of the file, by a "#" before its line or (not `comment`) with its name: 1, 0, or
 * negative with *err. */
static int
drop_module(call_ctx_t *ctx, const char *mod, bool comment, fail_t *err)
{
    const char *conf = conf_file(ctx);
    AUTO_FREE char *name = kmod_name(mod), *escaped = rx_escape(mod),
                   *line = xasprintf("^[\t ]*%s[\t ]?", escaped);
    json_auto_t *kept = kept_names(ctx, err);

    if (kept == NULL)
        return err->code;
    if (!value_lists(kept, name))
        return 0;
    json_auto_t *done = comment
                            ? sub_call(ctx, err, "file.comment", "{s:s, s:s}", "path", conf, "regex", line)
                            : sub_call(ctx, err, "file.sed", "{s:s, s:s, s:s}", "path", conf, "before", line,
                                       "after", "");
    return done != NULL ? 1 : err->code;
}

/* ---- functions ------------------------------------------------------------------------------ */

static int
kmod_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = available_modules(err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
kmod_check_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = available_modules(err);

    *ret_value = all != NULL ? json_boolean(value_lists(all, MOD(args))) : NULL;
    return all != NULL ? 0 : err->code;
}

static int
kmod_lsmod(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = loaded_modules(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
kmod_mod_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = value_bool(args, "only_persist", false) ? kept_names(ctx, err) : loaded_names(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
kmod_is_loaded(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = loaded_names(ctx, err);

    *ret_value = names != NULL ? json_boolean(value_lists(names, MOD(args))) : NULL;
    return names != NULL ? 0 : err->code;
}

/* Adds to `into` the names of one list that are not in the other. */
static void
kmod_difference(const json_t *in, const json_t *not_in, json_t *into)
{
    json_t *one;
    size_t i;

    json_array_foreach (in, i, one) {
        if (!value_has(not_in, one))
            json_array_append(into, one);
    }
}

/* Runs the program with the words of `mod`, of which the first is the module and the others its options.
 * NEW as cmd.run_all, or NULL with *err. */
static json_t *
kmod_run(call_ctx_t *ctx, const char *program, const char *mod, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, program, err) < 0 || field_check_text("mod", mod, FIELD_LINE, err) < 0)
        return NULL;
    char **words = prog_split(mod, err);
    for (size_t i = 0; words != NULL && words[i] != NULL && err->code == 0; i++)
        (void) prog_operand(&prog, "mod", words[i], err);
    strv_free(words);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return err->code == 0 ? tool_run(ctx, &prog, 0, err) : NULL;
}

/* Loads by modprobe, or takes away by rmmod, as the row says. The answer names what has come or gone,
 * sorted, with the module that the file has, or no longer has. A program that fails is a text, as in
 * Salt. */
static int
kmod_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool load = ctx_row(ctx)->data.number != 0, persist = value_bool(args, "persist", false);
    json_auto_t *before = loaded_names(ctx, err), *all = json_array();
    json_auto_t *out = before != NULL ? kmod_run(ctx, load ? "modprobe" : "rmmod", MOD(args), err) : NULL;

    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0) {
        *ret_value = value_fmt("Error %s module %s: %s", load ? "loading" : "removing", MOD(args),
                               value_str(out, "stderr", ""));
        return 0;
    }
    json_auto_t *after = loaded_names(ctx, err);
    if (after == NULL)
        return err->code;
    /* The difference of two looks, not the program's word: it also shows what came along. */
    kmod_difference(load ? after : before, load ? before : after, all);
    int kept = !persist ? 0
               : load   ? keep_module(ctx, MOD(args), err)
                        : drop_module(ctx, MOD(args), value_bool(args, "comment", true), err);
    AUTO_FREE char *name = kmod_name(MOD(args));
    if (kept > 0)
        json_array_append_new(all, json_string(name));
    *ret_value = kept >= 0 ? sorted_once(all) : NULL;
    return kept < 0 ? kept : 0;
}

/* ---- table ---------------------------------------------------------------------------------- */

#define MOD_ROW     ARG("mod", ARG_STR, ARG_REQUIRED, "The module, with its options for load: bonding mode=4")
#define PERSIST_ROW ARG("persist", ARG_BOOL, "false", "In the file for the next start too")

static const arg_t mod_args[] = { MOD_ROW, ARGS_END };
static const arg_t list_args[] = { ARG("only_persist", ARG_BOOL, "false", "Those that the file names"),
                                   ARGS_END };
static const arg_t load_args[] = { MOD_ROW, PERSIST_ROW, ARGS_END };
static const arg_t remove_args[] = {
    MOD_ROW, PERSIST_ROW, ARG("comment", ARG_BOOL, "true", "Comment the line out instead of removing it"),
    ARGS_END
};

static const func_t funcs[] = {
    { "available", kmod_available, NULL, FN_READONLY,
      "Return all modules of the running kernel." CLI_EXAMPLE("salt '*' kmod.available") },
    { "check_available", kmod_check_available, mod_args, FN_READONLY,
      "Return whether the running kernel has a module." CLI_EXAMPLE("salt '*' kmod.check_available kvm"),
      UNDEFINED("false") },
    { "is_loaded", kmod_is_loaded, mod_args, FN_READONLY,
      "Return whether a module is loaded." CLI_EXAMPLE("salt '*' kmod.is_loaded kvm") },
    { "load", kmod_change, load_args, 0,
      "Load a module; return what was loaded with it." CLI_EXAMPLE("salt '*' kmod.load kvm persist=True"),
      .data.number = 1 },
    { "lsmod", kmod_lsmod, NULL, FN_READONLY,
      "Return the loaded modules." CLI_EXAMPLE("salt '*' kmod.lsmod") },
    { "mod_list", kmod_mod_list, list_args, FN_READONLY,
      "Return the names of the loaded modules." CLI_EXAMPLE("salt '*' kmod.mod_list only_persist=True") },
    { "remove", kmod_change, remove_args, 0,
      "Unload a module; return what was unloaded." CLI_EXAMPLE("salt '*' kmod.remove kvm persist=True") },
};

PLUGIN(exec, kmod, .doc = "Kernel modules", FUNCS(funcs));
