/* test_clockwatch.c - when the wall clock is in doubt. What moves is the monotonic clock, told as a number. */
#include "unit/master/store_place.h"

#include "master/front/clockwatch.h"
#include "unit/master/front_parts.h"

#define HOUR_MS (3600 * 1000LL)
#define DAY_MS  (24 * HOUR_MS)

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
    START(&f->front, clockwatch);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;
    void *place = f->place;

    END(&f->front, clockwatch);
    free(f);
    return teardown(&place);
}

static clockwatch_t *
clock_of(fixture_t *f)
{
    return f->front.own[PART_clockwatch];
}

static void
look(fixture_t *f, int64_t now_ms, bool doubts)
{
    part_clockwatch.tick(&f->front, now_ms);
    assert_int_equal(clockwatch_doubts(&f->front), doubts);
}

/* The next master on this store. */
static void
begin(fixture_t *f, bool doubts)
{
    settle(f->place->store, store_put_meta(f->place->store, "k", "v")); /* behind what is queued */
    END(&f->front, clockwatch);
    START(&f->front, clockwatch);
    assert_int_equal(clockwatch_doubts(&f->front), doubts);
}

static void
add_event_of(fixture_t *f, uint64_t seq, int64_t wall_us)
{
    static const char frame[] = "a frame";

    settle(f->place->store, store_add_events(f->place->store, seq, seq, wall_us, frame, sizeof(frame) - 1));
}

/* Forwards and back; a correction is none. */
static void
test_set_by_hours(void **state)
{
    fixture_t *f = *state;
    int64_t now = clock_mono_ms();

    look(f, now, false);
    look(f, now + 5 * 60000, false);
    for (int way = -1; way <= 1; way += 2) {
        int64_t then = now - way * HOUR_MS;
        look(f, now, false);
        look(f, then, true);
        look(f, then + 5, true);
        look(f, now, false); /* right again */
        look(f, then, true);
        look(f, then - 3 * HOUR_MS, true); /* and further off */
        look(f, now, false);
    }
}

static void
test_believed_after_a_day(void **state)
{
    fixture_t *f = *state;
    int64_t now = clock_mono_ms();

    look(f, now, false);
    look(f, now + HOUR_MS, true);
    clock_of(f)->seen_ms -= DAY_MS; /* as if both clocks had gone on */
    look(f, now + HOUR_MS + DAY_MS, false);
    begin(f, false);
}

static void
test_restart_in_doubt(void **state)
{
    fixture_t *f = *state;
    int64_t now = clock_mono_ms();

    begin(f, false);
    look(f, now, false);
    look(f, now + HOUR_MS, true);
    begin(f, true);
    begin(f, true);
    look(f, now, true);
    look(f, now + 100, true);
    assert_in_range(clock_of(f)->until_ms - now, DAY_MS - 60000, DAY_MS + 60000);
    /* The store remembers until when. */
    settle(f->place->store, store_put_meta(f->place->store, "clock_doubt", "1700000000"));
    begin(f, false);
    begin(f, false);
}

static void
test_start_with_another_time_than_events(void **state)
{
    fixture_t *f = *state;
    int64_t wall_us = clock_wall_us();

    add_event_of(f, 1, wall_us - 20 * HOUR_MS * 1000);
    begin(f, false);
    add_event_of(f, 2, wall_us - 30 * HOUR_MS * 1000);
    begin(f, true);
    add_event_of(f, 3, wall_us);
    begin(f, true); /* for a day */
    settle(f->place->store, store_del_meta(f->place->store, "clock_doubt"));
    begin(f, false);
    add_event_of(f, 4, wall_us + 30 * HOUR_MS * 1000);
    begin(f, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_set_by_hours), TEST(test_believed_after_a_day), TEST(test_restart_in_doubt),
          TEST(test_start_with_another_time_than_events))
