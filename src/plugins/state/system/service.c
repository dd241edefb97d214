/* service.c - state module `service`: services that run or do not, start at boot or do not, and masks. Tables
 * hold the words of both directions, so that each has one body; every change is verified by asking again. A
 * change is {name: what is so now}, a boolean. In test mode a service that is not there is no failure: a
 * state before may bring it. */
#include "common/base/clock.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/salt/modbeacon.h"
#include "salt/state.h"

/* Arguments of the SLS that only systemd's functions take, and which do. */
static const struct {
    const char *fun, *args[4];
} systemd_only[] = {
    { "service.start", { "no_block", "unmask", "unmask_runtime" } },
    { "service.restart", { "no_block", "unmask", "unmask_runtime" } },
    { "service.reload", { "no_block", "unmask", "unmask_runtime" } },
    { "service.force_reload", { "no_block", "unmask", "unmask_runtime" } },
    { "service.enable", { "no_block", "unmask", "unmask_runtime" } },
    { "service.stop", { "no_block" } },
    { "service.disable", { "no_block" } },
};

/* Condition of the service when its boot setting changes. */
typedef enum standing { STANDS, RUNS, DEAD } standing_t;

static standing_t
standing_of(bool runs)
{
    return runs ? RUNS : DEAD;
}

/* The state at work. */
typedef struct service {
    call_ctx_t *ctx;
    json_t *args, *kwargs, *ret; /* BORROWED */
    const char *name;
    fail_t *err;
} service_t;

static service_t
service_of(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return (service_t){ .ctx = ctx,
                        .args = args,
                        .kwargs = value_get(args, "kwargs"),
                        .ret = *ret_value,
                        .name = value_str(args, "name", ""),
                        .err = err };
}

/* Calls one of the module's functions on this service: 1, 0, or negative with *err. */
static int
does(const service_t *s, const char *fun)
{
    json_auto_t *kwargs = json_pack("{s:s}", "name", s->name);
    json_t *answer = NULL;
    int init = service_init(s->ctx, s->err);

    if (init < 0)
        return init;
    for (size_t i = 0; init == SVC_SYSTEMD && i < NELEMS(systemd_only); i++) {
        for (const char *const *arg = systemd_only[i].args; strcmp(systemd_only[i].fun, fun) == 0 && *arg;
             arg++) {
            if (value_get(s->kwargs, *arg) != NULL)
                json_object_set(kwargs, *arg, value_get(s->kwargs, *arg));
        }
    }
    if (strcmp(fun, "service.status") == 0 && value_get(s->args, "sig") != NULL)
        json_object_set(kwargs, "sig", value_get(s->args, "sig"));
    if (ctx_call(s->ctx, fun, NULL, kwargs, &answer, s->err) < 0)
        return s->err->code;
    int truth = value_truthy(answer);
    json_decref(answer);
    return truth;
}

/* Hosts that can't tell boot settings count every service as enabled. */
static int
is_enabled(const service_t *s)
{
    return ctx_has(s->ctx, "service.enabled") ? does(s, "service.enabled") : 1;
}

/* An error of the service module (FAIL_COMMAND) is a failed state; others go to the caller. */
static int
service_failed(const service_t *s)
{
    return s->err->kind == FAIL_COMMAND ? state_ret_fail(s->ret, s->err) : s->err->code;
}

/* 1 available, 0 the return is made, negative. */
static int
available(const service_t *s)
{
    int there = does(s, "service.available");

    if (there == 0)
        (void) state_ret_set(s->ret, STATE_FALSE, "The named service %s is not available", s->name);
    return there;
}

/* ---- at boot --------------------------------------------------------------------------------- */

/* Words of enabling and disabling. `so` stands behind what was done, `but` behind a failure. */
typedef struct boot_words {
    const char *change, *query; /* functions */
    const char *done, *verb;    /* "enabled"; "start at boot" */
    const char *so[3], *but[3]; /* by standing_t */
} boot_words_t;

static const boot_words_t enabling = {
    .change = "service.enable",
    .query = "service.enabled",
    .done = "enabled",
    .verb = "to start at boot",
    .so = { "is in the desired state", "is running", "is dead" },
    .but = { "but the service was already running", "but the service is running", "and the service is dead" },
};
static const boot_words_t disabling = {
    .change = "service.disable",
    .query = "service.disabled",
    .done = "disabled",
    .verb = "to not start at boot",
    .so = { "is in the desired state", "is running", "is dead" },
    .but = { "but the service was already running", "and is running", "and the service is dead" },
};

