/* vault.c - driver `vault` of sdb: values of secrets, by "path/key" or "path?key". */
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "plugins/lib/sdb/driver.h"
#include "plugins/lib/vault/vault.h"

/* The parts of an address; -EINVAL for one without a key. */
static int
sdb_vault_split(const char *address, char **ret_path, const char **ret_key, fail_t *err)
{
    const char *at = strchr(address, '?');

    if (at == NULL)
        at = strrchr(address, '/');
    if (at == NULL || at == address)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "'%s' is no address of a value of Vault: PATH/KEY or PATH?KEY", address);
    *ret_path = xstrndup(address, (size_t) (at - address));
    *ret_key = at + 1;
    return 0;
}

/* The value at the key, or None; of a store of version 2 the whole secret where it has no such key, as in Salt. */
static py_t *
sdb_vault_get(call_ctx_t *ctx, py_t *profile, const char *address, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    const char *key = NULL;
    vault_path_auto_t where = { 0 };
    vault_answer_auto_t answer = { 0 };

    if (sdb_vault_split(address, &path, &key, err) < 0 || vault_find(ctx, path, &where, err) < 0 ||
        vault_ask_path(ctx, "GET", where.data, NULL, &answer, err) < 0)
        return NULL;
    if (answer.status == 404 && where.v2) {
        AUTO_FREE char *below = xasprintf("%s/%s", where.data, key);
        if (vault_ask_path(ctx, "GET", below, NULL, &answer, err) < 0)
            return NULL;
    }
    if (answer.status == 404)
        return py_ref(PY_None);
    if (answer.status != 200) {
        (void) vault_refused(&answer, err);
        return NULL;
    }
    json_t *data = value_get(answer.body, "data"), *inside = where.v2 ? value_get(data, "data") : data;
    json_t *one = value_get(inside, key);
    return one != NULL                  ? py_from_json(one)
           : where.v2 && inside != NULL ? py_from_json(inside)
                                        : py_ref(PY_None);
}

static py_t *
sdb_vault_set(call_ctx_t *ctx, py_t *profile, const char *address, py_t *value, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    const char *key = NULL;
    vault_path_auto_t where = { 0 };
    vault_answer_auto_t answer = { 0 };
    json_t *text = py_to_json(value);

    if (text == NULL || sdb_vault_split(address, &path, &key, err) < 0 ||
        vault_find(ctx, path, &where, err) < 0) {
        json_decref(text);
        return NULL;
    }
    json_auto_t *data = json_pack("{s:o}", key, text);
    json_auto_t *body = where.v2 ? json_pack("{s:O}", "data", data) : json_incref(data);
    if (vault_ask_path(ctx, "POST", where.data, body, &answer, err) < 0)
        return NULL;
    if (answer.status == 200 || answer.status == 204)
        return py_bool(true);
    (void) vault_refused(&answer, err);
    return NULL;
}

const sdb_driver_t sdb_vault = { .name = "vault", .get = sdb_vault_get, .set = sdb_vault_set };
