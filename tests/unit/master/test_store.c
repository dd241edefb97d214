/* test_store.c - the store: what was committed stays, what was refused was never half there. */
#include "unit/master/store_place.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "master/events/eframe.h"
#include "master/store/store.h"
#include "master/store/store_read.h"
#include "salt/value.h"

/* "SEQ TAG, SEQ TAG, ..." of the block after this number, " | LAST" behind it; "" when there is none. NEW. */
static char *
block_after(store_reader_t *reader, uint64_t after)
{
    buf_auto_t frames = BUF_INIT;
    buf_t out = BUF_INIT;
    char tag[LIMIT_TAG_LEN + 1];
    eframe_t frame;
    uint64_t last = 0;

    if (store_event_block(reader, after, &frames, &last, NULL) != 1)
        return buf_steal(&out);
    for (size_t at = 0; eframe_read(frames.data + at, frames.len - at, &frame); at += frame.len) {
        (void) eframe_tag(&frame, tag);
        buf_printf(&out, "%llu %s, ", (unsigned long long) frame.seq, tag);
    }
    buf_printf(&out, "| %llu", (unsigned long long) last);
    return buf_steal(&out);
}

static void
assert_block(store_reader_t *reader, uint64_t after, const char *expected)
{
    AUTO_FREE char *text = block_after(reader, after);

    assert_string_equal(text, expected);
}

/* NEW ["jid", ...] of a list of jobs. TAKES jobs. */
static json_t *
jids_of(json_t *jobs)
{
    json_t *out = json_array();
    size_t i;
    json_t *job;

    json_array_foreach (jobs, i, job)
        json_array_append_new(out, json_string(value_str(job, "jid", "?")));
    json_decref(jobs);
    return out;
}

static json_t *
find_jobs(place_t *p, const char *filter, fail_t *err)
{
    json_auto_t *f = value_parse(filter, strlen(filter), 1 << 20, "test", NULL);
    json_t *jobs = store_jobs(p->reader, f, err);

    return jobs != NULL ? jids_of(jobs) : NULL;
}

/* ---- what is written can be read ------------------------------------------------------------- */

static void
test_job_and_returns(void **state)
{
    place_t *p = *state;

    add_job(p->store,
            "{\"jid\": \"20261120100000000001\", \"fun\": \"test.echo\", \"arg\": [\"x\", {\"k\": [1]}], "
            "\"tgt\": \"*\", \"tgt_type\": \"glob\", \"user\": \"root\", \"minions\": [\"a\", \"b\"], "
            "\"start_us\": 77}");
    add_return(p->store, "20261120100000000001", "b", "{\"deep\": [null, 1.5]}", 0);
    settle(p->store, add_return(p->store, "20261120100000000001", "a", "\"x\"", 2));

    assert_shown(
        store_job(p->reader, "20261120100000000001", err),
        "{\"jid\":\"20261120100000000001\",\"fun\":\"test.echo\",\"arg\":[\"x\",{\"k\":[1]}],\"tgt\":\"*\","
        "\"tgt_type\":\"glob\",\"user\":\"root\",\"start_us\":77,\"n_minions\":2,\"n_returned\":2,"
        "\"n_failed\":1,\"minions\":[\"a\",\"b\"]}");
    assert_shown(
        store_returns(p->reader, "20261120100000000001", err),
        "{\"a\":{\"jid\":\"20261120100000000001\",\"fun\":\"test.echo\",\"fun_args\":[1],\"return\":\"x\","
        "\"retcode\":2,\"success\":false},"
        "\"b\":{\"jid\":\"20261120100000000001\",\"fun\":\"test.echo\",\"fun_args\":[1],"
        "\"return\":{\"deep\":[null,1.5]},\"retcode\":0,\"success\":true}}");
    assert_shown(store_returned(p->reader, "20261120100000000001", err), "[\"a\",\"b\"]");
    assert_int_equal(store_has_return(p->reader, "20261120100000000001", "a", NULL), 1);
    assert_int_equal(store_has_return(p->reader, "20261120100000000001", "c", NULL), 0);
    assert_int_equal(store_is_target(p->reader, "20261120100000000001", "a", NULL), 1);
    assert_int_equal(store_is_target(p->reader, "20261120100000000001", "", NULL), 0);
    assert_int_equal(store_is_target(p->reader, "20261120100000000001", "a\",\"b", NULL), 0);
    assert_int_equal(store_is_target(p->reader, "20261120100000000009", "a", NULL), -ENOENT);
    settle(p->store, add_return(p->store, "20261120100000000008", "a", "1", 0));
    assert_int_equal(store_is_target(p->reader, "20261120100000000008", "a", NULL), STORE_ADOPTED);
    assert_int_equal(store_is_target(p->reader, "20261120100000000008", "b", NULL), STORE_ADOPTED);
    assert_shown(store_job(p->reader, "nosuch", err), "null");
    assert_shown(store_returns(p->reader, "nosuch", err), "{}");
    assert_shown(store_last_jid(p->reader, err), "\"20261120100000000008\"");
}

static bool
note_id(void *cookie, const char *id, const char *text, size_t len)
{
    json_t *ids = cookie;

    assert_int_equal(strlen(text), len);
    json_array_append_new(ids, json_string(id));
    return json_array_size(ids) % 2 == 1;
}

/* Piece by piece, and only some. */
static void
test_some_returns(void **state)
{
    place_t *p = *state;
    json_auto_t *ids = json_array(), *globs = json_pack("[s, s]", "b", "d*");
    uint64_t ticket = 0;

    add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": [\"a\"]}");
    for (const char *id = "ecabd"; *id; id++)
        ticket = add_return(p->store, "j1", (const char[]){ *id, '\0' }, "1", 0);
    settle(p->store, ticket);
    for (const char *after = "";; after = json_string_value(json_array_get(ids, json_array_size(ids) - 1))) {
        size_t before = json_array_size(ids);
        assert_int_equal(store_returns_each(p->reader, "j1", after, note_id, ids, NULL), 0);
        if (json_array_size(ids) - before < 2)
            break;
    }
    AUTO_FREE char *all = value_dump(ids);
    assert_string_equal(all, "[\"a\",\"b\",\"c\",\"d\",\"e\"]");
    json_auto_t *some = store_returns_of(p->reader, "j1", globs, NULL);
    json_auto_t *names = value_sorted_keys(some);
    AUTO_FREE char *shown = value_dump(names);
    assert_string_equal(shown, "[\"b\",\"d\"]");
}

