/* test_secretmem.c - places for the secrets of a handshake: wiped, never two at once, libsodium's when
 * there are no more, and used by libzmq. */
#include "unit/unit.h"

#include <sodium.h>

#include "common/net/sock.h"
#include "master/minions/secretmem.h"

static int
set_up(void **state)
{
    secretmem_open();
    return sodium_init() < 0;
}

static void
test_wiped_and_used_again(void **state)
{
    uint64_t before = secretmem_served();
    uint8_t *first = sodium_allocarray(1, 32);

    memset(first, 0xaa, 32);
    sodium_free(first);
    uint8_t *again = sodium_allocarray(32, 1);
    assert_ptr_equal(again, first);
    for (int i = 0; i < 32; i++)
        assert_int_equal(again[i], 0);
    sodium_free(again);
    assert_int_equal(secretmem_served() - before, 2);
}

/* More than there are, and more than fits: libsodium has room. */
static void
test_libsodium_has_the_rest(void **state)
{
    uint8_t *all[FLEETING_PLACES + 2];
    uint64_t before = secretmem_served();

    for (size_t i = 0; i < NELEMS(all); i++) {
        all[i] = sodium_allocarray(FLEETING_SIZE, 1);
        assert_non_null(all[i]);
        memset(all[i], (int) i, FLEETING_SIZE);
    }
    assert_int_equal(secretmem_served() - before, FLEETING_PLACES);
    for (size_t i = 0; i < NELEMS(all); i++) {
        for (size_t k = 0; k < FLEETING_SIZE; k++)
            assert_int_equal(all[i][k], (uint8_t) i);
        sodium_free(all[i]);
    }
    before = secretmem_served();
    uint8_t *large = sodium_allocarray(FLEETING_SIZE + 1, 1);
    assert_non_null(large);
    large[FLEETING_SIZE] = 1;
    sodium_free(large);
    assert_null(sodium_allocarray(SIZE_MAX / 2, 3));
    sodium_free(NULL);
    assert_int_equal(secretmem_served(), before);
}

/* What asks for guard pages gets them. */
static void
test_long_lived_keys_stay_with_libsodium(void **state)
{
    uint64_t before = secretmem_served();
    uint8_t *key = sodium_malloc(KEY_BYTES);

    assert_non_null(key);
    assert_int_equal(sodium_mprotect_readonly(key), 0);
    sodium_free(key);
    assert_int_equal(secretmem_served(), before);
}

static void
test_a_handshake_uses_them(void **state)
{
    void *zctx = zmq_ctx_new();
    AUTO(key_pair) master = key_pair_new();
    AUTO(key_pair) minion = key_pair_new();
    void *router = sock_new(zctx, SOCK_ROUTER_SERVER, master, NULL, NULL);
    void *dealer = sock_new(zctx, SOCK_DEALER_CLIENT, minion, key_pair_public(master), NULL);
    uint64_t before = secretmem_served();
    char endpoint[128], byte;
    size_t n = sizeof(endpoint);

    assert_int_equal(sock_bind(router, "127.0.0.1", 0, false, NULL), 0);
    assert_int_equal(zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint, &n), 0);
    assert_int_equal(sock_connect(dealer, "127.0.0.1", atoi(strrchr(endpoint, ':') + 1), NULL), 0);
    assert_int_equal(sock_send(dealer, "x", 1), 0);
    assert_true(zmq_recv(router, &byte, 1, 0) >= 0);
    assert_in_range(secretmem_served() - before, 6, 24);
    sock_close(&dealer);
    sock_close(&router);
    (void) zmq_ctx_term(zctx);
}

UNIT_MAIN(cmocka_unit_test_setup(test_wiped_and_used_again, set_up),
          cmocka_unit_test_setup(test_libsodium_has_the_rest, set_up),
          cmocka_unit_test_setup(test_long_lived_keys_stay_with_libsodium, set_up),
          cmocka_unit_test_setup(test_a_handshake_uses_them, set_up))
