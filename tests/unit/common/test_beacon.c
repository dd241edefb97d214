/* test_beacon.c - the engine of beacons: configuration, clock, edges, bounds, changes. */
#include "unit/unit.h"

#include "common/base/str.h"
#include "common/beacon/beacon.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

static char *
refuse_x(const json_t *list, const json_t *config)
{
    return value_get(config, "x") != NULL ? xstrdup("no x, please") : NULL;
}

static void *
open_nothing(beacon_look_t *look, fail_t *err)
{
    return NULL;
}

static const beacon_row_t plain = { .validate = refuse_x, .every_s = 5, .key = "mount" };
static const beacon_row_t told = { .open = open_nothing };

static const beacon_row_t *
row_of(void *cookie, const char *module)
{
    return str_eq(module, "plain") ? &plain : str_eq(module, "told") ? &told : NULL;
}

static void
count_gone(void *cookie, beacon_t *beacon)
{
    ++*(int *) cookie;
}

typedef struct stage {
    beacons_t *all;
    int gone;
} stage_t;

static int
begin(void **state)
{
    stage_t *s = xcalloc(1, sizeof(*s));
    const beacons_env_t env = { row_of, count_gone, &s->gone };
    log_open_file("/dev/null", LEVEL_QUIET, NULL);
    s->all = beacons_new(&env);
    *state = s;
    return 0;
}

static int
end(void **state)
{
    stage_t *s = *state;
    beacons_destroy(&s->all);
    free(s);
    return 0;
}

static json_t *
parsed(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(v);
    return v;
}

static void
configure(stage_t *s, const char *own, const char *pillar, int64_t now_ms)
{
    json_auto_t *a = parsed(own), *b = pillar != NULL ? parsed(pillar) : NULL;
    beacons_configure(s->all, a, b, now_ms);
}

static void
same_json(json_t *got, const char *want)
{
    json_auto_t *value = got, *expected = parsed(want);
    AUTO_FREE char *a = value_dump(value);
    AUTO_FREE char *b = value_dump(expected);
    if (!json_equal(value, expected))
        assert_string_equal(a, b);
}

static void
test_forms(void **state)
{
    same_json(beacon_list(NULL), "[]");
    json_auto_t *object = parsed("{\"a\": 1, \"b\": [2]}"),
                *list = parsed("[{\"a\": 1}, {\"b\": 2}, {\"a\": 3}]"), *text = parsed("\"x\"");
    same_json(beacon_list(object), "[{\"a\": 1}, {\"b\": [2]}]");
    same_json(beacon_dict(list), "{\"a\": 3, \"b\": 2}");
    assert_null(beacon_list(text));
    json_auto_t *named = parsed("[{\"a\": 1}, {\"beacon_module\": \"told\"}]");
    assert_string_equal(beacon_module("x", named), "told");
    assert_string_equal(beacon_module("x", list), "x");
}