/* Make the service start at boot, or not; the state's result and comment become this one's. */
static int
service_at_boot(const service_t *s, const boot_words_t *w, standing_t standing, bool result)
{
    state_result_t told = result ? STATE_TRUE : STATE_FALSE;
    int there = available(s), before;

    if (there == 0 && w == &disabling)
        json_object_set_new(s->ret, "result", json_true());
    if (there <= 0)
        return there < 0 ? service_failed(s) : 0;
    if (!ctx_has(s->ctx, w->change) || !ctx_has(s->ctx, w->query))
        return state_ret_set(s->ret, told,
                             w == &enabling ? "Enable is not available on this minion, service %s %s"
                                            : "Disable is not available on this minion, service %s %s",
                             s->name, standing == RUNS ? "started" : w->so[standing]);
    if ((before = does(s, w->query)) < 0)
        return service_failed(s);
    if (before)
        return state_ret_set(s->ret, told, "Service %s is already %s, and %s", s->name, w->done,
                             w->so[standing]);
    if (ctx_test(s->ctx))
        return state_ret_set(s->ret, STATE_NONE, "Service %s set to be %s", s->name, w->done);
    int done = does(s, w->change);
    if (done > 0) {
        /* Reports a changed boot setting, after checking that it holds. */
        int after = does(s, w->query);
        if (after < 0)
            return service_failed(s);
        state_change_set(s->ret, after ? json_pack("{s:b}", s->name, 1) : json_object());
        return state_ret_set(s->ret, result ? STATE_TRUE : STATE_FALSE, "Service %s has been %s, and %s",
                             s->name, w->done, w->so[standing]);
    }
    bool why = done < 0 && s->err->kind == FAIL_COMMAND;
    if (done < 0 && !why)
        return s->err->code;
    (void) state_ret_set(s->ret, STATE_FALSE, "Failed when setting service %s %s, %s%s%s", s->name, w->verb,
                         w->but[standing], why ? ". Additional information follows:\n\n" : "",
                         why ? fail_text(s->err) : "");
    fail_clear(s->err);
    return 0;
}

/* `enable` of the SLS: None leaves it as it is. */
static int
boot_wish(const service_t *s, standing_t standing, bool result)
{
    json_t *enable = value_get(s->args, "enable");

    if (json_is_null(enable))
        return 0;
    return service_at_boot(s, value_truthy(enable) ? &enabling : &disabling, standing, result);
}

/* ---- running and dead ------------------------------------------------------------------------ */

/* The words before and after the service's name. */
typedef struct phrase {
    const char *before, *after;
} phrase_t;

/* Words of running and dead. */
typedef struct life_words {
    bool runs;
    const char *fun; /* what brings it about */
    phrase_t already, test, done, failed;
    const char *not_present;
} life_words_t;

static const life_words_t living = {
    .runs = true,
    .fun = "service.start",
    .already = { "The service ", " is already running" },
    .test = { "Service ", " is set to start" },
    .done = { "Started service ", "" },
    .failed = { "Service ", " failed to start" },
    .not_present = "started",
};
static const life_words_t dying = {
    .runs = false,
    .fun = "service.stop",
    .already = { "The service ", " is already dead" },
    .test = { "Service ", " is set to be killed" },
    .done = { "Service ", " was killed" },
    .failed = { "Service ", " failed to die" },
    .not_present = "stopped",
};

/* Makes the return with a sentence about this service. */
static int
service_say(const service_t *s, state_result_t result, const phrase_t *p)
{
    return state_ret_set(s->ret, result, "%s%s%s", p->before, s->name, p->after);
}

/* 0 with *ret_text NEW: what unmasking did, or NULL when it is not asked for. */
static int
service_unmask(const service_t *s, char **ret_text)
{
    json_t *answer = NULL;

    if (!value_truthy(value_get(s->kwargs, "unmask")))
        return 0;
    json_auto_t *kwargs = json_pack("{s:s, s:b}", "name", s->name, "runtime",
                                    value_truthy(value_get(s->kwargs, "unmask_runtime")));
    if (ctx_state(s->ctx, "service.unmasked", kwargs, &answer, s->err) < 0)
        return s->err->code;
    *ret_text = xstrdup(value_str(answer, "comment", ""));
    json_decref(answer);
    return 0;
}

