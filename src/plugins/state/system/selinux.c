/* selinux.c - state module `selinux`: mode, booleans, modules and file and port contexts of SELinux, by
 * getenforce(8), setsebool(8), semodule(8) and semanage(8) through the module `selinux`. Mode and booleans
 * have two values each: the one that holds now, and the one after the next start, which is in a file. Words
 * of the SLS may be written in many ways, also as YAML's booleans. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/system/secontext.h"
#include "salt/state.h"

/* ---- words of the SLS -------------------------------------------------------------------------- */

/* In small letters. NEW. */
static char *
small(const json_t *value)
{
    char *text = value_pystr(value);

    for (char *c = text; *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char) (*c - 'A' + 'a');
    }
    return text;
}

/* True when the text is one of these, up to NULL. */
static bool
se_word_in(const char *text, const char *const *words)
{
    while (*words != NULL && strcmp(*words, text) != 0)
        words++;
    return *words != NULL;
}

static const char *const yes[] = { "1", "on", "yes", "true", "enabled", NULL };
static const char *const no[] = { "0", "off", "no", "false", "disabled", NULL };

/* The mode that a word means: its first letter, or a switch. NULL for what is no mode. BORROWED. */
static const char *
se_mode_word(const json_t *value)
{
    AUTO_FREE char *word = small(value);

    if (*word == 'e' || strcmp(word, "1") == 0 || strcmp(word, "on") == 0)
        return "Enforcing";
    if (*word == 'p' || strcmp(word, "0") == 0 || strcmp(word, "off") == 0)
        return "Permissive";
    return *word == 'd' ? "Disabled" : NULL;
}

/* ---- mode -------------------------------------------------------------------------------------- */

/* SELinux can be switched off only by a restart: until then it is made permissive, and that counts as
 * done. */
static int
se_mode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    AUTO_FREE char *name = value_pystr(value_get(args, "name"));
    const char *want = se_mode_word(value_get(args, "name"));

    if (want == NULL)
        return state_ret_set(ret, STATE_FALSE, "%s is not an accepted mode", name);
    json_auto_t *mode = sub_call(ctx, err, "selinux.getenforce", NULL);
    json_auto_t *config = mode != NULL ? sub_call(ctx, err, "selinux.getconfig", NULL) : NULL, *now = NULL;
    if (config == NULL)
        return err->code;
    bool runs = str_eq(json_string_value(mode), want), kept = str_eq(json_string_value(config), want);
    bool off = strcmp(want, "Disabled") == 0;
    if (runs && kept)
        return state_ret_set(ret, STATE_TRUE, "SELinux is already in %s mode", want);
    if (off && kept && str_eq(json_string_value(mode), "Permissive"))
        return state_ret_set(ret, STATE_TRUE, "SELinux will be in %s mode after a restart", want);
    json_t *old = runs ? config : mode;
    if (ctx_test(ctx)) {
        state_change_set(ret, json_pack("{s:O, s:s}", "old", old, "new", off && !runs ? "Permissive" : want));
        return state_ret_set(ret, STATE_NONE, "SELinux mode is set to be changed to %s", want);
    }
    if ((now = sub_call(ctx, err, "selinux.setenforce", "{s:s}", "mode", want)) == NULL)
        return err->code;
    json_auto_t *written = sub_call(ctx, err, "selinux.getconfig", NULL);
    if (written == NULL)
        return err->code;
    if (!str_eq(json_string_value(now), want) && !(off && str_eq(json_string_value(written), want)))
        return state_ret_set(ret, STATE_FALSE, "Failed to set SELinux to %s mode", want);
    state_change_set(ret, json_pack("{s:O, s:O}", "old", old, "new", now));
    return state_ret_set(ret, STATE_TRUE, "SELinux has been set to %s mode", want);
}

/* ---- booleans ---------------------------------------------------------------------------------- */

