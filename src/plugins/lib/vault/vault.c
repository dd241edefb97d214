/* vault.c - see vault.h: requests with the job's login, and where a key-value store keeps a secret. */
#include "plugins/lib/vault/vault_int.h"

#include "common/base/str.h"
#include "salt/log.h"

int
vault_refused(const vault_answer_t *answer, fail_t *err)
{
    int of = answer->status / 100;
    const char *kind = of == 4 ? "Client Error" : of == 5 ? "Server Error" : NULL;

    if (kind == NULL)
        return fail_kind(err, FAIL_COMMAND, -EBADMSG, "%d for url: %s is not what was asked for",
                         answer->status, answer->url);
    return fail_kind(err, FAIL_COMMAND, answer->status == 404 ? -ENOENT : -EBADMSG, "%d %s: %s for url: %s",
                     answer->status, kind, answer->reason != NULL ? answer->reason : "", answer->url);
}

/* ---- with the job's login ---------------------------------------------------------------------------- */

int
vault_ask(call_ctx_t *ctx, const char *method, const char *resource, const json_t *body, vault_answer_t *ret,
          fail_t *err)
{
    for (int tries = 0;; tries++) {
        json_t *conn = vault_login(ctx, err);
        if (conn == NULL || vault_send(ctx, conn, method, resource, body, ret, err) < 0)
            return err->code;
        /* Said of a token that is over, and of one that has not the right. */
        json_t *errors = value_get(ret->body, "errors");
        bool denied = ret->status >= 400 && json_array_size(errors) == 1 &&
                      str_eq(json_string_value(json_array_get(errors, 0)), "permission denied");
        if (!denied) {
            if (ret->status < 400 && !str_starts(resource, "v1/sys"))
                vault_used(ctx, conn);
            return 0;
        }
        if (vault_forget(ctx, err) < 0)
            return err->code;
        if (tries > 0)
            return 0;
        log_info("Vault denies permission: asked again with a new token");
    }
}

int
vault_ask_path(call_ctx_t *ctx, const char *method, const char *path, const json_t *body, vault_answer_t *ret,
               fail_t *err)
{
    AUTO_FREE char *resource = xasprintf("v1/%s", path + strspn(path, "/"));

    return vault_ask(ctx, method, resource, body, ret, err);
}

/* ---- key-value stores -------------------------------------------------------------------------------- */

/* The server's word on the store that has the path, kept for the job: {"path": "secret/", "type",
 * "options"}. NEW; NULL: nothing. */
static json_t *
vault_mount(call_ctx_t *ctx, const char *path, fail_t *err)
{
    static const char kept[] = "vault_secret_path_metadata";
    json_t *known = value_get(ctx_context(ctx), kept), *mount;
    const char *name;

    json_object_foreach (known, name, mount) {
        if (str_starts(path, name))
            return json_incref(mount);
    }
    vault_answer_auto_t answer = { 0 };
    AUTO_FREE char *resource = xasprintf("v1/sys/internal/ui/mounts/%s", path);
    if (vault_ask(ctx, "GET", resource, NULL, &answer, err) < 0)
        return NULL;
    json_t *data = value_get(answer.body, "data");
    name = value_str(data, "path", "");
    if (answer.status != 200 || *name == '\0') {
        log_error("Vault does not say what store has %s: %d %s", path, answer.status,
                  answer.reason != NULL ? answer.reason : "");
        return NULL;
    }
    if (known == NULL)
        json_object_set_new(ctx_context(ctx), kept, known = json_object());
    json_object_set(known, name, data);
    return json_incref(data);
}

/* "secret/a" as "secret/data/a"; a path that has `other` there gets `part` instead. NEW. */
static char *
vault_part(const char *path, const char *mount, const char *part, const char *other)
{
    size_t len = strlen(mount) - str_ends(mount, "/");
    AUTO_FREE char *now = xasprintf("%.*s/%s", (int) len, mount, part),
                   *then = xasprintf("%.*s/%s", (int) len, mount, other);

    if (str_starts(path, then))
        return xasprintf("%s%s", now, path + strlen(then));
    if (str_starts(path, now) || strlen(path) < len)
        return xstrdup(path);
    return xasprintf("%s%s", now, path + len);
}

int
vault_find(call_ctx_t *ctx, const char *path, vault_path_t *ret, fail_t *err)
{
    AUTO_FREE char *bare = xstrdup(path + strspn(path, "/"));

    if (vault_check_path(bare, err) < 0)
        return err->code;
    json_auto_t *mount = vault_mount(ctx, bare, err);
    const char *name = value_str(mount, "path", "");
    if (mount == NULL && err->code < 0)
        return err->code;
    *ret = (vault_path_t){ .v2 = str_eq(value_str(mount, "type", "kv"), "kv") &&
                                 str_eq(value_str(value_get(mount, "options"), "version", NULL), "2") };
    if (ret->v2 && *bare != '\0' && bare[strlen(bare) - 1] == '/')
        bare[strlen(bare) - 1] = '\0';
    ret->data = ret->v2 ? vault_part(bare, name, "data", "metadata") : xstrdup(bare);
    ret->metadata = ret->v2 ? vault_part(bare, name, "metadata", "data") : xstrdup(bare);
    ret->destroy = ret->v2 ? vault_part(bare, name, "destroy", "data") : NULL;
    return 0;
}

void
vault_path_free(vault_path_t *self)
{
    free(self->data);
    free(self->metadata);
    free(self->destroy);
}
