/* test_jobs.c - every cell of the verdict table, the counters, the followers, and what is swept. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/jobs/jobs.h"
#include "unit/unit.h"

typedef struct fixture {
    jobs_t *jobs;
    int verdicts, dones;
} fixture_t;

static void
on_verdict(void *cookie, job_t *job, job_target_t *target)
{
    fixture_t *f = cookie;

    f->verdicts++;
}

static void
on_done(void *cookie, job_t *job)
{
    fixture_t *f = cookie;

    f->dones++;
}

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    f->jobs = jobs_new(on_verdict, on_done, f);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    jobs_destroy(&f->jobs);
    free(f);
    return 0;
}

static job_t *
new_job(fixture_t *f, const char *jid, size_t n)
{
    uint32_t slots[16];
    json_t *info = json_pack("{s:s}", "jid", jid);

    for (size_t i = 0; i < n; i++)
        slots[i] = (uint32_t) (10 * i + 3);
    return jobs_add(f->jobs, jid, &info, slots, n);
}

#define W VERDICT_WAITING
#define S VERDICT_SENT
#define D VERDICT_DELIVERED
#define U VERDICT_RUNNING
#define Q VERDICT_QUEUED
#define R VERDICT_RETURNED
#define C VERDICT_NOT_CONNECTED
#define N VERDICT_NOT_DELIVERED
#define L VERDICT_LOST
#define E VERDICT_ELSEWHERE
#define X VERDICT_NOT_BEGUN

/* How a verdict is reached from the first one. */
static const verdict_t way[VERDICTS][4] = {
    [S] = { S },    [D] = { S, D }, [U] = { S, U }, [R] = { R }, [C] = { C },
    [N] = { S, N }, [L] = { S, L }, [E] = { S, E }, [Q] = { Q }, [X] = { Q, X }
};

static void
reach(fixture_t *f, job_t *job, verdict_t v)
{
    for (size_t i = 0; i < NELEMS(way[v]) && way[v][i] != W; i++)
        assert_true(jobs_move(f->jobs, job, &job->targets[0], way[v][i], 0));
    assert_int_equal(job->targets[0].verdict, v);
}

static void
test_every_move(void **state)
{
    /* Rows: from; columns: to; both in the order of the enum. */
    static const char *const legal[VERDICTS] = {
        /*       WSDUQRCNLEX */
        [W] = "01011110110", /* not seen since the master started */
        [S] = "00110111110", [D] = "01010101110", [U] = "00000100110",
        [Q] = "10010110011", /* a batch: its turn has not come */
        [R] = "00000000000", [C] = "00010100010", [N] = "00110100010",
        [L] = "00000100010", [E] = "00000100000", [X] = "00010100010",
    };
    fixture_t *f = *state;
    char jid[8];

    for (verdict_t from = 0; from < VERDICTS; from++) {
        for (verdict_t to = 0; to < VERDICTS; to++) {
            (void) snprintf(jid, sizeof(jid), "%d-%d", from, to);
            job_t *job = new_job(f, jid, 1);
            reach(f, job, from);
            f->verdicts = f->dones = 0;
            bool moved = jobs_move(f->jobs, job, &job->targets[0], to, 7);
            if (moved != (legal[from][to] == '1'))
                fail_msg("%s -> %s: %s", verdict_name(from), verdict_name(to), moved ? "moved" : "refused");
            assert_int_equal(job->targets[0].verdict, moved ? to : from);
            /* A return is told by its own message, everything else by the callback. */
            assert_int_equal(f->verdicts, moved && to != R);
            assert_int_equal(f->dones, moved && verdict_final(to) && !verdict_final(from));
            verdict_t now = job->targets[0].verdict;
            assert_int_equal(job->n_open, verdict_final(now) ? 0 : 1);
            assert_int_equal(job->n_unheard, now == W || now == S);
        }
    }
}

static void
test_names(void **state)
{
    static const struct {
        verdict_t v;
        const char *name;
        bool final;
    } rows[] = { { W, "waiting", false },      { S, "sent", false },    { D, "delivered", false },
                 { U, "running", false },      { R, "returned", true }, { C, "not_connected", true },
                 { N, "not_delivered", true }, { L, "lost", true },     { E, "elsewhere", true },
                 { Q, "queued", false },       { X, "not_begun", true } };

    assert_int_equal(NELEMS(rows), VERDICTS);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        assert_string_equal(verdict_name(rows[i].v), rows[i].name);
        assert_int_equal(verdict_final(rows[i].v), rows[i].final);
    }
}

