/* test_publish.c - how long a job is under way, without sockets: minions are entries of the table, time is
 * a number. */
#include "unit/master/store_place.h"

#include "master/jobs/publish.h"
#include "unit/master/front_parts.h"

#define J1     "20261120100000000001"
#define J2     "20261120100000000002"
#define DAY_MS (24 * 3600 * 1000LL)

typedef struct fixture {
    place_t *place;
    front_t front;
    minion_t *m1;
    job_t *job; /* J1, which m1 runs */
} fixture_t;

static int
set_up(void **state)
{
    static const uint8_t key[KEY_BYTES] = { 1 };
    fixture_t *f = xcalloc(1, sizeof(*f));
    void *place = NULL;
    json_t *info = json_pack("{s:s}", "jid", J1);

    assert_int_equal(setup(&place), 0);
    f->place = place;
    f->front.store = f->place->store;
    f->front.reader = f->place->reader;
    f->front.peers = peers_new();
    START(&f->front, clockwatch);
    START(&f->front, grace);
    START(&f->front, publish);
    f->m1 = peers_know(f->front.peers, "m1", key, KEY_ACCEPTED);
    f->job = jobs_add(f->front.jobs, J1, &info, &f->m1->slot, 1);
    assert_true(jobs_move(f->front.jobs, f->job, f->job->targets, VERDICT_SENT, 0));
    assert_true(jobs_move(f->front.jobs, f->job, f->job->targets, VERDICT_RUNNING, 7));
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;
    void *place = f->place;

    END(&f->front, publish);
    END(&f->front, grace);
    END(&f->front, clockwatch);
    peers_destroy(&f->front.peers);
    free(f);
    return teardown(&place);
}

static void
connect_m1(fixture_t *f)
{
    f->m1->peer = peers_connect(f->front.peers, "1", 1, -1, f->m1->z85, "127.0.0.1");
    peers_bind(f->m1->peer, f->m1);
}

/* Days of silence, a tick in each. */
static void
pass_days(fixture_t *f, int days)
{
    int64_t now = clock_mono_ms();

    for (int day = 0; day <= days; day++)
        part_publish.tick(&f->front, now + day * DAY_MS + day);
}

static bool
is_ended(fixture_t *f)
{
    settle(f->place->store, store_put_meta(f->place->store, "k", "v")); /* behind what is queued */
    json_auto_t *jid = store_noted(f->place->reader, "ended", J1, "", NULL);
    assert_non_null(jid);
    return json_is_string(jid);
}

static void
test_runs_for_days(void **state)
{
    fixture_t *f = *state;

    connect_m1(f);
    pass_days(f, 3);
    assert_ptr_equal(jobs_get(f->front.jobs, J1), f->job);
    assert_true(jobs_move(f->front.jobs, f->job, f->job->targets, VERDICT_RETURNED, 0));
    pass_days(f, 0);
    assert_null(jobs_get(f->front.jobs, J1));
    assert_false(is_ended(f)); /* all have returned */
}

/* When it ended is kept, so that it is not too old at once: whether all have returned or not. */
static void
test_end_of_a_long_job(void **state)
{
    fixture_t *f = *state;
    int64_t from_us = clock_wall_us();

    f->job->start_us -= 2 * DAY_MS * 1000;
    assert_true(jobs_move(f->front.jobs, f->job, f->job->targets, VERDICT_RETURNED, 0));
    assert_false(is_ended(f)); /* without a time */
    json_auto_t *ends = store_notes(f->place->reader, NOTE_ENDED, J1, NULL);
    AUTO_FREE char *least = xasprintf(NOTE_TIME, from_us);
    assert_int_equal(json_object_size(ends), 1);
    assert_true(strcmp(json_object_iter_key(json_object_iter(ends)), least) >= 0);
}

/* Its minion is away, and somebody waits for it. */
static void
test_followed_for_days(void **state)
{
    fixture_t *f = *state;
    int follower;

    assert_true(job_follow(f->job, &follower));
    pass_days(f, 3);
    assert_ptr_equal(jobs_get(f->front.jobs, J1), f->job);
}

