/* test_listen.c - how long a listener may look at the events of the ring. */
#include "master/events/listen.h"

#include "common/local/client.h"
#include "common/match/match.h"
#include "master/events/numbers.h"
#include "unit/master/front_parts.h"
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
    START(&f->front, numbers);
    START(&f->front, bus);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;
    void *place = f->place;

    listener_destroy(&f->listener);
    END(&f->front, bus);
    END(&f->front, numbers);
    free(f);
    return teardown(&place);
}

static void
listen_to(fixture_t *f, const char *glob, bool brief)
{
    json_auto_t *request = json_pack("{s:[s]}", "tags", glob);

    f->listener = listener_new(&f->front, request, brief, NULL);
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
        listen_to(f, globs[i], true);
        fire(f, 100);
        listener_turn(f->listener);
        (void) poll(NULL, 0, 2 * TURN_MS);
        assert_true(take(f) <= 1);
        assert_true(listener_has_more(f->listener));
        assert_int_equal(take(f), 0);
        listener_turn(f->listener);
        (void) take(f);
        assert_false(listener_has_more(f->listener));
        listener_destroy(&f->listener);
    }
}

/* Who is not a user of the kind has all the time. */
static void
test_turn_of_an_administrator(void **state)
{
    fixture_t *f = *state;

    listen_to(f, "some/t*", false);
    fire(f, 100);
    listener_turn(f->listener);
    (void) poll(NULL, 0, 2 * TURN_MS);
    assert_int_equal(take(f), 100);
}

/* What it missed, as it is told. NEW. */
static json_t *
missed(fixture_t *f)
{
    buf_auto_t out = BUF_INIT;
    json_t *msg = NULL;

    (void) listener_fill(f->listener, &out);
    assert_int_equal(frame_take(&out, LIMIT_LOCAL_MSG, &msg, NULL), 1);
    assert_string_equal(value_str(msg, "push", ""), "missed");
    return msg;
}

/* Those that nobody had the time to compare count, though none of them was wanted. */
static void
test_missed_with_slow_patterns(void **state)
{
    enum { N = 40000 };
    fixture_t *f = *state;
    char tag[LIMIT_TAG_LEN + 1], slow[] = "*0*0*0*0*0*0*0*0-1";

    memset(tag, '0', LIMIT_TAG_LEN);
    tag[LIMIT_TAG_LEN] = '\0';
    json_auto_t *request = json_pack("{s:[]}", "tags");
    for (int i = 0; i < LIMIT_USER_TAGS; i++)
        json_array_append_new(value_get(request, "tags"), json_string(slow));
    f->listener = listener_new(&f->front, request, true, NULL);
    assert_non_null(f->listener);
    for (int i = 0; i < N; i++)
        bus_put(&f->front, (jtext_t){ tag, LIMIT_TAG_LEN }, (jtext_t){ "{}", 2 });
    (void) bus_done(&f->front);
    json_auto_t *msg = missed(f);
    assert_true(value_int(msg, "count", 0) < N);
}

/* A time that is none. */
static void
test_odd_since(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s}", "since", "yesterday");

    assert_null(listener_new(&f->front, request, false, &err));
    assert_string_equal(fail_text(&err),
                        "'since' is a number of seconds or a time such as 2026-11-20T10:00:00");
}

/* What the operation `journal` answers, as how many events and from where to ask on. */
static void
assert_journal(fixture_t *f, size_t events, json_int_t next)
{
    json_auto_t *request = json_object();
    json_auto_t *reply = listen_journal(&f->front, request, false, NULL, NULL, NULL);

    assert_int_equal(json_array_size(value_get(reply, "events")), events);
    assert_int_equal(value_int(reply, "next", -1), next);
}

/* A number that is not reserved yet may be another event's after a kill. */
static void
test_journal_of_numbers_that_may_be_told(void **state)
{
    fixture_t *f = *state;

    fire(f, 100);
    assert_journal(f, 0, 0);
    numbers_t *numbers = f->front.own[PART_numbers];
    numbers->granted = 60;
    assert_journal(f, 60, 0);
    numbers->granted = 1000;
    assert_journal(f, 100, 0);
}

/* More than the ring holds. Its first block stays empty: the first event is too large for it. How many. */
static uint64_t
fire_large(fixture_t *f)
{
    enum { LARGE = 512 * 1024, N = LIMIT_EVENTS_RECENT / LARGE + 4 };
    AUTO_FREE char *data = xcalloc(1, LARGE + 1);

    memset(data, ' ', LARGE);
    memcpy(data, "{}", 2);
    for (int i = 0; i < N; i++)
        settle(f->place->store, bus_fire_text(&f->front, "large/tag", data, LARGE));
    return N;
}

