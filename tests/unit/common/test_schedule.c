/* test_schedule.c - moments, cron and the engine, over clocks that are set and summer time. */
#include "unit/unit.h"

#include <stdlib.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/schedule/cron.h"
#include "common/schedule/moment.h"
#include "common/schedule/schedule.h"
#include "salt/value.h"

#define S 1000000LL

/* Central Europe's rules, without a database of zones. */
static int
zone(void **state)
{
    (void) setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    return 0;
}

static int64_t
at(const char *text)
{
    int64_t us = 0;
    assert_true(moment_format(text, "%Y-%m-%d %H:%M:%S", &us));
    return us;
}

static void
same(int64_t us, const char *text)
{
    AUTO_FREE char *got = us > 0 ? clock_strftime("%Y-%m-%d %H:%M:%S %Z", us) : xstrdup("never");
    assert_string_equal(got, text);
}

/* ---- moments ---------------------------------------------------------------------------------- */

static void
test_moments(void **state)
{
    /* 2026-11-20 is a Friday. */
    static const struct {
        const char *text, *next;
    } rows[] = {
        { "5:00pm", "2026-11-20 17:00:00 CET" },
        { "5pm", "2026-11-20 17:00:00 CET" },
        { "5:00 PM", "2026-11-20 17:00:00 CET" },
        { "12am", "2026-11-21 00:00:00 CET" },
        { "12:30pm", "2026-11-20 12:30:00 CET" },
        { "09:00", "2026-11-21 09:00:00 CET" },
        { "12:00:30", "2026-11-20 12:00:30 CET" },
        { "Monday 5:00pm", "2026-11-23 17:00:00 CET" },
        { "fri 11:00", "2026-11-27 11:00:00 CET" },
        { "Friday 1:00pm", "2026-11-20 13:00:00 CET" },
        { "13th 13:13", "2026-12-13 13:13:00 CET" },
        { "31st 1am", "2026-12-31 01:00:00 CET" },
        { "11/25/2026 4:00pm", "2026-11-25 16:00:00 CET" },
        { "25/11/2026 16:00", "2026-11-25 16:00:00 CET" },
        { "11/25 4:00pm", "2026-11-25 16:00:00 CET" },
        { "2026-11-25T16:00:00", "2026-11-25 16:00:00 CET" },
        { "20261125 16:00", "2026-11-25 16:00:00 CET" },
        { "25 December 8am", "2026-12-25 08:00:00 CET" },
        { "Dec 25, 2026 at 8:00am", "2026-12-25 08:00:00 CET" },
        { "Nov 13 2017 4:00pm", "never" },
        { "February 29 12:00", "2028-02-29 12:00:00 CET" },
        { "July 1 12:00", "2027-07-01 12:00:00 CEST" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        moment_t m;
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(moment_parse(rows[i].text, &m, &err), 0);
        same(moment_next(&m, at("2026-11-20 12:00:00")), rows[i].next);
    }
}

static void
test_no_moments(void **state)
{
    static const char *const texts[] = { "",           "tea time",       "25:00",
                                         "5:60",       "13pm",           "0am",
                                         "2026-13-01", "2026-02-29",     "February 30",
                                         "5pm 6pm",    "Monday Tuesday", "2026",
                                         "November",   "5:00pm UTC",     "2026-11-20T10:00:00Z",
                                         "1/2/3/4",    "99th",           "5:00:00:00" };
    for (size_t i = 0; i < NELEMS(texts); i++) {
        moment_t m;
        fail_auto_t err = FAIL_INIT;
        if (moment_parse(texts[i], &m, &err) == 0)
            fail_msg("'%s' was read", texts[i]);
        assert_non_null(strstr(fail_text(&err), "in local time"));
    }
    /* More seconds than microseconds can say. */
    int64_t us;
    assert_true(moment_format("253300000000", "%s", &us));
    assert_false(moment_format("60000000000000000", "%s", &us));
}

/* 2:30 does not exist on 2026-03-29, and comes twice on 2026-10-25. */
static void
test_summer_time(void **state)
{
    moment_t m;
    assert_int_equal(moment_parse("2:30", &m, NULL), 0);
    int64_t first = moment_next(&m, at("2026-03-28 12:00:00"));
    same(first, "2026-03-29 03:30:00 CEST");
    same(moment_next(&m, first + 1), "2026-03-30 02:30:00 CEST");
    first = moment_next(&m, at("2026-10-24 12:00:00"));
    same(first, "2026-10-25 02:30:00 CEST");
    same(moment_next(&m, first + 1), "2026-10-26 02:30:00 CET");
}

/* ---- cron ------------------------------------------------------------------------------------- */

static void
test_cron(void **state)
{
    static const struct {
        const char *text, *next;
    } rows[] = {
        { "*/15 * * * *", "2026-11-20 12:15:00 CET" },
        { "0 12 * * *", "2026-11-21 12:00:00 CET" },
        { "5,10-12 13 * * *", "2026-11-20 13:05:00 CET" },
        { "0 0 * * 0", "2026-11-22 00:00:00 CET" },
        { "0 0 * * 7", "2026-11-22 00:00:00 CET" },
        { "0 9 * * mon-fri", "2026-11-23 09:00:00 CET" },
        { "0 0 13 * fri", "2026-11-27 00:00:00 CET" }, /* either */
        { "0 0 L * *", "2026-11-30 00:00:00 CET" },
        { "0 0 29 2 *", "2028-02-29 00:00:00 CET" },
        { "0 0 30 2 *", "never" },
        { "@hourly", "2026-11-20 13:00:00 CET" },
        { "@yearly", "2027-01-01 00:00:00 CET" },
        { "10/20 * * jan,DEC *", "2026-12-01 00:10:00 CET" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        cron_t c;
        fail_auto_t err = FAIL_INIT;
        if (cron_parse(rows[i].text, &c, &err) < 0)
            fail_msg("%s", fail_text(&err));
        same(cron_next(&c, at("2026-11-20 12:00:00")), rows[i].next);
    }
}

static void
test_no_cron(void **state)
{
    static const char *const texts[] = {
        "",           "* * * *",   "* * * * * *", "60 * * * *",  "* 24 * * *",   "* * 0 * *",
        "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *", "1,,2 * * * *", ", * * * *",
        "@reboot",    "x * * * *", "* * * * 5#2", "* * * * mons"
    };
    for (size_t i = 0; i < NELEMS(texts); i++) {
        cron_t c;
        fail_auto_t err = FAIL_INIT;
        if (cron_parse(texts[i], &c, &err) == 0)
            fail_msg("'%s' was read", texts[i]);
        assert_non_null(strstr(fail_text(&err), "cron '"));
    }
}

static void
test_cron_summer_time(void **state)
{
    cron_t c;
    assert_int_equal(cron_parse("30 2 * * *", &c, NULL), 0);
    same(cron_next(&c, at("2026-03-28 12:00:00")), "2026-03-29 03:30:00 CEST");
    int64_t first = cron_next(&c, at("2026-10-24 12:00:00"));
    same(first, "2026-10-25 02:30:00 CEST");
    same(cron_next(&c, first), "2026-10-26 02:30:00 CET");
    /* Of any hour: 25 times on that day. */
    assert_int_equal(cron_parse("0 * * * *", &c, NULL), 0);
    int n = 0;
    for (int64_t t = cron_next(&c, at("2026-10-24 23:30:00")); t < at("2026-10-26 00:00:00");
         t = cron_next(&c, t))
        n++;
    assert_int_equal(n, 25);
}

/* ---- the engine ------------------------------------------------------------------------------- */

typedef struct world {
    schedule_t *schedule;
    schedule_now_t now;
    size_t running;
    char told[512];
} world_t;

static uint32_t
least(void *cookie, uint32_t n)
{
    return 0;
}

static size_t
running(void *cookie, const char *name)
{
    return ((world_t *) cookie)->running;
}

static void
tell(void *cookie, int rc, const char *why)
{
    world_t *w = cookie;
    (void) snprintf(w->told, sizeof(w->told), "%s", why);
}

static void
begin(world_t *w, const char *json)
{
    json_auto_t *conf = json_loads(json, 0, NULL);
    assert_non_null(conf);
    *w = (world_t){ .now = { at("2026-11-20 12:00:00"), 5000 } };
    const schedule_env_t env = { least, running, tell, w };
    w->schedule = schedule_new(&env);
    schedule_configure(w->schedule, conf, NULL, NULL, w->now);
}

#define WAIT(w) schedule_wait((w)->schedule, (w)->now)

/* Time passes; the functions that are due then, "a b". As a minion does it: it asks for them when the wait
 * is over. */
static const char *
after(world_t *w, int64_t ms)
{
    static char out[256];
    w->now.mono_ms += ms;
    w->now.wall_us += ms * 1000;
    json_auto_t *due = WAIT(w) == 0 ? schedule_due(w->schedule, w->now) : NULL;
    size_t i;
    json_t *one;
    out[0] = '\0';
    json_array_foreach (due, i, one)
        (void) snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s%s", i ? " " : "",
                        value_str(one, "fun", "?"));
    return out;
}

static void
test_every(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"seconds\": 10}, \"b\": {\"fun\": \"g\", \"minutes\": \"1\", "
              "\"run_on_start\": true}}");
    assert_int_equal(WAIT(&w), 0);
    assert_string_equal(after(&w, 0), "g");
    assert_int_equal(WAIT(&w), 10000);
    assert_string_equal(after(&w, 9999), "");
    assert_string_equal(after(&w, 301), "f");
    assert_int_equal(WAIT(&w), 9700); /* no drift */
    assert_string_equal(after(&w, 35000), "f");
    assert_int_equal(WAIT(&w), 10000); /* what was missed stays missed */
    assert_string_equal(after(&w, 30000), "f g");
    schedule_destroy(&w.schedule);
}

