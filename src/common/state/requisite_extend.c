/* requisite_extend.c - merge extensions into high data and remove what is excluded: Salt's reconcile_extend()
 * and apply_exclude().
 *
 * The index (names_t) is kept current while arguments change, because later extensions look up names that
 * earlier ones made. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_json.h"
#include "common/state/high.h"

typedef struct extend {
    py_t *high;
    names_t *names;
    bool strict;
    const high_env_t *env;
    json_t *errors;
    py_t *excluded; /* set of SLS whose extensions do not count */
} extend_t;

/* Requisites are appended to the existing list; any other argument replaces the existing one. */
static bool
is_requisite(const py_t *key)
{
    static const char *const words[] = { "onchanges",  "onchanges_any", "onfail",  "onfail_any",
                                         "onfail_all", "onfail_stop",   "prereq",  "prerequired",
                                         "watch",      "watch_any",     "require", "require_any",
                                         "listen" };

    for (size_t i = 0; i < NELEMS(words); i++)
        if (py_str_is(key, words[i]))
            return true;
    return false;
}

static void
requisite_extend_replace(extend_t *self, py_t *id, py_t *state, py_t *run, size_t i, py_t *arg)
{
    AUTO(py) at = py_int((int64_t) i);

    names_del(self->names, id, state, py_seq_at(run, i));
    names_add(self->names, id, state, arg);
    py_setitem(run, at, arg);
}

/* Merge one argument into an existing one. True when it was merged. `name` replaces `names` but counts as not
 * merged, as in Salt, so that it is appended too. */
static bool
requisite_extend_lay_over(extend_t *self, py_t *id, py_t *state, py_t *run, size_t i, py_t *arg)
{
    py_t *mine, *theirs, *there = py_seq_at(run, i);

    if (py_is(arg, PY_STR) && py_is(there, PY_STR)) {
        requisite_extend_replace(self, id, state, run, i, arg); /* another function */
        return true;
    }
    py_t *key = dict_first(arg, &mine), *old = dict_first(there, &theirs);
    if (key == NULL || old == NULL)
        return false;
    if (py_eq(key, old) == 1) {
        if (is_requisite(key)) {
            if (!py_is(theirs, PY_LIST) || py_extend(theirs, mine) < 0)
                py_clear(); /* high_verify() reports the wrong shape */
        } else {
            requisite_extend_replace(self, id, state, run, i, arg);
        }
        return true;
    }
    if (py_str_is(key, "name") && py_str_is(old, "names"))
        requisite_extend_replace(self, id, state, run, i, arg);
    return false;
}

/* Add a state that is missing, or merge each argument into the existing list. Salt compares with every
 * argument that is there, also with those just appended. */
static void
extend_state(extend_t *self, py_t *id, py_t *body, py_t *state, py_t *run)
{
    py_t *there = py_dict_get(body, state);

    if (!py_is(run, PY_LIST))
        return;
    if (there == NULL) {
        py_dict_set(body, state, run);
        for (size_t i = 0; i < py_seq_len(run); i++)
            names_add(self->names, id, state, py_seq_at(run, i));
        return;
    }
    if (!py_is(there, PY_LIST))
        return;
    for (size_t k = 0; k < py_seq_len(run); k++) {
        py_t *arg = py_seq_at(run, k);
        bool placed = false;
        for (size_t i = 0; i < py_seq_len(there); i++)
            placed |= requisite_extend_lay_over(self, id, state, there, i, arg);
        if (!placed) {
            py_append(there, arg);
            names_add(self->names, id, state, arg);
        }
        if (there == run)
            break; /* an alias of itself would grow forever */
    }
}

/* Find the ID that an extension is for. BORROWED, or NULL with the error added. */
static py_t *
find_extended(extend_t *self, py_t *name, py_t *body, py_t *state)
{
    py_t *there = py_dict_get(self->high, name);

    py_clear();
    if (there != NULL && py_is(there, PY_DICT) && py_dict_get(there, state) != NULL)
        return name;
    AUTO(py) found = high_find_name(self->names, self->high, name, state, self->strict);
    if (py_seq_len(found) == 1)
        return py_seq_at(py_seq_at(found, 0), 0); /* the ID stays alive in `high` */
    AUTO_FREE char *id = py_show(name);
    const char *saltenv = dict_text(body, "__env__", "base"), *sls = dict_text(body, "__sls__", "base");
    add_error(
        self->errors,
        "Cannot extend ID '%s' in '%s:%s'. It is not part of the high state.\nThis is likely due to a "
        "missing include statement or an incorrectly typed ID.\nEnsure that a state with an ID of '%s' is "
        "available\nin environment '%s' and to SLS '%s'",
        id, saltenv, sls, id, saltenv, sls);
    suggest_id(self->errors, self->high, id);
    place_add(self->env, self->errors, saltenv, sls, id);
    return NULL;
}

