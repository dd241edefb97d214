/* consul.c - execution module `consul`: keys of a Consul server, what its agent and its catalog know,
 * sessions, ACL tokens and events. consul_register.c has the functions that register something. Answers are
 * Salt's: {"res", "data" or "message"}. Where Consul since 1.0 takes PUT alone, it is sent. */
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "plugins/lib/consul/consul.h"
#include "salt/log.h"

/* ---- keys ------------------------------------------------------------------------------------ */

/* Without a key the whole tree. */
static int
consul_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *key = consul_given(args, "key");
    bool all = !value_truthy(key) || consul_given(args, "recurse") != NULL;
    json_auto_t *query = json_pack("{s:s*, s:s, s:s}", "recurse", all ? "True" : NULL, "keys", "True",
                                   "separator", "/");
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err);
    AUTO_FREE char *path = value_truthy(key) ? consul_text("kv/{key}", args) : xstrdup("kv/");

    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    *ret_value = consul_send(ctx, args, url, "GET", path, query, NULL, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Puts the value in place of its base64; no value is an empty text. */
static int
consul_decode(json_t *item, fail_t *err)
{
    const char *text = value_str(item, "Value", NULL);
    AUTO_FREE char *why = NULL;
    size_t len = 0;

    if (!json_is_object(item))
        return 0;
    AUTO_FREE char *bytes = text != NULL ? yaml_from_base64(text, strlen(text), &len, &why) : xstrdup("");
    if (bytes == NULL)
        return fail_kind(err, FAIL_COMMAND, -EPROTO, "Consul: the value of '%s' is no base64: %s",
                         value_str(item, "Key", ""), why);
    json_object_set_new(item, "Value", value_utf8(bytes, len));
    return 0;
}

static int
consul_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool recurse = value_truthy(value_get(args, "recurse")), raw = value_truthy(value_get(args, "raw"));
    json_auto_t *query = json_pack("{s:s*, s:s*}", "recurse", recurse ? "True" : NULL, "raw",
                                   raw ? "True" : NULL);
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err), *path = consul_text("kv/{key}", args);
    json_t *item;
    size_t i;
    int rc = 0;

    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    if (!value_truthy(consul_given(args, "key")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Required argument \"key\" is missing.");
    json_auto_t *answer = consul_send(ctx, args, url, "GET", path, query, NULL, err);
    if (answer == NULL)
        return err->code;
    if (json_is_true(value_get(answer, "res")) && value_truthy(value_get(args, "decode")))
        json_array_foreach (value_get(answer, "data"), i, item)
            rc = rc == 0 ? consul_decode(item, err) : rc;
    *ret_value = rc == 0 ? json_incref(answer) : NULL;
    return rc;
}

/* Refuses what can't be: with the message in *ret_value (0), else 1. `now` is the key as it is, {} when there
 * is none. */
static int
consul_may_put(const json_t *args, const json_t *now, const json_t *sessions, json_t *query,
               json_t **ret_value)
{
    json_t *cas = consul_given(args, "cas"), *acquire = consul_given(args, "acquire"),
           *release = consul_given(args, "release");
    bool there = json_object_size(now) > 0;
    const char *no = NULL;

    if (cas != NULL && !there)
        no = "Key {key} does not exists, CAS argument can not be used.";
    else if (cas != NULL && json_integer_value(cas) == 0)
        no = "Key {key} exists, index must be non-zero.";
    else if (cas != NULL && !json_equal(cas, value_get(now, "ModifyIndex")))
        no = "Key {key} exists, but indexes do not match.";
    else if (acquire != NULL && !value_has(sessions, acquire))
        no = "{acquire} is not a valid session.";
    else if (release != NULL && there && value_get(now, "Session") == NULL)
        no = "{release} is not a valid session.";
    else if (release != NULL && there && !json_equal(value_get(now, "Session"), release))
        no = "{key} locked by another session.";
    if (no != NULL) {
        *ret_value = consul_said(false, "message", no, args);
        return 0;
    }
    if (release != NULL && !there)
        log_error("Key %s does not exist. Skipping release.", value_str(args, "key", ""));
    json_object_set(query, "cas", cas);
    json_object_set(query, "acquire", acquire);
    json_object_set(query, "release", there ? release : NULL);
    return 1;
}

