/* inner.c - see inner.h. Arguments are read as the minion reads them: a text NAME=VALUE is a keyword. */
#include "master/operators/inner.h"

#include "common/base/str.h"
#include "common/data/args.h"
#include "salt/value.h"

typedef struct inner {
    const registry_t *modules;
    json_t *args, *kwargs; /* as the minion gets them */
    json_t *names;         /* found so far */
} inner_t;

/* Add the keyword of "NAME=VALUE"; false for any other value. */
static bool
inner_keyword(inner_t *self, const json_t *value)
{
    char *words[] = { (char *) json_string_value(value), NULL };
    if (words[0] == NULL || args_keyword_len(words[0]) == 0)
        return false;
    json_auto_t *parsed = args_parse(words, 1, NULL);
    json_t *args = NULL, *kwargs = NULL;
    args_split(parsed, &args, &kwargs);
    (void) json_object_update(self->kwargs, kwargs);
    json_decref(args);
    json_decref(kwargs);
    return true;
}

static void
inner_read(inner_t *self, const json_t *arg)
{
    json_auto_t *given = NULL;
    json_t *value;
    size_t i;
    args_split(arg, &given, &self->kwargs);
    self->args = json_array();
    json_array_foreach (given, i, value)
        if (!inner_keyword(self, value))
            json_array_append(self->args, value);
}

/* Every text in a value. Values of requests are nested LIMIT_JSON_DEPTH deep at most. */
static void
inner_add_texts(inner_t *self, json_t *value)
{
    const char *key;
    json_t *one;
    size_t i;
    if (json_is_string(value))
        json_array_append(self->names, value);
    json_array_foreach (value, i, one)
        inner_add_texts(self, one);
    json_object_foreach (value, key, one)
        inner_add_texts(self, one);
}

/* The value of an argument: by keyword, or by its place in the row. BORROWED; NULL: not given. */
static json_t *
inner_value(const inner_t *self, const func_t *row, const char *name)
{
    size_t i = 0;
    while (row->args != NULL && row->args[i].name != NULL && !str_eq(row->args[i].name, name))
        i++;
    json_t *by_name = value_get(self->kwargs, name);
    bool placed = row->args != NULL && row->args[i].name != NULL;
    return by_name != NULL || !placed ? by_name : json_array_get(self->args, i);
}

/* Add what an argument names. True when that calls others in its turn. */
static bool
inner_add(inner_t *self, const func_t *row, const char *name)
{
    size_t from = json_array_size(self->names), i;
    json_t *one;
    bool further = false;
    inner_add_texts(self, inner_value(self, row, name));
    for (i = from; (one = json_array_get(self->names, i)) != NULL; i++) {
        const func_t *inner = registry_row(self->modules, json_string_value(one));
        further = further || (inner != NULL && inner->calls != NULL);
    }
    return further;
}

json_t *
inner_functions(const registry_t *modules, const char *fun, const json_t *arg)
{
    const func_t *row = modules != NULL ? registry_row(modules, fun) : NULL;
    inner_t self = { .modules = modules, .names = json_array() };
    if (row == NULL || row->calls == NULL)
        return self.names;
    inner_read(&self, arg);
    char **words = str_split(row->calls, " ", true);
    /* The first that is given as a text; should none be, whatever texts there are. */
    char **word = words;
    while (*word != NULL && str_empty(json_string_value(inner_value(&self, row, *word))))
        word++;
    bool further = *word != NULL && inner_add(&self, row, *word);
    for (size_t i = 0; *word == NULL && words[i] != NULL; i++)
        further = inner_add(&self, row, words[i]) || further;
    strv_free(words);
    if (further) {
        inner_add_texts(&self, self.args);
        inner_add_texts(&self, self.kwargs);
    }
    json_decref(self.args);
    json_decref(self.kwargs);
    return self.names;
}
