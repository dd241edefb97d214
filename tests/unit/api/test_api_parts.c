/* test_api_parts.c - pure parts of salt-api: bodies, negotiation, ranges, frames, archives, refusals, sessions, failed log-ins. */
#include "api/accept.h"
#include "api/body.h"
#include "api/guesses.h"
#include "api/keytar.h"
#include "api/range.h"
#include "api/refusal.h"
#include "api/session.h"
#include "api/wsframe.h"
#include "common/base/buf.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
test_accept(void **state)
{
    static const struct {
        const char *accept;
        form_t form;
        bool html;
        form_t error;
    } cases[] = {
        { NULL, FORM_JSON, false, FORM_NONE },
        { "", FORM_JSON, false, FORM_NONE },
        { "*/*", FORM_JSON, false, FORM_NONE },
        { "application/json", FORM_JSON, false, FORM_JSON },
        { "application/x-yaml", FORM_YAML, false, FORM_YAML },
        { "text/yaml", FORM_YAML, false, FORM_YAML },
        { "application/*", FORM_JSON, false, FORM_NONE },
        { "application/xml", FORM_NONE, false, FORM_NONE },
        { "text/html", FORM_NONE, true, FORM_NONE },
        { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", FORM_JSON, true, FORM_NONE },
        { "application/json, text/html;q=0.5", FORM_JSON, false, FORM_JSON },
        { "application/json;q=0.2, application/x-yaml;q=0.9", FORM_YAML, false, FORM_YAML },
        { "application/json;q=0, */*", FORM_YAML, false, FORM_YAML },
        { "application/json;q=nan", FORM_NONE, false, FORM_NONE },
        { ", ,;q=,/,*", FORM_NONE, false, FORM_NONE },
        { "APPLICATION/JSON", FORM_JSON, false, FORM_JSON },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        print_message("%s\n", cases[i].accept != NULL ? cases[i].accept : "none");
        assert_int_equal(accept_form(cases[i].accept), cases[i].form);
        assert_int_equal(accept_wants_html(cases[i].accept), cases[i].html);
        assert_int_equal(accept_error_form(cases[i].accept), cases[i].error);
    }
}

static void
test_body(void **state)
{
    static const struct {
        const char *type, *text, *value; /* `value` NULL: nothing */
        int rc;
    } cases[] = {
        { "application/json", "", NULL, 0 },
        { "application/json", "{\"a\": 1}", "{\"a\": 1}", 0 },
        { "application/json", "{\"a\":", NULL, -EINVAL },
        { "application/json; charset=utf-8", "[1]", "[1]", 0 },
        { "Application/JSON", "[1]", "[1]", 0 },
        { "application/x-yaml", "- {a: 1}", "[{\"a\": 1}]", 0 },
        { "text/yaml", "a: [", NULL, -EINVAL },
        { "text/plain;charset=UTF-8", "{\"a\": true}", "{\"a\": true}", 0 },
        { "text/plain", "plain words", "\"plain words\"", 0 },
        { "application/xml", "<x/>", NULL, -ENOTSUP },
        { "multipart/form-data; boundary=x", "--x--", NULL, -ENOTSUP },
        { NULL, "a=1&b=c+d&b=%41%2", "{\"a\": \"1\", \"b\": [\"c d\", \"A%2\"]}", 0 },
        { "application/x-www-form-urlencoded", "arg=5&arg=[1, 2]&kwarg={a: 1}",
          "{\"arg\": [5, [1, 2]], \"kwarg\": {\"a\": 1}}", 0 },
        { NULL, "arg=x", "{\"arg\": [\"x\"]}", 0 },
        { NULL, "&&a&=b&", "{\"a\": \"\", \"\": \"b\"}", 0 },
        { NULL, "a=%00", NULL, -EINVAL },
        { NULL, "a=%ff", NULL, -EINVAL },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *have = NULL,
                    *want = cases[i].value != NULL ? json_loads(cases[i].value, JSON_DECODE_ANY, NULL) : NULL;
        print_message("%s\n", cases[i].text);
        assert_int_equal(body_parse(cases[i].type, cases[i].text, strlen(cases[i].text), &have, &err),
                         cases[i].rc);
        assert_true(want == have || json_equal(want, have));
    }
}

/* A body may not make more values than BODY_VALUES, nor a form more pairs than BODY_PAIRS. */
static void
test_body_bounds(void **state)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t json = BUF_INIT, form = BUF_INIT;
    json_t *have = NULL;

    buf_putc(&json, '[');
    for (int i = 0; i < BODY_VALUES + 1; i++)
        buf_puts(&json, "0,");
    buf_puts(&json, "0]");
    assert_int_equal(body_parse("application/json", json.data, json.len, &have, &err), -E2BIG);
    assert_int_equal(body_parse("text/plain", json.data, json.len, &have, &err), -E2BIG);
    assert_int_equal(body_parse("text/yaml", json.data, json.len, &have, &err), -E2BIG);
    for (int i = 0; i < BODY_PAIRS + 1; i++)
        buf_puts(&form, "a&");
    assert_int_equal(body_parse(NULL, form.data, form.len, &have, &err), -E2BIG);
    assert_null(have);
}

