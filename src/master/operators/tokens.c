/* tokens.c - see tokens.h. */
#include "master/operators/tokens.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "master/operators/lconn.h"
#include "salt/log.h"
#include "salt/value.h"

struct tokens {
    front_t *front;
    json_t *all; /* {hash: token} */
};

static bool
is_over(const json_t *token)
{
    return (double) clock_wall_us() / 1e6 >= value_num(token, "expire", 0);
}

static void
tokens_forget(tokens_t *self, const char *hash)
{
    AUTO_FREE char *key = xasprintf(STORE_TOKENS "%s", hash);

    (void) store_del_meta(self->front->store, key);
}

/* Tokens survive a restart. Those that are over, or whose row is damaged, are dropped now. NULL with *err
 * when the store can't be read. */
tokens_t *
tokens_new(front_t *front, fail_t *err)
{
    json_auto_t *rows = store_metas(front->reader, STORE_TOKENS, err);
    const char *key;
    json_t *text;

    if (rows == NULL)
        return NULL;
    tokens_t *self = xcalloc(1, sizeof(*self));
    self->front = front;
    self->all = json_object();
    json_object_foreach (rows, key, text) {
        const char *hash = key + strlen(STORE_TOKENS);
        json_t *token = json_loads(json_string_value(text), 0, NULL);
        if (!is_over(token) && str_eq(value_str(token, "hash", ""), hash)) {
            json_object_set_new(self->all, hash, token);
            continue;
        }
        json_decref(token);
        tokens_forget(self, hash);
    }
    return self;
}

void
tokens_destroy(tokens_t **self_p)
{
    tokens_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    json_decref(self->all);
    free(self);
}

static void
tokens_hash(const char *text, char out[KEY_HEX_MAX])
{
    int rc = key_hash_hex("sha256", text, strlen(text), out);

    salt_assert(rc == 0);
}

/* TAKES row; BORROWED token. Only the hash is kept: who reads the store has no token. A store that is full
 * does not refuse the login. */
const json_t *
tokens_add(tokens_t *self, json_t *row, char out[TOKEN_TEXT + 1], fail_t *err)
{
    json_auto_t *token = row;
    uint8_t secret[TOKEN_TEXT / 2];
    char hash[KEY_HEX_MAX];

    if (json_object_size(self->all) >= LIMIT_TOKENS) {
        (void) fail_set(err, -ENOSPC,
                        "%d tokens hold, as many as may be: have some revoked (salt-run auth.del_token)",
                        LIMIT_TOKENS);
        return NULL;
    }
    key_random(secret, sizeof(secret));
    for (size_t i = 0; i < sizeof(secret); i++)
        (void) snprintf(out + 2 * i, 3, "%02x", secret[i]);
    memset(secret, 0, sizeof(secret));
    tokens_hash(out, hash);
    json_object_set_new(token, "hash", json_string(hash));
    AUTO_FREE char *key = xasprintf(STORE_TOKENS "%s", hash), *text = value_dump(token);
    if (store_put_meta(self->front->store, key, text) == 0)
        log_warning(
            "a token of %s is not kept: the job store takes no more rows at the moment; it ends with this master",
            value_str(token, "user", ""));
    json_object_set(self->all, hash, token);
    return token;
}

const json_t *
tokens_by_hash(tokens_t *self, const char *hash)
{
    const json_t *token = json_object_get(self->all, hash);

    return token != NULL && !is_over(token) ? token : NULL;
}

const json_t *
tokens_by_text(tokens_t *self, const char *text)
{
    char hash[KEY_HEX_MAX];

    tokens_hash(text, hash);
    return tokens_by_hash(self, hash);
}

json_t *
tokens_list(tokens_t *self, const char *user, const char *eauth)
{
    json_t *list = json_array(), *token;
    const char *hash;

    json_object_foreach (self->all, hash, token) {
        if (is_over(token) || (user != NULL && !str_eq(value_str(token, "user", ""), user)) ||
            (eauth != NULL && !str_eq(value_str(token, "eauth", ""), eauth)))
            continue;
        json_t *one = json_copy(token);
        json_object_del(one, "rules");
        json_array_append_new(list, one);
    }
    return list;
}

void
tokens_drop(tokens_t *self, const char *hash)
{
    AUTO_FREE char *own = xstrdup(hash); /* it may be the token's own */

    tokens_forget(self, own);
    lconn_end_token(self->front, own);
    json_object_del(self->all, own);
}

void
tokens_expire(tokens_t *self)
{
    const char *hash;
    json_t *token;
    void *next;

    json_object_foreach_safe (self->all, next, hash, token)
        if (is_over(token))
            tokens_drop(self, hash);
}
