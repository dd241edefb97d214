/* history.c - fills a job store with a long past, and measures how the store expires it.
 *
 *   history fill DB JOBS RETURNS [DAYS]       JOBS jobs with RETURNS returns each, spread over DAYS (30),
 *                                             oldest first
 *   history forget DB KEEP_SECONDS KEEP_BYTES expires what is older or too much; prints how long a row waited
 *                                             meanwhile
 *
 * Rows are written by the store's own functions, so this program knows nothing of their format.
 */
#include <poll.h>
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "master/events/eframe.h"
#include "master/store/store.h"
#include "master/store/store_read.h"
#include "salt/value.h"

#define DAY_US       86400000000LL
#define MINIONS      2000
#define RUN_EVERY    1000 /* jobs between two orchestrations */
#define STEPS        5
#define PATIENCE_MS  600000
#define PROBE_MS     2
#define COMMAND_TEXT 400

/* Jobs and returns as minions send them. `ret` NULL: a command's output of COMMAND_TEXT bytes. */
static const struct shape {
    const char *fun, *arg, *args, *ret, *more;
    int retcode;
} shapes[] = {
    { "test.ping", "[]", "[]", "true", "", 0 },
    { "cmd.run", "[\"df -h\"]", "[\"df -h\"]", NULL, "", 0 },
    { "test.ping", "[]", "[]", "true", "", 0 },
    { "state.apply", "[\"web\"]", "[\"web\"]",
      "{\"pkg_|-web_|-nginx_|-installed\":{\"name\":\"nginx\",\"changes\":{},\"result\":true,\"comment\":"
      "\"All "
      "specified packages are already installed\",\"__sls__\":\"web\",\"__run_num__\":0,\"start_time\":"
      "\"10:00:00.592524\",\"duration\":31.078,\"__id__\":\"web\"},\"file_|-conf_|-/etc/nginx/"
      "nginx.conf_|-managed\":"
      "{\"name\":\"/etc/nginx/nginx.conf\",\"changes\":{\"diff\":\"--- \\n+++ \\n@@ -1,3 +1,3 @@\\n user "
      "www-data;\\n"
      "-worker_processes 2;\\n+worker_processes 4;\\n\"},\"result\":true,\"comment\":\"File "
      "/etc/nginx/nginx.conf "
      "updated\",\"__sls__\":\"web\",\"__run_num__\":1,\"start_time\":\"10:00:00.623602\",\"duration\":12.5,"
      "\"__id__\":\"conf\"}}",
      ",\"out\":\"highstate\"", 0 },
    { "test.ping", "[]", "[]", "true", "", 0 },
    { "service.restart", "[\"nginx\"]", "[\"nginx\"]", "false", "", 1 },
};

typedef struct filler {
    store_t *store;
    uint64_t seq, ticket;
    int n_returns;
    char text[COMMAND_TEXT + 1]; /* the output of a command */
} filler_t;

/* ---- filling --------------------------------------------------------------------------------- */

/* Remembers the ticket of a row. False when the store's queue was full: it has waited, add the row again. */
static bool
taken(filler_t *self, uint64_t ticket)
{
    if (ticket == 0)
        store_wait(self->store, self->ticket, PATIENCE_MS);
    else
        self->ticket = ticket;
    return ticket != 0;
}

/* The jid of a moment, as the master would make it: the stamp's digits. */
static void
jid_of(char jid[CLOCK_STAMP_LEN], int64_t wall_us)
{
    char stamp[CLOCK_STAMP_LEN];
    size_t n = 0;

    clock_stamp(stamp, wall_us);
    for (const char *p = stamp; *p != '\0'; p++)
        if (*p >= '0' && *p <= '9')
            jid[n++] = *p;
    jid[n] = '\0';
}

/* NEW name of the nth minion of a job. */
static char *
minion_of(int job, int n)
{
    return xasprintf("web%04d.example.net", (job + n) % MINIONS);
}

static void
add_job(filler_t *self, int job, const struct shape *shape, const char *jid, int64_t wall_us)
{
    json_auto_t *minions = json_array();
    json_auto_t *arg = json_loads(shape->arg, 0, NULL);
    json_t *doc;

    for (int i = 0; i < self->n_returns; i++) {
        AUTO_FREE char *id = minion_of(job, i);
        json_array_append_new(minions, json_string(id));
    }
    do {
        doc = json_pack("{s:s, s:s, s:s, s:O, s:s, s:s, s:s, s:I, s:O}", "jid", jid, "user", "root", "fun",
                        shape->fun, "arg", arg, "tgt", "web*", "tgt_type", "glob", "ret", "", "start_us",
                        (json_int_t) wall_us, "minions", minions);
        if (job % RUN_EVERY < STEPS)
            json_object_set_new(doc, "note",
                                json_pack("{s:s, s:o, s:o}", "kind", "orch", "ref",
                                          value_fmt("run%d", job / RUN_EVERY), "part",
                                          value_fmt("step%d/1.0", job % RUN_EVERY)));
    } while (!taken(self, store_add_job(self->store, &doc)));
}

