/* salt_dict.c - Salt's filters that look into dicts and change them. */
#include "common/jinja/jinja_salt.h"
#include "common/jinja/salt_filter.h"
#include "common/py/py_yaml.h"

/* ---- traverse ----------------------------------------------------------------------------------------- */

/* In a list: the key of a dict in it, or an index. BORROWED; NULL: absent or raised. */
static py_t *
step_list(py_t *list, py_t *key)
{
    AUTO(py) number = py_toint(key, -1);
    if (number == NULL && !py_raised_is(&py_ValueError))
        return NULL;
    py_clear();
    py_t *wanted = number != NULL ? number : key;
    for (size_t i = 0; i < py_seq_len(list); i++) {
        py_t *v = py_is(py_seq_at(list, i), PY_DICT) ? py_dict_get(py_seq_at(list, i), wanted) : NULL;
        if (v != NULL)
            return v;
    }
    int64_t at, n = (int64_t) py_seq_len(list);
    if (number == NULL || !py_to_int64(number, &at))
        return NULL;
    at = at < 0 ? at + n : at;
    return at >= 0 && at < n ? py_seq_at(list, (size_t) at) : NULL;
}

/* NEW; NULL absent or raised. */
static py_t *
step_other(py_t *v, py_t *key)
{
    py_t *found = NULL;
    if (py_find_item(v, key, &found) != 0)
        return found;
    if (!py_is(key, PY_STR))
        return NULL;
    /* Numbers as keys. */
    size_t len;
    const char *text = py_text(key, &len);
    yproblem_t problem = YPROBLEM_INIT;
    AUTO(py) loaded = py_yaml_load(text, len, false, &problem);
    yproblem_free(&problem);
    py_clear();
    if (loaded == NULL || py_is(loaded, PY_STR) || py_find_item(v, loaded, &found) <= 0)
        return NULL;
    return found;
}

static py_t *
split_key(py_t *key, py_t *delimiter)
{
    AUTO(py) colon = py_strz(":");
    if (py_is(key, PY_STR))
        return jmethod(key, "split", 1, jarg(delimiter, colon));
    if (!py_is(key, PY_INT))
        return py_tolist(key);
    py_t *one = py_list();
    py_append(one, key);
    return one;
}

JFILTER(traverse)
{
    AUTO(py) keys = split_key(a[1], a[3]);
    if (keys == NULL)
        return NULL;
    AUTO(py) at = py_ref(a[0]);
    for (size_t i = 0; i < py_seq_len(keys); i++) {
        py_t *key = py_seq_at(keys, i);
        py_t *next = py_is(at, PY_LIST) ? py_ref(step_list(at, key)) : step_other(at, key);
        if (next == NULL)
            return py_raised() != NULL ? NULL : py_ref(jarg(a[2], PY_None));
        py_unref(at);
        at = next;
    }
    return STEAL(at);
}

/* ---- changing ----------------------------------------------------------------------------------------- */

static py_t *
new_dict(bool ordered)
{
    return ordered ? py_odict() : py_dict();
}

/* The dict that holds the last of `keys`, made on the way. NEW, and the NEW last key. */
static py_t *
holder(py_t *const *a, py_t **ret_last)
{
    int ordered = jflag(a[4], false);
    AUTO(py) keys = ordered >= 0 ? split_key(a[1], a[3]) : NULL;
    if (keys == NULL)
        return NULL;
    AUTO(py) at = py_ref(a[0]);
    size_t n = py_seq_len(keys);
    for (size_t i = 0; i + 1 < n; i++) {
        py_t *key = py_seq_at(keys, i);
        py_t *next = NULL;
        int found = py_find_item(at, key, &next);
        if (found < 0)
            return NULL;
        if (found == 0 || !py_is(next, PY_DICT)) {
            py_unref(next);
            next = new_dict(ordered);
            if (py_setitem(at, key, next) < 0) {
                py_unref(next);
                return NULL;
            }
        }
        py_unref(at);
        at = next;
    }
    *ret_last = py_ref(py_seq_at(keys, n - 1));
    return STEAL(at);
}

JFILTER(set_dict_key_value)
{
    AUTO(py) last = NULL;
    AUTO(py) dict = holder(a, &last);
    return dict != NULL && py_setitem(dict, last, a[2]) == 0 ? py_ref(a[0]) : NULL;
}

/* What is at the last key, made when it is not there or None. NEW. */
static py_t *
last_value(py_t *const *a, bool list)
{
    AUTO(py) last = NULL;
    AUTO(py) dict = holder(a, &last);
    if (dict == NULL)
        return NULL;
    py_t *v = NULL;
    int found = py_find_item(dict, last, &v);
    if (found < 0 || (found > 0 && !py_is(v, PY_NONE)))
        return v;
    py_unref(v);
    v = list ? py_list() : new_dict(jflag(a[4], false) > 0);
    if (py_setitem(dict, last, v) == 0)
        return v;
    py_unref(v);
    return NULL;
}

static const char *
class_of(const py_t *v)
{
    return py_is_odict(v) ? "salt.utils.odict.OrderedDict" : py_type_name(v);
}

/* How Salt refuses: the wrong kind of thing there, or the wrong kind of value. */
static py_t *
refuse(const char *verb, const py_t *there, const py_t *value)
{
    bool attribute = py_raised_is(&py_AttributeError);
    if (!attribute && !py_raised_is(&py_ValueError) && !py_raised_is(&py_TypeError))
        return NULL;
    py_clear();
    if (attribute)
        return py_raise(&jinja_SaltInvocationError, "The last key contains a <class '%s'>, which cannot %s.",
                        class_of(there), verb);
    return py_raise(&jinja_SaltInvocationError, "Cannot %s <class '%s'> with a <class '%s'>.", verb,
                    class_of(there), class_of(value));
}

static py_t *
change(py_t *const *a, const char *verb, bool list)
{
    AUTO(py) v = last_value(a, list);
    if (v == NULL)
        return NULL;
    AUTO(py) done = jmethod(v, verb, 1, a[2]);
    return done != NULL ? py_ref(a[0]) : refuse(verb, v, a[2]);
}

JFILTER(update_dict_key_value)
{
    return change(a, "update", false);
}

JFILTER(append_dict_key_value)
{
    return change(a, "append", true);
}

JFILTER(extend_dict_key_value)
{
    return change(a, "extend", true);
}

#define KEYED JP("in_dict", "keys", "value", "delimiter", "ordered_dict"), 3, 5, 0
#define KEYED_ROW(name, doc)                                                                                 \
    {                                                                                                        \
#name, name, { #name, KEYED }, 0, doc                                                                \
    }

static const jfilter_t rows[] = {
    KEYED_ROW(append_dict_key_value, "Append to the list at a key."),
    KEYED_ROW(extend_dict_key_value, "Extend the list at a key."),
    KEYED_ROW(set_dict_key_value, "Set the value at a key."),
    { JROW("traverse", traverse, JP("data", "key", "default", "delimiter"), 2, 4, 0), 0,
      "The value at a:b:0." },
    KEYED_ROW(update_dict_key_value, "Update the dict at a key."),
};

const jfilter_table_t jfilters_salt_dict = JTABLE(rows);