/* Who has a place in the empty block, and is served only when the ring has gone on, has had what was in
 * the journal then. */
static void
test_place_in_an_empty_block(void **state)
{
    fixture_t *f = *state;
    buf_auto_t out = BUF_INIT;
    eframe_t frame;

    for (uint64_t seq = 1; seq <= 10; seq++)
        settle(f->place->store, add_event(f->place->store, seq, "old/tag"));
    f->front.seq = 10;
    json_auto_t *request = json_pack("{s:i}", "since_seq", 10);
    f->listener = listener_new(&f->front, request, false, NULL);
    assert_false(listener_fill(f->listener, &out));
    assert_true(listener_is_live(f->listener));
    (void) fire_large(f);
    assert_false(listener_is_live(f->listener));
    listener_turn(f->listener);
    (void) listener_fill(f->listener, &out);
    assert_true(eframe_read(out.data, out.len, &frame));
    assert_int_equal(frame.seq, 11);
}

/* And without `since` it has missed nothing there. */
static void
test_missed_in_an_empty_block(void **state)
{
    fixture_t *f = *state;

    f->front.seq = 10;
    listen_to(f, "*", false);
    uint64_t n = fire_large(f);
    json_auto_t *msg = missed(f);
    assert_int_equal(value_int(msg, "from", 0), 11);
    assert_in_range(value_int(msg, "count", 0), 1, n);
}

/* Takes a follower's listener through what was fired: the mark that it is told, 0: none. */
static uint64_t
follow_on(fixture_t *f, size_t wanted)
{
    buf_auto_t out = BUF_INIT;
    json_auto_t *msg = NULL;

    listener_turn(f->listener);
    (void) listener_fill(f->listener, &out);
    assert_int_equal(take(f), wanted);
    (void) listener_fill(f->listener, &out);
    if (frame_take(&out, LIMIT_LOCAL_MSG, &msg, NULL) != 1)
        return 0;
    assert_string_equal(value_str(msg, "push", ""), "mark");
    assert_int_equal(out.len, 0);
    return (uint64_t) value_int(msg, "seq", 0);
}

/* A follower is told where it is after so many events that it does not want, and the master knows it at once. */
static void
test_marks_of_a_follower(void **state)
{
    fixture_t *f = *state;
    json_auto_t *request = json_pack("{s:[s], s:[s], s:i, s:i, s:s}", "tags", "some/*", "except", "*/tag",
                                     "since_seq", 0, "marks", 100, "follower", "kind.name");

    f->listener = listener_new(&f->front, request, false, NULL);
    assert_non_null(f->listener);
    assert_ptr_equal(listener_of(&f->front, "kind.name"), f->listener);
    assert_null(listener_of(&f->front, "other"));
    assert_int_equal(follow_on(f, 0), 0);
    fire(f, 99);
    assert_int_equal(follow_on(f, 0), 0);
    assert_int_equal(listener_looked(f->listener), 99);
    fire(f, 1);
    assert_int_equal(follow_on(f, 0), 100);
    assert_int_equal(listener_wanted(f->listener), 0);
    (void) bus_fire_text(&f->front, "some/other", "{}", 2);
    assert_int_equal(follow_on(f, 1), 0);
    assert_int_equal(listener_wanted(f->listener), 101);
    fire(f, 99);
    assert_int_equal(follow_on(f, 0), 0);
    fire(f, 150);
    assert_int_equal(follow_on(f, 0), 350);
    assert_int_equal(listener_looked(f->listener), 350);
}

/* Users have no patterns that are not counted, and are no followers. */
static void
test_users_are_no_followers(void **state)
{
    static const char *const asked[] = { "{\"except\": [\"*\"]}", "{\"marks\": 1}", "{\"follower\": \"x\"}" };
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(asked); i++) {
        json_auto_t *request = json_loads(asked[i], 0, NULL);
        fail_auto_t err = FAIL_INIT;
        assert_null(listener_new(&f->front, request, true, &err));
        assert_int_equal(err.code, -EPERM);
    }
    json_auto_t *odd = json_pack("{s:[i]}", "except", 1);
    fail_auto_t err = FAIL_INIT;
    assert_null(listener_new(&f->front, odd, false, &err));
    assert_string_equal(fail_text(&err), "a pattern for tags is a text of at most 1024 bytes");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_turn_is_over), TEST(test_turn_of_an_administrator), TEST(test_missed_with_slow_patterns),
          TEST(test_odd_since), TEST(test_journal_of_numbers_that_may_be_told),
          TEST(test_place_in_an_empty_block), TEST(test_missed_in_an_empty_block),
          TEST(test_marks_of_a_follower), TEST(test_users_are_no_followers))
