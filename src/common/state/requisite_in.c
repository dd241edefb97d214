/* requisite_in.c - turn require_in, watch_in, onfail_in, onchanges_in, prereq, prereq_in, use and use_in into
 * extensions of their targets: Salt's requisite_in().
 *
 * Every state's arguments are visited once; what they ask for is gathered in `extend` and merged at the end
 * by high_reconcile(), so that later statements don't see earlier ones' effects. */
#include "common/state/high.h"

typedef struct reqin {
    py_t *high;
    names_t *names;
    const high_env_t *env;
    json_t *errors;
    py_t *extend;   /* ID to {state: [arguments to lay over]} */
    py_t *gathered; /* the same, to {"require": the list in `extend`} */
    py_t *disabled; /* set of words */
    py_t *by_name;  /* "name: x" to {state: ID} of the first; NULL: not looked for yet */
    /* the statement being applied */
    py_t *id, *body, *state, *key;
    const char *rkey;
    int count; /* of targets, so far */
} reqin_t;

/* REQ_IN: the target requires us. PREREQ: the target gets `prerequired`. USE copies arguments to us, USE_IN
 * from us. */
typedef enum req_kind { REQ_NONE, REQ_IN, REQ_PREREQ, REQ_PREREQ_IN, REQ_USE, REQ_USE_IN } req_kind_t;

static const struct {
    const char *word, *rkey;
    req_kind_t kind;
} rows[] = {
    { "require_in", "require", REQ_IN }, { "watch_in", "watch", REQ_IN },
    { "onfail_in", "onfail", REQ_IN },   { "onchanges_in", "onchanges", REQ_IN },
    { "prereq", "prereq", REQ_PREREQ },  { "prereq_in", "prereq", REQ_PREREQ_IN },
    { "use", "use", REQ_USE },           { "use_in", "use", REQ_USE_IN },
};

/* The arguments that `use` never copies, besides those that the target has. */
static bool
is_never_used(const py_t *key)
{
    static const char *const words[] = { "require",   "watch", "onfail", "onfail_stop",
                                         "onchanges", "name",  "names" };

    for (size_t i = 0; i < NELEMS(words); i++)
        if (py_str_is(key, words[i]))
            return true;
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (py_str_is(key, rows[i].word))
            return true;
    return false;
}

/* BORROWED member of a dict of dicts, made when absent; NULL for a key that cannot be one. */
static py_t *
requisite_in_member(py_t *dict, py_t *key, py_type_t type)
{
    py_t *there = py_dict_get(dict, key);

    if (there != NULL)
        return there;
    AUTO(py) fresh = type == PY_LIST ? py_list() : py_odict();
    if (py_dict_set(dict, key, fresh) < 0) {
        py_clear();
        return NULL;
    }
    return fresh;
}

/* BORROWED list of arguments to lay over a state of an ID. */
static py_t *
extension(reqin_t *self, py_t *id, py_t *state)
{
    py_t *body = requisite_in_member(self->extend, id, PY_DICT);
    return body != NULL ? requisite_in_member(body, state, PY_LIST) : NULL;
}

/* NEW {state: id}, as it stands in lists of requisites; empty when `state` is not hashable. */
static py_t *
reference(py_t *state, py_t *id)
{
    py_t *ref = py_odict();

    if (py_dict_set(ref, state, id) < 0)
        py_clear();
    return ref;
}

/* Add {our state: our ID} to extend[name][state][rkey]. `gathered` finds the list of rkey again, so that
 * several statements share one argument. */