/* "enabled" and "disabled" are no words for booleans, though they are for modules, as in Salt. */
static int
se_boolean(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *value = small(value_get(args, "value")), *given = value_pystr(value_get(args, "value"));
    bool persist = value_bool(args, "persist", false);
    json_auto_t *all = sub_call(ctx, err, "selinux.list_sebool", NULL);
    const json_t *one = value_get(all, name);

    if (all == NULL)
        return err->code;
    if (one == NULL)
        return state_ret_set(ret, STATE_FALSE, "Boolean %s is not available", name);
    const char *want = strcmp(value, "enabled") == 0 || strcmp(value, "disabled") == 0 ? NULL
                       : se_word_in(value, yes)                                        ? "on"
                       : se_word_in(value, no)                                         ? "off"
                                                                                       : NULL;
    if (want == NULL)
        return state_ret_set(ret, STATE_FALSE, "%s is not a valid value for the boolean", given);
    bool state = strcmp(value_str(one, "State", ""), want) == 0;
    bool dflt = strcmp(value_str(one, "Default", ""), want) == 0;
    if (state && (dflt || !persist))
        return state_ret_set(ret, STATE_TRUE, "Boolean is in the correct state");
    if (!ctx_test(ctx)) {
        int done = sub_call_bool(ctx, err, "selinux.setsebool", "{s:s, s:s, s:b}", "boolean", name, "value",
                                 want, "persist", persist);
        if (done <= 0)
            return done < 0
                       ? done
                       : state_ret_set(ret, STATE_FALSE, "Failed to set the boolean %s to %s", name, want);
    }
    state_change_from(ret, "State", json_incref(value_get(one, "State")), json_string(want));
    if (persist && !dflt)
        state_change_from(ret, "Default", json_incref(value_get(one, "Default")), json_string(want));
    return ctx_test(ctx) ? state_ret_set(ret, STATE_NONE, "Boolean %s is set to be changed to %s", name, want)
                         : state_ret_set(ret, STATE_TRUE, "Boolean %s has been set to %s", name, want);
}

/* ---- modules ----------------------------------------------------------------------------------- */

/* 1 when a module of the file's name is there, 0, or negative with *err. */
static int
is_installed(call_ctx_t *ctx, const char *path, fail_t *err)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    AUTO_FREE char *name = xstrndup(base, strcspn(base, "."));
    json_auto_t *all = sub_call(ctx, err, "selinux.list_semod", NULL);

    return all == NULL ? err->code : value_get(all, name) != NULL ? 1 : 0;
}

/* Installs a module's file, also where such a module is there: the file may be another version. A module that
 * was not there is a change. */
static int
se_install(call_ctx_t *ctx, json_t *ret, const char *path, fail_t *err)
{
    int there = is_installed(ctx, path, err), done = 1;

    json_object_set_new(ret, "name", json_string(path));
    if (there < 0)
        return there;
    if (!ctx_test(ctx) &&
        (done = sub_call_bool(ctx, err, "selinux.install_semod", "{s:s}", "module_path", path)) < 0)
        return done;
    if (done == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to install module %s", path);
    if (there == 0)
        state_change(ret, path, json_string("Installed"));
    if (ctx_test(ctx))
        return state_ret_set(ret, there == 0 ? STATE_NONE : STATE_TRUE, "Module %s is set to be installed",
                             path);
    return state_ret_set(ret, STATE_TRUE, "Module %s has been installed", path);
}

static int
se_module_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return se_install(ctx, *ret_value = state_ret_args(args), value_str(args, "name", ""), err);
}

/* A module that is not there fails the state, as in Salt. */
static int
se_module_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *all = sub_call(ctx, err, "selinux.list_semod", NULL);

    if (all == NULL)
        return err->code;
    if (value_get(all, name) == NULL)
        return state_ret_set(ret, STATE_FALSE, "Module %s is not available", name);
    int done = ctx_test(ctx) ? 1 : sub_call_bool(ctx, err, "selinux.remove_semod", "{s:s}", "module", name);
    if (done <= 0)
        return done < 0 ? done : state_ret_set(ret, STATE_FALSE, "Failed to remove module %s", name);
    state_change(ret, name, json_string("Removed"));
    return ctx_test(ctx) ? state_ret_set(ret, STATE_NONE, "Module %s is set to be removed", name)
                         : state_ret_set(ret, STATE_TRUE, "Module %s has been removed", name);
}

/* Removes, or installs and then enables or disables. A test can't enable what is not there yet: it ends with
 * the installation. */
