/* test_outbox.c - nothing is lost and nothing is sent without need: acknowledgements, windows, masters that
 * come and go, a disk that is full for a while. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/net/wire.h"
#include "uplink/outbox.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/unit.h"

typedef struct fixture {
    char *dir;
    outbox_t *box;
    json_t *sent;      /* jids and numbers of events */
    json_int_t oldest; /* as the last event said */
    size_t bytes;
} fixture_t;

static void
on_send(void *cookie, const json_t *frame, const jobret_t *ret)
{
    fixture_t *f = cookie;

    if (str_eq(value_str(frame, "t", ""), "ret")) {
        assert_string_equal(value_str(frame, "jid", ""), ret->jid);
        json_array_append_new(f->sent, json_string(ret->jid));
        f->bytes += ret->len;
    } else {
        assert_null(ret);
        json_array_append(f->sent, value_get(frame, "n"));
        f->oldest = value_int(frame, "oldest", 0);
    }
    f->bytes += json_dumpb(frame, NULL, 0, JSON_COMPACT);
}

static void
name_masters(fixture_t *f)
{
    json_auto_t *masters = json_pack("{s:i, s:i}", "m0", 0, "m1", 1);

    outbox_masters(f->box, masters);
}

static void
open_box(fixture_t *f)
{
    fail_auto_t err = FAIL_INIT;
    spool_t *spool = spool_new(f->dir, &err);

    assert_non_null(spool);
    f->box = outbox_new(&spool, on_send, f);
    name_masters(f);
    assert_null(spool);
}

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    log_init("test", LEVEL_QUIET, false);
    f->dir = xstrdup("/tmp/halite-outbox-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->sent = json_array();
    open_box(f);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    outbox_destroy(&f->box);
    json_decref(f->sent);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->dir);
    free(f);
    return 0;
}

static char *
jid_of(int i)
{
    return xasprintf("202611201000000%05d", i);
}

static void
add(fixture_t *f, int i, size_t size, int master)
{
    AUTO_FREE char *jid = jid_of(i), *text = xcalloc(1, size + 1),
                   *asker = master < 0 ? NULL : xasprintf("m%d", master);

    memset(text, 'x', size);
    json_t *value = json_pack("{s:s, s:s, s:s}", "jid", jid, "fun", "a.b", "return", text);
    AUTO(jobret) ret = jobret_make(&value);
    outbox_return(f->box, &ret, asker);
    assert_null(ret);
}

static void
ack(fixture_t *f, int i)
{
    AUTO_FREE char *jid = jid_of(i);
    json_auto_t *jids = json_pack("[s]", jid);

    outbox_acked(f->box, jids, NULL);
}

static void
ack_event(fixture_t *f, int n)
{
    json_auto_t *events = json_pack("[i]", n);

    outbox_acked(f->box, NULL, events);
}

static void
event(fixture_t *f, bool expected)
{
    json_auto_t *data = json_pack("{s:i}", "a", 1);

    assert_int_equal(outbox_event(f->box, "my/tag", data, NULL), expected);
}

/* Some hundred bytes each. */
static void
beacon(fixture_t *f, int n)
{
    json_auto_t *data = json_pack("{s:s, s:s+}", "path",
                                  "/srv/folder/of/some/length/that/holds/the/files/of/a/storm", "text",
                                  "0123456789012345678901234567890123456789", "0123456789");

    for (int i = 0; i < n; i++)
        assert_true(outbox_beacon(f->box, "salt/beacon/web/inotify//srv/folder", data));
}

/* Acknowledges the events that were sent last, until none comes, or a return, which is the last thing then. Returns
 * how many; they come in order. */
static int
ack_all_events(fixture_t *f, json_int_t after)
{
    int n = 0;

    while (json_array_size(f->sent) > 0) {
        json_auto_t *now = json_copy(f->sent);
        json_t *one;
        size_t i;
        json_array_clear(f->sent);
        json_array_foreach (now, i, one) {
            if (json_is_string(one) && i + 1 == json_array_size(now) && json_array_append(f->sent, one) == 0)
                return n;
            assert_int_equal(json_integer_value(one), ++after);
            n++;
        }
        outbox_acked(f->box, NULL, now);
    }
    return n;
}

