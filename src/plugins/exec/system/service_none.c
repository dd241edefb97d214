/* service_none.c - execution module `service` where no init runs, as in most containers and in a root that
 * an image is made of: what the files tell, what systemctl changes in them, scripts that act by themselves,
 * and for the rest the reason and a way out. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/service/svcfiles.h"
#include "plugins/lib/service/systemctl.h"
#include "plugins/lib/call/tool.h"

static const char *
service_none_unavailable(call_ctx_t *ctx)
{
    return service_unless(ctx, SVC_NONE, "An init runs on this host.");
}

/* ---- what acts, or needs an init ----------------------------------------------------------------------- */

/* The error of what can't be done here: it names process 1, and a way out (`advice`). Always negative. */
static int
service_none_refuse(const char *name, const char *advice, fail_t *err)
{
    AUTO_FREE char *init = svc_init_name(NULL);

    return fail_kind(err, FAIL_COMMAND, -ENOTSUP, "%s%sno service manager runs here (process 1 is '%s'). %s",
                     name, *name != '\0' ? ": " : "", init, advice);
}

/* Lets a script or systemctl act. Images are built without an init that runs: the script acts itself, and
 * systemctl has nothing to do for a unit in a folder that is some system's root. *ret_code is theirs. 0, or
 * negative with *err. */
static int
act_without(call_ctx_t *ctx, const char *name, const char *script_action, const char *unit_action,
            unsigned flags, int *ret_code, fail_t *err)
{
    AUTO_FREE char *service = fs_which("service"), *systemctl = fs_which("systemctl");
    systemctl_t what = { unit_action, name, NULL, false, false, TOOL_QUIET | flags };

    if (service != NULL)
        return service_script(ctx, name, script_action, flags, ret_code, err);
    if (systemctl == NULL)
        return service_none_refuse(
            name,
            "Boot this host or container with systemd or another init, or run the program itself with "
            "cmd.run or as the container's own command",
            err);
    json_auto_t *ran = systemctl_run(ctx, &what, err);
    *ret_code = (int) value_int(ran, "retcode", 1);
    return ran != NULL ? 0 : err->code;
}

/* The program's verdict, True or False. */
static int
none_act(call_ctx_t *ctx, json_t *args, const char *action, json_t **ret_value, fail_t *err)
{
    int code = -1, rc = act_without(ctx, service_name(args), action, action, 0, &code, err);

    if (rc == 0)
        *ret_value = json_boolean(code == 0);
    return rc;
}

#define NONE_ACTION(function, action)                                                                        \
    static int none_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)               \
    {                                                                                                        \
        return none_act(ctx, args, action, ret_value, err);                                                  \
    }
NONE_ACTION(start, "start")
NONE_ACTION(stop, "stop")
NONE_ACTION(restart, "restart")
NONE_ACTION(reload, "reload")
NONE_ACTION(force_reload, "force-reload")

/* Whether a service runs, by its script or systemctl. 0, or negative with *err. */
static int
none_runs(call_ctx_t *ctx, const char *name, bool *ret_running, fail_t *err)
{
    int code = -1, rc = act_without(ctx, name, "status", "is-active", TOOL_QUIET, &code, err);

    *ret_running = rc == 0 && code == 0;
    return rc;
}

/* With a glob in the name {name: bool}; `sig` looks for a process instead. */
static int
none_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *sig = value_str(args, "sig", "");

    if (*sig != '\0')
        return service_by_signature(ctx, sig, ret_value, err);
    return service_status(ctx, args, svc_has_glob(service_name(args)) ? svc_all(NULL, err) : json_array(),
                          none_runs, ret_value, err);
}

static int
none_get_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_none_refuse("", "Use ps.top or status.procs for the processes that run", err);
}

/* True: unit files are read when systemd boots, so nothing is due. */
static int
none_systemctl_reload(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return 0;
}

/* ---- what the files tell ---------------------------------------------------------------------- */

