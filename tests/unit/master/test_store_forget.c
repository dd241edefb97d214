/* test_store_forget.c - what is old goes, whole and for good; what is not stays. */
#include "master/store/store_write.h"

static int step_with_a_wish(store_writer_t *writer, const store_keep_t *keep, int64_t for_us, bool *ret_more,
                            fail_t *err);
#define store_writer_expire step_with_a_wish
#include "master/store/store.c"
#undef store_writer_expire

#include "unit/master/store_place.h"

#include <signal.h>
#include <sys/wait.h>

#define HOUR_US 3600000000LL

#define HALF_JOBS                                                                                            \
    "SELECT count(*) FROM jobs WHERE n_returned <> (SELECT count(*) FROM returns WHERE returns.jid = "       \
    "jobs.jid)"
#define LOST_PARTS                                                                                           \
    "SELECT count(*) FROM returns WHERE jid NOT IN (SELECT jid FROM jobs) AND jid NOT IN"                    \
    " (SELECT name FROM expired WHERE kind = 0)"

static void
put_job(place_t *p, const char *jid, int64_t age_us, int returns, const char *value)
{
    AUTO_FREE char *job = xasprintf("{\"jid\": \"%s\", \"fun\": \"f\", \"minions\": [], \"start_us\": %lld, "
                                    "\"note\": {\"kind\": \"k\", \"ref\": \"r\", \"part\": \"%s\"}}",
                                    jid, (long long) (clock_wall_us() - age_us), jid);
    uint64_t ticket = add_job(p->store, job);

    for (int i = 0; i < returns; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        ticket = add_return(p->store, jid, id, value, 0);
    }
    settle(p->store, ticket);
}

/* NEW JSON text of so many bytes. */
static char *
value_of(size_t bytes)
{
    char *value = xcalloc(1, bytes + 1);

    memset(value, 'x', bytes);
    value[0] = value[bytes - 1] = '"';
    return value;
}

static void
await_expired(place_t *p)
{
    store_stats_t stats;

    do {
        poll(NULL, 0, 1);
        store_get_stats(p->store, &stats);
    } while (stats.expiring);
}

static void
expire(place_t *p, int64_t jobs_s, uint64_t bytes)
{
    store_expire(p->store, &(store_keep_t){
                               .now_us = clock_wall_us(), .jobs_s = jobs_s, .bytes = bytes, .events = 1000 });
    await_expired(p);
}

static store_t *_Atomic wished_of; /* a step of forgetting is under way in it when more is wished */
static store_keep_t wish;

static int
step_with_a_wish(store_writer_t *writer, const store_keep_t *keep, int64_t for_us, bool *ret_more,
                 fail_t *err)
{
    int n = store_writer_expire(writer, keep, for_us, ret_more, err);
    store_t *store = atomic_load(&wished_of);

    if (store != NULL && !*ret_more) {
        atomic_store(&wished_of, NULL);
        store_expire(store, &wish);
    }
    return n;
}

/* ---- by age ---------------------------------------------------------------------------------- */

static void
test_old_jobs_go_with_all_they_have(void **state)
{
    place_t *p = *state;

    put_job(p, "large", 3 * HOUR_US, 5000, "1");
    put_job(p, "small", 2 * HOUR_US, 3, "1");
    put_job(p, "none", 2 * HOUR_US, 0, "1");
    put_job(p, "young", HOUR_US / 2, 2, "1");
    expire(p, 3600, 0);
    assert_shown(store_job(p->reader, "large", err), "null");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid = 'young'"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 2);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM notes"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM expired"), 0);
}

