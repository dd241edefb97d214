/* fuzz_authkeys.c - lines of authorized_keys over arbitrary bytes: a line that is accepted, written anew and
 * read again has the same key and type.
 */
#include "common/base/str.h"
#include "plugins/lib/system/authkeys.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_line(const char *text, size_t len)
{
    auth_line_auto_t line = AUTH_LINE_INIT, again = AUTH_LINE_INIT;

    if (!auth_line_parse(text, len, &line))
        return;
    salt_assert(line.key != NULL && line.enc != NULL);
    fail_auto_t err = FAIL_INIT;
    free(auth_fingerprint(line.key, NULL, &err));
    json_auto_t *options = auth_options(line.options != NULL ? line.options : "");
    AUTO_FREE char *written = auth_line_text(line.key, line.enc, line.comment != NULL ? line.comment : "",
                                             options);
    size_t n = strlen(written);
    salt_assert(n > 0 && written[n - 1] == '\n');
    salt_assert(auth_line_parse(written, n - 1, &again));
    salt_assert(str_eq(line.key, again.key) && str_eq(line.enc, again.enc));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *) data, *end = at + size;

    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t) (end - at));
        size_t len = eol != NULL ? (size_t) (eol - at) : (size_t) (end - at);
        check_line(at, len);
        at += len + 1;
    }
    return 0;
}
