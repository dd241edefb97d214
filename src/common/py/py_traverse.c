/* py_traverse.c - follows a path through dicts and lists, as salt.utils.data.traverse_dict_and_list. Parts
 * that look like numbers also match numeric keys, by YAML's rules. */
#include "common/py/py_traverse.h"

#include "common/py/py_error.h"
#include "common/py/py_yaml.h"

/* Step into a list: the first dict that has the key, else an index. BORROWED; NULL: absent or raised. */
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

/* Step into anything else. NEW; NULL: absent or raised. */
static py_t *
step_other(py_t *v, py_t *key)
{
    py_t *found = NULL;

    if (py_find_item(v, key, &found) != 0)
        return found;
    if (!py_is(key, PY_STR))
        return NULL;
    /* the part as a number, for numeric keys */
    size_t len;
    const char *text = py_text(key, &len);
    yproblem_t problem = YPROBLEM_INIT;
    AUTO(py) loaded = py_yaml_load(text, len, false, &problem);
    yproblem_free(&problem);
    if (py_raised_is(&py_LimitError))
        return NULL;
    py_clear();
    if (loaded == NULL || py_is(loaded, PY_STR) || py_find_item(v, loaded, &found) <= 0)
        return NULL;
    return found;
}

/* The parts of a path. NEW list. */
static py_t *
py_traverse_parts_of(py_t *key, const char *delimiter)
{
    bool one = py_is(key, PY_INT) || py_is(key, PY_BOOL);
    if (!py_is(key, PY_STR) && !one)
        return py_tolist(key);
    py_t *parts = py_list();
    size_t len, width = strlen(delimiter);
    if (one) {
        py_append(parts, key);
        return parts;
    }
    const char *p = py_text(key, &len), *end = p + len, *stop;
    while (width > 0 && (stop = memmem(p, (size_t) (end - p), delimiter, width)) != NULL) {
        py_append_new(parts, py_str(p, (size_t) (stop - p)));
        p = stop + width;
    }
    py_append_new(parts, py_str(p, (size_t) (end - p)));
    return parts;
}

/* A list is searched for dicts with the key as well as indexed, as in Salt's traverse_dict_and_list(). */
py_t *
py_traverse(py_t *data, py_t *key, const char *delimiter)
{
    AUTO(py) parts = py_traverse_parts_of(key, delimiter);
    AUTO(py) at = py_ref(data);

    for (size_t i = 0; parts != NULL && i < py_seq_len(parts); i++) {
        py_t *part = py_seq_at(parts, i);
        py_t *next = py_is(at, PY_LIST) ? py_ref(step_list(at, part)) : step_other(at, part);
        if (next == NULL)
            return NULL;
        py_unref(at);
        at = next;
    }
    return parts != NULL ? STEAL(at) : NULL;
}
