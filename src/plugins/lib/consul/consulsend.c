/* consulsend.c - see consul.h: arguments, the server's address, one request. */
#include "plugins/lib/consul/consul.h"

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/http/http_int.h"
#include "plugins/lib/returner/retopts.h"
#include "salt/log.h"

/* ---- the call -------------------------------------------------------------------------------- */

/* An argument by its name: a declared one that is not None, or any other keyword. BORROWED, or NULL. */
json_t *
consul_given(const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    if (v != NULL)
        return json_is_null(v) ? NULL : v;
    return value_get(value_get(args, "kwargs"), name);
}

/* A text with "{NAME}" filled in. NEW. */
char *
consul_text(const char *text, const json_t *args)
{
    buf_auto_t out = BUF_INIT;

    for (const char *at = text; *at != '\0'; at++) {
        size_t len = *at == '{' ? strcspn(at, "}") : 0;
        if (len == 0) {
            buf_putc(&out, *at);
            continue;
        }
        AUTO_FREE char *name = xstrndup(at + 1, len - 1);
        json_t *v = consul_given(args, name);
        AUTO_FREE char *shown = v != NULL ? value_pystr(v) : xstrdup("None");
        buf_puts(&out, shown);
        at += len;
    }
    return xstrdup(buf_str(&out));
}

/* {"res": res, key: text} with "{NAME}" filled in. NEW. */
json_t *
consul_said(bool res, const char *key, const char *text, const json_t *args)
{
    AUTO_FREE char *whole = consul_text(text, args);

    return json_pack("{s:b, s:s}", "res", res, key, whole);
}

/* An option of the configuration, "consul.NAME" or a member of "consul"; "" for none. NEW, or NULL with *err. */
static char *
consul_option(call_ctx_t *ctx, const char *name, fail_t *err)
{
    for (const char *joint = ".:"; *joint != '\0'; joint++) {
        AUTO_FREE char *key = xasprintf("consul%c%s", *joint, name);
        json_auto_t *set = sub_call(ctx, err, "config.get", "{s:s}", "key", key);
        if (set == NULL)
            return NULL;
        if (value_truthy(set))
            return value_pystr(set);
    }
    return xstrdup("");
}

/* The server's address: the argument, else the configuration. NEW; NULL with the function's return in
 * *ret_value, or with *err. */
char *
consul_url(call_ctx_t *ctx, const json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "consul_url", NULL);

    if (!str_empty(given))
        return xstrdup(given);
    AUTO_FREE char *set = consul_option(ctx, "url", err);
    if (set == NULL || *set != '\0')
        return STEAL(set);
    log_error("No Consul URL found.");
    *ret_value = consul_said(false, "message", "No Consul URL found.", args);
    return NULL;
}

/* The token of the call, else the configuration's; "" for none. NEW, or NULL with *err. */
static char *
consul_token(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *given = consul_given(args, "token");

    return value_truthy(given) ? value_pystr(given) : consul_option(ctx, "token", err);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* The address of a function: relative to the server's, as by Python's urljoin, which a path without a "/"
 * at its end loses. NEW, or NULL with *err. */
static char *
consul_address(const char *url, const char *path, fail_t *err)
{
    const char *host = strstr(url, "://"), *slash = strrchr(host != NULL ? host + 3 : url, '/');
    AUTO_FREE char *quoted = http_quoted(path, HTTP_PATH_PLAIN);

    if (http_check_path(path, "Consul", err) < 0)
        return NULL;
    return xasprintf("%.*s/v1/%s", (int) (slash != NULL ? (size_t) (slash - url) : strlen(url)), url, quoted);
}

/* Sends it: `query` (object), and but for GET `data`: a text as it is, anything else as JSON; all
 * BORROWED, NULL for none. NEW {"data", "res", "error"?}, or NULL with *err. */
json_t *
consul_send(call_ctx_t *ctx, const json_t *args, const char *url, const char *method, const char *path,
            json_t *query, json_t *data, fail_t *err)
{
    AUTO_FREE char *address = consul_address(url, path, err);
    AUTO_FREE char *token = address != NULL ? consul_token(ctx, args, err) : NULL;
    json_auto_t *none = json_object(), *answer = NULL;

    if (token == NULL)
        return NULL;
    AUTO_FREE char *body = str_eq(method, "GET") ? NULL
                           : json_is_string(data)
                               ? xstrdup(json_string_value(data))
                               : ret_json(data != NULL && !json_is_null(data) ? data : none);
    json_auto_t *call = json_pack("{s:s, s:s, s:O*, s:s*, s:b, s:b, s:{s:s, s:s*}}", "url", address, "method",
                                  method, "params", query, "data", body, "decode", true, "status", true,
                                  "header_dict", "Content-Type", "application/json", "X-Consul-Token",
                                  str_empty(token) ? NULL : token);
    if (http_query(ctx, call, &answer, err) < 0)
        return NULL;
    json_int_t status = value_int(answer, "status", 0);
    json_t *decoded = value_get(answer, "dict"), *why = value_get(answer, "error");
    if (status == 200)
        return json_pack("{s:O, s:b}", "data", decoded != NULL ? decoded : answer, "res", true);
    if (status == 204 || status == 404)
        return json_pack("{s:s, s:b}", "data", status == 204 ? "No content available." : "Key not found.",
                         "res", false);
    if (value_truthy(why))
        return json_pack("{s:s, s:O, s:b}", "data", "An error occurred.", "error", why, "res", false);
    return json_pack("{s:O, s:b}", "data", answer, "res", true);
}

/* Those of the words in `spec` that are given: "NAME" or "NAME:MEMBER", with blanks between. NEW object. */
json_t *
consul_members(const json_t *args, const char *spec)
{
    char **words = str_split(spec != NULL ? spec : "", " ", true);
    json_t *out = json_object();

    for (char **word = words; *word != NULL; word++) {
        char *colon = strchr(*word, ':');
        if (colon != NULL)
            *colon = '\0';
        json_t *v = consul_given(args, *word);
        if (v != NULL)
            json_object_set(out, colon != NULL ? colon + 1 : *word, v);
    }
    strv_free(words);
    return out;
}
