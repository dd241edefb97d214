/* vaultlogin.c - see vault_int.h: where a job's token comes from.
 *
 * A token is a secret: it stands in no log, return or event, and in a file only where the master's option says
 * token_backend: disk. */
#include <ctype.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/fieldpattern.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/vault/vault_int.h"
#include "salt/log.h"

#define KEPT "vault_token" /* in the job's context */
enum {
    EARLY_S = 10,  /* so long before its end a token counts as over */
    OWN_TTL = 3600 /* of a token by the option's own login, whose real time is not asked for */
};

/* The option `vault`, of the minion or of the master. BORROWED; NULL: none. */
static json_t *
vault_config(call_ctx_t *ctx)
{
    return value_get(ctx_opts(ctx), "vault");
}

/* Runners, and pillars that are compiled there. */
static bool
vault_on_master(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_opts(ctx), "__role", ""), "master");
}

/* Salt's name for it, so that either finds the other's. NEW. */
static char *
vault_file(call_ctx_t *ctx)
{
    return fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "salt_vault_token");
}

/* ---- by the option's own login ----------------------------------------------------------------------- */

/* The token of auth/approle/login or sys/wrapping/unwrap. NEW; NULL with *err. The answer holds a secret; on
 * a failure only the server's status is shown. */
static json_t *
vault_exchange(call_ctx_t *ctx, const json_t *conn, const char *resource, const json_t *body,
               const char *failed, fail_t *err)
{
    vault_answer_auto_t answer = { 0 };

    if (vault_send(ctx, conn, "POST", resource, body, &answer, err) < 0)
        return NULL;
    json_t *token = value_get(value_get(answer.body, "auth"), "client_token");
    if (answer.status == 200 && json_is_string(token))
        return json_incref(token);
    (void) fail_kind(err, FAIL_COMMAND, -EACCES, "%s: %d %s", failed, answer.status,
                     answer.reason != NULL ? answer.reason : "");
    return NULL;
}

/* A setting that the login needs; NULL with *err. BORROWED. */
static const char *
vault_needs(const json_t *config, const char *name, fail_t *err)
{
    const char *text = value_str(config, name, NULL);

    if (text == NULL)
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Minion has \"vault\" config section, but could not find key \"'%s'\" within", name);
    return text;
}

/* By the method of `auth`: a token as it is, a wrapped one, which can be unwrapped once, or AppRole. NEW;
 * NULL with *err. */
json_t *
vault_own_login(call_ctx_t *ctx, fail_t *err)
{
    const json_t *config = vault_config(ctx), *auth = value_get(config, "auth");
    const char *url = vault_needs(config, "url", err), *method = NULL;

    if (url == NULL || (method = vault_needs(auth, "method", err)) == NULL)
        return NULL;
    json_auto_t *conn = json_pack("{s:s, s:O?, s:O?, s:I, s:i}", "url", url, "namespace",
                                  value_get(config, "namespace"), "verify", value_get(config, "verify"),
                                  "issued", (json_int_t) (clock_wall_us() / 1000000), "ttl", OWN_TTL);
    json_auto_t *token = NULL;
    const char *given = value_str(auth, "token", NULL);
    if (strcmp(method, "approle") == 0) {
        const char *role = vault_needs(auth, "role_id", err);
        json_auto_t *body = json_pack("{s:s*, s:O*}", "role_id", role, "secret_id",
                                      value_get(auth, "secret_id"));
        token = role != NULL ? vault_exchange(ctx, conn, "v1/auth/approle/login", body,
                                              "An error occurred while getting a token from approle", err)
                             : NULL;
    } else if (vault_needs(auth, "token", err) == NULL) {
        return NULL;
    } else if (strcmp(method, "wrapped_token") == 0) {
        json_object_set_new(conn, "token", json_string(given));
        token = vault_exchange(ctx, conn, "v1/sys/wrapping/unwrap", NULL,
                               "An error occured while unwrapping vault token", err);
    } else {
        token = json_string(given);
    }
    if (token == NULL)
        return NULL;
    json_object_set(conn, "token", token);
    return json_incref(conn);
}

/* ---- by the master ----------------------------------------------------------------------------------- */

/* Names of policies for a minion by the patterns of the option: {minion}, {grains[...]}, {pillar[...]}. A
 * list in a field makes a name of each element. NEW list. */
