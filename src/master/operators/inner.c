/* inner.c - see inner.h. Which argument a function takes for the other's name depends on the order in which
 * the minion reads words and objects, on defaults, and on the function: so no argument is picked here, and
 * every text counts. Values wait in a list instead of recursion, as a word's value may be a word again. */
#include "master/operators/inner.h"

#include "common/base/str.h"
#include "common/data/args.h"
#include "salt/limits.h"
#include "salt/value.h"

typedef struct inner {
    json_t *todo; /* values to be looked at; it grows meanwhile */
    json_t *names;
    match_work_t *work;
    fail_t *err;
} inner_t;

/* A letter of any alphabet. */
static bool
inner_is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || (unsigned char) c >= 0x80;
}

/* True for "module.function", whoever has such a module: the minion may have it of its own. */
static bool
inner_is_name(const char *text)
{
    const char *dot = strchr(text, '.');

    if (dot == NULL || dot == text || !inner_is_letter(dot[1]))
        return false;
    for (const char *p = text; *p != '\0'; p++)
        if (!inner_is_letter(*p) && strchr("0123456789-.", *p) == NULL)
            return false;
    return true;
}

static int
inner_too_much(inner_t *self)
{
    return fail_set(self->err, -E2BIG,
                    "the arguments are too large to look for the functions that they name: give fewer or "
                    "shorter ones");
}

static void
inner_add_name(inner_t *self, const char *text)
{
    if (inner_is_name(text))
        json_array_append_new(self->names, json_string(text));
}

/* A text is a name, or several with commas between, or a word NAME=VALUE. */
static int
inner_text(inner_t *self, const char *text)
{
    size_t len = strlen(text), name_len = args_keyword_len(text);

    if (!match_work_take(self->work, len + 1))
        return inner_too_much(self);

    /* A name, or texts with commas between as lists may be written: each of these may be a word again. */
    char **parts = strpbrk(text, ".=") != NULL ? str_split(text, ",", false) : NULL;
    bool several = parts != NULL && strchr(text, ',') != NULL;

    for (char **p = parts; p != NULL && *p != NULL; p++) {
        const char *part = str_trim(*p);
        if (several && args_keyword_len(part) > 0)
            json_array_append_new(self->todo, json_string(part));
        else
            inner_add_name(self, part);
    }
    strv_free(parts);

    if (name_len == 0)
        return 0;
    if (len > LIMIT_INNER_TEXT)
        return inner_too_much(self);
    AUTO_FREE char *name = xstrndup(text, name_len);
    inner_add_name(self, name);
    const char *word = text + name_len + 1;
    AUTO_FREE char *value = xstrndup(word, strcspn(word, "\n"));
    json_t *parsed = arg_type_word_within(value, LIMIT_INNER_NODES, NULL);
    return parsed != NULL && json_array_append_new(self->todo, parsed) == 0 ? 0 : inner_too_much(self);
}

/* Look at one value; what it holds waits for its turn. */
static int
inner_value(inner_t *self, json_t *value)
{
    const char *key;
    json_t *one;
    int rc = json_is_string(value) ? inner_text(self, json_string_value(value)) : 0;

    if (!match_work_take(self->work, 1 + json_array_size(value) + json_object_size(value)))
        return inner_too_much(self);
    json_array_extend(self->todo, value);
    json_object_foreach (value, key, one) {
        if (rc == 0)
            rc = inner_text(self, key);
        json_array_append(self->todo, one);
    }
    return rc;
}

int
inner_functions(const registry_t *modules, const char *fun, const json_t *arg, match_work_t *work,
                json_t *names, fail_t *err)
{
    inner_t self = { .names = names, .work = work, .err = err };
    int rc = 0;

    if (modules == NULL || !registry_any(modules, fun, FN_CALLS))
        return 0;
    self.todo = json_array();
    json_array_append(self.todo, (json_t *) arg);
    for (size_t i = 0; rc == 0 && i < json_array_size(self.todo); i++)
        rc = inner_value(&self, json_array_get(self.todo, i));
    json_decref(self.todo);
    return rc;
}
