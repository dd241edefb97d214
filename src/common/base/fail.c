/* fail.c - failures: a code, a kind and a text, from which passwords in addresses are taken out. */
#include "salt/base.h"

#include "common/base/str.h"

static void PRINTF(4, 0) record(fail_t *err, fail_kind_t kind, int code, const char *fmt, va_list ap)
{
    salt_assert(code < 0);
    if (err == NULL || err->text != NULL)
        return;
    err->code = code;
    err->kind = kind;
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    err->text = str_redacted(text);
}

int
fail_set(fail_t *err, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    record(err, FAIL_GENERIC, code, fmt, ap);
    va_end(ap);
    return code;
}

int
fail_kind(fail_t *err, fail_kind_t kind, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    record(err, kind, code, fmt, ap);
    va_end(ap);
    return code;
}

void
fail_prefix(fail_t *err, const char *fmt, ...)
{
    va_list ap;

    if (err == NULL || err->text == NULL)
        return;
    va_start(ap, fmt);
    AUTO_FREE char *prefix = xvasprintf(fmt, ap);
    va_end(ap);
    AUTO_FREE char *shown = str_redacted(prefix);
    char *joined = xasprintf("%s%s", shown, err->text);
    free(err->text);
    err->text = joined;
}

const char *
fail_text(const fail_t *err)
{
    return err != NULL && err->text != NULL ? err->text : "unknown error";
}

void
fail_clear(fail_t *err)
{
    if (err == NULL)
        return;
    free(err->text);
    *err = (fail_t) FAIL_INIT;
}