static int
se_module(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *opts = value_get(args, "opts");
    const char *name = value_str(args, "name", "");
    bool install = value_truthy(value_get(opts, "install")), drop = value_truthy(value_get(opts, "remove"));

    if (install && drop)
        return state_ret_set(ret, STATE_FALSE, "Cannot install and remove at the same time");
    if (drop) {
        json_decref(ret);
        return se_module_remove(ctx, args, ret_value, err);
    }
    if (install) {
        int rc = se_install(ctx, ret, value_str(opts, "source", name), err);
        if (rc != 0 || !json_is_true(value_get(ret, "result")) || ctx_test(ctx))
            return rc;
    }

    /* The module is enabled or not. */
    AUTO_FREE char *given = value_pystr(value_get(args, "module_state")),
                   *word = small(value_get(args, "module_state"));
    AUTO_FREE char *version = value_pystr(value_get(args, "version"));
    json_auto_t *all = sub_call(ctx, err, "selinux.list_semod", NULL);
    const json_t *one = value_get(all, name);
    bool on = se_word_in(word, yes);
    if (all == NULL)
        return err->code;
    if (one == NULL)
        return state_ret_set(ret, STATE_FALSE, "Module %s is not available", name);
    if (!on && !se_word_in(word, no))
        return state_ret_set(ret, STATE_FALSE, "%s is not a valid state for the %s module.", given, name);
    AUTO_FREE char *installed = value_pystr(value_get(one, "Version"));
    if (strcmp(version, "any") != 0 && strcmp(version, installed) != 0)
        return state_ret_set(
            ret, STATE_FALSE,
            "Module version is %s and does not match the desired version of %s or you are using "
            "semodule >= 2.4",
            installed, version);
    if (value_bool(one, "Enabled", false) == on)
        return state_ret_set(ret, STATE_TRUE, "Module %s is in the desired state", name);
    const char *want = on ? "enabled" : "disabled";
    int done = ctx_test(ctx)
                   ? 1
                   : sub_call_bool(ctx, err, "selinux.setsemod", "{s:s, s:s}", "module", name, "state", want);
    if (done <= 0)
        return done < 0 ? done
                        : state_ret_set(ret, STATE_FALSE, "Failed to set the Module %s to %s", name, given);
    state_change_from(ret, name, json_string(on ? "disabled" : "enabled"), json_string(want));
    return ctx_test(ctx) ? state_ret_set(ret, STATE_NONE, "Module %s is set to be toggled to %s", name, given)
                         : state_ret_set(ret, STATE_TRUE, "Module %s has been set to %s", name, given);
}

/* ---- contexts of files -------------------------------------------------------------------------- */

/* Runs a function over the arguments of the state that it has. NEW, or NULL with *err. */
static json_t *
se_call(call_ctx_t *ctx, const char *fun, const json_t *args, const char *const *names, fail_t *err)
{
    json_auto_t *call = json_object();
    json_t *value = NULL;

    for (; *names != NULL; names++)
        json_object_set(call, *names, value_get(args, *names));
    return ctx_call(ctx, fun, NULL, call, &value, err) == 0 ? value : NULL;
}

static const char *const fcontext_names[] = { "name", "filetype", "sel_type", "sel_user", "sel_level", NULL };

/* Ends a state by what a program answered: result, and a comment where it failed. */
static int
se_finish(json_t *ret, const json_t *did, const char *failed)
{
    AUTO_FREE char *text = value_pystr(did);

    if (value_int(did, "retcode", -1) == 0)
        return state_ret_set(ret, STATE_TRUE, "%s", "");
    return state_ret_set(ret, STATE_FALSE, "%s: %s", failed, text);
}

/* Test mode has changes but an empty comment, as Salt has it. */
static int
se_fcontext_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *type = value_str(args, "sel_type", "");
    json_auto_t *kind = sub_call_text(ctx, err, "selinux.filetype_id_to_string", "{s:O}", "filetype",
                                      value_get(args, "filetype"));
    json_auto_t *now = kind != NULL ? se_call(ctx, "selinux.fcontext_get_policy", args, fcontext_names, err)
                                    : NULL;

    if (now == NULL)
        return err->code;
    if (!json_is_null(now))
        return state_ret_set(
            ret, STATE_TRUE,
            "SELinux policy for \"%s\" already present with specified filetype \"%s\" and sel_type \"%s\".",
            name, json_string_value(kind), type);
    json_t *changes = json_pack("{s:{}, s:{s:{s:O, s:s}}}", "old", "new", name, "filetype", kind, "sel_type",
                                type);
    if (ctx_test(ctx)) {
        state_change_set(ret, changes);
        return state_ret_set(ret, STATE_NONE, "%s", "");
    }
    json_auto_t *did = se_call(ctx, "selinux.fcontext_add_policy", args, fcontext_names, err);
    if (did != NULL && se_finish(ret, did, "Error adding new rule") == 0 &&
        json_is_true(value_get(ret, "result")))
        state_change_set(ret, json_incref(changes));
    json_decref(changes);
    return did != NULL ? 0 : err->code;
}

