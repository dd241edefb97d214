/* lex_fail.c - syntax errors, which jump to where the parser was entered, and counting of lines. Texts on the
 * way are in the arena, so nothing leaks when the jump skips frames. */
#include "common/base/str.h"
#include "common/jinja/parse/lex_int.h"

/* Records the error and jumps to e->out. */
void
syntax_fail(arena_t *arena, syntax_error_t *e, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text AUTO_FREE = xvasprintf(fmt, ap);
    va_end(ap);
    if (e->cls == NULL)
        e->cls = "TemplateSyntaxError";
    e->message = arena_text(arena, text, strlen(text));
    e->line = line;
    free(STEAL(text));
    longjmp(e->out, 1);
}

int
lex_count_lines(const char *s, const char *end)
{
    int n = 0;
    while (s < end && (s = memchr(s, '\n', (size_t) (end - s))) != NULL)
        n++, s++;
    return n;
}

void
lex_fail(lexer_t *self, const char *message)
{
    syntax_fail(self->arena, self->error, self->line, "%s", message);
}