/* A clock that was ten years off for a while: what came then goes in its turn. */
static void
test_wrong_clock_makes_nothing_old(void **state)
{
    place_t *p = *state;
    const int64_t ten_years = 10 * 365 * 24 * HOUR_US;

    put_job(p, "ahead", -ten_years, 2, "1");
    put_job(p, "old", 2 * HOUR_US, 2, "1");
    put_job(p, "young", HOUR_US / 2, 2, "1");
    put_job(p, "behind", ten_years, 2, "1");
    put_job(p, "ahead again", -ten_years, 2, "1");
    expire(p, 3600, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 3);
    assert_int_equal(
        count_rows(p, "SELECT count(*) FROM jobs WHERE jid IN ('young', 'behind', 'ahead again')"), 3);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 6);
}

/* Nor does one that is set after it was believed. */
static void
test_ages_are_of_who_asks(void **state)
{
    place_t *p = *state;
    int64_t asked_us = clock_wall_us() - 10 * HOUR_US;

    put_job(p, "old", 12 * HOUR_US, 1, "1");
    put_job(p, "young", 10 * HOUR_US + HOUR_US / 2, 1, "1");
    store_expire(p->store, &(store_keep_t){ .now_us = asked_us, .jobs_s = 3600, .events = 1000 });
    await_expired(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid = 'young'"), 1);
}

/* A job is under way until it has all its returns, or its end; then its age may count from there. */
static void
test_unfinished_jobs_stay(void **state)
{
    place_t *p = *state;
    static const char *const jids[] = { "forgotten", "running", "ended", "late", "done" };

    for (size_t i = 0; i < NELEMS(jids); i++) {
        AUTO_FREE char *job = xasprintf(
            "{\"jid\": \"%s\", \"fun\": \"f\", \"minions\": [\"m\"], \"start_us\": %lld}", jids[i],
            (long long) (clock_wall_us() - (i == 0 ? 800 : 2) * HOUR_US));
        settle(p->store, add_job(p->store, job));
    }
    settle(p->store, store_end_job(p->store, "ended", 0));
    settle(p->store, store_end_job(p->store, "late", clock_wall_us()));
    settle(p->store, add_return(p->store, "done", "m", "1", 0));
    expire(p, 3600, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 2);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid IN ('running', 'late')"), 2);
    settle(p->store, add_return(p->store, "running", "m", "1", 0));
    store_expire(p->store,
                 &(store_keep_t){ .now_us = clock_wall_us() + HOUR_US / 2, .jobs_s = 3600, .events = 1000 });
    await_expired(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid = 'late'"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    store_expire(p->store,
                 &(store_keep_t){ .now_us = clock_wall_us() + 2 * HOUR_US, .jobs_s = 3600, .events = 1000 });
    await_expired(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM notes"), 0);
}

static void
test_zero_keeps_all(void **state)
{
    place_t *p = *state;

    put_job(p, "old", 100000 * HOUR_US, 1, "1");
    expire(p, 0, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 1);
}

/* A reactor that ended before its cursor had passed an event looks at that event again. */
static void
test_notes_of_reactions_stay_until_they_are_settled(void **state)
{
    place_t *p = *state;

    for (int seq = 8; seq < 11; seq++) {
        AUTO_FREE char *job = xasprintf(
            "{\"jid\": \"j%d\", \"fun\": \"f\", \"minions\": [], \"start_us\": 1, "
            "\"note\": {\"kind\": \"" NOTE_REACT "\", \"ref\": \"%d\", \"part\": \"x\"}}",
            seq, seq);
        settle(p->store, add_job(p->store, job));
    }
    store_keep_t keep = { .now_us = clock_wall_us(), .jobs_s = 3600, .events = 1000, .settled = 8 };
    store_expire(p->store, &keep);
    await_expired(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
    assert_shown(store_noted(p->reader, NOTE_REACT, "8", "x", err), "null");
    assert_shown(store_noted(p->reader, NOTE_REACT, "9", "x", err), "\"j9\"");
    keep.settled = 9;
    store_expire(p->store, &keep);
    await_expired(p);
    assert_shown(store_noted(p->reader, NOTE_REACT, "9", "x", err), "null");
    assert_shown(store_noted(p->reader, NOTE_REACT, "10", "x", err), "\"j10\"");
    keep.settled = UINT64_MAX;
    store_expire(p->store, &keep);
    await_expired(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM notes"), 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM spared"), 0);
}

/* A run that goes on for longer than jobs are kept must not lose its journal. */
static void
test_runs_stay_until_they_end(void **state)
{
    place_t *p = *state;
    int64_t now = clock_wall_us();

    (void) store_add_run(p->store, "ended", "{}", "[]", now - 2 * HOUR_US);
    for (int i = 0; i < 3000; i++) {
        AUTO_FREE char *tag = xasprintf("t%d", i);
        (void) store_put_step(p->store, "ended", tag, 1, 10, 20, "{}");
    }
    (void) store_put_step(p->store, "going", "t", 1, 10, 0, "{}");
    (void) store_add_run(p->store, "going", "{}", "[]", now - 3 * HOUR_US);
    (void) store_add_run(p->store, "forgotten", "{}", "[]", now - 24 * 40 * HOUR_US);
    settle(p->store, store_end_run(p->store, "ended", "{}", now - HOUR_US));
    expire(p, 3600, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM runs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM runs WHERE run = 'going'"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM steps"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM expired"), 0);
}

static void
put_wave(place_t *p, const char *jid, const char *run, int64_t age_us)
{
    AUTO_FREE char *job = xasprintf(
        "{\"jid\": \"%s\", \"fun\": \"f\", \"minions\": [\"m\"], \"start_us\": %lld, "
        "\"note\": {\"kind\": \"" NOTE_ORCH "\", \"ref\": \"%s\", \"part\": \"%s\"}}",
        jid, (long long) (clock_wall_us() - age_us), run, jid);

    (void) add_job(p->store, job);
    settle(p->store, add_return(p->store, jid, "m", "1", 0));
}

/* The note of its job is all that is known of a wave that is through: without it a run that is resumed
 * begins it anew. */
static void
test_waves_stay_until_their_run_ends(void **state)
{
    place_t *p = *state;
    int64_t now = clock_wall_us();

    (void) store_add_run(p->store, "going", "{}", "[]", now - 3 * HOUR_US);
    (void) store_add_run(p->store, "ended", "{}", "[]", now - 3 * HOUR_US);
    (void) store_end_run(p->store, "ended", "{}", now - HOUR_US);
    put_wave(p, "wave", "going", 3 * HOUR_US);
    put_wave(p, "through", "ended", 3 * HOUR_US);
    put_wave(p, "of none", "forgotten", 3 * HOUR_US);
    put_job(p, "old", 2 * HOUR_US, 1, "1");
    expire(p, 3600, 0);
    assert_shown(store_noted(p->reader, NOTE_ORCH, "going", "wave", err), "\"wave\"");
    assert_shown(store_returned(p->reader, "wave", err), "[\"m\"]");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM runs"), 1);
    settle(p->store, store_end_run(p->store, "going", "{}", now));
    expire(p, 3600, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM notes"), 0);
}

/* A run that nobody has gone on with goes at last, and what it has begun. */
static void
test_waves_of_a_forgotten_run_go(void **state)
{
    place_t *p = *state;
    int64_t age_us = 24 * 40 * HOUR_US;

    (void) store_add_run(p->store, "forgotten", "{}", "[]", clock_wall_us() - age_us);
    put_wave(p, "wave", "forgotten", age_us);
    expire(p, 3600, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM runs"), 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
}

/* A return that comes while the rest of its job is being deleted is not deleted with it. */
static void
test_late_return_stays(void **state)
{
    place_t *p = *state;

    put_job(p, "old", 2 * HOUR_US, 10, "1");
    expire(p, 3600, 0);
    /* As the writer leaves it between two slices. */
    change_rows(p, "INSERT INTO expired VALUES('old', 0)");
    settle(p->store, add_return(p->store, "old", "late", "1", 0));
    expire(p, 3600, 0);
    assert_shown(store_returned(p->reader, "old", err), "[\"late\"]");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
}

/* Nor does it bring back what is left of the others, also its own minion's: it is all that is known of the
 * job. */
static void
test_late_return_stays_alone(void **state)
{
    place_t *p = *state;

    put_job(p, "old", 2 * HOUR_US, 3, "1");
    put_job(p, "older", 2 * HOUR_US, 3, "1");
    /* As the writer leaves it between two slices. */
    change_rows(p, "DELETE FROM jobs; INSERT INTO expired VALUES('old', 0), ('older', 0)");
    store_together(p->store);
    (void) add_return(p->store, "old", "m1", "2", 0);
    (void) add_return(p->store, "older", "m2", "2", 0);
    (void) add_return(p->store, "old", "z", "2", 1);
    uint64_t ticket = add_return(p->store, "old", "m1", "3", 1);
    store_apart(p->store);
    settle(p->store, ticket);
    assert_shown(store_returned(p->reader, "old", err), "[\"m1\",\"z\"]");
    assert_shown(store_returned(p->reader, "older", err), "[\"m2\"]");
    expire(p, 3600, 0);
    assert_shown(store_returned(p->reader, "old", err), "[\"m1\",\"z\"]");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE json_extract(doc, '$.return') = 2"),
                     3);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE n_returned = 2 AND n_failed = 1"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE tgt = 'm2' AND n_returned = 1"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM expired"), 0);
}

/* ---- by size --------------------------------------------------------------------------------- */

static void
test_size_takes_the_oldest(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *value = value_of(100000);

    for (int i = 0; i < 40; i++) {
        AUTO_FREE char *jid = xasprintf("j%02d", i);
        put_job(p, jid, (100 - i) * HOUR_US, 5, value);
    }
    put_job(p, "young", 0, 100, value);
    expire(p, 0, 15000000);
    assert_shown(store_job(p->reader, "j00", err), "null");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid IN ('j39', 'young')"), 2);
    assert_int_equal(count_rows(p, HALF_JOBS), 0);
    assert_in_range(count_rows(p, "SELECT sum(length(doc)) FROM returns"), 14000000, 15000000);
    expire(p, 0, 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE jid = 'young'"), 100);
}

static void
test_size_passes_over_waves(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *value = value_of(100000);

    (void) store_add_run(p->store, "going", "{}", "[]", clock_wall_us() - 3 * HOUR_US);
    put_wave(p, "wave", "going", 3 * HOUR_US);
    put_job(p, "old", 2 * HOUR_US, 20, value);
    put_job(p, "newer", HOUR_US, 20, value);
    expire(p, 0, 3000000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 2);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid IN ('wave', 'newer')"), 2);
    expire(p, 0, 1);
    assert_shown(store_noted(p->reader, NOTE_ORCH, "going", "wave", err), "\"wave\"");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    settle(p->store, store_end_run(p->store, "going", "{}", clock_wall_us()));
    expire(p, 0, 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
}

/* Nobody needs to ask again when much is added. */
static void
test_size_is_watched(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *value = value_of(1000000);

    put_job(p, "old", HOUR_US, 20, value);
    expire(p, 0, 30000000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    put_job(p, "new", 0, 20, value);
    await_expired(p);
    assert_shown(store_job(p->reader, "old", err), "null");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 20);
}

static void
test_events_do_not_count(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *data = value_of(100000);
    char *frame = xcalloc(1, 200000);

    for (uint64_t seq = 1; seq <= 100; seq++) {
        AUTO_FREE char *object = xasprintf("{\"a\":%s}", data);
        size_t len = eframe_write(frame, seq, "t", 1, object, strlen(object), "2026-11-20T10:00:00.000000");
        settle(p->store, store_add_events(p->store, seq, seq, 1000, frame, len));
    }
    free(frame);
    put_job(p, "old", HOUR_US, 5, "1");
    expire(p, 0, 5000000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT sum(last - first + 1) FROM event_blocks"), 100);
}

/* Nor does what is known of minions, large or small, written once or again. */
static void
test_minions_do_not_count(void **state)
{
    typedef uint64_t put_fn(store_t * store, const char *id, char **doc_p);
    static put_fn *const puts[] = { store_put_grains, store_put_pillar, store_put_mine };
    place_t *p = *state;
    uint64_t ticket = 0;

    put_job(p, "old", HOUR_US, 5, "1");
    for (int i = 0; i < 600; i++) {
        char *doc = value_of(i < 20 ? 300000 : 9000 + (size_t) i);
        AUTO_FREE char *id = xasprintf("m%d", i / 4);
        ticket = puts[i % 3](p->store, id, &doc);
    }
    settle(p->store, ticket);
    expire(p, 0, 1000000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    /* Jobs that are too large go as before, and no more of them when documents go. */
    AUTO_FREE char *value = value_of(100000);
    put_job(p, "large", HOUR_US, 20, value);
    put_job(p, "last", HOUR_US, 5, value);
    expire(p, 0, 1500000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid = 'last'"), 1);
    for (int i = 0; i < 150; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        ticket = store_del_minion(p->store, id);
    }
    settle(p->store, ticket);
    expire(p, 0, 1500000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    expire(p, 0, 100000);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
}

/* The step did not know of it. */
static void
test_wish_during_the_last_step(void **state)
{
    place_t *p = *state;

    put_job(p, "old", 3 * HOUR_US, 1, "1");
    put_job(p, "young", HOUR_US, 1, "1");
    wish = (store_keep_t){ .now_us = clock_wall_us(), .jobs_s = 1800, .events = 1000 };
    atomic_store(&wished_of, p->store);
    expire(p, 7200, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 0);
}

static void
test_space_is_given_back(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *value = value_of(1000000);

    for (int i = 0; i < 9; i++) {
        AUTO_FREE char *jid = xasprintf("old%d", i);
        put_job(p, jid, 2 * HOUR_US, 10, value);
    }
    put_job(p, "young", 0, 10, value);
    expire(p, 3600, 0);
    close_place(p);
    assert_in_range(size_of(p->path), 70000000, 80000000);
    open_place(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE length(doc) > 1000000"), 10);
    assert_int_equal(
        count_rows(p, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

/* ---- disks and signals ----------------------------------------------------------------------- */

/* It is told, nothing is half gone, and the next wish goes on. */
static void
test_full_disk(void **state)
{
    place_t *p = *state;

    signal(SIGXFSZ, SIG_IGN);
    put_job(p, "old", 2 * HOUR_US, 5000, "1");
    put_job(p, "older", 3 * HOUR_US, 10, "1");
    set_file_limit(4096);
    expire(p, 3600, 0);
    AUTO_FREE char *trouble = await_trouble(p->store, true);
    assert_non_null(strstr(trouble, p->path));
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 5010);
    assert_int_equal(count_rows(p, HALF_JOBS), 0);
    set_file_limit(RLIM_INFINITY);
    expire(p, 3600, 0);
    put_job(p, "young", 0, 1, "1");
    assert_null(await_trouble(p->store, false));
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 1);
    signal(SIGXFSZ, SIG_DFL);
}

/* The file is kept, a new one is begun, and it is told. */
static void
test_damage_in_the_middle(void **state)
{
    place_t *p = *state;

    put_job(p, "old", 2 * HOUR_US, 5000, "\"some text that takes some room on a page\"");
    close_place(p);
    overwrite(p->path, size_of(p->path) / PAGE / 2 * PAGE, 4 * PAGE);
    open_place(p);
    expire(p, 3600, 0);
    AUTO_FREE char *notice = store_notice(p->store);
    assert_non_null(notice);
    assert_non_null(strstr(notice, "damaged"));
    put_job(p, "new", 0, 1, "1");
    assert_shown(store_last_jid(p->reader, err), "\"new\"");
}

/* Tells how much has gone, until it is killed or all has. */
static void
expire_until_killed(const char *path, int out)
{
    store_t *store = store_new(path, NULL);
    store_stats_t stats = { 0 };

    store_expire(store, &(store_keep_t){ .now_us = clock_wall_us(), .jobs_s = 3600, .events = 1000 });
    do {
        poll(NULL, 0, 1);
        store_get_stats(store, &stats);
    } while (write(out, &stats.expired, sizeof(stats.expired)) > 0 && stats.expiring);
    _exit(0);
}

static void
kill_expiring(place_t *p)
{
    int pipefd[2];
    uint64_t expired = 0;

    assert_int_equal(pipe(pipefd), 0);
    pid_t pid = fork();
    if (pid == 0)
        expire_until_killed(p->path, pipefd[1]);
    close(pipefd[1]);
    while (expired == 0 && read(pipefd[0], &expired, sizeof(expired)) > 0)
        continue;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(pipefd[0]);
}

static void
test_killed_in_the_middle(void **state)
{
    place_t *p = *state;

    put_job(p, "huge", 100 * HOUR_US, 30000, "1");
    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *jid = xasprintf("j%02d", i);
        put_job(p, jid, (50 - i) * HOUR_US, 600, "1");
    }
    put_job(p, "young", 0, 10, "1");
    close_place(p);
    for (int round = 0; round < 4; round++) {
        kill_expiring(p);
        assert_int_equal(count_rows(p, HALF_JOBS), 0);
        assert_int_equal(count_rows(p, LOST_PARTS), 0);
        assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs WHERE jid = 'young'"), 1);
        assert_int_equal(
            count_rows(p, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    }
    open_place(p);
    assert_null(store_notice(p->store));
    expire(p, 3600, 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 10);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM expired"), 0);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_old_jobs_go_with_all_they_have, setup, teardown),
          cmocka_unit_test_setup_teardown(test_wrong_clock_makes_nothing_old, setup, teardown),
          cmocka_unit_test_setup_teardown(test_ages_are_of_who_asks, setup, teardown),
          cmocka_unit_test_setup_teardown(test_unfinished_jobs_stay, setup, teardown),
          cmocka_unit_test_setup_teardown(test_zero_keeps_all, setup, teardown),
          cmocka_unit_test_setup_teardown(test_notes_of_reactions_stay_until_they_are_settled, setup,
                                          teardown),
          cmocka_unit_test_setup_teardown(test_runs_stay_until_they_end, setup, teardown),
          cmocka_unit_test_setup_teardown(test_waves_stay_until_their_run_ends, setup, teardown),
          cmocka_unit_test_setup_teardown(test_waves_of_a_forgotten_run_go, setup, teardown),
          cmocka_unit_test_setup_teardown(test_late_return_stays, setup, teardown),
          cmocka_unit_test_setup_teardown(test_late_return_stays_alone, setup, teardown),
          cmocka_unit_test_setup_teardown(test_size_takes_the_oldest, setup, teardown),
          cmocka_unit_test_setup_teardown(test_size_passes_over_waves, setup, teardown),
          cmocka_unit_test_setup_teardown(test_size_is_watched, setup, teardown),
          cmocka_unit_test_setup_teardown(test_events_do_not_count, setup, teardown),
          cmocka_unit_test_setup_teardown(test_minions_do_not_count, setup, teardown),
          cmocka_unit_test_setup_teardown(test_wish_during_the_last_step, setup, teardown),
          cmocka_unit_test_setup_teardown(test_space_is_given_back, setup, teardown),
          cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damage_in_the_middle, setup, teardown),
          cmocka_unit_test_setup_teardown(test_killed_in_the_middle, setup, teardown))
