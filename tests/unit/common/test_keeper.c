/* test_keeper.c - programs that are kept running. */
#include "unit/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/host/keeper.h"
#include "salt/value.h"

static json_int_t
field_of(const keeper_t *self, const char *name, const char *key)
{
    json_auto_t *all = keeper_status(self);

    return value_int(value_get(all, name), key, -1);
}

/* Returns when the program, if it runs, has ended; the keeper learns that by its next tick. */
static void
await_end(const keeper_t *self, const char *name)
{
    json_int_t pid = field_of(self, name, "pid");
    siginfo_t info;

    if (pid > 0)
        assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
}

/* Ticks until the program has been started so often. The time is the test's, so pauses take none. */
static void
tick_until(keeper_t *self, const char *name, json_int_t starts, int64_t *now_ms)
{
    for (int i = 0; i < 2000 && field_of(self, name, "starts") < starts; i++) {
        *now_ms += 1000;
        keeper_tick(self, *now_ms);
        clock_pause(0.005);
    }
    assert_int_equal(field_of(self, name, "starts"), starts);
}

static void
who_ends_begins_again(void **state)
{
    keeper_t *self = keeper_new();
    int64_t now_ms = clock_mono_ms();

    assert_true(keeper_is_empty(self));
    keeper_add(self, "long", "/bin/sleep", "600");
    keeper_add(self, "short", "/bin/true", "x");
    keeper_tick(self, now_ms);
    pid_t pid = (pid_t) field_of(self, "long", "pid");
    assert_true(pid > 0 && kill(pid, 0) == 0);
    tick_until(self, "short", 3, &now_ms);
    assert_int_equal(field_of(self, "long", "starts"), 1);
    json_auto_t *all = keeper_status(self);
    assert_string_equal(value_str(value_get(all, "short"), "ended", ""), "exit code 0");
    assert_int_equal(kill(pid, SIGKILL), 0);
    tick_until(self, "long", 2, &now_ms);
    json_auto_t *after = keeper_status(self);
    assert_string_equal(value_str(value_get(after, "long"), "ended", ""), "signal 9 (Killed)");
    pid = (pid_t) field_of(self, "long", "pid");
    keeper_clear(self);
    assert_true(keeper_is_empty(self));
    assert_true(kill(pid, 0) != 0);
    keeper_destroy(&self);
}

/* As in the minion, where one place waits for all children. */
static void
others_may_wait_for_them(void **state)
{
    keeper_t *self = keeper_new();
    int64_t now_ms = clock_mono_ms();
    int status;

    keeper_add(self, "one", "/bin/false", "x");
    keeper_tick(self, now_ms);
    pid_t pid = waitpid(-1, &status, 0);
    assert_false(keeper_ended(self, 0, status));
    assert_false(keeper_ended(self, pid + 1, status));
    assert_true(keeper_ended(self, pid, status));
    keeper_tick(self, now_ms);
    json_auto_t *all = keeper_status(self);
    assert_string_equal(value_str(value_get(all, "one"), "ended", ""), "exit code 1");
    assert_int_equal(value_int(value_get(all, "one"), "pid", -1), 0);
    keeper_destroy(&self);
}

static void
pauses_grow(void **state)
{
    keeper_t *self = keeper_new();
    int64_t now_ms = clock_mono_ms();

    keeper_add(self, "none", "/nosuch/program", "x");
    /* 1 + 2 + 4 + 8 + 16 + 32 seconds: seven starts in 64 ticks of a second each, not 64. */
    for (int i = 0; i < 64; i++) {
        keeper_tick(self, now_ms);
        await_end(self, "none");
        now_ms += 1000;
    }
    assert_in_range(field_of(self, "none", "starts"), 6, 7);
    keeper_destroy(&self);
}

static void
private_programs_are_beside(void **state)
{
    assert_null(keeper_program("no-such-program"));
    AUTO_FREE char *own = keeper_program("test_keeper");
    assert_non_null(own);
}

UNIT_MAIN(cmocka_unit_test(who_ends_begins_again), cmocka_unit_test(others_may_wait_for_them),
          cmocka_unit_test(pauses_grow), cmocka_unit_test(private_programs_are_beside))