static void
service_add_lines(const service_t *s, const char *text)
{
    if (text != NULL && *text != '\0')
        state_ret_add(s->ret, "%s", text);
}

/* Checks the service after its function returned, and reports what it finds. */
static int
after_life(const service_t *s, const life_words_t *w, int enabled, int runs)
{
    clock_pause(value_num(s->args, "init_delay", 0));
    int now = does(s, "service.status"), now_enabled = now < 0 ? now : is_enabled(s);

    if (now < 0 || now_enabled < 0)
        return service_failed(s);
    bool ok = (now > 0) == w->runs;
    if (now != runs || now_enabled != enabled)
        state_change(s->ret, s->name, json_boolean(now));
    (void) service_say(s, ok ? STATE_TRUE : STATE_FALSE, ok ? &w->done : &w->failed);
    int rc = boot_wish(s, standing_of(now > 0), ok);
    if (rc == 0 && w->runs && value_num(s->args, "init_delay", 0) > 0) {
        AUTO_FREE char *delay = value_pystr(value_get(s->args, "init_delay"));
        state_ret_add(s->ret, "Delayed return for %s seconds", delay);
    }
    return rc;
}

/* service.running and service.dead, by the row's words. A missing service is a failure for running only. */
static int
service_life(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const life_words_t *w = ctx_row(ctx)->data.ptr;
    service_t s = service_of(ctx, args, ret_value, err);

    if (value_get(s.kwargs, "enabled") != NULL)
        return state_ret_set(
            s.ret, STATE_FALSE,
            "Service %s uses non-existent option \"enabled\".  Perhaps \"enable\" option was "
            "intended?",
            s.name);
    int offline = ctx_has(ctx, "service.offline") ? sub_call_bool(ctx, err, "service.offline", NULL) : 0;
    if (offline > 0)
        return state_ret_set(s.ret, STATE_TRUE, "Running in OFFLINE mode. Nothing to do");
    int there = offline < 0 ? offline : available(&s);
    if (there < 0)
        return service_failed(&s);
    if (there > 0) {
        /* Starts or stops the service unless it is so already; unmasks first when asked. */
        AUTO_FREE char *unmasked = NULL;
        int runs = does(&s, "service.status"), enabled = runs < 0 ? runs : is_enabled(&s);
        if (runs < 0 || enabled < 0 || (w->runs && service_unmask(&s, &unmasked) < 0))
            return service_failed(&s);
        if ((runs > 0) == w->runs) {
            (void) service_say(&s, STATE_TRUE, &w->already);
            service_add_lines(&s, unmasked);

            /* `enable` only where it is not so already. */
            json_t *enable = value_get(s.args, "enable");
            return json_is_null(enable) || value_truthy(enable) == (enabled > 0)
                       ? 0
                       : boot_wish(&s, STANDS, true);
        }
        if (ctx_test(s.ctx)) {
            (void) service_say(&s, STATE_NONE, &w->test);
            service_add_lines(&s, unmasked);
            return 0;
        }
        int done = does(&s, w->fun);
        if (done < 0)
            return service_failed(&s);
        if (done == 0) {
            (void) service_say(&s, STATE_FALSE, &w->failed);
            return boot_wish(&s, standing_of(!w->runs), false);
        }
        int rc = after_life(&s, w, enabled, runs);
        service_add_lines(&s, unmasked);
        return rc;
    }
    if (ctx_test(ctx))
        return state_ret_set(s.ret, STATE_NONE,
                             "Service %s not present; if created in this state run, it would have been %s",
                             s.name, w->not_present);
    if (!w->runs)
        json_object_set_new(s.ret, "result", json_true());
    return 0;
}

/* Test mode does not fail for a service that is not there yet: a package of the same run may bring it. */
static int
service_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    service_t s = service_of(ctx, args, ret_value, err);
    AUTO_FREE char *absent = xasprintf("The named service %s is not available", s.name);
    int rc = service_at_boot(&s, &enabling, STANDS, true);

    if (rc == 0 && ctx_test(ctx) && strcmp(value_str(s.ret, "comment", ""), absent) == 0)
        return state_ret_set(
            s.ret, STATE_NONE,
            "Service %s not present; if created in this state run, it would have been enabled", s.name);
    return rc;
}