/* NEW fields of a return, which its event repeats. */
static char *
return_body(const filler_t *self, const struct shape *shape, const char *jid)
{
    AUTO_FREE char *printed = shape->ret == NULL ? xasprintf("\"%s\"", self->text) : NULL;

    return xasprintf(
        "\"jid\":\"%s\",\"fun\":\"%s\",\"fun_args\":%s,\"return\":%s,\"retcode\":%d,\"success\":%s%s", jid,
        shape->fun, shape->args, printed != NULL ? printed : shape->ret, shape->retcode,
        shape->retcode == 0 ? "true" : "false", shape->more);
}

static void
add_event(filler_t *self, int64_t wall_us, const char *tag, const char *data)
{
    buf_auto_t frame = BUF_INIT;
    char stamp[CLOCK_STAMP_LEN];
    uint64_t seq = ++self->seq;

    clock_stamp(stamp, wall_us);
    buf_reserve(&frame, eframe_room(strlen(tag), strlen(data)));
    frame.len = eframe_write(frame.data, seq, tag, strlen(tag), data, strlen(data), stamp);
    while (!taken(self, store_add_events(self->store, seq, seq, wall_us, frame.data, frame.len)))
        ;
}

static void
add_returns(filler_t *self, int job, const struct shape *shape, const char *jid, int64_t wall_us, bool events)
{
    AUTO_FREE char *body = return_body(self, shape, jid);

    for (int i = 0; i < self->n_returns; i++) {
        AUTO_FREE char *id = minion_of(job, i);
        char *raw;
        do
            raw = xasprintf("{\"m\":\"ret\",%s}", body);
        while (
            !taken(self, store_add_return(self->store, jid, id, &raw, shape->retcode, shape->retcode == 0)));
        if (!events)
            continue;
        AUTO_FREE char *tag = xasprintf("salt/job/%s/ret/%s", jid, id);
        AUTO_FREE char *data = xasprintf("{\"cmd\":\"_return\",\"id\":\"%s\",%s,\"user\":\"root\"}", id,
                                         body);
        add_event(self, wall_us + 4000 + i, tag, data);
    }
}

/* Adds an orchestration of STEPS steps. */
static void
add_run(filler_t *self, int number, int64_t wall_us)
{
    AUTO_FREE char *run = xasprintf("run%d", number);

    while (!taken(self, store_add_run(self->store, run, "{\"mods\":\"deploy\",\"user\":\"root\"}",
                                      "[{\"state\":\"salt\",\"fun\":\"state\",\"name\":\"web\"}]", wall_us)))
        ;
    for (int i = 0; i < STEPS; i++) {
        AUTO_FREE char *tag = xasprintf("salt_|-step%d_|-step%d_|-state", i, i);
        while (!taken(
            self, store_put_step(self->store, run, tag, 1, wall_us + i, wall_us + i + 1,
                                 "{\"seq\":1,\"ret\":{\"result\":true,\"changes\":{},\"comment\":\"\"}}")))
            ;
    }
    while (!taken(self, store_end_run(self->store, run, "{\"success\":true}", wall_us + STEPS)))
        ;
}

/* Adds the whole past, with events for as many of the newest jobs as the journal keeps. */
static void
add_past(filler_t *self, int jobs, double days)
{
    int64_t now = clock_wall_us(), span = (int64_t) (days * (double) DAY_US);
    /* Older events would exceed the journal's limit and be dropped at once. */
    int first_with_events = jobs - LIMIT_EVENT_JOURNAL / (self->n_returns + 1);

    for (int job = 0; job < jobs; job++) {
        const struct shape *shape = &shapes[(size_t) job % NELEMS(shapes)];
        int64_t wall_us = now - span + span / jobs * job;
        bool events = job >= first_with_events;
        char jid[CLOCK_STAMP_LEN];
        jid_of(jid, wall_us);
        if (job % RUN_EVERY == 0)
            add_run(self, job / RUN_EVERY, wall_us);
        add_job(self, job, shape, jid, wall_us);
        if (events) {
            AUTO_FREE char *tag = xasprintf("salt/job/%s/new", jid);
            AUTO_FREE char *data = xasprintf(
                "{\"jid\":\"%s\",\"tgt_type\":\"glob\",\"tgt\":\"web*\",\"user\":\"root\","
                "\"fun\":\"%s\",\"arg\":%s,\"missing\":[]}",
                jid, shape->fun, shape->arg);
            add_event(self, wall_us, tag, data);
        }
        add_returns(self, job, shape, jid, wall_us, events);
    }
}

