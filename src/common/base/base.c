/* base.c - checked allocation, scope cleanup, the panic. The files beside it use this one, and it uses none of
 * them: it runs where memory is gone. */
#include "salt/base.h"

#include <stdatomic.h>
#include <unistd.h>

static void
to_stderr(const char *line, size_t len)
{
    (void) !write(STDERR_FILENO, line, len);
}

static _Atomic(salt_last_fn *) last_words = to_stderr;

void
salt_last_words(salt_last_fn *fn)
{
    last_words = fn;
}

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

    last_words(text, filled(n, sizeof(text)));
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

    last_words(text, filled(n, sizeof(text)));
    _exit(EXIT_NO_MEMORY);
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
    /* Most texts are short: copying one costs half of what vasprintf() takes to grow a block for it. */
    char small[256], *text = NULL;
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof(small), fmt, ap);
    if (n >= 0 && (size_t) n < sizeof(small))
        text = xstrndup(small, (size_t) n);
    else
        n = vasprintf(&text, fmt, again);
    va_end(again);
    if (n < 0)
        salt_no_memory(strlen(fmt));
    return text;
}
