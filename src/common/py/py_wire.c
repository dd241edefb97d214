/* py_wire.c - see py_wire.h. */
#include "common/py/py_wire.h"

#include <math.h>

#include "common/base/base64.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/py/py_json.h"
#include "common/py/py_obj.h"
#include "salt/value.h"

#define TAG "$py"

/* ---- out ----------------------------------------------------------------------------------------------- */

static json_t *
tagged(const char *kind, json_t *content)
{
    json_auto_t *inside = content;

    return inside != NULL && py_json_count(inside, 0) == 0 ? json_pack("{s:[s, O]}", TAG, kind, inside)
                                                           : NULL;
}

static json_t *
wire_of_float(py_t *v)
{
    double d = py_float_value(v);

    if (isfinite(d))
        return json_real(d);
    return tagged("float", json_string(isnan(d) ? "nan" : d > 0 ? "inf" : "-inf"));
}

static json_t *
wire_of_int(py_t *v)
{
    int64_t n;

    return py_to_int64(v, &n) ? json_integer(n) : tagged("int", py_to_json(v));
}

static json_t *
wire_of_bytes(py_t *v)
{
    AUTO_FREE char *text = base64_encode(PY_TEXT(v), PY_LEN(v), 0);

    return tagged("bytes", json_string(text));
}

static bool
is_plain(const py_t *dict)
{
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);)
        if (!py_is(key, PY_STR) || strlen(PY_TEXT(key)) != PY_LEN(key) || py_str_is(key, TAG))
            return false;
    return true;
}

static json_t *
wire_of_plain(const py_t *dict)
{
    json_auto_t *object = json_object();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);) {
        json_auto_t *name = py_to_json(key);
        json_auto_t *member = py_to_wire(value);
        if (member == NULL || py_json_count(member, json_string_length(name)) < 0)
            return NULL;
        json_object_set_nocheck(object, json_string_value(name), member);
    }
    return STEAL(object);
}

static json_t *
wire_of_pairs(const py_t *dict)
{
    json_auto_t *pairs = json_array();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);) {
        json_auto_t *k = py_to_wire(key);
        json_auto_t *v = k != NULL ? py_to_wire(value) : NULL;
        if (v == NULL || py_json_count(k, 0) < 0 || py_json_count(v, 0) < 0)
            return NULL;
        json_array_append_new(pairs, json_pack("[O, O]", k, v));
    }
    return tagged("dict", STEAL(pairs));
}

static json_t *
wire_of_container(py_t *v)
{
    if (py_is(v, PY_DICT))
        return is_plain(v) ? wire_of_plain(v) : wire_of_pairs(v);
    json_t *items = py_json_items(v, py_to_wire);
    if (py_is(v, PY_TUPLE))
        return tagged("tuple", items);
    if (py_is(v, PY_SET))
        return tagged((v->flags & PY_F_FROZEN) != 0 ? "frozenset" : "set", items);
    return items;
}

json_t *
py_to_wire(py_t *v)
{
    switch (py_type(v)) {
    case PY_INT:
        return wire_of_int(v);
    case PY_FLOAT:
        return wire_of_float(v);
    case PY_BYTES:
        return wire_of_bytes(v);
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICT:
        return py_json_within(v, wire_of_container);
    case PY_UNDEFINED:
        return json_null();
    default:
        return py_to_json(v);
    }
}

static bool
are_plain(const py_t *list)
{
    for (size_t i = 0; i < py_seq_len(list); i++)
        if (!py_wire_plain(py_seq_at(list, i)))
            return false;
    return true;
}

static bool
values_are_plain(const py_t *dict)
{
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);)
        if (!py_wire_plain(value))
            return false;
    return true;
}

bool
py_wire_plain(const py_t *v)
{
    int64_t n;

    switch (py_type(v)) {
    case PY_INT:
        return py_to_int64(v, &n);
    case PY_FLOAT:
        return isfinite(py_float_value(v));
    case PY_LIST:
        return are_plain(v);
    case PY_DICT:
        return is_plain(v) && values_are_plain(v);
    case PY_BYTES:
    case PY_TUPLE:
    case PY_SET:
        return false;
    default:
        return true;
    }
}

