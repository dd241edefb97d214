/* fuzz_http.c - headers of an HTTP server's answer, and any value as a form. */
#include "common/base/str.h"
#include "plugins/lib/http/http_int.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 16 * 1024 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    http_answer_auto_t answer = { 0 };
    http_parse_headers(text, &answer);
    salt_assert(answer.headers == NULL || json_is_object(answer.headers));

    json_auto_t *value = json_loadb((const char *) data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    buf_auto_t form = BUF_INIT;
    if (value != NULL)
        http_form(value, &form);
    salt_assert(strlen(buf_str(&form)) == form.len || !json_is_object(value));
    salt_assert(!json_is_object(value) || strpbrk(buf_str(&form), " \r\n") == NULL);
    return 0;
}