static size_t
sent(fixture_t *f)
{
    size_t n = json_array_size(f->sent);

    json_array_clear(f->sent);
    f->bytes = 0;
    return n;
}

static void
test_at_once(void **state)
{
    fixture_t *f = *state;

    add(f, 1, 10, 0);
    event(f, true);
    assert_int_equal(sent(f), 0);
    outbox_connected(f->box, 0);
    assert_string_equal(json_string_value(json_array_get(f->sent, 0)), "20261120100000000001");
    assert_int_equal(json_integer_value(json_array_get(f->sent, 1)), 1);
    assert_int_equal(sent(f), 2);
    add(f, 2, 10, 0);
    event(f, true);
    assert_int_equal(sent(f), 2);
    assert_int_equal(outbox_len(f->box), 4);

    assert_true(outbox_has(f->box, "20261120100000000002"));
    assert_string_equal(outbox_asker(f->box, "20261120100000000002"), "m0");
    assert_null(outbox_asker(f->box, "20261120100000000003"));
    ack(f, 1);
    ack(f, 1);
    ack(f, 2);
    assert_false(outbox_has(f->box, "20261120100000000002"));
    ack(f, 999);
    ack_event(f, 2);
    ack_event(f, 2);
    ack_event(f, 1);
    assert_int_equal(outbox_len(f->box), 0);
    assert_int_equal(outbox_next_ms(f->box), 0);
    assert_int_equal(sent(f), 0);
}

/* Each event says from which on there are any. */
static void
test_oldest_event(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    event(f, true);
    assert_int_equal(f->oldest, 1);
    add(f, 1, 10, 0);
    event(f, true);
    event(f, true);
    assert_int_equal(f->oldest, 1);
    ack_event(f, 2);
    ack_event(f, 1);
    event(f, true);
    assert_int_equal(f->oldest, 3);
    ack_event(f, 3);
    ack_event(f, 4);
    event(f, true);
    assert_int_equal(f->oldest, 5);
}

/* What an acknowledgement holds is a peer's matter. */
static void
test_odd_acknowledgements(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    add(f, 1, 10, -1);
    event(f, true);
    json_auto_t *odd = json_pack("[i, n, s, s, {}, [], s]", 1, "#1", "", "../../etc/passwd");
    json_auto_t *events = json_pack("[s, n, i, i, {}, f]", "1", -1, 99, 1.0);
    outbox_acked(f->box, odd, events);
    outbox_acked(f->box, NULL, NULL);
    assert_int_equal(outbox_len(f->box), 2);
}

static void
test_master_goes_and_comes(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    add(f, 1, 10, 0);
    add(f, 2, 10, 0);
    assert_int_equal(sent(f), 2);
    ack(f, 1);
    outbox_disconnected(f->box, 0);
    add(f, 3, 10, 0);
    assert_int_equal(sent(f), 0);
    outbox_connected(f->box, 0);
    /* What was not acknowledged, and what came since. */
    assert_int_equal(sent(f), 2);
}

static void
test_two_masters(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 1);
    add(f, 1, 10, 0);
    add(f, 2, 10, 1);
    add(f, 3, 10, -1);
    /* The one for a master that is away does not hold up the others. */
    assert_int_equal(sent(f), 2);
    outbox_connected(f->box, 0);
    assert_int_equal(sent(f), 3);
    outbox_disconnected(f->box, 1);
    add(f, 4, 10, 0);
    add(f, 5, 10, 1);
    assert_int_equal(sent(f), 1);
    outbox_disconnected(f->box, -1);
    add(f, 6, 10, 0);
    assert_int_equal(sent(f), 0);
}

