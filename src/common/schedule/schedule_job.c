/* schedule_job.c - see schedule_job.h. Reads a job's mapping into sjob_t, strictly: one kind of time, valid
 * ranges, bounded lists. Then decides whether a due job is skipped, in Salt's order of reasons. */
#include "common/schedule/schedule_job.h"

#include <stdlib.h>

#include "common/base/str.h"
#include "common/schedule/schedule.h"
#include "salt/value.h"

#define MAX_DAYS  36500
#define MAX_SPLAY (366 * 86400)
#define MAX_TIMES 1000
#define NEAR_US   1500000 /* tolerance around a time to skip, which is given to the second */

/* ---- names ------------------------------------------------------------------------------------ */

/* Keys of a job: known ones, and those that schedule.list shows. */
static const struct key {
    const char *name;
    bool known, listed;
} key_rows[] = {
    { "name", true, true },
    { "maxrunning", true, true },
    { "function", true, true },
    { "splay", true, true },
    { "range", true, true },
    { "when", true, true },
    { "once", true, true },
    { "once_fmt", true, true },
    { "jid_include", true, true },
    { "args", true, true },
    { "kwargs", true, true },
    { "seconds", true, true },
    { "minutes", true, true },
    { "hours", true, true },
    { "days", true, true },
    { "enabled", true, true },
    { "return_job", true, true },
    { "metadata", true, true },
    { "cron", true, true },
    { "until", true, true },
    { "after", true, true },
    { "run_on_start", true, true },
    { "skip_during_range", true, true },
    { "run_after_skip_range", true, true },
    { "func", true, false },
    { "fun", true, false },
    { "dry_run", true, false },
    { "saved", true, false },
    { "skip_explicit", true, false },
    { "run_explicit", true, false },
    { "returner", true, true },
    { "return_config", true, true },
    { "return_kwargs", true, true },
};

static const struct key *
schedule_job_find_key(const char *name)
{
    for (size_t i = 0; i < NELEMS(key_rows); i++)
        if (str_eq(key_rows[i].name, name))
            return &key_rows[i];
    return NULL;
}

bool
schedule_lists(const char *key)
{
    const struct key *row = schedule_job_find_key(key);
    return row != NULL && row->listed;
}

