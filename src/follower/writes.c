/* writes.c - what a follower stores of an event. Pure. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "follower/follow.h"

/* True when one of the globs fits. */
static bool
writes_listed(const json_t *globs, const char *tag)
{
    const json_t *glob;
    size_t i;

    json_array_foreach ((json_t *) globs, i, glob) {
        if (json_is_string(glob) && match_glob(json_string_value(glob), tag))
            return true;
    }
    return false;
}

bool
writes_wanted(const json_t *opts, const char *tag)
{
    const json_t *white = value_get(opts, "event_return_whitelist"),
                 *black = value_get(opts, "event_return_blacklist");

    return (json_array_size(white) == 0 || writes_listed(white, tag)) && !writes_listed(black, tag);
}

size_t
writes_weight(const json_t *write)
{
    enum { NODE = 8 }; /* a number, or what stands around a value */
    size_t sum = NODE + (json_is_string(write) ? json_string_length(write) : 0), i;
    const char *key;
    json_t *v;

    json_array_foreach ((json_t *) write, i, v)
        sum += writes_weight(v);
    json_object_foreach ((json_t *) write, key, v)
        sum += strlen(key) + writes_weight(v);
    return sum;
}

json_t *
writes_load(const json_t *data)
{
    static const char *const fields[] = { "fun", "arg", "tgt", "tgt_type", "jid", "user" };
    json_t *load = json_pack("{s:s}", "cmd", "publish"), *v;

    for (size_t i = 0; i < NELEMS(fields); i++) {
        v = value_get(data, fields[i]);
        if (v == NULL && str_eq(fields[i], "arg"))
            v = value_get(data, "fun_args");
        if (v != NULL)
            json_object_set(load, fields[i], v);
    }
    json_object_set_new(load, "ret", json_string(""));
    v = value_get(data, "metadata");
    json_object_set_new(load, "kwargs", v != NULL ? json_pack("{s:O}", "metadata", v) : json_object());
    if (value_get(data, "tgt") == NULL && value_get(data, "id") != NULL) {
        json_object_set(load, "tgt", value_get(data, "id"));
        json_object_set_new(load, "tgt_type", json_string("glob"));
    }
    return load;
}

json_t *
writes_of(const char *kind, const char *tag, json_t *data, json_t **load_p)
{
    /* "salt/job/JID/new" is 'n', "salt/job/JID/ret/ID" 'r', another tag 0. */
    const char *jid = str_starts(tag, "salt/job/") ? tag + strlen("salt/job/") : "";
    const char *rest = strchr(jid, '/');
    char part = rest == NULL ? 0 : str_eq(rest, "/new") ? 'n' : str_starts(rest, "/ret/") ? 'r' : 0;

    if (str_eq(kind, "event_return"))
        return json_pack("{s:{s:s, s:O}}", "event", "tag", tag, "data", data);
    if (value_str(data, "jid", NULL) == NULL)
        return NULL;
    if (part == 'n')
        return json_pack("{s:O, s:o, s:O?}", "jid", value_get(data, "jid"), "load", writes_load(data),
                         "minions", value_get(data, "minions"));
    if (part != 'r' || str_eq(kind, "ext_job_cache") || value_str(data, "id", NULL) == NULL ||
        value_get(data, "return") == NULL)
        return NULL;
    /* Options of the minion's returner: it has no say in those of the master's. */
    bool says = value_get(data, "ret_config") != NULL || value_get(data, "ret_kwargs") != NULL;
    json_t *ret = says ? json_copy(data) : json_incref(data);
    if (says) {
        json_object_del(ret, "ret_config");
        json_object_del(ret, "ret_kwargs");
    }
    if (!str_eq(value_str(*load_p, "jid", NULL), value_str(data, "jid", ""))) {
        json_decref(*load_p);
        *load_p = writes_load(data);
    }
    return json_pack("{s:o, s:O}", "ret", ret, "load", *load_p);
}