/* Whatever is done to the wall clock. */
static void
test_every_and_clock(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"hours\": 1}}");
    w.now.wall_us += 10 * 365 * 86400 * S;
    assert_string_equal(after(&w, 1000), "");
    assert_int_equal(WAIT(&w), 3599000);
    w.now.wall_us -= 20 * 365 * 86400 * S;
    assert_string_equal(after(&w, 1000), "");
    assert_string_equal(after(&w, 3598000), "f");
    schedule_destroy(&w.schedule);
}

static void
test_when(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"when\": [\"1:00pm\", \"12:30\"]}}");
    assert_int_equal(WAIT(&w), 1800000);
    assert_string_equal(after(&w, 1800000), "f");
    assert_int_equal(WAIT(&w), 1800000);
    assert_string_equal(after(&w, 1830000), "f"); /* a little late */
    assert_int_equal(WAIT(&w), (24 * 3600 - 1830) * 1000);
    /* An hour late: missed. */
    assert_string_equal(after(&w, 24 * 3600 * 1000), "");
    assert_non_null(strstr(w.told, "missed by"));
    schedule_destroy(&w.schedule);
}

static void
test_when_and_clock(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"when\": \"12:30\"}}");
    assert_string_equal(after(&w, 1800000), "f");
    /* Back by a minute: 12:30 comes again, the job does not. */
    w.now.wall_us -= 60 * S;
    assert_string_equal(after(&w, 60000), "");
    /* Ten years forward and back again: as if nothing had been. */
    w.now.wall_us += 3650 * 86400 * S;
    assert_string_equal(after(&w, 1000), "");
    w.now.wall_us -= 3650 * 86400 * S;
    (void) after(&w, 1000);
    assert_in_range(WAIT(&w), 86300000, 86400000);
    schedule_destroy(&w.schedule);
}

