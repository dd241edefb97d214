/* base.c - failures, checked allocation, scope cleanup, the panic. */
#include "salt/base.h"

#include <unistd.h>

#include "common/base/str.h"
#include "salt/log.h"

void
auto_free_(void *pp)
{
    void *p;

    memcpy(&p, pp, sizeof(p));
    free(p);
}

void
auto_fd_(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

void
auto_file_(FILE **fp)
{
    if (*fp != NULL)
        fclose(*fp);
}

/* The bytes that snprintf has filled of `room`, from its return value. */
static size_t
filled(int n, size_t room)
{
    return n < 0 ? 0 : (size_t) n < room ? (size_t) n : room - 1;
}

void
salt_panic(const char *file, int line, const char *what)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "%s:%d: broken invariant: %s\n", file, line, what);

    log_last(text, filled(n, sizeof(text)));
    abort();
}

void
salt_no_memory(size_t size)
{
    char text[256];
    int n = snprintf(text, sizeof(text),
                     "%s[%d]: out of memory: %zu bytes were refused, and the process ends; "
                     "free memory or raise its limit (job_memory_max for jobs)\n",
                     program_invocation_short_name, (int) getpid(), size);

    log_last(text, filled(n, sizeof(text)));
    _exit(EXIT_NO_MEMORY);
}

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

void *
xcalloc(size_t n, size_t size)
{
    void *p = calloc(n != 0 ? n : 1, size != 0 ? size : 1);

    if (p == NULL)
        salt_no_memory(n * size);
    return p;
}

void *
xrealloc(void *p, size_t size)
{
    void *grown = realloc(p, size != 0 ? size : 1);

    if (grown == NULL)
        salt_no_memory(size);
    return grown;
}

char *
xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t n)
{
    char *copy = strndup(s, n);

    if (copy == NULL)
        salt_no_memory(n);
    return copy;
}

char *
xasprintf(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *text = xvasprintf(fmt, ap);
    va_end(ap);
    return text;
}

char *
xvasprintf(const char *fmt, va_list ap)
{
    char *text = NULL;
    int n = vasprintf(&text, fmt, ap);

    if (n < 0)
        salt_no_memory(strlen(fmt));
    return text;
}
