/* high_decl.c - bring the declarations of one SLS into high data's shape: "pkg.installed" becomes module and
 * function, `extend` and `exclude` move to their lists, each state learns its SLS and gets its automatic
 * order.
 *
 * These are Salt's _handle_extend(), _handle_exclude(), _handle_state_decls() and _handle_iorder();
 * high_pad() is the variant for a template that stands alone (pad_funcs). */
#include "common/state/high.h"

/* "pkg" and "installed" of "pkg.installed". NEW. */
static void
split_dot(const char *text, py_t **ret_module, py_t **ret_function)
{
    const char *dot = strchr(text, '.');
    size_t more = strcspn(dot + 1, ".");

    *ret_module = py_str(text, (size_t) (dot - text));
    *ret_function = py_str(dot + 1, more);
}

/* BORROWED list at state[key], made when absent. */
static py_t *
high_decl_list_at(py_t *state, const char *key)
{
    py_t *list = py_dict_gets(state, key);

    if (list != NULL && py_is(list, PY_LIST))
        return list;
    py_dict_sets_new(state, key, py_list());
    return py_dict_gets(state, key);
}

/* NEW value taken out of `state`, or NULL. */
static py_t *
high_decl_take(py_t *state, const char *key)
{
    py_t *value = py_ref(py_dict_gets(state, key));
    AUTO(py) name = py_strz(key);

    if (value != NULL)
        py_dict_del(state, name);
    return value;
}

/* body["pkg.installed"]: [args] becomes body["pkg"]: [args, "installed"]. `seen`: modules of this ID so far
 * (NULL: not asked); a second declaration of one stays where it is, and false comes back. */
static bool
high_decl_split_key(py_t *body, py_t *key, py_t *seen)
{
    AUTO(py) run = py_ref(py_dict_get(body, key));
    AUTO(py) module = NULL;
    AUTO(py) function = NULL;

    if (strchr(py_cstr(key), '.') == NULL) {
        if (seen != NULL)
            py_set_add(seen, key);
        return true;
    }
    split_dot(py_cstr(key), &module, &function);
    if (seen != NULL && py_in(module, seen) == 1)
        return false;
    py_dict_del(body, key);
    py_dict_set(body, module, run);
    py_append(run, function);
    if (seen != NULL)
        py_set_add(seen, module);
    return true;
}

static void
high_decl_say_where(const decl_t *self, const char *id)
{
    const high_env_t env = { .from = self->from };

    place_add(&env, self->errors, self->saltenv, self->sls, id);
}

/* Split every "module.function" key of an ID. The keys are copied first, as the dict changes meanwhile. */
static void
split_keys(const decl_t *self, const char *id, py_t *body, py_t *seen)
{
    AUTO(py) keys = py_tolist(body);

    for (size_t i = 0; i < py_seq_len(keys); i++) {
        py_t *key = py_seq_at(keys, i);
        if (!py_is(key, PY_STR)) {
            /* Reports a key that is not text. */
            AUTO_FREE char *text = py_show(key);
            add_error(self->errors,
                      "State '%s' of ID '%s' in SLS '%s' is not formed as a string, but is a %s", text, id,
                      self->sls, py_type_name(key));
            high_decl_say_where(self, id);

            continue;
        }
        if (*py_cstr(key) != '_' && py_is(py_dict_get(body, key), PY_LIST) &&
            !high_decl_split_key(body, key, seen)) {
            /* Reports a second state of the same type. */
            add_error(self->errors,
                      "ID '%s' in SLS '%s' contains multiple state declarations of the same type", id,
                      self->sls);
            high_decl_say_where(self, id);
        }
    }
}

/* An SLS may set both itself; Salt keeps them. */
static void
high_decl_set_origin(const decl_t *self, py_t *body)
{
    if (py_dict_gets(body, "__sls__") == NULL)
        py_dict_sets_new(body, "__sls__", py_strz(self->sls));
    if (py_dict_gets(body, "__env__") == NULL)
        py_dict_sets_new(body, "__env__", py_strz(self->saltenv));
}

void
decl_lists(const decl_t *self, py_t *state)
{
    static const struct {
        const char *own, *word;
    } rows[] = { { "__extend__", "extend" }, { "__exclude__", "exclude" } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        py_t *value = py_dict_gets(state, rows[i].own);
        if (value == NULL || py_is(value, PY_LIST))
            continue;
        py_unref(high_decl_take(state, rows[i].own));
        add_error(self->errors, "%s in SLS '%s' is a list that is made from '%s:'; write that instead",
                  rows[i].own, self->sls, rows[i].word);
        high_decl_say_where(self, rows[i].own);
    }
}

/* Extensions are applied later, when all SLS are known: see requisite_extend.c. */
void
decl_extend(const decl_t *self, py_t *state)
{
    AUTO(py) extend = high_decl_take(state, "extend");
    py_t *name, *body;

    if (extend == NULL)
        return;
    if (!py_is(extend, PY_DICT)) {
        add_error(self->errors, "Extension value in SLS '%s' is not a dictionary", self->sls);
        return;
    }
    for (size_t at = 0; py_dict_next(extend, &at, &name, &body);) {
        AUTO_FREE char *id = py_show(name);
        if (!py_is(body, PY_DICT)) {
            add_error(self->errors, "Extension name '%s' in SLS '%s' is not a dictionary", id, self->sls);
            continue;
        }
        high_decl_set_origin(self, body);
        split_keys(self, id, body, NULL);
    }
    py_append(high_decl_list_at(state, "__extend__"), extend);
}

