/* jobshape.c - see jobshape.h: jobs as Salt shows them, from the rows of the master's store. */
#include "runners/lib/jobshape.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/output/output.h"
#include "common/output/suited.h"
#include "runners/lib/ask.h"
#include "salt/limits.h"
#include "salt/value.h"

/* A member, or a default text. NEW reference. */
static json_t *
jobshape_member(const json_t *job, const char *key, const char *dflt)
{
    json_t *v = json_object_get(job, key);

    return v != NULL ? json_incref(v) : json_string(dflt);
}

/* NEW list of a job's arguments; the text of one where a store has columns of texts (postgres_local_cache). */
static json_t *
jobshape_arguments(const json_t *arg)
{
    fail_auto_t why = FAIL_INIT;
    json_t *list = json_is_string(arg) ? value_parse(json_string_value(arg), json_string_length(arg),
                                                     LIMIT_WIRE_MSG, "arguments", &why)
                                       : json_incref((json_t *) arg);

    if (json_is_array(list))
        return list;
    json_decref(list);
    return json_array();
}

/* Without a job, only Salt's "Error". */
static json_t *
instance(const json_t *job)
{
    json_t *out = json_object();

    if (!json_is_object(job)) {
        json_object_set_new(out, "Error", json_string("Cannot contact returner or no job with this jid"));
        return out;
    }
    json_object_set_new(out, "Function", jobshape_member(job, "fun", "unknown-function"));
    json_object_set_new(out, "Arguments", jobshape_arguments(json_object_get(job, "arg")));
    json_object_set_new(out, "Target", jobshape_member(job, "tgt", "unknown-target"));
    json_object_set_new(out, "Target-type", jobshape_member(job, "tgt_type", "list"));
    json_object_set_new(out, "User", jobshape_member(job, "user", "root"));

    /* From the job, or from its keyword arguments. */
    json_t *metadata = json_object_get(job, "metadata");
    if (metadata == NULL)
        metadata = json_object_get(json_object_get(job, "kwargs"), "metadata");
    if (metadata != NULL && !json_is_null(metadata))
        json_object_set(out, "Metadata", metadata);

    /* Lists the job's minions. */
    const json_t *minions = json_object_get(job, "minions");
    if (json_array_size(minions) > 0)
        json_object_set_new(out, "Minions", value_sorted_texts(minions));

    return out;
}

json_t *
jobshape_instance(const char *jid, const json_t *job, bool jid_inside)
{
    json_t *out = instance(job);
    char start[CLOCK_STAMP_LEN];

    if (jid_inside)
        json_object_set_new(out, "JID", json_string(jid));
    json_object_set_new(out, "StartTime", json_string(clock_jid_to_time(jid, start) ? start : ""));
    return out;
}

/* By the function, else what the minion's return says, if that may be said. BORROWED, or NULL. */
static const char *
outputter_of(const json_t *ret)
{
    const char *own = output_suited(value_str(ret, "fun", NULL));

    return own != NULL ? own : output_claimed(value_str(ret, "out", NULL));
}

/* What a runner or wheel function returned, as Salt keeps it: with its function, arguments and user around
 * it, which the outputter `highstate` takes off again. NEW. */
static json_t *
enveloped(const json_t *ret)
{
    static const char *const kept[] = { "fun", "fun_args", "jid", "return", "success", "user" };
    json_t *out = json_object();

    for (size_t i = 0; i < NELEMS(kept); i++) {
        json_t *v = json_object_get(ret, kept[i]);
        if (v != NULL)
            json_object_set(out, kept[i], v);
    }
    return out;
}

json_t *
jobshape_result(const json_t *returns)
{
    static const char *const kept[] = { "return", "retcode", "success" };
    json_t *out = json_object(), *each = (json_t *) returns; /* for jansson's iterator; nothing is changed */

    for (void *it = json_object_iter(each); it != NULL; it = json_object_iter_next(each, it)) {
        const json_t *ret = json_object_iter_value(it);
        json_t *entry = json_object();
        for (size_t i = 0; i < NELEMS(kept); i++) {
            json_t *v = json_object_get(ret, kept[i]);
            if (v != NULL)
                json_object_set(entry, kept[i], v);
        }
        const char *fun = value_str(ret, "fun", "");
        if (str_starts(fun, "runner.") || str_starts(fun, "wheel."))
            json_object_set_new(entry, "return", enveloped(ret));
        if (outputter_of(ret) != NULL)
            json_object_set_new(entry, "out", json_string(outputter_of(ret)));
        json_object_set_new(out, json_object_iter_key(it), entry);
    }
    return out;
}

/* By the job's function. A minion's word is for its own return: for a job without another. BORROWED, or
 * NULL. */
const char *
jobshape_outputter(const json_t *job)
{
    json_t *result = value_get(job, "Result");
    const char *own = output_suited(value_str(job, "Function", NULL));

    if (own != NULL || json_object_size(result) != 1)
        return own;
    return output_claimed(value_str(json_object_iter_value(json_object_iter(result)), "out", NULL));
}

json_t *
jobshape_with_outputter(const json_t *outputter, json_t *data)
{
    if (!value_truthy(outputter))
        return data;
    return json_pack("{s:O, s:o}", "outputter", outputter, "data", data);
}
