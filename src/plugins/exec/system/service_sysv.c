/* service_sysv.c - execution module `service` where an init other than systemd runs: the scripts of
 * /etc/init.d, and the links of /etc/rc*.d that start them ("S20cron" in the folder of a run level). Below
 * `root` the links alone tell; no script is run there. */
#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/service/svcfiles.h"
#include "plugins/lib/call/tool.h"

static const char *
service_sysv_unavailable(call_ctx_t *ctx)
{
    return service_unless(ctx, SVC_SYSV,
                          "The sysv execution module failed to load: only available where "
                          "an init runs the scripts of /etc/init.d.");
}

/* ---- lists ---------------------------------------------------------------------------------------- */

/* Names of the scripts that the present run level starts, and of those that every boot starts (rcS.d). NEW,
 * or NULL with *err. */
static json_t *
enabled_services(const char *root, fail_t *err)
{
    return svc_scripts_enabled(root, svc_runlevel(root, err), err);
}

/* Scripts, and what is enabled without one. README and hidden files are no scripts. NEW, or NULL with
 * *err. */
static json_t *
all_services(const char *root, fail_t *err)
{
    json_auto_t *names = enabled_services(root, err);
    char **files = NULL;

    if (names == NULL || root_names(root, "/etc/init.d", &files, err) < 0)
        return NULL;
    for (size_t i = 0; files[i] != NULL; i++) {
        if (*files[i] != '.' && strcmp(files[i], "README") != 0)
            json_array_append_new(names, value_utf8(files[i], strlen(files[i])));
    }
    strv_free(files);
    return svc_sorted(names, NULL);
}

static int
sysv_get_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = all_services(service_root(args), err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
sysv_get_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = enabled_services(service_root(args), err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
sysv_get_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *root = service_root(args);
    json_auto_t *all = all_services(root, err);
    json_auto_t *enabled = all != NULL ? enabled_services(root, err) : NULL;

    if (enabled == NULL)
        return -EIO;
    *ret_value = svc_sorted(all, enabled);
    return 0;
}

/* Every script can be enabled, so none is static. */
static int
sysv_get_static(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_array();
    return 0;
}

/* Looks the name up in the list that `fn` makes. True or False. */
static int
listed_by(func_fn *fn, call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = NULL;
    int rc = fn(ctx, args, &names, err);

    if (rc == 0)
        *ret_value = json_boolean(svc_listed(names, service_name(args)));
    return rc;
}

static int
sysv_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return listed_by(sysv_get_all, ctx, args, ret_value, err);
}

static int
sysv_missing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(sysv_available, ctx, args, ret_value, err);
}

static int
sysv_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return listed_by(sysv_get_enabled, ctx, args, ret_value, err);
}

static int
sysv_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return listed_by(sysv_get_disabled, ctx, args, ret_value, err);
}

/* ---- scripts ---------------------------------------------------------------------------------------- */

/* Runs the script by service(8), which gives it a clean environment. True or False by its exit code. */
static int
service_sysv_act(call_ctx_t *ctx, const char *name, const char *action, json_t **ret_value, fail_t *err)
{
    int code = -1, rc = service_script(ctx, name, action, 0, &code, err);

    if (rc == 0)
        *ret_value = json_boolean(code == 0);
    return rc;
}

#define ACTION(function, action)                                                                             \
    static int sysv_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)               \
    {                                                                                                        \
        return service_sysv_act(ctx, service_name(args), action, ret_value, err);                            \
    }
ACTION(start, "start")
ACTION(stop, "stop")
ACTION(restart, "restart")
ACTION(reload, "reload")
ACTION(force_reload, "force-reload")

/* An action of the script's own; service(8) refuses what looks like an option. */
static int
sysv_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_sysv_act(ctx, service_name(args), value_str(args, "action", ""), ret_value, err);
}

/* Whether a service runs, as its script says (LSB: status ends with 0). 0, or negative with *err. */
static int
service_sysv_runs(call_ctx_t *ctx, const char *name, bool *ret_running, fail_t *err)
{
    int code = -1, rc = service_script(ctx, name, "status", TOOL_QUIET, &code, err);

    *ret_running = rc == 0 && code == 0;
    return rc;
}

/* With a glob in the name {name: bool}; `sig` looks for a process instead. */
static int
sysv_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *sig = value_str(args, "sig", "");

    if (*sig != '\0')
        return service_by_signature(ctx, sig, ret_value, err);
    json_t *all = svc_has_glob(service_name(args)) ? all_services(NULL, err) : json_array();

    return service_status(ctx, args, all, service_sysv_runs, ret_value, err);
}

