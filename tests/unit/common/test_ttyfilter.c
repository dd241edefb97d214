/* test_ttyfilter.c - each way to drive a terminal, and what is printed; and what holds for all of them. */
#include "unit/unit.h"

#include "common/base/visible.h"
#include "common/cli/ttyfilter.h"
#include "common/output/colour.h"

static const struct {
    const char *text, *shown;
} rows[] = {
    /* passes */
    { "plain\ttext\n", "plain\ttext\n" },
    { "caf\xc3\xa9 \xe6\x97\xa5\n", "caf\xc3\xa9 \xe6\x97\xa5\n" },
    { "\033[31mred\033[0m\n", "\033[31mred\033[0m\n" },
    { "\033[1;4;97;104mloud\033[22;24;39;49m\n", "\033[1;4;97;104mloud\033[22;24;39;49m\n" },
    { "\033[38;5;208mo\033[m\n", "\033[38;5;208mo\033[m\n" },
    { "\033[48;2;1;2;3;1mo\033[0;0m\n", "\033[48;2;1;2;3;1mo\033[0;0m\n" },
    /* ends with the line */
    { "\033[31mred\nplain\n", "\033[31mred\033[0m\nplain\n" },
    { "\033[1mbold\033[31m\n\033[4mu", "\033[1mbold\033[31m\033[0m\n\033[4mu\033[0m" },
    { "\033[31;1mb\033[39m\n", "\033[31;1mb\033[39m\033[0m\n" },
    /* attributes that hide or mislead */
    { "\033[8mhidden\033[28m\n", "^[[8mhidden^[[28m\n" },
    { "\033[7mr\033[5mb\033[6mb\033[2md\033[3mi\033[9ms\n", "^[[7mr^[[5mb^[[6mb^[[2md^[[3mi^[[9ms\n" },
    { "\033[31;8mboth\n", "^[[31;8mboth\n" },
    { "\033[38;5;8m\033[8;5;38m\n", "\033[38;5;8m^[[8;5;38m\033[0m\n" },
    { "\033[38m\033[38;5m\033[38;2;1;2m\033[38;7;1m\033[38;5;256m\n",
      "^[[38m^[[38;5m^[[38;2;1;2m^[[38;7;1m^[[38;5;256m\n" },
    { "\033[4:3m\033[38:5:1m\033[>4;1m\033[?31m\033[31 m\033[58;5;1m\n",
      "^[[4:3m^[[38:5:1m^[[>4;1m^[[?31m^[[31 m^[[58;5;1m\n" },
    { "\033[10m\033[11m\033[12m\033[21m\033[53m\n", "^[[10m^[[11m^[[12m^[[21m^[[53m\n" },
    /* moves, erasures, modes */
    { "\033[2J\033[H\033[1A\033[K\033[s\033[u\033[6n\n", "^[[2J^[[H^[[1A^[[K^[[s^[[u^[[6n\n" },
    { "\033[?1049h\033[?25l\033[?2004h\033[4h\033[1;5r\n", "^[[?1049h^[[?25l^[[?2004h^[[4h^[[1;5r\n" },
    { "\0337\0338\033c\033D\033M\033(0\033)B\033#8\033=\n", "^[7^[8^[c^[D^[M^[(0^[)B^[#8^[=\n" },
    /* strings: titles, links, clipboard, DCS, APC, PM, SOS */
    { "\033]0;title\a\033]2;t\033\\\n", "^[]0;title^G^[]2;t^[\\\n" },
    { "\033]8;;http://evil/\033\\here\033]8;;\033\\\n", "^[]8;;http://evil/^[\\here^[]8;;^[\\\n" },
    { "\033]52;c;ZXZpbA==\a\033]1337;File=:\a\n", "^[]52;c;ZXZpbA==^G^[]1337;File=:^G\n" },
    { "\033P$q\"p\033\\\033_Gq\033\\\033^pm\033\\\033Xsos\033\\\n",
      "^[P$q\"p^[\\^[_Gq^[\\^[^pm^[\\^[Xsos^[\\\n" },
    /* other controls */
    { "safe\revil\n", "safe^Mevil\n" },
    { "root\b\b\b\bweb1\n", "root^H^H^H^Hweb1\n" },
    { "a\v\f\a\005\016\017\030\032\177\n", "a^K^L^G^E^N^O^X^Z^?\n" },
    { "\x9b"
      "2J\x9d"
      "0;t\x9c\x90q\x84\n",
      "\\x9b2J\\x9d0;t\\x9c\\x90q\\x84\n" },
    { "\xc2\x9b"
      "31m\xc2\x9d"
      "0;t\xc2\x9c\xc2\x85\n",
      "\\x9b31m\\x9d0;t\\x9c\\x85\n" },
    /* what turns or hides text */
    { "\xe2\x80\xae"
      "evil\xe2\x80\xac \xe2\x81\xa7x\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c\n",
      "\\u202eevil\\u202c \\u2067x\\u2069\\u200f\\u061c\n" },
    { "w\xe2\x80\x8b"
      "eb\xef\xbb\xbf\xe2\x80\x8d\xc2\xad\xe2\x81\xa0\n",
      "w\\u200beb\\ufeff\\u200d\\u00ad\\u2060\n" },
    { "\xf3\xa0\x81\xa1\xef\xb8\x8f\xe2\x80\xa8\n", "\\U000e0061\\ufe0f\\u2028\n" },
    /* no UTF-8 */
    { "\xff\xfe\xc0\x9b\xe0\x80\x9b\xed\xa0\x80\n", "\\xff\\xfe\\xc0\\x9b\\xe0\\x80\\x9b\\xed\\xa0\\x80\n" },
    { "\xe2\x80\n\xf0\x9f\n", "\\xe2\\x80\n\\xf0\\x9f\n" },
    /* cut short, nested, overlong */
    { "\033", "^[" },
    { "\033[31", "^[[31" },
    { "\xe2\x80", "\\xe2\\x80" },
    { "\033\033[2J\033[\033[31mr\n", "^[^[[2J^[[\033[31mr\033[0m\n" },
    { "\033[3\n1m\n", "^[[3\n1m\n" },
    { "\033[0000000000000000000000000000000000000000000000000000000000000000000031m\n",
      "^[[0000000000000000000000000000000000000000000000000000000000000000000031m\n" },
    { "\033[;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;1m\n", "^[[;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;1m\n" },
};

