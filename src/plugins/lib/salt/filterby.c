/* filterby.c - see filterby.h: a value from a mapping by a grain or a pillar. A key of the mapping is a glob,
 * but the text itself goes first; `base` lies below the found value, `merge` above it. Works on Python
 * values, and errors are raised as in Salt. */
#include "plugins/lib/salt/filterby.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_error.h"
#include "common/py/py_merge.h"
#include "common/py/py_traverse.h"

/* The value whose key is `each`, else of the first glob that fits it: 1 with *ret_found BORROWED, 0 none (or
 * a None), -1 raised. */
static int
find_for(py_t *lookup, py_t *each, py_t **ret_found)
{
    AUTO(py) text = py_tostr(each);
    py_t *key, *value, *globbed = NULL;

    if (text == NULL)
        return -1;
    *ret_found = NULL;
    for (size_t i = 0; *ret_found == NULL && py_dict_next(lookup, &i, &key, &value);) {
        AUTO(py) pattern = py_tostr(key);
        if (pattern == NULL)
            return -1;
        if (str_eq(py_cstr(pattern), py_cstr(text)))
            *ret_found = value;
        else if (globbed == NULL && match_glob(py_cstr(pattern), py_cstr(text)))
            globbed = value;
    }
    if (*ret_found == NULL)
        *ret_found = globbed;
    return *ret_found != NULL && !py_is(*ret_found, PY_NONE);
}

py_t *
filter_by_find(py_t *lookup, py_t *values)
{
    py_t *found = NULL;
    int rc = 0;

    if (!py_is(values, PY_LIST))
        return find_for(lookup, values, &found) > 0 ? found : NULL;
    for (size_t i = 0; rc == 0 && i < py_seq_len(values); i++)
        rc = find_for(lookup, py_seq_at(values, i), &found);
    return rc > 0 ? found : NULL;
}

/* Merges the found value over a copy of the base. NEW, or NULL raised. */
static py_t *
over_base(py_t *base, py_t *found)
{
    if (found == NULL || py_is(found, PY_NONE))
        return py_ref(base);
    if (!py_is(base, PY_DICT))
        return py_ref(found);
    if (!py_is(found, PY_DICT))
        return py_raise(&py_ValueError, "filter_by default and look-up values must both be dictionaries.");
    AUTO(py) merged = py_deepcopy(base);
    return merged != NULL && py_update(merged, found, false) == 0 ? STEAL(merged) : NULL;
}

/* `value` with `merge` laid over it in place. NEW, or NULL raised. */
static py_t *
merged_with(py_t *value, py_t *merge)
{
    int wanted = merge != NULL ? py_truth(merge) : 0;

    if (wanted <= 0)
        return wanted == 0 ? py_ref(value) : NULL;
    if (!py_is(merge, PY_DICT))
        return py_raise(&py_ValueError, "filter_by merge argument must be a dictionary.");
    if (py_is(value, PY_NONE))
        return py_ref(merge);
    AUTO(py) copy = py_deepcopy(merge);
    return copy != NULL && py_update(value, copy, false) == 0 ? py_ref(value) : NULL;
}

/* NEW; NULL raised. */
py_t *
filter_by(py_t *data, py_t *key, py_t *args)
{
    py_t *lookup = py_dict_gets(args, "lookup_dict"), *base_key = py_dict_gets(args, "base");
    AUTO(py) none = py_list();
    AUTO(py) values = py_traverse(data, key, ":");

    if (values == NULL && py_raised() != NULL)
        return NULL;
    if (!py_is(lookup, PY_DICT))
        return py_raise(&py_AttributeError, "'%s' object has no attribute 'get'", py_type_name(lookup));
    py_t *found = filter_by_find(lookup, values != NULL ? values : none);
    if (found == NULL && py_raised() == NULL)
        found = py_dict_get(lookup, py_dict_gets(args, "default"));
    if (py_raised() != NULL)
        return NULL;
    py_t *base = base_key != NULL && py_truth(base_key) > 0 ? py_dict_get(lookup, base_key) : NULL;
    if (py_raised() != NULL)
        return NULL;
    AUTO(py) chosen = base != NULL ? over_base(base, found) : py_ref(found != NULL ? found : PY_None);
    return chosen != NULL ? merged_with(chosen, py_dict_gets(args, "merge")) : NULL;
}
