/* test_peers.c - minions by id, slot and key; connections by routing id and descriptor; and that no table
 * keeps a pointer to what another has freed. */
#include "common/base/str.h"
#include "master/minions/peers.h"
#include "unit/unit.h"

static const uint8_t key_a[KEY_BYTES] = { 1, 2, 3 }, key_b[KEY_BYTES] = { 4, 5, 6 };

typedef struct fixture {
    peers_t *peers;
    char a[KEY_Z85_LEN], b[KEY_Z85_LEN];
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    f->peers = peers_new();
    key_to_z85(key_a, f->a);
    key_to_z85(key_b, f->b);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    peers_destroy(&f->peers);
    free(f);
    return 0;
}

/* A connection whose routing id is one byte. */
static peer_t *
line(fixture_t *f, char rid, int fd, const char *z85)
{
    return peers_connect(f->peers, &rid, 1, fd, z85, "127.0.0.1");
}

static void
test_ids_and_slots(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED);
    minion_t *b = peers_know(f->peers, "b", key_b, KEY_PENDING);

    assert_ptr_equal(peers_by_id(f->peers, "a"), a);
    assert_ptr_equal(peers_by_key(f->peers, f->a), a);
    assert_ptr_equal(peers_by_key(f->peers, f->b), b);
    assert_ptr_equal(peers_by_slot(f->peers, a->slot), a);
    assert_int_not_equal(a->slot, b->slot);
    assert_int_equal(peers_slots(f->peers), 2);
    assert_int_equal(peers_count(f->peers, KEY_ACCEPTED), 1);
    assert_int_equal(peers_count(f->peers, KEY_PENDING), 1);

    /* The same id in another state is the same minion. */
    assert_ptr_equal(peers_know(f->peers, "b", key_b, KEY_ACCEPTED), b);
    assert_int_equal(peers_count(f->peers, KEY_ACCEPTED), 2);
    assert_int_equal(peers_count(f->peers, KEY_PENDING), 0);

    peers_forget(f->peers, &a);
    assert_null(a);
    assert_null(peers_by_id(f->peers, "a"));
    assert_null(peers_by_key(f->peers, f->a));
    assert_null(peers_by_slot(f->peers, 0));
    assert_null(peers_by_slot(f->peers, 99));
    assert_int_equal(peers_count(f->peers, KEY_ACCEPTED), 1);
    /* A slot is not used again: jobs know their targets by it. */
    assert_int_equal(peers_know(f->peers, "c", key_a, KEY_ACCEPTED)->slot, 2);
}

/* Files put there by hand can give one key to two ids: it stays the first one's, also when all files are read
 * again, and is the other's when that one goes. */
static void
test_one_key_of_two_ids(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED);
    minion_t *b = peers_know(f->peers, "b", key_a, KEY_ACCEPTED);
    minion_t *c = peers_know(f->peers, "c", key_a, KEY_PENDING);

    assert_ptr_equal(peers_by_key(f->peers, f->a), a);
    (void) peers_know(f->peers, "b", key_a, KEY_ACCEPTED);
    (void) peers_know(f->peers, "a", key_a, KEY_ACCEPTED);
    assert_ptr_equal(peers_by_key(f->peers, f->a), a);

    /* A rejected key is rejected, whoever else has it. */
    (void) peers_know(f->peers, "b", key_a, KEY_REJECTED);
    assert_ptr_equal(peers_by_key(f->peers, f->a), b);
    (void) peers_know(f->peers, "b", key_a, KEY_PENDING);
    assert_ptr_equal(peers_by_key(f->peers, f->a), a);

    (void) peers_know(f->peers, "b", key_a, KEY_ACCEPTED);
    peers_forget(f->peers, &a);
    assert_ptr_equal(peers_by_key(f->peers, f->a), b);
    (void) peers_know(f->peers, "b", key_b, KEY_ACCEPTED);
    assert_ptr_equal(peers_by_key(f->peers, f->a), c);
    assert_ptr_equal(peers_by_key(f->peers, f->b), b);
    peers_forget(f->peers, &c);
    assert_null(peers_by_key(f->peers, f->a));
}

/* Of one that only waited no job knows: who is renamed over and over takes one. */
static void
test_slots_of_those_that_wait(void **state)
{
    fixture_t *f = *state;
    char id[16];

    (void) peers_know(f->peers, "a", key_a, KEY_ACCEPTED);
    for (int i = 0; i < 1000; i++) {
        (void) snprintf(id, sizeof(id), "w%d", i);
        minion_t *w = peers_know(f->peers, id, key_b, KEY_PENDING);
        assert_int_equal(w->slot, 1);
        assert_ptr_equal(peers_by_slot(f->peers, 1), w);
        if (i < 999)
            peers_forget(f->peers, &w);
    }
    assert_int_equal(peers_slots(f->peers), 2);
    /* One that was accepted once keeps its own, whatever became of it. */
    minion_t *w = peers_know(f->peers, "w999", key_b, KEY_ACCEPTED);
    (void) peers_know(f->peers, "w999", key_b, KEY_PENDING);
    peers_forget(f->peers, &w);
    assert_int_equal(peers_know(f->peers, "x", key_b, KEY_PENDING)->slot, 2);
}

