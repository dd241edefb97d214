/* high_verify.c - check the shape of high data: Salt's verify_high(), error for error.
 *
 * Every check appends and goes on, so that one run shows all mistakes. Later steps rely on it: bodies are
 * dicts, states are lists, each has exactly one function. */
#include "common/state/high.h"

typedef struct verify {
    const high_env_t *env;
    json_t *errors;
    py_t *reqs; /* ID to {"state": state, requisite: its type, ...}: the last requisite argument of each */
    py_t *id, *body;
    const char *name, *sls; /* of the ID at hand, as text */
} verify_t;

#define SAY(v, ...) (add_error((v)->errors, __VA_ARGS__), say_where(v))

static void
say_where(verify_t *v)
{
    place_add(v->env, v->errors, dict_text(v->body, "__env__", "base"), v->sls, v->name);
}

/* Checks a requisite of a state, and that two states do not require each other. */
static void
verify_requisite(verify_t *v, py_t *state, py_t *mine, py_t *req)
{
    AUTO(py) by_id = NULL;
    py_t *target;

    if (py_is(req, PY_STR)) {
        by_id = py_dict();
        py_dict_sets(by_id, "id", req);
        req = by_id;
    }
    py_t *type = dict_first(req, &target);
    if (type == NULL) {
        AUTO_FREE char *text = py_show(req);
        SAY(v, "Requisite declaration %s in SLS %s is not formed as a single key dictionary", text, v->sls);
        return;
    }
    AUTO_FREE char *word = py_show(type);
    const char *dot = strchr(word, '.');
    if (dot != NULL)
        SAY(v,
            "Invalid requisite type '%s' in state '%s', in SLS '%s'. Requisite types must not contain "
            "dots, did you mean '%.*s'?",
            word, v->name, v->sls, (int) (dot - word), word);
    uint64_t hash;
    /* The target must be hashable. Salt hashes a dict by identity: legal here, but never found later. */
    if (!py_is(target, PY_DICT) && py_hash(target, &hash) < 0) {
        py_clear();
        AUTO_FREE char *text = py_show(target);
        SAY(v, "Illegal requisite \"%s\", please check your syntax.\n", text);
        return;
    }
    if (py_is(target, PY_DICT) || py_dict_set(mine, target, type) < 0) {
        py_clear();
        return;
    }

    /* Report two IDs that require each other. Salt finds only these direct circles here; longer ones are
     * found by the runner. */
    py_t *theirs = py_dict_get(v->reqs, target);
    py_t *back = theirs != NULL ? py_dict_get(theirs, v->id) : NULL;
    if (back == NULL || py_eq(back, state) != 1)
        return;
    if (py_eq(py_dict_gets(theirs, "state"), py_dict_get(mine, target)) == 1) {
        AUTO_FREE char *other = py_show(target);
        SAY(v, "A recursive requisite was found, SLS \"%s\" ID \"%s\" ID \"%s\"", v->sls, v->name, other);
    }
}

/* Each of require, watch, prereq and onchanges replaces what the ID's earlier one noted in `reqs`, as in
 * Salt. */
static void
verify_requisites(verify_t *v, py_t *state, const char *word, py_t *arg, py_t *list)
{
    if (!py_is(list, PY_LIST)) {
        SAY(v, "The %s statement in state '%s' in SLS '%s' needs to be formed as a list", word, v->name,
            v->sls);
    } else {
        AUTO(py) mine = py_dict();
        py_dict_sets(mine, "state", state);
        py_dict_set(v->reqs, v->id, mine);
        for (size_t i = 0; i < py_seq_len(list); i++)
            verify_requisite(v, state, mine, py_seq_at(list, i));
    }
    if (py_dict_len(arg) != 1)
        SAY(v, "Multiple dictionaries defined in argument of state '%s' in SLS '%s'", v->name, v->sls);
}

