/* service_api.c - see service_api.h: what the providers of `service` share: rows of arguments, negation,
 * status by name or glob, systemd-firstboot. */
#include "plugins/lib/service/service_api.h"

#include <limits.h>

#include "common/base/str.h"
#include "plugins/lib/call/tool.h"

/* ---- arguments ------------------------------------------------------------------------------ */

#define NAME_ROW           ARG("name", ARG_STR, ARG_REQUIRED, "Name of the service")
#define ROOT_ROW           ARG("root", ARG_STR, "null", "Folder of another system, whose services are meant")
#define NO_BLOCK_ROW(dflt) ARG("no_block", ARG_BOOL, dflt, "Do not wait until it is done (systemd)")
#define UNMASK_ROWS                                                                                          \
    ARG("unmask", ARG_BOOL, "false", "Remove its mask first (systemd)"),                                     \
        ARG("unmask_runtime", ARG_BOOL, "false", "Remove its mask until the next boot first (systemd)")
#define KWARGS_ROW ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Keywords of other service modules; not used")

const arg_t service_no_args[] = { ARGS_END };
const arg_t service_name_args[] = { NAME_ROW, ARGS_END };
const arg_t service_root_args[] = { ROOT_ROW, ARGS_END };
const arg_t service_name_root_args[] = { NAME_ROW, ROOT_ROW, ARGS_END };
const arg_t service_start_args[] = { NAME_ROW, NO_BLOCK_ROW("false"), UNMASK_ROWS, ARGS_END };
const arg_t service_force_reload_args[] = { NAME_ROW, NO_BLOCK_ROW("true"), UNMASK_ROWS, ARGS_END };
const arg_t service_stop_args[] = { NAME_ROW, NO_BLOCK_ROW("false"), ARGS_END };
const arg_t service_status_args[] = {
    NAME_ROW, ARG("sig", ARG_STR, "null", "Find it by its command line (not systemd)"), ARGS_END
};
const arg_t service_enable_args[] = { NAME_ROW, NO_BLOCK_ROW("false"), UNMASK_ROWS, ROOT_ROW, KWARGS_ROW,
                                      ARGS_END };
const arg_t service_disable_args[] = { NAME_ROW, NO_BLOCK_ROW("false"), ROOT_ROW, KWARGS_ROW, ARGS_END };
const arg_t service_enabled_args[] = { NAME_ROW, ROOT_ROW, KWARGS_ROW, ARGS_END };
const arg_t service_mask_args[] = { NAME_ROW,
                                    ARG("runtime", ARG_BOOL, "false", "The mask until the next boot"),
                                    ROOT_ROW, ARGS_END };
const arg_t service_firstboot_args[] = { ARG("locale", ARG_STR, "null", "LANG"),
                                         ARG("locale_message", ARG_STR, "null", "LC_MESSAGES"),
                                         ARG("keymap", ARG_STR, "null", "Keyboard"),
                                         ARG("timezone", ARG_STR, "null", "Time zone"),
                                         ARG("hostname", ARG_STR, "null", "Name of the host"),
                                         ARG("machine_id", ARG_STR, "null", "Machine id"),
                                         ARG("root", ARG_STR, "null", "Folder of another system"),
                                         ARGS_END };

const char *
service_root(const json_t *args)
{
    const char *root = value_str(args, "root", NULL);

    return str_empty(root) ? NULL : root;
}

const char *
service_name(const json_t *args)
{
    return value_str(args, "name", "");
}

/* ---- functions -------------------------------------------------------------------------------- */

/* Calls the function and negates its answer. */
#define INIT_KEY "service.init"

int
service_init(call_ctx_t *ctx, fail_t *err)
{
    const json_t *known = value_get(ctx_context(ctx), INIT_KEY);
    const char *os = value_str(ctx_grains(ctx), "os", "");
    int init = known != NULL                                             ? (int) json_integer_value(known)
               : strcmp(os, "Alpine") == 0                               ? SVC_OPENRC
               : str_eq(value_str(ctx_grains(ctx), "init", ""), "runit") ? SVC_RUNIT
                                                                         : svc_init(NULL, err);

    if (init >= 0 && init != SVC_SYSTEMD && strcmp(os, "Gentoo") == 0)
        init = SVC_OPENRC;
    if (known == NULL && init >= 0)
        json_object_set_new(ctx_context(ctx), INIT_KEY, json_integer(init));
    return init;
}

const char *
service_unless(call_ctx_t *ctx, svc_init_t init, const char *otherwise)
{
    static _Thread_local char why[PATH_MAX];
    fail_auto_t err = FAIL_INIT;
    int runs = service_init(ctx, &err);

    if (runs >= 0)
        return runs == (int) init ? NULL : otherwise;
    snprintf(why, sizeof(why), "which init runs can't be told: %s", fail_text(&err));
    return why;
}

int
service_only_systemd(const char *function, fail_t *err)
{
    AUTO_FREE char *init = svc_init_name(NULL);

    return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                     "service.%s asks systemd, but %s runs as process 1 here: use service.enable, "
                     "service.disable and the scripts in /etc/init.d",
                     function, init);
}

int
service_not(func_fn *fn, call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *value = NULL;
    int rc = fn(ctx, args, &value, err);

    if (rc == 0)
        *ret_value = json_boolean(!value_truthy(value));
    return rc;
}

/* TAKES all. A glob gives {name: running}, a name its truth. */
int
service_status(call_ctx_t *ctx, json_t *args, json_t *all, service_one_fn *one, json_t **ret_value,
               fail_t *err)
{
    const char *name = service_name(args);
    bool glob = svc_has_glob(name), running = false;
    json_auto_t *owned = all;
    json_auto_t *names = glob ? svc_filter(owned, name) : json_pack("[s]", name);
    json_auto_t *result = json_object();

    if (owned == NULL)
        return -EIO;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *service = json_string_value(json_array_get(names, i));
        int rc = one(ctx, service, &running, err);
        if (rc < 0)
            return rc;
        json_object_set_new(result, service, json_boolean(running));
    }
    *ret_value = glob ? json_incref(result) : json_boolean(running);
    return 0;
}

int
service_by_signature(call_ctx_t *ctx, const char *sig, json_t **ret_value, fail_t *err)
{
    json_auto_t *args = json_pack("[s]", sig);
    json_auto_t *pids = NULL;
    int rc = ctx_call(ctx, "status.pid", args, NULL, &pids, err);

    if (rc == 0)
        *ret_value = json_boolean(value_truthy(pids));
    return rc;
}

int
service_firstboot(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const options[][2] = {
        { "locale", "--locale" },     { "locale_message", "--locale-message" },
        { "keymap", "--keymap" },     { "timezone", "--timezone" },
        { "hostname", "--hostname" }, { "machine_id", "--machine-id" },
        { "root", "--root" },
    };
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "systemd-firstboot", err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < NELEMS(options); i++) {
        const char *value = value_str(args, options[i][0], "");
        if (*value != '\0')
            prog_addf(&prog, "%s=%s", options[i][1], value);
    }
    json_auto_t *ret = tool_run(ctx, &prog, 0, err);
    if (ret == NULL)
        return -EIO;
    if (value_int(ret, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "systemd-firstboot error: %s",
                         value_str(ret, "stderr", ""));
    *ret_value = json_true();
    return 0;
}
