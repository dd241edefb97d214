/* scheduling.c - see scheduling.h. Jobs are made and listed here; the minion, which runs the schedule, is
 * asked for them and for every change. */
#include "plugins/lib/salt/scheduling.h"

#include "common/base/str.h"
#include "common/schedule/moment.h"
#include "common/schedule/schedule.h"
#include "common/schedule/schedule_file.h"
#include "salt/value.h"

static const char *const intervals[] = { "seconds", "minutes", "hours", "days" };

json_t *
scheduling_ask(call_ctx_t *ctx, json_t *request, fail_t *err)
{
    json_auto_t *asked = request;
    json_t *value = NULL;

    json_object_set_new(asked, "op", json_string("schedule"));
    return ctx_host(ctx, asked, &value, err) < 0 ? NULL : value;
}

/* ---- listing ---------------------------------------------------------------------------------- */

/* NEW. */
static json_t *
scheduling_shown(const json_t *job)
{
    json_t *out = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) job, key, v) {
        const char *text = json_is_string(v) ? json_string_value(v) : "";
        if (!schedule_lists(key) || json_is_null(v))
            continue;
        if (str_eq(text, "true") || str_eq(text, "false"))
            json_object_set_new(out, key, json_boolean(str_eq(text, "true")));
        else
            json_object_set(out, key, v);
    }
    if (value_get(out, "enabled") == NULL)
        json_object_set_new(out, "enabled", json_true());
    return out;
}

json_t *
scheduling_list(call_ctx_t *ctx, const scheduling_list_t *how, fail_t *err)
{
    /* From the file when the minion is not asked, else from the minion. */
    json_auto_t *all = how->offline
                           ? schedule_file_load(ctx_opts(ctx), err)
                           : scheduling_ask(ctx, json_pack("{s:s, s:s*}", "do", "list", "where", how->where),
                                            err);
    json_t *out = json_object(), *v;
    const char *name;

    if (all == NULL)
        json_decref(STEAL(out));
    json_object_foreach (all, name, v) {
        bool own = str_starts(name, "__") && !how->show_all;
        if (!json_is_object(v) || str_eq(name, "skip_during_range")) {
            json_object_set(out, name, v);
            continue;
        }
        json_auto_t *job = scheduling_shown(v);
        if (!own && (!how->hide_disabled || value_truthy(value_get(job, "enabled"))))
            json_object_set(out, name, job);
    }
    return out;
}

/* ---- making ----------------------------------------------------------------------------------- */

/* Salt's {"comment", "result": false}. NEW. */
static json_t *
scheduling_refusal(const char *comment)
{
    return json_pack("{s:s, s:b}", "comment", comment, "result", false);
}

bool
scheduling_refused(const json_t *item)
{
    json_t *result = value_get(item, "result");

    return result != NULL && !value_truthy(result);
}

const char *
scheduling_conflict(const json_t *kwargs)
{
    bool when = value_get(kwargs, "when") != NULL, cron = value_get(kwargs, "cron") != NULL;

    for (size_t i = 0; i < NELEMS(intervals); i++)
        if ((when || cron) && value_get(kwargs, intervals[i]) != NULL)
            return "Unable to use \"seconds\", \"minutes\", \"hours\", or \"days\" with \"when\" or \"cron\" "
                   "options.";
    return when && cron ? "Unable to use \"when\" and \"cron\" options together.  Ignoring." : NULL;
}

static void
scheduling_take(json_t *item, const json_t *kwargs, const char *key)
{
    json_t *v = value_get(kwargs, key);

    if (v != NULL)
        json_object_set(item, key, v);
}

static void
take_rest(json_t *item, const char *name, const json_t *kwargs)
{
    static const char *const keys[] = { "splay",
                                        "range",
                                        "when",
                                        "once",
                                        "once_fmt",
                                        "cron",
                                        "returner",
                                        "after",
                                        "return_config",
                                        "return_kwargs",
                                        "until",
                                        "run_on_start",
                                        "skip_during_range",
                                        "run_after_skip_range" };

    json_object_set_new(item, "maxrunning", json_integer(1));
    scheduling_take(item, kwargs, "maxrunning");
    json_object_set_new(item, "name", json_string(name));
    json_object_set_new(item, "enabled", json_true());
    scheduling_take(item, kwargs, "enabled");
    json_object_set_new(item, "jid_include", json_true());
    scheduling_take(item, kwargs, "jid_include");
    for (size_t i = 0; i < NELEMS(keys); i++)
        scheduling_take(item, kwargs, keys[i]);
}

/* A job, a refusal that is data, or NULL with *err. NEW. */
json_t *
scheduling_item(const char *name, const json_t *kwargs, fail_t *err)
{
    json_t *args = value_get(kwargs, "job_args"), *words = value_get(kwargs, "job_kwargs");
    const char *conflict = scheduling_conflict(kwargs);

    if (*name == '\0')
        return scheduling_refusal("Job name is required.");
    if (str_empty(value_str(kwargs, "function", NULL)))
        return (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "a job of the schedule needs function="), NULL;
    if (conflict != NULL)
        return scheduling_refusal(conflict);
    if (args != NULL && !json_is_array(args))
        return scheduling_refusal("job_args is not a list. please correct and try again.");
    if (words != NULL && !json_is_object(words))
        return scheduling_refusal("job_kwargs is not a dict. please correct and try again.");

    const json_t *when = value_get(kwargs, "when");
    size_t n = json_is_array(when) ? json_array_size(when) : 1;
    moment_t m;

    for (size_t i = 0; when != NULL && i < n; i++) {
        json_t *one = json_is_array(when) ? json_array_get(when, i) : (json_t *) when;
        if (json_is_string(one) && moment_parse(json_string_value(one), &m, NULL) == 0)
            continue;
        AUTO_FREE char *text = value_pystr(one);
        AUTO_FREE char *why = xasprintf("Schedule item %s for \"when\" in invalid.", text);
        return scheduling_refusal(why);
    }

    json_t *item = json_pack("{s:O}", "function", value_get(kwargs, "function"));
    for (size_t i = 0; i < NELEMS(intervals); i++)
        scheduling_take(item, kwargs, intervals[i]);
    scheduling_take(item, kwargs, "return_job");
    scheduling_take(item, kwargs, "metadata");
    if (args != NULL)
        json_object_set(item, "args", args);
    if (words != NULL)
        json_object_set(item, "kwargs", words);
    take_rest(item, name, kwargs);
    return item;
}
