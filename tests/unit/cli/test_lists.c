/* test_lists.c - what runners list, as tables: the newest first, arguments as typed, and nothing of another
 * shape. */
#include "cli/lists.h"
#include "salt/value.h"
#include "unit/unit.h"

static const columns_look_t wide = { .width = 200, .utf8 = true, .paint = PAINT_NONE };

static void
assert_listed(const char *fun, const char *data, const char *want)
{
    json_auto_t *value = json_loads(data, JSON_DECODE_ANY, NULL);
    buf_auto_t out = BUF_INIT;

    assert_non_null(value);
    assert_int_equal(lists_text(fun, value, &wide, &out), want != NULL);
    assert_string_equal(buf_str(&out), want != NULL ? want : "");
}

static void
test_jobs(void **state)
{
    assert_listed(
        "jobs.list_jobs",
        "{\"20260102030405000001\": {\"Function\": \"test.ping\", \"Arguments\": [], \"Target\": \"*\", \"User\": \"root\"},"
        "\"20260102030406000001\": {\"Function\": \"test.arg\", \"Arguments\": [1, {\"__kwarg__\": true, \"a\": "
        "[true]}], \"Target\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"], \"User\": \"eve\"}}",
        "Job                   Started (UTC)        Function   Target             User  Arguments\n"
        "20260102030406000001  2026-01-02 03:04:06  test.arg   a, b, c, d, e, +1  eve   1 a=[True]\n"
        "20260102030405000001  2026-01-02 03:04:05  test.ping  *                  root  \n");
    assert_listed(
        "jobs.active",
        "{\"20260102030405000001\": {\"Function\": \"test.ping\", \"Arguments\": [\"x\"], \"Target\": \"*\", "
        "\"User\": \"root\", \"Running\": [{\"m1\": 7}, {\"m2\": 8}], \"Returned\": [\"m3\"]}}",
        "Job                   Started (UTC)        Function   Target  Running  Returned  User  Arguments\n"
        "20260102030405000001  2026-01-02 03:04:05  test.ping  *       m1, m2   1         root  x\n");
    assert_listed("jobs.active", "{}", "No job runs on a minion now.\n");
}

static void
test_orchestrations(void **state)
{
    assert_listed(
        "orchestrate.list",
        "{\"20260102030405000001\": {\"Mods\": \"deploy\", \"Start\": \"2026-01-02T03:04:05.000001\", "
        "\"End\": \"2026-01-02T03:06:07.500001\", \"Result\": true},"
        "\"20260102030505000001\": {\"Mods\": [\"a\", \"b\"], \"Start\": \"2026-01-02T03:05:05.000001\", "
        "\"End\": \"2026-01-02T03:05:07.500001\", \"Result\": false},"
        "\"20260102030605000001\": {\"Mods\": null, \"Start\": \"2026-01-02T03:06:05.000001\", "
        "\"End\": null, \"Result\": \"running\"}}",
        "Run                   Started (UTC)        Took        Result   SLS\n"
        "20260102030605000001  2026-01-02 03:06:05              running  None\n"
        "20260102030505000001  2026-01-02 03:05:05  2.5 s       False    a, b\n"
        "20260102030405000001  2026-01-02 03:04:05  2 min 02 s  True     deploy\n");
}

/* Other functions, errors and other shapes are left to the outputter. */
static void
test_others(void **state)
{
    assert_listed("jobs.lookup_jid", "{}", NULL);
    assert_listed("jobs.list_jobs", "\"an error\"", NULL);
    assert_listed("jobs.list_jobs", "{\"2026\": 7}", NULL);
    assert_listed("jobs.list_jobs", "{\"x\": {}}",
                  "Job  Started (UTC)  Function  Target  User  Arguments\n"
                  "x                                           \n");
    assert_listed("jobs.list_jobs", "{\"x\": {\"User\": \"u\", \"Function\": 7}}",
                  "Job  Started (UTC)  Function  Target  User  Arguments\n"
                  "x                                     u     \n");
}

UNIT_MAIN(cmocka_unit_test(test_jobs), cmocka_unit_test(test_orchestrations), cmocka_unit_test(test_others))
