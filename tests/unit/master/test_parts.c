/* test_parts.c - the walk over a table of parts: who starts, ticks, hears of what, and ends when. */
#include "common/base/buf.h"
#include "master/front/hooks.h"
#include "master/front/part.h"
#include "master/front/parts.h"
#include "unit/unit.h"

static buf_t said; /* by the parts, in the order in which they were called */
static int start_of_last;
static bool ends;

static void
assert_said(const char *expected)
{
    assert_string_equal(buf_str(&said), expected);
    buf_clear(&said);
}

/* ---- three parts ----------------------------------------------------------------------------- */

static int
first_start(front_t *front, fail_t *err)
{
    assert_non_null(front->own[0]); /* made for it, */
    assert_int_equal(*(int *) front->own[0], 0);
    buf_puts(&said, "+first ");
    return 0;
}

static int
second_start(front_t *front, fail_t *err)
{
    assert_null(front->own[1]); /* and not made without a size */
    buf_puts(&said, "+second ");
    return 0;
}

static int
last_start(front_t *front, fail_t *err)
{
    buf_puts(&said, "+last ");
    return start_of_last < 0 ? fail_set(err, start_of_last, "no") : 0;
}

static bool
first_destroy(front_t *front)
{
    buf_puts(&said, "-first ");
    return ends;
}

static bool
last_destroy(front_t *front)
{
    buf_puts(&said, "-last ");
    return true;
}

static void
first_stop(front_t *front)
{
    buf_puts(&said, "!first ");
}

static void
first_tick(front_t *front, int64_t now_ms)
{
    buf_puts(&said, "first ");
}

static void
second_tick(front_t *front, int64_t now_ms)
{
    buf_puts(&said, "second ");
}

static void
last_tick(front_t *front, int64_t now_ms)
{
    buf_puts(&said, "last ");
}

static int64_t
last_pause(const front_t *front)
{
    return 1000;
}

static void
last_reload(front_t *front)
{
    buf_puts(&said, "~last ");
}

static uint64_t
second_settled(const front_t *front)
{
    return 7;
}

static uint64_t
last_settled(const front_t *front)
{
    return 5;
}

static int
second_names(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    buf_puts(&said, "second ");
    return (int) json_integer_value(request);
}

static int
last_names(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    buf_puts(&said, "last ");
    return 0;
}

static const front_part_t first = { .name = "first",
                                    .size = sizeof(int),
                                    .start = first_start,
                                    .stop = first_stop,
                                    .destroy = first_destroy,
                                    .tick = first_tick };
static const front_part_t second = { .name = "second",
                                     .start = second_start,
                                     .tick = second_tick,
                                     .every_ms = 300,
                                     .settled = second_settled,
                                     .names = second_names };
static const front_part_t last = { .name = "last",
                                   .start = last_start,
                                   .destroy = last_destroy,
                                   .reload = last_reload,
                                   .tick = last_tick,
                                   .pause_ms = last_pause,
                                   .settled = last_settled,
                                   .names = last_names };
static const front_part_t *const table[] = { &first, &second, &last };

static int
set_up(void **state)
{
    front_t *front = xcalloc(1, sizeof(*front));

    said = (buf_t) BUF_INIT;
    start_of_last = 0;
    ends = true;
    front->parts = table;
    front->n_parts = NELEMS(table);
    *state = front;
    return 0;
}

static int
tear_down(void **state)
{
    buf_free(&said);
    free(*state);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void
test_life(void **state)
{
    front_t *front = *state;

    assert_int_equal(parts_start(front, NULL), 0);
    assert_said("+first +second +last ");
    assert_true(parts_end(front));
    assert_said("!first -last -first ");
    assert_null(front->own[0]);
}

/* What has begun is undone, also of the one that failed. */
static void
test_failed_start(void **state)
{
    front_t *front = *state;
    fail_auto_t err = FAIL_INIT;

    start_of_last = -EIO;
    assert_int_equal(parts_start(front, &err), -EIO);
    assert_string_equal(fail_text(&err), "no");
    ends = false;
    assert_false(parts_end(front)); /* and a thread that goes on is told of */
    assert_said("+first +second +last !first -last -first ");
}

static void
test_time(void **state)
{
    front_t *front = *state;

    assert_int_equal(parts_start(front, NULL), 0);
    buf_clear(&said);
    parts_tick(front, 10000);
    assert_said("first second last ");
    parts_tick(front, 10299);
    assert_said("first ");
    parts_tick(front, 10300);
    assert_said("first second ");
    parts_tick(front, 11000);
    assert_said("first second last ");
    parts_reload(front);
    assert_said("~last ");
    parts_tick(front, 11001);
    assert_said("first second last ");
    assert_true(parts_end(front));
}

static void
test_hooks(void **state)
{
    front_t *front = *state;
    json_auto_t *none = json_integer(0), *taken = json_integer(1);

    assert_true(hook_settled(front) == UINT64_MAX); /* nobody has started */
    assert_int_equal(hook_names(front, NULL, taken, NULL), 0);
    assert_int_equal(parts_start(front, NULL), 0);
    buf_clear(&said);
    assert_int_equal(hook_settled(front), 5);
    assert_int_equal(hook_names(front, NULL, none, NULL), 0);
    assert_said("second last ");
    assert_int_equal(hook_names(front, NULL, taken, NULL), 1); /* nobody else is asked then */
    assert_said("second ");
    hook_committed(front); /* which none of them wants to hear of */
    assert_said("");
    assert_true(parts_end(front));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_life), TEST(test_failed_start), TEST(test_time), TEST(test_hooks))
