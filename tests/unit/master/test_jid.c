/* test_jid.c - the jid of a new job is one that no other has, whatever was taken before: by restored jobs, by
 * jobs of the store, after the clock was set back. */
#include "unit/master/store_place.h"

#include "master/jobs/jid.h"
#include "unit/master/front_parts.h"

#define HOUR_US 3600000000LL

typedef struct fixture {
    place_t *place;
    front_t front;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    void *place = NULL;

    assert_int_equal(setup(&place), 0);
    f->place = place;
    f->front.store = f->place->store;
    f->front.reader = f->place->reader;
    f->front.peers = peers_new();
    START(&f->front, clockwatch);
    START(&f->front, publish);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;
    void *place = f->place;

    END(&f->front, publish);
    END(&f->front, clockwatch);
    peers_destroy(&f->front.peers);
    free(f);
    return teardown(&place);
}

/* The jid that comes `n` microseconds after `jid`: in a second of its own, whose first half is not over. */
static void
jid_after(const char *jid, unsigned n, char out[CLOCK_STAMP_LEN])
{
    snprintf(out, CLOCK_STAMP_LEN, "%.14s%06lu", jid, strtoul(jid + 14, NULL, 10) + n);
}

/* The process is ahead of the clock, as after it was set back: then each jid follows the one before. */
static void
begin_ahead(char first[CLOCK_STAMP_LEN])
{
    clock_jid_skip(HOUR_US);
    do {
        clock_jid_skip(100000);
        clock_jid(first);
    } while (strtoul(first + 14, NULL, 10) > 500000);
}

static void
add_open(fixture_t *f, const char *jid)
{
    json_t *info = json_pack("{s:s}", "jid", jid);

    assert_non_null(jobs_add(f->front.jobs, jid, &info, NULL, 0));
}

static void
add_row(fixture_t *f, const char *jid)
{
    AUTO_FREE char *row = xasprintf("{\"jid\": \"%s\", \"fun\": \"test.ping\", \"minions\": [\"m1\"]}", jid);

    settle(f->place->store, add_job(f->place->store, row));
}

static void
test_fresh_is_free(void **state)
{
    fixture_t *f = *state;
    char now[CLOCK_STAMP_LEN], taken[CLOCK_STAMP_LEN], fresh[CLOCK_STAMP_LEN];

    begin_ahead(now);
    for (unsigned n = 1; n <= 40; n++) {
        jid_after(now, n, taken);
        if (n % 2 == 1)
            add_open(f, taken);
        else
            add_row(f, taken);
    }
    jid_fresh(&f->front, fresh);
    assert_true(clock_is_jid(fresh));
    assert_true(strcmp(fresh, taken) > 0);
    assert_null(jobs_get(f->front.jobs, fresh));
    assert_int_equal(store_has_job(f->place->reader, fresh, NULL), 0);
}

/* Without taken ones, nothing is left out. */
static void
test_fresh_is_the_next(void **state)
{
    fixture_t *f = *state;
    char now[CLOCK_STAMP_LEN], next[CLOCK_STAMP_LEN], fresh[CLOCK_STAMP_LEN];

    begin_ahead(now);
    jid_after(now, 1, next);
    jid_fresh(&f->front, fresh);
    assert_string_equal(fresh, next);
}

static void
test_given(void **state)
{
    static const char *const refused[] = {
        "{\"jid\": \"x\"}",
        "{\"jid\": 7}",
        "{\"jid\": [\"20210101000000000001\"]}",
        "{\"jid\": \"20210101000000000001x\"}",
        "{\"jid\": \"99990101000000000001\"}",
        "{\"jid\": \"20210101000000000002\"}",
        "{\"jid\": \"20210101000000000003\"}",
    };
    static const char *const drawn[] = { "{}", "{\"jid\": null}", "{\"jid\": \"\"}" };
    fixture_t *f = *state;
    char jid[CLOCK_STAMP_LEN];

    add_open(f, "20210101000000000002");
    add_row(f, "20210101000000000003");
    for (size_t i = 0; i < NELEMS(refused); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *request = json_loads(refused[i], 0, NULL);
        assert_false(jid_of(&f->front, request, jid, &err));
        assert_int_not_equal(err.code, 0);
    }
    for (size_t i = 0; i < NELEMS(drawn); i++) {
        json_auto_t *request = json_loads(drawn[i], 0, NULL);
        assert_true(jid_of(&f->front, request, jid, NULL));
        assert_true(clock_is_jid(jid));
    }
    json_auto_t *mine = json_loads("{\"jid\": \"20210101000000000001\"}", 0, NULL);
    assert_true(jid_of(&f->front, mine, jid, NULL));
    assert_string_equal(jid, "20210101000000000001");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_fresh_is_free), TEST(test_fresh_is_the_next), TEST(test_given))