static void
test_restart(void **state)
{
    fixture_t *f = *state;

    for (int i = 5; i > 0; i--)
        add(f, i, 10, 0);
    outbox_destroy(&f->box);
    AUTO_FREE char *first = fs_join(f->dir, "20261120100000000002.ret"),
                   *bad = fs_join(f->dir, "20261120100000000003.ret");
    assert_int_equal(fs_write_quick(first, "{", 1, 0600, NULL), 0);
    open_box(f);
    assert_int_equal(outbox_len(f->box), 4);
    assert_int_equal(fs_write_quick(bad, "{", 1, 0600, NULL), 0);
    json_auto_t *pending = outbox_pending(f->box);
    assert_int_equal(json_object_size(pending), 4);
    assert_string_equal(json_object_iter_key(json_object_iter(pending)), "20261120100000000005");
    assert_string_equal(value_str(pending, "20261120100000000005", ""), "m0");
    outbox_connected(f->box, 0);
    /* The damaged ones are moved aside, the others go. */
    assert_int_equal(sent(f), 3);
    assert_int_equal(outbox_len(f->box), 3);
}

/* An earlier minion may have left a return that no message holds: it is not a damage, and neither lost nor
 * sent for ever. */
static void
test_return_that_fits_no_message(void **state)
{
    fixture_t *f = *state;

    add(f, 1, LIMIT_WIRE_MSG, 0);
    add(f, 2, 10, 0);
    outbox_destroy(&f->box);
    open_box(f);
    outbox_connected(f->box, 0);
    assert_in_range(f->bytes, 100, 1000);
    assert_int_equal(sent(f), 2);
    assert_int_equal(outbox_len(f->box), 2);
    ack(f, 1);
    assert_int_equal(outbox_len(f->box), 1);
}

/* What was fired while nobody listened, or was not acknowledged when the last one went, in the order of all. */
static void
test_restart_with_events(void **state)
{
    fixture_t *f = *state;
    char boot[LIMIT_BOOT] = "first";

    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    outbox_connected(f->box, 0);
    event(f, true);
    event(f, true);
    ack_event(f, 1);
    outbox_disconnected(f->box, 0);
    add(f, 9, 10, -1);
    event(f, true);
    add(f, 8, 10, -1);
    assert_int_equal(sent(f), 2);
    /* As if it had been killed. */
    outbox_destroy(&f->box);
    open_box(f);
    (void) str_copy(boot, sizeof(boot), "second");
    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    assert_string_equal(boot, "first");
    outbox_connected(f->box, 0);
    AUTO_FREE char *order = value_dump(f->sent);
    assert_string_equal(order, "[2,\"20261120100000000009\",3,\"20261120100000000008\"]");
    (void) sent(f);
    ack_event(f, 2);
    ack_event(f, 3);
    ack(f, 8);
    ack(f, 9);
    event(f, true);
    assert_true(json_integer_value(json_array_get(f->sent, 0)) > 3); /* no number twice */
    ack_event(f, (int) json_integer_value(json_array_get(f->sent, 0)));
    outbox_destroy(&f->box);
    open_box(f);
    assert_int_equal(outbox_len(f->box), 0);
    /* Nothing waits: a new series. */
    (void) str_copy(boot, sizeof(boot), "third");
    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    assert_string_equal(boot, "third");
}