static void
test_cron_late(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"cron\": \"*/15 * * * *\"}}");
    assert_int_equal(WAIT(&w), 900000);
    assert_string_equal(after(&w, 7200000), "f"); /* eight were missed: once */
    assert_int_equal(WAIT(&w), 900000);
    schedule_destroy(&w.schedule);
}

static void
test_once(void **state)
{
    world_t w;
    begin(&w,
          "{\"a\": {\"function\": \"f\", \"once\": \"2026-11-20T12:00:10\"}, \"b\": {\"function\": \"g\", "
          "\"once\": "
          "\"2026-11-20 12:00\", \"once_fmt\": \"%Y-%m-%d %H:%M\"}, \"c\": {\"function\": \"h\", \"once\": "
          "\"2020-11-20T12:00:10\"}}");
    assert_string_equal(after(&w, 0), "g");
    assert_string_equal(after(&w, 10000), "f");
    assert_int_equal(WAIT(&w), -1);
    schedule_destroy(&w.schedule);
}

static void
test_splay(void **state)
{
    world_t w;
    begin(&w, "{\"splay\": 7, \"a\": {\"function\": \"f\", \"seconds\": 10, \"splay\": {\"start\": 3, "
              "\"end\": 5}}, \"b\": "
              "{\"function\": \"g\", \"when\": \"12:00:10\"}}");
    assert_int_equal(WAIT(&w), 11000);
    assert_string_equal(after(&w, 11000), "g");
    assert_string_equal(after(&w, 2000), "f");
    assert_int_equal(WAIT(&w), 10000);
    schedule_destroy(&w.schedule);
}

