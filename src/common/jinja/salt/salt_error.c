/* salt_error.c - formats a template's error as Salt's SaltRenderError: a prefix by the exception's class, the
 * line, and LINES_AROUND lines on both sides. */
#include "common/jinja/jinja_salt.h"

const py_exc_t jinja_SaltInvocationError = { "SaltInvocationError", NULL };
const py_exc_t jinja_CommandExecutionError = { "CommandExecutionError", NULL };
const py_exc_t jinja_SaltTemplateError = { "TemplateError", NULL };

enum { LINES_AROUND = 5 };

/* The lines around `line`, with Salt's arrow at it; all of the text when it has fewer lines. */
char *
jinja_salt_around(const char *text, size_t len, int line)
{
    int total = len > 0 && text[len - 1] != '\n';
    for (size_t i = 0; i < len; i++)
        total += text[i] == '\n';
    if (line > total)
        return xstrndup(text, len);
    int from = line - LINES_AROUND - 1 > 0 ? line - LINES_AROUND - 1 : 0;
    int to = line + LINES_AROUND < total ? line + LINES_AROUND : total;
    buf_auto_t b = BUF_INIT;
    buf_puts(&b, from > 0 ? "---\n[...]\n" : "---\n");
    const char *p = text, *end = text + len;
    for (int n = 0; n < to; n++) {
        const char *nl = memchr(p, '\n', (size_t) (end - p));
        const char *stop = nl != NULL ? nl : end;
        if (n >= from) {
            buf_add(&b, p, (size_t) (stop - p));
            buf_puts(&b, n + 1 == line ? "    <======================\n" : "\n");
        }
        p = nl != NULL ? nl + 1 : end;
    }
    buf_puts(&b, to < total ? "[...]\n---" : "---");
    return buf_steal(&b);
}

static const struct prefix {
    const py_exc_t *type;
    const char *text;
} prefixes[] = {
    { &py_UndefinedError, "Jinja variable " },
    { &jinja_TemplateRuntimeError, "Jinja syntax error: " },
    { &jinja_TemplateSyntaxError, "Jinja syntax error: " },
    { &jinja_SaltInvocationError, "Problem running salt function in Jinja template: " },
    { &jinja_CommandExecutionError, "Problem running salt function in Jinja template: " },
};

/* True when the error is in another file than the SLS itself: then its lines are part of the message. */
static bool
shows_file(const jinja_frame_t *place, const char *sls)
{
    if (place == NULL || place->path == NULL)
        return false;
    if (sls == NULL)
        return true;
    size_t n = strlen(sls), len = strlen(place->path);
    if (len < n)
        return true;
    for (size_t i = 0; i < n; i++)
        if (place->path[len - n + i] != (sls[i] == '.' ? '/' : sls[i]))
            return true;
    return false;
}

void
jinja_salt_tell(const jinja_error_t *e, const char *source, size_t len, const char *sls, jinja_told_t *told)
{
    const jinja_frame_t *place = jinja_error_place(e);
    buf_auto_t b = BUF_INIT;
    const char *prefix = "Jinja error: "; /* Salt's, by the exception's class; the first row that fits */
    for (size_t i = NELEMS(prefixes); i-- > 0;)
        if (py_exc_is(e->type, prefixes[i].type))
            prefix = prefixes[i].text;
    buf_printf(&b, "%s%s", prefix, e->message);
    told->line = place != NULL ? place->line : 0;
    if (shows_file(place, sls)) {
        char *around AUTO_FREE = jinja_salt_around(e->text != NULL ? e->text : "",
                                                   e->text != NULL ? strlen(e->text) : 0, place->line);
        buf_printf(&b, "\n%s(%d):\n%s", place->path, place->line, around);
        told->line = 0;
    }
    told->message = xstrdup(buf_str(&b));
    if (told->line > 0 && len > 0) {
        char *around AUTO_FREE = jinja_salt_around(source, len, told->line);
        buf_printf(&b, "; line %d\n\n%s", told->line, around);
    }
    /* The hint comes after Salt's own text. */
    if (e->hint != NULL)
        buf_printf(&b, "\n%s", e->hint);
    told->text = xstrdup(buf_str(&b));
}

void
jinja_told_free(jinja_told_t *told)
{
    free(told->message);
    free(told->text);
    *told = (jinja_told_t){ NULL, 0, NULL };
}
