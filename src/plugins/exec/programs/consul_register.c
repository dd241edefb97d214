/* consul_register.c - functions of `consul` that register checks, services and nodes, and begin sessions. */
#include <ctype.h>

#include "common/base/str.h"
#include "plugins/lib/consul/consul.h"

/* A check of a script or a URL is made again and again; one with a time to live is told. */
static int
consul_check_register(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool again = consul_given(args, "script") != NULL || consul_given(args, "http") != NULL;
    bool named = consul_given(args, "name") != NULL;

    if (named && !again && consul_given(args, "ttl") == NULL)
        return consul_refuse(ctx, args, "Required parameter \"script\" or \"http\" is missing.", ret_value,
                             err);
    if (named && again && consul_given(args, "interval") == NULL)
        return consul_refuse(ctx, args, "Required parameter \"interval\" is missing.", ret_value, err);
    json_t *data = consul_members(args,
                                  "name:Name id:ID notes:Notes script:Script http:HTTP interval:Interval "
                                  "ttl:TTL");
    if (!again)
        json_object_del(data, "Interval");
    return consul_ask_with(ctx, args, data, ret_value, err);
}

/* The same object with the names in lower case. NEW. */
static json_t *
consul_lower(const json_t *object)
{
    json_t *out = json_object(), *v;
    const char *name;

    json_object_foreach ((json_t *) object, name, v) {
        AUTO_FREE char *lower = xstrdup(name);
        for (char *c = lower; *c != '\0'; c++)
            *c = (char) tolower((unsigned char) *c);
        json_object_set(out, lower, v);
    }
    return out;
}

/* A list of one where it is none. NEW; NULL for NULL. */
static json_t *
consul_as_list(json_t *v)
{
    return v == NULL || json_is_array(v) ? json_incref(v) : json_pack("[O]", v);
}

/* Names of keywords, and of members of `check`, may be in any case. */
static int
consul_service_register(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = consul_lower(value_get(args, "kwargs"));
    json_auto_t *known = json_pack("{s:O, s:O, s:O}", "consul_url", value_get(args, "consul_url"), "token",
                                   value_get(args, "token"), "kwargs", words);
    json_auto_t *check_words = consul_lower(value_get(words, "check"));
    json_t *check = consul_members(check_words, "script:Script http:HTTP ttl:TTL interval:Interval");
    json_t *data = consul_members(
        known, "name:Name address:Address port:Port id:ID enabletagoverride:EnableTagOverride");
    bool again = value_get(check, "Script") != NULL || value_get(check, "HTTP") != NULL,
         timed = value_get(check, "Interval") != NULL;

    json_object_set_new(data, "Tags", consul_as_list(value_get(words, "tags")));
    if (!again)
        json_object_del(check, "Interval");
    if (json_object_size(check) > 0)
        json_object_set(data, "Check", check);
    json_decref(check);
    if (value_get(words, "name") != NULL && again && !timed) {
        json_decref(data);
        return consul_refuse(ctx, args, "Required parameter \"interval\" is missing.", ret_value, err);
    }
    return consul_ask_with(ctx, known, data, ret_value, err);
}

/* The time to live in seconds, with or without an "s" behind it. */
static int
consul_session_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *behavior = consul_given(args, "behavior"), *ttl = consul_given(args, "ttl");
    const char *end = json_string_value(behavior);
    AUTO_FREE char *text = ttl != NULL ? value_pystr(ttl) : NULL;
    long long seconds = 0;

    if (consul_given(args, "name") != NULL && behavior != NULL && !str_eq(end, "delete") &&
        !str_eq(end, "release"))
        return consul_refuse(ctx, args, "Behavior must be either delete or release.", ret_value, err);
    if (text != NULL && str_ends(text, "s"))
        text[strlen(text) - 1] = '\0';
    if (text != NULL && !str_to_int(text, 0, 3600, &seconds))
        return consul_refuse(ctx, args, "TTL must be between 0 and 3600.", ret_value, err);
    json_t *data = consul_members(args,
                                  "lockdelay:LockDelay node:Node name:Name checks:Checks behavior:Behavior");
    if (text != NULL)
        json_object_set_new(data, "TTL", value_fmt("%llds", seconds));
    return consul_ask_with(ctx, args, data, ret_value, err);
}

/* {"Node", "Address", "TaggedAddresses"?, "Service"?, "NodeMeta", "Check"?} of a registration. NEW. */
static json_t *
catalog_entry(const json_t *args)
{
    json_t *address = consul_given(args, "address"), *nets = consul_given(args, "ip_interfaces"), *list;
    json_t *data = consul_members(args, "datacenter:Datacenter node:Node");
    const char *name;

    json_object_set(data, "Address", json_is_array(address) ? json_array_get(address, 0) : address);
    if (json_is_object(nets)) {
        json_t *tagged = json_object();
        json_object_foreach (nets, name, list)
            json_object_set(tagged, name, json_array_get(list, 0));
        json_object_set_new(data, "TaggedAddresses", tagged);
    }
    if (consul_given(args, "service") != NULL) {
        json_t *service = consul_members(
            args, "service:Service service_address:Address service_port:Port service_id:ID");
        json_object_set_new(service, "Tags", consul_as_list(consul_given(args, "service_tags")));
        json_object_set_new(data, "Service", service);
    }
    json_object_set_new(data, "NodeMeta",
                        consul_members(args, "cpu:Cpu num_cpus:Cpu_num mem:Memory oscode:Os osarch:Osarch "
                                             "kernel:Kernel kernelrelease:Kernelrelease localhost nodename "
                                             "os_family lsb_distrib_description master"));
    if (consul_given(args, "check") != NULL)
        json_object_set_new(data, "Check",
                            consul_members(args, "check:Name check_status:Status check_service:ServiceID "
                                                 "check_id:CheckID check_notes:Notes"));
    return data;
}