static void
test_chunks(void **state)
{
    static const char *const cases[][2] = {
        { "{\"fun\": \"a\", \"arg\": \"x\"}", "[{\"fun\": \"a\", \"arg\": [\"x\"]}]" },
        { "[{\"fun\": \"a\"}]", "[{\"fun\": \"a\"}]" },
        { "\"x\"", NULL },
        { "[1]", NULL },
        { "null", NULL },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        json_t *data = json_loads(cases[i][0], JSON_DECODE_ANY, NULL);
        json_auto_t *have = body_chunks(&data, &err),
                    *want = cases[i][1] != NULL ? json_loads(cases[i][1], 0, NULL) : NULL;
        assert_true(want == have || json_equal(want, have));
        assert_int_equal(err.code, want != NULL ? 0 : -EINVAL);
    }
}

static void
test_range(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t from, len;
    } cases[] = {
        { "bytes=0-50", 1, 0, 51 },      { "bytes=0-200", 1, 0, 100 },
        { "bytes=10-", 1, 10, 90 },      { "bytes=-10", 1, 90, 10 },
        { "bytes=-1000", 1, 0, 100 },    { "bytes=0-0", 1, 0, 1 },
        { "bytes=99-200", 1, 99, 1 },    { "bytes=100-", -ERANGE, 0, 100 },
        { "bytes=-0", -ERANGE, 0, 100 }, { "bytes=5-1", 0, 0, 100 },
        { "bytes=1-2,4-5", 0, 0, 100 },  { "bytes=", 0, 0, 100 },
        { "lines=1-2", 0, 0, 100 },      { "bytes=99999999999999999999-", 0, 0, 100 },
        { "bytes=0--1", 0, 0, 100 },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        uint64_t from = 1, len = 1;
        int rc = range_parse(cases[i].text, 100, &from, &len);
        print_message("%s\n", cases[i].text);
        assert_int_equal(rc, cases[i].rc);
        if (rc == 1) {
            assert_int_equal(from, cases[i].from);
            assert_int_equal(len, cases[i].len);
        }
    }
}

static void
put_frame(buf_t *out, unsigned first, const char *text)
{
    static const char mask[] = "mask";
    size_t len = strlen(text);

    buf_putc(out, (char) first);
    buf_putc(out, (char) (0x80 | len));
    buf_add(out, mask, 4);
    for (size_t i = 0; i < len; i++)
        buf_putc(out, (char) (text[i] ^ mask[i % 4]));
}

static void
test_frames(void **state)
{
    buf_auto_t in = BUF_INIT, out = BUF_INIT;
    wsop_t op;

    /* The key and answer of RFC 6455, 1.3. */
    AUTO_FREE char *accept = wsframe_accept("dGhlIHNhbXBsZSBub25jZQ==");
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_null(wsframe_accept("short"));

    put_frame(&in, 0x81, "websocket client ready");
    size_t whole = in.len;
    for (size_t n = 0; n < whole; n++) { /* byte by byte */
        buf_t part = { in.data, n, in.cap, 0 };
        assert_int_equal(wsframe_take(&part, &op, &out), 0);
    }
    assert_int_equal(wsframe_take(&in, &op, &out), 1);
    assert_int_equal(op, WS_TEXT);
    assert_string_equal(buf_str(&out), "websocket client ready");
    assert_int_equal(in.len, 0);

    static const struct {
        const char *bytes;
        size_t len;
        int rc;
    } bad[] = {
        { "\x81\x05hello", 7, -EPROTO },        /* not masked */
        { "\x01\x80mask", 6, -EPROTO },         /* a part of a message */
        { "\xf1\x80mask", 6, -EPROTO },         /* reserved bits */
        { "\x83\x80mask", 6, -EPROTO },         /* an unknown kind */
        { "\x89\xfe\x00\x80mask", 8, -EPROTO }, /* a long ping */
        { "\x81\xff\x00\x00\x00\x00", 6, -EMSGSIZE },
        { "\x81\xfe\xff\xff", 4, -EMSGSIZE },
    };
    for (size_t i = 0; i < NELEMS(bad); i++) {
        buf_auto_t frame = BUF_INIT;
        buf_add(&frame, bad[i].bytes, bad[i].len);
        assert_int_equal(wsframe_take(&frame, &op, &out), bad[i].rc);
    }

    static const struct {
        size_t len, head;
    } heads[] = { { 0, 2 }, { 125, 2 }, { 126, 4 }, { 65535, 4 }, { 65536, 10 } };
    for (size_t i = 0; i < NELEMS(heads); i++) {
        buf_auto_t frame = BUF_INIT;
        wsframe_head(&frame, WS_TEXT, heads[i].len);
        assert_int_equal(frame.len, heads[i].head);
    }
}

