/* service_systemd.c - execution module `service` where systemd is process 1: systemctl(1), and init scripts
 * that systemd took over. Before it acts on a unit, a function lets systemd reload unit files that changed
 * (read_changes). What `systemctl status` says is kept for the rest of the job. With `root` systemctl works
 * on the files of another tree, in which nothing runs. A "unit" is a service's name with or without its
 * suffix. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/service/svcfiles.h"
#include "plugins/lib/service/systemctl.h"
#include "plugins/lib/call/tool.h"
#include "salt/log.h"

/* Members of the job's context. Their names are Salt's, so that modules in Python find and drop the same. */
#define STATUS_KEY  "systemd._systemctl_status."
#define CHANGES_KEY "systemd._check_for_unit_changes."

enum {
    VERSION_STATUS_CODES = 231, /* from then on `status` ends with 4 for a unit that is not there */
    STATUS_NO_UNIT = 4
};

static const char *
service_systemd_unavailable(call_ctx_t *ctx)
{
    return service_unless(ctx, SVC_SYSTEMD,
                          "The systemd execution module failed to load: only available "
                          "on Linux systems which have been booted with systemd.");
}

/* ---- what systemd knows of a unit ------------------------------------------------------------- */

/* `systemctl status` of a unit, once per job. BORROWED, or NULL with *err. */
static json_t *
service_systemd_status_of(call_ctx_t *ctx, const char *name, fail_t *err)
{
    AUTO_FREE char *key = xasprintf(STATUS_KEY "%s", name);
    json_t *kept = value_get(ctx_context(ctx), key);
    systemctl_t what = { "status", name, NULL, false, false, TOOL_QUIET | TOOL_MERGE };

    if (kept != NULL)
        return kept;
    json_t *ret = systemctl_run(ctx, &what, err);
    if (ret != NULL)
        json_object_set_new(ctx_context(ctx), key, ret);
    return ret;
}

/* Finds "   Loaded: not-found (...)" in the text of `systemctl status`: whether there is such a line and it
 * says otherwise. */
static bool
says_loaded(const char *text)
{
    const char *line = strcasestr(text, "loaded:");

    if (line == NULL || strcasestr(text, "could not be found") != NULL)
        return false;
    line += strlen("loaded:");
    line += strspn(line, " \t");
    return strncasecmp(line, "not-found", strlen("not-found")) != 0;
}

/* Whether systemd knows the unit: by the exit code of `systemctl status` where systemd is new enough, else
 * by its text. 0, or negative with *err. */
static int
service_systemd_is_available(call_ctx_t *ctx, const char *name, bool *ret_is, fail_t *err)
{
    json_t *status = service_systemd_status_of(ctx, name, err);

    if (status == NULL)
        return -EIO;
    json_int_t code = value_int(status, "retcode", -1);
    *ret_is = systemctl_version(ctx) >= VERSION_STATUS_CODES ? code >= 0 && code < STATUS_NO_UNIT
                                                             : says_loaded(value_str(status, "stdout", ""));
    return 0;
}

/* Lets systemd read all of its unit files again. 0 with True, or negative with *err. */
static int
daemon_reload(call_ctx_t *ctx, json_t **ret_value, fail_t *err)
{
    systemctl_t what = { "--system daemon-reload", NULL, NULL, false, false, TOOL_MERGE };
    json_auto_t *ret = systemctl_run(ctx, &what, err);

    if (ret == NULL)
        return -EIO;
    if (value_int(ret, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Problem performing systemctl daemon-reload: %s",
                         value_str(ret, "stdout", ""));

    /* Answers that are kept may be wrong by now. */
    json_t *context = ctx_context(ctx), *v;
    const char *key;
    void *tmp;
    json_object_foreach_safe (context, tmp, key, v) {
        if (str_starts(key, STATUS_KEY))
            json_object_del(context, key);
    }

    *ret_value = json_true();
    return 0;
}

/* Lets systemd read a unit file that it has not read yet, or not in its present form; once per job and unit, since
 * a state asks several functions about one service. 0, or negative with *err. */
static int
read_changes(call_ctx_t *ctx, const char *name, fail_t *err)
{
    AUTO_FREE char *key = xasprintf(CHANGES_KEY "%s", name), *unit = svc_unit(name);
    AUTO_FREE char *path = xasprintf("/etc/systemd/system/%s", unit);
    json_auto_t *done = NULL;
    bool known = true;

    if (value_get(ctx_context(ctx), key) != NULL)
        return 0;
    if (access(path, R_OK) == 0 && service_systemd_is_available(ctx, name, &known, err) < 0)
        return -EIO;
    json_t *status = service_systemd_status_of(ctx, name, err);
    if (status == NULL)
        return -EIO;
    /* systemd says of a unit whose file is newer than its own copy that this command is due. */
    bool changed = !known || strcasestr(value_str(status, "stdout", ""), "'systemctl daemon-reload'") != NULL;
    int rc = changed ? daemon_reload(ctx, &done, err) : 0;
    if (rc == 0)
        json_object_set_new(ctx_context(ctx), key, json_true());
    return rc;
}

/* True when systemd knows the unit, an init script's too: systemd makes units of those itself. */
static int
sysd_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool is = false;
    int rc = read_changes(ctx, service_name(args), err);

    if (rc == 0)
        rc = service_systemd_is_available(ctx, service_name(args), &is, err);
    if (rc == 0)
        *ret_value = json_boolean(is);
    return rc;
}