/* The first state of the extension decides which ID it extends, as in Salt; the others follow. */
static void
extend_id(extend_t *self, py_t *name, py_t *body)
{
    py_t *state, *run, *first = NULL;

    if (!py_is(body, PY_DICT))
        return; /* reported when its SLS was read */
    for (size_t at = 0; first == NULL && py_dict_next(body, &at, &state, &run);)
        if (!high_internal(state))
            first = state;
    if (first == NULL) {
        AUTO_FREE char *id = py_show(name);
        const char *sls = dict_text(body, "__sls__", "base");
        add_error(self->errors, "Extension name '%s' in SLS '%s' names no state to extend", id, sls);
        place_add(self->env, self->errors, dict_text(body, "__env__", "base"), sls, id);
        return;
    }
    py_t *id = find_extended(self, name, body, first);
    if (id == NULL)
        return;
    py_t *sls = py_dict_gets(body, "__sls__");
    if (sls != NULL && py_in(sls, self->excluded) == 1)
        return;
    py_clear();
    py_t *there = py_dict_get(self->high, id);
    for (size_t at = 0; py_is(there, PY_DICT) && py_dict_next(body, &at, &state, &run);)
        if (!high_internal(state))
            extend_state(self, id, there, state, run);
}

void
high_reconcile(py_t *high, names_t *names, bool strict, const high_env_t *env, json_t *errors)
{
    py_t *name, *body;
    AUTO(py) list = py_ref(py_dict_gets(high, "__extend__"));
    AUTO(py) excluded = py_set(false);
    AUTO(py) key = py_strz("__extend__");
    extend_t self = {
        .high = high, .names = names, .strict = strict, .env = env, .errors = errors, .excluded = excluded
    };

    if (list == NULL)
        return;
    py_dict_del(high, key);

    /* Extensions of an excluded SLS do not count. An entry of "__exclude__" is its name, or {"sls": name}. */
    py_t *exclude = py_dict_gets(high, "__exclude__");
    for (size_t i = 0; exclude != NULL && py_is(exclude, PY_LIST) && i < py_seq_len(exclude); i++) {
        py_t *entry = py_seq_at(exclude, i);
        if (py_is(entry, PY_DICT))
            entry = py_dict_gets(entry, "sls");
        if (entry != NULL && py_set_add(excluded, entry) < 0)
            py_clear();
    }
    for (size_t i = 0; py_is(list, PY_LIST) && i < py_seq_len(list); i++) {
        py_t *chunk = py_seq_at(list, i);
        for (size_t at = 0; py_is(chunk, PY_DICT) && py_dict_next(chunk, &at, &name, &body);)
            extend_id(&self, name, body);
    }
}

void
high_reconcile_extend(py_t *high, bool strict, const high_env_t *env, json_t *errors)
{
    if (!py_is(high, PY_DICT) || py_dict_gets(high, "__extend__") == NULL)
        return;
    AUTO(names) names = names_new(high);
    high_reconcile(high, names, strict, env, errors);
}

/* ---- exclude --------------------------------------------------------------------------------- */

typedef struct exclude {
    py_t *sls;   /* set of SLS without wildcards */
    py_t *globs; /* list of those with */
    py_t *ids;   /* set */
} exclude_t;

/* Reads an entry of `exclude`: an SLS, by name or pattern, or {id: ID}. */
static void
read_exclude(exclude_t *self, py_t *entry)
{
    py_t *value;
    py_t *key = dict_first(entry, &value);

    if (py_is(entry, PY_STR) || (key != NULL && py_dict_len(entry) == 1 && py_str_is(key, "sls"))) {
        py_t *sls = key != NULL ? value : entry;
        if (py_is(sls, PY_STR) && match_has_glob(py_cstr(sls)))
            py_append(self->globs, sls);
        else
            py_set_add(self->sls, sls);
    } else if (key != NULL && py_dict_len(entry) == 1 && py_str_is(key, "id")) {
        py_set_add(self->ids, value);
    }
    py_clear();
}

/* True when the SLS of a body is excluded, by its name or by a pattern. */
static bool
is_excluded_sls(const exclude_t *self, const py_t *body)
{
    py_t *sls = py_is(body, PY_DICT) ? py_dict_gets(body, "__sls__") : NULL;

    if (sls == NULL || !py_is(sls, PY_STR) || py_str_is(sls, ""))
        return false;
    if (py_in(sls, self->sls) == 1)
        return true;
    for (size_t i = 0; i < py_seq_len(self->globs); i++)
        if (match_glob(py_cstr(py_seq_at(self->globs, i)), py_cstr(sls)))
            return true;
    return false;
}

/* SLS by name or wildcard first, then IDs: excluding an SLS means excluding the IDs that it declares. */
void
high_apply_exclude(py_t *high)
{
    AUTO(py) list = py_ref(py_dict_gets(high, "__exclude__"));
    AUTO(py) key = py_strz("__exclude__");
    AUTO(py) sls = py_set(false);
    AUTO(py) globs = py_list();
    AUTO(py) ids = py_set(false);
    exclude_t self = { sls, globs, ids };
    py_t *id, *body;

    if (list == NULL)
        return;
    py_dict_del(high, key);
    for (size_t i = 0; py_is(list, PY_LIST) && i < py_seq_len(list); i++)
        read_exclude(&self, py_seq_at(list, i));
    for (size_t at = 0; py_dict_next(high, &at, &id, &body);)
        if (!high_internal(id) && is_excluded_sls(&self, body))
            py_set_add(ids, id);
    for (size_t at = 0; py_dict_next(ids, &at, &id, &body);)
        py_dict_del(high, id);
}

/* What the caller excludes (the argument `exclude` of state.sls) counts like the SLS files' own. */
void
high_exclude(py_t *high, json_t *exclude)
{
    AUTO(py) more = py_from_json(exclude);
    py_t *list = py_dict_gets(high, "__exclude__");

    if (list != NULL && py_is(list, PY_LIST))
        py_extend(list, more);
    else
        py_dict_sets(high, "__exclude__", more);
}
