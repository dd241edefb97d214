/* fuzz_schedule.c - cron expressions and times from any text, and whole schedules from any JSON object: a
 * next time is later than the last one, and configuring and asking never fails.
 */
#include "common/schedule/cron.h"
#include "common/schedule/moment.h"
#include "common/schedule/schedule.h"
#include "salt/value.h"

#define NOW_US  INT64_C(1795514400000000)
#define ROUNDS  8
#define STEP_MS 61000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A reproducible random number. */
static uint32_t
roll(void *cookie, uint32_t n)
{
    uint32_t *state = cookie;

    *state = *state * 1664525U + 1013904223U;
    return n > 0 ? *state % n : 0;
}

static size_t
running(void *cookie, const char *name)
{
    return 0;
}

static void
tell(void *cookie, int rc, const char *why)
{
    salt_assert(rc <= 0 && why != NULL);
}

/* Checks that the next times of an expression only go forward. */
static void
check_texts(const char *text)
{
    fail_auto_t err = FAIL_INIT;
    cron_t cron;
    moment_t moment;
    int64_t at = NOW_US;

    if (cron_parse(text, &cron, &err) == 0) {
        for (int i = 0; i < ROUNDS && at != 0; i++) {
            int64_t next = cron_next(&cron, at);
            salt_assert(next == 0 || next > at);
            at = next;
        }
    } else {
        salt_assert(err.text != NULL);
    }
    if (moment_parse(text, &moment, NULL) == 0) {
        int64_t next = moment_next(&moment, NOW_US);
        salt_assert(next == 0 || next >= NOW_US);
        (void) moment_today(&moment, NOW_US);
    }
}

/* Runs a schedule for ROUNDS steps of simulated time. */
static void
check_schedule(const json_t *conf)
{
    uint32_t state = 1;
    const schedule_env_t env = { roll, running, tell, &state };
    schedule_now_t now = { NOW_US, 1000 };
    schedule_t *schedule = schedule_new(&env);
    const char *name;
    json_t *item;

    schedule_configure(schedule, conf, NULL, NULL, now);
    for (int i = 0; i < ROUNDS; i++) {
        json_auto_t *due = schedule_due(schedule, now);
        salt_assert(json_is_array(due) && schedule_wait(schedule, now) >= -1);
        now.wall_us += (int64_t) STEP_MS * 1000;
        now.mono_ms += STEP_MS;
    }
    json_object_foreach ((json_t *) conf, name, item) {
        AUTO_FREE char *why = schedule_check(name, item, NULL);
        salt_assert(why == NULL || *why != '\0');
        json_decref(schedule_status(schedule, name, SCHEDULE_FORMAT, now));
    }
    schedule_destroy(&schedule);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    json_auto_t *conf = value_parse(text, strlen(text), strlen(text), "schedule", NULL);

    if (json_is_object(conf))
        check_schedule(conf);
    else
        check_texts(text);
    return 0;
}
