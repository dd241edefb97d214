/* auth.c - runner `auth`: tokens of external_auth. */
#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"
#include "salt/value.h"

static const char *const marks[] = { "__pub_user", "__pub_jid", "__pub_fun", "__pub_arg" };

/* As Salt's: what the login gives, or {} when the master refuses it, which its log explains. */
static int
auth_mk_token(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_copy(value_get(args, "kwargs"));

    if (fields == NULL)
        fields = json_object();
    for (size_t i = 0; i < NELEMS(marks); i++)
        json_object_del(fields, marks[i]);
    json_auto_t *reply = ask_master_with(ctx, "login", &fields, err);
    if (reply == NULL)
        return err->code;
    static const char *const own[] = { "ok", "n", "perms" };
    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_del(reply, own[i]);
    json_object_set(reply, "name", value_get(reply, "user"));
    json_object_del(reply, "user");
    *ret_value = json_incref(reply);
    return 0;
}

static int
auth_del_token(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *token = value_str(args, "token", "");
    json_t *fields = json_pack("{s:s}", "token", token);
    json_auto_t *reply = ask_master_with(ctx, "token_revoke", &fields, err);

    if (reply == NULL)
        return err->code;
    *ret_value = json_true();
    return 0;
}

static int
auth_list_tokens(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = ask_master(ctx, "token_list", err);

    if (reply == NULL)
        return err->code;
    *ret_value = json_incref(value_get(reply, "tokens"));
    return 0;
}

static int
auth_revoke_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *user = value_str(args, "user", ""), *hash = value_str(args, "hash", "");
    const char *eauth = value_str(args, "eauth", "");
    json_t *fields = json_pack("{s:s}", *hash != '\0' ? "hash" : "user", *hash != '\0' ? hash : user);

    if (*eauth != '\0')
        json_object_set_new(fields, "eauth", json_string(eauth));
    json_auto_t *reply = ask_master_with(ctx, "token_revoke", &fields, err);
    if (reply == NULL)
        return err->code;
    *ret_value = json_incref(value_get(reply, "revoked"));
    return 0;
}

static const arg_t mk_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "eauth, username, password, token_expire, and what else the system takes"),
    ARGS_END
};
static const arg_t del_args[] = { ARG("token", ARG_STR, ARG_REQUIRED, "The token's text"), ARGS_END };
static const arg_t revoke_args[] = { ARG("user", ARG_STR, "\"\"", "Whose tokens"),
                                     ARG("eauth", ARG_STR, "\"\"", "Those of this system; empty: of all"),
                                     ARG("hash", ARG_STR, "\"\"", "One token alone, as list_tokens shows it"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "mk_token", auth_mk_token, mk_args, FN_SECRET | FN_PRIVATE | FN_ACCESS_ADMIN,
      "Log a user in by external_auth, and return a token of his." CLI_EXAMPLE(
          "salt-run auth.mk_token eauth=pam username=ann password=secret") },
    { "del_token", auth_del_token, del_args, FN_PRIVATE | FN_ACCESS_ADMIN,
      "Revoke a token: it holds no more, and its connections end." CLI_EXAMPLE(
          "salt-run auth.del_token 6556760736e4077daa601baec2b67c24") },
    { "list_tokens", auth_list_tokens, NULL, FN_READONLY | FN_ACCESS_ADMIN,
      "List the tokens that hold: whose, since when and until when, and their hashes." CLI_EXAMPLE(
          "salt-run auth.list_tokens") },
    { "revoke", auth_revoke_all, revoke_args, FN_ACCESS_ADMIN,
      "Revoke all tokens of a user, or one by its hash; returns how many there were." CLI_EXAMPLE(
          "salt-run auth.revoke ann\n    salt-run auth.revoke ann eauth=pam") },
};
PLUGIN(runner, auth, .doc = "Tokens of external authentication", FUNCS(funcs));
