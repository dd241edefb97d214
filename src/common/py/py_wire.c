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
    return content != NULL ? json_pack("{s:[s, o]}", TAG, kind, content) : NULL;
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
        if (member == NULL || py_tick() < 0)
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
        if (v == NULL || py_tick() < 0)
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
from_pairs(const json_t *pairs)
{
    AUTO(py) dict = py_dict();
    json_t *pair;
    size_t i;

    json_array_foreach (pairs, i, pair) {
        AUTO(py) key = py_from_wire(json_array_get(pair, 0));
        AUTO(py) value = py_from_wire(json_array_get(pair, 1));
        if (json_array_size(pair) != 2 || py_dict_set(dict, key, value) < 0) {
            py_clear();
            return NULL;
        }
    }
    return json_is_array(pairs) ? STEAL(dict) : NULL;
}

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
from_tuple(const json_t *items)
{
    AUTO(py) list = from_items(items);

    return py_totuple(list);
}

static py_t *
from_set(const json_t *items)
{
    AUTO(py) list = from_items(items);

    return py_toset(list, false);
}

static py_t *
from_frozenset(const json_t *items)
{
    AUTO(py) list = from_items(items);

    return py_toset(list, true);
}

static py_t *
from_digits(const json_t *v)
{
    return json_is_string(v) ? py_int_digits(json_string_value(v), json_string_length(v)) : NULL;
}

static py_t *
from_float(const json_t *v)
{
    const char *text = json_string_value(v);

    if (str_eq(text, "nan"))
        return py_float(NAN);
    return str_eq(text, "inf") ? py_float(INFINITY) : str_eq(text, "-inf") ? py_float(-INFINITY) : NULL;
}

static py_t *
from_bytes(const json_t *v)
{
    size_t len = 0;
    AUTO_FREE char *why = NULL;
    AUTO_FREE char *bytes = json_is_string(v)
                                ? yaml_from_base64(json_string_value(v), json_string_length(v), &len, &why)
                                : NULL;

    return bytes != NULL ? py_bytes(bytes, len) : NULL;
}

static const struct {
    const char *kind;
    py_t *(*fn)(const json_t *content); /* NEW, or NULL for what is no such thing */
} kinds[] = {
    { "dict", from_pairs },          { "tuple", from_tuple }, { "set", from_set },     { "int", from_digits },
    { "frozenset", from_frozenset }, { "float", from_float }, { "bytes", from_bytes },
};

/* NULL when it is no tag. */
static py_t *
from_tag(const json_t *v)
{
    const json_t *tag = json_object_size(v) == 1 ? json_object_get(v, TAG) : NULL;
    const char *kind = json_string_value(json_array_get(tag, 0));
    py_t *out = NULL;

    for (size_t i = 0; json_array_size(tag) == 2 && i < NELEMS(kinds); i++)
        if (str_eq(kind, kinds[i].kind))
            out = kinds[i].fn(json_array_get(tag, 1));
    if (out == NULL)
        py_clear();
    return out;
}

static py_t *
from_object(const json_t *v)
{
    json_t *object = (json_t *) v; /* for jansson's iterator; nothing is changed */
    py_t *dict = from_tag(v);

    if (dict != NULL)
        return dict;
    dict = py_dict();
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
