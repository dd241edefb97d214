/* hint.c - suggestions for unknown names, from all names that would have worked: variables of the frames and
 * the context, keys or methods of a value, filters, tests, tags. The iterators feed str_suggest, which picks
 * the nearest. */
#include "common/base/str.h"
#include "common/jinja/filter/filter.h"
#include "common/jinja/parse/parse_int.h"

/* ---- variables and attributes ------------------------------------------------------------------------- */

/* Iterates over names: variables of the functions, then keys of dicts, then methods of a value. */
typedef struct names {
    const jframe_t *frame;
    const py_t *dicts[2];
    const py_t *value;
    size_t i, dict;
} names_t;

static const char *
next_variable(names_t *n)
{
    for (; n->frame != NULL; n->frame = n->frame->outer, n->i = 0)
        while (n->i < n->frame->n) {
            size_t i = n->i++;
            if (n->frame->v[i] != NULL)
                return n->frame->func->names[i]->text;
        }
    return NULL;
}

static const char *
next_key(names_t *n)
{
    py_t *key, *value;
    for (; n->dict < NELEMS(n->dicts); n->dict++, n->i = 0)
        while (n->dicts[n->dict] != NULL && py_dict_next(n->dicts[n->dict], &n->i, &key, &value))
            if (py_is(key, PY_STR))
                return py_cstr(key);
    return NULL;
}

static const char *
hint_next_name(void *cookie)
{
    names_t *n = cookie;
    const char *name = next_variable(n);
    if (name == NULL)
        name = next_key(n);
    return name != NULL || n->value == NULL ? name : py_method_name(n->value, n->i++);
}

/* Nearest name for an undefined variable or attribute. BORROWED, or NULL. */
static const char *
near_undefined(const jrun_t *r, const py_t *v)
{
    const py_t *name = py_undef_name(v), *obj = py_undef_obj(v);
    names_t names = { .frame = NULL };
    if (name == NULL || !py_is(name, PY_STR))
        return NULL;
    if (obj == NULL) {
        names.frame = r->frame;
        names.dicts[0] = r->ctx->vars;
        names.dicts[1] = r->ctx->parent;
    } else {
        names.value = obj;
        names.dicts[0] = py_is(obj, PY_DICT) ? obj : py_is(obj, PY_NAMESPACE) ? py_namespace_dict(obj) : NULL;
    }
    return str_suggest(py_cstr(name), hint_next_name, &names);
}

/* ---- filters, tests, tags ----------------------------------------------------------------------------- */

typedef struct rows {
    const jinja_t *engine;
    size_t i;
} rows_t;

static const char *
next_filter(void *cookie)
{
    rows_t *r = cookie;
    return jfilter_name(r->engine, r->i++);
}

static const char *
next_test(void *cookie)
{
    rows_t *r = cookie;
    return jtest_name(r->engine, r->i++);
}

static const char *
next_tag(void *cookie)
{
    rows_t *r = cookie;
    return parse_tag_name(r->engine->options.tags, &r->i);
}

static const struct {
    const char *text;
    str_next_fn *next;
} unknowns[] = {
    { "No filter named '", next_filter },
    { "No test named '", next_test },
    { "Encountered unknown tag '", next_tag },
};

/* Nearest name for an unknown filter, test or tag, taken from the exception's text. BORROWED, or NULL. */
static const char *
near_unknown(const jinja_t *engine)
{
    const char *message = py_raised_text();
    for (size_t i = 0; i < NELEMS(unknowns); i++) {
        if (!str_starts(message, unknowns[i].text))
            continue;
        const char *name = message + strlen(unknowns[i].text), *end = strchr(name, '\'');
        char *word AUTO_FREE = xstrndup(name, end != NULL ? (size_t) (end - name) : strlen(name));
        rows_t rows = { engine, 0 };
        return str_suggest(word, unknowns[i].next, &rows);
    }
    return NULL;
}

char *
jhint(const jinja_t *engine, const jrun_t *r)
{
    const py_t *about = py_raised_about();
    const char *near = r != NULL && about != NULL ? near_undefined(r, about) : near_unknown(engine);
    return near != NULL ? xasprintf("Did you mean '%s'?", near) : NULL;
}