static void
test_duplicates_first_wins(void **state)
{
    place_t *p = *state;
    store_stats_t stats;

    add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": [\"a\"]}");
    add_return(p->store, "j1", "a", "1", 0);
    settle(p->store, add_return(p->store, "j1", "a", "2", 0));
    settle(p->store, add_return(p->store, "j1", "a", "3", 1));
    settle(p->store, add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"other\", \"minions\": []}"));
    json_auto_t *returns = store_returns(p->reader, "j1", NULL);
    assert_int_equal(value_int(json_object_get(returns, "a"), "return", -1), 1);
    json_auto_t *job = store_job(p->reader, "j1", NULL);
    assert_int_equal(value_int(job, "n_returned", -1), 1);
    assert_int_equal(value_int(job, "n_failed", -1), 0);
    assert_string_equal(value_str(job, "fun", ""), "f");
    store_get_stats(p->store, &stats);
    assert_int_equal(stats.duplicates, 3);
    assert_int_equal(stats.queued, 0);
}

/* More than a batch, with a row of another kind in front and events in it: one transaction, and none
 * before its end. */
static void
test_together(void **state)
{
    place_t *p = *state;
    store_stats_t before, after;
    char jid[32];

    settle(p->store, add_return(p->store, "j0", "a", "0", 0));
    store_get_stats(p->store, &before);
    store_together(p->store);
    uint64_t first = add_return(p->store, "j1", "a", "1", 0);
    assert_false(store_wait(p->store, first, 50));
    add_event(p->store, 1, "salt/job/j1/ret/a");
    for (int i = 2; i < LIMIT_STORE_BATCH + 50; i++) {
        (void) snprintf(jid, sizeof(jid), "j%d", i);
        add_return(p->store, jid, "a", "1", 0);
    }
    uint64_t last = add_event(p->store, 2, "salt/job/last");
    assert_true(store_committed(p->store) < first);
    store_apart(p->store);
    settle(p->store, last);
    store_get_stats(p->store, &after);
    assert_int_equal(after.commits, before.commits + 1);
    assert_int_equal(store_has_return(p->reader, "j1", "a", NULL), 1);
}

/* Events that waited before are on the disk without those that belong to a row behind them. */
static void
test_together_begins_with_events(void **state)
{
    place_t *p = *state;

    signal(SIGXFSZ, SIG_IGN);
    set_file_limit(4096);
    add_return(p->store, "j1", "a", "1", 0);
    free(await_trouble(p->store, true));
    uint64_t alone = add_event(p->store, 1, "alone");
    store_together(p->store);
    add_event(p->store, 2, "first of two");
    uint64_t number = store_put_meta(p->store, "number", "2");
    set_file_limit(RLIM_INFINITY);
    settle(p->store, alone);
    assert_true(store_committed(p->store) < number);
    assert_block(p->reader, 1, "");
    store_apart(p->store);
    settle(p->store, number);
    assert_block(p->reader, 1, "2 first of two, | 2");
    signal(SIGXFSZ, SIG_DFL);
}

static void
test_return_without_a_job(void **state)
{
    place_t *p = *state;

    settle(p->store, add_return(p->store, "orphan", "a", "1", 0));
    json_auto_t *job = store_job(p->reader, "orphan", NULL);
    assert_string_equal(value_str(job, "fun", ""), "test.echo");
    assert_int_equal(value_int(job, "n_returned", -1), 1);
    assert_shown(json_deep_copy(value_get(job, "minions")), "[\"a\"]");
    assert_shown(json_deep_copy(value_get(job, "arg")), "[1]");
    char *garbage = xstrdup("not JSON");
    settle(p->store, store_add_return(p->store, "garbage", "a", &garbage, 0, true));
    assert_shown(store_returns(p->reader, "garbage", err), "{\"a\":\"not JSON\"}");
}

/* A minion tells of a job that is not there yet, in a commit of its own or in the same as the job's row and its
 * note: of its story nothing is left. */
static void
test_own_row_of_an_adopted_job(void **state)
{
    static const char row[] =
        "{\"jid\": \"%s\", \"fun\": \"cmd.run\", \"user\": \"root\", \"tgt\": \"a\", "
        "\"minions\": [\"a\", \"b\"], \"note\": {\"kind\": \"orch\", \"ref\": \"r\", \"part\": \"%d\"}}";
    place_t *p = *state;

    for (int together = 0; together <= 1; together++) {
        const char *jid = together ? "20261120100000000002" : "20261120100000000001";
        AUTO_FREE char *job = xasprintf(row, jid, together), *part = xasprintf("%d", together);
        if (together)
            store_together(p->store);
        uint64_t ticket = add_return(p->store, jid, "evil", "1", 1);
        if (!together)
            settle(p->store, ticket);
        (void) add_return(p->store, jid, "a", "\"early\"", 0);
        ticket = add_job(p->store, job);
        if (together)
            store_apart(p->store);
        settle(p->store, ticket);
        json_auto_t *kept = store_job(p->reader, jid, NULL);
        assert_string_equal(value_str(kept, "fun", ""), "cmd.run");
        assert_string_equal(value_str(kept, "user", ""), "root");
        assert_null(value_get(kept, "adopted"));
        assert_int_equal(value_int(kept, "n_returned", -1), 0);
        assert_int_equal(value_int(kept, "n_failed", -1), 0);
        assert_shown(store_returns(p->reader, jid, err), "{}");
        AUTO_FREE char *quoted = xasprintf("\"%s\"", jid);
        assert_shown(store_noted(p->reader, "orch", "r", part, err), quoted);
        settle(p->store, add_return(p->store, jid, "a", "\"late\"", 0));
        assert_shown(store_returned(p->reader, jid, err), "[\"a\"]");
        /* What was published is nobody's to replace, the master's own second row included. */
        settle(p->store, add_job(p->store, job));
        assert_shown(store_returned(p->reader, jid, err), "[\"a\"]");
        assert_int_equal(store_is_target(p->reader, jid, "evil", NULL), 0);
    }
}

