/* filter.c - looks filters and tests up by name, and evaluates the attribute arguments of filters ("a.b.0").
 *
 * Rows live in one table per file, searched linearly: look-ups happen when a template is compiled. Salt's
 * tables come first, as they replace some built-in filters. */
#include "common/jinja/filter/filter.h"

static const jfilter_table_t *const filters[] = {
    &jfilters_text,  &jfilters_markup, &jfilters_sequence, &jfilters_lazy,
    &jfilters_value, &jfilters_pprint, &jfilters_wrap,     &jfilters_urlize,
};
/* Searched before the built-in ones, which they may replace. */
static const jfilter_table_t *const salt_filters[] = {
    &jfilters_salt_data, &jfilters_salt_text,   &jfilters_salt_regex, &jfilters_salt_serial,
    &jfilters_salt_dict, &jfilters_salt_hash,   &jfilters_salt_iter,  &jfilters_salt_net,
    &jfilters_salt_time, &jfilters_salt_python, &jfilters_salt_xml,   &jfilters_salt_query,
    &jfilters_salt_file, &jfilters_salt_dns,    &jfilters_salt_call,
};

/* jtests_salt is used in Salt's environment only; it adds names and replaces none. */
static const jfilter_table_t *const tests[] = { &jtests_builtin, &jtests_salt };

static const jfilter_t *
filter_find_in(const jfilter_table_t *const *tables, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < tables[i]->n; k++)
            if (strcmp(tables[i]->rows[k].name, name) == 0)
                return &tables[i]->rows[k];
    return NULL;
}

const jfilter_t *
jfilter_find(const jinja_t *engine, const char *name)
{
    const jfilter_t *f = engine->options.salt ? filter_find_in(salt_filters, NELEMS(salt_filters), name)
                                              : NULL;
    return f != NULL ? f : filter_find_in(filters, NELEMS(filters), name);
}

const jfilter_t *
jtest_find(const jinja_t *engine, const char *name)
{
    return filter_find_in(tests, engine->options.salt ? 2 : 1, name);
}

static bool
is_in(const jfilter_table_t *const *tables, size_t n, const jfilter_t *f)
{
    for (size_t i = 0; i < n; i++)
        if (f >= tables[i]->rows && f < tables[i]->rows + tables[i]->n)
            return true;
    return false;
}

bool
jfilter_is_pure(const jfilter_t *f)
{
    /* Salt's filters may ask the machine, files or random numbers; those with a context may read
     * variables. */
    bool own = f != NULL && (is_in(filters, NELEMS(filters), f) || is_in(tests, 1, f));
    return own && ((f->flags & JF_CONTEXT) == 0 || strcmp(f->sig.params[0], "context") != 0);
}

bool
jfilter_is_salts(const jfilter_t *f)
{
    return is_in(salt_filters, NELEMS(salt_filters), f);
}

/* The i-th name of the tables; *i is reduced by those passed. NULL after the last. */
static const char *
name_in(const jfilter_table_t *const *tables, size_t n, size_t *i)
{
    for (size_t t = 0; t < n; t++) {
        if (*i < tables[t]->n)
            return tables[t]->rows[*i].name;
        *i -= tables[t]->n;
    }
    return NULL;
}

const char *
jfilter_name(const jinja_t *engine, size_t i)
{
    const char *name = name_in(filters, NELEMS(filters), &i);
    return name != NULL || !engine->options.salt ? name : name_in(salt_filters, NELEMS(salt_filters), &i);
}

const char *
jtest_name(const jinja_t *engine, size_t i)
{
    return name_in(tests, engine->options.salt ? 2 : 1, &i);
}

/* ---- attributes --------------------------------------------------------------------------------------- */

static py_t *
filter_parts_of(const char *s, size_t len)
{
    py_t *parts = py_list();
    for (const char *end = s + len;; s++) {
        const char *dot = memchr(s, '.', (size_t) (end - s));
        size_t n = (size_t) ((dot != NULL ? dot : end) - s);
        size_t digits = 0; /* a part of digits alone is an index */
        while (digits < n && s[digits] >= '0' && s[digits] <= '9')
            digits++;
        py_append_new(parts, n > 0 && digits == n ? py_int_digits(s, n) : py_str(s, n));
        if (dot == NULL)
            return parts;
        s = dot;
    }
}

