/* engine.c - engines, sessions, and the result of a render: text, or an error with its places.
 *
 * An engine has the options, the loader and a cache of compiled templates. Each render is a session: it has
 * its own globals, loaded templates and limits, and at its end breaks the cycles between macros and their
 * frames. Exceptions collect a trace on their way out, which tell_error hands to the caller. */
#include "common/base/clock.h"
#include "common/jinja/globals.h"
#include "common/jinja/run.h"
#include "salt/limits.h"
#include "salt/log.h"

/* ---- engines ------------------------------------------------------------------------------------------ */

static void
free_template(void *t)
{
    jtemplate_unref(t);
}

/* Zero and NULL in the options become the default limits and Undefined. */
jinja_t *
jinja_new(const jinja_options_t *options, const jinja_loader_t *loader)
{
    jinja_t *self = xcalloc(1, sizeof(*self));
    self->options = *options;
    if (loader != NULL)
        self->loader = *loader;
    self->texts = arena_new();

    /* Copies the delimiters, which the caller may free after jinja_new. */
    jsyntax_t *s = &self->options.syntax;
    const char **texts[] = { &s->block_start,    &s->block_end,     &s->variable_start,
                             &s->variable_end,   &s->comment_start, &s->comment_end,
                             &s->line_statement, &s->line_comment,  &s->newline };
    for (size_t i = 0; i < NELEMS(texts); i++) {
        const char *text = *texts[i];
        *texts[i] = text != NULL ? arena_text(self->texts, text, strlen(text)) : NULL;
    }

    jinja_options_t *o = &self->options;
    o->undefined = o->undefined != NULL ? o->undefined : &py_Undefined;
    o->output = o->output > 0 ? o->output : LIMIT_TEMPLATE_OUTPUT;
    o->bytes = o->bytes > 0 ? o->bytes : LIMIT_TEMPLATE_BYTES;
    o->time_ms = o->time_ms > 0 ? o->time_ms : LIMIT_TEMPLATE_TIME;
    o->steps = o->steps > 0 ? o->steps : LIMIT_TEMPLATE_STEPS;
    self->cache = map_new(free_template);
    self->policies = py_dict();
    return self;
}

void
jinja_destroy(jinja_t **self_p)
{
    jinja_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    map_destroy(&self->cache);
    py_unref(self->policies);
    py_unref(self->globals);
    arena_destroy(&self->texts);
    free(self);
}

const jsyntax_t *
jinja_syntax(const jinja_t *self)
{
    return &self->options.syntax;
}

py_t *
jinja_policies(jinja_t *self)
{
    return self->policies;
}

void
jinja_error_free(jinja_error_t *e)
{
    for (size_t i = 0; i < e->n; i++) {
        free(e->frames[i].name);
        free(e->frames[i].path);
        free(e->frames[i].label);
    }
    free(e->frames);
    free(e->text);
    free(e->hint);
    free(e->cls);
    free(e->message);
    *e = (jinja_error_t) JINJA_ERROR_INIT;
}

/* ---- sessions ----------------------------------------------------------------------------------------- */

static void
free_loaded(void *data)
{
    jloaded_t *l = data;
    py_unref(l->module);
    free(l);
}

/* Frees in the order of use: modules first, then frames and contexts, then the templates that their nodes
 * belong to. */
static void
session_end(jsession_t *s)
{
    map_destroy(&s->loaded);

    /* Empties the frames that are left: macros and the frames that define them refer to each other, so
     * reference counts alone would leak. */
    for (jframe_t *f; (f = s->frames) != NULL;) {
        s->frames = f->next;
        if (f->next != NULL)
            f->next->prev = NULL;
        f->session = NULL;
        f->next = f->prev = NULL;
        jframe_ref(f);
        for (size_t i = 0; i < f->n; i++) {
            py_t *v = STEAL(f->v[i]);
            py_unref(v);
        }
        jframe_unref(f);
    }

    /* Does the same for contexts, whose variables may hold macros. */
    for (jcontext_t *c; (c = s->contexts) != NULL;) {
        s->contexts = c->next;
        if (c->next != NULL)
            c->next->prev = NULL;
        c->session = NULL;
        c->next = c->prev = NULL;
        jcontext_ref(c);
        jcontext_drop_blocks(c);
        py_dict_clear(c->vars);
        py_dict_clear(c->parent);
        jcontext_unref(c);
    }

    py_unref(s->globals);
    for (size_t i = 0; i < s->n_trace; i++) {
        free(s->trace[i].name);
        free(s->trace[i].path);
        free(s->trace[i].label);
    }
    free(s->trace);
    for (size_t i = 0; i < s->n_kept; i++)
        jtemplate_unref(s->kept[i]);
    free(s->kept);
    free(s->bad_text);
    free(s->hint);
}

const jinja_frame_t *
jinja_error_place(const jinja_error_t *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->frames[i].place != JINJA_BLOCK)
            return &e->frames[i];
    return NULL;
}

