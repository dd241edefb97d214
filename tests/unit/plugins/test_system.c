/* test_system.c - what `system` takes for dates, offsets and descriptions: Python's answers; and its command
 * lines, by programs of our own on PATH. */
#include "unit/unit.h"

#include "plugins/lib/system/datetime.h"
#include "plugins/lib/system/machineinfo.h"
#include "unit/plugins/fakes.h"

extern const plugin_t exec_system;

static const char *const times[] = { "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S", "%H:%M", NULL };
static const char *const dates[] = { "%Y-%m-%d", "%m-%d-%Y", "%m-%d-%y", "%m/%d/%Y",
                                     "%m/%d/%y", "%Y/%m/%d", NULL };

static void
test_times(void **state)
{
    static const struct {
        const char *text;
        int hour, minute, second; /* hour -1: refused */
    } rows[] = {
        { "11:20", 11, 20, 0 },     { "23:59:59", 23, 59, 59 }, { "1:2:3", 1, 2, 3 },
        { "12:00 AM", 0, 0, 0 },    { "12:00 pm", 12, 0, 0 },   { "1:05:07 PM", 13, 5, 7 },
        { "11:20  PM", 23, 20, 0 }, { "13:00 PM", -1, 0, 0 },   { "24:00", -1, 0, 0 },
        { "11:60", -1, 0, 0 },      { "11", -1, 0, 0 },         { "", -1, 0, 0 },
        { "11:20 ", -1, 0, 0 },     { " 11:20", -1, 0, 0 },     { "11:20PM", -1, 0, 0 },
        { "11:20:60", -1, 0, 0 },   { "011:20", -1, 0, 0 },     { "-1:20", -1, 0, 0 },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        datetime_t c = { 0 };
        bool ok = datetime_parse(rows[i].text, times, &c);
        if (ok != (rows[i].hour >= 0))
            fail_msg("'%s' was %s", rows[i].text, ok ? "taken" : "refused");
        if (ok && (c.hour != rows[i].hour || c.minute != rows[i].minute || c.second != rows[i].second))
            fail_msg("'%s' is %d:%d:%d", rows[i].text, c.hour, c.minute, c.second);
    }
}

static void
test_dates(void **state)
{
    static const struct {
        const char *text;
        int year, month, day; /* year 0: refused */
    } rows[] = {
        { "2026-11-20", 2026, 11, 20 }, { "03-28-13", 2013, 3, 28 },   { "3-8-2013", 2013, 3, 8 },
        { "12/31/68", 2068, 12, 31 },   { "12/31/69", 1969, 12, 31 },  { "2024/02/29", 2024, 2, 29 },
        { "2023-02-29", 0, 0, 0 },      { "2000-02-29", 2000, 2, 29 }, { "1900-02-29", 0, 0, 0 },
        { "2026-13-01", 0, 0, 0 },      { "20-11-2026", 0, 0, 0 },     { "2026.11.20", 0, 0, 0 },
        { "2026-11-20x", 0, 0, 0 },     { "0000-01-01", 0, 0, 0 },     { "26-11-20", 0, 0, 0 },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        datetime_t c = { 0 };
        bool ok = datetime_parse(rows[i].text, dates, &c);
        if (ok != (rows[i].year > 0))
            fail_msg("'%s' was %s", rows[i].text, ok ? "taken" : "refused");
        if (ok && (c.year != rows[i].year || c.month != rows[i].month || c.day != rows[i].day))
            fail_msg("'%s' is %d-%d-%d", rows[i].text, c.year, c.month, c.day);
    }
}

