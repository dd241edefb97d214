/* jobret.c - see jobret.h. The limits are the wire's: bytes, nesting (wire_encode), LIMIT_RET_VALUES. */
#include "uplink/jobret.h"

#include "common/base/jsonread.h"
#include "common/data/args.h"
#include "common/net/wire.h"
#include "salt/log.h"
#include "salt/value.h"

/* Copies the fields of the job that its return repeats. */
static void
jobret_mark(json_t *ret, const json_t *from)
{
    static const char *const marks[] = { "metadata", "schedule" };
    for (size_t i = 0; i < NELEMS(marks); i++)
        if (value_get(from, marks[i]) != NULL)
            json_object_set(ret, marks[i], value_get(from, marks[i]));
}

json_t *
jobret_of(const json_t *job, const json_t *result)
{
    json_t *ret = json_pack("{s:O, s:O, s:o, s:O, s:O*, s:O}", "jid", value_get(job, "jid"), "fun",
                            value_get(job, "fun"), "fun_args", args_shown(value_get(job, "arg")), "return",
                            value_get(result, "return"), "retcode", value_get(result, "retcode"), "success",
                            value_get(result, "success"));
    jobret_mark(ret, job);
    return ret;
}

json_t *
jobret_failed(const json_t *job, char *text)
{
    json_auto_t *result = json_pack("{s:s, s:i, s:b}", "return", text, "retcode", 1, "success", false);
    free(text);
    return jobret_of(job, result);
}

/* True when a message can hold the return and the master's parser accepts it. */
static bool
jobret_fits(const json_t *ret, fail_t *err)
{
    size_t len;
    AUTO_FREE char *text = wire_encode(MSG_ret, ret, &len, err);
    if (text != NULL && !json_few(text, len, LIMIT_RET_VALUES)) {
        (void) fail_set(err, -E2BIG, "it has more than %d values", LIMIT_RET_VALUES);
        return false;
    }
    return text != NULL;
}

json_t *
jobret_fitting(json_t **ret_p)
{
    json_auto_t *ret = STEAL(*ret_p);
    fail_auto_t err = FAIL_INIT;
    if (ret == NULL || jobret_fits(ret, &err))
        return json_incref(ret);
    log_error("job %s: %s", value_str(ret, "jid", ""), fail_text(&err));
    /* Drop the arguments first: the master knows what it asked. */
    json_object_set_new(ret, "fun_args", json_array());
    if (jobret_fits(ret, NULL))
        return json_incref(ret);
    json_t *why = value_fmt("The job has run, but its return can't be sent to the master: %s; have the "
                            "function return less (job_output_max), or write to a file instead",
                            fail_text(&err));
    (void) json_object_update_new(
        ret, json_pack("{s:o, s:i, s:b}", "return", why, "retcode", 1, "success", false));
    if (!jobret_fits(ret, NULL))
        json_object_del(ret, "metadata");
    return json_incref(ret);
}
