/* marks.c - maps a rendered text back to templates: marks in ascending order, searched by bisection.
 *
 * Consecutive values of one line share a mark. Verbatim marks count line breaks from their start. Beyond
 * LIMIT_TEMPLATE_MARKS the rest of the text has no origin. */
#include "common/jinja/run.h"
#include "salt/limits.h"

/* Index of a path, 1-based; 0 is the rendered text. Searched from the newest, as includes repeat. */
static size_t
path_index(jinja_marks_t *self, const char *path)
{
    if (path == NULL)
        return 0;
    for (size_t i = self->n_paths; i > 0; i--)
        if (strcmp(self->paths[i - 1], path) == 0)
            return i;
    self->paths = xrealloc(self->paths, (self->n_paths + 1) * sizeof(*self->paths));
    self->paths[self->n_paths++] = xstrdup(path);
    return self->n_paths;
}

/* Adds a mark for the output's current end, unless it repeats the last one. */
void
jmarks_add(jinja_marks_t *self, size_t at, int line, const char *path, bool verbatim)
{
    jinja_mark_t *last = self->n > 0 ? &self->v[self->n - 1] : NULL;
    if (self->n == LIMIT_TEMPLATE_MARKS) {
        self->full = true;
        return;
    }
    size_t index = path_index(self, path);
    if (last != NULL && !verbatim && !last->verbatim && last->line == line && last->path == index)
        return;
    if (self->n == self->cap) {
        self->cap = self->cap > 0 ? self->cap * 2 : 64;
        self->v = xrealloc(self->v, self->cap * sizeof(*self->v));
    }
    self->v[self->n++] = (jinja_mark_t){ at, index, line, verbatim };
}

/* Bisects for the last mark at or before `at`; within verbatim text line breaks are counted on. */
int
jinja_marks_find(const jinja_marks_t *self, const char *text, size_t at, const char **ret_path)
{
    size_t from = 0, to = self->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (self->v[middle].at <= at)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0 || (self->full && from == self->n))
        return 0;
    const jinja_mark_t *mark = &self->v[from - 1];
    int line = mark->line;
    for (size_t i = mark->at; mark->verbatim && i < at; i++)
        line += text[i] == '\n';
    *ret_path = mark->path > 0 ? self->paths[mark->path - 1] : NULL;
    return line;
}

void
jinja_marks_free(jinja_marks_t *self)
{
    for (size_t i = 0; i < self->n_paths; i++)
        free(self->paths[i]);
    free(self->paths);
    free(self->v);
    *self = (jinja_marks_t){ .v = NULL };
}
