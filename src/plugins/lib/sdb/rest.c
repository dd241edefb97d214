/* rest.c - driver `rest` of sdb: the decoded answer of an address, by "NAME?variable=value&..."; the profile's
 * member NAME has the address, which is a template, and further arguments of http.query. */
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/sdb/driver.h"

static py_t *
sdb_rest_get(call_ctx_t *ctx, py_t *profile, const char *key, fail_t *err)
{
    size_t len = strcspn(key, "?");
    AUTO_FREE char *name = xstrndup(key, len);
    json_auto_t *all = py_to_json(profile), *query = json_copy(value_get(all, name));
    const char *url = value_str(query, "url", NULL);

    if (url == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "The profile has no '%s' with a 'url'", name);
        return NULL;
    }
    json_auto_t *vars = json_pack("{s:s, s:s}", "string", url, "default_renderer",
                                  value_str(ctx_opts(ctx), "renderer", "jinja|yaml"));
    char **pairs = str_split(key[len] == '?' ? key + len + 1 : "", "&", true);
    for (size_t i = 0; pairs[i] != NULL; i++) {
        char *sign = strchr(pairs[i], '=');
        if (sign != NULL)
            *sign++ = '\0';
        if (sign != NULL && value_get(vars, pairs[i]) == NULL)
            json_object_set_new(vars, pairs[i], json_string(sign));
    }
    strv_free(pairs);
    json_t *rendered = NULL, *answer = NULL;
    int rc = ctx_call(ctx, "slsutil.renderer", NULL, vars, &rendered, err);
    if (rc == 0) {
        json_object_del(query, "backend");
        json_object_set_new(query, "url", rendered);
        json_object_set_new(query, "decode", json_true());
        rc = ctx_call(ctx, "http.query", NULL, query, &answer, err);
    }
    json_auto_t *said = answer;
    if (rc < 0)
        return NULL;
    if (value_get(said, "dict") != NULL)
        return py_from_json(value_get(said, "dict"));
    (void) fail_kind(err, FAIL_COMMAND, -EBADMSG, "%s", value_str(said, "error", "the answer has no values"));
    return NULL;
}

static py_t *
sdb_rest_set(call_ctx_t *ctx, py_t *profile, const char *key, py_t *value, fail_t *err)
{
    return sdb_rest_get(ctx, profile, key, err);
}

const sdb_driver_t sdb_rest = { .name = "rest", .get = sdb_rest_get, .set = sdb_rest_set };
