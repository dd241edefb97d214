/* vault.c - execution module `vault`: secrets of a HashiCorp Vault server. plugins/lib/vault sends requests
 * and knows logins; an address is PATH of a secret as users write it, and vault_find() makes it that of
 * version 1 or 2 of the KV engine, which it asks the server about. Values are never logged. */
#include "common/base/str.h"
#include "plugins/lib/vault/vault.h"
#include "salt/log.h"

#define NOT_SET "__unset__" /* a default that nobody gave */

/* Moves the error of a request behind `what`, or to the log, by what the module does with it in Salt. *why is
 * the reason, or empty where the server answered with a status that is no success. */
static int
vault_failed(const char *what, const vault_answer_t *answer, fail_t *why, fail_t *err)
{
    bool refused = why->code == 0;

    if (refused)
        (void) vault_refused(answer, why);
    return fail_kind(err, FAIL_COMMAND, why->code, "%s %s: %s", what,
                     refused ? "HTTPError" : "CommandExecutionError", fail_text(why));
}

/* The default that a call gives for what can't be read; else *err is in Salt's words. Salt's functions take a
 * default for every failure, a wrong login included. */
static int
default_or(const json_t *args, const char *what, const vault_answer_t *answer, fail_t *why,
           json_t **ret_value, fail_t *err)
{
    json_t *dflt = value_get(args, "default");

    if (str_eq(json_string_value(dflt), NOT_SET))
        return vault_failed(what, answer, why, err);
    *ret_value = json_incref(dflt);
    return 0;
}

/* The whole secret, or one key of it. Version 2 wraps values once more, beside metadata of the version. */
static int
exec_vault_read_secret(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *failed = "Failed to read secret!";
    vault_path_auto_t where = { 0 };
    vault_answer_auto_t answer = { 0 };
    fail_auto_t why = FAIL_INIT;
    json_t *key = value_get(args, "key");

    if (vault_find(ctx, value_str(args, "path", ""), &where, &why) < 0 ||
        vault_ask_path(ctx, "GET", where.data, NULL, &answer, &why) < 0 || answer.status != 200)
        return default_or(args, failed, &answer, &why, ret_value, err);
    json_t *data = value_get(answer.body, "data");
    json_t *inside = where.v2 ? value_get(data, "data") : data;
    /* A missing key is Python's KeyError behind Salt's words. */
    if (!json_is_null(key)) {
        AUTO_FREE char *name = value_pystr(key), *shown = value_repr(key);
        json_t *one = value_get(inside, name);
        if (one == NULL && str_eq(json_string_value(value_get(args, "default")), NOT_SET))
            return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s KeyError: %s", failed, shown);
        *ret_value = json_incref(one != NULL ? one : value_get(args, "default"));
        return 0;
    }
    json_t *whole = where.v2 && !value_truthy(value_get(args, "metadata")) ? inside : data;
    if (whole == NULL)
        return fail_kind(err, FAIL_COMMAND, -EBADMSG, "%s Vault's answer has no data", failed);
    *ret_value = json_incref(whole);
    return 0;
}

/* The answer is the server's {"keys": [...]}; folders end with "/". */
static int
exec_vault_list_secrets(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    vault_path_auto_t where = { 0 };
    vault_answer_auto_t answer = { 0 };
    fail_auto_t why = FAIL_INIT;

    if (vault_find(ctx, value_str(args, "path", ""), &where, &why) < 0 ||
        vault_ask_path(ctx, "LIST", where.metadata, NULL, &answer, &why) < 0 || answer.status != 200)
        return default_or(args, "Failed to list secrets!", &answer, &why, ret_value, err);
    json_t *data = value_get(answer.body, "data");
    *ret_value = data != NULL ? json_incref(data) : json_null();
    return 0;
}

/* Sends `data`, and says in the log why it was not taken, as Salt does; the return is false then. Version 2
 * answers 200 with the version that was made, which is returned; version 1 has 204 and nothing to tell. */
static int
vault_change(call_ctx_t *ctx, const char *method, const char *path, const json_t *data, const char *failed,
             json_t **ret_value)
{
    vault_answer_auto_t answer = { 0 };
    fail_auto_t why = FAIL_INIT, said = FAIL_INIT;
    bool done = vault_ask_path(ctx, method, path, data, &answer, &why) == 0 &&
                (answer.status == 204 || answer.status == 200);

    if (!done) {
        (void) vault_failed(failed, &answer, &why, &said);
        log_error("%s", fail_text(&said));
        ctx_set_retcode(ctx, 1);
    }
    json_t *shown = done && answer.status == 200 ? value_get(answer.body, "data") : NULL;
    *ret_value = shown != NULL ? json_incref(shown) : json_boolean(done);
    return 0;
}

/* A secret is replaced as a whole; with version 2 the old version stays on the server. */
static int
vault_write(call_ctx_t *ctx, const char *path, json_t *data, json_t **ret_value, fail_t *err)
{
    vault_path_auto_t where = { 0 };

    if (vault_find(ctx, path, &where, err) < 0)
        return err->code;
    json_auto_t *body = where.v2 ? json_pack("{s:O}", "data", data) : json_incref(data);
    return vault_change(ctx, "POST", where.data, body, "Failed to write secret!", ret_value);
}

