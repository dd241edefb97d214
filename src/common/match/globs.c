/* globs.c - several fnmatch patterns, compiled once and matched often. A list with a bare "*" answers without
 * looking at the text; an entry that is not text becomes the empty pattern. */
#include "common/match/match.h"
#include "common/match/patterns.h"

struct globs {
    bool all; /* one of them is a bare star */
    size_t n;
    wild_t *wild[];
};

globs_t *
globs_new(const json_t *patterns)
{
    globs_t *self = xcalloc(1, sizeof(*self) + json_array_size(patterns) * sizeof(self->wild[0]));
    size_t i;
    json_t *one;

    json_array_foreach (patterns, i, one) {
        const char *text = json_is_string(one) ? json_string_value(one) : "";
        self->all = self->all || strcmp(text, "*") == 0;
        self->wild[self->n++] = wild_new(text, false);
    }
    return self;
}

void
globs_destroy(globs_t **self_p)
{
    globs_t *self = STEAL(*self_p);

    for (size_t i = 0; self != NULL && i < self->n; i++)
        wild_destroy(&self->wild[i]);
    free(self);
}

size_t
globs_count(const globs_t *self)
{
    return self->n;
}

bool
globs_all(const globs_t *self)
{
    return self->all;
}

/* True when one of the patterns matches the whole text. */
bool
globs_match(const globs_t *self, const char *text, size_t len)
{
    for (size_t i = 0; !self->all && i < self->n; i++)
        if (wild_match(self->wild[i], text, len))
            return true;
    return self->all;
}
