/* extcache.c - see extcache.h. */
#include "runners/lib/extcache.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/plugin/returning.h"

const char *
extcache_name(call_ctx_t *ctx, const json_t *args)
{
    const char *const names[] = { value_str(args, "ext_source", ""),
                                  value_str(ctx_opts(ctx), "ext_job_cache", ""),
                                  value_str(ctx_opts(ctx), "master_job_cache", "") };
    const char *name = "";

    for (size_t i = 0; *name == '\0' && i < NELEMS(names); i++)
        name = names[i];
    return *name == '\0' || str_eq(name, "local_cache") ? NULL : name;
}

/* One of the returner's functions that takes a text, or nothing. NEW object, or NULL with *err. */
static json_t *
extcache_get(call_ctx_t *ctx, const char *name, const char *fun, const char *value, fail_t *err)
{
    json_auto_t *args = value != NULL ? json_pack("[s]", value) : json_array();
    json_t *found = NULL;

    if (returning_call(ctx, name, fun, args, &found, err) < 0) {
        if (err->kind == FAIL_UNAVAILABLE)
            fail_prefix(err, "the job cache %s has no %s ", name, fun);
        return NULL;
    }
    if (json_is_object(found))
        return found;
    json_decref(found);
    return json_object();
}

static bool
extcache_fits(const json_t *globs, const char *text)
{
    const json_t *glob;
    size_t i;

    json_array_foreach ((json_t *) globs, i, glob) {
        if (match_glob(json_string_value(glob), text))
            return true;
    }
    return globs == NULL;
}

/* A job's target is a text or a list of texts, any of which may fit. */
static bool
extcache_targets(const json_t *globs, const json_t *target)
{
    AUTO_FREE char *text = value_pystr(target != NULL ? target : json_null());
    const json_t *one;
    size_t i;

    json_array_foreach ((json_t *) target, i, one) {
        if (json_is_string(one) && extcache_fits(globs, json_string_value(one)))
            return true;
    }
    return extcache_fits(globs, text);
}

json_t *
extcache_job(call_ctx_t *ctx, const char *name, const char *jid, const json_t *globs, fail_t *err)
{
    json_auto_t *load = extcache_get(ctx, name, "get_load", jid, err);
    json_auto_t *all = load != NULL ? extcache_get(ctx, name, "get_jid", jid, err) : NULL;
    json_t *returns = json_object(), *ret;
    const char *id;

    json_object_foreach (all, id, ret) {
        if (extcache_fits(globs, id))
            json_object_set(returns, id, ret);
    }
    if (all != NULL)
        return json_pack("{s:o, s:o}", "job", json_object_size(load) > 0 ? json_incref(load) : json_null(),
                         "returns", returns);
    json_decref(returns);
    return NULL;
}

/* True when one of the pairs is in the job's metadata. */
static bool
extcache_shares(const json_t *wanted, const json_t *metadata)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) wanted, key, v) {
        if (json_equal(v, value_get(metadata, key)))
            return true;
    }
    return wanted == NULL;
}

json_t *
extcache_jobs(call_ctx_t *ctx, const char *name, const json_t *filter, fail_t *err)
{
    json_auto_t *all = extcache_get(ctx, name, "get_jids", NULL, err);
    json_int_t start_us = value_int(filter, "start_us", 0), end_us = value_int(filter, "end_us", INT64_MAX);
    json_t *found, *job;
    const char *jid;

    if (all == NULL)
        return NULL;
    found = json_object();
    json_object_foreach (all, jid, job) {
        int64_t us = 0;
        if (clock_jid_us(jid, &us) && us >= start_us && us <= end_us &&
            extcache_fits(value_get(filter, "function"), value_str(job, "Function", "")) &&
            extcache_targets(value_get(filter, "target"), value_get(job, "Target")) &&
            extcache_shares(value_get(filter, "metadata"), value_get(job, "Metadata")))
            json_object_set(found, jid, job);
    }
    return found;
}

const char *
extcache_newest(json_t *jobs)
{
    const char *newest = NULL, *jid;
    json_t *job;

    json_object_foreach (jobs, jid, job) {
        if (newest == NULL || strcmp(jid, newest) > 0)
            newest = jid;
    }
    return newest;
}