static void
test_reopen(void **state)
{
    place_t *p = *state;
    char *grains = xstrdup("{\"os\": \"Debian\"}");
    struct stat st;

    add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": [\"a\"]}");
    add_event(p->store, 7, "salt/x");
    store_put_grains(p->store, "a", &grains);
    store_put_meta(p->store, "cursor", "7");
    add_return(p->store, "j1", "a", "1", 0);
    close_place(p); /* writes what is queued */
    assert_int_equal(stat(p->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    open_place(p);
    assert_null(store_notice(p->store));
    assert_shown(store_returned(p->reader, "j1", err), "[\"a\"]");
    assert_shown(store_docs(p->reader, STORE_GRAINS, NULL, err), "{\"a\":{\"os\":\"Debian\",\"id\":\"a\"}}");
    assert_shown(store_meta(p->reader, "cursor", err), "\"7\"");
    settle(p->store, store_put_meta(p->store, "cursor/b", "8"));
    assert_shown(store_metas(p->reader, "cursor/", err), "{\"cursor/b\":\"8\"}");
    assert_true(store_wait(p->store, store_del_meta(p->store, "cursor"), PATIENCE_MS));
    assert_shown(store_meta(p->reader, "cursor", err), "null");
    assert_shown(store_meta(p->reader, "nosuch", err), "null");
    uint64_t first, last;
    assert_int_equal(store_seq_range(p->reader, &first, &last, NULL), 0);
    assert_int_equal(first, 7);
    assert_int_equal(last, 7);
    settle(p->store, store_del_minion(p->store, "a"));
    assert_shown(store_docs(p->reader, STORE_GRAINS, "a", err), "{}");
}

static void
test_job_filters(void **state)
{
    place_t *p = *state;
    uint64_t ticket = 0;
    static const char *const jobs[] = {
        "{\"jid\": \"j1\", \"fun\": \"test.ping\", \"tgt\": \"*\", \"minions\": [\"a\"], \"start_us\": 10}",
        "{\"jid\": \"j2\", \"fun\": \"test.echo\", \"tgt\": \"db*\", \"minions\": [\"a\"], \"start_us\": 20, "
        "\"metadata\": {\"why\": \"x\"}}",
        "{\"jid\": \"j3\", \"fun\": [\"cmd.run\", \"pkg.install\"], \"tgt\": [\"db1\", \"web1\"], "
        "\"minions\": [\"a\", \"b\"], \"start_us\": 30}",
        "{\"jid\": \"j4\", \"fun\": \"saltutil.find_job\", \"tgt\": \"*\", \"minions\": [], \"start_us\": "
        "40}",
    };
    static const struct {
        const char *filter, *jids;
    } rows[] = {
        { "{}", "[\"j1\",\"j2\",\"j3\",\"j4\"]" },
        { "{\"limit\": 2}", "[\"j3\",\"j4\"]" },
        { "{\"limit\": 0}", "[]" },
        { "{\"function\": [\"test.*\"]}", "[\"j1\",\"j2\"]" },
        { "{\"function\": [\"test.*\"], \"limit\": 1}", "[\"j2\"]" },
        { "{\"function\": [\"pkg.*\", \"test.ping\"]}", "[\"j1\",\"j3\"]" },
        { "{\"not_function\": [\"saltutil.find_job\"]}", "[\"j1\",\"j2\",\"j3\"]" },
        { "{\"target\": [\"web*\"]}", "[\"j3\"]" },
        { "{\"target\": [\"db*\"]}", "[\"j2\",\"j3\"]" },
        { "{\"metadata\": {\"no\": 1, \"why\": \"x\"}}", "[\"j2\"]" },
        { "{\"metadata\": {\"why\": \"y\"}}", "[]" },
        { "{\"start_us\": 20, \"end_us\": 30}", "[\"j2\",\"j3\"]" },
        { "{\"failed\": true}", "[\"j3\"]" },
    };

    for (size_t i = 0; i < NELEMS(jobs); i++)
        ticket = add_job(p->store, jobs[i]);
    add_return(p->store, "j1", "a", "1", 0);
    settle(p->store, add_return(p->store, "j3", "b", "1", 9));
    for (size_t i = 0; i < NELEMS(rows); i++)
        assert_shown(find_jobs(p, rows[i].filter, err), rows[i].jids);
    assert_true(ticket > 0);
    size_t left = 7;
    assert_shown(store_unfinished(p->reader, 0, 1 << 20, &left, err), "[\"j2\",\"j3\"]");
    assert_int_equal(left, 0);
    /* As many as fit, the newest. */
    assert_shown(store_unfinished(p->reader, 0, 1500, &left, err), "[\"j3\"]");
    assert_int_equal(left, 1);
    assert_shown(store_unfinished(p->reader, 0, 100, &left, err), "[]");
    assert_int_equal(left, 2);
    assert_shown(store_unfinished(p->reader, 20, 1 << 20, &left, err), "[\"j3\"]");
    settle(p->store, store_end_job(p->store, "j3", 0));
    assert_shown(store_unfinished(p->reader, 0, 1 << 20, &left, err), "[\"j2\"]");
    json_auto_t *with = json_pack("{s:b, s:b, s:i}", "returned", 1, "minions", 1, "limit", 2);
    json_auto_t *full = store_jobs(p->reader, with, NULL);
    assert_shown(json_deep_copy(value_get(json_array_get(full, 0), "returned")), "[\"b\"]");
}

/* A list is whole, or it is none. */
static void
test_too_many_to_list(void **state)
{
    place_t *p = *state;
    fail_auto_t why = FAIL_INIT;

    AUTO_FREE char *sql = xasprintf(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO jobs(jid, start_us, n_minions, fun, tgt, doc, minions) SELECT 'j' || i, i, 0, 'f', "
        "'t', '{}', '[]' FROM n",
        LIMIT_JOBS_LISTED);
    change_rows(p, sql);
    json_auto_t *all = store_jobs(p->reader, NULL, &why);
    assert_int_equal(json_array_size(all), LIMIT_JOBS_LISTED);
    settle(p->store, add_job(p->store, "{\"jid\": \"one\", \"fun\": \"g\", \"minions\": []}"));
    assert_null(store_jobs(p->reader, NULL, &why));
    assert_non_null(strstr(fail_text(&why), "jobs.list_jobs_filter"));
    assert_shown(find_jobs(p, "{\"function\": [\"g\"]}", err), "[\"one\"]");
    assert_shown(find_jobs(p, "{\"limit\": 1}", err), "[\"one\"]");
}

static void
test_event_journal(void **state)
{
    place_t *p = *state;
    uint64_t after = 99;

    assert_int_equal(store_event_since(p->reader, 0, &after, NULL), 0);
    assert_int_equal(after, 0);
    assert_block(p->reader, 0, "");
    add_event(p->store, 1, "salt/auth");
    add_event(p->store, 2, "salt/job/1/new");
    settle(p->store, add_event(p->store, 3, "salt/job/1/ret/a"));
    settle(p->store, add_event(p->store, 4, "later"));
    settle(p->store, add_event(p->store, 5, "last"));
    /* The first three may lie in one block or in several. */
    AUTO_FREE char *first = block_after(p->reader, 0);
    assert_memory_equal(first, "1 salt/auth, ", 13);
    AUTO_FREE char *second = block_after(p->reader, 1);
    assert_memory_equal(second, "2 salt/job/1/new, ", 18);
    assert_block(p->reader, 2, "3 salt/job/1/ret/a, | 3");
    assert_block(p->reader, 3, "4 later, | 4");
    assert_block(p->reader, 4, "5 last, | 5");
    assert_block(p->reader, 5, "");
    assert_int_equal(store_event_since(p->reader, 1004, &after, NULL), 0);
    assert_int_equal(after, 3);
    assert_int_equal(store_event_since(p->reader, 1005, &after, NULL), 0);
    assert_int_equal(after, 4);
    assert_int_equal(store_event_since(p->reader, 1006, &after, NULL), 0);
    assert_int_equal(after, 5);
}

static void
test_damaged_block_is_passed_over(void **state)
{
    place_t *p = *state;
    uint64_t cursor = 0;

    settle(p->store, add_event(p->store, 1, "spoilt"));
    settle(p->store, add_event(p->store, 2, "whole"));
    change_rows(p, "UPDATE event_blocks SET frames = x'ffffffffff' WHERE first = 1");
    json_auto_t *events = store_events(p->reader, &cursor, 10, NULL);
    assert_int_equal(json_array_size(events), 1);
    assert_string_equal(value_str(json_array_get(events, 0), "tag", ""), "whole");
    assert_int_equal(cursor, 2);
}

/* What waits becomes blocks of many, and none is left out. */
static void
test_events_in_blocks(void **state)
{
    place_t *p = *state;
    enum { EVENTS = 20000 };
    uint64_t ticket = 0, after = 0, last = 0, blocks = 0, seen = 0;

    for (uint64_t i = 1; i <= EVENTS; i++) {
        ticket = add_event(p->store, i, "some/tag/of/usual/length");
        /* Other rows between them. */
        if (i % 100 == 0)
            ticket = store_put_meta(p->store, "cursor", "x");
    }
    settle(p->store, ticket);
    for (;; blocks++) {
        buf_auto_t frames = BUF_INIT;
        eframe_t frame;
        if (store_event_block(p->reader, after, &frames, &last, NULL) != 1)
            break;
        for (size_t at = 0; at < frames.len; at += frame.len) {
            assert_true(eframe_read(frames.data + at, frames.len - at, &frame));
            assert_int_equal(frame.seq, ++seen);
        }
        assert_int_equal(last, seen);
        after = last;
    }
    assert_int_equal(seen, EVENTS);
    assert_true(blocks < EVENTS / 10);
}

/* A database of the first format: a row for each event. */
static void
test_first_format(void **state)
{
    place_t *p = *state;
    sqlite3 *db;

    settle(p->store, add_return(p->store, "j1", "a", "1", 0));
    close_place(p);
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            db,
            "DROP TABLE event_blocks; CREATE TABLE events(seq INTEGER PRIMARY KEY, tag TEXT NOT NULL,"
            " stamp_us INTEGER NOT NULL, data TEXT NOT NULL);"
            "INSERT INTO events VALUES(7, 'salt/auth', 1000007, '{\"_stamp\":\"x\",\"id\":\"a\"}'),"
            " (8, 'a\"b', 1000008, '{}'), (9, 'broken', 1000009, '{'); PRAGMA user_version = 1;",
            NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    open_place(p);
    assert_null(store_notice(p->store));
    assert_shown(store_returned(p->reader, "j1", err), "[\"a\"]");
    assert_block(p->reader, 0, "7 salt/auth, | 7");
    assert_block(p->reader, 7, "8 a\"b, | 8");
    buf_auto_t frames = BUF_INIT;
    uint64_t last;
    eframe_t frame;
    assert_int_equal(store_event_block(p->reader, 0, &frames, &last, NULL), 1);
    assert_true(eframe_read(frames.data, frames.len, &frame));
    assert_shown(eframe_value(&frame),
                 "{\"seq\":7,\"tag\":\"salt/"
                 "auth\",\"data\":{\"id\":\"a\",\"_stamp\":\"1970-01-01T00:00:01.000007\"}}");
    settle(p->store, add_event(p->store, 10, "after"));
    close_place(p);
    open_place(p);
    assert_block(p->reader, 8, "10 after, | 10");
}

static void
change(const place_t *p, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
assert_refused(const place_t *p, const char *by)
{
    fail_auto_t err = FAIL_INIT;

    assert_null(store_new(p->path, &err));
    assert_int_equal(err.code, -EPROTO);
    assert_non_null(strstr(fail_text(&err), by));
    assert_non_null(strstr(fail_text(&err), "this master, Halite " HALITE_RELEASE ", knows formats up to "));
    assert_non_null(strstr(fail_text(&err), ": install that master again, or, "));
}

/* One of a later format is refused, with who wrote it as far as that can be told; nothing of it is changed. */
static void
test_later_format(void **state)
{
    place_t *p = *state;

    settle(p->store, add_return(p->store, "j1", "a", "1", 0));
    close_place(p);
    change(p, "PRAGMA user_version = 99; UPDATE meta SET value = '9.1.0' WHERE key = 'halite_version'");
    assert_refused(p, "a store of format 99, written by Halite 9.1.0; ");
    change(p, "ALTER TABLE meta RENAME TO another");
    assert_refused(p, "a store of format 99, written by Halite of a later version; ");
    change(p, "ALTER TABLE another RENAME TO meta; PRAGMA user_version = 2");
    open_place(p);
    assert_null(store_notice(p->store));
    assert_shown(store_returned(p->reader, "j1", err), "[\"a\"]");
    assert_shown(store_meta(p->reader, "halite_version", err), "\"" HALITE_RELEASE "\"");
}

/* ---- bounds and expiry ----------------------------------------------------------------------- */

static void
test_ten_thousand_returns(void **state)
{
    place_t *p = *state;
    uint64_t ticket = 0, last = 0;
    store_stats_t stats;

    add_job(p->store, "{\"jid\": \"big\", \"fun\": \"f\", \"minions\": []}");
    for (int i = 0; i < 10000; i++) {
        char id[32];
        snprintf(id, sizeof(id), "m%05d", i);
        ticket = add_return(p->store, "big", id, "\"some text that a minion returned\"", 0);
        assert_true(ticket > last);
        last = ticket;
    }
    settle(p->store, ticket);
    json_auto_t *returned = store_returned(p->reader, "big", NULL);
    assert_int_equal(json_array_size(returned), 10000);
    json_auto_t *job = store_job(p->reader, "big", NULL);
    assert_int_equal(value_int(job, "n_returned", -1), 10000);
    store_get_stats(p->store, &stats);
    assert_int_equal(stats.rows, 10001);
    assert_true(stats.commits < 1000);
    assert_int_equal(stats.queued, 0);
}

/* What was committed goes into the database while the store is open, though nothing more is added. */
static void
test_log_is_emptied_meanwhile(void **state)
{
    place_t *p = *state;
    enum { RETURNS = 400, BYTES = 50000 };
    AUTO_FREE char *value = xasprintf("\"%0*d\"", BYTES, 0);
    uint64_t ticket = 0;
    int64_t until = clock_mono_ms() + PATIENCE_MS;

    for (int i = 0; i < RETURNS; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        ticket = add_return(p->store, "j1", id, value, 0);
    }
    settle(p->store, ticket);
    while (size_of(p->path) < RETURNS * BYTES / 2) {
        assert_true(clock_mono_ms() < until);
        poll(NULL, 0, 1);
    }
}

/* NEW text of the next notice; events are added until there is one. */
static char *
await_notice(place_t *p, uint64_t *seq)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    char *text;

    while ((text = store_notice(p->store)) == NULL) {
        assert_true(clock_mono_ms() < until);
        settle(p->store, add_event(p->store, ++*seq, "t"));
        poll(NULL, 0, 1);
    }
    return text;
}

static void
put_large(place_t *p, const char *jid, int returns)
{
    AUTO_FREE char *value = xasprintf("\"%0*d\"", 100000, 0);
    uint64_t ticket = 0;

    for (int i = 0; i < returns; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        ticket = add_return(p->store, jid, id, value, 0);
    }
    settle(p->store, ticket);
}

/* A log that can't be moved is told of, once, and so is its end: commits go on. */
static void
test_log_that_stays(void **state)
{
    place_t *p = *state;
    uint64_t seq = 0;

    signal(SIGXFSZ, SIG_IGN);
    put_large(p, "j1", 300);
    /* The store's own may be under way, and then this one does nothing: it says 1. */
    for (int64_t until = clock_mono_ms() + PATIENCE_MS;
         count_rows(p, "PRAGMA wal_checkpoint(TRUNCATE)") != 0;) {
        assert_true(clock_mono_ms() < until);
        poll(NULL, 0, 1);
    }
    /* The log may grow as large as the database is, but the database no further. */
    set_file_limit((rlim_t) size_of(p->path));
    put_large(p, "j2", 120);
    AUTO_FREE char *begun = await_notice(p, &seq);
    AUTO_FREE char *log = xasprintf("the log %s-wal, which grows", p->path);
    assert_non_null(strstr(begun, log));
    assert_null(store_trouble(p->store));
    settle(p->store, add_event(p->store, ++seq, "t"));
    assert_null(store_notice(p->store));
    set_file_limit(RLIM_INFINITY);
    AUTO_FREE char *ended = await_notice(p, &seq);
    assert_non_null(strstr(ended, "again"));
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 420);
    signal(SIGXFSZ, SIG_DFL);
}

