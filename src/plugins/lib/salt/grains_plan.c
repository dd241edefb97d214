/* grains_plan.c - see grains_plan.h: rebuilds the levels above a nested key up to the grain, which is written
 * as a whole. */
#include "plugins/lib/salt/grains_plan.h"

#include "common/base/str.h"

char *
grains_cut_last(char *key, const char *delim)
{
    char *last = NULL;

    for (char *at = strstr(key, delim); at != NULL; at = strstr(at + strlen(delim), delim))
        last = at;
    if (last == NULL)
        return NULL;
    *last = '\0';
    return last + strlen(delim);
}

static bool
is_complex(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

/* Why a value may not be written over, or NULL. NEW. */
static char *
objection(const char *key, const json_t *old, const json_t *value, bool force)
{
    if (force || old == NULL || json_is_null(old))
        return NULL;
    if (is_complex(old))
        return xasprintf("The key '%s' exists but is a dict or a list. Use 'force=True' to overwrite.", key);
    if (is_complex(value))
        return xasprintf(
            "The key '%s' exists and the given value is a dict or a list. Use 'force=True' to overwrite.",
            key);
    return NULL;
}

/* Sets `rest` at `key` one level up; *value_p becomes that level. NULL, or NEW text with the reason. */
static char *
wrap(call_ctx_t *ctx, const grains_setting_t *how, const char *key, const char *rest, json_t **value_p)
{
    json_t *found = value_path(ctx_grains(ctx), key, how->delim), *value = *value_p;
    json_t *level = found != NULL ? json_deep_copy(found) : json_object();

    if (json_is_array(level)) {
        /* A list holds its keys as texts or as mappings: all that are `rest` become {rest: value}. */
        size_t i;
        json_t *item;
        bool done = false;
        json_array_foreach (level, i, item) {
            if (str_eq(json_string_value(item), rest)) {
                json_array_set_new(level, i, json_pack("{s:O}", rest, value));
                done = true;
            } else if (value_get(item, rest) != NULL) {
                json_object_set(item, rest, value);
                done = true;
            }
        }
        if (!done)
            json_array_append_new(level, json_pack("{s:O}", rest, value));
    } else if (json_is_object(level) && json_is_null(value) && how->destructive) {
        json_object_del(level, rest);
    } else if (json_is_object(level)) {
        json_object_set(level, rest, value);
    } else if (how->force || str_eq(json_string_value(level), rest)) {
        json_decref(level);
        level = json_pack("{s:O}", rest, value);
    } else {
        AUTO_FREE char *text = value_pystr(level);
        json_decref(level);
        return xasprintf(
            "The key '%s' value is '%s', which is different from the provided key '%s'. Use 'force=True' "
            "to overwrite.",
            key, text, rest);
    }
    json_decref(value);
    *value_p = level;
    return NULL;
}

grains_plan_t
grains_plan(call_ctx_t *ctx, const char *path, json_t *new_value, const grains_setting_t *how, char **ret_key,
            json_t **ret_value, char **ret_why)
{
    AUTO_FREE char *key = xstrdup(path);
    json_t *old = value_path(ctx_grains(ctx), path, how->delim), *value = json_incref(new_value);
    AUTO_FREE char *why = objection(path, old, value, how->force);
    bool kept = old != NULL && value_equal(old, value) && !(json_is_null(value) && how->destructive);
    const char *rest;

    while (!kept && why == NULL && (rest = grains_cut_last(key, how->delim)) != NULL)
        why = wrap(ctx, how, key, rest, &value);
    if (!kept && why == NULL) {
        *ret_key = STEAL(key);
        *ret_value = value;
        return GRAINS_CHANGED;
    }
    json_decref(value);
    if (kept)
        return GRAINS_KEPT;
    *ret_why = STEAL(why);
    return GRAINS_REFUSED;
}