static int
sysd_missing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(sysd_available, ctx, args, ret_value, err);
}

static int
sysd_systemctl_reload(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return daemon_reload(ctx, ret_value, err);
}

/* Salt asks systemd whether it runs in a chroot; where this module is used it is process 1 and does not. */
static int
sysd_offline(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

/* ---- lists --------------------------------------------------------------------------------------- */

/* The text that systemctl prints; an exit code other than 0 is not an error of its own. NEW, or NULL with
 * *err. */
static json_t *
printed(call_ctx_t *ctx, const char *action, const char *name, const char *root, fail_t *err)
{
    systemctl_t what = { action, name, root, false, false, TOOL_QUIET };
    json_auto_t *ret = systemctl_run(ctx, &what, err);

    return ret != NULL ? json_incref(value_get(ret, "stdout")) : NULL;
}

static int
sysd_get_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *text = printed(ctx, "--full --no-legend --no-pager", NULL, NULL, err);

    if (text == NULL)
        return -EIO;
    *ret_value = systemctl_running(json_string_value(text));
    return 0;
}

/* Init scripts without a unit of that name, so that none is listed twice. NEW, or NULL with *err. */
static json_t *
scripts_only(const char *root, fail_t *err)
{
    json_auto_t *units = svc_units(root, err);

    return units != NULL ? svc_scripts(root, units, err) : NULL;
}

/* Units in that state of list-unit-files, with the init scripts that are enabled, or are not. Sorted names.
 * 0, or negative with *err. */
static int
units_in_state(call_ctx_t *ctx, json_t *args, const char *state, bool scripts_enabled, json_t **ret_value,
               fail_t *err)
{
    const char *root = service_root(args);
    json_auto_t *text = printed(ctx, "--full --no-legend --no-pager list-unit-files", NULL, root, err);
    json_auto_t *scripts = text != NULL ? scripts_only(root, err) : NULL;
    /* Scripts are enabled for a run level: links in /etc/rcN.d. */
    int level = scripts != NULL ? svc_runlevel(root, err) : -EIO;

    if (level < 0)
        return level;
    json_auto_t *names = systemctl_unit_files(json_string_value(text), state);
    for (size_t i = 0; i < json_array_size(scripts); i++) {
        json_t *name = json_array_get(scripts, i);
        int enabled = svc_script_enabled(root, level, json_string_value(name), err);
        if (enabled < 0)
            return enabled;
        if (enabled == scripts_enabled)
            json_array_append(names, name);
    }
    *ret_value = svc_sorted(names, NULL);
    return 0;
}

static int
sysd_get_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return units_in_state(ctx, args, "enabled", true, ret_value, err);
}

static int
sysd_get_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return units_in_state(ctx, args, "disabled", false, ret_value, err);
}

/* Units that can't be enabled, as their file has no [Install] section; init scripts are never static. */
static int
sysd_get_static(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *text = printed(ctx, "--full --no-legend --no-pager list-unit-files", NULL,
                                service_root(args), err);

    if (text == NULL)
        return -EIO;
    *ret_value = systemctl_unit_files(json_string_value(text), "static");
    return 0;
}

/* Names from the folders of units and init scripts, so that templates and units that are not loaded are
 * there as well. */
static int
sysd_get_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = svc_all(service_root(args), err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* The properties of `systemctl show`, of which some (ExecStart) are dicts of their own. */
static int
sysd_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    systemctl_t what = { "show", service_name(args), service_root(args), false, false, 0 };
    json_auto_t *ret = systemctl_run(ctx, &what, err);

    if (ret == NULL)
        return -EIO;
    *ret_value = systemctl_properties(value_str(ret, "stdout", ""));
    return 0;
}

/* {name: path of the program that it starts}. A template has no properties: only its instances start
 * anything. A unit without a program (a target) is left out. */
