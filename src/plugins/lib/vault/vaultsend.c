/* vaultsend.c - one request to a HashiCorp Vault server, with the login that it is given. */
#include "plugins/lib/vault/vault_int.h"

#include "common/base/str.h"
#include "plugins/lib/http/http_int.h"

int
vault_check_path(const char *path, fail_t *err)
{
    return http_check_path(path, "Vault", err);
}

int
vault_send(call_ctx_t *ctx, const json_t *conn, const char *method, const char *resource, const json_t *body,
           vault_answer_t *ret, fail_t *err)
{
    http_answer_auto_t answer = { 0 };
    AUTO_FREE char *path = http_quoted(resource, HTTP_PATH_PLAIN "%?"); /* what is quoted already stays */
    AUTO_FREE char *data = body != NULL ? value_dump(body) : NULL;
    const char *base = value_str(conn, "url", "");
    json_t *verify = value_get(conn, "verify");
    json_auto_t *headers = json_pack("{s:s, s:s*, s:s*}", "Content-Type", "application/json", "X-Vault-Token",
                                     value_str(conn, "token", NULL), "X-Vault-Namespace",
                                     value_str(conn, "namespace", NULL));

    vault_answer_free(ret);
    *ret = (vault_answer_t){ .url = xasprintf("%.*s/%s", (int) strlen(base) - str_ends(base, "/"), base,
                                              path) };
    json_auto_t *args = json_pack("{s:s, s:s, s:s*, s:O, s:b, s:s*}", "url", ret->url, "method", method,
                                  "data", data, "header_dict", headers, "verify_ssl", !json_is_false(verify),
                                  "ca_bundle", json_string_value(verify));
    if (vault_check_path(resource, err) < 0 || http_send(ctx, args, &answer, err) < 0)
        return err->code;
    if (answer.trouble != NULL)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Vault at %s: %s", base, answer.trouble);
    ret->status = answer.status;
    ret->reason = STEAL(answer.reason);
    fail_auto_t why = FAIL_INIT;
    ret->body = value_parse(buf_str(&answer.body), answer.body.len, LIMIT_FILE_READ, "Vault's answer", &why);
    return 0;
}

void
vault_answer_free(vault_answer_t *self)
{
    free(self->reason);
    free(self->url);
    json_decref(self->body);
    *self = (vault_answer_t){ 0 };
}