/* Keywords are the secret's members, without what the publisher adds (__pub_*). */
static int
exec_vault_write_secret(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = json_object();
    const char *name;
    json_t *value;

    json_object_foreach (value_get(args, "kwargs"), name, value) {
        if (!str_starts(name, "__"))
            json_object_set(data, name, value);
    }
    return vault_write(ctx, value_str(args, "path", ""), data, ret_value, err);
}

/* `raw` is the whole secret, for names that can't be keywords. */
static int
exec_vault_write_raw(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return vault_write(ctx, value_str(args, "path", ""), value_get(args, "raw"), ret_value, err);
}

/* Of version 2 the newest version is marked as deleted and can be brought back. */
static int
exec_vault_delete_secret(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    vault_path_auto_t where = { 0 };

    if (vault_find(ctx, value_str(args, "path", ""), &where, err) < 0)
        return err->code;
    return vault_change(ctx, "DELETE", where.data, NULL, "Failed to delete secret!", ret_value);
}

/* The versions given are gone for good; version 1 knows no versions, and that is False as by Salt. */
static int
exec_vault_destroy_secret(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    vault_path_auto_t where = { 0 };

    if (vault_find(ctx, value_str(args, "path", ""), &where, err) < 0)
        return err->code;
    if (where.v2) {
        json_auto_t *body = json_pack("{s:O}", "versions", value_get(args, "args"));
        return vault_change(ctx, "POST", where.destroy, body, "Failed to delete secret!", ret_value);
    }
    log_error("Destroy operation is only supported on KV version 2");
    ctx_set_retcode(ctx, 1);
    *ret_value = json_false();
    return 0;
}

/* True when there was a token. The next call logs in anew. */
static int
exec_vault_clear_token_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int was = vault_forget(ctx, err);

    *ret_value = was >= 0 ? json_boolean(was > 0) : NULL;
    return was < 0 ? was : 0;
}

#define PATH_ROW ARG("path", ARG_STR, ARG_REQUIRED, "Path of the secret: secret/my/secret")
#define DEFAULT_ROW                                                                                          \
    ARG("default", ARG_ANY, "\"" NOT_SET "\"", "The result for what can't be read; else it is an error")
static const arg_t read_args[] = {
    PATH_ROW, ARG("key", ARG_ANY, "null", "One value of the secret; all by default"),
    ARG("metadata", ARG_ANY, "false", "With what a store of version 2 knows of it"), DEFAULT_ROW, ARGS_END
};
static const arg_t list_args[] = { PATH_ROW, DEFAULT_ROW, ARGS_END };
static const arg_t write_args[] = { PATH_ROW, ARG("kwargs", ARG_ANY, ARG_STARSTAR, "The values"), ARGS_END };
static const arg_t raw_args[] = { PATH_ROW, ARG("raw", ARG_ANY, ARG_REQUIRED, "What is written"), ARGS_END };
static const arg_t delete_args[] = { PATH_ROW, ARGS_END };
static const arg_t destroy_args[] = { PATH_ROW, ARG("args", ARG_ANY, ARG_STAR, "Numbers of versions"),
                                      ARGS_END };

static const func_t funcs[] = {
    { "clear_token_cache", exec_vault_clear_token_cache, NULL, 0,
      "Remove the token that is kept in a file." CLI_EXAMPLE("salt '*' vault.clear_token_cache") },
    { "delete_secret", exec_vault_delete_secret, delete_args, 0,
      "Delete a secret." CLI_EXAMPLE("salt '*' vault.delete_secret \"secret/my/secret\"") },
    { "destroy_secret", exec_vault_destroy_secret, destroy_args, 0,
      "Destroy versions of a secret, in a store of version 2." CLI_EXAMPLE(
          "salt '*' vault.destroy_secret \"secret/my/secret\" 1 2") },
    { "list_secrets", exec_vault_list_secrets, list_args, FN_READONLY,
      "List the keys below a path." CLI_EXAMPLE("salt '*' vault.list_secrets \"secret/my/\"") },
    { "read_secret", exec_vault_read_secret, read_args, FN_READONLY,
      "Return a secret, or one of its values." CLI_EXAMPLE(
          "salt '*' vault.read_secret \"secret/my/secret\" some-key") },
    { "write_raw", exec_vault_write_raw, raw_args, 0,
      "Write a secret as it is given." CLI_EXAMPLE(
          "salt '*' vault.write_raw \"secret/my/secret\" '{\"user\":\"foo\",\"password\": \"bar\"}'") },
    { "write_secret", exec_vault_write_secret, write_args, 0,
      "Write the values of a secret." CLI_EXAMPLE(
          "salt '*' vault.write_secret \"secret/my/secret\" user=\"foo\" password=\"bar\"") },
};

PLUGIN(exec, vault, .doc = "Secrets of a HashiCorp Vault server", FUNCS(funcs));
