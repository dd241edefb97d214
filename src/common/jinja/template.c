/* template.c - compiles texts to templates, and keeps the templates of a session by name.
 *
 * Compiling parses, resolves names to slots (scope.c) and folds constants; the first syntax error jumps out
 * with setjmp. Compiled files are cached in the engine by path and version; a session references every
 * template that it uses until its end. */
#include "common/base/utf8.h"
#include "common/jinja/run.h"
#include "common/jinja/parse/scope.h"
#include "salt/limits.h"

const py_exc_t jinja_TemplateError = { "TemplateError", NULL };
const py_exc_t jinja_TemplateSyntaxError = { "TemplateSyntaxError", &jinja_TemplateError };
const py_exc_t jinja_TemplateAssertionError = { "TemplateAssertionError", &jinja_TemplateSyntaxError };
const py_exc_t jinja_TemplateRuntimeError = { "TemplateRuntimeError", &jinja_TemplateError };
const py_exc_t jinja_TemplateNotFound = { "TemplateNotFound", &py_LookupError };
const py_exc_t jinja_TemplatesNotFound = { "TemplatesNotFound", &jinja_TemplateNotFound };
const py_exc_t jinja_SecurityError = { "SecurityError", &jinja_TemplateRuntimeError };
const py_exc_t jinja_FilterArgumentError = { "FilterArgumentError", &jinja_TemplateRuntimeError };

/* ---- compiling ---------------------------------------------------------------------------------------- */

static const void *
find_filter(const void *cookie, const char *name)
{
    return jfilter_find(cookie, name);
}

static const void *
find_test(const void *cookie, const char *name)
{
    return jtest_find(cookie, name);
}

/* Makes the str of every name that has none yet. */
static void
name_values(jtree_t *tree)
{
    for (size_t i = 0; i < tree->n_lists; i++)
        for (jname_t *n = tree->names[i]; n != NULL; n = n->next)
            n->str = n->str != NULL ? n->str : py_str(n->text, n->len);
}

/* Parses and resolves; false when syntax_fail jumped, with *e set. Nothing between setjmp and the jump owns
 * heap memory outside of the arenas. */
static bool
template_compile(const jinja_t *engine, jrun_t *run, jtree_t *tree, const char *text, size_t len,
                 bool expression, syntax_error_t *e)
{
    const jlookup_t lookup = { find_filter, find_test, engine, engine->options.autoescape, run };
    if (setjmp(e->out) != 0)
        return false;
    if (expression) {
        /* Tree of an expression, `result = EXPRESSION`, as Jinja's compile_expression makes it. */
        const jinja_options_t *o = &engine->options;
        jnode_t *expr = jparse_expression(tree, &o->syntax, o->tags, text, len, e);
        jnode_t *target = arena_take(tree->arena, sizeof(*target));
        jnode_t *assign = arena_take(tree->arena, sizeof(*assign));
        target->kind = N_NAME;
        target->op = CTX_STORE;
        target->name.name = jname(tree, "result", 6);
        assign->kind = N_ASSIGN;
        assign->line = assign->run_line = 1;
        assign->assign.target = target;
        assign->assign.value = expr;
        tree->body.v = arena_take(tree->arena, sizeof(*tree->body.v));
        tree->body.v[0] = assign;
        tree->body.n = 1;
    } else {
        jparse(tree, &engine->options.syntax, engine->options.tags, text, len, e);
    }
    name_values(tree);
    jscope_resolve(tree, &lookup, e);
    return true;
}

/* References a template until the session's end. */
static void
template_keep(jsession_t *s, jtemplate_t *t)
{
    s->kept = xrealloc(s->kept, (s->n_kept + 1) * sizeof(jtemplate_t *));
    s->kept[s->n_kept++] = jtemplate_ref(t);
}

