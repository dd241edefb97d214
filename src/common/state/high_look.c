/* high_look.c - look-ups in high data: which IDs have a state with this name, which IDs come from an SLS.
 *
 * Salt scans all high data for each requisite, which is quadratic. names_t is a hash index instead; the
 * extensions that change high data keep it current through names_add() and names_del(). */
#include "common/state/high.h"

#include <stdarg.h>

/* Keys such as __sls__ and __extend__ are the compiler's; IDs and states of users do not begin so. */
bool
high_internal(const py_t *key)
{
    return py_is(key, PY_STR) && strncmp(py_cstr(key), "__", 2) == 0;
}

py_t *
dict_first(const py_t *dict, py_t **ret_value)
{
    py_t *key, *value;
    size_t at = 0;

    if (!py_is(dict, PY_DICT) || !py_dict_next(dict, &at, &key, &value))
        return NULL;
    if (ret_value != NULL)
        *ret_value = value;
    return key;
}

const char *
dict_text(const py_t *dict, const char *key, const char *dflt)
{
    const py_t *value = py_is(dict, PY_DICT) ? py_dict_gets(dict, key) : NULL;
    return value != NULL && py_is(value, PY_STR) ? py_cstr(value) : dflt;
}

/* str(v); a value whose text cannot be made still has to appear in an error, so its type stands for it. */
char *
py_show(py_t *v)
{
    AUTO(py) text = py_tostr(v);

    if (text == NULL) {
        py_clear();
        return xasprintf("<%s>", py_type_name(v));
    }
    return xstrdup(py_cstr(text));
}

void
add_error(json_t *errors, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    json_array_append_new(errors, value_utf8(text, strlen(text)));
}

/* ---- the index ------------------------------------------------------------------------------- */

struct names {
    py_t *high;    /* BORROWED */
    py_t *by_name; /* state to {value: [ID, ...]} */
    py_t *by_sls;  /* SLS to [ID, ...] */
};

/* The value of a single-key dict that Salt compares with names; NULL for other arguments and for values that
 * are not hashable. */
static py_t *
named_value(py_t *arg)
{
    py_t *value;

    if (!py_is(arg, PY_DICT) || py_dict_len(arg) != 1 || dict_first(arg, &value) == NULL)
        return NULL;
    switch (py_type(value)) {
    case PY_STR:
    case PY_INT:
    case PY_FLOAT:
    case PY_BOOL:
    case PY_NONE:
        return value;
    default:
        return NULL;
    }
}

/* BORROWED list at dict[key], made when absent. */
static py_t *
high_look_list_at(py_t *dict, py_t *key)
{
    py_t *list = py_dict_get(dict, key);

    if (list != NULL)
        return list;
    AUTO(py) fresh = py_list();
    if (py_dict_set(dict, key, fresh) < 0) {
        py_clear();
        return NULL;
    }
    return fresh;
}

/* Only the first of several arguments could be the name, but Salt compares them all: so each scalar is
 * indexed. */
void
names_add(names_t *self, py_t *id, py_t *state, py_t *arg)
{
    py_t *value = named_value(arg), *by_value, *ids;

    if (value == NULL)
        return;
    by_value = py_dict_get(self->by_name, state);
    if (by_value == NULL) {
        AUTO(py) fresh = py_dict();
        if (py_dict_set(self->by_name, state, fresh) < 0) {
            py_clear();
            return;
        }
        by_value = fresh;
    }
    ids = high_look_list_at(by_value, value);
    if (ids != NULL)
        py_append(ids, id);
}

/* Removes one entry: an ID that has the same value in two arguments is listed twice. */
void
names_del(names_t *self, py_t *id, py_t *state, py_t *arg)
{
    py_t *value = named_value(arg);
    py_t *by_value = value != NULL ? py_dict_get(self->by_name, state) : NULL;
    py_t *ids = by_value != NULL ? py_dict_get(by_value, value) : NULL;

    if (ids == NULL)
        return;
    AUTO(py) kept = py_list();
    bool gone = false;
    for (size_t i = 0; i < py_seq_len(ids); i++) {
        py_t *other = py_seq_at(ids, i);
        if (!gone && py_eq(other, id) == 1)
            gone = true;
        else
            py_append(kept, other);
    }
    py_dict_set(by_value, value, kept);
}

names_t *
names_new(py_t *high)
{
    names_t *self = xcalloc(1, sizeof *self);
    py_t *id, *body;

    self->high = high;
    self->by_name = py_dict();
    self->by_sls = py_dict();
    for (size_t at = 0; py_dict_next(high, &at, &id, &body);) {
        if (!py_is(body, PY_DICT))
            continue;
        /* An ID is found by the SLS it is in, and by the names of its states. */
        py_t *state, *run, *sls = py_dict_gets(body, "__sls__");
        py_t *ids = sls != NULL ? high_look_list_at(self->by_sls, sls) : NULL;
        if (ids != NULL)
            py_append(ids, id);
        for (size_t in = 0; py_dict_next(body, &in, &state, &run);)
            for (size_t i = 0; py_is(run, PY_LIST) && i < py_seq_len(run); i++)
                names_add(self, id, state, py_seq_at(run, i));
    }
    return self;
}

void
names_destroy(names_t **self_p)
{
    names_t *self = *self_p;

    if (self == NULL)
        return;
    py_unref(self->by_name);
    py_unref(self->by_sls);
    free(self);
    *self_p = NULL;
}

py_t *
names_find(names_t *self, py_t *state, py_t *value)
{
    py_t *by_value = py_dict_get(self->by_name, state);
    py_t *ids = by_value != NULL ? py_dict_get(by_value, value) : NULL;

    py_clear(); /* an unhashable value is in no index */
    return ids;
}

py_t *
names_of_sls(names_t *self, py_t *sls)
{
    py_t *ids = py_dict_get(self->by_sls, sls);

    py_clear();
    return ids;
}

static void
high_look_found(py_t *list, py_t *id, py_t *state)
{
    py_append_new(list, py_tuple_of(2, id, state));
}

/* An ID with that name wins; otherwise every ID that has an argument of that value. `strict` wants the state
 * under the ID too. */
py_t *
high_find_name(names_t *names, py_t *high, py_t *name, py_t *state, bool strict)
{
    py_t *list = py_list(), *ids;
    py_t *body = py_dict_get(high, name);
    bool has = !strict || (body != NULL && py_is(body, PY_DICT) && py_dict_get(body, state) != NULL);

    py_clear();
    if (body != NULL && has) {
        high_look_found(list, name, state);
        return list;
    }
    bool sls = py_str_is(state, "sls");
    ids = sls ? names_of_sls(names, name) : names_find(names, state, name);
    for (size_t i = 0; ids != NULL && i < py_seq_len(ids); i++) {
        py_t *id = py_seq_at(ids, i);
        /* Like Salt: the first state of the body, whichever it is. */
        high_look_found(list, id, sls ? dict_first(py_dict_get(high, id), NULL) : state);
    }
    return list;
}
