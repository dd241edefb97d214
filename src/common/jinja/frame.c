/* frame.c - variables of one call, and runs of a template's functions.
 *
 * A frame is an array of slots with a link to the frame around (for macros and recursive loops); scope.c has
 * assigned every variable its slot, so access needs no look-up. jrun_t records the running function for error
 * traces. */
#include "common/jinja/run.h"

/* A frame with all slots missing, linked into its session. The outer frame gets a reference. */
jframe_t *
jframe_new(jsession_t *s, const jfunc_t *func, jframe_t *outer)
{
    jframe_t *f = xcalloc(1, sizeof(*f) + func->slots * sizeof(py_t *));
    f->refs = 1;
    f->n = func->slots;
    f->func = func;
    f->outer = outer != NULL ? jframe_ref(outer) : NULL;
    f->session = s;
    f->next = s->frames;
    if (f->next != NULL)
        f->next->prev = f;
    s->frames = f;
    return f;
}

jframe_t *
jframe_ref(jframe_t *f)
{
    f->refs++;
    return f;
}

/* Iterative along `outer`, so long chains cannot overflow the stack. */
void
jframe_unref(jframe_t *f)
{
    while (f != NULL && --f->refs == 0) {
        jframe_t *outer = f->outer;
        if (f->session != NULL) {
            if (f->prev != NULL)
                f->prev->next = f->next;
            else
                f->session->frames = f->next;
            if (f->next != NULL)
                f->next->prev = f->prev;
        }
        for (size_t i = 0; i < f->n; i++)
            py_unref(f->v[i]);
        free(f);
        f = outer;
    }
}

/* Performs the loads of a scope: from the context, from another slot, or "missing". */
void
jenter(jrun_t *r, const jscope_t *scope)
{
    for (size_t i = 0; i < scope->entered; i++) {
        const jload_t *load = &scope->loads[i];
        if (load->kind == LOAD_RESOLVE)
            jframe_set(r->frame, load->target, py_ref(jcontext_get(r->ctx, load->name->str)));
        else if (load->kind == LOAD_ALIAS)
            jframe_set(r->frame, load->target, py_ref(*jframe_at(r->frame, load->from)));
        else
            jframe_set(r->frame, load->target, NULL);
    }
}

/* Clears the scope's variables. */
void
jleave(jrun_t *r, const jscope_t *scope)
{
    /* After a failure the variables stay, as jhint looks at them for similar names. */
    if (py_raised() != NULL)
        return;
    for (size_t i = 0; i < scope->n; i++)
        jframe_set(r->frame, scope->loads[i].target, NULL);
}

/* ---- calls of a template's functions ------------------------------------------------------------------ */

/* TAKES `frame`; holds a reference to `ctx`. The template is kept by the session. */
void
jrun_push(jrun_t *r, jsession_t *s, jcontext_t *ctx, jtemplate_t *t, jfunc_kind_t kind, jframe_t *frame,
          buf_t *out)
{
    *r = (jrun_t){ .s = s,
                   .ctx = jcontext_ref(ctx),
                   .frame = frame,
                   .template = t,
                   .kind = kind,
                   .line = 1,
                   .out = out,
                   .up = s->run };
    s->run = r;
}

/* Adds a place for an error found in data of a template, such as YAML that it imported. */
void
jtrace_add(jsession_t *s, const jtemplate_t *t, int line)
{
    s->trace = xrealloc(s->trace, (s->n_trace + 1) * sizeof(*s->trace));
    s->trace[s->n_trace++] = (jinja_frame_t){ .name = t->name != NULL ? xstrdup(t->name) : NULL,
                                              .path = t->path != NULL ? xstrdup(t->path) : NULL,
                                              .line = line,
                                              .place = JINJA_INNER };
}

/* The first failure also computes the hint, while the variables are still there. */
void
jrun_pop(jrun_t *r, bool failed)
{
    jsession_t *s = r->s;
    s->run = r->up;
    if (failed) {
        const jtemplate_t *t = r->template;
        if (s->n_trace == 0 && s->hint == NULL)
            s->hint = jhint(s->engine, r);
        s->trace = xrealloc(s->trace, (s->n_trace + 1) * sizeof(*s->trace));
        s->trace[s->n_trace++] = (jinja_frame_t){ t->name != NULL ? xstrdup(t->name) : NULL,
                                                  t->path != NULL ? xstrdup(t->path) : NULL, r->line,
                                                  r->kind == FUNC_ROOT    ? JINJA_TOP
                                                  : r->kind == FUNC_BLOCK ? JINJA_BLOCK
                                                                          : JINJA_INNER,
                                                  r->label != NULL ? xstrdup(r->label) : NULL };
    }
    jframe_unref(r->frame);
    jcontext_unref(r->ctx);
}
