/* service_openrc.c - execution module `service` on Gentoo and Alpine: the scripts of /etc/init.d, and the
 * runlevels that rc-update(8) knows. Enabled means to be in some runlevel; lists of enabled services are
 * dicts with these, as in Salt. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/service/svcfiles.h"

static const char *
service_openrc_unavailable(call_ctx_t *ctx)
{
    return service_unless(
        ctx, SVC_OPENRC,
        "The gentoo_service execution module cannot be loaded: only available on Gentoo/Open-RC "
        "systems.");
}

/* ---- lists ---------------------------------------------------------------------------------------- */

/* Reads `rc-update -v show`, lines "  sshd | boot default": {name: [runlevel]} of the services that some
 * runlevel has (`enabled`), and of the others with an empty list (`disabled`). NEW, or NULL with *err. */
static json_t *
openrc_services(call_ctx_t *ctx, bool enabled, bool disabled, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "rc-update", err);

    if (rc < 0)
        return NULL;
    prog_adds(&prog, "-v", "show", NULL);
    json_auto_t *ran = tool_run(ctx, &prog, TOOL_MERGE, err);
    if (ran == NULL)
        return NULL;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    json_t *found = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *bar = strchr(line, '|');
        if (bar == NULL)
            continue;
        *bar = '\0';
        char **words = str_split(bar + 1, " \t", true);
        json_auto_t *levels = json_array();
        for (size_t i = 0; words[i] != NULL; i++)
            json_array_append_new(levels, json_string(words[i]));
        strv_free(words);
        if (json_array_size(levels) > 0 ? enabled : disabled)
            json_object_set_new(found, str_trim(line), value_sorted_texts(levels));
    }
    return found;
}

static int
openrc_get_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = openrc_services(ctx, true, true, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
openrc_get_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = openrc_services(ctx, true, false, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
openrc_get_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = openrc_services(ctx, false, true, err);

    *ret_value = found != NULL ? value_sorted_keys(found) : NULL;
    return found != NULL ? 0 : err->code;
}

/* Every script can be enabled, so none is static. */
static int
openrc_get_static(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_array();
    return 0;
}

static int
openrc_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = openrc_services(ctx, true, true, err);

    *ret_value = found != NULL ? json_boolean(value_get(found, service_name(args)) != NULL) : NULL;
    return found != NULL ? 0 : err->code;
}

static int
openrc_missing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(openrc_available, ctx, args, ret_value, err);
}

/* True for a service that no runlevel has; False for one that is not there: it is neither. */
static int
openrc_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = openrc_services(ctx, false, true, err);

    *ret_value = found != NULL ? json_boolean(value_get(found, service_name(args)) != NULL) : NULL;
    return found != NULL ? 0 : err->code;
}

/* ---- scripts ---------------------------------------------------------------------------------------- */

/* Runs a script of /etc/init.d with an action; *ret_done: its exit code was 0. With TOOL_QUIET (a question)
 * a script that is not there counts as not running. 0, or negative with *err. */
static int
service_openrc_act(call_ctx_t *ctx, const char *name, const char *action, unsigned flags, bool *ret_done,
                   fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *path = xasprintf("/etc/init.d/%s", name);
    int code = -1, rc = service_script_name(name, err);

    *ret_done = false;
    rc = rc == 0 ? fs_look(path, err) : rc;
    if (rc < 0)
        return rc;
    if (rc == 0) /* a service without a script does not run */
        return (flags & TOOL_QUIET) != 0
                   ? 0
                   : fail_kind(err, FAIL_COMMAND, -ENOENT,
                               "%s: there is no such script, and service.%s runs it", path, action);
    prog_adds(&prog, path, action, NULL);
    rc = tool_retcode(ctx, &prog, flags, &code, err);
    *ret_done = rc == 0 && code == 0;
    return rc;
}

/* The script's own verdict, True or False. */
static int
openrc_script(call_ctx_t *ctx, json_t *args, const char *action, json_t **ret_value, fail_t *err)
{
    bool done;
    int rc = service_openrc_act(ctx, service_name(args), action, 0, &done, err);

    *ret_value = rc == 0 ? json_boolean(done) : NULL;
    return rc;
}

#define ACTION(function, action)                                                                             \
    static int openrc_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)             \
    {                                                                                                        \
        return openrc_script(ctx, args, action, ret_value, err);                                             \
    }
ACTION(start, "start")
ACTION(stop, "stop")
ACTION(restart, "restart")
ACTION(reload, "reload")
ACTION(force_reload, "reload")
ACTION(zap, "zap")

static int
openrc_runs(call_ctx_t *ctx, const char *name, bool *ret_running, fail_t *err)
{
    return service_openrc_act(ctx, name, "status", TOOL_QUIET, ret_running, err);
}

/* With a glob in the name {name: bool}; `sig` looks for a process instead. */
static int
openrc_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *sig = value_str(args, "sig", "");

    if (*sig != '\0')
        return service_by_signature(ctx, sig, ret_value, err);
    json_auto_t *found = svc_has_glob(service_name(args)) ? openrc_services(ctx, true, true, err)
                                                          : json_object();
    return service_status(ctx, args, found != NULL ? value_sorted_keys(found) : NULL, openrc_runs, ret_value,
                          err);
}

/* Each script is asked by `status`, one after another: OpenRC's own list (rc-status) leaves out what no
 * runlevel has. */
