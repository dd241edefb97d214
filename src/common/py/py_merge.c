/* py_merge.c - salt.utils.dictupdate: update and merge with their strategies. Deep copies keep the arguments
 * unchanged, except where Salt's own strategy changes them ("overwrite"). */
#include "common/py/py_merge.h"

#include "common/base/str.h"
#include "common/py/py_error.h"
#include "salt/log.h"

/* ---- update ------------------------------------------------------------------------------------------- */

/* `list` extended by the items of `more` that it lacks, looked up in the original list, so duplicates within
 * `more` stay. NEW. */
static py_t *
joined_lists(py_t *list, py_t *more)
{
    AUTO(py) lacking = py_list();
    AUTO(py) joined = py_deepcopy(list);

    for (size_t i = 0; joined != NULL && i < py_seq_len(more); i++) {
        int there = py_in(py_seq_at(more, i), joined);
        if (there < 0)
            return NULL;
        if (there == 0)
            py_append(lacking, py_seq_at(more, i));
    }
    return joined != NULL && py_extend(joined, lacking) == 0 ? STEAL(joined) : NULL;
}

/* Dicts are merged recursively, lists joined if wanted; otherwise the new value replaces the old. */
static int
update_key(py_t *dest, py_t *key, py_t *value, bool merge_lists)
{
    AUTO(py) old = py_ref(py_dict_get(dest, key));

    if (old != NULL && py_is(old, PY_DICT) && py_is(value, PY_DICT))
        return py_update_how(old, value, true, merge_lists);
    if (old == NULL || !py_is(old, PY_LIST) || !py_is(value, PY_LIST) || !merge_lists)
        return py_dict_set(dest, key, value);
    AUTO(py) joined = joined_lists(old, value);
    return joined != NULL ? py_dict_set(dest, key, joined) : -1;
}

int
py_update_how(py_t *dest, py_t *upd, bool recursive, bool merge_lists)
{
    if (!py_is(dest, PY_DICT) || !py_is(upd, PY_DICT))
        return py_raise_int(&py_TypeError, "Cannot update using non-dict types in dictupdate.update()");
    if (!recursive)
        return py_dict_update(dest, upd);
    /* The dicts may be identical or contain each other, so the keys are copied first. */
    AUTO(py) keys = py_tolist(upd);
    if (keys == NULL || py_tick() < 0 || py_enter() < 0)
        return -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < py_seq_len(keys); i++) {
        AUTO(py) value = py_ref(py_dict_get(upd, py_seq_at(keys, i)));
        rc = value != NULL ? update_key(dest, py_seq_at(keys, i), value, merge_lists) : 0;
    }
    py_leave();
    return rc;
}

int
py_update(py_t *dest, py_t *upd, bool merge_lists)
{
    return py_update_how(dest, upd, true, merge_lists);
}

/* ---- strategies --------------------------------------------------------------------------------------- */

static py_t *
merge_recurse(py_t *a, py_t *b, bool merge_lists)
{
    AUTO(py) merged = py_deepcopy(a);

    return merged != NULL && py_update(merged, b, merge_lists) == 0 ? STEAL(merged) : NULL;
}

/* Strategy "list": common keys get a list of both values; keys only in `b` are left out, as in Salt. */
static py_t *
merge_list(py_t *a, py_t *b, bool merge_lists)
{
    AUTO(py) merged = py_dict();
    py_t *key, *value;

    if (!py_is(a, PY_DICT))
        return py_raise(&py_AttributeError, "'%s' object has no attribute 'items'", py_type_name(a));
    for (size_t i = 0; py_dict_next(a, &i, &key, &value);) {
        int both = py_in(key, b);
        AUTO(py) other = both > 0 ? py_getitem(b, key) : NULL;
        if (both < 0 || (both > 0 && other == NULL))
            return NULL;
        AUTO(py) pair = py_list();
        py_append(pair, value);
        if (both > 0)
            py_append(pair, other);
        if (py_dict_set(merged, key, both > 0 ? pair : value) < 0)
            return NULL;
    }
    return STEAL(merged);
}

/* The value as a list; a non-container becomes a list of itself. NEW. */
static py_t *
as_sequence(py_t *v)
{
    if (py_is(v, PY_LIST) || py_is(v, PY_TUPLE) || py_is(v, PY_SET))
        return py_tolist(v);
    py_t *one = py_list();
    py_append(one, v);
    return one;
}

/* Strategy "aggregate": Salt's yamlex marks deeper levels for aggregation; values of other renderers have no
 * marks, so only the first level is joined. */
static py_t *
merge_aggregate(py_t *a, py_t *b, bool merge_lists)
{
    if (py_is(a, PY_DICT) != py_is(b, PY_DICT))
        return py_is(b, PY_DICT) ? py_copy(b) : as_sequence(b);
    AUTO(py) merged = py_is(a, PY_DICT) ? py_odict() : as_sequence(a);
    if (py_is(a, PY_DICT))
        return py_dict_update(merged, a) == 0 && py_dict_update(merged, b) == 0 ? STEAL(merged) : NULL;
    AUTO(py) first = as_sequence(a);
    AUTO(py) more = as_sequence(b);
    for (size_t i = 0; i < py_seq_len(more); i++) {
        int there = py_in(py_seq_at(more, i), first);
        if (there < 0)
            return NULL;
        if (there == 0)
            py_append(merged, py_seq_at(more, i));
    }
    return STEAL(merged);
}

/* Keys of both take the value of `b` before the merge, so that nothing within them is merged. */
static py_t *
merge_overwrite(py_t *a, py_t *b, bool merge_lists)
{
    AUTO(py) keys = py_tolist(b);

    for (size_t i = 0; keys != NULL && i < py_seq_len(keys); i++) {
        int both = py_in(py_seq_at(keys, i), a);
        AUTO(py) value = both > 0 ? py_getitem(b, py_seq_at(keys, i)) : NULL;
        if (both < 0 || (both > 0 && (value == NULL || py_setitem(a, py_seq_at(keys, i), value) < 0)))
            return NULL;
    }
    return keys != NULL ? merge_recurse(a, b, merge_lists) : NULL;
}

static py_t *
merge_none(py_t *a, py_t *b, bool merge_lists)
{
    return merge_recurse(a, b, false);
}

static const struct strategy {
    const char *name;
    py_t *(*merge)(py_t *a, py_t *b, bool merge_lists);
} strategies[] = {
    { "recurse", merge_recurse },     { "list", merge_list }, { "aggregate", merge_aggregate },
    { "overwrite", merge_overwrite }, { "none", merge_none },
};

py_t *
py_merge_for(py_t *a, py_t *b, const char *strategy, const char *renderer, bool merge_lists)
{
    if (strcmp(strategy, "smart") == 0) {
        /* As in Salt: data that yamlex rendered is aggregated, other data merged key by key. */
        const char *last = renderer != NULL ? renderer : "yaml", *bar = strrchr(last, '|');
        bool yamlex = strcmp(bar != NULL ? bar + 1 : last, "yamlex") == 0 || str_starts(last, "yamlex_");
        strategy = yamlex ? "aggregate" : "recurse";
    }
    for (size_t i = 0; i < NELEMS(strategies); i++)
        if (strcmp(strategies[i].name, strategy) == 0)
            return strategies[i].merge(a, b, merge_lists);
    log_warning("Unknown merging strategy '%s', fallback to recurse", strategy);
    return merge_recurse(a, b, false);
}

py_t *
py_merge(py_t *a, py_t *b, const char *strategy, bool merge_lists)
{
    return py_merge_for(a, b, strategy, NULL, merge_lists);
}
