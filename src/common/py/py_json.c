/* py_json.c - Python values to jansson's and back, by the rules in py_json.h. Counters per outermost
 * conversion bound the result: values that are shared in memory are written at each place. */
#include "common/py/py_json.h"

#include <math.h>

#include "common/py/py_obj.h"
#include "salt/limits.h"
#include "salt/value.h"

/* ---- how much it is --------------------------------------------------------------------------- */

/* Counters of the conversion in progress: a shared value is in memory once and may be in JSON a billion
 * times. */
static _Thread_local struct {
    int depth;
    size_t values, text;
} made;

/* Aliases share values in memory but not in JSON, so a small document could become a huge one; hence limits
 * for all that is made. */
static int
py_json_own_count(size_t text)
{
    made.values++;
    made.text += text;
    if (made.values > LIMIT_YAML_NODES)
        return py_raise_int(&py_LimitError, "it has more than %d values once aliases are followed",
                            LIMIT_YAML_NODES);
    if (made.text > LIMIT_YAML_TEXT)
        return py_raise_int(&py_LimitError, "it has more than %d bytes of text once aliases are followed",
                            LIMIT_YAML_TEXT);
    return py_tick();
}

int
py_json_count(const json_t *v, size_t key_len)
{
    return made.depth > 0 ? py_json_own_count(json_string_length(v) + key_len) : 0;
}

static void
count_enter(void)
{
    if (made.depth++ == 0)
        made.values = made.text = 0;
}

static int py_json_own_fits(py_t *v);

static void
fits_child(py_t *v, void *too_large)
{
    bool *stop = too_large;

    *stop = *stop || (v != NULL && py_json_own_fits(v) < 0);
}

/* Counts a value and its content; cycles are left to the conversion, which reports them. */
static int
py_json_own_fits(py_t *v)
{
    bool text = py_is(v, PY_STR) || py_is(v, PY_BYTES), too_large = false;

    if (py_json_own_count(text ? PY_LEN(v) : 0) < 0)
        return -1;
    if (!(py_is(v, PY_LIST) || py_is(v, PY_TUPLE) || py_is(v, PY_SET) || py_is(v, PY_DICT)) ||
        (v->flags & PY_F_BUSY) != 0)
        return 0;
    if (py_enter() < 0)
        return -1;
    v->flags |= PY_F_BUSY;
    py_walk_held(v, fits_child, &too_large);
    v->flags &= (uint8_t) ~PY_F_BUSY;
    py_leave();
    return too_large ? -1 : 0;
}

int
py_json_fits(py_t *v)
{
    count_enter();
    int rc = py_json_own_fits(v);
    made.depth--;
    return rc;
}

/* ---- to JSON ---------------------------------------------------------------------------------- */

/* A JSON string; surrogates, which JSON's text cannot contain, become U+FFFD. */
static json_t *
json_text(const char *text, size_t len)
{
    json_t *v = json_stringn(text, len);
    buf_auto_t out = BUF_INIT;

    for (const char *p = text, *end = text + len; v == NULL && p < end;) {
        uint32_t cp;
        p += py_decode(p, &cp);
        py_put_char(&out, cp >= 0xd800 && cp <= 0xdfff ? 0xfffd : cp);
    }
    return v != NULL ? v : json_stringn(buf_str(&out), out.len);
}

static json_t *
json_of_str(py_t *v)
{
    buf_auto_t out = BUF_INIT;

    return py_str_to(&out, v) < 0 ? NULL : json_text(buf_str(&out), out.len);
}

json_t *
py_json_items(py_t *v, py_json_fn *convert)
{
    json_auto_t *array = json_array();
    py_iter_t it;
    py_t *x;
    int rc = 0;

    if (py_iter_start(&it, v) < 0)
        return NULL;
    while (rc == 0 && (x = py_iter_next(&it)) != NULL) {
        json_t *element = convert(x);
        py_unref(x);
        rc = element == NULL || py_json_count(element, 0) < 0 ? -1 : 0;
        (void) json_array_append_new(array, element);
    }
    py_iter_end(&it);
    return rc < 0 || py_raised() != NULL ? NULL : STEAL(array);
}