static void
test_ranges(void **state)
{
    static const struct {
        datetime_t c;
        const char *want;
    } rows[] = {
        { { 2026, 11, 20, 0, 0, 0 }, "" },
        { { 2024, 2, 29, 23, 59, 59 }, "" },
        { { 0, 11, 20, 0, 0, 0 }, "year 0 is out of range" },
        { { 10000, 11, 20, 0, 0, 0 }, "year 10000 is out of range" },
        { { 2026, 13, 20, 0, 0, 0 }, "month must be in 1..12" },
        { { 2026, 0, 20, 0, 0, 0 }, "month must be in 1..12" },
        { { 2026, 2, 29, 0, 0, 0 }, "day is out of range for month" },
        { { 2026, 2, 1, 24, 0, 0 }, "hour must be in 0..23" },
        { { 2026, 2, 1, -1, 0, 0 }, "hour must be in 0..23" },
        { { 2026, 2, 1, 0, 60, 0 }, "minute must be in 0..59" },
        { { 2026, 2, 1, 0, 0, 60 }, "second must be in 0..59" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        int rc = datetime_check(&rows[i].c, &err);
        assert_string_equal(rc < 0 ? fail_text(&err) : "", rows[i].want);
    }
}

static void
test_offsets(void **state)
{
    static const struct {
        const char *text;
        int minutes; /* 9999: refused */
    } rows[] = { { "+0530", 330 }, { "-0300", -180 },  { "0800", 480 },  { "+0000", 0 },
                 { "-0030", -30 }, { "530", 9999 },    { "", 9999 },     { "+", 9999 },
                 { "x", 9999 },    { "+05:30", 9999 }, { "05300", 9999 } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        int minutes = 0, rc = datetime_offset(rows[i].text, &minutes, &err);
        if (rows[i].minutes == 9999)
            assert_string_equal(fail_text(&err), "Invalid UTC offset");
        else
            assert_int_equal(rc == 0 ? minutes : 9999, rows[i].minutes);
    }
}

static void
test_shift(void **state)
{
    datetime_t new_year = { 2026, 12, 31, 23, 30, 5 }, march = { 2024, 3, 1, 0, 10, 0 };
    datetime_t after = datetime_shift(&new_year, 330), before = datetime_shift(&march, -30);

    assert_int_equal(after.year, 2027);
    assert_int_equal(after.month, 1);
    assert_int_equal(after.day, 1);
    assert_int_equal(after.hour, 5);
    assert_int_equal(after.minute, 0);
    assert_int_equal(after.second, 5);
    assert_int_equal(before.month, 2);
    assert_int_equal(before.day, 29);
    assert_int_equal(before.hour, 23);
}

static void
test_description(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", NULL },
        { "ICON_NAME=computer\n", NULL },
        { "PRETTY_HOSTNAME=\"Lennart's \\\"big\\\" box\"\n", "Lennart's \"big\" box" },
        { "PRETTY_HOSTNAME='a b'\n", "a b" },
        { "  PRETTY_HOSTNAME=plain  \nPRETTY_HOSTNAME=last", "last" },
        { "PRETTY_HOSTNAME=\"a\\nb\\tc\\\\d\"", "a\nb\tc\\d" },
        { "PRETTY_HOSTNAME=\n", "" },
        { "PRETTY_HOSTNAME=\"\n", "\"" },
        { "#PRETTY_HOSTNAME=x\n", NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *got = machineinfo_get(rows[i].text);
        if (!str_eq(got, rows[i].want))
            fail_msg("%s: %s", rows[i].text, got != NULL ? got : "nothing");
    }
}

static void
test_describe(void **state)
{
    static const char *const rows[][3] = {
        { "", "x", "PRETTY_HOSTNAME=\"x\"\n" },
        { "A=1\nPRETTY_HOSTNAME=old\nB=2\n", "new", "A=1\nPRETTY_HOSTNAME=\"new\"\nB=2\n" },
        { "A=1", "say \"x\"\n\t", "A=1\nPRETTY_HOSTNAME=\"say \\\"x\\\"\\n\\t\"\n" },
        { "PRETTY_HOSTNAME=a\n\nB=2\n", "c", "PRETTY_HOSTNAME=\"c\"\n\nB=2\n" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *text = machineinfo_set(rows[i][0], rows[i][1]);
        AUTO_FREE char *back = machineinfo_get(text);
        assert_string_equal(text, rows[i][2]);
        assert_string_equal(back, rows[i][1]);
    }
}

/* ---- command lines ---------------------------------------------------------------------------------- */

static int
set_up(void **state)
{
    static const char *const programs[] = { "date", "hwclock", "halt", "poweroff", "shutdown", "init" };

    assert_int_equal(fakes_begin(), 0);
    for (size_t i = 0; i < NELEMS(programs); i++)
        fakes_program(programs[i]);
    return 0;
}

static void
test_power(void **state)
{
    static const fakes_row_t rows[] = {
        { "system.halt", "[]", "{}", "\"\"", "halt\n" },
        { "system.poweroff", "[]", "{}", "\"\"", "poweroff\n" },
        { "system.reboot", "[]", "{}", "\"\"", "shutdown [-r] [now]\n" },
        { "system.reboot", "[5]", "{}", "\"\"", "shutdown [-r] [5]\n" },
        { "system.shutdown", "[0]", "{}", "\"\"", "shutdown [-h] [now]\n" },
        { "system.shutdown", "[]", "{\"at_time\": \"23:15\"}", "\"\"", "shutdown [-h] [23:15]\n" },
        { "system.init", "[3]", "{}", "\"\"", "init [3]\n" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        fakes_check(&exec_system, &rows[i]);
}

#define CLOCKS "hwclock [--test] [--systohc]\nhwclock [--systohc]\n"

static void
test_clock(void **state)
{
    static const fakes_row_t rows[] = {
        { "system.set_system_date_time", "[2026, 11, 20, 9, 5, 7]", "{}", "true",
          "date [112009052026.07]\n" CLOCKS },
        { "system.set_system_date_time", "[2026, 1, 1, 1, 0, 0, \"+0530\"]", "{}", "true",
          "date [-u] [123119302025.00]\n" CLOCKS },
        { "system.has_settable_hwclock", "[]", "{}", "true", "hwclock [--test] [--systohc]\n" },
    };
    fail_auto_t err = FAIL_INIT;

    for (size_t i = 0; i < NELEMS(rows); i++)
        fakes_check(&exec_system, &rows[i]);
    fakes_put("code", 0644, "1");
    fakes_put("said", 0644, "date: no right\n");
    assert_null(
        fakes_call(&exec_system, "system.set_system_date_time", "[2026, 11, 20, 9, 5, 7]", "{}", &err));
    assert_string_equal(fail_text(&err), "date failed: date: no right");
    AUTO_FREE char *log = fakes_log();
    assert_string_equal(log, "date [112009052026.07]\ndate [112009052026]\n");
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fakes_end)
UNIT_MAIN(cmocka_unit_test(test_times), cmocka_unit_test(test_dates), cmocka_unit_test(test_ranges),
          cmocka_unit_test(test_offsets), cmocka_unit_test(test_shift), cmocka_unit_test(test_description),
          cmocka_unit_test(test_describe), HOST_TEST(test_power), HOST_TEST(test_clock))
