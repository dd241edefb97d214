/* test_batch.c - how many of a batch may have their job: places, rests, and what a request may say. */
#include "unit/unit.h"

#include "master/jobs/batch.h"
#include "salt/value.h"

static batch_t *
made(const char *spec, size_t of)
{
    json_auto_t *doc = json_loads(spec, 0, NULL);
    fail_auto_t err = FAIL_INIT;
    batch_t *batch = batch_new(doc, of, 15, &err);

    if (batch == NULL)
        fail_msg("%s: %s", spec, fail_text(&err));
    return batch;
}

static void
test_places(void **state)
{
    AUTO(batch) two = made("{\"size\": 2}", 9);
    AUTO(batch) third = made("{\"size\": \"33%\"}", 9);
    AUTO(batch) many = made("{\"size\": 100}", 9);

    assert_int_equal(batch_room(two, 0, 0), 2);
    assert_int_equal(batch_room(two, 1, 0), 1);
    assert_int_equal(batch_room(two, 2, 0), 0);
    assert_int_equal(batch_room(two, 5, 0), 0);
    assert_int_equal(batch_room(third, 0, 0), 2);
    assert_int_equal(batch_room(many, 0, 0), 9);
    assert_int_equal(two->silent_ms, 15000);
    assert_false(two->failhard);
}

/* A place that was used is free again `wait` seconds after its minion was found done. */
static void
test_rest(void **state)
{
    AUTO(batch) self = made("{\"size\": 2, \"wait\": 1.5, \"failhard\": true, \"timeout\": 0.5}", 9);

    assert_int_equal(self->silent_ms, 500);
    assert_true(self->failhard);
    assert_int_equal(batch_room(self, 0, 0), 2);
    assert_int_equal(batch_room(self, 2, 10), 0);
    assert_int_equal(batch_room(self, 1, 1000), 0);
    assert_int_equal(batch_room(self, 0, 1200), 0);
    assert_int_equal(batch_room(self, 0, 2499), 0);
    assert_int_equal(batch_room(self, 0, 2500), 1);
    assert_int_equal(batch_room(self, 1, 2600), 0);
    assert_int_equal(batch_room(self, 1, 2700), 1);
}

/* More minions may have the job than there are places, when silent ones are back: they fill no more rests. */
static void
test_more_than_places(void **state)
{
    AUTO(batch) self = made("{\"size\": 1, \"wait\": 1}", 9);

    assert_int_equal(batch_room(self, 5, 0), 0);
    assert_int_equal(batch_room(self, 0, 100), 0);
    assert_int_equal(batch_room(self, 0, 1100), 1);
}

static void
test_refused(void **state)
{
    static const struct {
        const char *spec, *text;
    } cases[] = {
        { "{}", "Invalid batch data sent: None" },
        { "{\"size\": \"many\"}", "Invalid batch data sent: many" },
        { "{\"size\": 0}", "Invalid batch data sent: 0" },
        { "{\"size\": 1, \"wait\": \"1\"}", "'wait' is a number of seconds, not \"1\"" },
        { "{\"size\": 1, \"wait\": -1}", "'wait' is a number of seconds, not -1" },
        { "{\"size\": 1, \"timeout\": 1e300}", "'timeout' is a number of seconds, not" },
        { "{\"size\": 1, \"timeout\": []}", "'timeout' is a number of seconds, not []" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *doc = json_loads(cases[i].spec, 0, NULL);
        fail_auto_t err = FAIL_INIT;
        assert_null(batch_new(doc, 5, 15, &err));
        assert_int_equal(err.code, -EINVAL);
        if (strstr(fail_text(&err), cases[i].text) == NULL)
            fail_msg("%s: %s", cases[i].spec, fail_text(&err));
    }
}

UNIT_MAIN(cmocka_unit_test(test_places), cmocka_unit_test(test_rest), cmocka_unit_test(test_more_than_places),
          cmocka_unit_test(test_refused))
