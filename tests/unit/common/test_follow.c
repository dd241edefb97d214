/* follow.h: outcomes and the decision when to stop waiting, with a clock of our own. */
#include "unit/unit.h"

#include "common/local/follow.h"
#include "salt/value.h"

#define JID     "20261120093630303840"
#define TIMEOUT 5000

static follow_t *
job_of(const char *first, const char *second, const char *missing)
{
    json_auto_t *ids = json_pack("[s, s]", first, second), *none = json_array();

    if (missing != NULL)
        json_array_append_new(none, json_string(missing));
    return follow_new(JID, ids, none, 0);
}

static bool
say(follow_t *f, const char *kind, const char *id, const char *verdict, int64_t now)
{
    json_auto_t *push = json_pack("{s:s, s:s, s:s, s:s}", "push", kind, "jid", JID, "id", id, "verdict",
                                  verdict);

    return follow_push(f, push, now);
}

static char *
silent(follow_t *f, bool over, int64_t now)
{
    outcome_t outcome;
    AUTO_FREE char *text = NULL;
    const char *id = follow_silent(f, over, now, &outcome, &text);

    return id != NULL ? xasprintf("%s %.*s", id, (int) strcspn(text, "\n"), text) : NULL;
}

static void
expect_silent(follow_t *f, bool over, int64_t now, const char *want)
{
    AUTO_FREE char *got = silent(f, over, now);

    if (want == NULL)
        assert_null(got);
    else
        assert_string_equal(got, want);
}

/* What the master says of a minion that has the job and lost its connection. */
static void
away(follow_t *f, const char *id, const char *verdict, int64_t now)
{
    json_auto_t *push = json_pack("{s:s, s:s, s:s, s:s, s:b}", "push", "verdict", "jid", JID, "id", id,
                                  "verdict", verdict, "connected", 0);

    assert_false(follow_push(f, push, now));
}

static void
test_all_return(void **state)
{
    follow_t *f = job_of("b", "a", NULL);

    assert_false(follow_over(f, TIMEOUT, 0));
    assert_true(say(f, "ret", "a", "", 10));
    assert_false(say(f, "ret", "a", "", 11)); /* twice */
    assert_false(say(f, "ret", "nobody", "", 12));
    assert_false(follow_over(f, TIMEOUT, 20));
    assert_true(say(f, "ret", "b", "", 30));
    assert_true(follow_over(f, TIMEOUT, 30));
    expect_silent(f, true, 30, NULL);
    follow_destroy(&f);
    follow_destroy(&f);
}

static void
test_silence_ends(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "ret", "a", "", 1000);
    assert_false(follow_over(f, TIMEOUT, 5999));
    assert_int_equal(follow_next_ms(f, TIMEOUT), 6000);
    assert_true(follow_over(f, TIMEOUT, 6000));
    expect_silent(f, true, 6000, "b Minion did not return. [No response]");
    expect_silent(f, true, 6000, NULL);
    follow_destroy(&f);
}

/* Answers that the master has not read yet are not silence. */
static void
test_busy_master_is_waited_for(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    assert_false(say(f, "busy", "", "", TIMEOUT - 1));
    assert_false(follow_over(f, TIMEOUT, TIMEOUT + 1000));
    assert_true(say(f, "ret", "a", "", TIMEOUT + 2000));
    assert_true(follow_over(f, TIMEOUT, 2 * TIMEOUT + 2001));
    follow_destroy(&f);
}

static void
test_not_connected_is_told_in_a_quiet_moment(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "verdict", "b", "not_connected", 0);
    say(f, "verdict", "a", "running", 100);
    expect_silent(f, false, 900, NULL);
    assert_int_equal(follow_next_ms(f, TIMEOUT), 100 + FOLLOW_QUIET_MS);
    expect_silent(f, false, 1100, "b Minion did not return. [Not connected]");
    expect_silent(f, false, 1100, NULL);
    assert_true(follow_next_ms(f, TIMEOUT) > 1100);
    assert_false(follow_over(f, TIMEOUT, 1100));
    follow_destroy(&f);
}

static void
test_dead_only_ends_at_once(void **state)
{
    follow_t *f = job_of("a", "b", "nosuch");

    say(f, "verdict", "b", "lost", 0);
    assert_false(follow_over(f, TIMEOUT, 0));
    say(f, "verdict", "a", "not_delivered", 0);
    assert_true(follow_over(f, TIMEOUT, 0));
    expect_silent(f, true, 0, "a Minion did not return. [Not delivered]");
    expect_silent(f, true, 0, "b Minion did not return. [Lost]");
    expect_silent(f, true, 0, "nosuch Minion did not return. [Not accepted]");
    expect_silent(f, true, 0, NULL);
    follow_destroy(&f);
}

