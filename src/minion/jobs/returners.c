/* returners.c - see returners.h. */
#include "minion/jobs/returners.h"

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"
#include "salt/log.h"
#include "salt/value.h"

char *
returners_of(const json_t *opts, const json_t *job)
{
    const char *own = value_str(job, "ret", "");
    const char *all = value_get(job, "schedule") == NULL ? value_str(opts, "return", "") : "";

    return xasprintf("%s%s%s", own, *own != '\0' && *all != '\0' ? "," : "", all);
}

/* NEW what a returner gets: the return, with what Salt's minion adds. */
static json_t *
returners_ret(call_ctx_t *ctx, const json_t *job, const json_t *ret)
{
    static const char *const more[] = { "ret_config", "ret_kwargs" };
    json_t *whole = json_copy((json_t *) ret);

    json_object_set_new(whole, "id", json_string(ctx_id(ctx)));
    for (size_t i = 0; i < NELEMS(more); i++)
        if (value_get(job, more[i]) != NULL)
            json_object_set(whole, more[i], value_get(job, more[i]));
    return whole;
}

static void
returners_one(call_ctx_t *ctx, const char *name, py_t *args)
{
    const userfile_t what = { .kind = "returners", .module = name, .fun = "returner", .log_fails = true };
    fail_auto_t err = FAIL_INIT;
    AUTO(py) kwargs = py_dict();
    AUTO(py) said = userfile_call(ctx, &what, args, kwargs, NULL, &err);

    if (said != NULL)
        return;
    if (err.kind != FAIL_UNAVAILABLE)
        log_error("The return failed for job %s: returner %s: %s", ctx_jid(ctx), name, fail_text(&err));
    else if (*fail_text(&err) != '\0')
        log_error("Returner %s could not be loaded: '%s' __virtual__ returned False: %s", name, name,
                  fail_text(&err));
    else
        log_error("Returner %s could not be loaded: '%s.returner' is not available.", name, name);
}

void
returners_call(call_ctx_t *ctx, const char *names, const json_t *job, const json_t *ret)
{
    json_auto_t *whole = returners_ret(ctx, job, ret), *called = json_object();
    AUTO(py) args = py_list();
    char **list = str_split(names, ",", true);

    py_append_new(args, py_from_json(whole));
    for (size_t i = 0; list[i] != NULL; i++) {
        const char *name = str_trim(list[i]);
        if (json_object_get(called, name) != NULL)
            continue;
        json_object_set_new(called, name, json_true());
        returners_one(ctx, name, args);
    }
    strv_free(list);
}