static void
test_skips(void **state)
{
    static const struct {
        const char *more, *fun, *reason;
    } rows[] = {
        { "\"enabled\": false", "", "disabled" },
        { "\"range\": {\"start\": \"8:00am\", \"end\": \"5:00pm\"}", "f", NULL },
        { "\"range\": {\"start\": \"1:00pm\", \"end\": \"5:00pm\"}", "", "not_in_range" },
        { "\"range\": {\"start\": \"8:00am\", \"end\": \"5:00pm\", \"invert\": true}", "", "in_skip_range" },
        { "\"skip_during_range\": {\"start\": \"8:00am\", \"end\": \"5:00pm\"}", "", "in_skip_range" },
        { "\"until\": \"11/20/2026 11:59am\"", "", "until_passed" },
        { "\"until\": \"11/20/2027\"", "f", NULL },
        { "\"after\": \"11/20/2027\"", "", "after_not_passed" },
        { "\"skip_explicit\": [{\"time\": \"2026-11-20T12:00:10\", \"time_fmt\": \"%Y-%m-%dT%H:%M:%S\"}]", "",
          "skip_explicit" },
        { "\"dry_run\": true", "", NULL },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        world_t w;
        AUTO_FREE char *conf = xasprintf("{\"a\": {\"function\": \"f\", \"seconds\": 10, %s}}", rows[i].more);
        begin(&w, conf);
        assert_string_equal(after(&w, 10000), rows[i].fun);
        json_auto_t *status = schedule_status(w.schedule, "a", SCHEDULE_FORMAT, w.now);
        assert_string_equal(value_str(status, "_skip_reason", ""), rows[i].reason ? rows[i].reason : "");
        assert_string_equal(value_str(status, "_next_fire_time", ""), "2026-11-20T12:00:20");
        schedule_destroy(&w.schedule);
    }
}

static void
test_instead(void **state)
{
    world_t w;
    begin(&w, "{\"skip_function\": \"instead\", \"a\": {\"function\": \"f\", \"seconds\": 10, "
              "\"skip_during_range\": "
              "{\"start\": \"8:00am\", \"end\": \"12:00:15\"}}}");
    assert_string_equal(after(&w, 10000), "instead");
    assert_string_equal(after(&w, 10000), "f");
    schedule_destroy(&w.schedule);
    begin(&w, "{\"a\": {\"function\": \"f\", \"hours\": 1, \"run_after_skip_range\": true, "
              "\"skip_during_range\": {\"start\": "
              "\"8:00am\", \"end\": \"1:30pm\"}}}");
    assert_string_equal(after(&w, 3600000), "");
    assert_int_equal(WAIT(&w), 1801000);
    assert_string_equal(after(&w, 1801000), "f");
    schedule_destroy(&w.schedule);
}