/* ---- in ------------------------------------------------------------------------------------------------ */

static py_t *
from_items(const json_t *items)
{
    py_t *list = py_list();
    json_t *element;
    size_t i;

    json_array_foreach (items, i, element)
        py_append_new(list, py_from_wire(element));
    return list;
}

static py_t *
from_pairs(py_t *pairs)
{
    AUTO(py) dict = py_dict();

    for (size_t i = 0; i < py_seq_len(pairs); i++) {
        py_t *pair = py_seq_at(pairs, i);
        if (!py_is(pair, PY_LIST) || py_seq_len(pair) != 2 ||
            py_dict_set(dict, py_seq_at(pair, 0), py_seq_at(pair, 1)) < 0)
            return NULL;
    }
    return STEAL(dict);
}

static py_t *
from_set(py_t *items)
{
    return py_toset(items, false);
}

static py_t *
from_frozenset(py_t *items)
{
    return py_toset(items, true);
}

static py_t *
from_digits(py_t *text)
{
    return py_int_digits(PY_TEXT(text), PY_LEN(text));
}

static py_t *
from_float(py_t *text)
{
    if (py_str_is(text, "nan"))
        return py_float(NAN);
    return py_str_is(text, "inf") ? py_float(INFINITY) : py_str_is(text, "-inf") ? py_float(-INFINITY) : NULL;
}

static py_t *
from_bytes(py_t *text)
{
    size_t len = 0;
    AUTO_FREE char *why = NULL;
    AUTO_FREE char *bytes = yaml_from_base64(PY_TEXT(text), PY_LEN(text), &len, &why);

    return bytes != NULL ? py_bytes(bytes, len) : NULL;
}

static const struct kind {
    const char *name;
    py_type_t of;               /* what the content must be */
    py_t *(*fn)(py_t *content); /* NEW, or NULL for what is no such thing */
} kinds[] = {
    { "dict", PY_LIST, from_pairs },
    { "tuple", PY_LIST, py_totuple },
    { "set", PY_LIST, from_set },
    { "int", PY_STR, from_digits },
    { "frozenset", PY_LIST, from_frozenset },
    { "float", PY_STR, from_float },
    { "bytes", PY_STR, from_bytes },
};

/* NULL: it has no tag. */
static const struct kind *
kind_of(const json_t *tag)
{
    const char *name = json_array_size(tag) == 2 ? json_string_value(json_array_get(tag, 0)) : NULL;

    for (size_t i = 0; name != NULL && i < NELEMS(kinds); i++)
        if (str_eq(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

/* What is in it becomes values once, whether or not it is what the tag says: else a peer could have each level double the
 * work of the one inside. */
static py_t *
from_tagged(const struct kind *kind, const json_t *tag)
{
    AUTO(py) content = py_from_wire(json_array_get(tag, 1));
    py_t *out = py_is(content, kind->of) ? kind->fn(content) : NULL;

    if (out != NULL)
        return out;
    py_clear();
    AUTO(py) key = py_str(TAG, strlen(TAG));
    AUTO(py) list = py_list();
    py_append_new(list, py_str(kind->name, strlen(kind->name)));
    py_append_new(list, py_ref(content));
    out = py_dict();
    (void) py_dict_set(out, key, list);
    return out;
}

static py_t *
from_object(const json_t *v)
{
    json_t *object = (json_t *) v; /* for jansson's iterator; nothing is changed */
    const json_t *tag = json_object_size(v) == 1 ? json_object_get(v, TAG) : NULL;
    const struct kind *kind = kind_of(tag);

    if (kind != NULL)
        return from_tagged(kind, tag);
    py_t *dict = py_dict();
    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        AUTO(py) key = py_str(json_object_iter_key(it), json_object_iter_key_len(it));
        AUTO(py) value = py_from_wire(json_object_iter_value(it));
        (void) py_dict_set(dict, key, value);
    }
    return dict;
}

/* As deep as the parser that made `v` lets it be. */
py_t *
py_from_wire(const json_t *v)
{
    if (json_is_object(v))
        return from_object(v);
    return json_is_array(v) ? from_items(v) : py_from_json(v);
}