static void
require_us(reqin_t *self, py_t *name, py_t *state)
{
    py_t *args = extension(self, name, state);
    py_t *by_state = requisite_in_member(self->gathered, name, PY_DICT);
    py_t *by_rkey = by_state != NULL ? requisite_in_member(by_state, state, PY_DICT) : NULL;

    if (args == NULL || by_rkey == NULL)
        return;
    py_t *extended = py_dict_get(self->extend, name);
    py_t *saltenv = py_dict_gets(self->body, "__env__"), *sls = py_dict_gets(self->body, "__sls__");
    if (saltenv != NULL)
        py_dict_sets(extended, "__env__", saltenv);
    if (sls != NULL)
        py_dict_sets(extended, "__sls__", sls);
    py_t *list = py_dict_gets(by_rkey, self->rkey);
    if (list == NULL) {
        AUTO(py) fresh = py_list();
        AUTO(py) arg = py_odict();
        py_dict_sets(arg, self->rkey, fresh);
        py_append(args, arg);
        py_dict_sets(by_rkey, self->rkey, fresh);
        list = fresh;
    }
    py_append_new(list, reference(self->state, self->id));
}

/* `prerequired` is the reverse side of `prereq`: the runner holds this state until the test run of the
 * other. */
static void
add_prerequired(reqin_t *self, py_t *id, py_t *state, py_t *by_state, py_t *by_id)
{
    py_t *args = extension(self, id, state);

    if (args == NULL)
        return;
    AUTO(py) list = py_list();
    AUTO(py) arg = py_odict();
    py_append_new(list, reference(by_state, by_id));
    py_dict_sets(arg, "prerequired", list);
    py_append(args, arg);
}

/* Copy the arguments of high[from][from_state] that high[to][to_state] lacks into its extension. */
static void
hand_on(reqin_t *self, py_t *from, py_t *from_state, py_t *to, py_t *to_state, py_t *known_state)
{
    AUTO(py) known = py_set(false); /* the arguments that the target has */
    py_t *there = py_dict_get(self->high, to), *body = py_dict_get(self->high, from);
    py_t *has = there != NULL && py_is(there, PY_DICT) ? py_dict_get(there, known_state) : NULL;
    py_t *run = body != NULL && py_is(body, PY_DICT) ? py_dict_get(body, from_state) : NULL;
    py_t *args = extension(self, to, to_state);

    for (size_t i = 0; has != NULL && py_is(has, PY_LIST) && i < py_seq_len(has); i++) {
        py_t *arg = py_seq_at(has, i);
        if (py_is(arg, PY_DICT) && py_dict_len(arg) == 1)
            py_set_add(known, dict_first(arg, NULL));
    }
    for (size_t i = 0; args != NULL && run != NULL && py_is(run, PY_LIST) && i < py_seq_len(run); i++) {
        py_t *arg = py_seq_at(run, i);
        if (!py_is(arg, PY_DICT) || py_dict_len(arg) != 1)
            continue;
        py_t *key = dict_first(arg, NULL);
        if (!is_never_used(key) && py_in(key, known) == 0)
            py_append(args, arg);
    }
}

/* False for a list or a mapping where a name is meant, which becomes an error. */
static bool
is_name(reqin_t *self, py_t *name)
{
    uint64_t hash;

    if (py_hash(name, &hash) == 0)
        return true;
    py_clear();
    AUTO_FREE char *text = py_show(name);
    add_error(self->errors, "Illegal requisite \"%s\", please check your syntax.\n", text);
    return false;
}

/* Apply one (name, state) target of a statement. */
static void
apply_hinge(reqin_t *self, req_kind_t kind, py_t *name, py_t *state)
{
    /* Salt has no bound, and two long lists multiply. The error is said once. */
    if (++self->count > LIMIT_REQUISITES) {
        if (self->count == LIMIT_REQUISITES + 1)
            add_error(self->errors,
                      "More than %d requisites come from \"%s\" and the like: give whole SLS fewer of them",
                      LIMIT_REQUISITES, self->rkey);
        return;
    }
    if (!is_name(self, name))
        return;
    if (kind == REQ_PREREQ_IN)
        add_prerequired(self, self->id, self->state, state, name);
    if (kind == REQ_IN || kind == REQ_PREREQ_IN) {
        require_us(self, name, state);
        return;
    }

    /* The other kinds need the target itself, which may be named by a `name`. */
    AUTO(py) found = high_find_name(self->names, self->high, name, state, true);
    for (size_t i = 0; i < py_seq_len(found); i++) {
        py_t *pair = py_seq_at(found, i);
        py_t *id = py_seq_at(pair, 0), *found_state = py_seq_at(pair, 1);
        if (kind == REQ_PREREQ)
            add_prerequired(self, id, found_state, self->state, self->id);
        else if (kind == REQ_USE_IN)
            hand_on(self, self->id, self->state, id, found_state, state);
        else
            hand_on(self, id, found_state, self->id, self->state, self->state);
    }
}

