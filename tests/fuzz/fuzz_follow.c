/* fuzz_follow.c - a job's progress from arbitrary pushes, one JSON value a line; or the words of a salt
 * command line. The first byte chooses, and sets the time between two lines.
 */
#include "common/local/follow.h"
#include "cli/request.h"
#include "common/base/str.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 64 * 1024, TIMEOUT_MS = 5000, EXIT_USAGE = 64 };

/* Asks for the minions that did not return: each is told at most once, and none as returned. */
static void
tell_silent(follow_t *job, bool over, int64_t now)
{
    outcome_t outcome;
    char *text = NULL;
    size_t n = 0, max = follow_counts(job).targets;

    while (follow_silent(job, over, now, &outcome, &text) != NULL) {
        salt_assert(++n <= max && (over || outcome_final(outcome)) && outcome != OUTCOME_RETURNED);
        free(STEAL(text));
    }
}

/* Feeds the pushes and checks that the counts add up after each. */
static void
follow_lines(char **lines, int64_t pause_ms)
{
    json_auto_t *ids = json_pack("[s, s, s]", "a", "b", "a"), *missing = json_pack("[s]", "c");
    follow_t *job = follow_new("20261120093630303840", ids, missing, 0);
    size_t returned = 0;
    int64_t now = 0;

    for (size_t i = 0; lines[i] != NULL; i++, now += pause_ms) {
        json_auto_t *push = value_parse(lines[i], strlen(lines[i]), MAX_INPUT, "push", NULL);
        if (push == NULL)
            continue;
        returned += follow_push(job, push, now) ? 1 : 0;
        follow_counts_t counts = follow_counts(job);
        salt_assert(counts.returned == returned);
        salt_assert(counts.returned + counts.running + counts.silent <= counts.targets);
        tell_silent(job, follow_over(job, TIMEOUT_MS, now), now);
        salt_assert(follow_next_ms(job, TIMEOUT_MS) >= 0);
    }
    AUTO_FREE char *runners = follow_runners(job, 1);
    salt_assert(runners != NULL);
    tell_silent(job, true, now);
    follow_destroy(&job);
}

/* Builds a request from the words: a request, or an error text and an exit code. */
static void
build_request(char **words, bool doc)
{
    json_auto_t *values = json_pack("{s:b, s:s}", "doc", doc, "tgt_type", doc ? "list" : "glob"),
                *request = NULL;
    fail_auto_t err = FAIL_INIT;
    int rc = request_build(values, words, strv_len(words), &request, &err);

    salt_assert(rc == 0 || rc == EXIT_INCOMPLETE || rc == EXIT_USAGE);
    salt_assert((rc == 0) == (request != NULL) && (rc == 0) == (err.text == NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MAX_INPUT)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data + 1, size - 1);
    char **lines = str_split(text, "\n", false);

    if (data[0] % 2 == 0)
        follow_lines(lines, data[0] * 10);
    else
        build_request(lines, data[0] % 4 == 1);
    strv_free(lines);
    return 0;
}
