/* fieldpattern.c - see fieldpattern.h. */
#include "common/data/fieldpattern.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/limits.h"

/* The value of "a[b][0]", `len` bytes. BORROWED; NULL: there is none. */
static const json_t *
field_value(const char *field, size_t len, const json_t *values)
{
    size_t n = 0;

    while (n < len && field[n] != '[')
        n++;
    AUTO_FREE char *name = xstrndup(field, n);
    const json_t *at = value_get(values, name);
    while (at != NULL && n < len) {
        const char *end = field[n] == '[' ? memchr(field + n, ']', len - n) : NULL;
        if (end == NULL)
            return NULL;
        AUTO_FREE char *key = xstrndup(field + n + 1, (size_t) (end - field) - n - 1);
        long long index;
        if (json_is_array(at))
            at = str_to_int(key, 0, INT32_MAX, &index) ? json_array_get(at, (size_t) index) : NULL;
        else
            at = value_get(at, key);
        n = (size_t) (end - field) + 1;
    }
    return at;
}

/* Sources of the fields of one text. */
typedef struct fill {
    const json_t *values;
    json_t *chosen; /* {field: element}: of a list, which every further place of the field gets too */
    json_t *all;
} fill_t;

static bool fill_rest(const fill_t *self, const char *pattern, const char *done);

/* Fills the field at `at`, the byte behind its brace, and what follows. */
static bool
fill_field(const fill_t *self, const char *at, const char *done)
{
    size_t len = strcspn(at, "{}");
    AUTO_FREE char *field = xstrndup(at, len);
    json_t *chosen = value_get(self->chosen, field), *element;
    const json_t *value = chosen != NULL   ? chosen
                          : at[len] == '}' ? field_value(field, len, self->values)
                                           : NULL;
    bool lists = chosen == NULL && json_is_array(value);
    json_auto_t *elements = lists ? json_incref((json_t *) value) : json_pack("[O*]", value);
    size_t i;

    json_array_foreach (elements, i, element) {
        AUTO_FREE char *shown = value_pystr(element), *so_far = xasprintf("%s%s", done, shown);
        if (lists)
            json_object_set(self->chosen, field, element);
        if (!fill_rest(self, at + len + 1, so_far))
            return false;
    }
    if (lists)
        json_object_del(self->chosen, field);
    return value != NULL;
}

/* Appends the texts of `done` followed by what the pattern gives. False: a field has no value. */
static bool
fill_rest(const fill_t *self, const char *pattern, const char *done)
{
    buf_auto_t text = BUF_INIT;

    buf_puts(&text, done);
    for (const char *at = pattern; *at != '\0'; at++) {
        bool brace = *at == '{' || *at == '}';
        if (brace && at[1] == *at)
            at++;
        else if (brace)
            return *at == '{' && fill_field(self, at + 1, buf_str(&text));
        buf_putc(&text, *at);
    }
    if (json_array_size(self->all) >= LIMIT_FIELD_TEXTS)
        return false;
    json_array_append_new(self->all, value_utf8(buf_str(&text), text.len));
    return true;
}

json_t *
fieldpattern_fill(const char *pattern, const json_t *values)
{
    json_auto_t *all = json_array(), *chosen = json_object();
    const fill_t fill = { values, chosen, all };

    return fill_rest(&fill, pattern, "") ? json_incref(all) : NULL;
}