/* Report "pkg.installed: x" where "pkg: x" is meant. */
static void
check_dot(reqin_t *self, py_t *state, py_t *name)
{
    AUTO_FREE char *word = py_show(state);
    const char *dot = strchr(word, '.');

    if (dot == NULL)
        return;
    AUTO_FREE char *target = py_show(name);
    AUTO_FREE char *id = py_show(self->id);
    const char *sls = dict_text(self->body, "__sls__", "");
    add_error(
        self->errors,
        "Invalid requisite in %s: %s for %s, in SLS '%s'. Requisites must not contain dots, did you mean "
        "'%.*s'?",
        self->rkey, word, target, sls, (int) (dot - word), word);
    place_add(self->env, self->errors, dict_text(self->body, "__env__", "base"), sls, id);
}

/* ---- naming a target by its ID or name alone ------------------------------------------------- */

/* Indexes the names of all states, once, when the first bare word asks for them. */
static void
gather_names(reqin_t *self)
{
    py_t *id, *body, *state, *run;

    self->by_name = py_dict();
    for (size_t at = 0; py_dict_next(self->high, &at, &id, &body);)
        for (size_t in = 0; py_is(body, PY_DICT) && py_dict_next(body, &in, &state, &run);)
            if (!high_internal(state)) {
                /* Index names for targets given as a bare word; the first state of a name wins. */
                for (size_t i = 0; py_is(run, PY_LIST) && i < py_seq_len(run); i++) {
                    py_t *arg = py_seq_at(run, i);
                    py_t *name = py_is(arg, PY_DICT) ? py_dict_gets(arg, "name") : NULL;
                    if (name == NULL || !py_is(name, PY_STR) || py_dict_get(self->by_name, name) != NULL)
                        continue;
                    AUTO(py) ref = reference(state, id);
                    py_dict_set(self->by_name, name, ref);
                }
            }
}

/* Resolve a bare word: an ID's first state, or else the first state of that name. NEW {state: ID}, or
 * NULL. */
static py_t *
resolve_word(reqin_t *self, py_t *word)
{
    py_t *state, *run, *body = py_dict_get(self->high, word);

    py_clear();
    if (body != NULL && py_is(body, PY_DICT)) {
        for (size_t at = 0; py_dict_next(body, &at, &state, &run);)
            if (!high_internal(state))
                return reference(state, word);
        return NULL;
    }
    if (self->by_name == NULL)
        gather_names(self);
    py_t *ref = py_dict_get(self->by_name, word);
    py_clear();
    return py_ref(ref);
}

/* ---- the statements -------------------------------------------------------------------------- */

/* List every (ID, state) of an SLS. NEW. */
static py_t *
sls_hinges(reqin_t *self, py_t *sls)
{
    py_t *hinges = py_list(), *state, *run, *ids = names_of_sls(self->names, sls);

    for (size_t i = 0; ids != NULL && i < py_seq_len(ids); i++) {
        py_t *id = py_seq_at(ids, i), *body = py_dict_get(self->high, id);
        for (size_t at = 0; py_dict_next(body, &at, &state, &run);)
            if (!high_internal(state))
                py_append_new(hinges, py_tuple_of(2, id, state));
    }
    return hinges;
}

/* Apply one list. After every entry Salt applies all that the list has gathered so far again, so that the
 * first targets appear once per entry. The run is the same, but the low state that users see is not; the
 * repetition ends at LIMIT_REQUISITE_REPEATS, because it is quadratic. */
