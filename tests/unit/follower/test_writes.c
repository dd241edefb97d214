/* test_writes.c - what followers store of an event, and the followers' file. */
#include "unit/unit.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/plugin/returning.h"
#include "follower/follow.h"

static void
check_write(const char *kind, const char *tag, const char *data, const char *wanted)
{
    json_auto_t *given = json_loads(data, 0, NULL), *expected = json_loads(wanted, JSON_DECODE_ANY, NULL);
    json_auto_t *last = NULL, *found = writes_of(kind, tag, given, &last);
    AUTO_FREE char *text = json_dumps(found, JSON_SORT_KEYS | JSON_ENCODE_ANY),
                   *other = json_dumps(expected, JSON_SORT_KEYS | JSON_ENCODE_ANY);

    if (json_is_null(expected))
        assert_null(found);
    else
        assert_string_equal(text, other);
}

static void
events_are_whole(void **state)
{
    check_write("event_return", "a/b", "{\"x\": 1}", "{\"event\": {\"tag\": \"a/b\", \"data\": {\"x\": 1}}}");
    check_write("event_return", "salt/job/1/new", "{}",
                "{\"event\": {\"tag\": \"salt/job/1/new\", \"data\": {}}}");
}

static void
jobs_are_loads(void **state)
{
    const char *job =
        "{\"jid\": \"7\", \"fun\": \"f.g\", \"arg\": [1], \"tgt\": \"*\", \"tgt_type\": \"glob\", \"user\": \"root\", "
        "\"minions\": [\"a\"], \"missing\": [], \"metadata\": {\"k\": 1}}";
    const char *load =
        "{\"jid\": \"7\", \"minions\": [\"a\"], \"load\": {\"cmd\": \"publish\", \"jid\": \"7\", \"fun\": \"f.g\", "
        "\"arg\": [1], \"tgt\": \"*\", \"tgt_type\": \"glob\", \"user\": \"root\", \"ret\": \"\", "
        "\"kwargs\": {\"metadata\": {\"k\": 1}}}}";

    check_write("master_job_cache", "salt/job/7/new", job, load);
    check_write("ext_job_cache", "salt/job/7/new", job, load);
    check_write("master_job_cache", "salt/job/7/prog/a/1", job, "null");
    check_write("master_job_cache", "other/new", job, "null");
    check_write("master_job_cache", "salt/job/7/new", "{}", "null");
}

static void
returns_have_a_load(void **state)
{
    const char *ret =
        "{\"jid\": \"7\", \"id\": \"a\", \"fun\": \"f.g\", \"fun_args\": [2], \"return\": null}";

    check_write(
        "master_job_cache", "salt/job/7/ret/a", ret,
        "{\"ret\": {\"jid\": \"7\", \"id\": \"a\", \"fun\": \"f.g\", \"fun_args\": [2], \"return\": null}, "
        "\"load\": {\"cmd\": \"publish\", \"jid\": \"7\", \"fun\": \"f.g\", \"arg\": [2], \"tgt\": \"a\", "
        "\"tgt_type\": \"glob\", \"ret\": \"\", \"kwargs\": {}}}");
    check_write("master_job_cache", "salt/job/7/ret/a",
                "{\"jid\": \"7\", \"id\": \"a\", \"return\": 1, \"ret_config\": \"other\", "
                "\"ret_kwargs\": {\"host\": \"evil\"}}",
                "{\"ret\": {\"jid\": \"7\", \"id\": \"a\", \"return\": 1}, \"load\": {\"cmd\": \"publish\", "
                "\"jid\": \"7\", \"tgt\": \"a\", \"tgt_type\": \"glob\", \"ret\": \"\", \"kwargs\": {}}}");
    check_write("ext_job_cache", "salt/job/7/ret/a", ret, "null");
    check_write("master_job_cache", "salt/job/7/ret/a", "{\"jid\": \"7\", \"id\": \"a\"}", "null");
}

static void
returns_of_a_job_share_a_load(void **state)
{
    json_auto_t *last = NULL, *one = json_pack("{s:s, s:s, s:i}", "jid", "7", "id", "a", "return", 1),
                *two = json_pack("{s:s, s:s, s:i}", "jid", "7", "id", "b", "return", 1),
                *other = json_pack("{s:s, s:s, s:i}", "jid", "8", "id", "b", "return", 1);
    json_auto_t *a = writes_of("master_job_cache", "salt/job/7/ret/a", one, &last),
                *b = writes_of("master_job_cache", "salt/job/7/ret/b", two, &last),
                *c = writes_of("master_job_cache", "salt/job/8/ret/b", other, &last);

    assert_ptr_equal(value_get(a, "load"), value_get(b, "load"));
    assert_ptr_not_equal(value_get(b, "load"), value_get(c, "load"));
    assert_string_equal(value_str(value_get(c, "load"), "jid", ""), "8");
}

