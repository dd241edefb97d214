/* test_store_copy.c - copies of a store that is written, and how one takes its place. */
#include "unit/master/store_place.h"

#include "master/store/store_copy.h"

#define ROWS 600
#define TEXT 4000 /* bytes of a return: the store has some hundred pages */

typedef struct watcher {
    place_t *p;
    int calls, stop_at; /* 0: never */
    int committed;      /* returns that were on the disk while the copy was made */
    int nested;         /* what a second backup said meanwhile */
    bool add;
} watcher_t;

static bool
on_piece(void *cookie, uint64_t done, uint64_t of, const char *what)
{
    watcher_t *w = cookie;

    assert_true(done <= of);
    assert_non_null(what);
    w->calls++;
    if (w->add) {
        AUTO_FREE char *jid = xasprintf("2026112500000090%04d", w->calls);
        settle(w->p->store, add_return(w->p->store, jid, "late", "true", 0));
        w->committed++;
    }
    if (w->calls == 1) {
        fail_auto_t err = FAIL_INIT;
        const store_watch_t none = { 0 };
        AUTO_FREE char *other = xasprintf("%s/other", w->p->dir);
        assert_null(store_backup(w->p->path, other, &none, &err));
        w->nested = err.code;
    }
    return w->stop_at == 0 || w->calls < w->stop_at;
}

static store_watch_t
watch_of(watcher_t *w)
{
    return (store_watch_t){ .go_on = on_piece, .cookie = w };
}

static const store_watch_t nobody;

static void
fill(place_t *p)
{
    AUTO_FREE char *text = xcalloc(1, TEXT + 3);
    uint64_t ticket = 0;

    memset(text, 'x', TEXT + 2);
    text[0] = text[TEXT + 1] = '"';
    for (int i = 0; i < ROWS; i++) {
        AUTO_FREE char *jid = xasprintf("20261125000000%06d", i);
        AUTO_FREE char *job = xasprintf(
            "{\"jid\": \"%s\", \"fun\": \"test.echo\", \"tgt\": \"m\", \"minions\": [\"m\"]}", jid);
        add_job(p->store, job);
        ticket = add_return(p->store, jid, "m", text, 0);
    }
    add_event(p->store, 1, "a");
    ticket = add_event(p->store, 2, "b");
    settle(p->store, ticket);
}

static void
put_grains(place_t *p, const char *id, const char *json)
{
    char *text = xstrdup(json);

    settle(p->store, store_put_grains(p->store, id, &text));
}

/* NEW path of a backup that was made. */
static char *
made_backup(place_t *p, const char *name)
{
    fail_auto_t err = FAIL_INIT;
    char *to = fs_join(p->dir, name);
    json_auto_t *out = store_backup(p->path, to, &nobody, &err);

    if (out == NULL)
        fail_msg("%s", fail_text(&err));
    return to;
}

/* Names in the place's folder that begin so. */
static size_t
names(place_t *p, const char *begin)
{
    AUTO_FREE char *pattern = xasprintf("%s/%s*", p->dir, begin);
    glob_t found;
    int rc = glob(pattern, 0, NULL, &found);
    size_t n = rc == 0 ? found.gl_pathc : 0;

    globfree(&found);
    return n;
}

static place_t
place_of(const char *path)
{
    return (place_t){ .path = (char *) path };
}

#define assert_refused(expr, expected, words)                                                                \
    do {                                                                                                     \
        fail_auto_t refused_ = FAIL_INIT;                                                                    \
        fail_t *err = &refused_;                                                                             \
        assert_null(expr);                                                                                   \
        if (err->code != (expected) || strstr(fail_text(err), words) == NULL)                                \
            fail_msg("%d: %s", err->code, fail_text(err));                                                   \
    } while (0)

