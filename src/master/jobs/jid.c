/* jid.c - see jid.h. The clock names jobs, and it may be set back to a time whose jids are taken: those of
 * restored jobs, of the store, of jobs that minions made themselves. So a jid is drawn until it is free. */
#include "master/jobs/jid.h"

#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

#define SKIP_MAX_US 1000000

/* The table first, as it costs least. */
static int
jid_taken(front_t *self, const char *jid, fail_t *err)
{
    return jobs_get(self->jobs, jid) != NULL ? 1 : store_has_job(self->reader, jid, err);
}

/* Each jid that is taken doubles the way to the next, so that many in a row cost few questions to the store.
 * A store that can't be read does not keep a job from starting: the table decides then, and the row of a job
 * that another has is refused as a double. */
void
jid_fresh(front_t *self, char out[CLOCK_STAMP_LEN])
{
    fail_auto_t err = FAIL_INIT;
    int taken = 1;
    for (int64_t skip = 1; taken > 0; skip *= skip < SKIP_MAX_US ? 2 : 1) {
        clock_jid(out);
        taken = jid_taken(self, out, &err);
        if (taken > 0)
            clock_jid_skip(skip);
    }
    if (taken < 0)
        log_warning("whether the jid %s is free can't be read, it is taken for free: %s", out,
                    fail_text(&err));
}

int64_t
jid_ahead_us(const char *jid)
{
    int64_t us;
    return clock_jid_us(jid, &us) ? us - clock_wall_us() : 0;
}

bool
jid_of(front_t *self, const json_t *request, char out[CLOCK_STAMP_LEN], fail_t *err)
{
    const json_t *given = value_get(request, "jid");
    const char *jid = given != NULL && !json_is_null(given) ? value_str(request, "jid", "?") : "";
    if (*jid == '\0') {
        jid_fresh(self, out);
        return true;
    }
    if (!clock_is_jid(jid)) {
        (void) fail_set(err, -EINVAL, "'%s' is not a jid", jid);
        return false;
    }
    if (jid_ahead_us(jid) > 0) {
        (void) fail_set(err, -EINVAL, "the jid %s is ahead of the clock", jid);
        return false;
    }
    int taken = jid_taken(self, jid, err);
    if (taken > 0)
        (void) fail_set(err, -EEXIST, "the jid %s is in use", jid);
    (void) str_copy(out, CLOCK_STAMP_LEN, jid);
    return taken == 0;
}
