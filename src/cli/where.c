/* where.c - see where.h. */
#include "cli/where.h"

#include "common/base/str.h"
#include "common/cli/term.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { WIDTH_MAX = 30, MS_PER_S = 1000 };

/* A minion at work. */
typedef struct spot {
    char *id, *what;
    json_int_t step, of;
    int64_t since_ms; /* of this step */
} spot_t;

struct where {
    char *prefix; /* of the tags */
    spot_t spots[LIMIT_WATCHED];
    size_t n;
};

where_t *
where_new(const char *jid)
{
    where_t *self = xcalloc(1, sizeof(*self));

    self->prefix = xasprintf("salt/job/%s/at/", jid);
    return self;
}

static void
spot_free(spot_t *spot)
{
    free(spot->id);
    free(spot->what);
}

void
where_destroy(where_t **self_p)
{
    where_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++)
        spot_free(&self->spots[i]);
    free(self->prefix);
    free(self);
}

char *
where_tag(const where_t *self)
{
    return xasprintf("%s*", self->prefix);
}

/* Index of a minion; the number of them when it is not there. */
static size_t
where_find(const where_t *self, const char *id)
{
    size_t i = 0;

    while (i < self->n && !str_eq(self->spots[i].id, id))
        i++;
    return i;
}

void
where_take(where_t *self, const json_t *push, int64_t now_ms)
{
    const char *tag = value_str(push, "tag", "");
    const json_t *data = value_get(value_get(push, "data"), "data");

    if (!str_starts(tag, self->prefix))
        return;
    size_t at = where_find(self, tag + strlen(self->prefix));
    if (at == LIMIT_WATCHED)
        return;
    spot_t *spot = &self->spots[at];
    if (at == self->n) {
        *spot = (spot_t){ .id = xstrdup(tag + strlen(self->prefix)), .since_ms = now_ms };
        self->n++;
    }
    json_int_t step = value_int(data, "step", 0);
    if (step != spot->step)
        spot->since_ms = now_ms;
    spot->step = step;
    spot->of = value_int(data, "of", 0);
    free(spot->what);
    spot->what = xstrdup(value_str(data, "what", ""));
}

void
where_over(where_t *self, const char *id)
{
    size_t at = where_find(self, id);

    if (at == self->n)
        return;
    spot_free(&self->spots[at]);
    memmove(&self->spots[at], &self->spots[at + 1], (self->n - at - 1) * sizeof(spot_t));
    self->n--;
}

void
where_text(const where_t *self, int64_t now_ms, size_t columns, size_t rows, buf_t *out)
{
    size_t width = 0, shown = self->n <= rows ? self->n : rows;

    for (size_t i = 0; i < shown; i++) {
        size_t has = term_width(self->spots[i].id);
        width = has > width ? has : width;
    }
    width = width < WIDTH_MAX ? width : WIDTH_MAX;
    for (size_t i = 0; i < shown; i++) {
        const spot_t *spot = &self->spots[i];
        buf_auto_t line = BUF_INIT;
        size_t used = term_put(&line, spot->id, width);
        buf_fill(&line, ' ', width - used + 2);
        buf_printf(&line, "%lld/%lld %s, %lld s", (long long) spot->step, (long long) spot->of, spot->what,
                   (long long) (now_ms - spot->since_ms) / MS_PER_S);
        (void) term_put(out, buf_str(&line), columns - 1);
        buf_putc(out, '\n');
    }
    if (shown < self->n) {
        AUTO_FREE char *more = xasprintf("and %zu more at work", self->n - shown);
        (void) term_put(out, more, columns - 1);
        buf_putc(out, '\n');
    }
}