static int
sysd_execs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *root = service_root(args);
    json_auto_t *all = svc_all(root, err);
    json_auto_t *out = json_object();

    if (all == NULL)
        return -EIO;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const char *name = json_string_value(json_array_get(all, i));
        if (str_ends(name, "@") || strstr(name, "@.") != NULL)
            continue;
        json_auto_t *text = printed(ctx, "show --property=ExecStart", name, root, err);
        if (text == NULL)
            return -EIO;
        json_auto_t *properties = systemctl_properties(json_string_value(text));
        json_t *path = value_get(value_get(properties, "ExecStart"), "path");
        if (path != NULL)
            json_object_set(out, name, path);
    }
    *ret_value = json_incref(out);
    return 0;
}

/* ---- masks ------------------------------------------------------------------------------------------ */

/* Unmasks a unit that is masked in that way, for good or until the next boot. 0, also when it was not
 * masked; negative with *err. */
static int
service_systemd_unmask(call_ctx_t *ctx, const char *name, bool runtime, const char *root, fail_t *err)
{
    systemctl_t what = { runtime ? "unmask --runtime" : "unmask", name, root, true, false, TOOL_MERGE };
    int rc = read_changes(ctx, name, err);

    if (rc == 0)
        rc = svc_masked(root, name, runtime, err);
    if (rc <= 0)
        return rc;
    json_auto_t *ret = systemctl_run(ctx, &what, err);
    if (ret == NULL)
        return -EIO;
    if (value_int(ret, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Failed to unmask service '%s'", name);
    return 0;
}

/* Unmasks the unit first when unmask or unmask_runtime ask for it: systemctl refuses to start or enable a
 * masked one. 0, or negative with *err. */
static int
unmask_first(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    const char *name = service_name(args), *root = service_root(args);
    int rc = 0;

    if (value_bool(args, "unmask", false))
        rc = service_systemd_unmask(ctx, name, false, root, err);
    if (rc == 0 && value_bool(args, "unmask_runtime", false))
        rc = service_systemd_unmask(ctx, name, true, root, err);
    return rc;
}

static int
sysd_unmask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = service_systemd_unmask(ctx, service_name(args), value_bool(args, "runtime", false),
                                    service_root(args), err);

    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

static int
sysd_mask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    systemctl_t what = { value_bool(args, "runtime", false) ? "mask --runtime" : "mask",
                         name,
                         service_root(args),
                         true,
                         false,
                         TOOL_MERGE };
    int rc = read_changes(ctx, name, err);
    json_auto_t *ret = rc == 0 ? systemctl_run(ctx, &what, err) : NULL;

    if (ret == NULL)
        return -EIO;
    /* systemd-run's line about the scope is not part of the reason. */
    AUTO_FREE char *said = systemctl_strip_scope(value_str(ret, "stdout", ""));
    if (value_int(ret, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Failed to mask service '%s'%s%s", name,
                         *said != '\0' ? ". Additional info follows:\n\n" : "", said);
    *ret_value = json_true();
    return 0;
}

/* False also for a unit that is masked the other way: `runtime` asks for the one below /run. */
static int
sysd_masked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    int rc = read_changes(ctx, name, err);

    if (rc == 0)
        rc = svc_masked(service_root(args), name, value_bool(args, "runtime", false), err);
    if (rc < 0)
        return rc;
    *ret_value = json_boolean(rc);
    return 0;
}

/* ---- start and stop ------------------------------------------------------------------------------------ */

/* Runs systemctl ACTION on the unit, after unmasking when asked. True, or an error with what systemctl
 * said. */
static int
service_systemd_act(call_ctx_t *ctx, json_t *args, const char *action, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    systemctl_t what = { action, name, NULL, true, value_bool(args, "no_block", false), 0 };
    int rc = read_changes(ctx, name, err);

    if (rc == 0)
        rc = unmask_first(ctx, args, err);
    return rc == 0 ? systemctl_do(ctx, &what, ret_value, err) : rc;
}

#define ACTION(function, action)                                                                             \
    static int sysd_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)               \
    {                                                                                                        \
        return service_systemd_act(ctx, args, action, ret_value, err);                                       \
    }
ACTION(start, "start")
ACTION(restart, "restart")
ACTION(reload, "reload")
ACTION(force_reload, "force-reload")

/* False instead of an error, as in Salt. A masked unit can be stopped, so it is not unmasked. */
static int
sysd_stop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    systemctl_t what = { "stop", name, NULL, true, value_bool(args, "no_block", false), 0 };
    int rc = read_changes(ctx, name, err);
    json_auto_t *ret = rc == 0 ? systemctl_run(ctx, &what, err) : NULL;

    if (ret == NULL)
        return -EIO;
    *ret_value = json_boolean(value_int(ret, "retcode", 1) == 0);
    return 0;
}

/* Whether the unit runs, by the exit code alone. A state such as "activating" counts as not running. 0, or
 * negative with *err. */
