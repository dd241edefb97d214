/* test_visible.c - what shows as it is, and what stands for the rest. */
#include "unit/unit.h"

#include "common/base/utf8.h"
#include "common/base/visible.h"

static const struct {
    const char *text, *caret, *hex;
} rows[] = {
    { "plain\ttext", "plain\ttext", "plain\ttext" },
    { "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80",
      "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80",
      "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80" },
    { "\033[2J", "^[[2J", "\\x1b[2J" },
    { "a\bb\rc\n\a\x7f", "a^Hb^Mc^J^G^?", "a\\x08b\\x0dc\\x0a\\x07\\x7f" },
    { "\x9b"
      "2J",
      "\\x9b2J", "\\x9b2J" },
    { "\xc2\x9b"
      "2J \xc2\x85",
      "\\x9b2J \\x85", "\\x9b2J \\x85" },
    { "\xe2\x80\xaex\xe2\x81\xa6y\xe2\x81\xa9", "\\u202ex\\u2066y\\u2069", "\\u202ex\\u2066y\\u2069" },
    { "a\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf\xc2\xad", "a\\u200b\\u2060\\ufeff\\u00ad",
      "a\\u200b\\u2060\\ufeff\\u00ad" },
    { "\xf3\xa0\x81\x81\xef\xb8\x8f", "\\U000e0041\\ufe0f", "\\U000e0041\\ufe0f" },
    { "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029", "\\u2028\\u2029" },
    { "\xff\xc0\x80\xed\xa0\x80\xe2\x82", "\\xff\\xc0\\x80\\xed\\xa0\\x80\\xe2\\x82",
      "\\xff\\xc0\\x80\\xed\\xa0\\x80\\xe2\\x82" },
};

static void
test_rows(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        buf_auto_t caret = BUF_INIT, hex = BUF_INIT;
        visible_add(&caret, rows[i].text, strlen(rows[i].text), VISIBLE_CARET);
        visible_add(&hex, rows[i].text, strlen(rows[i].text), VISIBLE_HEX);
        assert_string_equal(buf_str(&caret), rows[i].caret);
        assert_string_equal(buf_str(&hex), rows[i].hex);
    }
}

/* Every character: what stands for it shows, and nothing that has a width of its own is taken. */
static void
test_all(void **state)
{
    char bytes[4];

    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        size_t n = utf8_encode(cp, bytes), run = visible_run(bytes, n);
        buf_auto_t out = BUF_INIT;
        if (run == n)
            continue;
        assert_int_equal(run, 0);
        assert_false(utf8_printable(cp) && cp < 0x300);
        (void) visible_show(&out, bytes, n, VISIBLE_CARET);
        assert_int_equal(visible_run(buf_str(&out), out.len), out.len);
    }
}

UNIT_MAIN(cmocka_unit_test(test_rows), cmocka_unit_test(test_all))
