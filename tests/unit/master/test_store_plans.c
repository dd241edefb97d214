/* test_store_plans.c - no question to the store reads a whole table, however long the past is, but those
 * that want it all. */
#include "unit/master/store_place.h"

#include "master/store/store_forget.c"
#include "master/store/store_read.c"

#define JOBS    3000
#define EVENTS  100
#define FEW_OPS 4000 /* of SQLite's machine: a step through all of these jobs takes more than twice as many */

/* What reads all of its table. */
static const int wholes[] = { Q_GRAINS, Q_PILLAR, Q_MINE };

static bool
wants_all(int which)
{
    for (size_t i = 0; i < NELEMS(wholes); i++)
        if (wholes[i] == which)
            return true;
    return false;
}

static sqlite3_stmt *
prepared(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return stmt;
}

/* A table is searched, or read in the order of an index until enough is found; nothing is sorted but the
 * steps of one run, and what has a limit. */
static void
assert_plan(sqlite3 *db, const char *sql)
{
    AUTO_FREE char *explain = xasprintf("EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *stmt = prepared(db, explain);

    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *line = (const char *) sqlite3_column_text(stmt, 3);
        bool scan = strncmp(line, "SCAN ", 5) == 0 && strcmp(line, "SCAN CONSTANT ROW") != 0;
        if (scan && strstr(line, "INDEX") == NULL && strstr(sql, "LIMIT") == NULL &&
            strstr(line, "SCAN (") == NULL)
            fail_msg("%s\n  %s", sql, line);
        if (strstr(line, "TEMP B-TREE FOR ORDER BY") != NULL && strstr(sql, "FROM steps") == NULL &&
            strstr(sql, "LIMIT") == NULL)
            fail_msg("%s\n  %s", sql, line);
    }
    sqlite3_finalize(stmt);
}

static void
put_past(place_t *p)
{
    uint64_t ticket = 0;

    for (int i = 0; i < JOBS; i++) {
        AUTO_FREE char *job = xasprintf(
            "{\"jid\": \"j%05d\", \"fun\": \"test.ping\", \"minions\": [\"m\"], \"start_us\": "
            "%d, \"note\": {\"kind\": \"k\", \"ref\": \"r%d\", \"part\": \"p\"}}",
            i, 1000 + i, i);
        AUTO_FREE char *jid = xasprintf("j%05d", i);
        add_job(p->store, job);
        ticket = add_return(p->store, jid, "m", "1", 0);
    }
    for (uint64_t seq = 1; seq <= EVENTS; seq++)
        settle(p->store, add_event(p->store, seq, "t"));
    settle(p->store, ticket);
}

static sqlite3 *
opened(place_t *p)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    return db;
}

static void
test_readers_search(void **state)
{
    place_t *p = *state;
    sqlite3 *db = opened(p);

    for (int i = 0; i < QUERIES; i++)
        if (!wants_all(i))
            assert_plan(db, queries[i]);
    sqlite3_close(db);
}

static void
test_forgetting_searches(void **state)
{
    place_t *p = *state;
    sqlite3 *db = opened(p);

    for (int i = 0; i < F_STATEMENTS; i++)
        assert_plan(db, statements[i]);
    sqlite3_close(db);
}

/* Operations until the first row, with parameters that something fits. */
static int
ops_of(sqlite3 *db, const char *sql, const char *text, int64_t number)
{
    sqlite3_stmt *stmt = prepared(db, sql);

    for (int i = sqlite3_bind_parameter_count(stmt); i > 0; i--)
        sqlite3_bind_int64(stmt, i, number);
    if (text != NULL)
        sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
    (void) sqlite3_step(stmt);
    int ops = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(stmt);
    return ops;
}

static void
test_answers_take_few_steps(void **state)
{
    place_t *p = *state;

    put_past(p);
    sqlite3 *db = opened(p);
    for (int i = 0; i < QUERIES; i++) {
        if (wants_all(i))
            continue;
        assert_in_range(ops_of(db, queries[i], "j00001", 1000), 0, FEW_OPS);
        assert_in_range(ops_of(db, queries[i], NULL, 1 << 30), 0, FEW_OPS);
        assert_in_range(ops_of(db, queries[i], NULL, 50), 0, FEW_OPS);
    }
    for (int i = 0; i < F_STATEMENTS; i++)
        assert_in_range(ops_of(db, statements[i], "no such", 1), 0, FEW_OPS);
    sqlite3_close(db);
}

/* The newest fifty are read, and no more; what never was is looked up, not looked for. */
static void
test_listing_reads_what_it_lists(void **state)
{
    place_t *p = *state;

    put_past(p);
    json_auto_t *newest = json_pack("{s:i}", "limit", 50);
    json_auto_t *jobs = store_jobs(p->reader, newest, NULL);
    assert_int_equal(json_array_size(jobs), 50);
    assert_string_equal(value_str(json_array_get(jobs, 49), "jid", ""), "j02999");
    assert_in_range(sqlite3_stmt_status(p->reader->stmt[Q_JOBS], SQLITE_STMTSTATUS_VM_STEP, 0), 0, FEW_OPS);
    for (size_t i = 0; i < NELEMS(lookups); i++) {
        json_auto_t *never = json_pack("{s:[s]}", lookups[i].key, "no.such");
        json_auto_t *none = store_jobs(p->reader, never, NULL);
        sqlite3_stmt *stmt = p->reader->stmt[lookups[i].query];
        assert_int_equal(json_array_size(none), 0);
        assert_in_range(sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0), 0, FEW_OPS);
    }
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_readers_search, setup, teardown),
          cmocka_unit_test_setup_teardown(test_forgetting_searches, setup, teardown),
          cmocka_unit_test_setup_teardown(test_answers_take_few_steps, setup, teardown),
          cmocka_unit_test_setup_teardown(test_listing_reads_what_it_lists, setup, teardown))
