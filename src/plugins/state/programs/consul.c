/* consul.c - state module `consul`: ACL tokens of a Consul server. An id is the token itself, a secret, so
 * changes tell name, type and rules. Salt tells no changes. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The token as the server has it, by its id or else by its name. NEW; null when there is none, NULL with
 * *err. */
static json_t *
acl_find(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *id = value_get(args, "id"), *acl;
    bool by_id = value_truthy(id);
    json_auto_t *info = by_id
                            ? sub_call(ctx, err, "consul.acl_info", "{s:O, s:O, s:O}", "id", id, "token",
                                       value_get(args, "token"), "consul_url", value_get(args, "consul_url"))
                            : sub_call(ctx, err, "consul.acl_list", "{s:O, s:O}", "token",
                                       value_get(args, "token"), "consul_url", value_get(args, "consul_url"));
    size_t i;

    if (info == NULL)
        return NULL;
    if (json_is_string(value_get(info, "error"))) {
        (void) fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Consul: %s", value_str(info, "error", ""));
        return NULL;
    }
    json_array_foreach (value_get(info, "data"), i, acl) {
        const char *member = by_id ? "ID" : "Name";
        if (json_equal(value_get(acl, member), by_id ? id : value_get(args, "name")))
            return json_incref(acl);
    }
    return json_null();
}

/* The members that differ, as {"old", "new"}. NEW object. */
static json_t *
acl_changes(const json_t *args, const json_t *acl)
{
    static const char *const members[][2] = { { "Name", "name" }, { "Rules", "rules" }, { "Type", "type" } };
    json_t *changes = json_object();

    for (size_t i = 0; i < NELEMS(members); i++) {
        json_t *old = value_get(acl, members[i][0]), *new = value_get(args, members[i][1]);
        if (!json_equal(old, new))
            json_object_set_new(changes, members[i][1], json_pack("{s:O?, s:O}", "old", old, "new", new));
    }
    return changes;
}

static int
consul_acl_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *acl = acl_find(ctx, args, err);
    bool there = json_is_object(acl);

    if (acl == NULL)
        return err->code;
    json_auto_t *changes = acl_changes(args, acl);
    if (there && json_object_size(changes) == 0)
        return state_ret_set(ret, STATE_TRUE, "ACL \"%s\" exists and is up to date",
                             value_str(args, "name", ""));
    if (!ctx_test(ctx)) {
        json_t *id = there ? value_get(acl, "ID") : value_get(args, "id");
        json_auto_t *did = sub_call(ctx, err, there ? "consul.acl_update" : "consul.acl_create",
                                    "{s:O, s:O*, s:O, s:O, s:O, s:O}", "name", value_get(args, "name"), "id",
                                    value_truthy(id) ? id : NULL, "token", value_get(args, "token"), "type",
                                    value_get(args, "type"), "rules", value_get(args, "rules"), "consul_url",
                                    value_get(args, "consul_url"));
        if (did == NULL)
            return err->code;
        if (!json_is_true(value_get(did, "res")))
            return state_ret_set(ret, STATE_FALSE, "Failed to %s the acl", there ? "update" : "create");
    }
    state_change_set(ret, json_incref(changes));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE,
                             there ? "The acl exists and will be updated"
                                   : "The acl doesn't exist, it will be created");
    return state_ret_set(ret, STATE_TRUE, "The acl has been %s", there ? "updated" : "created");
}

/* Salt's return has the id in place of the name; without an id the name stays. */
static int
consul_acl_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *shown = value_str(args, value_truthy(value_get(args, "id")) ? "id" : "name", "");
    json_t *ret = *ret_value = state_ret(shown);
    json_auto_t *acl = acl_find(ctx, args, err);

    if (acl == NULL)
        return err->code;
    if (!json_is_object(acl))
        return state_ret_set(ret, STATE_TRUE, "ACL \"%s\" does not exist", shown);
    if (!ctx_test(ctx)) {
        json_auto_t *did = sub_call(ctx, err, "consul.acl_delete", "{s:O, s:O, s:O}", "id",
                                    value_get(acl, "ID"), "token", value_get(args, "token"), "consul_url",
                                    value_get(args, "consul_url"));
        if (did == NULL)
            return err->code;
        if (!json_is_true(value_get(did, "res")))
            return state_ret_set(ret, STATE_FALSE, "Failed to delete the acl");
    }
    state_change_from(ret, value_str(acl, "Name", ""), json_string("present"), json_string("absent"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "The acl exists, it will be deleted");
    return state_ret_set(ret, STATE_TRUE, "The acl has been deleted");
}

#define ROW_NAME  ARG("name", ARG_STR, ARG_REQUIRED, "The token's name")
#define ROW_ID    ARG("id", ARG_STR, "null", "The token itself; by default it is found by its name")
#define ROW_TOKEN ARG("token", ARG_STR, "null", "The token that this is asked with")
#define ROW_URL   ARG("consul_url", ARG_STR, "\"http://localhost:8500\"", "The server")

static const arg_t present_args[] = { ROW_NAME,
                                      ROW_ID,
                                      ROW_TOKEN,
                                      ARG("type", ARG_STR, "\"client\"", "client or management"),
                                      ARG("rules", ARG_STR, "\"\"", "What it may do"),
                                      ROW_URL,
                                      ARGS_END };
static const arg_t absent_args[] = { ROW_NAME, ROW_ID, ROW_TOKEN, ROW_URL, ARGS_END };

static const func_t funcs[] = {
    { "acl_absent", consul_acl_absent, absent_args, 0, "The ACL token is not there." },
    { "acl_present", consul_acl_present, present_args, 0, "The ACL token is there, with these rules." },
};

PLUGIN(state, consul, .doc = "ACL tokens of a Consul server", FUNCS(funcs));
