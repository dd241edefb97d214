/* test_parts.c - the table of the minion's parts: what its rows promise to the job server that walks them, and
 * that it walks other rows than these. */
#include "unit/folder.h"

#include <signal.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "minion/jobs/jobserver.h"
#include "minion/parts/parts.h"
#include "salt/value.h"

/* Calls `fn` with each pair of different parts, both ways. */
static void
each_pair(void (*fn)(const minion_part_t *a, const minion_part_t *b))
{
    for (const minion_part_t *const *a = minion_parts; *a; a++)
        for (const minion_part_t *const *b = minion_parts; *b; b++)
            if (a != b)
                fn(*a, *b);
}

static void
names_differ(const minion_part_t *a, const minion_part_t *b)
{
    assert_string_not_equal(a->name, b->name);
}

static void
requests_differ(const minion_part_t *a, const minion_part_t *b)
{
    for (const part_request_t *x = a->requests; x && x->op; x++)
        for (const part_request_t *y = b->requests; y && y->op; y++)
            assert_string_not_equal(x->op, y->op);
}

static void
test_one_owner(void **state)
{
    each_pair(names_differ);
    each_pair(requests_differ);
}

static void
test_pairs_of_hooks(void **state)
{
    size_t n = 0;
    for (const minion_part_t *const *row = minion_parts; *row; row++, n++) {
        const minion_part_t *part = *row;
        assert_true(!part->fd == !part->ready);
        assert_true(!part->start == !part->destroy);
        assert_true(!part->next_ms || part->tick);
        for (const part_message_t *m = part->messages; m && m->name; m++)
            assert_non_null(m->fn);
        for (const part_request_t *r = part->requests; r && r->op; r++)
            assert_non_null(r->fn);
        for (const part_event_t *e = part->events; e && e->tag; e++)
            assert_non_null(e->fn);
    }
    assert_true(n > 0);
}

/* ---- a job server with parts of this test's ---------------------------------------------------------- */

/* What happened to them, in order. */
static char told[512];

static void
tell(const char *part, const char *what)
{
    size_t len = strlen(told);
    (void) snprintf(told + len, sizeof(told) - len, "%s.%s ", part, what);
}

/* Its timer is due a moment after the start; then its pipe can be read; then the minion stops. */
typedef struct clockwork {
    jobserver_t *js;
    int pipe[2];
    int64_t due_ms;
} clockwork_t;

static void *
clockwork_start(jobserver_t *js, fail_t *err)
{
    clockwork_t *self = xcalloc(1, sizeof(*self));
    assert_int_equal(pipe(self->pipe), 0);
    self->js = js;
    self->due_ms = clock_mono_ms() + 5;
    tell("clockwork", "start");
    return self;
}

static void
clockwork_destroy(void *part)
{
    clockwork_t *self = part;
    (void) close(self->pipe[0]);
    (void) close(self->pipe[1]);
    free(self);
    tell("clockwork", "destroy");
}

static int64_t
clockwork_next_ms(void *part)
{
    return ((clockwork_t *) part)->due_ms;
}

static void
clockwork_tick(void *part, int64_t now_ms)
{
    clockwork_t *self = part;
    if (self->due_ms == 0 || now_ms < self->due_ms)
        return;
    self->due_ms = 0;
    tell("clockwork", "tick");
    assert_int_equal(write(self->pipe[1], "x", 1), 1);
}

static int
clockwork_fd(const void *part, short *ret_ask)
{
    return ((const clockwork_t *) part)->pipe[0];
}

static void
clockwork_ready(void *part, short events)
{
    clockwork_t *self = part;
    json_auto_t *data = json_string("x");
    json_auto_t *frame = json_pack("{s:s}", "t", "news");
    char byte;
    assert_int_equal(read(self->pipe[0], &byte, 1), 1);
    tell("clockwork", "ready");
    jobserver_event(self->js, "some/tag", data, NULL);
    jobserver_heed(self->js, "please/now", data);
    jobserver_message(self->js, frame);
    self->js->stop = true;
}

