/* place.c - see place.h. Follows CPython's order of checks, so that the first error reported is the same. */
#include "common/plugin/place.h"

#include "common/base/buf.h"

shape_t
shape_of(const func_t *f)
{
    shape_t s = { .pos = f->args, .only = NULL };

    for (const arg_t *row = f->args; row != NULL && row->text != NULL; row++, s.n++) {
        if (arg_is(row, ARG_STARSTAR)) {
            s.starstar = row;
        } else if (arg_is(row, ARG_STAR)) {
            s.star = row;
            s.only = row + 1;
        } else if (s.star != NULL) {
            s.n_only++;
        } else {
            s.n_pos++;
            s.n_required += arg_is(row, ARG_REQUIRED);
        }
    }
    return s;
}

const arg_t *
shape_named(const shape_t *self, const char *key)
{
    for (size_t i = 0; i < self->n_pos; i++) {
        if (strcmp(arg_name(&self->pos[i]), key) == 0)
            return &self->pos[i];
    }
    for (size_t i = 0; i < self->n_only; i++) {
        if (strcmp(arg_name(&self->only[i]), key) == 0)
            return &self->only[i];
    }
    return NULL;
}

places_t
places_new(const func_t *f, size_t n, size_t nkw)
{
    places_t self = { .f = f, .shape = shape_of(f), .n = n, .nkw = nkw };

    self.kw = xcalloc(nkw, sizeof(*self.kw));
    self.of = xcalloc(self.shape.n, sizeof(*self.of));
    for (size_t i = 0; i < self.shape.n; i++)
        self.of[i] = i < n && i < self.shape.n_pos ? i : NO_PLACE;
    return self;
}

void
places_free(places_t *self)
{
    free(self->kw);
    free(self->of);
}

static int
place_keyword(places_t *self, size_t k, fail_t *err)
{
    keyword_t *kw = &self->kw[k];

    kw->row = shape_named(&self->shape, kw->name);
    if (kw->row == NULL)
        return self->shape.starstar != NULL
                   ? 0
                   : fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() got an unexpected keyword argument '%s'",
                               self->f->name, kw->name);
    if (self->of[kw->row - self->f->args] != NO_PLACE)
        return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() got multiple values for argument '%s'",
                         self->f->name, kw->name);
    self->of[kw->row - self->f->args] = self->n + k;
    return 0;
}

static int
place_too_many(const places_t *self, fail_t *err)
{
    const char *verb = self->n == 1 ? "was" : "were";
    const shape_t *s = &self->shape;

    if (s->n_required < s->n_pos)
        return fail_kind(err, FAIL_ARGUMENTS, -EINVAL,
                         "%s() takes from %zu to %zu positional arguments but %zu %s given", self->f->name,
                         s->n_required, s->n_pos, self->n, verb);
    return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() takes %zu positional argument%s but %zu %s given",
                     self->f->name, s->n_pos, s->n_pos == 1 ? "" : "s", self->n, verb);
}

static bool
lacks(const places_t *self, const arg_t *row)
{
    return arg_is(row, ARG_REQUIRED) && self->of[row - self->f->args] == NO_PLACE;
}

/* Report required rows without a value, listed as Python does: 'a', 'b', and 'c'. */
static int
place_check_missing(const places_t *self, const arg_t *rows, size_t n, const char *kind, fail_t *err)
{
    buf_auto_t names = BUF_INIT;
    size_t missing = 0, seen = 0;

    for (size_t i = 0; i < n; i++)
        missing += lacks(self, &rows[i]);
    if (missing == 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (!lacks(self, &rows[i]))
            continue;
        seen++;
        if (seen > 1)
            buf_puts(&names, seen < missing ? ", " : missing == 2 ? " and " : ", and ");
        buf_printf(&names, "'%s'", arg_name(&rows[i]));
    }
    return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() missing %zu required %s argument%s: %s",
                     self->f->name, missing, kind, missing == 1 ? "" : "s", buf_str(&names));
}

int
places_find(places_t *self, fail_t *err)
{
    const shape_t *s = &self->shape;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < self->nkw; k++)
        rc = place_keyword(self, k, err);
    if (rc == 0 && self->n > s->n_pos && s->star == NULL)
        rc = place_too_many(self, err);
    if (rc == 0)
        rc = place_check_missing(self, s->pos, s->n_pos, "positional", err);
    return rc == 0 ? place_check_missing(self, s->only, s->n_only, "keyword-only", err) : rc;
}