/* " [ + ]  cron" of `service --status-all`, which asks only the scripts that can tell. */
static int
sysv_get_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "service", err);

    if (rc < 0)
        return rc;
    prog_add(&prog, "--status-all");
    json_auto_t *ret = tool_run(ctx, &prog, TOOL_QUIET | TOOL_MERGE, err);
    if (ret == NULL)
        return -EIO;
    json_auto_t *names = json_array();
    char **lines = str_split(value_str(ret, "stdout", ""), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        char *mark = strstr(lines[i], "[ + ]");
        const char *name = mark != NULL ? str_trim(mark + strlen("[ + ]")) : "";
        if (*name != '\0')
            json_array_append_new(names, value_utf8(name, strlen(name)));
    }
    strv_free(lines);
    *ret_value = svc_sorted(names, NULL);
    return 0;
}

/* ---- at boot ------------------------------------------------------------------------------------------ */

/* Programs that make the links, in the order of preference; NULL ends the words, NAME stands for the name. */
#define NAME ((const char *) 1)
enum { STEP_WORDS = 5, STEPS = 2 };
/* Programs that make the links, in the order of preference. Debian's "enable" does not make links that are
 * missing, thus "defaults" before it. NULL ends the words, NAME stands for the name. */
static const struct manager {
    const char *program;
    const char *enable[STEPS][STEP_WORDS];
    const char *disable[STEPS][STEP_WORDS];
} managers[] = {
    { "update-rc.d",
      { { "update-rc.d", NAME, "defaults" }, { "update-rc.d", NAME, "enable" } },
      { { "update-rc.d", NAME, "disable" } } },
    { "chkconfig", { { "chkconfig", NAME, "on" } }, { { "chkconfig", NAME, "off" } } },
    { "rc-update", { { "rc-update", "add", NAME, "default" } }, { { "rc-update", "delete", NAME } } },
};

/* Runs one step. Below another root the program of that root does it, by chroot(8). *ret_code is its exit
 * code. 0, or negative with *err. */
static int
service_sysv_step(call_ctx_t *ctx, const char *root, const char *const words[STEP_WORDS], const char *name,
                  int *ret_code, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (root != NULL)
        prog_adds(&prog, "chroot", "--", root, NULL);
    for (size_t i = 0; i < STEP_WORDS && words[i] != NULL; i++)
        prog_add(&prog, words[i] == NAME ? name : words[i]);
    return tool_retcode(ctx, &prog, 0, ret_code, err);
}

/* Makes the links, or removes them, by the first of the programs that is there: True or False by its exit
 * code; a step that fails ends it. */
static int
service_sysv_at_boot(call_ctx_t *ctx, json_t *args, bool enable, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args), *root = service_root(args);
    int code = 0, rc = service_script_name(name, err);

    for (size_t i = 0; rc == 0 && i < NELEMS(managers); i++) {
        AUTO_FREE char *path = root_which(root, managers[i].program);
        if (path == NULL)
            continue;
        for (size_t k = 0; k < STEPS && rc == 0 && code == 0; k++) {
            const char *const *words = enable ? managers[i].enable[k] : managers[i].disable[k];
            if (words[0] != NULL)
                rc = service_sysv_step(ctx, root, words, name, &code, err);
        }
        *ret_value = json_boolean(code == 0);
        return rc;
    }
    return rc < 0
               ? rc
               : fail_kind(err, FAIL_COMMAND, -ENOENT,
                           "Unable to find sysv service manager (tried update-rc.d, chkconfig, rc-update)");
}

static int
sysv_enable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_sysv_at_boot(ctx, args, true, ret_value, err);
}

static int
sysv_disable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_sysv_at_boot(ctx, args, false, ret_value, err);
}

/* ---- what only systemd has -------------------------------------------------------------------- */

#define ONLY_SYSTEMD(function)                                                                               \
    static int sysv_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)               \
    {                                                                                                        \
        return service_only_systemd(#function, err);                                                         \
    }
ONLY_SYSTEMD(execs)
ONLY_SYSTEMD(firstboot)
ONLY_SYSTEMD(mask)
ONLY_SYSTEMD(show)
ONLY_SYSTEMD(systemctl_reload)
ONLY_SYSTEMD(unmask)

/* SysV has no masks, and no systemd that could be offline. */
static int
sysv_masked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

static int
sysv_offline(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sysv_masked(ctx, args, ret_value, err);
}

static const arg_t run_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name of the script"),
                                  ARG("action", ARG_STR, ARG_REQUIRED, "What it shall do"), ARGS_END };

static const func_t funcs[] = {
#define SERVICE_ROW(name, args, flags, doc) { #name, sysv_##name, args, flags, doc },
#include "plugins/lib/service/service_api.def"
#undef SERVICE_ROW
    { "run", sysv_run, run_args, 0,
      "Run an init script with an action of its own." CLI_EXAMPLE("salt '*' service.run apache2 reload") },
};

PLUGIN(exec, service_sysv, .provides = "service", .doc = "Services of init scripts",
       .unavailable = service_sysv_unavailable, FUNCS(funcs));