/* Hears of all that. It has no state of its own: `self` is the job server. */
static void
listener_shown(void *part, const char *tag, json_t *data)
{
    tell("listener", tag);
}

static void
listener_please(void *part, json_t *data)
{
    tell("listener", json_string_value(data));
}

static void
listener_news(void *part, json_t *frame)
{
    tell("listener", value_str(frame, "t", ""));
}

static json_t *
listener_answer(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    return json_true();
}

static void
listener_stop(void *part)
{
    tell("listener", "stop");
}

/* It has something to do twice. */
static bool
listener_leave(void *part)
{
    static int calls;
    tell("listener", "leave");
    (void) raise(SIGCHLD); /* for the next turn */
    return ++calls == 2;
}

static const part_event_t listener_events[] = { { "please/", listener_please }, { 0 } };
static const part_message_t listener_messages[] = { { "news", listener_news }, { 0 } };
static const part_request_t listener_requests[] = { { "hidden", listener_answer, NULL },
                                                    { "a", listener_answer, "{op: a}" },
                                                    { "b", listener_answer, "{op: b}" },
                                                    { 0 } };

static const minion_part_t clockwork = {
    .name = "clockwork",
    .start = clockwork_start,
    .destroy = clockwork_destroy,
    .tick = clockwork_tick,
    .next_ms = clockwork_next_ms,
    .fd = clockwork_fd,
    .ready = clockwork_ready,
};
static const minion_part_t listener = {
    .name = "listener",
    .stop = listener_stop,
    .leave = listener_leave,
    .shown = listener_shown,
    .messages = listener_messages,
    .requests = listener_requests,
    .events = listener_events,
};

static jobserver_t *
server(const minion_part_t *const *rows, fail_t *err)
{
    json_auto_t *overrides = json_pack("{s:s, s:s}", "id", "x", "cachedir", dir);
    conf_t *conf = conf_load("/nonexistent", CONF_MINION, overrides, NULL, err);
    const jobserver_tables_t tables = { .parts = rows };
    return jobserver_new(&conf, "/nonexistent", overrides, &tables, err);
}

static void
test_walk(void **state)
{
    static const minion_part_t *const rows[] = { &clockwork, &listener, NULL };
    fail_auto_t err = FAIL_INIT;
    void *part = NULL;

    AUTO(jobserver) js = server(rows, &err);
    assert_non_null(js);
    assert_non_null(jobserver_request(js, "hidden", &part));
    assert_ptr_equal(part, js);
    assert_null(jobserver_request(js, "missing", &part));
    AUTO_FREE char *shapes = jobserver_bus_requests(js);
    assert_string_equal(shapes, ", {op: a} and {op: b}");
    assert_int_equal(jobserver_run(js), 0);
    jobserver_destroy(&js);
    assert_string_equal(told, "clockwork.start clockwork.tick clockwork.ready listener.some/tag listener.x "
                              "listener.news listener.stop listener.leave listener.leave clockwork.destroy ");
}

static void *
broken_start(jobserver_t *js, fail_t *err)
{
    (void) fail_set(err, -EIO, "it does not start");
    return NULL;
}

/* Those before it end as ever. */
static void
test_no_start(void **state)
{
    static const minion_part_t broken = { .name = "broken", .start = broken_start };
    static const minion_part_t *const rows[] = { &clockwork, &broken, &listener, NULL };
    fail_auto_t err = FAIL_INIT;

    told[0] = '\0';
    AUTO(jobserver) js = server(rows, &err);
    assert_null(js);
    assert_string_equal(err.text, "it does not start");
    assert_string_equal(told, "clockwork.start clockwork.destroy ");
}

UNIT_MAIN(cmocka_unit_test(test_one_owner), cmocka_unit_test(test_pairs_of_hooks),
          cmocka_unit_test_setup_teardown(test_walk, setup, teardown),
          cmocka_unit_test_setup_teardown(test_no_start, setup, teardown))
