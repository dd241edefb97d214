/* stateconf_names.c - IDs and files that are named relative to an SLS file, and looking at its states. */
#include "common/base/str.h"
#include "common/py/py_as.h"
#include "common/render/stateconf.h"

/* ---- looking at the data ------------------------------------------------------------------------------- */

static bool
is_internal(const py_t *key)
{
    return str_starts(py_cstr(key), "__");
}

/* The next ID whose value is a dict of states. */
static bool
names_next_id(stateconf_iter_t *it)
{
    while (py_dict_next(it->data, &it->id_at, &it->id, &it->states)) {
        if (py_is(it->id, PY_STR) && py_is(it->states, PY_DICT) && !is_internal(it->id) &&
            !py_str_is(it->id, "include") && !py_str_is(it->id, "exclude")) {
            it->state_at = 0;
            return true;
        }
    }
    return false;
}

bool
stateconf_next(stateconf_iter_t *it)
{
    while (it->states != NULL || names_next_id(it)) {
        while (py_dict_next(it->states, &it->state_at, &it->state, &it->args))
            if (py_is(it->state, PY_STR) && !is_internal(it->state))
                return true;
        it->states = NULL;
    }
    return false;
}

/* The first key of a dict with its value. False for what is none, or has none. */
static bool
first_of(const py_t *v, py_t **ret_key, py_t **ret_value)
{
    size_t at = 0;

    return py_is(v, PY_DICT) && py_dict_next(v, &at, ret_key, ret_value) && py_is(*ret_key, PY_STR);
}

bool
stateconf_next_req(stateconf_req_t *it)
{
    py_t *name, *list;

    while (py_is(it->args, PY_LIST) && it->arg_at < py_seq_len(it->args)) {
        size_t k = 0;
        bool found = first_of(py_seq_at(it->args, it->arg_at), &name, &list) && py_is(list, PY_LIST);
        while (found && it->names[k] != NULL && !py_str_is(name, it->names[k]))
            k++;
        if (found && it->names[k] != NULL) {
            while (it->at < py_seq_len(list)) {
                it->holder = py_seq_at(list, it->at++);
                if (first_of(it->holder, &it->type, &it->id) && py_is(it->id, PY_STR))
                    return true;
            }
        }
        it->arg_at++;
        it->at = 0;
    }
    return false;
}

/* "file" of "file.managed". NEW. */
py_t *
stateconf_type(const py_t *state)
{
    const char *text = py_cstr(state);

    return py_str(text, strcspn(text, "."));
}

/* NEW {key: value}. TAKES the value. */
py_t *
stateconf_pair(py_t *key, py_t *value)
{
    py_t *pair = py_dict();

    py_dict_set(pair, key, value);
    py_unref(value);
    return pair;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* "..db" in the file "web.conf" is "db": each dot takes a part of the file's name away. NEW, or NULL with
 * *err. */
static char *
absolute_sls(const char *relative, const char *sls, fail_t *err)
{
    size_t level = strspn(relative, "."), parts = 1;
    const char *end = sls + strlen(sls);

    for (const char *p = sls; *p != '\0'; p++)
        parts += *p == '.';
    if (level > parts) {
        (void) fail_set(err, -EINVAL, "Attempted relative include goes beyond top level package");
        return NULL;
    }
    for (size_t drop = level; drop > 0 && end > sls; drop--)
        while (end > sls && *--end != '.')
            ;
    return xasprintf("%.*s%s%s", (int) (end - sls), sls, end > sls ? "." : "", relative + level);
}

/* ".x" in the file "web.conf" is "web.conf::x", ".a.x" is "web.conf.a::x", and ".db::x" is of another file.
 * NEW, or NULL with *err. */
static py_t *
absolute_id(const char *id, const char *sls, fail_t *err)
{
    AUTO_FREE char *within = xasprintf("%s.", sls);
    AUTO_FREE char *name = absolute_sls(id, strstr(id, "::") != NULL ? sls : within, err);
    char *dot = name != NULL && strstr(id, "::") == NULL ? strrchr(name, '.') : NULL;

    if (name == NULL || dot == NULL)
        return name != NULL ? py_strz(name) : NULL;
    return py_strf("%.*s::%s", (int) (dot - name), name, dot + 1);
}

/* One entry of `include`: "x", or {"dev": "x"}. A relative one becomes {ENV: x}. */
static int
names_include(py_t *list, size_t i, const char *sls, const char *saltenv, fail_t *err)
{
    py_t *entry = py_seq_at(list, i), *key = NULL, *target = entry;

    (void) first_of(entry, &key, &target);
    if (!py_is(target, PY_STR) || !str_starts(py_cstr(target), "."))
        return 0;
    AUTO(py) from = key != NULL ? py_ref(key) : py_strz(saltenv);
    AUTO_FREE char *name = absolute_sls(py_cstr(target), sls, err);
    if (name == NULL)
        return -EINVAL;
    AUTO(py) at = py_int((int64_t) i);
    AUTO(py) pair = stateconf_pair(from, py_strz(name));
    return py_setitem(list, at, pair);
}

static int
names_exclude(py_t *entry, const char *sls, fail_t *err)
{
    py_t *target = py_is(entry, PY_DICT) ? py_dict_gets(entry, "sls") : NULL;

    if (target == NULL || !str_starts(py_cstr(target), "."))
        return 0;
    AUTO_FREE char *name = absolute_sls(py_cstr(target), sls, err);
    if (name == NULL)
        return -EINVAL;
    py_dict_sets_new(entry, "sls", py_strz(name));
    return 0;
}

int
stateconf_includes(py_t *data, const char *sls, const char *saltenv, fail_t *err)
{
    py_t *include = py_dict_gets(data, "include"), *exclude = py_dict_gets(data, "exclude");
    size_t includes = include != NULL && py_is(include, PY_LIST) ? py_seq_len(include) : 0;
    size_t excludes = exclude != NULL && py_is(exclude, PY_LIST) ? py_seq_len(exclude) : 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < includes; i++)
        rc = names_include(include, i, sls, saltenv, err);
    for (size_t i = 0; rc == 0 && i < excludes; i++)
        rc = names_exclude(py_seq_at(exclude, i), sls, err);
    return rc;
}