/* No master after this one takes it up again either. */
static void
test_given_up(void **state)
{
    fixture_t *f = *state;

    pass_days(f, 0);
    assert_non_null(jobs_get(f->front.jobs, J1));
    pass_days(f, 1);
    assert_null(jobs_get(f->front.jobs, J1));
    assert_true(is_ended(f));
}

/* A finished job that was asked for with so many bytes, in as many values as may be. */
static void
add_large(fixture_t *f, const char *jid, size_t bytes)
{
    json_t *job = json_pack("{s:s, s:s, s:[], s:[s]}", "jid", jid, "fun", "test.echo", "arg", "minions",
                            "m1");

    for (size_t i = 0; i < bytes / 2; i++)
        json_array_append_new(value_get(job, "arg"), json_integer(7));
    (void) store_add_job(f->place->store, &job);
    settle(f->place->store, add_return(f->place->store, jid, "m1", "1", 0));
}

/* Microseconds, of the quickest of a few times. */
#define QUICKEST(ret_us, expr)                                                                               \
    do {                                                                                                     \
        *(ret_us) = INT64_MAX;                                                                               \
        for (int i_ = 0; i_ < 5; i_++) {                                                                     \
            int64_t from_us = clock_wall_us();                                                               \
            json_auto_t *found = expr;                                                                       \
            int64_t us = clock_wall_us() - from_us;                                                          \
            assert_non_null(found);                                                                          \
            *(ret_us) = us < *(ret_us) ? us : *(ret_us);                                                     \
        }                                                                                                    \
    } while (0)

/* Whoever may follow a job may do so all the time: what was asked for in it is not read for that. */
static void
test_follow_a_large_job(void **state)
{
    fixture_t *f = *state;
    int64_t row_us, find_us;

    add_large(f, J2, LIMIT_LOCAL_USER_MSG);
    QUICKEST(&row_us, store_job(f->place->reader, J2, NULL));
    QUICKEST(&find_us, publish_find(&f->front, J2, true, NULL));
    assert_true(find_us < row_us / 4);
    assert_shown(publish_find(&f->front, J2, true, err), "[\"m1\"]");
    assert_shown(publish_find(&f->front, J1, true, err), "[\"m1\"]");
    assert_shown(publish_find(&f->front, "nosuch", true, err), "NULL: there is no job with the jid 'nosuch'");
}

/* One of a master before that nobody has returned yet. */
static void
add_unfinished(fixture_t *f, const char *jid, size_t bytes)
{
    AUTO_FREE char *text = xcalloc(1, bytes + 1);

    memset(text, 'x', bytes);
    json_t *job = json_pack("{s:s, s:s, s:[s], s:[s], s:i}", "jid", jid, "fun", "test.echo", "arg", text,
                            "minions", "m1", "start_us", 1);
    settle(f->place->store, store_add_job(f->place->store, &job));
}

/* Users have some taken up, root and the master's user any. */
static void
test_follow_many_unfinished_jobs(void **state)
{
    static const char *const jids[] = { J2, "20261120100000000003", "20261120100000000004" };
    fixture_t *f = *state;
    fail_auto_t why = FAIL_INIT;

    f->front.started_ms = clock_mono_ms();
    for (size_t i = 0; i < NELEMS(jids); i++)
        add_unfinished(f, jids[i], LIMIT_RESTORED_BYTES / NELEMS(jids));
    for (size_t i = 0; i + 1 < NELEMS(jids); i++) {
        assert_shown(publish_find(&f->front, jids[i], true, err), "[\"m1\"]");
        assert_non_null(jobs_get(f->front.jobs, jids[i]));
    }
    assert_null(publish_find(&f->front, jids[2], true, &why));
    assert_int_equal(why.code, -EAGAIN);
    assert_null(jobs_get(f->front.jobs, jids[2]));
    assert_shown(publish_find(&f->front, jids[2], false, err), "[\"m1\"]");
    assert_non_null(jobs_get(f->front.jobs, jids[2]));
    assert_shown(publish_find(&f->front, jids[2], true, err), "[\"m1\"]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_runs_for_days), TEST(test_end_of_a_long_job), TEST(test_followed_for_days),
          TEST(test_given_up), TEST(test_follow_a_large_job), TEST(test_follow_many_unfinished_jobs))
