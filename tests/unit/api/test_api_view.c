/* test_api_view.c - what ?format_events shows after each event, against Salt's rest_cherrypy; and its bounds. */
#include "api/view.h"
#include "salt/value.h"
#include "unit/unit.h"

static json_t *
shown(view_t *view, view_part_t part)
{
    size_t len;
    const char *text = view_text(view, part, &len);

    return json_loadb(text, len, 0, NULL);
}

/* A case: an event, and the messages that Salt sends then. */
static void
test_salt(void **state)
{
    json_auto_t *cases = json_load_file(TEST_SOURCE_DIR "/tests/cases/api/view.json", 0, NULL);
    view_t *view = view_new();
    json_t *one;
    size_t i;

    assert_true(json_array_size(cases) > 10);
    json_array_foreach (cases, i, one) {
        const json_t *event = value_get(one, "event"), *sent = value_get(one, "sent");
        const uint64_t jobs = view_number(view, VIEW_OF_JOBS), minions = view_number(view, VIEW_OF_MINIONS);
        size_t n = 0;
        print_message("%s\n", value_str(event, "tag", ""));
        view_take(view, value_str(event, "tag", ""), value_get(event, "data"));
        if (view_number(view, VIEW_OF_JOBS) != jobs) {
            json_auto_t *got = shown(view, VIEW_OF_JOBS);
            assert_true(json_equal(got, json_array_get(sent, n++)));
        }
        if (view_number(view, VIEW_OF_MINIONS) != minions) {
            json_auto_t *got = shown(view, VIEW_OF_MINIONS);
            assert_true(json_equal(got, json_array_get(sent, n++)));
        }
        assert_int_equal(n, json_array_size(sent));
    }
    view_destroy(&view);
}

static void
test_shapes(void **state)
{
    static const char *const texts[] = {
        "null",
        "[]",
        "{}",
        "{\"minions\": 1, \"jid\": 2}",
        "{\"present\": [1, {}]}",
        "{\"minions\": [1, null], \"fun\": \"grains.items\", \"jid\": \"1\"}"
    };
    static const char *const tags[] = { "",
                                        "/",
                                        "salt/job",
                                        "salt/job/1",
                                        "salt/job/1/new",
                                        "salt/job/1/ret",
                                        "salt/key",
                                        "a/key",
                                        "salt/job/1/ret/a",
                                        "salt/job/1/ret/a/b",
                                        "salt/presence/present" };
    view_t *view = view_new();

    for (size_t i = 0; i < NELEMS(texts); i++)
        for (size_t k = 0; k < NELEMS(tags); k++) {
            json_auto_t *data = json_loads(texts[i], JSON_DECODE_ANY, NULL);
            view_take(view, tags[k], data);
            json_auto_t *jobs = shown(view, VIEW_OF_JOBS), *minions = shown(view, VIEW_OF_MINIONS);
            assert_true(json_is_object(jobs) && json_is_object(minions));
        }
    view_destroy(&view);
}

static void
test_bounds(void **state)
{
    view_t *view = view_new();
    AUTO_FREE char *large = xcalloc(1, 100001);
    size_t len;

    memset(large, 'x', 100000);
    for (int i = 0; i < 3 * VIEW_JOBS; i++) {
        AUTO_FREE char *tag = xasprintf("salt/job/%d/ret/m1", i);
        json_auto_t *data = json_pack("{s:s, s:b}", "return", i % 3 == 0 ? large : "small", "success", true);
        view_take(view, tag, data);
        (void) view_text(view, VIEW_OF_JOBS, &len);
        assert_true(len <= VIEW_BYTES + 64);
    }
    json_auto_t *jobs = shown(view, VIEW_OF_JOBS);
    assert_true(json_object_size(value_get(jobs, "jobs")) <= VIEW_JOBS);
    assert_non_null(value_get(value_get(jobs, "jobs"), "299"));
    for (int i = 0; i < 50; i++) {
        AUTO_FREE char *tag = xasprintf("salt/job/g/ret/m%d", i);
        json_auto_t *data = json_pack("{s:s, s:b, s:s}", "return", large, "success", true, "fun",
                                      "grains.items");
        view_take(view, tag, data);
    }
    (void) view_text(view, VIEW_OF_MINIONS, &len);
    assert_true(len <= VIEW_BYTES + 64 * 50);
    view_destroy(&view);
}

UNIT_MAIN(cmocka_unit_test(test_salt), cmocka_unit_test(test_shapes), cmocka_unit_test(test_bounds))