/* NEW: all of it, in pieces of `size` bytes behind the first `at`. */
static char *
filtered(const char *text, size_t len, size_t at, size_t size)
{
    ttyfilter_t filter = TTYFILTER_INIT;
    buf_t out = BUF_INIT;

    ttyfilter_add(&filter, text, at, &out);
    for (; at < len; at += size)
        ttyfilter_add(&filter, text + at, size < len - at ? size : len - at, &out);
    ttyfilter_end(&filter, &out);
    return buf_steal(&out);
}

static void
test_rows(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        size_t len = strlen(rows[i].text);
        AUTO_FREE char *shown = filtered(rows[i].text, len, len, 1);
        AUTO_FREE char *again = filtered(shown, strlen(shown), 0, strlen(shown));
        AUTO_FREE char *bytes = filtered(rows[i].text, len, 0, 1);
        assert_string_equal(shown, rows[i].shown);
        assert_string_equal(again, rows[i].shown);
        assert_string_equal(bytes, rows[i].shown);
        for (size_t at = 0; at < len; at++) {
            AUTO_FREE char *cut = filtered(rows[i].text, len, at, len);
            assert_string_equal(cut, rows[i].shown);
        }
    }
}

static void
test_nul(void **state)
{
    AUTO_FREE char *shown = filtered("a\0b\n", 4, 4, 1);

    assert_string_equal(shown, "a^@b\n");
}

/* A colour of ours goes over lines; what a value switches ends with the line or at the bound, and ours
 * goes on. */
static void
test_own(void **state)
{
    const char *red = colour_code(COLOUR_RED, PAINT_MARKED), *end = colour_code(COLOUR_ENDC, PAINT_MARKED),
               *bound = colour_bound(PAINT_MARKED);
    const struct {
        char *text;
        const char *shown;
    } own[] = {
        { xasprintf("%sone\ntwo%s\n", red, end), "\033[0;31mone\ntwo\033[0;0m\n" },
        { xasprintf("%sone \033[32mg\ntwo%s\n", red, end),
          "\033[0;31mone \033[32mg\033[0m\n\033[0;31mtwo\033[0;0m\n" },
        { xasprintf("%sone \033[0mg\ntwo%s\n", red, end),
          "\033[0;31mone \033[0mg\n\033[0;31mtwo\033[0;0m\n" },
        { xasprintf("%sid\033[1m%s: x%s\n", red, bound, end),
          "\033[0;31mid\033[1m\033[0m\033[0;31m: x\033[0;0m\n" },
        { xasprintf("id\033[30;40m%s: x\n", bound), "id\033[30;40m\033[0m: x\n" },
        { xasprintf("id%s: x\n", bound), "id: x\n" },
        { xasprintf("\033[4m%sx\n", red), "\033[4m\033[0;31mx\n\033[0m" },
        { xasprintf("%.*s\n", 10, red), NULL },
        { xasprintf("%.*sz\n", (int) strlen(red) - 1, red), NULL },
    };

    for (size_t i = 0; i < NELEMS(own); i++) {
        size_t len = strlen(own[i].text);
        AUTO_FREE char *hidden = xasprintf("^[%s", own[i].text + 1);
        for (size_t at = 0; at <= len; at++) {
            AUTO_FREE char *shown = filtered(own[i].text, len, at, 3);
            assert_string_equal(shown, own[i].shown != NULL ? own[i].shown : hidden);
        }
        free(own[i].text);
    }
}

/* A peer can't make one: they differ from program to program, and are none where no filter reads. */
static void
test_marks(void **state)
{
    colour_t colour = COLOUR_ENDC;
    const char *mark = colour_code(COLOUR_CYAN, PAINT_MARKED);
    AUTO_FREE char *other = xstrdup(mark);

    assert_int_equal(colour_mark(mark, strlen(mark), &colour), strlen(mark));
    assert_int_equal(colour, COLOUR_CYAN);
    assert_string_equal(colour_code(COLOUR_CYAN, PAINT_BOUNDS), colour_bound(PAINT_MARKED));
    assert_string_equal(colour_bound(PAINT_PLAIN), "");
    assert_string_equal(colour_bound(PAINT_NONE), "");
    assert_string_equal(colour_code(COLOUR_CYAN, PAINT_NONE), "");
    other[5] = other[5] == '0' ? '1' : '0';
    assert_int_equal(colour_mark(other, strlen(other), &colour), 0);
    AUTO_FREE char *shown = filtered(other, strlen(other), 0, 1);
    assert_memory_equal(shown, "^[_", 3);
}

UNIT_MAIN(cmocka_unit_test(test_rows), cmocka_unit_test(test_nul), cmocka_unit_test(test_own),
          cmocka_unit_test(test_marks))