static void
test_while_written(void **state)
{
    place_t *p = *state;
    fail_auto_t err = FAIL_INIT;
    struct stat st;

    fill(p);
    watcher_t w = { .p = p, .add = true };
    const store_watch_t watch = watch_of(&w);
    AUTO_FREE char *to = fs_join(p->dir, "backup");
    json_auto_t *out = store_backup(p->path, to, &watch, &err);
    if (out == NULL)
        fail_msg("%s", fail_text(&err));
    /* Every piece had commits behind it, and none of them is in the copy. */
    assert_true(w.committed > 5);
    assert_int_equal(w.nested, -EBUSY);
    assert_int_equal(value_int(out, "jobs", 0), ROWS);
    assert_int_equal(value_int(out, "returns", 0), ROWS);
    assert_int_equal(value_int(out, "events", 0), 2);
    assert_int_equal(value_int(out, "size", 0), size_of(to));
    assert_int_equal(stat(to, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(names(p, "backup"), 1);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE id = 'late'"), w.committed);
    place_t copy = place_of(to);
    assert_int_equal(count_rows(&copy, "SELECT count(*) FROM returns WHERE id = 'late'"), 0);
    json_auto_t *seen = store_check(to, true, &nobody, &err);
    assert_int_equal(json_array_size(value_get(seen, "damage")), 0);
    assert_non_null(value_str(seen, "made", NULL));
    assert_int_equal(names(p, "backup"), 1);
}

static int
fails(void *cookie, fail_t *err)
{
    return fail_set(err, -EDQUOT, "the keys do not fit");
}

static void
test_refused(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *to = fs_join(p->dir, "to"), *slash = xasprintf("%s/", to),
                   *away = fs_join(p->dir, "no/to");

    fill(p);
    assert_refused(store_backup(p->path, "to", &nobody, err), -EINVAL, "whole path");
    assert_refused(store_backup(p->path, slash, &nobody, err), -EINVAL, "whole path");
    assert_refused(store_backup(p->path, away, &nobody, err), -ENOENT, "make the folder");
    watcher_t w = { .p = p, .stop_at = 3 };
    const store_watch_t stopped = watch_of(&w), unkept = { .whole = fails };
    assert_refused(store_backup(p->path, to, &stopped, err), -ECANCELED, "the master ends");
    assert_refused(store_backup(p->path, to, &unkept, err), -EDQUOT, "keys do not fit");
    assert_int_equal(names(p, "to"), 0);
    /* What a killed master left is not an obstacle, a file of that name is. */
    AUTO_FREE char *part = xasprintf("%s.part", to);
    assert_int_equal(fs_write_quick(part, "half", 4, 0644, NULL), 0);
    AUTO_FREE char *made = made_backup(p, "to");
    assert_int_equal(names(p, "to"), 1);
    assert_refused(store_backup(p->path, made, &nobody, err), -EEXIST, "is there already");
}

/* The last page is a leaf of some table: nothing that is read when the file is opened. */
static void
damage(const char *path)
{
    overwrite(path, size_of(path) - 3 * PAGE, 2 * PAGE);
}

static void
test_damaged(void **state)
{
    place_t *p = *state;
    fail_auto_t fault = FAIL_INIT;

    fill(p);
    AUTO_FREE char *bad = made_backup(p, "bad"), *newer = made_backup(p, "newer"),
                   *other = made_backup(p, "other"), *open = made_backup(p, "open"),
                   *log = xasprintf("%s-wal", open), *gone = fs_join(p->dir, "gone");
    place_t of_newer = place_of(newer), of_other = place_of(other);
    damage(bad);
    change_rows(&of_newer, "PRAGMA user_version = 99");
    change_rows(&of_other, "PRAGMA application_id = 1");
    assert_int_equal(fs_write_quick(log, "", 0, 0600, NULL), 0);
    assert_refused(store_restore(p->path, bad, &nobody, err), -EUCLEAN, "damaged: ");
    assert_refused(store_restore(p->path, newer, &nobody, err), -EPROTO, "install that master again");
    assert_refused(store_restore(p->path, other, &nobody, err), -EEXIST, "another program");
    assert_refused(store_restore(p->path, open, &nobody, err), -EBUSY, "store.backup has made");
    assert_refused(store_restore(p->path, gone, &nobody, err), -ENOENT, "gone");
    assert_refused(store_restore(p->path, p->dir, &nobody, err), -EINVAL, "no file");
    assert_int_equal(names(p, "store.db.restore"), 0);
    json_auto_t *seen = store_check(bad, false, &nobody, &fault);
    assert_true(json_array_size(value_get(seen, "damage")) > 0);
    /* A damaged store is not a backup. */
    close_place(p);
    damage(p->path);
    open_place(p);
    AUTO_FREE char *to = fs_join(p->dir, "to");
    assert_refused(store_backup(p->path, to, &nobody, err), -EUCLEAN, "damaged");
    assert_int_equal(names(p, "to"), 0);
}

static void
prepare(place_t *p, const char *from)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *out = store_restore(p->path, from, &nobody, &err);

    if (out == NULL)
        fail_msg("%s", fail_text(&err));
    assert_int_equal(names(p, "store.db.restore"), 1);
}

static int64_t
number(place_t *p, const char *key)
{
    json_auto_t *text = store_meta(p->reader, key, NULL);

    return json_is_string(text) ? strtoll(json_string_value(text), NULL, 10) : -1;
}

static void
test_taken(void **state)
{
    place_t *p = *state;
    fail_auto_t fault = FAIL_INIT;
    const int64_t far = INT64_C(9000000000000000); /* of a clock that was ahead */
    AUTO_FREE char *used = xasprintf("%" PRId64 " ahead", far);

    fill(p);
    put_grains(p, "m", "{\"a\": 1}");
    put_grains(p, "gone", "{}");
    settle(p->store, store_put_meta(p->store, STORE_REACTOR, "{\"seq\":1}"));
    settle(p->store, store_put_meta(p->store, "events_of/m", "1 s"));
    settle(p->store, store_put_meta(p->store, STORE_NUMBERS, "2"));
    settle(p->store, store_put_meta(p->store, STORE_TOKENS "revoked", "1"));
    AUTO_FREE char *backup = made_backup(p, "backup");
    put_grains(p, "m", "{\"a\": 2}");
    settle(p->store, store_forget(p->store, "gone", STORE_GRAINS));
    settle(p->store, store_put_meta(p->store, "events_of/m", "7 s"));
    settle(p->store, store_put_meta(p->store, STORE_NUMBERS, used));
    settle(p->store, store_del_meta(p->store, STORE_TOKENS "revoked"));
    settle(p->store, store_put_meta(p->store, STORE_TOKENS "new", "2"));
    settle(p->store, add_return(p->store, "20261125000000000001", "later", "1", 0));
    json_auto_t *out = store_restore(p->path, backup, &nobody, &fault);
    assert_int_equal(value_int(value_get(out, "after"), "returns", 0), 1);
    assert_int_equal(value_int(value_get(out, "after"), "jobs", -1), 0);
    json_auto_t *seen = store_check(p->path, false, &nobody, &fault);
    assert_non_null(value_str(seen, "waits", NULL));
    /* Until the start nothing has changed, and what comes is kept. */
    settle(p->store, add_return(p->store, "20261125000000000002", "later", "1", 0));
    close_place(p);
    open_place(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE id = 'later'"), 0);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), ROWS);
    assert_shown(store_docs(p->reader, STORE_GRAINS, "m", err), "{\"m\":{\"a\":2,\"id\":\"m\"}}");
    assert_int_equal(count_rows(p, "SELECT count(*) FROM grains WHERE id = 'gone'"), 0);
    assert_int_equal(number(p, "events_of/m"), 7);
    assert_int_equal(number(p, STORE_REPLACED), far);
    assert_int_equal(number(p, STORE_NUMBERS), -1);
    assert_int_equal(number(p, STORE_REACTOR), -1);
    assert_int_equal(number(p, STORE_TOKENS "revoked"), -1);
    assert_int_equal(number(p, STORE_TOKENS "new"), 2);
    AUTO_FREE char *kept = fs_join(p->dir, value_str(out, "kept", ""));
    place_t before = place_of(kept);
    assert_int_equal(count_rows(&before, "SELECT count(*) FROM returns WHERE id = 'later'"), 2);
    assert_int_equal(names(p, "store.db.restore"), 0);
    /* Back to what there was, as the page on backups says. */
    prepare(p, kept);
    close_place(p);
    open_place(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE id = 'later'"), 2);
    assert_true(number(p, STORE_REPLACED) >= far);
}

static void
test_not_taken(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *waits = xasprintf("%s" RESTORE_SUFFIX, p->path);
    sqlite3 *open;

    fill(p);
    AUTO_FREE char *backup = made_backup(p, "backup"), *foreign = made_backup(p, "store.db.restore");
    settle(p->store, add_return(p->store, "20261125000000000001", "later", "1", 0));
    close_place(p);
    open_place(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE id = 'later'"), 1);
    assert_string_equal(foreign, waits);
    prepare(p, backup);
    close_place(p);
    /* A second master, while the first one works. */
    assert_int_equal(sqlite3_open_v2(p->path, &open, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(open, "SELECT count(*) FROM jobs", NULL, NULL, NULL), SQLITE_OK);
    open_place(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE id = 'later'"), 1);
    close_place(p);
    sqlite3_close(open);
    assert_int_equal(names(p, "store.db.before-"), 0);
    open_place(p);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM returns WHERE id = 'later'"), 0);
    assert_int_equal(names(p, "store.db.before-"), 1);
}

/* The commonest reason to restore. */
static void
test_damaged_present(void **state)
{
    place_t *p = *state;

    fill(p);
    put_grains(p, "m", "{\"a\": 1}");
    AUTO_FREE char *backup = made_backup(p, "backup");
    uint64_t root = count_rows(p, "SELECT rootpage FROM sqlite_schema WHERE name = 'grains'");
    for (int deep = 0; deep < 2; deep++) {
        prepare(p, backup);
        close_place(p);
        overwrite(p->path, deep ? (off_t) (root - 1) * PAGE + 8 : 0, deep ? PAGE / 2 : PAGE);
        int64_t now = clock_wall_us();
        open_place(p);
        assert_int_equal(count_rows(p, "SELECT count(*) FROM returns"), ROWS);
        assert_true(number(p, STORE_REPLACED) >= now);
        assert_shown(store_docs(p->reader, STORE_GRAINS, "m", err), "{\"m\":{\"a\":1,\"id\":\"m\"}}");
        assert_int_equal(names(p, "store.db.damaged-"), deep + 1);
    }
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_while_written, setup, teardown),
          cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
          cmocka_unit_test_setup_teardown(test_taken, setup, teardown),
          cmocka_unit_test_setup_teardown(test_not_taken, setup, teardown),
          cmocka_unit_test_setup_teardown(test_damaged_present, setup, teardown))
