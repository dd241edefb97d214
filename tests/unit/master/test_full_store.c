/* test_full_store.c - what the front loop does while the store takes no more rows. Its limits are small here.
 */
#include "salt/limits.h"
#undef LIMIT_STORE_BYTES
#define LIMIT_STORE_BYTES 65536UL
#include "master/minions/mine.c"
#include "master/store/store.c"

#include "master/events/bus.h"
#include "unit/master/front_parts.h"
#include "unit/master/store_place.h"

#define J1 "20261120100000000001"

typedef struct fixture {
    place_t *place;
    sqlite3 *other; /* whose lock keeps the writer from writing */
    front_t front;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    void *place = NULL;

    assert_int_equal(setup(&place), 0);
    f->place = place;
    f->front.store = f->place->store;
    f->front.reader = f->place->reader;
    f->front.peers = peers_new();
    START(&f->front, noise);
    START(&f->front, clockwatch);
    START(&f->front, numbers);
    START(&f->front, bus);
    START(&f->front, miniondata);
    START(&f->front, publish);
    assert_int_equal(sqlite3_open(f->place->path, &f->other), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(f->other, PATIENCE_MS), SQLITE_OK);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;
    void *place = f->place;

    (void) sqlite3_close(f->other);
    END(&f->front, publish);
    END(&f->front, miniondata);
    END(&f->front, bus);
    END(&f->front, numbers);
    END(&f->front, clockwatch);
    END(&f->front, noise);
    peers_destroy(&f->front.peers);
    free(f);
    return teardown(&place);
}

static void
await_written(fixture_t *f)
{
    while (store_waiting(f->place->store) > 0)
        poll(NULL, 0, 1);
}