static int
is_active(call_ctx_t *ctx, const char *name, bool *ret_running, fail_t *err)
{
    systemctl_t what = { "is-active", name, NULL, false, false, TOOL_QUIET };
    int rc = read_changes(ctx, name, err);
    json_auto_t *ret = rc == 0 ? systemctl_run(ctx, &what, err) : NULL;

    if (ret == NULL)
        return -EIO;
    *ret_running = value_int(ret, "retcode", 1) == 0;
    return 0;
}

/* True or False, or for a name with a glob {name: bool} of all that match. */
static int
sysd_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *all = svc_has_glob(service_name(args)) ? svc_all(NULL, err) : json_array();

    return service_status(ctx, args, all, is_active, ret_value, err);
}

/* ---- at boot ---------------------------------------------------------------------------------- */

/* Sets or removes the links of an init script by the host's own program: Debian's, else Red Hat's. True or
 * False by its exit code. */
static int
service_systemd_change_links(call_ctx_t *ctx, const char *name, bool enable, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *update = fs_which("update-rc.d");
    AUTO_FREE char *chkconfig = fs_which("chkconfig");

    if (prog_check_operand("name", name, err) < 0)
        return err->code;
    if (update != NULL)
        prog_adds(&prog, "update-rc.d", "-f", name, enable ? "defaults" : "remove", NULL);
    else if (chkconfig != NULL)
        prog_adds(&prog, "chkconfig", name, enable ? "on" : "off", NULL);
    else
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "Unable to find sysv service manager (tried update-rc.d, chkconfig)");
    return tool_bool(ctx, &prog, TOOL_QUIET, ret_value, err);
}

/* 1 when there is an init script and no unit of this name, 0, or negative with *err. */
static int
is_script_only(const char *root, const char *name, fail_t *err)
{
    json_auto_t *scripts = scripts_only(root, err);

    return scripts != NULL ? svc_listed(scripts, name) : -EIO;
}

/* Init scripts without a unit are enabled by update-rc.d or chkconfig. A positive rc below means such a
 * script. */
static int
sysd_enable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args), *root = service_root(args);
    AUTO_FREE char *unit = NULL; /* systemctl refuses an alias */
    int rc = read_changes(ctx, name, err);

    if (rc == 0)
        rc = unmask_first(ctx, args, err);
    if (rc == 0)
        rc = is_script_only(root, name, err);
    if (rc == 0)
        rc = svc_real_unit(root, name, &unit, err);
    if (rc != 0)
        return rc < 0 ? rc : service_systemd_change_links(ctx, name, true, ret_value, err);
    systemctl_t what = { "enable", unit, root, true, value_bool(args, "no_block", false), TOOL_QUIET };
    return systemctl_do(ctx, &what, ret_value, err);
}

/* False instead of an error, as in Salt, unlike sysd_enable(). */
static int
sysd_disable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args), *root = service_root(args);
    AUTO_FREE char *unit = NULL; /* systemctl refuses an alias */
    int rc = read_changes(ctx, name, err);

    if (rc == 0)
        rc = is_script_only(root, name, err);
    if (rc == 0)
        rc = svc_real_unit(root, name, &unit, err);
    if (rc != 0)
        return rc < 0 ? rc : service_systemd_change_links(ctx, name, false, ret_value, err);
    systemctl_t what = { "disable", unit, root, true, value_bool(args, "no_block", false), TOOL_QUIET };
    json_auto_t *ret = systemctl_run(ctx, &what, err);
    if (ret == NULL)
        return -EIO;
    *ret_value = json_boolean(value_int(ret, "retcode", 1) == 0);
    return 0;
}

/* Falls back to the run level's links for init scripts. systemctl's exit code is 0 for "static" and the
 * like too: nothing has to be enabled there. */
static int
sysd_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args), *root = service_root(args);
    AUTO_FREE char *unit = NULL;
    int found = svc_real_unit(root, name, &unit, err);
    if (found < 0)
        return found;
    systemctl_t what = { "is-enabled", unit, root, false, false, TOOL_QUIET };
    json_auto_t *ret = systemctl_run(ctx, &what, err);

    if (ret == NULL)
        return -EIO;
    bool enabled = value_int(ret, "retcode", 1) == 0;
    int script = enabled ? 0 : is_script_only(root, name, err);
    if (script > 0)
        script = svc_script_enabled(root, svc_runlevel(root, err), name, err);
    if (script < 0)
        return script;
    *ret_value = json_boolean(enabled || script);
    return 0;
}

static int
sysd_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(sysd_enabled, ctx, args, ret_value, err);
}

static int
sysd_firstboot(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_firstboot(ctx, args, ret_value, err);
}

static const func_t funcs[] = {
#define SERVICE_ROW(name, args, flags, doc) { #name, sysd_##name, args, flags, doc },
#include "plugins/lib/service/service_api.def"
#undef SERVICE_ROW
};

PLUGIN(exec, service_systemd, .provides = "service", .doc = "Services of systemd",
       .unavailable = service_systemd_unavailable, FUNCS(funcs));