/* The ids of the sessions. NEW, or NULL with *err. */
static json_t *
consul_sessions(call_ctx_t *ctx, const json_t *args, const char *url, fail_t *err)
{
    json_auto_t *query = consul_members(args, "dc");
    json_auto_t *answer = consul_send(ctx, args, url, "GET", "session/list", query, NULL, err);
    json_t *ids = json_array(), *session;
    size_t i;

    json_array_foreach (value_get(answer, "data"), i, session)
        json_array_append(ids, value_get(session, "ID"));
    if (answer != NULL && json_is_array(value_get(answer, "data")))
        return ids;
    json_decref(ids);
    if (answer != NULL)
        (void) fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Consul lists no sessions: %s",
                         value_str(answer, "error", value_str(answer, "data", "")));
    return NULL;
}

/* True when at most one of the keywords that exclude each other is given. */
static bool
consul_one_kind(const json_t *args, fail_t *err)
{
    static const char *const kinds[] = { "cas", "release", "acquire" };
    const char *first = NULL;

    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (consul_given(args, kinds[i]) == NULL)
            continue;
        if (first != NULL) {
            (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "Using arguments `%s` and `%s` together is invalid.", first, kinds[i]);
            return false;
        }
        first = kinds[i];
    }
    return true;
}

/* The server says false where it did not take the value (a check-and-set, a lock). */
static int
consul_put(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *flags = consul_given(args, "flags");
    json_auto_t *query = json_object(), *sessions = json_array();
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err), *path = consul_text("kv/{key}", args);

    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    if (!value_truthy(consul_given(args, "key")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Required argument \"key\" is missing.");
    if (!consul_one_kind(args, err))
        return err->code;
    if (consul_given(args, "acquire") != NULL) {
        json_decref(sessions);
        if ((sessions = consul_sessions(ctx, args, url, err)) == NULL)
            return err->code;
    }
    if (json_is_integer(flags) && json_integer_value(flags) >= 0)
        json_object_set(query, "flags", flags);
    json_auto_t *now = consul_send(ctx, args, url, "GET", path, NULL, NULL, err);
    if (now == NULL)
        return err->code;
    if (consul_may_put(args, json_array_get(value_get(now, "data"), 0), sessions, query, ret_value) == 0)
        return 0;
    json_auto_t *answer = consul_send(ctx, args, url, "PUT", path, query, value_get(args, "value"), err);
    if (answer == NULL)
        return err->code;
    bool res = json_is_true(value_get(answer, "res")) && !json_is_false(value_get(answer, "data"));
    *ret_value = consul_said(
        res, "data",
        res ? "Added key {key} with value {value}." : "Unable to add key {key} with value {value}.", args);
    if (value_get(answer, "error") != NULL)
        json_object_set(*ret_value, "error", value_get(answer, "error"));
    return 0;
}

static int
consul_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const consul_do_t what = { .done = "Deleted key {key}.",
                                      .failed = "Unable to delete key {key}.",
                                      .errors = true };
    json_t *cas = consul_given(args, "cas");
    json_auto_t *query = json_pack("{s:s*, s:O*}", "recurse",
                                   consul_given(args, "recurse") != NULL ? "True" : NULL, "cas", cas);
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err), *path = consul_text("kv/{key}", args);

    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    if (!value_truthy(consul_given(args, "key")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Required argument \"key\" is missing.");
    if (cas != NULL && json_integer_value(cas) <= 0) {
        *ret_value = consul_said(false, "message", "Check and Set Operation value must be greater than 0.",
                                 args);
        return 0;
    }
    json_auto_t *answer = consul_send(ctx, args, url, "DELETE", path, query, NULL, err);
    if (answer == NULL)
        return err->code;
    *ret_value = consul_told(&what, args, answer);
    return 0;
}

/* ---- health and sessions --------------------------------------------------------------------- */
/* Health of a state that Consul knows. */
static int
consul_health_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const known[] = { "any", "unknown", "passing", "warning", "critical" };
    const char *state = value_str(args, "state", "");
    bool is = str_empty(state);

    for (size_t i = 0; i < NELEMS(known); i++)
        is = is || str_eq(state, known[i]);
    if (!is)
        return consul_refuse(ctx, args, "State must be any, unknown, passing, warning, or critical.",
                             ret_value, err);
    return consul_ask(ctx, args, ret_value, err);
}

