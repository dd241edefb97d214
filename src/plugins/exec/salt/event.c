/* event.c - execution module `event`: sends events to the master, or to the minion itself. Without a master,
 * events go to the minion. True and False tell whether an event was handed over, not whether anything
 * listened. Data must be a dictionary for the minion's own bus; the master takes what Salt's takes. */
#include "salt/plugin.h"

#include "common/net/tags.h"
#include "salt/log.h"

extern char **environ;

/* No master is wanted: salt-call --local, file_client: local or master_type: disable. With
 * use_master_when_local the master is wanted even so. */
static bool
exec_event_is_local(call_ctx_t *ctx)
{
    json_t *opts = ctx_opts(ctx);

    return (value_truthy(value_get(opts, "local")) ||
            strcmp(value_str(opts, "file_client", ""), "local") == 0 ||
            strcmp(value_str(opts, "master_type", ""), "disable") == 0) &&
           !value_truthy(value_get(opts, "use_master_when_local"));
}

/* Salt puts the members of `preload` into what the master fires: beside the data, or instead of it. The tag
 * of `preload` is the one under which the event appears. */
static int
fire_loaded(call_ctx_t *ctx, const char *tag, json_t *data, json_t *preload, fail_t *err)
{
    json_t *own = value_get(preload, "data");
    json_auto_t *event = json_pack("{s:s, s:O, s:O}", "tag", value_str(preload, "tag", tag), "data",
                                   own != NULL ? own : data, "preload", preload);
    json_auto_t *request = json_pack("{s:s, s:s, s:O}", "op", "event", "tag", "fire_master", "data", event);
    json_auto_t *answer = NULL;

    return ctx_host(ctx, request, &answer, err);
}

/* The master would refuse it, and its log only would say so; what it fires itself is its own to choose.
 * Salt's minion is told True, and its event is dropped where tags are reserved. */
static int
exec_event_check_tag(call_ctx_t *ctx, const char *tag, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (strcmp(value_str(ctx_opts(ctx), "__role", ""), "master") == 0 ||
        tags_of_minion(tag, ctx_id(ctx), &why))
        return 0;
    return fail_kind(err, FAIL_COMMAND, why.code, "%s", fail_text(&why));
}

/* NEW: whether it was sent; or NULL with *err for an event that no minion may fire. Why it was not sent is in
 * the log alone. */
static json_t *
fire_master(call_ctx_t *ctx, const char *tag, json_t *data, json_t *preload, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (exec_event_is_local(ctx)) {
        log_warning("Local mode detected. Event with tag %s will NOT be sent.", tag);
        return json_false();
    }
    if (exec_event_check_tag(ctx, value_str(preload, "tag", tag), err) < 0)
        return NULL;
    if ((json_is_object(preload) ? fire_loaded(ctx, tag, data, preload, &why)
                                 : ctx_fire(ctx, tag, data, &why)) == 0)
        return json_true();
    log_error("The event %s was not sent: %s", tag, fail_text(&why));
    return json_false();
}

/* NEW: whether it reached the running minion, which takes dictionaries; or NULL with *err for an event that
 * is another function's. */
static json_t *
fire_minion(call_ctx_t *ctx, const char *tag, json_t *data, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    /* By this event the running minion does another function's work: who may call that one calls it. */
    if (strcmp(tag, "environ_setenv") == 0) {
        (void) fail_kind(err, FAIL_COMMAND, -EPERM,
                         "the event environ_setenv changes the environment of all later jobs: call "
                         "environ.setenv with update_minion=True");
        return NULL;
    }
    json_auto_t *request = json_pack("{s:s, s:s, s:O}", "op", "event", "tag", tag, "data", data);
    json_auto_t *answer = NULL;

    if (!json_is_object(data))
        return json_false();
    if (ctx_host(ctx, request, &answer, &why) == 0)
        return json_true();
    log_debug("The event %s did not reach the minion: %s", tag, fail_text(&why));
    return json_false();
}

