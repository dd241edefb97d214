/* top_merge.c - the strategies of top_file_merging_strategy: merge (base wins), same (each environment for
 * itself), merge_all (lists are concatenated). */
#include "common/base/str.h"
#include "common/state/top.h"
#include "salt/log.h"

typedef struct merge {
    const highstate_t *high;
    py_t *tops; /* {environment: [top file, ...]} */
    py_t *top;  /* the result */
    json_t *errors;
} merge_t;

/* How a strategy places a target that may exist already. */
typedef void place_fn(py_t *matches, py_t *target, py_t *entries);

/* A later file's entries replace an earlier one's. */
static void
place_over(py_t *matches, py_t *target, py_t *entries)
{
    py_dict_set(matches, target, entries);
}

/* The last matcher dict of a list of entries; its SLS are appended to `ret_states`. BORROWED, or NULL. */
static py_t *
read_target(py_t *entries, py_t *ret_states)
{
    py_t *match = NULL;

    for (size_t i = 0; py_is(entries, PY_LIST) && i < py_seq_len(entries); i++) {
        py_t *entry = py_seq_at(entries, i);
        if (py_is(entry, PY_DICT))
            match = entry;
        else if (py_is(entry, PY_STR))
            py_append(ret_states, entry);
    }
    return match;
}

/* Merges the entries of a target that two top files name. The newer kind of match wins, and states are kept
 * once. */
static void
place_beside(py_t *matches, py_t *target, py_t *entries)
{
    py_t *there = py_dict_get(matches, target);

    if (there == NULL) {
        py_dict_set(matches, target, entries);
        return;
    }
    AUTO(py) merged = py_list();
    AUTO(py) states = py_list();
    AUTO(py) more = py_list();
    py_t *match = read_target(there, states), *newer = read_target(entries, more);
    if (newer != NULL && py_dict_len(newer) > 0)
        match = newer;
    if (match != NULL)
        py_append(merged, match);
    py_extend(merged, states);
    /* Like Salt, compare with the entries that were there before, not with those added now. */
    AUTO(py) before = py_toset(states, false);
    for (size_t i = 0; i < py_seq_len(more); i++)
        if (py_in(py_seq_at(more, i), before) != 1)
            py_append(merged, py_seq_at(more, i));
    py_dict_set(matches, target, merged);
}

/* Place one environment's section of a top file into the result. */
static void
place_section(merge_t *self, py_t *saltenv, py_t *section, place_fn *place)
{
    py_t *matches = py_dict_get(self->top, saltenv), *target, *entries;

    if (!py_is(section, PY_DICT)) {
        if (json_array_size(self->errors) == 0)
            add_error(self->errors, "Unable to render top file. No targets found.");
        return;
    }
    if (matches == NULL && py_dict_len(section) > 0) {
        AUTO(py) fresh = py_odict();
        py_dict_set(self->top, saltenv, fresh);
        matches = fresh;
    }
    for (size_t at = 0; py_dict_next(section, &at, &target, &entries);)
        place(matches, target, entries);
}

/* ---- merge ----------------------------------------------------------------------------------- */

/* The base top file decides for all environments; another environment's file counts only for itself, and only
 * if base has no section for it. */
static void
merge_base_first(merge_t *self)
{
    AUTO(py) base = py_ref(py_dict_gets(self->tops, "base"));
    AUTO(py) key = py_strz("base");
    py_t *cenv, *list, *saltenv, *section;

    py_dict_del(self->tops, key);
    for (size_t i = 0; base != NULL && i < py_seq_len(base); i++)
        for (size_t at = 0; py_dict_next(py_seq_at(base, i), &at, &saltenv, &section);)
            if (!py_str_is(saltenv, "include"))
                place_section(self, saltenv, section, place_over);
    for (size_t at = 0; py_dict_next(self->tops, &at, &cenv, &list);)
        for (size_t i = 0; i < py_seq_len(list); i++) {
            section = py_dict_get(py_seq_at(list, i), cenv);
            if (section != NULL && py_dict_get(self->top, cenv) == NULL)
                place_section(self, cenv, section, place_over);
        }
}

/* ---- same ------------------------------------------------------------------------------------ */

static bool
top_merge_is_empty(const py_t *list)
{
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++)
        if (py_dict_len(py_seq_at(list, i)) > 0)
            return false;
    return true;
}

/* Merges with the strategy "same": each environment counts only with the section that its own top file has
 * for it. An environment without a top file uses its section in default_top's file. */
static void
merge_same(merge_t *self)
{
    const char *dflt = value_str(self->high->opts, "default_top", "base");
    py_t *cenv, *list;

    for (size_t at = 0; py_dict_next(self->tops, &at, &cenv, &list);) {
        if (top_merge_is_empty(list))
            list = py_dict_gets(self->tops, dflt);
        if (top_merge_is_empty(list)) {
            log_error("The '%s' saltenv has no top file, and the fallback saltenv specified by default_top "
                      "(%s) also has no top file",
                      py_cstr(cenv), dflt);
            continue;
        }
        for (size_t i = 0; i < py_seq_len(list); i++) {
            py_t *section = py_dict_get(py_seq_at(list, i), cenv);
            if (section != NULL)
                place_section(self, cenv, section, place_over);
        }
    }
}

/* ---- merge_all ------------------------------------------------------------------------------- */

/* Every section of every environment's file counts, also for other environments. */
static void
merge_all(merge_t *self)
{
    py_t *cenv, *list, *saltenv, *section;

    for (size_t at = 0; py_dict_next(self->tops, &at, &cenv, &list);)
        for (size_t i = 0; i < py_seq_len(list); i++)
            for (size_t in = 0; py_dict_next(py_seq_at(list, i), &in, &saltenv, &section);)
                if (!py_str_is(saltenv, "include"))
                    place_section(self, saltenv, section, place_beside);
}

static const struct {
    const char *name;
    void (*merge)(merge_t *self);
} strategies[] = {
    { "merge", merge_base_first },
    { "same", merge_same },
    { "merge_all", merge_all },
};

const char *
highstate_strategy_problem(const highstate_t *high)
{
    if (!str_eq(value_str(high->opts, "top_file_merging_strategy", "merge"), "same") ||
        !str_empty(high->env.saltenv) || !str_empty(value_str(high->opts, "default_top", "base")))
        return NULL;
    return "Unable to render top file: top_file_merging_strategy set to 'same', but no default_top "
           "configuration option was set";
}

py_t *
highstate_merge(const highstate_t *high, py_t *tops, json_t *errors)
{
    merge_t self = { high, tops, py_odict(), errors };
    const char *name = value_str(high->opts, "top_file_merging_strategy", "merge");

    for (size_t i = 0; i < NELEMS(strategies); i++) {
        if (strcmp(strategies[i].name, name) == 0) {
            strategies[i].merge(&self);
            return self.top;
        }
    }
    log_warning("Invalid top_file_merging_strategy '%s', falling back to 'merge'", name);
    merge_base_first(&self);
    return self.top;
}