static int
none_get_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = svc_all(service_root(args), err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* systemctl is-enabled's word; an init script's links for what has no unit. *ret_state: a constant, NULL
 * for neither. 0, or negative with *err. */
static int
state_of(const char *root, const char *name, const char **ret_state, fail_t *err)
{
    int rc = svc_unit_state(root, name, ret_state, err);

    if (rc == 0 && *ret_state == NULL)
        rc = svc_is_script(root, name, err);
    if (rc <= 0)
        return rc;
    json_auto_t *enabled = svc_scripts_enabled(root, svc_default_runlevel(root, err), err);
    *ret_state = svc_listed(enabled, name) ? "enabled" : "disabled";
    return enabled != NULL ? 0 : -EIO;
}

/* All names in a state, sorted. 0, or negative with *err. */
static int
names_in_state(json_t *args, const char *state, json_t **ret_value, fail_t *err)
{
    const char *root = service_root(args);
    json_auto_t *all = svc_all(root, err);
    json_auto_t *list = json_array();
    int rc = all != NULL ? 0 : -EIO;

    for (size_t i = 0; i < json_array_size(all) && rc == 0; i++) {
        json_t *name = json_array_get(all, i);
        const char *is;
        rc = state_of(root, json_string_value(name), &is, err);
        if (rc == 0 && str_eq(is, state))
            json_array_append(list, name);
    }
    if (rc == 0)
        *ret_value = STEAL(list);
    return rc;
}

static int
none_get_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return names_in_state(args, "enabled", ret_value, err);
}

static int
none_get_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return names_in_state(args, "disabled", ret_value, err);
}

static int
none_get_static(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return names_in_state(args, "static", ret_value, err);
}

/* True for a unit or script of that name, masked or not. */
static int
none_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *state;
    int rc = state_of(NULL, service_name(args), &state, err);

    if (rc == 0)
        *ret_value = json_boolean(state != NULL);
    return rc;
}

static int
none_missing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(none_available, ctx, args, ret_value, err);
}

/* True for the words with which systemctl is-enabled succeeds. */
static int
none_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const good[] = { "enabled", "enabled-runtime", "static", "indirect", "alias" };
    const char *state;
    int rc = state_of(service_root(args), service_name(args), &state, err);
    bool enabled = false;

    for (size_t i = 0; i < NELEMS(good); i++)
        enabled = enabled || str_eq(state, good[i]);
    if (rc == 0)
        *ret_value = json_boolean(enabled);
    return rc;
}

static int
none_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(none_enabled, ctx, args, ret_value, err);
}

static int
none_masked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = svc_masked(service_root(args), service_name(args), value_bool(args, "runtime", false), err);

    if (rc < 0)
        return rc;
    *ret_value = json_boolean(rc);
    return 0;
}

/* The unit file's own settings: what systemd would add to them by itself is not there. */
static int
none_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    json_t *settings;
    int rc = svc_unit_settings(service_root(args), name, &settings, err);

    if (rc == 0 && settings == NULL)
        return service_none_refuse(name, "There is no unit file of that name either", err);
    *ret_value = settings;
    return rc;
}

/* {name: path of the program that its unit file starts}. */
static int
none_execs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *root = service_root(args);
    json_auto_t *all = svc_units(root, err);
    json_auto_t *out = json_object();
    int rc = all != NULL ? 0 : -EIO;

    for (size_t i = 0; i < json_array_size(all) && rc == 0; i++) {
        const char *name = json_string_value(json_array_get(all, i));
        json_auto_t *settings = NULL;
        rc = svc_unit_settings(root, name, &settings, err);
        json_t *path = value_get(value_get(settings, "ExecStart"), "path");
        if (path != NULL)
            json_object_set(out, name, path);
    }
    if (rc == 0)
        *ret_value = STEAL(out);
    return rc;
}

/* True where systemctl is: it works on the files alone, which it calls offline. */
static int
none_offline(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *systemctl = fs_which("systemctl");

    *ret_value = json_boolean(systemctl != NULL);
    return 0;
}

/* ---- what systemctl changes in the files ------------------------------------------------------ */

/* Runs systemctl, which makes and removes links without a running systemd, too: images are built like that.
 * NEW run, or NULL with *err. */
