/* rabbitmq_cluster.c - state module `rabbitmq_cluster`: the cluster that a RabbitMQ node is in. */
#include "common/base/fs.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* rabbitmqctl's report of the cluster is searched for the node's name, as in Salt. */
static int
cluster_joined(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    AUTO_FREE char *node = xasprintf("%s@%s", value_str(args, "user", ""), value_str(args, "host", ""));
    json_auto_t *status = sub_call(ctx, err, "rabbitmq.cluster_status", NULL);

    if (status == NULL)
        return err->code;
    if (json_is_string(status) && strstr(json_string_value(status), node) != NULL)
        return state_ret_set(ret, STATE_TRUE, "Already in cluster");
    state_change_set(ret, json_pack("{s:s, s:s}", "old", "", "new", node));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Node is set to join cluster %s", node);
    json_auto_t *done = sub_call(ctx, err, "rabbitmq.join_cluster", "{s:O, s:O, s:O, s:O}", "host",
                                 value_get(args, "host"), "user", value_get(args, "user"), "ram_node",
                                 value_get(args, "ram_node"), "runas", value_get(args, "runas"));
    return done != NULL ? state_ret_set(ret, STATE_TRUE, "%s", value_str(done, "Join", "")) : err->code;
}

static const char *
state_rabbitmq_cluster_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rabbitmqctl");

    return path != NULL ? NULL : "Command not found: rabbitmqctl";
}

static const arg_t joined_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Any name"),
    ARG("host", ARG_STR, ARG_REQUIRED, "A host of the cluster"),
    ARG("user", ARG_STR, "\"rabbit\"", "Its node's user"),
    ARG("ram_node", ARG_ANY, "null", "As a node that keeps nothing on disk"),
    ARG("runas", ARG_STR, "\"root\"", "User to run rabbitmqctl as"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "join", cluster_joined, joined_args, 0, "As ``joined``." },
    { "joined", cluster_joined, joined_args, 0, "Ensure that a node is in a cluster." },
};

PLUGIN(state, rabbitmq_cluster, .doc = "Clusters of RabbitMQ", FUNCS(funcs),
       .unavailable = state_rabbitmq_cluster_unavailable);