void
decl_exclude(const decl_t *self, py_t *state)
{
    AUTO(py) exclude = high_decl_take(state, "exclude");

    if (exclude == NULL)
        return;
    if (!py_is(exclude, PY_LIST))
        add_error(self->errors, "Exclude Declaration in SLS %s is not formed as a list", self->sls);
    else
        py_extend(high_decl_list_at(state, "__exclude__"), exclude);
}

/* The body of the short form "ID: pkg.installed". NEW; `self` NULL: no SLS to note as origin. */
static py_t *
short_body(const decl_t *self, const char *text)
{
    AUTO(py) module = NULL;
    AUTO(py) function = NULL;
    AUTO(py) run = py_list();
    py_t *body = py_dict();

    split_dot(text, &module, &function);
    py_append(run, function);
    if (self != NULL)
        high_decl_set_origin(self, body);
    py_dict_set(body, module, run);
    return body;
}

/* Runs after `include`, `extend` and `exclude` were taken out: every key that is left is an ID. */
void
decl_states(const decl_t *self, py_t *state)
{
    py_t *name, *body;

    for (size_t at = 0; py_dict_next(state, &at, &name, &body);) {
        if (py_str_is(name, "__extend__") || py_str_is(name, "__exclude__"))
            continue;
        AUTO_FREE char *id = py_show(name);
        if (py_is(body, PY_STR) && strchr(py_cstr(body), '.') != NULL) {
            AUTO(py) padded = short_body(self, py_cstr(body));
            py_dict_set(state, name, padded);
            continue;
        }
        if (!py_is(body, PY_DICT)) {
            add_error(self->errors, "ID %s in SLS %s is not a dictionary", id, self->sls);
            suggest_declaration(self->errors, id);
            continue;
        }
        AUTO(py) seen = py_set(false);
        split_keys(self, id, body, seen);
        high_decl_set_origin(self, body);
    }
}

/* True when the arguments of a state set `order`, to a number or a word. */
static bool
has_order(const py_t *run)
{
    for (size_t i = 0; i < py_seq_len(run); i++) {
        const py_t *key = dict_first(py_seq_at(run, i), NULL);
        if (key != NULL && py_str_is(key, "order"))
            return true;
    }
    return false;
}

/* A state without `order` gets the next number, so that states run in the order of their files. */
void
decl_order(py_t *bodies, int64_t *iorder)
{
    py_t *key, *run;

    for (size_t i = 0; i < py_seq_len(bodies); i++) {
        py_t *body = py_seq_at(bodies, i);
        for (size_t at = 0; py_is(body, PY_DICT) && py_dict_next(body, &at, &key, &run);) {
            if (!py_is(key, PY_STR) || *py_cstr(key) == '_' || !py_is(run, PY_LIST) || has_order(run))
                continue;
            AUTO(py) order = py_dict();
            py_dict_sets_new(order, "order", py_int((*iorder)++));
            py_append(run, order);
        }
    }
}

/* ---- a single template ----------------------------------------------------------------------- */

/* state.template and state.template_str: the file stands alone, so words that need other SLS are refused, and
 * IDs get no origin. */
void
high_pad(py_t *high, const char *template, json_t *errors)
{
    static const char *const invalid[] = { "include", "exclude", "extends" };
    py_t *name, *body;

    if (!py_is(high, PY_DICT)) {
        add_error(errors, "Template %s does not render to a dictionary", template);
        return;
    }
    for (size_t i = 0; i < NELEMS(invalid); i++) {
        if (py_dict_gets(high, invalid[i]) == NULL)
            continue;
        add_error(errors, "The '%s' declaration found on '%s' is invalid when rendering single templates",
                  invalid[i], template);
        return;
    }
    for (size_t at = 0; py_dict_next(high, &at, &name, &body);) {
        AUTO_FREE char *id = py_show(name);
        if (py_is(body, PY_STR) && strchr(py_cstr(body), '.') != NULL) {
            AUTO(py) padded = short_body(NULL, py_cstr(body));
            py_dict_set(high, name, padded);
        } else if (py_is(body, PY_STR)) {
            add_error(errors, "ID %s in template %s is not a dictionary", id, template);
        } else if (py_is(body, PY_DICT)) {
            /* Salt visits the keys in sorted order here, which decides which of two declarations is the
             * duplicate. */
            AUTO(py) keys = py_tolist(body);
            AUTO(py) seen = py_set(false);

            if (py_sort(keys, NULL, false) < 0)
                py_clear();
            for (size_t i = 0; i < py_seq_len(keys); i++) {
                py_t *key = py_seq_at(keys, i);
                py_t *run = py_dict_get(body, key);
                if (!py_is(key, PY_STR) || *py_cstr(key) == '_')
                    continue;
                if (py_is(run, PY_NONE))
                    add_error(
                        errors,
                        "ID '%s' in template %s contains a short declaration (%s) with a trailing colon. When not "
                        "passing any arguments to a state, the colon must be omitted.",
                        id, template, py_cstr(key));
                else if (py_is(run, PY_LIST) && !high_decl_split_key(body, key, seen))
                    add_error(
                        errors,
                        "ID '%s' in template '%s' contains multiple state declarations of the same type", id,
                        template);
            }
        }
    }
}