static int
fill(store_t *store, int argc, char **argv)
{
    filler_t filler = { .store = store, .n_returns = atoi(argv[1]) };
    int jobs = atoi(argv[0]);
    int64_t from = clock_mono_us();

    if (jobs <= 0 || filler.n_returns < 0)
        return 1;
    for (int i = 0; i < COMMAND_TEXT; i++)
        filler.text[i] = i % 60 == 59 ? ' ' : (char) ('a' + i % 26);
    add_past(&filler, jobs, argc > 2 ? atof(argv[2]) : 30);
    if (!store_wait(store, filler.ticket, PATIENCE_MS)) {
        AUTO_FREE char *trouble = store_trouble(store);
        fprintf(stderr, "history: %s\n", trouble != NULL ? trouble : "the disk is too slow");
        return 1;
    }
    printf("{\"jobs\": %d, \"returns\": %d, \"s\": %.1f}\n", jobs, jobs * filler.n_returns,
           (double) (clock_mono_us() - from) / 1e6);
    return 0;
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static double
megabytes(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (double) st.st_size / 1e6 : 0;
}

/* Commits probe rows one after the other until nothing has been expired for a second. The longest wait for a
 * commit in microseconds; below 0: a row was not written. *ret_until: when the last row was expired. */
static int64_t
longest_wait(store_t *store, uint64_t *ret_probes, int64_t *ret_until)
{
    int64_t longest = 0, took;
    store_stats_t stats = { 0 };
    uint64_t expired = 0;

    *ret_until = clock_mono_us();
    while (clock_mono_us() - *ret_until < 1000000) {
        AUTO_FREE char *value = xasprintf("%llu", (unsigned long long) ++*ret_probes);
        int64_t added = clock_mono_us();
        if (!store_wait(store, store_put_meta(store, "probe", value), PATIENCE_MS))
            return -1;
        took = clock_mono_us() - added;
        longest = took > longest ? took : longest;
        store_get_stats(store, &stats);
        if (stats.expired != expired)
            *ret_until = clock_mono_us();
        expired = stats.expired;
        poll(NULL, 0, PROBE_MS);
    }
    return longest;
}

/* Prints the longest wait of a row for its commit, before and during the expiry. */
static int
forget(store_t *store, int argc, char **argv)
{
    store_keep_t keep = { .now_us = clock_wall_us(),
                          .jobs_s = atoll(argv[0]),
                          .bytes = strtoull(argv[1], NULL, 10),
                          .events = LIMIT_EVENT_JOURNAL };
    double before = megabytes(store_path(store));
    uint64_t probes = 0;
    int64_t until;
    int64_t idle = longest_wait(store, &probes, &until);

    probes = 0;
    store_expire(store, &keep);
    int64_t from = clock_mono_us();
    int64_t longest = idle >= 0 ? longest_wait(store, &probes, &until) : -1;
    if (longest < 0)
        return 1;
    store_stats_t stats = { 0 };
    store_get_stats(store, &stats);
    printf("{\"expired\": %llu, \"s\": %.2f, \"probes\": %llu, \"longest_ms\": %.1f, \"idle_ms\": %.1f, "
           "\"mb_before\": "
           "%.1f, \"mb_after\": %.1f}\n",
           (unsigned long long) stats.expired, (double) (until - from) / 1e6, (unsigned long long) probes,
           (double) longest / 1e3, (double) idle / 1e3, before, megabytes(store_path(store)));
    return 0;
}

static const struct command {
    const char *name;
    int words; /* the least number of arguments */
    int (*run)(store_t *store, int argc, char **argv);
} commands[] = {
    { "fill", 2, fill },
    { "forget", 2, forget },
};

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;

    for (size_t i = 0; argc > 2 && i < NELEMS(commands); i++) {
        if (strcmp(commands[i].name, argv[1]) != 0 || argc - 3 < commands[i].words)
            continue;
        store_t *store = store_new(argv[2], &err);
        int rc = store != NULL ? commands[i].run(store, argc - 3, argv + 3) : 1;
        if (store == NULL)
            fprintf(stderr, "history: %s\n", fail_text(&err));
        store_destroy(&store);
        return rc;
    }
    fprintf(stderr,
            "usage: history fill DB JOBS RETURNS [DAYS] | history forget DB KEEP_SECONDS KEEP_BYTES\n");
    return 1;
}
