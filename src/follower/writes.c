/* writes.c - what a follower stores of an event. Pure. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "follower/follow.h"
#include "salt/limits.h"

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

/* Adds the texts of a list that the master takes as patterns; false: it would refuse them. */
static bool
writes_patterns(const json_t *globs, json_t *out)
{
    json_t *glob;
    size_t i;

    json_array_foreach ((json_t *) globs, i, glob) {
        if (json_is_string(glob))
            json_array_append(out, glob);
        if (json_string_length(glob) > LIMIT_TAG_LEN)
            return false;
    }
    return json_array_size(out) <= LIMIT_LISTEN_TAGS;
}

/* The master compares the tags, so that what is not wanted wakes nobody; writes_wanted and writes_of look again. */
json_t *
writes_request(const follow_spec_t *spec, uint64_t after)
{
    enum { MARKS = 10000 }; /* a follower that is started again looks at no more of what it does not want */
    json_auto_t *tags = json_array(), *except = json_array();
    const json_t *white = value_get(spec->opts, "event_return_whitelist");

    if (str_eq(spec->kind, "event_return")) {
        if (!writes_patterns(value_get(spec->opts, "event_return_blacklist"), except))
            json_array_clear(except);
        if (json_array_size(white) == 0 || !writes_patterns(white, tags)) {
            json_array_clear(tags);
            json_array_append_new(tags, json_string("*"));
        }
    } else {
        json_array_append_new(tags, json_string("salt/job/*/new"));
        if (!str_eq(spec->kind, "ext_job_cache"))
            json_array_append_new(tags, json_string("salt/job/*/ret/*"));
    }
    return json_pack("{s:s, s:O, s:O*, s:I, s:i, s:s}", "op", "events", "tags", tags, "except",
                     json_array_size(except) > 0 ? except : NULL, "since_seq", (json_int_t) after, "marks",
                     MARKS, "follower", spec->name);
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