/* By way of the minion that runs, or of salt-call's own link. */
static int
event_fire_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = fire_master(ctx, value_str(args, "tag", ""), value_get(args, "data"),
                             value_get(args, "preload"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* To the minion's own bus, where its parts and engines listen. */
static int
event_fire(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = fire_minion(ctx, value_str(args, "tag", ""), value_get(args, "data"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- send --------------------------------------------------------------------------------- */

/* True takes everything, a list what it names. Names that are not there add nothing. */
static void
exec_event_add_part(json_t *data, const char *name, const json_t *wanted, json_t *all)
{
    json_t *part, *key;
    size_t i;

    if (!value_truthy(wanted))
        return;
    if (!json_is_array(wanted)) {
        json_object_set(data, name, all);
        return;
    }
    part = json_object();
    json_array_foreach (wanted, i, key) {
        json_t *v = json_is_string(key) ? value_get(all, json_string_value(key)) : NULL;
        if (v != NULL)
            json_object_set(part, json_string_value(key), v);
    }
    json_object_set_new(data, name, part);
}

/* Adds environment, grains, pillar and options as asked, then keywords, then `data`, which wins. */
static int
exec_event_send(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *tag = value_str(args, "tag", "");
    json_auto_t *data = json_object();
    json_t *given = value_get(args, "data"), *opts = ctx_opts(ctx);

    if (value_truthy(value_get(args, "with_env"))) {
        /* Copies the environment into the event's data. */
        json_auto_t *env = json_object();
        for (char **line = environ; line != NULL && *line != NULL; line++) {
            const char *eq = strchr(*line, '=');
            json_auto_t *name = value_utf8(*line, strcspn(*line, "="));
            if (eq != NULL && eq != *line)
                json_object_set_new(env, json_string_value(name), value_utf8(eq + 1, strlen(eq + 1)));
        }

        exec_event_add_part(data, "environ", value_get(args, "with_env"), env);
    }
    /* Grains and pillar may hold secrets: they travel only when the call says so, and every listener on the
     * master sees them. */
    if (value_truthy(value_get(args, "with_grains")))
        exec_event_add_part(data, "grains", value_get(args, "with_grains"), ctx_grains(ctx));
    if (value_truthy(value_get(args, "with_pillar")))
        exec_event_add_part(data, "pillar", value_get(args, "with_pillar"), ctx_pillar(ctx));
    if (value_bool(args, "with_env_opts", false)) {
        json_object_set_new(data, "saltenv", json_string(value_str(opts, "saltenv", "base")));
        json_object_set_new(data, "pillarenv",
                            value_get(opts, "pillarenv") != NULL ? json_incref(value_get(opts, "pillarenv"))
                                                                 : json_null());
    }
    json_object_update(data, value_get(args, "kwargs"));
    if (json_is_object(given))
        json_object_update(data, given);
    *ret_value = exec_event_is_local(ctx) ? fire_minion(ctx, tag, data, err)
                                          : fire_master(ctx, tag, data, value_get(args, "preload"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t fire_master_args[] = {
    ARG("data", ARG_ANY, ARG_REQUIRED, "The event's data"),
    ARG("tag", ARG_STR, ARG_REQUIRED, "The event's tag"),
    ARG("preload", ARG_ANY, "null",
        "A dictionary that goes into the event beside the data; who sends, the connection says"),
    ARGS_END,
};
static const arg_t fire_args[] = {
    ARG("data", ARG_ANY, ARG_REQUIRED, "The event's data, a dictionary"),
    ARG("tag", ARG_STR, ARG_REQUIRED, "The event's tag"),
    ARG("timeout", ARG_ANY, "null", "Accepted for older Salt's sake: the minion takes it at once"),
    ARGS_END,
};
static const arg_t send_args[] = {
    ARG("tag", ARG_STR, ARG_REQUIRED, "The event's tag; slashes make name spaces"),
    ARG("data", ARG_ANY, "null", "Dictionary of the event's data"),
    ARG("preload", ARG_ANY, "null",
        "A dictionary that goes into the event beside the data; who sends, the connection says"),
    ARG("with_env", ARG_ANY, "false", "True, or a list of variables: add the environment as `environ`"),
    ARG("with_grains", ARG_ANY, "false", "True, or a list of names: add grains as `grains`"),
    ARG("with_pillar", ARG_ANY, "false", "True, or a list of keys: add pillar as `pillar`"),
    ARG("with_env_opts", ARG_BOOL, "false", "Add `saltenv` and `pillarenv`"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further data; what Salt adds to a published job is part of it"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "fire", event_fire, fire_args, 0,
      "Send an event to the minion that runs here. Returns whether it arrived." CLI_EXAMPLE(
          "salt '*' event.fire '{\"data\":\"my event data\"}' 'tag'") },
    { "fire_master", event_fire_master, fire_master_args, 0,
      "Send an event to the master. Returns whether it was sent." CLI_EXAMPLE(
          "salt '*' event.fire_master '{\"data\":\"my event data\"}' 'tag'") },
    { "send", exec_event_send, send_args, FN_RAW_KWARGS,
      "Send an event to the master, made from ``data``, from further keyword arguments and from what is "
      "known of the minion. Without a master it goes to the minion itself." CLI_EXAMPLE(
          "salt-call event.send myco/mytag foo=Foo bar=Bar\n    "
          "salt-call event.send 'myco/mytag' '{foo: Foo, bar: Bar}'") },
};

PLUGIN(exec, event, .doc = "Send events", FUNCS(funcs));