/* A service that is not there is disabled. */
static int
service_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    service_t s = service_of(ctx, args, ret_value, err);

    return service_at_boot(&s, &disabling, STANDS, true);
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* 1, 0, or negative with *err. */
static int
is_masked(const service_t *s)
{
    return sub_call_bool(s->ctx, s->err, "service.masked", "{s:s, s:O}", "name", s->name, "runtime",
                         value_get(s->args, "runtime"));
}

/* service.masked and unmasked, as the row says. As in Salt, a mask that did not take is reported with a true
 * result. */
static int
service_mask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool wanted = ctx_row(ctx)->data.number;
    service_t s = service_of(ctx, args, ret_value, err);
    bool runtime = value_bool(args, "runtime", false);
    AUTO_FREE char *kind = xasprintf("%smasked", runtime ? "runtime " : "");
    AUTO_FREE char *action = xasprintf("%s%smasked", runtime ? "runtime " : "", wanted ? "" : "un");

    if (!ctx_has(ctx, "service.masked"))
        return state_ret_set(s.ret, STATE_FALSE, "Service masking not available on this minion");
    int have = is_masked(&s);
    if (have < 0)
        return service_failed(&s);
    if ((have > 0) == wanted)
        return state_ret_set(s.ret, STATE_TRUE,
                             wanted ? "Service %s is already %s" : "Service %s was already %s", s.name,
                             action);
    json_t *changes = json_pack("{s:{s:b, s:b}}", kind, "old", !wanted, "new", wanted);
    if (ctx_test(ctx)) {
        state_change_set(s.ret, changes);
        return state_ret_set(s.ret, STATE_NONE, "Service %s would be %s", s.name, action);
    }
    if (sub_call_bool(ctx, err, wanted ? "service.mask" : "service.unmask", "{s:s, s:b}", "name", s.name,
                      "runtime", runtime) < 0 ||
        (have = is_masked(&s)) < 0) {
        json_decref(changes);
        return service_failed(&s);
    }
    if ((have > 0) != wanted) {
        json_decref(changes);
        return state_ret_set(s.ret, STATE_FALSE,
                             wanted ? "Failed to mask service %s" : "Failed to unmask service %s", s.name);
    }
    state_change_set(s.ret, changes);
    return state_ret_set(s.ret, STATE_TRUE, "Service %s was %s", s.name, action);
}

/* ---- watch ----------------------------------------------------------------------------------- */

/* Ways to notify a running service of a change, in order of precedence. */
static const struct watch_row {
    const char *arg, *also, *fun, *verb;
} watch_rows[] = {
    { "reload", "force", "service.force_reload", "forcefully reload" },
    { "reload", NULL, "service.reload", "reload" },
    { "full_restart", NULL, "service.full_restart", "fully restart" },
    { NULL, NULL, "service.restart", "restart" },
};

/* The first way that the SLS asks for and the module has; the last one is always there. */
static const struct watch_row *
watch_row(const service_t *s)
{
    const struct watch_row *row = watch_rows;

    while (row->arg != NULL && (!value_truthy(value_get(s->args, row->arg)) || !ctx_has(s->ctx, row->fun) ||
                                (row->also != NULL && !value_truthy(value_get(s->args, row->also)))))
        row++;
    return row;
}

/* Stops, starts or restarts the service because something watched has changed. */
static int
watched(const service_t *s, const char *fun, const char *verb, const char *participle)
{
    if (ctx_test(s->ctx))
        return state_ret_set(s->ret, STATE_NONE, "Service is set to be %s", participle);
    /* Stops first: remains of a service that died would keep it from starting. */
    if (strcmp(verb, "start") == 0 && does(s, "service.stop") < 0)
        return service_failed(s);
    int done = does(s, fun);
    if (done < 0)
        return service_failed(s);
    clock_pause(value_num(s->args, "init_delay", 0));
    state_change(s->ret, s->name, json_boolean(done));
    return done ? state_ret_set(s->ret, STATE_TRUE, "Service %s", participle)
                : state_ret_set(s->ret, STATE_FALSE, "Failed to %s the service", verb);
}

/* A watching state acts by its own function: a dead service is stopped, a running one restarted, reloaded or
 * whatever its options say, and one that does not run is started. */