static void
test_maxrunning(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"seconds\": 10}, \"b\": {\"function\": \"g\", \"seconds\": 10, "
              "\"maxrunning\": "
              "2}, \"c\": {\"function\": \"h\", \"seconds\": 10, \"jid_include\": false}}");
    w.running = 1;
    assert_string_equal(after(&w, 10000), "g h");
    json_auto_t *status = schedule_status(w.schedule, "a", SCHEDULE_FORMAT, w.now);
    assert_string_equal(value_str(status, "_skip_reason", ""), "maxrunning");
    assert_null(schedule_run(w.schedule, "a", w.now));
    json_auto_t *row = schedule_run(w.schedule, "b", w.now);
    assert_string_equal(value_str(row, "name", ""), "b");
    schedule_destroy(&w.schedule);
}

/* A job that is what it was keeps its times; another one of the same name begins anew. */
static void
test_configure_again(void **state)
{
    world_t w;
    begin(&w,
          "{\"a\": {\"function\": \"f\", \"seconds\": 10}, \"b\": {\"function\": \"g\", \"seconds\": 10}}");
    assert_string_equal(after(&w, 4000), "");
    json_auto_t *conf = json_loads("{\"a\": {\"function\": \"f\", \"seconds\": 10}}", 0, NULL);
    json_auto_t *pillar = json_loads(
        "{\"a\": {\"function\": \"x\", \"seconds\": 1}, \"b\": {\"function\": \"g\", "
        "\"seconds\": 11}, \"t\": {\"function\": \"h\", \"when\": \"tea time\"}}",
        0, NULL);
    json_auto_t *whens = json_loads("{\"tea time\": \"12:00:20\"}", 0, NULL);
    schedule_configure(w.schedule, conf, pillar, whens, w.now);
    assert_string_equal(w.told, "");
    assert_int_equal(WAIT(&w), 6000); /* names for moments are nothing to a job that names none */
    assert_string_equal(after(&w, 10000), "f");
    schedule_configure(w.schedule, conf, pillar, whens, w.now);
    assert_string_equal(after(&w, 1000), "g");
    assert_string_equal(after(&w, 5000), "f h");
    schedule_configure(w.schedule, NULL, NULL, NULL, w.now);
    assert_int_equal(WAIT(&w), -1);
    schedule_destroy(&w.schedule);
}

static void
configure(world_t *w, const char *json)
{
    json_auto_t *conf = json_loads(json, 0, NULL);
    assert_non_null(conf);
    schedule_configure(w->schedule, conf, NULL, NULL, w->now);
}

/* What is changed about a job beside its times does not begin it anew. */
static void
test_configure_beside(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"hours\": 1, \"run_on_start\": true}}");
    assert_string_equal(after(&w, 0), "f");
    assert_string_equal(after(&w, 1800 * 1000), "");
    configure(&w, "{\"a\": {\"function\": \"f\", \"hours\": 1, \"run_on_start\": true, \"skip_explicit\": "
                  "[{\"time\": \"2027-01-01T00:00:00\", \"time_fmt\": \"%Y-%m-%dT%H:%M:%S\"}]}}");
    assert_int_equal(WAIT(&w), 1800 * 1000);
    configure(&w, "{\"a\": {\"function\": \"f\", \"hours\": 1, \"run_on_start\": true, \"enabled\": false}}");
    configure(&w, "{\"a\": {\"function\": \"g\", \"hours\": 1, \"run_on_start\": true}}");
    json_auto_t *shown = schedule_status(w.schedule, "a", "%H:%M:%S", w.now);
    assert_string_equal(value_str(shown, "_last_run", "none"), "12:00:00");
    assert_string_equal(after(&w, 1800 * 1000), "g");
    configure(&w, "{\"a\": {\"function\": \"g\", \"hours\": 2, \"run_on_start\": true}}");
    assert_string_equal(after(&w, 0), "g");
    schedule_destroy(&w.schedule);
}