/* Keys that are not text become their str(). A later key of the same text replaces an earlier one. */
static json_t *
json_of_dict(const py_t *v)
{
    json_auto_t *object = json_object();
    buf_auto_t text = BUF_INIT;
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
        json_auto_t *member = py_to_json(value);
        if (member == NULL || py_json_count(member, py_is(key, PY_STR) ? PY_LEN(key) : 0) < 0)
            return NULL;
        if (py_is(key, PY_STR) && json_object_setn(object, PY_TEXT(key), PY_LEN(key), member) == 0)
            continue;
        buf_clear(&text);
        if (py_str_to(&text, key) < 0)
            return NULL;
        json_auto_t *name = json_text(buf_str(&text), text.len);
        json_object_setn_nocheck(object, json_string_value(name), json_string_length(name), member);
    }
    return STEAL(object);
}

json_t *
py_json_within(py_t *v, py_json_fn *fn)
{
    if ((v->flags & PY_F_BUSY) != 0)
        return py_raise(&py_ValueError, "Circular reference detected");
    if (py_enter() < 0)
        return NULL;
    count_enter();
    v->flags |= PY_F_BUSY;
    json_t *out = fn(v);
    v->flags &= (uint8_t) ~PY_F_BUSY;
    made.depth--;
    py_leave();
    return out;
}

static json_t *
json_of_container(py_t *v)
{
    if (py_is(v, PY_DICT))
        return json_of_dict(v);
    return py_is(v, PY_NAMESPACE) ? json_of_dict(py_namespace_dict(v)) : py_json_items(v, py_to_json);
}

json_t *
py_to_json(py_t *v)
{
    int64_t n;
    double d;

    switch (py_type(v)) {
    case PY_NONE:
        return json_null();
    case PY_BOOL:
        return json_boolean(v->aux != 0);
    case PY_INT: /* a larger one as its digits */
        return py_to_int64(v, &n) ? json_integer(n) : json_of_str(v);
    case PY_FLOAT: /* JSON has no nan or infinity; YAML's words stand for them */
        d = py_float_value(v);
        if (isnan(d))
            return json_string(".nan");
        return isinf(d) ? json_string(d > 0 ? ".inf" : "-.inf") : json_real(d);
    case PY_STR:
        return json_text(PY_TEXT(v), PY_LEN(v));
    case PY_BYTES:
        return value_utf8(PY_TEXT(v), PY_LEN(v));
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICT:
    case PY_RANGE:
    case PY_VIEW:
    case PY_GEN:
    case PY_NAMESPACE:
        return py_json_within(v, json_of_container);
    case PY_UNDEFINED: /* null, unless the class refuses to be printed */
        if ((py_undef_class(v)->flags & PY_UNDEF_STR) == 0)
            return json_null();
        py_undef_raise(v);
        return NULL;
    default:
        return json_of_str(v);
    }
}

/* ---- from JSON -------------------------------------------------------------------------------- */

/* Constructor of texts: py_str, or one that marks them as a peer's. */
typedef py_t *text_fn(const char *text, size_t len);

static py_t *from_json(const json_t *v, text_fn *text);

static py_t *
py_json_from_object(const json_t *v, text_fn *text)
{
    json_t *object = (json_t *) v; /* for jansson's iterator; nothing is changed */
    py_t *dict = py_dict();

    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        AUTO(py) key = text(json_object_iter_key(it), json_object_iter_key_len(it));
        AUTO(py) value = from_json(json_object_iter_value(it), text);
        py_dict_set(dict, key, value);
    }
    return dict;
}

static py_t *
from_array(const json_t *v, text_fn *text)
{
    py_t *list = py_list();
    json_t *element;
    size_t i;

    json_array_foreach (v, i, element)
        py_append_new(list, from_json(element, text));
    return list;
}

/* Recursion is bounded by the depth that jansson's parser or its callers allow. */
static py_t *
from_json(const json_t *v, text_fn *text)
{
    if (v == NULL)
        return PY_None;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return py_json_from_object(v, text);
    case JSON_ARRAY:
        return from_array(v, text);
    case JSON_STRING:
        return text(json_string_value(v), json_string_length(v));
    case JSON_INTEGER:
        return py_int(json_integer_value(v));
    case JSON_REAL:
        return py_float(json_real_value(v));
    case JSON_TRUE:
    case JSON_FALSE:
        return py_bool(json_is_true(v));
    case JSON_NULL:
        break;
    }
    return PY_None;
}

py_t *
py_from_json(const json_t *v)
{
    return from_json(v, py_str);
}

py_t *
py_from_json_peer(const json_t *v)
{
    return from_json(v, py_str_peer);
}

py_t *
py_from_json_own(const json_t *v)
{
    return from_json(v, py_str_own);
}