static json_t *
change_files(call_ctx_t *ctx, json_t *args, const char *action, fail_t *err)
{
    systemctl_t what = { action, service_name(args), service_root(args), false, false, TOOL_QUIET };
    AUTO_FREE char *systemctl = fs_which("systemctl");

    if (systemctl != NULL)
        return systemctl_run(ctx, &what, err);
    service_none_refuse(what.name, "Install systemd's systemctl, which can do this without it running", err);
    return NULL;
}

/* True, or an error with what systemctl complained about. */
static int
must_change_files(call_ctx_t *ctx, json_t *args, const char *action, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = change_files(ctx, args, action, err);

    return ret != NULL ? systemctl_verdict(ret, ret_value, err) : -EIO;
}

/* Sets or removes the links of an init script by the host's own program, inside `root` when that is
 * given. */
static int
service_none_change_links(call_ctx_t *ctx, json_t *args, bool enable, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args), *root = service_root(args);
    AUTO_FREE char *update = fs_which("update-rc.d");
    prog_auto_t prog = PROG_INIT;

    if (update == NULL)
        return service_none_refuse(name, "Install update-rc.d, which makes the links of init scripts", err);
    if (prog_check_operand("name", name, err) < 0)
        return err->code;
    if (root != NULL)
        prog_adds(&prog, "chroot", "--", root, NULL);
    prog_adds(&prog, "update-rc.d", "-f", name, enable ? "defaults" : "remove", NULL);
    return tool_bool(ctx, &prog, TOOL_QUIET, ret_value, err);
}

static int
none_enable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    /* Removes the masks that the arguments name. */
    static const struct {
        const char *arg, *action;
        bool runtime;
    } masks[] = { { "unmask", "unmask", false }, { "unmask_runtime", "unmask --runtime", true } };
    int rc = 0;
    for (size_t i = 0; i < NELEMS(masks) && rc == 0; i++) {
        json_auto_t *done = NULL;
        if (value_bool(args, masks[i].arg, false))
            rc = svc_masked(service_root(args), service_name(args), masks[i].runtime, err);
        if (rc > 0)
            rc = must_change_files(ctx, args, masks[i].action, &done, err);
    }

    if (rc == 0)
        rc = svc_is_script_only(service_root(args), service_name(args), err);
    if (rc < 0)
        return rc;
    return rc > 0 ? service_none_change_links(ctx, args, true, ret_value, err)
                  : must_change_files(ctx, args, "enable", ret_value, err);
}

/* False instead of an error, as in the module for systemd. */
static int
none_disable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = svc_is_script_only(service_root(args), service_name(args), err);

    if (rc != 0)
        return rc < 0 ? rc : service_none_change_links(ctx, args, false, ret_value, err);
    json_auto_t *ret = change_files(ctx, args, "disable", err);
    if (ret == NULL)
        return -EIO;
    *ret_value = json_boolean(value_int(ret, "retcode", 1) == 0);
    return 0;
}

static int
none_mask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return must_change_files(ctx, args, value_bool(args, "runtime", false) ? "mask --runtime" : "mask",
                             ret_value, err);
}

/* True also for what is not masked: nothing is run then. */
static int
none_unmask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool runtime = value_bool(args, "runtime", false);
    int rc = svc_masked(service_root(args), service_name(args), runtime, err);

    if (rc <= 0) {
        *ret_value = rc == 0 ? json_true() : NULL;
        return rc;
    }
    return must_change_files(ctx, args, runtime ? "unmask --runtime" : "unmask", ret_value, err);
}

static int
none_firstboot(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_firstboot(ctx, args, ret_value, err);
}

static const func_t funcs[] = {
#define SERVICE_ROW(name, args, flags, doc) { #name, none_##name, args, flags, doc },
#include "plugins/lib/service/service_api.def"
#undef SERVICE_ROW
};

PLUGIN(exec, service_none, .provides = "service", .doc = "Services where no init runs",
       .unavailable = service_none_unavailable, FUNCS(funcs));
