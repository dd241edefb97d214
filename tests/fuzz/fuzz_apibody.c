/* fuzz_apibody.c - what salt-api reads of a request: the first byte says as what, the rest is that. */
#include <string.h>

#include "api/accept.h"
#include "api/body.h"
#include "api/range.h"
#include "api/wsframe.h"
#include "common/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_body(const char *type, const char *text, size_t len)
{
    fail_auto_t err = FAIL_INIT;
    json_t *value = NULL;

    if (body_parse(type, text, len, &value, &err) < 0)
        return;
    json_decref(body_chunks(&value, &err));
}

static void
try_frames(const char *text, size_t len)
{
    buf_auto_t in = BUF_INIT, out = BUF_INIT;
    wsop_t op;

    buf_add(&in, text, len);
    while (in.len > 0 && wsframe_take(&in, &op, &out) > 0)
        continue;
    AUTO_FREE char *accept = wsframe_accept(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = { "application/json", "application/x-yaml", "text/plain", NULL };
    uint64_t from, n;

    if (size == 0)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data + 1, size - 1);
    size_t kind = data[0] % (NELEMS(types) + 3);
    buf_auto_t raw = BUF_INIT;

    buf_add(&raw, data + 1, size - 1);
    if (kind < NELEMS(types))
        try_body(types[kind], buf_str(&raw), raw.len);
    else if (kind == NELEMS(types))
        try_frames(buf_str(&raw), raw.len);
    else if (kind == NELEMS(types) + 1)
        (void) range_parse(text, 1000, &from, &n);
    else
        salt_assert(accept_form(text) <= FORM_NONE && accept_error_form(text) <= FORM_NONE &&
                    (accept_wants_html(text) || true));
    return 0;
}
