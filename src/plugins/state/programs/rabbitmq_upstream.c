/* rabbitmq_upstream.c - state module `rabbitmq_upstream`: brokers that a RabbitMQ broker takes messages
 * from. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Salt's text of a failure, for those that are the command's. */
static int
upstream_failed(json_t *ret, fail_t *err, const char *before)
{
    if (err->kind != FAIL_COMMAND)
        return err->code;
    AUTO_FREE char *why = xstrdup(fail_text(err));
    fail_clear(err);
    return state_ret_set(ret, STATE_FALSE, "%s: %s", before, why);
}

/* What is wanted, as the broker keeps it: without empty values. NEW. */
static json_t *
upstream_wanted(const json_t *args)
{
    json_t *wanted = json_object(), *value;
    const char *key;

    json_object_foreach ((json_t *) args, key, value) {
        AUTO_FREE char *name = str_replace(key, "_", "-");
        if (value_truthy(value) && strcmp(key, "name") != 0 && strcmp(key, "runas") != 0)
            json_object_set(wanted, name, value);
    }
    return wanted;
}

/* A value as it may be told: without the password in a URL. NEW. */
static json_t *
upstream_told(json_t *value)
{
    AUTO_FREE char *text = json_is_string(value) ? str_redacted(json_string_value(value)) : NULL;

    return text != NULL ? json_string(text) : json_incref(value);
}

/* What of `a` is not in `b`. NEW. */
static json_t *
upstream_only(json_t *a, const json_t *b)
{
    json_t *only = json_object(), *value;
    const char *key;

    json_object_foreach (a, key, value) {
        if (value_get(b, key) == NULL || !value_equal(value, value_get(b, key)))
            json_object_set_new(only, key, upstream_told(value));
    }
    return only;
}

/* {"old", "new"} of what differs, each unless it is empty; "old" is None for a new one. NEW. */
static json_t *
upstream_changes(json_t *current, json_t *wanted)
{
    json_auto_t *old = upstream_only(current, wanted), *new = upstream_only(wanted, current);
    json_t *changes = json_object();

    if (current == NULL || json_object_size(old) > 0)
        json_object_set(changes, "old", current == NULL ? json_null() : old);
    if (json_object_size(new) > 0)
        json_object_set(changes, "new", new);
    return changes;
}

/* rabbitmqctl prints an upstream's definition as a text of JSON, which is parsed to be compared. */
static int
upstream_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *all = sub_call(ctx, err, "rabbitmq.list_upstreams", "{s:O}", "runas",
                                value_get(args, "runas"));

    if (all == NULL)
        return upstream_failed(ret, err, "Error");
    const char *text = value_str(all, name, NULL), *action = text != NULL ? "update" : "create";
    json_auto_t *current = text != NULL ? value_parse(text, strlen(text), LIMIT_HOST_FILE, name, err) : NULL;
    json_auto_t *wanted = upstream_wanted(args), *changes = upstream_changes(current, wanted), *done = NULL;
    if (err->code != 0)
        return err->code;
    if (text != NULL && json_object_size(changes) == 0)
        return state_ret_set(ret, STATE_TRUE, "Upstream \"%s\" already present as specified.", name);
    if (ctx_test(ctx)) {
        state_change_set(ret, json_incref(changes));
        return state_ret_set(ret, STATE_NONE, "Upstream \"%s\" would have been %sd.", name, action);
    }
    if (ctx_call(ctx, "rabbitmq.set_upstream", NULL, args, &done, err) < 0) {
        AUTO_FREE char *doing = xasprintf("Error trying to %s upstream", action);
        return upstream_failed(ret, err, doing);
    }
    state_change_set(ret, json_incref(changes));
    return state_ret_set(ret, STATE_TRUE, "Upstream \"%s\" %sd.", name, action);
}

/* The change is told after the deletion, or as None in test mode. */
static int
upstream_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *there = NULL, *done = NULL;

    if (ctx_call(ctx, "rabbitmq.upstream_exists", NULL, args, &there, err) < 0)
        return upstream_failed(ret, err, "Error");
    if (!value_truthy(there))
        return state_ret_set(ret, STATE_TRUE, "The upstream \"%s\" is already absent.", name);
    if (!ctx_test(ctx) && ctx_call(ctx, "rabbitmq.delete_upstream", NULL, args, &done, err) < 0)
        return upstream_failed(ret, err, "Error");
    state_change_set(ret, json_pack("{s:s, s:n}", "old", name, "new"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Upstream \"%s\" would have been deleted.", name);
    return state_ret_set(ret, STATE_TRUE, "Upstream \"%s\" has been deleted.", name);
}

static const char *
state_rabbitmq_upstream_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "rabbitmq.list_upstreams") ? NULL : "rabbitmq module could not be loaded";
}

#define UPSTREAM_ROW             ARG("name", ARG_STR, ARG_REQUIRED, "The upstream")
#define UPSTREAM_RUNAS_ROW       ARG("runas", ARG_STR, "null", "User to run rabbitmqctl as")
#define UPSTREAM_ANY(name, help) ARG(name, ARG_ANY, "null", help)

static const arg_t present_args[] = {
    UPSTREAM_ROW,
    ARG("uri", ARG_STR, ARG_REQUIRED, "amqp://..."),
    UPSTREAM_ANY("prefetch_count", "Messages before acknowledgement"),
    UPSTREAM_ANY("reconnect_delay", "Seconds"),
    UPSTREAM_ANY("ack_mode", "on-confirm, on-publish, no-ack"),
    UPSTREAM_ANY("trust_user_id", "Keep the user's id"),
    UPSTREAM_ANY("exchange", "Exchange there"),
    UPSTREAM_ANY("max_hops", "Of messages"),
    UPSTREAM_ANY("expires", "Milliseconds"),
    UPSTREAM_ANY("message_ttl", "Milliseconds"),
    UPSTREAM_ANY("ha_policy", "Of the queue there"),
    UPSTREAM_ANY("queue", "Queue there"),
    UPSTREAM_RUNAS_ROW,
    ARGS_END,
};
static const arg_t absent_args[] = { UPSTREAM_ROW, UPSTREAM_RUNAS_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", upstream_absent, absent_args, 0, "Ensure that an upstream is not there." },
    { "present", upstream_present, present_args, 0, "Ensure that an upstream is there." },
};

PLUGIN(state, rabbitmq_upstream, .doc = "Upstreams of RabbitMQ", FUNCS(funcs),
       .unavailable = state_rabbitmq_upstream_unavailable);