static void
test_keys(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED);

    /* One that waits does not take the place of one that is decided. */
    minion_t *c = peers_know(f->peers, "c", key_a, KEY_PENDING);
    assert_ptr_equal(peers_by_key(f->peers, f->a), a);
    peers_forget(f->peers, &c);
    assert_ptr_equal(peers_by_key(f->peers, f->a), a);

    /* Another key for the id: the old one names nobody any more. */
    (void) peers_know(f->peers, "a", key_b, KEY_ACCEPTED);
    assert_null(peers_by_key(f->peers, f->a));
    assert_ptr_equal(peers_by_key(f->peers, f->b), a);

    /* An accepted key comes before a pending one. */
    (void) peers_know(f->peers, "d", key_a, KEY_PENDING);
    minion_t *e = peers_know(f->peers, "e", key_a, KEY_ACCEPTED);
    assert_ptr_equal(peers_by_key(f->peers, f->a), e);
}

static void
test_connections(void **state)
{
    fixture_t *f = *state;
    char long_rid[RID_MAX + 1] = "";
    peer_t *p = line(f, 'p', 10, f->a);

    assert_non_null(p);
    assert_string_equal(p->z85, f->a);
    assert_int_equal(p->state, KEY_UNKNOWN);
    assert_ptr_equal(line(f, 'p', 10, f->a), p);
    assert_ptr_equal(peers_by_rid(f->peers, "p", 1), p);
    assert_ptr_equal(peers_by_fd(f->peers, 10), p);
    assert_int_equal(peers_connected(f->peers), 1);

    assert_null(peers_connect(f->peers, long_rid, sizeof(long_rid), 11, f->a, ""));
    assert_null(peers_by_rid(f->peers, long_rid, sizeof(long_rid)));
    assert_null(peers_by_fd(f->peers, 9999));
    assert_null(peers_by_fd(f->peers, -1));

    peers_drop(f->peers, &p);
    assert_null(p);
    assert_null(peers_by_rid(f->peers, "p", 1));
    assert_null(peers_by_fd(f->peers, 10));
    assert_int_equal(peers_connected(f->peers), 0);
}

/* A routing id or a descriptor that comes again with another key is another connection, and has none of the
 * first one's rights. */
static void
test_taken_over(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED);
    peer_t *p = line(f, 'p', 10, f->a);

    peers_bind(p, a);
    p->state = KEY_ACCEPTED;
    a->peer = p;
    peer_t *q = line(f, 'p', 10, f->b);
    assert_string_equal(q->z85, f->b);
    assert_int_equal(q->state, KEY_UNKNOWN);
    assert_null(q->minion);
    assert_null(a->peer);
    assert_int_equal(peers_connected(f->peers), 1);

    peers_bind(q, a);
    a->peer = q;
    /* The same descriptor under another routing id. */
    peer_t *r = line(f, 'r', 10, f->b);
    assert_ptr_equal(peers_by_fd(f->peers, 10), r);
    assert_null(r->minion);
    assert_ptr_equal(peers_next_ended(f->peers), q);
    peers_drop(f->peers, &q);
    assert_null(a->peer);
    /* The same routing id on another descriptor. */
    peer_t *s = line(f, 'r', 12, f->b);
    assert_null(peers_by_fd(f->peers, 10));
    assert_ptr_equal(peers_by_fd(f->peers, 12), s);
    assert_int_equal(peers_connected(f->peers), 1);
}

/* What a connection has sent may be read after its end was told. */
static void
test_ended(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED);
    peer_t *p = line(f, 'p', 10, f->a);

    peers_bind(p, a);
    a->peer = p;
    assert_null(peers_next_ended(f->peers));
    peers_end(f->peers, 9999);
    peers_end(f->peers, -1);
    assert_null(peers_next_ended(f->peers));
    peers_end(f->peers, 10);
    assert_null(peers_by_fd(f->peers, 10));
    assert_int_equal(p->fd, -1);
    assert_ptr_equal(line(f, 'p', 10, f->a), p);
    assert_ptr_equal(a->peer, p);

    /* The descriptor is another connection's now, and one is first heard of after its end. */
    peer_t *q = line(f, 'q', 10, f->a), *r = line(f, 'r', -1, f->b);
    assert_ptr_equal(peers_by_fd(f->peers, 10), q);
    assert_ptr_equal(line(f, 'r', 10, f->b), r);
    peers_end(f->peers, 10);
    assert_int_equal(peers_connected(f->peers), 3);
    /* In any order. */
    peers_drop(f->peers, &r);
    peers_drop(f->peers, &p);
    assert_null(a->peer);
    assert_ptr_equal(peers_next_ended(f->peers), q);
    peers_drop(f->peers, &q);
    assert_null(peers_next_ended(f->peers));
    assert_int_equal(peers_connected(f->peers), 0);
}

