/* peer_args.c - arguments of reactions, steps and states: where a peer's value would name a keyword.
 *
 * A text "name=value" among positional arguments is a keyword argument, as in Salt; so is each key of a
 * mapping among a reaction's `args` or module.run's, and of one below a name of a state's `names`. The file's
 * author may write these; a printed value must stay one argument, or one name. */
#include "common/base/str.h"
#include "common/data/args.h"
#include "common/py/py_as.h"
#include "common/py/py_peer.h"
#include "common/render/render_int.h"

typedef struct keywords {
    bool reaction;
    int left; /* containers left to visit, as aliases may repeat them many times */
} keywords_t;

/* True when a peer's part reaches into the name or the '=' of a text "name=value". */
static bool
names_keyword(const py_t *v)
{
    spans_auto_t said = SPANS_INIT;

    if (!py_is(v, PY_STR) || !py_is_peer(v))
        return false;
    py_peer_spans(v, &said);
    size_t len = args_keyword_len(py_cstr(v));
    return len > 0 && said.v[0].from <= len;
}

static const py_t *
find_text(const py_t *list)
{
    for (size_t i = 0; i < py_seq_len(list); i++)
        if (names_keyword(py_seq_at(list, i)))
            return py_seq_at(list, i);
    return NULL;
}

/* First key of a peer's in the mappings of a list. BORROWED, or NULL. */
static const py_t *
said_key(const py_t *list)
{
    py_t *key, *value;

    for (size_t i = 0; py_is(list, PY_LIST) && i < py_seq_len(list); i++) {
        const py_t *one = py_seq_at(list, i);
        for (size_t k = 0; py_is(one, PY_DICT) && py_dict_next(one, &k, &key, &value);)
            if (py_is_peer(key))
                return key;
    }
    return NULL;
}

/* Searches a key's value when the key holds arguments. */
static const py_t *
find_below(const keywords_t *self, const char *key, const py_t *v, int depth)
{
    if (str_eq(key, "arg") || str_eq(key, "args") || str_eq(key, "job_args")) {
        /* Searches the value of `arg`, `args` or `job_args`. A text of a step's `arg` is split into words,
         * so any '=' counts. */
        bool words = !self->reaction && str_eq(key, "arg");
        if (py_is(v, PY_LIST)) {
            const py_t *found = find_text(v);
            return found != NULL || !self->reaction || !str_eq(key, "args") ? found : said_key(v);
        }
        if (!py_is(v, PY_STR) || !py_is_peer(v) || (!words && !self->reaction))
            return NULL;
        return names_keyword(v) || (words && memchr(PY_TEXT(v), '=', PY_LEN(v)) != NULL) ? v : NULL;
    }
    if (str_eq(key, "names")) {
        /* Searches a state's `names`: a mapping there has arguments of its own, {name: [{argument:
         * value}]}. */
        const py_t *found = NULL;
        py_t *name, *own;
        for (size_t i = 0; py_is(v, PY_LIST) && i < py_seq_len(v); i++) {
            const py_t *one = py_seq_at(v, i);
            for (size_t k = 0; py_is(one, PY_DICT) && found == NULL && py_dict_next(one, &k, &name, &own);)
                found = said_key(own);
        }
        return found;
    }
    /* A function of module.run, in a state's list of arguments. */
    return !self->reaction && depth == 2 && strchr(key, '.') != NULL ? said_key(v) : NULL;
}

/* Searches recursively; `depth` counts the mappings around. The list of a reaction or a state is at the third
 * level: ID, function, list. */
static const py_t *
peer_args_find(keywords_t *self, const py_t *v, int depth)
{
    const py_t *found = NULL;
    py_t *key, *value;

    if (!py_is(v, PY_LIST) && !py_is(v, PY_DICT))
        return NULL;
    if (--self->left < 0) /* more than can be looked at is refused, as in has_call() */
        return v;
    if (py_is(v, PY_LIST) && self->reaction && depth == 2)
        found = find_text(v);
    for (size_t i = 0; py_is(v, PY_LIST) && found == NULL && i < py_seq_len(v); i++)
        found = peer_args_find(self, py_seq_at(v, i), depth);
    for (size_t i = 0; py_is(v, PY_DICT) && found == NULL && py_dict_next(v, &i, &key, &value);) {
        found = py_is(key, PY_STR) ? find_below(self, py_cstr(key), value, depth) : NULL;
        found = found != NULL ? found : peer_args_find(self, value, depth + 1);
    }
    return found;
}

const py_t *
run_find_keyword(const py_t *data, bool reaction)
{
    keywords_t self = { .reaction = reaction, .left = LIMIT_YAML_NODES };

    return peer_args_find(&self, data, 0);
}