static void
test_keytar(void **state)
{
    buf_auto_t out = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    keytar_add(&out, "minion.pub", "key");
    keytar_end(&out);
    assert_int_equal(out.len, 4 * 512);
    assert_memory_equal(out.data + 257,
                        "ustar\0"
                        "00",
                        8);
    assert_true(keytar_id_valid("web-1", &err));
    assert_false(keytar_id_valid(NULL, &err));
    assert_false(keytar_id_valid("../x", &err));
    assert_false(keytar_id_valid("a\"b", &err));
}

static void
test_refusals(void **state)
{
    assert_true(refusal_is_denial("Authorization error occurred."));
    assert_true(
        refusal_is_denial("Authorization error occurred. User x: cmd.run is not allowed; see external_auth"));
    assert_true(refusal_is_denial("Authentication failure of type \"token\" occurred for user x."));
    assert_false(refusal_is_denial("publish: 'fun' is a function's name, or a list of names"));
    assert_int_equal(refusal_status("publish: 'fun' is a function's name"), 400);
    assert_int_equal(refusal_status("the job store takes no more rows at the moment"), 503);
}

static void
test_sessions(void **state)
{
    AUTO(sessions) self = sessions_new();
    json_auto_t *login = json_pack("{s:s, s:s, s:s, s:f}", "token", "t", "user", "jane", "eauth", "pam",
                                   "expire", 1000.0);
    session_t *one = session_begin(self, login, 10);
    char id[SESSION_ID_LEN + 1];

    memcpy(id, one->id, sizeof(id));
    assert_int_equal(strspn(id, "0123456789abcdef"), SESSION_ID_LEN);
    assert_ptr_equal(session_find(self, id, 20), one);
    assert_null(session_find(self, "x", 20));
    assert_null(session_find(self, NULL, 20));
    assert_null(session_find(self, id, 1000)); /* the token's time is over */
    assert_int_equal(sessions_count(self), 0);

    json_object_set_new(login, "expire", json_real(1e9));
    memcpy(id, session_begin(self, login, 10)->id, sizeof(id));
    assert_null(session_find(self, id, 11 + SESSION_IDLE_S));
    memcpy(id, session_begin(self, login, 10)->id, sizeof(id));
    session_leave(self, id);
    assert_null(session_find(self, id, 10));
}

static void
test_guesses(void **state)
{
    AUTO(guesses) self = guesses_new();

    for (int i = 0; i < GUESSES_BURST; i++)
        assert_true(guesses_admit(self, "192.0.2.1", 1000));
    assert_false(guesses_admit(self, "192.0.2.1", 1000));
    assert_true(guesses_admit(self, "192.0.2.2", 1000));
    assert_true(guesses_admit(self, "192.0.2.1", 2100)); /* one a second */
    assert_false(guesses_admit(self, "192.0.2.1", 2100));
    guesses_pardon(self, "192.0.2.1");
    assert_true(guesses_admit(self, "192.0.2.1", 2100));

    /* A network of IPv6 is one address. */
    for (int i = 0; i < GUESSES_BURST; i++) {
        AUTO_FREE char *address = xasprintf("2001:db8::%x", i + 1);
        assert_true(guesses_admit(self, address, 1000));
    }
    assert_false(guesses_admit(self, "2001:db8::ffff", 1000));
    assert_true(guesses_admit(self, "2001:db8:0:1::1", 1000));
}

UNIT_MAIN(cmocka_unit_test(test_accept), cmocka_unit_test(test_body), cmocka_unit_test(test_body_bounds),
          cmocka_unit_test(test_chunks), cmocka_unit_test(test_range), cmocka_unit_test(test_frames),
          cmocka_unit_test(test_keytar), cmocka_unit_test(test_refusals), cmocka_unit_test(test_sessions),
          cmocka_unit_test(test_guesses))
