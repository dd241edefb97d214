/* seqjobs.c - job latency: one client publishes test.ping, waits for all returns, and publishes the next.
 *
 *   seqjobs SOCK_DIR TARGET TGT_TYPE COUNT
 *     prints {"jobs": N, "returns": N, "seconds": S, "per_second": R, "median_ms": M}
 */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/value.h"

static int
s_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

/* Publishes one job and follows it to its end. The number of returns, or a negative errno. */
static int
s_one(local_client_t *c, const char *target, const char *type, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:s, s:s, s:b}", "op", "publish", "tgt", target, "tgt_type", type,
                                "fun", "test.ping", "follow", true);
    json_auto_t *reply = NULL;
    int rc = local_call(c, &request, &reply, err), n = 0;
    while (rc >= 0) {
        json_auto_t *push = NULL;
        rc = local_next(c, 60000, &push, err);
        if (rc == 0)
            return -ETIMEDOUT;
        if (rc > 0 && str_eq(value_str(push, "push", ""), "ret"))
            n++;
        if (rc > 0 && str_eq(value_str(push, "push", ""), "done"))
            return n;
    }
    return rc;
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    long long count = 0;
    if (argc != 5 || !str_to_int(argv[4], 1, 10000000, &count)) {
        (void) fprintf(stderr, "usage: seqjobs SOCK_DIR TARGET TGT_TYPE COUNT\n");
        return 2;
    }
    AUTO(local_client) c = local_connect(argv[1], &err);
    int64_t *took = xcalloc((size_t) count, sizeof(*took)), start = clock_mono_us();
    long returns = 0;
    for (long long i = 0; c && i < count; i++) {
        int64_t begin = clock_mono_us();
        int n = s_one(c, argv[2], argv[3], &err);
        if (n < 0)
            break;
        returns += n;
        took[i] = clock_mono_us() - begin;
    }
    if (err.text) {
        (void) fprintf(stderr, "seqjobs: %s\n", fail_text(&err));
        return 1;
    }
    double seconds = (double) (clock_mono_us() - start) / 1e6;
    qsort(took, (size_t) count, sizeof(*took), s_compare);
    (void) printf(
        "{\"jobs\": %lld, \"returns\": %ld, \"seconds\": %.3f, \"per_second\": %.1f, \"median_ms\": %.3f}\n",
        count, returns, seconds, (double) count / seconds, (double) took[count / 2] / 1e3);
    free(took);
    return 0;
}
