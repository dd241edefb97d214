/* test_mailtext.c - mails as text: nothing in a value begins a line of its own, and no line is too long. Encoded words and bodies
 * are those that Python's email package reads back (recorded). */
#include "unit/unit.h"

#include "plugins/lib/returner/mailtext.h"

static void
check_header(const char *value, const char *wanted)
{
    buf_auto_t out = BUF_INIT;

    mailtext_header(&out, "Subject", value);
    assert_string_equal(buf_str(&out), wanted);
}

static void
headers_are_one_line(void **state)
{
    check_header("plain", "Subject: plain\r\n");
    check_header("", "Subject: \r\n");
    check_header("a\r\nBcc: evil@example.org\n\nbody", "Subject: a  Bcc: evil@example.org  body\r\n");
    check_header("gr\xc3\xbc\xc3\x9f", "Subject: =?utf-8?b?Z3LDvMOf?=\r\n");
    check_header("=?utf-8?b?eA==?=", "Subject: =?utf-8?b?PT91dGYtOD9iP2VBPT0/PQ==?=\r\n");
    check_header("bell\a", "Subject: =?utf-8?b?YmVsbAc=?=\r\n");
}

static void
long_headers_are_folded(void **state)
{
    buf_auto_t value = BUF_INIT, out = BUF_INIT;
    size_t lines = 0;

    for (size_t i = 0; i < 500; i++)
        buf_puts(&value, "\xe2\x82\xac");
    mailtext_header(&out, "Subject", buf_str(&value));
    const char *line = buf_str(&out), *end;
    for (; (end = strstr(line, "\r\n")) != NULL; line = end + 2, lines++) {
        assert_true(end - line <= 90);
        assert_true(lines == 0 || *line == ' ');
    }
    assert_int_equal(lines, (500 + 14) / 15);
}

static void
check_addresses(const char *addresses, const char *wanted)
{
    buf_auto_t out = BUF_INIT;

    mailtext_addresses(&out, "To", addresses);
    assert_string_equal(buf_str(&out), wanted);
}

static void
addresses_keep_their_names(void **state)
{
    check_addresses("a@b", "To: a@b\r\n");
    check_addresses("a@b,Other <c@d>", "To: a@b, Other <c@d>\r\n");
    check_addresses("J\xc3\xbcrg <j@d>", "To: =?utf-8?b?SsO8cmc=?= <j@d>\r\n");
    check_addresses("a@b\r\nX: y", "To: a@b  X: y\r\n");
}

static void
check_bare(const char *address, const char *wanted)
{
    AUTO_FREE char *bare = mailtext_bare(address);

    if (wanted == NULL)
        assert_null(bare);
    else
        assert_string_equal(bare, wanted);
}

static void
envelopes_have_bare_addresses(void **state)
{
    check_bare("a@b", "a@b");
    check_bare(" a@b ", "a@b");
    check_bare("Name <a@b>", "a@b");
    check_bare("root", "root");
    check_bare("", NULL);
    check_bare("Name <a@b", NULL);
    check_bare("a@b\r\nRCPT TO:<c@d>", NULL);
    check_bare("a@b> SIZE=1", NULL);
    check_bare("a b", NULL);
}

static void
check_body(const char *text, const char *wanted)
{
    buf_auto_t out = BUF_INIT;

    mailtext_body(&out, text, strlen(text));
    assert_string_equal(buf_str(&out), wanted);
}

static void
bodies_pass_every_server(void **state)
{
    check_body("a\nb\r\nc\rd", "\r\na\r\nb\r\nc\r\nd");
    check_body("", "\r\n");
    check_body("\xc3\xbc\n", "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=\"utf-8\"\r\n"
                             "Content-Transfer-Encoding: base64\r\n\r\nw7wNCg==\r\n");
    char line[1200];
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    buf_auto_t out = BUF_INIT;
    mailtext_body(&out, line, strlen(line));
    assert_non_null(strstr(buf_str(&out), "base64\r\n\r\neHh4"));
}

UNIT_MAIN(cmocka_unit_test(headers_are_one_line), cmocka_unit_test(long_headers_are_folded),
          cmocka_unit_test(addresses_keep_their_names), cmocka_unit_test(envelopes_have_bare_addresses),
          cmocka_unit_test(bodies_pass_every_server))
