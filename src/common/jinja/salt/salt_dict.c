/* salt_dict.c - Salt's filters that look into dicts and change them, as salt.utils.dictupdate's
 * *_dict_key_value: keys "a:b:c" are created on the way, the given dict is changed and returned; and that make
 * a list of entries of one, and back. */
#include "common/jinja/jinja_salt.h"
#include "common/jinja/salt/salt_filter.h"
#include "common/py/py_traverse.h"

/* ---- traverse ----------------------------------------------------------------------------------------- */

JFILTER(traverse)
{
    AUTO(py) colon = py_strz(":");
    py_t *delimiter = jarg(a[3], colon);
    if (!py_is(delimiter, PY_STR) || py_len(delimiter) == 0)
        return py_raise(&py_ValueError, "empty separator");
    py_t *found = py_traverse(a[0], a[1], py_cstr(delimiter));
    return found != NULL || py_raised() != NULL ? found : py_ref(jarg(a[2], PY_None));
}

/* ---- changing ----------------------------------------------------------------------------------------- */

/* A key as a list of parts: a text is split, a number is a part of its own. */
static py_t *
salt_dict_split_key(py_t *key, py_t *delimiter)
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

static py_t *
new_dict(bool ordered)
{
    return ordered ? py_odict() : py_dict();
}

/* The dict that holds the last of the keys, missing ones created. NEW reference, and the NEW last key. */
static py_t *
holder(py_t *const *a, py_t **ret_last)
{
    int ordered = jflag(a[4], false);
    AUTO(py) keys = ordered >= 0 ? salt_dict_split_key(a[1], a[3]) : NULL;
    if (keys == NULL)
        return NULL;
    AUTO(py) at = py_ref(a[0]);
    size_t n = py_seq_len(keys);
    for (size_t i = 0; i + 1 < n; i++) {
        if (py_tick() < 0)
            return NULL;
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
    *ret_last = py_ref(n > 0 ? py_seq_at(keys, n - 1) : a[1]);
    return STEAL(at);
}

JFILTER(set_dict_key_value)
{
    AUTO(py) last = NULL;
    AUTO(py) dict = holder(a, &last);
    return dict != NULL && py_setitem(dict, last, a[2]) == 0 ? py_ref(a[0]) : NULL;
}

/* Value at the last key, created when absent or None. NEW. */
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

/* Turns a failed change into Salt's SaltInvocationError: a wrong type at the key, or a wrong value. */
static py_t *
salt_dict_refuse(const char *verb, const py_t *there, const py_t *value)
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

/* Calls a method that changes the value below the keys, and returns the whole dict. */
static py_t *
salt_dict_change(py_t *const *a, const char *verb, bool list)
{
    AUTO(py) v = last_value(a, list);
    if (v == NULL)
        return NULL;
    AUTO(py) done = jmethod(v, verb, 1, a[2]);
    return done != NULL ? py_ref(a[0]) : salt_dict_refuse(verb, v, a[2]);
}

JFILTER(update_dict_key_value)
{
    return salt_dict_change(a, "update", false);
}

JFILTER(append_dict_key_value)
{
    return salt_dict_change(a, "append", true);
}

JFILTER(extend_dict_key_value)
{
    return salt_dict_change(a, "extend", true);
}

/* ---- entries ------------------------------------------------------------------------------------------ */

static py_t *
entry_of(py_t *key, py_t *value)
{
    py_t *entry = py_dict();

    py_dict_sets(entry, "key", key);
    py_dict_sets(entry, "value", value);
    return entry;
}

/* Each key of a dict, or each index of a list, with its value. */
JFILTER(to_entries)
{
    AUTO(py) out = py_list();
    py_t *key, *value;

    if (!py_is(a[0], PY_DICT) && !py_is(a[0], PY_LIST))
        return py_raise(&jinja_SaltInvocationError, "Input data must be a dict or list");
    for (size_t i = 0; py_is(a[0], PY_LIST) && i < py_seq_len(a[0]); i++) {
        AUTO(py) index = py_int((int64_t) i);
        py_append_new(out, entry_of(index, py_seq_at(a[0], i)));
        if (py_tick() < 0)
            return NULL;
    }
    for (size_t i = 0; py_is(a[0], PY_DICT) && py_dict_next(a[0], &i, &key, &value);) {
        py_append_new(out, entry_of(key, value));
        if (py_tick() < 0)
            return NULL;
    }
    return STEAL(out);
}

/* Member of an entry by its name in any case; the last of several. BORROWED; NULL: none, or raised. */
static py_t *
member_of(py_t *entry, const char *name)
{
    py_t *key, *value, *found = NULL;

    for (size_t i = 0; py_dict_next(entry, &i, &key, &value);) {
        AUTO(py) lower = py_is(key, PY_STR) ? jmethod(key, "lower", 0) : NULL;
        if (lower != NULL && py_str_is(lower, name))
            found = value;
    }
    return found;
}

/* The reverse: each entry has a `key`, or a `name`, and a `value`. */
JFILTER(from_entries)
{
    AUTO(py) out = py_dict();
    AUTO(py) entries = py_tolist(a[0]);

    for (size_t i = 0; entries != NULL && i < py_seq_len(entries); i++) {
        AUTO(py) entry = py_todict(py_seq_at(entries, i));
        py_t *key = entry != NULL ? member_of(entry, "key") : NULL;
        if (entry == NULL || py_tick() < 0)
            return NULL;
        if (key == NULL || py_truth(key) <= 0)
            key = member_of(entry, "name");
        py_t *value = member_of(entry, "value");
        if (key != NULL && py_truth(key) > 0 && py_dict_set(out, key, value != NULL ? value : PY_None) < 0)
            return NULL;
    }
    return entries != NULL ? STEAL(out) : NULL;
}

#define KEYED                JP("in_dict", "keys", "value", "delimiter", "ordered_dict"), 3, 5, 0
#define KEYED_ROW(name, doc) ROW(#name, { name }, { #name, KEYED }, 0, doc)

static const jfilter_t rows[] = {
    KEYED_ROW(append_dict_key_value, "Append to the list at a key."),
    KEYED_ROW(extend_dict_key_value, "Extend the list at a key."),
    { JROW("from_entries", from_entries, JP("entries"), 1, 1, 0), 0,
      "A dict of entries with key and value." },
    KEYED_ROW(set_dict_key_value, "Set the value at a key."),
    { JROW("to_entries", to_entries, JP("data"), 1, 1, 0), 0,
      "The entries of a dict or a list, with key and value." },
    { JROW("traverse", traverse, JP("data", "key", "default", "delimiter"), 2, 4, 0), 0,
      "The value at a:b:0." },
    KEYED_ROW(update_dict_key_value, "Update the dict at a key."),
};

const jfilter_table_t jfilters_salt_dict = JTABLE(rows);