static void
lists_choose_tags(void **state)
{
    json_auto_t *none = json_object(),
                *both = json_pack("{s:[s, s], s:[s]}", "event_return_whitelist", "a/*", "b",
                                  "event_return_blacklist", "a/x*"),
                *black = json_pack("{s:[s]}", "event_return_blacklist", "*");

    assert_true(writes_wanted(none, "a"));
    assert_true(writes_wanted(both, "a/b/c"));
    assert_true(writes_wanted(both, "b"));
    assert_false(writes_wanted(both, "a/xy"));
    assert_false(writes_wanted(both, "c"));
    assert_false(writes_wanted(black, "c"));
}

/* What a follower of the kind, with these options, asks the master for. */
static void
check_request(const char *kind, json_t *opts, const char *wanted)
{
    const follow_spec_t spec = { .kind = kind, .returner = "r", .name = "kind.r", .opts = opts };
    json_auto_t *found = writes_request(&spec, 7);

    assert_int_equal(value_int(found, "since_seq", 0), 7);
    assert_int_equal(value_int(found, "marks", 0), 10000);
    assert_string_equal(value_str(found, "follower", ""), "kind.r");
    json_auto_t *lists = json_pack("{s:O, s:O*}", "tags", value_get(found, "tags"), "except",
                                   value_get(found, "except"));
    AUTO_FREE char *text = json_dumps(lists, JSON_SORT_KEYS | JSON_COMPACT);
    assert_string_equal(text, wanted);
    json_decref(opts);
}

/* Lists that the master would refuse are looked at by the follower. */
static void
the_master_compares_tags(void **state)
{
    char longer[LIMIT_TAG_LEN + 2] = "";

    memset(longer, 'x', sizeof(longer) - 1);
    check_request("event_return", json_object(), "{\"tags\":[\"*\"]}");
    check_request("event_return",
                  json_pack("{s:[s, i, s], s:[s]}", "event_return_whitelist", "a/*", 1, "b",
                            "event_return_blacklist", "a/x*"),
                  "{\"except\":[\"a/x*\"],\"tags\":[\"a/*\",\"b\"]}");
    check_request("event_return",
                  json_pack("{s:[s, s], s:[s]}", "event_return_whitelist", "a/*", longer,
                            "event_return_blacklist", longer),
                  "{\"tags\":[\"*\"]}");
    check_request("master_job_cache", json_object(), "{\"tags\":[\"salt/job/*/new\",\"salt/job/*/ret/*\"]}");
    check_request("ext_job_cache", json_object(), "{\"tags\":[\"salt/job/*/new\"]}");
}

static void
names_in_the_log_have_no_values(void **state)
{
    static const char *const cases[][2] = {
        { "{\"event\": {\"tag\": \"a/b\", \"data\": {\"x\": \"MARK\"}}, \"seq\": 7}", "event 7 'a/b'" },
        { "{\"ret\": {\"id\": \"m1\", \"jid\": \"9\", \"return\": \"MARK\"}, \"load\": {\"arg\": [\"MARK\"]}}",
          "the return of 'm1' in job 9" },
        { "{\"jid\": \"9\", \"load\": {\"arg\": [\"MARK\"]}}", "the load of job 9" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *write = json_loads(cases[i][0], 0, NULL);
        AUTO_FREE char *text = returning_shown(write);
        assert_string_equal(text, cases[i][1]);
    }
}

static void
file_keeps_the_cursor(void **state)
{
    static const struct {
        cursor_t at;
        const char *failed;
        uint64_t kept;
    } cases[] = { { { 17, 0 }, NULL, 0 },
                  { { 18, 0 }, "away", 0 },
                  { { 18, 10018 }, NULL, 10018 },
                  { { 19, 19 }, NULL, 0 } };
    char dir[] = "/tmp/halite-cursor-XXXXXX";
    fail_auto_t err = FAIL_INIT, other = FAIL_INIT;
    cursor_t at = { 0 };

    assert_non_null(mkdtemp(dir));
    AUTO_FD lock = cursor_lock(dir, "a.b", &err);
    assert_true(lock >= 0);
    assert_true(cursor_lock(dir, "a.b", &other) < 0);
    assert_non_null(strstr(fail_text(&other), "another process follows"));
    assert_int_equal(cursor_read(dir, "a.b", &at, &err), 0);
    for (size_t i = 0; i < NELEMS(cases); i++) {
        assert_int_equal(cursor_write(dir, "a.b", &cases[i].at, cases[i].failed, i == 0, &err), 0);
        assert_int_equal(cursor_read(dir, "a.b", &at, &err), 1);
        assert_int_equal(at.seq, cases[i].at.seq);
        assert_int_equal(at.seen, cases[i].kept);
    }
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

UNIT_MAIN(cmocka_unit_test(events_are_whole), cmocka_unit_test(jobs_are_loads),
          cmocka_unit_test(returns_have_a_load), cmocka_unit_test(returns_of_a_job_share_a_load),
          cmocka_unit_test(lists_choose_tags), cmocka_unit_test(the_master_compares_tags),
          cmocka_unit_test(names_in_the_log_have_no_values), cmocka_unit_test(file_keeps_the_cursor))
