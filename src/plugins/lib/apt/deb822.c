/* deb822.c - see deb822.h: paragraphs of "Name: value" as dpkg and apt write them. Fields point into the
 * text, so that nothing is copied; lines that begin with a blank continue the field above. */
#include "plugins/lib/apt/deb822.h"

#include <strings.h>

#include "salt/limits.h"

void
deb822_free(deb822_t *self)
{
    free(self->fields);
    *self = (deb822_t) DEB822_INIT;
}

static bool
deb822_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
line_empty(const char *line, const char *end)
{
    while (line < end && deb822_is_blank(*line))
        line++;
    return line == end;
}

/* The end of the line at `p`, its newline not included. */
static const char *
deb822_line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t) (end - p));

    return newline != NULL ? newline : end;
}

/* Takes one line that is neither empty nor a comment. What continues a line that was left out is left out. */
static void
deb822_take_line(deb822_t *self, const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t) (end - line));

    if ((*line == ' ' || *line == '\t') && self->n > 0) {
        deb822_field_t *last = &self->fields[self->n - 1];
        if (!self->leaves_out)
            last->value_len = (size_t) (end - last->value);
        return;
    }
    self->leaves_out = colon == NULL || colon == line || deb822_is_blank(*line) ||
                       self->n >= LIMIT_DEB822_FIELDS;
    if (self->leaves_out)
        return;
    if (self->n == self->cap) {
        self->cap = self->cap != 0 ? self->cap * 2 : 32;
        self->fields = xrealloc(self->fields, self->cap * sizeof(*self->fields));
    }
    const char *name_end = colon;
    while (name_end > line && deb822_is_blank(name_end[-1]))
        name_end--;
    self->fields[self->n++] = (deb822_field_t){ .name = line,
                                                .name_len = (size_t) (name_end - line),
                                                .value = colon + 1,
                                                .value_len = (size_t) (end - colon - 1) };
}

/* Comments are no fields; a field of several lines has its line breaks. */
bool
deb822_next(deb822_t *self, const char **at, const char *end)
{
    const char *p = *at;

    self->n = 0;
    self->leaves_out = false;
    while (p < end && line_empty(p, deb822_line_end(p, end)))
        p = deb822_line_end(p, end) < end ? deb822_line_end(p, end) + 1 : end;
    self->start = p;
    while (p < end) {
        const char *stop = deb822_line_end(p, end);
        if (line_empty(p, stop))
            break;
        if (*p != '#')
            deb822_take_line(self, p, stop);
        p = stop < end ? stop + 1 : end;
    }
    self->end = p;
    *at = p;
    for (size_t i = 0; i < self->n; i++) {
        while (self->fields[i].value_len > 0 && deb822_is_blank(self->fields[i].value[0])) {
            self->fields[i].value++;
            self->fields[i].value_len--;
        }
        while (self->fields[i].value_len > 0 &&
               deb822_is_blank(self->fields[i].value[self->fields[i].value_len - 1]))
            self->fields[i].value_len--;
    }
    return self->end > self->start;
}

bool
deb822_is(const deb822_field_t *field, const char *name)
{
    return field->name_len == strlen(name) && strncasecmp(field->name, name, field->name_len) == 0;
}

/* Names know no case. The first of two counts. */
const deb822_field_t *
deb822_get(const deb822_t *self, const char *name)
{
    for (size_t i = 0; i < self->n; i++) {
        if (deb822_is(&self->fields[i], name))
            return &self->fields[i];
    }
    return NULL;
}

char *
deb822_text(const deb822_t *self, const char *name)
{
    const deb822_field_t *field = deb822_get(self, name);
    if (field == NULL)
        return NULL;

    /* A value of several lines is a span of the text, in which comments stand as well. */
    char *text = xstrndup(field->value, field->value_len), *to = text;
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        n += line[n] == '\n';
        if (line == text || *line != '#') {
            memmove(to, line, n);
            to += n;
        }
        line += n;
    }
    *to = '\0';
    return text;
}