/* A type in the SLS restricts the rules that are meant; without it any rule of the path is. */
static int
se_fcontext_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *now = se_call(ctx, "selinux.fcontext_get_policy", args, fcontext_names, err);
    AUTO_FREE char *type = value_pystr(value_get(args, "sel_type"));

    if (now == NULL)
        return err->code;
    if (json_is_null(now))
        return state_ret_set(
            ret, STATE_TRUE,
            "SELinux policy for \"%s\" already absent with specified filetype \"%s\" and sel_type \"%s\".",
            name, value_str(args, "filetype", ""), type);
    state_change_set(ret, json_pack("{s:{s:O}, s:{}}", "old", name, now, "new"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s", "");
    json_auto_t *call = json_copy(args);
    /* semanage wants the type also for a deletion. */
    if (!value_truthy(value_get(args, "sel_type")))
        json_object_set(call, "sel_type", value_get(now, "sel_type"));
    json_auto_t *did = se_call(ctx, "selinux.fcontext_delete_policy", call, fcontext_names, err);
    return did != NULL ? se_finish(ret, did, "Error removing policy") : err->code;
}

/* restorecon in test mode prints the relabelings that it would do; these are the changes. */
static int
se_fcontext_applied(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "name", "recursive", NULL };
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *told = se_call(ctx, "selinux.fcontext_policy_is_applied", args, names, err);

    if (told == NULL)
        return err->code;
    if (json_string_length(told) == 0)
        return state_ret_set(ret, STATE_TRUE, "SElinux policies are already applied for filespec \"%s\"",
                             value_str(args, "name", ""));
    if (ctx_test(ctx)) {
        json_t *changes = secontext_relabels(json_string_value(told), err);
        if (err->code != 0)
            return err->code;
        state_change_set(ret, changes != NULL ? changes : json_object());
        return state_ret_set(ret, STATE_NONE, "%s", "");
    }
    json_auto_t *did = se_call(ctx, "selinux.fcontext_apply_policy", args, names, err);
    if (did == NULL)
        return err->code;
    if (value_int(did, "retcode", -1) != 0) {
        json_object_set_new(ret, "result", json_false());
        json_object_set(ret, "comment", did);
        return 0;
    }
    if (value_get(did, "changes") != NULL)
        state_change_set(ret, json_incref(value_get(did, "changes")));
    return 0;
}

/* ---- contexts of ports -------------------------------------------------------------------------- */

static const char *const port_names[] = { "name", "sel_type", "protocol", "port", NULL };

/* The row says whether the context is to be there. In test mode its ports are the one of the SLS: where
 * semanage puts it among the others is not known before. */
static int
se_port(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const add[] = { "name", "sel_type", "protocol", "port", "sel_range", NULL };
    static const char *const drop[] = { "name", "protocol", "port", NULL };
    json_t *ret = *ret_value = state_ret_args(args);
    bool present = ctx_row(ctx)->data.number != 0;
    json_auto_t *old = se_call(ctx, "selinux.port_get_policy", args, port_names, err), *now = NULL;

    if (old == NULL)
        return err->code;
    if (json_is_null(old) != present) {
        /* The comment where there is nothing to do. */
        AUTO_FREE char *type = value_pystr(value_get(args, "sel_type"));
        AUTO_FREE char *protocol = value_pystr(value_get(args, "protocol")),
                       *port = value_pystr(value_get(args, "port"));
        return state_ret_set(
            ret, STATE_TRUE,
            "SELinux policy for \"%s\" already %s with specified sel_type \"%s\", protocol \"%s\" and port \"%s\".",
            value_str(args, "name", ""), (present ? "present" : "absent"), type, protocol, port);
    }
    if (ctx_test(ctx)) {
        const char *name = value_str(args, "name", ""), *slash = strchr(name, '/');
        if (slash == NULL || (!str_starts(name, "tcp/") && !str_starts(name, "udp/")))
            slash = NULL;
        AUTO_FREE char *protocol = slash != NULL ? xstrndup(name, (size_t) (slash - name))
                                                 : value_pystr(value_get(args, "protocol"));
        AUTO_FREE char *port = slash != NULL ? xstrdup(slash + 1) : value_pystr(value_get(args, "port"));
        state_change_set(ret, present
                                  ? json_pack("{s:n, s:{s:O, s:s, s:s}}", "old", "new", "sel_type",
                                              value_get(args, "sel_type"), "protocol", protocol, "port", port)
                                  : json_pack("{s:O, s:n}", "old", old, "new"));
        return state_ret_set(ret, STATE_NONE, "%s", "");
    }
    json_auto_t *did = se_call(ctx, present ? "selinux.port_add_policy" : "selinux.port_delete_policy", args,
                               present ? add : drop, err);
    if (did == NULL)
        return err->code;
    se_finish(ret, did, present ? "Error adding new policy" : "Error deleting policy");
    if (!json_is_true(value_get(ret, "result")))
        return 0;
    if ((now = se_call(ctx, "selinux.port_get_policy", args, port_names, err)) == NULL)
        return err->code;
    state_change_set(ret, json_pack("{s:O, s:O}", "old", old, "new", now));
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------- */

static const char *
state_selinux_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "selinux.getenforce") ? NULL : "selinux module could not be loaded";
}