static void
test_many_targets(void **state)
{
    fixture_t *f = *state;
    job_t *job = new_job(f, "many", 3);

    assert_ptr_equal(job_find(job, 13), &job->targets[1]);
    assert_null(job_find(job, 14));
    assert_int_equal(job->n_open, 3);
    assert_int_equal(job->n_unheard, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(jobs_move(f->jobs, job, &job->targets[i], S, 0));
    assert_int_equal(job->n_unheard, 3);
    assert_true(jobs_move(f->jobs, job, &job->targets[0], U, 4711));
    assert_int_equal(job->targets[0].pid, 4711);
    assert_int_equal(job->n_unheard, 2);
    assert_true(jobs_move(f->jobs, job, &job->targets[0], R, 0));
    assert_true(jobs_move(f->jobs, job, &job->targets[1], N, 0));
    assert_int_equal(f->dones, 0);
    assert_true(jobs_move(f->jobs, job, &job->targets[2], R, 0));
    assert_int_equal(f->dones, 1);
    /* Given up too early: it opens the job again, and its end is told once more to who follows then. */
    assert_true(jobs_move(f->jobs, job, &job->targets[1], U, 5));
    assert_int_equal(job->n_open, 1);
    assert_int_equal(jobs_at(f->jobs, U), 1);
    assert_int_equal(jobs_at(f->jobs, R), 2);
    assert_true(jobs_move(f->jobs, job, &job->targets[1], R, 0));
    assert_int_equal(f->dones, 2);

    /* Counted are moves, not places; those of an earlier run are not counted again. */
    assert_int_equal(jobs_moved(f->jobs, S), 3);
    assert_int_equal(jobs_moved(f->jobs, R), 3);
    assert_int_equal(jobs_moved(f->jobs, N), 1);
    job_t *old = new_job(f, "old", 1);
    old->recalled = true;
    assert_true(jobs_move(f->jobs, old, &old->targets[0], R, 0));
    assert_int_equal(jobs_moved(f->jobs, R), 3);
    assert_int_equal(jobs_at(f->jobs, R), 4);
}

static void
test_add(void **state)
{
    fixture_t *f = *state;
    job_t *job = new_job(f, "one", 2), *seen = NULL;

    assert_ptr_equal(jobs_get(f->jobs, "one"), job);
    assert_null(jobs_get(f->jobs, "two"));
    assert_null(new_job(f, "one", 1));
    assert_int_equal(jobs_len(f->jobs), 1);
    assert_int_equal(job->n_targets, 2);
    size_t i = 0;
    assert_true(jobs_next(f->jobs, &i, &seen));
    assert_ptr_equal(seen, job);
    assert_false(jobs_next(f->jobs, &i, &seen));
    assert_non_null(new_job(f, "none", 0));
}

static void
test_followers(void **state)
{
    fixture_t *f = *state;
    job_t *a = new_job(f, "a", 1), *b = new_job(f, "b", 1);
    int one, two;

    assert_true(job_follow(a, &one));
    assert_false(job_follow(a, &one));
    assert_true(job_follow(a, &two));
    assert_true(job_follow(b, &one));
    jobs_unfollow(f->jobs, &one);
    assert_int_equal(a->n_followers, 1);
    assert_ptr_equal(a->followers[0], &two);
    assert_int_equal(b->n_followers, 0);
    jobs_unfollow(f->jobs, &one);
    assert_true(job_follow(a, &one));
    assert_int_equal(a->n_followers, 2);
}

static bool
is_alive(void *cookie, const job_t *job)
{
    return str_eq(job->jid, "alive");
}

static void
test_sweep(void **state)
{
    fixture_t *f = *state;
    int64_t now = clock_mono_ms();
    job_t *done = new_job(f, "done", 1), *quiet = new_job(f, "quiet", 1), *alive = new_job(f, "alive", 1);

    (void) new_job(f, "busy", 1);
    assert_true(jobs_move(f->jobs, done, &done->targets[0], R, 0));
    quiet->idle_ms = alive->idle_ms = now - 5000;
    f->dones = 0;
    jobs_sweep(f->jobs, now, 4000, is_alive);
    assert_null(jobs_get(f->jobs, "done"));
    assert_null(jobs_get(f->jobs, "quiet"));
    assert_non_null(jobs_get(f->jobs, "busy"));
    assert_non_null(jobs_get(f->jobs, "alive"));
    assert_int_equal(jobs_len(f->jobs), 2);
    assert_int_equal(f->dones, 1); /* that of the one that is given up */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_every_move), cmocka_unit_test(test_names), TEST(test_many_targets), TEST(test_add),
          TEST(test_followers), TEST(test_sweep))