/* False with Python's UnicodeDecodeError raised for a text that is not UTF-8. */
static bool
template_is_utf8(const char *text, size_t len)
{
    uint32_t cp;
    for (size_t i = 0, n; i < len; i += n)
        if ((n = utf8_next(text + i, len - i, &cp)) == 0) {
            py_raise(&py_UnicodeDecodeError,
                     "'utf-8' codec can't decode byte 0x%02x in position %zu: invalid byte",
                     (unsigned char) text[i], i);
            return false;
        }
    return true;
}

/* On failure the source is kept in bad_text, for the lines around the error. */
jtemplate_t *
jtemplate_new(jsession_t *s, const char *text, size_t len, const char *name, const char *path,
              bool expression)
{
    jtemplate_t *t = xcalloc(1, sizeof(*t));
    t->refs = 1;
    t->name = name != NULL ? xstrdup(name) : NULL;
    t->path = path != NULL ? xstrdup(path) : NULL;
    t->tree.arena = arena_new();
    t->tree.scratch = arena_new();
    syntax_error_t e = { .cls = NULL };
    if (!template_is_utf8(text, len)) {
        arena_destroy(&t->tree.scratch);
        jtemplate_unref(t);
        return NULL;
    }

    /* Compiles with a run in an empty context, in which constant expressions are evaluated. */
    AUTO(py) nothing = py_dict();
    jcontext_t *ctx = jcontext_new(s, t, nothing);
    jrun_t run;
    jrun_push(&run, s, ctx, t, FUNC_ROOT, NULL, NULL);
    bool ok = template_compile(s->engine, &run, &t->tree, text, len, expression, &e);
    jrun_pop(&run, false);
    jcontext_unref(ctx);

    arena_destroy(&t->tree.scratch);
    name_values(&t->tree);
    if (ok) {
        template_keep(s, t);
        return t;
    }
    py_raise(strcmp(e.cls, "TemplateSyntaxError") == 0 ? &jinja_TemplateSyntaxError
                                                       : &jinja_TemplateAssertionError,
             "%s", e.message);
    if (s->hint == NULL)
        s->hint = jhint(s->engine, NULL);

    /* Adds the place of a syntax error to the trace. */
    int line = e.line;
    s->trace = xrealloc(s->trace, (s->n_trace + 1) * sizeof(*s->trace));
    s->trace[s->n_trace++] = (jinja_frame_t){ name != NULL ? xstrdup(name) : NULL,
                                              path != NULL ? xstrdup(path) : NULL, line, JINJA_INNER, NULL };

    free(s->bad_text);
    s->bad_text = xstrndup(text, len);
    jtemplate_unref(t);
    return NULL;
}

jtemplate_t *
jtemplate_ref(jtemplate_t *t)
{
    t->refs++;
    return t;
}

/* Constants and names own Python values, which the arena does not know. */
void
jtemplate_unref(jtemplate_t *t)
{
    if (t == NULL || --t->refs > 0)
        return;
    for (size_t i = 0; i < t->tree.n_values; i++)
        py_unref(t->tree.values[i]);
    for (size_t i = 0; i < t->tree.n_lists; i++)
        for (jname_t *n = t->tree.names[i]; n != NULL; n = n->next)
            py_unref(n->str);
    arena_destroy(&t->tree.arena);
    free(t->name);
    free(t->path);
    free(t);
}

/* ---- by name ------------------------------------------------------------------------------------------ */

/* jinja_known_fn over the engine's cache. */
static int64_t
known_version(void *cookie, const char *path)
{
    const jinja_t *engine = cookie;
    const jtemplate_t *t = map_get(engine->cache, path);
    return t != NULL ? t->version : -1;
}

/* Loads by the engine's loader, compiled unless the cached version holds. BORROWED from the cache; NULL
 * raised. */