static bool
is_word_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Verify one argument; 1 when it names the function, so that the caller can count functions. */
static int
verify_arg(verify_t *v, py_t *state, py_t *arg)
{
    static const char *const checked[] = { "require", "watch", "prereq", "onchanges", NULL };
    py_t *value;

    if (py_is(arg, PY_STR)) {
        const char *text = py_cstr(arg);
        AUTO_FREE char *copy = xstrdup(text);
        char *start = copy + strspn(copy, " \t\r\n\f\v");
        size_t len = strlen(start);

        while (len > 0 && strchr(" \t\r\n\f\v", start[len - 1]) != NULL)
            start[--len] = '\0';
        if (strchr(start, ' ') != NULL)
            SAY(v,
                "The function \"%s\" in state \"%s\" in SLS \"%s\" has whitespace, a function with "
                "whitespace is not supported, perhaps this is an argument that is missing a \":\"",
                py_cstr(arg), v->name, v->sls);

        return 1;
    }
    if (!py_is(arg, PY_DICT))
        return 0;
    py_t *key = dict_first(arg, &value);
    if (key == NULL) {
        SAY(v, "An argument of state '%s' in SLS '%s' is empty", v->name, v->sls);
        return 0;
    }
    if (!py_is(key, PY_STR))
        return 0;
    const char *word = py_cstr(key);
    if (strcmp(word, "names") == 0 && !py_is(value, PY_LIST))
        SAY(v, "The 'names' argument in state '%s' in SLS '%s' needs to be formed as a list", v->name,
            v->sls);
    if (is_word_of(word, checked))
        verify_requisites(v, state, word, arg, value);

    /* These requisites must be lists. Salt iterates a string letter by letter when the state's turn comes;
     * here it would mean no requisites at all. */
    static const char *const words[] = { "require_any", "watch_any",  "onchanges_any", "onfail",
                                         "onfail_any",  "onfail_all", "listen_in",     NULL };
    if (is_word_of(word, words) && !py_is(value, PY_LIST) && !py_is(value, PY_NONE))
        SAY(v, "The %s statement in state '%s' in SLS '%s' needs to be formed as a list", word, v->name,
            v->sls);

    return 0;
}

/* Checks an ID and all its states. Keys that the compiler adds itself are skipped. */
static void
verify_id(verify_t *v)
{
    py_t *state, *run;

    if (!py_is(v->id, PY_STR))
        SAY(v, "ID '%s' in SLS '%s' is not formed as a string, but is a %s. It may need to be quoted.",
            v->name, v->sls, py_type_name(v->id));
    if (!py_is(v->body, PY_DICT)) {
        AUTO_FREE char *text = py_show(v->body);
        SAY(v, "The type %s in %s is not formatted as a dictionary", v->name, text);
        return;
    }
    for (size_t at = 0; py_dict_next(v->body, &at, &state, &run);)
        if (!high_internal(state)) {
            /* Checks a state of an ID: a list of arguments with exactly one function, in the key
             * ("pkg.installed") or in the list. */
            if (!py_is(state, PY_STR)) {
                AUTO_FREE char *text = py_show(state);
                SAY(v, "State '%s' of ID '%s' in SLS '%s' is not formed as a string, but is a %s", text,
                    v->name, v->sls, py_type_name(state));
                continue;
            }
            const char *word = py_cstr(state);
            if (py_is(run, PY_NONE)) {
                SAY(v,
                    "ID '%s' in SLS '%s' contains a short declaration (%s) with a trailing colon. When not passing "
                    "any arguments to a state, the colon must be omitted.",
                    v->name, v->sls, word);
                continue;
            }
            if (!py_is(run, PY_LIST)) {
                SAY(v, "State '%s' in SLS '%s' is not formed as a list", v->name, v->sls);
                place_note(v->errors, "Each argument is an item of its own: \"- name: value\".");
                suggest_declaration(v->errors, v->name);
                continue;
            }
            int functions = strchr(word, '.') != NULL;
            const char *glued = NULL;
            for (size_t i = 0; i < py_seq_len(run); i++) {
                py_t *arg = py_seq_at(run, i);
                functions += verify_arg(v, state, arg);
                if (glued == NULL && py_is(arg, PY_STR) && strchr(py_cstr(arg), ':') != NULL)
                    glued = py_cstr(arg);
            }
            if (functions == 0 && strcmp(word, "require") != 0 && strcmp(word, "watch") != 0)
                SAY(v, "No function declared in state '%s' in SLS '%s'", word, v->sls);
            else if (functions > 1) {
                SAY(v, "Too many functions declared in state '%s' in SLS '%s'", word, v->sls);
                AUTO_FREE char *space = glued == NULL ? NULL
                                                      : xasprintf("'%s' is no argument: YAML wants a space "
                                                                  "behind the colon.",
                                                                  glued);
                if (space != NULL)
                    place_note(v->errors, space);
            }
        }
}

void
high_verify(py_t *high, const high_env_t *env, json_t *errors)
{
    AUTO(py) reqs = py_dict();
    verify_t v = { .env = env, .errors = errors, .reqs = reqs };

    if (!py_is(high, PY_DICT)) {
        add_error(errors, "High data is not a dictionary and is invalid");
        return;
    }
    for (size_t at = 0; py_dict_next(high, &at, &v.id, &v.body);) {
        if (high_internal(v.id))
            continue;
        AUTO_FREE char *name = py_show(v.id);
        v.name = name;
        v.sls = dict_text(v.body, "__sls__", "");
        verify_id(&v);
    }
}