static void
test_eventfd_after_commit(void **state)
{
    place_t *p = *state;
    struct pollfd pfd = { .fd = store_fd(p->store), .events = POLLIN };
    uint64_t count, ticket = add_event(p->store, 1, "t");

    while (store_committed(p->store) < ticket) {
        assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
        assert_int_equal(read(pfd.fd, &count, sizeof(count)), sizeof(count));
    }
}

/* A note and its job are one row or none; of two jobs with one note the first stays. */
static void
test_notes(void **state)
{
    place_t *p = *state;

    add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": [], \"start_us\": 1, "
                      "\"note\": {\"kind\": \"k\", \"ref\": \"r\", \"part\": \"a\"}}");
    add_job(p->store, "{\"jid\": \"j2\", \"fun\": \"f\", \"minions\": [], \"start_us\": 2, "
                      "\"note\": {\"kind\": \"k\", \"ref\": \"r\", \"part\": \"b\"}}");
    add_job(p->store, "{\"jid\": \"j3\", \"fun\": \"f\", \"minions\": [], \"start_us\": 3, "
                      "\"note\": {\"kind\": \"k\", \"ref\": \"r\", \"part\": \"a\"}}");
    settle(p->store, store_put_meta(p->store, "x", "y"));
    assert_shown(store_noted(p->reader, "k", "r", "a", err), "\"j1\"");
    assert_shown(store_noted(p->reader, "k", "r", "c", err), "null");
    assert_shown(store_noted(p->reader, "K", "r", "a", err), "null");
    assert_shown(store_notes(p->reader, "k", "r", err), "{\"a\":\"j1\",\"b\":\"j2\"}");
    assert_shown(store_notes(p->reader, "k", "nosuch", err), "{}");
    store_expire(p->store, &(store_keep_t){ .now_us = clock_wall_us(), .jobs_s = 3600, .events = 10 });
    struct pollfd pfd = { .fd = store_fd(p->store), .events = POLLIN };
    while (count_rows(p, "SELECT count(*) FROM notes") > 0)
        poll(&pfd, 1, 1);
    assert_shown(store_noted(p->reader, "k", "r", "a", err), "null");
}

