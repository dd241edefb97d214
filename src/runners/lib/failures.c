/* failures.c - see failures.h. Causes are reduced to short lines; minions with the same cause form a group,
 * and the largest groups come first. Numbers of names, groups and bytes are bounded, so that a fleet's
 * failure stays readable. */
#include "runners/lib/failures.h"

#include "common/base/buf.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/value.h"

enum {
    IDS_ALL = 10,   /* so many names are written out */
    IDS_FIRST = 5,  /* of more, these */
    GROUPS = 20,    /* kinds of failures that are shown */
    CAUSES = 5,     /* of one minion */
    CAUSE_LEN = 300 /* bytes of one */
};

#define NOT_CALLED "One or more requisite failed"

char *
failures_ids(const json_t *ids)
{
    buf_t out = BUF_INIT;
    size_t n = json_array_size(ids), shown = n <= IDS_ALL ? n : IDS_FIRST;

    for (size_t i = 0; i < shown; i++)
        buf_printf(&out, "%s%s", i > 0 ? ", " : "", json_string_value(json_array_get(ids, i)));
    if (shown < n)
        buf_printf(&out, " and %zu more", n - shown);
    return buf_steal(&out);
}

/* ---- one minion ---------------------------------------------------------------------------- */

/* Reduces a text to one line of bounded length. NEW JSON string. */
static json_t *
short_line(const char *text)
{
    AUTO_FREE char *line = xstrdup(text);

    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char) *c < ' ')
            *c = ' ';
    }
    const char *kept = str_trim(line);
    size_t n = strlen(kept);
    if (n <= CAUSE_LEN)
        return value_utf8(kept, n);
    n = CAUSE_LEN;
    while (n > 0 && ((unsigned char) kept[n] & 0xc0) == 0x80)
        n--;
    AUTO_FREE char *cut = xasprintf("%.*s...", (int) n, kept);
    return json_string(cut);
}

static json_t *
cause(const char *tag, const json_t *one)
{
    /* "cmd_|-ID_|-NAME_|-run" is the function cmd.run. */
    const char *first = strstr(tag, "_|-"), *last = NULL;
    for (const char *p = tag; (p = strstr(p, "_|-")) != NULL; p += 3)
        last = p;
    AUTO_FREE char *fun = first != NULL && last != NULL && last > first
                              ? xasprintf("%.*s.%s", (int) (first - tag), tag, last + 3)
                              : xstrdup(tag);
    AUTO_FREE char *comment = value_pystr(value_get(one, "comment"));
    AUTO_FREE char *text = xasprintf("state %s (%s): %s",
                                     value_str(one, "__id__", value_str(one, "name", "?")), fun, comment);

    return short_line(text);
}

/* States that failed by themselves; those whose requisites failed only when there are no others. NEW list,
 * never empty. */
json_t *
failures_states(const json_t *ret)
{
    json_t *roots = json_array(), *others = json_array(), *one;
    const char *tag;
    size_t i;

    json_array_foreach ((json_t *) ret, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(roots, short_line(text));
    }
    json_object_foreach ((json_t *) ret, tag, one) {
        if (!json_is_false(value_get(one, "result")))
            continue;
        bool follows = str_starts(value_str(one, "comment", ""), NOT_CALLED);
        json_array_append_new(follows ? others : roots, cause(tag, one));
    }
    if (!json_is_array(ret) && !json_is_object(ret)) {
        AUTO_FREE char *text = ret != NULL ? value_pystr(ret) : xstrdup("no return");
        json_array_append_new(roots, short_line(text));
    }
    json_t *found = json_array_size(roots) > 0 ? roots : others;
    json_incref(found);
    json_decref(roots);
    json_decref(others);
    if (json_array_size(found) == 0)
        json_array_append_new(found, json_string("no state ran"));
    return found;
}

/* ---- all of them --------------------------------------------------------------------------- */

typedef struct group {
    char *text;
    json_t *ids;
    size_t order;
} group_t;

struct failures {
    map_t *groups; /* by text */
};

static void
group_free(void *p)
{
    group_t *group = p;

    free(group->text);
    json_decref(group->ids);
    free(group);
}

failures_t *
failures_new(void)
{
    failures_t *self = xcalloc(1, sizeof(*self));

    self->groups = map_new(group_free);
    return self;
}

void
failures_destroy(failures_t **self_p)
{
    failures_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->groups);
    free(self);
}

/* NEW text of several causes. */
static char *
failures_joined(const json_t *causes)
{
    size_t n = json_array_size(causes), shown = n < CAUSES ? n : CAUSES;
    buf_t out = BUF_INIT;

    for (size_t i = 0; i < shown; i++)
        buf_printf(&out, "%s%s", i > 0 ? "\n    " : "", json_string_value(json_array_get(causes, i)));
    if (shown < n)
        buf_printf(&out, "\n    and %zu more", n - shown);
    return buf_steal(&out);
}

void
failures_add(failures_t *self, const char *id, const json_t *causes)
{
    json_auto_t *line = json_is_string(causes) ? short_line(json_string_value(causes)) : NULL;
    char *text = line != NULL ? xstrdup(json_string_value(line)) : failures_joined(causes);
    group_t *group = map_get(self->groups, text);

    if (group == NULL) {
        group = xcalloc(1, sizeof(*group));
        group->text = xstrdup(text);
        group->ids = json_array();
        group->order = map_len(self->groups);
        map_set(self->groups, text, group);
    }
    json_array_append_new(group->ids, json_string(id));
    free(text);
}

/* Larger groups first, equal ones in the order in which they appeared. */
static int
failures_by_size(const void *a, const void *b)
{
    const group_t *x = *(group_t *const *) a, *y = *(group_t *const *) b;
    size_t n = json_array_size(x->ids), m = json_array_size(y->ids);

    return n != m ? (n < m) - (n > m) : (x->order > y->order) - (x->order < y->order);
}

char *
failures_text(const failures_t *self)
{
    size_t n = map_len(self->groups), at = 0;
    group_t **sorted = xcalloc(n + 1, sizeof(*sorted));
    buf_t out = BUF_INIT;
    const char *key;
    void *value;

    for (size_t i = 0; map_next(self->groups, &i, &key, &value);)
        sorted[at++] = value;
    qsort(sorted, n, sizeof(*sorted), failures_by_size);
    for (size_t i = 0; i < n && i < GROUPS; i++) {
        /* Adds the failure's line. */
        const group_t *group = sorted[i];
        size_t count = json_array_size(group->ids);
        AUTO_FREE char *ids = failures_ids(group->ids);
        if (out.len > 0)
            buf_putc(&out, '\n');
        if (count > IDS_ALL)
            buf_printf(&out, "%zu minions (%s): %s", count, ids, group->text);
        else
            buf_printf(&out, "%s: %s", ids, group->text);
    }
    if (n > GROUPS)
        buf_printf(&out, "\nand %zu more kinds of failures", n - GROUPS);
    free(sorted);
    return buf_steal(&out);
}