/* Which numbers were used can't be read now: that is not none. */
static void
test_unreadable_series(void **state)
{
    fixture_t *f = *state;
    char boot[LIMIT_BOOT] = "first";
    AUTO_FREE char *path = fs_join(f->dir, "series"), *away = fs_join(f->dir, "away");
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    event(f, true);
    outbox_destroy(&f->box);
    open_box(f);
    (void) str_copy(boot, sizeof(boot), "second");
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(outbox_series(f->box, boot, &err), -EISDIR);
    assert_non_null(strstr(fail_text(&err), path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(away, path), 0);
    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    assert_string_equal(boot, "first");
}

/* What can't be read while the box is opened is not damaged: it goes out later, in its place, under its
 * number. */
static void
test_unreadable_at_start(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    struct rlimit old, none;

    event(f, true);
    add(f, 1, 10, -1);
    event(f, true);
    outbox_destroy(&f->box);
    spool_t *spool = spool_new(f->dir, &err);
    assert_non_null(spool);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    f->box = outbox_new(&spool, on_send, f);
    name_masters(f);
    event(f, true);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(outbox_len(f->box), 4);
    outbox_connected(f->box, 0);
    AUTO_FREE char *order = value_dump(f->sent);
    assert_string_equal(order, "[1,\"20261120100000000001\",2,3]");
    for (int n = 1; n <= 3; n++)
        ack_event(f, n);
    ack(f, 1);
    assert_int_equal(outbox_len(f->box), 0);
}

/* A directory in the place of a file: the disk does not give what it has; or gives it again. */
static void
hide(const fixture_t *f, const char *name, bool hidden)
{
    AUTO_FREE char *path = fs_join(f->dir, name), *away = xasprintf("%s.away", path);

    if (hidden) {
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        const struct timespec times[] = { st.st_mtim, st.st_mtim };
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    } else {
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rename(away, path), 0);
    }
}

/* One file that can't be read holds up no return; of events only those after it, which a master would take
 * for the newer ones. */
static void
test_unreadable_for_long(void **state)
{
    fixture_t *f = *state;
    static const char *const names[] = { "20261120100000000001.ret", "0000000000000000002.ev" };

    add(f, 1, 10, -1);
    event(f, true);
    event(f, true);
    add(f, 2, 10, -1);
    outbox_destroy(&f->box);
    for (size_t i = 0; i < NELEMS(names); i++)
        hide(f, names[i], true);
    open_box(f);
    outbox_connected(f->box, 0);
    event(f, true);
    AUTO_FREE char *some = value_dump(f->sent);
    assert_string_equal(some, "[1,\"20261120100000000002\"]");
    (void) sent(f);
    ack_event(f, 1);
    ack(f, 2);
    assert_int_equal(sent(f), 0);
    for (size_t i = 0; i < NELEMS(names); i++)
        hide(f, names[i], false);
    int64_t next = outbox_next_ms(f->box);
    assert_true(next > 0);
    outbox_tick(f->box, next);
    AUTO_FREE char *rest = value_dump(f->sent);
    assert_string_equal(rest, "[\"20261120100000000001\",2,3]");
    ack(f, 1);
    ack_event(f, 2);
    ack_event(f, 3);
    assert_int_equal(outbox_len(f->box), 0);
}

/* The master that asked is away: its return goes to another one after a while, and to itself before that. */
static void
test_other_master(void **state)
{
    fixture_t *f = *state;

    outbox_patience(f->box, 5000);
    outbox_connected(f->box, 0);
    outbox_connected(f->box, 1);
    add(f, 1, 10, 0);
    assert_int_equal(sent(f), 1);
    outbox_disconnected(f->box, 0); /* before it acknowledged */
    add(f, 2, 10, 0);
    add(f, 3, 10, 1);
    ack(f, 3);
    assert_int_equal(sent(f), 1);
    int64_t next = outbox_next_ms(f->box), now = clock_mono_ms();
    assert_in_range(next, now, now + 5001);
    outbox_tick(f->box, next - 1);
    assert_int_equal(sent(f), 0);
    outbox_connected(f->box, 0);
    assert_int_equal(sent(f), 2);
    outbox_disconnected(f->box, 0);
    outbox_tick(f->box, clock_mono_ms() + 5001);
    assert_int_equal(sent(f), 2);
    ack(f, 1);
    ack(f, 2);
    assert_int_equal(outbox_len(f->box), 0);
    /* With nobody there is no other one; the first who comes is, when the time is up. */
    outbox_patience(f->box, 1);
    outbox_disconnected(f->box, 1);
    add(f, 4, 10, 0);
    assert_int_equal(outbox_next_ms(f->box), 0);
    int64_t until = clock_mono_ms() + 2;
    while (clock_mono_ms() < until)
        continue;
    outbox_connected(f->box, 1);
    assert_int_equal(sent(f), 1);
}