static void
test_running_is_waited_for(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "ret", "b", "", 0);
    say(f, "verdict", "a", "running", 0);
    assert_false(follow_over(f, 2000, 1000000));
    assert_true(follow_next_ms(f, 2000) == INT64_MAX);
    assert_true(say(f, "ret", "a", "", 1000001));
    assert_true(follow_over(f, 2000, 1000001));
    follow_destroy(&f);
}

static void
test_running_but_away_is_given_up(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "ret", "b", "", 0);
    say(f, "verdict", "a", "running", 0);
    away(f, "a", "running", 60000);
    assert_false(follow_over(f, TIMEOUT, 60000)); /* perhaps for a moment only */
    say(f, "verdict", "a", "running", 61000);
    assert_false(follow_over(f, TIMEOUT, 100000));
    away(f, "a", "running", 200000);
    away(f, "a", "running", 200001);
    assert_int_equal(follow_next_ms(f, TIMEOUT), 200001 + FOLLOW_AWAY_MS);
    assert_true(follow_over(f, TIMEOUT, 200001 + FOLLOW_AWAY_MS));
    assert_true(follow_over(f, 1000, 201001));
    expect_silent(f, true, 210000, "a Minion did not return. [Running, not connected]");
    follow_destroy(&f);
}

static void
test_one_that_is_away_ends_nothing_for_others(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "verdict", "b", "running", 0);
    say(f, "verdict", "a", "running", 0);
    away(f, "a", "running", 1000);
    assert_false(follow_over(f, TIMEOUT, 1000000));
    say(f, "ret", "b", "", 1000000);
    assert_true(follow_over(f, TIMEOUT, 1000000 + FOLLOW_AWAY_MS));
    assert_true(say(f, "ret", "a", "", 1000001 + FOLLOW_AWAY_MS));
    follow_destroy(&f);
}

static void
test_unheard_ones_have_their_whole_time(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "verdict", "a", "running", 0);
    away(f, "a", "running", 0);
    assert_false(follow_over(f, TIMEOUT, TIMEOUT - 1));
    assert_true(follow_over(f, TIMEOUT, TIMEOUT));
    follow_destroy(&f);
}

static void
test_delivered_is_not_running(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "ret", "b", "", 0);
    say(f, "verdict", "a", "delivered", 100);
    assert_false(follow_over(f, TIMEOUT, 5099));
    assert_true(follow_over(f, TIMEOUT, 5100));
    expect_silent(f, true, 5100, "a Minion did not return. [Delivered, not started]");
    follow_destroy(&f);
}

static void
test_final_verdicts_stay(void **state)
{
    follow_t *f = job_of("a", "b", NULL);

    say(f, "ret", "a", "", 0);
    say(f, "verdict", "a", "running", 1);
    say(f, "verdict", "b", "returned", 2); /* without a return it says nothing */
    say(f, "unheard of", "b", "lost", 3);
    follow_counts_t counts = follow_counts(f);
    assert_int_equal(counts.targets, 2);
    assert_int_equal(counts.returned, 1);
    assert_int_equal(counts.running, 0);
    assert_int_equal(counts.silent, 0);
    assert_false(follow_over(f, TIMEOUT, 10));
    follow_abandon(f);
    assert_true(follow_over(f, TIMEOUT, 10));
    expect_silent(f, true, 10, "b Minion did not return. [No response]");
    follow_destroy(&f);
}

static void
test_words(void **state)
{
    assert_int_equal(outcome_parse("running"), OUTCOME_RUNNING);
    assert_int_equal(outcome_parse("of a newer master"), OUTCOME_UNHEARD);
    for (outcome_t o = 0; o < OUTCOMES; o++) {
        AUTO_FREE char *text = outcome_text(o, false, JID);
        assert_memory_equal(text, "Minion did not return. [", 24);
        assert_true(outcome_final(o) || strstr(text, "salt-run jobs.lookup_jid " JID) != NULL);
    }
}

UNIT_MAIN(cmocka_unit_test(test_all_return), cmocka_unit_test(test_silence_ends),
          cmocka_unit_test(test_busy_master_is_waited_for),
          cmocka_unit_test(test_not_connected_is_told_in_a_quiet_moment),
          cmocka_unit_test(test_dead_only_ends_at_once), cmocka_unit_test(test_running_is_waited_for),
          cmocka_unit_test(test_running_but_away_is_given_up),
          cmocka_unit_test(test_one_that_is_away_ends_nothing_for_others),
          cmocka_unit_test(test_unheard_ones_have_their_whole_time),
          cmocka_unit_test(test_delivered_is_not_running), cmocka_unit_test(test_final_verdicts_stay),
          cmocka_unit_test(test_words))
