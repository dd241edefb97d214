/* store_bench.c - throughput of the job store: how many returns a second it commits, one at a time, and
 * reading them back.
 *
 *   store_bench [RETURNS [BYTES [FOLDER]]]
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "master/store/store.h"
#include "master/store/store_read.h"
#include "salt/value.h"

/* Seconds of CPU time of this process, the writer's thread included. */
static double
cpu_s(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double) (use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double) (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* Adds one return, waiting while the queue is full. Its ticket. */
static uint64_t
add_one(store_t *store, int n, int bytes)
{
    char id[32];
    char *raw;
    uint64_t ticket;

    snprintf(id, sizeof(id), "minion%06d", n);
    do {
        raw = xasprintf("{\"jid\": \"20261120100000000000\", \"return\": \"%0*d\", \"retcode\": 0}", bytes,
                        n);
        ticket = store_add_return(store, "20261120100000000000", id, &raw, 0, true);
        if (ticket == 0)
            poll(NULL, 0, 1);
    } while (ticket == 0);
    return ticket;
}

/* Adds n returns and waits for the last one's commit. */
static void
many(store_t *store, int n, int bytes)
{
    uint64_t ticket = 0;
    store_stats_t stats;
    int64_t from = clock_mono_us();
    double cpu = cpu_s();

    for (int i = 0; i < n; i++)
        ticket = add_one(store, i, bytes);
    store_wait(store, ticket, 600000);
    double s = (double) (clock_mono_us() - from) / 1e6;
    store_get_stats(store, &stats);
    printf("%d returns of %d bytes: %.3f s, %.0f returns/s, %.1f us CPU each, %llu commits\n", n, bytes, s,
           n / s, (cpu_s() - cpu) * 1e6 / n, (unsigned long long) stats.commits);
}

/* Adds returns one at a time and waits for each commit: the latency that a lone `salt` command has. */
static void
single(store_t *store, int n)
{
    int64_t from = clock_mono_us();

    for (int i = 0; i < n; i++)
        store_wait(store, add_one(store, 10000000 + i, 100), 60000);
    printf("one at a time: %.0f us until committed\n", (double) (clock_mono_us() - from) / n);
}

static void
read_back(const char *path)
{
    fail_auto_t err = FAIL_INIT;
    store_reader_t *reader = store_reader_new(path, &err);
    int64_t from = clock_mono_us();
    json_auto_t *returns = reader != NULL ? store_returns(reader, "20261120100000000000", &err) : NULL;

    printf("read back %zu returns, parsed: %.1f ms\n", json_object_size(returns),
           (double) (clock_mono_us() - from) / 1e3);
    store_reader_destroy(&reader);
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    int bytes = argc > 2 ? atoi(argv[2]) : 200;
    AUTO_FREE char *dir = fs_join(argc > 3 ? argv[3] : "/tmp", "store-bench-XXXXXX");

    if (mkdtemp(dir) == NULL)
        return 1;
    AUTO_FREE char *path = fs_join(dir, "store.db");
    store_t *store = store_new(path, &err);
    if (store == NULL) {
        fprintf(stderr, "%s\n", fail_text(&err));
        return 1;
    }
    many(store, n, bytes);
    single(store, 200);
    read_back(path);
    store_destroy(&store);
    return fs_remove_tree(dir, &err) < 0;
}