/* After a restart a return is still its own master's for as long; one whose master is in no list any more
 * is anybody's. */
static void
test_asker_after_restart(void **state)
{
    fixture_t *f = *state;

    add(f, 1, 10, 0);
    add(f, 2, 10, 1);
    add(f, 3, 10, 7);
    add(f, 4, 10, -1);
    outbox_destroy(&f->box);
    open_box(f);
    outbox_patience(f->box, 5000);
    outbox_connected(f->box, 0);
    AUTO_FREE char *first = value_dump(f->sent);
    assert_string_equal(first,
                        "[\"20261120100000000001\",\"20261120100000000003\",\"20261120100000000004\"]");
    (void) sent(f);
    int64_t next = outbox_next_ms(f->box), now = clock_mono_ms();
    assert_in_range(next, now, now + 5001);
    outbox_connected(f->box, 1);
    assert_int_equal(sent(f), 4);
    outbox_disconnected(f->box, 1);
    outbox_tick(f->box, clock_mono_ms() + 5001);
    AUTO_FREE char *last = value_dump(f->sent);
    assert_string_equal(last, "[\"20261120100000000002\"]");
}

/* It is told when the configuration is read again: also returns that wait already have it then. */
static void
test_other_patience(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    outbox_connected(f->box, 1);
    outbox_disconnected(f->box, 0);
    add(f, 1, 10, 0);
    assert_int_equal(outbox_next_ms(f->box), 0);
    outbox_patience(f->box, 5000);
    int64_t next = outbox_next_ms(f->box), now = clock_mono_ms();
    assert_in_range(next, now, now + 5001);
    outbox_patience(f->box, 0);
    assert_int_equal(outbox_next_ms(f->box), 0);
    outbox_patience(f->box, 5000);
    outbox_tick(f->box, next + 5001);
    assert_int_equal(sent(f), 1);
}

/* Three times what may be under way: the rest follows the acknowledgements, each once and in order. */
static void
test_window(void **state)
{
    enum { SIZE = 1024 * 1024, N = 3 * LIMIT_UNDER_WAY / SIZE };
    fixture_t *f = *state;
    int acked = 0;

    for (int i = 0; i < N; i++)
        add(f, i, SIZE, 0);
    outbox_connected(f->box, 0);
    assert_true(f->bytes <= LIMIT_UNDER_WAY + 2 * SIZE);
    size_t n = json_array_size(f->sent);
    assert_in_range(n, LIMIT_UNDER_WAY / SIZE - 1, LIMIT_UNDER_WAY / SIZE + 1);
    while (acked < N) {
        assert_true((size_t) acked < json_array_size(f->sent));
        AUTO_FREE char *jid = jid_of(acked);
        assert_string_equal(json_string_value(json_array_get(f->sent, (size_t) acked)), jid);
        ack(f, acked++);
    }
    assert_int_equal(json_array_size(f->sent), N);
    assert_int_equal(outbox_len(f->box), 0);
}

/* No answer: everything again after a while, and each time a longer one. */
static void
test_patience(void **state)
{
    fixture_t *f = *state;
    int64_t now = clock_mono_ms(), first, second;

    outbox_connected(f->box, 0);
    add(f, 1, 10, 0);
    event(f, true);
    assert_int_equal(sent(f), 2);
    first = outbox_next_ms(f->box) - now;
    assert_true(first > 0);
    outbox_tick(f->box, now + first - 1000);
    assert_int_equal(sent(f), 0);
    outbox_tick(f->box, now + first + 1000);
    assert_int_equal(sent(f), 2);
    second = outbox_next_ms(f->box) - now;
    assert_true(second > first + 1000);
    /* An answer to the one shortens the wait for the other. */
    ack(f, 1);
    assert_true(outbox_next_ms(f->box) - now <= first + 1000);
    ack_event(f, 1);
    assert_int_equal(outbox_next_ms(f->box), 0);
}