/* make_attrgetter's splitting: a text by dots, digits as numbers; None gives no parts, the element itself. */
static py_t *
attribute_parts(py_t *attribute)
{
    if (py_is(attribute, PY_STR)) {
        size_t len;
        const char *s = py_text(attribute, &len);
        return filter_parts_of(s, len);
    }
    py_t *parts = py_list();
    if (!py_is(attribute, PY_NONE))
        py_append(parts, attribute);
    return parts;
}

/* Parses an attribute argument: "a.b", a number, None, or with `several` a comma-separated list. 0, or -1
 * raised. */
int
jgetter_init(jgetter_t *g, jcontext_t *ctx, py_t *attribute, bool several, bool ignore_case)
{
    *g = (jgetter_t){ .ctx = ctx, .several = several, .ignore_case = ignore_case };
    py_t *attr = jarg(attribute, PY_None);
    if (!several) {
        g->parts = attribute_parts(attr);
        return 0;
    }
    g->parts = py_list();
    if (!py_is(attr, PY_STR)) {
        py_append_new(g->parts, attribute_parts(attr));
        return 0;
    }
    size_t len;
    const char *s = py_text(attr, &len);
    for (const char *end = s + len;; s++) {
        const char *comma = memchr(s, ',', (size_t) (end - s));
        py_append_new(g->parts, filter_parts_of(s, (size_t) ((comma != NULL ? comma : end) - s)));
        if (py_tick() < 0) {
            jgetter_free(g);
            return -1;
        }
        if (comma == NULL)
            return 0;
        s = comma;
    }
}

void
jgetter_free(jgetter_t *g)
{
    py_unref(g->parts);
}

/* Follows the parts with environment.getitem; an undefined step becomes the default. NEW. */
static py_t *
get_one(const jgetter_t *g, py_t *parts, py_t *item)
{
    py_t *v = py_ref(item);
    for (size_t i = 0; v != NULL && i < py_seq_len(parts); i++) {
        py_t *next = jgetitem(g->ctx->session, v, py_seq_at(parts, i));
        py_unref(v);
        v = next;
        if (v != NULL && g->dflt != NULL && py_is(v, PY_UNDEFINED)) {
            py_unref(v);
            v = py_ref(g->dflt);
        }
    }
    if (v == NULL || !g->ignore_case || !py_is(v, PY_STR))
        return v;
    py_t *lower = jmethod(v, "lower", 0);
    py_unref(v);
    return lower;
}

/* The attribute of an element, lower case when case is ignored. NEW, or NULL raised. */
py_t *
jgetter_get(const jgetter_t *g, py_t *item)
{
    if (!g->several)
        return get_one(g, g->parts, item);
    AUTO(py) all = py_list();
    for (size_t i = 0; i < py_seq_len(g->parts); i++) {
        py_t *v = get_one(g, py_seq_at(g->parts, i), item);
        if (v == NULL)
            return NULL;
        py_append_new(all, v);
    }
    return STEAL(all);
}

py_t *
jgetter_keys(const jgetter_t *g, py_t *list)
{
    AUTO(py) keys = py_list();
    for (size_t i = 0; i < py_seq_len(list); i++) {
        py_t *k = jgetter_get(g, py_seq_at(list, i));
        if (k == NULL)
            return NULL;
        py_append_new(keys, k);
        if (py_tick() < 0)
            return NULL;
    }
    return STEAL(keys);
}

/* ---- by name at run time ------------------------------------------------------------------------------ */

/* Filters and tests named by a value, as in `map('upper')`, with Jinja's errors. */
py_t *
jcall_named(jcontext_t *ctx, bool test, py_t *name, const py_args_t *args)
{
    const jinja_t *engine = ctx->session->engine;
    const jfilter_t *f = NULL;
    if (py_is(name, PY_STR))
        f = test ? jtest_find(engine, py_cstr(name)) : jfilter_find(engine, py_cstr(name));
    if (f != NULL)
        return jfilter_call(ctx, f, args);
    AUTO(py) shown = py_repr(name);
    const char *kind = test ? "test" : "filter";
    if (!py_is(name, PY_UNDEFINED))
        return shown != NULL ? py_raise(&jinja_TemplateRuntimeError, "No %s named %s.", kind, py_cstr(shown))
                             : NULL;
    char *why AUTO_FREE = py_undef_message(name);
    return py_raise(&jinja_TemplateRuntimeError,
                    "No %s named %s. (%s; did you forget to quote the callable name?)", kind, py_cstr(shown),
                    why);
}
