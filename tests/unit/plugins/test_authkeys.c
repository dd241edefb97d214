/* test_authkeys.c - lines of authorized_keys, which their user writes. */
#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "plugins/lib/system/authkeys.h"

#define LARGE (1024 * 1024)
#define SOON  (1000 * 1000) /* of the processor's microseconds; what is not linear takes minutes */

/* Options, type and key with "|" between; NULL: no key. */
static void
test_lines(void **state)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        { "ssh-rsa AAAA a b", "|ssh-rsa|AAAA" },
        { "no-pty ecdsa-sha2-nistp256 AAAA", "no-pty|ecdsa-sha2-nistp256|AAAA" },
        { "sk-ssh-ed25519@openssh.com AAAA", "|sk-ssh-ed25519@openssh.com|AAAA" },
        { "from=\"ssh-a,ssh-b\" ssh-rsa AAAA", "from=\"ssh-a,ssh-b\"|ssh-rsa|AAAA" },
        { "ssh-ssh-rsa,ssh-rsa AAAA", "ssh-ssh-rsa,|ssh-rsa|AAAA" },
        { "xssh-sk-ssh-rsa AAAA", "x|ssh-sk-ssh-rsa|AAAA" },
        { "ssh- ssh-rsa AAAA", "ssh-|ssh-rsa|AAAA" },
        { "sk-ssh-,ecdsecds\tAAAA", "sk-ssh-,|ecdsecds|AAAA" },
        { "ssh-rsa", NULL },
        { "ssh-ssh-ssh-", NULL },
        { "#ssh-rsa AAAA", NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        auth_line_auto_t line = AUTH_LINE_INIT;
        bool found = auth_line_parse(rows[i].line, strlen(rows[i].line), &line);
        AUTO_FREE char *got = found ? xasprintf("%s|%s|%s", line.options, line.enc, line.key) : NULL;
        if (found != (rows[i].want != NULL))
            fail_msg("%s: %s", rows[i].line, found ? got : "no key");
        if (found)
            assert_string_equal(got, rows[i].want);
    }
}

static void
test_long_lines(void **state)
{
    static const char *const words[] = { "ssh-", "sk-ssh-", "ecds", "sk-", "ssh-," };

    for (size_t i = 0; i < NELEMS(words); i++) {
        auth_line_auto_t line = AUTH_LINE_INIT;
        buf_auto_t text = BUF_INIT;
        while (text.len < LARGE)
            buf_puts(&text, words[i]);
        int64_t start = clock_thread_us();
        assert_false(auth_line_parse(buf_str(&text), text.len, &line));
        buf_puts(&text, " ssh-rsa AAAA");
        assert_true(auth_line_parse(buf_str(&text), text.len, &line));
        assert_true(clock_thread_us() - start < SOON * (SANITIZED || unit_below_memcheck() ? 20 : 1));
    }
}

/* Options end where sshd ends them, and nowhere before. */
static void
test_options_sound(void **state)
{
    static const struct {
        const char *options;
        bool sound;
    } rows[] = {
        { "[]", true },
        { "[\"no-pty\", \"from=\\\"a b,c\\\"\"]", true },
        { "[\"command=\\\"x, y\", \" z\\\"\", \"no-pty\"]", true },
        { "[\"command=\\\"a \\\\\\\"b c\\\\\\\" d\\\"\"]", true },
        { "[\"no-pty ssh-rsa AAAA\"]", false },
        { "[\"no-pty\\tssh-rsa\"]", false },
        { "[\"a\\nssh-rsa\"]", false },
        { "[\"command=\\\"x\"]", false },
        { "[\"command=\\\"x\\\" ssh-rsa AAAA \\\"\\\"\"]", false },
    };

    assert_true(auth_options_sound(NULL));
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *options = json_loads(rows[i].options, 0, NULL);
        assert_non_null(options);
        assert_int_equal(auth_options_sound(options), rows[i].sound);
    }
}

UNIT_MAIN(cmocka_unit_test(test_options_sound), cmocka_unit_test(test_lines),
          cmocka_unit_test(test_long_lines))