static void
apply_list(reqin_t *self, req_kind_t kind, py_t *items)
{
    AUTO(py) hinges = py_list();

    for (size_t i = 0; i < py_seq_len(items); i++) {
        AUTO(py) item = py_ref(py_seq_at(items, i));
        py_t *name;
        if (!py_is(item, PY_DICT)) {
            if (!is_name(self, item))
                continue;
            py_t *ref = resolve_word(self, item);
            py_unref(item);
            item = ref;
        }
        py_t *state = item != NULL ? dict_first(item, &name) : NULL;
        if (state == NULL)
            continue;
        size_t from = py_seq_len(hinges) < LIMIT_REQUISITE_REPEATS ? 0 : py_seq_len(hinges);
        if (py_str_is(state, "sls")) {
            py_unref(hinges);
            hinges = sls_hinges(self, name);
            from = 0;
        } else {
            py_append_new(hinges, py_tuple_of(2, name, state));
        }
        check_dot(self, state, name);
        for (size_t k = from; k < py_seq_len(hinges); k++) {
            py_t *pair = py_seq_at(hinges, k);
            apply_hinge(self, kind, py_seq_at(pair, 0), py_seq_at(pair, 1));
        }
    }
}

/* Applies an argument such as require_in or watch_in, unless that requisite is disabled by the
 * configuration. */
static void
apply_arg(reqin_t *self, py_t *arg)
{
    py_t *items;

    self->key = dict_first(arg, &items);
    if (self->key == NULL || !py_is(self->key, PY_STR))
        return;
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (!py_str_is(self->key, rows[i].word))
            continue;
        if (py_in(self->key, self->disabled) == 1)
            return;
        self->rkey = rows[i].rkey;
        if (py_is(items, PY_LIST))
            apply_list(self, rows[i].kind, items);

        /* "watch_in: {service: x}" without a list; Salt takes every such word for a plain requisite. */
        py_t *state, *name;
        for (size_t at = 0; py_is(items, PY_DICT) && py_dict_next(items, &at, &state, &name);) {
            check_dot(self, state, name);
            AUTO_FREE char *word = py_show(state);
            word[strcspn(word, ".")] = '\0';
            AUTO(py) module = py_strz(word);
            require_us(self, name, module);
        }
        return;
    }
}

/* Read the option, which may be one word or a list. NEW set. */
static py_t *
disabled_requisites(const high_env_t *env)
{
    json_t *option = env != NULL && env->opts != NULL ? json_object_get(env->opts, "disabled_requisites")
                                                      : NULL;
    py_t *set = py_set(false);
    json_t *word;
    size_t i;

    json_array_foreach (option, i, word) {
        AUTO(py) text = py_strz(json_is_string(word) ? json_string_value(word) : "");
        py_set_add(set, text);
    }
    if (json_is_string(option)) {
        AUTO(py) text = py_strz(json_string_value(option));
        py_set_add(set, text);
    }
    return set;
}

/* The extensions that result go the way of the files' own, strictly: the target must have the state that is
 * named. */
void
high_requisite_in(py_t *high, const high_env_t *env, json_t *errors)
{
    AUTO(py) extend = py_odict();
    AUTO(py) gathered = py_dict();
    AUTO(py) disabled = disabled_requisites(env);
    py_t *run;

    if (!py_is(high, PY_DICT))
        return;
    AUTO(names) names = names_new(high);
    reqin_t self = { .high = high,
                     .names = names,
                     .env = env,
                     .errors = errors,
                     .extend = extend,
                     .gathered = gathered,
                     .disabled = disabled };
    for (size_t at = 0; py_dict_next(high, &at, &self.id, &self.body);) {
        if (!py_is(self.body, PY_DICT))
            continue;
        for (size_t in = 0; py_dict_next(self.body, &in, &self.state, &run);)
            for (size_t i = 0; !high_internal(self.state) && py_is(run, PY_LIST) && i < py_seq_len(run); i++)
                apply_arg(&self, py_seq_at(run, i));
    }

    AUTO(py) list = py_list();
    py_t *id, *body;

    for (size_t at = 0; py_dict_next(self.extend, &at, &id, &body);)
        py_append_new(list, reference(id, body));
    py_dict_sets(self.high, "__extend__", list);
    high_reconcile(self.high, self.names, true, self.env, self.errors);

    py_unref(self.by_name);
}