static int
openrc_get_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = openrc_services(ctx, true, true, err), *names = json_array();
    const char *name;
    json_t *levels;

    if (found == NULL)
        return err->code;
    json_object_foreach (found, name, levels) {
        bool running;
        int rc = openrc_runs(ctx, name, &running, err);
        if (rc < 0)
            return rc;
        if (running)
            json_array_append_new(names, json_string(name));
    }
    *ret_value = svc_sorted(names, NULL);
    return 0;
}

/* ---- at boot ------------------------------------------------------------------------------------------ */

/* The argument `runlevels`: NEW sorted list; NULL: not given. */
static json_t *
runlevels_of(const json_t *args)
{
    json_t *said = value_get(value_get(args, "kwargs"), "runlevels"), *one;
    json_auto_t *list = json_is_array(said) ? json_incref(said)
                        : said != NULL      ? json_pack("[O]", said)
                                            : NULL;
    json_auto_t *texts = json_array();
    size_t i;

    if (list == NULL)
        return NULL;
    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        if (!value_lists(texts, text))
            json_array_append_new(texts, json_string(text));
    }
    return value_sorted_texts(texts);
}

/* The elements of `a` that `b` does not list, or with `same` those that both list. NEW. */
static json_t *
levels_of(const json_t *a, const json_t *b, bool same)
{
    json_t *out = json_array(), *one;
    size_t i;

    json_array_foreach (a, i, one) {
        if (value_lists(b, json_string_value(one)) == same)
            json_array_append(out, one);
    }
    return out;
}

/* Runs rc-update VERB NAME LEVEL...; without levels it takes the present one. *ret_done tells whether it
 * could. 0, or negative with *err. */
static int
rc_update(call_ctx_t *ctx, const char *verb, const char *name, const json_t *levels, bool *ret_done,
          fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code = -1, rc = tool_begin(&prog, "rc-update", err);
    json_t *level;
    size_t i;

    prog_add(&prog, verb);
    rc = rc == 0 ? prog_operand(&prog, "name", name, err) : rc;
    json_array_foreach (levels, i, level)
        rc = rc == 0 ? prog_operand(&prog, "runlevels", json_string_value(level), err) : rc;
    rc = rc == 0 ? tool_retcode(ctx, &prog, 0, &code, err) : rc;
    *ret_done = rc == 0 && code == 0;
    return rc;
}

/* With `runlevels` the service is in these and no others afterwards. */
static int
openrc_enable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    json_auto_t *wanted = runlevels_of(args);
    bool done = true;
    int rc = 0;

    if (wanted == NULL) {
        rc = rc_update(ctx, "add", name, NULL, &done, err);
    } else {
        json_auto_t *found = openrc_services(ctx, true, false, err);
        if (found == NULL)
            return err->code;
        /* Nothing is run for levels that are right already. */
        json_auto_t *more = levels_of(wanted, value_get(found, name), false),
                    *less = levels_of(value_get(found, name), wanted, false);
        if (json_array_size(less) > 0)
            rc = rc_update(ctx, "delete", name, less, &done, err);
        if (rc == 0 && done && json_array_size(more) > 0)
            rc = rc_update(ctx, "add", name, more, &done, err);
    }
    *ret_value = rc == 0 ? json_boolean(done) : NULL;
    return rc;
}

/* `runlevels`: taken out of these only, as far as it is in them. */
static int
openrc_disable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    json_auto_t *wanted = runlevels_of(args), *levels = NULL;
    bool done = true;

    if (wanted != NULL) {
        json_auto_t *found = openrc_services(ctx, true, false, err);
        if (found == NULL)
            return err->code;
        levels = levels_of(wanted, value_get(found, name), true);
    }
    int rc = wanted != NULL && json_array_size(levels) == 0
                 ? 0
                 : rc_update(ctx, "delete", name, levels, &done, err);
    *ret_value = rc == 0 ? json_boolean(done) : NULL;
    return rc;
}

/* `runlevels`: True when it is in all of them. */
static int
openrc_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = openrc_services(ctx, true, false, err), *wanted = runlevels_of(args);
    const json_t *levels = value_get(found, service_name(args));

    if (found == NULL)
        return err->code;
    json_auto_t *lacking = levels_of(wanted, levels, false);
    *ret_value = json_boolean(levels != NULL && json_array_size(lacking) == 0);
    return 0;
}

/* ---- what only systemd has -------------------------------------------------------------------- */

#define ONLY_SYSTEMD(function)                                                                               \
    static int openrc_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)             \
    {                                                                                                        \
        return service_only_systemd(#function, err);                                                         \
    }
ONLY_SYSTEMD(execs)
ONLY_SYSTEMD(firstboot)
ONLY_SYSTEMD(mask)
ONLY_SYSTEMD(show)
ONLY_SYSTEMD(systemctl_reload)
ONLY_SYSTEMD(unmask)

static int
openrc_masked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

static int
openrc_offline(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return openrc_masked(ctx, args, ret_value, err);
}

static const func_t funcs[] = {
#define SERVICE_ROW(name, args, flags, doc) { #name, openrc_##name, args, flags, doc },
#include "plugins/lib/service/service_api.def"
#undef SERVICE_ROW
    { "zap", openrc_zap, service_name_args, 0,
      "Make OpenRC forget a service's state: it counts as stopped." CLI_EXAMPLE(
          "salt '*' service.zap <service name>") },
};

PLUGIN(exec, service_openrc, .provides = "service", .doc = "Services of OpenRC",
       .unavailable = service_openrc_unavailable, FUNCS(funcs));