static void
test_orchestrations(void **state)
{
    place_t *p = *state;
    int64_t now = clock_wall_us();

    (void) store_add_run(p->store, "old", "{\"mods\":\"a\"}", "[]", 1000);
    (void) store_add_run(p->store, "new", "{\"mods\":\"b\"}", "[{\"x\":1}]", now);
    (void) store_put_step(p->store, "new", "t1", 1, 10, 0, "{\"seq\":7}");
    (void) store_put_step(p->store, "old", "t1", 1, 10, 20, "{}");
    (void) store_put_step(p->store, "new", "t1", 1, 10, 20, "{\"seq\":7,\"ret\":{}}");
    settle(p->store, store_put_step(p->store, "new", "t1", 2, 30, 0, "{}"));
    assert_shown(store_run(p->reader, "old", err),
                 "{\"mods\":\"a\",\"run\":\"old\",\"start_us\":1000,\"end_us\":0,\"plan\":[]}");
    assert_shown(store_run(p->reader, "nosuch", err), "null");
    settle(p->store, store_add_run(p->store, "old", "{\"mods\":\"another\"}", "[]", now));
    assert_shown(store_run(p->reader, "old", err),
                 "{\"mods\":\"a\",\"run\":\"old\",\"start_us\":1000,\"end_us\":0,\"plan\":[]}");
    assert_shown(store_steps(p->reader, "new", err),
                 "[{\"seq\":7,\"ret\":{},\"tag\":\"t1\",\"go\":1,\"begin_us\":10,\"end_us\":20},"
                 "{\"tag\":\"t1\",\"go\":2,\"begin_us\":30,\"end_us\":0}]");
    settle(p->store, store_end_run(p->store, "old", "{\"success\":true}", 2000));
    assert_shown(
        store_run(p->reader, "old", err),
        "{\"mods\":\"a\",\"run\":\"old\",\"start_us\":1000,\"end_us\":2000,\"result\":{\"success\":true},"
        "\"plan\":[]}");
    json_auto_t *runs = store_runs(p->reader, 1, NULL);
    assert_int_equal(json_array_size(runs), 1);
    assert_string_equal(value_str(json_array_get(runs, 0), "run", ""), "new");
    store_expire(p->store, &(store_keep_t){ .now_us = clock_wall_us(), .jobs_s = 3600, .events = 10 });
    struct pollfd pfd = { .fd = store_fd(p->store), .events = POLLIN };
    while (count_rows(p, "SELECT count(*) FROM runs WHERE run = 'old'") > 0)
        poll(&pfd, 1, 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM steps WHERE run = 'old'"), 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM steps"), 2);
}

