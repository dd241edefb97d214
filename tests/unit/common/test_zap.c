/* test_zap.c - what the key handler answers to libzmq: every verdict in both domains behind every door, and
 * requests that make no sense. */
#include <czmq.h>

#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/net/zap.h"
#include "unit/unit.h"

static const uint8_t key[KEY_BYTES] = { 7, 7, 7 };

typedef struct fixture {
    zap_t *zap;
    zsock_t *ask;
    char z85[KEY_Z85_LEN];
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    zsys_handler_set(NULL);
    /* libzmq gives the name of the one before free in a thread of its own. */
    for (int i = 0; i < 1000 && !(f->zap = zap_new(NULL)); i++)
        zclock_sleep(1);
    assert_non_null(f->zap);
    f->ask = zsock_new_req(">inproc://zeromq.zap.01");
    assert_non_null(f->ask);
    key_to_z85(key, f->z85);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    zsock_destroy(&f->ask);
    zap_destroy(&f->zap);
    zap_destroy(&f->zap);
    free(f);
    return 0;
}

/* The status code of the answer; the User-Id in *ret_user when given. */
static int
answer(fixture_t *f, char **ret_user)
{
    char *version = NULL, *sequence = NULL, *code = NULL, *text = NULL, *user = NULL, *meta = NULL;

    assert_int_equal(zstr_recvx(f->ask, &version, &sequence, &code, &text, &user, &meta, NULL), 6);
    assert_string_equal(version, "1.0");
    assert_string_equal(sequence, "42");
    int status = atoi(code);
    free(version), free(sequence), free(code), free(text), free(meta);
    if (ret_user)
        *ret_user = user;
    else
        free(user);
    return status;
}

static int
knock(fixture_t *f, const char *domain, char **ret_user)
{
    zmsg_t *msg = zmsg_new();

    zmsg_addstr(msg, "1.0");
    zmsg_addstr(msg, "42");
    zmsg_addstr(msg, domain);
    zmsg_addstr(msg, "127.0.0.1");
    zmsg_addstr(msg, "");
    zmsg_addstr(msg, "CURVE");
    zmsg_addmem(msg, key, sizeof(key));
    assert_int_equal(zmsg_send(&msg, f->ask), 0);
    return answer(f, ret_user);
}

static void
test_verdicts(void **state)
{
    static const struct {
        zap_verdict_t verdict;
        zap_door_t door;
        int req, pub;
    } rows[] = {
        { ZAP_UNKNOWN, ZAP_OPEN, 200, 400 },   { ZAP_UNKNOWN, ZAP_KNOWN, 300, 400 },
        { ZAP_UNKNOWN, ZAP_SHUT, 300, 400 },   { ZAP_PENDING, ZAP_OPEN, 200, 400 },
        { ZAP_PENDING, ZAP_KNOWN, 200, 400 },  { ZAP_PENDING, ZAP_SHUT, 300, 400 },
        { ZAP_ACCEPTED, ZAP_OPEN, 200, 200 },  { ZAP_ACCEPTED, ZAP_KNOWN, 200, 200 },
        { ZAP_ACCEPTED, ZAP_SHUT, 300, 300 },  { ZAP_REJECTED, ZAP_OPEN, 400, 400 },
        { ZAP_REJECTED, ZAP_KNOWN, 400, 400 }, { ZAP_REJECTED, ZAP_SHUT, 400, 400 },
    };
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        zap_set(f->zap, f->z85, rows[i].verdict);
        zap_set_door(f->zap, rows[i].door);
        int req = knock(f, "req", NULL), pub = knock(f, "pub", NULL);
        if (req != rows[i].req || pub != rows[i].pub)
            fail_msg("verdict %d, door %d: req %d, pub %d", rows[i].verdict, rows[i].door, req, pub);
    }
}

/* Every message of the connection carries the key that made it. */
static void
test_user_id(void **state)
{
    fixture_t *f = *state;
    char *user = NULL;

    assert_int_equal(knock(f, "req", &user), 200);
    assert_string_equal(user, f->z85);
    free(user);
    zap_set(f->zap, f->z85, ZAP_REJECTED);
    assert_int_equal(knock(f, "req", &user), 400);
    assert_string_equal(user, "");
    free(user);
}

static void
test_only_one(void **state)
{
    fail_auto_t err = FAIL_INIT;

    assert_null(zap_new(&err));
    assert_int_equal(err.code, -EADDRINUSE);
}

static void
test_nonsense(void **state)
{
    fixture_t *f = *state;

    /* Other mechanisms, a key of another size, nothing at all: an answer each time, and the next one is
     * served. */
    assert_int_equal(zstr_sendx(f->ask, "1.0", "42", "req", "127.0.0.1", "", "NULL", NULL), 0);
    assert_int_equal(answer(f, NULL), 400);
    assert_int_equal(
        zstr_sendx(f->ask, "1.0", "42", "req", "127.0.0.1", "", "PLAIN", "user", "password", NULL), 0);
    assert_int_equal(answer(f, NULL), 400);
    assert_int_equal(zstr_sendx(f->ask, "1.0", "42", "req", "127.0.0.1", "", "CURVE", "short", NULL), 0);
    assert_int_equal(answer(f, NULL), 400);
    assert_int_equal(zstr_sendx(f->ask, "1.0", "42", NULL), 0);
    assert_int_equal(answer(f, NULL), 400);
    assert_int_equal(zstr_send(f->ask, ""), 0);
    zmsg_t *reply = zmsg_recv(f->ask);
    assert_non_null(reply);
    zmsg_destroy(&reply);
    assert_int_equal(knock(f, "req", NULL), 200);
}

static void
test_many_keys(void **state)
{
    fixture_t *f = *state;
    uint8_t other[KEY_BYTES] = { 0 };
    char z85[KEY_Z85_LEN];

    for (int i = 0; i < 5000; i++) {
        memcpy(other, &i, sizeof(i));
        key_to_z85(other, z85);
        zap_set(f->zap, z85, ZAP_ACCEPTED);
    }
    zap_set_door(f->zap, ZAP_KNOWN);
    assert_int_equal(knock(f, "req", NULL), 300);
    zap_set(f->zap, f->z85, ZAP_PENDING);
    assert_int_equal(knock(f, "req", NULL), 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_verdicts), TEST(test_user_id), TEST(test_only_one), TEST(test_nonsense),
          TEST(test_many_keys))