/* What no master would take is refused where it is fired. */
static void
test_event_of_too_many_values(void **state)
{
    fixture_t *f = *state;
    json_auto_t *data = json_object(), *list = json_array();

    json_object_set(data, "a", list);
    for (int i = 0; i < LIMIT_WIRE_VALUES - 20; i++)
        json_array_append_new(list, json_integer(i % 10));
    outbox_connected(f->box, 0);
    assert_true(outbox_event(f->box, "t", data, NULL));
    for (int i = 0; i < 20; i++)
        json_array_append_new(list, json_integer(i));
    assert_false(outbox_event(f->box, "t", data, NULL));
}

static void
test_events_have_limits(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *text = xcalloc(1, LIMIT_EVENTS_KEPT_BYTES / 4 + 1);

    memset(text, 'x', LIMIT_EVENTS_KEPT_BYTES / 4);
    json_auto_t *large = json_pack("{s:s}", "a", text);
    /* More than a message holds. */
    assert_false(outbox_event(f->box, "t", large, NULL));
    text[LIMIT_EVENTS_KEPT_BYTES / 8] = '\0';
    (void) json_object_set_new(large, "a", json_string(text));
    for (int i = 0; i < 7; i++)
        assert_true(outbox_event(f->box, "t", large, NULL));
    assert_false(outbox_event(f->box, "t", large, NULL));
    event(f, true);
    for (int i = 1; i <= 8; i++)
        ack_event(f, i);
    assert_int_equal(outbox_len(f->box), 0);
    for (int i = 0; i < LIMIT_EVENTS_KEPT; i++)
        event(f, true);
    event(f, false);
    /* The number of one that was dropped is not used. */
    ack_event(f, 9);
    event(f, true);
    ack_event(f, 9 + LIMIT_EVENTS_KEPT);
    assert_int_equal(outbox_len(f->box), LIMIT_EVENTS_KEPT - 1);
}

/* The file system refuses: in memory and sent all the same, on the disk as soon as it can be. */
static void
test_full_disk(void **state)
{
    enum { SIZE = 4 * 1024 * 1024 };
    fixture_t *f = *state;
    struct rlimit old, small;
    int n = 0;

    (void) signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    while (!outbox_full(f->box) && n < 100)
        add(f, n++, SIZE, 0);
    assert_in_range(n, LIMIT_UNSPOOLED / SIZE, LIMIT_UNSPOOLED / SIZE + 1);
    outbox_connected(f->box, 0);
    assert_true(sent(f) > 0);
    /* Still full. */
    int64_t disk = outbox_next_ms(f->box);
    assert_true(disk > 0);
    outbox_tick(f->box, disk + 1);
    assert_true(outbox_full(f->box));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    outbox_tick(f->box, disk + 60000);
    assert_false(outbox_full(f->box));
    outbox_destroy(&f->box);
    open_box(f);
    assert_int_equal(outbox_len(f->box), n);
}

static void
fill_disk(struct rlimit *ret_old)
{
    (void) signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, ret_old), 0);
    struct rlimit none = *ret_old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
}