/* Moves the pending exception and its trace to `err`. */
static void
tell_error(jsession_t *s, jinja_error_t *err)
{
    py_error_t e = PY_ERROR_INIT;
    py_take_error(&e);
    if (err != NULL) {
        err->type = e.type;
        err->cls = xstrdup(e.type->name);
        err->message = xstrdup(e.message != NULL ? e.message : "");
        err->frames = STEAL(s->trace);
        err->n = s->n_trace;
        s->n_trace = 0;
        /* The source of a loaded template, also of one that did not compile; none for the text that was
         * rendered. */
        const jinja_frame_t *place = jinja_error_place(err);
        bool loaded = place != NULL && place->name != NULL;
        for (size_t i = 0; loaded && err->text == NULL && i < s->n_kept; i++)
            if (s->kept[i]->name != NULL && strcmp(s->kept[i]->name, place->name) == 0)
                err->text = xstrndup(s->kept[i]->tree.source, s->kept[i]->tree.source_len);
        if (loaded && err->text == NULL && s->bad_text != NULL)
            err->text = xstrdup(s->bad_text);
        err->hint = STEAL(s->hint);
    }
    py_error_free(&e);
}

/* ---- rendering ---------------------------------------------------------------------------------------- */

/* The compiled template: from the cache while its version holds, else compiled. A full cache is cleared as a
 * whole. NEW reference. */
static jtemplate_t *
main_template(jsession_t *s, const jinja_source_t *source, bool expression)
{
    map_t *cache = s->engine->cache;
    jtemplate_t *t = source->cache_key != NULL ? map_get(cache, source->cache_key) : NULL;
    bool kept = t != NULL && t->version == source->version;

    log_trace("%s: its template is %s", source->cache_key != NULL ? source->cache_key : "a text",
              kept ? "cached" : "compiled");
    if (kept)
        return jtemplate_ref(t);
    t = jtemplate_new(s, source->text, source->len, NULL, NULL, expression);
    if (t == NULL || source->cache_key == NULL)
        return t;
    t->version = source->version;
    if (map_len(cache) >= LIMIT_TEMPLATES_CACHED)
        map_clear(cache);
    map_set(cache, source->cache_key, jtemplate_ref(t));
    return t;
}

/* Runs the template. With `ret_value` it is an expression compiled as an assignment to `result`, whose NEW
 * value is given. */
static int
run_main(jsession_t *s, const jinja_source_t *source, py_t *context, buf_t *out, py_t **ret_value)
{
    jtemplate_t *t = main_template(s, source, ret_value != NULL);
    if (t == NULL)
        return -1;

    /* The context of the main template: globals with the caller's variables on top. */
    AUTO(py) parent = py_todict(s->globals);
    if (context != NULL)
        py_dict_update(parent, context);
    jcontext_t *ctx = jcontext_new(s, t, parent);
    jcontext_add_blocks(ctx, t);

    int rc = jrun_root(s, ctx, t, out);
    if (rc == 0 && ret_value != NULL)
        *ret_value = py_ref(py_dict_gets(ctx->vars, "result"));
    jcontext_unref(ctx);
    /* Values may point into the template until the session's end. */
    s->kept = xrealloc(s->kept, (s->n_kept + 1) * sizeof(jtemplate_t *));
    s->kept[s->n_kept++] = t;
    return rc;
}

/* Runs a template within the engine's limits. Texts are bounded while it runs. `out` keeps its marks as spans
 * in source->peer, and on failure the session's trace becomes *err. */
static int
in_session(jinja_t *self, const jinja_source_t *source, py_t *context, py_t *globals, buf_t *out,
           py_t **ret_value, jinja_error_t *err)
{
    const py_limits_t limits = { .bytes = self->options.bytes,
                                 .depth = LIMIT_TEMPLATE_DEPTH,
                                 .steps = self->options.steps,
                                 .deadline_ms = clock_mono_ms() + self->options.time_ms };
    py_scope_t scope;
    jsession_t s;
    py_scope_enter(&scope, &limits);
    bool bound = py_bound_texts(true);

    /* A session's globals are a copy, since loaders and templates may change them. */
    s = (jsession_t){ .engine = self };
    if (self->globals == NULL)
        self->globals = jinja_globals(self);
    s.globals = py_todict(self->globals);
    if (globals != NULL)
        py_dict_update(s.globals, globals);
    s.loaded = map_new(free_loaded);

    s.marks = source->marks;
    s.marked = source->marks != NULL ? out : NULL;
    int rc = run_main(&s, source, context, out, ret_value);
    if (rc == 0 && py_tick() < 0) { /* a limit was reached after the last check */
        rc = -1;
        if (ret_value != NULL)
            py_destroy(ret_value);
    }
    if (rc < 0)
        tell_error(&s, err);
    else
        py_clear();
    spans_t unwanted = { .v = NULL };
    py_buf_spans(out, source->peer != NULL ? source->peer : &unwanted);
    spans_free(&unwanted);
    session_end(&s);
    (void) py_bound_texts(bound);
    py_scope_leave(&scope);
    return rc;
}

int
jinja_render(jinja_t *self, const jinja_source_t *source, py_t *context, py_t *globals, buf_t *out,
             jinja_error_t *err)
{
    return in_session(self, source, context, globals, out, NULL, err);
}

py_t *
jinja_evaluate(jinja_t *self, const jinja_source_t *source, py_t *context, py_t *globals, jinja_error_t *err)
{
    buf_auto_t out = BUF_INIT;
    py_t *value = NULL;
    if (in_session(self, source, context, globals, &out, &value, err) < 0)
        return NULL;
    return value;
}