json_t *
vault_policies(const json_t *config, const char *id, const json_t *grains, const json_t *pillar)
{
    json_auto_t *dflt = json_pack("[s, s]", "saltstack/minion/{minion}", "saltstack/minions");
    json_t *patterns = value_get(config, "policies"), *one;
    json_auto_t *values = json_pack("{s:s, s:O*, s:O*}", "minion", id, "grains", grains, "pillar", pillar);
    json_t *all = json_array();
    size_t i;

    json_array_foreach (patterns != NULL ? patterns : dflt, i, one) {
        const char *pattern = json_is_string(one) ? json_string_value(one) : "";
        json_auto_t *names = fieldpattern_fill(pattern, values);
        if (strstr(pattern, "{grains") != NULL)
            log_warning(
                "vault: the policy pattern '%s' is filled by what the minion %s says of itself, which "
                "is no proof: use {minion} or {pillar[...]} for secrets",
                pattern, id);
        if (names == NULL)
            log_warning("Could not resolve policy pattern %s for minion %s", pattern, id);
        json_t *name;
        size_t k;
        json_array_foreach (names, k, name) {
            AUTO_FREE char *lower = xstrdup(json_string_value(name)); /* as Vault has them */
            for (char *c = lower; *c != '\0'; c++)
                *c = (char) tolower((unsigned char) *c);
            if (*lower == '\0')
                continue; /* a field without a value is no policy */
            json_array_append_new(all, json_string(lower));
        }
    }
    return all;
}

/* A token for one minion, by the master's login, with that minion's policies and no others. Time and uses are
 * the master's, unless it lets minions ask for their own. The audit log of Vault has the minion's id. NEW;
 * NULL with *err. */
json_t *
vault_make_token(call_ctx_t *ctx, const char *id, const json_t *policies, const json_t *ttl,
                 const json_t *uses, const json_t *audit, fail_t *err)
{
    const json_t *config = vault_config(ctx), *auth = value_get(config, "auth");
    bool theirs = value_truthy(value_get(auth, "allow_minion_override"));
    const json_t *all_uses = value_get(auth, "uses"), *all_ttl = value_get(auth, "ttl");
    json_auto_t *login = vault_own_login(ctx, err), *one = json_integer(1);

    if (login == NULL)
        return NULL;
    /* Without a list the server would give it the policies of the master itself. */
    if (json_array_size(policies) == 0) {
        (void) fail_kind(err, FAIL_COMMAND, -EACCES, "No policies matched minion");
        return NULL;
    }
    uses = theirs && value_truthy(uses) ? uses : all_uses != NULL ? all_uses : one;
    ttl = theirs && value_truthy(ttl) ? ttl : all_ttl;
    AUTO_FREE char *role = value_str(config, "role_name", NULL) != NULL
                               ? xasprintf("v1/auth/token/create/%s", value_str(config, "role_name", ""))
                               : xstrdup("v1/auth/token/create"),
                   *max = ttl != NULL && !json_is_null(ttl) ? value_pystr(ttl) : NULL;
    json_auto_t *meta = json_copy((json_t *) audit);
    json_object_set_new(meta, "saltstack-minion", json_string(id));
    json_auto_t *body = json_pack("{s:O, s:O, s:O, s:s*}", "policies", policies, "num_uses", uses, "meta",
                                  meta, "explicit_max_ttl", max);
    vault_answer_auto_t answer = { 0 };
    if (vault_send(ctx, login, "POST", role, body, &answer, err) < 0)
        return NULL;
    json_t *made = value_get(answer.body, "auth");
    if (answer.status != 200 || !json_is_string(value_get(made, "client_token"))) {
        (void) fail_kind(err, FAIL_COMMAND, -EACCES, "%s", answer.reason != NULL ? answer.reason : "");
        return NULL;
    }
    return json_pack(
        "{s:O, s:O?, s:O?, s:I, s:O, s:O?, s:s, s:O?, s:O}", "token", value_get(made, "client_token"),
        "lease_duration", value_get(made, "lease_duration"), "renewable", value_get(made, "renewable"),
        "issued", (json_int_t) (clock_wall_us() / 1000000), "url", value_get(config, "url"), "verify",
        value_get(config, "verify"), "token_backend", value_str(auth, "token_backend", "session"),
        "namespace", value_get(config, "namespace"), "uses", uses);
}

/* The runner answers for the id that the master knows this minion by, whatever id the call names. NEW; NULL
 * with *err. */
static json_t *
vault_login_from_master(call_ctx_t *ctx, fail_t *err)
{
    const json_t *auth = value_get(vault_config(ctx), "auth");
    json_auto_t *said = sub_call(ctx, err, "publish.runner", "{s:s, s:[s, s, b, O?, O?]}", "fun",
                                 "vault.generate_token", "arg", ctx_id(ctx), "", 0, value_get(auth, "ttl"),
                                 value_get(auth, "uses"));

    if (said == NULL)
        return NULL;
    if (json_is_object(said) && json_is_string(value_get(said, "token")))
        return json_incref(said);
    AUTO_FREE char *shown = value_pystr(value_get(said, "error") != NULL ? value_get(said, "error") : said);
    (void) fail_kind(
        err, FAIL_COMMAND, -EACCES, "Failed to get token from master! %s%s",
        value_truthy(said) ? "" : "No result returned - is the peer publish configuration correct? ", shown);
    return NULL;
}

/* ---- the job's login --------------------------------------------------------------------------------- */

/* Where it comes from: a minion without a master and one that is told so log in themselves; others ask the
 * master. NEW; NULL with *err. */
