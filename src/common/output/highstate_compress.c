/* highstate_compress.c - state_compress_ids: merge states with the same module, id, SLS file and result. Two
 * passes per host: count the groups, then merge those with more than one member. */
#include <math.h>

#include "common/base/str.h"
#include "common/output/highstate.h"
#include "salt/value.h"

/* Key of a group: module, id, file, result. NEW, or NULL when one is missing. */
static char *
highstate_compress_group_of(const char *name, json_t *info)
{
    json_t *id = value_get(info, "__id__"), *sls = value_get(info, "__sls__"),
           *result = value_get(info, "result");
    const char *end = strstr(name, HS_SEPARATOR);
    size_t module = end != NULL ? (size_t) (end - name) : strlen(name);

    if (id == NULL || sls == NULL || result == NULL)
        return NULL;
    AUTO_FREE char *id_text = value_pystr(id), *sls_text = value_pystr(sls),
                   *result_text = value_pystr(result);
    return xasprintf("%.*s_%s_%s_%s", (int) module, name, id_text, sls_text, result_text);
}

/* Count the members per group (size_t *). NEW, or NULL when a state lacks a part. */
static map_t *
count_groups(json_t *states)
{
    map_t *counts = map_new(free);

    for (void *it = json_object_iter(states); it != NULL; it = json_object_iter_next(states, it)) {
        AUTO_FREE char *group = highstate_compress_group_of(json_object_iter_key(it),
                                                            json_object_iter_value(it));
        if (group == NULL) {
            map_destroy(&counts);
            return NULL;
        }
        size_t *n = map_get(counts, group);
        if (n == NULL) {
            n = xcalloc(1, sizeof(*n));
            map_set(counts, group, n);
        }
        ++*n;
    }
    return counts;
}

/* NEW "module_|-id (n)_|-state_compressed_sls_id_result_|-function", or NULL. */
static char *
rolled_name(const char *name, json_t *info, size_t count)
{
    AUTO_FREE char *id = value_pystr(value_get(info, "__id__")),
                   *sls = value_pystr(value_get(info, "__sls__"));
    AUTO_FREE char *result = value_pystr(value_get(info, "result"));
    size_t n;
    char **parts = hs_split(name, &n), *rolled = NULL;

    if (n == HS_NAME_PARTS)
        rolled = xasprintf("%s" HS_SEPARATOR "%s (%zu)" HS_SEPARATOR "state_compressed_%s_%s_%s" HS_SEPARATOR
                           "%s",
                           parts[0], id, count, sls, id, result, parts[3]);
    strv_free(parts);
    return rolled;
}

/* Merge: lowest order, sum of durations, earliest start, all changes. False when a part is missing. */
static bool
roll_into(json_t *into, json_t *info)
{
    json_t *order = value_get(info, "__run_num__"), *duration = value_get(info, "duration");
    json_t *first_order = value_get(into, "__run_num__"), *first_duration = value_get(into, "duration");
    const char *start = value_str(info, "start_time", NULL),
               *first_start = value_str(into, "start_time", NULL);

    if (!json_is_number(order) || !json_is_number(first_order) || !json_is_number(duration) ||
        !json_is_number(first_duration) || start == NULL || first_start == NULL)
        return false;
    if (json_number_value(order) < json_number_value(first_order))
        (void) json_object_set_nocheck(into, "__run_num__", order);
    double both = json_number_value(duration) + json_number_value(first_duration);
    AUTO_FREE char *sum = xasprintf("%.3f", both);
    bool whole = json_is_integer(duration) && json_is_integer(first_duration) && fabs(both) < 0x1p63;
    (void) json_object_set_new_nocheck(into, "duration",
                                       whole ? json_integer((json_int_t) strtod(sum, NULL))
                                             : json_real(strtod(sum, NULL)));
    if (strcmp(start, first_start) < 0)
        (void) json_object_set_new_nocheck(into, "start_time", json_string_nocheck(start));

    /* Collect changes in {"compressed changes": {name: changes}}. */
    static const char KEY[] = "compressed changes";
    json_t *had = value_get(into, "changes"), *more = value_get(info, "changes");
    const char *name = value_str(info, "name", NULL);
    if (!value_truthy(more))
        return true;
    if (name == NULL)
        return false;
    json_t *by_name = value_get(had, KEY);
    if (!value_truthy(had) || !value_truthy(by_name)) {
        const char *first = value_str(into, "name", NULL);
        by_name = json_object();
        if (value_truthy(had) && first != NULL)
            (void) json_object_set_nocheck(by_name, first, had);
        (void) json_object_set_new_nocheck(into, "changes", json_pack("{s:o}", KEY, by_name));
    }
    (void) json_object_set_nocheck(by_name, name, more);
    return true;
}

json_t *
hs_compress(json_t *data)
{
    json_auto_t *all = json_object();

    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
        json_t *states = json_object_iter_value(it), *host = json_object();
        (void) json_object_set_new_nocheck(all, json_object_iter_key(it), host);
        if (!json_is_object(states))
            return NULL;
        AUTO(map) counts = count_groups(states);
        if (counts == NULL)
            return NULL;

        /* States that agree in all that is shown become one state with their count. */
        for (void *s = json_object_iter(states); s != NULL; s = json_object_iter_next(states, s)) {
            const char *name = json_object_iter_key(s);
            json_t *info = json_object_iter_value(s);
            AUTO_FREE char *group = highstate_compress_group_of(name, info);
            size_t count = *(size_t *) map_get(counts, group);
            if (count == 1) {
                (void) json_object_set_nocheck(host, name, info);
                continue;
            }
            AUTO_FREE char *rolled = rolled_name(name, info, count);
            json_t *into = rolled != NULL ? json_object_get(host, rolled) : NULL;
            if (rolled == NULL || (into != NULL && !roll_into(into, info)))
                return NULL;
            if (into == NULL)
                (void) json_object_set_new_nocheck(host, rolled, json_copy(info));
        }
    }
    return json_incref(all);
}