/* The IDs in requisites. */
static int
name_requisites(py_t *data, const char *sls, fail_t *err)
{
    static const char *const names[] = { "require", "require_in", "watch",     "watch_in",  "use",
                                         "use_in",  "listen",     "listen_in", "onchanges", "onchanges_in",
                                         "onfail",  "onfail_in",  NULL };

    for (stateconf_iter_t it = { .data = data }; stateconf_next(&it);) {
        for (stateconf_req_t req = { .args = it.args, .names = names }; stateconf_next_req(&req);) {
            if (!str_starts(py_cstr(req.id), "."))
                continue;
            AUTO(py) type = py_ref(req.type);
            AUTO(py) id = absolute_id(py_cstr(req.id), sls, err);
            if (id == NULL || py_dict_set(req.holder, type, id) < 0)
                return -EINVAL;
        }
    }
    return 0;
}

/* States of an ID that is renamed keep it, without its dot, as their name. */
static void
keep_names(py_t *states, const char *id)
{
    py_t *state, *args, *word, *value;

    for (size_t at = 0; py_is(states, PY_DICT) && py_dict_next(states, &at, &state, &args);) {
        AUTO(py) type = stateconf_type(state);
        bool named = false;
        for (size_t i = 0; py_is(args, PY_LIST) && i < py_seq_len(args); i++)
            named = named || (first_of(py_seq_at(args, i), &word, &value) && py_str_is(word, "name"));
        if (py_str_is(type, "stateconf") || !py_is(args, PY_LIST) || named)
            continue;
        AUTO(py) key = py_strz("name");
        AUTO(py) pair = stateconf_pair(key, py_strz(id + 1));
        AUTO(py) all = py_list();
        py_append(all, pair);
        py_extend(all, args);
        py_dict_set(states, state, all);
    }
}

/* Renames every ID with a leading dot, in the file, in its `extend` and in requisites. */
int
stateconf_names(py_t *data, const char *sls, fail_t *err)
{
    py_t *extend = py_dict_gets(data, "extend"), *id, *states;
    AUTO(py) all = py_list();

    if (extend != NULL && py_is(extend, PY_DICT) && stateconf_names(extend, sls, err) < 0)
        return -EINVAL;
    if (name_requisites(data, sls, err) < 0)
        return -EINVAL;
    for (size_t at = 0; py_dict_next(data, &at, &id, &states);)
        if (str_starts(py_cstr(id), "."))
            py_append(all, id);
    for (size_t i = 0; i < py_seq_len(all); i++) {
        id = py_seq_at(all, i);
        AUTO(py) name = absolute_id(py_cstr(id), sls, err);
        AUTO(py) held = py_ref(py_dict_get(data, id));
        if (name == NULL)
            return -EINVAL;
        if (py_dict_get(data, name) != NULL)
            return fail_set(err, -EINVAL,
                            "Can't rename state id(%s) into %s because the later already exists!",
                            py_cstr(id), py_cstr(name));
        keep_names(held, py_cstr(id));
        py_dict_set(data, name, held);
        py_dict_del(data, id);
    }
    return 0;
}