static jtemplate_t *
template_load_file(jsession_t *s, const char *name)
{
    jinja_t *engine = s->engine;
    jinja_file_t file = { NULL, NULL, 0, 0 };
    fail_auto_t err = FAIL_INIT;
    bool bound = py_bound_texts(false);
    int rc = engine->loader.load == NULL ? -ENOENT
                                         : engine->loader.load(engine->loader.cookie, name, s->globals,
                                                               known_version, engine, &file, &err);
    (void) py_bound_texts(bound);
    jtemplate_t *t = NULL;
    if (engine->loader.load == NULL)
        py_raise(&py_TypeError, "no loader for this environment specified");
    else if (rc == -ENOENT)
        py_raise(&jinja_TemplateNotFound, "%s", name);
    else if (rc < 0)
        py_raise(&py_RuntimeError, "%s", fail_text(&err));
    else if (file.text == NULL)
        t = map_get(engine->cache, file.path);
    else if ((t = jtemplate_new(s, file.text, file.len, name, file.path, false)) != NULL) {
        t->version = file.version;

        /* Adds a template to the engine's cache, which is cleared as a whole when full. */
        if (map_len(engine->cache) >= LIMIT_TEMPLATES_CACHED)
            map_clear(engine->cache);
        map_set(engine->cache, file.path, t);
    }
    free(file.path);
    free(file.text);
    return t;
}

/* Template by name, once per session. Undefined names raise their own error. */
jloaded_t *
jload(jsession_t *s, py_t *name)
{
    if (py_is(name, PY_UNDEFINED))
        return py_undef_raise(name);
    if (!py_is(name, PY_STR)) {
        AUTO(py) text = py_tostr(name);
        return text != NULL ? py_raise(&jinja_TemplateNotFound, "%s", py_cstr(text)) : NULL;
    }
    jloaded_t *l = map_get(s->loaded, py_cstr(name));
    if (l != NULL)
        return l;
    jtemplate_t *t = template_load_file(s, py_cstr(name));
    if (t == NULL)
        return NULL;
    template_keep(s, t);
    l = xcalloc(1, sizeof(*l));
    l->template = t;
    map_set(s->loaded, py_cstr(name), l);
    return l;
}

/* Jinja's select_template: the first of several names that exists. Only "not found" and undefined names are
 * passed over. */
jloaded_t *
jload_select(jsession_t *s, py_t *names, jselect_t how)
{
    if (how == SELECT_ONE || (how == SELECT_EITHER && (py_is(names, PY_STR) || py_is(names, PY_UNDEFINED))))
        return jload(s, names);
    if (py_is(names, PY_UNDEFINED))
        return py_undef_raise(names);
    int any = py_truth(names);
    if (any < 0)
        return NULL;
    if (any == 0)
        return py_raise(&jinja_TemplatesNotFound, "Tried to select from an empty list of templates.");
    py_iter_t it;
    if (py_iter_start(&it, names) < 0)
        return NULL;
    jloaded_t *found = NULL;
    py_t *name;
    bool failed = false;
    while (found == NULL && !failed && (name = py_iter_next(&it)) != NULL) {
        found = jload(s, name);
        py_unref(name);
        failed = found == NULL && !py_raised_is(&jinja_TemplateNotFound) && !py_raised_is(&py_UndefinedError);
        if (found == NULL && !failed)
            py_clear();
    }
    py_iter_end(&it);
    if (found == NULL && !failed && py_raised() == NULL) {
        /* Raises TemplatesNotFound with all names. */
        buf_auto_t b = BUF_INIT;
        if (py_iter_start(&it, names) < 0)
            return NULL;

        for (bool first = true; (name = py_iter_next(&it)) != NULL; first = false, py_unref(name)) {
            if (!first)
                buf_puts(&b, ", ");
            char *text AUTO_FREE = py_is(name, PY_UNDEFINED) ? py_undef_message(name) : NULL;
            if (text != NULL)
                buf_puts(&b, text);
            else if (py_str_to(&b, name) < 0)
                py_clear();
        }
        py_iter_end(&it);
        return py_raise(&jinja_TemplatesNotFound, "none of the templates given were found: %s", buf_str(&b));
    }
    return found;
}