#define MODULE_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The module")
#define SPEC_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "The files, a regular expression: /srv/www(/.*)?")
#define KIND_ROW   ARG("filetype", ARG_STR, "\"a\"", "a, f, d, c, b, s, l or p")
#define REST_ROWS  ARG("sel_user", ARG_STR, "null", "Its user"), ARG("sel_level", ARG_STR, "null", "Its level")
#define PORT_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "tcp/8080, udp/20-21")
#define PROTO_ROWS                                                                                           \
    ARG("protocol", ARG_STR, "null", "tcp or udp, when the name does not say"),                              \
        ARG("port", ARG_ANY, "null", "The port, when the name does not say")

static const arg_t mode_args[] = { ARG("name", ARG_ANY, ARG_REQUIRED, "enforcing, permissive or disabled"),
                                   ARGS_END };
static const arg_t boolean_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The boolean"),
                                      ARG("value", ARG_ANY, ARG_REQUIRED, "on or off"),
                                      ARG("persist", ARG_BOOL, "false", "Keep it over restarts"), ARGS_END };
static const arg_t module_args[] = {
    MODULE_ROW, ARG("module_state", ARG_ANY, "\"Enabled\"", "Enabled or Disabled"),
    ARG("version", ARG_ANY, "\"any\"", "The version that it must have"),
    ARG("opts", ARG_ANY, ARG_STARSTAR, "install, source, remove", "install source remove"), ARGS_END
};
static const arg_t install_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Its file: salt://... or a path"),
                                      ARGS_END };
static const arg_t remove_args[] = { MODULE_ROW, ARGS_END };
static const arg_t fcontext_present_args[] = { SPEC_ROW,
                                               ARG("sel_type", ARG_STR, ARG_REQUIRED, "Type of the context"),
                                               KIND_ROW, REST_ROWS, ARGS_END };
static const arg_t fcontext_absent_args[] = { SPEC_ROW, KIND_ROW,
                                              ARG("sel_type", ARG_STR, "null", "Type of the context"),
                                              REST_ROWS, ARGS_END };
static const arg_t applied_args[] = { SPEC_ROW, ARG("recursive", ARG_BOOL, "false", "What is below, too"),
                                      ARGS_END };
static const arg_t port_present_args[] = { PORT_ROW,
                                           ARG("sel_type", ARG_STR, ARG_REQUIRED, "Type of the context"),
                                           PROTO_ROWS, ARG("sel_range", ARG_STR, "null", "Its range"),
                                           ARGS_END };
static const arg_t port_absent_args[] = { PORT_ROW, ARG("sel_type", ARG_STR, "null", "Type of the context"),
                                          PROTO_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "boolean", se_boolean, boolean_args, 0, "Ensure that a boolean has a value." },
    { "fcontext_policy_absent", se_fcontext_absent, fcontext_absent_args, 0,
      "Ensure that files have no context of their own." },
    { "fcontext_policy_applied", se_fcontext_applied, applied_args, 0,
      "Ensure that files have their contexts." },
    { "fcontext_policy_present", se_fcontext_present, fcontext_present_args, 0,
      "Ensure that files are to have a context." },
    { "mode", se_mode, mode_args, 0, "Ensure that SELinux is in a mode, now and after a restart." },
    { "module", se_module, module_args, 0, "Ensure that a module is enabled, or disabled." },
    { "module_install", se_module_install, install_args, 0, "Install a module from a file." },
    { "module_remove", se_module_remove, remove_args, 0, "Remove a module." },
    { "port_policy_absent", se_port, port_absent_args, 0, "Ensure that a port has no context of its own." },
    { "port_policy_present", se_port, port_present_args, 0, "Ensure that a port has a context.",
      .data.number = 1 },
};

PLUGIN(state, selinux, .doc = "SELinux", FUNCS(funcs), .unavailable = state_selinux_unavailable);