static void
test_wrong(void **state)
{
    static const struct {
        const char *item, *why;
    } rows[] = {
        { "1", "not a mapping" },
        { "{}", "names no function" },
        { "{\"function\": \"f\", \"seconds\": 0}", "one second" },
        { "{\"function\": \"f\", \"seconds\": -1}", "seconds is a whole number" },
        { "{\"function\": \"f\", \"seconds\": \"x\"}", "seconds is a whole number" },
        { "{\"function\": \"f\", \"seconds\": 1, \"when\": \"5pm\"}", "it has two of" },
        { "{\"function\": \"f\", \"cron\": \"* * * * *\", \"when\": \"5pm\"}", "it has two of" },
        { "{\"function\": \"f\", \"when\": 5}", "when is a text" },
        { "{\"function\": \"f\", \"when\": []}", "when is a text" },
        { "{\"function\": \"f\", \"when\": \"tea time\"}", "'tea time' is not a date" },
        { "{\"function\": \"f\", \"once\": \"soon\"}", "could not be parsed: soon, %Y" },
        { "{\"function\": \"f\", \"cron\": \"x * * * *\"}", "'x' is not a valid minute" },
        { "{\"function\": \"f\", \"seconds\": 1, \"splay\": {\"start\": 3, \"end\": 2}}",
          "end must be larger" },
        { "{\"function\": \"f\", \"seconds\": 1, \"range\": \"5pm\"}", "range is a mapping" },
        { "{\"function\": \"f\", \"seconds\": 1, \"range\": {\"start\": \"5pm\", \"end\": \"4pm\"}}",
          "end must be larger" },
        { "{\"function\": \"f\", \"seconds\": 1, \"args\": 1}", "args is a list" },
        { "{\"function\": \"f\", \"seconds\": 1, \"kwargs\": []}", "kwargs is a mapping" },
        { "{\"function\": \"f\", \"seconds\": 1, \"skip_explicit\": [{\"time\": \"x\"}]}",
          "'x' does not fit" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        world_t w;
        AUTO_FREE char *conf = xasprintf("{\"a\": %s}", rows[i].item);
        begin(&w, conf);
        if (!strstr(w.told, rows[i].why))
            fail_msg("%s: %s", rows[i].item, w.told);
        assert_int_equal(WAIT(&w), -1);
        schedule_destroy(&w.schedule);
    }
}

static void
test_unknown_keys(void **state)
{
    world_t w;
    begin(&w, "{\"a\": {\"function\": \"f\", \"seconds\": 10, \"returner\": \"x\", \"evry\": 1, "
              "\"_seconds\": 10}}");
    assert_string_equal(w.told, "schedule: job a: without effect here: evry");
    assert_string_equal(after(&w, 10000), "f");
    schedule_destroy(&w.schedule);
}

#define IN_ZONE(test) cmocka_unit_test_setup(test, zone)

UNIT_MAIN(IN_ZONE(test_moments), IN_ZONE(test_no_moments), IN_ZONE(test_summer_time), IN_ZONE(test_cron),
          IN_ZONE(test_no_cron), IN_ZONE(test_cron_summer_time), IN_ZONE(test_every),
          IN_ZONE(test_every_and_clock), IN_ZONE(test_when), IN_ZONE(test_when_and_clock),
          IN_ZONE(test_cron_late), IN_ZONE(test_once), IN_ZONE(test_splay), IN_ZONE(test_skips),
          IN_ZONE(test_instead), IN_ZONE(test_maxrunning), IN_ZONE(test_configure_again),
          IN_ZONE(test_configure_beside), IN_ZONE(test_wrong), IN_ZONE(test_unknown_keys))