static void
test_expiry(void **state)
{
    place_t *p = *state;
    int64_t now = clock_wall_us();
    store_stats_t stats;
    struct pollfd pfd = { .fd = store_fd(p->store), .events = POLLIN };
    uint64_t ticket = 0;

    for (int i = 0; i < 5; i++) {
        AUTO_FREE char *job = xasprintf(
            "{\"jid\": \"j%d\", \"fun\": \"f\", \"minions\": [], \"start_us\": %lld}", i,
            (long long) (now - (i < 3 ? 7200000000LL : 0)));
        add_job(p->store, job);
        for (int m = 0; m < 600; m++) {
            AUTO_FREE char *jid = xasprintf("j%d", i);
            AUTO_FREE char *id = xasprintf("m%d", m);
            add_return(p->store, jid, id, "1", 0);
        }
    }
    for (uint64_t seq = 1; seq <= 1000; seq++)
        ticket = add_event(p->store, seq, "t");
    settle(p->store, ticket);
    store_expire(p->store, &(store_keep_t){ .now_us = clock_wall_us(), .jobs_s = 3600, .events = 10 });
    do {
        poll(&pfd, 1, 1);
        store_get_stats(p->store, &stats);
    } while (stats.expired < 3 + 1800 || count_rows(p, "SELECT count(*) FROM returns") > 1200 ||
             count_rows(p, "SELECT count(*) FROM event_blocks WHERE last <= 990") > 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM jobs"), 2);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 1200);
    assert_int_equal(count_rows(p, "SELECT max(last) FROM event_blocks"), 1000);
}

/* ---- disks that fail ------------------------------------------------------------------------- */

static void
test_full_disk(void **state)
{
    place_t *p = *state;
    uint64_t before, ticket = 0;

    signal(SIGXFSZ, SIG_IGN);
    settle(p->store, add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": []}"));
    before = store_committed(p->store);
    set_file_limit(128 * 1024);
    for (int i = 0; i < 1000; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        AUTO_FREE char *value = xasprintf("\"%0500d\"", i);
        ticket = add_return(p->store, "j1", id, value, 0);
    }
    AUTO_FREE char *trouble = await_trouble(p->store, true);
    assert_non_null(strstr(trouble, p->path));
    assert_true(store_committed(p->store) < ticket);
    assert_true(store_committed(p->store) >= before);
    set_file_limit(RLIM_INFINITY);
    settle(p->store, ticket);
    assert_null(await_trouble(p->store, false));
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), 1000);
    assert_int_equal(count_rows(p, "SELECT n_returned FROM jobs"), 1000);
    signal(SIGXFSZ, SIG_DFL);
}

