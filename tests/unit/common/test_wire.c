/* test_wire.c - every message in every direction, state and size; what is not a message; and that what is
 * written is read back. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/net/proto.h"
#include "common/net/wire.h"
#include "salt/value.h"
#include "unit/unit.h"

typedef struct row {
    const char *name;
    char dir; /* U or D */
    const char *states;
    size_t limit;
} row_t;

#define UP                                     'U'
#define DOWN                                   'D'
#define MESSAGE(name, dir, states, limit, doc) { #name, dir, states, limit },
static const row_t rows[MSG_COUNT] = {
#include "salt/messages.def"
};
#undef MESSAGE

static int
decode(const char *text, size_t len, char dir, char state, fail_t *err)
{
    wire_msg_t msg = MSG_COUNT;
    json_auto_t *body = NULL;
    int rc = wire_decode(text, len, dir == 'U' ? WIRE_UP : WIRE_DOWN, state, &msg, &body, err);

    assert_int_equal(rc == 0, body != NULL);
    assert_int_equal(rc == 0, msg != MSG_COUNT);
    return rc;
}

static void
test_direction_and_state(void **state)
{
    static const char states[] = { 'A', 'P', ' ' };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        size_t len = 0;
        AUTO_FREE char *text = wire_encode((wire_msg_t) i, NULL, &len, NULL);
        assert_int_equal(strlen(text), len);
        assert_string_equal(wire_name((wire_msg_t) i), rows[i].name);
        for (size_t k = 0; k < NELEMS(states); k++) {
            bool up = rows[i].dir == 'U', may = up && strchr(rows[i].states, states[k]) != NULL;
            assert_int_equal(decode(text, len, 'U', states[k], NULL), !up ? -EPROTO : may ? 0 : -EPERM);
            assert_int_equal(decode(text, len, 'D', states[k], NULL), up ? -EPROTO : 0);
        }
    }
}

/* A message with one more member is the one that an object with it makes, up to the limit. */
static void
test_one_more_member(void **state)
{
    json_auto_t *body = json_pack("{s:s, s:[i]}", "jid", "20261120100000000001", "arg", 1);
    size_t len = 0, more_len = 0, whole_len = 0;
    AUTO_FREE char *text = wire_encode(MSG_job, body, &len, NULL),
                   *more = wire_with(MSG_job, text, len, "seq", 4711, &more_len);
    json_object_set_new(body, "seq", json_integer(4711));
    AUTO_FREE char *whole = wire_encode(MSG_job, body, &whole_len, NULL);
    assert_int_equal(more_len, whole_len);
    assert_memory_equal(more, whole, whole_len);

    AUTO_FREE char *most = xcalloc(1, LIMIT_WIRE_MSG + 1);
    memset(most, ' ', LIMIT_WIRE_MSG);
    memcpy(most, text, len - 1);
    most[LIMIT_WIRE_MSG - 1] = '}';
    assert_null(wire_with(MSG_job, most, LIMIT_WIRE_MSG, "seq", 1, &more_len));
    most[LIMIT_WIRE_MSG - 9] = '}'; /* room for ,"seq":1 */
    AUTO_FREE char *just = wire_with(MSG_job, most, LIMIT_WIRE_MSG - 8, "seq", 1, &more_len);
    assert_non_null(just);
    assert_int_equal(more_len, LIMIT_WIRE_MSG);
}

static void
test_limits(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        buf_auto_t text = BUF_INIT;
        size_t len = 0;
        char at = rows[i].dir == 'U' ? 'A' : ' ';

        buf_printf(&text, "{\"m\":\"%s\",\"x\":\"", rows[i].name);
        buf_fill(&text, 'y', rows[i].limit - text.len - 2);
        buf_puts(&text, "\"}");
        assert_int_equal(text.len, rows[i].limit);
        assert_int_equal(decode(text.data, text.len, rows[i].dir, at, NULL), 0);
        /* One byte more is refused before it is parsed. */
        text.data[text.len - 1] = ' ';
        buf_putc(&text, '}');
        assert_int_equal(decode(text.data, text.len, rows[i].dir, at, &err), -EMSGSIZE);
        assert_non_null(strstr(fail_text(&err), rows[i].name));

        /* And not written either. */
        AUTO_FREE char *long_text = xcalloc(1, rows[i].limit + 1);
        memset(long_text, 'x', rows[i].limit);
        json_auto_t *body = json_pack("{s:s}", "x", long_text);
        assert_null(wire_encode((wire_msg_t) i, body, &len, NULL));
    }
}

