/* test_store_memory.c - a text of a row for which there is no memory is an error, not an empty text; and
 * what asks the store does not take an error for an answer. */
#include <dlfcn.h>

#include "master/reactor/reactor_int.h"
#include "unit/logged.h"
#include "unit/master/poor.h"
#include "unit/master/store_place.h"

#define JID "20261120100000000001"

static _Thread_local int texts_left = -1; /* until there is no memory for one; negative: there is */

/* For the code under test too: the other encoding needs memory, and SQLite is then as after any text that
 * it could not make. */
const unsigned char *
sqlite3_column_text(sqlite3_stmt *stmt, int col)
{
    const unsigned char *(*real)(
        sqlite3_stmt *, int) = (const unsigned char *(*) (sqlite3_stmt *, int) ) dlsym(RTLD_NEXT,
                                                                                       "sqlite3_column_text");

    if (sqlite3_column_type(stmt, col) == SQLITE_NULL || texts_left-- != 0)
        return real(stmt, col);
    poor = true;
    const void *text = sqlite3_column_text16(stmt, col);
    poor = false;
    assert_null(text);
    return NULL;
}

static int
set_up(void **state)
{
    texts_left = -1;
    poor_memory();
    return setup(state);
}

/* ---- texts ------------------------------------------------------------------------------------- */

static void
fill(place_t *p)
{
    add_job(p->store, "{\"jid\": \"" JID "\", \"fun\": \"test.ping\", \"tgt\": \"*\", \"tgt_type\": \"glob\","
                      " \"minions\": [\"a\"], \"note\": {\"kind\": \"" NOTE_REACT "\", \"ref\": \"1\","
                      " \"part\": \"x\"}}");
    add_return(p->store, JID, "a", "true", 0);
    settle(p->store, store_put_meta(p->store, "k", "v"));
}

static json_t *
ask_job(place_t *p, fail_t *err)
{
    return store_job(p->reader, JID, err);
}

static json_t *
ask_returns(place_t *p, fail_t *err)
{
    return store_returned(p->reader, JID, err);
}

static json_t *
ask_jobs(place_t *p, fail_t *err)
{
    json_auto_t *filter = json_object();

    return store_jobs(p->reader, filter, err);
}

static json_t *
ask_meta(place_t *p, fail_t *err)
{
    return store_meta(p->reader, "k", err);
}

static bool
seen(void *cookie, const char *id, const char *text, size_t len)
{
    assert_string_not_equal(id, "");
    assert_true(len > 0);
    return true;
}

static json_t *
ask_each(place_t *p, fail_t *err)
{
    return store_returns_each(p->reader, JID, "", seen, NULL, err) == 0 ? json_true() : NULL;
}

static void
test_texts(void **state)
{
    static json_t *(*const asks[])(place_t *, fail_t *) = { ask_job, ask_returns, ask_jobs, ask_meta,
                                                            ask_each };
    place_t *p = *state;

    fill(p);
    for (size_t i = 0; i < NELEMS(asks); i++) {
        bool whole = false;
        for (int n = 0; !whole; n++) {
            fail_auto_t err = FAIL_INIT;
            texts_left = n;
            json_auto_t *answer = asks[i](p, &err);
            whole = texts_left >= 0; /* it wanted no more of them */
            texts_left = -1;
            assert_true(n > 0 || !whole);
            if ((answer != NULL) != whole)
                fail_msg("query %zu, text %d: %s", i, n, answer != NULL ? "an answer" : fail_text(&err));
            if (!whole && strstr(fail_text(&err), "out of memory") == NULL)
                fail_msg("query %zu, text %d: %s", i, n, fail_text(&err));
        }
    }
}

/* A reaction whose ancestors can't be read is not one without ancestors. */
static void
test_ancestry(void **state)
{
    place_t *p = *state;
    fail_auto_t err = FAIL_INIT;
    parents_t *parents = parents_new();
    ancestry_t *ancestry = ancestry_new(parents);
    json_auto_t *jids = json_pack("[s]", JID);

    fill(p);
    texts_left = 0;
    int n = ancestry_count(ancestry, p->reader, jids, "x", &err);
    texts_left = -1;
    assert_true(n < 0);
    assert_non_null(strstr(fail_text(&err), "out of memory"));
    logged_begin();
    texts_left = 0;
    ancestry_add(ancestry, p->reader, "20261120100000000002", jids, "y");
    texts_left = -1;
    logged_end("which reactions led to 20261120100000000002 can't be known");
    ancestry_destroy(&ancestry);
    parents_destroy(&parents);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_texts, set_up, teardown),
          cmocka_unit_test_setup_teardown(test_ancestry, set_up, teardown))
