/* test_listen.c - how long a listener may look at the events of the ring. */
#include "master/listen.h"

#include "unit/master/store_place.h"

#define TURN_MS 20 /* as in listen.c */

typedef struct fixture {
    place_t *place;
    front_t front;
    listener_t *listener;
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
    f->front.bus = bus_new(&f->front);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;
    void *place = f->place;

    listener_destroy(&f->listener);
    bus_destroy(&f->front.bus);
    free(f);
    return teardown(&place);
}

static void
listen_to(fixture_t *f, const char *glob)
{
    json_auto_t *request = json_pack("{s:[s]}", "tags", glob);

    f->listener = listener_new(&f->front, request, NULL);
    assert_non_null(f->listener);
}

static void
fire(fixture_t *f, int n)
{
    for (int i = 0; i < n; i++) {
        json_t *data = json_object();
        assert_int_not_equal(bus_fire(&f->front, "some/tag", &data), 0);
    }
}

/* Frames that it gives until it has no more in this turn. */
static size_t
take(fixture_t *f)
{
    struct iovec iov[64];
    buf_auto_t rest = BUF_INIT;
    eframe_t frame;
    size_t n, all = 0;

    while ((n = listener_next(f->listener, iov, NELEMS(iov))) > 0) {
        size_t bytes = 0;
        for (size_t i = 0; i < n; bytes += iov[i++].iov_len)
            for (size_t at = 0; at < iov[i].iov_len; at += frame.len, all++)
                assert_true(eframe_read((char *) iov[i].iov_base + at, iov[i].iov_len - at, &frame));
        listener_sent(f->listener, iov, n, bytes, &rest);
    }
    return all;
}

/* What it wants makes its turn no longer than what it doesn't. */
static void
test_turn_is_over(void **state)
{
    static const char *const globs[] = { "some/t*", "other/t*" };
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(globs); i++) {
        listen_to(f, globs[i]);
        fire(f, 100);
        listener_turn(f->listener, true);
        (void) poll(NULL, 0, 2 * TURN_MS);
        assert_true(take(f) <= 1);
        assert_true(listener_has_more(f->listener));
        assert_int_equal(take(f), 0);
        listener_turn(f->listener, false);
        (void) poll(NULL, 0, 2 * TURN_MS);
        assert_int_equal(take(f), i == 0 ? 99 : 0);
        assert_false(listener_has_more(f->listener));
        listener_destroy(&f->listener);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_turn_is_over))
