/* acl.c - runner `acl`: why somebody may, or may not, call a function. */
#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"
#include "salt/value.h"

static int
acl_asked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const fields[] = { "user", "fun", "tgt", "tgt_type", "form" };
    json_t *request = json_object(), *arg = json_copy(value_get(args, "arg")),
           *kwarg = value_get(args, "kwarg");
    const char *eauth = value_str(args, "eauth", "");
    json_auto_t *groups = ask_split(value_get(args, "groups"));

    for (size_t i = 0; i < NELEMS(fields); i++)
        json_object_set(request, fields[i], value_get(args, fields[i]));
    if (*eauth != '\0')
        json_object_set(request, "eauth", value_get(args, "eauth"));
    if (groups != NULL)
        json_object_set(request, "groups", groups);
    if (!json_is_array(arg)) {
        json_decref(arg);
        arg = json_array();
    }
    if (json_object_size(kwarg) > 0) {
        json_t *marked = json_copy(kwarg);
        json_object_set_new(marked, "__kwarg__", json_true());
        json_array_append_new(arg, marked);
    }
    json_object_set_new(request, "arg", arg);
    json_auto_t *reply = ask_master_with(ctx, "explain", &request, err);
    if (reply == NULL)
        return err->code;
    json_object_del(reply, "ok");
    json_object_del(reply, "n");
    *ret_value = json_incref(reply);
    return 0;
}

static const arg_t explain_args[] = {
    ARG("user", ARG_STR, ARG_REQUIRED, "The user's name"),
    ARG("fun", ARG_STR, ARG_REQUIRED, "The function"),
    ARG("tgt", ARG_ANY, "\"*\"", "The minions on which it is called"),
    ARG("tgt_type", ARG_STR, "\"glob\"", "What kind of target that is"),
    ARG("eauth", ARG_STR, "\"\"",
        "The system of external_auth by which the user logs in; empty: a user of the master's host"),
    ARG("groups", ARG_ANY, "null", "The groups that the system says the user is in"),
    ARG("form", ARG_STR, "\"local\"", "What the function is: local (of minions), runner or wheel"),
    ARG("arg", ARG_LIST, "null", "Its arguments"),
    ARG("kwarg", ARG_ANY, "null", "Its keyword arguments"),
    ARGS_END
};

static const func_t funcs[] = {
    { "explain", acl_asked, explain_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Tell whether a user may call a function on minions, and which rule of publisher_acl, publisher_acl_blacklist or "
      "external_auth decides." CLI_EXAMPLE(
          "salt-run acl.explain ann test.ping 'web*'\n    salt-run acl.explain ann jobs.active eauth=pam form=runner") },
};
PLUGIN(runner, acl, .doc = "Who may call what", FUNCS(funcs));