static void
test_no_messages(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "{}",
        "[]",
        "null",
        "\"hello\"",
        "{\"m\":1}",
        "{\"m\":\"\"}",
        "{\"m\":\"hell\"}",
        "{\"m\":\"helloo\"}",
        "{\"m\":\"hello",
        "{\"m\":\"hello\"",
        "{\"m\":\"hello\",",
        "{\"m\":\"hello\"}x",
        "{\"m\":\"hello\"}{}",
        "{\"m\":\"hello\",\"m\":\"bye\"}",
        "{\"m\":\"hello\",\"a\":1,\"a\":1}",
        "{ \"m\":\"hello\"}",
        "{\"m\": \"hello\"}",
        "{\"id\":\"a\",\"m\":\"hello\"}",
        "{\"m\":\"hello\",\"a\":nan}",
        "{\"m\":\"hello\",\"a\":\"\xff\"}",
        "{\"M\":\"hello\"}",
        "{\"m\":\"HELLO\"}",
    };

    for (size_t i = 0; i < NELEMS(texts); i++) {
        fail_auto_t err = FAIL_INIT;
        int rc = decode(texts[i], strlen(texts[i]), 'U', 'A', &err);
        if (rc != -EPROTO || !err.text)
            fail_msg("%s: %d", texts[i], rc);
    }
    assert_int_equal(decode("\0\0\0", 3, 'U', 'A', NULL), -EPROTO);
    assert_int_equal(decode("{\"m\":\"hello\0\"}", 14, 'U', 'A', NULL), -EPROTO);
}

static void
test_deep(void **state)
{
    buf_auto_t text = BUF_INIT;

    buf_puts(&text, "{\"m\":\"ret\",\"return\":");
    buf_fill(&text, '[', 100000);
    buf_fill(&text, ']', 100000);
    buf_putc(&text, '}');
    assert_int_equal(decode(text.data, text.len, 'U', 'A', NULL), -EPROTO);
}

/* NEW {return: lists} that is nested so deep as a whole. */
static json_t *
nested(int levels)
{
    json_t *v = json_array();

    for (int i = 2; i < levels; i++)
        v = json_pack("[o]", v);
    return json_pack("{s:o}", "return", v);
}

/* What the other side would refuse is not written. */
static void
test_deep_is_not_written(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *most = nested(LIMIT_JSON_DEPTH), *deeper = nested(LIMIT_JSON_DEPTH + 1);
    size_t len = 0;

    AUTO_FREE char *text = wire_encode(MSG_ret, most, &len, &err);
    assert_non_null(text);
    assert_int_equal(decode(text, len, 'U', 'A', NULL), 0);
    assert_null(wire_encode(MSG_ret, deeper, &len, &err));
    assert_int_equal(err.code, -EMSGSIZE);
    assert_string_equal(fail_text(&err), "message 'ret' is nested deeper than the 512 levels allowed");
}

static void
test_round_trip(void **state)
{
    size_t len = 0;
    wire_msg_t msg;
    json_auto_t *plain = json_loads(
        "{\"jid\":\"x\",\"return\":{\"a\":[1,2.5,null,true,\"\\u00e4\\u0000\"]},\"empty\":{}}",
        JSON_ALLOW_NUL, NULL);
    json_auto_t *back = NULL;

    assert_non_null(plain);
    AUTO_FREE char *text = wire_encode(MSG_ret, plain, &len, NULL);
    assert_int_equal(wire_decode(text, len, WIRE_UP, 'A', &msg, &back, NULL), 0);
    assert_int_equal(msg, MSG_ret);
    assert_string_equal(value_str(back, "m", ""), "ret");
    json_object_del(back, "m");
    assert_true(json_equal(plain, back));

    json_auto_t *empty = json_object();
    AUTO_FREE char *none = wire_encode(MSG_bye, empty, &len, NULL);
    assert_string_equal(none, "{\"m\":\"bye\"}");
}

