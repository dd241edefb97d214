/* run_result.c - whether a run has succeeded: Salt's check_result(). A failure that an onfail chunk with
 * `onfail_stop: False` has handled is not a failure of the run. */
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/state/run.h"
#include "salt/state.h"

/* True when the chunk's onfail names state and ID. */
static bool
run_result_names_it(const json_t *chunk, const char *state, const char *id)
{
    json_t *entry, *v;
    const char *key;
    size_t i;

    json_array_foreach (value_get(chunk, "onfail"), i, entry) {
        json_object_foreach (entry, key, v) {
            if (str_eq(key, state) && str_eq(json_string_value(v), id))
                return true;
        }
    }
    return false;
}

/* A failed state is handled when at least one chunk handles it and all that do succeeded. The tag is
 * "state_|-ID_|-name_|-fun". */
static bool
is_handled(const json_t *running, const json_t *takers, const char *tag)
{
    const char *end = strstr(tag, "_|-");
    const char *id_end = end != NULL ? strstr(end + 3, "_|-") : NULL;
    json_t *taker;
    bool handled = false;
    size_t i;

    if (id_end == NULL)
        return false;
    AUTO_FREE char *state = xstrndup(tag, (size_t) (end - tag)),
                   *id = xstrndup(end + 3, (size_t) (id_end - end - 3));
    json_array_foreach ((json_t *) takers, i, taker) {
        if (!run_result_names_it(taker, state, id))
            continue;
        AUTO_FREE char *key = state_tag(taker);
        const json_t *ret = json_object_get(running, key);
        if (!json_is_true(value_get(ret, "result")))
            return false;
        handled = true;
    }
    return handled;
}

/* Nested dicts (orchestrate's returns by minion) must succeed throughout; a leaf that is not a dict is fine
 * if nested. */
static bool
run_result_went_well(const json_t *ret, bool nested)
{
    const json_t *result = value_get(ret, "result"), *v;
    const char *key;

    if (!json_is_object(ret))
        return nested;
    if (result != NULL)
        return !json_is_false(result);
    if (json_object_size(ret) == 0)
        return false;
    json_object_foreach ((json_t *) ret, key, v) {
        if (!run_result_went_well(v, true))
            return false;
    }
    return true;
}

bool
state_succeeded(const json_t *running, const json_t *chunks)
{
    /* List the chunks that handle failures. */
    json_auto_t *takers = json_array();
    json_t *chunk, *ret;
    const char *tag;
    size_t i;
    json_array_foreach ((json_t *) chunks, i, chunk) {
        if (value_get(chunk, "onfail") != NULL && json_is_false(value_get(chunk, "onfail_stop")))
            json_array_append(takers, chunk);
    }

    if (!json_is_object(running) || json_object_size(running) == 0)
        return false;
    json_object_foreach ((json_t *) running, tag, ret) {
        if (!run_result_went_well(ret, false) && !is_handled(running, takers, tag))
            return false;
    }
    return true;
}
