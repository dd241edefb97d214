/* values.c - see values.h. */
#include "common/output/values.h"

#include <stdlib.h>

#include "common/py/py_json.h"
#include "common/py/py_ops.h"
#include "common/py/py_wire.h"

#define TAG "$py"

/* {"$py": [kind, rest]} is how the wire carries a Python value that JSON lacks (py_to_wire()). */
const char *
output_kind(const json_t *v, json_t **ret_rest)
{
    const json_t *said = json_is_object(v) && json_object_size(v) == 1 ? json_object_get(v, TAG) : NULL;
    const char *kind = json_string_value(json_array_get(said, 0));

    if (ret_rest != NULL)
        *ret_rest = json_array_get(said, 1);
    return kind;
}

/* Asked before each outputter: most returns are plain JSON, and go the faster way. */
bool
output_has_kinds(json_t *v)
{
    json_t *one;
    size_t i;

    if (output_kind(v, NULL) != NULL)
        return true;
    json_array_foreach (v, i, one) {
        if (output_has_kinds(one))
            return true;
    }
    for (void *it = json_object_iter(v); it != NULL; it = json_object_iter_next(v, it)) {
        if (output_has_kinds(json_object_iter_value(it)))
            return true;
    }
    return false;
}

json_t *
output_plain(const json_t *v)
{
    AUTO(py) value = py_from_wire(v);
    json_t *plain = py_to_json(value);

    py_clear();
    return plain != NULL ? plain : json_null();
}

bool
output_kind_str(buf_t *out, const json_t *v)
{
    AUTO(py) value = py_from_wire(v);
    AUTO(py) text = py_tostr(value);

    py_clear();
    if (text != NULL)
        buf_puts(out, py_cstr(text));
    return text != NULL;
}

/* The values that Salt's json outputter hands to json.dumps(default=repr): only values that no encoder knows become
 * their repr(), tuples and dicts stay. */
json_t *
output_default_repr(json_t *v)
{
    const char *kind = output_kind(v, NULL);
    json_t *copy, *one;
    size_t i;

    if (kind != NULL &&
        (strcmp(kind, "bytes") == 0 || strcmp(kind, "set") == 0 || strcmp(kind, "frozenset") == 0)) {
        AUTO(py) value = py_from_wire(v);
        AUTO(py) text = py_repr(value);
        py_clear();
        return text != NULL ? json_string(py_cstr(text)) : json_null();
    }
    if (json_is_array(v)) {
        copy = json_array();
        json_array_foreach (v, i, one)
            json_array_append_new(copy, output_default_repr(one));
        return copy;
    }
    if (!json_is_object(v))
        return json_incref(v);
    copy = json_object();
    for (void *it = json_object_iter(v); it != NULL; it = json_object_iter_next(v, it))
        (void) json_object_set_new_nocheck(copy, json_object_iter_key(it),
                                           output_default_repr(json_object_iter_value(it)));
    return copy;
}

/* ---- members ------------------------------------------------------------------------------------ */

typedef struct member {
    json_t *key, *value; /* BORROWED */
    char *text;          /* owned */
    size_t at;
} member_t;

static double
key_number(const json_t *key)
{
    return json_is_boolean(key) ? json_is_true(key) : json_number_value(key);
}

static int
by_number(const void *a, const void *b)
{
    double x = key_number(((const member_t *) a)->key), y = key_number(((const member_t *) b)->key);

    return (x > y) - (x < y);
}

static int
by_key_text(const void *a, const void *b)
{
    const member_t *x = a, *y = b;
    int order = strcmp(x->text, y->text);

    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* The pairs of a dict whose keys need not be texts, as {"text", "value"} in Python's order of sorted():
 * numbers by value if all keys are numbers, else all as texts. NEW. */
json_t *
output_members(const json_t *pairs)
{
    size_t n = json_array_size(pairs), numbers = 0;
    AUTO_FREE member_t *members = xcalloc(n + 1, sizeof(*members));
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *pair = json_array_get(pairs, i), *key = json_array_get(pair, 0);
        buf_auto_t text = BUF_INIT;
        (void) output_kind_str(&text, key);
        members[i] = (member_t){ key, json_array_get(pair, 1), xstrdup(buf_str(&text)), i };
        numbers += json_is_number(key) || json_is_boolean(key);
    }
    qsort(members, n, sizeof(*members), numbers == n ? by_number : by_key_text);
    for (size_t i = 0; i < n; i++) {
        /* Of keys that are the same as text the last one's value stays. */
        if (numbers == n || i + 1 == n || strcmp(members[i].text, members[i + 1].text) != 0)
            json_array_append_new(
                list, json_pack("{s:s, s:O}", "text", members[i].text, "value", members[i].value));
    }
    for (size_t i = 0; i < n; i++)
        free(members[i].text);
    return list;
}