static void
test_stop_on_a_full_disk(void **state)
{
    place_t *p = *state;

    signal(SIGXFSZ, SIG_IGN);
    settle(p->store, add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": []}"));
    set_file_limit(4096);
    add_return(p->store, "j1", "a", "1", 0);
    free(await_trouble(p->store, true));
    close_place(p);
    set_file_limit(RLIM_INFINITY);
    open_place(p);
    assert_null(store_notice(p->store));
    assert_shown(store_returned(p->reader, "j1", err), "[]");
    settle(p->store, add_return(p->store, "j1", "a", "1", 0));
    signal(SIGXFSZ, SIG_DFL);
}

/* `n` rows while the disk refuses. The last ticket. */
static uint64_t
fill_queue(place_t *p, int n)
{
    uint64_t last = 0;

    signal(SIGXFSZ, SIG_IGN);
    settle(p->store, add_event(p->store, 1, "t"));
    set_file_limit(4096);
    for (int i = 0; i < n; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        last = add_return(p->store, "j1", id, "1", 0);
        assert_int_not_equal(last, 0);
    }
    return last;
}

static void
test_full_queue_refuses(void **state)
{
    place_t *p = *state;
    store_stats_t stats;
    uint64_t last = fill_queue(p, LIMIT_STORE_QUEUE);

    assert_int_equal(add_return(p->store, "j1", "one more", "1", 0), 0);
    assert_false(store_has_room(p->store, 1));
    store_get_stats(p->store, &stats);
    assert_int_equal(stats.queued, LIMIT_STORE_QUEUE);
    assert_int_equal(stats.refused, 1);
    set_file_limit(RLIM_INFINITY);
    settle(p->store, last);
    assert_true(store_has_room(p->store, 1));
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), LIMIT_STORE_QUEUE);
    settle(p->store, add_event(p->store, LIMIT_STORE_QUEUE + 100, "t"));
    signal(SIGXFSZ, SIG_DFL);
}

/* What belongs to the row in the last place is taken with it. */
static void
test_full_queue_parts_nothing(void **state)
{
    place_t *p = *state;

    (void) fill_queue(p, LIMIT_STORE_QUEUE - 1);
    store_together(p->store);
    assert_int_not_equal(add_event(p->store, 2, "t"), 0);
    uint64_t last = store_put_meta(p->store, "number", "2");
    assert_int_not_equal(last, 0);
    store_apart(p->store);
    assert_int_equal(store_put_meta(p->store, "other", "1"), 0);
    store_together(p->store);
    assert_int_equal(add_event(p->store, 3, "t"), 0);
    assert_int_equal(store_put_meta(p->store, "number", "3"), 0);
    store_apart(p->store);
    set_file_limit(RLIM_INFINITY);
    settle(p->store, last);
    assert_shown(store_meta(p->reader, "number", err), "\"2\"");
    signal(SIGXFSZ, SIG_DFL);
}

static void
test_deleted_file_is_begun_again(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *wal = xasprintf("%s-wal", p->path);
    AUTO_FREE char *shm = xasprintf("%s-shm", p->path);

    settle(p->store, add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": []}"));
    assert_shown(store_last_jid(p->reader, err), "\"j1\"");
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(unlink(wal), 0);
    assert_int_equal(unlink(shm), 0);
    settle(p->store, add_job(p->store, "{\"jid\": \"j2\", \"fun\": \"f\", \"minions\": []}"));
    AUTO_FREE char *notice = store_notice(p->store);
    assert_non_null(notice);
    assert_non_null(strstr(notice, "deleted"));
    assert_shown(find_jobs(p, "{}", err), "[\"j2\"]");
}

static size_t
count_aside(place_t *p)
{
    AUTO_FREE char *cmd = xasprintf("ls %s | grep -c 'damaged-[0-9]*$'", p->dir);
    FILE *fp = popen(cmd, "r");
    size_t n = 0;

    assert_non_null(fp);
    assert_int_equal(fscanf(fp, "%zu", &n), 1);
    pclose(fp);
    return n;
}

static void
test_damaged_file_is_moved_aside(void **state)
{
    place_t *p = *state;

    settle(p->store, add_job(p->store, "{\"jid\": \"j1\", \"fun\": \"f\", \"minions\": []}"));
    close_place(p);
    overwrite(p->path, 0, PAGE);
    open_place(p);
    AUTO_FREE char *notice = store_notice(p->store);
    assert_non_null(notice);
    assert_non_null(strstr(notice, "damaged"));
    assert_non_null(strstr(notice, p->path));
    assert_null(store_notice(p->store));
    assert_int_equal(count_aside(p), 1);
    assert_shown(store_job(p->reader, "j1", err), "null");
    settle(p->store, add_job(p->store, "{\"jid\": \"j2\", \"fun\": \"f\", \"minions\": []}"));
    assert_shown(store_last_jid(p->reader, err), "\"j2\"");
}

static void
test_short_file_is_moved_aside(void **state)
{
    place_t *p = *state;

    for (uint64_t i = 1; i < 1000; i++)
        add_event(p->store, i, "some/tag");
    close_place(p);
    assert_int_equal(truncate(p->path, 3 * PAGE), 0);
    open_place(p);
    AUTO_FREE char *notice = store_notice(p->store);
    assert_non_null(notice);
    settle(p->store, add_event(p->store, 1, "t"));
}

/* Pages in the middle of what a job returned: the start does not see it, who looks does. */
static void
test_damage_that_a_reader_meets(void **state)
{
    place_t *p = *state;
    fail_auto_t err = FAIL_INIT;
    uint64_t ticket = 0;

    for (int i = 0; i < 5000; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        ticket = add_return(p->store, "j1", id, "\"some text that takes some room on a page\"", 0);
    }
    settle(p->store, ticket);
    close_place(p);
    overwrite(p->path, size_of(p->path) / PAGE / 2 * PAGE, 4 * PAGE);
    open_place(p);
    assert_null(store_notice(p->store));
    assert_null(store_returns(p->reader, "j1", &err));
    assert_non_null(strstr(fail_text(&err), p->path));
    assert_non_null(strstr(fail_text(&err), "stop the master"));
}

