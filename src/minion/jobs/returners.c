/* returners.c - see returners.h. */
#include "minion/jobs/returners.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/returning.h"
#include "common/py/py_error.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

char *
returners_of(const json_t *opts, const json_t *job)
{
    const char *own = value_str(job, "ret", "");
    const char *all = value_get(job, "schedule") == NULL ? value_str(opts, "return", "") : "";

    return xasprintf("%s%s%s", own, *own != '\0' && *all != '\0' ? "," : "", all);
}

static void
returners_one(call_ctx_t *ctx, const char *name, const json_t *ret, json_t *args)
{
    const py_limits_t limits = { .deadline_ms = clock_mono_ms() + LIMIT_RETURNER_MS };
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *text = NULL;
    py_scope_t scope;

    py_scope_enter(&scope, &limits);
    int rc = returning_call(ctx, name, "returner", args, NULL, &err);
    py_scope_leave(&scope);
    if (rc == 0) {
        log_debug("The returner %s has the return of job %s", name, value_str(ret, "jid", ""));
        return;
    }
    if (err.kind != FAIL_UNAVAILABLE)
        text = xasprintf("The return failed for job %s: returner %s: %s", value_str(ret, "jid", ""), name,
                         fail_text(&err));
    else if (*fail_text(&err) != '\0')
        text = xasprintf("Returner %s could not be loaded: '%s' __virtual__ returned False: %s", name, name,
                         fail_text(&err));
    else
        text = xasprintf("Returner %s could not be loaded: '%s.returner' is not available.", name, name);
    /* An event tells the master as well as the log: the return itself may be lost. */
    fail_auto_t unsent = FAIL_INIT;
    AUTO_FREE char *tag = xasprintf("salt/minion/%s/returner/%s/failed", ctx_id(ctx), name);
    json_auto_t *data = json_pack("{s:s, s:s, s:s, s:O?, s:s}", "returner", name, "id", ctx_id(ctx), "jid",
                                  value_str(ret, "jid", ""), "fun", value_get(ret, "fun"), "error", text);

    log_error("%s", text);
    if (ctx_fire(ctx, tag, data, &unsent) < 0)
        log_debug("no event tells that the returner %s failed: %s", name, fail_text(&unsent));
}

void
returners_call(call_ctx_t *ctx, const char *names, const json_t *job, const json_t *ret)
{
    json_auto_t *called = json_object(), *args = json_array();
    char **list = str_split(names, ",", true);

    /* A returner gets the return with the members that Salt's minion adds. */
    static const char *const more[] = { "user", "ret_config", "ret_kwargs" };
    json_t *whole = json_copy((json_t *) ret);
    json_object_set_new(whole, "id", json_string(ctx_id(ctx)));
    for (size_t i = 0; i < NELEMS(more); i++)
        if (value_get(job, more[i]) != NULL)
            json_object_set(whole, more[i], value_get(job, more[i]));
    json_array_append_new(args, whole);
    for (size_t i = 0; list[i] != NULL; i++) {
        const char *name = str_trim(list[i]);
        if (json_object_get(called, name) != NULL)
            continue;
        json_object_set_new(called, name, json_true());
        returners_one(ctx, name, ret, args);
    }
    strv_free(list);
}
