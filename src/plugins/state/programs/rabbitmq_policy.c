/* rabbitmq_policy.c - state module `rabbitmq_policy`: policies of a RabbitMQ broker. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A definition, which may be text in JSON: NEW; "" for none. */
static json_t *
definition_of(const json_t *given, fail_t *err)
{
    if (!json_is_string(given))
        return value_truthy(given) ? json_incref((json_t *) given) : json_string("");
    if (json_string_length(given) == 0)
        return json_string("");
    return value_parse(json_string_value(given), json_string_length(given), LIMIT_HOST_FILE, "definition",
                       err);
}

static bool
same_text(const json_t *a, const json_t *b)
{
    AUTO_FREE char *left = value_pystr(a), *right = value_pystr(b);

    return strcmp(left, right) == 0;
}

/* Names of what is not as wanted. NEW list, or NULL with *err. */
static json_t *
policy_updates(const json_t *policy, const json_t *args, fail_t *err)
{
    json_auto_t *has = definition_of(value_get(policy, "definition"), err);
    json_auto_t *wants = has != NULL ? definition_of(value_get(args, "definition"), err) : NULL;
    json_t *apply = value_get(args, "apply_to");

    if (wants == NULL)
        return NULL;
    json_t *updates = json_array();
    if (!same_text(value_get(policy, "pattern"), value_get(args, "pattern")))
        json_array_append_new(updates, json_string("Pattern"));
    if (!value_equal(has, wants))
        json_array_append_new(updates, json_string("Definition"));
    if (value_truthy(apply) && !same_text(value_get(policy, "apply_to"), apply))
        json_array_append_new(updates, json_string("Applyto"));
    if (!same_text(value_get(policy, "priority"), value_get(args, "priority")))
        json_array_append_new(updates, json_string("Priority"));
    return updates;
}

/* Differences are listed as texts, which are the new side of the changes. */
static int
policy_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *runas = value_get(args, "runas");
    const char *name = value_str(args, "name", ""), *vhost = value_str(args, "vhost", "/");
    json_auto_t *all = sub_call(ctx, err, "rabbitmq.list_policies", "{s:s, s:O}", "vhost", vhost, "runas",
                                runas);
    json_t *policy = value_get(value_get(all, vhost), name);
    json_auto_t *updates = all != NULL && policy != NULL ? policy_updates(policy, args, err) : NULL;

    if (err->code != 0)
        return err->code;
    if (policy != NULL && json_array_size(updates) == 0)
        return state_ret_set(ret, STATE_TRUE, "Policy %s %s is already present", vhost, name);
    state_change_set(ret, policy == NULL ? json_pack("{s:{}, s:s}", "old", "new", name)
                                         : json_pack("{s:O, s:O}", "old", policy, "new", updates));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Policy %s %s is set to be %s", vhost, name,
                             policy == NULL ? "created" : "updated");
    json_auto_t *done = NULL;
    if (ctx_call(ctx, "rabbitmq.set_policy", NULL, args, &done, err) < 0)
        return err->code;
    return state_ret_set(ret, STATE_TRUE, "%s", value_str(done, "Set", ""));
}

/* The module's functions take the state's own arguments. */
static int
policy_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *vhost = value_str(args, "vhost", "/");
    json_auto_t *there = NULL, *done = NULL;

    if (ctx_call(ctx, "rabbitmq.policy_exists", NULL, args, &there, err) < 0)
        return err->code;
    if (!value_truthy(there))
        return state_ret_set(ret, STATE_TRUE, "Policy '%s %s' is not present.", vhost, name);
    state_change_set(ret, json_pack("{s:s, s:s}", "new", "", "old", name));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Policy '%s %s' will be removed.", vhost, name);
    if (ctx_call(ctx, "rabbitmq.delete_policy", NULL, args, &done, err) < 0)
        return err->code;
    return state_ret_set(ret, STATE_TRUE, "Deleted");
}

static const char *
state_rabbitmq_policy_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rabbitmqctl");

    return path != NULL ? NULL : "Command not found: rabbitmqctl";
}

#define POLICY_ROW       ARG("name", ARG_STR, ARG_REQUIRED, "The policy")
#define POLICY_VHOST_ROW ARG("vhost", ARG_STR, "\"/\"", "The virtual host")
#define POLICY_RUNAS_ROW ARG("runas", ARG_STR, "null", "User to run rabbitmqctl as")

static const arg_t present_args[] = {
    POLICY_ROW,
    ARG("pattern", ARG_STR, ARG_REQUIRED, "Which queues or exchanges"),
    ARG("definition", ARG_ANY, ARG_REQUIRED, "A dictionary, or JSON"),
    ARG("priority", ARG_ANY, "0", "Its priority"),
    POLICY_VHOST_ROW,
    POLICY_RUNAS_ROW,
    ARG("apply_to", ARG_ANY, "null", "queues, exchanges, all, ..."),
    ARGS_END,
};
static const arg_t absent_args[] = { POLICY_ROW, POLICY_VHOST_ROW, POLICY_RUNAS_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", policy_absent, absent_args, 0, "Ensure that a policy is not there." },
    { "present", policy_present, present_args, 0, "Ensure that a policy is there." },
};

PLUGIN(state, rabbitmq_policy, .doc = "Policies of RabbitMQ", FUNCS(funcs),
       .unavailable = state_rabbitmq_policy_unavailable);