static void
test_lines_of_a_key(void **state)
{
    fixture_t *f = *state;
    peer_t *p = line(f, 'p', 10, f->a), *q = line(f, 'q', 11, f->a);

    (void) line(f, 'r', 12, f->b);
    (void) line(f, 'p', 10, f->a);
    assert_int_equal(peers_of_key(f->peers, f->a), 2);
    assert_int_equal(peers_of_key(f->peers, f->b), 1);
    peers_drop(f->peers, &p);
    assert_int_equal(peers_of_key(f->peers, f->a), 1);
    peers_drop(f->peers, &q);
    assert_int_equal(peers_of_key(f->peers, f->a), 0);
}

/* Whatever ends first, nobody points to it afterwards. */
static void
test_bind(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED),
             *b = peers_know(f->peers, "b", key_b, KEY_ACCEPTED);
    peer_t *p = line(f, 'p', 10, f->a), *q = line(f, 'q', 11, f->a);

    peers_bind(p, a);
    a->peer = p;
    peers_bind(q, a);
    a->rival = q;
    /* Bound again to the same: stays. */
    peers_bind(p, a);
    assert_ptr_equal(a->peer, p);

    /* To another, or to none. */
    peers_bind(p, b);
    assert_null(a->peer);
    peers_bind(q, NULL);
    assert_null(a->rival);

    peers_bind(q, a);
    a->rival = q;
    peers_drop(f->peers, &q);
    assert_null(a->rival);

    peers_bind(p, a);
    a->peer = p;
    peers_forget(f->peers, &a);
    assert_null(p->minion);
    peers_drop(f->peers, &p);
}

static void
test_subs(void **state)
{
    fixture_t *f = *state;
    minion_t *a = peers_know(f->peers, "a", key_a, KEY_ACCEPTED),
             *b = peers_know(f->peers, "b", key_b, KEY_ACCEPTED);

    assert_int_equal(a->sub_fd, -1);
    peers_add_sub(f->peers, a, 20);
    peers_add_sub(f->peers, a, 21);
    peers_add_sub(f->peers, a, 21);
    assert_int_equal(a->sub_fd, 21);
    assert_int_equal(a->n_subs, 2);
    /* Of two, the other is still there when one ends. */
    peers_drop_sub(f->peers, 21);
    assert_int_equal(a->sub_fd, 20);
    peers_add_sub(f->peers, a, 22);

    /* A descriptor that another key has now. */
    peers_add_sub(f->peers, b, 22);
    assert_int_equal(a->n_subs, 1);
    assert_int_equal(a->sub_fd, 20);
    assert_int_equal(b->sub_fd, 22);

    /* All of them can be found, to be cut. */
    peers_add_sub(f->peers, a, 500);
    assert_int_equal(peers_take_sub(f->peers, a), 500);
    assert_int_equal(peers_take_sub(f->peers, a), 20);
    assert_int_equal(peers_take_sub(f->peers, a), -1);
    assert_int_equal(a->n_subs, 0);

    /* One that nobody knows. */
    peers_drop_sub(f->peers, 21);
    peers_drop_sub(f->peers, -1);
    peers_drop_sub(f->peers, 100000);
    peers_add_sub(f->peers, a, -1);
    assert_int_equal(a->sub_fd, -1);

    peers_forget(f->peers, &b);
    peers_drop_sub(f->peers, 22);
}

static void
test_walk(void **state)
{
    fixture_t *f = *state;
    peer_t *p;
    size_t n = 0;

    for (char c = 'a'; c <= 'z'; c++)
        (void) line(f, c, 100 + c, f->a);
    /* Dropping the one at hand is allowed. */
    for (size_t i = 0; peers_next(f->peers, &i, &p); n++)
        if (n % 2 == 0)
            peers_drop(f->peers, &p);
    assert_int_equal(n, 26);
    assert_int_equal(peers_connected(f->peers), 13);
    assert_int_equal(peers_of_key(f->peers, f->a), 13);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_ids_and_slots), TEST(test_one_key_of_two_ids), TEST(test_slots_of_those_that_wait),
          TEST(test_keys), TEST(test_connections), TEST(test_taken_over), TEST(test_ended),
          TEST(test_lines_of_a_key), TEST(test_bind), TEST(test_subs), TEST(test_walk))