static void
test_validation(void **state)
{
    static const struct {
        const char *given, *why;
    } rows[] = {
        { "[]", NULL },
        { "{\"a\": 1, \"interval\": 2.5}", NULL },
        { "\"text\"", "Configuration for plain beacon must be a list." },
        { "[\"text\"]", "Configuration for plain beacon must be a list of dictionaries." },
        { "[{\"interval\": \"often\"}]", "Configuration for plain beacon: interval is a number of seconds." },
        { "[{\"interval\": -1}]", "Configuration for plain beacon: interval is a number of seconds." },
        { "[{\"x\": 1}]", "no x, please" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *given = parsed(rows[i].given);
        AUTO_FREE char *why = beacon_validate(&plain, "plain", given);
        if (rows[i].why == NULL)
            assert_null(why);
        else
            assert_string_equal(why, rows[i].why);
    }
}

/* The minion's wins over the pillar's, whole; what is off is not there. */
static void
test_merging(void **state)
{
    stage_t *s = *state;
    configure(s, "{\"plain\": [{\"a\": 1}], \"off\": [{\"enabled\": false}]}",
              "{\"plain\": [{\"b\": 2}], \"told\": {\"c\": 3, \"interval\": 7}}", 1000);
    assert_int_equal(beacons_count(s->all), 2);
    same_json(json_incref(beacons_find(s->all, "plain")->list), "[{\"a\": 1}]");
    same_json(json_incref(beacons_find(s->all, "told")->config), "{\"c\": 3}");
    assert_int_equal(beacons_find(s->all, "told")->every_ms, 7000);
    assert_null(beacons_find(s->all, "off"));
    configure(s, "{\"enabled\": false, \"plain\": []}", NULL, 1000);
    assert_int_equal(beacons_count(s->all), 0);
    assert_int_equal(s->gone, 2);
}

/* What is as before goes on; what changed begins anew. */
static void
test_reload(void **state)
{
    stage_t *s = *state;
    configure(s, "{\"plain\": [{\"a\": 1}], \"other\": [{\"b\": 1}]}", NULL, 1000);
    beacon_t *kept = beacons_find(s->all, "plain");
    kept->last_ms = 42;
    configure(s, "{\"plain\": [{\"a\": 1}], \"other\": [{\"b\": 2}]}", NULL, 2000);
    assert_ptr_equal(beacons_find(s->all, "plain"), kept);
    assert_int_equal(beacons_find(s->all, "plain")->last_ms, 42);
    assert_int_equal(s->gone, 1);
}

static void
test_clock(void **state)
{
    stage_t *s = *state;
    configure(s,
              "{\"plain\": [], \"slow\": [{\"beacon_module\": \"plain\"}, {\"interval\": 60}], \"told\": []}",
              NULL, 1000);
    for (int i = 0; i < 3; i++)
        assert_non_null(beacons_due(s->all, 1000));
    assert_null(beacons_due(s->all, 1000));
    assert_int_equal(beacons_next_ms(s->all), 6000);
    assert_string_equal(beacons_due(s->all, 6000)->name, "plain");
    assert_int_equal(beacons_next_ms(s->all), 11000);
    beacon_readable(beacons_find(s->all, "told"), 6500);
    assert_int_equal(beacons_next_ms(s->all), 6500);
    assert_string_equal(beacons_due(s->all, 6500)->name, "told");
    /* At once, but not for each of many changes. */
    beacon_readable(beacons_find(s->all, "told"), 6501);
    assert_int_equal(beacons_next_ms(s->all), 6510);
    assert_string_equal(beacons_due(s->all, 6510)->name, "told");
    assert_string_equal(beacons_due(s->all, 11000)->name, "plain");
    assert_string_equal(beacons_due(s->all, 61000)->name, "plain");
    assert_string_equal(beacons_due(s->all, 61000)->name, "slow");

    /* With an interval, a descriptor is looked at once, and then not more often. */
    configure(s, "{\"told\": [{\"interval\": 10}]}", NULL, 70000);
    beacon_t *told_one = beacons_due(s->all, 70000);
    beacon_readable(told_one, 71000);
    assert_int_equal(beacons_next_ms(s->all), 80000);
}

static void
test_events(void **state)
{
    stage_t *s = *state;
    configure(s, "{\"plain\": [], \"told\": []}", NULL, 0);
    beacon_t *b = beacons_find(s->all, "plain");
    same_json(beacon_events(b, "web", parsed("[{\"a\": 1}, {\"tag\": \"/x\", \"id\": \"other\"}, 7]"), 1),
              "[{\"tag\": \"salt/beacon/web/plain/\", \"data\": {\"a\": 1, \"id\": \"web\"}},"
              " {\"tag\": \"salt/beacon/web/plain//x\", \"data\": {\"id\": \"other\"}},"
              " {\"tag\": \"salt/beacon/web/plain/\", \"data\": {\"data\": 7, \"id\": \"web\"}}]");
    same_json(
        beacon_error(b, "web", "gone"),
        "{\"tag\": \"salt/beacon/web/plain/\", \"data\": {\"id\": \"web\", \"error\": \"gone\", \"beacon_name\": \"plain\", \"data\": {}}}");
    /* What a descriptor told twice is one event. */
    same_json(
        beacon_events(beacons_find(s->all, "told"), "web", parsed("[{\"a\": 1}, {\"a\": 2}, {\"a\": 1}]"), 1),
        "[{\"tag\": \"salt/beacon/web/told/\", \"data\": {\"a\": 1, \"id\": \"web\"}},"
        " {\"tag\": \"salt/beacon/web/told/\", \"data\": {\"a\": 2, \"id\": \"web\"}}]");
}

static size_t
fired(beacon_t *b, const char *found)
{
    json_auto_t *events = beacon_events(b, "web", parsed(found), 1);
    return json_array_size(events);
}

static void
test_edges(void **state)
{
    stage_t *s = *state;
    configure(
        s,
        "{\"plain\": [{\"onchangeonly\": true}], \"q\": [{\"beacon_module\": \"plain\"}, {\"onchangeonly\": true}, {\"emitatstartup\": false}]}",
        NULL, 0);
    beacon_t *b = beacons_find(s->all, "plain");
    assert_int_equal(fired(b, "[{\"mount\": \"/\", \"v\": 1}]"), 1);
    assert_int_equal(fired(b, "[{\"mount\": \"/\", \"v\": 2}]"), 0);
    assert_int_equal(fired(b, "[{\"mount\": \"/\", \"v\": 2}, {\"mount\": \"/home\", \"v\": 2}]"), 1);
    assert_int_equal(fired(b, "[]"), 0);
    assert_int_equal(fired(b, "[{\"mount\": \"/\", \"v\": 2}]"), 1);
    b = beacons_find(s->all, "q");
    assert_int_equal(fired(b, "[{\"mount\": \"/\"}]"), 0);
    assert_int_equal(fired(b, "[]"), 0);
    assert_int_equal(fired(b, "[{\"mount\": \"/\"}]"), 1);
}

/* More than fit are counted, and told once in a second. */
static void
test_storm(void **state)
{
    stage_t *s = *state;
    enum { MANY = 3 * LIMIT_BEACON_BURST };
    configure(s, "{\"told\": []}", NULL, 0);
    beacon_t *b = beacons_find(s->all, "told");
    json_t *found = json_array();
    for (int i = 0; i < MANY; i++)
        json_array_append_new(found, json_pack("{s:s, s:i}", "tag", i % 2 ? "/a" : "/b", "n", i));
    json_auto_t *events = beacon_events(b, "web", found, 5000);
    assert_int_equal(json_array_size(events), LIMIT_BEACON_BURST);
    assert_null(beacon_merged(b, "web", 5999));
    b->due_ms = 0;
    assert_int_equal(beacons_next_ms(s->all), 6000);
    json_auto_t *news = beacon_merged(b, "web", 6000);
    assert_string_equal(value_str(news, "tag", ""), "salt/beacon/web/told/merged");
    assert_int_equal(value_int(value_get(news, "data"), "merged", 0), MANY - LIMIT_BEACON_BURST);
    json_t *tags = value_get(value_get(news, "data"), "tags");
    assert_int_equal(value_int(tags, "/a", 0) + value_int(tags, "/b", 0), MANY - LIMIT_BEACON_BURST);
    assert_null(beacon_merged(b, "web", 9000));
}

/* Events that nothing had room for are counted until there is room, and so is what told of them. */
static void
test_unsent(void **state)
{
    stage_t *s = *state;
    configure(s, "{\"plain\": []}", NULL, 0);
    beacon_t *b = beacons_find(s->all, "plain");
    json_auto_t *events = beacon_events(b, "web",
                                        parsed("[{\"tag\": \"/a\"}, {\"tag\": \"/a\"}, {\"b\": 1}]"), 1);
    beacon_unsent(b, "web", json_array_get(events, 0), 1000);
    beacon_unsent(b, "web", json_array_get(events, 2), 1500);
    assert_null(beacon_merged(b, "web", 11499));
    json_auto_t *news = beacon_merged(b, "web", 11500);
    beacon_unsent(b, "web", news, 11500);
    beacon_unsent(b, "web", json_array_get(events, 1), 12000);
    assert_null(beacon_merged(b, "web", 21999));
    same_json(beacon_merged(b, "web", 22000),
              "{\"tag\": \"salt/beacon/web/plain/merged\","
              " \"data\": {\"id\": \"web\", \"merged\": 3, \"tags\": {\"/a\": 2, \"\": 1}}}");
    assert_null(beacon_merged(b, "web", 40000));
}

static void
change(json_t *own, const char *request, const char *want)
{
    json_auto_t *asked = parsed(request), *pillar = parsed("{\"p\": []}");
    const char *event = NULL;
    json_auto_t *answer = beacons_change(own, pillar, asked, &event);
    assert_non_null(answer);
    assert_true(str_starts(event, "/salt/minion/minion_beacon"));
    json_object_del(answer, "beacons");
    same_json(json_incref(answer), want);
}

static void
test_changes(void **state)
{
    json_auto_t *own = json_object();
    change(own, "{\"do\": \"add\", \"name\": \"a\", \"beacon_data\": [{\"x\": 1}]}",
           "{\"complete\": true, \"comment\": \"Added new beacon item: a\"}");
    change(
        own, "{\"do\": \"add\", \"name\": \"p\"}",
        "{\"complete\": false, \"comment\": \"Cannot update beacon item p, because it is configured in pillar.\"}");
    change(own, "{\"do\": \"disable_beacon\", \"name\": \"a\"}",
           "{\"complete\": true, \"comment\": \"Disabling beacon item a\"}");
    change(
        own, "{\"do\": \"enable_beacon\", \"name\": \"p\"}",
        "{\"complete\": false, \"comment\": \"Cannot enable beacon item p, it is configured in pillar.\"}");
    change(own, "{\"do\": \"disable\"}", "{\"complete\": true}");
    same_json(json_deep_copy(own), "{\"a\": [{\"x\": 1}, {\"enabled\": false}], \"enabled\": false}");
    change(own, "{\"do\": \"enable_beacon\", \"name\": \"a\"}",
           "{\"complete\": true, \"comment\": \"Enabling beacon item a\"}");
    change(own, "{\"do\": \"modify\", \"name\": \"a\", \"beacon_data\": {\"y\": 1}}",
           "{\"complete\": true, \"comment\": \"Updating settings for beacon item: a\"}");
    change(own, "{\"do\": \"disable_beacon\", \"name\": \"a\"}",
           "{\"complete\": true, \"comment\": \"Disabling beacon item a\"}");
    same_json(json_deep_copy(own), "{\"a\": {\"y\": 1, \"enabled\": false}, \"enabled\": false}");
    change(own, "{\"do\": \"delete\", \"name\": \"b\"}",
           "{\"complete\": true, \"comment\": \"Beacon item b not found.\"}");
    change(own, "{\"do\": \"delete\", \"name\": \"a\"}",
           "{\"complete\": true, \"comment\": \"Deleting beacon item: a\"}");
    change(own, "{\"do\": \"reset\"}", "{\"complete\": true, \"comment\": \"Beacons have been reset\"}");
    same_json(json_deep_copy(own), "{}");
}

/* A beacon that goes on through a reload would keep the parts of the configuration that it shares with the one
 * of before, beside the fresh one's. */
static void
test_shares_nothing(void **state)
{
    stage_t *s = *state;
    json_auto_t *own = parsed("{\"plain\": [{\"a\": {\"b\": [1, \"c\"]}}], \"other\": {\"d\": {\"e\": 1}}}");
    beacons_configure(s->all, own, NULL, 1000);
    json_t *a = value_get(json_array_get(value_get(own, "plain"), 0), "a");
    assert_int_equal(beacons_count(s->all), 2);
    assert_int_equal(a->refcount, 1);
    assert_int_equal(value_get(a, "b")->refcount, 1);
    assert_int_equal(value_get(value_get(own, "other"), "d")->refcount, 1);
}

UNIT_MAIN(cmocka_unit_test(test_forms), cmocka_unit_test(test_validation),
          cmocka_unit_test_setup_teardown(test_merging, begin, end),
          cmocka_unit_test_setup_teardown(test_shares_nothing, begin, end),
          cmocka_unit_test_setup_teardown(test_reload, begin, end),
          cmocka_unit_test_setup_teardown(test_clock, begin, end),
          cmocka_unit_test_setup_teardown(test_events, begin, end),
          cmocka_unit_test_setup_teardown(test_edges, begin, end),
          cmocka_unit_test_setup_teardown(test_storm, begin, end),
          cmocka_unit_test_setup_teardown(test_unsent, begin, end), cmocka_unit_test(test_changes))
