/* test_ring.c - frames of events, and the ring of the newest. */
#include "unit/unit.h"

#include "master/events/ring.h"
#include "salt/value.h"

#define STAMP "2026-11-20T10:00:00.123456"

typedef struct readers {
    ring_at_t *at[2];
    int dropped;
} readers_t;

/* Whoever is in a block that goes, goes on to the next. */
static void
dropped(void *cookie, ring_block_t *block)
{
    readers_t *r = cookie;

    r->dropped++;
    for (size_t i = 0; i < NELEMS(r->at); i++)
        if (r->at[i] != NULL && r->at[i]->block == block)
            assert_true(ring_on(r->at[i]));
}

static void
put(ring_t *ring, uint64_t seq, size_t size)
{
    AUTO_FREE char *data = xasprintf("{\"x\":\"%0*d\"}", (int) size, 0);
    char *out = ring_room(ring, eframe_room(1, strlen(data)));

    ring_wrote(ring, seq, eframe_write(out, seq, "t", 1, data, strlen(data), STAMP));
}

static uint64_t
number_at(const ring_at_t *at)
{
    eframe_t frame;

    return eframe_read(at->block->bytes + at->offset, at->block->len - at->offset, &frame) ? frame.seq : 0;
}

static void
test_frame(void **state)
{
    static const struct {
        const char *tag, *data, *text;
    } rows[] = {
        { "a/b", "{\"x\":1}", "{\"seq\":7,\"tag\":\"a/b\",\"data\":{\"x\":1,\"_stamp\":\"" STAMP "\"}}" },
        { "a\\\"\\\\", "{}", "{\"seq\":7,\"tag\":\"a\\\"\\\\\",\"data\":{\"_stamp\":\"" STAMP "\"}}" },
        { "t", "{ \n}", "{\"seq\":7,\"tag\":\"t\",\"data\":{\"_stamp\":\"" STAMP "\"}}" },
        { "t", "{\"x\": {} }", "{\"seq\":7,\"tag\":\"t\",\"data\":{\"x\":{},\"_stamp\":\"" STAMP "\"}}" },
    };
    char out[300];
    eframe_t frame;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        size_t len = eframe_write(out, 7, rows[i].tag, strlen(rows[i].tag), rows[i].data,
                                  strlen(rows[i].data), STAMP);
        assert_true(len <= eframe_room(strlen(rows[i].tag), strlen(rows[i].data)));
        assert_true(eframe_read(out, len, &frame));
        assert_int_equal(frame.len, len);
        assert_memory_equal(frame.stamp, STAMP, EFRAME_STAMP);
        json_auto_t *value = eframe_value(&frame);
        AUTO_FREE char *text = value_dump(value);
        assert_string_equal(text, rows[i].text);
        /* Cut anywhere it is not a frame. */
        for (size_t n = 0; n < len; n++)
            assert_false(eframe_read(out, n, &frame));
    }
}

static void
test_frame_damaged(void **state)
{
    char out[300], bad[300];
    size_t len = eframe_write(out, 18446744073709ULL, "some/tag", 8, "{\"x\":[1,2]}", 11, STAMP);
    eframe_t frame;

    /* Whatever a byte becomes, reading stays within the bytes. */
    for (size_t i = 0; i < len; i++) {
        memcpy(bad, out, len);
        for (int c = 0; c < 256; c++) {
            bad[i] = (char) c;
            if (eframe_read(bad, len, &frame))
                assert_true(frame.len <= len && frame.data + frame.data_len <= bad + frame.len &&
                            frame.tag + frame.tag_len <= frame.data);
        }
    }
    /* Its tag takes all the room, and its data begins where it ends. */
    size_t n = strlen("\",\"data\":"), tag = (size_t) (strstr(out + 4, "some/tag") - out);
    memcpy(bad, out, len);
    memset(bad + tag, 'x', len - tag - n);
    memcpy(bad + len - n, "\",\"data\":", n);
    assert_false(eframe_read(bad, len, &frame));
}

static void
test_places(void **state)
{
    readers_t readers = { 0 };
    ring_t *ring = ring_new(4 << 20, dropped, &readers);
    ring_at_t at = { 0 };

    assert_int_equal(ring_first(ring), 0);
    assert_false(ring_to(ring, &at, 0));
    ring_to_end(ring, &at);
    assert_int_equal(number_at(&at), 0);
    for (uint64_t seq = 5; seq < 1005; seq++)
        put(ring, seq, 1000);
    assert_int_equal(number_at(&at), 5);
    assert_int_equal(ring_first(ring), 5);
    for (uint64_t seq = 4; seq < 1004; seq++) {
        assert_true(ring_to(ring, &at, seq));
        if (at.offset == at.block->len)
            assert_true(ring_on(&at));
        assert_int_equal(number_at(&at), seq + 1);
    }
    assert_true(ring_to(ring, &at, 1004));
    assert_int_equal(at.offset, at.block->len);
    assert_false(ring_on(&at));
    assert_false(ring_to(ring, &at, 3));
    ring_leave(&at);
    assert_int_equal(readers.dropped, 0);
    ring_destroy(&ring);
}

/* What nobody needs goes at once, what somebody needs at the limit. */
static void
test_bound(void **state)
{
    readers_t readers = { 0 };
    ring_t *ring = ring_new(1 << 20, dropped, &readers);
    ring_at_t slow = { 0 };

    readers.at[0] = &slow;
    ring_to_end(ring, &slow);
    for (uint64_t seq = 1; seq < 10000; seq++) {
        put(ring, seq, 1000);
        ring_trim(ring, UINT64_MAX);
        assert_true(ring_bytes(ring) <= (1 << 20) + (512 << 10));
    }
    assert_true(readers.dropped > 0);
    assert_int_equal(number_at(&slow), ring_first(ring));
    ring_leave(&slow);
    ring_newest(ring)->ticket = 9;
    ring_trim(ring, 0);
    assert_true(ring_bytes(ring) <= 512 << 10);
    /* A large one has a block of its own. */
    put(ring, 10000, 3 << 20);
    put(ring, 10001, 10);
    ring_trim(ring, 9);
    assert_int_equal(ring_first(ring), 10001);
    ring_destroy(&ring);
}

UNIT_MAIN(cmocka_unit_test(test_frame), cmocka_unit_test(test_frame_damaged), cmocka_unit_test(test_places),
          cmocka_unit_test(test_bound))
