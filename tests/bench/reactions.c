/* reactions.c - speed of the master's reactor: from an event to the return of the job that it starts.
 *
 *   reactions SOCK_DIR one COUNT ID          one event after the other, each until its job's return
 *   reactions SOCK_DIR many COUNT PREFIX N   all at once, for N minions PREFIX00000 and so on, until all
 *                                            returns are there
 *
 * Events are bench/react with {"id": MINION, "n": NUMBER}; the reactor must publish a job for each. Prints
 * {"reactions": N, "seconds": S, "per_second": R, "median_ms": M}; the median counts for "one" only.
 */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/value.h"

#define PATIENCE_MS 30000

typedef struct lines {
    local_client_t *fire, *ears;
} lines_t;

static int
s_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

/* Fires one event without waiting for the reply. */
static int
s_fire(lines_t *l, const char *id, long long n, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:{s:s, s:I}}", "op", "fire", "tag", "bench/react", "data", "id",
                                id, "n", (json_int_t) n);
    return local_post(l->fire, &request, NULL, err);
}

/* Waits for n returns. 0 or a negative errno: -EOVERFLOW when the bus dropped events for this client. */
static int
s_returns(lines_t *l, long long n, fail_t *err)
{
    while (n > 0) {
        json_auto_t *push = NULL;
        int rc = local_next(l->ears, PATIENCE_MS, &push, err);
        if (rc <= 0)
            return rc < 0 ? rc : fail_set(err, -ETIMEDOUT, "%lld returns did not come", n);
        if (str_eq(value_str(push, "push", ""), "missed"))
            return fail_set(err, -EOVERFLOW, "this program is too slow for the bus");
        n -= str_eq(value_str(push, "push", ""), "event");
    }
    return 0;
}

/* Reads n replies, so that the master need not buffer them. */
static int
s_replies(lines_t *l, long long n, fail_t *err)
{
    for (int rc; n > 0; n--) {
        json_auto_t *reply = NULL;
        if ((rc = local_next(l->fire, PATIENCE_MS, &reply, err)) <= 0)
            return rc < 0 ? rc : fail_set(err, -ETIMEDOUT, "no reply");
    }
    return 0;
}

static int
s_one(lines_t *l, const char *id, long long count, int64_t *took, fail_t *err)
{
    int rc = 0;
    for (long long i = 0; rc == 0 && i < count; i++) {
        int64_t begin = clock_mono_us();
        rc = s_fire(l, id, i, err);
        if (rc == 0)
            rc = s_returns(l, 1, err);
        took[i] = clock_mono_us() - begin;
        if (rc == 0)
            rc = s_replies(l, 1, err);
    }
    return rc;
}

static int
s_many(lines_t *l, const char *prefix, long long minions, long long count, fail_t *err)
{
    int rc = 0;
    for (long long i = 0; rc == 0 && i < count; i++) {
        AUTO_FREE char *id = xasprintf("%s%05lld", prefix, i % minions);
        rc = s_fire(l, id, i, err);
        if (rc == 0 && i % 100 == 99)
            rc = s_replies(l, 100, err);
    }
    return rc == 0 ? s_returns(l, count, err) : rc;
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    long long count = 0, minions = 1;
    bool many = argc == 6 && str_eq(argv[2], "many");
    if ((argc != 5 && !many) || !str_to_int(argv[3], 1, 10000000, &count) ||
        (many && !str_to_int(argv[5], 1, 100000, &minions))) {
        (void) fprintf(stderr, "usage: reactions SOCK_DIR one COUNT ID | many COUNT PREFIX N\n");
        return 2;
    }
    lines_t l = { local_connect(argv[1], &err), local_connect(argv[1], &err) };
    json_t *request = json_pack("{s:s, s:s}", "op", "events", "tag", "salt/job/*/ret/*");
    json_auto_t *reply = NULL;
    AUTO_FREE int64_t *took = xcalloc((size_t) count, sizeof(*took));
    int rc = l.fire && l.ears ? local_call(l.ears, &request, &reply, &err) : -ENOTCONN;
    int64_t start = clock_mono_us();
    if (rc == 0)
        rc = many ? s_many(&l, argv[4], minions, count, &err) : s_one(&l, argv[4], count, took, &err);
    double seconds = (double) (clock_mono_us() - start) / 1e6;
    if (rc < 0) {
        (void) fprintf(stderr, "reactions: %s\n", fail_text(&err));
        return 1;
    }
    qsort(took, (size_t) count, sizeof(*took), s_compare);
    printf("{\"reactions\": %lld, \"seconds\": %.3f, \"per_second\": %.1f, \"median_ms\": %.3f}\n", count,
           seconds, (double) count / seconds, (double) took[count / 2] / 1000);
    local_client_destroy(&l.fire);
    local_client_destroy(&l.ears);
    return 0;
}
