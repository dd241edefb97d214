/* salt_call.c - template functions that call Salt's functions: `ifelse`, `http_query`; also show_full_context
 * and raise. The call goes through the template's own `salt`, so its restrictions apply. */
#include "common/jinja/globals.h"
#include "common/jinja/jinja_salt.h"
#include "common/jinja/salt/salt_filter.h"

/* Calls salt[name](...). NEW result; NULL raised, also when `salt` has no such function. */
static py_t *
call_salt(jcontext_t *ctx, const char *asker, const char *name, const py_args_t *args)
{
    AUTO(py) salt_name = py_strz("salt");
    AUTO(py) key = py_strz(name);
    py_t *salt = jcontext_get(ctx, salt_name);
    py_t *found = NULL;
    int rc = salt != NULL ? py_find_item(salt, key, &found) : 0;
    AUTO(py) function = found;
    if (rc < 0)
        return NULL;
    if (rc == 0)
        return py_raise(&jinja_CommandExecutionError,
                        "%s works through the function %s, which does not exist here", asker, name);
    return py_call(function, args);
}

/* The run that calls the function; NULL raised when no template does so directly. */
static const jrun_t *
running(void *data)
{
    return data != NULL ? data : py_raise(&py_TypeError, "a template must call this function itself");
}

static py_t *
http_query(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return call_salt(ctx, "http_query", "http.query", args);
}

static const jfilter_t rows[] = {
    { JROW("http_query", http_query, JP("url"), 1, 1, PY_SIG_STAR | PY_SIG_STARKW), 0,
      "What salt['http.query'] says." },
};

const jfilter_table_t jfilters_salt_call = JTABLE(rows);

/* ---- ifelse ------------------------------------------------------------------------------------------- */

static const py_exc_t salt_exception = { "SaltException", NULL };

/* Dict of targets for match.filter_by; the last argument is the default. Booleans become a pattern that
 * matches all or none. */
static py_t *
lookup_of(const py_args_t *args, py_t *otherwise)
{
    AUTO(py) everybody = py_strz("*");
    AUTO(py) nobody = py_strz("SALT_IFELSE_MATCH_NOTHING");
    AUTO(py) lookup = py_dict();
    for (size_t i = 0; i + 1 < args->n; i += 2) {
        py_t *target = args->v[i];
        if (py_is(target, PY_BOOL))
            target = target == PY_True ? everybody : nobody;
        if (py_dict_set(lookup, target, args->v[i + 1]) < 0)
            return NULL;
    }
    return py_dict_set(lookup, otherwise, args->v[args->n - 1]) == 0 ? STEAL(lookup) : NULL;
}

/* ifelse(target, value, ..., default): match.filter_by over a dict of the pairs. */
static py_t *
call_ifelse(void *data, const py_args_t *args)
{
    const jrun_t *r = running(data);
    if (r == NULL)
        return NULL;
    if (args->n % 2 == 0)
        return py_raise(&salt_exception, "The ifelse function must have an odd number of arguments!");
    if (args->n == 1)
        return py_ref(args->v[0]);
    AUTO(py) otherwise = py_strz("SALT_IFELSE_FUNCTION_DEFAULT");
    AUTO(py) lookup = lookup_of(args, otherwise);
    AUTO(py) name = py_strz("default");
    if (lookup == NULL)
        return NULL;
    py_t **room = xcalloc(2 * (args->nkw + 1), sizeof(py_t *)), **values = room + args->nkw + 1;
    room[0] = name;
    values[0] = otherwise;
    for (size_t i = 0; i < args->nkw; i++) {
        room[i + 1] = args->names[i];
        values[i + 1] = args->kwv[i];
    }
    py_t *v = call_salt(r->ctx, "ifelse", "match.filter_by",
                        &(py_args_t){ 1, &lookup, args->nkw + 1, room, values });
    free(room);
    return v;
}

/* ---- show_full_context -------------------------------------------------------------------------------- */

static bool
salt_call_is_simple(py_t *v)
{
    return py_is(v, PY_STR) || py_is(v, PY_INT) || py_is(v, PY_FLOAT) || py_is(v, PY_BOOL);
}

static py_t *simple_of(py_t *v);

static py_t *
simple_list(py_t *v)
{
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(v); i++) {
        py_t *item = py_seq_at(v, i);
        py_t *shown = py_is(item, PY_TUPLE) ? py_ref(item) : simple_of(item);
        if (shown == NULL)
            return NULL;
        py_append_new(out, shown);
    }
    return STEAL(out);
}

/* Keys that are not simple are shown by repr(). */
static py_t *
simple_dict(py_t *v)
{
    AUTO(py) out = py_dict();
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
        AUTO(py) name = salt_call_is_simple(key) || py_is(key, PY_NONE) ? py_ref(key) : py_repr(key);
        AUTO(py) shown = name != NULL ? simple_of(value) : NULL;
        if (shown == NULL || py_dict_set(out, name, shown) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* A printable copy: numbers, texts and containers of them; the rest as repr() shows it. NEW. */
static py_t *
simple_of(py_t *v)
{
    if (salt_call_is_simple(v) || py_is(v, PY_NONE))
        return py_ref(v);
    if (!py_is(v, PY_DICT) && !py_is(v, PY_LIST) && !py_is(v, PY_TUPLE))
        return py_repr(v);
    if (py_tick() < 0 || py_enter() < 0)
        return NULL;
    py_t *out = py_is(v, PY_DICT) ? simple_dict(v) : simple_list(v);
    py_leave();
    return out;
}

static py_t *
call_show_full_context(void *data, const py_args_t *args)
{
    const jrun_t *r = running(data);
    if (r == NULL)
        return NULL;
    if (args->n + args->nkw > 0)
        return py_raise(&py_TypeError, "show_full_context() takes no arguments");
    AUTO(py) all = jcontext_all(r->ctx);
    return all != NULL ? simple_of(all) : NULL;
}

/* ---- raise -------------------------------------------------------------------------------------------- */

static const py_sig_t raise_sig = { "jinja_raise", JP("msg"), 1, 1, 0 };

static py_t *
call_raise(void *data, const py_args_t *args)
{
    py_t *slots[1];
    AUTO(py) text = py_bind(args, &raise_sig, slots) == 0 ? py_tostr(slots[0]) : NULL;
    return text != NULL ? py_raise(&jinja_SaltTemplateError, "%s", py_cstr(text)) : NULL;
}

static const struct {
    const char *name;
    py_fn_class_t cls;
} globals[] = {
    { "ifelse", { .name = "ifelse", .fn = call_ifelse, .marks = JFN_CONTEXT } },
    { "raise", { .name = "jinja_raise", .fn = call_raise } },
    { "show_full_context",
      { .name = "show_full_context", .fn = call_show_full_context, .marks = JFN_CONTEXT } },
};

void
jglobals_add_salt(py_t *dict)
{
    for (size_t i = 0; i < NELEMS(globals); i++)
        py_dict_sets_new(dict, globals[i].name, py_func(&globals[i].cls, NULL));
}
