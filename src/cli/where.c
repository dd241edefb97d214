/* where.c - see where.h. */
#include "cli/where.h"

#include "common/base/str.h"
#include "common/cli/term.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { WIDTH_MAX = 30, MS_PER_S = 1000 };

/* A minion at work. */
typedef struct spot {
    char *tag;      /* of what it says */
    const char *id; /* the end of `tag` */
    char *what;     /* NULL: it has not said anything yet */
    json_int_t step, of;
    int64_t since_ms; /* of this step */
} spot_t;

struct where {
    char *prefix; /* of the tags; NULL: only of those that have begun */
    spot_t spots[LIMIT_WATCHED];
    size_t n;
    size_t others; /* that have begun and found no room */
};

where_t *
where_new(const char *jid)
{
    where_t *self = xcalloc(1, sizeof(*self));

    self->prefix = jid != NULL ? xasprintf("salt/job/%s/at/", jid) : NULL;
    return self;
}

static void
spot_free(spot_t *spot)
{
    free(spot->tag);
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
    return xasprintf("%s*", self->prefix != NULL ? self->prefix : "salt/job/*/at/");
}

/* Adds a line; there is room. */
static void
where_add(where_t *self, const char *tag, size_t id_at, int64_t now_ms)
{
    spot_t *spot = &self->spots[self->n++];

    *spot = (spot_t){ .tag = xstrdup(tag), .since_ms = now_ms };
    spot->id = spot->tag + id_at;
}

void
where_begin(where_t *self, const char *jid, const char *id, int64_t now_ms)
{
    AUTO_FREE char *tag = xasprintf("salt/job/%s/at/%s", jid, id);

    if (self->n == LIMIT_WATCHED)
        self->others++;
    else
        where_add(self, tag, strlen(tag) - strlen(id), now_ms);
}

void
where_take(where_t *self, const json_t *push, int64_t now_ms)
{
    const char *tag = value_str(push, "tag", "");
    const json_t *data = value_get(value_get(push, "data"), "data");

    size_t at = 0;
    while (at < self->n && !str_eq(self->spots[at].tag, tag))
        at++;
    if (at == self->n) {
        if (self->prefix == NULL || !str_starts(tag, self->prefix) || at == LIMIT_WATCHED)
            return;
        where_add(self, tag, strlen(self->prefix), now_ms);
    }
    spot_t *spot = &self->spots[at];
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
    size_t at = 0;

    while (at < self->n && !str_eq(self->spots[at].id, id))
        at++;
    if (at == self->n) {
        self->others -= self->others > 0;
        return;
    }
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
        if (spot->what != NULL)
            buf_printf(&line, "%lld/%lld %s", (long long) spot->step, (long long) spot->of, spot->what);
        else
            buf_puts(&line, "at work");
        buf_printf(&line, ", %lld s", (long long) (now_ms - spot->since_ms) / MS_PER_S);
        (void) term_put(out, buf_str(&line), columns - 1);
        buf_putc(out, '\n');
    }
    if (shown < self->n + self->others) {
        AUTO_FREE char *more = xasprintf("and %zu more at work", self->n + self->others - shown);
        (void) term_put(out, more, columns - 1);
        buf_putc(out, '\n');
    }
}
