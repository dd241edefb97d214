/* peer_args.c - positional arguments of reactions and steps: where a peer's value names a keyword.
 *
 * A text "name=value" among positional arguments is a keyword of the function, as in Salt, and so is each key
 * of a mapping among a reaction's `args`. The file's author may write them; a value that is printed there is to
 * stay one argument.
 */
#include "common/base/str.h"
#include "common/data/args.h"
#include "common/py/py_as.h"
#include "common/py/py_peer.h"
#include "common/render/render_int.h"

typedef struct keywords {
    bool reaction;
    int left; /* containers that are still looked at: some hold each other many times over */
} keywords_t;

/* Whether a peer said some of the name, or of its sign. */
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

/* A key of a mapping among the arguments, which a peer said. BORROWED, or NULL. */
static const py_t *
said_key(const py_t *v)
{
    py_t *key, *value;

    for (size_t i = 0; py_is(v, PY_DICT) && py_dict_next(v, &i, &key, &value);)
        if (py_is_peer(key))
            return key;
    return NULL;
}

static const py_t *
find_in_list(const keywords_t *self, const py_t *list, bool mappings)
{
    const py_t *found = NULL;

    for (size_t i = 0; i < py_seq_len(list) && found == NULL; i++) {
        py_t *one = py_seq_at(list, i);
        found = names_keyword(one) ? one : self->reaction && mappings ? said_key(one) : NULL;
    }
    return found;
}

/* The value of `arg` or `args`. A text of a step's `arg` is split into words. */
static const py_t *
find_in_arguments(const keywords_t *self, const char *key, const py_t *v)
{
    bool words = !self->reaction && str_eq(key, "arg");

    if (py_is(v, PY_LIST))
        return find_in_list(self, v, str_eq(key, "args"));
    if (!py_is(v, PY_STR) || !py_is_peer(v) || (!words && !self->reaction))
        return NULL;
    return names_keyword(v) || (words && memchr(PY_TEXT(v), '=', PY_LEN(v)) != NULL) ? v : NULL;
}

/* `depth`: mappings around it. The list of a reaction is the third thing from without: ID, function, list. */
static const py_t *
find(keywords_t *self, const py_t *v, int depth)
{
    const py_t *found = NULL;
    py_t *key, *value;

    if ((!py_is(v, PY_LIST) && !py_is(v, PY_DICT)) || --self->left < 0)
        return NULL;
    if (py_is(v, PY_LIST) && self->reaction && depth == 2)
        found = find_in_list(self, v, false);
    for (size_t i = 0; py_is(v, PY_LIST) && found == NULL && i < py_seq_len(v); i++)
        found = find(self, py_seq_at(v, i), depth);
    for (size_t i = 0; py_is(v, PY_DICT) && found == NULL && py_dict_next(v, &i, &key, &value);) {
        bool arguments = py_str_is(key, "arg") || py_str_is(key, "args");
        found = arguments ? find_in_arguments(self, py_cstr(key), value) : NULL;
        found = found != NULL ? found : find(self, value, depth + 1);
    }
    return found;
}

const py_t *
run_find_keyword(const py_t *data, bool reaction)
{
    keywords_t self = { .reaction = reaction, .left = LIMIT_YAML_NODES };

    return find(&self, data, 0);
}