/* From now on rows wait, and all but `room` bytes are taken. */
static void
fill(fixture_t *f, size_t room)
{
    AUTO_FREE char *value = xcalloc(1, LIMIT_STORE_BYTES);

    await_written(f);
    assert_int_equal(sqlite3_exec(f->other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    memset(value, 'x', LIMIT_STORE_BYTES - sizeof(row_t) - room - 1);
    assert_int_not_equal(store_put_meta(f->place->store, "k", value), 0);
    assert_int_equal(store_waiting(f->place->store), LIMIT_STORE_BYTES - room);
}

static void
make_room(fixture_t *f)
{
    assert_int_equal(sqlite3_exec(f->other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    await_written(f);
}

static uint64_t
fire(fixture_t *f, size_t bytes)
{
    AUTO_FREE char *text = xcalloc(1, bytes + 1);
    memset(text, 'x', bytes);
    json_t *data = json_pack("{s:s}", "text", text);

    return bus_fire_kept(&f->front, "some/tag", &data);
}

/* An event that is refused for its size was told to nobody: it would come again under another number. */
static void
test_event_for_which_there_is_no_room(void **state)
{
    fixture_t *f = *state;

    assert_int_not_equal(fire(f, 10), 0);
    uint64_t seq = f->front.seq;
    fill(f, 5000);
    assert_int_equal(fire(f, 5000), 0);
    assert_int_equal(f->front.seq, seq);
    assert_int_not_equal(fire(f, 3000), 0);
    assert_int_equal(f->front.seq, seq + 1);
    make_room(f);
    assert_int_not_equal(fire(f, 5000), 0);
    assert_int_equal(f->front.seq, seq + 2);
}

/* That a job is over is kept as soon as there is room again, and until then it stays. */
static void
test_end_of_a_job(void **state)
{
    static const uint8_t key[KEY_BYTES] = { 1 };
    fixture_t *f = *state;
    minion_t *m1 = peers_know(f->front.peers, "m1", key, KEY_ACCEPTED);
    json_t *info = json_pack("{s:s}", "jid", J1);
    job_t *job = jobs_add(f->front.jobs, J1, &info, &m1->slot, 1);

    fill(f, 10);
    assert_true(jobs_move(f->front.jobs, job, job->targets, VERDICT_NOT_CONNECTED, 0));
    part_publish.tick(&f->front, clock_mono_ms());
    assert_ptr_equal(jobs_get(f->front.jobs, J1), job);
    make_room(f);
    part_publish.tick(&f->front, clock_mono_ms());
    assert_null(jobs_get(f->front.jobs, J1));
    settle(f->place->store, store_put_meta(f->place->store, "k", "v")); /* behind what is queued */
    assert_shown(store_noted(f->place->reader, NOTE_ENDED, J1, "", err), "\"" J1 "\"");
}

/* What a minion puts into the mine, or takes out, is in memory and in the store, or it is told that it is
 * not. */
static void
test_mine(void **state)
{
    static const uint8_t key[KEY_BYTES] = { 1 };
    fixture_t *f = *state;
    fail_auto_t why = FAIL_INIT;
    minion_t *m1 = peers_know(f->front.peers, "m1", key, KEY_ACCEPTED);
    json_t *first = json_pack("{s:i, s:i}", "a", 1, "b", 2), *second = json_pack("{s:i}", "c", 3);
    json_auto_t *body = json_pack("{s:s}", "fun", "a");

    assert_int_equal(minions_mine_keep(&f->front, m1, &first, &why), 0);
    fill(f, 10);
    assert_int_equal(minions_mine_keep(&f->front, m1, &second, &why), -EAGAIN);
    fail_clear(&why);
    assert_null(minions_mine_delete(&f->front, m1, body, &why));
    assert_int_equal(why.code, -EAGAIN);
    fail_clear(&why);
    assert_null(minions_mine_flush(&f->front, m1, NULL, &why));
    assert_int_equal(why.code, -EAGAIN);
    fail_clear(&why);
    assert_shown(json_incref(miniondata_get(&f->front, m1, STORE_MINE)), "{\"a\":1,\"b\":2}");
    make_room(f);
    json_auto_t *done = minions_mine_delete(&f->front, m1, body, &why);
    assert_true(json_is_true(done));
    await_written(f);
    assert_shown(store_docs(f->place->reader, STORE_MINE, "m1", err), "{\"m1\":{\"b\":2}}");
    assert_shown(json_incref(miniondata_get(&f->front, m1, STORE_MINE)), "{\"b\":2}");
}

/* What the master knows anew of a minion it goes by at once; the store has it when there is room again. */
static void
test_known(void **state)
{
    static const uint8_t key[KEY_BYTES] = { 1 };
    fixture_t *f = *state;
    minion_t *m1 = peers_know(f->front.peers, "m1", key, KEY_ACCEPTED);
    json_auto_t *grains = json_pack("{s:s}", "os", "Debian"), *pillar = json_pack("{s:i}", "a", 1);

    fill(f, 10);
    miniondata_keep(&f->front, m1, STORE_GRAINS, grains);
    miniondata_keep(&f->front, m1, STORE_PILLAR, pillar);
    part_miniondata.tick(&f->front, 0);
    assert_shown(json_incref(miniondata_get(&f->front, m1, STORE_GRAINS)),
                 "{\"os\":\"Debian\",\"id\":\"m1\"}");
    assert_shown(json_incref(miniondata_get(&f->front, m1, STORE_PILLAR)), "{\"a\":1}");
    make_room(f);
    do
        part_miniondata.tick(&f->front, 0);
    while (m1->known.unkept[STORE_GRAINS] || m1->known.unkept[STORE_PILLAR]);
    await_written(f);
    assert_shown(store_docs(f->place->reader, STORE_GRAINS, "m1", err),
                 "{\"m1\":{\"os\":\"Debian\",\"id\":\"m1\"}}");
    assert_shown(store_docs(f->place->reader, STORE_PILLAR, "m1", err), "{\"m1\":{\"a\":1}}");
}

/* Who comes under the id of a minion whose key was deleted finds nothing of it, whatever else waited then. */
static void
test_deleted_minion(void **state)
{
    static const store_doc_t docs[] = { STORE_GRAINS, STORE_PILLAR, STORE_MINE };
    fixture_t *f = *state;
    char *text[] = { xstrdup("{}"), xstrdup("{}"), xstrdup("{}") };

    (void) store_put_grains(f->place->store, "m1", &text[0]);
    (void) store_put_pillar(f->place->store, "m1", &text[1]);
    (void) store_put_mine(f->place->store, "m1", &text[2]);
    fill(f, 10);
    assert_int_equal(store_forget(f->place->store, "m1", STORE_MINE), 0);
    uint64_t ticket = store_del_minion(f->place->store, "m1");
    make_room(f);
    settle(f->place->store, ticket);
    for (size_t i = 0; i < NELEMS(docs); i++)
        assert_shown(store_docs(f->place->reader, docs[i], "m1", err), "{}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_event_for_which_there_is_no_room), TEST(test_end_of_a_job), TEST(test_mine),
          TEST(test_known), TEST(test_deleted_minion))