static int
service_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    service_t s = service_of(ctx, args, ret_value, err);
    const char *sfun = value_str(args, "sfun", "None");
    bool dead = strcmp(sfun, "dead") == 0;

    if (!dead && strcmp(sfun, "running") != 0)
        return state_ret_set(s.ret, STATE_FALSE, "Unable to trigger watch for service.%s", sfun);
    int runs = does(&s, "service.status");
    if (runs < 0)
        return service_failed(&s);
    if (dead)
        return runs ? watched(&s, "service.stop", "stop", "stopped")
                    : state_ret_set(s.ret, STATE_TRUE, "Service is already stopped");
    if (!runs)
        return watched(&s, "service.start", "start", "started");
    const struct watch_row *row = watch_row(&s);
    AUTO_FREE char *participle = xasprintf("%sed", row->verb);
    return watched(&s, row->fun, row->verb, participle);
}

/* Configures the beacon `service` for a state with `beacon: True`. */
static int
service_mod_beacon(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const funs[] = { "running", "dead", NULL };
    static const modbeacon_t how = { "service", "service", funs, "beacon state function" };
    json_t *file = value_get(value_get(args, "beacon_data"), "uncleanshutdown");
    if (!modbeacon_wanted(&how, args, ret_value))
        return 0;
    json_t *data = json_pack("{s:o, s:o, s:o}", "onchangeonly",
                             modbeacon_data(args, "onchangeonly", json_true()), "delay",
                             modbeacon_data(args, "delay", json_integer(0)), "emitatstartup",
                             modbeacon_data(args, "emitatstartup", json_false()));
    if (file != NULL)
        json_object_set(data, "uncleanshutdown", file);
    json_t *keys = json_pack("{s:{s:o}, s:o}", "services", value_str(args, "name", ""), data, "interval",
                             modbeacon_data(args, "interval", json_integer(60)));
    return modbeacon_present(ctx, &how, args, keys, ret_value, err);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The service")
#define KWARGS_ROW                                                                                           \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "no_block, unmask, unmask_runtime: systemd's",                      \
        "no_block unmask unmask_runtime")
#define DELAY_ROW ARG("init_delay", ARG_ANY, "null", "Seconds to wait before its state is looked at")
#define SIG_ROW   ARG("sig", ARG_STR, "null", "What to look for in the list of processes instead")

static const arg_t life_args[] = {
    NAME_ROW,   ARG("enable", ARG_BOOL, "null", "Whether it starts at boot; None leaves that as it is"),
    SIG_ROW,    DELAY_ROW,
    KWARGS_ROW, ARGS_END,
};
static const arg_t boot_args[] = { NAME_ROW, KWARGS_ROW, ARGS_END };
static const arg_t mask_args[] = { NAME_ROW, ARG("runtime", ARG_BOOL, "false", "Until the next boot only"),
                                   ARGS_END };
static const arg_t watch_args[] = {
    NAME_ROW,
    ARG("sfun", ARG_STR, "null", "The function whose watch this is"),
    SIG_ROW,
    ARG("reload", ARG_BOOL, "false", "Reload its configuration instead of starting it again"),
    ARG("full_restart", ARG_BOOL, "false", "Stop and start instead of restarting"),
    DELAY_ROW,
    ARG("force", ARG_BOOL, "false", "Use force-reload for reload"),
    KWARGS_ROW,
    ARGS_END,
};

static const arg_t mod_beacon_args[] = { MODBEACON_ARGS, ARGS_END };

static const func_t funcs[] = {
    { "dead", service_life, life_args, 0, "Ensure that a service does not run.", .data.ptr = &dying },
    { "disabled", service_disabled, boot_args, 0, "Ensure that a service does not start at boot." },
    { "enabled", service_enabled, boot_args, 0, "Ensure that a service starts at boot." },
    { "masked", service_mask, mask_args, 0, "Ensure that a service can't be started. Only with systemd.",
      .data.number = true },
    { "mod_beacon", service_mod_beacon, mod_beacon_args, 0, "What ``beacon`` does: watch the service." },
    { "mod_watch", service_mod_watch, watch_args, 0,
      "What ``watch`` does: restart, reload or stop the service." },
    { "running", service_life, life_args, 0, "Ensure that a service runs.", .data.ptr = &living },
    { "unmasked", service_mask, mask_args, 0, "Ensure that a service can be started. Only with systemd.",
      .data.number = false },
};

PLUGIN(state, service, .doc = "Services: running or dead, enabled or disabled", FUNCS(funcs));