/* Events that came while the disk was full are there as soon as it has room, also when nothing else comes. */
static void
test_events_on_a_full_disk(void **state)
{
    fixture_t *f = *state;
    struct rlimit old;

    beacon(f, 1);
    fill_disk(&old);
    event(f, true);
    beacon(f, 100);
    int64_t disk = outbox_next_ms(f->box);
    assert_true(disk > 0);
    outbox_tick(f->box, disk + 1);
    assert_true(outbox_next_ms(f->box) > 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    outbox_tick(f->box, disk + 60000);
    assert_int_equal(outbox_next_ms(f->box), 0);
    /* As if it had been killed. */
    outbox_destroy(&f->box);
    open_box(f);
    assert_int_equal(outbox_len(f->box), 102);
}

/* The disk was full when numbers had to be reserved: that is made good, or a start after a kill would use them
 * again, for which masters take them as had. */
static void
test_numbers_on_a_full_disk(void **state)
{
    enum { STEP = 10000, MORE = 5 };
    fixture_t *f = *state;
    struct rlimit old;
    char boot[LIMIT_BOOT] = "first";

    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    event(f, true);
    outbox_connected(f->box, 0);
    for (int n = 2; n <= STEP; n++) {
        event(f, true);
        ack_event(f, n);
    }
    fill_disk(&old);
    event(f, true);
    ack_event(f, STEP + 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    for (int n = STEP + 2; n <= STEP + MORE; n++) {
        event(f, true);
        ack_event(f, n);
    }
    /* As if it had been killed; the first event still waits. */
    outbox_destroy(&f->box);
    open_box(f);
    (void) str_copy(boot, sizeof(boot), "second");
    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    assert_string_equal(boot, "first");
    outbox_connected(f->box, 0);
    (void) sent(f);
    event(f, true);
    assert_true(json_integer_value(json_array_get(f->sent, 0)) > STEP + MORE);
}

/* An event that just fits now fits with a longer number too, which it may get as others pass it. */
static void
test_event_that_just_fits(void **state)
{
    fixture_t *f = *state;
    size_t low = 0, high = LIMIT_EVENTS_KEPT_BYTES / 4, len;
    int n = 0;
    AUTO_FREE char *text = xcalloc(1, high + 1);

    memset(text, 'x', high);
    while (low + 1 < high) {
        size_t size = (low + high) / 2;
        json_auto_t *data = json_pack("{s:s%}", "a", text, size);
        if (outbox_beacon(f->box, "t", data)) {
            ack_event(f, ++n);
            low = size;
        } else
            high = size;
    }
    json_int_t large = 1234567890;
    json_auto_t *event = json_pack("{s:I, s:I, s:s, s:{s:s%}, s:b}", "n", large, "oldest", large, "tag", "t",
                                   "data", "a", text, low, "bare", true);
    AUTO_FREE char *message = wire_encode(MSG_event, event, &len, NULL);
    assert_non_null(message);
}

/* The same job twice: the later return counts, the folder's count stays right. */
static void
test_same_jid_twice(void **state)
{
    fixture_t *f = *state;

    add(f, 1, 10, 0);
    add(f, 1, 20, 0);
    assert_int_equal(outbox_len(f->box), 1);
    assert_int_equal(spool_len(outbox_spool(f->box)), 1);
    ack(f, 1);
    assert_int_equal(spool_len(outbox_spool(f->box)), 0);
}

/* Killed when a return was kept: whoever reads "True" there also gets the event that it speaks of. */
static void
test_event_before_a_return(void **state)
{
    fixture_t *f = *state;
    char boot[LIMIT_BOOT] = "first";

    assert_int_equal(outbox_series(f->box, boot, NULL), 0);
    outbox_connected(f->box, 0);
    event(f, true);
    event(f, true);
    ack_event(f, 1);
    add(f, 1, 10, 0);
    event(f, true);
    assert_int_equal(sent(f), 4);
    outbox_destroy(&f->box);
    open_box(f);
    outbox_connected(f->box, 0);
    AUTO_FREE char *order = value_dump(f->sent);
    assert_string_equal(order, "[2,\"20261120100000000001\"]");
    ack_event(f, 2);
    ack(f, 1);
    outbox_destroy(&f->box);
    open_box(f);
    assert_int_equal(outbox_len(f->box), 0);
}

/* A storm of beacons' events keeps neither a return nor what a job fires. */
static void
test_storm(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    beacon(f, 2000);
    assert_int_equal(outbox_len(f->box), 2000);
    size_t first = sent(f);
    assert_in_range(first, 20, 100);
    event(f, true);
    add(f, 1, 10, 0);
    AUTO_FREE char *order = value_dump(f->sent),
                   *wanted = xasprintf("[%zu,\"20261120100000000001\"]", first + 1);
    assert_string_equal(order, wanted);

    /* The rest comes in its order, and numbers have no gap. */
    ack(f, 1);
    json_array_clear(f->sent);
    for (size_t i = 1; i <= first + 1; i++)
        ack_event(f, (int) i);
    assert_int_equal(ack_all_events(f, (json_int_t) first + 1), 2000 - first);
    assert_int_equal(outbox_len(f->box), 0);
}

/* What a job fired is written at its return, the beacon's event before it when the master goes: after a restart they
 * come by their numbers, or the master takes the one that comes behind for a repetition. */
static void
test_order_of_numbers(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    beacon(f, 1);
    event(f, true);
    add(f, 1, 10, 0);
    outbox_disconnected(f->box, 0);
    outbox_destroy(&f->box);
    open_box(f);
    (void) sent(f);
    outbox_connected(f->box, 0);
    AUTO_FREE char *order = value_dump(f->sent);
    assert_string_equal(order, "[1,2,\"20261120100000000001\"]");
}

/* While a master is away for long, beacons do not take the room of what jobs fire. */
static void
test_storm_leaves_room(void **state)
{
    fixture_t *f = *state;
    json_auto_t *data = json_object();
    int n = 0;

    while (n < LIMIT_EVENTS_KEPT && outbox_beacon(f->box, "t", data))
        n++;
    event(f, true);
    assert_int_equal(n, LIMIT_EVENTS_KEPT / 10 * 9);
    outbox_connected(f->box, 0);
    for (int i = 1; i <= n + 1; i++)
        ack_event(f, i);
    assert_int_equal(outbox_len(f->box), 0);
    assert_true(outbox_beacon(f->box, "t", data));
}

/* What waits when the last master goes is kept on disk, all of it; a return goes before it, also after a
 * restart, but not before what its job fired. */
static void
test_storm_without_a_master(void **state)
{
    fixture_t *f = *state;

    outbox_connected(f->box, 0);
    beacon(f, 300);
    outbox_disconnected(f->box, 0);
    beacon(f, 300);
    add(f, 1, 10, 0);
    for (int round = 0; round < 2; round++) {
        (void) sent(f);
        outbox_connected(f->box, 0);
        assert_string_equal(json_string_value(json_array_get(f->sent, 0)), "20261120100000000001");
        assert_in_range(sent(f), 20, 100);
        outbox_destroy(&f->box);
        open_box(f);
        assert_int_equal(outbox_len(f->box), 601);
    }
    event(f, true);
    add(f, 2, 10, 0);
    outbox_connected(f->box, 0);
    ack(f, 1);
    (void) json_array_remove(f->sent, 0);
    assert_int_equal(ack_all_events(f, 0), 601);
    assert_string_equal(json_string_value(json_array_get(f->sent, 0)), "20261120100000000002");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_at_once), TEST(test_oldest_event), TEST(test_odd_acknowledgements),
          TEST(test_master_goes_and_comes), TEST(test_two_masters), TEST(test_restart),
          TEST(test_return_that_fits_no_message), TEST(test_restart_with_events),
          TEST(test_event_before_a_return), TEST(test_unreadable_at_start), TEST(test_unreadable_for_long),
          TEST(test_other_master), TEST(test_other_patience), TEST(test_asker_after_restart),
          TEST(test_window), TEST(test_patience), TEST(test_unreadable_series),
          TEST(test_event_of_too_many_values), TEST(test_events_have_limits), TEST(test_full_disk),
          TEST(test_events_on_a_full_disk), TEST(test_numbers_on_a_full_disk),
          TEST(test_event_that_just_fits), TEST(test_same_jid_twice), TEST(test_storm),
          TEST(test_storm_leaves_room), TEST(test_order_of_numbers), TEST(test_storm_without_a_master))
