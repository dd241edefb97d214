/* py_cases.h - Python values written down in JSON, as the recorded cases have them: plain JSON where it fits,
 * else
 * {"__tuple__": [...]}, {"__set__": ...}, {"__pairs__": [[k, v], ...]}, {"__int__": "digits"}, ... */
#ifndef TESTS_PY_CASES_H
#define TESTS_PY_CASES_H

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/py/py_json.h"
#include "common/py/py_methods.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

static UNUSED json_t *
case_file(const char *path)
{
    buf_auto_t text = BUF_INIT;

    assert_int_equal(fs_read(path, LIMIT_FILE_READ, &text, NULL), 0);
    json_t *cases = json_loadb(buf_str(&text), text.len, JSON_ALLOW_NUL, NULL);
    assert_true(json_array_size(cases) > 0);
    return cases;
}

static py_t *untag(const json_t *v);

static py_t *
untag_list(const json_t *v)
{
    py_t *list = py_list();
    json_t *element;
    size_t i;

    json_array_foreach (v, i, element)
        py_append_new(list, untag(element));
    return list;
}

static py_t *
untag_tuple(const json_t *v)
{
    AUTO(py) list = untag_list(v);

    return py_totuple(list);
}

static py_t *
untag_set(const json_t *v)
{
    AUTO(py) list = untag_list(v);

    return py_toset(list, false);
}

static py_t *
untag_frozenset(const json_t *v)
{
    AUTO(py) list = untag_list(v);

    return py_toset(list, true);
}

static py_t *
untag_pairs(const json_t *v)
{
    AUTO(py) list = untag_list(v);

    return py_todict(list);
}

static py_t *
untag_odict(const json_t *v)
{
    AUTO(py) list = untag_list(v);
    py_t *dict = py_odict();

    assert_int_equal(py_dict_update(dict, list), 0);
    return dict;
}

static py_t *
untag_bytes(const json_t *v)
{
    AUTO_FREE char *why = NULL;
    size_t len = 0;
    AUTO_FREE char *bytes = yaml_from_base64(json_string_value(v), json_string_length(v), &len, &why);

    return py_bytes(bytes, len);
}

static py_t *
untag_int(const json_t *v)
{
    return py_int_digits(json_string_value(v), json_string_length(v));
}

static py_t *
untag_float(const json_t *v)
{
    return py_float(strtod(json_string_value(v), NULL));
}

static py_t *
untag_markup(const json_t *v)
{
    AUTO(py) text = py_str(json_string_value(v), json_string_length(v));

    return py_markup(text);
}

static py_t *
untag_range(const json_t *v)
{
    return py_range(json_integer_value(json_array_get(v, 0)), json_integer_value(json_array_get(v, 1)),
                    json_integer_value(json_array_get(v, 2)));
}

static py_t *
untag_slice(const json_t *v)
{
    AUTO(py) start = untag(json_array_get(v, 0));
    AUTO(py) stop = untag(json_array_get(v, 1));
    AUTO(py) step = untag(json_array_get(v, 2));

    return py_slice(start, stop, step);
}

static py_t *
untag_view(const json_t *v)
{
    AUTO(py) dict = untag(json_array_get(v, 1));
    AUTO(py) name = py_strz(json_string_value(json_array_get(v, 0)));
    const py_args_t none = { 0 };

    return py_call_method(dict, name, &none);
}

static py_t *
untag_object(const json_t *v)
{
    static const struct {
        const char *tag;
        py_t *(*make)(const json_t *v);
    } rows[] = {
        { "__tuple__", untag_tuple }, { "__set__", untag_set },     { "__frozenset__", untag_frozenset },
        { "__pairs__", untag_pairs }, { "__odict__", untag_odict }, { "__bytes__", untag_bytes },
        { "__int__", untag_int },     { "__float__", untag_float }, { "__markup__", untag_markup },
        { "__range__", untag_range }, { "__slice__", untag_slice }, { "__view__", untag_view }
    };
    py_t *dict;
    const char *key;
    json_t *member;

    for (size_t i = 0; json_object_size(v) == 1 && i < NELEMS(rows); i++) {
        const json_t *inner = json_object_get(v, rows[i].tag);
        if (inner != NULL)
            return rows[i].make(inner);
    }
    dict = py_dict();
    json_object_foreach ((json_t *) v, key, member) {
        AUTO(py) value = untag(member);
        AUTO(py) name = py_str(key, json_object_iter_key_len(json_object_key_to_iter(key)));
        assert_int_equal(py_dict_set(dict, name, value), 0);
    }
    return dict;
}

/* NEW. */
static UNUSED py_t *
untag(const json_t *v)
{
    if (json_is_object(v))
        return untag_object(v);
    return json_is_array(v) ? untag_list(v) : py_from_json(v);
}

/* repr(), with the elements of a set sorted by theirs. NEW; NULL raised. */
static UNUSED py_t *
canonical(py_t *v)
{
    if (!py_is(v, PY_SET))
        return py_repr(v);
    AUTO(py) list = py_tolist(v);
    AUTO(py) keys = py_list();
    for (size_t i = 0; i < py_seq_len(list); i++)
        py_append_new(keys, py_repr(py_seq_at(list, i)));
    assert_int_equal(py_sort(list, keys, false), 0);
    return py_repr(list);
}

#endif
