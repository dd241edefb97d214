/* top_match.c - match the sections of the top file against this minion. Grains and pillar are fetched only if
 * a target needs them. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_json.h"
#include "common/state/top.h"
#include "salt/log.h"

typedef struct matching {
    highstate_t *high;
    const char *saltenv;
    json_t *matches; /* the result */
    json_t *pillar;  /* owned; NULL until a target needs it */
} matching_t;

/* Converted once. A pillar that JSON can't express counts as empty, which is logged. */
static json_t *
pillar_of(matching_t *self)
{
    if (self->pillar == NULL) {
        py_t *native = self->high->env.pillar;
        self->pillar = native != NULL ? py_to_json(native) : json_incref(ctx_pillar(self->high->env.ctx));
        if (self->pillar == NULL) {
            log_error("no target of the top file sees the pillar, JSON can't say it: %s", py_raised_text());
            self->pillar = json_object();
        }
        py_clear();
    }
    return self->pillar;
}

/* The matcher that an entry {"match": ...} names; compound by default. */
static const char *
matcher_of(py_t *entries)
{
    const char *matcher = "compound";

    for (size_t i = 0; i < py_seq_len(entries); i++)
        matcher = dict_text(py_seq_at(entries, i), "match", matcher);
    return matcher;
}

/* An unknown matcher or a malformed target matches nothing; Salt logs it too. */
static bool
top_match_is_target(matching_t *self, py_t *target, py_t *entries)
{
    call_ctx_t *ctx = self->high->env.ctx;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *text = py_show(target);
    json_auto_t *expr = json_string(text);
    tgt_type_t type;

    if (!tgt_type_parse(matcher_of(entries), &type)) {
        log_error("Attempting to match with unknown matcher: %s", matcher_of(entries));
        return false;
    }
    AUTO(target) wanted = target_new(expr, type, json_object_get(self->high->opts, "nodegroups"), NULL, &err);
    if (wanted == NULL) {
        log_error("Top file: target '%s': %s", text, fail_text(&err));
        return false;
    }
    match_subject_t minion = { ctx_id(ctx), target_needs_grains(wanted) ? ctx_grains(ctx) : NULL,
                               target_needs_pillar(wanted) ? pillar_of(self) : NULL, NULL };
    return target_match(wanted, &minion);
}

/* Adds an SLS to an environment's matches. NULL adds the environment alone. */
static void
top_match_add_sls(json_t *matches, const char *saltenv, const char *sls)
{
    json_t *list = json_object_get(matches, saltenv);

    if (list == NULL) {
        list = json_array();
        json_object_set_new(matches, saltenv, list);
    }
    if (sls != NULL)
        json_array_append_new(list, json_string(sls));
}

static void match_section(matching_t *self, py_t *target, py_t *entries);

/* Take an entry: "web", {"dev": "web"}, {"match": "grain"}, {"subfilter": {target: entries}, ...}. */
static void
top_match_take_entry(matching_t *self, py_t *entry)
{
    py_t *key, *value, *last_key = NULL, *last = NULL;

    if (py_is(entry, PY_STR)) {
        top_match_add_sls(self->matches, self->saltenv, py_cstr(entry));
        return;
    }
    for (size_t at = 0; py_is(entry, PY_DICT) && py_dict_next(entry, &at, &key, &value);) {
        py_t *target, *entries;
        if (!py_str_is(key, "subfilter")) {
            last_key = key;
            last = value;
            continue;
        }
        for (size_t in = 0; py_is(value, PY_DICT) && py_dict_next(value, &in, &target, &entries);)
            match_section(self, target, entries);
    }
    if (last != NULL && py_is(last_key, PY_STR) && py_is(last, PY_STR) &&
        highstate_has_env(self->high, py_cstr(last_key)))
        top_match_add_sls(self->matches, py_cstr(last_key), py_cstr(last));
}

/* Subfilters recurse; py_enter() bounds the depth. */
static void
match_section(matching_t *self, py_t *target, py_t *entries)
{
    AUTO(py) list = py_is(entries, PY_LIST) ? py_ref(entries) : py_list();

    if (py_is(entries, PY_STR))
        py_append(list, entries);
    if (py_enter() < 0) {
        py_clear();
        return;
    }
    if (top_match_is_target(self, target, list)) {
        top_match_add_sls(self->matches, self->saltenv, NULL);
        for (size_t i = 0; i < py_seq_len(list); i++)
            top_match_take_entry(self, py_seq_at(list, i));
    }
    py_leave();
}

/* Sections and targets in the order of the file: a minion's SLS run in the order in which they are named. */
json_t *
highstate_match(highstate_t *high, py_t *top)
{
    matching_t self = { .high = high, .matches = json_object() };
    const char *only = high->env.saltenv;
    py_t *saltenv, *section, *target, *entries;

    for (size_t at = 0; py_dict_next(top, &at, &saltenv, &section);) {
        AUTO_FREE char *env = py_show(saltenv);
        if (!py_is(section, PY_DICT) || (!str_empty(only) && strcmp(only, env) != 0))
            continue;
        self.saltenv = env;
        for (size_t in = 0; py_dict_next(section, &in, &target, &entries);)
            match_section(&self, target, entries);
    }
    json_decref(self.pillar);
    return self.matches;
}