/* The return has what was sent. */
static int
consul_catalog_register(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const statuses[] = { "unknown", "passing", "warning", "critical" };
    json_t *status = consul_given(args, "check") != NULL ? consul_given(args, "check_status") : NULL;
    bool known = status == NULL;

    if (consul_given(args, "node") == NULL)
        return consul_refuse(ctx, args, "Required argument node argument is missing.", ret_value, err);
    if (consul_given(args, "address") == NULL)
        return consul_refuse(ctx, args, "Required argument address argument is missing.", ret_value, err);
    for (size_t i = 0; i < NELEMS(statuses); i++)
        known = known || str_eq(json_string_value(status), statuses[i]);
    if (!known)
        return consul_refuse(ctx, args, "Check status must be unknown, passing, warning, or critical.",
                             ret_value, err);
    json_auto_t *data = catalog_entry(args);
    int rc = consul_ask_with(ctx, args, json_incref(data), ret_value, err);
    if (rc == 0 && !str_eq(value_str(*ret_value, "message", ""), "No Consul URL found."))
        json_object_set(*ret_value, "data", data);
    return rc;
}

#define WORDS_CHECK   "name id notes script http ttl interval"
#define WORDS_SESSION "lockdelay node name checks behavior ttl"
#define WORDS_REMOVED "datacenter node checkid serviceid"
#define WORDS_CATALOG                                                                                         \
    "datacenter node address ip_interfaces service service_address service_port service_id service_tags cpu " \
    "num_cpus mem oscode osarch kernel kernelrelease localhost nodename os_family lsb_distrib_description "   \
    "master check check_status check_service check_id check_notes"

static const arg_t check_args[] = { CONSUL_ROWS,
                                    CONSUL_ROW_MORE(WORDS_CHECK, "Its members: name, script or http with "
                                                                 "interval, or ttl; id, notes"),
                                    ARGS_END };
static const arg_t service_args[] = {
    CONSUL_ROWS, CONSUL_ROW_MORE("", "Its members: name, address, port, id, tags, enabletagoverride, check"),
    ARGS_END
};
static const arg_t session_args[] = { CONSUL_ROWS, CONSUL_ROW_MORE(WORDS_SESSION, "Its members"), ARGS_END };
static const arg_t catalog_args[] = { CONSUL_ROWS,
                                      CONSUL_ROW_MORE(WORDS_CATALOG, "node, address; service_*, check_*, and "
                                                                     "what else is known of the node"),
                                      ARGS_END };
static const arg_t removed_args[] = { CONSUL_ROWS,
                                      CONSUL_ROW_MORE(WORDS_REMOVED, "node; checkid or serviceid"),
                                      ARGS_END };

static const func_t funcs[] = {
    CONSUL_FN(
        "agent_check_register", consul_check_register, check_args, 0, "Add a check to the agent.",
        "agent_check_register name='Memory Utilization' script='/usr/local/bin/check_mem.py' interval='15s'",
        .method = "PUT", .path = "agent/check/register", .needs = "name",
        .done = "Check {name} added to agent.", .failed = "Unable to add check to agent."),
    CONSUL_FN(
        "agent_service_register", consul_service_register, service_args, 0, "Add a service to the agent.",
        "agent_service_register name='redis' tags='[\"master\", \"v1\"]' address=\"127.0.0.1\" port=\"8080\"",
        .method = "PUT", .path = "agent/service/register", .needs = "name",
        .done = "Service {name} registered on agent.", .failed = "Unable to register service {name}."),
    CONSUL_FN("catalog_deregister", consul_ask, removed_args, 0, "Take a node, a service or a check away.",
              "catalog_deregister node='node1' serviceid='redis_server1' checkid='redis_check1'",
              .method = "PUT", .path = "catalog/deregister",
              .body = "datacenter:Datacenter node:Node checkid:CheckID serviceid:ServiceID", .needs = "node",
              .missing = "Node argument required.", .done = "Catalog item {node} removed.",
              .failed = "Removing Catalog item {node} failed."),
    CONSUL_FN("catalog_register", consul_catalog_register, catalog_args, 0,
              "Register a node, a service or a check.",
              "catalog_register node='node1' address='192.168.1.1' service='redis' service_port='8080'",
              .method = "PUT", .path = "catalog/register",
              .done = "Catalog registration for {node} successful.",
              .failed = "Catalog registration for {node} failed."),
    CONSUL_FN("session_create", consul_session_create, session_args, 0, "Begin a session.",
              "session_create node='node1' name='my-session' behavior='delete' ttl='3600s'", .method = "PUT",
              .path = "session/create", .needs = "name", .done = "Created session {name}.",
              .failed = "Unable to create session {name}."),
};

PLUGIN(exec, consul_register, .provides = "consul", .doc = "Keys, services and ACL tokens of a Consul server",
       FUNCS(funcs));