static json_t *
vault_new_login(call_ctx_t *ctx, fail_t *err)
{
    const json_t *opts = ctx_opts(ctx);
    const char *where = value_str(vault_config(ctx), "config_location", NULL);
    bool own = str_eq(value_str(opts, "file_client", ""), "local") ||
               str_eq(value_str(opts, "master_type", ""), "disable") ||
               value_truthy(value_get(opts, "local"));

    if (where != NULL && strcmp(where, "local") != 0 && strcmp(where, "master") != 0) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "vault: config_location must be either local or master, not '%s'", where);
        return NULL;
    }
    own = where != NULL ? strcmp(where, "local") == 0 : own;
    if ((own || vault_on_master(ctx)) && !json_is_object(vault_config(ctx))) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "There is no option 'vault' in the %s's configuration: it says where the server is "
                         "(url) and how to log in (auth)",
                         vault_on_master(ctx) ? "master" : "minion");
        return NULL;
    }
    bool here = vault_on_master(ctx) && !(where != NULL && own);
    if (here && *ctx_id(ctx) != '\0') {
        /* On the master, where the pillar of a minion is compiled. A runner has no id; whatever has one gets its
         * policies. */
        json_auto_t *policies = vault_policies(vault_config(ctx), ctx_id(ctx), ctx_grains(ctx),
                                               ctx_pillar(ctx));
        json_auto_t *audit = json_pack("{s:s, s:s}", "saltstack-jid", "<no jid set>", "saltstack-user",
                                       "<no user set>");
        return vault_make_token(ctx, ctx_id(ctx), policies, NULL, NULL, audit, err);
    }
    return here || own ? vault_own_login(ctx, err) : vault_login_from_master(ctx, err);
}

/* True when nothing is left of the login's uses or time. A token without a time that is known counts as
 * over. */
static bool
vault_is_over(const json_t *conn)
{
    json_int_t ttl = value_int(conn, "lease_duration", value_int(conn, "ttl", 0));

    return value_int(conn, "issued", 0) + ttl - EARLY_S < (json_int_t) (clock_wall_us() / 1000000);
}

/* The login of the file. NEW; NULL: none that holds. The master keeps none: it holds tokens for many. */
static json_t *
vault_kept(call_ctx_t *ctx)
{
    AUTO_FREE char *path = vault_file(ctx);
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = vault_on_master(ctx) ? -ENOENT : fs_read(path, LIMIT_FILE_READ, &text, &why);

    if (rc < 0) {
        if (rc != -ENOENT)
            log_warning("vault: %s", fail_text(&why));
        return NULL;
    }
    json_auto_t *conn = value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, &why);
    return json_is_string(value_get(conn, "token")) && json_is_string(value_get(conn, "url")) &&
                   !vault_is_over(conn)
               ? json_incref(conn)
               : NULL;
}

/* With token_backend: disk only. The file is readable by its owner alone; a failure costs the next job a
 * login and nothing else. */
static void
vault_keep(call_ctx_t *ctx, const json_t *conn)
{
    AUTO_FREE char *path = vault_file(ctx), *text = value_dump(conn);
    fail_auto_t why = FAIL_INIT;

    if (!str_eq(value_str(conn, "token_backend", "session"), "disk") || vault_on_master(ctx))
        return;
    if (fs_write_atomic(path, text, strlen(text), 0600, &why) < 0)
        log_error("Failed to cache vault information: %s", fail_text(&why));
}

/* The login of this job, else the one of the file, else a new one. BORROWED from the context; NULL with *err. */
json_t *
vault_login(call_ctx_t *ctx, fail_t *err)
{
    json_t *conn = value_get(ctx_context(ctx), KEPT);

    if (conn != NULL && !vault_is_over(conn))
        return conn;
    conn = vault_kept(ctx);
    if (conn == NULL && (conn = vault_new_login(ctx, err)) != NULL)
        vault_keep(ctx, conn);
    if (conn != NULL)
        json_object_set_new(ctx_context(ctx), KEPT, conn);
    return conn;
}

/* Counts a use of a token that has only so many; after the last one it is forgotten here as well. */
void
vault_used(call_ctx_t *ctx, json_t *conn)
{
    json_int_t left = value_int(conn, "uses", 0);
    fail_auto_t why = FAIL_INIT;

    if (left == 0)
        return;
    json_object_set_new(conn, "uses", json_integer(left - 1));
    if (left > 1)
        vault_keep(ctx, conn);
    else if (vault_forget(ctx, &why) < 0)
        log_error("vault: %s", fail_text(&why));
}

/* 1 when there was a file, 0 without one, or negative. */
int
vault_forget(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *path = vault_file(ctx);

    json_object_del(ctx_context(ctx), KEPT);
    if (vault_on_master(ctx))
        return 0;
    if (unlink(path) == 0)
        return 1;
    return errno == ENOENT ? 0 : fs_fail(err, -errno, "remove", path);
}