static int
consul_session_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (!value_truthy(value_get(args, "return_list")))
        return consul_ask(ctx, args, ret_value, err);
    AUTO_FREE char *url = consul_url(ctx, args, ret_value, err);
    if (url == NULL)
        return *ret_value != NULL ? 0 : err->code;
    *ret_value = consul_sessions(ctx, args, url, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The message has the name that is given, which Salt needs; without one the id. */
static int
consul_acl_clone(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *named = json_deep_copy(args);
    json_t *words = value_get(named, "kwargs");

    if (value_get(words, "name") == NULL)
        json_object_set(words, "name", value_get(words, "id"));
    return consul_ask_with(ctx, named, NULL, ret_value, err);
}

/* Without an id a message, without a name an error, as in Salt. */
static int
consul_acl_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (consul_given(args, "id") == NULL)
        return consul_refuse(ctx, args, "Required parameter \"id\" is missing.", ret_value, err);
    return consul_ask(ctx, args, ret_value, err);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define ROW_KEY            ARG("key", ARG_ANY, "null", "The key")
#define ROW_DC(more, help) CONSUL_ROW_MORE("dc" more, "dc: the data center; by default the agent's" help)

static const arg_t plain_args[] = { CONSUL_ROWS, ARGS_END };
static const arg_t list_args[] = { CONSUL_ROWS, ARG("key", ARG_ANY, "null", "The keys below this one"),
                                   CONSUL_ROW_MORE("recurse", "recurse: all of them"), ARGS_END };
static const arg_t get_args[] = { CONSUL_ROW_URL,
                                  ROW_KEY,
                                  CONSUL_ROW_TOKEN,
                                  ARG("recurse", ARG_ANY, "false", "All below the key as well"),
                                  ARG("decode", ARG_ANY, "false", "Values instead of their base64"),
                                  ARG("raw", ARG_ANY, "false", "Nothing but the value"),
                                  ARGS_END };
static const arg_t put_args[] = {
    CONSUL_ROWS, ROW_KEY, ARG("value", ARG_ANY, "null", "What is stored; what is no text is JSON"),
    CONSUL_ROW_MORE("flags cas acquire release dc",
                    "flags; cas: the index that it must have; acquire, release: a lock, by its session"),
    ARGS_END
};
static const arg_t delete_args[] = {
    CONSUL_ROWS, ROW_KEY,
    CONSUL_ROW_MORE("recurse cas", "recurse: all below it; cas: the index that it must have"), ARGS_END
};
static const arg_t wan_args[] = { CONSUL_ROWS, CONSUL_ROW_MORE("wan", "wan: other data centers too"),
                                  ARGS_END };
static const arg_t maintenance_args[] = { CONSUL_ROWS,
                                          CONSUL_ROW_MORE("enable reason", "enable: True or False; reason"),
                                          ARGS_END };
static const arg_t join_args[] = { CONSUL_ROWS, ARG("address", ARG_ANY, "null", "The node"),
                                   CONSUL_ROW_MORE("wan", "wan: as one of another data center"), ARGS_END };
static const arg_t leave_args[] = { CONSUL_ROWS, ARG("node", ARG_ANY, "null", "The node"), ARGS_END };
static const arg_t check_args[] = { CONSUL_ROWS, ARG("checkid", ARG_ANY, "null", "The check"), ARGS_END };
static const arg_t tell_args[] = { CONSUL_ROWS, ARG("checkid", ARG_ANY, "null", "The check"),
                                   CONSUL_ROW_MORE("note", "note: a text for people"), ARGS_END };
static const arg_t service_args[] = { CONSUL_ROWS, ARG("serviceid", ARG_ANY, "null", "The service"),
                                      ARGS_END };
static const arg_t service_maintenance_args[] = {
    CONSUL_ROWS, ARG("serviceid", ARG_ANY, "null", "The service"),
    CONSUL_ROW_MORE("enable reason", "enable: True or False; reason"), ARGS_END
};
static const arg_t sessions_args[] = { CONSUL_ROWS, ARG("return_list", ARG_ANY, "false", "Only their ids"),
                                       ROW_DC("", ""), ARGS_END };
static const arg_t session_args[] = { CONSUL_ROWS, ARG("session", ARG_ANY, "null", "Its id"), ROW_DC("", ""),
                                      ARGS_END };
static const arg_t dc_args[] = { CONSUL_ROWS, ROW_DC("", ""), ARGS_END };
static const arg_t tagged_args[] = { CONSUL_ROWS, ARG("service", ARG_ANY, "null", "The service"),
                                     ROW_DC(" tag passing", "; tag; of health_service, passing"), ARGS_END };
static const arg_t node_args[] = { CONSUL_ROWS, ARG("node", ARG_ANY, "null", "The node"), ROW_DC("", ""),
                                   ARGS_END };
static const arg_t state_args[] = {
    CONSUL_ROWS, ARG("state", ARG_ANY, "null", "any, unknown, passing, warning or critical"), ROW_DC("", ""),
    ARGS_END
};
static const arg_t peers_args[] = { ARG("consul_url", ARG_STR, ARG_REQUIRED, "The server"), CONSUL_ROW_TOKEN,
                                    ARGS_END };
static const arg_t acl_args[] = {
    CONSUL_ROWS, CONSUL_ROW_MORE("id name type rules", "id; name; type: client or management; rules"),
    ARGS_END
};
static const arg_t acl_id_args[] = { CONSUL_ROWS, CONSUL_ROW_MORE("id name", "id: of the token"), ARGS_END };
static const arg_t acl_info_args[] = { CONSUL_ROW_URL, CONSUL_ROW_MORE("id token", "id: of the token; token"),
                                       ARGS_END };
static const arg_t acl_list_args[] = { CONSUL_ROWS, CONSUL_ROW_MORE(TAKES_NONE, "Not looked at"), ARGS_END };
static const arg_t fire_args[] = { CONSUL_ROWS, ARG("name", ARG_ANY, "null", "Of the event"),
                                   ROW_DC(" node service tag", "; node, service, tag: for whom"), ARGS_END };
static const arg_t events_args[] = { CONSUL_ROWS, CONSUL_ROW_MORE("name", "name: of the events"), ARGS_END };

#define NO_ENABLE "Required parameter \"enable\" is missing."
#define NO_ID     "Required parameter \"id\" is missing."

static const func_t funcs[] = {
    CONSUL_FN("acl_clone", consul_acl_clone, acl_id_args, 0, "Copy an ACL token; return the copy's id.",
              "acl_clone id='c1c4d223-91cb-3d1f-1ee8-f2af9e7b6716'", .method = "PUT",
              .path = "acl/clone/{id}", .needs = "id", .missing = NO_ID, .done = "ACL {name} cloned.",
              .failed = "Cloning ACL item {name} failed.", .answer = "ID"),
    CONSUL_FN("acl_create", consul_ask, acl_args, 0, "Make an ACL token.", "acl_create name=web type=client",
              .method = "PUT", .path = "acl/create", .body = "id name:Name type:Type rules:Rules",
              .needs = "name", .done = "ACL {name} created.",
              .failed = "Removing Catalog item {name} failed."),
    CONSUL_FN("acl_delete", consul_ask, acl_id_args, 0, "Delete an ACL token.",
              "acl_delete id='c1c4d223-91cb-3d1f-1ee8-f2af9e7b6716'", .method = "PUT",
              .path = "acl/destroy/{id}", .needs = "id", .missing = NO_ID, .done = "ACL {id} deleted.",
              .failed = "Removing ACL {id} failed."),
    CONSUL_FN("acl_info", consul_ask, acl_info_args, FN_READONLY, "Return an ACL token.",
              "acl_info id='c1c4d223-91cb-3d1f-1ee8-f2af9e7b6716'", .method = "GET", .path = "acl/info/{id}",
              .needs = "id", .missing = NO_ID),
    CONSUL_FN("acl_list", consul_ask, acl_list_args, FN_READONLY, "Return the ACL tokens.", "acl_list",
              .method = "GET", .path = "acl/list"),
    ROW("acl_update", consul_acl_update, acl_args, 0,
        "Change an ACL token." CLI_EXAMPLE("salt '*' consul.acl_update id='c1c4d223' name=web"),
        .data.ptr = &(const consul_do_t){ .method = "PUT",
                                          .path = "acl/update",
                                          .needs = "name",
                                          .body = "id:ID name:Name type:Type rules:Rules",
                                          .done = "ACL {name} created.",
                                          .failed = "Updating ACL {name} failed." }),
    CONSUL_FN("agent_check_deregister", consul_ask, check_args, 0, "Take a check from the agent.",
              "agent_check_deregister checkid='Memory Utilization'", .method = "PUT",
              .path = "agent/check/deregister/{checkid}", .done = "Check {checkid} removed from agent.",
              .failed = "Unable to remove check from agent."),
    CONSUL_FN("agent_check_fail", consul_ask, tell_args, 0,
              "Say that a check with a time to live is critical.",
              "agent_check_fail checkid='redis_check1' note='Forcing check into critical state.'",
              .method = "PUT", .path = "agent/check/fail/{checkid}", .query = "note",
              .done = "Check {checkid} marked as critical.", .failed = "Unable to update check {checkid}."),
    CONSUL_FN("agent_check_pass", consul_ask, tell_args, 0, "Say that a check with a time to live passes.",
              "agent_check_pass checkid='redis_check1' note='Forcing check into passing state.'",
              .method = "PUT", .path = "agent/check/pass/{checkid}", .query = "note",
              .done = "Check {checkid} marked as passing.", .failed = "Unable to update check {checkid}."),
    CONSUL_FN("agent_check_warn", consul_ask, tell_args, 0, "Say that a check with a time to live warns.",
              "agent_check_warn checkid='redis_check1' note='Forcing check into warning state.'",
              .method = "PUT", .path = "agent/check/warn/{checkid}", .query = "note",
              .done = "Check {checkid} marked as warning.", .failed = "Unable to update check {checkid}."),
    CONSUL_FN("agent_checks", consul_ask, plain_args, FN_READONLY, "Return the checks of the agent.",
              "agent_checks", .method = "GET", .path = "agent/checks"),
    CONSUL_FN("agent_join", consul_ask, join_args, 0, "Let the agent join a node.",
              "agent_join address='192.168.1.1'", .method = "PUT", .path = "agent/join/{address}",
              .query = "wan", .done = "Agent joined the cluster", .failed = "Unable to join the cluster."),
    CONSUL_FN("agent_leave", consul_ask, leave_args, 0, "Say that a node has left.",
              "agent_leave node='web1.example.com'", .method = "PUT", .path = "agent/force-leave/{node}",
              .done = "Node {node} put in leave state.", .failed = "Unable to change state for {node}."),
    CONSUL_FN("agent_maintenance", consul_ask, maintenance_args, 0, "Begin or end the node's maintenance.",
              "agent_maintenance enable='False' reason='Upgrade in progress'", .method = "PUT",
              .path = "agent/maintenance", .query = "enable reason", .needs = "enable", .missing = NO_ENABLE,
              .done = "Agent maintenance mode {enable}ed.",
              .failed = "Unable to change maintenance mode for agent."),
    CONSUL_FN("agent_members", consul_ask, wan_args, FN_READONLY, "Return the members that the agent sees.",
              "agent_members", .method = "GET", .path = "agent/members", .query = "wan"),
    CONSUL_FN("agent_self", consul_ask, plain_args, FN_READONLY, "Return the agent's configuration.",
              "agent_self", .method = "GET", .path = "agent/self"),
    CONSUL_FN("agent_service_deregister", consul_ask, service_args, 0, "Take a service from the agent.",
              "agent_service_deregister serviceid='redis'", .method = "PUT",
              .path = "agent/service/deregister/{serviceid}",
              .done = "Service {serviceid} removed from agent.",
              .failed = "Unable to remove service {serviceid}."),
    CONSUL_FN("agent_service_maintenance", consul_ask, service_maintenance_args, 0,
              "Begin or end a service's maintenance.",
              "agent_service_maintenance serviceid='redis' enable='True' reason='Down for upgrade'",
              .method = "PUT", .path = "agent/service/maintenance/{serviceid}", .query = "enable reason",
              .needs = "enable", .missing = NO_ENABLE, .done = "Service {serviceid} set in maintenance mode.",
              .failed = "Unable to set service {serviceid} to maintenance mode."),
    CONSUL_FN("agent_services", consul_ask, plain_args, FN_READONLY, "Return the services of the agent.",
              "agent_services", .method = "GET", .path = "agent/services"),
    CONSUL_FN("catalog_datacenters", consul_ask, plain_args, FN_READONLY, "Return the data centers.",
              "catalog_datacenters", .method = "GET", .path = "catalog/datacenters"),
    CONSUL_FN("catalog_node", consul_ask, node_args, FN_READONLY, "Return a node and its services.",
              "catalog_node node='node1'", .method = "GET", .path = "catalog/node/{node}", .query = "dc"),
    CONSUL_FN("catalog_nodes", consul_ask, dc_args, FN_READONLY, "Return the nodes.", "catalog_nodes",
              .method = "GET", .path = "catalog/nodes", .query = "dc"),
    CONSUL_FN("catalog_service", consul_ask, tagged_args, FN_READONLY, "Return the nodes of a service.",
              "catalog_service service='redis'", .method = "GET", .path = "catalog/service/{service}",
              .query = "dc tag"),
    CONSUL_FN("catalog_services", consul_ask, dc_args, FN_READONLY, "Return the services and their tags.",
              "catalog_services", .method = "GET", .path = "catalog/services", .query = "dc"),
    CONSUL_FN("delete", consul_delete, delete_args, 0, "Delete a key.", "delete key='web' recurse='True'",
              .method = "DELETE"),
    CONSUL_FN("event_fire", consul_ask, fire_args, 0, "Fire an event.", "event_fire name='deploy'",
              .method = "PUT", .path = "event/fire/{name}", .query = "dc node service tag",
              .done = "Event {name} fired.", .failed = "Firing event {name} failed.", .answer = "data"),
    CONSUL_FN("event_list", consul_ask, events_args, FN_READONLY, "Return recent events of a name.",
              "event_list name='deploy'", .method = "GET", .path = "event/list", .query = "name",
              .needs = "name"),
    CONSUL_FN("get", consul_get, get_args, FN_READONLY, "Return a key.",
              "get key='web' recurse=True decode=True", .method = "GET"),
    CONSUL_FN("health_checks", consul_ask, tagged_args, FN_READONLY, "Return the checks of a service.",
              "health_checks service='redis1'", .method = "GET", .path = "health/checks/{service}",
              .query = "dc"),
    CONSUL_FN("health_node", consul_ask, node_args, FN_READONLY, "Return the checks of a node.",
              "health_node node='node1'", .method = "GET", .path = "health/node/{node}", .query = "dc"),
    CONSUL_FN("health_service", consul_ask, tagged_args, FN_READONLY,
              "Return the nodes of a service with their checks.",
              "health_service service='redis1' passing='True'", .method = "GET",
              .path = "health/service/{service}", .query = "dc tag passing"),
    CONSUL_FN("health_state", consul_health_state, state_args, FN_READONLY, "Return the checks in a state.",
              "health_state state='critical'", .method = "GET", .path = "health/state/{state}",
              .query = "dc"),
    CONSUL_FN("list", consul_list, list_args, FN_READONLY, "Return keys.", "list key='web'", .method = "GET"),
    CONSUL_FN("put", consul_put, put_args, 0, "Store a value at a key.",
              "put key='web/key1' value=\"Hello there\"", .method = "PUT"),
    CONSUL_FN("session_destroy", consul_ask, session_args, 0, "End a session.",
              "session_destroy session='c1c4d223-91cb-3d1f-1ee8-f2af9e7b6716'", .method = "PUT",
              .path = "session/destroy/{session}", .query = "dc", .done = "Destroyed Session {session}.",
              .failed = "Unable to destroy session {session}."),
    CONSUL_FN("session_info", consul_ask, session_args, FN_READONLY, "Return a session.",
              "session_info session='c1c4d223-91cb-3d1f-1ee8-f2af9e7b6716'", .method = "GET",
              .path = "session/info/{session}", .query = "dc"),
    CONSUL_FN("session_list", consul_session_list, sessions_args, FN_READONLY, "Return the sessions.",
              "session_list", .method = "GET", .path = "session/list", .query = "dc"),
    CONSUL_FN("status_leader", consul_ask, plain_args, FN_READONLY, "Return the leader's address.",
              "status_leader", .method = "GET", .path = "status/leader"),
    CONSUL_FN("status_peers", consul_ask, peers_args, FN_READONLY, "Return the addresses of all servers.",
              "status_peers http://127.0.0.1:8500", .method = "GET", .path = "status/peers"),
};

PLUGIN(exec, consul, .doc = "Keys, services and ACL tokens of a Consul server", FUNCS(funcs));