/* ---- protocols --------------------------------------------------------------------------------- */

static void
assert_problem(json_int_t minion, const char *its, json_int_t master, const char *theirs,
               const char *expected)
{
    AUTO_FREE char *text = proto_problem((proto_side_t){ minion, its }, (proto_side_t){ master, theirs });

    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text, expected);
}

static void
test_protocols(void **state)
{
    assert_problem(1, "1.0.0", 1, "1.2.0", NULL);
    assert_problem(
        1, "1.0.0", 4, "4.0.0",
        "the minion speaks protocol 1 (Halite 1.0.0) and the master protocol 4 (Halite 4.0.0): upgrade "
        "the minion");
    assert_problem(
        2, "2.0.0", 1, "1.0.0",
        "the minion speaks protocol 2 (Halite 2.0.0) and the master protocol 1 (Halite 1.0.0): upgrade "
        "the master");
    assert_problem(0, "", 1, NULL,
                   "the minion speaks protocol 0 and the master protocol 1: upgrade the minion");
}

/* Master by minion, of masters to come as well: a master serves its own protocol and the two before it. */
static void
test_protocols_served(void **state)
{
    static const char *const served[] = {
        "0.......", "01......", "011.....", "0111....", "0.111...", "0..111..", "0...111.",
    };

    (void) state;
    for (json_int_t master = 0; master < (json_int_t) NELEMS(served); master++) {
        for (json_int_t minion = 0; minion < 8; minion++) {
            AUTO_FREE char *text = proto_problem((proto_side_t){ minion, "" }, (proto_side_t){ master, "" });
            assert_int_equal(text == NULL, served[master][minion] == '1');
            if (text)
                assert_non_null(strstr(text, minion > master ? "upgrade the master" : "upgrade the minion"));
        }
    }
    /* What is not a protocol at all. */
    static const json_int_t foreign[] = { INT64_MIN, -1, 0, INT64_MAX };
    for (size_t i = 0; i < NELEMS(foreign); i++) {
        AUTO_FREE char *minion = proto_problem((proto_side_t){ foreign[i], "" },
                                               (proto_side_t){ WIRE_PROTO, "" });
        AUTO_FREE char *master = proto_problem((proto_side_t){ WIRE_PROTO, "" },
                                               (proto_side_t){ foreign[i], "" });
        AUTO_FREE char *both = proto_problem((proto_side_t){ INT64_MIN, "" },
                                             (proto_side_t){ foreign[i], "" });
        assert_non_null(minion);
        assert_non_null(master);
        assert_non_null(both);
    }
}

/* What a peer says of itself comes into the log: a version, or nothing. */
static void
test_releases(void **state)
{
    static const struct {
        const char *body, *release;
    } said[] = {
        { "{\"halite\": \"1.0.0\"}", "1.0.0" },
        { "{\"halite\": \"1.0.0-rc.1+a\"}", "1.0.0-rc.1+a" },
        { "{}", "" },
        { "{\"halite\": 1}", "" },
        { "{\"halite\": \"1.0.0 \\u001b[2J\"}", "" },
        { "{\"halite\": \"1.0.0: upgrade the master\"}", "" },
        { "{\"halite\": \"1.0.0-0123456789012345678901234567890123456789\"}", "" },
    };

    for (size_t i = 0; i < NELEMS(said); i++) {
        json_auto_t *body = json_loads(said[i].body, 0, NULL);
        char release[LIMIT_RELEASE] = "before";
        assert_non_null(body);
        proto_release(body, release);
        assert_string_equal(release, said[i].release);
    }
}

UNIT_MAIN(cmocka_unit_test(test_protocols), cmocka_unit_test(test_protocols_served),
          cmocka_unit_test(test_releases), cmocka_unit_test(test_direction_and_state),
          cmocka_unit_test(test_limits), cmocka_unit_test(test_one_more_member),
          cmocka_unit_test(test_no_messages), cmocka_unit_test(test_deep),
          cmocka_unit_test(test_deep_is_not_written), cmocka_unit_test(test_round_trip))