bool
sjob_is_setting(const char *name)
{
    static const char *const names[] = { "enabled", "splay", "skip_function", "skip_during_range" };
    for (size_t i = 0; i < NELEMS(names); i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

/* Keys that have no effect here, with commas between them. NEW; NULL: there are none. */
char *
sjob_unknown(const json_t *item)
{
    char *out = NULL;
    const char *key;
    json_t *v;
    json_object_foreach ((json_t *) item, key, v) {
        const struct key *row = schedule_job_find_key(key);
        if (key[0] == '_' || (row != NULL && row->known))
            continue;
        char *longer = out != NULL ? xasprintf("%s, %s", out, key) : xstrdup(key);
        free(out);
        out = longer;
    }
    return out;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Read a number, or a text that is one. */
static int
schedule_job_number(const json_t *item, const char *key, json_int_t max, json_int_t *ret, fail_t *err)
{
    json_t *v = value_get(item, key);
    char *end = NULL;
    if (v == NULL || json_is_null(v))
        return 0;
    long long n = json_is_integer(v) ? json_integer_value(v) : -1;
    if (json_is_real(v) && json_real_value(v) > -1 && json_real_value(v) <= (double) max)
        n = (long long) json_real_value(v);
    if (json_is_string(v)) {
        n = strtoll(json_string_value(v), &end, 10);
        n = end == json_string_value(v) || *end ? -1 : n;
    }
    if (n < 0 || n > max)
        return fail_set(err, -EINVAL, "%s is a whole number from 0 to %lld", key, (long long) max);
    *ret = n;
    return 0;
}

/* Reads the interval; the units add up. */
static int
read_every(const json_t *item, sjob_t *out, fail_t *err)
{
    static const struct {
        const char *key;
        int64_t seconds;
    } units[] = { { "seconds", 1 }, { "minutes", 60 }, { "hours", 3600 }, { "days", 86400 } };
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0; i < NELEMS(units); i++) {
        json_int_t n = 0;
        any = any || value_get(item, units[i].key) != NULL;
        int rc = schedule_job_number(item, units[i].key, MAX_DAYS * 86400LL / units[i].seconds, &n, err);
        if (rc < 0)
            return rc;
        sum += n * units[i].seconds;
    }
    if (any && sum == 0)
        return fail_set(err, -EINVAL, "an interval is one second at least");
    out->every_ms = sum * 1000;
    out->kind = any ? SJOB_EVERY : SJOB_NEVER;
    return 0;
}

/* Reads one moment; `key` names it in the error. */
static int
moment(const json_t *v, const char *key, moment_t *ret, fail_t *err)
{
    if (!json_is_string(v))
        return fail_set(err, -EINVAL, "%s is a text such as '5:00pm'", key);
    return moment_parse(json_string_value(v), ret, err);
}

/* Reads `when`: moments, or names of moments in `whens`. */
static int
read_when(const json_t *item, const json_t *whens, sjob_t *out, fail_t *err)
{
    json_t *v = value_get(item, "when"), *one;
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    if (n == 0 || n > MAX_TIMES)
        return fail_set(err, -EINVAL, "when is a text, or a list of 1 to %d", MAX_TIMES);
    out->kind = SJOB_WHEN;
    out->whens = xcalloc(n, sizeof(moment_t));
    for (size_t i = 0; i < n; i++) {
        one = json_is_array(v) ? json_array_get(v, i) : v;
        json_t *named = json_is_string(one) ? value_get(whens, json_string_value(one)) : NULL;
        int rc = moment(named != NULL ? named : one, "when", &out->whens[i], err);
        if (rc < 0)
            return rc;
    }
    out->n_whens = n;
    return 0;
}

static int
read_cron(const json_t *item, const json_t *whens, sjob_t *out, fail_t *err)
{
    const char *text = value_str(item, "cron", NULL);
    out->kind = SJOB_CRON;
    return text != NULL ? cron_parse(text, &out->cron, err)
                        : fail_set(err, -EINVAL, "cron is a text of five fields");
}

/* Reads `once`: a date in its own format, else in any form that moment_parse() knows, as long as it has a
 * year. */
static int
read_once(const json_t *item, const json_t *whens, sjob_t *out, fail_t *err)
{
    const char *text = value_str(item, "once", ""), *format = value_str(item, "once_fmt", NULL);
    moment_t m;
    out->kind = SJOB_ONCE;
    if (moment_format(text, format != NULL ? format : SCHEDULE_FORMAT, &out->once_us))
        return 0;
    /* YAML turns a date's T into a blank. */
    if (format != NULL || moment_parse(text, &m, NULL) < 0 || m.year == 0)
        return fail_set(err, -EINVAL, "Date string could not be parsed: %s, %s", text,
                        format != NULL ? format : SCHEDULE_FORMAT);
    out->once_us = moment_local(m.year, m.month, m.day, m.second);
    return 0;
}

/* Read the time. A job has one kind of time only. */
static int
read_time(const json_t *item, const json_t *whens, sjob_t *out, fail_t *err)
{
    static const struct {
        const char *key;
        int (*fn)(const json_t *item, const json_t *whens, sjob_t *out, fail_t *err);
    } rows[] = { { "when", read_when }, { "cron", read_cron }, { "once", read_once } };
    int rc = read_every(item, out, err);
    for (size_t i = 0; rc == 0 && i < NELEMS(rows); i++) {
        if (value_get(item, rows[i].key) == NULL)
            continue;
        if (out->kind != SJOB_NEVER)
            return fail_set(err, -EINVAL,
                            "it has two of \"seconds\" and the like, \"when\", \"cron\" and \"once\"; one "
                            "is possible");
        rc = rows[i].fn(item, whens, out, err);
    }
    return rc;
}

/* Reads `splay`: a number of seconds at most, or a range of them. */
static int
read_splay(const json_t *v, sjob_t *out, fail_t *err)
{
    json_int_t least = 1, most = 0;
    json_auto_t *single = json_pack("{s:O*}", "splay", v);
    int rc = 0;
    if (json_is_object(v)) {
        rc = schedule_job_number(v, "start", MAX_SPLAY, &least, err);
        rc = rc < 0 ? rc : schedule_job_number(v, "end", MAX_SPLAY, &most, err);
    } else {
        rc = schedule_job_number(single, "splay", MAX_SPLAY, &most, err);
    }
    if (rc == 0 && json_is_object(v) && most < least)
        rc = fail_set(err, -EINVAL, "splay: end must be larger than start");
    if (rc == 0 && most > 0)
        out->splay_min = least, out->splay_max = most;
    return rc;
}

/* Reads a range of time. Without days its end must come after its start on the same day. */
static int
read_range(const json_t *v, const char *key, sjob_range_t *out, fail_t *err)
{
    if (v == NULL || json_is_null(v))
        return 0;
    if (!json_is_object(v))
        return fail_set(err, -EINVAL, "%s is a mapping of start and end", key);
    int rc = moment(value_get(v, "start"), "start", &out->start, err);
    rc = rc < 0 ? rc : moment(value_get(v, "end"), "end", &out->end, err);
    if (rc < 0)
        return rc;
    bool days = out->start.day > 0 || out->start.weekday >= 0 || out->end.day > 0 || out->end.weekday >= 0;
    if (!days && out->end.second <= out->start.second)
        return fail_set(err, -EINVAL, "%s: end must be larger than start", key);
    out->is_set = true;
    out->invert = value_bool(v, "invert", false);
    return 0;
}

/* Read skip_explicit or run_explicit: [{time, time_fmt}]. */
static int
read_times(const json_t *item, const char *key, int64_t **ret, size_t *ret_n, fail_t *err)
{
    json_t *list = value_get(item, key), *one;
    size_t i, n = json_array_size(list);
    if (n > MAX_TIMES)
        return fail_set(err, -EINVAL, "%s has more than %d times", key, MAX_TIMES);
    *ret = n > 0 ? xcalloc(n, sizeof(int64_t)) : NULL;
    json_array_foreach (list, i, one) {
        const char *format = value_str(one, "time_fmt", SCHEDULE_FORMAT);
        if (!moment_format(value_str(one, "time", ""), format, &(*ret)[i]))
            return fail_set(err, -EINVAL, "%s: '%s' does not fit '%s'", key, value_str(one, "time", ""),
                            format);
        *ret_n = i + 1;
    }
    return 0;
}

/* Reads the bounds of a job: after, until, and single moments to skip or to add. */
static int
schedule_job_read_bounds(const json_t *item, sjob_t *out, fail_t *err)
{
    json_t *after = value_get(item, "after"), *until = value_get(item, "until");
    int rc = 0;
    out->has_after = after != NULL && !json_is_null(after);
    out->has_until = until != NULL && !json_is_null(until);
    if (out->has_after)
        rc = moment(after, "after", &out->after, err);
    if (rc == 0 && out->has_until)
        rc = moment(until, "until", &out->until, err);
    rc = rc < 0 ? rc : read_times(item, "skip_explicit", &out->skips, &out->n_skips, err);
    return rc < 0 ? rc : read_times(item, "run_explicit", &out->runs, &out->n_runs, err);
}

/* Reads the function, under any of Salt's three names, and checks its arguments. */
static int
read_function(const json_t *item, sjob_t *out, fail_t *err)
{
    static const char *const keys[] = { "function", "func", "fun" };
    for (size_t i = 0; out->fun == NULL && i < NELEMS(keys); i++)
        out->fun = value_str(item, keys[i], NULL);
    if (str_empty(out->fun))
        return fail_set(err, -EINVAL, "it names no function");
    if (value_get(item, "args") != NULL && !json_is_array(value_get(item, "args")))
        return fail_set(err, -EINVAL, "args is a list");
    if (value_get(item, "kwargs") != NULL && !json_is_object(value_get(item, "kwargs")))
        return fail_set(err, -EINVAL, "kwargs is a mapping");
    return 0;
}

/* 0, or -EINVAL with *err that names the job. sjob_free() in any case. */
int
sjob_read(const char *name, const json_t *item, const json_t *all, const json_t *whens, sjob_t *ret,
          fail_t *err)
{
    *ret = (sjob_t){ .enabled = value_bool(item, "enabled", true),
                     .jid_include = value_bool(item, "jid_include", true),
                     .run_on_start = value_bool(item, "run_on_start", false),
                     .run_after_skip = value_bool(item, "run_after_skip_range", false),
                     .dry_run = value_bool(item, "dry_run", false),
                     .maxrunning = 1 };
    json_t *splay = value_get(item, "splay"), *skip = value_get(item, "skip_during_range");
    if (!json_is_object(item))
        return fail_set(err, -EINVAL, "schedule: job %s is ignored: it is not a mapping", name);
    int rc = read_function(item, ret, err);
    rc = rc < 0 ? rc : read_time(item, whens, ret, err);
    rc = rc < 0 ? rc : read_splay(splay != NULL ? splay : value_get(all, "splay"), ret, err);
    rc = rc < 0 ? rc : read_range(value_get(item, "range"), "range", &ret->range, err);
    rc = rc < 0 ? rc
                : read_range(skip != NULL ? skip : value_get(all, "skip_during_range"), "skip_during_range",
                             &ret->skip, err);
    rc = rc < 0 ? rc : schedule_job_read_bounds(item, ret, err);
    rc = rc < 0 ? rc : schedule_job_number(item, "maxrunning", 1000, &ret->maxrunning, err);
    if (rc < 0)
        fail_prefix(err, "schedule: job %s is ignored: ", name);
    return rc;
}

void
sjob_free(sjob_t *self)
{
    free(self->whens);
    free(self->skips);
    free(self->runs);
}

/* ---- may it run ------------------------------------------------------------------------------- */

static bool
schedule_job_inside(const sjob_range_t *r, int64_t now_us)
{
    int64_t start = moment_today(&r->start, now_us), end = moment_today(&r->end, now_us);
    return start <= now_us && now_us <= end;
}

/* Reasons in Salt's order. skip_function replaces the job for the first three of them only. */
const char *
sjob_skipped(const sjob_t *self, int64_t now_us, bool *ret_replace)
{
    *ret_replace = true;
    if (self->range.is_set && !self->range.invert && !schedule_job_inside(&self->range, now_us))
        return "not_in_range";
    if (self->skip.is_set && schedule_job_inside(&self->skip, now_us))
        return "in_skip_range";
    for (size_t i = 0; i < self->n_skips; i++)
        if (llabs(now_us - self->skips[i]) < NEAR_US)
            return "skip_explicit";
    *ret_replace = false;
    if (self->range.is_set && self->range.invert && schedule_job_inside(&self->range, now_us))
        return "in_skip_range";
    if (self->has_until && moment_today(&self->until, now_us) <= now_us)
        return "until_passed";
    if (self->has_after && moment_today(&self->after, now_us) >= now_us)
        return "after_not_passed";
    return NULL;
}

int64_t
sjob_skip_end(const sjob_t *self, int64_t now_us)
{
    return self->skip.is_set && schedule_job_inside(&self->skip, now_us)
               ? moment_today(&self->skip.end, now_us)
               : 0;
}