static void
test_damage_while_running(void **state)
{
    place_t *p = *state;
    uint64_t ticket = 0;

    for (int i = 1; i < 5000; i++) {
        AUTO_FREE char *id = xasprintf("m%04d", i);
        ticket = add_return(p->store, "j1", id, "1", 0);
    }
    settle(p->store, ticket);
    close_place(p); /* the log is written back, the next writer has no pages in memory */
    open_place(p);
    assert_null(store_notice(p->store));
    struct stat st;
    assert_int_equal(stat(p->path, &st), 0);
    /* Not the first page and not the roots that opening looks at: found by the next write that passes there.
     */
    overwrite(p->path, 14 * PAGE, (size_t) st.st_size - 14 * PAGE);
    settle(p->store, add_return(p->store, "j1", "m2501-after", "1", 0));
    AUTO_FREE char *notice = store_notice(p->store);
    assert_non_null(notice);
    assert_shown(store_returned(p->reader, "j1", err), "[\"m2501-after\"]");
}

static void
test_foreign_database_is_left_alone(void **state)
{
    place_t *p = *state;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = fs_join(p->dir, "foreign.db");
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE theirs(x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_null(store_new(path, &err));
    assert_int_equal(err.code, -EEXIST);
    fail_clear(&err);
    AUTO_FREE char *nowhere = fs_join(p->dir, "no/such/folder.db");
    assert_null(store_new(nowhere, &err));
    assert_int_equal(err.code, -ENOENT);
    assert_null(store_reader_new(nowhere, &err));
}

/* A child that adds returns until it is killed; it tells each committed ticket through the pipe. */
static void
add_until_killed(const char *path, int out)
{
    store_t *store = store_new(path, NULL);

    for (int i = 0;; i++) {
        char id[32];
        snprintf(id, sizeof(id), "m%d", i);
        char *raw = xstrdup("{\"return\": 1}");
        uint64_t ticket = store_add_return(store, "j1", id, &raw, 0, true);
        if (i % 50 == 49) {
            store_wait(store, ticket, PATIENCE_MS);
            if (write(out, &i, sizeof(i)) < 0)
                _exit(1);
        }
    }
}

static void
test_kill_keeps_what_was_committed(void **state)
{
    place_t *p = *state;
    int pipefd[2], last = 0;

    close_place(p);
    for (int round = 0; round < 5; round++) {
        assert_int_equal(pipe(pipefd), 0);
        pid_t pid = fork();
        if (pid == 0)
            add_until_killed(p->path, pipefd[1]);
        close(pipefd[1]);
        for (int n = 0; n < 3 + round; n++)
            assert_int_equal(read(pipefd[0], &last, sizeof(last)), sizeof(last));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        while (read(pipefd[0], &last, sizeof(last)) == sizeof(last))
            continue;
        close(pipefd[0]);
        assert_true(count_rows(p, "SELECT count(*) FROM returns") > (uint64_t) last);
        assert_int_equal(
            count_rows(p, "SELECT (SELECT count(*) FROM returns) - (SELECT n_returned FROM jobs)"), 0);
        assert_int_equal(
            count_rows(p, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    }
    open_place(p);
    assert_null(store_notice(p->store));
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_job_and_returns, setup, teardown),
          cmocka_unit_test_setup_teardown(test_later_format, setup, teardown),
          cmocka_unit_test_setup_teardown(test_some_returns, setup, teardown),
          cmocka_unit_test_setup_teardown(test_duplicates_first_wins, setup, teardown),
          cmocka_unit_test_setup_teardown(test_together, setup, teardown),
          cmocka_unit_test_setup_teardown(test_together_begins_with_events, setup, teardown),
          cmocka_unit_test_setup_teardown(test_return_without_a_job, setup, teardown),
          cmocka_unit_test_setup_teardown(test_own_row_of_an_adopted_job, setup, teardown),
          cmocka_unit_test_setup_teardown(test_reopen, setup, teardown),
          cmocka_unit_test_setup_teardown(test_job_filters, setup, teardown),
          cmocka_unit_test_setup_teardown(test_too_many_to_list, setup, teardown),
          cmocka_unit_test_setup_teardown(test_event_journal, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damaged_block_is_passed_over, setup, teardown),
          cmocka_unit_test_setup_teardown(test_events_in_blocks, setup, teardown),
          cmocka_unit_test_setup_teardown(test_first_format, setup, teardown),
          cmocka_unit_test_setup_teardown(test_ten_thousand_returns, setup, teardown),
          cmocka_unit_test_setup_teardown(test_log_is_emptied_meanwhile, setup, teardown),
          cmocka_unit_test_setup_teardown(test_log_that_stays, setup, teardown),
          cmocka_unit_test_setup_teardown(test_eventfd_after_commit, setup, teardown),
          cmocka_unit_test_setup_teardown(test_notes, setup, teardown),
          cmocka_unit_test_setup_teardown(test_orchestrations, setup, teardown),
          cmocka_unit_test_setup_teardown(test_expiry, setup, teardown),
          cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
          cmocka_unit_test_setup_teardown(test_stop_on_a_full_disk, setup, teardown),
          cmocka_unit_test_setup_teardown(test_full_queue_refuses, setup, teardown),
          cmocka_unit_test_setup_teardown(test_full_queue_parts_nothing, setup, teardown),
          cmocka_unit_test_setup_teardown(test_deleted_file_is_begun_again, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damaged_file_is_moved_aside, setup, teardown),
          cmocka_unit_test_setup_teardown(test_short_file_is_moved_aside, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damage_that_a_reader_meets, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damage_while_running, setup, teardown),
          cmocka_unit_test_setup_teardown(test_foreign_database_is_left_alone, setup, teardown),
          cmocka_unit_test_setup_teardown(test_kill_keeps_what_was_committed, setup, teardown))
